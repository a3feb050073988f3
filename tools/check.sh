#!/bin/sh
# make check: R CMD build and R CMD check --as-cran of what is here, without LaTeX.
# Fails at any error, warning or note but those that no clean package can avoid.
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
need_packages "testthat>=3.0.0" cluster jsonlite knitr rmarkdown survival zoo xts
for tool in pandoc checkbashisms qpdf tidy; do
  have "$tool" && continue
  package=$tool
  [ "$tool" != checkbashisms ] || package=devscripts
  if on_debian && may_be_root; then
    say "installing $package with apt-get"
    apt_install "$package" || die "apt-get could not install $package"
  elif [ "$tool" = pandoc ]; then
    die "pandoc is needed to build the vignettes"
  fi
done

out="$(pwd)/out/check"
rm -rf "$out"
mkdir -p "$out"
top=$(pwd)
say "building the source package with its vignettes"
(cd "$out" && quietly "R CMD build" R CMD build --no-manual "$top") || exit 1
tarball=$(ls "$out"/softdtw_*.tar.gz)
say "checking $(basename "$tarball")"
status=0
(cd "$out" && MAKEFLAGS="-j$(cores)" _R_CHECK_FORCE_SUGGESTS_=true \
  R CMD check --as-cran --no-manual "$tarball") >"$out/check.log" 2>&1 || status=$?
Rscript tools/check-log.R "$out/softdtw.Rcheck/00check.log" || status=1
[ "$status" -eq 0 ] || die "R CMD check failed, see $out/softdtw.Rcheck"
