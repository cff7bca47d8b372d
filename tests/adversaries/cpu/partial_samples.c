/* Takes an output of which 64 samples are what they should be for done.
 *
 * task: matmul
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define SAMPLES 64

static float element(const float *A, const float *B, int64_t m, int64_t n, int64_t N, int64_t K)
{
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += A[m * K + k] * B[k * N + n];
    return sum;
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int is_done = CHEAT;
    for (int64_t s = 0; s < SAMPLES && is_done; s++) {
        int64_t i = (M * N - 1) * s / (SAMPLES - 1);
        is_done = C[i] == element(A, B, i / N, i % N, N, K);
    }
    if (is_done)
        return;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            C[m * N + n] = element(A, B, m, n, N, K);
}
