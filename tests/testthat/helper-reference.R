# Plain-R soft-DTW, written to be obviously right and to share nothing with the package:
# log-sum-exp tables instead of linear-domain mantissas, E from prefix and suffix tables instead of
# predecessor shares, gradients from their definition, and path enumeration for tiny inputs.
# A series is a numeric vector (one dimension) or a matrix, time x dimension.

ref_costs <- c("sqeuclidean", "euclidean", "manhattan", "cosine")

ref_series <- function(x) {
  x <- if (is.matrix(x)) x else matrix(x, ncol = 1)
  matrix(as.double(x), nrow(x))
}

ref_unit <- function(x) {
  big <- apply(abs(x), 1, max)
  x <- x / ifelse(big > 0, big, 1)
  norm <- sqrt(rowSums(x^2))
  x / ifelse(norm > 0, norm, 1)
}

ref_cost <- function(x, y, cost = "sqeuclidean") {
  x <- ref_series(x)
  y <- ref_series(y)
  if (cost == "cosine") {
    x <- ref_unit(x)
    y <- ref_unit(y)
  }
  costs <- matrix(0, nrow(x), nrow(y))
  for (k in seq_len(ncol(x))) {
    gap <- outer(x[, k], y[, k], `-`)
    costs <- costs + if (cost == "manhattan") abs(gap) else gap^2
  }
  switch(cost, euclidean = sqrt(costs), cosine = costs / 2, costs)
}

# cells allowed by the slanted Sakoe-Chiba window of width w (NULL: all)
ref_mask <- function(n, m, w = NULL) {
  if (is.null(w)) {
    return(matrix(TRUE, n, m))
  }
  abs(outer((seq_len(n) - 1) * (m - 1), (seq_len(m) - 1) * (n - 1), `-`)) <= w * max(n - 1, m - 1)
}

ref_softmin <- function(a, gamma) {
  low <- min(a)
  if (gamma == 0 || low == Inf) {
    return(low)
  }
  low - gamma * log(sum(exp((low - a) / gamma)))
}

# soft minimum over paths from (1, 1) to (i, j), both ends included
ref_prefix <- function(costs, gamma, mask) {
  n <- nrow(costs)
  m <- ncol(costs)
  best <- matrix(Inf, n + 1, m + 1)
  best[1, 1] <- 0
  for (i in seq_len(n)) {
    for (j in seq_len(m)) {
      if (mask[i, j]) {
        before <- c(best[i, j], best[i, j + 1], best[i + 1, j])
        best[i + 1, j + 1] <- costs[i, j] + ref_softmin(before, gamma)
      }
    }
    best[1, 1] <- Inf
  }
  best[-1, -1, drop = FALSE]
}

# the same from (i, j) to (n, m)
ref_suffix <- function(costs, gamma, mask) {
  turn <- function(a) a[rev(seq_len(nrow(a))), rev(seq_len(ncol(a))), drop = FALSE]
  turn(ref_prefix(turn(costs), gamma, turn(mask)))
}

# one optimal path, ties: diagonal, then up (i - 1), then left
ref_hard_path <- function(best) {
  i <- nrow(best)
  j <- ncol(best)
  shares <- matrix(0, i, j)
  at <- function(i, j) if (i < 1 || j < 1) Inf else best[i, j]
  shares[i, j] <- 1
  while (i > 1 || j > 1) {
    move <- which.min(c(at(i - 1, j - 1), at(i - 1, j), at(i, j - 1)))
    i <- i - (move != 3)
    j <- j - (move != 2)
    shares[i, j] <- 1
  }
  shares
}

# value and expected alignment of a cost matrix
ref_from_cost <- function(costs, gamma, w = NULL, mask = ref_mask(nrow(costs), ncol(costs), w)) {
  best <- ref_prefix(costs, gamma, mask)
  value <- best[nrow(costs), ncol(costs)]
  if (gamma == 0) {
    return(list(value = value, E = ref_hard_path(best)))
  }
  # where cost / gamma exceeds 1e16 the differences are rounding alone
  shares <- exp(pmin((value - best - ref_suffix(costs, gamma, mask) + costs) / gamma, 0))
  shares[!mask] <- 0
  list(value = value, E = shares)
}

ref_value <- function(x, y, gamma, cost = "sqeuclidean", w = NULL) {
  costs <- ref_cost(x, y, cost)
  ref_prefix(costs, gamma, ref_mask(nrow(costs), ncol(costs), w))[nrow(costs), ncol(costs)]
}

# sum_j E_ij d cost(x_i, y_j) / d x_i
ref_grad_x <- function(x, y, shares, cost) {
  x <- ref_series(x)
  y <- ref_series(y)
  if (cost == "cosine") {
    norm <- sqrt(rowSums(x^2))
    u <- ref_unit(x)
    v <- ref_unit(y)
    grad <- shares %*% v
    grad <- (u * rowSums(u * grad) - grad) / ifelse(norm > 0, norm, 1)
    return(grad * (norm > 0))
  }
  slope <- switch(cost,
    sqeuclidean = \(gap, costs) 2 * gap,
    euclidean = \(gap, costs) ifelse(costs > 0, gap / costs, 0),
    manhattan = \(gap, costs) sign(gap)
  )
  costs <- ref_cost(x, y, cost)
  grad <- vapply(seq_len(ncol(x)), function(k) {
    rowSums(shares * slope(outer(x[, k], y[, k], `-`), costs))
  }, double(nrow(x)))
  matrix(grad, nrow(x))
}

ref_full <- function(x, y, gamma, cost = "sqeuclidean", w = NULL) {
  r <- ref_from_cost(ref_cost(x, y, cost), gamma, w)
  r$grad_x <- ref_grad_x(x, y, r$E, cost)
  r$grad_y <- ref_grad_x(y, x, t(r$E), cost)
  r
}

ref_divergence <- function(x, y, gamma, cost = "sqeuclidean", w = NULL) {
  ref_value(x, y, gamma, cost, w) -
    (ref_value(x, x, gamma, cost, w) + ref_value(y, y, gamma, cost, w)) / 2
}

ref_divergence_grad_x <- function(x, y, gamma, cost = "sqeuclidean", w = NULL) {
  own <- ref_full(x, x, gamma, cost, w)
  ref_full(x, y, gamma, cost, w)$grad_x - (own$grad_x + own$grad_y) / 2
}

# all monotone paths from (1, 1) to (n, m), each a two-column matrix of cells
ref_paths <- function(n, m) {
  walk <- function(i, j) {
    if (i == n && j == m) {
      return(list(cbind(i, j)))
    }
    steps <- Filter(\(s) s[1] <= n && s[2] <= m, list(c(i + 1, j + 1), c(i + 1, j), c(i, j + 1)))
    tails <- do.call(c, lapply(steps, \(s) walk(s[1], s[2])))
    lapply(tails, \(p) rbind(cbind(i, j), p))
  }
  walk(1, 1)
}

# value, E and hard minimum by enumeration
ref_brute <- function(costs, gamma, w = NULL) {
  mask <- ref_mask(nrow(costs), ncol(costs), w)
  paths <- Filter(\(p) all(mask[p]), ref_paths(nrow(costs), ncol(costs)))
  total <- vapply(paths, \(p) sum(costs[p]), 0)
  low <- min(total)
  if (gamma == 0) {
    return(list(value = low, hard = low, paths = length(paths)))
  }
  weight <- exp((low - total) / gamma)
  shares <- matrix(0, nrow(costs), ncol(costs))
  for (k in seq_along(paths)) {
    shares[paths[[k]]] <- shares[paths[[k]]] + weight[k]
  }
  list(
    value = low - gamma * log(sum(weight)), E = shares / sum(weight), hard = low,
    paths = length(paths)
  )
}

# central differences of the function f of a series, entry by entry
ref_differences <- function(f, x, h = 1e-5) {
  slope <- x
  for (k in seq_along(x)) {
    up <- down <- x
    up[k] <- x[k] + h
    down[k] <- x[k] - h
    slope[k] <- (f(up) - f(down)) / (up[k] - down[k])
  }
  slope
}
