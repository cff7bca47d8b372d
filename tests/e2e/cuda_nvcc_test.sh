#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernel_compile of CUDA sources that need nvcc: the second lane, from the tool to the plan of each workload; no GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
if ! ls /usr/local/cuda/bin/nvcc /usr/local/cuda/include/cub/cub.cuh /usr/local/cuda/include/cccl/cub/cub.cuh 2>/dev/null | grep -q nvcc; then
    echo "1..0 # SKIP no nvcc"
    exit 0
fi
unset HONE_CUDA_LIB HONE_CUDA_HOME
"$HONE" init "$WS" >/dev/null || exit 1

compile() { # compile FILE [MORE]: the answer in $ROOT/answer; time enough for nvcc on a busy machine
    printf '{"task":"softmax","target":"cuda","timeout_ms":900000%s,"source":%s}' "${2:-}" "$(json_text "$1")" >"$ROOT/args.json"
    "$HONE" call kernel_compile "@$ROOT/args.json" --workspace "$WS" --quiet >"$ROOT/answer" 2>"$ROOT/stderr"
}
says() { # says NAME TEXT...: the answer holds every text
    name=$1
    shift
    for text in "$@"; do
        if ! grep -qF -- "$text" "$ROOT/answer"; then
            ok 1 "$name" "no '$text' in $(cat "$ROOT/answer" "$ROOT/stderr")"
            return
        fi
    done
    ok 0 "$name"
}

cat >"$ROOT/lambda.cu" <<'END'
#include <cstdint>
#pragma hone tune(TILE: 128, 256)
template <typename F> __global__ void __launch_bounds__(TILE) each(float *out, const float *in, int64_t n, F f)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    int unused;
    if (i < n)
        out[i] = f(in[i]);
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    float scale = 1.0f / N;
    each<<<(unsigned)((M * N + TILE - 1) / TILE), TILE, 0, stream>>>(Y, X, M * N,
        [=] __device__(float x) { return expf(x) * scale; });
}
END
compile "$ROOT/lambda.cu"
says "a lambda for the device" '"verdict":"built"' '"lane":"nvcc"' '"lane_note":"line 14: a lambda for the device in the launcher"' '"name":"each<...' '"line":3' \
    '"compiler":"nvcc ' '"registers":' '"max_threads":128' '"plans":["smoke: ' ', 128>>>'
build_ms() { grep -o '"build_ms":[0-9.]*' "$ROOT/answer" | cut -d : -f 2; }
compiled_ms=$(build_ms)
says "a warning by line, once" '"severity":"warning"' '"line":6' 'never referenced'
[ "$(grep -o '"message":"[^,]*never referenced' "$ROOT/answer" | wc -l)" = 1 ]
ok $? "and not a second time" "$(cat "$ROOT/answer")"
compile "$ROOT/lambda.cu" ',"tunables":{"TILE":256}'
says "a tunable" '"max_threads":256' ', 256>>>'
compile "$ROOT/lambda.cu" ',"detail":"full","flags":["-use_fast_math","-maxrregcount=32"]'
says "compiler options" '"verdict":"built"' '-maxrregcount=32' '"command":"nvcc -gencode=arch=compute_90a,code=sm_90a'
compile "$ROOT/lambda.cu" ',"fresh":true'
says "once more" '"verdict":"built"' '"lane":"nvcc"' 'never referenced' ', 128>>>'
awk -v now="$(build_ms)" -v first="$compiled_ms" 'BEGIN { exit !(now > 0 && now < first / 3) }'
ok $? "from the cache" "$(cat "$ROOT/answer")"
sed 's/expf(x) \* scale/expg(x) * scale/' "$ROOT/lambda.cu" >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "an error in the lambda" '"reason":"compile"' '"lane":"nvcc"' '"line":14' '\"expg\" is undefined'
sed 's/(Y, X, M \* N,/(Y, X,/' "$ROOT/lambda.cu" >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "an argument that is missing" '"reason":"compile"' '"line":13'
sed 's/<<<(unsigned)((M/<<<0 * (unsigned)((M/' "$ROOT/lambda.cu" >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "a launch that the device refuses" '"reason":"launch"' 'has a 0'
sed 's/^extern "C" void softmax/extern "C" void soft_max/' "$ROOT/lambda.cu" >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "no launcher" '"reason":"no_symbol"' 'softmax'
{ echo '#include "/etc/passwd"'; cat "$ROOT/lambda.cu"; } >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "files of the host are not there" '"reason":"compile"' '"line":1' '/etc/passwd'
! grep -q 'root:' "$ROOT/answer"
ok $? "and are not shown"

cat >"$ROOT/asked.cu" <<'END'
#pragma hone lane(nvcc)
__global__ void copy(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    copy<<<(M * N + 255) / 256, 256, 0, stream>>>(X, Y, M * N);
}
END
compile "$ROOT/asked.cu"
says "by request" '"verdict":"built"' '"lane":"nvcc"' '"lane_note":"the source asks for it"' ': copy <<<'
sed 1d "$ROOT/asked.cu" >"$ROOT/plain.cu"
compile "$ROOT/plain.cu"
says "the first lane is the rule" '"verdict":"built"' '"lane":"nvrtc"' ': copy <<<'
sed 's/lane(nvcc)/lane(clang)/' "$ROOT/asked.cu" >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "a lane that there is not" 'line 1: #pragma hone' 'lane(nvcc)'
{ echo '#pragma hone lane(nvrtc)'; cat "$ROOT/lambda.cu"; } >"$ROOT/bad.cu"
compile "$ROOT/bad.cu"
says "the first lane alone" '"reason":"compile"' '"line":15' 'lane(nvrtc) forbids'

cat >"$ROOT/array.cu" <<'END'
#include <array>
#include <numbers>
__global__ void fill(float *out, std::array<float, 4> a)
{
    out[threadIdx.x] = a[threadIdx.x];
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    fill<<<1, 4, 0, stream>>>(Y, std::array<float, 4>{1, 2, 3, 4});
}
END
compile "$ROOT/array.cu"
says "a header that NVRTC has not got" '"verdict":"built"' '"lane":"nvcc"' '"lane_note":"line 2: NVRTC has no <numbers>"' ': fill'
sed '2s/.*//' "$ROOT/array.cu" >"$ROOT/std.cu"
compile "$ROOT/std.cu"
says "more of std:: than NVRTC has" '"verdict":"built"' '"lane":"nvcc"' 'has not all of std::' ': fill'

cat >"$ROOT/blas.cu" <<'END'
#include <cublas_v2.h>
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    cublasHandle_t handle;
    cublasCreate(&handle);
}
END
compile "$ROOT/blas.cu"
says "a library that works by itself" '"reason":"compile"' '"line":4' 'cannot be recorded'

cat >"$ROOT/cub.cu" <<'END'
#include <cub/cub.cuh>
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    void *scratch = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, X, Y, (int)(M * N), stream);
    cudaMallocAsync(&scratch, bytes, stream);
    cub::DeviceReduce::Sum(scratch, bytes, X, Y, (int)(M * N), stream);
    cudaFreeAsync(scratch, stream);
}
END
compile "$ROOT/cub.cu"
says "cub::DeviceReduce::Sum" '::DeviceReduceKernel<...' '"verdict":"built"' '"lane":"nvcc"' '"lane_note":"line 6: cub::DeviceReduce in the launcher"' \
    'DeviceReduceSingleTileKernel' 'DeviceReduceKernel' '"registers":' '"plans":["smoke: '
! grep -q EmptyKernel "$ROOT/answer"
ok $? "kernels that are not launched are not shown"

HONE_CUDA_LIB=/nonexistent compile "$ROOT/lambda.cu" ',"fresh":true'
says "no nvcc" '"reason":"compile"' '"line":14' 'needs nvcc, which is not here. fix: '
finish
