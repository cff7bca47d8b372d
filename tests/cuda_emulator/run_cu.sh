#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a .cu file for the CPU, kernels emulated, launches and all:
#   run_cu.sh [-b build] [-o output] file.cu [more.c more.o ...]
# With -o the output is kept: a shared object when it ends in .so, else a program. Without it a
# program is built, run and removed. CXXFLAGS goes to the compiler (-DTILE=16 for a tunable).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${HONE_BUILD:-$here/../../build} output=
while getopts b:o: option; do
    case $option in
    b) build=$OPTARG ;;
    o) output=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
lib=$(cd "$build/cuda_emulator" && pwd) || { echo "run_cu.sh: make emulator first" >&2; exit 2; }
source=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-run-cu.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/cooperative_groups"
cp "$here"/emulate*.h "$work/include"
while read -r name; do : >"$work/include/$name"; done <"$here/headers.txt"

# shellcheck disable=SC2086 # flags are words
g++ -E -xc++ -std=c++17 ${CXXFLAGS:-} -I"$work/include" -include emulate_host.h "$source" |
    "$lib/scan_cu" >"$work/code.ii"
shared=
case $output in *.so) shared=-shared ;; esac
for file in "$@"; do # C for the C compiler: the link below would take it for C++
    case $file in
    *.c) gcc -std=gnu17 -O1 -g -fPIC -c "$file" -o "$work/$(basename "$file").o" ;;
    *) cp "$file" "$work/$(basename "$file").o" ;;
    esac
done
g++ -std=c++17 -O1 -g -fPIC -fno-gnu-unique -fno-extern-tls-init -fno-strict-aliasing -fwrapv \
    -fno-math-errno -ffp-contract=off -fsanitize=alignment -fsanitize-undefined-trap-on-error \
    -Wno-attributes -fpreprocessed -xc++ -c "$work/code.ii" -o "$work/code.cu.o"
g++ $shared "$work"/*.o -xassembler "$here/shared.s" -xnone -o "${output:-$work/program}" \
    -L"$lib" -l:libcuda.so.1 -Wl,-rpath,"$lib" -lm
[ -n "$output" ] || "$work/program"
