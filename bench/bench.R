# Compares softdtw with other packages on the same inputs in the same process, ours and theirs by
# turns, and writes bench/RESULTS.md. Called by bench/bench.sh with the libraries set.
#
#   Rscript bench/bench.R [PATTERN]    only the comparisons whose names match
#
# A comparison is one entry of comparisons(): what is done, the other package, the ratio asked
# (theirs over ours, NA where only the figure is wanted), two functions, and the values that their
# results have in common.
# Results are compared before anything is timed; a peer with other results is named, not left out.
# SOFTDTW_BENCH_REPEATS (5) turns are taken of each, the medians count.

suppressPackageStartupMessages(library(softdtw))
repeats <- as.integer(c(Filter(nzchar, Sys.getenv("SOFTDTW_BENCH_REPEATS")), "7")[[1L]])
pattern <- c(commandArgs(trailingOnly = TRUE), "")[[1L]]

softdtw::softdtw_threads(1L)
if (requireNamespace("RcppParallel", quietly = TRUE)) {
  RcppParallel::setThreadOptions(numThreads = 1L)
}
# loading it registers its distances with proxy; attaching it would change the kind of RNG
invisible(loadNamespace("dtwclust"))

random_walks <- function(n, steps, dims = 1L) {
  set.seed(42)
  one <- function(t) {
    m <- apply(matrix(stats::rnorm(t * dims), t), 2L, cumsum)
    if (dims == 1L) as.vector(m) else m
  }
  lapply(rep_len(steps, n), one)
}

lower <- function(m) {
  m <- as.matrix(m)
  as.vector(m[lower.tri(m)])
}

# Comparisons ------------------------------------------------------------------------------------

self_matrix <- function(name, x, asked, isa = best_isa, gamma = 1) {
  list(
    name = paste("self matrix,", name), peer = "dtwclust", asked = asked, isa = isa,
    units = length(x) * (length(x) - 1) / 2, unit = "pair",
    ours = \() softdtw::softdtw_matrix(x, gamma = gamma),
    theirs = \() suppressWarnings(proxy::dist(x, method = "sdtw", gamma = gamma)),
    values = lower
  )
}

# dtwclust gives the root of the squared cost
hard_matrix <- function(x, asked) {
  list(
    name = "hard DTW matrix (gamma = 0), 100 random walks, T = 128", peer = "dtwclust",
    asked = asked, isa = best_isa, units = length(x) * (length(x) - 1) / 2, unit = "pair",
    ours = \() softdtw::softdtw_matrix(x, gamma = 0),
    theirs = \() {
      suppressWarnings(
        proxy::dist(x, method = "dtw_basic", norm = "L2", step.pattern = dtw::symmetric1)
      )^2
    },
    values = lower
  )
}

one_pair <- function(x, asked) {
  list(
    name = "one pair, T = 4000, value", peer = "dtwclust", asked = asked, isa = best_isa,
    units = 1, unit = "pair",
    ours = \() softdtw::softdtw(x[[1L]], x[[2L]], gamma = 1),
    theirs = \() dtwclust::sdtw(x[[1L]], x[[2L]], gamma = 1),
    values = as.numeric
  )
}

# Ourselves with and without something; `tolerance` is NA where the results are not to be equal.
ourselves <- function(name, x, asked, plain, other, tolerance = 1e-8) {
  list(
    name = name, peer = "softdtw", asked = asked, isa = best_isa, tolerance = tolerance,
    units = length(x) * (length(x) - 1) / 2, unit = "pair",
    ours = other, theirs = plain, values = lower
  )
}

best_isa <- softdtw::softdtw_info()$isa

comparisons <- function() {
  walks <- random_walks(100L, 128L)
  # what the fastest instruction sets are asked for
  asked <- c(generic = 6, avx2 = 22, avx512 = 50)
  of <- "random walks"
  matrix_of <- \(...) softdtw::softdtw_matrix(walks, gamma = 1, ...)
  set.seed(7)
  c(
    lapply(rev(softdtw::softdtw_info()$isas), \(isa) {
      self_matrix(paste("100", of, "T = 128"), walks, asked[[isa]], isa)
    }),
    list(
      self_matrix(paste("200", of, "T = 32"), random_walks(200L, 32L), 40),
      self_matrix(paste("20", of, "T = 512"), random_walks(20L, 512L), 40),
      self_matrix(paste("6", of, "T = 2048"), random_walks(6L, 2048L), 40),
      self_matrix(
        paste("60", of, "lengths 50 to 200"), random_walks(60L, sample(50:200, 60L, TRUE)), 40
      ),
      self_matrix(paste("40", of, "T = 128, 3 dimensions"), random_walks(40L, 128L, 3L), 40),
      self_matrix(paste("40", of, "T = 128, 16 dimensions"), random_walks(40L, 128L, 16L), 25),
      self_matrix(paste("40", of, "T = 128, 64 dimensions"), random_walks(40L, 128L, 64L), 20),
      one_pair(random_walks(2L, 4000L), 20),
      hard_matrix(walks, 5),
      ourselves("window of 10 % against none", walks, 4, matrix_of, \() matrix_of(window = 13), NA),
      ourselves("two threads against one", walks, 1.8, matrix_of, \() matrix_of(threads = 2L)),
      ourselves(
        "single precision against double", walks, 1.7, matrix_of,
        \() matrix_of(precision = "single"), 1e-5
      )
    )
  )
}

# Timing -----------------------------------------------------------------------------------------

elapsed <- function(f, times = 1L) {
  system.time(for (i in seq_len(times)) f(), gcFirst = FALSE)[["elapsed"]] / times
}

# how often to call f so that a turn takes a tenth of a second
calls_per_turn <- function(f) max(1L, as.integer(ceiling(0.1 / max(elapsed(f), 1e-4))))

run_one <- function(one) {
  options(softdtw.isa = one$isa)
  a <- one$values(one$ours())
  b <- one$values(one$theirs())
  difference <- max(abs(a - b) / pmax(1, abs(b)))
  calls <- c(calls_per_turn(one$ours), calls_per_turn(one$theirs))
  ours <- theirs <- numeric(repeats)
  for (i in seq_len(repeats)) {
    ours[[i]] <- elapsed(one$ours, calls[[1L]])
    theirs[[i]] <- elapsed(one$theirs, calls[[2L]])
  }
  result <- data.frame(
    work = one$name, isa = one$isa, peer = one$peer,
    theirs = stats::median(theirs), ours = stats::median(ours),
    ratio = stats::median(theirs) / stats::median(ours), asked = one$asked,
    per_unit = sprintf("%.3g us a %s", 1e6 * stats::median(ours) / one$units, one$unit),
    difference = difference,
    unequal = isTRUE(difference > c(one$tolerance, 1e-8)[[1L]])
  )
  cat(sprintf(
    "%s (%s): %s %.4g s, softdtw %.4g s, ratio %.1f%s, largest relative difference %.1e\n",
    one$name, one$isa, one$peer, result$theirs, result$ours, result$ratio,
    if (is.na(one$asked)) "" else sprintf(" (asked %g)", one$asked), difference
  ))
  result
}

machine <- function() {
  cpu <- if (file.exists("/proc/cpuinfo")) {
    line <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)
    sub("^[^:]*: *", "", c(line, "unknown processor")[[1L]])
  } else {
    Sys.info()[["machine"]]
  }
  sprintf(
    "%s; %s %s; %s; %s", cpu, Sys.info()[["sysname"]], Sys.info()[["release"]], R.version.string,
    softdtw::softdtw_info()$compiler
  )
}

write_results <- function(results, path) {
  peers <- unique(c("softdtw", results$peer))
  versions <- vapply(peers, \(p) format(utils::packageVersion(p)), "")
  lines <- c(
    "# softdtw beside other packages",
    "",
    "Written by `make bench`; the comparisons are in `bench/bench.R`. One thread, double",
    "precision unless said, the same inputs, ours and theirs by turns,",
    sprintf("medians of %d turns each. Ratio: theirs over ours.", repeats),
    "",
    "Recurrences are in RESULTS-recurrence.md. No GPU was at hand: `sh bench/gpu/run.sh` compares",
    "with the processor and prints the table of times where there is one.",
    "",
    paste0("* ", machine()),
    paste0("* ", paste(peers, versions, collapse = ", ")),
    "",
    paste(
      "| work | instruction set | peer | theirs (s) | ours (s) | ratio | asked | ours",
      "| largest relative difference |"
    ),
    "|---|---|---|---|---|---|---|---|---|",
    sprintf(
      "| %s | %s | %s | %.4g | %.4g | %.1f | %s | %s | %.1e |", results$work, results$isa,
      results$peer, results$theirs, results$ours, results$ratio,
      ifelse(is.na(results$asked), "", format(results$asked)), results$per_unit, results$difference
    )
  )
  writeLines(lines, path)
}

wanted <- Filter(\(one) grepl(pattern, one$name), comparisons())
if (!length(wanted)) stop("no comparison is named like ", pattern, call. = FALSE)
cat(machine(), "\n", sep = "")
results <- do.call(rbind, lapply(wanted, run_one))
if (!nzchar(pattern)) write_results(results, file.path("bench", "RESULTS.md"))

unequal <- results$unequal
slow <- !is.na(results$asked) & results$ratio < results$asked
for (i in which(unequal)) cat("other results:", results$work[[i]], "of", results$peer[[i]], "\n")
for (i in which(slow)) cat("below the ratio asked:", results$work[[i]], results$isa[[i]], "\n")
quit(status = as.integer(any(unequal | slow)))
