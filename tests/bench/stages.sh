#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What each stage of the ladder costs: a small and a large task, a fresh edit of the naive kernel each time, by tier.
#   tests/bench/stages.sh [BUILD_DIR] [REPEATS]
# Prints `stage_TASK_TIER_STAGE_ms median (least to most)`. To compare two versions of hone, give two build trees in turn.
set -eu
cd "$(dirname "$0")/../.."
HONE_BUILD=${1:-${HONE_BUILD:-build}}
n=${2:-9}
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1

of() { sort -n | awk -v what="$1" '{ v[NR] = $1 } END { if (NR) printf "%s %.1f (%.1f to %.1f)\n", what, v[int((NR + 1) / 2)], v[1], v[NR] }'; }

# tier TASK WORKLOAD TIER
tier() {
    i=0
    rm -f "$ROOT"/cost.*
    while [ "$i" -lt "$n" ]; do
        i=$((i + 1))
        { cat "$WS/tasks/$1/kernels/naive.c"; echo "/* $3 $i */"; } >"$ROOT/edit.c"
        printf '{"task":"%s","tier":"%s","workloads":["%s"],"detail":"full","source":%s}' "$1" "$3" "$2" "$(json_text "$ROOT/edit.c")" >"$ROOT/args.json"
        "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>/dev/null || true
        tr ',' '\n' <"$ROOT/answer" | tr -d '{}[]" ' | awk -F: -v root="$ROOT" '
            { for (i = 1; i < NF; i++) if ($i == "name") name = $(i + 1); else if ($i == "wall_ns" && name != "") {
                if (!(name in seen)) print $(i + 1) / 1e6 >>(root "/cost." name); seen[name] = 1; name = "" } }'
    done
    for file in "$ROOT"/cost.*; do [ -e "$file" ] && of "stage_$1_$3_${file##*/cost.}_ms" <"$file"; done
}
small=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$WS/tasks/softmax/workloads.jsonl" | head -n 1)
large=$(grep -v '"target": *"cuda"' "$WS/tasks/matmul/workloads.jsonl" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | tail -n 1)
for tier in screen decide confirm; do
    tier softmax "$small" $tier
    tier matmul "$large" $tier
done
