#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search's end and its history say what the figure is and what it rests on: plain git, `hone log`, `hone show`, `hone report`.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null
printf '{"match":"pragma hone","fast_math":"-Ofast","ns":250000}\n{"match":"void","ns":1000000}\n' >"$ROOT/script.jsonl"
search() { # search EVALUATIONS: all rounds
    "$HONE" search matmul --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --budget-evaluations "$1" --seed 3 \
        --quiet >"$ROOT/out" 2>"$ROOT/err"
}
tip() { git -C "$WS" log -1 --format="$1" search/matmul; }

search 14
ok $? "a search ends" "$(cat "$ROOT/err")"
grep -q '^rests on .*, fast-math (-Ofast: NaN, infinities and the order of sums are not kept)' "$ROOT/out"
ok $? "its end says that the figure rests on fast-math" "$(cat "$ROOT/out")"
tip %s | grep -q '^faster: 4x baseline .*confirmed with fresh data'
ok $? "plain git log ends with the confirmed figure" "$(tip %B)"
tip %b | grep -q ', fast-math (-Ofast' && tip %b | grep -q "^Result-of: $(git -C "$WS" rev-parse search/matmul^)\$"
ok $? "and what it rests on" "$(tip %B)"
[ -z "$(git -C "$WS" diff search/matmul^ search/matmul)" ] && git -C "$WS" cat-file -e search/matmul:matmul.c
ok $? "it changes no file" "$(git -C "$WS" show --stat search/matmul)"
best=$(sed -n 's/^best version  *//p' "$ROOT/out")
[ "$best" = "$(git -C "$WS" rev-parse search/matmul^)" ]
ok $? "it stands on the best version" "$best"
figure=$("$HONE" log search/matmul --workspace "$WS" | sed -n 2p)
case $figure in "$(echo "$best" | cut -c1-10)"*confirm*"4 ["*"[fast-math]"*) true ;; *) false ;; esac
ok $? "hone log gives that version the same figure, and says fast-math" "$figure"
"$HONE" show search/matmul --workspace "$WS" | grep -q "^commit  $best"
ok $? "the branch stands for the version" "$("$HONE" show search/matmul --workspace "$WS" | head -3)"
"$HONE" show search/matmul --workspace "$WS" | grep -q 'measured again' && "$HONE" show search/matmul --workspace "$WS" | grep -q '^Fast-math: -Ofast'
ok $? "hone show names fast-math and the confirmation" "$("$HONE" show search/matmul --workspace "$WS" | head -40)"
for rev in $(git -C "$WS" for-each-ref --format='%(objectname) %(objectname:short)' refs/hone/evidence) $(git -C "$WS" rev-parse --short search/matmul); do
    "$HONE" show "$rev" --workspace "$WS" || echo "BAD $rev"
done >"$ROOT/shown" 2>&1
grep -q BAD "$ROOT/shown" && false || grep -q "^measures $best" "$ROOT/shown"
ok $? "hone show takes measurements and results as git names them" "$(grep -A2 BAD "$ROOT/shown")"
grep -q '^rests on: 4x (3.92 to 4.08) against the baseline built with -O3 -march=native -ffast-math' "$ROOT/shown"
ok $? "a confirmation is held against the baseline with fast-math too" "$(grep rests "$ROOT/shown")"
tip %B | grep -q '^Vs-fast-math: 4 \[3.92, 4.08\]$' && tip '%(trailers:key=Vs-fast-math,valueonly)' | grep -q '^4 '
ok $? "and plain git has it as a trailer" "$(tip %B)"
"$HONE" report matmul --workspace "$WS" >"$ROOT/report"
! grep -q 'the baseline, no gain' "$ROOT/report" && grep -q "its parent's speed: no gain (screened, about" "$ROOT/report"
ok $? "a screened step is told as one, and its gain is its parent's" "$(grep gain "$ROOT/report" | head -3)"
grep -q '^Rests on: 4x .*, fast-math' "$ROOT/report" && grep -q '| about 4x | 4x |' "$ROOT/report"
ok $? "the report has it, and the confirmed figure beside the screened one" "$(sed -n 1,40p "$ROOT/report")"

"$HONE" search rmsnorm --name figures --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --budget-evaluations 6 --quiet --json >"$ROOT/out" 2>"$ROOT/err"
grep -q '"speedup":[0-9.]*,.*"vs_fast_math":[0-9.]*,.*"yardsticks":\[{"name":"fast-math","ratio":4,"low":[0-9.]*,"high":[0-9.]*}\],' "$ROOT/out"
ok $? "the search's JSON has both ratios as numbers" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" call kernel_evaluate "{\"task\":\"matmul\",\"commit\":\"$best\",\"tier\":\"confirm\"}" --workspace "$WS" --executor fake \
    --fake-script "$ROOT/script.jsonl" --quiet >"$ROOT/out" 2>"$ROOT/err"
grep -q '"vs_fast_math":{"against":"fast-math","ratio":4,' "$ROOT/out" && grep -q '"yardsticks":\[{"name":"fast-math","ratio":4,' "$ROOT/out"
ok $? "so has kernel_evaluate's" "$(cat "$ROOT/out" "$ROOT/err")"

printf '{"match":"void","ns":250000,"doubt":"hidden sizes were not run"}\n' >"$ROOT/doubted.jsonl"
"$HONE" search sum --workspace "$WS" --executor fake --fake-script "$ROOT/doubted.jsonl" --budget-evaluations 4 --quiet >"$ROOT/out" 2>"$ROOT/err"
grep -q '^doubt  *hidden sizes were not run' "$ROOT/out" && git -C "$WS" log -1 --format=%s search/sum | grep -q 'not to be claimed' &&
    "$HONE" report sum --workspace "$WS" | grep -q 'Not to be claimed.*hidden sizes'
ok $? "a figure that is in doubt is not shown as a claim" "$(cat "$ROOT/out" "$ROOT/err")"

{
    printf '{"match":"SLOW","ns":900000,"code":"c1"}\n{"match":"pragma","ns":250000,"code":"c1"}\n'
    printf '{"match":"void","ns":1000000,"code":"c0"}\n'
} >"$ROOT/code.jsonl"
"$HONE" search softmax --workspace "$WS" --executor fake --fake-script "$ROOT/code.jsonl" --budget-evaluations 4 --quiet >"$ROOT/out" 2>"$ROOT/err"
"$HONE" report softmax --workspace "$WS" | grep -q Contradicted
[ $? = 1 ]
ok $? "one confirmation contradicts nothing" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" call kernel_evaluate '{"task":"softmax","tier":"confirm","source":"/* SLOW */ void softmax(void) {}"}' \
    --workspace "$WS" --executor fake --fake-script "$ROOT/code.jsonl" --quiet >"$ROOT/out" 2>"$ROOT/err"
"$HONE" report softmax --workspace "$WS" | grep -q 'Contradicted.*confirmations of this version contradict each other'
ok $? "the report says that another source of the same machine code contradicts the figure" "$(cat "$ROOT/out" "$ROOT/err")"

first=$(git -C "$WS" rev-parse search/matmul)
mv "$WS/.git" "$ROOT/lost-git"
"$HONE" log --workspace "$WS" >/dev/null 2>&1
[ "$(git -C "$WS" rev-parse search/matmul)" = "$first" ]
ok $? "a lost repository is made again with the same result commit" "$(git -C "$WS" log --oneline -3 search/matmul)"
search 18
[ $? = 0 ] && tip %s | grep -q 'confirmed with fresh data'
ok $? "another round ends with a result again" "$(cat "$ROOT/err"; tip %B)"
finish
