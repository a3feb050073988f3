test_that("gamma is a positive number that follows the scale of the cost", {
  x <- with_seed(71, random_set(c(12, 30, 7), 2, 5))
  for (cost in ref_costs) {
    g <- softdtw_gamma(x, cost = cost)
    expect_true(is.finite(g) && g > 0)
    power <- switch(cost, sqeuclidean = 2, cosine = 0, 1)
    expect_relative(softdtw_gamma(lapply(x, `*`, 8), cost = cost), 8^power * g, 1e-12)
  }
})

test_that("an offset does not matter but for the cosine", {
  x <- with_seed(72, lapply(c(20, 30), lattice_series))
  expect_identical(softdtw_gamma(lapply(x, `+`, 2^20)), softdtw_gamma(x))
})

test_that("no random numbers are drawn, and the answer is the same every time", {
  x <- with_seed(73, random_set(rep(50, 60)))
  with_seed(74, {
    before <- .Random.seed
    g <- softdtw_gamma(x)
    expect_identical(.Random.seed, before)
    expect_identical(softdtw_gamma(x), g)
  })
})

test_that("gamma works at once with the data it is from, at any scale", {
  for (scale in c(1e-150, 1e-8, 1, 1e8, 1e140)) {
    x <- list(scale * c(1, 3, 2), scale * c(2, 5))
    expect_true(is.finite(softdtw(x[[1]], x[[2]], gamma = softdtw_gamma(x))))
  }
})

test_that("constant data and one point give a gamma that works too", {
  for (x in list(list(5), list(rep(2, 9), 2), list(1, 1, 1))) {
    g <- softdtw_gamma(x)
    expect_true(is.finite(g) && g > 0)
  }
  # more than half of the pairs equal: not 0
  expect_gt(softdtw_gamma(list(c(rep(0, 50), 1, 2))), 0)
})

test_that("forms are read as sets, and errors are the common ones", {
  m <- rbind(c(1, 2, 3), c(2, 5, NA))
  expect_identical(softdtw_gamma(m), softdtw_gamma(list(1:3, c(2, 5))))
  expect_error(softdtw_gamma(list(c(1, NA))), class = "softdtw_error_missing")
  expect_error(softdtw_gamma(list()), class = "softdtw_error_empty")
  expect_error(softdtw_gamma(list(c(1, 0)), cost = "cosine"), class = "softdtw_error_zero_vector")
  expect_error(softdtw_gamma(list(1), cost = "cubic"), class = "softdtw_error_argument")
})
