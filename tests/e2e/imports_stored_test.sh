#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# runs first: it starts Python some sixty times.
# hone task import of definitions with stored inputs, ragged and paged rows: thirteen become tasks, of which the lint admits the
# eleven that are linted here (a right kernel is correct, wrong ones are refused). What is wrong in one way is refused with the reason.
# Needs a Python with torch (make deps-torch); tests/e2e/imports_stored.py writes the files.
# sanitizers: no; the references run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/imports_lib.sh

ALIKE="decode_h4_kv2_d16_ps1 latent_h4_c16_p8" # their lints take long, and look at what others do
SET="ragged_h4_kv2_d16 decode_h2_d16_ps4 grouped_e4_k16_n12 scan_d24 state_d16_s8 \
    norm_h64 added_norm_h48 gemm_n24_k32 rope_d16 silu_n48 \
    gemm_and_nothing" # an output that holds infinities
python3 tests/e2e/imports_stored.py "$ROOT/suite" || exit 1
said=$("$HONE" task import "$ROOT/suite" --format flashinfer 2>&1)
echo "$said" | grep -q '^14 of 28 imported$'
ok $? "a folder's table counts" "$said"
export HONE ROOT
echo "$SET" | xargs -n 1 -P 2 sh -c '"$HONE" task lint "$1" >"$ROOT/lint.$1" 2>&1' lint
for task in $ALIKE; do
    echo "$said" | grep -q "^imported .* $task\$"
    ok $? "$task: imported"
done
for task in $SET; do
    echo "$said" | grep -q "^imported .* $task\$" && grep -q "^$task: admitted" "$ROOT/lint.$task" &&
        grep -q '^ok *naive *correct' "$ROOT/lint.$task" && grep -q '^ok *wrong_last *\(wrong_value\|nonfinite\)' "$ROOT/lint.$task" &&
        ls "$WS/tasks/$task"/*.safetensors >/dev/null
    ok $? "$task: imported with its files, admitted, a right kernel passes and a wrong one does not" "$(cat "$ROOT/lint.$task")"
done

while read -r file text; do
    refused bad "$file.json" "$text"
    [ ! -e "$WS/tasks/$file" ]
    ok $? "$file: nothing is left of it"
done <<'END'
not_the_total offsets 'qo_indptr': element 4, the last, is 23, it must be 24
falling offsets 'kv_indptr': element 2 is 8, less than 9 before it
begins_late offsets 'qo_indptr': element 0 is 1, the first offset is 0
wrong_dtype holds int64, the definition says int32
wrong_shape holds 'qo_indptr' in another shape .* .5.
turned holds 'q' in another shape .* .24,4,16.
out_of_root lie outside of the suite's folder
long_header its header has 1048577 bytes, at most 1048576
beyond_pages index 'kv_indices': element 0 is 20, it must be below 20
before_pages index 'kv_indices': element 1 is -1, an index is 0 or more
untied a workload says len_indptr = 5, by the definition it is 6
fixed_above inputs of fixed sizes with 209715201 elements, at most 209715200
counted_down a loop that counts down
END
refused bad fixed_at.json "the reference has no function run"
echo "$said" | grep -q '^imported .* whole_header$'
ok $? "a header at the limit is read" "$said"

task=$WS/tasks/ragged_h4_kv2_d16/task.json
tr -d ' \n' <"$task" | grep -q '"qo_indptr":{"shape":\["len_indptr"\],"dtype":"int32","role":"offsets","bound":"total_q","stored":"qo_indptr.safetensors"}'
ok $? "X == name[-1] makes name offsets that end at X" "$(cat "$task")"
grep -q '"len_indptr > 1"' "$task"
ok $? "offsets have two elements or more"
for row in latent_h4_c16_p8:kv_indices:num_pages decode_h4_kv2_d16_ps1:kv_indices:num_pages grouped_e4_k16_n12:token_ids:tokens \
    decode_h2_d16_ps4:kv_last_page_len:n5; do
    name=${row%%:*} rest=${row#*:}
    tr -d ' \n' <"$WS/tasks/$name/task.json" | grep -q "\"${rest%:*}\":{[^}]*\"role\":\"index\",\"bound\":\"${rest#*:}\""
    ok $? "$name: ${rest%:*} stays below ${rest#*:}" "$(cat "$WS/tasks/$name/task.json")"
done
tr -d ' \n' <"$WS/tasks/decode_h2_d16_ps4/task.json" | grep -q '"sm_scale":{"dtype":"float32","value":0.25,'
ok $? "a scalar without a value in a workload has its description's"
! grep -q '"rows"' "$WS/tasks/scan_d24/task.json"
ok $? "an optional input is left out"
[ ! -e "$WS/tasks/scan_d24/kernels/naive.cu" ] && ! grep -q cuda "$WS/tasks/scan_d24/workloads.jsonl" &&
    [ -e "$WS/tasks/gemm_n24_k32/kernels/naive.cu" ]
ok $? "a reference with loops has no kernel and no size for a device"

held=$WS/tasks/ragged_h4_kv2_d16/qo_indptr.safetensors
cp "$held" "$ROOT/kept"
{ head -c -12 "$ROOT/kept"; printf '\003\0\0\0'; tail -c 8 "$ROOT/kept"; } >"$held"
"$HONE" task show ragged_h4_kv2_d16 >"$ROOT/said" 2>&1
[ $? != 0 ] && grep -q "element 2 is 3, less than 6 before it" "$ROOT/said"
ok $? "a pack whose stored offsets fall does not load" "$(cat "$ROOT/said")"
cp "$ROOT/kept" "$held"

# A kernel of its own, and the mistakes that such kernels have.
body=tests/data/imports_ragged.c
verify() { # verify NAME SED: the verdict of the kernel after this change
    sed "$2" "$body" >"$ROOT/$1.c"
    "$HONE" call kernel_verify "{\"task\":\"ragged_h4_kv2_d16\",\"source\":$(json_text "$ROOT/$1.c")}" --quiet >"$ROOT/$1.json" 2>&1
    json_get verdict <"$ROOT/$1.json"
}
[ "$(verify right '')" = correct ]
ok $? "a ragged kernel that was written by hand is correct" "$(cat "$ROOT/right.json")"
while read -r name change; do
    [ "$(verify "$name" "$change")" = incorrect ]
    ok $? "a ragged kernel: $name is incorrect" "$(cat "$ROOT/$name.json")"
done <<'END'
unaligned_mask s/ + n_kv - n_q//
first_row_alone s/b < len_indptr - 1/b < 1/
queries_by_keys s/qo_indptr\[b + 1\]/kv_indptr[b + 1]/
END

finish
