# Runs every reference case: Rscript .ci/cases.R FOLDER. check.R executes most of them, manual.R the
# rest; a case that neither executes is a failure, too.

dir <- commandArgs(trailingOnly = TRUE)[[1L]]
setwd(dir)
all_ids <- sub("\\.json$", "", list.files("json", "\\.json$"))

runner <- new.env(parent = globalenv())
sys.source("api.R", globalenv())
sys.source("check.R", runner)
seconds <- system.time(
  checked <- runner$run_cases(get("soft_api", globalenv()), slow = TRUE)
)[["elapsed"]]
cat(sprintf("check.R: %.0f s\n", seconds))

rscript <- file.path(R.home("bin"), "Rscript")
manual_args <- c("manual.R", ".", "cpu", "slow")
seconds <- system.time(
  out <- suppressWarnings(system2(rscript, manual_args, stdout = TRUE, stderr = TRUE))
)[["elapsed"]]
writeLines(out)
cat(sprintf("manual.R: %.0f s\n", seconds))
line <- regmatches(out, regexec("^([0-9]{3}[a-z]?) +(ok|FAIL)\\b", out))
line <- Filter(length, line)
manual <- data.frame(id = vapply(line, `[[`, "", 2L), ok = vapply(line, `[[`, "", 3L) == "ok")

executed <- union(checked$id, manual$id)
failed <- union(checked$id[!checked$ok], manual$id[!manual$ok])
left <- setdiff(all_ids, executed)
if (length(left)) cat("not executed:", left, "\n")
if (length(failed)) cat("failed:", failed, "\n")
status <- attr(out, "status")
good <- setdiff(intersect(all_ids, executed), failed)
cat(sprintf(
  "%d of %d cases executed and passed (%d checks)\n", length(good), length(all_ids),
  nrow(checked) + nrow(manual)
))
quit(status = as.integer(length(good) < length(all_ids) || !is.null(status)))
