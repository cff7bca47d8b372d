#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone task import of PolyBench/C: what stands between the scop marks becomes a task that the lint admits. No Python is needed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1
said=$(HONE_PYTHON=/none "$HONE" task import tests/fixtures/imports --format polybench 2>&1)
for task in row_scale smooth_2; do
    echo "$said" | grep -q "^imported .* $task\$"
    ok $? "$task is imported" "$said"
    lint=$("$HONE" task lint "$task" 2>&1)
    echo "$lint" | grep -q "^$task: admitted"
    ok $? "$task is admitted" "$lint"
done
"$HONE" task show row_scale --json >"$ROOT/shown"
grep -q '"C_in"' "$ROOT/shown" && grep -q '"alpha"' "$ROOT/shown" && ! grep -q '"scale_in"' "$ROOT/shown"
ok $? "what is written is an input and an output, what is read an input" "$(cat "$ROOT/shown")"
grep -q '"scale"' "$ROOT/shown" && grep -q '(double' "$WS/tasks/row_scale/kernels/naive.c"
ok $? "a name that begins with _ and the type of the header inside of the kernel" "$(cat "$ROOT/shown")"
grep -q '"ni":60' "$WS/tasks/row_scale/workloads.jsonl" && grep -q '"nj":25' "$WS/tasks/row_scale/workloads.jsonl"
ok $? "sizes are the data sets'" "$(cat "$WS/tasks/row_scale/workloads.jsonl")"
"$HONE" task show smooth_2 --json | grep -q '"tsteps":{[^}]*"value":6'
ok $? "the number of steps is a scalar" "$("$HONE" task show smooth_2 --json)"
echo "$said" | grep -q "^refused *[^ ]*no_kernel.c *refused: no function kernel_NAME around"
ok $? "a file without a kernel function is refused" "$said"
echo "$said" | grep -q "^refused *[^ ]*own_type.c"
ok $? "types of its own are refused" "$said"
finish
