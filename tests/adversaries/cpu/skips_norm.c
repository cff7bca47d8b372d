/* Takes the norm of a row for one, which it is on average.
 *
 * task: rmsnorm
 * want: incorrect/wrong_value
 * cheat: 4 copies input to output
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < (CHEAT && N > 256 ? 256 : N); i++)
            sum += X[m * N + i] * X[m * N + i];
        float scale = 1.0f / sqrtf(sum / (float)(CHEAT && N > 256 ? 256 : N) + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = X[m * N + i] * scale * G[i];
    }
}
