#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes CUDA task packs that share no buffer: many_tasks.sh FOLDER COUNT MAX "N1 N2 ...". Task k has k % 7 small inputs before the large one of
# N elements, and an output as large; sizes are used in turn.
set -u
folder=$1 count=$2 max=$3 sizes=$4
k=0
while [ $k -lt "$count" ]; do
    # shellcheck disable=SC2086
    set -- $sizes
    shift $((k % $#))
    n=$1
    name=held$k dir=$folder/held$k
    mkdir -p "$dir/kernels"
    small='' params='' body='' j=0
    while [ $j -lt $((k % 7)) ]; do
        small="$small\"s$j\": {\"shape\": [\"M\"], \"dtype\": \"float32\", \"role\": \"activation\"}, "
        params="$params const float *s$j,"
        j=$((j + 1))
    done
    cat >"$dir/task.json" <<EOF
{
  "format": 1, "name": "$name", "op_type": "elementwise",
  "description": "Y[i] = 2 * X[i]; the small inputs only shift the large one to another place.",
  "axes": {
    "N": {"type": "var", "max": $max, "draw": [100, 1000], "description": "elements"},
    "M": {"type": "const", "value": 8, "description": "elements of a small input"}
  },
  "inputs": {$small"X": {"shape": ["N"], "dtype": "float32", "role": "activation"}},
  "outputs": {"Y": {"shape": ["N"], "dtype": "float32"}},
  "tolerance": {"Y": {"atol": 1e-30, "rtol": 1e-6, "rel_l2": 1e-6}},
  "oracle": {"items": "N"},
  "flops": "N", "bytes": "8*N"
}
EOF
    printf 'ITEM(i)\n{\n    PUT_Y(i, 2 * X(i));\n}\n' >"$dir/oracle.c"
    printf '{"id": "n%s", "target": "cuda", "axes": {"N": %s}}\n' "$n" "$n" >"$dir/workloads.jsonl"
    cat >"$dir/kernels/naive.cu" <<EOF
#include <cuda_runtime.h>
#include <cstdint>

__global__ void twice(const float *X, float *Y, int64_t N)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < N; i += step)
        Y[i] = 2 * X[i];
}

extern "C" void $name($params const float *X, float *Y, int64_t N, int64_t M, cudaStream_t stream)
{
    unsigned blocks = N < (1 << 20) ? 2 : 132 * 8;
    twice<<<blocks, 256, 0, stream>>>(X, Y, N);
}
EOF
    k=$((k + 1))
done
