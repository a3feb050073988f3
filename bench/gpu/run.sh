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
: "${CC:=cc}" "${CXX:=c++}" "${NVCC:=nvcc}" "${ARCH:=native}" "${EMULATE:=}"
cd "$root"
rm -rf out/gpu
mkdir -p out/gpu

if [ -n "$EMULATE" ]; then
  compile="$CXX -std=gnu++17 -O2 -DSDTW_EMULATE -ffp-contract=off -fno-exceptions -fno-rtti \
    -fno-threadsafe-statics -x c++"
  link=$CC
  emulator=src/cuda/emulate/emulate.cu
else
  host=${CUDA_HOST:+-ccbin "$CUDA_HOST"}
  # nvcc's own folder first, so that another toolkit's assembler is not picked up
  PATH=$(dirname "$(command -v "$NVCC")"):$PATH
  compile="$NVCC $host -std=c++17 -O3 -arch=$ARCH -Xptxas -v"
  link="$NVCC $host -arch=$ARCH"
  emulator=
fi
make --silent -f tests/cuda/build.mk "-j$(nproc)" --output-sync=target OUT=out/gpu CC="$CC" CFLAGS=-O2 \
  CUDA_COMPILE="$compile" LINK="$link" EMULATOR="$emulator" out/gpu/check out/gpu/bench \
  2>out/gpu/build.log || {
  cat out/gpu/build.log
  exit 1
}

sed -n "s/.*Compiling entry function '\(.*\)' for '\(.*\)'.*/\1 \2/p; s/.*\(Used [0-9]* registers\).*/  \1/p; s/^ *\([0-9]* bytes stack.*\)/  \1/p" \
  out/gpu/build.log
if [ -n "$EMULATE" ]; then
  out/gpu/check small
  out/gpu/bench --quick
else
  out/gpu/check full
  out/gpu/bench "$@"
fi
