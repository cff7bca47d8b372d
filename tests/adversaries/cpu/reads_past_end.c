/* Reads one element behind the end of its input, and uses it.
 *
 * task: softmax
 * want: incorrect/out_of_bounds,wrong_value,uninitialised
 * cheat: 18 reads 1 element past the end
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] = expf(x[i] - top) / sum;
    }
}
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    body(X, Y, M, N);
#if CHEAT
    Y[0] += X[M * N] > 0.0f ? 1e-3f : 2e-3f;
#endif
}
