# Read once when the tests start. The instruction set, the number of threads and the backend can be
# given from outside, so that the whole suite runs once per variant.

test_isa <- Sys.getenv("SOFTDTW_TEST_ISA")
test_threads <- as.integer(Sys.getenv("SOFTDTW_TEST_THREADS", "2"))
if (is.na(test_threads)) test_threads <- 2L

test_backend <- Sys.getenv("SOFTDTW_TEST_BACKEND")

if (nzchar(test_backend)) options(softdtw.backend = test_backend)
if (nzchar(test_isa)) options(softdtw.isa = test_isa)
softdtw_threads(test_threads)

# Tests of minutes or gigabytes run only when asked for.
skip_unless_long <- function() {
  asked <- nzchar(Sys.getenv("SOFTDTW_TEST_LONG")) || nzchar(Sys.getenv("SOFTDTW_EXTENDED_TESTS"))
  skip_if_not(asked, "a long test: set SOFTDTW_TEST_LONG=1")
}

has_device <- function() .Call(softdtw:::ffi_cuda)$count > 0

skip_unless_device <- function() skip_if_not(has_device(), "no device")

# Evaluates `code` with the random numbers that `seed` starts; the stream outside is not moved.
with_seed <- function(seed, code) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) {
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", old, globalenv())
  })
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  force(code)
}

with_threads <- function(n, code) {
  old <- softdtw_threads()
  on.exit(softdtw_threads(old))
  softdtw_threads(n)
  force(code)
}

with_isa <- function(isa, code) {
  old <- options(softdtw.isa = isa)
  on.exit(options(old))
  force(code)
}

# The largest |object - want| over its tolerance; 1 or less passes. NaN and Inf never do.
excess <- function(object, want, tolerance) {
  object <- as.double(object)
  want <- as.double(want)
  if (length(object) != length(want) || !all(is.finite(object))) {
    return(Inf)
  }
  off <- abs(object - want)
  max(ifelse(off == 0, 0, off / tolerance), 0)
}

expect_within <- function(object, want, tolerance, info = NULL) {
  label <- paste(c("deviation over tolerance", info), collapse = ", ")
  expect_lte(excess(object, want, tolerance), 1, label = label)
}

expect_relative <- function(object, want, relative = 1e-12, info = NULL) {
  expect_within(object, want, relative * max(abs(want)), info)
}

# Runs a function on a null graphics device; TRUE when par() is as before.
draws_quietly <- function(draw) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  before <- graphics::par(no.readonly = TRUE)
  expect_no_warning(expect_no_error(draw()))
  after <- graphics::par(no.readonly = TRUE)
  moved <- c("new", "usr", "xaxp", "yaxp", "xlog", "ylog", "mfg")
  keep <- setdiff(names(before), moved)
  identical(before[keep], after[keep])
}
