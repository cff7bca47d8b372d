#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone doctor --task: goes where a search would go, says no-go with reasons where it would not, shows no key, asks only when told to.
. "$(dirname "$0")/lib.sh"

XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
mkdir -p "$XDG_CONFIG_HOME/hone"
config() { cat >"$XDG_CONFIG_HOME/hone/config.json"; }
doctor() { # doctor OPTION... : what it says is in out, its exit status in status
    "$HONE" doctor --workspace "$WS" --executor fake --allow-weak-jail --task softmax "$@" >"$ROOT/out" 2>"$ROOT/err"
    status=$?
}
says() { grep -qE "$1" "$ROOT/out"; }
last() { tail -n 1 "$ROOT/out"; }
"$HONE" init "$WS" >/dev/null 2>&1

doctor --budget-wall 5m
[ $status = 0 ] && [ "$(last)" = go ]
ok $? "a search with rules goes" "$(tail -n 12 "$ROOT/out")"
says '^ok +budget +capped by time' && says '^ok +task +softmax' && says '^ok +baseline +is built' && says ' noise +the baseline against itself' &&
    says ' time +about [0-9]+ evaluations' && says ' disk_use .*GiB are free' && says ' notify +nobody'
ok $? "it names budget, task, baseline, noise, time, disk and who is notified" "$(cat "$ROOT/out")"
[ "$(git -C "$WS" for-each-ref refs/hone/v | wc -l)" = 0 ]
ok $? "its evaluations are no versions"
mkdir -p "$WS/tasks/only/kernels" && cp "$WS"/tasks/softmax/*.* "$WS/tasks/only" &&
    sed -i 's/"name": "softmax"/"name": "only"/' "$WS/tasks/only/task.json" &&
    sed 's/void softmax(/void only(/' "$WS/tasks/softmax/kernels/naive.cu" >"$WS/tasks/only/kernels/naive.cu"
doctor --task only --budget-wall 5m
[ $status = 0 ] && says '^ok +task +only, target cuda'
ok $? "a task of CUDA alone is looked at there, as a search would" "$(cat "$ROOT/out" "$ROOT/err")"
rm -rf "$WS/tasks/only"
doctor --budget-wall 5m --coders 4 --repairs 2 --seed 3 --knowledge --no-plateau
[ $status = 0 ]
ok $? "what a search takes, doctor takes" "$(cat "$ROOT/err")"
doctor
[ $status = 1 ] && last | grep -q '^no-go: .*budget: a search needs a cap'
ok $? "no cap: no-go" "$(last)"
doctor --budget-evaluations 5 --budget-disk 100
[ $status = 0 ] && says '^weak +time +about 5 evaluations \(their cap\): too few'
ok $? "few evaluations: said so" "$(cat "$ROOT/out")"
"$HONE" doctor --workspace "$WS" --executor fake --task sofmax --budget-wall 5m >"$ROOT/out" 2>&1
[ $? = 1 ] && last | grep -q 'no-go: .*task:'
ok $? "an unknown task: no-go" "$(last)"
printf '{"match":"softmax","reason":"compile","detail":"no such header"}\n' >"$ROOT/fake.jsonl"
doctor --budget-wall 5m --fake-script "$ROOT/fake.jsonl"
[ $status = 1 ] && last | grep -q 'no-go: .*baseline: ended as compile'
ok $? "a baseline that does not build: no-go" "$(last)"

doctor --budget-wall 5m --coder llm
[ $status = 1 ] && last | grep -q 'no-go: .*model: coder: no model is configured'
ok $? "no model: no-go" "$(last)"
printf 'sk-very-secret-0123456789\n' >"$ROOT/key"
chmod 644 "$ROOT/key"
config <<END
{"models":[{"name":"big","provider":"anthropic","model":"claude-sonnet-4-5","key_file":"$ROOT/key","fallback":"gpt"},
           {"name":"gpt","provider":"openai","url":"http://127.0.0.1:9/v1","model":"x","key_env":"HONE_TEST_DOCTOR_KEY"}],"model":"big"}
END
doctor --budget-wall 5m --coder llm
[ $status = 1 ] && last | grep -q "key: big: $ROOT/key, mode 644: others can read it" && last | grep -q 'key: gpt: variable HONE_TEST_DOCTOR_KEY is not set'
ok $? "a key that others can read, and one that is not there: no-go" "$(last)"
chmod 600 "$ROOT/key"
HONE_TEST_DOCTOR_KEY=sk-other-secret-0123456789
export HONE_TEST_DOCTOR_KEY
doctor --budget-wall 5m --coder llm --planner llm
[ $status = 0 ] && says '^ok +model +coder: big, anthropic claude-sonnet-4-5' && says 'coder, stands in: gpt, openai x at http://127.0.0.1:9/v1' &&
    says '^weak +price +coder: not known' && says '^ok +answer +planner: not asked; --ask'
ok $? "models with their stand-ins, prices, and that nobody was asked" "$(cat "$ROOT/out" "$ROOT/err")"
doctor --budget-wall 5m --coder llm --planner llm --json
[ $status = 0 ] && grep -q '"go":true' "$ROOT/out" && grep -q '"lines":\[' "$ROOT/out" && grep -q '"screen_ms":' "$ROOT/out"
ok $? "the same as JSON" "$(cut -c 1-300 "$ROOT/out")"
! grep -rqE 'very-secret|other-secret' "$ROOT/out" "$ROOT/err" "$WS/.hone"
ok $? "no key is shown"

cat >"$ROOT/model.sh" <<'END'
cat >/dev/null
echo "$$" >>"$1"
echo OK
END
config <<END
{"models":[{"name":"sh","provider":"command","price_in":1,"price_out":1,"command":["/bin/sh","$ROOT/model.sh","$ROOT/asked"]}],
 "notify":{"command":["/nowhere/tell"],"webhook":"https://hooks.example/secret-part"}}
END
doctor --budget-wall 5m --coder auto
[ $status = 0 ] && [ ! -e "$ROOT/asked" ]
ok $? "without --ask nothing is asked"
says '^weak +notify +/nowhere/tell cannot be run, and a webhook' && ! says 'secret-part'
ok $? "who is notified, without the webhook's address" "$(cat "$ROOT/out")"
doctor --budget-wall 5m --coder auto --ask
[ $status = 0 ] && [ "$(wc -l <"$ROOT/asked")" = 1 ] && says '^ok +answer +coder: sh answered in [0-9]+ ms, 1 tries, cost'
ok $? "with --ask each model is asked once" "$(cat "$ROOT/out")"
printf 'exit 3\n' >"$ROOT/model.sh"
sed -i 's/"price_in"/"tries":1,"price_in"/' "$XDG_CONFIG_HOME/hone/config.json"
doctor --budget-wall 5m --coder llm --ask
[ $status = 1 ] && last | grep -q 'no-go: .*answer: coder: '
ok $? "a model that does not answer: no-go" "$(last)"
doctor --budget-wall 5m --json --coder llm --ask
[ $status = 1 ] && grep -q '"go":false' "$ROOT/out" && grep -q '"reasons":\["' "$ROOT/out"
ok $? "no-go as JSON, with the reasons" "$(cut -c 1-300 "$ROOT/out")"
finish
