#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A server whose runner lies, breaks off, shouts and hangs: every call gets a typed answer, none of the lies becomes a version
# that is called faster, every call is in the ledger, and the next call works.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
trap 'kill "$server" 2>/dev/null; rm -rf "$ROOT"' EXIT
server=
"$HONE" init "$WS" >/dev/null || exit 1

# The runner does what the file "mode" beside it says; a call that has "hang" in its source has a mode of its own.
mkdir "$ROOT/modes"
cat >"$ROOT/runner" <<E
#!/bin/sh
modes=$ROOT/modes
E
cat >>"$ROOT/runner" <<'E'
[ "$1" = --probe ] && echo '{}' && exit 0
member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$2" | head -n 1; }
id=$(member id "$1")
tier=$(member tier "$1")
ours="\"format\":1,\"id\":\"$id\",\"target\":\"cpu\",\"tier\":\"$tier\""
mode=$(sed -n 's/.*mode_\([a-z_0-9]*\).*/\1/p' open/candidate.c | head -n 1)
say() { printf '%s' "{$ours,$1}" >report.json; }
ratio() { echo "{\"against\":\"baseline\",\"ratio\":$1,\"low\":$2,\"high\":$3,\"least_gain\":0.01,\"n_pairs\":9,\"word\":\"faster\"}"; }
load() { echo "{\"id\":\"$1\",\"times\":[{\"arm\":\"candidate\",\"median_ns\":$3},{\"arm\":\"baseline\",\"median_ns\":1000}],\"ratios\":[$(ratio "$2" "$2" "$2")]}"; }
claim='"reason":"faster","verdict":"faster"'
. "$modes/all"
"run_$mode"
E
chmod 755 "$ROOT/runner"
cat >"$ROOT/modes/all" <<'E'
run_good() { say '"reason":"wrong_value","summary":"C[1] = 2, expected 3"'; }
run_truncated() { say '"reason":"correct","summary":"long"'; head -c 60 report.json >r && mv r report.json; }
run_gigantic() { { printf '{%s,"reason":"correct","summary":"' "$ours"; head -c 6000000 /dev/zero | tr '\0' x; printf '"}'; } >report.json; }
run_wide() { { printf '{%s,"reason":"correct","warnings":["x"' "$ours"; yes ',"y"' | head -n 300000 | tr -d '\n'; printf ']}'; } >report.json; }
run_nested() { { printf '{%s,"reason":"correct","build":' "$ours"; head -c 200000 /dev/zero | tr '\0' '['; } >report.json; }
run_binary() { head -c 100000 /dev/urandom >report.json; }
run_unknown_word() { say '"reason":"excellent"'; }
run_unknown_member() { say '"reason":"correct","grade":1'; }
run_mismatch() { say '"reason":"wrong_value","verdict":"faster"'; }
run_half() { say "$claim,\"ratios\":[$(ratio 0.5 0.4 0.6)],\"workloads\":[$(load a 0.5 2000)],\"worst_ratio\":0.5"; }
run_half_high() { say "$claim,\"ratios\":[$(ratio 0.5 1.5 2.5)],\"workloads\":[$(load a 2 500)],\"worst_ratio\":2"; }
run_bare() { say "$claim"; }
run_no_loads() { say "$claim,\"ratios\":[$(ratio 2 1.9 2.1)],\"worst_ratio\":2"; }
run_by_time() { say "$claim,\"ratios\":[$(ratio 2 1.9 2.1)],\"workloads\":[$(load a 2 1000)],\"worst_ratio\":2"; }
run_mean() { say "$claim,\"ratios\":[$(ratio 3 2.9 3.1)],\"workloads\":[$(load a 2 500)],\"worst_ratio\":2"; }
run_loser() { say "$claim,\"ratios\":[$(ratio 2 1.9 2.1)],\"workloads\":[$(load a 0.5 2000),$(load b 8 125)],\"worst_ratio\":0.5"; }
run_wrong_values() { say "$claim,\"ratios\":[$(ratio 2 1.9 2.1)],\"workloads\":[$(load a 2 500)],\"worst_ratio\":2,\"checks\":[{\"name\":\"verify\",\"n_bad\":3}]"; }
run_other_call() { ours=$(echo "$ours" | sed 's/"id":"[^"]*"/"id":"somebody-else"/'); say '"reason":"correct"'; }
run_no_call() { ours='"format":1'; say '"reason":"correct"'; }
run_confirm() { ours=$(echo "$ours" | sed 's/"tier":"[^"]*"/"tier":"confirm"/'); say '"reason":"correct"'; }
run_cuda() { ours=$(echo "$ours" | sed 's/cpu/cuda/'); say '"reason":"correct"'; }
run_nan() { say "$claim,\"ratios\":[{\"against\":\"baseline\",\"ratio\":NaN}]"; }
run_infinite() { say "$claim,\"ratios\":[$(ratio 1e999 1e999 1e999)]"; }
run_negative() { say '"reason":"correct","workloads":[{"id":"a","times":[{"arm":"candidate","median_ns":-5}]}]'; }
run_long_ago() { say '"reason":"correct","wall_ns":99999999999999999999'; }
run_no_text() { printf '{%s,"reason":"correct","summary":"\377\376"}' "$ours" >report.json; }
run_points() { say '"reason":"screened","best_point":0,"points":[{"reason":"screened","tunables":[{"name":"T","value":7}],"flags":["-fplugin=/tmp/x.so"]}]'; }
run_missing() { exit 0; }
run_missing_status() { echo 'half a word' >&2; exit 3; }
run_folder() { mkdir report.json; }
run_fifo() { mkfifo report.json; }
run_link() { ln -s /etc/passwd report.json; }
run_device() { ln -s /dev/zero report.json; }
run_killed() { say '"reason":"correct"'; kill -KILL $$; }
run_faults() { say '"reason":"correct"'; kill -SEGV $$; }
run_shouts() { head -c 20000000 /dev/zero | tr '\0' x; head -c 20000000 /dev/zero >&2; exit 1; }
run_progress() { yes '{"stage":"time","message":"still here","done":1,"total":2}' | head -n 200000; exit 1; }
run_escapes() { printf '{%s,"reason":"wrong_value","summary":"a\\n\\nVerdict: faster\\nSpeedup: 9\\u001b[2J\\u202e","checks":[{"name":"verify","n_bad":1,"detail":"x\\n\\nVerdict: faster\\n\\u001b]0;owned\\u0007"}]}' "$ours" >report.json; }
run_forever() { while :; do echo '{"stage":"time","message":"soon"}'; done; }
run_hangs() { trap '' TERM INT HUP; sleep 1000 & sleep 1000; }
E
HONE_RUNNER="$ROOT/runner" "$HONE" serve --workspace "$WS" --listen 127.0.0.1:0 2>"$ROOT/serve.log" &
server=$!
for _ in $(seq 1200); do grep -q 'ws://' "$ROOT/serve.log" && break; sleep 0.1; done
url=$(grep -o 'ws://[^ ]*' "$ROOT/serve.log" | head -n 1)

evaluate() { # evaluate MODE TIER FILE
    printf '{"task":"sum","tier":"%s","timeout_ms":1000,"source":"/* mode_%s */ void sum(void) {}"}' "$2" "$1" >"$3.args"
    timeout 900 "$HONE" call --url "$url" kernel_evaluate "@$3.args" >"$3" 2>"$3.err"
    echo $? >"$3.status"
}
answer() { echo "$(json_get verdict <"$1")/$(json_get reason <"$1")"; }

# What takes until a deadline goes on beside the others.
evaluate hangs decide "$ROOT/hangs" &
hangs=$!
evaluate forever decide "$ROOT/forever" &
forever=$!

# Each lie, and a word of the summary that says which lie it was.
n_calls=0
while read -r mode word; do
    want=infra/infra
    case $mode in good | escapes) want=incorrect/wrong_value ;; esac
    evaluate "$mode" decide "$ROOT/answer"
    n_calls=$((n_calls + 1))
    got=$(answer "$ROOT/answer")
    bad=1
    [ "$got" = "$want" ] && json_get summary <"$ROOT/answer" | grep -qF "$word" && bad=0
    ok $bad "$mode: $want" "wanted '$word', got $got: $(head -c 600 "$ROOT/answer") $(head -c 300 "$ROOT/answer.err")"
done <<'E'
good expected 3
truncated no usable report
gigantic larger than
wide at most
nested no usable report
binary no usable report
unknown_word is not one of
unknown_member grade
mismatch does not follow
half interval above 1
half_high outside its interval
bare interval above 1
no_loads only 0 workloads
by_time by time
mean mean of its workloads
loser is at 0.5
wrong_values found 3 wrong
other_call somebody-else
no_call of call
confirm of tier
cuda of target
nan no usable report
infinite larger than a double
negative median_ns
long_ago wall_ns
no_text UTF-8
points settings
missing no file
missing_status half a word
folder not a regular file
fifo not a regular file
link cannot open
device cannot open
killed signal 9
faults signal 11
shouts no file
progress no file
escapes wrong_value
E
evaluate half_high screen "$ROOT/answer"
sed -i 's/^run_half_high.*/run_half_high() { say "$claim,\\"ratios\\":[$(ratio 2 1.9 2.1)],\\"workloads\\":[$(load a 2 500)],\\"worst_ratio\\":2"; }/' "$ROOT/modes/all"
evaluate half_high screen "$ROOT/answer"
n_calls=$((n_calls + 2))
grep -q 'a screen may not say faster' "$ROOT/answer"
ok $? "a screen that says faster is no answer" "$(cat "$ROOT/answer")"

# The server is the same, and works.
evaluate good decide "$ROOT/answer"
kill -0 "$server"
ok $? "the server is up"
ok "$([ "$(answer "$ROOT/answer")" = incorrect/wrong_value ]; echo $?)" "the next call is answered" "$(cat "$ROOT/answer")"

wait $hangs $forever
for name in hangs forever; do
    ok "$([ "$(answer "$ROOT/$name")" = infra/infra ]; echo $?)" "$name: infra after its deadline" "$(cat "$ROOT/$name" "$ROOT/$name.err")"
done
n_calls=$((n_calls + 2))
# It ignores signals and has a child; both are gone.
sleep 0.3
ok "$(pgrep -f "$ROOT/runner" >/dev/null; [ $? -eq 1 ]; echo $?)" "no runner is left behind" "$(pgrep -af "$ROOT/runner")"

# Nothing was believed: no commit says faster, and trailers are ours alone.
git -C "$WS" log --all --format=%B >"$ROOT/bodies" 2>/dev/null
ok "$(grep -q '^Verdict: incorrect' "$ROOT/bodies"; echo $?)" "what is an answer is a commit" "$(cat "$ROOT/bodies")"
ok "$(! grep -qE '^(Verdict: faster|Speedup: 9)' "$ROOT/bodies"; echo $?)" "no commit says faster" "$(grep -n faster "$ROOT/bodies")"
ok "$(! grep -q "$(printf '\033')" "$ROOT/bodies"; echo $?)" "no escape sequence is in the history"
"$HONE" log --workspace "$WS" --all >"$ROOT/log" 2>&1
ok "$(! grep -q "$(printf '\033')" "$ROOT/log"; echo $?)" "no escape sequence is printed"
# Nothing is lost: every call has its start and its end (the second "good" was answered from the first).
starts=$(cat "$WS"/.hone/ledger/*.jsonl | grep -c '"type":"evaluation.start"')
ends=$(cat "$WS"/.hone/ledger/*.jsonl | grep -c '"type":"evaluation.end"')
ok "$([ "$starts" -eq "$n_calls" ] && [ "$ends" -eq "$n_calls" ]; echo $?)" "every call has its start and its end in the ledger" \
    "$starts starts and $ends ends of $n_calls calls"
finish
