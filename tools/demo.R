# The main job of the package on real data: soft-DTW k-means, a printed summary, a plot.
#
# Without DATA: the laboratory courses of the liver patients in survival::pbcseq, four quantities at
# unequal numbers of visits. With DATA=file.csv: a person's own series, wide or long.
# Environment: DATA; K (clusters, default 3); GAMMA (default: from the data's scale); OUT (folder
# for the plot and the table, default out/); MISSING=error|omit|interpolate (gaps inside series);
# SERIES, TIME, VALUES (names of the columns of a long file where they cannot be guessed).

reader <- new.env()
sys.source(file.path("tools", "demo-read.R"), reader)

complain <- function(...) {
  message("softdtw demo: ", ...)
  quit(save = "no", status = 1L)
}
setting <- function(name, default = "") {
  value <- trimws(Sys.getenv(name))
  if (nzchar(value)) value else default
}
number_setting <- function(name, default, whole) {
  value <- suppressWarnings(as.numeric(setting(name, default)))
  if (is.na(value) || !is.finite(value) || value < whole || whole && value != round(value)) {
    want <- if (whole) "a whole number of 1 or more" else "0 or a positive number"
    complain(name, "=", setting(name), " is not ", want, ".")
  }
  value
}
heading <- function(...) cat("\n", ..., "\n", sep = "")

# Laboratory courses of patients with primary biliary cholangitis and at least four visits
liver_courses <- function() {
  d <- survival::pbcseq
  d <- data.frame(
    id = d$id, status = d$status, bilirubin = log(d$bili), albumin = d$albumin,
    prothrombin = log(d$protime), AST = log(d$ast)
  )
  d <- d[d$id %in% names(which(table(d$id) >= 4L)), ]
  by_patient <- split(d, d$id)
  end <- factor(vapply(by_patient, \(p) p$status[[1L]], 0L), 0:2, c("alive", "transplant", "died"))
  names(by_patient) <- paste("patient", names(by_patient))
  list(
    series = lapply(by_patient, \(p) as.matrix(p[c("bilirubin", "albumin", "prothrombin", "AST")])),
    truth = end, missing = 0L, notes = character()
  )
}

# Every dimension to mean 0 and standard deviation 1 over all series together
standardise <- function(series) {
  all <- do.call(rbind, series)
  middle <- colMeans(all, na.rm = TRUE)
  spread <- apply(all, 2L, stats::sd, na.rm = TRUE)
  spread[!is.finite(spread) | spread == 0] <- 1
  lapply(series, \(m) sweep(sweep(m, 2L, middle), 2L, spread, "/"))
}

# A picture with room for so many panels
open_picture <- function(path_without_end, rows, columns) {
  width <- min(max(900, 120 + 360 * columns), 3600)
  height <- min(max(650, 100 + 170 * rows), 3600)
  if (isTRUE(capabilities("cairo")) || isTRUE(capabilities("png"))) {
    path <- paste0(path_without_end, ".png")
    grDevices::png(path, width = width, height = height, res = 130)
  } else {
    path <- paste0(path_without_end, ".pdf")
    grDevices::pdf(path, width = width / 130, height = height / 130)
  }
  path
}

run <- function() {
  k <- number_setting("K", "3", whole = TRUE)
  missing <- setting("MISSING", "error")
  if (!missing %in% c("error", "omit", "interpolate")) {
    complain("MISSING=", missing, " is none of error, omit and interpolate.")
  }
  file <- Sys.getenv("DATA")
  data <- if (nzchar(file)) {
    reader$read_series_file(file, setting("SERIES"), setting("TIME"), setting("VALUES"))
  } else {
    liver_courses()
  }
  n <- length(data$series)
  if (k > n) {
    where <- if (nzchar(file)) file else "the liver data"
    complain("K=", k, " clusters are more than the ", n, " series in ", where, ".")
  }
  if (data$missing > 0L && missing == "error") {
    complain(
      data$first_gap, ": a value is missing inside a series",
      if (data$missing > 1L) sprintf(" (and %d more)", data$missing - 1L),
      ". Fill it, or say MISSING=interpolate (or omit)."
    )
  }

  steps <- vapply(data$series, nrow, 0L)
  dims <- colnames(data$series[[1L]])
  heading(if (nzchar(file)) {
    paste0("Series of ", file, " (read as a ", data$form, " file)")
  } else {
    "Laboratory courses of liver patients (survival::pbcseq), logarithms of skewed quantities"
  })
  cat(sprintf(
    "%d series of %s steps, %d value%s a step%s\n", n,
    if (min(steps) == max(steps)) min(steps) else sprintf("%d to %d", min(steps), max(steps)),
    ncol(data$series[[1L]]), if (ncol(data$series[[1L]]) == 1L) "" else "s",
    if (length(dims)) paste0(": ", paste(dims, collapse = ", ")) else ""
  ))
  for (note in data$notes) cat(note, "\n", sep = "")
  if (data$missing > 0L) {
    how <- c(interpolate = "interpolated", omit = "left out with their time steps")[[missing]]
    cat(sprintf("%d missing values are %s (the first: %s).\n", data$missing, how, data$first_gap))
  }
  cat("Each kind of value is standardised over all series.\n")

  x <- softdtw::as_series(standardise(data$series), na = missing)
  gamma <- if (nzchar(setting("GAMMA"))) {
    number_setting("GAMMA", "1", whole = FALSE)
  } else {
    softdtw::softdtw_gamma(x)
  }
  set.seed(1)
  seconds <- system.time(
    fit <- softdtw::softdtw_kmeans(x, centers = k, gamma = gamma, nstart = 5)
  )[["elapsed"]]

  heading(sprintf("Soft-DTW k-means, gamma = %.4g, 5 starts, %.1f s", gamma, seconds))
  print(summary(fit))
  if (length(data$truth)) {
    heading(if (nzchar(file)) {
      "Clusters against the classes in the file"
    } else {
      "Clusters against what became of the patients (not seen by the clustering)"
    })
    print(table(cluster = fit$cluster, data$truth, dnn = c("cluster", "")))
  }

  out <- setting("OUT", "out")
  dir.create(out, recursive = TRUE, showWarnings = FALSE)
  if (file.access(out, 2L) != 0L) complain("cannot write to the folder ", out, " (OUT=", out, ").")
  table_path <- file.path(normalizePath(out), "softdtw-clusters.csv")
  utils::write.csv(
    data.frame(series = names(data$series), cluster = as.integer(fit$cluster)), table_path,
    row.names = FALSE
  )
  panels <- if (length(dims) > 1L) c(length(dims), k) else rev(grDevices::n2mfrow(k))
  picture <- open_picture(
    file.path(normalizePath(out), "softdtw-clusters"), panels[[1L]], panels[[2L]]
  )
  plot(fit)
  invisible(grDevices::dev.off())
  cat("\nThe cluster of each series: ", table_path, "\nThe plot: ", picture, "\n", sep = "")
}

tryCatch(run(),
  bad_file = \(e) complain(conditionMessage(e)),
  softdtw_error = \(e) complain(conditionMessage(e))
)
