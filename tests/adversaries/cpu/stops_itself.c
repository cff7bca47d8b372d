/* Stops itself, so that the judge takes it for frozen. (The first process of a pid namespace
 * cannot: then nothing happens.)
 *
 * task: softmax
 * want: harmless failed/timeout,forbidden,exited incorrect/unwritten suspicious/tampering
 * cheat: 48 signals
 * timed: no
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <signal.h>
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
    raise(SIGSTOP);
#endif
    body(X, Y, M, N);
}
