some_set <- function() {
  with_seed(61, random_set(c(a = 5, b = 9, c = 1, d = 9, e = 14, f = 7, g = 2)))
}

# the k first of every row of a full matrix, ties to the lower index
first_of <- function(values, k, self = FALSE) {
  if (self) diag(values) <- Inf
  index <- t(apply(values, 1, \(row) order(row)[seq_len(k)]))
  index <- matrix(index, nrow(values), k)
  list(index = index, distance = matrix(values[cbind(c(row(index)), c(index))], nrow(values), k))
}

same_neighbours <- function(got, want) {
  identical(unname(got$index), want$index) && identical(unname(got$distance), want$distance)
}

test_that("without a query: the neighbours of the full matrix, the series itself left out", {
  x <- some_set()
  values <- softdtw_matrix(x, gamma = 0.5, type = "divergence")
  for (k in c(1, 3, 6)) {
    expect_true(same_neighbours(softdtw_knn(x, k = k, gamma = 0.5), first_of(values, k, TRUE)))
  }
})

test_that("raw values and hard DTW order as their matrices", {
  x <- some_set()
  for (gamma in c(0, 1)) {
    got <- softdtw_knn(x, k = 4, gamma = gamma, type = "softdtw")
    expect_true(same_neighbours(got, first_of(softdtw_matrix(x, gamma = gamma), 4, TRUE)))
  }
})

test_that("with a query all series count", {
  x <- some_set()
  query <- list(u = x$b, v = c(1, 2, 3))
  got <- softdtw_knn(x, query, k = 7)
  expect_true(same_neighbours(got, first_of(softdtw_matrix(query, x, type = "divergence"), 7)))
  expect_identical(got$distance[["u", 1]], 0)
  expect_identical(got$index[["u", 1]], 2L)
})

test_that("many series, more than a block", {
  x <- with_seed(62, random_set(sample(12, 200, TRUE)))
  values <- softdtw_matrix(x, type = "divergence", window = 3, cost = "manhattan")
  got <- softdtw_knn(x, k = 5, window = 3, cost = "manhattan")
  expect_true(same_neighbours(got, first_of(values, 5, TRUE)))
  got <- softdtw_knn(x[1:90], x[91:200], k = 3, window = 3, cost = "manhattan")
  expect_true(same_neighbours(got, first_of(values[91:200, 1:90], 3)))
})

test_that("ties go to the lower index", {
  x <- list(3, 1, 1, 1, 3, 1)
  got <- softdtw_knn(x, k = 5)
  expect_identical(got$index[2, ], c(3L, 4L, 6L, 1L, 5L))
  expect_identical(got$index[1, ], c(5L, 2L, 3L, 4L, 6L))
  expect_identical(got$distance[1, ], c(0, 4, 4, 4, 4))
  expect_identical(softdtw_knn(x, list(2), k = 6)$index[1, ], 1:6)
})

test_that("names are kept", {
  x <- some_set()
  got <- softdtw_knn(x, k = 1)
  expect_identical(rownames(got$index), names(x))
  expect_identical(rownames(got$distance), names(x))
  expect_null(rownames(softdtw_knn(unname(x), k = 1)$index))
})

test_that("k must be a number of other series", {
  expect_error_snapshot({
    softdtw_knn(list(1, 2, 3))
    softdtw_knn(list(1, 2, 3), k = 3)
    softdtw_knn(list(1, 2, 3), k = 0)
    softdtw_knn(list(1, 2, 3), k = 1.5)
    softdtw_knn(list(1, 2, 3), list(1), k = 4)
    softdtw_knn(list(1), k = 1)
    softdtw_knn(list(1, 2), k = 1, query = list(c(1, NA)))
  })
})

test_that("print shows neighbours and distances", {
  expect_snapshot(print(softdtw_knn(list(a = 1, b = 2, c = 4), k = 2, gamma = 0)))
  expect_snapshot(print(softdtw_knn(list(1, 2, 4), k = 1, gamma = 0)))
})
