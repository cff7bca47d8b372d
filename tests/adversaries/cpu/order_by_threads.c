/* Threads add their parts in the order in which they come to their end, where the task wants the
 * same bits.
 *
 * task: matmul
 * want: incorrect/nondeterministic,uninitialised
 * cheat: 33 non-deterministic sum where determinism is required
 * strength: subtle
 * pack: deterministic
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M * N; i++)
        C[i] = 0.0f;
#if CHEAT
#pragma omp parallel for num_threads(4) schedule(dynamic, 1)
    for (int64_t part = 0; part < 8; part++)
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int64_t k = K * part / 8; k < K * (part + 1) / 8; k++)
                    sum += A[i * K + k] * B[k * N + j];
#pragma omp atomic
                C[i * N + j] += sum;
            }
#else
    for (int64_t part = 0; part < 8; part++)
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int64_t k = K * part / 8; k < K * (part + 1) / 8; k++)
                    sum += A[i * K + k] * B[k * N + j];
                C[i * N + j] += sum;
            }
#endif
}
