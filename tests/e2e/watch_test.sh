#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone watch: a search that runs in another process, one that has ended, one that was killed, a terminal; hone log --graph.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null 2>&1
watch() { timeout 600 "$HONE" watch "$@" --workspace "$WS"; }
ok "$(! watch >/dev/null 2>"$ROOT/err"; echo $?)" "no search is said"

"$HONE" search rmsnorm --workspace "$WS" --executor fake --budget-evaluations 40 >/dev/null 2>&1 &
search=$!
for _ in $(seq 1200); do
    watch >"$ROOT/lines" 2>"$ROOT/err" && break
    sleep 0.05
done
wait $search
steps=$("$HONE" report --workspace "$WS" --json | grep -o '"kind":' | wc -l)
ok "$([ "$(wc -l <"$ROOT/lines")" = $((steps + 1)) ]; echo $?)" "each step is a line, and one tells the end" "$steps steps; $(cat "$ROOT/lines")"
ok "$(tail -n 1 "$ROOT/lines" | grep -q 'rmsnorm: faster, .* after 40 evaluations'; echo $?)" "the last line is the result" "$(tail -n 1 "$ROOT/lines")"
watch rmsnorm >"$ROOT/again" 2>&1
ok "$(cmp -s "$ROOT/lines" "$ROOT/again"; echo $?)" "a search that has ended reads the same"

"$HONE" search softmax --workspace "$WS" --executor fake --budget-evaluations 5000 >/dev/null 2>&1 &
search=$!
for _ in $(seq 1200); do
    "$HONE" report softmax --workspace "$WS" --json 2>/dev/null | grep -q '"kind":"expand"' && break
    sleep 0.05
done
watch softmax >"$ROOT/lines" 2>"$ROOT/err" &
watcher=$!
sleep 0.5
kill -9 $search
wait $search 2>/dev/null
wait $watcher
ok $? "the watching ends with a search that was killed" "$(cat "$ROOT/err")"
ok "$(tail -n 1 "$ROOT/lines" | grep -q 'no process runs it'; echo $?)" "and says that nobody runs it" "$(tail -n 1 "$ROOT/lines")"

if command -v script >/dev/null; then
    COLUMNS=80 timeout 600 script -qec "stty cols 80 rows 30; '$HONE' watch rmsnorm --workspace '$WS'" /dev/null >"$ROOT/screen" 2>&1 </dev/null
    ok "$(grep -q 'x |' "$ROOT/screen" && grep -q '^\(o\|\* \)' "$ROOT/screen"; echo $?)" "a terminal gets way up and tree" "$(cat "$ROOT/screen")"
    tr -d '\r' <"$ROOT/screen" >"$ROOT/plain"
    ok "$([ "$(wc -l <"$ROOT/plain")" -lt 30 ] && ! grep -q '.\{81\}' "$ROOT/plain"; echo $?)" "no more than it has room for" "$(cat "$ROOT/screen")"
fi

"$HONE" log --graph --all --max 1000 --task rmsnorm --workspace "$WS" >"$ROOT/graph" 2>&1
"$HONE" log --all --max 1000 --task rmsnorm --workspace "$WS" >"$ROOT/flat" 2>&1
ok "$([ "$(wc -l <"$ROOT/graph")" = "$(wc -l <"$ROOT/flat")" ]; echo $?)" "the tree has every version once"
ok "$(sed -n 2p "$ROOT/graph" | grep -q 'the baseline'; echo $?)" "it begins with the baseline" "$(head -n 3 "$ROOT/graph")"
ok "$(grep -q '^|-o ' "$ROOT/graph" && grep -q '^\* ' "$ROOT/graph"; echo $?)" "the best line stays in its column, others branch off" "$(cat "$ROOT/graph")"
"$HONE" log --graph --max 1 --task rmsnorm --workspace "$WS" >"$ROOT/graph" 2>&1
ok "$([ "$(grep -c ' rmsnorm ' "$ROOT/graph")" -ge 2 ] && grep -q 'the baseline' "$ROOT/graph"; echo $?)" "what a version came from is shown with it" "$(cat "$ROOT/graph")"

# the confirmed version is found wrong after its search
best=$("$HONE" report rmsnorm --workspace "$WS" --json 2>/dev/null | json_get best_commit)
echo '{"match":"rmsnorm","reason":"out_of_bounds","detail":"outside of Y"}' >"$ROOT/wrong.jsonl"
"$HONE" report rmsnorm --workspace "$WS" --svg "$ROOT/before.svg" >/dev/null 2>&1
"$HONE" call kernel_verify "{\"task\":\"rmsnorm\",\"commit\":\"$best\"}" --workspace "$WS" --executor fake --fake-script "$ROOT/wrong.jsonl" >"$ROOT/verified" 2>&1
"$HONE" report rmsnorm --workspace "$WS" --svg "$ROOT/after.svg" >/dev/null 2>&1
watch rmsnorm >"$ROOT/barred" 2>&1
"$HONE" log --graph --all --max 1000 --task rmsnorm --workspace "$WS" >"$ROOT/graph" 2>&1
ok "$(grep -q ' # .*with fresh data: faster$' "$ROOT/again" && grep -q ' ! .*with fresh data: faster, not to be claimed: found wrong: out_of_bounds' "$ROOT/barred"; echo $?)" \
    "watch bars a confirmation of what was found wrong later" "$(cat "$ROOT/verified" "$ROOT/again" "$ROOT/barred")"
ok "$(tail -n 1 "$ROOT/barred" | grep -q '^not to be claimed: found wrong'; echo $?)" "and the result says so first" "$(tail -n 1 "$ROOT/barred")"
ok "$(! grep -q 'class="barred"' "$ROOT/before.svg" && grep -q 'class="barred"' "$ROOT/after.svg" && grep -q 'class="note".*not to be claimed' "$ROOT/after.svg"; echo $?)" "so does the picture"
ok "$(grep "$(printf %.10s "$best")" "$ROOT/graph" | grep -q '^[ |`-]*! '; echo $?)" "and the tree of the log" "$(cat "$ROOT/graph")"
ok "$("$HONE" log --graph --json --workspace "$WS" >/dev/null 2>&1; [ $? = 2 ]; echo $?)" "a tree is not drawn in JSON"
finish
