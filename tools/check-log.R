# Judges the log of R CMD check: Rscript tools/check-log.R 00check.log
# No error, no warning, and no note but those that come from the machine or from being new on CRAN.

log <- readLines(commandArgs(trailingOnly = TRUE)[[1L]], warn = FALSE)
status <- grep("^Status:", log, value = TRUE)
log <- log[cumsum(log == "* DONE") == 0]
from <- grep("^\\* checking ", log)
blocks <- Map(\(a, b) log[a:b], from, c(from[-1L] - 1L, length(log)))
verdicts <- c("ERROR", "WARNING", "FAILED", "NOTE", "SKIPPED", "OK")
# the worst verdict of a block: it ends the first line, or stands alone after the tool's own output
state <- vapply(blocks, \(b) {
  last <- sub(".*(^|[ :])(ERROR|WARNING|FAILED|NOTE|SKIPPED|OK)$", "\\2", b)
  c(intersect(verdicts, last), "")[[1L]]
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
if (!length(status)) faults <- c(faults, "The check did not reach its end.")
# what the log counts must have been found, or this file no longer understands it
for (what in c("ERROR", "WARNING", "NOTE")) {
  said <- regmatches(status, regexpr(paste0("[0-9]+(?= ", what, ")"), status, perl = TRUE))
  said <- c(as.integer(said), 0L)[[1L]]
  seen <- sum(state == what)
  if (said != seen) faults <- c(faults, sprintf("The log counts %d %s, not %d.", said, what, seen))
}
cat(sprintf("%d checks. %s\n", length(blocks), paste(status, collapse = " ")))
if (length(faults)) {
  writeLines(faults)
  quit(status = 1L)
}
