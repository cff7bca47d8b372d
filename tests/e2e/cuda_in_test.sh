#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A user's CUDA file to a task and a version, without a GPU: the driver and NVRTC are the emulator's.
# tsan: no; the emulator's threads are not its subject.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
needs_emulator
WS=$ROOT/ws
FILES=tests/gpu/cuda_in
"$HONE" init "$WS" >"$ROOT/init" 2>&1 || sed "s/^/# /" "$ROOT/init"

same() { # same NAME GOT WANTED
    [ "$2" = "$3" ]
    ok $? "$1" "got '$2', wanted '$3'"
}

new() { # new FILE [option...]: its output in $ROOT/out
    file=$1
    shift
    "$HONE" task new "$FILES/$file" --workspace "$WS" "$@" >"$ROOT/out" 2>&1
}

said() { # said WORDS
    grep -qF -- "$1" "$ROOT/out"
}

field() { # field TASK KEY: of the first workload's or the task's JSON
    tr -d ' \n' <"$WS/tasks/$1/task.json" | grep -oF -- "$2"
}

# ---- what is read from the text ----

for name in softmax matmul hist transpose scan; do
    new $name.cu --no-lint
    ok $? "$name.cu becomes a pack"
done
same "softmax: rows and columns come from subscripts" "$(field row_softmax '"x":{"shape":["rows","cols"]')" \
    '"x":{"shape":["rows","cols"]'
same "matmul: the product's three sizes" "$(field tiled_matmul '"B":{"shape":["K","N"]')" '"B":{"shape":["K","N"]'
same "hist: bytes" "$(field hist '"dtype":"uint8"')" '"dtype":"uint8"'
same "transpose: half" "$(field batched_transpose '"out":{"shape":["batch","rows","cols"],"dtype":"float16"')" \
    '"out":{"shape":["batch","rows","cols"],"dtype":"float16"'
same "hist: its bins are an output alone, for they are filled first" "$(field hist bins_in)" ""

# ---- and back: the user's own launcher ----

take() { # take TASK: the baseline's export, into a fresh folder
    rm -rf "$ROOT/taken"
    "$HONE" export "$1" --workspace "$WS" -o "$ROOT/taken" >"$ROOT/out" 2>&1
}
for launcher in 'hist(const unsigned char *data, unsigned int *bins, int n, cudaStream_t stream)' \
    'scan(const float *x, float *y, int rows, int n, cudaStream_t stream)' \
    'batched_transpose(const __half *in, __half *out, int batch, int rows, int cols, cudaStream_t stream)'; do
    name=${launcher%%(*}
    take "$name" && grep -qxF "extern \"C\" void $launcher;" "$ROOT/taken/$name.h" && ! said 'could not be matched'
    ok $? "$name is exported as the user's file has it, and its reference answers" "$(cat "$ROOT/out" "$ROOT/taken/$name.h")"
done
if command -v nvcc >/dev/null; then
    (cd "$ROOT/taken" && nvcc -std=c++17 -c batched_transpose.cu -o kernel.o && nvcc -std=c++17 -o run batched_transpose_test.cu kernel.o) >"$ROOT/out" 2>&1
    ok $? "nvcc builds the export and its test, with no word" "$(cat "$ROOT/out")"
fi
tail -n 4 "$ROOT/taken/batched_transpose.cu" | grep -qF 'batched_transpose_in_task_order((const __half *)in, (__half *)out, (int64_t)batch, (int64_t)rows, (int64_t)cols, stream);'
ok $? "and calls hone's order" "$(tail -n 4 "$ROOT/taken/batched_transpose.cu")"

# ---- what cannot be read says what helps ----

new topk.cu --no-lint
ok $? "a template that the file launches is written out" "$(cat "$ROOT/out")"
grep -q '^void topk(' "$WS/tasks/topk/oracle.c" && said 'topk_kernel<4>'
ok $? "with the arguments of that launch, which are told"
new topk.cu --no-lint --force --reference $FILES/topk_ref.c --shape 'values[rows,4]'
ok $? "with a reference it stays a template"
new row_norm.cu --no-lint
same "a template that nothing launches is refused" "$?" 2
said "line 9: 'row_norm' is a template" && said "--instance 'row_norm<...>'"
ok $? "with its line, and the option that says which" "$(cat "$ROOT/out")"
new row_norm.cu --no-lint --instance 'row_norm<>'
same "an instance without arguments is refused" "$?" 2
new row_norm.cu --instance 'row_norm<float>' --grid rows --block 128 --size rows=7,cols=300
ok $? "the instance that is asked for is admitted, defaults and the helpers that it calls included" "$(cat "$ROOT/out")"
grep -q 'float warp_sum(float v)' "$WS/tasks/row_norm/kernels/naive.cu"
ok $? "a helper's type comes from what it is called with"
sed 's/template <typename T> __device__/class x; template <typename T> __device__/' $FILES/row_norm.cu >"$ROOT/class.cu"
"$HONE" task new "$ROOT/class.cu" --no-lint --workspace "$WS" --instance 'row_norm<float>' >"$ROOT/out" 2>&1
same "what has no C form is refused" "$?" 2
said "--reference FILE.c"
ok $? "and told how to go on"
new conv2d.cu --no-lint
same "a kernel alone wants a grid" "$?" 2
said "--grid"
ok $? "and says so"

text() { # text NAME LAUNCH VALUE: a file whose launcher has LAUNCH, and whose kernel writes VALUE
    cat >"$ROOT/$1.cu" <<END
__global__ void $1_all(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = $3;
}
extern "C" void $1(const float *x, float *y, int n)
{
    $2
}
END
    "$HONE" task new "$ROOT/$1.cu" --no-lint --workspace "$WS" >"$ROOT/out" 2>&1
}

text bare 'bare_all<<<>>>(x, y, n);' 'x[i]'
same "a launch without a grid is refused" "$?" 2
said "line 9: the launch of 'bare_all'"
ok $? "with its line"
text own 'cudaStream_t s; cudaStreamCreate(&s); own_all<<<n, 1, 0, s>>>(x, y, n);' 'x[i]'
same "a call that the reference has no text for is refused" "$?" 2
said "line 9: 'cudaStreamCreate'"
ok $? "with its line, and not when it is linked"
text word 'word_all<<<n, 1>>>(x, y, n);' '__saturatef(x[i])'
same "so is one on the device" "$?" 2
open=$(printf '%0254d' 0 | tr 0 '(') # a function's { around them, and a subscript inside
shut=$(printf '%0254d' 0 | tr 0 ')')
text deep 'deep_all<<<n, 1>>>(x, y, n);' "${open}x[i]${shut}"
ok $? "256 brackets in brackets are read"
text deeper 'deeper_all<<<n, 1>>>(x, y, n);' "(${open}x[i]${shut})"
same "257 are not" "$?" 4

# ---- to a verdict ----

new exscan.cu --size n=3001
ok $? "scratch memory, a struct and a wait have a C form"
take exscan && tail -n 4 "$ROOT/taken/exscan.cu" | grep -q 'exscan_in_task_order(.*, 0);' && grep -qx '    exscan(device_pointer{device_in0}, device_pointer{device_out0}, 5);' "$ROOT/taken/exscan_test.cu"
ok $? "a launcher without a stream is exported without one" "$(cat "$ROOT/out"; tail -n 4 "$ROOT/taken/exscan.cu")"
# Positive: far below zero 1 + tanh(v) cancels, and a small output of such values alone is refused, by chance.
new gelu.cu --size n=3001 --role x=positive
ok $? "a bfloat16 output is allowed its own rounding" "$(cat "$ROOT/out")"
new gelu.cu --size n=3001 --name tight --tolerance 1e-9
same "a tolerance that the kernel itself misses is refused" "$(grep -c '^tight: not admitted' "$ROOT/out")" 1
said 'ITEM(item)' && said 'PUT_SCALED_x(item' && said '--reference FILE.c' && ! said calibrate
ok $? "with the reference to write, and no verb that does not work there" "$(cat "$ROOT/out")"

new conv2d.cu --grid '(W+15)/16, (H+15)/16' --block '16, 16' --size H=20,W=50,R=2 --constraint 'R <= 8'
ok $? "a kernel named as the task is linted and admitted"
said "lower_precision  wrong_value"
ok $? "the lint refuses kernels of lower precision"
take conv2d && grep -q '^extern "C" void conv2d(' "$ROOT/taken/conv2d.h"
ok $? "and comes home under its own name" "$(cat "$ROOT/out" "$ROOT/taken/conv2d.h")"
grep -q '"((H + 15) // 16) <= 65535"' "$WS/tasks/conv2d/task.json"
ok $? "sizes stay within what a launch can count along y" "$(grep -A3 constraints "$WS/tasks/conv2d/task.json")"
"$HONE" task new tests/relatives/cuda/embedding_bag.cu --workspace "$WS" --shape 'table[vocab,dim]' --shape 'index[nnz]' \
    --shape 'offset[bags+1]' --shape 'out[bags,dim]' --role offset=offsets:nnz --role index=index:vocab \
    --size bags=9,dim=8,vocab=20,nnz=40 --no-lint >"$ROOT/out" 2>&1 &&
    "$HONE" call strategy_apply '{"task":"embedding_bag","rewrite":"cuda_block_shape","tier":"screen"}' \
        --workspace "$WS" >"$ROOT/applied" 2>>"$ROOT/out"
take "$(json_get commit <"$ROOT/applied")" && tail -n 4 "$ROOT/taken/embedding_bag.cu" | grep -qF ', (int64_t)dim, 0, 0, ((int64_t)bags+1), stream);'
ok $? "sizes that a launcher does not get, and passes nowhere, hinder no export" "$(cat "$ROOT/out"; tail -n 4 "$ROOT/taken/embedding_bag.cu")"
if command -v nvcc >/dev/null; then
    (cd "$ROOT/taken" && nvcc -std=c++17 -c embedding_bag.cu -o kernel.o && nvcc -std=c++17 -o run embedding_bag_test.cu kernel.o) >"$ROOT/out" 2>&1
    ok $? "and nvcc builds its test" "$(cat "$ROOT/out")"
fi
new saxpy.cu --size n=3001
ok $? "a launcher that reads and writes is admitted"
said "'y_in'"
ok $? "and its output is an input besides"
take saxpy && said 'in place, without a copy: y' && ! grep -q 'old_y\|cudaMalloc' "$ROOT/taken/saxpy.cu"
ok $? "its export keeps the one array" "$(cat "$ROOT/out"; tail -n 12 "$ROOT/taken/saxpy.cu")"
"$HONE" call kernel_verify '{"task":"saxpy","commit":"baseline"}' --workspace "$WS" >"$ROOT/out" 2>&1
said '"verdict":"correct"'
ok $? "the baseline is named in a call, and a pack of CUDA alone runs there"
sed 's/a \* x/a + x/' "$WS/tasks/saxpy/kernels/naive.cu" >"$ROOT/wrong.cu"
"$HONE" call kernel_verify "{\"task\":\"saxpy\",\"source\":$(json_text "$ROOT/wrong.cu")}" \
    --workspace "$WS" >"$ROOT/out" 2>&1
said '"reason":"wrong_value"'
ok $? "another sum is a wrong value"
# Whether the oracle is asked about a sum that drifts hangs on what its answers took: not on a busy machine (by hand,
# docs/decisions/0124-within-a-minute.md).
new long_sum.cu --size n=500000 --out y --no-lint
! head -n 2 "$WS/tasks/long_sum/oracle.c" | grep -q 'define HONE_ON_CORES_' &&
    head -n 2 "$WS/tasks/saxpy/oracle.c" | grep -q 'define HONE_ON_CORES_'
ok $? "blocks of a reference run on all cores, but not where they have atomics"
sed 's/atomicExch(y, sum)/PUT(y, sum)/; s/^__global__/#define PUT(p, v) atomicExch(p, v)\n&/; s/long_sum/put_sum/g' "$FILES/long_sum.cu" >"$ROOT/put_sum.cu"
"$HONE" task new "$ROOT/put_sum.cu" --size n=5000 --out y --no-lint --workspace "$WS" >"$ROOT/out" 2>&1
! head -n 2 "$WS/tasks/put_sum/oracle.c" | grep -q 'define HONE_ON_CORES_'
ok $? "nor where a macro has them" "$(cat "$ROOT/out")"
"$HONE" search saxpy --budget-evaluations 2 --json --workspace "$WS" >"$ROOT/out" 2>"$ROOT/err"
ok $? "a search needs no target"
said '"target":"cuda"'
ok $? "and takes the one that there is"
finish
