#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A nest that no rule reads is named with the reason: at a search's end, in its report, by strategy_propose. One that is read is not.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null
printf '{"match":"void","ns":1000000}\n' >"$ROOT/script.jsonl"
search() { # search TASK OPTION...
    "$HONE" search "$@" --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --budget-evaluations 4 --quiet >"$ROOT/out" 2>"$ROOT/err"
}
kernel=tests/relatives/cpu/floyd.c
# shellcheck disable=SC2046
"$HONE" task new "$kernel" $(sed -n 's|^/\* new: \(.*\) \*/$|\1|p' "$kernel") --no-lint --workspace "$WS" >"$ROOT/out" 2>&1
ok $? "a kernel in which every iteration waits for the one before becomes a task" "$(cat "$ROOT/out")"
said='loop k at line [0-9]*: two iterations may write the same element, at P.*(same_element)'
search floyd && grep -q "^no rule reads    $said" "$ROOT/out"
ok $? "the end of a search names the nest and the reason" "$(cat "$ROOT/out" "$ROOT/err")"
search floyd --name again --json && tail -n 1 "$ROOT/out" | grep -q "\"unread\":\"$said\""
ok $? "so does its JSON" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" report floyd --workspace "$WS" >"$ROOT/out" && grep -q '^No rule reads loop k at line .*two iterations may write the same element' "$ROOT/out"
ok $? "the report" "$(cat "$ROOT/out")"
"$HONE" report floyd --json --workspace "$WS" | grep -q "\"unread\":\"$said\""
ok $? "the report's JSON" ""
"$HONE" call strategy_propose '{"task":"floyd"}' --workspace "$WS" >"$ROOT/out" && grep -q "no rule reads $said" "$ROOT/out"
ok $? "and strategy_propose" "$(cat "$ROOT/out")"
search matmul --json && ! grep -q '"unread"' "$ROOT/out"
ok $? "nothing is said of a nest that a rule reads" "$(cat "$ROOT/out" "$ROOT/err")"
finish
