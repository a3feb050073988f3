# One centroid z against many series: the objective sum_i w_i v(z, x_i), its gradient from the same
# call of the core, and two ways down. Barycenters, k-means and the nearest-centroid classifier all
# go through `descend()`.
#
# Inside this file a centroid is its bare values, time-major with dimension fastest, as the core
# reads them. Every point tried goes through a `new_track()`, which keeps the last point (optimisers
# ask for value and gradient apart), the best one, and the falling objective.

# Smallest relative gain of one step that is worth another one.
descent_tolerance <- 1e-9

as_centroid <- function(values, d) {
  list(values = values, lengths = length(values) %/% d, d = d)
}

# `own`: v(x_i, x_i) of every series for the divergence, NULL for raw values. Series of weight 0
# have no part in the problem.
new_problem <- function(x, weights, opts, own = NULL) {
  used <- which(weights > 0)
  if (length(used) < length(weights)) {
    x <- subset_series(x, used)
    own <- own[used]
  }
  list(x = x, weights = weights[used], opts = without_progress(opts), own = own)
}

# `scale`: the size of the terms that the objective sums, against which a gain is judged.
evaluate <- function(values, problem) {
  z <- as_centroid(values, problem$x$d)
  terms <- .Call(ffi_barycenter, z, problem$x, problem$weights, problem$opts)
  value <- terms$value
  size <- abs(value)
  grad <- t(terms$grad)
  if (!is.null(problem$own)) {
    self <- .Call(ffi_grad, z, z, problem$opts, TRUE, TRUE)
    value <- value - (self$value + problem$own) / 2
    size <- size + (abs(self$value) + abs(problem$own)) / 2
    grad <- grad - sum(problem$weights) / 2 * t(self$grad_x[[1L]] + self$grad_y[[1L]])
  }
  list(
    at = values,
    value = sum(problem$weights * value),
    grad = as.vector(grad),
    scale = sum(problem$weights * size)
  )
}

new_track <- function(problem, start, tick = NULL) {
  last <- best <- evaluate(start, problem)
  check_objective(best$value)
  trace <- best$value
  count <- 1L
  visit <- function(values) {
    if (!identical(values, last$at)) {
      last <<- evaluate(values, problem)
      count <<- count + 1L
      if (!is.null(tick)) tick()
      if (isTRUE(last$value < best$value)) {
        best <<- last
        trace <<- c(trace, last$value)
      }
    }
    last
  }
  list(
    visit = visit,
    best = function() best,
    trace = function() trace,
    count = function() count
  )
}

check_objective <- function(value) {
  if (!is.finite(value)) {
    stop_softdtw("range", paste(
      "The objective overflows: `weights` (or the values in `x`) are too large. Rescale them."
    ))
  }
}

# The way down from `start`. Returns the best point met, which is never above the start.
descend <- function(problem, start, method = "lbfgs", maxit = 1000, tol = descent_tolerance,
                    control = adam_control(), tick = NULL) {
  track <- new_track(problem, start, tick)
  end <- switch(method,
    lbfgs = descend_lbfgs(track, problem, maxit, tol),
    adam = descend_adam(track, problem, maxit, tol, control)
  )
  best <- track$best()
  list(
    values = best$at,
    objective = best$value,
    trace = track$trace(),
    evaluations = track$count(),
    converged = end$converged,
    message = end$message
  )
}

at_rest <- function(message) list(converged = TRUE, message = message)
cut_short <- function(message) list(converged = FALSE, message = message)

positive_or_one <- function(x) ifelse(is.finite(x) & x > 0, x, 1)

# L-BFGS ----------------------------------------------------------------------------------------

# optim() stops when a step gains less than a fraction of the scale it was given. Far starts shrink
# the scale by orders of magnitude, and a line search can fail on rounding or on a kink (gamma = 0),
# so rounds follow one another until one gains nothing.
descend_lbfgs <- function(track, problem, maxit, tol) {
  left <- maxit
  unit <- overall_spread(problem$x)
  repeat {
    before <- track$best()
    if (sum(abs(before$grad)) * unit <= .Machine$double.eps * before$scale || before$scale == 0) {
      return(at_rest("the gradient is zero"))
    }
    if (left < 1) {
      return(out_of_steps(maxit))
    }
    end <- lbfgs_round(track, unit, left, tol)
    if (end$out_of_steps) {
      return(out_of_steps(maxit))
    }
    after <- track$best()
    left <- left - end$steps
    gained <- before$value - after$value > tol * after$scale
    if (!gained || (end$clean && after$scale > before$scale / 16)) {
      break
    }
  }
  if (problem$opts$gamma == 0 && problem$opts$cost == 0L) {
    return(descend_by_means(track, problem, max(left, 1), tol))
  }
  at_rest(sprintf("a further step lowers the objective by less than %.0e of it", tol))
}

out_of_steps <- function(maxit) {
  cut_short(sprintf("stopped after maxit = %s steps", big_number(maxit)))
}

# Lengths are in units of the data's spread, one for all dimensions and steps: units by dimension,
# or by how much alignment falls on a step, took more evaluations on real data. 20 past steps took
# a tenth fewer than 10 and cost nothing beside an evaluation. Where a trial point leaves the range
# of doubles, a value far above all others sends the line search back.
lbfgs_round <- function(track, unit, maxit, tol) {
  start <- track$best()
  # A gradient whose square overflows in these units would stop optim().
  scale <- max(start$scale, max(abs(start$grad)) * unit * 1e-100)
  far_above <- min(1e9 * scale, .Machine$double.xmax)
  end <- stats::optim(
    start$at,
    fn = \(values) {
      value <- track$visit(values)$value
      if (is.finite(value)) value else far_above
    },
    gr = \(values) {
      grad <- track$visit(values)$grad
      ifelse(is.finite(grad), grad, 0)
    },
    method = "L-BFGS-B",
    control = list(
      maxit = maxit, factr = tol / .Machine$double.eps, pgtol = 0, lmm = 20,
      fnscale = scale, parscale = rep(unit, length(start$at))
    )
  )
  list(
    clean = end$convergence == 0L,
    out_of_steps = end$convergence == 1L,
    steps = end$counts[["function"]]
  )
}

# How much alignment falls on each step of the centroid, and the squared distances under it.
centroid_spread <- function(values, problem) {
  z <- as_centroid(values, problem$x$d)
  .Call(ffi_spread, z, problem$x, problem$weights, problem$opts)
}

# The limit gamma -> 0 of the squared cost: every step becomes the mean of the values aligned to
# it, which cannot raise the objective (Petitjean et al. 2011).
descend_by_means <- function(track, problem, maxit, tol) {
  for (i in seq_len(maxit)) {
    here <- track$best()
    mass <- rep(centroid_spread(here$at, problem)$mass, each = problem$x$d)
    track$visit(here$at - here$grad / (2 * mass))
    if (here$value - track$best()$value <= tol * here$scale) {
      return(at_rest("every step is the mean of the values aligned to it"))
    }
  }
  out_of_steps(maxit)
}

# Adam ------------------------------------------------------------------------------------------

# step: first step, in standard deviations of the data. clip: a gradient longer than this many
# times the running mean of lengths is cut to it. patience: steps without gain before the end.
adam_control <- function(control = list()) {
  defaults <- list(step = 0.1, clip = 5, patience = 25)
  unknown <- setdiff(names(control), names(defaults))
  if (!is.list(control) || length(unknown) || length(names(control)) != length(control)) {
    stop_softdtw("argument", paste0(
      "`control` must be a list of ", ticked(names(defaults)), ": settings of method = \"adam\"."
    ), argument = "control")
  }
  control <- utils::modifyList(defaults, control)
  for (name in names(defaults)) {
    check_positive(control[[name]], paste0("control$", name))
  }
  control
}

check_positive <- function(x, arg) {
  if (!is_number(x) || !is.finite(x) || x <= 0) {
    stop_argument(arg, "one finite number above 0", x)
  }
  as.double(x)
}

# Adam (Kingma and Ba 2015) with the step falling along half a cosine from `control$step` to 0.
# Gradients are taken in units of the first one, so no scale of the data is too small or large.
descend_adam <- function(track, problem, maxit, tol, control) {
  here <- track$best()
  unit <- positive_or_one(vector_length(here$grad))
  lengths <- control$step * data_spread(problem$x)
  usual <- 1
  mean <- square <- 0
  idle <- 0
  for (i in seq_len(maxit)) {
    size <- vector_length(here$grad) / unit
    if (!is.finite(size)) {
      return(cut_short("a step left the range of finite values"))
    }
    if (size == 0) {
      return(at_rest("the gradient is zero"))
    }
    grad <- here$grad / unit * min(1, control$clip * usual / size)
    usual <- 0.9 * usual + 0.1 * min(size, control$clip * usual)
    mean <- 0.9 * mean + 0.1 * grad
    square <- 0.999 * square + 0.001 * grad^2
    move <- mean / (1 - 0.9^i) / (sqrt(square / (1 - 0.999^i)) + 1e-10)
    before <- track$best()
    here <- track$visit(here$at - lengths * move * (1 + cos(pi * (i - 1) / maxit)) / 2)
    gained <- before$value - track$best()$value > tol * before$scale
    idle <- if (gained) 0 else idle + 1
    if (idle >= control$patience) {
      return(at_rest(sprintf("no gain in %s steps", big_number(control$patience))))
    }
  }
  out_of_steps(maxit)
}

vector_length <- function(x) {
  largest <- max(abs(x))
  if (largest > 0 && is.finite(largest)) largest * sqrt(sum((x / largest)^2)) else largest
}

# Standard deviation of each dimension; where a dimension is constant, its size, or 1.
data_spread <- function(x) {
  by_step <- matrix(x$values, nrow = x$d)
  half_range <- (x$upper / 2 - x$lower / 2)
  unit <- positive_or_one(half_range)
  centred <- (by_step - (x$lower / 2 + x$upper / 2)) / unit
  spread <- unit * sqrt(rowMeans((centred - rowMeans(centred))^2))
  ifelse(half_range > 0, spread, positive_or_one(abs(x$upper)))
}

overall_spread <- function(x) {
  spread <- data_spread(x)
  max(spread) * sqrt(mean((spread / max(spread))^2))
}

# starting points -------------------------------------------------------------------------------

# Values of one series (T steps of d dimensions) on `to` evenly spaced points from its first to
# its last step; a single point falls on the middle.
resample <- function(values, d, to) {
  from <- length(values) %/% d
  if (from == to) {
    return(values)
  }
  at <- if (to == 1L) (from + 1) / 2 else seq(1, from, length.out = to)
  left <- pmin(floor(at), max(from - 1, 1))
  right <- pmin(left + 1, from)
  steps <- matrix(values, nrow = d)
  share <- rep(at - left, each = d)
  as.vector((1 - share) * steps[, left] + share * steps[, right])
}

# Resampling is linear, so the mean is taken first over the series of each length.
resampled_mean <- function(x, weights, to) {
  share <- weights / sum(weights)
  total <- double(to * x$d)
  for (steps in sort(unique(x$lengths))) {
    members <- which(x$lengths == steps)
    block <- matrix(subset_series(x, members)$values, nrow = steps * x$d)
    same_length <- rowSums(block * rep(share[members], each = nrow(block)))
    total <- total + resample(same_length, x$d, to)
  }
  total
}

# Number of the series with the smallest objective of all. Larger sets go in blocks of rows, so
# that no n x n matrix is held.
medoid <- function(problem, most_values = 2^22) {
  n <- length(problem$weights)
  block <- max(1, floor(most_values / n))
  if (n <= block) {
    values <- .Call(ffi_matrix, problem$x, NULL, problem$opts, problem$own, problem$own)
    return(which.min(values %*% problem$weights))
  }
  cost <- double(n)
  for (first in seq(1L, n, by = block)) {
    i <- first:min(n, first + block - 1L)
    values <- .Call(
      ffi_matrix, subset_series(problem$x, i), problem$x, problem$opts, problem$own[i], problem$own
    )
    cost[i] <- values %*% problem$weights
  }
  which.min(cost)
}

# The default length of a centroid. With a window of 0, where only equal lengths and single steps
# have a path, the median of unequal ones would have none.
median_length <- function(lengths, window = -1) {
  median <- as.integer(round(stats::median(lengths)))
  no_path <- window == 0 && median > 1L && any(lengths > 1L & lengths != median)
  if (no_path) max(lengths) else median
}

# weights ---------------------------------------------------------------------------------------

check_weights <- function(weights, n, names = NULL) {
  if (is.null(weights)) {
    return(rep(1, n))
  }
  if (!is.numeric(weights) || is.object(weights) || !is.null(dim(weights))) {
    stop_argument("weights", "NULL or a numeric vector, one weight a series", weights)
  }
  if (length(weights) != n) {
    stop_softdtw("argument", sprintf(
      "`weights` must hold one weight a series: %s given for %s.",
      plural(length(weights), "weight"), plural(n, "series", "series")
    ), argument = "weights")
  }
  bad <- which(!is.finite(weights) | weights < 0)
  if (length(bad)) {
    stop_softdtw("argument", sprintf(
      "`weights` must be finite and not negative: weight %s is %s.",
      big_number(bad[1L]), format(weights[bad[1L]])
    ), argument = "weights", position = bad[1L])
  }
  if (all(weights == 0)) {
    stop_softdtw("argument", "`weights` must not all be zero.", argument = "weights")
  }
  as.double(weights)
}

check_length <- function(length) {
  if (is.null(length)) {
    return(NULL)
  }
  length <- check_whole(length, "length", 1, .Machine$integer.max)
  check_memory(length, "A centroid of that `length`", "Choose a smaller one.")
  as.integer(length)
}
