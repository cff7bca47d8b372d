#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone env for frameworks: folders in Harbor's form and what their test.sh gives (grade), judged really once, with paths
# put in where the images would have theirs; verifiers' adapter against a stub of verifiers.
. "$(dirname "$0")/lib.sh"
REPO=$(cd "$(dirname "$0")/../.." && pwd)
"$HONE" init "$WS" >/dev/null 2>&1
# One short size: what is tried is the way, not the time.
sed -n 's/^sum //p' "$REPO/tests/judge/quick_sizes" >"$WS/tasks/sum/workloads.jsonl"
sed -i 's/"max": 536870912/"max": 300000/; s/"cpu": \[1, [0-9]*\]/"cpu": [1, 300000]/; s/"cuda": \[1, [0-9]*\]/"cuda": [1, 300000]/' "$WS/tasks/sum/task.json"
TASK=$ROOT/tasks/sum-cpu LOGS=$ROOT/logs
echo bundle >"$ROOT/bundle.tar.gz"
harbor() { timeout 900 "$HONE" env harbor "$ROOT/tasks" --workspace "$WS" --bundle "$ROOT/bundle.tar.gz" "$@" >"$ROOT/out" 2>"$ROOT/err"; }
mentions() { # mentions FILE TEXT...
    file=$1
    shift
    for text in "$@"; do grep -qF -- "$text" "$file" || return 1; done
}

harbor --task sum --task matmul
[ $? = 0 ] && [ "$(cat "$ROOT/out")" = "$TASK
$ROOT/tasks/matmul-cpu" ]
ok $? "a folder for each task" "$(cat "$ROOT/out" "$ROOT/err")"
(cd "$TASK" && for f in task.toml instruction.md environment/Dockerfile environment/kernel.c environment/task/task.json tests/Dockerfile \
    tests/task/oracle.c solution/kernel.c; do [ -s "$f" ] || exit 1; done) && [ -x "$TASK/tests/test.sh" ] && [ -x "$TASK/solution/solve.sh" ]
ok $? "with all that Harbor looks for" "$(find "$TASK")"
mentions "$TASK/instruction.md" 'void sum(const float *X, float *S, int64_t N)' 'S = sum of the N elements' 'N = 262144' '0.0001 times' \
    '/app/kernel.c' 'tier confirm' 'on cpu'
ok $? "the instruction has the task's words, signature, sizes, tolerance and how it is judged" "$(cat "$TASK/instruction.md")"
sed '/^\[/,$d' "$TASK/task.toml" | grep -q '^artifacts = \["/app/kernel.c"\]' && mentions "$TASK/task.toml" 'environment_mode = "separate"' \
    '[verifier.environment]' 'network_mode = "no-network"'
ok $? "the verifier has a machine of its own, and one file travels to it" "$(cat "$TASK/task.toml")"
if python3 -c 'import tomllib' 2>/dev/null; then
    python3 -c 'import sys, tomllib
t = tomllib.load(open(sys.argv[1], "rb"))
assert t["verifier"]["environment_mode"] == "separate" and t["environment"]["cpus"] == 2 and t["artifacts"] == ["/app/kernel.c"], t' "$TASK/task.toml"
    ok $? "task.toml is TOML"
fi
[ "$(stat -c %i "$ROOT/bundle.tar.gz")" = "$(stat -c %i "$TASK/tests/hone-bundle.tar.gz")" ] &&
    mentions "$TASK/tests/Dockerfile" 'FROM debian:12-slim' 'ADD hone-bundle.tar.gz /opt/' 'COPY test.sh /tests/test.sh' &&
    ! grep -q test.sh "$TASK/environment/Dockerfile"
ok $? "both images get the bundle, the verifier's alone the test" "$(cat "$TASK/tests/Dockerfile")"
harbor --task sum
[ $? = 13 ] && harbor --task sum --force && rm "$TASK/task.toml" && ! harbor --task sum --force && [ -s "$TASK/instruction.md" ]
ok $? "what is there is replaced when asked, and only what is a task's folder" "$(cat "$ROOT/err")"
! harbor --task matmul --target cuda && grep -q 'name an image' "$ROOT/err" && harbor --task matmul --target cuda --base some/image:1 &&
    mentions "$ROOT/tasks/matmul-cuda/task.toml" 'gpus = 1' kernel.cu && mentions "$ROOT/tasks/matmul-cuda/tests/Dockerfile" 'FROM some/image:1' g++
ok $? "a GPU's tasks need an image that is named" "$(cat "$ROOT/err")"
! harbor --task no_such && ! "$HONE" env harbor "$ROOT/tasks" --workspace "$WS" --task matmul --force >/dev/null 2>"$ROOT/err" &&
    grep -q 'make bundle' "$ROOT/err"
ok $? "no task or no bundle is an error" "$(cat "$ROOT/err")"
cat "$TASK/solution/solve.sh" | grep -q baseline && cmp -s "$TASK/solution/kernel.c" "$WS/tasks/sum/kernels/naive.c"
ok $? "without a search the solution is the baseline" "$(cat "$TASK/solution/solve.sh")"
timeout 900 "$HONE" search matmul --workspace "$WS" --executor fake --budget-evaluations 12 >/dev/null 2>"$ROOT/err"
harbor --task matmul --force && grep -q '^# Version [0-9a-f]* of search/matmul' "$ROOT/tasks/matmul-cpu/solution/solve.sh" &&
    ! cmp -s "$ROOT/tasks/matmul-cpu/solution/kernel.c" "$WS/tasks/matmul/kernels/naive.c"
ok $? "after one it is the winner" "$(cat "$ROOT/err" "$ROOT/tasks/matmul-cpu/solution/solve.sh")"

# What a source is worth.
printf '%s\n' '{"match":"wrong_one","reason":"wrong_value"}' '{"match":"fast_one","ns":125000}' '{"match":"slow_one","ns":4000000}' \
    '{"match":"broken_machine","reason":"infra"}' >"$ROOT/fake.jsonl"
grade() { # grade FILE: answer in out, files in $LOGS
    timeout 900 "$HONE" env grade "$1" --workspace "$WS" --executor fake --fake-script "$ROOT/fake.jsonl" --task sum --reward "$LOGS" >"$ROOT/out" 2>"$ROOT/err"
}
shown() { cat "$ROOT/out" "$ROOT/err" "$LOGS"/* 2>&1; }
echo 'int fast_one;' >"$ROOT/kernel.c"
grade "$ROOT/kernel.c" && [ "$(cat "$LOGS/reward.txt")" = 3 ] && mentions "$LOGS/reward.json" '"reward":3' '"is_right":1' '"speedup":8' &&
    cmp -s "$ROOT/out" "$LOGS/verdict.json" && mentions "$LOGS/verdict.json" '"verdict":"faster"'
ok $? "a right source gets log2 of its speedup, and the verdict lies beside" "$(shown)"
printf '%s\n' '{"op":"reset","task":"sum"}' '{"op":"step","episode":1,"source":"int fast_one;\n"}' |
    "$HONE" env --tier confirm --workspace "$WS" --executor fake --fake-script "$ROOT/fake.jsonl" 2>/dev/null | tail -n 1 >"$ROOT/step"
[ "$(grep -o '"reward":[^,]*' "$ROOT/step")" = "$(grep -o '"reward":[^,]*' "$LOGS/verdict.json")" ]
ok $? "the same that a step of hone env gives" "$(cat "$ROOT/step")"
echo 'int wrong_one;' >"$ROOT/kernel.c"
grade "$ROOT/kernel.c" && [ "$(cat "$LOGS/reward.txt")" = 0 ] && mentions "$LOGS/reward.json" '"reward":0,' '"env_reward":-1,' '"is_right":0'
ok $? "a wrong one gets 0" "$(shown)"
echo 'int slow_one;' >"$ROOT/kernel.c"
grade "$ROOT/kernel.c" && [ "$(cat "$LOGS/reward.txt")" = 0 ] && mentions "$LOGS/reward.json" '"env_reward":-2,' '"is_right":1'
ok $? "a slower one too, no less than a wrong one" "$(shown)"
ln -s kernel.c "$ROOT/link.c"
mkfifo "$ROOT/fifo.c"
printf 'int fast_one;\0' >"$ROOT/nul.c"
head -c 1048577 /dev/zero | tr '\0' ' ' >"$ROOT/large.c"
bad=
for f in link.c fifo.c nul.c large.c none.c; do
    echo 99 >"$LOGS/reward.txt"
    grade "$ROOT/$f" && [ "$(cat "$LOGS/reward.txt")" = 0 ] && grep -q '"error":"' "$LOGS/verdict.json" || bad="$bad $f"
done
[ -z "$bad" ]
ok $? "what is no source gets 0: a link, a pipe, no text, too much, nothing" "$bad $(shown)"
head -c 1048562 "$ROOT/large.c" >"$ROOT/fits.c"
echo 'int fast_one;' >>"$ROOT/fits.c"
grade "$ROOT/fits.c" && [ "$(cat "$LOGS/reward.txt")" = 3 ]
ok $? "a source at the limit is judged" "$(cut -c 1-300 "$ROOT/out" "$ROOT/err")"
echo 'int broken_machine;' >"$ROOT/kernel.c"
for planted in reward.txt reward.json; do echo 99 >"$LOGS/$planted"; done
grade "$ROOT/kernel.c"
[ $? = 9 ] && [ -z "$(ls "$LOGS")" ]
ok $? "a machine's fault is a status and no reward, also none that was there before" "$(shown)"

# One real run of test.sh as the images do it.
"$HONE" init --no-packs "$ROOT/image" >/dev/null 2>&1 && cp -r "$ROOT/tasks/sum-cpu/tests/task" "$ROOT/image/tasks/sum" && mkdir "$ROOT/app"
placed() { sed "s,/opt/hone-bundle/bin/hone,$HONE,; s,/opt/hone ,$ROOT/image ,; s,/logs/verifier,$LOGS,; s,/app/,$ROOT/app/,"; }
placed <"$TASK/tests/test.sh" >"$ROOT/test.sh"
placed <"$TASK/solution/solve.sh" >"$TASK/solution/placed.sh"
sh "$TASK/solution/placed.sh"
timeout 900 sh "$ROOT/test.sh" >"$ROOT/out" 2>"$ROOT/err"
[ $? = 0 ] && mentions "$LOGS/reward.json" '"is_right":1' && mentions "$LOGS/verdict.json" '"is_hidden":true' &&
    awk '{ exit !($1 >= 0 && $1 < 3) }' "$LOGS/reward.txt"
ok $? "the baseline as a solution is judged, and right" "$(shown)"
# Containers mostly have the weakest jail alone. There root's candidates have a uid that cannot walk into a workspace.
if "$HONE" doctor --workspace "$ROOT/image" 2>/dev/null | grep -q 'jail rung *weak works'; then
    timeout 900 "$HONE" env grade "$ROOT/app/kernel.c" --task sum --tier screen --workspace "$ROOT/image" >/dev/null 2>&1
    call=$(dirname "$(grep -l '"tier": "screen"' "$ROOT"/image/.hone/calls/*/job.json | head -n 1)")
    sed -i 's/"jail": "auto"/"jail": "weak"/; s/"allow_weak_jail": false/"allow_weak_jail": true/' "$call/job.json"
    timeout 900 "$(dirname "$HONE")/hone-runner" "$call/job.json" >/dev/null 2>"$ROOT/err"
    mentions "$call/report.json" '"jail":"weak"' '"reason":"screened"'
    ok $? "the weakest jail judges it too" "$(cut -c 1-600 "$call/report.json")"
fi
cat >"$ROOT/app/kernel.c" <<END_C
#include <stdint.h>
#include <stdio.h>
static void forge(void)
{
    FILE *f = fopen("$LOGS/reward.txt", "w");
    if (f) {
        fputs("99\n", f);
        fclose(f);
    }
}
__attribute__((constructor)) static void begin(void) { forge(); }
void sum(const float *X, float *S, int64_t N)
{
    forge();
    S[0] = N > 0 ? X[0] : 0;
}
END_C
timeout 900 sh "$ROOT/test.sh" >"$ROOT/out" 2>"$ROOT/err"
[ $? = 0 ] && [ "$(cat "$LOGS/reward.txt")" = 0 ] && mentions "$LOGS/reward.json" '"is_right":0'
ok $? "a kernel that writes a reward of its own gets 0" "$(shown)"

if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 timeout 900 python3 "$REPO/tests/e2e/env_verifiers.py" "$HONE" "$WS" "$ROOT/fake.jsonl" "$REPO/agents/offline/lattices" \
        >"$ROOT/out" 2>"$ROOT/err" && [ ! -s "$ROOT/err" ]
    ok $? "verifiers' adapter runs its rollouts ($(grep -c '^ok' "$ROOT/out") checks)" "$(grep -A 3 '^not ok' "$ROOT/out" | cut -c 1-500; cat "$ROOT/err")"
fi
finish
