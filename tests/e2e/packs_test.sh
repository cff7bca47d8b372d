#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every shipped pack, and the judge's of the newer members of the format, is admitted by the lint, and every naive.cu compiles
# for the GPU that the project measures on (skipped where there is no nvcc; nothing is run on a device).
# sanitizers: no; the lint's kernels are judged by their error, and the judge's program is the same one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")

for pack in workspace/packs/* tests/judge/packs/many_tensors tests/judge/packs/solve_lower tests/judge/packs/added_mask tests/judge/packs/diffusion tests/judge/packs/pitched_scale tests/judge/packs/stored_weights; do
    name=$(basename "$pack")
    said=$("$HONE" task lint "$pack" --workspace "$WS" 2>/dev/null)
    echo "$said" | grep -q "^$name: admitted\$"
    ok $? "$name is admitted" "$said"
    if [ -x "$nvcc" ]; then
        said=$(tests/cached "$ROOT/$name.cubin" "$pack/kernels/naive.cu" -- "$nvcc" -arch=sm_90a -std=c++17 -cubin -Werror all-warnings -o "$ROOT/$name.cubin" "$pack/kernels/naive.cu" 2>&1)
        ok $? "$name: naive.cu compiles" "$said"
    fi
done
[ -x "$nvcc" ] || echo "# SKIP no nvcc: naive.cu was not compiled"
finish
