#!/bin/sh
# make format: lays out the C files with clang-format and reports what lintr says of the R files.
#   sh tools/format.sh --check    changes nothing; fails where anything is to be said
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

need_r
if ! have clang-format; then
  if on_debian && may_be_root; then
    say "installing clang-format with apt-get"
    apt_install clang-format || die "apt-get could not install clang-format"
  else
    die "clang-format is needed"
  fi
fi
need_packages lintr
install_softdtw "$(pwd)/.lib"

find src tools tests -type f \
  \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) >"$scratch/files"
status=0
if [ "${1:-}" = --check ]; then
  xargs clang-format --dry-run -Werror <"$scratch/files" || {
    say "run: make format"
    status=1
  }
else
  xargs clang-format -i <"$scratch/files"
fi
R_LIBS="$(pwd)/.lib${R_LIBS:+:$R_LIBS}" Rscript -e '
  found <- lintr::lint_package()
  for (d in c("tools", "bench", ".ci")) {
    more <- lintr::lint_dir(d)
    found <- structure(c(found, more), class = "lints")
  }
  if (length(found)) { print(found); cat(length(found), "lints\n"); quit(status = 1L) }
  cat("lintr has nothing to say\n")
' || status=1
exit "$status"
