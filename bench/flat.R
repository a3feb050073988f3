# Whether the cost grows as the work does: nanoseconds a cell over lengths and numbers of series.

ns_per_cell <- function(n, steps, turns) {
  x <- softdtw::as_series(random_walks(n, steps))
  run <- \() softdtw::softdtw_matrix(x, gamma = 1)
  cells <- (pairs_of(x) + n) * as.double(steps)^2
  calls <- max(1, ceiling(1e8 / cells))
  seconds <- numeric()
  megabytes <- peak_megabytes(\() seconds <<- elapsed(run, calls))
  while (length(seconds) < turns && sum(seconds) * calls < 20) {
    seconds <- c(seconds, elapsed(run, calls))
  }
  data.frame(series = n, steps, ns = 1e9 * stats::median(seconds) / cells, megabytes)
}

flat_lengths <- function(turns) {
  steps <- c(32L, 64L, 128L, 256L, 512L, 1024L, 2048L, 4096L, 8192L)
  number <- c(300L, 200L, 100L, 60L, 30L, 16L, 8L, 6L, 4L)
  do.call(rbind, Map(ns_per_cell, number, steps, turns))
}

flat_numbers <- function(turns) {
  do.call(rbind, lapply(c(10L, 30L, 100L, 300L, 1000L, 3000L), ns_per_cell, 128L, turns))
}
