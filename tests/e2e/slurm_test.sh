#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search through Slurm: a controller and two nodes of its own on this machine; runners that are killed, cancelled, drained; drivers
# that are killed. Wants slurm-wlm and munge and root; skipped elsewhere.
# sanitizers: no; Slurm's own programs run here.
. "$(dirname "$0")/slurm_lib.sh"

waits 60 n_idle 2
ok $? "a cluster of two nodes" "$(sinfo; cat "$ROOT"/*.log "$ROOT/munged.err")"
"$HONE" init "$WS" >/dev/null 2>&1

"$HONE" doctor --executor slurm --workspace "$WS" >"$ROOT/said" 2>&1
grep -q '^ok .*hone-runner answers' "$ROOT/said"
ok $? "doctor tries a runner on a node" "$(cat "$ROOT/said")"

call() { # call BODY: a verification through Slurm, in the background; answer in $ROOT/answer
    rm -rf "$HONE_RUNNER_DIR/calls"/*
    printf '#include <stdint.h>\nvoid transpose(const float *A, float *B, int64_t M, int64_t N)\n{\n%s\n}\n' "$1" >"$ROOT/c.c"
    "$HONE" call kernel_verify "{\"task\":\"transpose\",\"source\":$(json_text "$ROOT/c.c")}" --workspace "$WS" --quiet \
        --executor slurm >"$ROOT/answer" 2>"$ROOT/said" &
    driver=$!
}
RIGHT='for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) B[j * M + i] = A[i * N + j];'
ends_correct() { # ends_correct NAME
    wait "$driver"
    [ "$(json_get reason <"$ROOT/answer")" = correct ]
    ok $? "$1" "$(cat "$ROOT/answer" "$ROOT/said")"
}

call "$RIGHT"
ends_correct "a verdict from a node"

call "$RIGHT /* scancel */"
waits 60 has_call && scancel --user=root --full
ends_correct "its job is cancelled: another one answers"

call "$RIGHT /* killed */"
waits 60 has_call && kill -9 $(mine hone-runner)
ends_correct "its runner is killed: another one answers"

call "$RIGHT /* drain */"
waits 60 has_call
node=$(squeue -h -t R -o %N | head -n 1)
scontrol update nodename="$node" state=drain reason=test && scancel --user=root --full
ends_correct "its node is drained: the other one answers"
scontrol update nodename="$node" state=resume

waits 90 is_empty
ok $? "nothing is left in the queue" "$(squeue)"

call "$RIGHT /* driver */"
waits 60 has_call
kill -9 "$driver"
wait "$driver" 2>/dev/null
waits 60 is_empty
ok $? "a killed driver: its allocation is given back" "$(squeue)"

waits 60 n_idle 2
"$HONE" search transpose --workspace "$WS" --executor slurm --runners 2 --budget-evaluations 4 --json >"$ROOT/search" 2>"$ROOT/said"
[ $? = 0 ] && ! grep -q '"infra"' "$ROOT/search"
ok $? "a search through two allocations" "$(tail -n 3 "$ROOT/search" "$ROOT/said")"

# A queue that never starts: the wait ends when it is told to.
scontrol update partitionname=main state=down
timeout 60 "$HONE" doctor --executor slurm --workspace "$WS" >"$ROOT/said" 2>&1
[ $? = 1 ] && grep -q '^NO  *runner  *slurm: no runner behind' "$ROOT/said"
ok $? "doctor does not wait for a place for long" "$(cat "$ROOT/said")"
waits 20 is_empty
call "$RIGHT /* never */"
sleep 3
kill -TERM "$driver"
waits 20 sh -c "! kill -0 $driver"
ok $? "a wait in the queue can be ended" "$(cat "$ROOT/said")"
waits 20 is_empty
ok $? "and leaves nothing in it" "$(squeue)"
finish
