some_set <- function() with_seed(51, random_set(c(a = 5, b = 9, c = 1, d = 9, e = 14), 2))

pairs_of <- function(x, y, ...) {
  m <- vapply(y, \(b) vapply(x, \(a) softdtw(a, b, ...), 0), double(length(x)))
  matrix(m, length(x), length(y), dimnames = list(names(x), names(y)))
}

test_that("the self matrix is symmetric, with its true diagonal and names", {
  x <- some_set()
  values <- softdtw_matrix(x, gamma = 0.7)
  expect_identical(values, pairs_of(x, x, gamma = 0.7))
  expect_identical(values, t(values))
  expect_identical(dimnames(values), list(names(x), names(x)))
  expect_true(all(diag(values) < 0 | lengths(x) == 2))
})

test_that("the cross matrix has a row a series of x and a column a series of y", {
  x <- some_set()
  y <- unname(x[c(4, 2)])
  values <- softdtw_matrix(x, y)
  expect_identical(unname(values), unname(pairs_of(x, y)))
  expect_identical(dim(values), c(5L, 2L))
  expect_identical(rownames(values), names(x))
  expect_identical(softdtw_matrix(y, x), t(values))
})

test_that("divergences: exactly 0 for equal series, symmetric, the pairs' own", {
  x <- some_set()
  x$f <- x$b
  values <- softdtw_matrix(x, type = "divergence")
  expect_identical(values, pairs_of(x, x, type = "divergence"))
  expect_identical(unname(diag(values)), double(6))
  expect_identical(values["b", "f"], 0)
  expect_identical(softdtw_matrix(x, x[2], type = "divergence")[c("b", "f"), "b"], c(b = 0, f = 0))
})

test_that("costs, windows and gamma = 0 reach the matrix", {
  x <- lapply(some_set(), `+`, 3)
  for (cost in ref_costs) {
    values <- softdtw_matrix(x, gamma = 0, cost = cost, window = 2)
    expect_identical(values, pairs_of(x, x, gamma = 0, cost = cost, window = 2))
    expect_within(values["e", "b"], ref_value(x$e, x$b, 0, cost, 2), 1e-13 * (1 + values["e", "b"]))
  }
})

test_that("padding of unequal lengths does not leak", {
  x <- list(c(1, 2), c(1, 2, 9), c(1, 2, 9, 9, 9, 9), 1)
  alone <- softdtw_matrix(x[1], x[1])
  expect_identical(softdtw_matrix(x)[1, 1], alone[1, 1])
  expect_identical(softdtw_matrix(rev(x))[4:1, 4:1], softdtw_matrix(x))
})

test_that("more series than a block, in any order, give the same pairs", {
  x <- with_seed(52, random_set(sample(20, 150, TRUE)))
  values <- softdtw_matrix(x)
  order <- with_seed(53, sample(150))
  expect_identical(softdtw_matrix(x[order]), values[order, order])
  expect_identical(softdtw_matrix(x, x), values)
  pick <- cbind(c(1, 77, 150, 64, 65), c(150, 3, 149, 65, 64))
  expect_identical(values[pick], mapply(softdtw, x[pick[, 1]], x[pick[, 2]]))
  expect_identical(as.double(softdtw_dist(x, type = "divergence")), {
    all <- softdtw_matrix(x, type = "divergence")
    all[lower.tri(all)]
  })
})

test_that("a matrix argument is one series a row", {
  m <- rbind(a = c(1, 2, 3), b = c(2, 2, NA))
  expect_identical(softdtw_matrix(m), softdtw_matrix(list(a = 1:3, b = c(2, 2))))
})

test_that("one series is a 1 x 1 matrix", {
  expect_identical(softdtw_matrix(list(1:3)), matrix(softdtw(1:3, 1:3)))
  expect_identical(softdtw_matrix(list(a = 1:3), list(5))[["a", 1]], softdtw(1:3, 5))
})

test_that("softdtw_dist() is a proper dist of divergences", {
  x <- some_set()
  d <- softdtw_dist(x)
  values <- softdtw_matrix(x, type = "divergence")
  expect_s3_class(d, "dist")
  expect_identical(attr(d, "Size"), 5L)
  expect_identical(attr(d, "Labels"), names(x))
  expect_identical(as.double(d), values[lower.tri(values)])
  expect_identical(as.matrix(d), values)
})

test_that("raw values as a dist warn once and keep the diagonal", {
  x <- some_set()
  expect_warning(d <- softdtw_dist(x, type = "softdtw"), class = "softdtw_warning")
  values <- softdtw_matrix(x)
  expect_identical(as.double(d), values[lower.tri(values)])
  expect_identical(attr(d, "diagonal"), diag(values))
})

test_that("hclust, cmdscale and pam take the dist", {
  x <- c(some_set(), lapply(some_set(), `+`, 5))
  names(x) <- letters[1:10]
  d <- softdtw_dist(x, gamma = 0.5)
  tree <- stats::hclust(d, "average")
  expect_identical(tree$labels, letters[1:10])
  expect_identical(dim(stats::cmdscale(sqrt(d))), c(10L, 2L))
  skip_if_not_installed("cluster")
  p <- cluster::pam(d, 2)
  expect_length(p$clustering, 10L)
  s <- cluster::silhouette(stats::cutree(tree, 2), d)
  expect_true(all(abs(s[, "sil_width"]) <= 1))
})

test_that("a dist of one and of two series", {
  expect_length(softdtw_dist(list(1:3)), 0L)
  expect_identical(attr(softdtw_dist(list(1:3)), "Size"), 1L)
  expect_identical(
    as.double(softdtw_dist(list(1:3, 2:5))), softdtw(1:3, 2:5, type = "divergence")
  )
})

test_that("sets must fit together and hold series", {
  expect_error_snapshot({
    softdtw_matrix(list())
    softdtw_matrix(list(1:3), list())
    softdtw_matrix(list(a = 1:3, b = c(1, NA)))
    softdtw_matrix(list(1:3), list(1:3, c(Inf, 1)))
    softdtw_dist(list(a = 1:3, b = cbind(1:3, 1:3)))
    softdtw_dist(data.frame(a = 1:3, b = 1:3))
    softdtw_dist(list(1:3, 1:3), type = "sharp")
  })
})

test_that("counts of pairs beyond 2^31 are no trouble", {
  skip_unless_long()
  x <- as.list(rep(c(0, 1, 2), length.out = 46342))
  values <- softdtw_matrix(x, as.list(c(0, 1, 2)), gamma = 1)
  expect_identical(dim(values), c(46342L, 3L))
  expect_identical(values[46342, ], c(0, 1, 4))
  k <- softdtw_knn(x, query = x[c(1, 3)], k = 2, gamma = 1)
  expect_identical(unname(k$index), rbind(c(1L, 4L), c(3L, 6L)))
})
