#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Do searches end within their wall budget? Twenty of them, 5 to 60 s, over two tasks from C functions
# and two shipped ones; half of them beside two busy loops.
# Each in a workspace of its own, so that nothing was learnt before. Prints a table.
# About nine minutes.  Usage: [HONE_BUILD=build] tests/bench/walls.sh
set -eu
hone=$(readlink -f "${HONE_BUILD:-build}")/hone
dir=$(mktemp -d)
loops=
stop() {
    for pid in $loops; do kill "$pid" 2>/dev/null || true; done
    loops=
}
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

cat >"$dir/atax.c" <<'END'
void atax(int m, int n, const double *A, const double *x, double *y, double *tmp)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < n; j++)
            tmp[i] = tmp[i] + A[i * n + j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i * n + j] * tmp[i];
    }
}
END
cat >"$dir/conv2d.c" <<'END'
void conv2d(int ni, int nj, const double *in, double *out)
{
    for (int i = 0; i < ni * nj; i++)
        out[i] = 0;
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            out[i * nj + j] = 0.2 * in[(i - 1) * nj + j - 1] + 0.5 * in[(i - 1) * nj + j]
                            - 0.8 * in[(i - 1) * nj + j + 1] - 0.3 * in[i * nj + j - 1]
                            + 0.6 * in[i * nj + j] - 0.9 * in[i * nj + j + 1]
                            + 0.4 * in[(i + 1) * nj + j - 1] + 0.7 * in[(i + 1) * nj + j];
}
END

make_task() { # TASK: shipped ones are there already
    case $1 in
    atax) "$hone" task new "$dir/atax.c" --shape 'A[m,n]' --shape 'x[n]' --shape 'y[n]' \
        --shape 'tmp[m]' --size m=1900,n=2100 --size m=1000,n=1000 --no-lint ;;
    conv2d) "$hone" task new "$dir/conv2d.c" --shape 'in[ni,nj]' --shape 'out[ni,nj]' \
        --size ni=1024,nj=1024 --no-lint ;;
    esac
}

one() { # MACHINE TASK SECONDS
    rm -rf "$dir/ws"
    "$hone" init "$dir/ws" >/dev/null 2>&1
    cd "$dir/ws"
    make_task "$2" >/dev/null 2>&1
    from=$(date +%s%N)
    "$hone" search "$2" --budget-wall "${3}s" >"$dir/said" 2>&1 || true
    to=$(date +%s%N)
    cd /
    said=$(sed -n -e 's/^not confirmed  *//p' -e 's/^verdict  *//p' "$dir/said" | head -1 |
        sed -e 's/; search\/.*//' -e 's/: the confirmation does not bear.*//')
    waited=$(sed -n 's/.*waited \([0-9.e+]*\) s in all for other timings.*/\1/p' "$dir/said" | head -1)
    awk -v m="$1" -v t="$2" -v a="$3" -v ns=$((to - from)) -v w="${waited:-0}" -v s="$said" \
        'BEGIN { printf "| %s | %s | %d s | %.1f s | %.1f s | %s |\n", m, t, a, ns / 1e9 - w, w, s }'
}

half() { # MACHINE
    for wall in 5 10 20 30 60; do
        case $wall in
        5 | 20) tasks="atax softmax" ;;
        10 | 60) tasks="conv2d atax" ;;
        30) tasks="sum conv2d" ;;
        esac
        for task in $tasks; do one "$1" "$task" $wall; done
    done
}

echo "| machine | task | asked | used | waited for other timings | said |"
echo "|---|---|---|---|---|---|"
half quiet
for _ in 1 2; do
    (while :; do :; done) &
    loops="$loops $!"
done
half "two busy loops"
