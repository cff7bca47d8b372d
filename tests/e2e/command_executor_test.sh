#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runners behind a command: the same verdicts as here, files that cross once, runners that die, drivers that die, other versions.
. "$(dirname "$0")/lib.sh"
RUNNER=$(dirname "$HONE")/hone-runner
RUNNER=$(realpath "$RUNNER")
export HONE_RUNNER_DIR="$ROOT/store"
"$HONE" init "$WS" >/dev/null 2>&1
shrink_pack "$WS/tasks/transpose"
PLAIN="command:hone-runner --serve"

source_of() { # source_of FUNCTION-BODY: a transpose
    printf '#include <stdint.h>\nvoid transpose(const float *A, float *B, int64_t M, int64_t N)\n{\n%s\n}\n' "$1" >"$ROOT/c.c"
    json_text "$ROOT/c.c"
}
RIGHT='for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) B[j * M + i] = A[i * N + j];'
WRONG='for (int64_t i = 0; i < M * N; i++) B[i] = A[i];'
CRASH='*(volatile int *)0 = 1; (void)A; (void)B; (void)M; (void)N;'

verify() { # verify EXECUTOR BODY: its answer in $ROOT/answer
    "$HONE" call kernel_verify "{\"task\":\"transpose\",\"source\":$(source_of "$2")}" --workspace "$WS" --quiet \
        --executor "$1" >"$ROOT/answer" 2>"$ROOT/said"
}
reason() { json_get reason <"$ROOT/answer"; }

# Each executor has a cache of its own, so the second answer is no memory of the first.
for body in "$RIGHT" "$WRONG" "$CRASH"; do
    verify local "$body"
    here=$(reason)
    verify "$PLAIN" "$body"
    [ -n "$here" ] && [ "$(reason)" = "$here" ]
    ok $? "the same reason here and behind a command: $here" "$(cat "$ROOT/answer" "$ROOT/said")"
done
[ "$(ls "$ROOT/store/calls")" = "" ]
ok $? "nothing of a call stays with the runner" "$(ls "$ROOT/store/calls")"

# What is in the store does not cross again: a wrapper counts the files that come.
cat >"$ROOT/count.sh" <<EOF
#!/bin/sh
tee "$ROOT/sent" | "$RUNNER" --serve
EOF
chmod 755 "$ROOT/count.sh"
verify "command:$ROOT/count.sh" "$RIGHT /* another */"
n=$(grep -ao '"type":"file"' "$ROOT/sent" | wc -l)
[ "$n" = 1 ] && [ "$(reason)" = correct ]
ok $? "of a known task only the new source crosses" "$n files; $(cat "$ROOT/answer" "$ROOT/said")"

# Lines that a login shell prints are no greeting.
verify "command:echo Welcome to node7; echo; exec hone-runner --serve" "$RIGHT /* noise */"
[ "$(reason)" = correct ]
ok $? "what a launcher prints before is skipped" "$(cat "$ROOT/answer" "$ROOT/said")"

# A runner that dies in the middle of its first job: the job goes to another one.
cat >"$ROOT/dies.sh" <<EOF
#!/bin/sh
[ -f "$ROOT/died" ] && exec "$RUNNER" --serve
touch "$ROOT/died"
"$RUNNER" --serve | sed -u '/"type":"want"/q'
EOF
chmod 755 "$ROOT/dies.sh"
verify "command:$ROOT/dies.sh" "$RIGHT /* dies */"
[ -f "$ROOT/died" ] && [ "$(reason)" = correct ]
ok $? "a lost runner: the job begins again on another" "$(cat "$ROOT/answer" "$ROOT/said")"

# One that always dies is nobody's fault, and ends.
cat >"$ROOT/always.sh" <<EOF
#!/bin/sh
"$RUNNER" --serve | sed -u '/"type":"want"/q'
EOF
chmod 755 "$ROOT/always.sh"
verify "command:$ROOT/always.sh" "$RIGHT /* always */"
[ "$(reason)" = infra ]
ok $? "runners that are lost each time: infra" "$(cat "$ROOT/answer" "$ROOT/said")"

# Another version is refused with what to do; a command that is none, too.
verify "command:echo '{\"type\":\"hello\",\"protocol\":1,\"version\":\"9.9\"}'; sleep 5" "$RIGHT"
[ $? != 0 ] && grep -q 'hone 9.9 .*install the same version' "$ROOT/said"
ok $? "another version: a sentence" "$(cat "$ROOT/said")"
verify "command:no-such-launcher" "$RIGHT"
[ $? != 0 ] && grep -q "no-such-launcher" "$ROOT/said" && grep -q 'not found' "$ROOT/said"
ok $? "a command that is none: what the shell said" "$(cat "$ROOT/said")"
verify "command:" "$RIGHT"
[ $? = 2 ] && grep -q 'wants a command' "$ROOT/said"
ok $? "no command: an argument error" "$(cat "$ROOT/said")"

# What a process has started, and what that has; other tests' runners live beside.
below() {
    for child in $(pgrep -P "$1"); do
        echo "$child"
        below "$child"
    done
}
alive() { for pid in $1; do ps -o pid=,args= -p "$pid"; done; }

# The driver is killed: its runner, and what that runs, end.
LOOP='for (;;) B[0] = A[0];'
verify "command:$RUNNER --serve" "$LOOP" &
driver=
for _ in $(seq 1200); do
    driver=$(pgrep -f "hone call kernel_verify.*--workspace $WS" | head -n 1)
    family=$([ -n "$driver" ] && below "$driver")
    alive "$family" | grep -q "hone-runner --serve" && alive "$family" | grep -q "role arena" && break
    sleep 0.1
done
kill -9 "$driver"
wait
for _ in $(seq 1200); do
    [ -z "$(alive "$family")" ] && break
    sleep 0.1
done
[ -n "$family" ] && [ -z "$(alive "$family")" ]
ok $? "a killed driver leaves no runner behind" "$(alive "$family")"

# Two runners, a search through them: one lineage, no infra.
"$HONE" search transpose --workspace "$WS" --executor "$PLAIN" --runners 2 --budget-evaluations 4 --json >"$ROOT/search" 2>"$ROOT/said"
[ $? = 0 ] && ! grep -q '"infra"' "$ROOT/search" && grep -q '"best' "$ROOT/search"
ok $? "a search through two runners" "$(tail -n 3 "$ROOT/search" "$ROOT/said")"
finish
