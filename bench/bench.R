# Compares softdtw with other packages on the same inputs in the same process, ours and theirs by
# turns, and writes bench/RESULTS.md and bench/results.png. Called by bench/bench.sh with the
# libraries set.
#
#   Rscript bench/bench.R [PATTERN]    only the comparisons whose names match, and no file
#
# Results are compared before anything is timed; a peer with other results is named, not left out.
# SOFTDTW_BENCH_REPEATS (7) turns are taken of each, the medians count.

suppressPackageStartupMessages(library(softdtw))
repeats <- as.integer(c(Filter(nzchar, Sys.getenv("SOFTDTW_BENCH_REPEATS")), "7")[[1L]])
pattern <- c(commandArgs(trailingOnly = TRUE), "")[[1L]]
for (file in c("measure", "comparisons", "flat", "limit", "report")) {
  sys.source(file.path("bench", paste0(file, ".R")), globalenv())
}

softdtw::softdtw_threads(1L)
options(softdtw.backend = "cpu")
if (requireNamespace("RcppParallel", quietly = TRUE)) {
  RcppParallel::setThreadOptions(numThreads = 1L)
}
# loading it registers its distances with proxy; attaching it would change the kind of RNG
invisible(loadNamespace("dtwclust"))
invisible(loadNamespace("nloptr"))

# Comparisons --------------------------------------------------------------------------------------

units_of <- function(units, result) if (is.function(units)) units(result) else units

run_one <- function(one) {
  options(softdtw.isa = one$isa)
  ours <- one$ours()
  theirs <- one$theirs()
  a <- one$ours_of(ours)
  b <- one$theirs_of(theirs)
  difference <- (a - b) / pmax(1, abs(b))
  difference <- if (one$one_sided) max(difference) else max(abs(difference))
  seconds <- by_turns(one$ours, one$theirs, one$turns) /
    c(units_of(one$ours_units, ours), units_of(one$theirs_units, theirs))
  result <- data.frame(
    work = one$name, isa = one$isa, peer = one$peer, ours = stats::median(seconds[1L, ]),
    theirs = stats::median(seconds[2L, ]), ratio = stats::median(seconds[2L, ] / seconds[1L, ]),
    asked = one$asked, unit = one$unit, difference,
    unequal = isTRUE(difference > one$tolerance),
    our_memory = peak_megabytes(one$ours), their_memory = peak_megabytes(one$theirs)
  )
  cat(sprintf(
    "%s (%s): %s %.4g s a %s, softdtw %.4g s, ratio %.1f%s, difference %.1e, %.0f and %.0f MB\n",
    one$name, one$isa, one$peer, result$theirs, one$unit, result$ours, result$ratio,
    if (is.na(one$asked)) "" else sprintf(" (asked %g)", one$asked), difference,
    result$their_memory, result$our_memory
  ))
  result
}

# Report -------------------------------------------------------------------------------------------

machine <- function() {
  cpu <- if (file.exists("/proc/cpuinfo")) {
    line <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)
    sub("^[^:]*: *", "", c(line, "unknown processor")[[1L]])
  } else {
    Sys.info()[["machine"]]
  }
  sprintf(
    "%s, %d cores; %s %s; %s; %s", cpu, parallel::detectCores(), Sys.info()[["sysname"]],
    Sys.info()[["release"]], R.version.string, softdtw::softdtw_info()$compiler
  )
}

time_text <- function(seconds) {
  ifelse(seconds < 1e-3, sprintf("%.3g us", 1e6 * seconds),
    ifelse(seconds < 1, sprintf("%.3g ms", 1e3 * seconds), sprintf("%.3g s", seconds))
  )
}

table_text <- function(columns) {
  cells <- do.call(cbind, lapply(columns, as.character))
  c(
    paste("|", paste(names(columns), collapse = " | "), "|"),
    paste0("|", strrep("---|", length(columns))),
    apply(cells, 1L, \(row) paste("|", paste(row, collapse = " | "), "|"))
  )
}

comparisons_text <- function(results) {
  table_text(list(
    work = results$work, `instruction set` = results$isa, peer = results$peer, of = results$unit,
    theirs = time_text(results$theirs), ours = time_text(results$ours),
    ratio = sprintf("%.1f", results$ratio), asked = results$asked,
    difference = ifelse(is.na(results$difference), "", sprintf("%.0e", results$difference)),
    `memory, theirs and ours (MB)` = sprintf("%.0f, %.0f", results$their_memory, results$our_memory)
  ))
}

flat_text <- function(flat) {
  table_text(list(
    series = flat$series, steps = flat$steps, `ns a cell` = sprintf("%.2f", flat$ns),
    `memory (MB)` = sprintf("%.0f", flat$megabytes)
  ))
}

spread_of <- function(flat) max(flat$ns) / min(flat$ns)

limit_text <- function(limit) {
  if (is.null(limit)) {
    return("gcc or objdump was not at hand.")
  }
  table_text(list(
    `instruction set` = limit$isa, `instructions a vector of cells` = limit$instructions,
    operations = limit$operations, `clock (GHz)` = sprintf("%.2f", limit$ghz),
    `least ns a cell` = sprintf("%.2f", limit$least), `measured` = sprintf("%.2f", limit$ns),
    reached = sprintf("%.0f %%", 100 * limit$reached)
  ))
}

versions_text <- function(results) {
  peers <- unique(c("softdtw", results$peer))
  paste(peers, vapply(peers, \(p) format(utils::packageVersion(p)), ""), collapse = ", ")
}

write_results <- function(results, lengths, numbers, limit, path) {
  write_section(c(
    "# softdtw beside other packages", "",
    "Written by `make bench`; the comparisons are in `bench/comparisons.R`. One thread, double",
    "precision unless said, the same inputs, ours and theirs by turns,",
    sprintf("medians of %d turns (clusterings: 3). Ratio: theirs over ours, by turns.", repeats),
    "Difference: the largest relative one between the results; of objectives, ours less theirs.",
    "Memory: the peak of a call beyond what the process held before it.", "",
    "No GPU was at hand: `sh bench/gpu/run.sh` compares with the processor and prints the table of",
    "times where there is one. `fdars` (divergence matrices) could not be installed.", "",
    paste0("* ", machine()), paste0("* ", versions_text(results)), "",
    comparisons_text(results), "",
    "![ratios](results.png)", "",
    "## Cost against the work", "",
    "Self matrices of random walks, nanoseconds a cell of every pair's table.", "",
    flat_text(lengths), "",
    sprintf("Over lengths the dearest cell costs %.2f times the cheapest.", spread_of(lengths)), "",
    flat_text(numbers), "",
    sprintf("Over numbers of series: %.2f times.", spread_of(numbers)), "",
    "## The limit", "",
    "Vector instructions of the innermost loop of the forward kernel, counted in its object code,",
    "for a vector of cells (8 with AVX-512, 4 with AVX2); rounding and scaling take two operations",
    "each. Least: those and the three of the ground cost at two 512-bit or three 256-bit",
    "operations a cycle, at the clock measured beside the run. Measured: self matrix, T = 512.", "",
    limit_text(limit), "",
    "More than 100 % is reached where a core starts more than that in a cycle, as AMD's fifth Zen",
    "does, with up to four.",
    "What takes the rest: the chain from the left neighbour through the maximum, the scaling and",
    "the sum to the next cell, which two rows side by side fill only in part; loads and stores of",
    "costs and borders; loading the pairs and the logarithm of each value."
  ), path)
}

draw_results <- function(results, path) {
  grDevices::png(path, 1300, 80 + 34 * nrow(results), res = 110, type = "cairo")
  on.exit(grDevices::dev.off())
  rows <- rev(seq_len(nrow(results)))
  labels <- sprintf("%s (%s)", results$work, results$isa)[rows]
  graphics::par(las = 1, cex = 0.8)
  room <- max(graphics::strwidth(labels, "inches"))
  graphics::par(mai = c(0.7, room + 0.3, 0.1, 0.4))
  at <- graphics::barplot(
    results$ratio[rows],
    horiz = TRUE, log = "x", xlim = c(1, 200), names.arg = labels, border = NA, col = "grey80",
    xlab = "times as fast as the peer (line: asked)"
  )
  graphics::segments(results$asked[rows], at - 0.5, y1 = at + 0.5, lwd = 2)
  graphics::text(1, at, sprintf("%.1f", results$ratio[rows]), pos = 4)
}

wanted <- Filter(\(one) grepl(pattern, one$name), comparisons())
if (!length(wanted)) stop("no comparison is named like ", pattern, call. = FALSE)
cat(machine(), "\n", sep = "")
results <- do.call(rbind, lapply(wanted, run_one))
if (!nzchar(pattern)) {
  options(softdtw.isa = best_isa)
  lengths <- flat_lengths(repeats)
  numbers <- flat_numbers(repeats)
  print(lengths)
  print(numbers)
  limit <- limits(normalizePath("."))
  print(limit)
  write_results(results, lengths, numbers, limit, file.path("bench", "RESULTS.md"))
  draw_results(results, file.path("bench", "results.png"))
}

unequal <- results$unequal
slow <- !is.na(results$asked) & results$ratio < results$asked
for (i in which(unequal)) cat("other results:", results$work[[i]], "of", results$peer[[i]], "\n")
for (i in which(slow)) cat("below the ratio asked:", results$work[[i]], results$isa[[i]], "\n")
quit(status = as.integer(any(unequal | slow)))
