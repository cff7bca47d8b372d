#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What kernel_profile says of tasks that a user's functions became: where operations are from, what its time is of.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
chmod 755 "$ROOT"
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1

cat >"$ROOT/told.c" <<'EOF'
void blur(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = 0.5f * x[i] * x[i] + 0.25f * x[i] + 0.125f;
}
EOF
cat >"$ROOT/untold.c" <<'EOF'
void steps(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i++) {
        float s = x[i];
        while (s > 1.0f)
            s *= 0.5f;
        y[i] = s;
    }
}
EOF
profile() { # profile TASK MORE
    "$HONE" call kernel_profile '{"task":"'"$1"'","commit":"baseline","n_threads":1'"$2"'}' --workspace "$WS" --quiet
}
new() { # new FILE OPTION...: without its lint
    file=$1
    shift
    "$HONE" task new "$ROOT/$file" --no-lint --workspace "$WS" "$@" >"$ROOT/new" 2>&1 || cat "$ROOT/new"
}
new told.c --size n=20000 --size n=3000
new untold.c --size n=20000
said=$(profile blur "")
echo "$said" | grep -q '"summary":"[^"]*; call_ns is of size1 alone, fastest of [0-9]* rounds of [0-9]* calls on one set of inputs; an evaluation.s times: medians'
ok $? "it says what its time is of" "$said"
echo "$said" | grep -q '% of arithmetic counted from loops, ' && echo "$said" | grep -q '"percent_of_flops","value":[0-9.e-]*,"unit":"%, counted from loops"'
ok $? "operations of the task's own loops are told as such" "$said"
said=$(profile steps "")
echo "$said" | grep -q 'operations guessed' && ! echo "$said" | grep -q '% of arithmetic\|percent_of_flops'
ok $? "a guess gives no share of arithmetic" "$said"
said=$("$HONE" call strategy_propose '{"task":"steps"}' --workspace "$WS" --quiet)
echo "$said" | grep -q working_set_bytes && ! echo "$said" | grep -q flops_per_byte
ok $? "nor operations a byte" "$said"
finish
