#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One process that judges twenty CUDA tasks three rounds long, on an emulated device that holds what two of them need:
# nothing ends for want of memory, and what is held is flat. Each task has its large tensors at other places than the others, so
# that no buffer of one serves the next. Two verifications besides, and a size that the device cannot hold.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
HONE_EMULATOR_MEMORY=$((252 << 20)) HONE_EMULATOR_GRANULARITY=$((16 << 20))
export HONE_EMULATOR_MEMORY HONE_EMULATOR_GRANULARITY
needs_emulator

"$HONE" init "$WS" >"$ROOT/init" 2>&1 || cat "$ROOT/init"
sh tests/gpu/many_tasks.sh "$WS/tasks" 20 20000 "5001 6002 7003"
call() { # call TOOL TASK
    printf '%s {"task":"%s","target":"cuda","source":%s}\n' "$1" "$2" "$(json_text "$WS/tasks/$2/kernels/naive.cu")"
}
{
    call kernel_verify held6
    for _ in 1 2 3; do
        for t in "$WS"/tasks/held*; do
            call kernel_run "$(basename "$t")"
        done
    done
    call kernel_verify held0
} >"$ROOT/calls"
"$HONE" call - --workspace "$WS" --quiet <"$ROOT/calls" >"$ROOT/answers" 2>"$ROOT/stderr"
n=$(grep -c '"verdict":"correct"\|"reason":"built"\|"reason":"correct"' "$ROOT/answers")
[ "$n" = 62 ]
ok $? "twenty tasks three times and two verifications in one process" \
    "$n of 62: $(grep '"verdict":"infra"' "$ROOT/answers" | grep -o '"summary":"[^"]*"' | sort | uniq -c | head -n 3) $(tail -n 3 "$ROOT/stderr")"

# What the device cannot hold is refused before it begins, with the figure.
sed -i 's/"max": 20000/"max": 100000000/' "$WS/tasks/held0/task.json"
echo '{"id": "huge", "target": "cuda", "axes": {"N": 50000000}}' >"$WS/tasks/held0/workloads.jsonl"
call kernel_run held0 >"$ROOT/calls"
"$HONE" call - --workspace "$WS" --quiet <"$ROOT/calls" >"$ROOT/answers" 2>"$ROOT/stderr"
grep -q "workload 'huge' needs at least 384 MiB of the device's 252 (one set of buffers for 1 arms)" "$ROOT/answers"
ok $? "a size that the device cannot hold is refused with the figure" "$(cat "$ROOT/answers" "$ROOT/stderr")"
finish
