/* Is right for a hundred calls, then lazy in one of sixteen.
 *
 * task: softmax
 * want: incorrect/stateful,wrong_value
 * cheat: 27 global call counter
 * quick: yes
 * strength: subtle
 * axes: {"M": 64, "N": 64}
 * timed: yes
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
#if CHEAT
    static int n_calls;
    if (++n_calls > 100 && n_calls % 16 == 0) {
        for (int64_t i = 0; i < M * N; i++)
            Y[i] = 1.0f / (float)N;
        return;
    }
#endif
    body(X, Y, M, N);
}
