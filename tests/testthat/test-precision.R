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
  expect_equal(mean_of("single")$value, mean_of("double")$value, tolerance = 1e-4)
})

test_that("in single precision too a divergence with itself is exactly 0 and swapping keeps bits", {
  x <- with_seed(205, random_set(c(20, 1, 41, 64), 5, 1e6))
  go <- function(...) softdtw(..., precision = "single", backend = "cpu", gamma = 1e-4)
  expect_identical(go(x, x, type = "divergence"), rep(0, 4))
  expect_identical(go(x, rev(x)), go(rev(x), x))
})

test_that("costs beyond the range of single precision are an error", {
  go <- function(x, y) softdtw(x, y, precision = "single", backend = "cpu")
  expect_error(go(c(0, 1e25), c(3, 4)), class = "softdtw_error")
  expect_true(is.finite(go(c(0, 1e12), c(3, 4))))
})
