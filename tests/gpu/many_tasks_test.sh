#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One process that judges twenty CUDA tasks whose tensors are 2 to 8 GB, on the device that is there: a verification of each, then
# two rounds of single calls. Nothing ends for want of memory; the most that the device ever held is printed, and how much stays.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
if [ -z "${HONE_CUDA_LIB:-}" ] && [ ! -e /dev/nvidiactl ]; then
    echo "1..0 # SKIP no GPU"
    exit 77
fi
chmod 755 "$ROOT"
TASKS=${TASKS:-20}
"$HONE" init "$WS" >"$ROOT/init" 2>&1 || cat "$ROOT/init"
sh tests/gpu/many_tasks.sh "$WS/tasks" "$TASKS" 1073741824 \
    "${SIZES:-250000000 1000000000 500000000 750000000 312500000 875000000 437500000}"
call() { # call TOOL TASK
    printf '%s {"task":"%s","target":"cuda","source":%s}\n' "$1" "$2" "$(json_text "$WS/tasks/$2/kernels/naive.cu")"
}
for tool in kernel_verify kernel_run kernel_run; do
    for t in "$WS"/tasks/held*; do
        call $tool "$(basename "$t")"
    done
done >"$ROOT/calls"
used() {
    nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | head -n 1
}
before=$(used)
while sleep 1; do used; done >"$ROOT/used" 2>/dev/null &
sampler=$!
"$HONE" call - --workspace "$WS" --quiet <"$ROOT/calls" >"$ROOT/answers" 2>"$ROOT/stderr"
kill "$sampler" 2>/dev/null
n=$(grep -c '"verdict":"correct"\|"verdict":"built"' "$ROOT/answers")
[ "$n" = $((3 * TASKS)) ]
ok $? "$TASKS tasks verified and called twice in one process" \
    "$n of $((3 * TASKS)): $(grep -v '"verdict":"correct"\|"verdict":"built"' "$ROOT/answers" | grep -o '"summary":"[^"]*"' | sort | uniq -c | head -n 5) $(tail -n 3 "$ROOT/stderr")"
echo "# MiB used on the device: before ${before:-?}, most $(sort -n "$ROOT/used" | tail -n 1), last $(tail -n 1 "$ROOT/used")"
cut -c1-60 "$ROOT/answers" | awk -F'[:,]' '{ s[$2] += $4; n[$2]++ } END { for (i in s) printf "# %s: %d calls, %.1f s\n", i, n[i], s[i] / 1000 }'
finish
