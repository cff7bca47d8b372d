#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The five tasks, a search each, as one markdown table. Every figure is from the search's confirmation run.
#   tests/report/search_table.sh BUILD_DIR [SECONDS] [TASK...]
set -eu
build=$(realpath "${1:-build}")
seconds=${2:-60}
[ $# -gt 2 ] && shift 2 && tasks=$* || tasks='matmul softmax sum jacobi2d spmv_csr'
root=$(mktemp -d "${TMPDIR:-/tmp}/hone-table.XXXXXX")
"$build/hone" init "$root/ws" >/dev/null 2>&1
number() { grep -o "\"$1\":[-0-9.e+]*" "$2" | head -n 1 | cut -d: -f2; }
text() { grep -o "\"$1\":\"[^\"]*\"" "$2" | tail -n 1 | cut -d'"' -f4; }
echo "| task | baseline ms | best ms | speedup | 95 % interval | verdict | percent of bound | evaluations | stopped after s |"
echo "|---|---|---|---|---|---|---|---|---|"
: >"$root/ratios"
for task in $tasks; do
    "$build/hone" search "$task" --workspace "$root/ws" --target cpu --budget-wall "${seconds}s" --json >"$root/$task.out" 2>"$root/$task.err" || true
    tail -n 1 "$root/$task.out" >"$root/$task.json"
    j=$root/$task.json
    ci=$(grep -o '"ci":\[[^]]*\]' "$j" | cut -d: -f2 | tr -d '[]')
    awk -v t="$task" -v b="$(number baseline_ns "$j")" -v k="$(number best_ns "$j")" -v s="$(number speedup "$j")" -v ci="$ci" \
        -v v="$(text verdict "$j")" -v p="$(number percent_of_bound "$j")" -v e="$(number evaluations "$j")" -v w="$(number wall_ms "$j")" 'BEGIN {
        split(ci, c, ",")
        printf "| %s | %.3f | %.3f | %.2fx | %.2f to %.2f | %s | %.1f | %d | %.1f |\n", t, b / 1e6, k / 1e6, s, c[1], c[2], v, p, e, w / 1000 }'
    number speedup "$j" >>"$root/ratios"
done
awk '{ sum += log($1); n++ } END { printf "\ngeometric mean of the speedups: %.2fx over %d tasks\n", exp(sum / n), n }' "$root/ratios"
echo "progress and answers: $root"
