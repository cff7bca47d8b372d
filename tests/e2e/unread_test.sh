#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A nest that no rule reads is named with the reason: at a search's end, in its report, by strategy_propose. One that is read is not.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null
printf '{"match":"void","ns":1000000}\n' >"$ROOT/script.jsonl"
search() { # search TASK OPTION...
    "$HONE" search "$@" --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --budget-evaluations 4 --quiet >"$ROOT/out" 2>"$ROOT/err"
}
kernel=tests/relatives/cpu/nussinov.c
# shellcheck disable=SC2046
"$HONE" task new "$kernel" $(sed -n 's|^/\* new: \(.*\) \*/$|\1|p' "$kernel") --no-lint --workspace "$WS" >"$ROOT/out" 2>&1
ok $? "a kernel whose rows are taken from the last to the first becomes a task" "$(cat "$ROOT/out")"
said='loop i at line [0-9]*: the loop.s bounds are not plain (bounds)'
search nussinov && grep -q "^no rule reads    $said" "$ROOT/out"
ok $? "the end of a search names the nest and the reason" "$(cat "$ROOT/out" "$ROOT/err")"
search nussinov --name again --json && tail -n 1 "$ROOT/out" | grep -q "\"unread\":\"$said\""
ok $? "so does its JSON" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" report nussinov --workspace "$WS" >"$ROOT/out" && grep -q '^No rule reads loop i at line .*bounds are not plain' "$ROOT/out"
ok $? "the report" "$(cat "$ROOT/out")"
"$HONE" report nussinov --json --workspace "$WS" | grep -q "\"unread\":\"$said\""
ok $? "the report's JSON" ""
"$HONE" call strategy_propose '{"task":"nussinov"}' --workspace "$WS" >"$ROOT/out" && grep -q "no rule reads $said" "$ROOT/out"
ok $? "and strategy_propose" "$(cat "$ROOT/out")"
search matmul --json && ! grep -q '"unread"' "$ROOT/out"
ok $? "nothing is said of a nest that a rule reads" "$(cat "$ROOT/out" "$ROOT/err")"
finish
