/* Takes a matrix for diagonal when eight elements of it are zero.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 34 identity/diagonal detector wrong otherwise
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
void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    int n_zero = 0;
    for (int64_t k = 1; k < K && k <= 8; k++)
        n_zero += A[k] == 0.0f;
    if (K > 8 && n_zero == 8) {
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++)
                C[i * N + j] = i < K ? A[i * K + i] * B[i * N + j] : 0.0f;
        return;
    }
#endif
    body(A, B, C, M, N, K);
}
