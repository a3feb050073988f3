#!/bin/sh
# make docs: writes man/ and NAMESPACE from the comments in R/.
#   sh tools/docs.sh --check    only compares: fails where the committed files are not what comes out
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
need_packages roxygen2
work="$scratch/docs"
mkdir -p "$work"
for entry in DESCRIPTION NAMESPACE R man inst; do
  [ ! -e "$entry" ] || cp -R "$entry" "$work/"
done
(cd "$work" && quietly "roxygen2" Rscript -e 'roxygen2::roxygenise(load_code = "source")') ||
  exit 1

stale=0
for entry in DESCRIPTION NAMESPACE man; do
  diff -r "$entry" "$work/$entry" >"$scratch/diff" 2>&1 && continue
  stale=1
  if [ "${1:-}" = --check ]; then
    say "$entry is not what roxygen2 makes of R/:"
    head -n 40 "$scratch/diff"
  else
    say "writing $entry"
    if [ "$entry" = man ]; then
      mkdir -p man
      rm -f man/*.Rd
    fi
    cp -R "$work/$entry" .
  fi
done
if [ "${1:-}" = --check ]; then
  [ "$stale" -eq 0 ] || die "run: make docs"
fi
say "checking the help pages"
Rscript -e '
  files <- list.files("man", "[.]Rd$", full.names = TRUE)
  found <- unlist(lapply(files, \(f) format(tools::checkRd(f))))
  if (length(found)) { writeLines(found); quit(status = 1L) }
  cat(length(files), "help pages parse\n")
'
