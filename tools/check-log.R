# Judges the log of R CMD check: Rscript tools/check-log.R 00check.log
# No error, no warning, and no note but those that come from the machine or from being new on CRAN.

log <- readLines(commandArgs(trailingOnly = TRUE)[[1L]], warn = FALSE)
from <- grep("^\\* checking ", log)
blocks <- Map(\(a, b) log[a:b], from, c(from[-1L] - 1L, length(log)))
state <- vapply(blocks, \(b) {
  # the verdict stands at the end of the first line, or on a later one after the tool's own output
  hit <- grep("(^| )(OK|NOTE|WARNING|ERROR|SKIPPED|FAILED)$|(NOTE|WARNING|ERROR)$", b, value = TRUE)
  if (!length(hit)) "" else sub(".*\\b(OK|NOTE|WARNING|ERROR|SKIPPED|FAILED)$", "\\1", hit[[1L]])
}, "")

allowed_note <- function(block) {
  first <- block[[1L]]
  rest <- trimws(block[-1L])
  rest <- rest[nzchar(rest)]
  if (grepl("checking CRAN incoming feasibility", first)) {
    # a new submission, and a maintainer's address on an example domain, say nothing of the code
    return(all(grepl("^Maintainer:|^New submission$", rest)))
  }
  if (grepl("checking for future file timestamps", first)) {
    return(all(grepl("unable to verify current time", rest)))
  }
  FALSE
}

faults <- character()
for (i in seq_along(blocks)) {
  if (state[[i]] %in% c("ERROR", "WARNING", "FAILED") ||
        state[[i]] == "NOTE" && !allowed_note(blocks[[i]])) {
    faults <- c(faults, blocks[[i]], "")
  }
}
status <- grep("^Status:", log, value = TRUE)
if (!length(status)) faults <- c(faults, "The check did not reach its end.")
cat(sprintf("%d checks. %s\n", length(blocks), paste(status, collapse = " ")))
if (length(faults)) {
  writeLines(faults)
  quit(status = 1L)
}
