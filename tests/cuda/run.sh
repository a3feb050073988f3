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
core="batch dispatch engine sweep threads unit kernels-generic kernels-avx2 kernels-avx512
  single-batch single-sweep single-kernels-generic single-kernels-avx2 single-kernels-avx512
  recurrence recurrence-back single-recurrence"
kernels="arrange device gradient recurrence sum value"
warnings="-Wall -Wextra -Wpedantic"

say() { printf '%s\n' "$*"; }

# ---- building -----------------------------------------------------------------------------------

# build NAME FLAGS...: the programs check and broken in out/cuda/NAME
build() {
  name=$1
  shift
  dir=$out/$name
  say "building: $name"
  mkdir -p "$dir"
  rm -f "$dir"/*.o
  (
    cd "$root/src"
    for file in $core; do
      "$CC" -std=gnu11 $warnings "$@" -I. -c "core/$file.c" -o "$dir/$file.o"
    done
    for file in jobs recurrence-jobs; do
      "$CC" -std=gnu11 $warnings "$@" -I. -c "cuda/$file.c" -o "$dir/$file.o"
    done
    for file in $kernels; do
      build_cu "cuda/$file.cu" "$dir/cuda-$file.o" "$@"
    done
    build_scheduler "$dir/emulate.o" "$@"
    build_cu ../tests/cuda/broken.cu "$dir/broken.o" "$@"
    "$CC" -std=gnu11 $warnings "$@" -I. -c ../tests/cuda/check.c -o "$dir/check.o"
  )
  "$CC" "$@" "$dir/broken.o" "$dir/emulate.o" -o "$dir/broken" -lm -lpthread
  mv "$dir/broken.o" "$dir/broken.obj"
  "$CC" "$@" "$dir"/*.o -o "$dir/check" -lm -lpthread
}

# As configure has them compiled into the package.
build_cu() {
  source=$1
  object=$2
  shift 2
  "$CXX" -std=gnu++17 $warnings "$@" -I. -DSDTW_EMULATE -ffp-contract=off -fno-exceptions -fno-rtti \
    -fno-threadsafe-statics -x c++ -c "$source" -o "$object"
}

# ThreadSanitizer is to watch the threads of the kernels, not the scheduler (emulate.cu).
build_scheduler() {
  case "$*" in
    *-fsanitize=thread*) build_cu cuda/emulate/emulate.cu "$@" -fno-sanitize=thread -DFIBER_TSAN ;;
    *) build_cu cuda/emulate/emulate.cu "$@" ;;
  esac
}

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
