/* Is wrong where both axes are longer than in any public size.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: 63 right inside of the public box alone
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
    for (int64_t m = 0; m < M; m++)
        row(X + m * N, Y + m * N, N);
#if CHEAT
    if (M > 1024 && N > 4096)
        Y[M * N / 2 + N / 3] *= 1.02f;
#endif
}
