#!/bin/sh
# make demo: installs the package and what it needs, then clusters real series; see tools/demo.R.
# Reads DATA, K, GAMMA, OUT, MISSING, SERIES, TIME, VALUES from the environment (make sets them).
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
need_packages survival
library=$(writable_library) || exit 1
install_softdtw "$library"
Rscript tools/demo.R
say "the package is installed: library(softdtw) works in R now"
