# Arguments that all functions share: each wrong value is a classed error that says what is right.

test_that("gamma must be one finite number from 0", {
  expect_error_snapshot({
    softdtw(1:3, 1:3, gamma = -1)
    softdtw(1:3, 1:3, gamma = NA)
    softdtw(1:3, 1:3, gamma = Inf)
    softdtw(1:3, 1:3, gamma = c(1, 2))
    softdtw(1:3, 1:3, gamma = "1")
    softdtw(1:3, 1:3, gamma = NULL)
    softdtw(1:3, 1:3, gamma = .Machine$double.xmin / 4)
  })
})

test_that("every function checks gamma, window, cost and unknown arguments", {
  s <- list(c(1, 2), c(2, 3), c(5, 1))
  calls <- list(
    \(...) softdtw(s[[1]], s[[2]], ...),
    \(...) softdtw_grad(s[[1]], s[[2]], ...),
    \(...) softdtw_alignment(s[[1]], s[[2]], ...),
    \(...) softdtw_matrix(s, ...),
    \(...) softdtw_dist(s, ...),
    \(...) softdtw_knn(s, k = 1, ...),
    \(...) softdtw_loss(1:3, 1:3, ...),
    \(...) softdtw_barycenter(s, ...),
    \(...) softdtw_kmeans(s, 2, ...),
    \(...) softdtw_centroids(s, c("a", "a", "b"), ...)
  )
  for (call in calls) {
    expect_error(call(gamma = -1), class = "softdtw_error_argument")
    expect_error(call(gamma = NULL), class = "softdtw_error_argument")
    expect_error(call(window = -1), class = "softdtw_error_argument")
    expect_error(call(cost = "cubic"), class = "softdtw_error_argument")
    expect_error(call(threads = 0), class = "softdtw_error_argument")
    expect_error(call(nonsense = 1), "nonsense|unused")
  }
  expect_error(softdtw_cost(diag(2), gamma = -1), class = "softdtw_error_argument")
  expect_error(softdtw_cost(diag(2), window = -1), class = "softdtw_error_argument")
})

test_that("cost, type, window, na, threads and progress say what they take", {
  expect_error_snapshot({
    softdtw(1:3, 1:3, cost = "cubic")
    softdtw(1:3, 1:3, cost = diag(3))
    softdtw(1:3, 1:3, type = "sharp")
    softdtw(1:3, 1:3, window = -1)
    softdtw(1:3, 1:3, window = 1.5)
    softdtw(1:3, 1:3, window = NA)
    softdtw(1:3, 1:3, window = "10")
    softdtw(1:3, 1:3, na = "drop")
    softdtw(1:3, 1:3, threads = 0)
    softdtw(1:3, 1:3, threads = 1.5)
    softdtw(1:3, 1:3, progress = NA)
  })
})

test_that("a choice that is not yet served is not offered", {
  for (type in c("sharp", "mean")) {
    expect_error(softdtw_dist(list(1, 2), type = type), class = "softdtw_error_argument")
  }
})

test_that("an unknown instruction set is an error", {
  expect_error(with_isa("sse9", softdtw(1, 2)), class = "softdtw_error_argument")
  expect_error(with_isa(1, softdtw(1, 2)), class = "softdtw_error_argument")
})

test_that("x and y must agree in dimensions and pair in number", {
  two <- cbind(1:3, 1:3)
  expect_error_snapshot({
    softdtw(1:3, two)
    softdtw(two, 1:3)
    softdtw(list(1, 2, 3), list(1, 2))
    softdtw_grad(array(1, c(4, 2, 1)), array(1, c(5, 2, 1)))
    softdtw_matrix(list(1, 2), list(two))
    softdtw_knn(list(1, 2), query = list(two), k = 1)
    softdtw(cbind(a = 1, b = 2), cbind(b = 1, a = 2))
  })
})

test_that("a window of 0 between unequal lengths leaves no path", {
  expect_error_snapshot({
    softdtw(1:3, 1:4, window = 0)
    softdtw_matrix(list(a = 1:3, b = 1:3, c = 1:5), window = 0)
    softdtw_dist(list(1:3, 1:5), window = 0)
    softdtw_cost(matrix(0, 2, 3), window = 0)
  })
  expect_identical(softdtw(1:3, 3, gamma = 0, window = 0), 5)
  expect_identical(softdtw(1:3, c(2, 2, 2), gamma = 0, window = 0), 2)
  expect_identical(softdtw(list(1:3, 1:4), list(1:3, 1:4), gamma = 0, window = 0), c(0, 0))
})

test_that("series must be numbers", {
  for (bad in list("a", TRUE, 1i, NULL, factor(1:3), as.Date("2020-01-01"), quote(x), mean)) {
    expect_error(softdtw(bad, 1:3), class = "softdtw_error")
    expect_error(softdtw(1:3, bad), class = "softdtw_error")
    expect_error(softdtw_matrix(list(1:3, bad)), class = "softdtw_error")
  }
})

test_that("the argument at fault is named", {
  bad <- c(1, NA, 3)
  expect_error(softdtw(bad, 1:3), "`x`.*2")
  expect_error(softdtw(1:3, bad), "`y`.*2")
  expect_error(softdtw_knn(list(1, 2), query = list(1, bad), k = 1), "`query`.*2.*2")
  expect_error(softdtw_loss(1:3, bad), "`target`")
  expect_error(softdtw_barycenter(list(1:3), init = bad), "`init`.*2")
  expect_error(softdtw_kmeans(list(1:3, 2:4), centers = list(1:3, bad)), "`centers`.*2.*2")
})

test_that("input out of range is an error that names what would work, before any work", {
  expect_error_snapshot({
    softdtw(c(1e160, 0), c(0, 1e160, 0))
    softdtw(c(1e160, 0), c(0, 1e160, 0), gamma = 0)
    softdtw_matrix(list(c(1e160, 0), 1))
    softdtw(1:3, 1:3, gamma = 1e308)
    softdtw_cost(matrix(c(1e308, 0, 0, 0), 2))
  })
  for (f in list(softdtw, softdtw_grad, softdtw_alignment)) {
    expect_error(f(c(1e150, 0), c(0, 1e150), gamma = 1e-10), class = "softdtw_error_range")
  }
  e <- expect_error(softdtw(1e145, -1e145, gamma = 1e-20), class = "softdtw_error_range")
  expect_true(is.finite(softdtw(1e145, -1e145, gamma = e$smallest)))
  expect_true(is.finite(softdtw(1e145, -1e145, gamma = 0)))
})

test_that("a zero vector has no cosine", {
  zero <- rbind(c(1, 2), c(0, 0), c(3, 1))
  expect_error_snapshot({
    softdtw(zero, zero + 1, cost = "cosine")
    softdtw_dist(list(a = zero + 1, b = zero), cost = "cosine")
    softdtw(1:3, c(1, 0), cost = "cosine")
  })
  expect_true(is.finite(softdtw(zero, zero + 1)))
})

test_that("a result that cannot fit the machine is an error before any work", {
  many <- matrix(c(0, 1), 2e6, 1)
  expect_error(softdtw_matrix(many), class = "softdtw_error_memory")
  expect_error(softdtw_dist(many), class = "softdtw_error_memory")
})

test_that("every error is a softdtw_error whose call is the user's", {
  e <- tryCatch(softdtw(1:3, c(1, NA)), error = identity)
  kinds <- c("softdtw_error_missing", "softdtw_error", "error", "condition")
  expect_s3_class(e, kinds, exact = TRUE)
  expect_identical(as.character(conditionCall(e)[[1]]), "softdtw")
})

test_that("every function that works long can show its progress, with the same result", {
  s <- list(c(1, 2), c(2, 3), c(5, 1))
  calls <- list(
    \(p) softdtw(s, s[1], progress = p),
    \(p) softdtw_grad(s, s[1], progress = p),
    \(p) as.matrix(softdtw_alignment(s[[1]], s[[2]], progress = p)),
    \(p) as.matrix(softdtw_cost(diag(3), progress = p)),
    \(p) as.double(softdtw_dist(s, progress = p)),
    \(p) softdtw_knn(s, k = 1, progress = p)$index,
    \(p) softdtw_loss(1:3, 1:3, progress = p),
    \(p) softdtw_barycenter(s, progress = p)$series,
    \(p) softdtw_kmeans(s, s[1:2], progress = p)$centers,
    \(p) softdtw_centroids(s, c("a", "a", "b"), progress = p)$centers,
    \(p) predict(softdtw_kmeans(s, s[1:2]), s, progress = p)
  )
  same <- vapply(calls, \(call) {
    utils::capture.output(type = "message", shown <- call(TRUE))
    identical(shown, call(FALSE))
  }, NA)
  expect_identical(same, rep(TRUE, length(calls)))
})

test_that("progress draws on stderr only, and the result is the same", {
  set <- with_seed(3, random_set(rep(12, 10)))
  quiet <- softdtw_matrix(set)
  out <- utils::capture.output(type = "output", {
    err <- utils::capture.output(type = "message", shown <- softdtw_matrix(set, progress = TRUE))
  })
  expect_identical(out, character())
  expect_identical(shown, quiet)
  old <- options(softdtw.progress = TRUE)
  on.exit(options(old))
  utils::capture.output(type = "message", shown <- softdtw_matrix(set))
  expect_identical(shown, quiet)
})
