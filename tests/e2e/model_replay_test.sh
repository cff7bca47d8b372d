#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search whose models were recorded, done again from an empty workspace with the recorded answers and the same seed: the same
# steps in the same order, the same sources, the same verdicts. The fake executor gives a source the same time every time.
. "$(dirname "$0")/lib.sh"

cat >"$ROOT/model.sh" <<'SCRIPT'
# plays planner and coder; what it says depends on how often it was asked, so that only a record can repeat it
root=$1
n=$(($(cat "$root/asked" 2>/dev/null || echo 0) + 1))
echo "$n" >"$root/asked"
cat >"$root/prompt"
if grep -q '^You choose the next optimisation step' "$root/prompt"; then
    ids=$(sed -n 's/^- \(llm_[A-Za-z0-9.]*\): .*/\1/p' "$root/prompt")
    id=$(echo "$ids" | sed -n "$((1 + n % 3))p")
    case $((n % 5)) in
    0) echo 'no idea' ;;
    1) printf '{"order":["%s"],"idea":{"what":"try number %s","expect_log2":0.5}}\n' "$id" "$n" ;;
    *) printf '{"order":["%s"]}\n' "$id" ;;
    esac
    exit
fi
case $((n % 7)) in
3) echo 'I would rather not.' ; exit ;;
5) printf '@@FILE\nvoid softmax(int) { broken; } /* %s */\n@@END\n' "$n"; exit ;;
6) exit 3 ;;
esac
cat <<END
@@FILE
#include <math.h>
#include <stdint.h>
int64_t unique(void) { return $n; }
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float top = X[m * N], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = fmaxf(top, X[m * N + i]);
        for (int64_t i = 0; i < N; i++)
            sum += Y[m * N + i] = expf(X[m * N + i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] /= sum;
    }
}
@@END
END
SCRIPT
printf '{"match":"broken","reason":"compile","detail":"it is"}\n' >"$ROOT/fake.jsonl"
XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
mkdir -p "$XDG_CONFIG_HOME/hone"
cat >"$XDG_CONFIG_HOME/hone/config.json" <<END
{"models":[
  {"name":"first","provider":"command","tries":2,"price_in":1,"price_out":5,"command":["/bin/sh","$ROOT/model.sh","$ROOT"],"record":"$ROOT/answers.jsonl"},
  {"name":"again","provider":"replay","tries":2,"file":"$ROOT/answers.jsonl"}]}
END
search() { # search WORKSPACE MODEL SEED
    "$HONE" init "$1" >/dev/null 2>&1 &&
        "$HONE" search softmax --workspace "$1" --executor fake --fake-script "$ROOT/fake.jsonl" --coder llm --planner llm --model "$2" \
            --repairs 2 --seed "$3" --budget-evaluations 25 --quiet >"$1.out" 2>&1
}
# The tree as text: what was done, in order, without what differs from run to run (times, ids, who answered).
tree() {
    cat "$1"/.hone/ledger/*.jsonl | grep -E '"type":"(search.step|search.result|planner.weights|evaluation.start|model.used)"' |
        sed -E -e 's/^\{"n":[0-9]+,"t":[0-9]+,//' -e 's/,"sum":"[0-9a-f]*"//' -e 's/"search":"[^"]*"/"search":""/g' -e 's/"caller":"search [^"]*"/"caller":""/' \
            -e 's/"(evaluation|commit|parent)":"[^"]*"/"\1":""/g' -e 's/"(elapsed_ms|wall_ms|device_ms|spent[a-z_]*)":[0-9.e+-]+/"\1":0/g'
}
sources() { # of all versions: hashes of their texts
    git -C "$1" for-each-ref --format='%(objectname)' refs/hone/v | while read -r c; do git -C "$1" rev-parse "$c:softmax.c"; done | sort
}
search "$ROOT/a" first 7
ok $? "a search is recorded" "$(tail -n 3 "$ROOT/a.out")"
asked=$(cat "$ROOT/asked")
[ "$asked" -gt 25 ] && [ -s "$ROOT/answers.jsonl" ]
ok $? "its answers are on file ($asked asks)"
search "$ROOT/b" again 7
ok $? "it is done again from the record" "$(tail -n 3 "$ROOT/b.out")"
[ "$(cat "$ROOT/asked")" = "$asked" ]
ok $? "nobody was asked again"
tree "$ROOT/a" >"$ROOT/a.tree"
tree "$ROOT/b" >"$ROOT/b.tree"
[ "$(grep -c search.step "$ROOT/a.tree")" -ge 8 ]
ok $? "it has steps ($(grep -c search.step "$ROOT/a.tree"))"
cmp -s "$ROOT/a.tree" "$ROOT/b.tree"
ok $? "the same steps with the same priors and features, the same results, in the same order" "$(diff "$ROOT/a.tree" "$ROOT/b.tree" | cut -c 1-300 | head -n 6)"
sources "$ROOT/a" >"$ROOT/a.sources"
sources "$ROOT/b" >"$ROOT/b.sources"
[ "$(wc -l <"$ROOT/a.sources")" -ge 10 ] && cmp -s "$ROOT/a.sources" "$ROOT/b.sources"
ok $? "the same sources, byte by byte ($(wc -l <"$ROOT/a.sources"))"
answers() { cat "$1"/.hone/ledger/*.jsonl | grep '"type":"model.answer"' | grep -o '"\(role\|key\|text\|fault\|tokens_in\|tokens_out\|cost\)":[^,}]*' | cksum; }
[ "$(answers "$ROOT/a")" = "$(answers "$ROOT/b")" ]
ok $? "the same answers, faults, tokens and cost"
# it can tell the difference
search "$ROOT/c" again 8
tree "$ROOT/c" >"$ROOT/c.tree"
! cmp -s "$ROOT/a.tree" "$ROOT/c.tree"
ok $? "another seed asks for something else"

# one name, two seeds: two searches, and whoever begins the second is told; the report is about the one that ran last
named() { # named SEED EVALUATIONS
    "$HONE" search softmax --name twice --seed "$1" --workspace "$ROOT/n" --executor fake --fake-script "$ROOT/same.jsonl" --budget-evaluations "$2" >"$ROOT/named.out" 2>&1
}
echo '{"match":"void","ns":1000000}' >"$ROOT/same.jsonl"
"$HONE" init "$ROOT/n" >/dev/null
named 1 3
! grep -q 'begins anew' "$ROOT/named.out"
ok $? "a first search says nothing of others" "$(cat "$ROOT/named.out")"
named 2 3
grep -q "search 'twice' is in the records.*begins anew" "$ROOT/named.out"
ok $? "another seed under that name begins anew and says so" "$(cat "$ROOT/named.out")"
named 1 5
! grep -q 'begins anew' "$ROOT/named.out" && "$HONE" report twice --workspace "$ROOT/n" | grep -q '^| planner, coder, seed | .*, 1 |'
ok $? "the first goes on, and the report is about it" "$("$HONE" report twice --workspace "$ROOT/n" | grep seed)"
finish
