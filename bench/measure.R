# Time and memory of a call.

elapsed <- function(f, times = 1L) {
  system.time(for (i in seq_len(times)) f(), gcFirst = FALSE)[["elapsed"]] / times
}

# how often to call f so that a turn takes a tenth of a second
calls_per_turn <- function(f) max(1L, as.integer(ceiling(0.1 / max(elapsed(f), 1e-4))))

# Seconds of both, a column for each turn.
by_turns <- function(ours, theirs, turns) {
  calls <- c(calls_per_turn(ours), calls_per_turn(theirs))
  vapply(
    seq_len(turns), \(i) c(elapsed(ours, calls[[1L]]), elapsed(theirs, calls[[2L]])), double(2L)
  )
}

# Megabytes that a call needs at its peak beyond what the process had before, its result included;
# NA where the system does not tell.
peak_megabytes <- function(f) {
  resident <- function(what) {
    line <- grep(paste0("^", what), readLines("/proc/self/status"), value = TRUE)
    as.double(gsub("[^0-9]", "", line)) / 1024
  }
  gc()
  reset <- tryCatch(
    suppressWarnings({
      cat("5\n", file = "/proc/self/clear_refs")
      TRUE
    }),
    error = \(e) FALSE
  )
  if (!reset) {
    return(NA_real_)
  }
  before <- resident("VmRSS")
  f()
  max(0, resident("VmHWM") - before)
}
