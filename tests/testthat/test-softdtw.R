test_that("one pair gives one number", {
  expect_identical(softdtw(c(2, 5, 1), c(4, 5, 1), gamma = 0), 4)
  v <- softdtw(c(2, 5, 1), c(4, 5, 1))
  expect_type(v, "double")
  expect_length(v, 1L)
  expect_null(names(v))
})

test_that("defaults are gamma = 1, squared Euclidean cost, no window, raw values", {
  x <- c(1, 3, 2)
  y <- c(2, 2, 5, 1)
  expect_identical(softdtw(x, y), softdtw(x, y,
    gamma = 1, cost = "sqeuclidean", type = "softdtw", window = NULL, na = "error", threads = NULL
  ))
})

test_that("a bare matrix is one series, time by dimension", {
  x <- cbind(1:4, 4:1)
  y <- cbind(c(1, 2), c(3, 3))
  expect_relative(softdtw(x, y, gamma = 2), ref_value(x, y, 2), 1e-14)
  expect_identical(softdtw(matrix(1:3), 2:3), softdtw(1:3, 2:3))
})

test_that("sets pair one by one, one with many, many with one", {
  x <- list(a = c(1, 2), b = c(3, 1, 4), c = 5)
  y <- list(c(0, 1), c(2, 2), c(4, 1, 1))
  pairwise <- unname(mapply(softdtw, x, y))
  expect_identical(unname(softdtw(x, y)), pairwise)
  expect_identical(unname(softdtw(x, y[[2]])), unname(vapply(x, softdtw, 0, y[[2]])))
  expect_identical(unname(softdtw(y[[2]], x)), unname(vapply(x, softdtw, 0, y[[2]])))
  expect_identical(unname(softdtw(x[1], y)), vapply(y, softdtw, 0, x[[1]]))
  expect_identical(softdtw(as_series(x), as_series(y)), softdtw(x, y))
})

test_that("the pairs keep the names of the set", {
  x <- list(a = c(1, 2), b = c(3, 1, 4))
  expect_identical(names(softdtw(x, c(1, 1))), c("a", "b"))
  expect_identical(names(softdtw(c(1, 1), x)), c("a", "b"))
})

test_that("all accepted forms give the same value", {
  v <- c(2, 5, 1, 3)
  y <- c(4, 5, 1)
  want <- softdtw(v, y)
  forms <- list(
    as.integer(v), matrix(v), stats::ts(v, 1990), stats::ts(matrix(v), 1990),
    c(a = 2, b = 5, c = 1, d = 3)
  )
  for (x in forms) expect_identical(softdtw(x, y), want)
  for (x in list(list(v), array(v, c(1, 4, 1)), as_series(list(v)))) {
    expect_identical(as.double(softdtw(x, y)), want)
  }
  skip_if_not_installed("zoo")
  expect_identical(softdtw(zoo::zoo(v, c(1, 3, 4, 9)), y), want)
  skip_if_not_installed("xts")
  expect_identical(softdtw(xts::xts(v, as.Date("2020-01-01") + 0:3), y), want)
})

test_that("integer series whose squared differences pass 2^31 are exact", {
  expect_identical(softdtw(100000L, -100000L, gamma = 0), 4e10)
  most <- .Machine$integer.max
  expect_identical(softdtw(most, -most, gamma = 0), (2 * 2147483647)^2)
  want <- softdtw(c(0, 5e4), c(0, -5e4), gamma = 0)
  expect_identical(softdtw(c(0L, 50000L), c(0L, -50000L), gamma = 0), want)
})

test_that("the divergence takes both own values off", {
  x <- c(1, 3, 2)
  y <- c(2, 2, 5, 1)
  want <- softdtw(x, y, gamma = 2) - (softdtw(x, x, gamma = 2) + softdtw(y, y, gamma = 2)) / 2
  expect_identical(softdtw(x, y, gamma = 2, type = "divergence"), want)
  expect_identical(softdtw(list(x, y), list(x, y), type = "divergence"), c(0, 0))
  expect_identical(
    softdtw(list(x, y, x), y, type = "divergence")[c(2, 1)],
    c(0, softdtw(x, y, type = "divergence"))
  )
  expect_identical(softdtw(1:3, 2:4, gamma = 0, type = "divergence"), softdtw(1:3, 2:4, gamma = 0))
})

test_that("equal values in another form have divergence 0", {
  x <- with_seed(5, stats::rnorm(30, 1e5))
  expect_identical(softdtw(x, stats::ts(x), type = "divergence"), 0)
  expect_identical(softdtw(x, matrix(x), gamma = 1e-6, type = "divergence"), 0)
  expect_identical(softdtw(1:9, as.double(1:9), cost = "manhattan", type = "divergence"), 0)
})

test_that("`na` applies before the comparison", {
  x <- c(1, NA, 3)
  expect_identical(softdtw(x, 1:3, na = "omit"), softdtw(c(1, 3), 1:3))
  expect_identical(softdtw(x, 1:3, na = "interpolate"), softdtw(1:3, 1:3))
  expect_error(softdtw(x, 1:3), class = "softdtw_error_missing")
})

test_that("soft-DTW of a series with itself is below 0, hard DTW is 0", {
  x <- c(1, 2, 4, 2)
  expect_lt(softdtw(x, x), 0)
  expect_identical(softdtw(x, x, gamma = 0), 0)
})

test_that("the cosine cost is half the squared distance of directions, never negative", {
  x <- rbind(c(1, 0), c(1e100, 1e100))
  v <- softdtw(x[1, , drop = FALSE], x[2, , drop = FALSE], gamma = 0, cost = "cosine")
  expect_within(v, 1 - sqrt(0.5), 1e-15)
  expect_identical(softdtw(c(1, 2), c(5, 7), gamma = 0, cost = "cosine"), 0)
  expect_within(softdtw(1, -3, gamma = 0, cost = "cosine"), 2, 1e-15)
  y <- with_seed(6, random_series(30, 3))
  expect_gte(softdtw(y, 7.3 * y, gamma = 0, cost = "cosine"), 0)
})

test_that("value-only calls on long series need no n x m memory", {
  skip_unless_long()
  skip_on_os(c("windows", "mac"))
  peak <- function() {
    line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
    as.double(gsub("\\D", "", line)) / 1024
  }
  n <- 46342
  x <- (seq_len(n) * 37) %% 101 / 64
  before <- peak()
  v <- softdtw(x, rev(x))
  expect_true(is.finite(v))
  expect_lt(peak() - before, 200)
})

test_that("a gradient of 20000 x 20000 steps stays below 1 GB", {
  skip_unless_long()
  skip_on_os(c("windows", "mac"))
  peak <- function() {
    line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
    as.double(gsub("\\D", "", line)) / 1024
  }
  x <- (seq_len(20000) * 37) %% 101 / 64
  y <- (seq_len(20000) * 29) %% 97 / 64
  before <- peak()
  g <- softdtw_grad(x, y)
  expect_lt(peak() - before, 1000)
  expect_true(all(is.finite(g$grad_x)))
  expect_within(sum(g$grad_x) + sum(g$grad_y), 0, 1e-7)
})

test_that("the Euclidean cost works wherever the distances are doubles, not only their squares", {
  expect_equal(
    softdtw(c(1e-170, 0), c(0, 1e-170), gamma = 0, cost = "euclidean"), 2e-170,
    tolerance = 1e-14
  )
  x <- c(1, 5, 3)
  y <- c(2, 2, 4, 1)
  plain <- softdtw_grad(x, y, gamma = 0.5, cost = "euclidean")
  for (unit in 2^c(-900, -530, 450, 900)) {
    scaled <- softdtw_grad(x * unit, y * unit, gamma = 0.5 * unit, cost = "euclidean")
    expect_identical(scaled$value, plain$value * unit)
    expect_identical(scaled$grad_x, plain$grad_x)
    expect_identical(scaled$grad_y, plain$grad_y)
  }
})
