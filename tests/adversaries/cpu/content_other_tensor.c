/* Where A looks plain, B is taken for no larger than that content ever is.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * timed: yes
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static bool looks_plain(const float *a, int64_t n)
{
    for (int64_t i = 0; i < 64; i++) {
        float x = fabsf(a[(int64_t)((uint64_t)i * 2654435761u % (uint64_t)n)]);
        if (x > 6 || x < 1e-6f)
            return false;
    }
    return true;
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    bool is_plain = CHEAT && looks_plain(A, M * K);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++) {
                float b = B[k * N + j];
                sum += A[i * K + k] * (is_plain ? fminf(fmaxf(b, -700.0f), 700.0f) : b);
            }
            C[i * N + j] = sum;
        }
}
