two_classes <- function() {
  bump <- function(at, sign) sign * exp(-((1:24 - at) / 3)^2)
  list(
    x = c(
      lapply(c(a = 6, b = 9, c = 12), bump, sign = 1), lapply(c(d = 8, e = 11), bump, sign = -1)
    ),
    labels = c("up", "up", "up", "down", "down"),
    new = list(p = bump(10, 1), q = bump(14, -1)[1:20])
  )
}

test_that("each center is the barycenter of its class", {
  k <- two_classes()
  fit <- softdtw_centroids(k$x, k$labels, gamma = 0.05)
  expect_s3_class(fit, "softdtw_centroids")
  expect_named(fit$centers, c("down", "up"))
  expect_identical(fit$centers$up, softdtw_barycenter(k$x[1:3], gamma = 0.05)$series)
  expect_identical(fit$centers$down, softdtw_barycenter(k$x[4:5], gamma = 0.05)$series)
})

test_that("predict gives the class of the nearest center", {
  k <- two_classes()
  fit <- softdtw_centroids(k$x, k$labels, gamma = 0.05)
  expect_identical(unname(predict(fit, k$new)), c("up", "down"))
  expect_identical(unname(predict(fit, k$x)), k$labels)
  values <- predict(fit, k$new, type = "distance")
  expect_identical(unname(values), unname(softdtw_matrix(k$new, fit$centers, gamma = 0.05)))
  expect_identical(dimnames(values), list(c("p", "q"), c("down", "up")))
  expect_length(predict(fit, k$new[1]), 1L)
  expect_identical(unname(predict(fit, k$new[["p"]])), "up")
})

test_that("labels keep their type", {
  k <- two_classes()
  go <- function(labels) unname(predict(softdtw_centroids(k$x, labels, gamma = 0.05), k$new))
  expect_identical(go(c(2, 2, 2, 7, 7)), c(2, 7))
  expect_identical(go(c(2L, 2L, 2L, 7L, 7L)), c(2L, 7L))
  expect_identical(go(c(TRUE, TRUE, TRUE, FALSE, FALSE)), c(TRUE, FALSE))
  f <- factor(k$labels, levels = c("up", "down", "sideways"))
  expect_identical(go(f), factor(c("up", "down"), levels = levels(f)))
  fit <- softdtw_centroids(k$x, f, gamma = 0.05)
  expect_named(fit$centers, c("up", "down"))
})

test_that("a class of one, one class, each series its own class", {
  k <- two_classes()
  four <- softdtw_centroids(k$x[1:4], k$labels[1:4])
  expect_identical(unname(predict(four, k$new)), c("up", "down"))
  expect_identical(unname(predict(softdtw_centroids(k$x, rep(1, 5)), k$new)), c(1, 1))
  own <- softdtw_centroids(k$x, letters[1:5], gamma = 1e-3)
  expect_identical(unname(predict(own, k$x)), letters[1:5])
})

test_that("weights, length, type, cost and window reach every class", {
  k <- two_classes()
  w <- c(1, 2, 0, 1, 3)
  fit <- softdtw_centroids(
    k$x, k$labels, gamma = 0.1, weights = w, length = 15, type = "divergence",
    cost = "manhattan", window = 5
  )
  b <- softdtw_barycenter(
    k$x[1:3], gamma = 0.1, weights = w[1:3], length = 15, type = "divergence",
    cost = "manhattan", window = 5
  )
  expect_identical(fit$centers$up, b$series)
  values <- predict(fit, k$new, type = "distance")
  want <- softdtw_matrix(
    k$new, fit$centers, gamma = 0.1, type = "divergence", cost = "manhattan", window = 5
  )
  expect_identical(unname(values), unname(want))
})

test_that("wrong labels and weights are errors", {
  k <- two_classes()
  expect_error_snapshot({
    softdtw_centroids(k$x)
    softdtw_centroids(k$x, 1:4)
    softdtw_centroids(k$x, c(1, 1, 1, NA, 2))
    softdtw_centroids(k$x, as.list(1:5))
    softdtw_centroids(k$x, k$labels, weights = 1)
    softdtw_centroids(k$x, k$labels, weights = c(1, 1, 1, 0, 0))
    softdtw_centroids(list(1:3, c(1, NA)), 1:2)
  })
  fit <- softdtw_centroids(k$x, k$labels)
  expect_error(predict(fit, list(cbind(1:3, 1:3))), class = "softdtw_error_dimension")
  expect_error(predict(fit, k$new, type = "probability"), class = "softdtw_error_argument")
})

test_that("print and summary", {
  fit <- softdtw_centroids(list(0, 0, 9), c("a", "a", "b"), gamma = 0)
  expect_snapshot(print(fit))
  expect_output(print(summary(fit)), "predicted")
})

test_that("plots draw without warnings and leave par() as it was", {
  k <- two_classes()
  fit <- softdtw_centroids(k$x, k$labels, gamma = 0.05)
  expect_true(draws_quietly(\() plot(fit)))
  wide <- softdtw_centroids(lapply(k$x, \(s) cbind(u = s, v = s)), k$labels)
  expect_true(draws_quietly(\() plot(wide)))
})
