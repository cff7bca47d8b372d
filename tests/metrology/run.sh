#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How well the judge measures, on this machine, target cpu. `make metrology`; about fifteen minutes, wants a quiet machine.
#
#   aa         equal kernels, 5 us to 5 ms: how often "faster" or "slower" is said
#   planted    0.5, 1, 2, 5 % more work in one arm, both ways round: how often it is seen, how often the sign is wrong
#   disturbed  equal kernels while other programs take every core, by fits and starts, and more and more of them (drift)
#   contradictions  one version with two threads, confirmed VERSIONS times (20) with no load, one core busy, all busy, and a
#              program that writes memory without end, in turn: how many pairs of intervals exclude each other
#   rates      a copy of known bytes and a loop of known operations beside likwid-bench's own
#
#   tests/metrology/run.sh [PART...]     COMPARISONS=n (200; planted and disturbed take a quarter)   BUDGET_MS=n (1500)
#
# Every line of the result is `name value`. Last `N false winners of N comparisons of equal kernels`; exit status 1 when they are more
# than one in a hundred.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
RUNNER=$(dirname "$HONE")/hone-runner
COMPARISONS=${COMPARISONS:-200}
BUDGET_MS=${BUDGET_MS:-1500}
chmod 755 "$ROOT"
mkdir -p "$ROOT/packs" "$ROOT/cache"
cp -r workspace/packs/softmax tests/metrology/packs/* "$ROOT/packs/"
printf '%s\n' '{"id": "us5", "target": "cpu", "axes": {"M": 3, "N": 128}}' \
    '{"id": "us50", "target": "cpu", "axes": {"M": 28, "N": 128}}' \
    '{"id": "us500", "target": "cpu", "axes": {"M": 140, "N": 256}}' \
    '{"id": "us5000", "target": "cpu", "axes": {"M": 1400, "N": 256}}' >"$ROOT/packs/softmax/workloads.jsonl"
NAIVE=$ROOT/packs/softmax/kernels/naive.c
calls=0

# judge TASK WORKLOAD CANDIDATE BASELINE [THREADS]: sets word, ratio, low, high, ns
judge() {
    calls=$((calls + 1))
    call=$ROOT/call
    rm -rf "$call"
    mkdir -p "$call/open"
    { cat "$3"; echo "/* $calls */"; } >"$call/open/candidate.c"
    cp "$4" "$call/open/baseline.c"
    printf '{"format":1,"id":"m%s","target":"cpu","tier":"decide","stages":["build","smoke","time"],"task_dir":"%s","arms":[{"name":"candidate","source":"candidate.c","flags":[],"tunables":[]},{"name":"baseline","source":"baseline.c","flags":[],"tunables":[]}],"points":[],"workloads":["%s"],"n_hidden":0,"n_threads":%s,"budget_ms":%s,"timeout_ms":120000,"call_timeout_ms":20000,"memory_bytes":0,"jail":"auto","allow_weak_jail":false,"cache_dir":"%s","machine_path":"%s","is_baseline_known_good":true}\n' \
        "$calls" "$ROOT/packs/$1" "$2" "${5:-0}" "$BUDGET_MS" "$ROOT/cache" "$ROOT/machine.json" >"$call/job.json"
    "$RUNNER" "$call/job.json" >/dev/null 2>"$call/stderr"
    word=$(json_get verdict <"$call/report.json")
    figures=$(sed -n 's/.*"ratios":\[{"against":"baseline","ratio":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),.*/\1 \2 \3/p' "$call/report.json")
    ns=$(sed -n 's/.*"arm":"candidate","median_ns":\([^,]*\),.*/\1/p' "$call/report.json" | tail -n 1)
    # shellcheck disable=SC2086 # three words are meant
    set -- $figures 1 1 1
    ratio=$1 low=$2 high=$3
}

# Upper 95 % bound of a rate of K in N, in percent (Wilson; the rule of three when K is 0).
upper() {
    awk -v k="$1" -v n="$2" 'BEGIN { z = 1.6449; p = k / n
        hi = k == 0 ? 3 / n : (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
        printf "%.2f", 100 * (hi > 1 ? 1 : hi) }'
}
quantile() { # quantile Q < numbers
    sort -g | awk -v q="$1" '{ v[NR] = $1 } END { if (NR) print v[1 + int(q * (NR - 1) + 0.5)] }'
}
show() { [ -t 2 ] && printf '\r%-60s' "$*" >&2; }

# equal NAME N: N comparisons of equal kernels over the four sizes; adds to all, wins
all=0 wins=0
equal() {
    rm -f "$ROOT"/words "$ROOT"/widths "$ROOT"/ratios
    i=0
    while [ $i -lt "$2" ]; do
        for size in us5 us50 us500 us5000; do
            i=$((i + 1))
            judge softmax $size "$NAIVE" "$NAIVE"
            echo "$word" >>"$ROOT/words"
            echo "$ratio" >>"$ROOT/ratios"
            awk -v l="$low" -v h="$high" 'BEGIN { print 50 * (h - l) }' >>"$ROOT/widths"
            show "$1 $i of $2: $word"
        done
    done
    for each in faster slower same inconclusive; do
        echo "$1_$each $(grep -cx $each "$ROOT/words")"
    done
    echo "$1_other $(grep -cvxE 'faster|slower|same|inconclusive' "$ROOT/words")"
    n_faster=$(grep -cx faster "$ROOT/words")
    all=$((all + i)) wins=$((wins + n_faster))
    echo "$1_false_faster_upper95_percent $(upper "$n_faster" $i)"
    echo "$1_interval_half_width_percent_median $(quantile 0.5 <"$ROOT/widths")"
    echo "$1_ratio_central95 $(quantile 0.025 <"$ROOT/ratios") $(quantile 0.975 <"$ROOT/ratios")"
}

# The naive softmax that does PERMILLE more rows, into a row of its own first.
slowed() { # slowed PERMILLE FILE
    sed 's/void softmax(/static void plain(/' "$NAIVE" >"$2"
    cat >>"$2" <<END

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    plain(X, Y, (M * $1 + 500) / 1000, N);
    plain(X, Y, M, N);
}
END
    sed 's/static void plain/__attribute__((noinline)) static void plain/' "$2" >"$2.c"
    mv "$2.c" "$2"
}

planted() {
    slowed 0 "$ROOT/plain.c"
    for permille in 5 10 20 50; do
        slowed $permille "$ROOT/slow.c"
        seen=0 wrong=0 n=0
        while [ $n -lt $((COMPARISONS / 4)) ]; do
            judge softmax us5000 "$ROOT/slow.c" "$ROOT/plain.c"
            case $word in slower) seen=$((seen + 1)) ;; faster) wrong=$((wrong + 1)) ;; esac
            judge softmax us5000 "$ROOT/plain.c" "$ROOT/slow.c"
            case $word in faster) seen=$((seen + 1)) ;; slower) wrong=$((wrong + 1)) ;; esac
            n=$((n + 2))
            show "planted $permille: $n"
        done
        echo "planted_${permille}_permille_seen $seen of $n"
        echo "planted_${permille}_permille_wrong_sign $wrong of $n"
    done
}

# Programs that take every core: for good, by fits and starts, or more and more.
hogs() { # hogs steady|bursts|ramp: background processes, pids in $hogs
    hogs=
    cores=$(nproc)
    for k in $(seq "$cores"); do
        case $1 in
        steady) (while :; do :; done) & ;;
        bursts) (while :; do timeout 0.2 sh -c 'while :; do :; done'; sleep 0.3; done) & ;;
        ramp) (pause=50; while :; do timeout 0.05 sh -c 'while :; do :; done'; sleep 0.0$pause; [ $pause -gt 10 ] && pause=$((pause - 1)); done) & ;;
        esac
        hogs="$hogs $!"
    done
}

disturbed() {
    for kind in steady bursts ramp; do
        hogs $kind
        equal "disturbed_$kind" $((COMPARISONS / 4))
        # shellcheck disable=SC2086 # several pids
        kill $hogs
        wait 2>/dev/null
    done
}

# One confirmation of the version with its load on; adds a line "load verdict claimable low high doubt" to $ROOT/confirmed.
confirmation() { # confirmation LOAD
    calls=$((calls + 1))
    call=$ROOT/call
    rm -rf "$call"
    mkdir -p "$call/open"
    { cat tests/honest/cpu/thread_scratch.c; echo "/* $calls */"; } >"$call/open/candidate.c"
    cp workspace/packs/attention_causal/kernels/naive.c "$call/open/baseline.c"
    [ -d "$ROOT/packs/attention_causal" ] || cp -r workspace/packs/attention_causal "$ROOT/packs/"
    printf '{"format":1,"id":"m%s","target":"cpu","tier":"confirm","stages":["build","smoke","verify","time"],"task_dir":"%s","arms":[{"name":"candidate","source":"candidate.c","flags":[],"tunables":[]},{"name":"baseline","source":"baseline.c","flags":[],"tunables":[]}],"points":[],"workloads":[],"n_hidden":3,"n_threads":0,"budget_ms":%s,"timeout_ms":300000,"call_timeout_ms":20000,"memory_bytes":0,"jail":"auto","allow_weak_jail":false,"cache_dir":"%s","machine_path":"%s","is_baseline_known_good":true}\n' \
        "$calls" "$ROOT/packs/attention_causal" "${CONFIRM_MS:-8000}" "$ROOT/cache" "$ROOT/machine.json" >"$call/job.json"
    "$RUNNER" "$call/job.json" >/dev/null 2>"$call/stderr"
    [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp "$call/report.json" "$KEEP/$calls-$1.json"; }
    word=$(json_get reason <"$call/report.json")
    # the last ratios of the report are those of the whole
    figures=$(grep -o '"ratios":\[{"against":"baseline","ratio":[^}]*' "$call/report.json" | tail -n 1 |
        sed 's/.*"low":\([^,]*\),"high":\([^,]*\),.*/\1 \2/')
    claimable=no
    [ "$word" = faster ] && ! grep -q '"doubts":' "$call/report.json" && claimable=yes
    took=$(sed -n 's/.*"wall_ns":\([0-9]*\)}*$/\1/p' "$call/report.json")
    echo "$1 $word $claimable ${figures:-0 0} $((${took:-0} / 1000000))" >>"$ROOT/confirmed"
}

contradictions() {
    rm -f "$ROOT/confirmed"
    n=0
    while [ $n -lt "${VERSIONS:-20}" ]; do
        for load in none one all memory; do
            hogs=
            case $load in
            one) (while :; do :; done) & hogs=$! ;;
            all) hogs steady ;;
            memory) (while :; do head -c 400M /dev/zero | tail -c 300M >/dev/null; done) & hogs=$! ;;
            esac
            confirmation $load
            # shellcheck disable=SC2086 # several pids
            [ -z "$hogs" ] || { kill $hogs; wait 2>/dev/null; }
            n=$((n + 1))
            show "contradictions: $n, $load: $(tail -n 1 "$ROOT/confirmed")"
            [ $n -lt "${VERSIONS:-20}" ] || break
        done
    done
    sed 's/^/contradictions_run /' "$ROOT/confirmed"
    awk '{ n++; word[n] = $2; ok[n] = $3 == "yes"; low[n] = $4; high[n] = $5 }
        END { for (i = 1; i <= n; i++) { claim += ok[i]; open += word[i] != "faster"
                for (k = i + 1; k <= n; k++) { pairs++; apart = high[i] < low[k] || high[k] < low[i]
                    excluded += apart; both += apart && ok[i] && ok[k] } }
            print "contradictions_pairs_excluding " excluded + 0 " of " pairs
            print "contradictions_pairs_excluding_both_claimable " both + 0 " of " pairs
            print "contradictions_claimable " claim + 0 " of " n
            print "contradictions_not_faster " open + 0 " of " n }' "$ROOT/confirmed"
}

# rate NAME TASK WORKLOAD FACTOR LIKWID_TEST LIKWID_SIZE LIKWID_FIELD LIKWID_FACTOR: ours in FACTOR per ns beside likwid's, taken in turn
rate() {
    rm -f "$ROOT"/ours "$ROOT"/theirs "$ROOT"/quotients
    for i in 1 2 3 4 5 6 7; do
        judge "$2" "$3" "$ROOT/packs/$2/kernels/naive.c" "$ROOT/packs/$2/kernels/naive.c" 1
        ours=$(awk -v f="$4" -v ns="$ns" 'BEGIN { print f / ns }')
        theirs=$(likwid-bench -t "$5" -w "N:$6:1" 2>/dev/null | awk -v f="$8" -v field="$7" '$1 == field { print $2 * f }')
        echo "$ours" >>"$ROOT/ours"
        echo "$theirs" >>"$ROOT/theirs"
        awk -v a="$ours" -v b="$theirs" 'BEGIN { print a / b }' >>"$ROOT/quotients"
        show "$1 $i of 7"
    done
    echo "$1_ours $(quantile 0.5 <"$ROOT/ours")"
    echo "$1_likwid $(quantile 0.5 <"$ROOT/theirs")"
    echo "$1_ours_by_likwid $(quantile 0.5 <"$ROOT/quotients") ($(quantile 0 <"$ROOT/quotients") to $(quantile 1 <"$ROOT/quotients"))"
}

rates() {
    command -v likwid-bench >/dev/null || { echo "rates skipped: no likwid-bench (apt-get install likwid)"; return; }
    rate copy_gbytes_per_s copy n16m $((8 * 16777216)) copy_avx 134217728B MByte/s: 0.001
    rate fma_gflops fma n1920k2000 $((2 * 1920 * 2000)) peakflops_sp_avx_fma 20kB MFlops/s: 0.001
}

aa() { equal aa "$COMPARISONS"; }

for part in ${*:-aa planted disturbed contradictions rates}; do
    case $part in aa | planted | disturbed | contradictions | rates) $part ;; *) echo "no part '$part'"; exit 2 ;; esac
done
echo "$wins false winners of $all comparisons of equal kernels"
[ $((100 * wins)) -le "$all" ]
