# What the plots share. That they are legible is for eyes, not for tests.

test_that("dimensions can be chosen by number or name, and wrong ones are errors", {
  b <- softdtw_barycenter(lapply(1:3, \(k) cbind(u = sin(1:9 / k), v = cos(1:9 / k))), maxit = 3)
  expect_true(draws_quietly(\() plot(b, dims = 2)))
  expect_true(draws_quietly(\() plot(b, dims = c("v", "u"))))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_error(plot(b, dims = "w"), class = "softdtw_error_argument")
  expect_error(plot(b, dims = 0), class = "softdtw_error_argument")
  expect_error(plot(b, what = "pie"), class = "softdtw_error_argument")
})

test_that("many series, many dimensions and many clusters draw", {
  x <- with_seed(99, random_set(rep(5, 300)))
  expect_true(draws_quietly(\() plot(as_series(x))))
  fit <- with_seed(100, softdtw_kmeans(x, 9, iter.max = 2))
  expect_true(draws_quietly(\() plot(fit)))
  wide <- as_series(lapply(1:3, \(k) matrix(sin(seq_len(60) * k), 10)))
  expect_true(draws_quietly(\() plot(wide)))
})

test_that("a second plot on the same device starts afresh", {
  b <- softdtw_barycenter(list(1:5, 2:7), maxit = 3)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(b)
  graphics::plot(1:3)
  expect_identical(graphics::par("mfrow"), c(1L, 1L))
})
