# Runs the test suite against the installed package and counts what ran.
#   Rscript tools/run-tests.R [--counts | --no-counts] [--out=FILE] [--long]
# Fails when a test fails, stops or warns, when a test file ran nothing, and when fewer tests or
# expectations ran than tests/expected-counts.csv says. --counts rewrites that file after a green
# run; --out writes this run's counts to a file; --long runs the files with tests of minutes, those
# tests included; it and --no-counts compare no counts. SOFTDTW_TEST_ISA and SOFTDTW_TEST_THREADS
# choose the instruction set and the number of threads.

args <- commandArgs(trailingOnly = TRUE)
long <- "--long" %in% args
if (long) Sys.setenv(SOFTDTW_TEST_LONG = "1")
value_of <- function(flag) sub("^[^=]*=", "", grep(paste0("^", flag, "="), args, value = TRUE))
counts_file <- file.path("tests", "expected-counts.csv")
folder <- file.path("tests", "testthat")

# the suite stands on its own: reference cases beside this folder are a matter of CI
if (!nzchar(Sys.getenv("SOFTDTW_CASES"))) Sys.setenv(SOFTDTW_CASES = "none")

suppressPackageStartupMessages({
  library(testthat)
  library(softdtw)
})
variant <- sprintf(
  "%s, %s thread(s)",
  c(Filter(nzchar, Sys.getenv("SOFTDTW_TEST_ISA")), "best instruction set")[[1L]],
  c(Filter(nzchar, Sys.getenv("SOFTDTW_TEST_THREADS")), "default")[[1L]]
)
cat("softdtw", format(utils::packageVersion("softdtw")), "on", R.version.string, "-", variant, "\n")

files <- basename(list.files(folder, "^test-.*\\.[rR]$"))
if (long) {
  has_long <- \(f) any(grepl("skip_unless_long()", readLines(file.path(folder, f)), fixed = TRUE))
  files <- Filter(has_long, files)
}
stem <- sub("\\.[rR]$", "", sub("^test-", "", files))

reporter <- if (interactive() || !nzchar(Sys.getenv("CI"))) "summary" else "check"
seconds <- system.time(
  results <- test_dir(folder,
    filter = paste0("^(", paste(stem, collapse = "|"), ")$"), package = "softdtw",
    load_package = "installed", reporter = reporter, stop_on_failure = FALSE
  )
)[["elapsed"]]
results <- as.data.frame(results)

ran <- results[!results$skipped & results$nb > 0L, , drop = FALSE]
per_file <- function(x, by) vapply(files, \(f) sum(x[by == f]), 0)
counts <- data.frame(
  file = files,
  tests = per_file(rep(1, nrow(ran)), ran$file),
  expectations = per_file(ran$nb, ran$file),
  row.names = NULL
)

faults <- character()
fault <- function(...) faults <<- c(faults, paste0(...))
bad <- results[results$failed > 0L | results$error, , drop = FALSE]
for (i in seq_len(nrow(bad))) fault(bad$file[[i]], ": failed: ", bad$test[[i]])
warned <- results[results$warning > 0L, , drop = FALSE]
for (i in seq_len(nrow(warned))) fault(warned$file[[i]], ": warned: ", warned$test[[i]])
compared <- !long && !"--no-counts" %in% args
if (compared) for (f in counts$file[counts$tests == 0]) fault(f, ": no test ran")

write_counts <- function(path) {
  utils::write.csv(counts, path, row.names = FALSE, quote = FALSE, eol = "\n")
}
if ("--counts" %in% args && !length(faults)) write_counts(counts_file)
for (path in value_of("--out")) write_counts(path)

if (!compared) {
  cat("counts are not compared\n")
} else if (file.exists(counts_file)) {
  wanted <- utils::read.csv(counts_file)
  for (i in seq_len(nrow(wanted))) {
    have <- counts[match(wanted$file[[i]], counts$file), ]
    for (what in c("tests", "expectations")) {
      if (is.na(have[[what]]) || have[[what]] < wanted[[what]][[i]]) {
        fault(
          wanted$file[[i]], ": ", if (is.na(have[[what]])) 0 else have[[what]], " ", what,
          " ran, ", wanted[[what]][[i]], " expected"
        )
      }
    }
  }
} else {
  fault(counts_file, " is missing: sh tools/test.sh --counts writes it")
}

skipped <- table(results$file[results$skipped])
for (f in names(skipped)) cat("skipped in ", f, ": ", skipped[[f]], "\n", sep = "")
cat(sprintf(
  "%s: %d tests with %d expectations ran in %d files, %d skipped, %.0f s\n",
  variant, sum(counts$tests), sum(counts$expectations), length(files), sum(skipped), seconds
))
if (length(faults)) {
  cat("\n")
  writeLines(faults)
  cat(sprintf("%d failed\n", length(faults)))
  quit(status = 1L)
}
cat(sprintf("%d passed, 0 failed\n", sum(counts$tests)))
