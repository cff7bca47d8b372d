#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# runs first: it starts Python some sixty times.
# hone task import of other suites' forms: problems become tasks that the lint admits, or are refused with the reason.
# Needs a Python with torch (make deps-torch).
# sanitizers: no; the references run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
if ! "$HONE" doctor 2>/dev/null | grep -q '^ok *torch .*Python'; then
    echo "1..0 # SKIP no Python with torch"
    exit 77
fi
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1

imported() { # imported FORM TASK...: these stand as imported in the table $said, and the lint admits them
    form=$1
    shift
    for task; do
        echo "$said" | grep -q "^imported .* $task\$"
        ok $? "$form: $task is imported" "$(echo "$said" | grep "$task")"
        lint=$("$HONE" task lint "$task" 2>&1)
        echo "$lint" | grep -q "^$task: admitted"
        ok $? "$form: $task is admitted" "$lint"
    done
}
refused() { # refused FORM FILE TEXT: the file stands as refused in the table $said, with the text
    echo "$said" | grep -q "^refused *[^ ]*$2 .*$3"
    ok $? "$1: $2 is refused: $3" "$(echo "$said" | grep "$2")"
}

said=$("$HONE" task import tests/fixtures/imports/flashinfer --format flashinfer 2>&1)
imported flashinfer norm_h256 product_n96_k128 softmax_scaled rope_half_d64 silu_and_mul_h192 rows_by_number \
    bias_gelu_n64 attention_d32 difference_of_neighbours
refused flashinfer paged_d8.json "a constraint that no axis can be computed from: n == start"
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

said=$("$HONE" task import tests/fixtures/imports --format leetgpu 2>&1)
imported leetgpu scaled_sum_1 turned_2
refused leetgpu 3_every_other/challenge.py "the reference writes out in parts"
grep -q '"values_out"' "$WS/tasks/turned_2/task.json" && grep -q '"factor"' "$WS/tasks/scaled_sum_1/task.json"
ok $? "what is written in place is an input and an output, a number is a scalar"
said=$("$HONE" task import tests/fixtures/imports --format gpu-mode 2>&1)
imported gpu-mode row_sums grey
refused gpu-mode sorted/task.yml "no naive kernel: sort"
grep -q '"output"' "$WS/tasks/row_sums/task.json"
[ $? != 0 ] && grep -q '"float16"' "$WS/tasks/row_sums/task.json"
ok $? "a buffer for the answer is no input, and types are those of generate_input" "$(cat "$WS/tasks/row_sums/task.json")"

"$HONE" task import tests/fixtures/imports --format unknown >"$ROOT/said" 2>&1
[ $? != 0 ] && grep -q "there are .*flashinfer.*kernelbench" "$ROOT/said"
ok $? "an unknown format is told what there is" "$(cat "$ROOT/said")"

finish
