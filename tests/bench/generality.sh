#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the built-in rules make of C kernels that a stranger could have written: one search each,
# rules only, and a table of speedups against the kernel as it stands.
#
# usage: tests/bench/generality.sh [BUDGET] [NAME...]   HONE_BUILD=build  EXPORTS=DIR
# BUDGET: a number of evaluations (12), or a time with its unit (60s).
# EXPORTS: what each search found comes out as a file, DIR/NAME/NAME.c.
set -u
cd "$(dirname "$0")/../.." || exit 1
HONE=${HONE_BUILD:-build}/hone
BUDGET=${1:-12}
case $BUDGET in *[a-z]) BUDGET="--budget-wall $BUDGET" ;; *) BUDGET="--budget-evaluations $BUDGET" ;; esac
[ $# -gt 0 ] && shift
WS=$(mktemp -d) || exit 1
trap 'rm -rf "$WS"' EXIT
"$HONE" init "$WS" >/dev/null || exit 1
[ $# -gt 0 ] || set -- $(ls tests/relatives/cpu | sed 's/\.c$//')
printf '%-12s %10s  %s\n' kernel speedup verdict
for name; do
    # hone finds out by itself what is an index
    options=$(sed -n 's|^/\* new: \(.*\) \*/$|\1|p' "tests/relatives/cpu/$name.c" | sed 's/--index [a-z]*//g')
    # shellcheck disable=SC2086
    if ! "$HONE" task new "tests/relatives/cpu/$name.c" $options --workspace "$WS" >"$WS/said" 2>&1; then
        printf '%-12s %10s  %s\n' "$name" - "no task: $(tail -1 "$WS/said")"
        continue
    fi
    # shellcheck disable=SC2086
    "$HONE" search "$name" --workspace "$WS" $BUDGET >"$WS/said" 2>&1 || {
        printf '%-12s %10s  %s\n' "$name" - "no search: $(tail -n 1 "$WS/said")"
        continue
    }
    [ -z "${EXPORTS:-}" ] ||
        "$HONE" export "search/$name" --workspace "$WS" -o "$EXPORTS/$name" --no-test >"$WS/exported" 2>&1 ||
        sed 's/^/no export: /' "$WS/exported"
    printf '%-12s %10s  %s\n' "$name" "$(sed -n 's/^speedup *\([^ ]*\).*/\1/p' "$WS/said")" \
        "$(sed -n 's/^\(verdict\|not confirmed\|no gain\) *\(.*\)/\1: \2/p' "$WS/said" | head -n 1), $(sed -n \
        's/.*\(best about [^ ]*\).*/\1/p' "$WS/said" | tail -n 1), $(sed -n 's/^evaluations *\([0-9]*\).*/\1 evaluations/p' "$WS/said")"
done
