#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One size alone: kernel_verify and kernel_run take axes, so that a failing case can be reproduced;
# what is found there is no version. Needs the jail and a compiler.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null 2>&1

cat >"$ROOT/tail.c" <<'C'
#include <math.h>
#include <stdint.h>
void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float s = 0;
        for (int64_t i = 0; i < N; i++)
            s += X[m * N + i] * X[m * N + i];
        float r = 1.0f / sqrtf(s / (float)N + eps);
        for (int64_t i = 0; i + 8 <= N; i += 8)
            for (int k = 0; k < 8; k++)
                Y[m * N + i + k] = X[m * N + i + k] * G[i + k] * r;
    }
}
C
sed 's/i + 8 <= N; i += 8/i < N; i++/; s/k < 8/k < 1/' "$ROOT/tail.c" >"$ROOT/right.c"

call() { # call TOOL FILE MORE
    "$HONE" call --quiet --workspace "$WS" "$1" "{\"task\":\"rmsnorm\",\"source\":$(json_text "$2")$3}" 2>&1
}

out=$(call kernel_verify "$ROOT/tail.c" ',"axes":{"M":5,"N":7}')
case $out in *'"verdict":"incorrect"'*'at asked: M=5 N=7'*) bad=0 ;; *) bad=1 ;; esac
ok $bad "a failing case is reproduced by its axes, and named" "$out"

out=$(call kernel_verify "$ROOT/right.c" ',"axes":{"M":2,"N":3}')
case $out in *'"verdict":"correct"'*) bad=0 ;; *) bad=1 ;; esac
case $out in *'"commit"'*) bad=1 ;; esac
ok $bad "a right source is right there, and becomes no version" "$out"

# Calls on another size over the same buffers are named by that size.
out=$(call kernel_verify "$ROOT/tail.c" ',"axes":{"M":5,"N":16}')
said=$(echo "$out" | sed -n 's/.*of \([0-9]*\) elements) at asked: M=\([0-9]*\) N=\([0-9]*\)".*/\1 \2 \3/p')
bad=0
if [ -n "$said" ]; then
    set -- $said
    [ "$1" = $(($2 * $3)) ] || bad=1
fi
ok $bad "the size that is named is the size that failed" "$out"

out=$(call kernel_run "$ROOT/right.c" ',"axes":{"M":2,"N":3}')
case $out in *'Y: 6 elements'*) bad=0 ;; *) bad=1 ;; esac
ok $bad "kernel_run takes them too" "$out"

bad=0
for more in ',"axes":{"M":2}' ',"axes":{"M":2,"N":0}' ',"axes":{"M":2,"N":3,"K":4}' ',"axes":{"M":2,"N":"x"}' \
    ',"axes":{"M":2,"N":3},"workloads":["r1024x768"]' ',"axes":[]'; do
    out=$(call kernel_verify "$ROOT/right.c" "$more")
    case $out in *'"status":"error"'*'"summary":"axes'*) ;; *) bad=1 && break ;; esac
done
ok $bad "bad axes are refused by name" "$more: $out"

out=$("$HONE" call --workspace "$WS" history_show)
case $out in *'"summary":"0 versions"'*) bad=0 ;; *) bad=1 ;; esac
ok $bad "nothing of it is in the history" "$out"
sed 's/Y\[m \* N + i + k\] = /&X[m * N + i + k] > 1e6f ? 1.0f : /' "$ROOT/right.c" >"$ROOT/capped.c"
out=$(call kernel_verify "$ROOT/capped.c" '')
kind=$(echo "$out" | sed -n 's/.*content \([a-z_]*\) at .*/\1/p')
case $out in *'"verdict":"incorrect"'*"; ${kind:-none}: "*) bad=0 ;; *) bad=1 ;; esac
ok $bad "a failing content is named with what it looks like" "$out"

finish
