#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How the command line behaves: where the workspace is found, where options may stand, what is refused, pipes, columns, completion.
. "$(dirname "$0")/lib.sh"
unset HONE_WORKSPACE HONE_EXECUTOR
"$HONE" init "$WS" >/dev/null 2>&1
printf '{"match":"QUICK","ns":250000}\n' >"$ROOT/script.jsonl"
for n in 1 2 3; do
    "$HONE" call kernel_evaluate "{\"task\":\"matmul_bf16\",\"tier\":\"decide\",\"source\":\"/* QUICK $n */ void matmul_bf16(void) {}\"}" \
        --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --quiet >/dev/null 2>&1
done
says() { # says NAME STATUS PATTERN WORDS...: exit status and a line of either output
    says_name=$1 says_want=$2 says_text=$3
    shift 3
    "$HONE" "$@" >"$ROOT/out" 2>&1
    says_rc=$?
    [ $says_rc = "$says_want" ] && grep -q -e "$says_text" "$ROOT/out"
    ok $? "$says_name" "$says_rc: $(cat "$ROOT/out")"
}

cd "$WS/tasks/sum" || exit 1
says "the workspace is found upwards" 0 '^matmul ' task list
cd "$ROOT" || exit 1
says "where there is none, it is said" 3 'no workspace' log
says "options may stand before the verb" 0 'faster  *decide' --workspace "$WS" log
says "and are the verb's own where they stand" 0 '^{"commit"' --json log --workspace "$WS"
says "an unknown one before the verb is refused" 2 "no option '--bogus'" --bogus log
says "an option without a verb is refused" 2 'which verb' --json
says "an argument that an action does not use is refused" 2 "'list' takes no SUBJECT" task list extra --workspace "$WS"
says "an option of another action is refused" 2 "'list' takes no --shape" task list --shape 'A[n]' --workspace "$WS"
says "an action has a page of its own" 0 'usage: hone task new FILE ' task new --help
! grep -q -e '--margin' "$ROOT/out"
ok $? "without the options of the others" "$(cat "$ROOT/out")"
says "and through help" 0 'usage: hone task calibrate TASK' help task calibrate
printf 'void one(const float *x, float *y, long n) {}\nvoid two(const float *x, float *y, long n) {}\n' >two.c
says "several functions: the option that chooses is named" 2 'say which with --function' task new two.c --name other --workspace "$WS"

printf 'void one(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i]; }\n' >one.c
for name in guessed counted; do
    flops=$([ $name = counted ] && echo --flops=n)
    "$HONE" task new one.c --name $name --shape 'x[n]' --shape 'y[n]' --size n=1000 --no-lint $flops --workspace "$WS" >/dev/null 2>&1
    "$HONE" call kernel_evaluate "{\"task\":\"$name\",\"tier\":\"decide\",\"source\":\"/* QUICK */ void $name(void) {}\"}" \
        --workspace "$WS" --executor fake --fake-script "$ROOT/script.jsonl" --quiet
done >"$ROOT/out" 2>&1
sed -n 1p "$ROOT/out" | grep -q 'percent_of_bound\|of bound' && false || sed -n 2p "$ROOT/out" | grep -q '% of bound.*"percent_of_bound":'
ok $? "no percentage of a bound that is a guess" "$(cat "$ROOT/out")"

cp -r "$WS/tasks/sum" "$WS/tasks/unfit"
sed -i -e 's/"name": *"sum"/"name": "unfit"/' "$WS/tasks/unfit/task.json"
sed -i -e 's/void sum(/void unfit(/' "$WS"/tasks/unfit/kernels/*
"$HONE" search unfit --budget-evaluations 6 --quiet --executor fake --workspace "$WS" >/dev/null 2>"$ROOT/out"
! grep -q 'the lint refuses' "$ROOT/out"
ok $? "a search of a task that nothing is known against says nothing" "$(cat "$ROOT/out")"
"$HONE" task lint unfit --executor fake --workspace "$WS" >"$ROOT/lint" 2>&1
"$HONE" search unfit --name again --budget-evaluations 6 --quiet --executor fake --workspace "$WS" >/dev/null 2>"$ROOT/out"
[ "$(grep -c "warning: the lint refuses task 'unfit'" "$ROOT/out")" = 2 ]
ok $? "one that lint refused is warned of, before and beside the result" "$(cat "$ROOT/out" "$ROOT/lint")"

"$HONE" log --workspace "$WS" --task matmul_bf16 --max 2 >"$ROOT/out" 2>&1
awk 'NR == 1 { at = index($0, "verdict") } NR == 2 { bad = substr($0, at - 2, 2) != "  " || substr($0, at, 1) == " " } END { exit bad }' "$ROOT/out"
ok $? "columns stand below their heads, however long a name is" "$(cat "$ROOT/out")"
"$HONE" log --workspace "$WS" --task matmul_bf16 --json --max 1 2>"$ROOT/err" | grep -q '"speedup":4,"ci":\[3.92,4.08\]' && [ ! -s "$ROOT/err" ]
ok $? "in JSON figures are numbers, and nothing else is said" "$("$HONE" log --workspace "$WS" --json 2>&1)"
id=$("$HONE" log --workspace "$WS" --task matmul_bf16 --json --max 1 2>/dev/null | json_get commit)
"$HONE" diff "$id" --json --workspace "$WS" | grep -q '"patch":"'
ok $? "diff has JSON" "$("$HONE" diff "$id" --json --workspace "$WS" 2>&1)"

{ "$HONE" task show matmul --workspace "$WS" 2>"$ROOT/err"; echo $? >"$ROOT/rc"; } | true
{ sleep 0.2; "$HONE" log --all --workspace "$WS" 2>>"$ROOT/err"; echo $? >"$ROOT/rc"; } | true
[ "$(cat "$ROOT/rc")" = 141 ] && [ ! -s "$ROOT/err" ]
ok $? "a reader that has enough is no fault" "$(cat "$ROOT/rc" "$ROOT/err")"

cat >"$ROOT/read" <<'END'
set -- "$1" "$2" "$3" "$4"
for verb in 'log --max 1' 'task list' 'task show sum' "show $2" "diff $2"; do
    "$1" $verb --workspace "$3" >"$3.out" 2>"$3.err" && [ -s "$3.out" ] || { echo "BAD $verb"; cat "$3.err"; }
done
"$1" task new "$4" --function one --workspace "$3" >"$3.out" 2>&1 && echo "BAD: written"
grep -q 'the workspace cannot be written\|No space left' "$3.out" || cat "$3.out"
END
if unshare -m true 2>/dev/null; then
    unshare -m sh -c 'mount --bind "$3" "$3" && mount -o remount,ro,bind "$3" && . "$0"' "$ROOT/read" "$HONE" "$id" "$WS" "$ROOT/two.c" >"$ROOT/out" 2>&1
    [ ! -s "$ROOT/out" ]
    ok $? "verbs that read work on a read-only disk" "$(cat "$ROOT/out")"
    unshare -m sh -c 'mkdir "$3.full" && mount -t tmpfs -o size=12m none "$3.full" && cp -r "$3/." "$3.full" &&
        rm -f "$3.full/.hone/open.lock" "$3.full/.hone/replay.json"
        dd if=/dev/zero of="$3.full/fill" bs=4k 2>/dev/null; set -- "$1" "$2" "$3.full" "$4"; . "$0"' \
        "$ROOT/read" "$HONE" "$id" "$WS" "$ROOT/two.c" >"$ROOT/out" 2>&1
    [ ! -s "$ROOT/out" ]
    ok $? "and on a full one" "$(cat "$ROOT/out")"
fi

"$HONE" completion bash >"$ROOT/bash"
cat >"$ROOT/try" <<'END'
. "$1"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hone; echo "${COMPREPLY[@]}"; }
try hone sea
try hone task sh
try hone search --target ''
try hone --workspace /tmp log --re
END
[ "$(bash "$ROOT/try" "$ROOT/bash" | tr '\n' '/')" = "search/show/cpu cuda/--review/" ]
ok $? "bash completes verbs, actions, choices and options" "$(bash "$ROOT/try" "$ROOT/bash" 2>&1)"
"$HONE" completion zsh >"$ROOT/_hone"
if command -v zsh >/dev/null; then
    zsh -n "$ROOT/_hone"
    ok $? "zsh reads its completion"
fi
grep -q "'search:Search" "$ROOT/_hone" && grep -q -e "--budget-wall\[Stop after this time 90s" "$ROOT/_hone"
ok $? "zsh's has verbs and options" "$(head -40 "$ROOT/_hone")"
finish
