#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A/A: the naive kernel against itself, judged as a candidate. How often does hone say "faster" (or "slower")?
#   tests/bench/aa.sh BUILD_DIR [COMPARISONS] [TASK] [BUDGET_MS]
# Prints the counts and the upper 95 % bound of the false-win rate (rule of three when none was seen, else Wilson).
set -eu
cd "$(dirname "$0")/../.."
HONE_BUILD=${1:-${HONE_BUILD:-build}}
n=${2:-20}
task=${3:-sum}
budget=${4:-3000}
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null
faster=0 slower=0 same=0 unsure=0 other=0
i=0
while [ "$i" -lt "$n" ]; do
    i=$((i + 1))
    { cat "$WS/tasks/$task/kernels/naive.c"; echo "/* copy $i */"; } >"$ROOT/copy.c"
    printf '{"task":"%s","tier":"decide","budget_ms":%s,"source":%s}' "$task" "$budget" "$(json_text "$ROOT/copy.c")" >"$ROOT/args.json"
    "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>/dev/null || true
    case $(json_get verdict <"$ROOT/answer") in
    faster) faster=$((faster + 1)) ;;
    slower) slower=$((slower + 1)) ;;
    same) same=$((same + 1)) ;;
    inconclusive) unsure=$((unsure + 1)) ;;
    *) other=$((other + 1)); cat "$ROOT/answer" >&2 ;;
    esac
    [ -t 2 ] && printf '\r%d of %d' "$i" "$n" >&2
done
echo "aa_task $task"
echo "aa_comparisons $n"
echo "aa_faster $faster"
echo "aa_slower $slower"
echo "aa_same $same"
echo "aa_inconclusive $unsure"
echo "aa_other $other"
awk -v k="$faster" -v n="$n" 'BEGIN {
    z = 1.6449; p = k / n
    hi = k == 0 ? 3 / n : (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    printf "aa_false_faster_percent %.2f\naa_false_faster_upper95_percent %.2f\n", 100 * p, 100 * hi }'
