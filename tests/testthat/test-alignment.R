test_that("an alignment has a row a step of x and a column a step of y", {
  x <- cbind(c(1, 2, 4), c(0, 1, 1))
  y <- cbind(c(1, 3), c(0, 2))
  a <- softdtw_alignment(x, y, gamma = 2)
  want <- ref_full(x, y, 2)
  expect_s3_class(a, "softdtw_alignment")
  expect_identical(dim(as.matrix(a)), c(3L, 2L))
  expect_within(as.matrix(a), want$E, 1e-14)
  expect_identical(a$value, softdtw(x, y, gamma = 2))
})

test_that("a spike is found where it went", {
  spike <- function(at) replace(double(12), at, 5)
  shares <- shares_of(spike(4), spike(9), gamma = 0.01)
  expect_within(shares[4, 9], 1, 1e-12)
  expect_within(sum(shares[4, ]), 1, 1e-12)
})

test_that("all costs tied: the alignment is symmetric in both diagonals", {
  shares <- shares_of(rep(1, 6), rep(1, 6))
  expect_identical(shares, t(shares))
  expect_within(shares, shares[6:1, 6:1], 1e-14)
  expect_within(shares, ref_brute(matrix(0, 6, 6), 1)$E, 1e-13)
})

test_that("gamma = 0 breaks ties diagonal, then up, then left", {
  expect_identical(shares_of(c(1, 1, 1), c(1, 1, 1), gamma = 0), diag(3))
  # up: the corner comes from (1, 2); left only when up is dearer
  shares <- shares_of(c(1, 1, 1), c(1, 1), gamma = 0)
  expect_identical(shares, ref_full(c(1, 1, 1), c(1, 1), 0)$E)
  expect_identical(shares, matrix(c(1, 1, 0, 0, 0, 1), 3))
})

test_that("softdtw_cost() is the same from a matrix, with any sign", {
  x <- c(1, 3, 2)
  y <- c(2, 2, 5, 1)
  a <- softdtw_cost(outer(x, y, `-`)^2, gamma = 0.5)
  b <- softdtw_alignment(x, y, gamma = 0.5)
  expect_s3_class(a, "softdtw_alignment")
  expect_within(a$value, b$value, 1e-14)
  expect_within(as.matrix(a), as.matrix(b), 1e-13)
  costs <- with_seed(41, matrix(stats::rnorm(30, -3, 5), 6))
  for (gamma in c(0, 0.1, 1, 1e4)) {
    for (window in list(NULL, 1)) {
      got <- softdtw_cost(costs, gamma = gamma, window = window)
      want <- ref_from_cost(costs, gamma, window)
      expect_within(got$value, want$value, 1e-13 * (1 + gamma * 11 + sum(abs(costs))))
      expect_within(as.matrix(got), want$E, 1e-12)
    }
  }
})

test_that("softdtw_cost() is transposed by transposing, to the last bit", {
  costs <- with_seed(42, matrix(stats::rnorm(70, 1), 7))
  a <- softdtw_cost(costs, gamma = 0.3)
  b <- softdtw_cost(t(costs), gamma = 0.3)
  expect_identical(a$value, b$value)
  expect_identical(as.matrix(a), t(as.matrix(b)))
})

test_that("cost matrices: integers, names, one row, one cell, a constant added", {
  costs <- matrix(1:6, 2, dimnames = list(c("a", "b"), NULL))
  expect_identical(softdtw_cost(costs)$value, softdtw_cost(costs + 0)$value)
  expect_identical(dimnames(as.matrix(softdtw_cost(costs))), dimnames(costs))
  expect_identical(softdtw_cost(matrix(c(1, 2, 4), 1), gamma = 0)$value, 7)
  expect_identical(softdtw_cost(matrix(-3), gamma = 0)$value, -3)
  # costs below 0 favour the longest paths, of which there are 6
  shares <- as.matrix(softdtw_cost(costs))
  expect_within(softdtw_cost(matrix(-1e6, 3, 3))$value, -5e6 - log(6), 1e-8)
  expect_within(as.matrix(softdtw_cost(matrix(-1e6, 3, 3), gamma = 1e5))[1, 1], 1, 1e-12)
  expect_true(all(shares >= 0 & shares <= 1))
})

test_that("wrong cost matrices are errors", {
  expect_error_snapshot({
    softdtw_cost(1:3)
    softdtw_cost(matrix(letters[1:4], 2))
    softdtw_cost(matrix(c(1, NA, 2, 3), 2))
    softdtw_cost(matrix(c(1, 2, Inf, 3), 2))
    softdtw_cost(matrix(0, 0, 3))
    softdtw_cost(data.frame(a = 1:2, b = 3:4))
    softdtw_cost(diag(2), cost = "manhattan")
  })
})

test_that("an alignment is of one pair", {
  expect_error_snapshot({
    softdtw_alignment(list(1:3, 2:4), 1:3)
    softdtw_alignment(1:3, list(1:3, 2:4))
  })
  expect_identical(shares_of(list(1:3), as_series(list(2:4))), shares_of(1:3, 2:4))
})

test_that("na = \"omit\" gives NA rows and columns at the steps left out", {
  x <- c(1, NA, 3)
  shares <- shares_of(x, c(2, 1, NA), na = "omit")
  expect_identical(is.na(shares), outer(is.na(x), c(FALSE, FALSE, TRUE), `|`))
  expect_identical(shares[c(1, 3), 1:2], shares_of(c(1, 3), c(2, 1)))
})

test_that("as.data.frame() is long, and can leave small shares out", {
  a <- softdtw_alignment(c(1, 2, 3), c(1, 3), gamma = 0.5)
  d <- as.data.frame(a)
  expect_identical(dim(d), c(6L, 3L))
  expect_named(d, c("i", "j", "share"))
  expect_identical(as.matrix(a)[cbind(d$i, d$j)], d$share)
  few <- as.data.frame(a, min_share = 0.5)
  expect_identical(few, d[d$share >= 0.5, ], ignore_attr = "row.names")
})

test_that("print and summary", {
  a <- softdtw_alignment(c(2, 5, 1), c(4, 5, 1), gamma = 0)
  expect_snapshot(print(a))
  expect_snapshot(summary(a))
  expect_snapshot(print(softdtw_cost(diag(2), gamma = 0, window = 1)))
})

test_that("plots draw without warnings and leave par() as it was", {
  x <- sin(1:20 / 3)
  expect_true(draws_quietly(\() plot(softdtw_alignment(x, x[3:18], gamma = 0.1))))
  expect_true(draws_quietly(\() plot(softdtw_alignment(x, x, gamma = 0, window = 3))))
  expect_true(draws_quietly(\() plot(softdtw_alignment(cbind(u = x, v = -x), cbind(u = x, v = x)))))
  expect_true(draws_quietly(\() plot(softdtw_alignment(1, x))))
  expect_true(draws_quietly(\() plot(softdtw_alignment(1, 2))))
  expect_true(draws_quietly(\() plot(softdtw_cost(diag(4)))))
  expect_true(draws_quietly(\() plot(softdtw_alignment(replace(x, 4, NA), x, na = "omit"))))
  a <- stats::ts(x, 1990, frequency = 4)
  expect_true(draws_quietly(\() plot(softdtw_alignment(a, a))))
})
