#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the built-in rules make of C kernels that a stranger could have written: one search each,
# rules only, and a table of speedups against the kernel as it stands.
#
# usage: tests/bench/generality.sh [EVALUATIONS] [NAME...]   HONE_BUILD=build
set -u
cd "$(dirname "$0")/../.." || exit 1
HONE=${HONE_BUILD:-build}/hone
N=${1:-12}
[ $# -gt 0 ] && shift
WS=$(mktemp -d) || exit 1
trap 'rm -rf "$WS"' EXIT
"$HONE" init "$WS" >/dev/null || exit 1
[ $# -gt 0 ] || set -- $(ls tests/relatives/cpu | sed 's/\.c$//')
printf '%-12s %10s  %s\n' kernel speedup verdict
for name; do
    options=$(sed -n 's|^/\* new: \(.*\) \*/$|\1|p' "tests/relatives/cpu/$name.c")
    # shellcheck disable=SC2086
    if ! "$HONE" task new "tests/relatives/cpu/$name.c" $options --no-lint --workspace "$WS" >"$WS/said" 2>&1; then
        printf '%-12s %10s  %s\n' "$name" - "no task: $(tail -1 "$WS/said")"
        continue
    fi
    "$HONE" search "$name" --workspace "$WS" --budget-evaluations "$N" >"$WS/said" 2>&1
    printf '%-12s %10s  %s\n' "$name" "$(sed -n 's/^speedup *\([^ ]*\).*/\1/p' "$WS/said")" \
        "$(sed -n 's/^verdict *//p' "$WS/said")"
done
