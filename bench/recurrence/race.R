# What bench/recurrence.R and the test of soft-DTW by scan have in common. `top` is the folder of
# the package's sources.

# Compiles the C files beside this one together with the package's core, and loads them.
compile_race <- function(top) {
  folder <- tempfile("race")
  dir.create(file.path(folder, "core"), recursive = TRUE)
  file.copy(Sys.glob(file.path(top, "bench", "recurrence", "*.c")), folder)
  file.copy(Sys.glob(file.path(top, "src", "core", "*.[ch]")), file.path(folder, "core"))
  writeLines(
    sprintf("#include \"core/vec-%s.h\"", softdtw::softdtw_info()$isa),
    file.path(folder, "race-isa.h")
  )
  writeLines(c(
    "PKG_CPPFLAGS = -I.", "PKG_CFLAGS = $(SHLIB_OPENMP_CFLAGS)", "PKG_LIBS = $(SHLIB_OPENMP_CFLAGS)"
  ), file.path(folder, "Makevars"))
  old <- setwd(folder)
  on.exit(setwd(old))
  sources <- c(Sys.glob("*.c"), Sys.glob("core/*.c"))
  output <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", "race.so", sources),
    stdout = TRUE, stderr = TRUE
  ))
  if (!file.exists("race.so")) {
    stop(paste(output, collapse = "\n"), call. = FALSE)
  }
  dyn.load(file.path(folder, "race.so"))
}

# Values of pairs of series, which are the columns of x and y.

scan_dtw <- function(x, y, gamma, threads = 1L) {
  .C("bench_scan", x, nrow(x), y, nrow(y), ncol(x), as.double(gamma), as.integer(threads),
    value = double(ncol(x))
  )$value
}

# alone: one pair at a time, never in packs. `strip` is 1 where the last pair was a strip.
package_dtw <- function(x, y, gamma, alone = FALSE) {
  .C("bench_package", x, nrow(x), y, nrow(y), ncol(x), as.double(gamma), as.integer(alone),
    value = double(ncol(x)), strip = 0L
  )[c("value", "strip")]
}

random_pairs <- function(n, m, count) {
  set.seed(42)
  list(x = matrix(stats::rnorm(n * count), n), y = matrix(stats::rnorm(m * count), m))
}

columns <- function(m) lapply(seq_len(ncol(m)), \(k) m[, k])

# The largest difference between the scan's values and softdtw()'s over shapes and gammas, relative
# to the size of what is summed.
compare_scan <- function(threads) {
  shapes <- list(
    c(1, 1, 1), c(1, 20, 3), c(20, 1, 3), c(7, 9, 5), c(33, 17, 20), c(300, 500, 5), c(1500, 900, 1)
  )
  cases <- expand.grid(shape = shapes, gamma = c(1e-3, 0.1, 1, 100), threads = c(1L, threads))
  max(mapply(\(shape, gamma, threads) {
    p <- random_pairs(shape[1L], shape[2L], shape[3L])
    want <- softdtw::softdtw(columns(p$x), columns(p$y), gamma)
    size <- abs(want) + gamma * sum(shape[1:2]) * log(3)
    max(abs(scan_dtw(p$x, p$y, gamma, threads) - want) / size)
  }, cases$shape, cases$gamma, cases$threads))
}
