#!/bin/sh
# Tests of the CUDA kernels without a GPU and without R: builds core, kernels and driver with the
# emulated device and runs them plain in three schedules, under AddressSanitizer and
# UndefinedBehaviorSanitizer, and under ThreadSanitizer; then sees to it that every broken kernel of
# broken.cu is caught. A few minutes on one core.
#
#   sh tests/cuda/run.sh [plain] [address] [thread] [broken]      without a name: all of them
#
# CC, CXX: compilers to use. Results stay in out/cuda.

set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/out/cuda
: "${CC:=cc}" "${CXX:=c++}"
warnings="-Wall -Wextra -Wpedantic"

say() { printf '%s\n' "$*"; }

# ---- building -----------------------------------------------------------------------------------

# build NAME FLAGS...: the programs check and broken in out/cuda/NAME, the kernels compiled as configure
# has them compiled into the package
build() {
  name=$1
  shift
  say "building: $name"
  rm -rf "${out:?}/$name"
  # ThreadSanitizer is to watch the threads of the kernels, not the scheduler (emulate.cu)
  case "$*" in
    *-fsanitize=thread*) scheduler="-fno-sanitize=thread -DFIBER_TSAN" ;;
    *) scheduler= ;;
  esac
  make --silent -C "$root" -f tests/cuda/build.mk "-j$(cores)" OUT="out/cuda/$name" \
    CC="$CC" CFLAGS="$warnings $*" LINK="$CC $*" \
    CUDA_COMPILE="$CXX -std=gnu++17 $warnings $* -DSDTW_EMULATE -ffp-contract=off -fno-exceptions \
      -fno-rtti -fno-threadsafe-statics -x c++" \
    EMULATOR=src/cuda/emulate/emulate.cu EMULATOR_FLAGS="$scheduler" \
    "out/cuda/$name/check" "out/cuda/$name/broken"
}

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# ---- checking -----------------------------------------------------------------------------------

check_plain() {
  build plain -O2 -g
  "$out/plain/check" full
  "$out/plain/check" quick >"$out/plain/forward.log"
  say "schedules: reverse, random; several devices with little memory"
  compare reverse SOFTDTW_EMULATE_ORDER=reverse
  compare random SOFTDTW_EMULATE_ORDER=random SOFTDTW_EMULATE_SEED=7
  compare devices SOFTDTW_EMULATE_DEVICES=3 SOFTDTW_EMULATE_MEMORY=8e6
}

# compare NAME VARIABLE=VALUE...: whether the same results come out, to the last bit
compare() {
  name=$1
  shift
  env "$@" "$out/plain/check" quick >"$out/plain/$name.log" || :
  if ! diff "$out/plain/forward.log" "$out/plain/$name.log"; then
    say "FAIL: results differ under $*"
    exit 1
  fi
}

check_address() {
  build address -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
  ASAN_OPTIONS=detect_stack_use_after_return=0 "$out/address/check" quick
}

# The kernels only: the core's threads are not in question, and OpenMP is not built in.
check_thread() {
  build thread -O1 -g -fsanitize=thread
  TSAN_OPTIONS=halt_on_error=1 "$out/thread/check" small
}

# ---- broken kernels -----------------------------------------------------------------------------

# caught BUILD NAME: whether the run of a broken kernel ends with any complaint
caught() {
  if "$out/$1/broken" "$2" >"$out/$1/broken.log" 2>&1; then
    return 1
  fi
  return 0
}

check_broken() {
  [ -x "$out/plain/broken" ] || build plain -O2 -g
  [ -x "$out/address/broken" ] || build address -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
  [ -x "$out/thread/broken" ] || build thread -O1 -g -fsanitize=thread
  failed=0
  "$out/plain/broken" --list >"$out/broken.list"
  while read -r name catcher; do
    case $catcher in
      nobody)
        for build in plain address thread; do
          if caught "$build" "$name"; then
            say "FAIL: $name is right, but $build complains"
            failed=1
          fi
        done
        ;;
      always)
        for build in plain address thread; do
          # what lies beyond device memory is for AddressSanitizer or the guards to see
          if ! caught "$build" "$name"; then
            say "FAIL: $name goes unnoticed by $build"
            failed=1
          fi
        done
        ;;
      *)
        if ! caught "$catcher" "$name"; then
          say "FAIL: $name goes unnoticed by $catcher"
          failed=1
        fi
        ;;
    esac
  done <"$out/broken.list"
  [ "$failed" = 0 ] || exit 1
  say "broken kernels: $(grep -vc ' nobody$' "$out/broken.list") caught, $(grep -c ' nobody$' "$out/broken.list") right ones pass"
}

[ $# -gt 0 ] || set -- plain address thread broken
for part in "$@"; do
  case $part in
    plain | address | thread | broken) "check_$part" ;;
    *)
      say "run.sh: no such part: $part"
      exit 2
      ;;
  esac
done
say "all passed: $*"
