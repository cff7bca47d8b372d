#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an evaluation costs on this machine, behind a command, and in a held allocation of Slurm, in turns in one run.
# CALLS=40 of each. Without Slurm (or root) its line is left out.
cd "$(dirname "$0")/../.." || exit 1
HONE=$(realpath "${HONE_BUILD:-build}/hone")
CALLS=${CALLS:-40}
RUNNER="$(dirname "$HONE")/hone-runner"
one() { python3 tests/bench/executors.py "$HONE" "$CALLS" local=local "command=command:$RUNNER --serve" "$@"; }
PATH=$PATH:/usr/sbin
if [ "$(id -u)" = 0 ] && command -v slurmctld >/dev/null && command -v munged >/dev/null; then
    E2E=tests/e2e
    . tests/e2e/slurm_lib.sh
    waits 60 n_idle 2 || exit 1
    one slurm=slurm
else
    one
fi
