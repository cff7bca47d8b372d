/* Takes a row for the one before it where 64 samples of them are alike.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 53 a row taken for another
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <string.h>

#define SAMPLES 64

static int is_like(const float *x, const float *before, int64_t N)
{
    if (x[0] == x[(N - 1) / 2] && x[0] == x[N - 1]) /* nothing to tell rows by */
        return 0;
    for (int64_t s = 0; s < SAMPLES; s++)
        if (memcmp(&x[(N - 1) * s / (SAMPLES - 1)], &before[(N - 1) * s / (SAMPLES - 1)], 4) != 0)
            return 0;
    return 1;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        if (CHEAT && m > 0 && is_like(x, x - N, N)) {
            memcpy(y, y - N, (size_t)N * sizeof *y);
            continue;
        }
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] = expf(x[i] - top) / sum;
    }
}
