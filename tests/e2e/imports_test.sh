#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# runs first: it starts Python some forty times.
# hone task import of FlashInfer-Bench's and SOL-ExecBench's forms: problems become tasks that the lint admits,
# or are refused with the reason.
# Needs a Python with torch (make deps-torch).
# sanitizers: no; the references run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/imports_lib.sh

said=$("$HONE" task import tests/fixtures/imports/flashinfer --format flashinfer 2>&1)
imported flashinfer norm_h256 product_n96_k128 softmax_scaled rope_half_d64 silu_and_mul_h192 rows_by_number \
    bias_gelu_n64 attention_d32 difference_of_neighbours
refused flashinfer paged_d8.json "no naive kernel: the statement parts.append"
grep -q '"n % 2 == 0"' "$WS/tasks/difference_of_neighbours/task.json"
ok $? "what must hold between sizes is a constraint of the task" "$(cat "$WS/tasks/difference_of_neighbours/task.json")"
refused flashinfer narrow_float8.json "x is float8_e4m3fn"
refused flashinfer drawn_by_function.json custom_inputs_entrypoint
refused flashinfer outside.json "lie outside of the suite's folder"
refused flashinfer pointer.json "shorter than its header says"
grep -q '"bound":.*"table"' "$WS/tasks/rows_by_number/task.json"
ok $? "the axis that an index must stay below is found" "$(cat "$WS/tasks/rows_by_number/task.json")"
grep -q '"stored":.*"bias.safetensors"' "$WS/tasks/bias_gelu_n64/task.json" && [ -f "$WS/tasks/bias_gelu_n64/bias.safetensors" ]
ok $? "stored inputs come with the task"
grep -q '"dtype":.*"bfloat16"' "$WS/tasks/norm_h256/task.json"
ok $? "types are the definition's"
"$HONE" task import tests/fixtures/imports/sol/mean_square/definition.json >"$ROOT/said" 2>&1 && grep -q 'mean_square: admitted' "$ROOT/said"
ok $? "a SOL-ExecBench folder is imported" "$(cat "$ROOT/said")"
grep -A8 '"rstd"' "$WS/tasks/mean_square/task.json" | grep -q positive
ok $? "roles come by name"

"$HONE" task import tests/fixtures/imports --format unknown >"$ROOT/said" 2>&1
[ $? != 0 ] && grep -q "there are .*flashinfer.*kernelbench" "$ROOT/said"
ok $? "an unknown format is told what there is" "$(cat "$ROOT/said")"

finish
