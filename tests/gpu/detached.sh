#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GPU runs that take longer than one sitting on a machine that is lent by the minute: they go on in the background, and
# looks bring back what there is.
#
#   tests/gpu/detached.sh start FOLDER    begins PARTS (selftest selftest selftest check lattices), one after the other
#   tests/gpu/detached.sh look FOLDER     says how far they are; FOLDER/detached.tar.gz holds what they wrote
#
#   GPU=folder of make gpu-bundle (build-gpu)   WORK=where results stay (/tmp/hone-detached)   TEMPLATES=of lattices (all)
# selftest: the judge's self-test on the device. check: make check-gpu without the self-test. lattices: counters of every
# state of the CUDA lattices (copies of agents/offline/lattices; nothing below data is touched).
set -u
cd "$(dirname "$0")/../.." || exit 1
GPU=$(realpath "${GPU:-build-gpu}") WORK=${WORK:-/tmp/hone-detached}
PARTS=${PARTS:-selftest selftest selftest check lattices}

run_part() { # run_part WORD LOG
    case $1 in
    selftest) TARGET=cuda HONE_BUILD=$GPU/bin sh tests/judge/selftest.sh >"$2" 2>&1 ;;
    check)
        RUN_TIMEOUT=280 RUN_JOBS=1 HONE_BUILD=$GPU/bin tests/run "$GPU"/tests/gpu/*_test \
            $(ls tests/gpu/*_test.sh | grep -v judge_test) >"$2" 2>&1
        ;;
    lattices)
        "$GPU/bin/hone" init "$WORK/ws" >"$2" 2>&1
        mkdir -p "$WORK/lattices"
        cp agents/offline/lattices/*.cuda.json "$WORK/lattices/"
        for template in ${TEMPLATES:-tests/lattices/*.cu}; do
            "$GPU/bin/hone" planner record --workspace "$WORK/ws" --lattices "$WORK/lattices" --profile --workloads 1 \
                --rounds 3 --top 48 --template "$template" >>"$2" 2>&1
        done
        ;;
    *) echo "no part '$1'" >"$2" ;;
    esac
}

case ${1:-} in
start)
    mkdir -p "$WORK"
    setsid "$0" run "${2:-}" >"$WORK/log" 2>&1 </dev/null &
    echo "started: $PARTS"
    ;;
run)
    i=0
    for part in $PARTS; do
        i=$((i + 1))
        echo "$(date -u +%H:%M:%S) $part"
        run_part "$part" "$WORK/$i.$part"
        echo "$(date -u +%H:%M:%S) $part ended: $(tail -n 1 "$WORK/$i.$part")"
    done
    echo all ended
    ;;
look)
    cat "$WORK/log"
    for log in "$WORK"/[0-9]*.*; do
        echo "== $log"
        grep -E 'missed|accused|^FAIL|^  \| not ok|skipped$' "$log" | tail -n 15
        tail -n 2 "$log"
    done
    mkdir -p "${2:?a folder}" && tar -C "$WORK" --exclude ws -czf "$2/detached.tar.gz" .
    ;;
*)
    sed -n '2,12p' "$0"
    exit 2
    ;;
esac
