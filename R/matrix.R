#' Soft-DTW of all pairs
#'
#' `softdtw_matrix()` compares every series of `x` with every series of `y`, or all series of `x`
#' with one another. `softdtw_dist()` gives the latter as a [stats::dist()] object, which
#' [stats::hclust()], [stats::cmdscale()], `cluster::pam()`, `cluster::silhouette()` and others
#' take, and which holds each pair once.
#'
#' The value of a series with itself is not 0 (see [softdtw()]), so the matrix of raw values has its
#' true diagonal. A `dist` has no diagonal to show: use the divergence there, which is the default,
#' or read the diagonal from the attribute.
#'
#' The memory for the result is checked before any work is done. [softdtw_knn()] needs far less
#' where only the nearest neighbours matter.
#'
#' @param x,y Sets of series: a list, a matrix with **one series a row** (`NA` up to the end of a
#'   row means a shorter series), an array (series, time, dimension), or the result of
#'   [as_series()]. `y = NULL` compares `x` with itself.
#' @inheritParams softdtw
#' @param type `"softdtw"` for the value itself, `"divergence"` for the value less the mean of both
#'   series' values with themselves (0 for equal series).
#'
#' @returns `softdtw_matrix()`: a matrix, a row for each series of `x`, a column for each of `y` (or
#'   of `x`), with their names. `softdtw_dist()`: an object of class `dist` with the names as
#'   labels; with `type = "softdtw"` the values of each series with itself are in the attribute
#'   `"diagonal"`, and a warning (class `softdtw_warning`) says so. Unit: that of the cost.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#' @seealso [softdtw_knn()], [softdtw_kmeans()].
#'
#' @examples
#' softdtw_threads(2)
#' x <- list(a = c(0, 1, 2, 1), b = c(0, 0, 1, 2, 1), c = c(3, 2, 0), d = c(3, 3, 1))
#' softdtw_matrix(x)
#' softdtw_matrix(x, list(up = 0:3, down = 3:0), type = "divergence")
#'
#' d <- softdtw_dist(x)
#' d
#' cutree(hclust(d, "average"), 2)
#' @export
softdtw_matrix <- function(x, y = NULL, gamma = 1,
                           cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                           type = c("softdtw", "divergence"), window = NULL,
                           na = c("error", "omit", "interpolate"),
                           backend = getOption("softdtw.backend", "auto"),
                           precision = c("double", "single"), threads = NULL,
                           progress = getOption("softdtw.progress", FALSE)) {
  type <- check_type(type)
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  x <- as_set(x, "x", na)
  y <- if (is.null(y)) NULL else as_set(y, "y", na)
  columns <- if (is.null(y)) x else y
  check_pair(x, columns, opts, arg_y = if (is.null(y)) "x" else "y", type = type)
  check_matrix_memory(length(x), length(columns), is.null(y))
  opts <- choose_for_table(opts, x, y)
  own_x <- if (type == "divergence") own_values(x, opts)
  own_y <- if (type == "divergence" && !is.null(y)) own_values(y, opts)
  values <- .Call(ffi_matrix, x, y, opts, own_x, own_y)
  if (!is.null(x$names) || !is.null(columns$names)) {
    dimnames(values) <- list(x$names, columns$names)
  }
  values
}

# The text is put together only if it is needed: it takes longer than a small matrix.
check_matrix_memory <- function(rows, columns, self) {
  check_memory(
    as.double(rows) * columns,
    sprintf("A matrix of %s x %s values", big_number(rows), big_number(columns)),
    if (self) {
      paste(
        "softdtw_knn() keeps only the nearest series, softdtw_dist() half of the matrix, and",
        "softdtw_kmeans() none of it."
      )
    } else {
      "Take fewer rows at a time, or use softdtw_knn(), which keeps only the nearest series."
    }
  )
}

#' @rdname softdtw_matrix
#' @export
softdtw_dist <- function(x, gamma = 1,
                         cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                         type = c("divergence", "softdtw"), window = NULL,
                         na = c("error", "omit", "interpolate"),
                         backend = getOption("softdtw.backend", "auto"),
                         precision = c("double", "single"), threads = NULL,
                         progress = getOption("softdtw.progress", FALSE)) {
  call <- match.call()
  type <- check_type(type, c("divergence", "softdtw"))
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  x <- as_set(x, "x", na)
  check_pair(x, x, opts, arg_y = "x", type = type)
  n <- as.double(length(x))
  check_memory(
    n * (n - 1) / 2, sprintf("The dist of %s series", big_number(n)),
    "softdtw_knn() keeps only the nearest series, and softdtw_kmeans() needs no distances of pairs."
  )
  opts <- choose_for_table(opts, x)
  own <- own_values(x, opts)
  values <- .Call(ffi_dist, x, opts, if (type == "divergence") own)
  if (type == "softdtw") {
    warn_softdtw(c(
      "Raw soft-DTW values are no dissimilarities: they can be negative, and a series with itself ",
      "is not 0. The true diagonal is in attr(, \"diagonal\"); type = \"divergence\" has none."
    ))
  }
  structure(
    values,
    Size = length(x),
    Labels = x$names,
    Diag = FALSE,
    Upper = FALSE,
    method = if (type == "divergence") "soft-DTW divergence" else "soft-DTW",
    call = call,
    diagonal = if (type == "softdtw") stats::setNames(own, x$names),
    class = "dist"
  )
}
