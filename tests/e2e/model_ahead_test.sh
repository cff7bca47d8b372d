#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several answers of a model under way at a time (--coders): they overlap, the tree follows from the answers and not from who was
# quick, a kill loses no answer that was stored, caps hold with all that is under way, and stopping does not wait for answers.
. "$(dirname "$0")/lib.sh"

mkdir "$ROOT/running"
cat >"$ROOT/model.sh" <<'SCRIPT'
# plays a model: the answer follows from the request alone; how long it takes does not
root=$1
prompt=$(mktemp "$root/prompt-XXXXXX")
cat >"$prompt"
step=$(sed -n 's/^Step \([A-Z][0-9]*\):.*/\1/p' "$prompt" | head -n 1)
word=v_${step}_$(grep -c '(void)v_' "$prompt")
mkdir "$root/running/$$"
ls "$root/running" | wc -l >>"$root/peak"
[ -e "$root/outage" ] && [ "$(ls "$root"/prompt-* | wc -l)" -le 4 ] && exit 1
delay=$(cat "$root/delay")
[ "$delay" = random ] && delay=0.$(($(date +%N | sed 's/^0*//') % 9))
sleep "$delay"
rmdir "$root/running/$$"
echo "$step" >>"$root/answered"
printf '@@SEARCH\n    for (int64_t m = 0; m < M; m++) {\n@@WITH\n    for (int64_t m = 0; m < M; m++) {\n        int64_t %s = m;\n        (void)%s;\n@@END\n' "$word" "$word"
SCRIPT
mkdir -p "$ROOT/config/hone"
XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
printf '{"models":[{"name":"sh","provider":"command","tries":1,"price_in":1,"price_out":1,"command":["/bin/sh","%s/model.sh","%s"],"record":"%s/recorded.jsonl"},{"name":"again","provider":"replay","file":"%s/first.jsonl"}]}\n' \
    "$ROOT" "$ROOT" "$ROOT" "$ROOT" >"$ROOT/config/hone/config.json"

OPTIONS="--coder llm --model sh --executor fake --no-plateau"
search() { # search CODERS EVALUATIONS [OPTIONS]
    n=$1 m=$2
    shift 2
    "$HONE" search softmax $OPTIONS --workspace "$WS" --coders "$n" --budget-evaluations "$m" "$@"
}
fresh() {
    rm -rf "$WS" "$ROOT/peak" "$ROOT/answered" "$ROOT"/running/* "$ROOT"/prompt-*
    "$HONE" init "$WS" >/dev/null
}
tree() { # what was tried, from where, with which end
    cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"search.result"' | grep '"kind":"expand"' |
        sed 's/.*"parent":\(-*[0-9]*\),"node":\(-*[0-9]*\).*"rewrite":"\([^"]*\)","anchor":"\([^"]*\)","variant":\([0-9]*\).*/\1 \2 \3 \4 \5/'
}
ledger() { # ledger TYPE: how many
    cat "$WS"/.hone/ledger/*.jsonl | grep -c "\"type\":\"$1\""
}
until_there() { # until_there TYPE N: so many records, or a minute
    for _ in $(seq 1200); do
        [ "$(ledger "$1")" -ge "$2" ] && return
        sleep 0.05
    done
}
peak() {
    sort -n "$ROOT/peak" | tail -n 1
}

echo 0.4 >"$ROOT/delay"
fresh
search 4 12 >"$ROOT/out" 2>&1
ok $? "a search with four answers under way ends" "$(tail -n 5 "$ROOT/out")"
[ "$(peak)" -ge 3 ]
ok $? "answers are waited for beside each other ($(peak) at most)"
tree >"$ROOT/tree"
[ "$(wc -l <"$ROOT/tree")" -ge 8 ] && [ "$(sort "$ROOT/tree" | uniq -d | wc -l)" -eq 0 ]
ok $? "each step is another one" "$(cat "$ROOT/tree")"
[ "$(awk '{print $1}' "$ROOT/tree" | sort -u | wc -l)" -ge 3 ]
ok $? "the tree does not stay flat" "$(cat "$ROOT/tree")"

mv "$ROOT/recorded.jsonl" "$ROOT/first.jsonl"
fresh
"$HONE" search softmax --coder llm --model again --executor fake --no-plateau --workspace "$WS" --coders 4 --budget-evaluations 12 >"$ROOT/out" 2>&1
ok $? "recorded answers carry it again" "$(tail -n 3 "$ROOT/out")"
tree >"$ROOT/tree2"
cmp -s "$ROOT/tree" "$ROOT/tree2"
ok $? "to the same tree" "$(diff "$ROOT/tree" "$ROOT/tree2")"

echo random >"$ROOT/delay"
fresh
search 4 12 >"$ROOT/out" 2>&1
tree >"$ROOT/tree2"
cmp -s "$ROOT/tree" "$ROOT/tree2"
ok $? "the tree does not depend on who answers first" "$(diff "$ROOT/tree" "$ROOT/tree2")"

echo 0.4 >"$ROOT/delay"
fresh
search 1 6 >"$ROOT/out" 2>&1
[ "$(peak)" -eq 1 ]
ok $? "one at a time unless told otherwise"

# killed with answers under way and stored: none is asked for again, those that are stored come first
fresh
for round in 1 2 3; do
    "$HONE" search softmax $OPTIONS --workspace "$WS" --coders 4 --budget-evaluations 14 >"$ROOT/out" 2>&1 &
    search=$!
    until_there model.answer $((3 * round))
    kill -KILL "$search"
    wait "$search" 2>/dev/null
    sleep 0.6 # children of it
done
search 4 14 >"$ROOT/out" 2>&1
ok $? "it goes on after three kills" "$(tail -n 5 "$ROOT/out")"
twice=$(cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"model.answer"' | grep -o '"key":"[^"]*"' | sort | uniq -d)
[ -z "$twice" ]
ok $? "no stored answer was asked for again" "$twice"
lost=$(($(ledger model.ask) - $(ledger model.answer)))
[ "$lost" -le 12 ]
ok $? "lost are at most those that were under way ($lost in three kills)"
used=$(cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"model.used"' | grep -o '"key":"[^"]*"' | sort -u | wc -l)
[ "$used" -ge $(($(ledger model.answer) - 4)) ]
ok $? "stored answers were used ($used of $(ledger model.answer))"

# a short outage fails all that are under way at once
fresh
touch "$ROOT/outage"
search 4 8 >"$ROOT/out" 2>&1
ok $? "one outage does not end it" "$(tail -n 3 "$ROOT/out")"
rm "$ROOT/outage"

# a ban does not wait for the model, and what is unbanned again was not asked for in vain
echo 3 >"$ROOT/delay"
fresh
"$HONE" search softmax $OPTIONS --workspace "$WS" --coders 3 --budget-evaluations 7 --name banned >"$ROOT/out" 2>&1 &
search=$!
until_there model.ask 3
first=$(cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"model.ask"' | head -n 1 | sed 's/.*"key":"llm_\([A-Z0-9]*\).*/\1/')
"$HONE" steer banned ban "$first" --workspace "$WS" >/dev/null 2>&1
sleep 0.5
"$HONE" steer banned unban "$first" --workspace "$WS" >/dev/null 2>&1
sleep 0.5
echo 0.1 >"$ROOT/delay"
wait "$search"
ok $? "banned and unbanned while answers are under way" "$(tail -n 3 "$ROOT/out")"
tree | grep -q " llm_$first "
ok $? "the step that was under way was tried" "$first: $(tree)"
echo 0.4 >"$ROOT/delay"

# caps: what is under way is reserved
fresh
search 4 40 --budget-tokens 120000 >"$ROOT/out" 2>&1
ok $? "a cap on tokens ends it" "$(tail -n 5 "$ROOT/out")"
cat "$WS"/.hone/ledger/*.jsonl | awk '
    /"type":"model.ask"/ { match($0, /"ask":"[^"]*"/); id = substr($0, RSTART, RLENGTH); match($0, /"reserved_in":[0-9]*/)
        r = substr($0, RSTART + 14, RLENGTH - 14); match($0, /"reserved_out":[0-9]*/); r += substr($0, RSTART + 15, RLENGTH - 15); open[id] = r; sum += r; if (sum > most) most = sum }
    /"type":"model.answer"/ { match($0, /"ask":"[^"]*"/); id = substr($0, RSTART, RLENGTH); sum -= open[id]; t = 0
        if (match($0, /"tokens_in":[0-9]*/)) t += substr($0, RSTART + 12, RLENGTH - 12); if (match($0, /"tokens_out":[0-9]*/)) t += substr($0, RSTART + 13, RLENGTH - 13); sum += t }
    END { print most > "/dev/stderr"; exit !(most > 0 && most <= 120000) }' 2>"$ROOT/most"
ok $? "spent and reserved never passed it ($(cat "$ROOT/most") of 120000)"

# stopping does not wait for a slow model
echo 300 >"$ROOT/delay"
fresh
"$HONE" search softmax $OPTIONS --workspace "$WS" --coders 3 --budget-evaluations 12 --name slow >"$ROOT/out" 2>&1 &
search=$!
until_there model.ask 3
"$HONE" steer slow stop --workspace "$WS" >/dev/null 2>&1
for _ in $(seq 1500); do
    kill -0 "$search" 2>/dev/null || break
    sleep 0.1
done
! kill -0 "$search" 2>/dev/null
ok $? "steered to stop, it ends while the model still thinks" "$(tail -n 3 "$ROOT/out")"
kill -KILL "$search" 2>/dev/null
pkill -f "$ROOT/model.sh" 2>/dev/null
"$HONE" search softmax --workspace "$WS" --coders 17 --budget-evaluations 3 --executor fake >"$ROOT/out" 2>&1
[ $? -ne 0 ] && grep -q coders "$ROOT/out"
ok $? "more than 16 are refused" "$(cat "$ROOT/out")"
finish
