#' Nearest neighbours under soft-DTW
#'
#' Finds the `k` nearest series of a set, for each series of another set or of the same one. The
#' matrix of all pairs is never held: memory grows with the number of series times `k`.
#'
#' Ties go to the series with the lower number. Without `query` a series is not its own neighbour.
#'
#' @param x The set that is searched (forms as in [softdtw_matrix()]).
#' @param query The set whose neighbours are sought, or `NULL` for `x` itself.
#' @param k Number of neighbours: at most the number of series in `x`, less one without `query`.
#' @inheritParams softdtw_matrix
#'
#' @returns A list of class `softdtw_knn`, with a row for each series of `query` (or `x`), nearest
#'   first:
#'   * `index`: integer matrix with `k` columns, numbers of series in `x`;
#'   * `distance`: numeric matrix with `k` columns, in the unit of the cost;
#'   * `names`: the names of the series of `x`, or `NULL`;
#'   * `type`, `gamma`: as given.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#'
#' @examples
#' softdtw_threads(2)
#' x <- list(a = c(0, 1, 2, 1), b = c(0, 0, 1, 2, 1), c = c(3, 2, 0), d = c(3, 3, 1))
#' softdtw_knn(x, k = 2)
#' softdtw_knn(x, query = list(new = c(0, 2, 1)), k = 1)$index
#' @export
softdtw_knn <- function(x, query = NULL, k, gamma = 1,
                        cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                        type = c("divergence", "softdtw"), window = NULL,
                        na = c("error", "omit", "interpolate"),
                        backend = getOption("softdtw.backend", "auto"),
                        precision = c("double", "single"), threads = NULL,
                        progress = getOption("softdtw.progress", FALSE)) {
  type <- check_type(type, c("divergence", "softdtw"))
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  x <- as_set(x, "x", na)
  query <- if (is.null(query)) NULL else as_set(query, "query", na)
  seekers <- if (is.null(query)) x else query
  k <- check_neighbours(if (missing(k)) NULL else k, x, is.null(query))
  check_pair(x, seekers, opts, arg_y = if (is.null(query)) "x" else "query", type = type)
  check_memory(
    as.double(length(seekers)) * k,
    sprintf("A table of %d neighbours for each of %s series", k, big_number(length(seekers))),
    "Take a smaller k, or fewer series of the query at a time.",
    bytes_each = 12
  )
  opts <- choose_for_table(opts, x, seekers)
  own_x <- if (type == "divergence") own_values(x, opts)
  own_query <- if (type == "divergence" && !is.null(query)) own_values(query, opts)
  found <- .Call(ffi_knn, x, query, k, opts, own_x, own_query)
  if (!is.null(seekers$names)) {
    rownames(found$index) <- rownames(found$distance) <- seekers$names
  }
  structure(
    list(
      index = found$index, distance = found$distance, names = x$names, type = type,
      gamma = opts$gamma
    ),
    class = "softdtw_knn"
  )
}

check_neighbours <- function(k, x, self) {
  most <- length(x) - self
  if (most < 1L) {
    stop_softdtw("count", "`x` holds 1 series, which has no neighbours but itself; give a `query`.")
  }
  if (!is_whole(k) || k < 1 || k > most) {
    right <- sprintf(
      "one whole number from 1 to %s (the number of %sseries in `x`)",
      big_number(most), if (self) "other " else ""
    )
    stop_argument("k", right, k)
  }
  as.integer(k)
}

#' @export
print.softdtw_knn <- function(x, n = 6L, ...) {
  rows <- nrow(x$index)
  shown <- seq_len(min(n, rows))
  cat(sprintf(
    "%s of %s, %s, gamma = %s\n", plural(ncol(x$index), "nearest neighbour"),
    plural(rows, "series", "series"),
    if (x$type == "divergence") "soft-DTW divergence" else "soft-DTW", format(x$gamma)
  ))
  labels <- if (is.null(x$names)) x$index[shown, ] else x$names[x$index[shown, ]]
  cells <- sprintf("%s (%s)", labels, format(x$distance[shown, ], digits = 4L, trim = TRUE))
  table <- matrix(cells, length(shown))
  dimnames(table) <- list(
    if (is.null(rownames(x$index))) shown else rownames(x$index)[shown],
    seq_len(ncol(table))
  )
  print(table, quote = FALSE, ...)
  if (rows > n) {
    cat("... and ", big_number(rows - n), " more\n", sep = "")
  }
  invisible(x)
}
