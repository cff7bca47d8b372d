/* Asks for memory until there is none.
 *
 * task: matmul
 * want: failed/oom,crash,timeout
 * cheat: D11 memory hog
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        for (int64_t j = 0; j < N; j++)
            c[j] = 0.0f;
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
    }
}
void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    for (;;) {
        char *more = malloc(1 << 24);
        if (!more)
            abort();
        memset(more, 1, 1 << 24);
    }
#endif
    body(A, B, C, M, N, K);
}
