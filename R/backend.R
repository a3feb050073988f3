# Where the work is done: on the threads of this process, or on CUDA devices. The choice is made
# once for each call of the user, so that the terms of a divergence all come from the same place
# and cancel exactly.

backend_names <- c("auto", "cpu", "cuda")
precision_names <- c("double", "single")

# "auto" leaves the processor when a call sweeps at least so many cells, and at least so many for
# each number that has to be sent. Below, a device has hardly started before the processor is done.
cells_worth_sending <- 1e8
cells_for_each_number <- 100

check_backend <- function(backend) check_choice(backend, backend_names, "backend")

check_precision <- function(precision) check_choice(precision, precision_names, "precision")

# Bytes of each device that the package may use, 0 for as many as are free.
check_device_memory <- function(bytes = getOption("softdtw.cuda.memory")) {
  if (is.null(bytes)) {
    return(0)
  }
  if (!is_number(bytes) || !is.finite(bytes) || bytes <= 0) {
    stop_argument("options(softdtw.cuda.memory)", "NULL or one number of bytes", bytes)
  }
  as.double(bytes)
}

# What new_options() keeps of both arguments; "auto" stays open until the work is known.
backend_options <- function(backend, precision) {
  backend <- check_backend(backend)
  precision <- check_precision(precision)
  if (backend == "cuda") {
    check_device()
  }
  list(backend = backend, single = precision == "single", memory = check_device_memory())
}

check_device <- function() {
  device <- .Call(ffi_cuda)
  if (!device$count) {
    signal_failure(device$failure, device$reason)
  }
  invisible()
}

# The options with "auto" decided for work of so many cells of cost matrices, on so many numbers.
choose_backend <- function(opts, cells, numbers) {
  if (opts$backend != "auto") {
    return(opts)
  }
  worth <- cells >= cells_worth_sending && cells >= cells_for_each_number * numbers
  opts$backend <- if (worth && has_fast_device()) "cuda" else "cpu"
  opts
}

# An emulated device is slow: it is used only when it is asked for.
has_fast_device <- function() {
  device <- .Call(ffi_cuda)
  device$built == "cuda" && device$count > 0
}

# For pairs number by number (or one against many), and for all pairs.
choose_for_pairs <- function(opts, x, y) {
  choose_backend(opts, sum(as.double(x$lengths) * y$lengths), count_numbers(x) + count_numbers(y))
}

choose_for_table <- function(opts, x, y = NULL) {
  cells <- sum(as.double(x$lengths)) * sum(as.double(if (is.null(y)) x$lengths else y$lengths))
  if (is.null(y)) {
    return(choose_backend(opts, cells / 2, count_numbers(x)))
  }
  choose_backend(opts, cells, count_numbers(x) + count_numbers(y))
}

# For centroids (k of them, about as long as the series) that move: the series are sent once.
choose_for_centroids <- function(opts, x, k = 1) {
  cells <- sum(as.double(x$lengths)) * stats::median(x$lengths) * k
  choose_backend(opts, cells, count_numbers(x) / 10)
}

count_numbers <- function(x) sum(as.double(x$lengths)) * x$d

# Called from C when an engine has failed, everything it took having been given back.
signal_failure <- function(kind, reason) {
  advice <- switch(kind,
    device_memory = " Use shorter series or `backend` = \"cpu\"; single precision may do.",
    no_device = " `backend` = \"cpu\" needs none.",
    ""
  )
  reason <- sub("[.]?$", ".", paste0(toupper(substr(reason, 1L, 1L)), substring(reason, 2L)))
  stop_softdtw(kind, paste0(reason, advice))
}
