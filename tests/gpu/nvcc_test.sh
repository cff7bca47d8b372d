#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sources that nvcc builds run on a device like all others. Needs a GPU and nvcc.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
export HONE_CUDA_HOME=${HONE_CUDA_HOME:-/usr/local/cuda}
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
case ${HONE_CUDA_LIB:-} in *emulator*) echo "1..0 # SKIP the emulator knows no cubin"; exit 77 ;; esac
if [ ! -x "$HONE_CUDA_HOME/bin/nvcc" ] || ! "$HONE" call device_info '{"probe":true}' --workspace "$WS" --quiet 2>/dev/null | grep -q '"targets":\["cpu","cuda"\]'; then
    echo "1..0 # SKIP no GPU or no nvcc"
    exit 77
fi

cat >"$ROOT/cub.cu" <<'END'
#include <cub/cub.cuh>
extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    size_t bytes = 0;
    void *scratch = nullptr;
    cub::DeviceReduce::Sum(nullptr, bytes, X, S, N, stream);
    cudaMallocAsync(&scratch, bytes, stream);
    cub::DeviceReduce::Sum(scratch, bytes, X, S, N, stream);
    cudaFreeAsync(scratch, stream);
}
END
cat >"$ROOT/lambda.cu" <<'END'
template <typename F> __global__ void each(float *out, const float *in, int64_t n, F f)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(in, i);
}
extern "C" void transpose(const float *A, float *B, int64_t M, int64_t N, cudaStream_t stream)
{
    each<<<(unsigned)((M * N + 255) / 256), 256, 0, stream>>>(B, A, M * N,
        [=] __device__(const float *in, int64_t i) { return in[i % M * N + i / M]; });
}
END
cat >"$ROOT/wrong.cu" <<'END'
#pragma hone lane(nvcc)
__global__ void none(float *out) { out[0] = 1; }
extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    none<<<1, 1, 0, stream>>>(S);
}
END
evaluate() { # TASK FILE WANTED-REASON
    printf '{"task":"%s","target":"cuda","source":%s}' "$1" "$(json_text "$ROOT/$2.cu")" >"$ROOT/args.json"
    "$HONE" call kernel_evaluate "@$ROOT/args.json" --workspace "$WS" --quiet >"$ROOT/answer" 2>"$ROOT/err"
    reason=$(json_get reason <"$ROOT/answer")
    echo "$reason" | grep -qxE "$3" && grep -q '"lane":"nvcc"' "$ROOT/answer"
    ok $? "$1: $2.cu: $reason" "$(head -c 1500 "$ROOT/answer" "$ROOT/err")"
    grep -oE '"(time_ns|build_ms)":[0-9.]*' "$ROOT/answer" | sed 's/^/# /'
}
evaluate sum cub screened
evaluate transpose lambda screened
evaluate sum wrong wrong_value
finish
