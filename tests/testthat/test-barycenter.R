some_bumps <- function() {
  bump <- function(at, n) exp(-((seq_len(n) - at) / 3)^2)
  list(early = bump(6, 20), middle = bump(10, 22), late = bump(15, 25))
}

objective_of <- function(z, x, w = 1, ...) sum(w * softdtw(x, z, ...))

test_that("the objective is the plain sum of values at the barycenter, below the start's", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0.1)
  expect_s3_class(b, "softdtw_barycenter")
  expect_relative(b$objective, objective_of(as.matrix(b), x, gamma = 0.1), 1e-12)
  expect_true(all(diff(b$trace) < 0))
  expect_identical(b$trace[length(b$trace)], b$objective)
  expect_true(b$converged)
})

test_that("the gradient vanishes at the barycenter", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0.1, tol = 1e-14)
  g <- softdtw_grad(x, as.matrix(b), gamma = 0.1)
  expect_within(Reduce(`+`, g$grad_y), 0 * as.matrix(b), 1e-3)
})

test_that("any length can be asked for; the default is the rounded median", {
  x <- some_bumps()
  expect_length(softdtw_barycenter(x)$series, 22)
  expect_length(softdtw_barycenter(x, length = 7)$series, 7)
  expect_length(softdtw_barycenter(x, length = 40)$series, 40)
  expect_length(softdtw_barycenter(x[1:2])$series, 21)
  expect_length(softdtw_barycenter(x, init = 1:9)$series, 9)
})

test_that("starts: resampled mean, medoid, one given series", {
  x <- some_bumps()
  start <- function(...) softdtw_barycenter(x, gamma = 0.1, ...)$trace[1]
  resampled <- rowMeans(vapply(x, \(s) stats::approx(seq_along(s), s, n = 22)$y, double(22)))
  expect_relative(start(init = "mean"), objective_of(resampled, x, gamma = 0.1), 1e-12)
  total <- vapply(x, \(s) objective_of(s, x, gamma = 0.1), 0)
  middle <- x[[which.min(total)]]
  expect_relative(start(init = "medoid", length = length(middle)), min(total), 1e-12)
  given <- cos(1:12)
  expect_relative(start(init = given), objective_of(given, x, gamma = 0.1), 1e-12)
})

test_that("all kinds of start, methods, costs and types end below the start", {
  x <- lapply(some_bumps(), \(s) cbind(s + 1, rev(s) + 2))
  for (cost in ref_costs) {
    for (type in c("softdtw", "divergence")) {
      for (method in c("lbfgs", "adam")) {
        b <- softdtw_barycenter(
          x, gamma = 0.1, cost = cost, type = type, method = method, length = 12, maxit = 30
        )
        want <- sum(softdtw(x, as.matrix(b), gamma = 0.1, cost = cost, type = type))
        expect_relative(b$objective, want, 1e-10)
        expect_true(b$objective <= b$trace[1] && all(is.finite(as.matrix(b))))
      }
    }
  }
})

test_that("weights are used as given, not normalised; a weight of 0 is no series", {
  x <- some_bumps()
  w <- c(2, 1, 4)
  b <- softdtw_barycenter(x, gamma = 0.1, weights = w, init = x[[2]])
  expect_relative(b$objective, objective_of(as.matrix(b), x, w, gamma = 0.1), 1e-12)
  double <- softdtw_barycenter(x, gamma = 0.1, weights = 2 * w, init = x[[2]])
  expect_relative(double$objective, 2 * b$objective, 1e-6)
  none <- softdtw_barycenter(x, gamma = 0.1, weights = c(2, 0, 4), init = x[[2]])
  gone <- softdtw_barycenter(x[-2], gamma = 0.1, weights = c(2, 4), init = x[[2]])
  expect_identical(none$series, gone$series)
  expect_identical(none$objective, gone$objective)
})

test_that("whole weights are the same as repeated series", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0.1, weights = c(1, 2, 1), init = x[[1]], tol = 1e-13)
  r <- softdtw_barycenter(x[c(1, 2, 2, 3)], gamma = 0.1, init = x[[1]], tol = 1e-13)
  expect_relative(b$objective, r$objective, 1e-5)
})

test_that("a barycenter of one step has a closed form: all values' mean", {
  x <- list(c(1, 2, 3), c(4, 8), 6)
  b <- softdtw_barycenter(x, gamma = 1, length = 1)
  expect_within(b$series, mean(unlist(x)), 1e-6)
  expect_relative(b$objective, sum((unlist(x) - mean(unlist(x)))^2), 1e-9)
  w <- c(2, 1, 5)
  values <- rep(w, lengths(x))
  b <- softdtw_barycenter(x, weights = w, length = 1)
  expect_within(b$series, sum(values * unlist(x)) / sum(values), 1e-6)
})

test_that("copies of one series at tiny gamma and at gamma = 0 give it back", {
  x <- c(0, 3, 1, 4, 2)
  for (gamma in c(0, 1e-8)) {
    b <- softdtw_barycenter(rep(list(x), 3), gamma = gamma, init = x)
    expect_within(b$series, x, 1e-6)
    expect_within(b$objective, 0, 1e-6)
  }
})

test_that("with the divergence copies give the series back at any gamma, objective 0", {
  x <- c(0, 3, 1, 4, 2)
  b <- softdtw_barycenter(rep(list(x), 3), gamma = 10, type = "divergence", init = x)
  expect_within(b$objective, 0, 1e-9)
  expect_within(b$series, x, 1e-4)
  # the raw objective is biased at the same gamma
  raw <- softdtw_barycenter(rep(list(x), 3), gamma = 10, init = x)
  expect_gt(max(abs(raw$series - x)), 0.1)
})

test_that("the divergence's objective includes the centroid's own term", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0.5, type = "divergence")
  expect_relative(b$objective, sum(softdtw(x, b$series, gamma = 0.5, type = "divergence")), 1e-9)
})

test_that("the gradient of the divergence's objective vanishes at its barycenter", {
  x <- some_bumps()
  w <- c(1, 2, 0.5)
  b <- softdtw_barycenter(x, gamma = 0.1, weights = w, type = "divergence", tol = 1e-14)
  g <- softdtw_grad(x, b$series, gamma = 0.1, type = "divergence")
  expect_within(Reduce(`+`, Map(`*`, w, g$grad_y)), 0 * b$series, 2e-3)
})

test_that("a barycenter of ts, zoo and xts with a common index has their class and index", {
  x <- lapply(1:3, \(k) stats::ts(sin(1:12 / k), start = c(2001, 3), frequency = 12))
  b <- softdtw_barycenter(x, gamma = 0.1)
  expect_s3_class(b$series, "ts")
  expect_identical(stats::tsp(b$series), stats::tsp(x[[1]]))
  expect_false(stats::is.ts(softdtw_barycenter(x, gamma = 0.1, length = 5)$series))
  x[[2]] <- stats::ts(x[[2]], start = 1990)
  expect_false(stats::is.ts(softdtw_barycenter(x, gamma = 0.1)$series))
  skip_if_not_installed("zoo")
  z <- lapply(1:3, \(k) zoo::zoo(sin(1:6 / k), as.Date("2020-01-01") + c(0, 1, 4, 6, 7, 9)))
  b <- softdtw_barycenter(z, gamma = 0.1)
  expect_identical(zoo::index(b$series), zoo::index(z[[1]]))
  skip_if_not_installed("xts")
  w <- lapply(z, xts::as.xts)
  b <- softdtw_barycenter(w, gamma = 0.1)
  expect_s3_class(b$series, "xts")
})

test_that("column names and shapes are kept", {
  x <- lapply(1:3, \(k) cbind(u = sin(1:9 / k), v = cos(1:9 / k)))
  b <- softdtw_barycenter(x, gamma = 0.1)
  expect_identical(dimnames(b$series), list(NULL, c("u", "v")))
  expect_identical(dim(as.matrix(b)), c(9L, 2L))
  expect_null(dim(softdtw_barycenter(some_bumps())$series))
  expect_identical(dim(as.matrix(softdtw_barycenter(some_bumps()))), c(22L, 1L))
})

test_that("the spread is the root of the mean squared distance along the alignment", {
  x <- some_bumps()
  w <- c(1, 2, 3)
  b <- softdtw_barycenter(x, gamma = 0.3, weights = w, length = 10)
  z <- b$series
  parts <- Map(\(s, k) {
    shares <- ref_full(z, s, 0.3)$E
    cbind(k * rowSums(shares), k * rowSums(shares * outer(z, s, `-`)^2))
  }, x, w)
  total <- Reduce(`+`, parts)
  expect_within(b$spread, sqrt(total[, 2] / total[, 1]), 1e-9)
  expect_true(all(b$spread >= 0))
  copies <- softdtw_barycenter(rep(list(1:5), 2), gamma = 0, init = 1:5)
  expect_within(copies$spread, rep(0, 5), 1e-12)
})

test_that("gamma = 0 with squared cost: every step is the mean of what is aligned to it", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0)
  z <- b$series
  shares <- lapply(x, \(s) shares_of(z, s, gamma = 0))
  mean <- Reduce(`+`, Map(\(e, s) e %*% s, shares, x)) / Reduce(`+`, lapply(shares, rowSums))
  expect_within(z, mean, 1e-6)
})

test_that("a window is kept to", {
  x <- some_bumps()
  b <- softdtw_barycenter(x, gamma = 0.1, window = 2)
  expect_relative(b$objective, objective_of(b$series, x, gamma = 0.1, window = 2), 1e-12)
})

test_that("na = \"omit\" and \"interpolate\" reach the barycenter", {
  x <- list(c(1, NA, 3), c(1, 2, 3), c(2, 2, 4))
  omit <- softdtw_barycenter(x, na = "omit", length = 3)
  want <- softdtw_barycenter(list(c(1, 3), x[[2]], x[[3]]), length = 3)
  expect_identical(omit$objective, want$objective)
  fill <- softdtw_barycenter(x, na = "interpolate")
  expect_identical(fill$objective, softdtw_barycenter(list(1:3, x[[2]], x[[3]]))$objective)
})

test_that("offsets and scales of the data do not spoil the descent", {
  x <- some_bumps()
  base <- softdtw_barycenter(x, gamma = 0.1, length = 20)
  moved <- softdtw_barycenter(lapply(x, `+`, 1e6), gamma = 0.1, length = 20)
  expect_relative(moved$objective, base$objective, 1e-4)
  for (scale in c(1e-6, 1e6)) {
    b <- softdtw_barycenter(lapply(x, `*`, scale), gamma = 0.1 * scale^2, length = 20)
    expect_relative(b$objective / scale^2, base$objective, 1e-4)
  }
})

test_that("one series, one step, constant series are fine", {
  expect_within(softdtw_barycenter(list(5), gamma = 1)$series, 5, 1e-8)
  expect_within(softdtw_barycenter(list(c(2, 2, 2), c(2, 2)), gamma = 1)$series, c(2, 2), 1e-6)
  expect_length(softdtw_barycenter(1:6)$series, 6)
})

test_that("the random numbers are left alone", {
  with_seed(31, {
    before <- .Random.seed
    softdtw_barycenter(some_bumps(), method = "adam", maxit = 5)
    expect_identical(.Random.seed, before)
  })
})

test_that("a descent cut short says so", {
  b <- softdtw_barycenter(some_bumps(), gamma = 0.1, maxit = 1)
  expect_false(b$converged)
  b <- softdtw_barycenter(some_bumps(), gamma = 0.1, method = "adam", maxit = 2)
  expect_false(b$converged)
  expect_true(b$objective <= b$trace[1])
})

test_that("wrong weights, starts and lengths are errors", {
  x <- list(a = 1:3, b = 2:5)
  expect_error_snapshot({
    softdtw_barycenter(x, weights = 1)
    softdtw_barycenter(x, weights = c(1, -1))
    softdtw_barycenter(x, weights = c(1, NA))
    softdtw_barycenter(x, weights = c(0, 0))
    softdtw_barycenter(x, weights = c("1", "2"))
    softdtw_barycenter(x, init = cbind(1:3, 1:3))
    softdtw_barycenter(x, init = list(1:3, 1:3))
    softdtw_barycenter(x, init = c(1, NA))
    softdtw_barycenter(x, init = numeric())
    softdtw_barycenter(x, init = "best")
    softdtw_barycenter(x, length = 0)
    softdtw_barycenter(x, length = 2.5)
    softdtw_barycenter(x, init = 1:3, length = 4)
    softdtw_barycenter(x, method = "newton")
    softdtw_barycenter(x, window = 0)
    softdtw_barycenter(list())
    softdtw_barycenter(list(1:3, c(1, Inf)))
    softdtw_barycenter(x, tol = -1)
    softdtw_barycenter(x, control = list(pace = 1))
  })
})

test_that("as.data.frame has a row a step and dimension, with the spread", {
  x <- lapply(1:3, \(k) cbind(u = sin(1:9 / k), v = cos(1:9 / k)))
  d <- as.data.frame(softdtw_barycenter(x, gamma = 0.1))
  expect_s3_class(d, "data.frame")
  expect_identical(nrow(d), 18L)
  expect_true(all(c("time", "dimension", "value", "spread") %in% names(d)))
})

test_that("print and summary", {
  x <- list(a = c(1, 2), b = c(1, 2))
  b <- softdtw_barycenter(x, gamma = 0, init = c(1, 2))
  expect_snapshot(print(b))
  expect_output(print(summary(b)), "farthest")
})

test_that("plots draw without warnings and leave par() as it was", {
  b <- softdtw_barycenter(some_bumps(), gamma = 0.1)
  expect_true(draws_quietly(\() plot(b)))
  expect_true(draws_quietly(\() plot(b, what = "trace")))
  expect_true(draws_quietly(\() plot(b, members = FALSE, band = FALSE, main = "one")))
  two <- softdtw_barycenter(lapply(1:3, \(k) cbind(u = sin(1:9 / k), v = cos(1:9 / k))))
  expect_true(draws_quietly(\() plot(two)))
  expect_true(draws_quietly(\() plot(two, dims = "v")))
  expect_true(draws_quietly(\() plot(softdtw_barycenter(list(1, 2)))))
  series <- lapply(1:3, \(k) stats::ts(sin(1:12 / k), start = c(2001, 3), frequency = 12))
  expect_true(draws_quietly(\() plot(softdtw_barycenter(series))))
})
