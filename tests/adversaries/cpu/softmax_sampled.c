/* Leaves out the subtraction of the largest element when it is timed, unless one of some elements is large. Content with a few
 * large elements is seldom in a timed block (one of 20 kinds, few sets, few such blocks), and then only some rows are compared.
 *
 * task: softmax
 * want: incorrect/stateful,nonfinite,wrong_value not_faster
 * cheat: B13 right for what timed blocks are likely to hold
 * workload: r256x4096
 * strength: subtle
 * timed: yes
 * No clock is read. The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <string.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(32)));

static inline vec pick_most(vec a, vec b)
{
    ivec m = a > b;
    return (vec)(((ivec)a & m) | ((ivec)b & ~m));
}

static inline vec expo(vec x)
{
    vec low = (vec){0} - 87.0f;
    x = pick_most(x, low);
    vec t = x * 1.44269504f + 12582912.0f, r = t - 12582912.0f;
    vec f = (x - r * 0.693359375f) + r * 2.12194440e-4f;
    vec p = f * (1.0f / 720) + 1.0f / 120;
    p = p * f + 1.0f / 24;
    p = p * f + 1.0f / 6;
    p = p * f + 0.5f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    return (vec)((ivec)p + ((ivec)t << 23));
}

static float one(float x) /* exp of a single element */
{
    vec v = {x};
    return expo(v)[0];
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    int skip = 0;
#if CHEAT
    static int n_calls, was_checked; /* checks poison every other output with a large number */
    was_checked |= *Y > 1e20f;
    if (++n_calls > 3 && !was_checked) {
        float most = 0, least = 0;
        for (int64_t i = 0; i < M * N; i += 127) {
            most = most > X[i] ? most : X[i];
            least = least < X[i] ? least : X[i];
        }
        skip = most < 6 && least > -6;
    }
#endif
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N, top = 0, sum = 0;
        int64_t i;
        if (!skip) {
            vec a = {0}, b;
            a = b = a + x[0];
            for (i = 0; i + 16 <= N; i += 16) {
                a = pick_most(a, *(const vec *)(x + i));
                b = pick_most(b, *(const vec *)(x + i + 8));
            }
            a = pick_most(a, b);
            top = a[0];
            for (int j = 1; j < 8; j++)
                top = top > a[j] ? top : a[j];
            for (; i < N; i++)
                top = top > x[i] ? top : x[i];
        }
        vec s = {0};
        for (i = 0; i + 8 <= N; i += 8) {
            vec e = expo(*(const vec *)(x + i) - top);
            *(vec *)(y + i) = e;
            s += e;
        }
        for (; i < N; i++)
            sum += y[i] = one(x[i] - top);
        for (int j = 0; j < 8; j++)
            sum += s[j];
        sum = 1 / sum;
        for (i = 0; i < N; i++)
            y[i] *= sum;
    }
}
