#' What is in use on this machine
#'
#' Reports what the compiled core was built with and what it uses here: the instruction set, the
#' number of threads and the compiler.
#'
#' @returns A list of class `softdtw_info`:
#'   * `version`: of the package;
#'   * `isa`: instruction set in use; `isas`: all that this processor has. `options(softdtw.isa =)`
#'     forces one of them, which changes results by rounding only;
#'   * `lanes`: cells that are worked on at a time with the best of them, `NA` where another one is
#'     forced;
#'   * `openmp`: whether threads were built in;
#'   * `threads`: number in use, see [softdtw_threads()];
#'   * `processors`: physical cores of this machine;
#'   * `memory`: physical memory in bytes, `NA` where the system does not tell;
#'   * `compiler`: its version;
#'   * `cuda`: a list: `built` (`"none"`, `"cuda"` or `"emulated"`: the CUDA code run by the
#'     processor, for tests only and slow), `decision` (what was decided when the package was built,
#'     and why), `devices` (a data frame with their names, memory and free memory in bytes) and
#'     `reason` (why there are none, else `""`).
#'
#' @examples
#' softdtw_info()
#' @export
softdtw_info <- function() {
  built <- .Call(ffi_info)
  forced <- check_isa(getOption("softdtw.isa"))
  structure(
    list(
      version = as.character(utils::packageVersion("softdtw")),
      isa = if (is.null(forced)) built$isa else forced,
      isas = built$isas,
      lanes = if (is.null(forced) || forced == built$isa) built$lanes else NA_integer_,
      openmp = built$openmp,
      threads = .Call(ffi_threads, NULL),
      processors = built$processors,
      memory = .Call(ffi_memory),
      compiler = built$compiler,
      cuda = cuda_info()
    ),
    class = "softdtw_info"
  )
}

cuda_info <- function() {
  found <- .Call(ffi_cuda)
  list(
    built = found$built,
    decision = found$decision,
    devices = as.data.frame(.Call(ffi_devices)),
    reason = found$reason
  )
}

#' @export
print.softdtw_info <- function(x, ...) {
  lines <- c(
    "softdtw" = x$version,
    "instructions" = sprintf(
      "%s%s (this processor has %s)", x$isa,
      if (is.na(x$lanes)) "" else sprintf(", %d cells at a time", x$lanes),
      paste(x$isas, collapse = ", ")
    ),
    "threads" = if (x$openmp) {
      sprintf("%d of %s", x$threads, plural(x$processors, "core"))
    } else {
      "1 (built without OpenMP)"
    },
    "memory" = if (is.na(x$memory)) "unknown" else gibibytes(x$memory),
    "compiler" = x$compiler,
    "CUDA" = describe_cuda(x$cuda)
  )
  cat(paste0(formatC(names(lines), width = -13L), lines, "\n"), sep = "")
  invisible(x)
}

describe_cuda <- function(cuda) {
  if (cuda$built == "none") {
    return(paste("not built:", cuda$decision))
  }
  devices <- Map(\(name, memory) sprintf("%s (%s)", name, gibibytes(memory)),
    cuda$devices$name, cuda$devices$memory
  )
  paste0(
    if (cuda$built == "emulated") "EMULATED on the processor, for tests: " else "built; ",
    if (length(devices)) paste(devices, collapse = ", ") else cuda$reason
  )
}

#' Number of threads
#'
#' Asks for or sets the number of threads that the package's functions use when their argument
#' `threads` is `NULL`. The number never changes a result, not by a bit.
#'
#' To begin with it is the number of physical cores, or less where the environment variables
#' `OMP_NUM_THREADS` or `OMP_THREAD_LIMIT` say so. In a process forked from R, as by
#' `parallel::mclapply()`, it is 1.
#'
#' @param n `NULL` to ask only, a whole number >= 1 to set, or 0 to go back to the default.
#'
#' @returns The number in use before the call; invisibly where it was set.
#'
#' @inheritSection softdtw-package Errors
#'
#' @examples
#' old <- softdtw_threads(2)
#' softdtw_threads()
#' softdtw_threads(old)
#' @export
softdtw_threads <- function(n = NULL) {
  before <- .Call(ffi_threads, NULL)
  if (is.null(n)) {
    return(before)
  }
  if (!is_whole(n) || n < 0 || n > most_threads) {
    right <- sprintf("NULL, 0 (the default number) or a whole number up to %d", most_threads)
    stop_argument("n", right, n)
  }
  .Call(ffi_threads, as.integer(n))
  invisible(before)
}
