#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Edit to answer: a small kernel with a fresh edit each time, by tier and stage, through `hone call` (program start included).
#   tests/bench/turnaround.sh [BUILD_DIR] [REPEATS]
# Beside it the floor: the compiler alone on the same source, outside any jail.
set -eu
cd "$(dirname "$0")/../.."
HONE_BUILD=${1:-${HONE_BUILD:-build}}
n=${2:-7}
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1
median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
now() { date +%s%N; }
for task in softmax matmul; do
    workload=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$WS/tasks/$task/workloads.jsonl" | head -n 1)
    i=0
    while [ "$i" -lt "$n" ]; do
        i=$((i + 1))
        before=$(now)
        cc -std=gnu17 -O3 -march=native -fPIC -shared -fopenmp -o "$ROOT/floor.so" "$WS/tasks/$task/kernels/naive.c" -lm
        echo $((($(now) - before) / 1000000))
    done | median | sed "s/^/turnaround_${task}_floor_cc_ms /"
    for tier in screen decide confirm; do
        repeats=$n
        [ "$tier" = screen ] || repeats=3
        rm -f "$ROOT"/ms.*
        i=0
        while [ "$i" -lt "$repeats" ]; do
            i=$((i + 1))
            { cat "$WS/tasks/$task/kernels/naive.c"; echo "/* $tier $i */"; } >"$ROOT/edit.c"
            printf '{"task":"%s","tier":"%s","workloads":["%s"],"source":%s}' "$task" "$tier" "$workload" "$(json_text "$ROOT/edit.c")" >"$ROOT/args.json"
            before=$(now)
            "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>/dev/null || true
            echo $((($(now) - before) / 1000000)) >>"$ROOT/ms.total"
            grep -o '"name":"[a-z]*","status":"ok","wall_ns":[0-9]*' "$ROOT/answer" | tr -d '"' | tr ':,' '  ' |
                while read -r _ name _ _ _ ns; do echo $((ns / 1000000)) >>"$ROOT/ms.$name"; done
        done
        for part in total build smoke verify screen time; do
            [ -s "$ROOT/ms.$part" ] && echo "turnaround_${task}_${tier}_${part}_ms $(median <"$ROOT/ms.$part")"
        done
    done
done
