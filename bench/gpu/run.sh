#!/bin/sh
# The CUDA kernels on a real GPU, without R: builds core, kernels and drivers with nvcc, compares GPU
# and CPU on all shapes, costs, windows and precisions, then measures time and memory and prints a
# table beside the figures that others have published.
#
#   sh bench/gpu/run.sh              about a minute to build, some minutes to run
#
# NVCC: nvcc to use; ARCH: what to compile for (native); CUDA_HOST: a C++ compiler that nvcc accepts.
# EMULATE=1 runs the same programs on the emulated device, in small, to see that they work.

set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/out/gpu
: "${CC:=cc}" "${CXX:=c++}" "${NVCC:=nvcc}" "${ARCH:=native}" "${EMULATE:=}"
mkdir -p "$out"
rm -f "$out"/*.o

# core/recurrence.c and cuda/recurrence.cu differ in their folders only.
object_of() {
  echo "$out/$(echo "${1%.*}" | tr / -).o"
}

compile_kernel() {
  if [ -n "$EMULATE" ]; then
    "$CXX" -std=gnu++17 -O2 -I. -DSDTW_EMULATE -ffp-contract=off -fno-exceptions -fno-rtti \
      -fno-threadsafe-statics -x c++ -c "$1" -o "$2"
  else
    # nvcc's own folder first, so that another toolkit's assembler is not picked up
    PATH="$(dirname "$(command -v "$NVCC")"):$PATH" "$NVCC" ${CUDA_HOST:+-ccbin "$CUDA_HOST"} \
      -std=c++17 -O3 "-arch=$ARCH" -Xptxas -v -I. -c "$1" -o "$2" 2>>"$out/registers.log"
  fi
}

cd "$root/src"
: >"$out/registers.log"
# Whatever there is: a list would go stale, and nobody would see it until there is a GPU again.
for file in core/*.c cuda/*.c; do
  [ "$file" = cuda/cuda-stub.c ] || "$CC" -std=gnu11 -O2 -I. -c "$file" -o "$(object_of "$file")"
done
for file in cuda/*.cu; do
  compile_kernel "$file" "$(object_of "$file")"
done
[ -z "$EMULATE" ] || compile_kernel cuda/emulate/emulate.cu "$out/emulate.o"

link() {
  name=$1
  "$CC" -std=gnu11 -O2 -I. -c "$2" -o "$out/$name.main"
  if [ -n "$EMULATE" ]; then
    "$CC" -x none "$out/$name.main" "$out"/*.o -o "$out/$name" -lm -lpthread
  else
    cp "$out/$name.main" "$out/$name.main.o"
    "$NVCC" ${CUDA_HOST:+-ccbin "$CUDA_HOST"} "-arch=$ARCH" "$out"/*.o -o "$out/$name" -lm -lpthread
    rm "$out/$name.main.o"
  fi
}
link check "$root/tests/cuda/check.c"
link bench "$root/bench/gpu/bench.c"

sed -n "s/.*Compiling entry function '\(.*\)' for '\(.*\)'.*/\1 \2/p; s/.*\(Used [0-9]* registers\).*/  \1/p; s/^ *\([0-9]* bytes stack.*\)/  \1/p" \
  "$out/registers.log"
if [ -n "$EMULATE" ]; then
  "$out/check" small
  "$out/bench" --quick
else
  "$out/check" full
  "$out/bench" "$@"
fi
