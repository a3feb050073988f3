#!/bin/sh
# Tests of configure with a stand-in for nvcc: which architectures it chooses from what toolkits
# list and warn of, which host compiler, and what it says when something is missing. Seconds.
#
#   sh tests/cuda/configure.sh

set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_HOME SOFTDTW_CUDA SOFTDTW_CUDA_ARCH SOFTDTW_CUDA_HOST
failed=0

# ---- a toolkit ------------------------------------------------------------------------------------

toolkit=$scratch/toolkit
tree=$scratch/tree
mkdir -p "$toolkit/bin" "$toolkit/lib64" "$tree/src" "$tree/tools" "$scratch/hosts"
cp "$root/configure" "$tree"
cp "$root/src/Makevars.in" "$tree/src"
cp "$root/tools/probe-cuda.cu" "$tree/tools"

# Takes from the environment what it is to be: RELEASE, LISTED, DEPRECATED_BELOW, and as REFUSES
# which host compilers it does not want, "default" or "all".
cat >"$toolkit/bin/nvcc" <<'END'
#!/bin/sh
output= host=
for argument in "$@"; do
  case $argument in
    --version) echo "Cuda compilation tools, release $RELEASE, V$RELEASE.1" && exit ;;
    --list-gpu-arch) printf 'compute_%s\n' $LISTED && exit ;;
    arch=compute_*)
      number=${argument#arch=compute_}
      number=${number%%,*}
      case " $LISTED " in *" $number "*) ;; *) echo "nvcc fatal: compute_$number?" && exit 1 ;; esac
      [ "${number%[a-z]}" -ge "$DEPRECATED_BELOW" ] ||
        echo "nvcc warning : Support for offline compilation for architectures prior to" \
          "'<compute/sm/lto>_$DEPRECATED_BELOW' will be removed in a future release (Use" \
          "-Wno-deprecated-gpu-targets to suppress warning)."
      ;;
  esac
  [ "${before:-}" != -ccbin ] || host=$argument
  [ "${before:-}" != -o ] || output=$argument
  before=$argument
done
case ${REFUSES:-}$host in
  default | all*) echo "error: -- unsupported GNU version!" && exit 1 ;;
esac
echo 'int main(void) { return 0; }' | cc -x c -c - -o "$output"
END
chmod +x "$toolkit/bin/nvcc"
echo 'int runtime;' | cc -x c -c - -o "$scratch/runtime.o"
ar rc "$toolkit/lib64/libcudart_static.a" "$scratch/runtime.o"

# ---- cases ----------------------------------------------------------------------------------------

# expect PATTERN VARIABLE=VALUE...: that configure, run so, says something, and keeps it in says
expect() {
  pattern=$1
  shift
  rm -f "$tree/src/Makevars"
  says=$(cd "$tree" && env "$@" sh configure 2>&1) || says="$says (and stops)"
  case $says in
    *"$pattern"*) echo "ok: $pattern" ;;
    *)
      echo "FAIL: with $*: wanted '$pattern', but configure says:"
      echo "$says"
      failed=1
      ;;
  esac
}

# expect_flag TEXT: that src/Makevars has it
expect_flag() {
  grep -qF -e "$1" "$tree/src/Makevars" && return
  echo "FAIL: src/Makevars does not have: $1"
  failed=1
}

# with RELEASE LISTED DEPRECATED_BELOW PATTERN [VARIABLE=VALUE...]
with() {
  release=$1 listed=$2 below=$3 wanted=$4
  shift 4
  expect "$wanted" CUDA_HOME="$toolkit" RELEASE="$release" LISTED="$listed" \
    DEPRECATED_BELOW="$below" SOFTDTW_CUDA=yes "$@"
}

eleven="35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90"
twelve="50 52 53 60 61 62 70 72 75 80 86 87 89 90 100 101 103 120 121"
# as 13 lists them: not in order
thirteen="75 80 86 87 88 89 90 100 110 103 120 121"

with 11.8 "$eleven" 50 "yes, toolkit 11.8 for sm_50 sm_60 sm_70 sm_80 sm_90"
expect_flag "-gencode arch=compute_90,code=compute_90 "
with 12.9 "$twelve" 75 "yes, toolkit 12.9 for sm_75 sm_80 sm_90 sm_100 sm_120"
with 13.0 "$thirteen" 75 "yes, toolkit 13.0 for sm_75 sm_80 sm_90 sm_100 sm_110 sm_120"
expect_flag "-gencode arch=compute_110,code=sm_110 "
expect_flag "-gencode arch=compute_120,code=compute_120 "
with 13.1 "75 80 90 90a 100 100a 100f 103f 120 121a" 80 \
  "yes, toolkit 13.1 for sm_80 sm_90 sm_100 sm_120"
with 14.0 "80 90 100 120 130" 75 "for sm_80 sm_90 sm_100 sm_120 sm_130"
expect_flag "code=compute_130 "

# the newest of those asked for is the one whose PTX is kept, in whichever order they come
with 13.0 "$thirteen" 75 "for sm_80 sm_90" SOFTDTW_CUDA_ARCH="9.0;8.0"
expect_flag "code=compute_90 "
with 13.0 "90 90a" 75 "for sm_90a" SOFTDTW_CUDA_ARCH=sm_90a
expect_flag "arch=compute_90,code=compute_90 "
with 13.0 "$thirteen" 75 "nvcc does not compile for 70." SOFTDTW_CUDA_ARCH=70
with 13.0 "" 75 "nvcc does not compile for any architecture that it lists."

cat >"$scratch/hosts/g++-11" <<'END'
#!/bin/sh
exit 0
END
chmod +x "$scratch/hosts/g++-11"
with 11.8 "$eleven" 50 "yes, toolkit 11.8" REFUSES=default PATH="$scratch/hosts:$PATH"
expect_flag "-ccbin g++-1"
with 11.8 "$eleven" 50 "yes, toolkit 11.8" REFUSES=default SOFTDTW_CUDA_HOST=some-c++
expect_flag "-ccbin some-c++"
with 11.8 "$eleven" 50 "nvcc accepts no C++ compiler here" REFUSES=all
with 11.8 "$eleven" 50 "unsupported GNU version" REFUSES=all

# ---- what is missing ------------------------------------------------------------------------------

echo "no archive" >"$toolkit/lib64/libcudart_static.a"
with 13.0 "$thirteen" 75 "its static runtime does not link."
expect "no nvcc in $scratch/none." CUDA_HOME="$scratch/none" SOFTDTW_CUDA=yes
expect "(and stops)" CUDA_HOME="$scratch/none" SOFTDTW_CUDA=yes
expect "no: no nvcc in $scratch/none" CUDA_HOME="$scratch/none" SOFTDTW_CUDA=auto
expect_flag cuda/cuda-stub.o
expect "must be auto, yes, no or emulate, not 'maybe'" SOFTDTW_CUDA=maybe
expect "emulated on the processor" SOFTDTW_CUDA=emulate
expect_flag cuda/emulate/emulate.o
expect "no, as asked" SOFTDTW_CUDA=no

[ "$failed" = 0 ] || exit 1
echo "all passed"
