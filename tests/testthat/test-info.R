test_that("softdtw_info() says what is in use", {
  info <- softdtw_info()
  expect_s3_class(info, "softdtw_info")
  expect_true(info$isa %in% info$isas)
  expect_identical(info$version, as.character(utils::packageVersion("softdtw")))
  expect_true(is.logical(info$openmp) && !is.na(info$openmp))
  expect_gte(info$processors, 1)
  expect_identical(as.integer(info$threads), as.integer(softdtw_threads()))
  expect_output(print(info), "threads")
})

test_that("softdtw_threads() asks, sets and goes back to the default", {
  before <- softdtw_threads()
  on.exit(softdtw_threads(before))
  expect_identical(softdtw_threads(1), before)
  expect_identical(as.integer(softdtw_threads()), 1L)
  softdtw_threads(3)
  expect_identical(as.integer(softdtw_threads()), 3L)
  expect_invisible(softdtw_threads(2L))
  softdtw_threads(0)
  expect_gte(softdtw_threads(), 1L)
})

test_that("wrong numbers of threads are errors and change nothing", {
  before <- softdtw_threads()
  expect_error_snapshot({
    softdtw_threads(-1)
    softdtw_threads(1.5)
    softdtw_threads(NA)
    softdtw_threads("2")
    softdtw_threads(1:2)
    softdtw_threads(1e9)
  })
  expect_identical(softdtw_threads(), before)
})

# The environment is read when a process starts, so a process of its own.
threads_under <- function(...) {
  code <- sprintf(
    ".libPaths(c(%s)); cat('threads', softdtw::softdtw_threads())",
    paste0("'", .libPaths(), "'", collapse = ", ")
  )
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)),
    stdout = TRUE, stderr = FALSE, env = c(...)
  )
  as.integer(sub("threads ", "", grep("^threads", out, value = TRUE)))
}

test_that("OMP_NUM_THREADS and OMP_THREAD_LIMIT bound the default", {
  skip_on_cran()
  skip_on_os("windows")
  expect_identical(threads_under("OMP_NUM_THREADS=1"), 1L)
  expect_identical(threads_under("OMP_THREAD_LIMIT=1"), 1L)
})
