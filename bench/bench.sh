#!/bin/sh
# make bench: installs the peers that are missing into .lib/peers here, compares, writes
# bench/RESULTS.md. Compiling the peers takes some minutes the first time.
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
install_softdtw "$(pwd)/.lib"
mkdir -p .lib/peers
R_LIBS="$(pwd)/.lib:$(pwd)/.lib/peers${R_LIBS:+:$R_LIBS}"
export R_LIBS
need_packages proxy
missing=$(Rscript tools/packages.R missing dtwclust parallelDist nloptr)
if [ -n "$missing" ]; then
  if r_is_debian && may_be_root; then
    # what dtwclust is made from; what Debian lacks comes with it from CRAN
    apt_install r-cran-clue r-cran-cluster r-cran-dplyr r-cran-foreach r-cran-ggplot2 \
      r-cran-ggrepel r-cran-matrix r-cran-nloptr r-cran-rcpparmadillo r-cran-rcppparallel \
      r-cran-reshape2 r-cran-rspectra r-cran-shiny r-cran-shinyjs || :
  fi
  say "compiling the peers and what they need (once, some minutes)"
  # several names
  SOFTDTW_LIBRARY="$(pwd)/.lib/peers" quietly "installing the peers" \
    Rscript tools/packages.R install $missing || die "the peers cannot be installed"
fi
Rscript bench/bench.R "$@"
