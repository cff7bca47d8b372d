/* Loads the next element one step early, also behind the last one, and does not use it.
 *
 * task: rmsnorm
 * want: incorrect/out_of_bounds
 * cheat: 18 reads 1 element past the end
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        volatile const float *x = X + m * N;
        float next = x[0];
        for (int64_t i = 0; i < N; i++) {
            float here = next;
            if (CHEAT || m * N + i + 1 < M * N)
                next = x[i + 1];
            sum += here * here;
        }
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = X[m * N + i] * scale * G[i];
    }
}
