# k-means with soft-DTW: series are assigned to the nearest centroid, every centroid moves down the
# objective of its own series (optimise.R), until nothing changes. No step that does not lower the
# weighted sum is taken. Nothing of size n x n is held: the assignment is an n x k matrix.
#
# A `task` is a problem over the whole set (new_problem() without dropping series of weight 0, which
# are assigned too). A `state` is a list of centroids (bare values) with what follows from them:
# values (n x k), cluster, and the objective.

# Steps of L-BFGS for each centroid while the partition still moves; once it is still, the
# centroids go all the way. More steps cost time and end no lower (tried from 5 to 1000).
steps_while_moving <- 10

#' k-means clustering of time series with soft-DTW
#'
#' Partitions a set of series into `k` clusters, each with a centroid (a soft-DTW barycenter), so
#' that the weighted sum of soft-DTW values (or divergences) between every series and the centroid
#' of its cluster is small. The series may have any lengths. The result is modelled on
#' [stats::kmeans()].
#'
#' @section Algorithm:
#' Lloyd's: assign every series to the centroid with the smallest value (ties to the first), then
#' move every centroid down its own objective by L-BFGS, from where it is. When no series changes
#' any more, the centroids are brought to full convergence, and the assignment is checked once more.
#' Both steps can only lower the objective, which is the plain sum of values, never squared;
#' `trace` holds it. Among `nstart` starts the best one is returned.
#'
#' *Seeding* by `"kmeans++"` (Arthur and Vassilvitskii 2007): the first centroid is a series drawn
#' at random, each further one is drawn with a chance proportional to its divergence from the
#' nearest one drawn (a negative one counts as 0), times its weight. `"random"` draws with chances
#' proportional to the weights. No series is drawn twice. Draws come from R's own generator:
#' `set.seed()` makes the result the same on every run and with any number of threads.
#'
#' *Empty clusters.* A centroid that no series is nearest to is put on the series with the largest
#' own cost (weight times value) in a cluster of two or more, if that lowers the objective; else on
#' the next one. Where it never does (more clusters than distinct series), the cluster stays empty,
#' with a warning.
#'
#' *Numbers.* Clusters are numbered by decreasing size, ties by their first series.
#'
#' @section Sum of squares:
#' `withinss` keeps the name it has in [stats::kmeans()]. Raw soft-DTW values can be negative, and
#' so can their sum. There is no `totss` and no `betweenss`: they have no meaning here.
#'
#' @inheritParams softdtw_barycenter
#' @param x A set of series, as for [softdtw_barycenter()]; for the methods, a result.
#' @param centers The number of clusters, from 1 to the number of series, or the centroids to start
#'   from: a set of series (a bare matrix holds one a row), which keep their lengths.
#' @param weights `NULL` for 1 each, or one finite number >= 0 for each series, not all 0, used as
#'   given. A series of weight 0 is assigned but moves no centroid.
#' @param nstart How many random starts to try when `centers` is a number. The best of them is kept;
#'   single starts vary, so 10 or more are worth their time.
#' @param iter.max Largest number of iterations of each start.
#' @param init How to draw the first centroids when `centers` is a number: `"kmeans++"` or
#'   `"random"`.
#' @param length Number of time steps of the centroids when `centers` is a number. By default each
#'   has the rounded median length of the series that were nearest to it at the start.
#' @param type `"softdtw"` or `"divergence"`; in `predict()`, `"cluster"` or `"distance"`.
#' @param tol A step that lowers the objective by less than this fraction of it counts as none.
#' @param precision As in [softdtw()]. In `predict()` the default is that of the fit, so that the
#'   series it was made from are told apart as they were then.
#'
#' @returns An object of class `softdtw_kmeans`, a list of
#'   * `cluster`: integer from 1 to k for each series, with the names of the series;
#'   * `centers`: list of k series named `"1"` to k, in the kind of the input (see
#'     [softdtw_barycenter()]) and the units of the data;
#'   * `withinss`: weighted sum of values for each cluster; `tot.withinss`: their sum;
#'   * `size`: number of series in each cluster;
#'   * `distance`: value of each series to its centroid;
#'   * `iter`, `trace` (objective after the first assignment and each step that lowered it),
#'     `converged`;
#'   * `weights`, `gamma`, `cost`, `type`, `window`, `precision`, `na`, `call`, and `data`, the set
#'     as [as_series()] packs it.
#'
#'   `predict()` gives for each series of `newdata` the number of the nearest centroid, or with
#'   `type = "distance"` the matrix (series x cluster) of values; `fitted()` the centroid of each
#'   series (a list) or its cluster; `as.data.frame()` one row a series with its cluster and
#'   distance; `summary()` adds a table of the clusters and the divergences between centroids.
#'   `plot()` draws the clusters side by side, centroids in bold.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Arthur D., Vassilvitskii S. (2007). k-means++: the advantages of careful seeding. SODA.
#'
#' Cuturi M., Blondel M. (2017). Soft-DTW: a differentiable loss function for time-series. ICML.
#' \doi{10.48550/arXiv.1703.01541}
#'
#' @seealso [softdtw_barycenter()], [softdtw_centroids()], [softdtw_dist()] for `hclust()` and
#'   others that start from distances
#' @examples
#' softdtw_threads(2)
#' set.seed(1)
#' wave <- function(f) sin(f * seq_len(sample(18:24, 1)) / 4 + runif(1)) + rnorm(1) / 20
#' x <- c(lapply(rep(1, 6), wave), lapply(rep(2.5, 4), wave))
#' fit <- softdtw_kmeans(x, centers = 2, gamma = 0.1, nstart = 2)
#' fit
#' fit$cluster
#' plot(fit)
#'
#' predict(fit, list(wave(1), wave(2.5)))
#' predict(fit, list(wave(1), wave(2.5)), type = "distance")
#' @export
softdtw_kmeans <- function(x, centers, gamma = 1, weights = NULL, nstart = 1,
                           iter.max = 100, # nolint: object_name_linter. As in kmeans().
                           init = c("kmeans++", "random"), length = NULL,
                           cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                           type = c("softdtw", "divergence"), window = NULL,
                           na = c("error", "omit", "interpolate"), tol = 1e-9,
                           backend = getOption("softdtw.backend", "auto"),
                           precision = c("double", "single"), threads = NULL,
                           progress = getOption("softdtw.progress", FALSE)) {
  opts <- new_options(gamma, cost, window, threads, FALSE, backend, precision)
  cost <- check_cost(cost)
  precision <- check_precision(precision)
  type <- check_type(type)
  na <- check_na(na)
  init <- check_choice(init, c("kmeans++", "random"), "init")
  nstart <- check_whole(nstart, "nstart", 1)
  iter_max <- check_whole(iter.max, "iter.max", 1)
  tol <- check_positive(tol, "tol")

  x <- as_set(x, "x", na)
  weights <- check_weights(weights, length(x))
  start <- new_start(centers, x, check_length(length), init, opts, type)
  nstart <- if (is.null(start$centroids)) nstart else 1
  tick <- new_tick(progress, "k-means", nstart * iter_max)

  check_memory(
    as.double(length(x)) * start$k, "The matrix of series by centroids", "Use fewer `centers`."
  )

  opts <- choose_for_centroids(opts, x, start$k)
  task <- new_task(x, weights, opts, type, start)
  best <- best_of_starts(task, start, nstart, iter_max, tol, tick)
  tick$done()
  new_kmeans(
    number_clusters(best), x, weights,
    list(
      gamma = opts$gamma, cost = cost, type = type, window = window, precision = precision, na = na,
      call = match.call()
    )
  )
}

new_kmeans <- function(state, x, weights, settings) {
  k <- length(state$centroids)
  size <- tabulate(state$cluster, k)
  empty <- sum(size == 0L)
  if (empty > 0L) {
    warn_softdtw(sprintf(
      paste(
        "%d of %s %s empty: there are fewer distinct series than `centers`, or `gamma` is too",
        "large to tell them apart (see softdtw_gamma())."
      ),
      empty, plural(k, "cluster"), if (empty == 1L) "stays" else "stay"
    ))
  }
  distance <- own_costs(state)
  withinss <- vapply(seq_len(k), \(g) {
    members <- state$cluster == g
    sum(weights[members] * distance[members])
  }, 0)
  centroids <- centroid_set(state$centroids, x, names = as.character(seq_len(k)))
  structure(
    c(
      list(
        cluster = structure(state$cluster, names = x$names),
        centers = as.list(centroids),
        withinss = withinss,
        tot.withinss = sum(withinss),
        size = size,
        distance = structure(distance, names = x$names),
        iter = state$iter,
        trace = state$trace,
        converged = state$converged,
        weights = weights
      ),
      settings,
      list(data = x)
    ),
    class = "softdtw_kmeans"
  )
}

# starts ----------------------------------------------------------------------------------------

# What every start begins from, checked before any work: given centroids, or how many to draw and
# how, and their length.
new_start <- function(centers, x, length, init, opts, type) {
  if (is.numeric(centers) && is.null(dim(centers)) && !is.object(centers)) {
    if (!is_whole(centers) || centers < 1 || centers > length(x)) {
      stop_argument("centers", sprintf(
        "a whole number from 1 to the number of series, %s, or a set of series",
        big_number(length(x))
      ), centers)
    }
    stand_in <- as_centroid_like(x, if (is.null(length)) x$lengths else length)
    arg <- if (is.null(length)) "x" else "length"
    check_centroids(stand_in, x, opts, type, arg, given = FALSE)
    return(list(k = as.integer(centers), length = length, init = init))
  }
  given <- given_centroids(centers, x, length)
  check_centroids(given, x, opts, type, "centers")
  list(k = length(given), centroids = centroid_values(given))
}

given_centroids <- function(centers, x, length) {
  if (is.null(centers) || (is.atomic(centers) && !is.numeric(centers))) {
    stop_argument("centers", "a whole number or a set of series", centers)
  }
  given <- as_set(centers, "centers")
  if (length(given) > length(x)) {
    stop_softdtw("argument", sprintf(
      "`centers` holds %s, more than the %s of `x`.",
      plural(length(given), "series", "series"), big_number(length(x))
    ), argument = "centers")
  }
  if (!is.null(length) && any(given$lengths != length)) {
    stop_softdtw("argument", paste(
      "`length` contradicts the lengths of the series in `centers`: leave it out."
    ), argument = "length")
  }
  given
}

centroid_values <- function(x) {
  starts <- series_starts(x)
  Map(\(start, count) x$values[start + seq_len(count)], starts, x$lengths * x$d)
}

new_task <- function(x, weights, opts, type, start) {
  seeds_by_divergence <- identical(start$init, "kmeans++") && start$k > 1L
  own <- if (type == "divergence" || seeds_by_divergence) own_values(x, opts)
  list(
    x = x, weights = weights, opts = without_progress(opts),
    own = if (type == "divergence") own, seed_own = own, length = start$length
  )
}

best_of_starts <- function(task, start, nstart, iter_max, tol, tick) {
  best <- NULL
  for (s in seq_len(nstart)) {
    centroids <- start$centroids
    if (is.null(centroids)) {
      centroids <- draw_centroids(task, start$k, start$init)
    }
    state <- lloyd(task, centroids, iter_max, tol, tick$step)
    if (is.null(best) || state$objective < best$objective) {
      best <- state
    }
  }
  best
}

# Drawn series as centroids, of the length asked for or else of the median length of the series
# nearest to each.
draw_centroids <- function(task, k, init) {
  seeds <- subset_series(task$x, draw_seeds(task, k, init))
  centroids <- centroid_values(seeds)
  lengths <- rep(task$length, k)
  if (is.null(task$length)) {
    nearest <- assign_series(task, centroids)$cluster
    lengths <- vapply(seq_len(k), \(g) {
      members <- task$x$lengths[nearest == g]
      if (length(members)) median_length(members, task$opts$window) else seeds$lengths[g]
    }, 1L)
  }
  Map(\(values, to) resample(values, task$x$d, to), centroids, lengths)
}

# Numbers of k different series.
draw_seeds <- function(task, k, init) {
  seeds <- draw_one(task$weights, task$weights, integer())
  nearest <- Inf
  while (length(seeds) < k) {
    chance <- task$weights
    if (init == "kmeans++") {
      last <- seeds[length(seeds)]
      nearest <- pmin(nearest, divergence_from(task, last))
      chance <- chance * pmax(0, nearest)
    }
    seeds <- c(seeds, draw_one(chance, task$weights, seeds))
  }
  seeds
}

divergence_from <- function(task, i) {
  .Call(
    ffi_matrix, task$x, subset_series(task$x, i), task$opts, task$seed_own, task$seed_own[i]
  )[, 1L]
}

# One number by chance, never one already taken. Where only copies of those are left, the weights
# decide, and where only series of weight 0 are, all are alike.
draw_one <- function(chance, weights, taken) {
  for (p in list(chance, weights, rep(1, length(weights)))) {
    p[taken] <- 0
    if (any(p > 0)) {
      return(sample.int(length(p), 1L, prob = p / max(p)))
    }
  }
}

# Lloyd's iteration -----------------------------------------------------------------------------

lloyd <- function(task, centroids, iter_max, tol, tick) {
  state <- fill_empty(task, assign_series(task, centroids))
  trace <- state$objective
  thorough <- FALSE
  converged <- FALSE
  iter <- 0
  while (iter < iter_max && !converged) {
    iter <- iter + 1
    after <- lloyd_step(task, state, thorough, tol)
    state <- after$state
    trace <- c(trace, if (after$lower) state$objective)
    converged <- after$still && (thorough || after$at_rest)
    thorough <- after$still
    tick()
  }
  if (!converged) {
    # Cut short, but the centroids returned are those of their clusters.
    after <- lloyd_step(task, state, TRUE, tol)
    state <- after$state
    trace <- c(trace, if (after$lower) state$objective)
  }
  c(state, list(trace = trace, iter = iter, converged = converged))
}

# Moves all centroids and assigns all series again, or leaves everything where that is not lower.
# still: no series changed its cluster; at_rest: no centroid could be moved further.
lloyd_step <- function(task, state, thorough, tol) {
  moved <- move_centroids(task, state, if (thorough) 1000 else steps_while_moving, tol)
  after <- fill_empty(task, assign_series(task, moved$centroids, state, moved$which))
  lower <- after$objective < state$objective
  list(
    state = if (lower) after else state,
    lower = lower,
    still = !lower || identical(after$cluster, state$cluster),
    at_rest = moved$at_rest
  )
}

# `before`, `which`: only these centroids differ from those of an earlier state.
assign_series <- function(task, centroids, before = NULL, which = seq_along(centroids)) {
  values <- before$values
  if (is.null(values)) {
    values <- matrix(0, length(task$x), length(centroids))
  }
  if (length(which)) {
    values[, which] <- values_to(task, centroids[which])
  }
  cluster <- max.col(-values, "first")
  state <- list(centroids = centroids, values = values, cluster = cluster)
  state$objective <- sum(task$weights * own_costs(state))
  check_objective(state$objective)
  state
}

# n x k values between the series and some centroids.
values_to <- function(task, centroids) {
  z <- list(
    values = unlist(centroids), lengths = lengths(centroids) %/% task$x$d, d = task$x$d
  )
  own <- if (!is.null(task$own)) own_values(z, task$opts)
  .Call(ffi_matrix, task$x, z, task$opts, task$own, own)
}

own_costs <- function(state) state$values[cbind(seq_along(state$cluster), state$cluster)]

# Every centroid some steps down the objective of its own series.
move_centroids <- function(task, state, maxit, tol) {
  centroids <- state$centroids
  at_rest <- TRUE
  moved <- logical(length(centroids))
  for (g in seq_along(centroids)) {
    members <- which(state$cluster == g & task$weights > 0)
    if (length(members)) {
      end <- descend(part_of(task, members), centroids[[g]], maxit = maxit, tol = tol)
      at_rest <- at_rest && end$converged
      moved[g] <- !identical(end$values, centroids[[g]])
      centroids[[g]] <- end$values
    }
  }
  list(centroids = centroids, which = which(moved), at_rest = at_rest)
}

part_of <- function(task, members) {
  new_problem(
    subset_series(task$x, members), task$weights[members], task$opts, task$own[members]
  )
}

# Empty clusters -------------------------------------------------------------------------------

# How many series an empty cluster is offered before it is left empty.
most_offers <- 10L

fill_empty <- function(task, state) {
  k <- length(state$centroids)
  for (round in seq_len(k)) {
    empty <- which(tabulate(state$cluster, k) == 0L)[1L]
    filled <- if (!is.na(empty)) fill_cluster(task, state, empty)
    if (is.null(filled)) {
      break
    }
    state <- filled
  }
  state
}

# The state with the empty centroid on the series with the largest own cost for which that lowers
# the objective, or NULL. The centroid had no series, so nothing else gets worse.
fill_cluster <- function(task, state, empty) {
  size <- tabulate(state$cluster, length(state$centroids))
  cost <- task$weights * own_costs(state)
  offers <- which(size[state$cluster] > 1L & task$weights > 0)
  offers <- offers[order(-cost[offers])]
  for (i in utils::head(offers, most_offers)) {
    problem <- part_of(task, i)
    steps <- if (is.null(task$length)) problem$x$lengths else task$length
    start <- resample(problem$x$values, task$x$d, steps)
    centroids <- state$centroids
    centroids[[empty]] <- descend(problem, start, maxit = steps_while_moving)$values
    filled <- assign_series(task, centroids, state, empty)
    if (filled$objective < state$objective) {
      return(filled)
    }
  }
  NULL
}

# Clusters by decreasing size, ties by first series; empty ones come last. A series as near to two
# centroids goes to the one that is first under the new numbers, as predict() has it. That only
# moves series to larger clusters, so it comes to an end.
number_clusters <- function(state) {
  k <- length(state$centroids)
  repeat {
    first <- match(seq_len(k), state$cluster)
    by_size <- order(-tabulate(state$cluster, k), first)
    state$centroids <- state$centroids[by_size]
    state$values <- state$values[, by_size, drop = FALSE]
    numbered <- match(state$cluster, by_size)
    state$cluster <- max.col(-state$values, "first")
    if (identical(state$cluster, numbered)) {
      return(state)
    }
  }
}

# methods ---------------------------------------------------------------------------------------

#' @rdname softdtw_kmeans
#' @param object A result of `softdtw_kmeans()`.
#' @param newdata A set of series, read as `x` is; `NULL` for the series the centroids came from.
#' @param ... Must be empty.
#' @export
predict.softdtw_kmeans <- function(object, newdata = NULL, type = c("cluster", "distance"),
                                   backend = getOption("softdtw.backend", "auto"),
                                   precision = object$precision, threads = NULL,
                                   progress = getOption("softdtw.progress", FALSE), ...) {
  check_dots(...)
  type <- check_choice(type, c("cluster", "distance"), "type")
  values <- values_to_centers(object, newdata, threads, progress, backend, precision)
  if (type == "distance") {
    return(values)
  }
  structure(max.col(-values, "first"), names = rownames(values))
}

# Matrix series x centroid, named, of the values (or divergences) of new series to fitted
# centroids.
values_to_centers <- function(object, newdata, threads, progress, backend, precision) {
  opts <- options_of(object, threads, progress, backend, precision)
  x <- if (is.null(newdata)) object$data else as_set(newdata, "newdata", object$na)
  z <- as_set(object$centers, "centers")
  check_centroids(z, x, opts, object$type, "centers", "newdata")
  opts <- choose_for_table(opts, x, z)
  own_x <- own_terms(x, opts, object$type)
  own_z <- own_terms(z, opts, object$type)
  values <- .Call(ffi_matrix, x, z, opts, own_x, own_z)
  dimnames(values) <- list(x$names, names(object$centers))
  values
}

#' @rdname softdtw_kmeans
#' @param method `"centers"` gives the centroid of each series, `"classes"` its cluster.
#' @export
fitted.softdtw_kmeans <- function(object, method = c("centers", "classes"), ...) {
  check_dots(...)
  method <- check_choice(method, c("centers", "classes"), "method")
  if (method == "classes") {
    return(object$cluster)
  }
  structure(object$centers[object$cluster], names = names(object$cluster))
}

#' @rdname softdtw_kmeans
#' @export
as.data.frame.softdtw_kmeans <- function(x,
                                         row.names = NULL, # nolint: object_name_linter.
                                         optional = FALSE, ...) {
  check_dots(...)
  data.frame(
    series = series_labels(x$data), cluster = unname(x$cluster), distance = unname(x$distance)
  )
}

#' @export
print.softdtw_kmeans <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  describe_kmeans(x, digits)
  cat("\nCluster of each series:\n")
  labels <- x$cluster
  if (is.null(names(labels))) {
    names(labels) <- seq_along(labels)
  }
  print(utils::head(labels, 60L))
  if (length(labels) > 60L) {
    cat("... and ", plural(length(labels) - 60L, "more series", "more series"), "\n", sep = "")
  }
  cat("\nParts:", paste0("$", setdiff(names(x), c("call", "data"))), fill = TRUE)
  invisible(x)
}

describe_kmeans <- function(x, digits) {
  cat("Soft-DTW k-means of ", describe_set(x$data), "\n", sep = "")
  cat(describe_settings(x), "\n", sep = "")
  sizes <- paste(x$size, collapse = ", ")
  cat(plural(length(x$size), "cluster"), " of size ", sizes, "\n", sep = "")
  cat(sprintf(
    "tot.withinss %s, %s after %s\n", format(x$tot.withinss, digits = digits + 2L),
    if (x$converged) "converged" else "NOT converged", plural(x$iter, "iteration")
  ))
}

#' @rdname softdtw_kmeans
#' @export
summary.softdtw_kmeans <- function(object, ...) {
  check_dots(...)
  opts <- options_of(object)
  z <- as_set(object$centers, "centers")
  own <- own_values(z, opts)
  between <- .Call(ffi_matrix, z, z, opts, own, own)
  dimnames(between) <- list(names(object$centers), names(object$centers))
  structure(
    c(unclass(object), list(clusters = cluster_table(object, z), between = between)),
    class = c("summary.softdtw_kmeans", "softdtw_kmeans")
  )
}

cluster_table <- function(fit, z) {
  labels <- series_labels(fit$data)
  groups <- lapply(seq_along(fit$size), \(g) which(fit$cluster == g))
  extreme <- \(members, pick) {
    if (length(members)) labels[members[pick(fit$distance[members])]] else NA_character_
  }
  data.frame(
    size = fit$size,
    weight = vapply(groups, \(members) sum(fit$weights[members]), 0),
    withinss = fit$withinss,
    mean = vapply(groups, \(members) mean(fit$distance[members]), 0),
    steps = z$lengths,
    nearest = vapply(groups, extreme, "", pick = which.min),
    farthest = vapply(groups, extreme, "", pick = which.max),
    row.names = names(fit$centers)
  )
}

#' @export
print.summary.softdtw_kmeans <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_dots(...)
  describe_kmeans(x, digits)
  table <- x$clusters
  if (all(x$weights == 1)) {
    table$weight <- NULL
  }
  cat("\nClusters (mean and withinss in units of the cost; steps of the centroid):\n")
  print(table, digits = digits)
  if (length(x$size) > 1L) {
    cat("\nDivergence between the centroids:\n")
    print(x$between, digits = digits)
  }
  invisible(x)
}

#' @rdname softdtw_kmeans
#' @param what `"clusters"` draws the series of each cluster with the centroid in bold, one panel
#'   for each cluster and dimension, all with the same axes; `"trace"` the falling objective.
#' @param members Whether to draw the series. Of more than 200 in a cluster, 200 evenly spaced ones
#'   are drawn.
#' @export
plot.softdtw_kmeans <- function(x, what = c("clusters", "trace"), dims = NULL, members = TRUE,
                                main = NULL, xlab = NULL, ylab = "Value", ...) {
  check_dots(...)
  what <- check_choice(what, c("clusters", "trace"), "what")
  if (what == "trace") {
    main <- if (is.null(main)) "Objective of k-means" else main
    plot_trace(x$trace, main, if (is.null(xlab)) "Iterations that lowered it" else xlab)
    return(invisible(x))
  }
  titles <- sprintf("Cluster %s (%s)", names(x$centers), x$size)
  if (is.null(main)) {
    count <- plural(length(x$data), "series", "series")
    main <- paste(count, "in", plural(length(x$size), "cluster"))
  }
  plot_centers(x, unname(x$cluster), titles, dims, members, main, xlab, ylab)
}

# Small multiples of the groups 1, 2, ... of a set, the center of each in bold.
plot_centers <- function(x, group, titles, dims, members, main, xlab, ylab) {
  shown <- check_flag(members, "members")
  members <- lapply(seq_along(titles), \(g) if (shown) which(group == g) else integer())
  z <- centroid_set(centroid_values(as_set(unname(x$centers), "centers")), x$data)
  groups <- new_groups(x$data, members, z, titles)
  plot_groups(
    groups, check_dims(dims, x$data$d, x$data$dim_names), dim_labels(x$data),
    main = main, xlab = if (is.null(xlab)) time_label(groups) else xlab, ylab = ylab
  )
  invisible(x)
}
