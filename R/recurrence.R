#' Linear recurrences
#'
#' Computes \eqn{x_t = a_t x_{t-1} + b_t}{x[t] = a[t] x[t-1] + b[t]} for one or many sequences, in
#' parallel: exponential smoothing with weights that vary, a time-varying AR(1), discounting, a
#' leaky integrator. The coefficients may have any sign and may be 0, which starts a sequence anew.
#'
#' **Many sequences** are spread over the threads. **One long sequence** is cut into blocks that are
#' run side by side (a *scan*): each block is first run from 0, which with the product of its
#' coefficients says how it maps any x before it to the x after it; then it is run again from its
#' true start. The product is kept with an exponent of its own, so that it cannot overflow where the
#' sequence itself does not, and where the shortcut would lose digits against the plain loop, the
#' loop is used. Short sequences are looped over. The number of threads changes no bit of a result.
#' On a CUDA device fewer than 4096 sequences of at least 4096 steps are scanned, in one pass by
#' blocks of 2048 steps, and others are loops of one thread each. A gradient's recurrence runs there
#' too, its products and sums on the processor. Results are the same in every run, and those of the
#' processor but for rounding.
#'
#' **Accuracy** is that of the loop in the same precision. In double, over 10 million steps, held
#' against a reference of 60 digits, the largest errors relative to the largest |x| were 4e-16 with
#' coefficients from 1 - 1/64 to 1, and 2e-16 with coefficients from -1 to 1, for the loop as for
#' this function. A result beyond the range of a double is `Inf`, as in a loop. In single precision
#' every product and sum is rounded to 24 bits, so that results have 6 to 7 digits where the double
#' loop has 15 to 16; a number beyond 3.4e38 is an error in an argument and `Inf` in a result, and
#' below about 1e-38 numbers fade to 0. Sums over what is used more than once are in double.
#'
#' **`log = TRUE`** is for magnitudes beyond that range. Inputs are then logarithms, `-Inf` being
#' the logarithm of 0, and so is the result. Numbers that may be negative are given and returned as
#' `list(log = , sign = )`, for a number z `list(log = log(abs(z)), sign = sign(z))`. If no argument
#' is such a list, all numbers are positive and the result is an array of logarithms; if at least
#' one is, the result is such a list. The arithmetic is done with the numbers themselves, each a
#' double (in single precision, a float) with a whole exponent of its own, so that errors do not
#' grow with the logarithms: a number that is off by a factor of 1 + e has a logarithm off by e.
#'
#' @param a,b Coefficients. A numeric vector is one sequence; a matrix (also `ts`, `mts`, `zoo`,
#'   `xts`) holds one in each column; an array has its time steps along the dimension `along`. Both
#'   have the same shape, or one of them is a single number, or a vector with a number for each time
#'   step that holds in all sequences.
#' @param x0 The x before the first step: one number, or one for each sequence (for an array in
#'   the order of the array without the dimension `along`). The default is 0.
#' @param along The dimension that is time, 1 (the rows) by default.
#' @param reverse Whether to run from the end: \eqn{x_t = a_t x_{t+1} + b_t}{x[t] = a[t] x[t+1] +
#'   b[t]}, with `x0` after the last step.
#' @param log Whether `a`, `b`, `x0` and the result are logarithms, see Details.
#' @param backend Where to compute: `"cpu"`, `"cuda"` (an NVIDIA device; an error where there is
#'   none) or `"auto"`, which here is `"cpu"`, whatever the size: to carry the numbers to a device
#'   and the results back takes longer than the processor needs for all of them.
#' @param precision `"double"`, or `"single"` for arithmetic in 24 bits. R's numbers are doubles, so
#'   on the processor it saves hardly any time.
#' @param threads Number of threads, or `NULL` for that of [softdtw_threads()]. It never changes a
#'   result.
#' @param grad Derivatives of some function by each element of the result of `linear_recurrence()`
#'   (by the logarithms, where `log = TRUE`): of its shape, or one number for all, or one for each
#'   time step. The default, 1, is the sum of all elements.
#'
#' @returns `linear_recurrence()`: x_1, x_2, ... in the shape of the larger of `a` and `b`, with the
#'   names and the time attributes of `b` where it has any, else of `a`. With `log = TRUE` the
#'   logarithms, or `list(log, sign)`.
#'
#'   `linear_recurrence_grad()`: a list of `value` (what `linear_recurrence()` returns) and
#'   `grad_a`, `grad_b`, `grad_x0`, each in the shape of the argument; an argument that is used more
#'   than once has the sum. With `log = TRUE` they are derivatives of logarithms by logarithms;
#'   where a result is 0 it has no logarithm, and its share is 0.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Blelloch, G. E. (1990). Prefix sums and their applications. Technical Report CMU-CS-90-190,
#' Carnegie Mellon University.
#'
#' Martin, E. and Cundy, C. (2018). Parallelizing linear recurrent neural nets over sequence length.
#' *International Conference on Learning Representations*. \doi{10.48550/arXiv.1709.04057}
#'
#' Heinsen, F. A. (2023). Efficient parallelization of a ubiquitous sequential computation.
#' \doi{10.48550/arXiv.2311.06281}
#'
#' @seealso [stats::filter()] for constant coefficients. `vignette("recurrence")` explains scans.
#'
#' @examples
#' softdtw_threads(2)
#' # exponential smoothing of a series observed at irregular times
#' time <- c(0, 1, 2, 5, 6, 10)
#' y <- c(3, 4, 3, 6, 5, 6)
#' keep <- exp(-diff(time) / 2)
#' linear_recurrence(keep, (1 - keep) * y[-1], x0 = y[1])
#'
#' # one sequence a column; a coefficient of 0 starts anew
#' linear_recurrence(c(1, 1, 0, 1), cbind(u = 1:4, v = 1))
#'
#' # magnitudes beyond any double
#' linear_recurrence(rep(1000, 5), 0, x0 = 0, log = TRUE)
#'
#' # a gradient
#' linear_recurrence_grad(c(0.5, 2, -1), 1, x0 = 1)
#' @export
linear_recurrence <- function(a, b, x0 = if (log) -Inf else 0, along = 1L, reverse = FALSE,
                              log = FALSE, backend = getOption("softdtw.backend", "auto"),
                              precision = c("double", "single"), threads = NULL) {
  log <- check_flag(log, "log")
  opts <- recurrence_options(reverse, log, backend, precision, threads)
  job <- new_recurrence(a, b, x0, along, opts)
  shape_recurrence(run_recurrence(job), job)
}

#' @rdname linear_recurrence
#' @export
linear_recurrence_grad <- function(a, b, x0 = if (log) -Inf else 0, grad = 1, along = 1L,
                                   reverse = FALSE, log = FALSE,
                                   backend = getOption("softdtw.backend", "auto"),
                                   precision = c("double", "single"), threads = NULL) {
  log <- check_flag(log, "log")
  opts <- recurrence_options(reverse, log, backend, precision, threads)
  job <- new_recurrence(a, b, x0, along, opts)
  grad <- read_coefficient(grad, "grad", log = FALSE)
  check_shape(grad, job$shape)
  check_values(grad, job$shape, job$opts$single)
  x <- run_recurrence(job)
  grads <- .Call(
    ffi_recurrence_grad, job$a$value, job$b$value, job$x0$value, job$signs, x$value, x$sign,
    grad$value, job$shape$dims, job$opts
  )
  list(
    value = shape_recurrence(x, job),
    grad_a = like(grads$grad_a, job$a),
    grad_b = like(grads$grad_b, job$b),
    grad_x0 = like(grads$grad_x0, job$x0)
  )
}

# the job --------------------------------------------------------------------------------------

# Everything checked and in the form that C takes. `shape$dims` is inner x steps x outer: element
# (i, t, o) of an array whose dimensions before `along` are taken together, and those after it.
new_recurrence <- function(a, b, x0, along, opts) {
  a <- read_coefficient(a, "a", opts$logs)
  b <- read_coefficient(b, "b", opts$logs)
  x0 <- read_coefficient(x0, "x0", opts$logs)
  shape <- find_shape(a, b, along)
  check_starts(x0, shape)
  for (x in list(a, b, x0)) {
    check_values(x, shape, opts$single)
  }
  if (opts$logs) {
    check_logs(a, b, x0, shape)
  }
  list(
    a = a, b = b, x0 = x0, shape = shape, opts = opts,
    signs = lapply(list(a, b, x0), `[[`, "sign")
  )
}

# To carry a step to a device and back takes longer than a processor needs for it: "auto" stays.
recurrence_options <- function(reverse, log, backend, precision, threads) {
  opts <- c(
    list(reverse = check_flag(reverse, "reverse"), logs = log, threads = check_threads(threads)),
    backend_options(backend, precision)
  )
  if (opts$backend == "auto") {
    opts$backend <- "cpu"
  }
  opts
}

run_recurrence <- function(job) {
  .Call(
    ffi_recurrence, job$a$value, job$b$value, job$x0$value, job$signs, job$shape$dims, job$opts
  )
}

shape_recurrence <- function(x, job) {
  model <- larger_argument(job$a, job$b, job$shape)
  value <- like(x$value, model)
  if (is.null(x$sign)) value else list(log = value, sign = like(x$sign, model))
}

# The argument that the result looks like: one with the full number of elements, and of two such
# the one that has more to it than dimensions, `b` first.
larger_argument <- function(a, b, shape) {
  full <- Filter(\(x) length(x$value) == prod(shape$dims), list(b, a))
  dims <- Filter(\(x) !is.null(x$attributes$dim), full)
  full <- if (length(dims)) dims else full
  named <- Filter(\(x) length(setdiff(names(x$attributes), "dim")) > 0L, full)
  c(named, full)[[1L]]
}

like <- function(value, argument) {
  # setting attributes copies the values, setting none would, too
  if (length(argument$attributes)) {
    attributes(value) <- argument$attributes
  }
  value
}

# reading --------------------------------------------------------------------------------------

# An argument as plain doubles, with its signs where it is given by logarithm and sign, and the
# attributes to give back to what has its shape.
read_coefficient <- function(x, arg, log) {
  sign <- NULL
  if (log && is.list(x) && setequal(names(x), c("log", "sign"))) {
    sign <- x$sign
    x <- x$log
  }
  check_coefficient_type(x, arg, log)
  if (length(x) == 0L) {
    stop_softdtw("empty", sprintf("`%s` is empty: at least one number is needed.", arg),
      argument = arg
    )
  }
  list(
    value = as.double(x), sign = read_sign(sign, length(x), arg), attributes = attributes(x),
    arg = arg, log = log
  )
}

check_coefficient_type <- function(x, arg, log) {
  if (is_numeric_like(x) && (!is.object(x) || has_time_class(x))) {
    return(invisible())
  }
  hint <- if (is.data.frame(x)) {
    "Use as.matrix() on it."
  } else if (is.list(x) && log) {
    "Numbers that may be negative are list(log =, sign =)."
  } else {
    "It may be a vector, matrix, array, ts, zoo or xts of numbers."
  }
  stop_softdtw("type", sprintf("`%s` must be numeric, not %s. %s", arg, describe(x), hint),
    argument = arg
  )
}

read_sign <- function(sign, count, arg) {
  if (is.null(sign)) {
    return(NULL)
  }
  name <- paste0(arg, "$sign")
  if (!is.numeric(sign) || is.object(sign) || !length(sign) %in% c(1L, count)) {
    stop_argument(name, sprintf("numbers -1, 0 or 1, one or as many as `%s$log` has", arg), sign)
  }
  wrong <- match(FALSE, sign %in% c(-1, 0, 1))
  if (!is.na(wrong)) {
    stop_softdtw("argument", sprintf(
      "`%s` must be -1, 0 or 1, not %s at element %s.", name, format(sign[wrong]),
      big_number(wrong)
    ), argument = name, position = wrong)
  }
  rep_len(as.double(sign), count)
}

# shapes ---------------------------------------------------------------------------------------

dims_of <- function(x) {
  dim <- x$attributes$dim
  if (is.null(dim)) length(x$value) else dim
}

# list(dims = inner x steps x outer, full = all dimensions, along, names of the sequences)
find_shape <- function(a, b, along) {
  big <- if (is_larger(a, b)) a else b
  full <- dims_of(big)
  along <- check_whole(along, "along", 1, length(full))
  shape <- list(
    dims = c(prod(full[seq_len(along - 1)]), full[along], prod(full[-seq_len(along)])),
    full = full, along = along, arg = big$arg, names = sequence_names(big, full, along)
  )
  check_shape(a, shape)
  check_shape(b, shape)
  check_same_times(a, b, shape)
  shape
}

is_larger <- function(a, b) {
  arrays <- c(is.null(a$attributes$dim), is.null(b$attributes$dim))
  if (arrays[1L] != arrays[2L] && min(length(a$value), length(b$value)) > 1L) {
    return(arrays[2L])
  }
  length(a$value) > length(b$value)
}

# One number, one for each time step, or all of them.
check_shape <- function(x, shape) {
  dims <- dims_of(x)
  one <- length(x$value) == 1L
  steps <- length(dims) == 1L && dims == shape$dims[2L]
  if (one || steps || identical(as.double(dims), as.double(shape$full))) {
    return(invisible())
  }
  size <- \(dims) paste(vapply(dims, big_number, ""), collapse = " x ")
  right <- if (length(shape$full) == 1L) {
    sprintf("%s, as `%s` has, or 1", plural(shape$full, "element"), shape$arg)
  } else {
    sprintf(
      "the shape of `%s` (%s), or %s (one for each time step), or 1",
      shape$arg, size(shape$full), plural(shape$dims[2L], "element")
    )
  }
  stop_softdtw("dimension", sprintf("`%s` must have %s, not %s.", x$arg, right, size(dims)),
    argument = x$arg
  )
}

check_starts <- function(x0, shape) {
  sequences <- shape$dims[1L] * shape$dims[3L]
  if (!length(x0$value) %in% c(1, sequences)) {
    each <- if (sequences > 1) sprintf(" or one for each of %s sequences", big_number(sequences))
    stop_softdtw("count", sprintf(
      "`x0` must be one number%s, not %s.", if (is.null(each)) "" else each,
      plural(length(x0$value), "number")
    ), argument = "x0")
  }
}

check_same_times <- function(a, b, shape) {
  times <- lapply(list(a, b), \(x) x$attributes[c("tsp", "index")])
  given <- vapply(times, \(x) any(lengths(x) > 0L), NA)
  if (all(given) && !identical(lapply(times[[1L]], as.vector), lapply(times[[2L]], as.vector))) {
    stop_softdtw("dimension", "`a` and `b` are series with different times: align them first.")
  }
}

# Only a matrix has a name for each sequence.
sequence_names <- function(x, full, along) {
  if (length(full) == 2L) x$attributes$dimnames[[3L - along]]
}

# values ---------------------------------------------------------------------------------------

# The largest number that a single holds. Logarithms are doubles in both precisions.
largest_float <- (2 - 2^-23) * 2^127

# No NA, nothing infinite but the logarithm of 0, and nothing that would be infinite as a single.
check_values <- function(x, shape, single) {
  range <- c(min(x$value), max(x$value)) # range() would copy
  if (anyNA(range) || !all(is.finite(range) | (x$log & range == -Inf))) {
    stop_at_wrong_value(x, shape)
  }
  if (single && !x$log && max(abs(range)) > largest_float) {
    wrong <- match(TRUE, abs(x$value) > largest_float)
    stop_at_element("range", "a value too large for single precision", wrong, x, shape,
      "Rescale it, or use `precision` = \"double\"."
    )
  }
}

stop_at_wrong_value <- function(x, shape) {
  missing <- match(TRUE, is.na(x$value))
  if (!is.na(missing)) {
    stop_at_element("missing", "a missing value", missing, x, shape, "Fill the gap first.")
  }
  right <- if (x$log) "Logarithms must be finite, or -Inf for 0." else "Numbers must be finite."
  wrong <- match(TRUE, is.infinite(x$value) & !(x$log & x$value == -Inf))
  stop_at_element("infinite", "a value that is not finite", wrong, x, shape, right)
}

stop_at_element <- function(class, what, at, x, shape, hint) {
  where <- locate_element(at, x, shape)
  time <- if (!is.null(where$time)) sprintf(" at time step %s", big_number(where$time)) else ""
  stop_softdtw(class, sprintf(
    "%s has %s (%s)%s. %s", name_series(x$arg, where$series, shape$names), what,
    x$value[at], time, hint
  ), argument = x$arg, series = where$series, position = where$time)
}

# Sequence and time step of an element, as far as they can be told.
locate_element <- function(at, x, shape) {
  inner <- shape$dims[1L]
  steps <- shape$dims[2L]
  sequences <- inner * shape$dims[3L]
  if (x$arg == "x0") {
    return(list(series = if (length(x$value) > 1L) at))
  }
  if (length(x$value) == 1L && steps > 1) {
    return(list())
  }
  if (length(x$value) < steps * sequences) {
    return(list(time = at))
  }
  list(
    series = if (sequences > 1) (at - 1) %% inner + inner * ((at - 1) %/% (inner * steps)) + 1,
    time = ((at - 1) %/% inner) %% steps + 1
  )
}

# Exponents are counted in whole numbers, which must stay exact.
check_logs <- function(a, b, x0, shape) {
  size <- \(x) max(abs(x$value[is.finite(x$value)]), 0)
  if (size(a) * shape$dims[2L] + size(b) + size(x0) > 2^52) {
    stop_softdtw("range", c(
      "The logarithms are too large: over all steps they may add up to more than 2^52,",
      " where a double no longer tells whole numbers apart."
    ))
  }
}
