# Nearest-centroid classification: one soft-DTW barycenter for each class.

#' Nearest-centroid classifier for time series
#'
#' Computes one soft-DTW barycenter for each class of labelled series. A new series belongs to the
#' class whose barycenter has the smallest soft-DTW value (or divergence) to it: one comparison for
#' each class, where nearest neighbours need one for each series.
#'
#' @inheritParams softdtw_barycenter
#' @param x A set of series, as for [softdtw_barycenter()]; for the methods, a fitted classifier.
#' @param labels One label for each series: a factor or any vector of numbers, text, logical values
#'   or dates, without `NA`.
#' @param weights `NULL` for 1 each, or one finite number >= 0 for each series, not all 0 within a
#'   class.
#' @param length Number of time steps of all centroids; by default the rounded median length of the
#'   series of each class.
#' @param type `"softdtw"` or `"divergence"`; in `predict()`, `"class"` or `"distance"`.
#' @param precision As in [softdtw()]. In `predict()` the default is that of the fit, so that the
#'   series it was made from are told apart as they were then.
#' @param init,method,maxit,tol,control As for [softdtw_barycenter()], which is run on each class.
#'
#' @returns An object of class `softdtw_centroids`, a list of
#'   * `centers`: list of series, one for each class and named by it, in the kind and units of the
#'     input (see [softdtw_barycenter()]). Classes are in the order of the factor's levels (those
#'     without series left out), else sorted;
#'   * `classes`: the class of each center, of the type of `labels`; `labels` as given;
#'   * `size`, `objective`, `converged`, `message`: for each class, number of series, weighted sum
#'     at the center, and how the optimiser ended;
#'   * `weights`, `gamma`, `cost`, `type`, `window`, `precision`, `na`, `method`, `call`, and
#'     `data`, the set as [as_series()] packs it.
#'
#'   `predict()` gives for each series of `newdata` the class of the nearest center, of the type of
#'   `labels` (a factor with the same levels where they are one), or with `type = "distance"` the
#'   matrix (series x class) of values. `summary()` adds the table of labels against predictions on
#'   the training series. `plot()` draws each class with its center in bold.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Cuturi M., Blondel M. (2017). Soft-DTW: a differentiable loss function for time-series. ICML.
#' \doi{10.48550/arXiv.1703.01541}
#'
#' @seealso [softdtw_barycenter()], [softdtw_knn()]
#' @examples
#' softdtw_threads(2)
#' bump <- function(at, sign) sign * exp(-((1:24 - at) / 3)^2)
#' x <- c(lapply(c(6, 9, 12), bump, sign = 1), lapply(c(8, 11, 15), bump, sign = -1))
#' fit <- softdtw_centroids(x, rep(c("up", "down"), each = 3), gamma = 0.05)
#' fit
#' predict(fit, list(bump(10, 1), bump(14, -1)))
#' predict(fit, list(bump(10, 1), bump(14, -1)), type = "distance")
#' plot(fit)
#' @export
softdtw_centroids <- function(x, labels, gamma = 1, weights = NULL, init = c("mean", "medoid"),
                              length = NULL, method = c("lbfgs", "adam"),
                              cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                              type = c("softdtw", "divergence"), window = NULL,
                              na = c("error", "omit", "interpolate"), maxit = 1000, tol = 1e-9,
                              control = list(),
                              backend = getOption("softdtw.backend", "auto"),
                              precision = c("double", "single"), threads = NULL,
                              progress = getOption("softdtw.progress", FALSE)) {
  opts <- new_options(gamma, cost, window, threads, FALSE, backend, precision)
  cost <- check_cost(cost)
  precision <- check_precision(precision)
  type <- check_type(type)
  na <- check_na(na)
  method <- check_choice(method, c("lbfgs", "adam"), "method")
  maxit <- check_whole(maxit, "maxit", 1)
  tol <- check_positive(tol, "tol")
  control <- adam_control(control)

  x <- as_set(x, "x", na)
  labels <- check_labels(labels, length(x))
  classes <- sort(unique(labels))
  class <- match(labels, classes)
  weights <- check_class_weights(check_weights(weights, length(x)), class, classes)
  members <- lapply(seq_along(classes), \(g) which(class == g))
  targets <- lapply(members, \(i) {
    new_target(subset_series(x, i), weights[i], init, check_length(length), opts, type)
  })

  opts <- choose_for_centroids(opts, x)
  own <- own_terms(x, opts, type)
  tick <- new_tick(progress, "centroids", length(classes))
  ends <- lapply(seq_along(classes), \(g) {
    i <- members[[g]]
    problem <- new_problem(subset_series(x, i), weights[i], opts, own[i])
    end <- descend(problem, start_centroid(targets[[g]], problem), method, maxit, tol, control)
    tick$step()
    end
  })
  tick$done()
  centers <- centroid_set(lapply(ends, `[[`, "values"), x, names = as.character(classes))
  structure(
    list(
      centers = as.list(centers),
      classes = classes,
      labels = labels,
      size = tabulate(class, length(classes)),
      objective = vapply(ends, `[[`, 0, "objective"),
      converged = vapply(ends, `[[`, NA, "converged"),
      message = vapply(ends, `[[`, "", "message"),
      weights = weights,
      gamma = opts$gamma,
      cost = cost,
      type = type,
      window = window,
      precision = precision,
      na = na,
      method = method,
      data = x,
      call = match.call()
    ),
    class = "softdtw_centroids"
  )
}

check_labels <- function(labels, n) {
  if (!is.atomic(labels) || is.null(labels) || !is.null(dim(labels))) {
    stop_argument("labels", "a factor or a plain vector, one label a series", labels)
  }
  if (length(labels) != n) {
    stop_softdtw("argument", sprintf(
      "`labels` must hold one label a series: %s given for %s.",
      plural(length(labels), "label"), plural(n, "series", "series")
    ), argument = "labels")
  }
  missing <- match(TRUE, is.na(labels))
  if (!is.na(missing)) {
    stop_softdtw("argument", sprintf(
      "`labels` must not be missing: label %s is NA.", big_number(missing)
    ), argument = "labels", position = missing)
  }
  unname(labels)
}

check_class_weights <- function(weights, class, classes) {
  total <- vapply(seq_along(classes), \(g) sum(weights[class == g]), 0)
  empty <- match(0, total)
  if (!is.na(empty)) {
    stop_softdtw("argument", sprintf(
      "`weights` must not all be zero within a class: those of class \"%s\" are.",
      as.character(classes[empty])
    ), argument = "weights")
  }
  weights
}

# methods ---------------------------------------------------------------------------------------

#' @rdname softdtw_centroids
#' @param object,newdata A fitted classifier, and a set of series, read as `x` is; `NULL` for the
#'   series it was fitted to.
#' @param ... Must be empty.
#' @export
predict.softdtw_centroids <- function(object, newdata = NULL, type = c("class", "distance"),
                                      backend = getOption("softdtw.backend", "auto"),
                                      precision = object$precision, threads = NULL,
                                      progress = getOption("softdtw.progress", FALSE), ...) {
  check_dots(...)
  type <- check_choice(type, c("class", "distance"), "type")
  values <- values_to_centers(object, newdata, threads, progress, backend, precision)
  if (type == "distance") {
    return(values)
  }
  structure(object$classes[max.col(-values, "first")], names = rownames(values))
}

#' @export
print.softdtw_centroids <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  describe_centroids(x)
  print(class_table(x), digits = digits, row.names = FALSE)
  invisible(x)
}

describe_centroids <- function(x) {
  cat("Soft-DTW nearest-centroid classifier\n")
  cat("fitted to ", describe_set(x$data), "\n", sep = "")
  cat(describe_settings(x), ", method \"", x$method, "\"\n\n", sep = "")
}

class_table <- function(x) {
  data.frame(
    class = as.character(x$classes), size = x$size, steps = vapply(x$centers, NROW, 1L),
    objective = x$objective, converged = x$converged
  )
}

#' @rdname softdtw_centroids
#' @export
summary.softdtw_centroids <- function(object, ...) {
  check_dots(...)
  predicted <- predict(object)
  as_class <- \(labels) factor(as.character(labels), levels = as.character(object$classes))
  confusion <- table(label = as_class(object$labels), predicted = as_class(predicted))
  structure(
    c(unclass(object), list(
      confusion = confusion, accuracy = mean(predicted == object$labels)
    )),
    class = c("summary.softdtw_centroids", "softdtw_centroids")
  )
}

#' @export
print.summary.softdtw_centroids <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  describe_centroids(x)
  print(class_table(x), digits = digits, row.names = FALSE)
  cat("\nOn the series it was fitted to (", format(100 * x$accuracy, digits = 3L),
    "% in their class):\n",
    sep = ""
  )
  print(x$confusion)
  invisible(x)
}

#' @rdname softdtw_centroids
#' @param dims Which dimensions to draw, `NULL` for all: numbers or names.
#' @param members Whether to draw the series. Of more than 200 in a class, 200 evenly spaced ones
#'   are drawn.
#' @param main,xlab,ylab Title and labels of the axes.
#' @export
plot.softdtw_centroids <- function(x, dims = NULL, members = TRUE, main = NULL, xlab = NULL,
                                   ylab = "Value", ...) {
  check_dots(...)
  titles <- sprintf("%s (%s)", as.character(x$classes), x$size)
  if (is.null(main)) {
    count <- plural(length(x$data), "series", "series")
    main <- paste(count, "in", plural(length(x$size), "class", "classes"))
  }
  plot_centers(x, match(x$labels, x$classes), titles, dims, members, main, xlab, ylab)
}
