# Barycenters: one series that minimises the weighted sum of soft-DTW values to a set. The way down
# is in optimise.R; this file reads what the user gives and shapes what is returned.

#' Soft-DTW barycenter of a set of time series
#'
#' The series `z` that minimises the weighted sum of its soft-DTW values (or divergences) to the
#' series of a set,
#' \deqn{\sum_i w_i \, \mathrm{softdtw}_\gamma(z, x_i),}{sum_i w_i softdtw(z, x_i),}
#' an average that respects shifts and stretches in time. The series may have any lengths, and so
#' may the barycenter.
#'
#' @section Optimisation:
#' The objective is smooth but not convex, so what is found is a local minimum that depends on
#' `init`. Value and gradient come from one pass over all series.
#'
#' `method = "lbfgs"` (default) is [stats::optim()]'s L-BFGS-B without bounds, run again from its
#' end until a run gains nothing. With `gamma = 0` the objective has kinks and the gradient is a
#' subgradient; with squared costs, steps that set each point to the mean of the values aligned to
#' it (DTW barycenter averaging) follow. `method = "adam"` takes steps of a length that falls along
#' half a cosine, cuts outlying gradients, and stops early when nothing is gained. Whatever the
#' method, the best point met is returned: the objective never ends above its start.
#'
#' @section Weights:
#' Weights are used as given, not normalised: doubling all of them doubles the objective and leaves
#' the barycenter as it is. A series of weight 0 has no part in it.
#'
#' @section Soft-DTW or divergence:
#' With `type = "softdtw"` a large `gamma` smooths the barycenter, even that of copies of one
#' series. With `type = "divergence"` the objective is
#' \deqn{\sum_i w_i \left(v(z, x_i) - v(z, z) / 2 - v(x_i, x_i) / 2\right)}{
#' sum_i w_i (v(z, x_i) - v(z, z) / 2 - v(x_i, x_i) / 2)}
#' with the barycenter's own term: copies of one series then have that series as their barycenter.
#' The own term rewards roughness, however: among noisy series a large `gamma` gives a barycenter
#' rougher than the data, and `type = "softdtw"` is the better choice.
#'
#' @param x A set of series: a list of numeric vectors, matrices (time x dimension), `ts`, `zoo` or
#'   `xts`; a numeric matrix with one series a **row**; an array (series, time, dimension); or the
#'   result of [as_series()]. For the methods, a barycenter.
#' @param weights `NULL` for 1 each, or one finite number >= 0 for each series, not all 0.
#' @param init Where to start: `"mean"`, the weighted mean of all series after linear resampling to
#'   `length`; `"medoid"`, the series of the set with the smallest objective (all pairs are
#'   compared), resampled to `length`; or one series of your own, where a bare matrix is ONE series
#'   (time x dimension).
#' @param length Number of time steps of the barycenter. By default the length of a series given as
#'   `init`, else the rounded median length of the series with positive weight.
#' @param method `"lbfgs"` or `"adam"`.
#' @inheritParams softdtw
#' @param maxit Largest number of steps.
#' @param tol A step that lowers the objective by less than this fraction of it is the last.
#' @param control For `method = "adam"`, a list of `step` (first step in standard deviations of the
#'   data, 0.1), `clip` (a gradient longer than this multiple of the usual length is cut to it, 5)
#'   and `patience` (steps without gain before stopping, 25).
#'
#' @returns An object of class `softdtw_barycenter`, a list of
#'   * `series`: the barycenter in the kind of the input: a vector where all series are vectors,
#'     else a matrix (time x dimension). Where all series share one time index and the barycenter
#'     has their length it is a `ts`, `zoo` or `xts` like them. Units are those of the data.
#'   * `objective`: the weighted sum at the barycenter; `trace`: the objective at the start and
#'     after each evaluation that lowered it; `evaluations`: how often it was evaluated.
#'   * `converged`: `TRUE` where the optimiser came to rest before `maxit`; `message`: why it
#'     stopped.
#'   * `spread`: matrix (time x dimension), how far the series lie from each point: the root of the
#'     mean squared difference to the values aligned to it, weighted by alignment and `weights`
#'     (between vectors scaled to length 1 where the cost is `"cosine"`, and then not drawn).
#'   * `weights`, `gamma`, `cost`, `type`, `window`, `precision`, `method`, `call`, and `data`, the
#'     set as [as_series()] packs it.
#'
#'   `as.matrix()` gives the barycenter as a matrix (time x dimension), `as.data.frame()` one row
#'   for each time step and dimension with columns `time`, `dimension`, `value` and `spread`.
#'   `summary()` adds how far each series is from the barycenter. `plot()` draws it over the series.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Cuturi M., Blondel M. (2017). Soft-DTW: a differentiable loss function for time-series. ICML.
#' \doi{10.48550/arXiv.1703.01541}
#'
#' Blondel M., Mensch A., Vert J.-P. (2021). Differentiable divergences between time series.
#' AISTATS. \doi{10.48550/arXiv.2010.08354}
#'
#' Petitjean F., Ketterlin A., Gancarski P. (2011). A global averaging method for dynamic time
#' warping, with applications to clustering. Pattern Recognition 44(3).
#' \doi{10.1016/j.patcog.2010.09.013}
#'
#' @seealso [softdtw_kmeans()], [softdtw_centroids()], [softdtw_gamma()]
#' @examples
#' softdtw_threads(2)
#' # three bumps of one shape, early, in the middle and late
#' bump <- function(at, n) exp(-((seq_len(n) - at) / 3)^2)
#' x <- list(early = bump(8, 30), middle = bump(15, 32), late = bump(22, 36))
#' b <- softdtw_barycenter(x, gamma = 0.05)
#' b
#' plot(b)
#'
#' # the plain mean smears the bump out
#' max(b$series)
#' max(rowMeans(sapply(x, function(s) s[1:30])))
#'
#' # any length, weights, two dimensions
#' walk <- lapply(1:4, function(i) cbind(a = sin(1:20 / 3 + i / 4), b = cos(1:20 / 3 + i / 4)))
#' softdtw_barycenter(walk, gamma = 0.1, weights = c(1, 1, 2, 0), length = 15)$objective
#' @export
softdtw_barycenter <- function(x, gamma = 1, weights = NULL, init = c("mean", "medoid"),
                               length = NULL, method = c("lbfgs", "adam"),
                               cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                               type = c("softdtw", "divergence"), window = NULL,
                               na = c("error", "omit", "interpolate"), maxit = 1000,
                               tol = 1e-9, control = list(),
                               backend = getOption("softdtw.backend", "auto"),
                               precision = c("double", "single"), threads = NULL,
                               progress = getOption("softdtw.progress", FALSE)) {
  opts <- new_options(gamma, cost, window, threads, FALSE, backend, precision)
  cost <- check_cost(cost)
  precision <- check_precision(precision)
  type <- check_type(type)
  method <- check_choice(method, c("lbfgs", "adam"), "method")
  maxit <- check_whole(maxit, "maxit", 1)
  tol <- check_positive(tol, "tol")
  control <- adam_control(control)
  tick <- new_tick(progress, "barycenter", maxit)

  x <- as_set(x, "x", na)
  weights <- check_weights(weights, length(x))
  target <- new_target(x, weights, init, check_length(length), opts, type)

  opts <- choose_for_centroids(opts, x)
  problem <- new_problem(x, weights, opts, own_terms(x, opts, type))
  start <- start_centroid(target, problem)
  end <- descend(problem, start, method, maxit, tol, control, tick$step)
  tick$done()

  centroid <- centroid_set(list(end$values), x)
  structure(
    list(
      series = as.list(centroid)[[1L]],
      objective = end$objective,
      trace = end$trace,
      evaluations = end$evaluations,
      converged = end$converged,
      message = end$message,
      spread = point_spread(end$values, problem),
      weights = weights,
      gamma = opts$gamma,
      cost = cost,
      type = type,
      window = window,
      precision = precision,
      method = method,
      data = x,
      call = match.call()
    ),
    class = "softdtw_barycenter"
  )
}

# A progress bar over at most `steps` steps: step() after each, done() at the end.
new_tick <- function(progress, label, steps) {
  draw <- new_progress(progress, label)
  if (is.null(draw)) {
    return(list(step = \() NULL, done = \() NULL))
  }
  taken <- 0
  list(
    step = \() {
      taken <<- taken + 1
      # The last stroke is left to done(): it closes the bar.
      draw(min(taken / steps, 0.999))
    },
    done = \() draw(1)
  )
}

# v(x_i, x_i) of every series where the divergence needs them, else NULL.
own_terms <- function(x, opts, type) if (type == "divergence") own_values(x, opts)

# What a barycenter starts from, checked before any work: a series (`values`) or the name of a rule
# and a length.
new_target <- function(x, weights, init, length, opts, type) {
  if (is.null(init) || is.character(init)) {
    init <- if (is.null(init)) "mean" else check_choice(init, c("mean", "medoid"), "init")
    if (is.null(length)) {
      length <- median_length(x$lengths[weights > 0], opts$window)
    }
    check_centroids(as_centroid_like(x, length), x, opts, type, "length", given = FALSE)
    return(list(rule = init, length = length))
  }
  init <- one_init(init)
  if (!is.null(length) && length != init$lengths) {
    stop_softdtw("argument", sprintf(
      "`length` = %d contradicts `init`, which has %s: leave one of them out.",
      length, plural(init$lengths, "time step")
    ), argument = "length")
  }
  check_centroids(init, x, opts, type, "init")
  list(values = init$values)
}

one_init <- function(init) {
  if (!is.numeric(init) && !is.list(init)) {
    stop_argument("init", "\"mean\", \"medoid\" or one series", init)
  }
  init <- as_one(init, "init")
  if (length(init) != 1L) {
    stop_softdtw("count", sprintf(
      "`init` must be one series, not a set of %s (a bare matrix is one series, time x dimension).",
      big_number(length(init))
    ), argument = "init")
  }
  init
}

# A stand-in for a centroid not yet known: its length, and the range of the data, which no mean
# leaves.
as_centroid_like <- function(x, length) {
  list(
    lengths = length, d = x$d, dim_names = x$dim_names, lower = x$lower, upper = x$upper,
    single = length(length) == 1L
  )
}

# Centroids against the set they are to be compared with. A centroid may hold zero vectors (their
# cosine cost has gradient 0), data may not. `given`: the user gave its values, not only its length.
check_centroids <- function(z, x, opts, type, arg, arg_x = "x", given = TRUE) {
  arg_z <- if (given) arg else arg_x
  check_dimensions(z, x, arg_z, arg_x)
  check_path(x, z, opts$window, arg_x, arg, matched = FALSE)
  check_range(z, x, opts, arg_z, arg_x)
  if (type == "divergence") {
    check_range(z, z, opts, arg_z, arg_z)
    check_range(x, x, opts, arg_x, arg_x)
  }
  if (cost_names[opts$cost + 1L] == "cosine") {
    check_directions(x, arg_x)
  }
}

start_centroid <- function(target, problem) {
  if (!is.null(target$values)) {
    return(target$values)
  }
  if (target$rule == "mean") {
    return(resampled_mean(problem$x, problem$weights, target$length))
  }
  i <- medoid(problem)
  resample(subset_series(problem$x, i)$values, problem$x$d, target$length)
}

# Root of the mean squared difference between each point and the values aligned to it, T x d.
point_spread <- function(values, problem) {
  spread <- centroid_spread(values, problem)
  root <- sqrt(spread$square / spread$mass)
  if (is.null(problem$x$dim_names)) root else structure(root, dimnames = dim_names_of(problem$x))
}

dim_names_of <- function(x) if (!is.null(x$dim_names)) list(NULL, x$dim_names)

# Centroids (a list of values, time-major) as a set of the kind of x, with its time index where
# they have its length.
centroid_set <- function(values, x, names = NULL) {
  lengths <- lengths(values) %/% x$d
  fits <- lengths == index_length(x)
  new_series(list(
    values = unlist(values),
    lengths = lengths,
    d = x$d,
    names = names,
    dim_names = x$dim_names,
    flat = x$kind == "vector",
    indices = lapply(fits, \(has_index) if (has_index) x$index)
  ))
}

# methods ---------------------------------------------------------------------------------------

centroid_matrix <- function(series, d, dim_names) {
  matrix(as.double(series), ncol = d, dimnames = if (!is.null(dim_names)) list(NULL, dim_names))
}

#' @rdname softdtw_barycenter
#' @param object,... A barycenter; `...` must be empty in all methods.
#' @export
as.matrix.softdtw_barycenter <- function(x, ...) {
  check_dots(...)
  centroid_matrix(x$series, x$data$d, x$data$dim_names)
}

# The barycenter packed again.
packed_barycenter <- function(x) {
  centroid_set(list(as.vector(t(as.matrix(x)))), x$data)
}

#' @rdname softdtw_barycenter
#' @param row.names,optional Ignored; the generic has them.
#' @export
as.data.frame.softdtw_barycenter <- function(x,
                                             row.names = NULL, # nolint: object_name_linter.
                                             optional = FALSE, ...) {
  check_dots(...)
  frame <- long_frame(packed_barycenter(x), x$data)
  frame$spread <- as.vector(x$spread)
  frame[-1L]
}

# Centroids in long form: a row for each centroid, dimension and time step.
long_frame <- function(z, x) {
  dimension <- if (is.null(x$dim_names)) seq_len(x$d) else x$dim_names
  frames <- lapply(seq_along(z), \(i) {
    steps <- z$lengths[i]
    data.frame(
      centroid = if (is.null(z$names)) i else z$names[i],
      time = rep(index_times(index_of(z, i), steps), x$d),
      dimension = rep(dimension, each = steps),
      value = as.vector(series_matrix(z, i))
    )
  })
  do.call(rbind, frames)
}

#' @export
print.softdtw_barycenter <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  steps <- NROW(x$series)
  cat("Soft-DTW barycenter of ", describe_set(x$data), "\n", sep = "")
  cat(describe_settings(x), ", method \"", x$method, "\"\n\n", sep = "")
  cat(plural(steps, "time step"), ":\n", sep = "")
  print(utils::head(x$series, 10L), digits = digits)
  if (steps > 10L) {
    cat("... and ", plural(steps - 10L, "more step"), "\n", sep = "")
  }
  cat("\n", describe_descent(x, digits), "\n", sep = "")
  invisible(x)
}

describe_settings <- function(x) {
  paste0(
    "type \"", x$type, "\", cost \"", x$cost, "\", gamma ", format(x$gamma, digits = 4L),
    if (!is.null(x$window)) paste0(", window ", big_number(x$window)),
    if (x$precision == "single") ", single precision"
  )
}

describe_descent <- function(x, digits) {
  sprintf(
    "objective %s (start %s), %s, %s: %s",
    format(x$objective, digits = digits + 2L), format(x$trace[1L], digits = digits + 2L),
    plural(x$evaluations, "evaluation"),
    if (x$converged) "converged" else "NOT converged", x$message
  )
}

#' @rdname softdtw_barycenter
#' @export
summary.softdtw_barycenter <- function(object, ...) {
  check_dots(...)
  opts <- options_of(object)
  z <- packed_barycenter(object)
  opts <- choose_for_table(opts, object$data, z)
  own_x <- own_terms(object$data, opts, object$type)
  own_z <- own_terms(z, opts, object$type)
  values <- .Call(ffi_matrix, object$data, z, opts, own_x, own_z)[, 1L]
  names(values) <- series_labels(object$data)
  structure(
    c(unclass(object), list(values = values)),
    class = c("summary.softdtw_barycenter", "softdtw_barycenter")
  )
}

# The options that a result was computed with, for calls on it. Its precision is part of a result;
# the backend is not, which may be gone where a saved result is read again.
options_of <- function(fit, threads = NULL, progress = FALSE,
                       backend = getOption("softdtw.backend", "auto"), precision = fit$precision) {
  new_options(fit$gamma, fit$cost, fit$window, threads, progress, backend, precision)
}

#' @export
print.summary.softdtw_barycenter <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  cat("Soft-DTW barycenter of ", describe_set(x$data), "\n", sep = "")
  cat(describe_settings(x), ", method \"", x$method, "\"\n", sep = "")
  cat(describe_descent(x, digits), "\n", sep = "")
  what <- if (x$type == "divergence") "Divergence" else "Soft-DTW"
  cat("\n", what, " of each series:\n", sep = "")
  print(summary(x$values), digits = digits)
  far <- utils::head(sort(x$values, decreasing = TRUE), 3L)
  cat("farthest: ", paste0(names(far), " (", format(far, digits = digits, trim = TRUE), ")",
    collapse = ", "
  ), "\n", sep = "")
  cat("\nSpread around a point:\n")
  print(summary(as.vector(x$spread)), digits = digits)
  invisible(x)
}

#' @rdname softdtw_barycenter
#' @param what `"series"` draws the barycenter in bold over the series, with a band of one `spread`
#'   on either side, one panel for each dimension; `"trace"` the falling objective. Series without
#'   a common time index are drawn from step 1 on, and a barycenter of another length than their
#'   median is stretched over it.
#' @param dims Which dimensions to draw, `NULL` for all: numbers or names.
#' @param members,band Whether to draw the series and the band.
#' @param main,xlab,ylab Title and labels of the axes.
#' @export
plot.softdtw_barycenter <- function(x, what = c("series", "trace"), dims = NULL, members = TRUE,
                                    band = TRUE, main = NULL, xlab = NULL, ylab = "Value", ...) {
  check_dots(...)
  what <- check_choice(what, c("series", "trace"), "what")
  if (what == "trace") {
    main <- if (is.null(main)) "Objective of the barycenter" else main
    plot_trace(x$trace, main, if (is.null(xlab)) "Evaluations that lowered it" else xlab)
    return(invisible(x))
  }
  shown <- if (check_flag(members, "members")) which(x$weights > 0) else integer()
  groups <- new_groups(
    x$data, list(shown), packed_barycenter(x), "",
    spread = if (check_flag(band, "band") && x$cost != "cosine") x$spread
  )
  title <- sprintf("Barycenter of %s", plural(sum(x$weights > 0), "series", "series"))
  plot_groups(
    groups, check_dims(dims, x$data$d, x$data$dim_names), dim_labels(x$data),
    main = if (is.null(main)) title else main,
    xlab = if (is.null(xlab)) time_label(groups) else xlab, ylab = ylab
  )
  invisible(x)
}
