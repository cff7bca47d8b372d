#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone task calibrate on real kernels: a task whose tolerance zeros pass is refused and left as it is; the same task with a fair
# one is measured, written and shown; a record that the tolerance contradicts does not load.
# sanitizers: no; kernels are judged by their error, and the judge's program is the same one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
TIME=3s
cp -r tests/packs/row_mean "$WS/tasks/row_mean"
bad=$WS/tasks/row_mean/task.json

# Refused: named, with the place and what to do; exit 1; nothing written.
said=$("$HONE" task calibrate row_mean --time $TIME --write 2>&1)
[ $? = 1 ]
ok $? "a task that zeros pass is refused" "$said"
echo "$said" | grep -q "refused: 'zeros' passes on workload 'r64x20000', distribution 'normal'.*atol"
ok $? "zeros, the workload, the distribution and the fix are named" "$said"
echo "$said" | grep -q "nothing was written" && cmp -s tests/packs/row_mean/task.json "$bad"
ok $? "the pack is as it was" "$said"
"$HONE" task calibrate row_mean --time $TIME --json 2>/dev/null | grep -q '"is_fit":false'
ok $? "--json says so too"
said=$("$HONE" task lint row_mean 2>&1)
[ $? = 1 ] && echo "$said" | grep -q "BAD  answers" && echo "$said" | grep -q "'zeros' passes on workload"
ok $? "the lint holds the same answers against it" "$said"

# The same task with atol near 0 and rows short enough to tell TF32: measured and written, far below the guess that stood there.
sed -i 's/"atol": 5e-2/"atol": 1e-30/; s/"rel_l2": 0/"rel_l2": 1e-2/; s/8192, 21000/64, 130/; s/"max": 65536/"max": 256/' "$bad"
printf '%s\n' '{"id": "r64x100", "axes": {"M": 64, "N": 100}}' '{"id": "r301x90", "axes": {"M": 301, "N": 90}}' >"$WS/tasks/row_mean/workloads.jsonl"
said=$("$HONE" task calibrate row_mean --time $TIME 2>&1)
[ $? = 0 ] && echo "$said" | grep -q "^row_mean: trivial answers fail" && ! grep -q calibration "$bad"
ok $? "with atol near 0 it is fit; without --write nothing is written" "$said"
echo "$said" | grep -Eq "^normal .* (zeros|mean) .*x .*rounded (inputs|outputs|arithmetic) .*x"
ok $? "the table names the nearest answer of each kind" "$said"
said=$("$HONE" task calibrate row_mean --time $TIME --write 2>&1)
ok $? "--write writes" "$said"
rtol=$(grep -o '"rtol": [0-9.e-]*' "$bad" | cut -d' ' -f2)
awk -v r="$rtol" 'BEGIN { exit !(r > 0 && r < 1e-4) }'
ok $? "the tolerance follows the honest error: $rtol"
grep -q '"description": "Y\[m\] = mean' "$bad" && grep -q '"draw": \[1, 90\]' "$bad"
ok $? "the rest of task.json is as it was written"
said=$("$HONE" task show row_mean --json | tr -d '\n')
echo "$said" | grep -Eq '"calibration":\{"cpu":\{"date":"[0-9]{4}-[0-9]{2}-[0-9]{2}","device":"[^"]+","compiler":"[^"]+","hone":"[^"]+","margin":2,"seeds":[1-8],"trivial":'
ok $? "task show shows the record" "$said"
git -C "$WS" log -1 --format=%s | grep -q "Calibrate task row_mean"
ok $? "it is a commit of the workspace"

# A second run replaces the record; the kernel passes; a tolerance below the measured noise does not load.
said=$("$HONE" task calibrate row_mean --time $TIME --write --margin 3 2>&1) && [ "$(grep -c '"margin":3' "$bad")" = 1 ] &&
    [ "$(grep -c '"cpu": {' "$bad")" = 1 ]
ok $? "a second record takes the place of the first" "$said"
sed -i 's/"rtol": [0-9.e-]*/"rtol": 1e-9/' "$bad"
said=$("$HONE" task show row_mean 2>&1)
[ $? != 0 ] && echo "$said" | grep -q "calibrate the task again"
ok $? "a tolerance below the record's noise does not load" "$said"

# What cannot be measured is said.
said=$("$HONE" task calibrate row_mean --target cuda 2>&1)
[ $? != 0 ]
ok $? "no kernel for the target: refused" "$said"
said=$("$HONE" task calibrate sum --executor fake 2>&1)
[ $? != 0 ] && echo "$said" | grep -q "nothing was measured"
ok $? "an executor that measures nothing is no calibration" "$said"
finish
