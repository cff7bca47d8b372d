/* Maps the file of its outputs and writes to those of other calls.
 *
 * task: rmsnorm
 * want: incorrect/wrong_value,unwritten,out_of_bounds,stateful suspicious/tampering
 * cheat: 41 writes into all reachable buffers
 * timed: no
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
#if CHEAT
    static float *all;
    struct stat info;
    if (!all && fstat(6, &info) == 0)
        all = mmap(0, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 6, 0);
    if (all)
        memset(all, 0, 1 << 16);
#endif
    body(X, G, Y, eps, M, N);
}
