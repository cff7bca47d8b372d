#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# runs first: it starts Python some thirty times.
# hone task import of LeetGPU's and gpu-mode's forms: problems become tasks that the lint admits,
# or are refused with the reason.
# Needs a Python with torch (make deps-torch).
# sanitizers: no; the references run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/imports_lib.sh

said=$("$HONE" task import tests/fixtures/imports --format leetgpu 2>&1)
imported leetgpu scaled_sum_1 turned_2 every_other_3
echo "$said" | grep -q "^imported .* total_4\$"
ok $? "leetgpu: an output of one element, made tensors of traced sizes, vectors and a variance" "$said"
refused leetgpu 5_aliased/challenge.py "writes through another name of its argument"
grep -q '"role":.*"index"' "$WS/tasks/every_other_3/task.json"
ok $? "integers are drawn below one more than the tests' largest" "$(cat "$WS/tasks/every_other_3/task.json")"
grep -q '"values_out"' "$WS/tasks/turned_2/task.json" && grep -q '"factor"' "$WS/tasks/scaled_sum_1/task.json"
ok $? "what is written in place is an input and an output, a number is a scalar"
said=$("$HONE" task import tests/fixtures/imports --format gpu-mode 2>&1)
imported gpu-mode row_sums grey
refused gpu-mode sorted/task.yml "no naive kernel: sort"
grep -q '"output"' "$WS/tasks/row_sums/task.json"
[ $? != 0 ] && grep -q '"float16"' "$WS/tasks/row_sums/task.json"
ok $? "a buffer for the answer is no input, and types are those of generate_input" "$(cat "$WS/tasks/row_sums/task.json")"

finish
