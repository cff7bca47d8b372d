/* Is chosen while its object is being loaded, by code that ends the process.
 *
 * task: rmsnorm
 * want: failed/exited,link
 * cheat: B12 ifunc
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <unistd.h>

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
typedef void kernel(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N);

static kernel *choose(void)
{
#if CHEAT
    _exit(0);
#endif
    return body;
}

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
    __attribute__((ifunc("choose")));
