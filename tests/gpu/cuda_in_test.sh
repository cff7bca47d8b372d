#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten CUDA files as users write them, on a real GPU: each becomes a task that the lint admits, and rules alone search it.
# ONLY="saxpy scan" takes some; WALL=60s is a search's time; EXPORT=1 builds the best version with nvcc and runs its test.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
HONE=$BUILD/hone
command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU || { echo "1..0 # SKIP no GPU"; exit 77; }
ROOT=$(mktemp -d "${TMPDIR:-/tmp}/hone-cuda-in.XXXXXX") || exit 1
trap 'rm -rf "$ROOT"' EXIT
chmod 755 "$ROOT"
"$HONE" init "$ROOT/ws" >"$ROOT/init" 2>&1 || cat "$ROOT/init"
FILES=tests/gpu/cuda_in
n=0 failed=0

result() { # result STATUS WORDS
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

one() { # one FILE TASK [option...]
    file=$1 task=$2
    shift 2
    case " ${ONLY:-$file} " in *" $file "*) ;; *) return ;; esac
    begin=$(date +%s)
    "$HONE" task new "$FILES/$file.cu" --workspace "$ROOT/ws" "$@" >"$ROOT/out" 2>&1
    rc=$?
    result $rc "$file.cu is admitted, $(($(date +%s) - begin)) s"
    [ $rc = 0 ] || { grep -v '^ok\|^[0-9]* of ' "$ROOT/out" | head -n 12 | sed 's/^/# /'; return; }
    head -n 1 "$ROOT/ws/tasks/$task/workloads.jsonl" | sed 's/^/# /'
    "$HONE" search "$task" --workspace "$ROOT/ws" --budget-wall "${WALL:-45s}" --json >"$ROOT/out" 2>"$ROOT/err"
    result $? "$file: $(tail -n 1 "$ROOT/out" | sed 's/.*"summary":"\([^"]*\)".*/\1/')"
    [ -n "${EXPORT:-}" ] && "$HONE" export "search/$task" --as cuda -o "$ROOT/$task" --workspace "$ROOT/ws" >"$ROOT/out" 2>&1 || return
    own=$(basename "$ROOT/$task"/*.h .h) # a kernel alone is exported as a launcher
    (cd "$ROOT/$task" && nvcc -std=c++17 -O3 -arch=native -c "$own.cu" -o "$own.o" && nvcc -std=c++17 -arch=native -o run "$own"_test.cu "$own.o" && ./run) >"$ROOT/out" 2>&1
    result $? "$file: the export builds alone and its test passes: $(grep -m 1 error "$ROOT/out" || tail -n 1 "$ROOT/out")"
}

one saxpy saxpy
one softmax row_softmax
one matmul tiled_matmul
one hist hist
one conv2d conv2d --grid '(W+15)/16, (H+15)/16' --block '16, 16' --size H=2000,W=3000,R=2 --size H=4096,W=4096,R=3 --constraint 'R <= 8'
one topk topk --reference $FILES/topk_ref.c --shape 'values[rows,4]'
one transpose batched_transpose
one scan scan
one exscan exscan
one gelu gelu
echo "1..$n"
exit $failed
