#!/bin/sh
# What libraries and torch take for the shipped tasks on this machine's GPU: OUT/yardsticks.jsonl, one JSON line each
#     {"task", "workload", "library", "algorithm", "precision", "median_us", "n"}
# and what went wrong in OUT/yardsticks.err.
#     tests/yardsticks/run.sh OUT [SECONDS]     SECONDS in all, 150 if not given
# Exit 77: no GPU or no nvcc.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=${1:?usage: run.sh OUT [SECONDS]}
limit=${2:-150}
start=$(date +%s)
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
nvidia-smi -L >/dev/null 2>&1 && [ -x "$nvcc" ] || { echo "# SKIP no GPU or no nvcc"; exit 77; }
mkdir -p "$out" || exit 1
: >"$out/yardsticks.jsonl"
: >"$out/yardsticks.err"
left() { echo $((limit - ($(date +%s) - start))); }

program=$(mktemp -d) || exit 1
trap 'rm -rf "$program"' EXIT
if "$nvcc" -O2 -std=c++17 -arch=native -o "$program/yardsticks" tests/yardsticks/yardsticks.cu -lcublas -lcusparse 2>>"$out/yardsticks.err"; then
    timeout "$(left)" "$program/yardsticks" workspace/packs $((limit / 3)) >>"$out/yardsticks.jsonl" 2>>"$out/yardsticks.err"
    echo "libraries: exit $?, $(left) s left"
else
    echo "yardsticks.cu does not compile: $out/yardsticks.err"
fi
seconds=$(($(left) - 5))
if [ "$seconds" -gt 20 ] && python3 -c 'import torch' 2>>"$out/yardsticks.err"; then
    timeout "$(left)" python3 tests/yardsticks/torch_yardsticks.py workspace/packs $(($(left) - 5)) >>"$out/yardsticks.jsonl" 2>>"$out/yardsticks.err"
    echo "torch: exit $?, $(left) s left"
else
    echo "torch: left out (not installed, or no time)"
fi
echo "$(wc -l <"$out/yardsticks.jsonl") lines in $out/yardsticks.jsonl"
