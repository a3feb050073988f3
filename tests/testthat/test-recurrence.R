# Lengths on both sides of every way the core takes: one step, less than a lane's turn, a loop, a
# scan with a last group that is whole, short, or a single step.
group <- 8 * 2040
recurrence_lengths <- c(1, 2, 15, 16, 17, 1000, 2 * group - 1, 2 * group, 2 * group + 1, 50000)

test_that("a sequence is what the loop gives, forwards and in reverse", {
  with_seed(1, {
    for (n in recurrence_lengths) {
      a <- runif(n, -1, 1)
      b <- rnorm(n)
      for (reverse in c(FALSE, TRUE)) {
        expect_relative(
          linear_recurrence(a, b, 2, reverse = reverse), loop_recurrence(a, b, 2, reverse), 1e-15,
          info = n
        )
      }
    }
  })
})

test_that("coefficients of 0 start a sequence anew", {
  with_seed(2, {
    a <- runif(50000, -1, 1)
    b <- rnorm(50000)
    a[sample(50000, 100)] <- 0
    expect_loop(linear_recurrence(a, b, 2), loop_recurrence(a, b, 2))
    expect_identical(linear_recurrence(0, b, 2), b)
    expect_identical(linear_recurrence(0 * a, 0, 2), double(50000))
  })
})

test_that("one number serves all steps", {
  b <- as.double(1:10)
  expect_identical(linear_recurrence(1, b), cumsum(b))
  expect_identical(linear_recurrence(2 * b, 0, x0 = 1), cumprod(2 * b))
  expect_identical(linear_recurrence(3, 1, x0 = 2), 7)
  expect_equal(
    linear_recurrence(0.5, b), as.double(stats::filter(b, 0.5, "recursive")),
    tolerance = 1e-15
  )
  n <- 40000
  expect_relative(linear_recurrence(0.9, seq_len(n)), loop_recurrence(0.9, seq_len(n)), 1e-15)
})

test_that("integers are taken as numbers", {
  expect_identical(linear_recurrence(2L, 1:3, 1L), linear_recurrence(2, c(1, 2, 3), 1))
})

test_that("columns of a matrix are sequences, each with its own start", {
  with_seed(3, {
    for (k in c(1, 2, 7, 8, 9, 30)) {
      a <- matrix(runif(100 * k, -1, 1), 100)
      b <- matrix(rnorm(100 * k), 100)
      x0 <- rnorm(k)
      for (reverse in c(FALSE, TRUE)) {
        want <- loop_columns(a, b, x0, reverse)
        expect_identical(linear_recurrence(a, b, x0, reverse = reverse), want)
        rows <- linear_recurrence(t(a), t(b), x0, along = 2, reverse = reverse)
        expect_identical(rows, t(want))
      }
    }
  })
})

test_that("a few long columns are scanned", {
  with_seed(4, {
    a <- matrix(runif(3 * 40000, -1, 1), 40000)
    b <- matrix(rnorm(3 * 40000), 40000)
    want <- loop_columns(a, b, 1:3)
    expect_relative(linear_recurrence(a, b, 1:3), want, 1e-15)
    expect_relative(linear_recurrence(t(a), t(b), 1:3, along = 2), t(want), 1e-15)
  })
})

test_that("an array has its time along any dimension", {
  with_seed(5, {
    dims <- c(3, 11, 10)
    a <- array(runif(prod(dims), -1, 1), dims)
    b <- array(rnorm(prod(dims)), dims)
    for (along in 1:3) {
      x0 <- array(rnorm(prod(dims[-along])), dims[-along])
      x <- linear_recurrence(a, b, x0, along = along)
      to_front <- c(along, setdiff(1:3, along))
      flat <- \(z) matrix(aperm(z, to_front), dims[along])
      expect_identical(flat(x), loop_columns(flat(a), flat(b), c(x0)))
    }
  })
})

test_that("a vector with a number for each step holds in all sequences", {
  a <- c(0.5, 0, -1)
  b <- matrix(1:6 / 7, 3)
  expect_identical(linear_recurrence(a, b), loop_columns(cbind(a, a), b, c(0, 0)))
  expect_identical(linear_recurrence(b, a), loop_columns(b, cbind(a, a), c(0, 0)))
  expect_identical(linear_recurrence(a, t(b), along = 2), t(linear_recurrence(a, b)))
})

test_that("names, dimnames and time attributes stay", {
  b <- c(a = 1, b = 2)
  expect_named(linear_recurrence(0.5, b), c("a", "b"))
  expect_named(linear_recurrence(b, c(1, 1)), c("a", "b"))
  m <- matrix(1:4 / 4, 2, dimnames = list(NULL, c("u", "v")))
  expect_identical(dimnames(linear_recurrence(0.5, m)), dimnames(m))
  expect_identical(dimnames(linear_recurrence(m, unname(m))), dimnames(m))
  year <- ts(c(1, 2, 4), start = 2001)
  expect_identical(linear_recurrence(1, year), ts(c(1, 3, 7), start = 2001))
  expect_identical(tsp(linear_recurrence(1, ts(m, 2001))), tsp(ts(m, 2001)))
  expect_identical(linear_recurrence(c(1, 1, 1), year), linear_recurrence(year^0, year))
})

test_that("zoo and xts stay what they are", {
  skip_if_not_installed("xts")
  days <- as.Date("2024-01-01") + c(0, 3, 4)
  z <- zoo::zoo(c(1, 2, 4), days)
  expect_identical(linear_recurrence(1, z), zoo::zoo(c(1, 3, 7), days))
  x <- xts::xts(cbind(u = c(1, 2, 4)), days)
  expect_identical(linear_recurrence(1, x), xts::xts(cbind(u = c(1, 3, 7)), days))
})

# magnitudes -----------------------------------------------------------------------------------

test_that("products of coefficients beyond a double give the sequential answer", {
  expect_identical(
    linear_recurrence(rep(1e10, 40), 0, 1e-300), loop_recurrence(rep(1e10, 40), 0, 1e-300)
  )
  n <- 50000
  up_down <- rep(c(rep(1e10, 40), rep(1e-10, 40)), n / 80)
  ratio <- linear_recurrence(up_down, 0, 1e-200) / loop_recurrence(up_down, 0, 1e-200)
  expect_within(ratio, rep(1, n), 1e-12)
  # a block's product is beyond 1e20000 while the sequence stays at 0
  expect_identical(linear_recurrence(rep(1e10, n), 0, 0), double(n))
  # from the smallest double: the product of the first block is 1e310
  tiny <- c(rep(10, 310), rep(1, n - 310))
  expect_equal(linear_recurrence(tiny, 0, 5e-324)[n], 5e-324 * 1e300 * 1e10, tolerance = 1e-13)
})

test_that("where a block's sum would cancel, the loop is taken", {
  n <- 50000
  # 1 is a fixed point, from which an error grows by 1e10 a step
  expect_identical(linear_recurrence(rep(1e10, n), 1 - 1e10, 1), rep(1, n))
  # returns to exactly 0 at the end of blocks
  b <- rep(c(1, -1), n / 2)
  expect_identical(linear_recurrence(1, b, 0.1), loop_recurrence(1, b, 0.1))
  with_seed(6, {
    a <- exp(rnorm(n, sd = 3)) * sample(c(-1, 1), n, TRUE)
    a[seq(1, n, 90)] <- 0
    b <- rnorm(n)
    expect_loop(linear_recurrence(a, b, 1), loop_recurrence(a, b, 1))
  })
})

test_that("what a loop overflows to is Inf here too", {
  n <- 50000
  expect_identical(linear_recurrence(rep(2, n), 1, 1)[c(1022, n)], c(2^1023 - 1, Inf))
  expect_identical(linear_recurrence(rep(-2, 2000), 0, 1)[1999:2000], c(-Inf, Inf))
  a <- rep(2, n)
  a[n] <- 0
  expect_identical(linear_recurrence(a, 1, 1)[n], NaN)
})

test_that("results meet a reference of 60 digits over ten million steps", {
  skip_on_cran()
  reference <- utils::read.csv(test_path("fixtures", "recurrence.csv"))
  bound <- c(smoothing = 1e-15, signed = 1e-15, wandering = 1e-14, growth = 3e-16)
  for (case in unique(reference$case)) {
    want <- reference[reference$case == case, ]
    given <- reference_coefficients(case, max(want$t))
    x <- linear_recurrence(given$a, given$b, if (case == "growth") 0 else 1, log = case == "growth")
    if (case == "growth") {
      expect_identical(x$sign[want$t], as.double(want$sign))
      x <- x$log
    }
    # the sequences pass near 0, so that errors are relative to their largest value
    scale <- if (case == "growth") abs(want$high) else max(abs(want$high))
    error <- max(abs((x[want$t] - want$high) - want$low) / scale)
    expect_lte(error, bound[[case]], label = paste("error of", case))
  }
})

# logarithms -----------------------------------------------------------------------------------

test_that("logarithms in, logarithms out", {
  with_seed(7, {
    for (n in c(1, 17, 1000, 50000)) {
      a <- runif(n, 0.1, 1.1)
      b <- rexp(n)
      for (reverse in c(FALSE, TRUE)) {
        want <- log(loop_recurrence(a, b, 2, reverse))
        got <- linear_recurrence(log(a), log(b), log(2), reverse = reverse, log = TRUE)
        expect_relative(got, want, 1e-14)
      }
    }
  })
})

test_that("signs travel with logarithms", {
  with_seed(8, {
    for (n in c(1, 17, 1000, 50000)) {
      a <- runif(n, -1, 1)
      b <- rnorm(n)
      a[seq_len(n) %% 100 == 50] <- 0
      got <- linear_recurrence(logged(a), logged(b), logged(-2), log = TRUE)
      expect_named(got, c("log", "sign"))
      expect_relative(unlogged(got), loop_recurrence(a, b, -2), 1e-13)
    }
  })
  zero <- linear_recurrence(logged(c(2, 1)), logged(c(-2, 0)), logged(1), log = TRUE)
  expect_identical(zero, list(log = c(-Inf, -Inf), sign = c(0, 0)))
})

test_that("signs come back if any argument has them, whatever the values", {
  expect_type(linear_recurrence(0, 0, log = TRUE), "double")
  expect_named(linear_recurrence(list(log = 0, sign = 1), 0, log = TRUE), c("log", "sign"))
  expect_named(linear_recurrence(0, 0, list(log = 0, sign = 1), log = TRUE), c("log", "sign"))
})

test_that("magnitudes far beyond a double are right", {
  expect_identical(linear_recurrence(rep(1000, 5), -Inf, 0, log = TRUE), 1000 * 1:5)
  expect_identical(linear_recurrence(rep(1e12, 5), -Inf, 0, log = TRUE), 1e12 * 1:5)
  expect_identical(linear_recurrence(-1e5, -Inf, 1e5, log = TRUE), 0)
  # 1 + e^-40 + ... summed at e^1000
  got <- linear_recurrence(rep(0, 4), c(1000, 960, 1000, 1001), log = TRUE)
  expect_equal(got[4], 1000 + log(2 + exp(-40) + exp(1)), tolerance = 1e-15)
  m <- linear_recurrence(matrix(1000, 3, 2), matrix(c(0, 5), 3, 2, TRUE), c(0, -Inf), log = TRUE)
  expect_identical(m[3, ], c(3000, 2005))
})

test_that("the shape and names of logarithms stay, for signs too", {
  b <- ts(matrix(1:6 / 7, 3, dimnames = list(NULL, c("u", "v"))), 2001)
  got <- linear_recurrence(0, list(log = b, sign = -1), log = TRUE)
  expect_identical(attributes(got$log), attributes(b))
  expect_identical(attributes(got$sign), attributes(b))
})

# threads --------------------------------------------------------------------------------------

test_that("the number of threads changes no bit", {
  with_seed(9, {
    shapes <- list(c(1, 100000), c(3, 50000), c(11, 3000), c(1000, 10))
    for (shape in shapes) {
      a <- matrix(runif(prod(shape), -1, 1), shape[2L])
      b <- matrix(rnorm(prod(shape)), shape[2L])
      run <- \(threads) {
        list(
          linear_recurrence(a, b, 1, threads = threads),
          linear_recurrence(t(a), t(b), 1, along = 2, threads = threads),
          linear_recurrence(logged(a), logged(b), 0, log = TRUE, threads = threads),
          linear_recurrence_grad(a, b, 1, threads = threads)
        )
      }
      one <- run(1)
      for (threads in c(2, 3, 16)) expect_identical(run(threads), one)
    }
  })
})

# gradients ------------------------------------------------------------------------------------

# Gradients of sum(grad * x), compared with differences for each argument.
expect_gradients <- function(a, b, x0, grad, ..., tolerance = 1e-9) {
  got <- linear_recurrence_grad(a, b, x0, grad, ...)
  objective <- \(a, b, x0) sum(grad * linear_recurrence(a, b, x0, ...))
  expect_identical(got$value, linear_recurrence(a, b, x0, ...))
  expect_equal(c(got$grad_a), differences(\(a_) objective(like_it(a_, a), b, x0), a),
    tolerance = tolerance
  )
  expect_equal(c(got$grad_b), differences(\(b_) objective(a, like_it(b_, b), x0), b),
    tolerance = tolerance
  )
  expect_equal(c(got$grad_x0), differences(\(x_) objective(a, b, x_), x0), tolerance = tolerance)
}

like_it <- function(x, model) {
  attributes(x) <- attributes(model)
  x
}

test_that("gradients agree with finite differences", {
  with_seed(10, {
    for (n in c(1, 2, 12)) {
      for (reverse in c(FALSE, TRUE)) {
        a <- runif(n, -1, 1)
        a[n %/% 2] <- 0
        expect_gradients(a, rnorm(n), 0.7, rnorm(n), reverse = reverse)
      }
    }
    a <- matrix(runif(12, -1, 1), 4)
    b <- matrix(rnorm(12), 4)
    grad <- matrix(rnorm(12), 4)
    for (along in 1:2) {
      x0 <- rnorm(dim(a)[3 - along])
      expect_gradients(a, b, x0, grad, along = along)
      expect_gradients(a, b, 0.3, grad, along = along, reverse = TRUE)
    }
  })
})

test_that("what is used more than once has the sum of the gradients", {
  with_seed(11, {
    b <- matrix(rnorm(12), 4)
    grad <- matrix(rnorm(12), 4)
    expect_gradients(0.8, b, 0.3, grad)
    expect_gradients(runif(4), b, 0.3, grad)
    expect_gradients(b, runif(4), 0.3, grad, reverse = TRUE)
    expect_gradients(b, 0.5, rnorm(3), grad)
  })
})

test_that("gradients by logarithms agree with finite differences", {
  with_seed(12, {
    for (reverse in c(FALSE, TRUE)) {
      a <- rnorm(10)
      b <- rnorm(10)
      expect_gradients(a, b, 0.2, rnorm(10), reverse = reverse, log = TRUE)
      expect_gradients(a + 500, b + 1000, 200, rnorm(10),
        reverse = reverse, log = TRUE, tolerance = 1e-6
      )
      expect_gradients(0.1, b, 0.2, rnorm(10), reverse = reverse, log = TRUE)
    }
    # with signs
    a <- rnorm(10)
    b <- rnorm(10)
    grad <- rnorm(10)
    with_log <- \(log, z) list(log = log, sign = sign(z))
    got <- linear_recurrence_grad(logged(a), logged(b), logged(-2), grad, log = TRUE)
    value <- \(a_, b_, x_) {
      sum(grad * linear_recurrence(with_log(a_, a), with_log(b_, b), with_log(x_, -2),
        log = TRUE
      )$log)
    }
    la <- log(abs(a))
    lb <- log(abs(b))
    expect_equal(got$grad_a, differences(\(v) value(v, lb, log(2)), la, 1e-4), tolerance = 1e-7)
    expect_equal(got$grad_b, differences(\(v) value(la, v, log(2)), lb, 1e-4), tolerance = 1e-7)
    expect_equal(got$grad_x0, differences(\(v) value(la, lb, v), log(2), 1e-4), tolerance = 1e-7)
  })
})

test_that("a result of 0 has no logarithm to move", {
  got <- linear_recurrence_grad(c(0, -Inf, 0), c(0, -Inf, 0), 0, log = TRUE)
  expect_identical(got$value, c(log(2), -Inf, 0))
  expect_identical(got$grad_a, c(0.5, 0, 0))
  expect_identical(got$grad_b, c(0.5, 0, 1))
})

test_that("gradients have the shapes and names of their arguments", {
  b <- ts(cbind(u = 1:3 / 3, v = 3:1 / 3), 2001)
  got <- linear_recurrence_grad(c(p = 0.5, q = 0.1, r = 1), b, c(m = 1, n = 2))
  expect_named(got, c("value", "grad_a", "grad_b", "grad_x0"))
  expect_named(got$grad_a, c("p", "q", "r"))
  expect_identical(attributes(got$grad_b), attributes(b))
  expect_identical(attributes(got$value), attributes(b))
  expect_named(got$grad_x0, c("m", "n"))
})

test_that("long gradients are those of the loop", {
  with_seed(13, {
    n <- 50000
    a <- runif(n, -1, 1)
    b <- rnorm(n)
    grad <- rnorm(n)
    got <- linear_recurrence_grad(a, b, 0.5, grad)
    l <- loop_recurrence(c(a[-1], 0), grad, 0, reverse = TRUE)
    expect_relative(got$grad_b, l, 1e-14)
    expect_relative(got$grad_a, l * c(0.5, got$value[-n]), 1e-14)
    expect_relative(got$grad_x0, l[1] * a[1], 1e-14)
  })
})

# single precision -----------------------------------------------------------------------------

test_that("single precision comes within its digits of double", {
  with_seed(14, {
    for (n in recurrence_lengths) {
      b <- rnorm(n)
      for (a in list(runif(n, -1, 1), 1 - runif(n) / 64)) {
        for (reverse in c(FALSE, TRUE)) {
          single <- linear_recurrence(a, b, 2, reverse = reverse, precision = "single")
          expect_relative(single, linear_recurrence(a, b, 2, reverse = reverse), 2e-6, info = n)
        }
      }
    }
    a <- matrix(runif(3 * 40000, -1, 1), 40000)
    b <- matrix(rnorm(3 * 40000), 40000)
    single <- linear_recurrence(a, b, 1:3, precision = "single")
    expect_relative(single, linear_recurrence(a, b, 1:3), 1e-6)
    expect_identical(
      linear_recurrence(t(a), t(b), 1:3, along = 2, precision = "single"), t(single)
    )
  })
})

test_that("single precision rounds every product and sum to 24 bits", {
  expect_identical(linear_recurrence(1, 2^-24, 1, precision = "single"), 1)
  expect_identical(linear_recurrence(1, 2^-23, 1, precision = "single"), 1 + 2^-23)
  expect_identical(linear_recurrence(1 + 2^-23, 0, 1 + 2^-23, precision = "single"), 1 + 2^-22)
})

test_that("single precision has the magnitudes of a float", {
  n <- 50000
  expect_identical(
    linear_recurrence(rep(2, n), 1, 1, precision = "single")[c(126, 127, n)], c(2^127, Inf, Inf)
  )
  up_down <- rep(c(rep(1e10, 7), rep(1e-10, 7)), 4000)
  x <- linear_recurrence(up_down, 0, 1e-35, precision = "single")
  expect_within(x[seq(14, 560, 14)] / 1e-35, rep(1, 40), 1e-4)
  expect_identical(linear_recurrence(rep(1e10, n), 0, 0, precision = "single"), double(n))
  expect_identical(linear_recurrence(rep(1e5, n), 1 - 1e5, 1, precision = "single"), rep(1, n))
  expect_identical(linear_recurrence(1, 1e-50, 0, precision = "single"), 0)
  expect_equal(linear_recurrence(2, 0, 1e-40, precision = "single"), 2e-40, tolerance = 1e-4)
})

test_that("logarithms in single precision are as exact however large they are", {
  with_seed(15, {
    for (n in c(1, 17, 1000, 50000)) {
      a <- runif(n, 0.1, 1.1)
      b <- rexp(n)
      single <- linear_recurrence(log(a), log(b), 0, log = TRUE, precision = "single")
      expect_within(single, linear_recurrence(log(a), log(b), 0, log = TRUE), rep(2e-6, n))
    }
    expect_within(
      linear_recurrence(rep(1e9, 5), -Inf, 0.5, log = TRUE, precision = "single"),
      1e9 * 1:5 + 0.5, rep(2e-6, 5)
    )
    a <- rnorm(1000)
    b <- rnorm(1000)
    single <- linear_recurrence(logged(a), logged(b), logged(-2), log = TRUE, precision = "single")
    expect_relative(unlogged(single), loop_recurrence(a, b, -2), 1e-5)
  })
})

test_that("gradients in single precision are those of double", {
  with_seed(16, {
    for (n in c(1, 12, 50000)) {
      a <- runif(n, -1, 1)
      b <- rnorm(n)
      grad <- rnorm(n)
      for (log in c(FALSE, TRUE)) {
        if (log) a <- -0.1 - abs(a)
        single <- linear_recurrence_grad(a, b, 0.3, grad, log = log, precision = "single")
        double <- linear_recurrence_grad(a, b, 0.3, grad, log = log)
        expect_relative(single$grad_a, double$grad_a, 1e-5)
        expect_relative(single$grad_b, double$grad_b, 1e-5)
        expect_within(single$grad_x0, double$grad_x0, 1e-5)
      }
    }
    # summed in double: a float would have stopped at 2^24
    ones <- linear_recurrence_grad(matrix(0, 1000, 20000), 0, precision = "single")$grad_b
    expect_identical(ones, 2e7)
  })
})

test_that("what a float cannot hold is an error that names the place", {
  b <- matrix(c(1, 2, 3, 4, -1e39, 6), 3, dimnames = list(NULL, c("u", "v")))
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    linear_recurrence(1, b, precision = "single")
    linear_recurrence(1e39, 1:3, precision = "single")
    linear_recurrence(1, 1:3, x0 = 1e39, precision = "single")
    linear_recurrence_grad(1, 1:3, grad = c(0, 1e300, 0), precision = "single")
    linear_recurrence(1, 1, precision = "half")
  })
  expect_identical(linear_recurrence(1, b)[6], -1e39 + 4 + 6)
  largest <- (2 - 2^-23) * 2^127
  expect_identical(linear_recurrence(1, largest, precision = "single"), largest)
})

# backends -------------------------------------------------------------------------------------

# Around the borders of what a device loads ahead, of a thread's share, of a warp's and of a tile,
# and of where a scan begins.
device_lengths <- c(1, 7, 8, 9, 16, 511, 513, 2047, 2049, 4095, 4096, 4097, 6144, 70001)

test_that("a device gives the processor's results", {
  skip_unless_device()
  with_seed(17, {
    for (n in device_lengths) {
      a <- runif(n, -1, 1)
      b <- rnorm(n)
      a[sample(n, n %/% 500)] <- 0
      for (reverse in c(FALSE, TRUE)) {
        on <- \(backend, ...) linear_recurrence(a, b, 2, reverse = reverse, backend = backend, ...)
        expect_relative(on("cuda"), on("cpu"), 1e-15, info = n)
        expect_relative(on("cuda", precision = "single"), on("cpu"), 1e-6, info = n)
        on <- \(backend, ...) {
          linear_recurrence(logged(a), logged(b), logged(-2),
            reverse = reverse, log = TRUE, backend = backend, ...
          )
        }
        want <- unlogged(on("cpu"))
        expect_relative(unlogged(on("cuda")), want, 1e-13, info = n)
        expect_relative(unlogged(on("cuda", precision = "single")), want, 1e-5, info = n)
      }
    }
  })
})

test_that("magnitudes and cancellation are minded on a device", {
  skip_unless_device()
  on <- \(...) linear_recurrence(..., backend = "cuda")
  expect_identical(
    on(rep(1e10, 40), 0, 1e-300), loop_recurrence(rep(1e10, 40), 0, 1e-300)
  )
  n <- 50000
  forty <- rep(c(rep(1e10, 40), rep(1e-10, 40)), n / 80)
  ratio <- on(forty, 0, 1e-200) / loop_recurrence(forty, 0, 1e-200)
  expect_within(ratio, rep(1, n), 1e-12)
  ratio <- on(-forty, 1e-250, 1e-200) / loop_recurrence(-forty, 1e-250, 1e-200)
  expect_within(ratio, rep(1, n), 1e-12)
  expect_identical(on(rep(1e10, n), 0, 0), double(n))
  expect_identical(on(rep(1e10, n), 1 - 1e10, 1), rep(1, n))
  expect_identical(on(rep(1e5, n), 1 - 1e5, 1, precision = "single"), rep(1, n))
  expect_identical(on(rep(2, n), 1, 1)[c(1022, 1023, n)], c(2^1023 - 1, Inf, Inf))
  expect_identical(on(rep(2, n), 1, 1, precision = "single")[c(126, 127)], c(2^127, Inf))
})

test_that("seventy thousand short sequences have the loop's bits on a device", {
  skip_unless_device()
  with_seed(18, {
    a <- matrix(runif(3 * 70000, -1, 1), 3)
    b <- matrix(rnorm(3 * 70000), 3)
    want <- linear_recurrence(a, b, 1:70000 / 7, backend = "cpu")
    expect_identical(linear_recurrence(a, b, 1:70000 / 7, backend = "cuda"), want)
    expect_identical(
      linear_recurrence(t(a), t(b), 1:70000 / 7, along = 2, backend = "cuda"), t(want)
    )
    grads <- \(backend) linear_recurrence_grad(a, b, 1:70000 / 7, backend = backend)
    expect_identical(grads("cuda"), grads("cpu"))
  })
})

test_that("gradients on a device are those of the processor, and of finite differences", {
  skip_unless_device()
  with_seed(19, {
    b <- matrix(rnorm(12), 4)
    grad <- matrix(rnorm(12), 4)
    expect_gradients(runif(4), b, c(0.3, 1, -1), grad, backend = "cuda")
    expect_gradients(b, b / 2, 0.3, grad, along = 2, reverse = TRUE, backend = "cuda")
    expect_gradients(-abs(b), b, 0.3, grad, log = TRUE, backend = "cuda")
    a <- matrix(runif(3 * 9000, -1, 1), 9000)
    b <- matrix(rnorm(3 * 9000), 9000)
    for (a in list(a, a[, 1], 0.7)) {
      on <- \(backend, ...) {
        linear_recurrence_grad(a, b, 1:3, b / 3, backend = backend, ...)
      }
      want <- on("cpu")
      Map(\(x, y) expect_relative(x, y, 1e-13), on("cuda"), want)
      Map(\(x, y) expect_relative(x, y, 1e-5), on("cuda", precision = "single"), want)
    }
  })
})

test_that("\"auto\" keeps recurrences on the processor", {
  options <- softdtw:::recurrence_options(FALSE, FALSE, "auto", "double", NULL)
  expect_identical(options$backend, "cpu")
  expect_error(linear_recurrence(1, 1, backend = "gpu"), class = "softdtw_error_argument")
})

# errors ---------------------------------------------------------------------------------------

test_that("wrong types, shapes and counts are named", {
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    linear_recurrence("1", 2)
    linear_recurrence(factor(1), 2)
    linear_recurrence(1, data.frame(u = 1))
    linear_recurrence(1, list(1, 2))
    linear_recurrence(1i, 2)
    linear_recurrence(TRUE, 2)
    linear_recurrence(1, Sys.Date())
    linear_recurrence(numeric(), 1)
    linear_recurrence(1:2, 1:3)
    linear_recurrence(1:2, matrix(1, 3, 2))
    linear_recurrence(matrix(1, 2, 3), matrix(1, 3, 2))
    linear_recurrence(1:3, 1:3, x0 = 1:2)
    linear_recurrence(1, matrix(1, 3, 2), x0 = 1:3)
    linear_recurrence(1, matrix(1, 3, 2), along = 3)
    linear_recurrence(1, 1:3, along = "time")
    linear_recurrence(1, 1, reverse = NA)
    linear_recurrence(1, 1, log = 1)
    linear_recurrence(1, 1, threads = 0)
    linear_recurrence(ts(1:3, 2001), ts(1:3, 2002))
    linear_recurrence_grad(1, 1:3, grad = 1:2)
    linear_recurrence(list(log = 0, sign = 2), 1, log = TRUE)
    linear_recurrence(list(log = 1:3, sign = c(1, 1)), 1, log = TRUE)
    linear_recurrence(list(1), 1, log = TRUE)
    linear_recurrence(rep(1e15, 5), 1, log = TRUE)
  })
})

test_that("values that are no numbers are named by argument and place", {
  b <- matrix(1:6 / 2, 3, dimnames = list(NULL, c("u", "v")))
  gap <- replace(b, 5, NA)
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    linear_recurrence(c(1, NA, NaN), 1)
    linear_recurrence(NA, 1:3)
    linear_recurrence(1, gap)
    linear_recurrence(1, t(gap), along = 2)
    linear_recurrence(c(1, 1, Inf), b)
    linear_recurrence(1, b, x0 = c(0, NA))
    linear_recurrence(1, b, x0 = -Inf)
    linear_recurrence(1, c(-Inf, Inf), log = TRUE)
    linear_recurrence_grad(1, b, grad = gap)
  })
  place <- tryCatch(linear_recurrence(1, array(replace(1:24, 18, NA), 2:4), along = 2),
    error = identity
  )
  expect_identical(c(place$series, place$position), c(6, 3))
})
