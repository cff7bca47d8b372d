#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search with a model that is a shell script, through the real judge: good, broken, lying, malicious and empty answers;
# killed in the middle and gone on with; what was answered is never asked again.
. "$(dirname "$0")/lib.sh"

mkdir "$ROOT/asked"
cat >"$ROOT/model.sh" <<'SCRIPT'
# plays a model: which answer depends on how often it was asked
root=$1
n=$(($(ls "$root/asked" | wc -l) + 1))
cat >"$root/asked/$n"
[ -n "$2" ] && sleep "$2"
line() { # the number and tag of the line that holds a text
    grep -F -- "$1" "$root/asked/$n" | grep -o '^[0-9]*:[0-9a-f]*|' | head -n 1 | tr -d '|'
}
at=$(line 'for (int64_t m = 0; m < M; m++)')
case $n in
1) printf 'Threads.\n@@EDIT %s %s\n#pragma omp parallel for\n    for (int64_t m = 0; m < M; m++) {\n@@END\n' "$at" "$at" ;;
2) printf '@@EDIT %s %s\n    for (int64_t m = 0; m < M; m++) { oops;\n@@END\n' "$at" "$at" ;;
3) printf '@@SEARCH\n oops;\n@@WITH\n int64_t n_seen = N; (void)n_seen;\n@@END\n' ;;
4) printf '@@EDIT 6:ffff 6:ffff\nint x;\n@@END\n' ;;
5) printf '@@FILE ../../owned.c\nint x;\n@@END\n@@RUN touch %s/owned\n' "$root" ;;
6) printf '@@FILE\n#include "%s/asked/1"\n#include <stdlib.h>\nvoid softmax(const float *X, float *Y, long M, long N) { system("touch %s/owned"); }\n@@END\n' "$root" "$root" ;;
7) printf ' \n' ;;
8) printf 'No idea.\n' ;;
*) printf '@@EDIT 6:ffff 6:ffff\nint x;\n@@END\n' ;;
esac
SCRIPT
mkdir -p "$ROOT/config/hone"
XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
configure() { # configure DELAY
    printf '{"models":[{"name":"sh","provider":"command","tries":1,"price_in":1,"price_out":1,"command":["/bin/sh","%s/model.sh","%s","%s"]}]}\n' \
        "$ROOT" "$ROOT" "$1" >"$ROOT/config/hone/config.json"
}
configure ''
"$HONE" init "$WS" >/dev/null
out=$("$HONE" search softmax --workspace "$WS" --coder llm --model sh --repairs 1 --budget-evaluations 9 2>"$ROOT/err")
ok $? "a search with a scripted model ends" "$(tail -n 5 "$ROOT/err")"
asked=$(ls "$ROOT/asked" | wc -l)
[ "$asked" -ge 7 ]
ok $? "all its answers were asked for ($asked)"
grep -q 'omp parallel for' "$ROOT/asked/3" || git -C "$WS" grep -q 'omp parallel for' $(git -C "$WS" for-each-ref --format='%(objectname)' refs/hone/v) -- softmax.c
ok $? "the good edit is a version"
git -C "$WS" for-each-ref --format='%(contents)' refs/hone/v | grep -q '^Coder: llm sh'
ok $? "a version names its coder"
grep -q "'oops' undeclared" "$ROOT/asked/3"
ok $? "a repair is told the compiler's words"
for what in 'tag ffff' 'is no marker' 'holds no @@EDIT'; do
    cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"model.used"' | grep -qF "$what"
    ok $? "refused and noted: $what"
done
[ ! -e "$ROOT/owned" ] && [ ! -e "$ROOT/owned.c" ] && [ ! -e "$WS/../owned.c" ]
ok $? "nothing outside of the source was touched"

# killed while the model thinks, twice; who judges does not matter here
rm -rf "$ROOT/asked"/* "$WS"
configure 1
"$HONE" init "$WS" >/dev/null
for round in 1 2; do
    "$HONE" search softmax --workspace "$WS" --coder llm --model sh --repairs 1 --executor fake --budget-evaluations 6 >"$ROOT/out" 2>&1 &
    search=$!
    for _ in $(seq 1200); do
        [ "$(ls "$ROOT/asked" | wc -l)" -ge $((round + 1)) ] && break
        sleep 0.1
    done
    sleep 0.3
    kill -KILL "$search"
    wait "$search" 2>/dev/null
done
configure ''
"$HONE" search softmax --workspace "$WS" --coder llm --model sh --repairs 1 --executor fake --budget-evaluations 6 >"$ROOT/out" 2>&1
ok $? "the search goes on after two kills" "$(tail -n 5 "$ROOT/out")"
twice=$(cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"model.answer"' | grep -o '"key":"[^"]*"' | sort | uniq -d)
[ -z "$twice" ]
ok $? "no answer was asked for twice" "$twice"
asks=$(cat "$WS"/.hone/ledger/*.jsonl | grep -c '"type":"model.ask"')
answers=$(cat "$WS"/.hone/ledger/*.jsonl | grep -c '"type":"model.answer"')
[ "$asks" -gt "$answers" ]
ok $? "the asks that were lost are on record ($asks asks, $answers answers)"
finish
