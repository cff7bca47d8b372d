#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compressed night: a search of thousands of evaluations on a tiny task, through the real judge, with a model that is a shell
# script and answers something else each time: good kernels whose machine code differs, broken, wrong, slow, crashing and empty ones.
# Watched from outside all the while: memory, descriptors, disk, evaluations a second. At the end everything must be as it should:
# memory flat, disk within its cap, speed kept, ledger and history whole, every evaluation in the report.
#
#   EVALUATIONS=3000 HONE_BUILD=build tests/night/run.sh [hone search options...]
#
# Needs hone and hone-runner with their data beside them, sh, gcc, grep, awk and the like; git for fsck, if it is there.
#   EVALUATIONS  how many (3000)              SAMPLE_S     seconds between samples (10; 2 below 500 evaluations)
#   POLICY       of the planner (random)      DISK_MIB     cap on .hone (2048)
#   SEED         of the planner (1)           WALL         cap on time (8h)
#   COST         cap in USD (1000)            TOKENS       cap on tokens (200000000)
#   KEEP         folder that is kept: workspace, samples.tsv, progress, model.sh; none: a temporary one that is removed. One that is
#                there already is gone on with: where a command may run for ten minutes only, say WALL=9m KEEP=folder again and again
#   RSS_KIB_PER_1000  most that hone itself may grow, in KiB per 1000 evaluations (32768: the tree of versions is in memory)
#   SLOWDOWN     most that an evaluation may take in the last third, over the first (1.5)
# Prints `name value` lines, `# ` lines for people, what failed, and last `night: ok` or `night: N failures`.
set -u
HONE=${HONE:-${HONE_BUILD:-build}/hone}
HONE=$(realpath "$HONE") || exit 2
EVALUATIONS=${EVALUATIONS:-3000}
POLICY=${POLICY:-random}
SEED=${SEED:-1}
DISK_MIB=${DISK_MIB:-2048}
WALL=${WALL:-8h}
COST=${COST:-1000}
TOKENS=${TOKENS:-200000000}
RSS_KIB_PER_1000=${RSS_KIB_PER_1000:-32768}
SLOWDOWN=${SLOWDOWN:-1.5}
if [ "$EVALUATIONS" -lt 500 ]; then SAMPLE_S=${SAMPLE_S:-2}; else SAMPLE_S=${SAMPLE_S:-10}; fi
if [ -n "${KEEP:-}" ]; then
    ROOT=$KEEP
    mkdir -p "$ROOT" || exit 2
    ROOT=$(realpath "$ROOT")
else
    ROOT=$(mktemp -d "${TMPDIR:-/tmp}/hone-night.XXXXXX") || exit 2
fi
WS=$ROOT/ws
search=
leave() {
    [ -n "$search" ] && kill "$search" 2>/dev/null && wait "$search" 2>/dev/null
    [ -n "${KEEP:-}" ] || rm -rf "$ROOT"
}
trap leave EXIT
trap 'exit 130' INT TERM
failures=0
must() { # must WHAT CONDITION... : the condition holds, or it is a failure
    what=$1
    shift
    "$@" >/dev/null 2>&1 && return
    failures=$((failures + 1))
    echo "FAIL $what"
}
value() { eval "$1=\$2"; echo "$1 $2"; } # a figure: printed, and a variable
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }
records() { cat "$WS"/.hone/ledger/*.jsonl | grep "\"type\":\"$1\""; }

# ---- the task: softmax of some tens of microseconds ----
make_workspace() {
    "$HONE" init --nested "$WS" >/dev/null 2>&1 || exit 2
    echo '{"id": "tiny", "target": "cpu", "axes": {"M": 40, "N": 257}}' >"$WS/tasks/softmax/workloads.jsonl"
    sed -i -e '/"M":/s/"cpu": *\[[0-9]*, *[0-9]*\]/"cpu": [1, 80]/' -e '/"N":/s/"cpu": *\[[0-9]*, *[0-9]*\]/"cpu": [1, 300]/' "$WS/tasks/softmax/task.json"
}
round=1
before=0 # seconds of earlier rounds
if [ -e "$WS/.hone" ]; then
    round=$(($(tail -n 1 "$ROOT/samples.tsv" | cut -f9) + 1))
    before=$(tail -n 1 "$ROOT/samples.tsv" | cut -f1)
else
    make_workspace
fi

# ---- the model ----
cat >"$ROOT/model.sh" <<'SCRIPT'
# plays a model; which answer depends on how often it was asked before
root=$1
n=0
[ -f "$root/asked" ] && read -r n <"$root/asked"
n=$((n + 1))
echo "$n" >"$root/asked"
cat >/dev/null
row='        float top = X[m * N];
        for (int64_t i = 1; i < N; i++)
            if (X[m * N + i] > top)
                top = X[m * N + i];'
sum='        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += expf(X[m * N + i] - top);'
out='        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(X[m * N + i] - top) / sum;'
more=
case $((n % 23)) in
3) out="$out; oops" ;;                                                    # does not compile
7) out=$(echo "$out" | sed 's,/ sum,/ (sum * 1.01f),') ;;                 # wrong
11) sum="        float sum = 0.0f;
        for (int k = 0; k < $((20 + n % 7)); k++) {
            volatile float keep = 0.0f;
            for (int64_t i = 0; i < N; i++)
                keep += expf(X[m * N + i] - top);
        }
$(echo "$sum" | tail -n +2)" ;;                                           # slow
13) exit 0 ;;                                                             # empty
15) echo 'I would rather not.'; exit 0 ;;                                 # no edit
17) out="$out
        if (m == M - 1) *(volatile int *)(intptr_t)$((n % 100)) = 1;" ;;  # crashes
19) echo 'nothing to see here' >&2; exit 3 ;;                             # fails
4 | 12 | 20) sum='        float part[4] = {0};
        int64_t last = 0;
        for (; last + 4 <= N; last += 4)
            for (int64_t k = 0; k < 4; k++)
                part[k] += expf(X[m * N + last + k] - top);
        float sum = part[0] + part[1] + part[2] + part[3];
        for (; last < N; last++)
            sum += expf(X[m * N + last] - top);' ;;
5 | 14 | 21) sum='        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++) {
            Y[m * N + i] = expf(X[m * N + i] - top);
            sum += Y[m * N + i];
        }'
    out='        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] /= sum;' ;;
6 | 22) more='#pragma hone tune(STEP: 2, 1, 4)
'
    sum='        float sum = 0.0f;
        for (int64_t b = 0; b < N; b += STEP)
            for (int64_t i = b; i < N && i < b + STEP; i++)
                sum += expf(X[m * N + i] - top);' ;;
esac
cat <<END
Answer $n.
@@FILE
#include <math.h>
#include <stdint.h>
$more
/* Another function each time, so that no two answers are the same machine code. */
int64_t helper_$n(int64_t x)
{
    return x * $((2 * n + 1)) + $((n * 7919 % 65521));
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
$row
$sum
$out
    }
}
@@END
END
SCRIPT
XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
mkdir -p "$ROOT/config/hone"
printf '{"models":[{"name":"script","provider":"command","tries":1,"price_in":3,"price_out":15,"command":["/bin/sh","%s/model.sh","%s"]}]}\n' \
    "$ROOT" "$ROOT" >"$ROOT/config/hone/config.json"
chmod 600 "$ROOT/config/hone/config.json"

# ---- the search, and samples of it ----
sample() { # seconds, KiB of hone, KiB of all that it started, processes, descriptors, KiB of .hone, KiB of .git, evaluations, round
    cat /proc/[0-9]*/status 2>/dev/null | awk -v top="$search" -v s="$(($(date +%s) - began + before))" '
        /^Pid:/ { pid = $2 } /^PPid:/ { parent[pid] = $2 } /^VmRSS:/ { rss[pid] = $2 }
        END {
            for (p in parent) {
                for (q = p; q != "" && q != 0 && q != top; q = parent[q]);
                if (q == top && p != top) { kids += rss[p]; n++ }
            }
            printf "%d\t%d\t%d\t%d", s, rss[top], kids, n
        }'
    # a workspace that is written all the time loses files under du: that is not its fault
    printf '\t%s\t%s\t%s\t%s\t%s\n' "$(ls "/proc/$search/fd" 2>/dev/null | wc -l)" "$(du -sk "$WS/.hone" 2>/dev/null | cut -f1)" \
        "$(du -sk "$WS/.git" 2>/dev/null | cut -f1)" "$(records evaluation.end 2>/dev/null | wc -l)" "$round"
}
echo "# round $round, to $EVALUATIONS evaluations, policy $POLICY, seed $SEED, in $ROOT; $(uname -sr), $(nproc 2>/dev/null || echo '?') cores"
began=$(date +%s)
: >"$ROOT/progress"
"$HONE" search softmax --workspace "$WS" --policy "$POLICY" --seed "$SEED" --coder llm --model script --repairs 1 --no-plateau --stop-at 100 \
    --budget-evaluations "$EVALUATIONS" --budget-disk "$DISK_MIB" --budget-wall "$WALL" --budget-cost "$COST" --budget-tokens "$TOKENS" --json "$@" >"$ROOT/result.json" 2>"$ROOT/progress" &
search=$!
while kill -0 "$search" 2>/dev/null; do
    sample >>"$ROOT/samples.tsv"
    # short naps, so that the end is not waited for
    i=0
    while [ $i -lt "$SAMPLE_S" ] && kill -0 "$search" 2>/dev/null; do
        sleep 1
        i=$((i + 1))
    done
done
wait "$search"
status=$?
search=
value wall_s "$(($(date +%s) - began))"
value search_exit_status "$status"
must "the search ended by itself: $(tail -n 3 "$ROOT/progress")" [ "$status" -eq 0 ]

# ---- what it says ----
word() { grep -o "\"$1\":\"[^\"]*\"" "$ROOT/result.json" | head -n 1 | cut -d'"' -f4; }
figure() { grep -o "\"$1\":[0-9.e+-]*" "$ROOT/result.json" | head -n 1 | cut -d: -f2; }
value evaluations "$(figure evaluations)" # of this round
value why_stopped "$(word why_stopped)"
value speedup "$(figure speedup)"
grep -o '"verdict":"[a-z]*","n":[0-9]*' "$ROOT/result.json" | tr -d '"' | tr ':,' '  ' | while read -r _ verdict _ n; do echo "verdict_$verdict $n"; done
case $why_stopped in
budget_evaluations | tree_full | budget_wall) ;;
*) must "it stopped at a cap or its tree was full, not: $why_stopped" false ;;
esac
value tokens "$(figure tokens)"
value cost_usd "$(figure cost)"
must "evaluations stay within their cap ($evaluations)" at_most "$evaluations" "$EVALUATIONS"
must "tokens stay within their cap ($tokens)" at_most "$tokens" "$TOKENS"
must "money stays within its cap ($cost_usd)" at_most "$cost_usd" "$COST"
asked=0
[ -f "$ROOT/asked" ] && read -r asked <"$ROOT/asked"
value model_asked "$asked"

# ---- memory, speed ----
# A line by least squares through (evaluations, KiB), medians of thirds; the first sample is a process that still starts.
figures=$(awk -F'\t' '
    function median(v, a, b,    i, j, n, t, w) {
        n = 0
        for (i = a; i <= b; i++) w[++n] = v[i]
        for (i = 2; i <= n; i++) for (j = i; j > 1 && w[j - 1] > w[j]; j--) { t = w[j]; w[j] = w[j - 1]; w[j - 1] = t }
        return n ? w[int((n + 1) / 2)] : 0
    }
    function per(a, b) { return b > 0 ? a / b : 0 }
    $9 != round { round = $9; new = NR } # a process that still starts
    NR > new + 1 && $2 > 0 && $8 > 0 { n++; t[n] = $1; rss[n] = $2; kids[n] = $3; procs[n] = $4; fds[n] = $5; hone[n] = $6; git[n] = $7; x[n] = $8; of[n] = $9 }
    END {
        for (i = 1; i <= n; i++) { sx += x[i]; sy += rss[i]; sxx += x[i] * x[i]; sxy += x[i] * rss[i]; if (rss[i] > most) most = rss[i]; if (kids[i] > kmost) kmost = kids[i] }
        third = int(n / 3)
        d = n * sxx - sx * sx
        printf "samples %d\n", n
        printf "rss_slope_kib_per_1000 %.0f\n", 1000 * per(n * sxy - sx * sy, d)
        printf "rss_kib_first_third %d\nrss_kib_last_third %d\nrss_kib_most %d\n", median(rss, 1, third), median(rss, n - third + 1, n), most
        printf "children_rss_kib_first_third %d\nchildren_rss_kib_last_third %d\nchildren_rss_kib_most %d\n", median(kids, 1, third), median(kids, n - third + 1, n), kmost
        printf "processes_first_third %d\nprocesses_last_third %d\n", median(procs, 1, third), median(procs, n - third + 1, n)
        printf "descriptors_first_third %d\ndescriptors_last_third %d\n", median(fds, 1, third), median(fds, n - third + 1, n)
        # an evaluation, from sample to sample of a round; medians, as a confirmation or somebody else may come between
        for (i = 2; i <= n; i++) if (of[i] == of[i - 1] && x[i] > x[i - 1]) {
            ms = 1000 * (t[i] - t[i - 1]) / (x[i] - x[i - 1])
            if (x[i] <= x[n] / 3) a[++na] = ms
            if (x[i - 1] >= 2 * x[n] / 3) b[++nb] = ms
        }
        first = median(a, 1, na)
        last = median(b, 1, nb)
        printf "evaluation_ms_first_third %.0f\nevaluation_ms_last_third %.0f\n", first, last
        printf "slowdown %.3f\nevaluations_per_s %.3f\n", per(last, first), per(x[n], t[n])
        printf "hone_kib_per_evaluation %.1f\ngit_kib_per_evaluation %.1f\n", per(hone[n] - hone[1], x[n] - x[1]), per(git[n] - git[1], x[n] - x[1])
    }' "$ROOT/samples.tsv")
echo "$figures"
get() { echo "$figures" | awk -v k="$1" '$1 == k { print $2 }'; }
if [ "$(get samples)" -ge 9 ]; then
    must "the runner's memory is flat" at_most "$(get children_rss_kib_last_third)" "$(($(get children_rss_kib_first_third) * 3 / 2 + 65536))"
    must "no descriptor is left open" at_most "$(get descriptors_last_third)" "$(($(get descriptors_first_third) + 4))"
    must "no process is left over" at_most "$(get processes_last_third)" "$(($(get processes_first_third) + 8))"
fi
if [ "$(get samples)" -ge 9 ] && [ "$(records evaluation.end | wc -l)" -ge 500 ]; then
    must "hone's memory is flat: at most $RSS_KIB_PER_1000 KiB more per 1000 evaluations" at_most "$(get rss_slope_kib_per_1000)" "$RSS_KIB_PER_1000"
    must "an evaluation takes no longer at the end: at most $SLOWDOWN times" at_most "$(get slowdown)" "$SLOWDOWN"
else
    echo "# slopes are judged from 500 evaluations on"
fi

# ---- disk ----
value hone_mib "$(($(du -sk "$WS/.hone" | cut -f1) / 1024))"
value git_mib "$(($(du -sk "$WS/.git" | cut -f1) / 1024))"
must "disk stays within its cap of $DISK_MIB MiB" [ "$hone_mib" -le "$DISK_MIB" ]
value call_folders "$(ls "$WS/.hone/calls" | wc -l)"

# ---- ledger, history, report ----
# sums of the records are checked by hone as it reads them; here: numbers without a gap, every line whole
bad=$(cat "$WS"/.hone/ledger/*.jsonl | awk '{ ok = match($0, /^\{"n":[0-9]+,/) && /\}$/; n = substr($0, 6) + 0; if (!ok || n != NR) bad++ } END { print bad + 0 }')
value ledger_records "$(cat "$WS"/.hone/ledger/*.jsonl | wc -l)"
value ledger_mib "$(($(du -sk "$WS/.hone/ledger" | cut -f1) / 1024))"
must "every ledger record is there and whole ($bad are not)" [ "$bad" -eq 0 ]
started=$(records evaluation.start | wc -l)
ended=$(records evaluation.end | wc -l)
must "every evaluation that began has an end ($started, $ended)" [ "$started" -eq "$ended" ]
made=$(records evaluation.end | grep -c '"version":{')
refs=$({ find "$WS/.git/refs/hone/v" -type f | sed 's,.*/,,'; grep -o ' refs/hone/v/.*' "$WS/.git/packed-refs" 2>/dev/null | sed 's,.*/,,'; } | sort -u | wc -l)
value versions "$made"
value commits "$refs"
must "as many commits as evaluated versions ($refs, $made)" [ "$refs" -eq "$made" ]
if git --version >/dev/null 2>&1; then
    fsck=$(git -C "$WS" fsck --full --no-dangling 2>&1)
    must "git fsck is clean: $(echo "$fsck" | head -n 3)" [ $? -eq 0 -a -z "$(echo "$fsck" | grep -vE '^(notice|Checking|dangling)')" ]
    value git_versions "$(git -C "$WS" for-each-ref refs/hone/v | wc -l)"
else
    echo "# git is not here: fsck is skipped"
fi
"$HONE" report softmax --workspace "$WS" >"$ROOT/report.md" 2>"$ROOT/report.err"
must "hone report: $(head -n 2 "$ROOT/report.err")" [ $? -eq 0 -a ! -s "$ROOT/report.err" ]
"$HONE" report softmax --workspace "$WS" --json >"$ROOT/report.json" 2>/dev/null
must "hone report --json" [ $? -eq 0 ]
must "the report has a head and tables" grep -qE '^(#|\|)' "$ROOT/report.md"
if command -v python3 >/dev/null; then
    must "the report is JSON" python3 -m json.tool "$ROOT/report.json"
elif command -v jq >/dev/null; then
    must "the report is JSON" jq . "$ROOT/report.json"
else # hone reads it as arguments: it may refuse what is in it, not how it is written
    "$HONE" call --workspace "$WS" task_show "@$ROOT/report.json" >"$ROOT/parsed" 2>&1
    must "the report is JSON" grep -q '"status":"error"' "$ROOT/parsed"
fi
# every evaluation that the search made is a step of its report, or a try of one
records evaluation.end | grep -o '"evaluation":"[^"]*"' | sort -u >"$ROOT/ids.ledger"
grep -o '"evaluation":"[^"]*"' "$ROOT/report.json" | sort -u >"$ROOT/ids.report"
spent=$(grep -o '"spent":{[^}]*}' "$ROOT/report.json" | grep -o '"evaluations":[0-9]*' | cut -d: -f2)
must "the search counts its evaluations right ($ended in the ledger, $spent in the report)" [ "$ended" -eq "$spent" ]
missing=$(comm -23 "$ROOT/ids.ledger" "$ROOT/ids.report" | wc -l)
value report_evaluations "$(wc -l <"$ROOT/ids.report")"
must "every evaluation is in the report ($missing are missing)" [ "$missing" -eq 0 ]
listed=$("$HONE" log --workspace "$WS" --all 2>/dev/null | wc -l)
must "hone log can be read" [ "$listed" -gt 0 ]

if [ "$failures" -eq 0 ]; then
    echo "night: ok"
else
    echo "night: $failures failures"
    exit 1
fi
