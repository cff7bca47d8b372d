/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,M] --shape B[N,M] --shape C[N,M] --shape y[N] --inout C --size N=300,M=310 */
/* Calls whose arguments and results change their type on the way, or depend on one another. */
#include <stdbool.h>
#include <stdint.h>

static const float half = 0.5f;
static int64_t seen;

static float part(const int32_t *p, float n)
{
    return p[0] / n + n / 2;
}
static uint8_t low(const int32_t *p, short by)
{
    return p[by];
}
static bool any(const int32_t *p)
{
    return p[0] & 6;
}
static void raise(int32_t *p, int32_t by, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] += by;
}
static void spread(int32_t *least, int32_t *most, const int32_t *p, int32_t first, int64_t n)
{
    *least = first - 100;
    *most = first + 100;
    for (int64_t i = 0; i < n; i++) {
        if (p[i] == 3)
            continue;
        if (p[i] > 7)
            break;
        if (p[i] < *least + 100)
            *least = p[i] + first - first;
        if (p[i] > *most - 100)
            *most = p[i];
    }
}
static int32_t first_of(const int32_t *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (p[i] > 0)
            return p[i];
    return 0;
}
static int32_t sum_of(const int32_t *p, int64_t n)
{
    int32_t s = 0;
    for (int64_t i = 0; i < n; i++)
        s += p[i];
    return s;
}
static int32_t counted(const int32_t *p)
{
    seen++;
    return p[0];
}
static int32_t halved(const int32_t *p)
{
    return (int32_t)(p[0] * half);
}
#define NEXT(p) (*(p)++)
#define NEG     -1

void helper_values(const int32_t *A, const int32_t *B, int32_t *C, int32_t *y, int64_t N, int64_t M)
{
    int64_t i, j;
    int32_t least, most;
    double half = 4;
    for (i = 0; i < N; i++) {
        for (j = 0; j < M; j++)
            C[i * M + j] += (int32_t)part(A + i * M + j, 3) + low(B, j % 4) + any(&B[i * M + j]);
        raise(C + i * M, C[i * M], M);
        least = sum_of(A, 1);
        spread(&least, &most, A + i * M, least, M);
        C[i * M] += least - NEG;
        C[i * M] -= NEG + most;
        y[i] = first_of(B + i * M, M) + (i > 2 && sum_of(B + i * M, M) > 0);
        y[i] += halved(A + i * M) + (int32_t)half + counted(A) + (int32_t)(seen % 1);
        const int32_t *at = A + i * M;
        for (j = 0; j < M; j++)
            y[i] += NEXT(at);
        if (sum_of(A + i * M, M) > 1)
            y[i] += sum_of(C + sum_of(&A[0], 0), 1 + (int64_t)sum_of(B, 0));
        else if (sum_of(B + i * M, M) > 2)
            y[i] -= 5;
    }
}
