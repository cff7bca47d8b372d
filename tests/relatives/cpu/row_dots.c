/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape w[N,M] --shape scale[N] --shape x[M] --shape y[N] --size N=300,M=310 */
#include <stdint.h>

static float scaled(const float *scale, int64_t at)
{
    return scale[at] * 0.5f;
}

static float dot(const float *a, const float *b, int64_t n)
{
    float acc = 0;
    while (n-- > 0)
        acc += *a++ * *b++;
    return acc;
}

static float dot_plain(const float *a, const float *b, int64_t n)
{
    int64_t i;
    float acc = 0;
    for (i = 0; i < n; ++i)
        acc += a[i] * b[i];
    return acc;
}

/* acc is a name of the helpers, too. */
void row_dots(const float *w, const float *scale, const float *x, float *y, int64_t N, int64_t M)
{
    int64_t i;
    for (i = 0; i < N; i++) {
        float acc = 1;
        if (i > 0)
            acc = dot_plain(w + i * M, x, M) * scaled(scale, i);
        else
            acc += dot(&w[i * M], x, M);
        y[i] = acc;
    }
}
