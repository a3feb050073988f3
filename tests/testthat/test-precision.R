# Single precision on the processor, held against double. Rounding errors are those of double times
# 2^29; what single precision cannot tell apart is not compared.

single_error <- function(double_error) min(2^29 * double_error, 700)

single_excess <- function(p, cost) {
  go <- function(f, ..., precision = "single") {
    f(..., gamma = p$gamma, cost = cost, window = p$window, precision = precision, backend = "cpu")
  }
  want <- go(softdtw_grad, p$x, p$y, precision = "double")
  got <- go(softdtw_grad, p$x, p$y)
  shares <- unname(as.matrix(go(softdtw_alignment, p$x, p$y, precision = "double")))
  error <- expm1(single_error(exponent_error(shares, want$value, p$gamma, cost) / 16))
  tol <- if (error > 1) Inf * (1 + shares) else 1e-5 + shares * error
  slope <- largest_slope(p$x, p$y, cost)
  close <- value_tolerance(want$value, p$gamma, p$n, p$m, cost, factor = 1e-5)
  c(
    value = excess(go(softdtw, p$x, p$y), want$value, close),
    value_of_grad = excess(got$value, want$value, close),
    E = excess(unname(as.matrix(go(softdtw_alignment, p$x, p$y))), shares, tol),
    grad_x = excess(got$grad_x, want$grad_x, slope * (rep(rowSums(tol), p$d) + 1e-5)),
    grad_y = excess(got$grad_y, want$grad_y, slope * (rep(colSums(tol), p$d) + 1e-5))
  )
}

test_that("single precision comes close to double over random shapes", {
  expect_right(worst_of(201, 160, single_excess))
})

test_that("many dimensions, in single precision too", {
  one <- function(p, cost) {
    p$d <- sample(c(4L, 7L, 16L, 33L), 1L)
    p$x <- random_series(p$n, p$d)
    p$y <- random_series(p$m, p$d, 1)
    single_excess(p, cost)
  }
  expect_right(worst_of(202, 80, one))
})

test_that("hard DTW in single precision is within a rounding of every step", {
  one <- function(p, cost) {
    p$gamma <- 0
    go <- function(...) {
      softdtw(p$x, p$y, gamma = 0, cost = cost, window = p$window, backend = "cpu", ...)
    }
    want <- go()
    c(value = excess(go(precision = "single"), want, value_tolerance(want, 0, p$n, p$m, cost, 1e-5)))
  }
  expect_right(worst_of(203, 80, one))
})

test_that("single precision reaches every function", {
  x <- with_seed(204, random_set(c(20, 30, 25, 22), 2))
  both <- function(f, ..., tolerance = 1e-4) {
    go <- function(precision) f(..., backend = "cpu", precision = precision)
    expect_equal(go("single"), go("double"), tolerance = tolerance, ignore_attr = "call")
    expect_false(identical(go("single"), go("double")))
  }
  both(softdtw_matrix, x)
  both(softdtw_matrix, x, x[1:2], type = "divergence")
  both(softdtw_dist, x)
  both(softdtw_loss, array(sin(1:120), c(3, 20, 2)), array(cos(1:150), c(3, 25, 2)))
  both(softdtw_cost, outer(sin(1:9), cos(1:7), "-")^2, gamma = 0.5)
  nearest <- softdtw_knn(x, k = 2, backend = "cpu", precision = "single")
  expect_equal(nearest, softdtw_knn(x, k = 2, backend = "cpu"), tolerance = 1e-4, ignore_attr = "call")
  mean_of <- function(precision) softdtw_barycenter(x, precision = precision, backend = "cpu")
  expect_equal(mean_of("single")$objective, mean_of("double")$objective, tolerance = 1e-4)
})

test_that("what is asked of a fit is answered in its precision, unless another is asked for", {
  x <- with_seed(207, random_set(c(20, 30, 25, 22, 27), 2))
  for (precision in c("single", "double")) {
    other <- setdiff(c("single", "double"), precision)
    kmeans <- with_seed(208, softdtw_kmeans(x, 2, precision = precision))
    centroids <- softdtw_centroids(x, c(1, 1, 2, 2, 2), precision = precision)
    mean <- softdtw_barycenter(x, precision = precision)
    expect_identical(c(kmeans$precision, centroids$precision, mean$precision), rep(precision, 3))
    for (fit in list(kmeans, centroids)) {
      values <- function(...) unname(predict(fit, type = "distance", ...))
      want <- function(p) unname(softdtw_matrix(x, fit$centers, precision = p))
      expect_equal(values(), want(precision), tolerance = 1e-12)
      expect_equal(values(precision = other), want(other), tolerance = 1e-12)
      expect_false(identical(values(), values(precision = other)))
    }
    expect_identical(unname(predict(kmeans)), unname(kmeans$cluster))
    expect_equal(sum(summary(mean)$values), mean$objective, tolerance = 1e-6)
    expect_identical(any(grepl("single precision", capture.output(print(mean)))), precision == "single")
  }
})

test_that("in single precision too a divergence with itself is exactly 0 and swapping keeps bits", {
  x <- with_seed(205, random_set(c(20, 1, 41, 64), 5, 1e6))
  go <- function(...) softdtw(..., precision = "single", backend = "cpu", gamma = 1e-4)
  expect_identical(go(x, x, type = "divergence"), rep(0, 4))
  expect_identical(go(x, rev(x)), go(rev(x), x))
})

# As everything does, these run on the backend that the suite is run with.
at_scale <- function(scale, power, gamma, cost, precision) {
  x <- with_seed(206, random_set(c(20, 31, 44), 2))
  x <- lapply(x, `*`, scale)
  go <- function(f, ...) f(..., gamma = gamma * scale^power, cost = cost, precision = precision)
  grad <- go(softdtw_grad, x[[1]], x[[2]])
  list(
    value = go(softdtw, x, rev(x)) / scale^power,
    grad = lapply(grad[c("grad_x", "grad_y")], `/`, scale^(power - 1)),
    E = as.matrix(go(softdtw_alignment, x[[1]], x[[2]])),
    matrix = go(softdtw_matrix, x) / scale^power,
    mean = go(softdtw_barycenter, x, maxit = 2)$objective / scale^power
  )
}

test_that("single precision works at any scale that double does", {
  powers <- c(sqeuclidean = 2, euclidean = 1, manhattan = 1)
  for (cost in names(powers)) {
    for (scale in 2^c(-200, 80, 400)) {
      for (gamma in c(0, 0.3)) {
        expect_equal(
          at_scale(scale, powers[[cost]], gamma, cost, "single"),
          at_scale(1, powers[[cost]], gamma, cost, "double"),
          tolerance = 1e-4
        )
      }
    }
  }
})

test_that("costs as given may have any scale in single precision", {
  D <- outer(sin(1:9), cos(1:7), "-")^2 - 0.2
  for (gamma in c(0, 0.3)) {
    want <- softdtw_cost(D, gamma = gamma)
    for (scale in 2^c(-900, -200, 0, 120, 200, 900)) {
      got <- softdtw_cost(D * scale, gamma = gamma * scale, precision = "single")
      expect_equal(got$value / scale, want$value, tolerance = 1e-5)
      expect_equal(as.matrix(got), as.matrix(want), tolerance = 1e-5)
      expect_identical(got$gamma, gamma * scale)
    }
  }
  # where the smoothing is all that counts
  flat <- softdtw_cost(D * 2^-1000, gamma = 2^1000, precision = "single")
  expect_equal(flat$value, softdtw_cost(D * 0, gamma = 2^1000)$value, tolerance = 1e-5)
  expect_identical(softdtw_cost(D * 0, gamma = 0, precision = "single")$value, 0)
})

test_that("what single precision cannot hold in units of gamma is an error", {
  go <- function(x, y, gamma) softdtw(x, y, gamma = gamma, precision = "single")
  e <- expect_error(go(c(0, 1e25), c(3, 4), 1), class = "softdtw_error_range")
  expect_true(is.finite(go(c(0, 1e25), c(3, 4), e$smallest)))
  expect_true(is.finite(go(c(0, 1e12), c(3, 4), 1)))
  # the smallest gamma of points that are just not taken in a unit of their own
  x <- c(0, 2^-15.9)
  e <- expect_error(go(x, x, 2^-129), class = "softdtw_error_range")
  expect_identical(go(x, x, e$smallest), softdtw(x, x, gamma = e$smallest))
})
