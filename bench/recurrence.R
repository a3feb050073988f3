# Races the three formulations of a linear recurrence, and soft-DTW's rows by scan against the
# package's own engines; writes their section of bench/RESULTS.md and bench/recurrence.png.
#
#   Rscript bench/recurrence.R [MOST]     MOST: the longest sequence, 1e8 by default (5 GB)
#
# The package must be installed. The C code of the race, bench/recurrence/, is compiled here
# together with the package's own core. SOFTDTW_BENCH_REPEATS (3) turns are taken of each, more of
# short ones, and the least counts, so that a machine with other work to do tells nearly the same.
# Results are compared before anything is timed. SOFTDTW_BENCH_THREADS (2) threads are tried for the
# recurrence; for soft-DTW by scan, whose threads wait for each other twice a row, only where it is
# set: on a machine with other work to do that takes for ever.

suppressPackageStartupMessages(library(softdtw))
repeats <- as.integer(c(Filter(nzchar, Sys.getenv("SOFTDTW_BENCH_REPEATS")), "3")[[1L]])
threads <- as.integer(c(Filter(nzchar, Sys.getenv("SOFTDTW_BENCH_THREADS")), "2")[[1L]])
most <- as.double(c(commandArgs(trailingOnly = TRUE), "1e8")[[1L]])
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
top <- normalizePath(file.path(here, ".."))

sys.source(file.path(here, "report.R"), globalenv())
race <- new.env()
sys.source(file.path(here, "recurrence", "race.R"), race)

# Formulations -------------------------------------------------------------------------------------

ways <- c(loop = 0L, `prefix sums` = 1L, `complex prefix sums` = 2L, scan = 3L)
kinds <- c(positive = 0L, signed = 1L, zeros = 2L)

# Nanoseconds a step, and the error where it is asked for.
formulation <- function(way, steps, sequences = 1, kind = "positive", threads = 1L,
                        error = FALSE) {
  turns <- as.integer(max(repeats, min(200, 1e8 / (steps * sequences))))
  if (way %in% c("prefix sums", "complex prefix sums")) {
    turns <- as.integer(max(1, min(repeats, 2e7 / (steps * sequences))))
  }
  got <- .C("bench_formulation", ways[[way]], as.double(steps), as.double(sequences),
    kinds[[kind]], as.integer(threads), turns,
    seconds = double(turns), error = as.double(error)
  )
  c(ns = 1e9 * min(got$seconds) / steps / sequences, error = got$error)
}

race_lengths <- function() {
  steps <- 10^(3:8)
  steps <- steps[steps <= most]
  one <- vapply(steps, \(n) {
    message("one sequence, ", n, " steps")
    c(
      formulation("prefix sums", n)[["ns"]], formulation("loop", n)[["ns"]],
      formulation("scan", n)[["ns"]], formulation("scan", n, threads = threads)[["ns"]]
    )
  }, double(4L))
  table <- data.frame(steps, 1, t(one))
  many <- vapply(steps[steps <= 1e5], \(n) {
    message("1000 sequences, ", n, " steps")
    c(
      formulation("prefix sums", n, 100)[["ns"]], formulation("loop", n, 1000)[["ns"]],
      formulation("scan", n, 1000)[["ns"]],
      formulation("scan", n, 1000, threads = threads)[["ns"]]
    )
  }, double(4L))
  table <- rbind(table, setNames(data.frame(steps[steps <= 1e5], 1000, t(many)), names(table)))
  setNames(table, c(
    "steps", "sequences", "prefix sums", "loop", "softdtw, 1 thread",
    sprintf("softdtw, %d threads", threads)
  ))
}

race_errors <- function() {
  cases <- expand.grid(kind = names(kinds), steps = c(1e3, 1e6), stringsAsFactors = FALSE)
  errors <- vapply(seq_len(nrow(cases)), \(i) {
    vapply(names(ways), \(way) {
      if (way == "prefix sums" && cases$kind[i] != "positive") {
        return(NA_real_)
      }
      formulation(way, cases$steps[i], kind = cases$kind[i], error = TRUE)[["error"]]
    }, 1)
  }, double(length(ways)))
  ns <- vapply(cases$kind, \(kind) formulation("complex prefix sums", 1e5, kind = kind)[["ns"]], 1)
  data.frame(cases[c("steps", "kind")], t(errors), `complex, ns a step` = ns,
    check.names = FALSE
  )
}

# Error of the package at 200 steps of ten million, relative to the largest |x|, and that of a loop.
reference_errors <- function() {
  fixtures <- file.path(top, "tests", "testthat")
  helper <- new.env()
  sys.source(file.path(fixtures, "helper-recurrence.R"), helper)
  reference <- utils::read.csv(file.path(fixtures, "fixtures", "recurrence.csv"))
  do.call(rbind, lapply(split(reference, reference$case), \(want) {
    case <- want$case[1L]
    log <- case == "growth"
    given <- helper$reference_coefficients(case, max(want$t))
    error <- \(x) {
      size <- if (log) abs(want$high) else max(abs(want$high))
      max(abs((x[want$t] - want$high) - want$low) / size)
    }
    x <- linear_recurrence(given$a, given$b, if (log) 0 else 1, log = log)
    loop <- if (log) NA else error(helper$loop_recurrence(given$a, given$b, 1))
    data.frame(case = case, softdtw = error(if (log) x$log else x), loop = loop)
  }))
}

# soft-DTW -----------------------------------------------------------------------------------------

# The least of several turns. One thread's time is that of the processor, which other work on the
# machine does not add to.
least_time <- function(f, clock = "user.self") {
  min(vapply(seq_len(3L * repeats), \(i) system.time(f())[[clock]], 1))
}

race_dtw <- function() {
  shapes <- list(c(32, 32, 4096), c(128, 128, 256), c(512, 512, 32), c(2048, 2048, 1),
    c(8192, 8192, 1), c(256, 65536, 1), c(65536, 256, 1)
  )
  rows <- lapply(shapes, \(shape) {
    message("soft-DTW ", paste(shape, collapse = " x "))
    p <- race$random_pairs(shape[1L], shape[2L], shape[3L])
    pack <- race$package_dtw(p$x, p$y, 1)$strip == 0L
    ns <- \(f, ...) 1e9 * least_time(f, ...) / prod(shape)
    row <- data.frame(
      rows = shape[1L], columns = shape[2L], pairs = shape[3L],
      packs = if (pack) ns(\() race$package_dtw(p$x, p$y, 1)) else NA,
      strips = ns(\() race$package_dtw(p$x, p$y, 1, alone = TRUE)),
      scan = ns(\() race$scan_dtw(p$x, p$y, 1))
    )
    if (nzchar(Sys.getenv("SOFTDTW_BENCH_THREADS"))) {
      row[[sprintf("scan, %d threads", threads)]] <- ns(
        \() race$scan_dtw(p$x, p$y, 1, threads), "elapsed"
      )
    }
    row
  })
  do.call(rbind, rows)
}

# Report -------------------------------------------------------------------------------------------

markdown <- function(table, digits = 3L) {
  text <- vapply(table, \(column) {
    if (!is.numeric(column)) {
      return(as.character(column))
    }
    shown <- if (all(column == round(column), na.rm = TRUE)) {
      format(column, big.mark = " ", scientific = FALSE, trim = TRUE)
    } else {
      formatC(column, digits = digits, format = "g", flag = "#")
    }
    ifelse(is.nan(column), "no answer", ifelse(is.na(column), "", sub("\\.$", "", shown)))
  }, character(nrow(table)))
  text <- matrix(text, nrow(table))
  c(
    paste0("| ", paste(names(table), collapse = " | "), " |"),
    paste0("|", strrep("---:|", ncol(table))),
    paste0("| ", apply(text, 1L, paste, collapse = " | "), " |")
  )
}

draw <- function(table, file) {
  grDevices::png(file, 900, 500, res = 110)
  on.exit(grDevices::dev.off())
  old <- graphics::par(mfrow = c(1, 2), mar = c(4, 4, 2.5, 1.5), las = 1)
  on.exit(graphics::par(old), add = TRUE, after = FALSE)
  colours <- c("#D55E00", "#000000", "#0072B2", "#56B4E9")
  for (sequences in unique(table$sequences)) {
    part <- table[table$sequences == sequences, ]
    graphics::matplot(part$steps, part[3:6],
      log = "xy", type = "o", pch = 16, lty = 1, lwd = 2, col = colours, xlab = "steps",
      ylab = "nanoseconds a step", ylim = range(table[3:6], 0.5),
      main = if (sequences == 1) "One sequence" else paste(sequences, "sequences")
    )
    if (sequences == 1) {
      graphics::legend(1e3, 30, names(table)[3:6],
        col = colours, lwd = 2, pch = 16, bty = "n", cex = 0.9
      )
    }
  }
}

processor <- function() {
  info <- tryCatch(readLines("/proc/cpuinfo"), error = \(e) "")
  model <- unique(sub(".*: *", "", grep("^model name", info, value = TRUE)))
  paste(c(model, "processor of unknown name")[[1L]], "with", parallel::detectCores(), "cores")
}

main <- function() {
  race$compile_race(top)
  softdtw_threads(1L)
  worst <- race$compare_scan(threads)
  stopifnot(worst <= 1e-13)
  lengths <- race_lengths()
  dtw <- race_dtw()
  draw(lengths, file.path(here, "recurrence.png"))
  write_section(c(
    "# Linear recurrences and soft-DTW's rows by scan", "",
    sprintf("Written by bench/recurrence.R: %s, instruction set %s, R %s, %s.", processor(),
      softdtw_info()$isa, getRversion(), softdtw_info()$compiler
    ), "",
    "## Three formulations, nanoseconds a step", "",
    "The plain loop; two prefix sums in log space (Heinsen 2023) in one pass of one thread; the",
    "package. Coefficients are positive, as the logarithms need.", "",
    markdown(lengths), "", "![](recurrence.png)", "",
    "## Three formulations, error", "",
    "Largest error of any step relative to the largest |x| so far, against a loop in long double.",
    "With signs the prefix sums are complex; a coefficient of 0 (one in 1000) has no logarithm.",
    "",
    markdown(race_errors(), 2L), "",
    "## Ten million steps against 60 digits", "",
    "Largest error at 200 steps, relative to the largest |x| (\"growth\": of log |x|, each step).",
    "", markdown(reference_errors(), 2L), "",
    "## soft-DTW, nanoseconds a cell", "",
    sprintf("The scan's values are those of softdtw() to %.1g. Packs and strips use one thread.",
      worst
    ), "",
    markdown(dtw), ""
  ), file.path(here, "RESULTS.md"))
}

main()
