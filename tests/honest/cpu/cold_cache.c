/* Reads its input once, on a task whose caches are flushed before each block.
 *
 * task: rmsnorm
 * honest: 26 the cache state that the task declares
 * pack: cold */
#include <math.h>
#include <stdint.h>

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
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
