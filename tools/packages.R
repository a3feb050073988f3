# Packages that R lacks, for tools/common.sh.
#   Rscript tools/packages.R missing NAME...   names, one a line, of those not installed or too old
#   Rscript tools/packages.R install NAME...   installs them from the repositories R is set up with
#   Rscript tools/packages.R library           the library that packages go to: SOFTDTW_LIBRARY or
#                                              the first that can be written to
# A NAME may carry a version: testthat>=3.0.0

writable_library <- function() {
  if (nzchar(Sys.getenv("SOFTDTW_LIBRARY"))) {
    return(Sys.getenv("SOFTDTW_LIBRARY"))
  }
  own <- Filter(\(p) dir.exists(p) && file.access(p, 2L) == 0L, .libPaths())
  if (length(own)) {
    return(own[[1L]])
  }
  personal <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1L]]
  personal <- path.expand(c(personal, "~/R/library")[[1L]])
  dir.create(personal, recursive = TRUE, showWarnings = FALSE)
  if (file.access(personal, 2L) != 0L) {
    stop("no library to install packages into: cannot write to ", personal, call. = FALSE)
  }
  personal
}

is_missing <- function(spec) {
  part <- strsplit(spec, ">=", fixed = TRUE)[[1L]]
  if (!length(find.package(part[[1L]], quiet = TRUE))) {
    return(TRUE)
  }
  length(part) == 2L && utils::packageVersion(part[[1L]]) < part[[2L]]
}

args <- commandArgs(trailingOnly = TRUE)
what <- args[[1L]]
specs <- args[-1L]

if (what == "missing") {
  writeLines(sub(">=.*", "", Filter(is_missing, specs)))
} else if (what == "library") {
  writeLines(writable_library())
} else if (what == "install") {
  # R's own list of mirrors begins with the one that redirects to the nearest
  if (identical(unname(getOption("repos")["CRAN"]), "@CRAN@")) {
    utils::chooseCRANmirror(ind = 1L, local.only = TRUE)
  }
  lib <- writable_library()
  utils::install.packages(specs, lib = lib, Ncpus = 2L)
  .libPaths(c(lib, .libPaths()))
  left <- Filter(is_missing, specs)
  if (length(left)) {
    stop("not installed: ", paste(left, collapse = ", "), call. = FALSE)
  }
} else {
  stop("unknown task ", what, call. = FALSE)
}
