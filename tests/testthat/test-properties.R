# The properties of design.md, over random shapes, gammas, offsets, windows and all four costs.

full_excess <- function(p, cost) {
  want <- ref_full(p$x, p$y, p$gamma, cost, p$window)
  got <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
  shares <- shares_of(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
  tol <- table_tolerance(want$E, want$value, p$gamma, cost)
  slope <- largest_slope(p$x, p$y, cost)
  c(
    value = excess(
      softdtw(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window), want$value,
      value_tolerance(want$value, p$gamma, p$n, p$m, cost)
    ),
    value_of_grad = excess(
      got$value, want$value, value_tolerance(want$value, p$gamma, p$n, p$m, cost)
    ),
    E = excess(shares, want$E, tol),
    grad_x = excess(got$grad_x, want$grad_x, slope * rep(rowSums(tol), p$d)),
    grad_y = excess(got$grad_y, want$grad_y, slope * rep(colSums(tol), p$d)),
    # at any gamma the gradient is E's own
    grad_of_E = excess(got$grad_x, ref_grad_x(p$x, p$y, shares, cost), 1e-13 * slope * (p$n + p$m))
  )
}

test_that("values, alignments and gradients agree with plain R over random shapes", {
  expect_right(worst_of(101, 160, full_excess))
})

test_that("the same on a grid of values, where ties are exact", {
  one <- function(p, cost) {
    p$x <- lattice_series(p$n, p$d) + 2
    p$y <- lattice_series(p$m, p$d) + 2
    full_excess(p, cost)
  }
  expect_right(worst_of(102, 120, one))
})

test_that("gamma = 0 is hard DTW, with E the path that goes diagonal, then up, then left", {
  one <- function(p, cost) {
    p$x <- lattice_series(p$n, p$d) + 2
    p$y <- lattice_series(p$m, p$d) + 2
    want <- ref_full(p$x, p$y, 0, cost, p$window)
    got <- softdtw_grad(p$x, p$y, gamma = 0, cost = cost, window = p$window)
    shares <- shares_of(p$x, p$y, gamma = 0, cost = cost, window = p$window)
    # other rounding of a root or a quotient may break a tie another way; sums on the grid may not
    exact <- cost %in% c("sqeuclidean", "manhattan")
    along <- sum(shares * ref_cost(p$x, p$y, cost))
    slope_x <- ref_grad_x(p$x, p$y, shares, cost)
    slope_y <- ref_grad_x(p$y, p$x, t(shares), cost)
    c(
      value = excess(got$value, want$value, if (exact) 0 else 1e-13 * (1 + want$value)),
      path = if (exact) excess(shares, want$E, 0) else 0,
      cost = excess(along, want$value, 1e-12 * (1 + along)),
      whole = excess(shares * (1 - shares), 0 * shares, 0),
      grad_x = excess(got$grad_x, slope_x, 1e-12),
      grad_y = excess(got$grad_y, slope_y, 1e-12)
    )
  }
  expect_right(worst_of(103, 120, one))
})

test_that("values and alignments agree with all paths, one by one", {
  one <- function(p, cost) {
    want <- ref_brute(ref_cost(p$x, p$y, cost), p$gamma, p$window)
    c(
      value = excess(
        softdtw(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window), want$value,
        value_tolerance(want$value, p$gamma, p$n, p$m, cost)
      ),
      E = excess(
        shares_of(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window), want$E,
        share_tolerance(want$E, want$value, p$gamma, cost)
      ),
      hard = excess(
        softdtw(p$x, p$y, gamma = 0, cost = cost, window = p$window), want$hard,
        1e-13 * (want$hard + (cost == "cosine"))
      )
    )
  }
  expect_right(worst_of(104, 80, one, most = 5L))
  # path costs on a grid are exact, so that shares are sharp at any gamma
  grid <- function(p, cost) {
    p$x <- lattice_series(p$n, p$d) + 2
    p$y <- lattice_series(p$m, p$d) + 2
    one(p, cost)
  }
  expect_right(worst_of(121, 80, grid, most = 5L))
})

# a pair on which differences of values carry digits
smooth_problem <- function(p) {
  p$gamma <- 10^stats::runif(1L, -0.3, 2)
  p$x <- random_series(p$n, p$d) + 3
  p$y <- random_series(p$m, p$d) + 3
  p
}

difference_excess <- function(got, f, x, size) {
  slope <- ref_differences(f, x, 1e-5)
  excess(got, slope, 1e-6 * (max(1, abs(slope)) + size * 1e-4))
}

test_that("gradients agree with finite differences, windows and all costs included", {
  one <- function(p, cost) {
    p <- smooth_problem(p)
    value <- function(x, y) softdtw(x, y, gamma = p$gamma, cost = cost, window = p$window)
    got <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    size <- value_scale(got$value, p$gamma, p$n, p$m)
    c(
      grad_x = difference_excess(got$grad_x, \(z) value(z, p$y), p$x, size),
      grad_y = difference_excess(got$grad_y, \(z) value(p$x, z), p$y, size)
    )
  }
  expect_right(worst_of(105, 60, one, most = 15L))
})

test_that("gradients of the divergence agree with finite differences", {
  one <- function(p, cost) {
    p <- smooth_problem(p)
    value <- function(x, y) {
      softdtw(x, y, gamma = p$gamma, cost = cost, window = p$window, type = "divergence")
    }
    got <- softdtw_grad(
      p$x, p$y, gamma = p$gamma, cost = cost, window = p$window, type = "divergence"
    )
    size <- value_scale(0, p$gamma, p$n, p$m)
    c(
      value = excess(got$value, value(p$x, p$y), 0),
      grad_x = difference_excess(got$grad_x, \(z) value(z, p$y), p$x, size),
      grad_y = difference_excess(got$grad_y, \(z) value(p$x, z), p$y, size)
    )
  }
  expect_right(worst_of(106, 40, one, most = 12L))
})

test_that("gradients of a cost matrix are its alignment, by finite differences", {
  costs <- with_seed(107, matrix(stats::rnorm(42), 6, 7))
  for (window in list(NULL, 1)) {
    f <- function(costs) softdtw_cost(costs, gamma = 0.7, window = window)$value
    got <- softdtw_cost(costs, gamma = 0.7, window = window)
    expect_within(as.matrix(got), ref_differences(f, costs), 1e-8)
  }
})

test_that("swapping the two series gives the same bits", {
  one <- function(p, cost) {
    there <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    back <- softdtw_grad(p$y, p$x, gamma = p$gamma, cost = cost, window = p$window)
    shares <- shares_of(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    swapped <- shares_of(p$y, p$x, gamma = p$gamma, cost = cost, window = p$window)
    hard <- function(x, y) softdtw(x, y, gamma = 0, cost = cost, window = p$window)
    2 * c(
      value = !identical(there$value, back$value),
      grad_x = !identical(there$grad_x, back$grad_y),
      grad_y = !identical(there$grad_y, back$grad_x),
      E = !identical(shares, t(swapped)),
      hard = !identical(hard(p$x, p$y), hard(p$y, p$x))
    )
  }
  expect_right(worst_of(108, 120, one))
})

# Costs of 1e16 gamma and more need exponents beyond 2^53, where any step that is not the same for
# all ways through the kernels shows.
test_that("swapping, and the company of other pairs, leave the bits of extreme values alone", {
  apart <- 0
  with_seed(109, for (k in seq_len(150)) {
    n <- sample(80, 1)
    m <- sample(80, 1)
    d <- sample(c(1:6, 9), 1)
    gamma <- 10^stats::runif(1, -7, 0)
    x <- matrix(stats::rnorm(n * d), n) + 10^stats::runif(1, 3, 7)
    y <- matrix(stats::rnorm(m * d), m)
    for (cost in ref_costs) for (precision in c("double", "single")) {
      go <- function(f, ...) f(..., gamma = gamma, cost = cost, precision = precision)
      alone <- go(softdtw, x, y)
      many <- go(softdtw_matrix, rep(list(x), 5), list(y, y[m:1, , drop = FALSE], y))
      apart <- apart + !identical(alone, go(softdtw, y, x)) +
        !identical(c(many[, -2L]), rep(alone, 10))
    }
  })
  expect_identical(apart, 0)
})

test_that("time reversal of both series changes nothing but the order", {
  turn <- function(x) if (is.matrix(x)) x[rev(seq_len(nrow(x))), , drop = FALSE] else rev(x)
  one <- function(p, cost) {
    there <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    back <- softdtw_grad(turn(p$x), turn(p$y), gamma = p$gamma, cost = cost, window = p$window)
    shares <- shares_of(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    tol <- table_tolerance(shares, there$value, p$gamma, cost)
    c(
      value = excess(
        back$value, there$value, value_tolerance(there$value, p$gamma, p$n, p$m, cost)
      ),
      grad_x = excess(
        turn(back$grad_x), there$grad_x, largest_slope(p$x, p$y, cost) * rep(rowSums(tol), p$d)
      )
    )
  }
  expect_right(worst_of(109, 80, one))
})

test_that("moving both series by the same amount changes no bit where the moved values are exact", {
  one <- function(p, cost) {
    if (cost == "cosine") cost <- "manhattan"
    x <- lattice_series(p$n, p$d)
    y <- lattice_series(p$m, p$d)
    run <- function(offset) {
      softdtw_grad(x + offset, y + offset, gamma = p$gamma, cost = cost, window = p$window)
    }
    2 * c(moved = !identical(run(0), run(2^20)), back = !identical(run(0), run(-3 * 2^30)))
  }
  expect_right(worst_of(110, 60, one))
})

test_that("scaling: gamma c^2 on c x, c y gives c^2 times the value and c times the gradient", {
  one <- function(p, cost) {
    scale <- sample(c(2^-40, 1e-3, 3, 2^20), 1L)
    power <- if (cost == "sqeuclidean") 2 else 1
    if (cost == "cosine") power <- 0
    there <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    back <- softdtw_grad(
      scale * p$x, scale * p$y, gamma = scale^power * p$gamma, cost = cost, window = p$window
    )
    # an offset loses digits when it is scaled by what is no power of two
    lost <- if (scale %in% c(1e-3, 3)) 1e-13 * max(abs(p$x), abs(p$y))^2 * (p$n + p$m) else 0
    value_tol <- value_tolerance(there$value, p$gamma, p$n, p$m, cost) + lost
    c(value = excess(back$value / scale^power, there$value, value_tol))
  }
  expect_right(worst_of(111, 80, one, far = FALSE))
})

test_that("E lies in [0, 1], reaches every step of both series and obeys the corner sums", {
  one <- function(p, cost) {
    shares <- shares_of(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    diagonal <- tapply(shares, row(shares) + col(shares), sum)
    two <- if (length(diagonal) > 1L) diagonal[-1] + diagonal[-length(diagonal)] else 1
    slack <- 1 + 1e-12
    c(
      range = max(shares, -min(shares) * 1e12) / slack,
      rows = 1 / (min(rowSums(shares)) * slack),
      columns = 1 / (min(colSums(shares)) * slack),
      first = excess(shares[1, 1], 1, 1e-12),
      last = excess(shares[p$n, p$m], 1, 0),
      longest = sum(shares) / ((p$n + p$m - 1) * slack),
      shortest = max(p$n, p$m) / (sum(shares) * slack),
      # a path meets an anti-diagonal at most once and never misses two in a row
      meets = max(diagonal) / slack,
      misses = 1 / (min(two) * slack),
      outside = 2 * any(shares[!ref_mask(p$n, p$m, p$window)] != 0)
    )
  }
  expect_right(worst_of(112, 100, one))
})

test_that("gradients sum to zero over both series where the cost only knows differences", {
  one <- function(p, cost) {
    if (cost == "cosine") cost <- "euclidean"
    got <- softdtw_grad(p$x, p$y, gamma = p$gamma, cost = cost, window = p$window)
    total <- colSums(as.matrix(got$grad_x)) + colSums(as.matrix(got$grad_y))
    size <- largest_slope(p$x, p$y, cost) * (p$n + p$m)
    c(sum = excess(total, 0 * total, 1e-12 * (size + 1e-300)))
  }
  expect_right(worst_of(113, 80, one))
})

test_that("soft-DTW rises to hard DTW as gamma falls, within gamma log(number of paths)", {
  one <- function(p, cost) {
    gammas <- 10^(3:-6)
    value <- vapply(gammas, \(g) softdtw(p$x, p$y, gamma = g, cost = cost), 0)
    hard <- softdtw(p$x, p$y, gamma = 0, cost = cost)
    slack <- 1e-12 * (1 + abs(hard) + (p$n + p$m) * gammas)
    c(
      rises = 2 * any(diff(value) < -slack[-1]),
      below = 2 * any(value > hard + slack),
      bounded = 2 * any(hard - value > gammas * log(delannoy(p$n, p$m)) + slack)
    )
  }
  expect_right(worst_of(114, 60, one))
})

test_that("exp(-value / gamma) is the sum over paths (global alignment kernel)", {
  x <- c(0.3, -1, 0.5, 2)
  y <- c(0, 1, -0.5)
  costs <- outer(x, y, `-`)^2
  for (gamma in c(0.5, 1, 20)) {
    weights <- vapply(ref_paths(4, 3), \(p) exp(-sum(costs[p]) / gamma), 0)
    expect_relative(exp(-softdtw(x, y, gamma = gamma) / gamma), sum(weights), 1e-13)
  }
})

test_that("the global alignment kernel of a geometrically divisible cost is positive definite", {
  # Cuturi (2011): k / (2 - k) with a Gaussian k gives a positive definite kernel of any series
  set <- with_seed(115, random_set(c(1, 3, 7, 12, 12, 20, 5)))
  kernel <- outer(seq_along(set), seq_along(set), Vectorize(function(i, j) {
    k <- exp(-outer(set[[i]], set[[j]], `-`)^2 / 2)
    exp(-softdtw_cost(-log(k / (2 - k)), gamma = 1)$value)
  }))
  scaled <- stats::cov2cor(kernel)
  expect_gt(min(eigen(scaled, symmetric = TRUE, only.values = TRUE)$values), -1e-13)
})

test_that("the divergence agrees with plain R and of equal series is exactly 0", {
  one <- function(p, cost) {
    div <- function(x, y) {
      softdtw(x, y, gamma = p$gamma, cost = cost, window = p$window, type = "divergence")
    }
    want <- ref_divergence(p$x, p$y, p$gamma, cost, p$window)
    own <- abs(ref_value(p$x, p$x, p$gamma, cost, p$window)) +
      abs(ref_value(p$y, p$y, p$gamma, cost, p$window)) +
      abs(ref_value(p$x, p$y, p$gamma, cost, p$window))
    c(
      value = excess(div(p$x, p$y), want, value_tolerance(own, p$gamma, p$n, p$m, cost)),
      swapped = excess(div(p$y, p$x), div(p$x, p$y), 0),
      self = excess(div(p$x, p$x), 0, 0)
    )
  }
  expect_right(worst_of(116, 60, one))
})

test_that("a set in packs gives the bits of its pairs one by one, whatever the lengths", {
  one <- function(p, cost) {
    lengths <- sample(c(1L, 1L, 2L, 3L, sample(40L, 14L), 17L, 17L))
    x <- random_set(lengths, p$d, 3)
    y <- random_set(c(5L, 1L, 33L), p$d, 3)
    gamma <- sample(c(0, p$gamma), 1L)
    go <- function(f, ...) f(..., gamma = gamma, cost = cost, window = p$window)
    single <- vapply(y, \(b) vapply(x, \(a) go(softdtw, a, b), 0), double(length(x)))
    own <- vapply(x, \(a) vapply(x, \(b) go(softdtw, a, b), 0), double(length(x)))
    turned <- cbind(seq_along(x), rev(seq_along(x)))
    2 * c(
      cross = !identical(unname(go(softdtw_matrix, x, y)), single),
      self = !identical(unname(go(softdtw_matrix, x)), own),
      many = !identical(unname(go(softdtw, x, y[3])), single[, 3]),
      pairwise = !identical(unname(go(softdtw, x, rev(x))), own[turned])
    )
  }
  expect_right(worst_of(117, 12, one))
})

test_that("lengths around the sizes of packs, strips and blocks give the bits of single pairs", {
  for (n in c(255L, 1023L)) {
    x <- with_seed(n, random_set(c(1L, 8L, n + 0:3, 17L, n, n + 1L, 64L)))
    want <- vapply(x, \(a) softdtw(a, x[[5]], gamma = 0.2), 0)
    expect_identical(softdtw_matrix(x, gamma = 0.2)[, 5], want)
    expect_identical(softdtw(x, x[5], gamma = 0.2), want)
  }
  x <- x[c(1, 2, 10)]
  pack <- softdtw_grad(c(x, random_set(256:258)), rep(c(1, 2), 130), gamma = 0.2, window = 60)
  single <- lapply(x, softdtw_grad, rep(c(1, 2), 130), gamma = 0.2, window = 60)
  expect_identical(lapply(single, `[[`, "grad_x"), pack$grad_x[1:3])
  expect_identical(lapply(single, `[[`, "grad_y"), pack$grad_y[1:3])
})

test_that("windows count in 64-bit numbers", {
  skip_unless_long()
  # a path of cost 0 hugs the line through the corners; outside of the window all costs are high
  n <- 70000L
  m <- 60000L
  line <- (seq_len(m) - 1) / (m - 1)
  x <- stats::approx(line, n = n)$y
  expect_lt(softdtw(x, line, gamma = 0, window = 1), 1e-5)
  expect_identical(softdtw(x, line, gamma = 0, window = 2), softdtw(line, x, gamma = 0, window = 2))
  a <- softdtw(rep(0, n), rep(0, m), window = 1)
  expect_true(is.finite(a) && a < 0)
  expect_gt(a, softdtw(rep(0, n), rep(0, m), window = 2))
})

test_that("series that share a strip have the bits they have alone, far points between or not", {
  # long and of several dimensions, so that no pack takes them; on a grid, so that single precision
  # takes off what is common to all series without rounding
  x <- with_seed(118, lapply(c(370, 401, 64, 390, 5), lattice_series, d = 13))
  wild <- x[[3L]]
  wild[7L, 2L] <- 1e9
  compare <- function(set, cost, gamma, precision) {
    go <- function(f, ...) f(..., gamma = gamma, cost = cost, precision = precision)
    one <- Vectorize(\(i, j) go(softdtw, set[[i]], set[[j]]))
    numbers <- seq_along(set)
    expect_identical(unname(go(softdtw_matrix, set)), outer(numbers, numbers, one))
  }
  for (gamma in c(0, 1e-3, 1)) {
    for (cost in ref_costs) {
      compare(x, cost, gamma, "double")
      compare(c(x, list(wild)), cost, gamma, "double")
    }
    for (cost in setdiff(ref_costs, "cosine")) compare(x, cost, gamma, "single")
  }
})

test_that("the way to reckon may change where costs grow, not the value", {
  # path costs of 2^38 to 2^50 gamma
  p <- with_seed(119, lapply(c(33, 40), random_series, d = 2))
  for (gamma in 2^-(31:43)) {
    want <- ref_full(p[[1L]], p[[2L]], gamma)
    got <- softdtw_grad(p[[1L]], p[[2L]], gamma = gamma)
    expect_lte(excess(got$value, want$value, value_tolerance(want$value, gamma, 33, 40)), 1)
    shares <- shares_of(p[[1L]], p[[2L]], gamma = gamma)
    expect_lte(max(excess(shares, want$E, table_tolerance(want$E, want$value, gamma))), 1)
    expect_identical(softdtw_grad(p[[2L]], p[[1L]], gamma = gamma)$grad_y, got$grad_x)
  }
})

test_that("gradients of a set are those of its pairs one by one, to the last bits", {
  one <- function(p, cost) {
    x <- random_set(sample(40L, 11L), p$d, 3)
    y <- random_series(p$m, p$d, 3)
    gamma <- sample(c(0, p$gamma), 1L)
    go <- function(x) softdtw_grad(x, y, gamma = gamma, cost = cost, window = p$window)
    pack <- go(x)
    single <- lapply(x, go)
    2 * c(
      value = !identical(as.double(unlist(lapply(single, `[[`, "value"))), unname(pack$value)),
      grad_x = !identical(lapply(single, `[[`, "grad_x"), unname(pack$grad_x)),
      grad_y = !identical(lapply(single, `[[`, "grad_y"), unname(pack$grad_y))
    )
  }
  expect_right(worst_of(118, 12, one))
})

test_that("a window as wide as the series is none, and a narrower one never lowers the value", {
  one <- function(p, cost) {
    value <- function(w) softdtw(p$x, p$y, gamma = p$gamma, cost = cost, window = w)
    widths <- vapply(c(1, 2, 4, 8, 16, 40), value, 0)
    slack <- value_tolerance(widths[6], p$gamma, p$n, p$m, cost)
    c(
      none = excess(value(NULL), widths[6], 0),
      falls = 2 * any(diff(widths) > slack)
    )
  }
  expect_right(worst_of(119, 60, one))
})

test_that("repeating a call gives the same bits", {
  p <- with_seed(120, random_problem())
  run <- function() {
    list(softdtw_grad(p$x, p$y), shares_of(p$x, p$y), softdtw_matrix(list(p$x, p$y)))
  }
  first <- run()
  expect_true(all(vapply(1:5, \(k) identical(run(), first), NA)))
})

# hard on purpose ------------------------------------------------------------------------------

finite_answers <- function(x, y, gamma, ...) {
  got <- softdtw_grad(x, y, gamma = gamma, ...)
  shares <- shares_of(x, y, gamma = gamma, ...)
  found <- c(got$value, got$grad_x, got$grad_y, shares)
  all(is.finite(found), shares >= 0, shares <= 1 + 1e-12)
}

test_that("costs over gamma around the limits of exp() are nothing special", {
  x <- c(0, sqrt(c(88, 104, 700, 708, 709.78, 710, 745, 745.2, 750)))
  for (y in list(0, c(0, 0), rev(x), x + 26.7)) {
    want <- ref_full(x, y, 1)
    got <- softdtw_grad(x, y, gamma = 1)
    expect_within(got$value, want$value, value_tolerance(want$value, 1, 10, length(y)))
    expect_within(shares_of(x, y, gamma = 1), want$E, table_tolerance(want$E, want$value, 1))
  }
})

test_that("no NaN and no Inf from extreme but finite input", {
  x <- c(1, -2, 0.5, 3, 3, -1)
  y <- c(0.25, 1, 1, -4)
  for (scale in c(1e-320, 1e-300, 1e-160, 1e-8, 1, 1e8, 1e100, 1e145)) {
    for (gamma in c(0, 1e-3 * scale^2, scale^2, 1e3 * scale^2)) {
      gamma <- if (gamma < .Machine$double.xmin) 0 else gamma
      expect_true(finite_answers(scale * x, scale * y, gamma))
    }
  }
  for (gamma in c(1e-290, 1e-15, 1e300)) {
    expect_true(finite_answers(x, y, gamma))
    expect_true(finite_answers(x, x, gamma))
    expect_true(finite_answers(0 * x, 0 * y, gamma))
  }
})

test_that("any finite input at any gamma gives finite answers or a range error", {
  one <- function(p, cost) {
    scale <- 10^stats::runif(1L, -300, 155)
    gamma <- 10^stats::runif(1L, -300, 300)
    ok <- tryCatch(
      finite_answers(scale * p$x, p$y * scale, gamma, cost = cost, window = p$window),
      softdtw_error_range = function(e) TRUE
    )
    c(finite = 2 * !ok)
  }
  expect_right(worst_of(122, 200, one, most = 6L))
})

test_that("costs of 1e16 keep the small differences between them", {
  x <- 1e8 * c(1, -1, 1, -1)
  y <- c(1, 0.5, -0.5)
  want <- ref_full(x, y, 1)
  expect_relative(softdtw(x, y, gamma = 1), want$value, 1e-15)
  expect_relative(softdtw(x + 1, x, gamma = 1), ref_value(x + 1, x, 1), 1e-15)
})

test_that("values near the smallest double keep their scale", {
  x <- 2^-500 * c(1, 3, 2, 5)
  y <- 2^-500 * c(2, 2, 4)
  gamma <- 2^-1000
  want <- ref_full(2^500 * x, 2^500 * y, 1)
  got <- softdtw_grad(x, y, gamma = gamma)
  expect_relative(got$value * 2^1000, want$value, 1e-14)
  expect_relative(got$grad_x * 2^500, want$grad_x, 1e-13)
  # costs below the smallest double are 0, all paths equal
  tiny <- 2^-1070 * c(1, 0, 1)
  expect_relative(softdtw(tiny, -tiny, gamma = 1), -log(delannoy(3, 3)), 1e-14)
})

test_that("constant and tied series count paths", {
  for (n in c(1, 2, 5, 9, 40)) {
    expect_within(
      softdtw(rep(0.3, n), rep(0.3, 7), gamma = 2), -2 * log(delannoy(n, 7)), 1e-13 * (n + 7)
    )
  }
  tied <- shares_of(rep(c(0, 1), 6), rep(c(1, 0), 5), gamma = 1e-3)
  expect_within(tied, ref_full(rep(c(0, 1), 6), rep(c(1, 0), 5), 1e-3)$E, 1e-10)
})
