#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A user's CUDA file to a task and a version, without a GPU: the driver and NVRTC are the emulator's.
# tsan: no; the emulator's threads are not its subject.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
. tests/e2e/lib.sh
HONE_CUDA_LIB=$BUILD/cuda_emulator
export HONE_CUDA_LIB
[ -e "$HONE_CUDA_LIB/libcuda.so.1" ] || { echo "1..0 # SKIP no emulator in $HONE_CUDA_LIB"; exit 0; }
command -v g++ >/dev/null || { echo "1..0 # SKIP the emulator needs g++"; exit 0; }
chmod 755 "$ROOT"
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

# ---- what cannot be read says what helps ----

new topk.cu --no-lint
same "a template is refused as an argument" "$?" 2
said "--reference FILE.c"
ok $? "and told how to go on"
new topk.cu --no-lint --reference $FILES/topk_ref.c --shape 'values[rows,4]'
ok $? "with a reference it is a pack"
new conv2d.cu --no-lint
same "a kernel alone wants a grid" "$?" 2
said "--grid"
ok $? "and says so"

# ---- to a verdict ----

new conv2d.cu --grid '(W+15)/16, (H+15)/16' --block '16, 16' --size H=20,W=50,R=2 --constraint 'R <= 8'
ok $? "a kernel named as the task is linted and admitted"
said "lower_precision  wrong_value"
ok $? "the lint refuses kernels of lower precision"
new saxpy.cu --size n=3001
ok $? "a launcher that reads and writes is admitted"
said "'y_in'"
ok $? "and its output is an input besides"
"$HONE" call kernel_verify '{"task":"saxpy","commit":"baseline"}' --workspace "$WS" >"$ROOT/out" 2>&1
said '"verdict":"correct"'
ok $? "the baseline is named in a call, and a pack of CUDA alone runs there"
sed 's/a \* x/a + x/' "$WS/tasks/saxpy/kernels/naive.cu" >"$ROOT/wrong.cu"
"$HONE" call kernel_verify "{\"task\":\"saxpy\",\"source\":$(json_text "$ROOT/wrong.cu")}" \
    --workspace "$WS" >"$ROOT/out" 2>&1
said '"reason":"wrong_value"'
ok $? "another sum is a wrong value"
"$HONE" search saxpy --budget-evaluations 2 --json --workspace "$WS" >"$ROOT/out" 2>"$ROOT/err"
ok $? "a search needs no target"
said '"target":"cuda"'
ok $? "and takes the one that there is"
finish
