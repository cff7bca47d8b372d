#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lint, with all its bad kernels, on every pack of tests/relatives/packs (5 to 60 s each). Exit 1: one is not admitted.
cd "$(dirname "$0")/../.." || exit 1
HONE=${HONE_BUILD:-build}/hone
WS=$(mktemp -d) || exit 1
trap 'rm -rf "$WS"' EXIT
"$HONE" init "$WS" >/dev/null || exit 1
status=0
for pack in tests/relatives/packs/*; do
    name=$(basename "$pack")
    "$HONE" task lint "./$pack" --workspace "$WS" >"$WS/said" 2>&1
    tail -n 1 "$WS/said"
    grep -q "^$name: admitted\$" "$WS/said" || status=1
done
exit $status
