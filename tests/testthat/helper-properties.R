# Random pairs and the size of the rounding errors that any double-precision method has on them.

random_series <- function(n, d = 1, offset = 0, scale = 1) {
  x <- matrix(offset + scale * stats::rnorm(n * d), n, d)
  if (d == 1) x[, 1] else x
}

# values on a grid of 1/64, so that sums and differences of costs are exact and ties happen
lattice_series <- function(n, d = 1, offset = 0) {
  x <- matrix(offset + sample(-64:64, n * d, TRUE) / 64, n, d)
  if (d == 1) x[, 1] else x
}

# One draw over shapes, scales and windows. `far`: y may lie far from x, not only both from 0.
random_problem <- function(far = TRUE, most = 40L) {
  n <- sample(most, 1L)
  m <- sample(most, 1L)
  d <- sample(5L, 1L)
  offset <- sample(c(0, 0, 10, 1e3, 1e6), 1L)
  gap <- if (far) sample(c(0, 0, 0, 1, 1e3, 1e6), 1L) else 0
  list(
    x = random_series(n, d, offset),
    y = random_series(m, d, offset + gap),
    gamma = 10^stats::runif(1L, -6, 6),
    window = if (stats::runif(1L) < 0.4) sample(12L, 1L),
    n = n, m = m, d = d
  )
}

problem_label <- function(p, cost) {
  sprintf("%s %d x %d x %d, gamma %.3g, window %s", cost, p$n, p$m, p$d, p$gamma, format(p$window))
}

# The scale of the numbers that are summed on the way to a value: path cost plus entropy.
value_scale <- function(value, gamma, n, m, cost = "sqeuclidean") {
  abs(value) + gamma * (n + m) * log(3) + (cost == "cosine") * (n + m)
}

value_tolerance <- function(value, gamma, n, m, cost = "sqeuclidean", factor = 1e-13) {
  factor * value_scale(value, gamma, n, m, cost)
}

# Rounding of a path's cost / gamma.
exponent_error <- function(shares, value, gamma, cost) {
  scale <- value_scale(value, gamma, nrow(shares), ncol(shares), cost)
  min(64 * .Machine$double.eps * scale / gamma, 700)
}

# Against exact shares, relative, so that a share of 1e-200 counts as well. A rounding error e in a
# path's cost / gamma moves a share p by about p (1 - p) e: shares of 0 and 1 must be right however
# small gamma is.
share_tolerance <- function(shares, value, gamma, cost = "sqeuclidean") {
  error <- exponent_error(shares, value, gamma, cost)
  2e-14 * shares + shares * (1 - shares) * expm1(error) + 1e-290
}

# Against shares from log-domain tables, which carry the error e themselves and say nothing where it
# is large.
table_tolerance <- function(shares, value, gamma, cost = "sqeuclidean") {
  error <- exponent_error(shares, value, gamma, cost)
  if (error > 1) Inf * (1 + shares) else 1e-12 + shares * expm1(error)
}

# bound on a derivative of the cost of two points, for the gradient's tolerance
largest_slope <- function(x, y, cost) {
  switch(cost,
    sqeuclidean = 2 * max(ref_cost(x, y, "manhattan")),
    cosine = 1 / min(sqrt(rowSums(ref_series(x)^2)), sqrt(rowSums(ref_series(y)^2))),
    1
  )
}

shares_of <- function(x, y, ...) unname(as.matrix(softdtw_alignment(x, y, ...)))

# several sets of unequal lengths, length 1 among them
random_set <- function(lengths, d = 1, ...) lapply(lengths, random_series, d = d, ...)

delannoy <- function(n, m) {
  row <- rep(1, m)
  for (i in seq_len(n - 1)) {
    up <- row
    for (j in seq_len(m - 1)) row[j + 1] <- up[j + 1] + row[j] + up[j]
  }
  row[m]
}

# Every block gathers the worst of its draws, so that the number of checks never depends on chance.
# Runs `one(problem, cost)` over draws; `one` returns named numbers, 1 or less being right.
worst_of <- function(seed, draws, one, ...) {
  worst <- 0
  where <- "nowhere"
  with_seed(seed, for (k in seq_len(draws)) {
    cost <- ref_costs[(k - 1L) %% 4L + 1L]
    p <- random_problem(...)
    off <- one(p, cost)
    if (!all(off <= worst)) {
      worst <- max(off)
      where <- paste(names(off)[which.max(off)], "at draw", k, problem_label(p, cost))
    }
  })
  structure(worst, where = where)
}

expect_right <- function(worst) expect_lte(as.double(worst), 1, label = attr(worst, "where"))
