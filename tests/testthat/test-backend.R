# Backends and precisions. The whole suite runs with backend = "cuda" when SOFTDTW_TEST_BACKEND says
# so; here is what is particular to the choice.

some_series <- function() lapply(c(5, 33, 140), function(n) sin(seq_len(n) / 7) + seq_len(n) / 50)

test_that("a suite that is to run on CUDA does", {
  wanted <- Sys.getenv("SOFTDTW_TEST_BACKEND")
  expect_true(wanted != "cuda" || has_device())
  expect_identical(getOption("softdtw.backend", "auto"), if (nzchar(wanted)) wanted else "auto")
})

test_that("softdtw_info() says what was built and decided", {
  cuda <- softdtw_info()$cuda
  expect_true(cuda$built %in% c("none", "cuda", "emulated"))
  expect_true(nzchar(cuda$decision))
  expect_identical(nrow(cuda$devices) == 0L, nzchar(cuda$reason))
  expect_output(print(softdtw_info()), if (cuda$built == "emulated") "EMULATED" else "CUDA")
})

test_that("wrong backends and precisions are errors", {
  expect_error(softdtw(1, 2, backend = "gpu"), class = "softdtw_error_argument")
  expect_error(softdtw(1, 2, backend = c("cpu", "cuda")), class = "softdtw_error_argument")
  expect_error(softdtw(1, 2, backend = "cpu", precision = "half"), class = "softdtw_error_argument")
  old <- options(softdtw.cuda.memory = -1)
  on.exit(options(old))
  expect_error(softdtw(1, 2, backend = "cpu"), class = "softdtw_error_argument")
})

test_that("CUDA that is not there is an error, never a run on the processor", {
  skip_if(has_device(), "there is a device")
  expect_error(softdtw(1, 2, backend = "cuda"), class = "softdtw_error_no_device")
  expect_error(softdtw_dist(some_series(), backend = "cuda"), class = "softdtw_error_no_device")
  expect_error(linear_recurrence(1, 1, backend = "cuda"), class = "softdtw_error_no_device")
  expect_error(linear_recurrence_grad(1, 1, backend = "cuda"), class = "softdtw_error_no_device")
  expect_silent(softdtw(1, 2, backend = "auto"))
})

test_that("both backends agree", {
  skip_unless_device()
  x <- some_series()
  both <- function(f, ...) {
    expect_equal(
      f(..., backend = "cuda"), f(..., backend = "cpu"), tolerance = 1e-11, ignore_attr = "call"
    )
  }
  for (cost in softdtw:::cost_names) {
    both(softdtw, x, 2 + cos(1:20), cost = cost)
    both(softdtw_matrix, x, gamma = 0.1, cost = cost, window = 6)
    both(softdtw_grad, x[[2]], x[[3]], cost = cost, type = "divergence")
  }
  both(softdtw_alignment, x[[2]], x[[3]], gamma = 0)
  both(softdtw_cost, outer(1:9, 1:7, "-")^2, gamma = 0.5)
  both(softdtw_dist, x)
  both(softdtw_knn, x, k = 2)
  both(softdtw_loss, matrix(sin(1:60), 3), matrix(cos(1:60), 3))
})

test_that("single precision comes close", {
  skip_unless_device()
  x <- some_series()
  single <- softdtw_matrix(x, backend = "cuda", precision = "single")
  expect_equal(single, softdtw_matrix(x, backend = "cpu"), tolerance = 1e-5)
  expect_false(identical(single, softdtw_matrix(x, backend = "cuda")))
  g <- softdtw_grad(x[[2]], x[[3]], backend = "cuda", precision = "single")
  expect_equal(g, softdtw_grad(x[[2]], x[[3]], backend = "cpu"), tolerance = 1e-4)
})

test_that("a divergence with itself is exactly 0 on CUDA too", {
  skip_unless_device()
  x <- some_series()
  for (precision in c("double", "single")) {
    expect_identical(
      softdtw(x, x, type = "divergence", backend = "cuda", precision = precision), c(0, 0, 0)
    )
  }
})

with_environment <- function(values, code) {
  old <- Sys.getenv(names(values), NA)
  on.exit({
    Sys.unsetenv(names(values))
    if (any(!is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
  })
  do.call(Sys.setenv, as.list(values))
  force(code)
}

# The emulated device can be told to be small, several, or to fail.
skip_unless_emulated <- function() {
  skip_if_not(softdtw_info()$cuda$built == "emulated", "needs an emulated device")
}

test_that("little memory means smaller chunks and the same bits", {
  skip_unless_emulated()
  x <- lapply(rep(c(40, 90, 130), 6), function(n) sin(seq_len(n) / 9))
  all_at_once <- softdtw_dist(x, backend = "cuda")
  old <- options(softdtw.cuda.memory = 3e5)
  on.exit(options(old))
  expect_identical(unclass(softdtw_dist(x, backend = "cuda"))[], unclass(all_at_once)[])
  g <- softdtw_grad(x, x[[1]], backend = "cuda")
  options(old)
  expect_identical(softdtw_grad(x, x[[1]], backend = "cuda"), g)
})

test_that("several devices share the work and change no bit", {
  skip_unless_emulated()
  x <- lapply(rep(c(4, 9, 13), 9), function(n) sin(seq_len(n) / 9))
  one <- softdtw_matrix(x, backend = "cuda")
  b <- softdtw_barycenter(x, backend = "cuda", maxit = 3)$series
  with_environment(c(SOFTDTW_EMULATE_DEVICES = "3"), {
    expect_identical(softdtw_matrix(x, backend = "cuda"), one)
    expect_identical(softdtw_barycenter(x, backend = "cuda", maxit = 3)$series, b)
  })
})

test_that("too little memory and faults of the device are errors that leave it usable", {
  skip_unless_emulated()
  x <- sin(seq_len(200))
  value <- softdtw(x, rev(x), backend = "cuda")
  old <- options(softdtw.cuda.memory = 5e4)
  expect_error(softdtw_grad(x, rev(x), backend = "cuda"), class = "softdtw_error_device_memory")
  options(old)
  with_environment(c(SOFTDTW_EMULATE_FAIL = "1"), {
    expect_error(softdtw(x, rev(x), backend = "cuda"), "launch failed", class = "softdtw_error_device")
  })
  expect_identical(softdtw(x, rev(x), backend = "cuda"), value)
})

test_that("recurrences in pieces, in any order of threads, have the same bits", {
  skip_unless_emulated()
  a <- matrix(sin(1:60000), 20000)
  b <- matrix(cos(1:60000), 20000)
  run <- function() {
    list(
      linear_recurrence(a, b, 1:3, backend = "cuda"),
      linear_recurrence(t(a), t(b), 1:3, along = 2, reverse = TRUE, backend = "cuda"),
      linear_recurrence(a, b, 1:3, log = TRUE, backend = "cuda", precision = "single"),
      linear_recurrence(matrix(a, 3), matrix(b, 3), 1, backend = "cuda"),
      linear_recurrence(matrix(a[1:58800], 4200, 14), 1, backend = "cuda", along = 2),
      linear_recurrence_grad(a, b, 1:3, backend = "cuda")
    )
  }
  whole <- run()
  for (order in c("reverse", "random")) {
    with_environment(c(SOFTDTW_EMULATE_ORDER = order), expect_identical(run(), whole))
  }
  old <- options(softdtw.cuda.memory = 3e5)
  on.exit(options(old))
  expect_identical(run(), whole)
  options(softdtw.cuda.memory = 4e4)
  expect_error(linear_recurrence(a, b, backend = "cuda"), class = "softdtw_error_device_memory")
  expect_identical(linear_recurrence(a[, 1], 1, backend = "cpu")[1:2], c(1, 1 + sin(2)))
  options(old)
  for (launch in c("1", "2")) {
    with_environment(c(SOFTDTW_EMULATE_FAIL = launch), {
      expect_error(linear_recurrence_grad(a, b, backend = "cuda"), class = "softdtw_error_device")
    })
  }
  expect_identical(run(), whole)
})

test_that("what is kept on the device is never stale", {
  skip_unless_emulated()
  x <- as_series(some_series())
  before <- softdtw_matrix(x, backend = "cuda")
  x$values[7] <- x$values[7] + 1
  expect_equal(softdtw_matrix(x, backend = "cuda"), softdtw_matrix(x, backend = "cpu"))
  expect_false(identical(softdtw_matrix(x, backend = "cuda"), before))
  # more sets than are kept, round and round
  sets <- lapply(1:9, function(i) as_series(lapply(some_series(), `+`, i^2 / 10)))
  for (s in c(sets, sets)) {
    expect_equal(
      softdtw_matrix(s, x, backend = "cuda"), softdtw_matrix(s, x, backend = "cpu")
    )
  }
})

test_that("a forked child is told that CUDA does not survive a fork", {
  skip_unless_device()
  skip_on_os("windows")
  softdtw(1:3, 2:4, backend = "cuda")
  found <- parallel::mclapply(1:2, function(i) {
    tryCatch(softdtw(1:3, 2:4, backend = "cuda"), error = class)
  }, mc.cores = 2)
  expect_true(all(vapply(found, function(f) "softdtw_error_fork" %in% f, NA)))
})

test_that("\"auto\" leaves small and emulated work to the processor", {
  opts <- softdtw:::new_options()
  expect_identical(softdtw:::choose_backend(opts, 1e6, 10)$backend, "cpu")
  expect_identical(softdtw:::choose_backend(opts, 1e9, 1e8)$backend, "cpu")
  real <- softdtw_info()$cuda$built == "cuda" && has_device()
  expect_identical(
    softdtw:::choose_backend(opts, 1e9, 1e4)$backend, if (real) "cuda" else "cpu"
  )
})
