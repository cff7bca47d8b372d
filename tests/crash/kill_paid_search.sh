#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of hone at random moments of searches that pay for a model: nothing that was answered is asked for again, at most one
# ask is lost with each kill, nothing is evaluated twice, and no cap is passed, work in flight included.
#   [CODERS=N] tests/crash/kill_paid_search.sh BUILD_DIR [KILLS]     N answers under way at a time: at most N are lost with each kill
# The model is a shell script with prices, the executor the fake one. The figures come from the ledger, counted by awk, and are
# compared with those of `hone report`. A search that has ended makes room for the next, with other caps.
set -u
build=$(realpath "${1:-build}")
kills=${2:-100}
beside=${CODERS:-1}
RANDOM=${SEED:-$$}
root=$(mktemp -d "${TMPDIR:-/tmp}/hone-paid.XXXXXX")
ws=$root/ws
export XDG_CONFIG_HOME=$root/config
mkdir -p "$XDG_CONFIG_HOME/hone"
cat >"$root/model.sh" <<'SCRIPT'
# Plays a model: an answer that follows from the question alone. One in five cannot be read.
root=$1
cat >"$root/prompt.$$"
sum=$(cksum <"$root/prompt.$$")
sum=${sum%% *}
echo "begin $sum" >>"$root/asked"
sleep 0.0$((sum % 4 + 1))
at=$(grep '^[0-9]*:[0-9a-f]*|.*for (' "$root/prompt.$$" | head -n 1)
text=${at#*|}
tag=${at%%|*}
rm -f "$root/prompt.$$"
if [ $((sum % 5)) = 0 ] || [ -z "$tag" ]; then
    echo "I would rather think about it."
else
    printf 'A name.\n@@EDIT %s %s\n    int seen_%s = 0; (void)seen_%s;\n%s\n@@END\n' "$tag" "$tag" "$sum" "$sum" "$text"
fi
echo "end $sum" >>"$root/asked"
SCRIPT
printf '{"models":[{"name":"paid","provider":"command","tries":1,"price_in":1,"price_out":1,"command":["/bin/sh","%s/model.sh","%s"]}]}\n' \
    "$root" "$root" >"$XDG_CONFIG_HOME/hone/config.json"
echo '{"match":"void","delay_ms":60}' >"$root/fake.jsonl"
: >"$root/asked"
"$build/hone" init "$ws" >/dev/null 2>&1 || exit 1

number=0
coders=(llm auto llm llm)
planners=(rules llm llm rules)
evaluations=(14 20 1000 9)
costs=(0.9 0.25 0.12 0.06)
tokens=(30000 1000000 1000000 1000000)
start() { # the search of the current number, from where it is
    local i=$((number % 4))
    "$build/hone" search softmax --workspace "$ws" --executor fake --fake-script "$root/fake.jsonl" --name "k$number" \
        --coder "${coders[i]}" --planner "${planners[i]}" --model paid --repairs 1 --seed "$number" --coders "$beside" \
        --budget-evaluations "${evaluations[i]}" --budget-cost "${costs[i]}" --budget-tokens "${tokens[i]}" >>"$root/log" 2>&1 &
    search=$!
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# how long one takes that nobody disturbs
from=$(now_ms)
start
wait "$search" || { tail -n 5 "$root/log"; echo "not ok 1 - a search that nobody disturbs"; exit 1; }
length=$(($(now_ms) - from))
number=1
n=0 ended=0 failed=0
declare -A moments=()
start
while [ "$n" -lt "$kills" ]; do
    sleep "$(awk -v ms=$((RANDOM * length / 32768)) 'BEGIN { printf "%.3f", ms / 1000 }')"
    if kill -KILL "$search" 2>/dev/null; then
        wait "$search" 2>/dev/null
        status=$?
    else
        wait "$search"
        status=$?
    fi
    if [ "$status" = 137 ]; then
        n=$((n + 1))
        last=$(cat "$ws"/.hone/ledger/*.jsonl | tail -n 1 | sed -n 's/.*"type":"\([a-z.]*\)".*/\1/p')
        moments[${last:-torn}]=$((${moments[${last:-torn}]:-0} + 1))
    else
        ended=$((ended + 1))
        # 4: the cap was reached by what was killed, and nothing is left to begin with
        [ "$status" = 0 ] || [ "$status" = 4 ] || failed=$((failed + 1))
        number=$((number + 1))
    fi
    start
done
wait "$search" || [ $? = 4 ] || failed=$((failed + 1))

cat "$ws"/.hone/ledger/*.jsonl >"$root/ledger"
cat >"$root/count.awk" <<'AWK'
function str(name,   at) { # of a member of the data; texts have their quotes escaped
    at = match($0, "[{,]\"" name "\":\"[^\"]*\"")
    return at ? substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6) : ""
}
function num(name,   at) {
    at = match($0, "[{,]\"" name "\":-?[0-9.e+-]+")
    return at ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0 : 0
}
/"type":"search.start"/ { s = str("search"); names[s] = str("name"); cap[s] = num("budget_cost"); tokens[s] = num("budget_tokens"); most[s] = num("budget_evaluations") }
/"type":"model.ask"/ {
    s = str("search"); k = s " " str("role") " " str("key")
    asks++; ids[s " " str("ask")] = num("reserved_cost"); words[s " " str("ask")] = num("reserved_in") + num("reserved_out") + num("reserved_lost")
    if (k in answered) { again++; print "asked again: " k }
    if (!(k in seen)) distinct++
    seen[k] = 1
}
/"type":"model.answer"/ && !/"fault":"/ {
    s = str("search"); answered[s " " str("role") " " str("key")] = 1; answers++
    ids[s " " str("ask")] = num("cost"); words[s " " str("ask")] = num("tokens_in") + num("tokens_out") + num("tokens_lost")
}
/"type":"evaluation.start"/ && match($0, /"caller":"search s-[0-9a-f]*"/) {
    s = substr($0, RSTART + 17, RLENGTH - 18); begun[s]++; owner[str("evaluation")] = s; starts++
}
/"type":"evaluation.end"/ {
    e = str("evaluation")
    if (!(e in owner) || str("reason") == "infra") next
    k = owner[e] " " str("key"); ends++
    if (done[k]++) { twice++; print "evaluated twice: " k }
}
END {
    for (i in ids) { split(i, part, " "); cost[part[1]] += ids[i]; spoken[part[1]] += words[i] }
    for (s in names) {
        searches++
        if (cost[s] > cap[s] * (1 + 1e-9)) { over++; print names[s] ": cost " cost[s] " of " cap[s] }
        if (spoken[s] > tokens[s]) { over++; print names[s] ": tokens " spoken[s] " of " tokens[s] }
        if (begun[s] > most[s]) { over++; print names[s] ": evaluations " begun[s] " of " most[s] }
        printf "%s %.6f %d\n", names[s], cost[s], begun[s] > out
    }
    printf "searches %d, asks %d, answers %d, asked again %d, re-asks %d, evaluations begun %d, ended %d, twice %d, caps passed %d\n",
        searches, asks, answers, again, asks - distinct, starts, ends, twice, over
    bad = again > 0 || asks - distinct > kills * beside || twice > 0 || over > 0 || answers == 0 || ends == 0
    exit bad
}
AWK
awk -v kills="$n" -v beside="$beside" -v out="$root/spent" -f "$root/count.awk" "$root/ledger" >"$root/count"
bad=$?
began=$(grep -c '^begin' "$root/asked")
asked=$(grep -c '"type":"model.ask"' "$root/ledger")
[ "$began" -le "$asked" ] || bad=1
differ=0
while read -r name cost evaluations; do # the report counts the same
    "$build/hone" report "$name" --workspace "$ws" --json >"$root/report.json" 2>>"$root/log" || differ=$((differ + 1))
    tr -d ' \n' <"$root/report.json" | sed -n 's/.*"spent":{\([^}]*\)}.*/\1/p' | tr ',' '\n' | tr -d '"' |
        awk -F: -v cost="$cost" -v evaluations="$evaluations" '
            $1 == "cost" { ok += ($2 - cost < 1e-5 && cost - $2 < 1e-5) }
            $1 == "evaluations" { ok += $2 == evaluations }
            END { exit ok != 2 }' || differ=$((differ + 1))
done <"$root/spent"
git -C "$ws" fsck --strict --no-dangling >"$root/fsck" 2>&1
fsck=$?
echo "kills $n within $length ms; ended by themselves $ended, in a fault $failed; model started $began times for $asked asks; git fsck $fsck"
printf 'last record at the kill:'
for m in "${!moments[@]}"; do printf ' %s %d' "$m" "${moments[$m]}"; done
printf '\n'
cat "$root/count"
echo "reports that count otherwise: $differ"
hit=0 # start-up, asks, evaluations, commits
for m in 'search.run search.start' model.ask evaluation.start 'evaluation.end commit'; do
    for type in $m; do [ -n "${moments[$type]:-}" ] && { hit=$((hit + 1)); break; }; done
done
if [ "$bad" = 0 ] && [ "$failed" = 0 ] && [ "$differ" = 0 ] && [ "$fsck" = 0 ] && { [ "$hit" = 4 ] || [ "$kills" -lt 50 ]; }; then
    [ -n "${KEEP:-}" ] && echo "$root" || rm -rf "$root"
    echo "ok 1 - what was paid for is not paid for again, and caps hold, over $n kills, $beside at a time"
    echo 1..1
    exit 0
fi
echo "not ok 1 - see $root"
echo 1..1
exit 1
