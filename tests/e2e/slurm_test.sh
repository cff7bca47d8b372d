#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search through Slurm: a controller and two nodes of its own on this machine; runners that are killed, cancelled, drained; drivers
# that are killed. Wants slurm-wlm and munge and root; skipped elsewhere.
# sanitizers: no; Slurm's own programs run here.
for program in slurmctld slurmd srun munged; do
    command -v $program >/dev/null || PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
        echo "1..0 # SKIP no $program: apt-get install slurm-wlm munge"
        exit 77
    }
done
[ "$(id -u)" = 0 ] || {
    echo "1..0 # SKIP slurmd wants root"
    exit 77
}
PATH=$PATH:/usr/sbin
. "$(dirname "$0")/lib.sh"
export HONE_RUNNER_DIR="$ROOT/store" SLURM_CONF="$ROOT/slurm.conf"
port=$((20000 + $$ % 20000))

stop_slurm() {
    for file in "$ROOT"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null; done
    pkill -9 -f "slurmstepd.*$ROOT" 2>/dev/null
    rm -rf "$ROOT"
}
trap stop_slurm EXIT

mkdir -m 700 "$ROOT/munge"
head -c 1024 /dev/urandom >"$ROOT/munge/key"
chmod 400 "$ROOT/munge/key"
chmod 755 "$ROOT"
cat >"$SLURM_CONF" <<EOF
ClusterName=hone
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$ROOT/munge/socket
CredType=cred/munge
StateSaveLocation=$ROOT/state
SlurmdSpoolDir=$ROOT/spool-%n
SlurmctldPidFile=$ROOT/ctld.pid
SlurmdPidFile=$ROOT/slurmd-%n.pid
SlurmctldLogFile=$ROOT/ctld.log
SlurmdLogFile=$ROOT/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=node0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 RealMemory=500
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 RealMemory=500
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
munged --force --key-file="$ROOT/munge/key" --socket="$ROOT/munge/socket" --pid-file="$ROOT/munged.pid" \
    --log-file="$ROOT/munge/log" --seed-file="$ROOT/munge/seed" 2>"$ROOT/munged.err"
slurmctld -f "$SLURM_CONF" && slurmd -N node0 -f "$SLURM_CONF" && slurmd -N node1 -f "$SLURM_CONF"

waits() { # waits SECONDS COMMAND...: until it holds
    n=$(($1 * 10))
    shift
    while [ "$n" -gt 0 ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
        n=$((n - 1))
    done
    return 1
}
n_idle() { [ "$(sinfo -h -N -t idle | wc -l)" -ge "$1" ]; }
is_empty() { queue=$(timeout 10 squeue -h) && [ -z "$queue" ]; }
has_call() { ls "$HONE_RUNNER_DIR/calls" 2>/dev/null | grep -q .; }

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
waits 60 has_call && scancel --name=hone --full
ends_correct "its job is cancelled: another one answers"

call "$RIGHT /* killed */"
waits 60 has_call && pkill -9 -f 'hone-runner --serve'
ends_correct "its runner is killed: another one answers"

call "$RIGHT /* drain */"
waits 60 has_call
node=$(squeue -h -t R -o %N | head -n 1)
scontrol update nodename="$node" state=drain reason=test && scancel --name=hone --full
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
call "$RIGHT /* never */"
sleep 3
kill -TERM "$driver"
waits 20 sh -c "! kill -0 $driver"
ok $? "a wait in the queue can be ended" "$(cat "$ROOT/said")"
waits 20 is_empty
ok $? "and leaves nothing in it" "$(squeue)"
finish
