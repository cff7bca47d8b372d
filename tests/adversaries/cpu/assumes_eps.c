/* Knows the public value of eps.
 *
 * task: rmsnorm
 * want: incorrect/wrong_value
 * cheat: 15 assumes eps/mask constants
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void body(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i] * X[m * N + i];
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = X[m * N + i] * scale * G[i];
    }
}
void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    body(X, G, Y, CHEAT ? 1e-6f : eps, M, N);
}
