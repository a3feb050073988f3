#!/bin/sh
# make test: installs what the tests need, then runs every test. The package under test goes into
# .lib/ here, not among the user's own packages.
#   sh tools/test.sh --counts    also rewrites tests/expected-counts.csv after a green run
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
need_packages "testthat>=3.0.0" cluster jsonlite survival zoo xts
install_softdtw "$(pwd)/.lib"
R_LIBS="$(pwd)/.lib${R_LIBS:+:$R_LIBS}" NOT_CRAN=true Rscript tools/run-tests.R "$@"
