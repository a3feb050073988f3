batch <- function() {
  with_seed(21, list(
    pred = array(stats::rnorm(3 * 5 * 2), c(3, 5, 2)),
    target = array(stats::rnorm(3 * 7 * 2), c(3, 7, 2))
  ))
}

pair_of <- function(b, i) list(matrix(b$pred[i, , ], 5), matrix(b$target[i, , ], 7))

test_that("value and gradient are those of the pairs, reduced", {
  b <- batch()
  pairs <- lapply(1:3, \(i) do.call(softdtw_grad, c(pair_of(b, i), gamma = 0.5)))
  values <- vapply(pairs, `[[`, 0, "value")
  none <- softdtw_loss(b$pred, b$target, gamma = 0.5, reduction = "none")
  expect_identical(unname(none$value), values)
  expect_identical(dim(none$gradient), dim(b$pred))
  for (i in 1:3) expect_identical(none$gradient[i, , ], pairs[[i]]$grad_x)
  total <- softdtw_loss(b$pred, b$target, gamma = 0.5, reduction = "sum")
  expect_equal(total$value, sum(values), tolerance = 1e-15)
  expect_identical(total$gradient, none$gradient)
  mean <- softdtw_loss(b$pred, b$target, gamma = 0.5)
  expect_equal(mean$value, sum(values) / 3, tolerance = 1e-15)
  expect_equal(mean$gradient, none$gradient / 3, tolerance = 1e-15)
})

test_that("a matrix is batch by time", {
  pred <- matrix(c(1, 4, 2, 5, 3, 6), 2, dimnames = list(c("a", "b"), NULL))
  target <- matrix(c(2, 2, 2, 8), 2)
  loss <- softdtw_loss(pred, target, reduction = "none")
  expect_identical(dim(loss$gradient), dim(pred))
  expect_identical(dimnames(loss$gradient), dimnames(pred))
  for (i in 1:2) {
    one <- softdtw_grad(pred[i, ], target[i, ])
    expect_identical(loss$gradient[i, ], one$grad_x)
    expect_identical(loss$value[[i]], one$value)
  }
})

test_that("vectors are a batch of one and lists give lists", {
  loss <- softdtw_loss(c(1, 2, 4), c(1, 3))
  one <- softdtw_grad(c(1, 2, 4), c(1, 3))
  expect_identical(loss$value, one$value)
  expect_identical(loss$gradient, one$grad_x)
  loss <- softdtw_loss(list(a = 1:3, b = 2:3), list(1, c(2, 5)), reduction = "sum")
  expect_named(loss$gradient, c("a", "b"))
  expect_identical(loss$gradient$b, softdtw_grad(2:3, c(2, 5))$grad_x)
})

test_that("the gradient is that of the reduced value, by finite differences", {
  b <- batch()
  for (type in c("softdtw", "divergence")) {
    for (reduction in c("mean", "sum")) {
      f <- function(z) softdtw_loss(z, b$target, gamma = 2, type = type, reduction = reduction)
      expect_within(f(b$pred)$gradient, ref_differences(\(z) f(z)$value, b$pred), 1e-7)
    }
  }
})

test_that("NA at row ends is padding, with NA in the gradient", {
  pred <- rbind(c(1, 2, 3), c(1, 5, NA))
  loss <- softdtw_loss(pred, pred + 1, reduction = "sum")
  expect_identical(is.na(loss$gradient), is.na(pred))
  expect_identical(loss$gradient[2, 1:2], softdtw_grad(c(1, 5), c(2, 6))$grad_x)
})

test_that("batches must agree in number and dimensions", {
  expect_error_snapshot({
    softdtw_loss(matrix(0, 2, 3), matrix(0, 3, 3))
    softdtw_loss(array(0, c(2, 3, 1)), array(0, c(2, 3, 2)))
    softdtw_loss(1:3, 1:3, reduction = "max")
    softdtw_loss(rbind(1:3, c(1, NA, 2)), matrix(0, 2, 3))
  })
})
