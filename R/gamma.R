#' A smoothing from the scale of the data
#'
#' Proposes a value of `gamma`: a tenth of the typical cost of two points taken anywhere in the
#' data.
#'
#' `gamma` has the unit of the cost, so a good one depends on the scale of the data (four times as
#' large for squared costs when the data are doubled) and there is no number that suits all.
#'
#' Take the median cost c of two points from anywhere in the set. That is what a *wrong* match of
#' two points costs. A path that differs from another by one such match weighs exp(-c / gamma) as
#' much as the other. At gamma = c / 10 that is exp(-10), about 0.00005: wrong matches hardly count.
#' But matches that differ by less than c / 10 (points closer than about a third of the usual
#' distance, for squared costs) are blended, which is what smooths the objective and fills
#' barycenters in. At gamma = c most paths count and barycenters go flat; at gamma = c / 1000 the
#' result is hard DTW but for rounding. Try a third and three times the value too.
#'
#' The rule known from the global alignment kernel, twice the median squared distance times the
#' median length, is far larger: it makes whole paths, not single matches, weigh alike.
#'
#' The points are an evenly spaced sample: at most 512 points, from evenly spaced series at evenly
#' spaced times. No random numbers are drawn. Where more than half of the pairs have cost 0, the
#' mean cost is taken in place of the median; where all points are equal, `gamma` has no effect that
#' matters, and the result is 1.
#'
#' @param x A set of series (forms as in [softdtw_matrix()]).
#' @inheritParams softdtw
#'
#' @returns One number > 0, in the unit of the cost.
#'
#' @inheritSection softdtw-package Errors
#'
#' @references
#' Cuturi, M. (2011). Fast global alignment kernels. *Proceedings of the 28th International
#' Conference on Machine Learning*, 929-936.
#'
#' @examples
#' x <- list(a = c(0, 1, 2, 1), b = c(0, 0, 1, 2, 1), c = c(3, 2, 0))
#' softdtw_gamma(x)
#' softdtw_gamma(lapply(x, `*`, 10)) / softdtw_gamma(x)
#' @export
softdtw_gamma <- function(x, cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                          na = c("error", "omit", "interpolate")) {
  cost <- check_cost(cost)
  x <- as_set(x, "x", na)
  check_range(x, x, list(gamma = 0, cost = match(cost, cost_names) - 1L), "x", "x")
  if (cost == "cosine") {
    check_directions(x, "x")
  }
  costs <- point_costs(sample_points(x), cost)
  typical <- if (length(costs)) stats::median(costs) else 0
  if (typical == 0 && length(costs)) {
    typical <- mean(costs)
  }
  # A tenth of the smallest doubles would be a subnormal, which `gamma` may not be.
  if (typical > 0) max(typical / 10, .Machine$double.xmin) else 1
}

# At most `most` points (rows) from evenly spaced series, at evenly spaced times of each. Spacing
# both apart keeps equal lengths from putting all points at the same time of day.
sample_points <- function(x, most = 512L) {
  chosen <- evenly(length(x), 32L)
  each <- most %/% length(chosen)
  starts <- series_starts(x)
  points <- lapply(chosen, \(i) {
    series_matrix(x, i, starts[i])[evenly(x$lengths[i], each), , drop = FALSE]
  })
  do.call(rbind, points)
}

evenly <- function(n, most) {
  if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))
}

# Costs of all pairs of rows.
point_costs <- function(points, cost) {
  if (cost == "cosine") {
    largest <- apply(abs(points), 1L, max)
    points <- points / largest
    points <- points / sqrt(rowSums(points^2))
  }
  method <- if (cost == "manhattan") "manhattan" else "euclidean"
  distance <- as.vector(stats::dist(points, method))
  switch(cost, sqeuclidean = distance^2, cosine = distance^2 / 2, distance)
}
