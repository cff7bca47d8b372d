#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Candidates that attack the machine get the right verdict from a server inside their deadline; each one's clean twin (the same
# file with CHEAT 0) passes; the server that judged them all stays up. All the other cheats: judge_test.sh.
# tsan: no; ten times slower, nearly every time is too noisy to tell anything from it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null || exit 1
# What the jail does is asked here, not what a look at the binary says: policy_test.sh does that.
sed -i '1s/{/{"policy": {"syscalls": "review"},/' "$WS"/tasks/*/task.json
"$HONE" serve --workspace "$WS" --listen 127.0.0.1:0 2>"$ROOT/serve.log" &
server=$!
for _ in $(seq 1200); do grep -q 'ws://' "$ROOT/serve.log" && break; sleep 0.1; done
url=$(grep -o 'ws://[^ ]*' "$ROOT/serve.log" | head -n 1)

judge() { # judge FILE: "verdict/reason" and the milliseconds it took
    printf '{"task":"%s","tier":"decide","budget_ms":300,"call_timeout_ms":2000,"workloads":["%s"],"source":%s}' \
        "$task" "$workload" "$(json_text "$1")" >"$ROOT/args.json"
    before=$(date +%s%N)
    "$HONE" call --url "$url" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>"$ROOT/stderr"
    took=$((($(date +%s%N) - before) / 1000000))
    answer=$(json_get verdict <"$ROOT/answer")/$(json_get reason <"$ROOT/answer")
}

for name in answers_error does_not_compile fills_disk fork_bomb infinite_loop kills_parent lowers_limits opens_socket; do
    file=tests/adversaries/cpu/$name.c
    task=$(sed -n 's/.*task: \([a-z0-9_]*\).*/\1/p' "$file" | head -n 1)
    workload=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$WS/tasks/$task/workloads.jsonl" | head -n 1)
    want=$(sed -n 's/.*want: //p' "$file" | head -n 1)
    judge "$file"
    bad=1
    case $want+$answer in harmless+faster/* | harmless+same/* | harmless+slower/* | harmless+inconclusive/*) bad=0 ;; esac
    for reason in $(echo "${want#*/}" | tr , ' '); do
        [ "$answer" = "${want%%/*}/$reason" ] && bad=0
    done
    [ "$took" -lt 60000 ] || bad=1
    ok $bad "$name is $want" "got $answer after $took ms: $(json_get summary <"$ROOT/answer")$(cat "$ROOT/stderr")"
    echo "# $name: $answer in $took ms"

    sed 's/^#define CHEAT 1$/#define CHEAT 0/' "$file" >"$ROOT/clean.c"
    judge "$ROOT/clean.c"
    case $answer in faster/* | same/* | slower/* | inconclusive/*) bad=0 ;; *) bad=1 ;; esac
    ok $bad "$name: the clean twin passes" "got $answer: $(json_get summary <"$ROOT/answer")$(cat "$ROOT/stderr")"
done

kill -0 "$server" 2>/dev/null
ok $? "the server is up after all of them"
"$HONE" call --url "$url" device_info '{}' >/dev/null 2>&1
ok $? "and answers"
kill -TERM "$server"
wait "$server"
ok $? "and stops cleanly"
finish
