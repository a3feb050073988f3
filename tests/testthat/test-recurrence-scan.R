# Soft-DTW with each row by scan is not in the package: it is compiled from bench/, and only where
# the sources are at hand.

test_that("soft-DTW by scan has the values of softdtw()", {
  skip_on_cran()
  top <- test_path("..", "..")
  skip_if_not(file.exists(file.path(top, "bench", "recurrence", "race.R")), "no bench/ here")
  race <- new.env()
  sys.source(file.path(top, "bench", "recurrence", "race.R"), race)
  library <- race$compile_race(normalizePath(top))
  on.exit(dyn.unload(library[["path"]]))
  expect_lte(race$compare_scan(threads = 2L), 1e-13)
})
