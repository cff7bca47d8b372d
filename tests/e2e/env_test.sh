#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone env: an episode by sources and by rewrites, rewards, refusals, limits, the same run twice, the record.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null 2>&1
printf '{"match":"wrong_one","reason":"wrong_value"}\n' >"$ROOT/fake.jsonl"
env_run() { # env_run OPTION...: requests on stdin, answers in out
    timeout 900 "$HONE" env --workspace "$WS" --executor fake --fake-script "$ROOT/fake.jsonl" "$@" >"$ROOT/out" 2>"$ROOT/err"
}
answer() { sed -n "$1p" "$ROOT/out"; }
{
    echo '{"op":"reset","task":"sum","id":7}'
    echo '{"op":"step","episode":1,"rewrite":"accumulators"}'
    echo '{"op":"step","episode":1,"source":"int wrong_one;"}'
    echo '{"op":"step","episode":1,"source":"int right;"}'
    echo '{"op":"step","episode":1,"rewrite":"no_such"}'
    echo '{"op":"close","episode":1}'
} >"$ROOT/asked"
env_run --record "$ROOT/record.jsonl" <"$ROOT/asked"
answer 1 | grep -q '^{"id":7,"episode":1,"observation":{"description":.*"signature":"void sum(.*"source":"#include'
ok $? "reset shows the task and its source" "$(cat "$ROOT/out" "$ROOT/err")"
answer 2 | grep -q '"is_right":true' && answer 2 | grep -q '"step":1,.*"source":"' && ! answer 2 | grep -q '"reward":-1'
ok $? "a rewrite is applied, judged and shown" "$(answer 2)"
answer 3 | grep -q '"reward":-1,"parts":{"is_right":false' && answer 3 | grep -q '"verdict":"incorrect"'
ok $? "a wrong version costs one" "$(answer 3)"
answer 4 | grep -q '"is_right":true' && answer 4 | grep -q '"best_log2":'
ok $? "a right one gets the log of its speedup" "$(answer 4)"
answer 5 | grep -q '^{"error":"' && answer 6 | grep -q '^{"episode":1,"best_log2":'
ok $? "a rewrite that does not exist is an error, and the episode goes on" "$(answer 5; answer 6)"
[ "$(wc -l <"$ROOT/record.jsonl")" = 6 ] && sed -n 3p "$ROOT/record.jsonl" | grep -q '^{"request":{"op":"step",.*"answer":{"reward":-1'
ok $? "the record has each request with its answer" "$(cat "$ROOT/record.jsonl")"
sed 's/"wall_ms":[0-9.]*//; s/"evaluation":"[^"]*"//g' "$ROOT/out" >"$ROOT/once"
env_run <"$ROOT/asked"
sed 's/"wall_ms":[0-9.]*//; s/"evaluation":"[^"]*"//g' "$ROOT/out" | cmp -s - "$ROOT/once"
ok $? "the same requests get the same answers" "$(diff "$ROOT/out" "$ROOT/once" | cut -c 1-300)"
{
    echo garbage
    echo '{"op":"fly"}'
    echo '{"op":"step","episode":1,"source":"x"}'
    echo '{"op":"step","episode":-9223372036854775808,"source":"x"}'
    echo '{"op":"reset","task":"none"}'
    echo '{"op":"reset","task":"sum"}'
    echo '{"op":"step","episode":1}'
    echo '{"op":"close","episode":1}'
} | env_run
[ "$(grep -c '"error"' "$ROOT/out")" = 6 ] && answer 7 | grep -q 'a step is a source or a rewrite' && answer 8 | grep -q best_log2
ok $? "what cannot be done is an error line, and the rest goes on" "$(cat "$ROOT/out")"
echo '{"op":"reset","task":"sum","target":"cuda"}' | env_run
answer 1 | grep -q '"signature":"extern .*cudaStream_t stream)","source":".*__global__'
ok $? "of target cuda it shows the CUDA source" "$(answer 1)"
{
    for _ in $(seq 65); do echo '{"op":"reset","task":"sum"}'; done
} | env_run --observation-bytes 512
answer 64 | grep -q '"episode":64' && answer 65 | grep -q '64 episodes are open'
ok $? "64 episodes are open at a time" "$(answer 65)"
{
    echo '{"op":"reset","task":"sum"}'
    echo '{"op":"step","episode":1,"source":"int a;"}'
    echo '{"op":"step","episode":1,"source":"int b;"}'
    echo '{"op":"step","episode":1,"source":"int c;"}'
} | env_run --steps 2
answer 2 | grep -q '"done":false' && answer 3 | grep -q '"done":true' && answer 4 | grep -q 'no open episode'
ok $? "the last step ends the episode" "$(cat "$ROOT/out")"

{
    echo '{"op":"reset","task":"matmul","seed":3}'
    echo '{"op":"step","episode":1,"strategy":"C02"}'
    echo '{"op":"step","episode":1,"strategy":"C04","commit":"lattice-0"}'
    echo '{"op":"step","episode":1,"strategy":"C08"}'
    echo '{"op":"step","episode":1,"strategy":"C02"}'
    echo '{"op":"close","episode":1}'
} >"$ROOT/asked"
on_lattices() { timeout 900 "$HONE" env --lattices "$REPO/agents/offline/lattices" "$@" <"$ROOT/asked" >"$ROOT/out" 2>"$ROOT/err"; }
REPO=$(cd "$(dirname "$0")/../.." && pwd)
on_lattices --record "$ROOT/lattice.jsonl"
answer 1 | grep -q '"family":"gemm",.*{"strategy":"C02","expected_log2":2.2}.*"features":{"loop_depth":3'
ok $? "a lattice's reset shows features, and strategies with what is expected of them" "$(answer 1; cat "$ROOT/err")"
answer 2 | grep -q '"reward":4\.[0-9]*,"parts":{"is_right":true.*"verdict":"screened".*"commit":"lattice-1"' && ! answer 2 | grep -q '{"strategy":"C02"'
ok $? "a step's verdict is the recorded one, and what was done is no choice" "$(answer 2)"
answer 3 | grep -q '"commit":"lattice-2"' && answer 4 | grep -q '"commit":"lattice-6"'
ok $? "a step goes on from the version that it names, else from the last" "$(answer 3; answer 4)"
cp "$ROOT/out" "$ROOT/once"
on_lattices && cmp -s "$ROOT/out" "$ROOT/once" && [ "$(wc -l <"$ROOT/lattice.jsonl")" = 6 ]
ok $? "the same seed gives the same bytes, and trajectories are recorded" "$(diff "$ROOT/out" "$ROOT/once" | cut -c 1-300)"
sed -i 's/"seed":3/"seed":4/' "$ROOT/asked"
on_lattices && ! cmp -s "$ROOT/out" "$ROOT/once"
ok $? "another seed draws other repeats (of the states that have several)" "$(cut -c 1-200 "$ROOT/out")"
{
    echo '{"op":"reset","task":"no_such"}'
    echo '{"op":"reset","task":"rmsnorm","target":"cuda"}'
    echo '{"op":"reset","task":"sum"}'
    echo '{"op":"step","episode":1,"source":"int a;"}'
    echo '{"op":"step","episode":1,"strategy":"G31"}'
    for name in lattice-256 lattice- lattice--1 lattice-1x '../x' lattice-99999999999999999999; do
        echo '{"op":"step","episode":1,"strategy":"C04","commit":"'"$name"'"}'
    done
} >"$ROOT/asked"
on_lattices
[ "$(grep -c '"error"' "$ROOT/out")" = 10 ] && answer 4 | grep -q 'is a strategy' && answer 5 | grep -q 'not legal' && answer 6 | grep -q 'no version'
ok $? "what a lattice does not hold is an error line" "$(cut -c 1-200 "$ROOT/out")"
"$HONE" env --lattices "$ROOT/nowhere" </dev/null 2>"$ROOT/err"
[ $? = 3 ]
ok $? "a folder without lattices is refused" "$(cat "$ROOT/err")"
finish
