#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports stand alone: every shipped pack, a winner with tunables, a function with its own parameters; outside of hone, with gcc and clang.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null
OUT=$ROOT/out

take() { # take REV [OPTION...]: into a fresh folder
    rm -rf "$OUT"
    "$HONE" export "$@" --workspace "$WS" -o "$OUT" >"$ROOT/said" 2>&1
}
line() { sed -n '1s,^/\* ,,p' "$OUT/$1"; } # the command in a file's first line
alone() { # alone NAME COMPILER: in a folder that has NAME.c only, then its test
    rm -rf "$ROOT/alone"
    mkdir "$ROOT/alone"
    cp "$OUT/$1.c" "$ROOT/alone"
    (
        cd "$ROOT/alone" || exit 1
        sh -c "$(line "$1.c" | sed "s/^[a-z]*/$2/") -Wall -Wextra -Werror" || exit 1
        cp "$OUT/$1.h" "$OUT/$1_test.c" .
        # clang's OpenMP library may be missing: gcc links, as the object asks for no more than libgomp gives
        sh -c "$(line "$1_test.c")" || exit 1
        "./$1_test"
    ) >"$ROOT/outside" 2>&1
}

for pack in many_tensors solve_lower added_mask diffusion pitched_scale stored_weights; do
    cp -r "tests/judge/packs/$pack" "$WS/tasks/"
done
git -C "$WS" add -A && git -C "$WS" -c user.name=t -c user.email=t@localhost commit -qm "packs of the newer members of the format"

for dir in workspace/packs/* "$WS"/tasks/*; do
    pack=$(basename "$dir")
    [ -f "$dir/kernels/naive.c" ] || continue
    take "$pack" && grep -q '^test  *passed' "$ROOT/said"
    ok $? "$pack: exported, compiled and tried" "$(cat "$ROOT/said")"
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        alone "$pack" $compiler && grep -q ': 0 of [1-9]' "$ROOT/outside"
        ok $? "$pack: stands alone with $compiler" "$(cat "$ROOT/outside")"
    done
    ! grep -q 'hone/\|pragma hone' "$OUT/$pack.c"
    ok $? "$pack: needs nothing of hone" "$(grep 'hone/\|pragma hone' "$OUT/$pack.c")"
done

# The program sees a wrong kernel, where it lands and outside.
take matmul
sed -i 's/+=/-=/' "$OUT/matmul.c"
alone matmul gcc
[ $? = 1 ] && grep -q 'expected' "$ROOT/outside" && ! grep -q ': 0 of' "$ROOT/outside"
ok $? "the test finds a wrong kernel" "$(cat "$ROOT/outside")"
cat >"$ROOT/wrong.c" <<'EOF'
#include <stdint.h>
void transpose(const float *A, float *B, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M * N; i++)
        B[i] = A[i];
}
EOF
"$HONE" call kernel_compile "{\"task\":\"transpose\",\"source\":$(json_text "$ROOT/wrong.c")}" --workspace "$WS" --quiet >"$ROOT/built" 2>&1
take "$(json_get commit <"$ROOT/built")"
[ $? = 1 ] && grep -q '^test  *failed' "$ROOT/said" && [ -f "$OUT/transpose.c" ]
ok $? "a version that is wrong is said to be, and exits 1" "$(cat "$ROOT/said" "$ROOT/built")"

# A version with tunables and options: the values that were measured.
cat >"$ROOT/tuned.c" <<'EOF'
#include <stdint.h>
#pragma hone tune(BLOCK: 4, 8)
float piece(const float *at, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += at[i];
    return sum;
}
void sum(const float *X, float *S, int64_t N)
{
    double total = 0;
    for (int64_t i = 0; i < N; i += BLOCK)
        total += piece(X + i, N - i < BLOCK ? N - i : BLOCK);
    S[0] = (float)total;
}
EOF
"$HONE" call kernel_verify "{\"task\":\"sum\",\"source\":$(json_text "$ROOT/tuned.c"),\"tunables\":{\"BLOCK\":8},\"flags\":[\"-funroll-loops\"]}" \
    --workspace "$WS" --quiet >"$ROOT/built" 2>&1
take "$(json_get commit <"$ROOT/built")" && grep -q '^#define BLOCK (8)$' "$OUT/sum.c" && line sum.c | grep -q -- '-funroll-loops -c sum.c$' &&
    grep -q '^static float piece' "$OUT/sum.c" && alone sum gcc
ok $? "tunables and options are those that were measured" "$(cat "$ROOT/said" "$ROOT/outside"; head -20 "$OUT/sum.c")"

# What gcc is told in the source clang is told by the note, and neither warns.
cat >"$ROOT/fast.c" <<'EOF'
#include <stdint.h>
#pragma GCC optimize("fast-math")
#pragma GCC optimize("unroll-loops", "O3")
void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    for (int64_t i = 0; i < H * W; i++)
        U[i] = U0[i];
}
EOF
"$HONE" call kernel_compile "{\"task\":\"jacobi2d\",\"source\":$(json_text "$ROOT/fast.c")}" --workspace "$WS" --quiet >"$ROOT/built" 2>&1
take "$(json_get commit <"$ROOT/built")" --no-test
grep -q ' \* note .*add -ffast-math -funroll-loops -O3 to its compile line$' "$OUT/jacobi2d.c"
ok $? "options in the source are told to clang" "$(cat "$ROOT/said" "$ROOT/built"; head -30 "$OUT/jacobi2d.c")"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    (cd "$OUT" && sh -c "$(line jacobi2d.c | sed "s/^[a-z]*/$compiler/") -Wall -Wextra -Werror") >"$ROOT/outside" 2>&1
    ok $? "unused sizes and options of gcc: no warning by $compiler" "$(cat "$ROOT/outside")"
done

# A search that found nothing.
take search/rmsnorm
[ $? != 0 ] && grep -q "nothing beat the baseline of 'rmsnorm'.*hone export rmsnorm. gives the baseline" "$ROOT/said"
ok $? "a search that found nothing says so, and what to export" "$(cat "$ROOT/said")"
take search/of_no_task
[ $? != 0 ] && grep -q "found nothing faster than the baseline, or there is none of that name" "$ROOT/said"
ok $? "one of another name too" "$(cat "$ROOT/said")"

# What is tried is tried in the jail: the same file leaves a trace outside of it.
cat >"$ROOT/escape.c" <<EOF
#include <stdint.h>
#include <stdio.h>
void transpose(const float *A, float *B, int64_t M, int64_t N)
{
    FILE *file = fopen("$ROOT/escaped", "w");
    if (file)
        fclose(file);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            B[j * M + i] = A[i * N + j];
}
EOF
"$HONE" call kernel_compile "{\"task\":\"transpose\",\"source\":$(json_text "$ROOT/escape.c")}" --workspace "$WS" --quiet >"$ROOT/built" 2>&1
take "$(json_get commit <"$ROOT/built")" && [ ! -e "$ROOT/escaped" ] && alone transpose gcc && [ -e "$ROOT/escaped" ]
ok $? "an export is tried in the jail" "$(cat "$ROOT/said" "$ROOT/built" "$ROOT/outside")"

# A user's function: its own name and parameters, and a patch that applies to the user's own file.
cat >"$ROOT/blur.c" <<'EOF'
#include <stdlib.h>

double blur(int n, float *out, const float *in, float weight)
{
    double total = 0;
    for (int i = 0; i < n; i++) {
        out[i] = weight * in[i];
        total += out[i];
    }
    return total / n;
}
EOF
(cd "$WS" && "$HONE" task new "$ROOT/blur.c" --shape 'in[n]' --shape 'out[n]' --size n=100000) >"$ROOT/said" 2>&1
take blur && grep -q '^double blur(int n, float \*out, const float \*in, float weight);' "$OUT/blur.h" && grep -q '^test  *passed' "$ROOT/said" && alone blur gcc
ok $? "a function of one's own keeps its name and parameters" "$(cat "$ROOT/said" "$ROOT/outside")"
printf '#include "blur.h"\nint main(void) { float a[3] = {1, 2, 3}, b[3]; return blur(3, b, a, 2.0f) != 4; }\n' >"$OUT/mine.c"
(cd "$OUT" && gcc -c blur.c && gcc -o mine mine.c blur.o -fopenmp -lm && ./mine) >"$ROOT/outside" 2>&1
ok $? "and is called as before" "$(cat "$ROOT/outside")"
take blur --as diff
cp "$ROOT/blur.c" "$OUT/blur.c"
(cd "$OUT" && git apply --unsafe-paths blur.patch 2>&1 || patch -p1 <blur.patch) >"$ROOT/outside" 2>&1
(cd "$OUT" && sh -c "$(line blur.c)" && sh -c "$(line blur_test.c)" && ./blur_test) >>"$ROOT/outside" 2>&1
ok $? "the patch applies to one's own file, and that passes" "$(cat "$ROOT/said" "$ROOT/outside")"

# Types that the user's file names stand in the header by C's own words: a caller needs no typedef.
printf 'typedef int idx;\ntypedef float real;\nvoid twice(idx n, real *y, const real *x)\n{\n    for (idx i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n' >"$ROOT/twice.c"
"$HONE" task new "$ROOT/twice.c" --workspace "$WS" --no-lint >"$ROOT/said" 2>&1
take twice && grep -q '^void twice(int n, float \*y, const float \*x);' "$OUT/twice.h" && grep -q '^test  *passed' "$ROOT/said"
ok $? "a typedef in the parameters keeps them" "$(cat "$ROOT/said" "$OUT/twice.h")"

# What is read and written stays one array, a size that the function does not get is found.
cat >"$ROOT/push.c" <<'EOF'
int push(const int *start, double *x, int n, const double *v)
{
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            x[i] += v[k];
    return n;
}
EOF
"$HONE" task new "$ROOT/push.c" --workspace "$WS" --no-lint >"$ROOT/said" 2>&1
take push && grep -q '^int32_t push(const int \*start, double \*x, int n, const double \*v);' "$OUT/push.h" && grep -q '^test  *passed' "$ROOT/said" &&
    ! grep -q 'malloc\|memcpy' "$OUT/push.c" && grep -q 'in place, without a copy: x' "$ROOT/said"
ok $? "an array that is read and written stays one, without a copy" "$(cat "$ROOT/said")"
printf '#include "push.h"\nint main(void) { int s[3] = {0, 1, 3}; double x[2] = {10, 20}, v[3] = {1, 2, 3}; push(s, x, 2, v); return x[0] != 11 || x[1] != 25; }\n' >"$OUT/mine.c"
(cd "$OUT" && gcc -c push.c && gcc -o mine mine.c push.o -fopenmp -lm && ./mine) >"$ROOT/outside" 2>&1
ok $? "and is called as before" "$(cat "$ROOT/outside")"

sed 's/^ *memcpy(x, x_in.*/&\n    x[0] = x_in[0];/' "$WS/tasks/push/kernels/naive.c" >"$ROOT/kept.c"
"$HONE" call kernel_compile "{\"task\":\"push\",\"source\":$(json_text "$ROOT/kept.c")}" --workspace "$WS" --quiet >"$ROOT/built" 2>&1
take "$(json_get commit <"$ROOT/built")" && grep -q '^test  *passed' "$ROOT/said" && grep -q 'malloc' "$OUT/push.c" && grep -q '^ \* note .*x is copied first (.*8 bytes a call)' "$OUT/push.c" &&
    grep -q '^note  *x is copied first' "$ROOT/said"
ok $? "a copy that the version needs stays, and is said" "$(cat "$ROOT/said" "$ROOT/built")"

# Nothing is overwritten, unless that is asked for.
take blur
echo mine >"$OUT/blur.c"
"$HONE" export blur --workspace "$WS" -o "$OUT" >"$ROOT/said" 2>&1
[ $? = 13 ] && [ "$(cat "$OUT/blur.c")" = mine ] && grep -q -- --force "$ROOT/said"
ok $? "a file that is there stays" "$(cat "$ROOT/said")"
"$HONE" export blur --workspace "$WS" -o "$OUT" --force --no-test >"$ROOT/said" 2>&1 && [ "$(head -c 2 "$OUT/blur.c")" = '/*' ]
ok $? "--force overwrites it" "$(cat "$ROOT/said")"
take nothing
[ $? = 3 ]
ok $? "what is no version is refused" "$(cat "$ROOT/said")"
finish
