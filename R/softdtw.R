#' Soft-DTW of two series
#'
#' Computes soft dynamic time warping: the soft minimum, over all ways to align two series in time
#' order, of the summed cost of the points aligned. The series may differ in length. With `gamma =
#' 0` it is the classic hard minimum (DTW), without a root.
#'
#' With \eqn{D_{ij}} the cost of point i of `x` against point j of `y`, and paths that go from
#' (1, 1) to (n, m) by steps of one down, right or diagonal, the value is
#' \deqn{-\gamma \log \sum_{paths} \exp\left(-\frac{1}{\gamma}\sum_{(i,j)\ on\ path} D_{ij}\right)}{
#'   -gamma log( sum over paths of exp( -(sum of D_ij on the path) / gamma ) )}
#' Its unit is that of the cost: squared units of the data for `"sqeuclidean"`. Nothing is divided
#' by a length and no root is taken.
#'
#' **Values can be negative.** Many paths of nearly the same cost lower the soft minimum by up to
#' gamma times the logarithm of their number, so that even a series with itself has a value below 0.
#' The *divergence* takes that away: value(x, y) - (value(x, x) + value(y, y)) / 2, which is exactly
#' 0 for equal series and, with the default cost, in practice never negative. Series of equal values
#' but different lengths differ by some gamma, as their numbers of paths do.
#'
#' **Windows** (Sakoe and Chiba) run along the line through both corners: cell (i, j) is allowed
#' where |(i-1)(m-1) - (j-1)(n-1)| <= window * max(n-1, m-1). For equal lengths that is |i - j| <=
#' window; for unequal ones the window follows the slanted line, so a narrow one still reaches the
#' corner. Only `window = 0` leaves no path, between unequal lengths.
#'
#' @param x,y A series or a set of series. A numeric vector, a matrix (time x dimension), a `ts`,
#'   `zoo` or `xts` object is **one** series. A list of those, an array (series, time, dimension) or
#'   the result of [as_series()] is a set. Sets pair number by number; a single series pairs with
#'   each member of the other set.
#' @param gamma Smoothing, one number >= 0, in the unit of the cost. 0 is hard DTW; the larger, the
#'   more paths count. [softdtw_gamma()] proposes one from the data.
#' @param cost Cost of two points: `"sqeuclidean"` (sum of squared differences over dimensions, no
#'   half and no root), `"euclidean"` (its root), `"manhattan"` (sum of absolute differences) or
#'   `"cosine"` (1 - cosine of the angle, that is half the squared distance of the points scaled to
#'   length 1).
#' @param type `"softdtw"` for the value itself, `"divergence"` for the value less the mean of both
#'   series' values with themselves.
#' @param window Width of a Sakoe-Chiba window in time steps, a whole number, or `NULL` for none.
#' @param na What to do with missing values inside a series: `"error"`; `"omit"` leaves out every
#'   time step with one (gradients then have `NA` there); `"interpolate"` fills them linearly within
#'   each dimension and carries the nearest value to the ends.
#' @param backend Where to compute: `"cpu"`, `"cuda"` (NVIDIA devices; an error where there is none)
#'   or `"auto"`, which takes CUDA for work that is worth it: at least 1e8 cells of cost matrices,
#'   and at least 100 for each number in the series. The result is the same but for rounding.
#' @param precision `"double"`, or `"single"` for about twice the speed: values then have 6 to 7
#'   digits, alignments and gradients fewer where costs are many times gamma.
#' @param threads Number of threads, or `NULL` for that of [softdtw_threads()]. It never changes a
#'   result.
#' @param progress Whether to show a progress bar on the standard error stream.
#'
#' @returns A number for two series; for sets one number a pair, with the names of the set (of `x`
#'   first) where it has any. Unit: that of the cost.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Cuturi, M. and Blondel, M. (2017). Soft-DTW: a differentiable loss function for time-series.
#' *Proceedings of the 34th International Conference on Machine Learning*, PMLR 70, 894-903.
#' \doi{10.48550/arXiv.1703.01541}
#'
#' Blondel, M., Mensch, A. and Vert, J.-P. (2021). Differentiable divergences between time series.
#' *Proceedings of the 24th International Conference on Artificial Intelligence and Statistics*,
#' PMLR 130, 3853-3861. \doi{10.48550/arXiv.2010.08354}
#'
#' Sakoe, H. and Chiba, S. (1978). Dynamic programming algorithm optimization for spoken word
#' recognition. *IEEE Transactions on Acoustics, Speech, and Signal Processing*, 26(1), 43-49.
#' \doi{10.1109/TASSP.1978.1163055}
#'
#' @seealso [softdtw_grad()], [softdtw_alignment()], [softdtw_matrix()], [softdtw_dist()].
#'
#' @examples
#' softdtw_threads(2)
#' x <- c(0, 0, 1, 2, 1, 0)
#' y <- c(0, 1, 2, 2, 1, 0, 0)
#' softdtw(x, y)
#' softdtw(x, y, gamma = 0)
#' softdtw(x, y, type = "divergence")
#'
#' # one against many, and two dimensions
#' softdtw(x, list(a = y, b = rev(y), c = 0))
#' softdtw(cbind(x, x^2), cbind(y, y^2), window = 2)
#' @export
softdtw <- function(x, y, gamma = 1, cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
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
  value <- .Call(ffi_softdtw, x, y, opts)
  if (type == "divergence") {
    value <- value - (own_values(x, opts) + own_values(y, opts)) / 2
  }
  names(value) <- pair_names(x, y)
  value
}

# value(s, s) of each series s: once a series, however many pairs it is in.
own_values <- function(x, opts) .Call(ffi_softdtw, x, x, without_progress(opts))

# Names of the pairs: those of the longer set, of x first.
pair_names <- function(x, y) {
  pairs <- max(length(x), length(y))
  if (length(x) == pairs && !is.null(x$names)) {
    return(x$names)
  }
  if (length(y) == pairs) y$names
}
