#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CUDA tasks whose kernels are not written as the shipped packs' are: rules alone find a version that is at least twice as fast, confirmed.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
HONE=$BUILD/hone
command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU || { echo "1..0 # SKIP no GPU"; exit 77; }
ROOT=$(mktemp -d "${TMPDIR:-/tmp}/hone-relatives.XXXXXX") || exit 1
trap 'rm -rf "$ROOT"' EXIT
chmod 755 "$ROOT"
"$HONE" init "$ROOT/ws" >"$ROOT/init" 2>&1 || cat "$ROOT/init"
n=0 failed=0
for pack in ${ONLY:-product_nt turn_batch gate row_norm}; do
    cp -r "tests/relatives/$pack" "$ROOT/ws/tasks/"
    "$HONE" search "$pack" --workspace "$ROOT/ws" --target cuda --budget-wall "${WALL:-120s}" --json >"$ROOT/out" 2>"$ROOT/err"
    n=$((n + 1))
    line=$(tail -n 1 "$ROOT/out" | sed 's/.*"summary":"\([^"]*\)".*/\1/')
    ratio=$(tail -n 1 "$ROOT/out" | sed -n 's/.*"speedup":\([0-9.]*\).*/\1/p')
    if awk "BEGIN { exit !(${ratio:-0} >= 2) }"; then
        echo "ok $n - $line"
    else
        echo "not ok $n - $pack: $line"
        tail -n 3 "$ROOT/err" | sed 's/^/# /'
        failed=1
    fi
    "$HONE" report "$pack" --workspace "$ROOT/ws" 2>/dev/null | head -n "${LINES_OF_REPORT:-40}" | sed 's/^/# /'
done
echo "1..$n"
exit $failed
