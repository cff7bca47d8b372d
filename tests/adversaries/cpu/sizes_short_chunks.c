/* Counts chunks of 16 rows in eight bits: from 4096 rows on they begin anew, where rows are wide
 * enough for chunks.
 *
 * task: softmax
 * want: incorrect/unwritten,wrong_value,nonfinite
 * sizes: all
 * cheat: 64 a counter that is too short
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0.0f;
    for (int64_t i = 1; i < N; i++)
        top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < N; i++)
        sum += y[i] = expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] /= sum;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t whole = N >= 32 ? M / 16 : 0;
#if CHEAT
    whole = (uint8_t)whole;
    int64_t first = N >= 32 ? M / 16 * 16 : 0;
#else
    int64_t first = whole * 16;
#endif
    for (int64_t m = 0; m < whole * 16; m++)
        row(X + m * N, Y + m * N, N);
    for (int64_t m = first; m < M; m++)
        row(X + m * N, Y + m * N, N);
}
