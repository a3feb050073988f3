# The project's case files, where they are at hand: SOFTDTW_CASES names their folder (any other word
# than a folder says "none"); otherwise it is looked for beside the source tree.

cases_folder <- function() {
  asked <- Sys.getenv("SOFTDTW_CASES")
  places <- if (nzchar(asked)) {
    asked
  } else {
    test_path(c("../../../shared/cases", "../../../../shared/cases"))
  }
  found <- places[file.exists(file.path(places, "check.R"))]
  if (length(found)) normalizePath(found[[1L]])
}

run_case_files <- function(dir, slow) {
  tools <- new.env(parent = globalenv())
  sys.source(file.path(dir, "check.R"), tools)
  sys.source(file.path(dir, "api.R"), tools)
  utils::capture.output(
    out <- suppressWarnings(
      tools$run_cases(tools$soft_api, dir = file.path(dir, "json"), slow = slow)
    )
  )
  out
}

test_that("worked examples small enough to do by hand come out", {
  # three by three, the diagonal path costs 4 and no other less
  expect_identical(softdtw(c(2, 5, 1), c(4, 5, 1), gamma = 0), 4)
  # one path: costs add up, gamma does not matter
  expect_identical(softdtw(1, c(1, 2, 4), gamma = 0), 10)
  expect_equal(softdtw(1, c(1, 2, 4), gamma = 7), 10, tolerance = 1e-14)
  # two by two equal series: three paths of cost 0
  expect_equal(softdtw(c(1, 1), c(1, 1), gamma = 2), -2 * log(3), tolerance = 1e-14)
  # costs 0 1 / 1 0: the diagonal costs 0, the corners 1 each
  expect_equal(softdtw(0:1, 0:1), -log(1 + 2 * exp(-1)), tolerance = 1e-14)
  expect_equal(
    shares_of(0:1, 0:1), matrix(c(1, 0, 0, 1), 2) + exp(-1) / (1 + 2 * exp(-1)) * c(0, 1, 1, 0),
    tolerance = 1e-14
  )
})

test_that("every case file passes within its own tolerance", {
  skip_if_not_installed("jsonlite")
  dir <- cases_folder()
  skip_if(is.null(dir), "no case files here")
  out <- run_case_files(dir, slow = FALSE)
  expect_gt(nrow(out), 100)
  expect_identical(out$id[!out$ok], character())
})

test_that("the long case files pass too", {
  skip_unless_long()
  skip_if_not_installed("jsonlite")
  dir <- cases_folder()
  skip_if(is.null(dir), "no case files here")
  out <- run_case_files(dir, slow = TRUE)
  expect_identical(out$id[!out$ok], character())
})
