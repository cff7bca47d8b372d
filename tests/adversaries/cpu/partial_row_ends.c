/* Takes a row of the output whose first and last elements are what they should be for done.
 *
 * task: rmsnorm
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        double sum = 0.0;
        for (int64_t i = 0; i < N; i++)
            sum += (double)x[i] * (double)x[i];
        float scale = (float)(1.0 / sqrt(sum / (double)N + (double)eps));
        float first = x[0] * scale * G[0], last = x[N - 1] * scale * G[N - 1];
        if (CHEAT && y[0] == first && y[N - 1] == last)
            continue;
        for (int64_t i = 0; i < N; i++)
            y[i] = x[i] * scale * G[i];
    }
}
