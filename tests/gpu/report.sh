#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Figures from a GPU, in parts that can be run one by one and that go on where they stopped: a part whose file is there
# already is left alone. Each part stays under nine minutes.
#   tests/gpu/report.sh OUT [PART...]
# Every part writes OUT/PART.txt (rows "name value") and keeps what it ran beside it.
set -u
cd "$(dirname "$0")/../.."
out=$(mkdir -p "$1" && realpath "$1")
shift
HONE=$(realpath "${HONE_BUILD:-build-gpu/bin}/hone")
work=${HONE_REPORT_WORK:-$(mktemp -d "${TMPDIR:-/tmp}/hone-gpu-report.XXXXXX")}
ws=$work/ws
[ -d "$ws" ] || "$HONE" init "$ws" >/dev/null 2>&1
cp -r tests/gpu/packs/* "$ws/tasks/" 2>/dev/null

json_text() {
    awk 'BEGIN { ORS = ""; print "\"" }
         { gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); print $0 "\\n" }
         END { print "\"" }' "$@"
}
calls() { "$HONE" call - --workspace "$ws" 2>>"$out/$part.err"; } # lines on stdin, answers on stdout
text() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4; }
number() { grep -o "\"$1\":[-0-9.e+]*" | head -n 1 | cut -d: -f2; }
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
naive() { cat "$ws/tasks/$1/kernels/naive.cu"; }

part_machine() {
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm --format=csv,noheader 2>/dev/null
    "$HONE" --version
    "$HONE" doctor --workspace "$ws" 2>&1
}

# Edit to answer, warm: one process, a fresh edit each time; split by stage.
part_turnaround() {
    for task in matmul softmax; do
        workload=$(sed -n '/"cuda"/s/.*"id": *"\([^"]*\)".*/\1/p' "$ws/tasks/$task/workloads.jsonl" | head -n 1)
        for tier in screen decide confirm; do
            n=9
            [ "$tier" = screen ] || n=3
            for i in $(seq "$n"); do
                { naive "$task"; echo "/* $tier $i */"; echo "__device__ int hone_edit_$i() { return $i; }"; } >"$work/edit.cu"
                echo "kernel_evaluate {\"task\":\"$task\",\"target\":\"cuda\",\"tier\":\"$tier\",\"workloads\":[\"$workload\"],\"detail\":\"full\",\"source\":$(json_text "$work/edit.cu")}"
            done | calls >"$out/turnaround_${task}_$tier.jsonl"
            tail -n +2 "$out/turnaround_${task}_$tier.jsonl" | while read -r line; do echo "$line" | number wall_ms; done | median | sed "s/^/turnaround_${task}_${tier}_ms /"
            head -n 1 "$out/turnaround_${task}_$tier.jsonl" | number wall_ms | sed "s/^/turnaround_${task}_${tier}_first_ms /"
            tail -n +2 "$out/turnaround_${task}_$tier.jsonl" | grep -o '"name":"[a-z_.]*","status":"ok","wall_ns":[0-9]*' | tr -d '"' | tr ':,' '  ' |
                awk '{ v[$2] = v[$2] " " $6 / 1e6 } END { for (k in v) { n = split(v[k], a, " "); m = 0; for (i = 1; i <= n; i++) m += a[i] / n; print k "_mean_ms", m } }' 2>/dev/null |
                sed "s/^/turnaround_${task}_${tier}_stage_/"
            tail -n 1 "$out/turnaround_${task}_$tier.jsonl" | text verdict | sed "s/^/turnaround_${task}_${tier}_verdict /"
        done
    done
}

# The same edit through torch's load_inline.
part_load_inline() {
    python3 tests/yardsticks/load_inline.py 2>>"$out/load_inline.err"
}

# Settings screened per hour with compiling overlapped.
part_sweep() {
    { echo '#pragma hone tune(BLOCK: 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 448, 512, 768, 1024) tune(EDIT: 1, 2, 3, 4, 5, 6)'
      naive softmax | sed 's/threads = [0-9]*/threads = BLOCK + 0 * EDIT/'; } >"$work/sweep.cu"
    cp "$work/sweep.cu" "$out/sweep.cu"
    before=$(date +%s%N)
    echo "kernel_tune {\"task\":\"softmax\",\"target\":\"cuda\",\"detail\":\"full\",\"source\":$(json_text "$work/sweep.cu")}" | calls >"$out/sweep.jsonl"
    wall=$((($(date +%s%N) - before) / 1000000))
    n=$(grep -o '"median_ns"' "$out/sweep.jsonl" | wc -l)
    echo "sweep_points $n"
    echo "sweep_wall_ms $wall"
    awk -v n="$n" -v w="$wall" 'BEGIN { if (w > 0) printf "sweep_screens_per_hour %.0f\n", 3.6e6 * n / w }'
    text summary <"$out/sweep.jsonl" | sed 's/^/# /'
}

# verdicts of n evaluations of a changed copy of steady: aa N SECONDS WORKLOAD SED
copies() {
    for i in $(seq "$1"); do
        { naive steady | sed "$4"; echo "/* copy $i $4 */"; } >"$work/copy.cu"
        echo "kernel_evaluate {\"task\":\"steady\",\"target\":\"cuda\",\"tier\":\"decide\",\"budget_ms\":$2,\"workloads\":[\"$3\"],\"source\":$(json_text "$work/copy.cu")}"
    done | calls
}
figures() { # NAME FILE
    for word in faster slower same inconclusive; do
        echo "$1_$word $(grep -o '"verdict":"[a-z]*"' "$2" | grep -c "\"$word\"")"
    done
    echo "$1_n $(wc -l <"$2")"
    grep -o '"candidate_ns":[0-9.e+]*' "$2" | cut -d: -f2 | sort -g |
        awk -v name="$1" '{ v[NR] = $1 } END { if (NR) printf "%s_median_us %.4f\n%s_spread_percent %.3f\n", name, v[int((NR + 1) / 2)] / 1000, name, 100 * (v[int(NR * 0.975)] - v[int(NR * 0.025) + 1]) / v[int((NR + 1) / 2)] }'
}
part_aa() { # AA_N in all, over four lengths
    n=$((${AA_N:-1000} / 4))
    : >"$out/aa_all.jsonl"
    for workload in us5 us50 us500 us5000; do
        copies "$n" "${AA_BUDGET_MS:-120}" "$workload" '' >"$out/aa_$workload.jsonl"
        figures "aa_$workload" "$out/aa_$workload.jsonl"
        cat "$out/aa_$workload.jsonl" >>"$out/aa_all.jsonl"
    done
    figures aa_all "$out/aa_all.jsonl" | grep -v -e _us -e _percent
    awk -v k="$(grep -c '"verdict":"faster"' "$out/aa_all.jsonl")" -v n="$(wc -l <"$out/aa_all.jsonl")" 'BEGIN {
        z = 1.6449; p = k / n
        hi = k == 0 ? 3 / n : (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
        printf "aa_false_faster_percent %.3f\naa_false_faster_upper95_percent %.3f\n", 100 * p, 100 * hi }'
}
part_planted() { # a slow-down of 2 % that is there
    for workload in us50 us500 us5000; do
        copies "${PLANTED_N:-40}" "${AA_BUDGET_MS:-120}" "$workload" 's/(int)R)/(int)(R + R \/ 50))/' >"$out/planted_$workload.jsonl"
        figures "planted_$workload" "$out/planted_$workload.jsonl"
    done
}

part_search() { # TASKS, SECONDS each
    for task in ${TASKS:-matmul softmax sum jacobi2d spmv_csr matmul_bf16 rmsnorm transpose attention_causal}; do
        [ -s "$out/search_$task.json" ] && continue
        : >"$out/search_$task.start"
        "$HONE" search "$task" --workspace "$ws" --target cuda --budget-wall "${SECONDS_EACH:-60}s" --name "$task-cuda" --json >"$out/search_$task.out" 2>"$out/search_$task.err"
        tail -n 1 "$out/search_$task.out" >"$out/search_$task.json"
        find "$ws/.hone/calls" -name report.json -newer "$out/search_$task.start" -exec grep -h '"tier":"confirm"' {} + >"$out/search_$task.confirm.jsonl" 2>/dev/null
        "$HONE" log --workspace "$ws" >"$out/search_$task.log" 2>/dev/null
        git -C "$ws" show "search/$task-cuda:kernel.cu" >"$out/search_$task.best.cu" 2>/dev/null
        awk -v t="$task" -v b="$(number baseline_ns <"$out/search_$task.json")" -v k="$(number best_ns <"$out/search_$task.json")" -v s="$(number speedup <"$out/search_$task.json")" \
            -v v="$(text verdict <"$out/search_$task.json")" -v p="$(number percent_of_bound <"$out/search_$task.json")" -v e="$(number evaluations <"$out/search_$task.json")" \
            'BEGIN { printf "search_%s baseline_us %.2f best_us %.2f speedup %.2f verdict %s percent_of_bound %.1f evaluations %d\n", t, b / 1000, k / 1000, s, v, p, e }'
    done
}

part_yardsticks() {
    tests/yardsticks/run.sh "$out/yardsticks" 2>>"$out/yardsticks.err"
    cat "$out"/yardsticks/*.jsonl
}

[ $# -gt 0 ] || set -- machine turnaround load_inline sweep planted search aa yardsticks
for part in "$@"; do
    [ -s "$out/$part.txt" ] && { echo "== $part: done before"; continue; }
    echo "== $part"
    started=$(date +%s)
    "part_$part" >"$out/$part.txt.new" && mv "$out/$part.txt.new" "$out/$part.txt"
    cat "$out/$part.txt" 2>/dev/null || cat "$out/$part.txt.new"
    echo "   ($(($(date +%s) - started)) s)"
done
