#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A nest that no rule reads is named with the reason: where its task is made, at a search's end, in its report, by strategy_propose. One that is read is not.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null
printf '{"match":"void","ns":1000000}\n' >"$ROOT/script.jsonl"
search() { # search TASK OPTION...
    "$HONE" search "$@" --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --budget-evaluations 4 --quiet >"$ROOT/out" 2>"$ROOT/err"
}
cat >"$ROOT/halves.c" <<'C'
#include <stdint.h>
void halves(const float *x, float *y, int64_t N)
{
    for (int64_t i = N; i > 1; i = i / 2)
        y[i / 2] = y[i / 2] * 0.5f + x[i - 1];
}
C
"$HONE" task new "$ROOT/halves.c" --shape 'x[N]' --shape 'y[N]' --inout y --size N=4096 --no-lint --workspace "$WS" >"$ROOT/out" 2>&1
ok $? "a kernel whose counter is halved becomes a task" "$(cat "$ROOT/out")"
grep -q 'in kernels/naive.c no rule reads loop i at line [0-9]*: the loop.s bounds are not plain (bounds)' "$ROOT/out"
ok $? "and is told which nest no rule reads, and why" "$(cat "$ROOT/out")"
cat >"$ROOT/rows.c" <<'C'
#define AT(f, i, j) f[(long)(i) * n + (j)]
static float sum(const float *p, int n) { float s = 0; int k; for (k = 0; k < n; k++) s += p[k]; return s; }
void rows(const float *x, float *y, int m, int n)
{
    int i;
    for (i = 0; i < m; i++)
        y[i] = sum(&AT(x, i, 0), n);
}
C
"$HONE" task new "$ROOT/rows.c" --shape 'x[m,n]' --no-lint --workspace "$WS" >"$ROOT/out" 2>&1 && ! grep -q 'no rule reads' "$ROOT/out"
ok $? "of counters at the top, helpers and index macros nothing is told" "$(cat "$ROOT/out")"
said='loop i at line [0-9]*: the loop.s bounds are not plain (bounds)'
search halves && grep -q "^no rule reads    $said" "$ROOT/out"
ok $? "the end of a search names the nest and the reason" "$(cat "$ROOT/out" "$ROOT/err")"
search halves --name again --json && tail -n 1 "$ROOT/out" | grep -q "\"unread\":\"$said\""
ok $? "so does its JSON" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" report halves --workspace "$WS" >"$ROOT/out" && grep -q '^No rule reads loop i at line .*bounds are not plain' "$ROOT/out"
ok $? "the report" "$(cat "$ROOT/out")"
"$HONE" report halves --json --workspace "$WS" | grep -q "\"unread\":\"$said\""
ok $? "the report's JSON" ""
"$HONE" call strategy_propose '{"task":"halves"}' --workspace "$WS" >"$ROOT/out" && grep -q "no rule reads $said" "$ROOT/out"
ok $? "and strategy_propose" "$(cat "$ROOT/out")"
search matmul --json && ! grep -q '"unread"' "$ROOT/out"
ok $? "nothing is said of a nest that a rule reads" "$(cat "$ROOT/out" "$ROOT/err")"
finish
