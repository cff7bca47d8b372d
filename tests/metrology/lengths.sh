#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How long a verdict takes: every pack, tiers screen, decide and confirm, target cpu, through the tool as an agent calls it.
#
#   tests/metrology/lengths.sh [PACK...]     LOAD=none|all   TARGET=cpu|cuda   TIERS="screen decide confirm"
#
# The candidate is the pack's good kernel of tests/mutation/kernels where there is one, else a copy of its naive kernel. Lines
# "PACK TIER SECONDS VERDICT STAGES".
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
TARGET=${TARGET:-cpu}
suffix=c
[ "$TARGET" = cuda ] && suffix=cu
"$HONE" init "$WS" >/dev/null 2>&1
hogs=
if [ "${LOAD:-none}" = all ]; then
    for k in $(seq "$(nproc)"); do
        (while :; do :; done) &
        hogs="$hogs $!"
    done
    # shellcheck disable=SC2064 # the pids of now
    trap "kill $hogs; rm -rf '$ROOT'" EXIT
fi
[ $# -gt 0 ] || set -- $(ls workspace/packs)
for pack in "$@"; do
    file=tests/mutation/kernels/$pack.$suffix
    [ -e "$file" ] || file=workspace/packs/$pack/kernels/naive.$suffix
    for tier in ${TIERS:-screen decide confirm}; do
        { cat "$file"; echo "/* $tier */"; } >"$ROOT/k.$suffix"
        printf '{"task":"%s","target":"%s","tier":"%s","source":%s,"detail":"full"}' "$pack" "$TARGET" "$tier" \
            "$(json_text "$ROOT/k.$suffix")" >"$ROOT/args.json"
        before=$(date +%s%N)
        "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/out.json" 2>"$ROOT/err"
        took=$((($(date +%s%N) - before) / 10000000))
        stages=$(tr -d '\n' <"$ROOT/out.json" | grep -o '"name": *"[a-z_.]*", *"status": *"ok", *"wall_ns": *[0-9]*' |
            sed 's/"name": *"\([a-z_.]*\)".*: *\([0-9]*\)/\1 \2/' | awk '{ printf "%s=%.2f ", $1, $2 / 1e9 }')
        echo "$pack $tier $(awk -v t=$took 'BEGIN { print t / 100 }') $(tr -d '\n' <"$ROOT/out.json" |
            grep -o '"verdict": *"[a-z]*"' | head -n 1 | cut -d'"' -f4) $stages"
    done
done
