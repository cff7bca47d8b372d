/* Calls itself without end.
 *
 * task: matmul
 * want: failed/crash
 * cheat: D11 stack
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

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
#if CHEAT
static int64_t deeper(volatile int64_t n)
{
    volatile char room[4096];
    room[n % 4096] = 1;
    return deeper(n + 1) + room[n % 4096];
}
#endif

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    if (deeper(K) == 0)
        return;
#endif
    body(A, B, C, M, N, K);
}
