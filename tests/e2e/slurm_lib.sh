# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests that want Slurm: a controller, munge and two nodes on this machine, gone at exit. Wants slurm-wlm, munge
# and root; elsewhere the test is skipped. E2E: the folder of these tests, for a caller that lies elsewhere.
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
. "${E2E:-$(dirname "$0")}/lib.sh"
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
start_ctld() { slurmctld -f "$SLURM_CONF"; }
start_node() { slurmd -N "node$1" -f "$SLURM_CONF"; }
start_ctld && start_node 0 && start_node 1

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
mine() { # mine PROGRAM: processes of this cluster's jobs alone; other tests run beside
    for pid in $(pgrep -x "$1"); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "HONE_RUNNER_DIR=$ROOT/store" && echo "$pid"
    done
}
n_idle() { [ "$(sinfo -h -N -t idle | wc -l)" -ge "$1" ]; }
is_empty() { queue=$(timeout 10 squeue -h) && [ -z "$queue" ]; }
has_call() { ls "$HONE_RUNNER_DIR/calls" 2>/dev/null | grep -q .; }
