#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Suites: many tasks under one budget, one report; killed, it goes on; caps hold. KILLS=50 kills it so often.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null 2>&1
export HONE_WORKSPACE=$WS
unset HONE_EXECUTOR HONE_RUNNERS
printf '{"match":"void","ns":1000000,"delay_ms":20}\n' >"$ROOT/script.jsonl"
suite() { # suite WHAT OPTION...: output in out, words for people in err
    what=$1
    shift
    "$HONE" search --suite "$what" --executor fake --fake-script "$ROOT/script.jsonl" "$@" >"$ROOT/out" 2>"$ROOT/err"
}
member() { # member PYTHON-EXPRESSION over j, the JSON in out
    python3 -c 'import json, sys; j = json.loads(open(sys.argv[1]).read().splitlines()[-1]); print(eval(sys.argv[2]))' "$ROOT/out" "$1"
}
ledger() { # ledger TYPE PYTHON-EXPRESSION over l, the data of its records
    python3 -c '
import glob, json, sys
l = [r["data"] for f in sorted(glob.glob(sys.argv[1] + "/.hone/ledger/*.jsonl")) for r in map(json.loads, open(f)) if r["type"] == sys.argv[2]]
print(eval(sys.argv[3]))' "$WS" "$1" "$2"
}
same() { # same NAME FOUND WANTED
    [ "$2" = "$3" ]
    ok $? "$1" "found $2, wanted $3: $(tail -n 5 "$ROOT/err")"
}

suite 's*' --budget-evaluations 30 --json
same "a pattern takes the tasks of that name" "$(member '[t["task"] for t in j["tasks"]]')" "['softmax', 'spmv_csr', 'sum']"
same "the cap is shared out" "$(member '[t["used_evaluations"] for t in j["tasks"]]')" "[10, 10, 10]"
same "and why it ended is said" "$(member 'j["why_stopped"]')" budget_evaluations
same "what gained nothing counts as its baseline" "$(member '[(p["p"], p["share"]) for p in j["fast_p"][0]["fast"] if p["p"] in (0.8, 1)]')" "[(0.8, 1), (1, 0)]"
"$HONE" report --suite s_ >"$ROOT/out" 2>"$ROOT/err" && grep -q '^| softmax | no gain | 1x' "$ROOT/out" && grep -q '^| baseline | 3 | 1.00 ' "$ROOT/out"
ok $? "hone report --suite shows it again" "$(cat "$ROOT/out" "$ROOT/err")"
"$HONE" report --suite s_ --commit >/dev/null 2>&1 && git -C "$WS" cat-file -e main:reports/suite-s_.md
ok $? "and commits it" ""

# A version of which the fake says that it is fast: faster, confirmed, in the curve.
printf '{"match":"#pragma omp","ns":250000}\n{"match":"void","ns":1000000}\n' >"$ROOT/script.jsonl"
suite softmax --budget-evaluations 40 --name fast --json
same "a gain stands in the report and in the curve" "$(member 'j["outcomes"], [p["share"] for p in j["fast_p"][0]["fast"] if p["p"] == 2], j["tasks"][0]["search"]')" "({'faster': 1}, [1], 'fast-softmax')"

# What is no task is a row with its reason. A list, a folder.
mkdir "$ROOT/packs"
cp -r workspace/packs/sum "$ROOT/packs/sum"
cp -r workspace/packs/matmul "$ROOT/packs/broken"
echo '{' >"$ROOT/packs/broken/task.json"
suite "$ROOT/packs" --budget-evaluations 12 --json
same "a folder of packs; a broken one is refused" "$(member '[(t["task"], t["outcome"]) for t in j["tasks"]]')" "[('broken', 'refused'), ('sum', 'faster')]"
printf '# night\nrmsnorm\nnothing_of_this\n\nrmsnorm\n' >"$ROOT/night.list"
suite "$ROOT/night.list" --budget-evaluations 12
grep -q '^# Suite night' "$ROOT/out" && grep -q '^  - nothing_of_this: no task of the workspace' "$ROOT/out" && [ "$(grep -c '^| rmsnorm ' "$ROOT/out")" = 1 ]
ok $? "a list of names, each once" "$(cat "$ROOT/out" "$ROOT/err")"
suite all --budget-evaluations 21 --lanes 3 --json
same "three at a time stay within the cap" "$(member 'sum(t["used_evaluations"] for t in j["tasks"]) <= 21, j["lanes"]')" "(True, 3)"

# ---- refusals ----
suite all
same "without a cap: 2" "$?" 2
suite no_such_thing --budget-evaluations 9
same "without a task: not found" "$?" 3
grep -q "no task of the workspace has such a name" "$ROOT/err"
ok $? "and says what it looked for" "$(cat "$ROOT/err")"
"$HONE" search sum --suite all --budget-evaluations 9 >/dev/null 2>&1
same "a task beside a suite: 2" "$?" 2
"$HONE" search --budget-evaluations 9 >/dev/null 2>&1
same "neither: 2" "$?" 2
"$HONE" report --suite unheard >/dev/null 2>"$ROOT/err"
same "a report of none: not found" "$?" 3
suite all --budget-evaluations 9 --lanes 65
same "65 lanes: 2" "$?" 2

# ---- killed ----
kills=${KILLS:-4} killed=0
printf '{"match":"void","ns":1000000,"delay_ms":%d}\n' $((20 + kills * 4)) >"$ROOT/script.jsonl"
while [ "$killed" -lt "$kills" ]; do
    "$HONE" search --suite all --name killed --budget-evaluations 60 --executor fake --fake-script "$ROOT/script.jsonl" >"$ROOT/out" 2>"$ROOT/err" &
    pid=$!
    killed=$((killed + 1))
    sleep "0.$((20 + killed * 37 % 61))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null && break # it came to its end first
done
[ "$killed" -lt "$kills" ] && echo "# it ended after $((killed - 1)) kills"
[ "$killed" -le "$kills" ] && [ ! -s "$ROOT/out" ] && suite all --name killed --budget-evaluations 60
"$HONE" report --suite killed --json >"$ROOT/out" 2>"$ROOT/err" && [ "$(member 'j["has_ended"]')" = True ]
ok $? "killed $kills times, it goes on and ends" "$(cat "$ROOT/err")"
same "as one suite" "$(ledger suite.start 'len({s["suite"] for s in l if s["name"] == "killed"})')" 1
same "each task had its turn once" "$(member '{t["passes"] for t in j["tasks"]}')" "{1}"
same "none failed" "$(member '[t for t in j["tasks"] if "code" in t]')" "[]"
begun=$(python3 - "$WS" <<'END_PY'
import glob, json, sys
records = [json.loads(line) for f in sorted(glob.glob(sys.argv[1] + "/.hone/ledger/*.jsonl")) for line in open(f)]
ids = {r["data"]["search"] for r in records if r["type"] == "search.start" and r["data"]["name"].startswith("killed-")}
print(sum(r["type"] == "evaluation.start" and r["data"].get("caller", "")[7:] in ids for r in records))
END_PY
)
[ "$begun" -le 60 ] && [ "$begun" -ge 50 ]
ok $? "its searches began $begun evaluations, 60 at most" "$(cat "$ROOT/out")"
same "and the report counts what began" "$(member 'sum(t["used_evaluations"] for t in j["tasks"])')" "$begun"

# Two of one name at a time.
printf '{"match":"void","ns":1000000,"delay_ms":400}\n' >"$ROOT/script.jsonl"
"$HONE" search --suite all --name both --budget-evaluations 30 --executor fake --fake-script "$ROOT/script.jsonl" >/dev/null 2>&1 &
pid=$!
until [ "$(ledger suite.begin 'sum(b["task"] == "matmul" for b in l) > 0' 2>/dev/null)" = True ] && [ -e "$WS/.hone/suite-both.lock" ]; do sleep 0.1; done
suite all --name both --budget-evaluations 30
same "a second one of that name: busy" "$?" 12
kill -INT $pid
wait $pid
same "Ctrl-C ends it as cancelled" "$?" 6
finish
