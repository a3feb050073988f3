#!/bin/sh
# Shared by the scripts beside it: `. tools/common.sh` from the top folder. POSIX sh.
#
# Finds or installs what the project needs, always the same way: R and the compiler from Debian's or
# Ubuntu's own packages where apt-get can be used (as root or through sudo), R packages from the
# same place where this R came from there, otherwise from the CRAN mirror that R is set up with.
# Elsewhere a sentence names what to install. What a command prints goes to a log, shown on failure.

set -eu

# make's own variables would reach the make that R runs for the compiled code
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL 2>/dev/null || :

say() { printf '%s\n' "softdtw: $*"; }

die() {
  printf '%s\n' "softdtw: $*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/softdtw.XXXXXX") || die "cannot write to ${TMPDIR:-/tmp}"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# quietly WHAT COMMAND...: runs the command, shows its output only when it fails
quietly() {
  quietly_what=$1
  shift
  if "$@" >"$scratch/log" 2>&1 </dev/null; then
    return 0
  fi
  tail -n 60 "$scratch/log" >&2
  printf '%s\n' "softdtw: $quietly_what failed, its last lines are above" >&2
  return 1
}

# Root rights -------------------------------------------------------------------------------------

may_be_root() { [ "$(id -u)" -eq 0 ] || have sudo; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 2 ] && [ -r /dev/tty ]; then
    sudo "$@" </dev/tty
  else
    sudo -n "$@"
  fi
}

# apt-get -----------------------------------------------------------------------------------------

on_debian() { [ -e /etc/debian_version ] && have apt-get; }

apt_updated=no

apt_update() {
  [ "$apt_updated" = no ] || return 0
  apt_updated=yes
  as_root apt-get update -q >>"$scratch/apt" 2>&1 || :
}

apt_try() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" \
    >>"$scratch/apt" 2>&1 </dev/null
}

# apt_install PACKAGE...: false when apt-get cannot; the lists are fetched only when they are needed
apt_install() {
  : >"$scratch/apt"
  apt_try "$@" && return 0
  apt_update
  apt_try "$@"
}

# R and the compiler ------------------------------------------------------------------------------

name_the_packages() {
  cat >&2 <<'END'
softdtw: R is not installed here. Install R and a C compiler, then give this command again:
  Debian, Ubuntu   sudo apt-get install r-base r-base-dev
  Fedora, RHEL     sudo dnf install R-core R-core-devel gcc make
  openSUSE         sudo zypper install R-base R-base-devel gcc make
  Arch             sudo pacman -S r gcc make
  Alpine           sudo apk add R R-dev build-base
  macOS            brew install r, and xcode-select --install for the compiler
  Windows          R and Rtools from CRAN's download page
END
  exit 1
}

need_r() {
  if ! have R || ! have Rscript; then
    if ! on_debian || ! may_be_root; then
      name_the_packages
    fi
    say "R is not installed: installing it with apt-get (some hundred megabytes, a few minutes)"
    if ! apt_install r-base-core r-recommended r-base-dev ca-certificates; then
      tail -n 30 "$scratch/apt" >&2
      die "apt-get could not install r-base-core, r-recommended and r-base-dev, see above"
    fi
    say "installed $(R --version | head -n 1)"
  fi
  if ! Rscript -e 'if (getRversion() < "4.1") quit(status = 1)' >/dev/null 2>&1; then
    Rscript --version >"$scratch/version" 2>&1 ||
      die "Rscript does not run: $(head -n 1 "$scratch/version")"
    die "R 4.1 or newer is needed, this is $(R --version | head -n 1)"
  fi
  need_compiler
}

need_compiler() {
  compiler=$(R CMD config CC 2>/dev/null | awk '{ print $1 }')
  if [ -n "$compiler" ] && have "$compiler" && have make; then
    return 0
  fi
  if on_debian && may_be_root; then
    say "no C compiler for R's packages: installing r-base-dev with apt-get"
    apt_install r-base-dev || {
      tail -n 30 "$scratch/apt" >&2
      die "apt-get could not install r-base-dev, see above"
    }
  else
    die "no C compiler (${compiler:-cc}) or no make here: install them as README.md says"
  fi
}

# true when this R is the distribution's own, so that r-cran-* packages are for it
r_is_debian() {
  on_debian && have dpkg && dpkg -S "$(R RHOME)/bin/R" >/dev/null 2>&1
}

# need_packages NAME...: R packages; NAME or NAME>=VERSION
need_packages() {
  missing=$(Rscript tools/packages.R missing "$@") || die "R could not look for its packages"
  [ -n "$missing" ] || return 0
  say "installing R packages: $(printf '%s ' $missing)"
  if r_is_debian && may_be_root; then
    debs=
    for name in $missing; do
      debs="$debs r-cran-$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')"
    done
    # all in one go, or one by one where Debian lacks some of them
    # shellcheck disable=SC2086
    if ! apt_install $debs; then
      for deb in $debs; do
        apt_try "$deb" || :
      done
    fi
    missing=$(Rscript tools/packages.R missing "$@")
    [ -n "$missing" ] || return 0
  fi
  # shellcheck disable=SC2086
  quietly "install.packages" Rscript tools/packages.R install $missing ||
    die "R packages that could not be installed: $(printf '%s ' $missing)"
  missing=$(Rscript tools/packages.R missing "$@")
  [ -z "$missing" ] || die "R packages still missing: $(printf '%s ' $missing)"
}

# The package itself --------------------------------------------------------------------------------

# one number for everything that the installed package is made from
source_stamp() {
  {
    R --version
    for entry in DESCRIPTION NAMESPACE LICENSE configure cleanup R src inst man tools data; do
      [ ! -e "$entry" ] || find "$entry" -type f ! -name '*.o' ! -name '*.so'
    done | LC_ALL=C sort | while IFS= read -r file; do cksum "$file"; done
  } | cksum | tr ' ' '-'
}

# built_tarball FOLDER: builds the source package there, prints its path
built_tarball() {
  top=$(pwd)
  (cd "$1" && quietly "R CMD build" R CMD build --no-build-vignettes --no-manual "$top") || return 1
  ls "$1"/softdtw_*.tar.gz
}

# install_softdtw LIBRARY: from a freshly built source package, so that no object files are left
# here; nothing is done where the same sources were installed there before
install_softdtw() {
  mkdir -p "$1" || die "cannot make the folder $1"
  stamp=$(source_stamp)
  if [ -f "$1/softdtw/source-stamp" ] && [ "$(cat "$1/softdtw/source-stamp")" = "$stamp" ]; then
    return 0
  fi
  say "compiling and installing the package into $1"
  mkdir -p "$scratch/build"
  tarball=$(built_tarball "$scratch/build") || exit 1
  MAKEFLAGS="-j$(cores)" quietly "R CMD INSTALL" R CMD INSTALL --no-test-load -l "$1" "$tarball" ||
    exit 1
  R_LIBS="$1" quietly "loading the package" Rscript -e 'loadNamespace("softdtw")' || exit 1
  printf '%s\n' "$stamp" >"$1/softdtw/source-stamp"
}

cores() {
  n=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
  [ "$n" -le 8 ] || n=8
  echo "$n"
}

# the first library of this R that can be written to; the personal one, made where there is none
writable_library() { Rscript tools/packages.R library; }
