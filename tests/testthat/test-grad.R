test_that("a pair gives a value and two gradients in the shapes of the series", {
  x <- c(1, 3, 2)
  y <- c(2, 2, 5, 1)
  g <- softdtw_grad(x, y, gamma = 2)
  want <- ref_full(x, y, 2)
  expect_named(g, c("value", "grad_x", "grad_y"))
  expect_identical(g$value, softdtw(x, y, gamma = 2))
  expect_null(dim(g$grad_x))
  expect_within(g$grad_x, want$grad_x, 1e-13)
  expect_within(g$grad_y, want$grad_y, 1e-13)
  m <- softdtw_grad(matrix(x), matrix(y), gamma = 2)
  expect_identical(m$grad_x, matrix(g$grad_x))
})

test_that("gradients keep column names, time index and class", {
  x <- cbind(u = c(1, 2, 4), v = c(0, 1, 0))
  y <- cbind(u = c(2, 2), v = c(1, 1))
  g <- softdtw_grad(x, y)
  expect_identical(dimnames(g$grad_x), list(NULL, c("u", "v")))
  a <- stats::ts(c(1, 3, 2), start = 1990, frequency = 4)
  g <- softdtw_grad(a, c(2, 1))
  expect_identical(stats::tsp(g$grad_x), stats::tsp(a))
  expect_s3_class(g$grad_x, "ts")
  expect_identical(as.double(g$grad_x), softdtw_grad(c(1, 3, 2), c(2, 1))$grad_x)
  skip_if_not_installed("zoo")
  z <- zoo::zoo(c(1, 3, 2), as.Date("2020-01-01") + c(0, 4, 5))
  expect_identical(zoo::index(softdtw_grad(z, c(2, 1))$grad_x), zoo::index(z))
})

test_that("sets give lists, pair by pair, never summed", {
  x <- list(a = c(1, 2), b = c(3, 1, 4))
  y <- c(1, 1)
  g <- softdtw_grad(x, y)
  expect_named(g$value, c("a", "b"))
  expect_named(g$grad_x, c("a", "b"))
  expect_named(g$grad_y, c("a", "b"))
  for (k in 1:2) {
    one <- softdtw_grad(x[[k]], y)
    expect_identical(g$grad_x[[k]], one$grad_x)
    expect_identical(g$grad_y[[k]], one$grad_y)
    expect_identical(g$value[[k]], one$value)
  }
  expect_type(softdtw_grad(x[1], y)$grad_x, "list")
})

test_that("gradients of integers are numbers", {
  g <- softdtw_grad(1:3, c(4L, 2L))
  expect_identical(g, softdtw_grad(c(1, 2, 3), c(4, 2)))
})

test_that("na = \"omit\" gives NA at the steps left out", {
  x <- c(1, NA, 3, 2)
  g <- softdtw_grad(x, c(2, 1), na = "omit")
  expect_identical(is.na(g$grad_x), is.na(x))
  expect_identical(g$grad_x[-2], softdtw_grad(x[-2], c(2, 1))$grad_x)
  m <- cbind(c(1, 2, NA), c(0, NA, 1), c(1, 1, 1))
  g <- softdtw_grad(m, m[1, , drop = FALSE], na = "omit")
  expect_identical(is.na(g$grad_x), matrix(c(FALSE, TRUE, TRUE), 3, 3))
  a <- stats::ts(x, start = 1990)
  expect_identical(stats::tsp(softdtw_grad(a, c(2, 1), na = "omit")$grad_x), stats::tsp(a))
})

test_that("the divergence's gradient takes half of both own gradients off", {
  p <- with_seed(11, list(x = random_series(9, 2), y = random_series(6, 2)))
  g <- softdtw_grad(p$x, p$y, gamma = 0.5, type = "divergence")
  expect_within(g$value, ref_divergence(p$x, p$y, 0.5), 1e-12)
  expect_within(g$grad_x, ref_divergence_grad_x(p$x, p$y, 0.5), 1e-12)
  expect_within(g$grad_y, ref_divergence_grad_x(p$y, p$x, 0.5), 1e-12)
})

test_that("a series against itself: the divergence's gradient is 0 to rounding", {
  x <- with_seed(12, stats::rnorm(20))
  expect_within(softdtw_grad(x, x, gamma = 0.3, type = "divergence")$grad_x, 0 * x, 1e-13)
})

test_that("singular points: coinciding points and sign(0) have gradient 0", {
  x <- c(1, 2, 3)
  for (cost in c("euclidean", "manhattan")) {
    g <- softdtw_grad(2, 2, cost = cost)
    expect_identical(g$grad_x, 0)
    expect_identical(g$grad_y, 0)
    g <- softdtw_grad(x, x, gamma = 0, cost = cost)
    expect_identical(g$grad_x, c(0, 0, 0))
  }
  m <- cbind(c(1, 2), c(1, 2))
  expect_identical(softdtw_grad(m, m, gamma = 0, cost = "euclidean")$grad_x, 0 * m)
})

test_that("each dimension of the Manhattan cost has its own sign", {
  x <- cbind(1, 5, 2)
  y <- cbind(2, 5, 0)
  expect_identical(softdtw_grad(x, y, cost = "manhattan")$grad_x, cbind(-1, 0, 1))
})

test_that("the cosine gradient is orthogonal to the series' points", {
  p <- with_seed(13, list(x = random_series(7, 3), y = random_series(5, 3)))
  g <- softdtw_grad(p$x, p$y, gamma = 0.2, cost = "cosine")
  expect_within(rowSums(g$grad_x * p$x), rep(0, 7), 1e-14)
  want <- ref_full(p$x, p$y, 0.2, "cosine")
  expect_within(g$grad_x, want$grad_x, 1e-12)
  # lengths of the points do not matter for the value and divide the gradient
  h <- softdtw_grad(p$x * 4, p$y, gamma = 0.2, cost = "cosine")
  expect_within(h$grad_x * 4, g$grad_x, 1e-13)
})

test_that("tiny and huge points have a cosine too", {
  x <- cbind(c(3, 1), c(4, 2))
  y <- cbind(c(1, 5), c(1, 0))
  want <- softdtw_grad(x, y, cost = "cosine")
  for (scale in 2^c(-1000, -700, 450)) {
    got <- softdtw_grad(x * scale, y, cost = "cosine")
    expect_within(got$value, want$value, 1e-13)
    expect_within(got$grad_x * scale, want$grad_x, 1e-13)
  }
})

test_that("a long gradient agrees with the alignment and with its own transpose", {
  x <- sin(seq_len(900) / 11)
  y <- cos(seq_len(777) / 5)
  g <- softdtw_grad(x, y, gamma = 0.1)
  shares <- shares_of(x, y, gamma = 0.1)
  expect_within(g$grad_x, ref_grad_x(x, y, shares, "sqeuclidean"), 1e-11)
  expect_within(g$grad_y, ref_grad_x(y, x, t(shares), "sqeuclidean"), 1e-11)
})

test_that("a window cuts the gradient too", {
  x <- sin(seq_len(300) / 11)
  y <- cos(seq_len(250) / 5)
  g <- softdtw_grad(x, y, gamma = 0.1, window = 9)
  shares <- shares_of(x, y, gamma = 0.1, window = 9)
  expect_true(all(shares[!ref_mask(300, 250, 9)] == 0))
  expect_within(g$grad_x, ref_grad_x(x, y, shares, "sqeuclidean"), 1e-12)
})
