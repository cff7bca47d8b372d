#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions as people have them become tasks that the lint admits, with nothing said but their file; what cannot be says what to do.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null

new() { # new NAME [OPTION...]: from $ROOT/NAME.c
    name=$1
    shift
    "$HONE" task new "$ROOT/$name.c" "$@" --workspace "$WS" >"$ROOT/said" 2>&1
}
admitted() { # admitted NAME TEXT [OPTION...]: what it says has TEXT
    name=$1 text=$2
    shift 2
    new "$name" "$@" && grep -q "^$name: admitted" "$ROOT/said" && grep -q -- "$text" "$ROOT/said"
    ok $? "$name: admitted" "$(cat "$ROOT/said")"
}
refused() { # refused NAME TEXT [OPTION...]: leaves nothing
    name=$1 text=$2
    shift 2
    new "$name" "$@"
    [ $? = 2 ] && grep -q -- "$text" "$ROOT/said" && [ ! -e "$WS/tasks/$name" ]
    ok $? "$name: refused, $text" "$(cat "$ROOT/said")"
}

# an output that keeps some of its old content: found by running it, a pointer that is stepped
cat >"$ROOT/pack.c" <<'EOF'
#include <stddef.h>
size_t pack(const float *x, float *out, size_t n)
{
    float *start = out;
    while (n--) {
        if (*x > 0)
            *out++ = *x;
        x++;
    }
    return out - start;
}
EOF
admitted pack "'out' is not written everywhere: it starts as the input 'out_in'"

# a pivot can be what rounding left of zero, so that a right kernel with other rounding gives another matrix: both are held
# against how far the answer moves, and one that is wrong by little is still found
cp "$(dirname "$0")/../relatives/cpu/lu.c" "$ROOT/lu.c"
admitted lu '"perturbed" in task.json), to 1e-11' --shape 'A[N,N]' --inout A --size N=200
by_rows() { # by_rows FACTOR: the last sum of a row is that much too large
    printf '%s' "#include <string.h>
#include <stdint.h>
void lu(const double *A_in, double *A, int64_t n)
{
    memcpy(A, A_in, (size_t)(n * n) * sizeof(*A));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) {
            double f = A[i * n + k] /= A[k * n + k];
            for (int64_t j = k + 1; j < n; j++)
                A[i * n + j] -= f * A[k * n + j];
        }
        A[i * n + n - 1] *= $1;
    }
}
" >"$ROOT/by_rows.c"
    printf '{"task":"lu","source":%s}' "$(json_text "$ROOT/by_rows.c")" >"$ROOT/by_rows.json"
    "$HONE" call kernel_verify "@$ROOT/by_rows.json" --workspace "$WS" --quiet >"$ROOT/said" 2>&1
    json_get verdict <"$ROOT/said"
}
[ "$(by_rows 1.0)" = correct ]
ok $? "another order of the same sums is right" "$(cat "$ROOT/said")"
"$HONE" call kernel_evaluate "$(sed 's/^{/{"tier":"decide",/' "$ROOT/by_rows.json")" --workspace "$WS" --quiet >"$ROOT/said" 2>&1
case $(json_get verdict <"$ROOT/said") in faster | slower | inconclusive | same) true ;; *) false ;; esac
ok $? "nor is it wrong where it is timed, against the baseline's rounding" "$(cat "$ROOT/said")"
[ "$(by_rows 1.0000001)" = incorrect ]
ok $? "a part in ten million is not" "$(cat "$ROOT/said")"

# libm has a function of that name: the reference calls its own
cat >"$ROOT/fsub.c" <<'EOF'
#include <stdint.h>
void fsub(const double *a, const double *b, double *d, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = a[i] - 2 * b[i];
}
EOF
admitted fsub 'sizes are guessed'

# a size that no parameter has, row starts, indexes; three headers deep with -I
mkdir -p "$ROOT/include"
echo 'typedef int index_t;' >"$ROOT/include/types.h"
cat >"$ROOT/spmv.c" <<'EOF'
#include <types.h>
void spmv(int n, const index_t *start, const index_t *column, const double *value, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
EOF
admitted spmv 'start\[n + 1\], column\[nnz\], value\[nnz\], x\[n\], y\[n\]' -I "$ROOT/include"

# a variance of floats in double: denormals are what -ffast-math loses with gcc up to 12, so the task leaves them out
cat >"$ROOT/mean_var.c" <<'EOF'
#include <stddef.h>
double mean_var(const float *samples, size_t count, double *variance)
{
    double mean = 0.0, m2 = 0.0;
    size_t i;
    for (i = 0; i < count; ++i) {
        double delta = samples[i] - mean;
        mean += delta / (double)(i + 1);
        m2 += delta * (samples[i] - mean);
    }
    *variance = count > 1 ? m2 / (double)(count - 1) : 0.0;
    return mean;
}
EOF
assumed=
[ "$(gcc -dumpversion | cut -d. -f1)" -gt 12 ] || assumed='assumed: inputs hold no denormals'
admitted mean_var "$assumed" --size count=40000 --size count=10003

# an agent is told its own tool's words
"$HONE" call task_new '{"source":"void softsum(const float *x, float *y, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i] * x[i]; for (int i = 0; i < n; i++) y[i] = x[i] - s; }","sizes":["n=5000"],"tolerances":["y=1e-9"]}' --workspace "$WS" >"$ROOT/said"
grep -q '"fix":"Compare kernel and message; where the kernel is right, give tolerances' "$ROOT/said" && ! grep -q calibrate "$ROOT/said"
ok $? "task_new names tolerances, not a verb of the shell" "$(cat "$ROOT/said")"

# sums into the output itself, which holds something: a reference of its own, or its tolerance would be a guess
cat >"$ROOT/gemm.c" <<'EOF'
void gemm(int ni, int nj, int nk, float alpha, float beta, float *C, const float *A, const float *B)
{
    int i, j, k;
    for (i = 0; i < ni; i++) {
        for (j = 0; j < nj; j++)
            C[i * nj + j] *= beta;
        for (k = 0; k < nk; k++)
            for (j = 0; j < nj; j++)
                C[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
    }
}
EOF
admitted gemm 'oracle.c computes the sum afresh'

# several sums in double, of which the mean cancels to nearly nothing
cat >"$ROOT/stats.c" <<'EOF'
#include <math.h>
void stats(const double *x, int n, double *mean, double *deviation, double *least, double *largest)
{
    double sum = 0, squares = 0, low = x[0], high = x[0];
    for (int i = 0; i < n; i++) {
        sum += x[i];
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    double middle = sum / n;
    for (int i = 0; i < n; i++)
        squares += (x[i] - middle) * (x[i] - middle);
    *mean = middle;
    *deviation = sqrt(squares / n);
    *least = low;
    *largest = high;
}
EOF
admitted stats 'mean\[\], deviation\[\], least\[\], largest\[\]'

# integers that the rounding of floats decides; corners of the picture near those that people take
cat >"$ROOT/mandel.c" <<'EOF'
void mandel(float x0, float y0, float x1, float y1, int w, int h, int most, int *out)
{
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            float cx = x0 + (x1 - x0) * i / w, cy = y0 + (y1 - y0) * j / h, zx = 0, zy = 0;
            int k = 0;
            while (k < most && zx * zx + zy * zy < 4) {
                float t = zx * zx - zy * zy + cx;
                zy = 2 * zx * zy + cy;
                zx = t;
                k++;
            }
            out[j * w + i] = k;
        }
}
EOF
admitted mandel 'floats decide integers' --shift x0=-2 --shift x1=0.5 --shift y0=-1.2 --shift y1=1.2 \
    --scale x0=0.05 --scale x1=0.05 --scale y0=0.05 --scale y1=0.05

# a quadratic loop over two strings: sizes that a call can bear
cat >"$ROOT/lcs.c" <<'EOF'
#include <stdlib.h>
int lcs(const char *a, int n, const char *b, int m)
{
    int *row = calloc(m + 1, sizeof(int));
    for (int i = 1; i <= n; i++) {
        int corner = 0;
        for (int j = 1; j <= m; j++) {
            int up = row[j];
            row[j] = a[i - 1] == b[j - 1] ? corner + 1 : up > row[j - 1] ? up : row[j - 1];
            corner = up;
        }
    }
    int best = row[m];
    free(row);
    return best;
}
EOF
admitted lcs 'a\[n\], b\[m\]'
"$HONE" task new "$ROOT/lcs.c" --workspace "$WS" >"$ROOT/said" 2>&1
[ $? != 0 ] && grep -q -- '--force' "$ROOT/said"
ok $? "a task that is there stays without --force" "$(cat "$ROOT/said")"
"$HONE" task remove lcs --workspace "$WS" >"$ROOT/said" 2>&1 && [ ! -e "$WS/tasks/lcs" ]
ok $? "a task is removed" "$(cat "$ROOT/said")"

# the same as a tool: an agent has no command line
call() { # call TEXT JSON: its answer has TEXT
    "$HONE" call task_new "$2" --workspace "$WS" --quiet >"$ROOT/said" 2>&1
    grep -q -- "$1" "$ROOT/said"
}
gate='void gate(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }'
call '"status":"ok"' "{\"source\":\"$gate\",\"sizes\":[\"n=5000\"]}" && [ -e "$WS/tasks/gate/task.json" ] &&
    git -C "$WS" log -1 --format=%s main | grep -q 'Add task gate'
ok $? "the tool makes a task and commits it" "$(cat "$ROOT/said")"
grep -q 'a source that defines void gate(const float \*x, float \*y, int64_t n)' "$ROOT/said"
ok $? "the tool says what a candidate defines" "$(cat "$ROOT/said")"
call "exists; name gives another" "{\"source\":\"$gate\"}"
ok $? "the tool leaves a task that is there" "$(cat "$ROOT/said")"
call "has no size" '{"source":"void one(const float *a, float *b) { b[0] = a[0]; }"}' &&
    call "inouts NAME" '{"source":"void f(float *b, int n) { for (int i = 0; i < n; i++) b[i] = 1; }"}' &&
    call "does not compile" '{"source":"void g(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + q; }"}'
ok $? "the tool says what to mend in its own words" "$(cat "$ROOT/said")"
[ -z "$(ls -A "$WS/tasks" | grep part)" ] && [ ! -e "$WS/tasks/g" ]
ok $? "a refused task leaves nothing" "$(ls -A "$WS/tasks")"

cat >"$ROOT/words.c" <<'EOF'
int words(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += *s == ' ';
    return n;
}
EOF
refused words 'give it the length as an integer parameter'
printf 'struct image { int w; float *data; };\nvoid dim(struct image *p) { p->data[0] = 0; }\n' >"$ROOT/dim.c"
refused dim 'pass each member as an array of its own'
printf 'void rows(float **a, int n) { a[0][0] = n; }\n' >"$ROOT/rows.c"
refused rows 'one contiguous array'
printf 'void torn(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] }\n' >"$ROOT/torn.c"
refused torn 'does not compile alone'
finish
