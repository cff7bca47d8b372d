#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone planner: a template is recorded, its lattice is replayed, the same seeds give the same bytes, and bad requests say what to do.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null || exit 1
cat >"$ROOT/tiny.c" <<'END'
/* A template of two strategies.
 *
 * lattice task sum
 * lattice strategy S_SIMD C04
 * lattice strategy S_UNROLL C16
 */
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1) where(!S_UNROLL || S_SIMD)
#include <stdint.h>
void sum(const float *X, float *S, int64_t N)
{
    double total = 0.0;
#if S_UNROLL
#pragma GCC unroll 4
#endif
#if S_SIMD && !S_UNROLL
#pragma omp simd reduction(+ : total)
#endif
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
END
record() { # record ROUNDS [option...]
    rounds=$1
    shift
    "$HONE" planner record --workspace "$WS" --lattices "$ROOT/lattices" --template "$ROOT/tiny.c" --rounds "$rounds" \
        --budget 20ms --note "a test" "$@" >"$ROOT/record" 2>&1
}
file=$ROOT/lattices/tiny.cpu.json
record 1
ok $? "a template is recorded" "$(tail -n 3 "$ROOT/record")"
[ "$(grep -c '"state":' "$file")" = 3 ] && grep -q '"illegal":\[2\]' "$file" && [ "$(grep -c '"reason":"screened"' "$file")" = 3 ]
ok $? "all legal states are right, the forbidden one is marked" "$(cat "$file")"
grep -q '"percent_of_bound"' "$file" && grep -q '"note":"a test"' "$file" && [ "$(grep -o '"code":"[0-9a-f]*"' "$file" | sort -u | wc -l)" -ge 2 ]
ok $? "with features, a note and words for the machine code"
cp "$file" "$ROOT/once"
record 1
cmp -s "$file" "$ROOT/once"
ok $? "what is there is not done again"
record 2
grep -q '"ns":\[[0-9.]*,[0-9.]*\]' "$file"
ok $? "another round is added"

eval_json() { "$HONE" planner eval --lattices "$ROOT/lattices" --expansions 4 --seeds 20 --policies "$1" --json 2>"$ROOT/stderr"; }
eval_json puct,chain,random >"$ROOT/a" && eval_json puct,chain,random >"$ROOT/b"
ok $? "searches are replayed" "$(cat "$ROOT/stderr")"
tail -n 1 "$ROOT/a" | grep -q '^{"regret":{"puct":[0-9.e-]*,"chain":[0-9.e-]*,"random":[0-9.e-]*}'
ok $? "the last line holds the regrets" "$(cat "$ROOT/a")"
cmp -s "$ROOT/a" "$ROOT/b"
ok $? "the same seeds give the same bytes"
"$HONE" planner eval --policies learned,puct,chain,masked-ucb --seeds 3 --json >"$ROOT/c" 2>"$ROOT/stderr"
tail -n 1 "$ROOT/c" | grep -q '^{"regret":{"learned":[0-9.e-]*,"puct":[0-9.e-]*,"chain":[0-9.e-]*,"masked-ucb":[0-9.e-]*}.*"kernels":12,'
ok $? "a learned policy plays the recorded lattices beside the others" "$(cat "$ROOT/c" "$ROOT/stderr")"
[ "$(grep -o '"expansions":[0-9]*' "$ROOT/c" | sort -u -t: -k2n | tr '\n' ' ')" = '"expansions":4 "expansions":8 "expansions":16 "expansions":32 ' ] &&
    [ "$(grep -o '{"regret":{"learned":[0-9.e-]*,"puct":[0-9.e-]*,"chain":[0-9.e-]*,"masked-ucb":[0-9.e-]*}' "$ROOT/c" | wc -l)" = 5 ]
ok $? "each policy's regret after 4, 8, 16 and 32 steps" "$(cat "$ROOT/c")"
"$HONE" planner eval --policies puct --seeds 2 --expansions 4 --skip-below 0.4 --json >"$ROOT/d" 2>"$ROOT/stderr"
grep -q '"cost_model":{"error":0\.8[0-9]*,"error_catalogue":1\.[0-9]*,"error_zero":1\.[0-9]*,"dropped":0\.[0-9]*,"gainers":0\.[0-9]*,"gainers_all":0\.[0-9]*}' "$ROOT/d"
ok $? "a cost model tells its error, and how many steps it leaves out" "$(cat "$ROOT/d" "$ROOT/stderr")"
"$HONE" planner eval --policies puct --seeds 2 --expansions 4 --json | grep -q cost_model
[ $? = 1 ]
ok $? "without being asked there is none"
search() { # search SHARE [option...]: a search that leaves out steps; output in $ROOT/d, its report in $ROOT/r
    share=$1
    shift
    "$HONE" search softmax --name "left$share" --workspace "$WS" --executor fake --budget-evaluations 8 --skip-below "$share" "$@" >"$ROOT/d" 2>&1 &&
        "$HONE" report "left$share" --workspace "$WS" >"$ROOT/r" 2>&1
}
search 0.5
grep -q '^cost model: of 7 kernels of other families, error 0\.[0-9]* log2' "$ROOT/d" && grep -q 'left out by the cost model at version 0: [0-9]* of [0-9]* steps' "$ROOT/d" &&
    grep -q '\] at version 0: left out by the cost model: predicted [0-9.]*x, error 0\.[0-9]* log2\.$' "$ROOT/r"
ok $? "a search leaves out steps of little hope, and its report says which and why" "$(cat "$ROOT/d" "$ROOT/r")"
search 0
! grep -q 'cost model' "$ROOT/d" && ! grep -q 'cost model' "$ROOT/r"
ok $? "unless it is asked it leaves out none" "$(cat "$ROOT/d")"
"$HONE" search --suite 's*m*' --workspace "$WS" --executor fake --budget-evaluations 12 --skip-below 0.5 --name many >"$ROOT/d" 2>&1
[ $? = 0 ] && ! grep -q 'needs a cost model' "$ROOT/d" && [ "$(cat "$WS"/.hone/ledger/* | grep '"name":"many-' | grep -c '"type":"search.start".*"skip_below":0.5,"cost":{')" = "$(ls -d "$WS"/tasks/s*m* | wc -l)" ]
ok $? "each search of a suite has a model of its own" "$(cat "$ROOT/d")"
"$HONE" call --workspace "$WS" strategy_propose '{"search":"left0.5","max":20}' 2>&1 | grep -q '"left_out":"left out by the cost model: predicted [0-9.]*x, error'
ok $? "who plans from outside sees what the search takes last"
search 1.01
[ $? = 2 ] && search -0.1
[ $? = 2 ]
ok $? "a share is 0 to 1" "$(cat "$ROOT/d")"
search 0.4 --lattices "$ROOT/nowhere"
[ $? = 3 ] && grep -q 'skip-below' "$ROOT/d"
ok $? "without lattices it says so" "$(cat "$ROOT/d")"
mkdir "$ROOT/two" && cp agents/offline/lattices/sum.cpu.json agents/offline/lattices/softmax.cpu.json agents/offline/lattices/sum.cuda.json "$ROOT/two"
"$HONE" planner eval --lattices "$ROOT/two" --taught --seeds 1 --json >"$ROOT/d" 2>"$ROOT/stderr"
[ "$(grep -c '^{"target":"cpu","teacher":"[a-z]*","pupil":"[a-z]*","without":[0-9.]*,"with":[0-9.]*}$' "$ROOT/d")" = 2 ] && [ "$(wc -l <"$ROOT/d")" = 2 ]
ok $? "what one kernel's search is worth to another's, for each pair of a target" "$(cat "$ROOT/d" "$ROOT/stderr")"
"$HONE" planner eval --lattices "$ROOT/lattices" --policies nonsense >/dev/null 2>"$ROOT/stderr"
[ $? = 2 ] && grep -q 'puct' "$ROOT/stderr"
ok $? "an unknown policy is refused with the list of them" "$(cat "$ROOT/stderr")"
mkdir "$ROOT/empty"
"$HONE" planner eval --lattices "$ROOT/empty" >/dev/null 2>"$ROOT/stderr"
[ $? = 3 ] && grep -q 'planner record' "$ROOT/stderr"
ok $? "a folder without lattices says how to get some" "$(cat "$ROOT/stderr")"
sed 's/"task":"sum"/"task":7/' "$file" >"$ROOT/empty/bad.json"
"$HONE" planner eval --lattices "$ROOT/empty" >/dev/null 2>"$ROOT/stderr"
[ $? = 2 ] && grep -q 'task' "$ROOT/stderr"
ok $? "a damaged file is refused" "$(cat "$ROOT/stderr")"
"$HONE" planner record --workspace "$WS" >/dev/null 2>"$ROOT/stderr"
[ $? = 2 ] && grep -q 'template' "$ROOT/stderr"
ok $? "record wants a template" "$(cat "$ROOT/stderr")"
finish
