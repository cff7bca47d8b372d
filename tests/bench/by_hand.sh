#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the optimiser exported against what a performance engineer would write: the same kernels by
# hand and with OpenBLAS (tests/bench/by_hand/NAME.c), all in turns in one run.
#
# usage: tests/bench/by_hand.sh EXPORTS [NAME...]       BLAS="FLAGS" to link another one
# EXPORTS/NAME/NAME.c defines the function NAME; its first line is the compile command it wants.
# tests/bench/generality.sh writes such a folder.
#
# The table: the naive kernel's microseconds (gcc -O3 -march=native), the speedups over it, and the
# exported version's speed against the faster of by hand and BLAS. `-`: there is none. `wrong`: the
# outputs differ from the naive kernel's. `unbuilt`: the compiler refused it. `crashed`: a version
# did, or a file is missing.
#
# Needs gcc, python3 and OpenBLAS: apt-get install libopenblas-dev libopenblas-openmp-dev
# The OpenMP build of OpenBLAS is taken where there is one: it shares its threads with the other
# versions. The threads of the usual build wait busily beside them, on the same cores.
# All 25 kernels take about a minute. Nothing else may run on the machine: where threads wait for
# one another, a busy core makes a version ten times slower, and not all of them alike.
set -u
if [ ! -d "${1:-}" ]; then
    echo "usage: $0 EXPORTS [NAME...]" >&2
    exit 2
fi
EXPORTS=$(realpath "$1")
shift
cd "$(dirname "$0")/../.." || exit 1
LIBRARY=/usr/lib/$(gcc -print-multiarch)/openblas-openmp
if [ -z "${BLAS:-}" ]; then
    BLAS=-lopenblas
    [ ! -e "$LIBRARY/libopenblas.so" ] || BLAS="-L$LIBRARY -Wl,-rpath,$LIBRARY -lopenblas"
fi
export BLAS
echo '#include <cblas.h>' | gcc -E - >/dev/null 2>&1 || {
    echo "$0: no cblas.h: apt-get install libopenblas-dev libopenblas-openmp-dev" >&2
    exit 1
}
[ $# -gt 0 ] || set -- tests/bench/by_hand/*.c
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
awk '$1 > 0.5 { print "the load is " $1 ": others run here, and no figure below is to be kept" }' \
    /proc/loadavg >&2
printf '%-12s %10s %9s %9s %9s %9s\n' kernel 'naive us' exported 'by hand' BLAS 'of best'
for name; do
    name=$(basename "$name" .c)
    PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/bench/by_hand.py \
        "$EXPORTS" "$name" "$WORK" >"$WORK/row" 2>"$WORK/said" ||
        printf '%-12s crashed: %s\n' "$name" "$(tail -n 1 "$WORK/said")" >"$WORK/row"
    tee -a "$WORK/rows" <"$WORK/row"
done
awk '
    $6 ~ /^[0-9.]+$/ {
        n++; sum += log($6); good += $6 >= 0.7
        if ($5 ~ /x$/) { m++; blas += log($6) }
    }
    END {
        if (n) printf "exported against the best: geometric mean %.3f over %d of %d kernels, " \
            "%d of %d at 0.7 or above\n", exp(sum / n), n, NR, good, n
        if (m) printf "where BLAS has it: geometric mean %.3f over %d kernels\n", exp(blas / m), m
        if (n < NR) printf "%d without a figure\n", NR - n
    }' "$WORK/rows"
