#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What somebody should look at: a kernel that is faster than its task's formulas allow is suspicious, its raw samples are kept, and the
# review list shows it, alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null || exit 1
# A formula that asks for a thousand times the bytes: every honest kernel is now faster than physics.
sed -i 's/"bytes": *"\([^"]*\)"/"bytes": "1000000 * (\1)"/' "$WS/tasks/sum/task.json"
grep -q '1000000' "$WS/tasks/sum/task.json"
ok $? "the task's formula is exaggerated"

evaluate() { # evaluate TASK TIER: answer and stderr in $ROOT
    printf '{"task":"%s","tier":"%s","budget_ms":300,"source":%s}' "$1" "$2" \
        "$(json_text "$WS/tasks/$1/kernels/naive.c")" >"$ROOT/args.json"
    "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>"$ROOT/stderr"
}

evaluate sum decide
[ "$(json_get reason <"$ROOT/answer")" = below_floor ]
ok $? "it is below the floor" "$(cat "$ROOT/answer" "$ROOT/stderr")"
commit=$(json_get commit <"$ROOT/answer")
samples=$(git -C "$WS" show -s --format='%(trailers:key=Samples,valueonly)' "$commit" | head -n 1)
[ -n "$samples" ] && grep -q '"wall_ns":\[' "$WS/.hone/blobs/$samples"
ok $? "its raw samples are kept" "Samples: $samples"
[ "$(sha256sum <"$WS/.hone/blobs/$samples" | cut -d' ' -f1)" = "$samples" ]
ok $? "under their content's hash"
grep -q '"seed":"[0-9a-f]\{32\}"' "$WS/.hone/blobs/$samples"
ok $? "with the secret that repeats the inputs"

evaluate softmax screen
[ "$(json_get verdict <"$ROOT/answer")" = screened ]
ok $? "another version is fine" "$(cat "$ROOT/answer" "$ROOT/stderr")"
"$HONE" call --workspace "$WS" history_show '{"review":true}' >"$ROOT/list" 2>/dev/null
grep -q '"1 version"' "$ROOT/list" && grep -q "$commit" "$ROOT/list"
ok $? "the review list has the first alone" "$(cat "$ROOT/list")"
"$HONE" log --workspace "$WS" --review 2>/dev/null >"$ROOT/log"
[ "$(wc -l <"$ROOT/log")" = 2 ] && grep -q suspicious "$ROOT/log"
ok $? "so has hone log --review" "$(cat "$ROOT/log")"
finish
