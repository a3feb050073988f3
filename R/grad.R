#' Gradients of soft-DTW
#'
#' Value of [softdtw()] with its derivatives with respect to every entry of `x` and of `y`.
#'
#' The gradient is the expected alignment E (see [softdtw_alignment()]) times the derivative of each
#' point's cost. For the divergence the series' own terms count too: a change of `x` changes
#' value(x, x) through both of its places. Where a cost has a corner, its slope there is taken as 0:
#' coinciding points for `"euclidean"`, equal coordinates for `"manhattan"`. With `gamma = 0` it is
#' the slope along the one best path (ties: diagonal first, then the step in `x`, then in `y`).
#'
#' @inheritParams softdtw
#'
#' @returns A list of
#'   * `value`: as [softdtw()] returns it;
#'   * `grad_x`: for one series `x` a gradient in its form (vector, matrix, `ts`, `zoo`, `xts`, with
#'     its names and times), with `NA` at the steps that `na = "omit"` left out; where `x` or `y` is
#'     a set, a list of them, one a pair, never summed;
#'   * `grad_y`: the same for `y`.
#'
#'   Unit: that of the cost for each unit of the data.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#'
#' @examples
#' softdtw_threads(2)
#' x <- c(0, 0, 1, 2, 1, 0)
#' y <- c(0, 1, 2, 2, 1, 0, 0)
#' softdtw_grad(x, y)
#'
#' # a step against the gradient brings the series together
#' g <- softdtw_grad(x, y, type = "divergence")
#' softdtw(x - 0.1 * g$grad_x, y, type = "divergence") < g$value
#' @export
softdtw_grad <- function(x, y, gamma = 1,
                         cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                         type = c("softdtw", "divergence"), window = NULL,
                         na = c("error", "omit", "interpolate"),
                         backend = getOption("softdtw.backend", "auto"),
                         precision = c("double", "single"), threads = NULL,
                         progress = getOption("softdtw.progress", FALSE)) {
  type <- check_type(type)
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  x <- as_one(x, "x", na)
  y <- as_one(y, "y", na)
  check_counts(x, y)
  check_pair(x, y, opts, matched = TRUE, type = type)
  opts <- choose_for_pairs(opts, x, y)
  found <- pair_gradients(x, y, opts, type)
  one_pair <- x$single && y$single
  names <- pair_names(x, y)
  list(
    value = stats::setNames(found$value, names),
    grad_x = shape_gradients(found$grad_x, x, names, one_pair),
    grad_y = shape_gradients(found$grad_y, y, names, one_pair)
  )
}

# value (a number a pair) and lists of T x d gradients, a pair each.
pair_gradients <- function(x, y, opts, type, want_y = TRUE) {
  found <- .Call(ffi_grad, x, y, opts, TRUE, want_y)
  if (type == "softdtw") {
    return(found)
  }
  own_x <- own_gradients(x, opts)
  own_y <- if (want_y) own_gradients(y, opts) else list(value = own_values(y, opts))
  list(
    value = found$value - (own_x$value + own_y$value) / 2,
    grad_x = Map(`-`, found$grad_x, own_x$half),
    grad_y = if (want_y) Map(`-`, found$grad_y, own_y$half)
  )
}

# Of each series with itself: the value, and half its gradient, which comes from both places.
own_gradients <- function(x, opts) {
  own <- .Call(ffi_grad, x, x, without_progress(opts), TRUE, TRUE)
  list(value = own$value, half = Map(\(first, second) (first + second) / 2, own$grad_x, own$grad_y))
}

# Each gradient in the form of the series it belongs to; one for two single series, else a list.
shape_gradients <- function(gradients, x, names = NULL, one_pair = FALSE) {
  of <- rep_len(seq_along(x), length(gradients))
  shaped <- Map(\(m, i) shape_like(m, x, i, fill = TRUE), gradients, of)
  if (one_pair) shaped[[1L]] else stats::setNames(shaped, names)
}
