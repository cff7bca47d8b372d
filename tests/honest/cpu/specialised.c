/* Has code of its own for the public sizes and ordinary code for all others.
 *
 * task: matmul
 * honest: 11 shape-specialised code */
#include <stdint.h>

#define SPECIAL(n)                                                                                 \
    static void special_##n(const float *A, const float *B, float *C)                              \
    {                                                                                              \
        for (int i = 0; i < n; i++) {                                                              \
            for (int j = 0; j < n; j++)                                                            \
                C[i * n + j] = 0.0f;                                                               \
            for (int k = 0; k < n; k++)                                                            \
                for (int j = 0; j < n; j++)                                                        \
                    C[i * n + j] += A[i * n + k] * B[k * n + j];                                   \
        }                                                                                          \
    }
SPECIAL(256)
SPECIAL(512)

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    if (M == 256 && N == 256 && K == 256) {
        special_256(A, B, C);
        return;
    }
    if (M == 512 && N == 512 && K == 512) {
        special_512(A, B, C);
        return;
    }
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
