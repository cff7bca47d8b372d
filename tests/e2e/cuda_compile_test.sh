#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernel_compile for the cuda target, from the tool to the plan of each workload; needs NVRTC and the toolkit's headers, no
# GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
if ! ls /usr/local/cuda/lib64/libnvrtc.so* /usr/local/cuda/include/cuda_runtime.h >/dev/null 2>&1; then
    echo "1..0 # SKIP no CUDA toolkit"
    exit 0
fi
unset HONE_CUDA_LIB
"$HONE" init "$WS" >/dev/null || exit 1

compile() { # compile TASK FILE [MORE]: the answer in $ROOT/answer
    printf '{"task":"%s","target":"cuda"%s,"source":%s}' "$1" "${3:-}" "$(json_text "$2")" >"$ROOT/args.json"
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

for kernel in workspace/packs/*/kernels/naive.cu; do
    task=$(basename "$(dirname "$(dirname "$kernel")")")
    compile "$task" "$kernel"
    says "$task: naive.cu" '"verdict":"built"' '"registers":' '"plans":["smoke: '
done

gch=$(find "${HONE_OBJECTS:-$WS}" -name 'hone_host.hpp.gch' | head -n 1)
[ -n "$gch" ] && [ "$(head -c 4 "$gch")" = gpch ]
ok $? "the host prelude is precompiled" "'$gch' is not what g++ makes of a header"

cat >"$ROOT/tiled.cu" <<'END'
#include <cstdint>
#pragma hone tune(TILE: 128, 256)
template <int T, typename F> __global__ void __launch_bounds__(T) row(const F *X, F *Y, int64_t N)
{
    __shared__ F part[T];
    int64_t m = blockIdx.x;
    int unused;
    F sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += T)
        sum += expf(X[m * N + i]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = T / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    for (int64_t i = threadIdx.x; i < N; i += T)
        Y[m * N + i] = expf(X[m * N + i]) / part[0];
}
template <int T> static void go(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t s)
{
    row<T, float><<<(unsigned)M, T, 0, s>>>(X, Y, N);
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    if (N < 512)
        go<32>(X, Y, M, N, stream);
    else
        row<TILE, float><<<(unsigned)M, TILE, 0, stream>>>(X, Y, M > 0 ? N : 0);
}
END
compile softmax "$ROOT/tiled.cu"
says "templates, one of them only known to the launcher" '"verdict":"built"' '"name":"row<128, float>"' '"name":"row<32, float>"' \
    '"shared_bytes":512' '"max_threads":128' ': row<128, float> <<<' ': row<32, float> <<<' '"line":3'
says "a warning by line" '"severity":"warning"' '"line":7' 'never referenced'
compile softmax "$ROOT/tiled.cu" ',"tunables":{"TILE":256}'
says "a tunable" '"shared_bytes":1024' ': row<256, float> <<<'
compile softmax "$ROOT/tiled.cu" ',"detail":"full","flags":["-use_fast_math","-maxrregcount=32"]'
says "compiler options" '"verdict":"built"' '-maxrregcount=32'
compile softmax "$ROOT/tiled.cu" ',"flags":["-O3"]'
says "an option that is not allowed" '-O3'

sed 's/expf(X\[m \* N + i\]);/expg(X[m * N + i]);/' "$ROOT/tiled.cu" >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "an error in a kernel" '"reason":"compile"' '"line":10' '\"expg\" is undefined'
sed 's/(X, Y, N);/(X, Y);/' "$ROOT/tiled.cu" >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "an argument that is missing" '"reason":"compile"' '"line":23' "row has 3 parameters, 2 arguments given; parameter 3 is 'int64_t N'"
sed 's/<<<(unsigned)M, TILE, 0/<<<(unsigned)(M \/ 1000000), TILE, 0/' "$ROOT/tiled.cu" >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "a launch that the device refuses" '"reason":"launch"' 'has a 0'
sed 's/extern "C" void softmax/extern "C" void soft_max/' "$ROOT/tiled.cu" >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "no launcher" '"reason":"no_symbol"' "softmax"
sed 's/__shared__ F part\[T\]/__shared__ F part[T * 1000]/' "$ROOT/tiled.cu" >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "too much shared memory" '"reason":"compile"' 'bytes of shared memory, at most 49152 can be static' 'fix: '
{ echo '#include "/etc/passwd"'; cat "$ROOT/tiled.cu"; } >"$ROOT/bad.cu"
compile softmax "$ROOT/bad.cu"
says "files of the host are not there" '"reason":"compile"' 'cannot open source file'
grep -q 'root:' "$ROOT/answer"
[ $? != 0 ]
ok $? "and are not shown"
finish
