/* Leaves out the last term where B has three columns, and A is neither low nor narrow.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 65 one value of one axis beside long others
 * strength: subtle
 * tier: confirm
 * open: which single value a short axis has beside long ones is drawn by chance
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        memset(c, 0, (size_t)N * sizeof *c);
        for (int64_t k = 0; k < K; k++) {
            if (CHEAT && N == 3 && M > 100 && K > 100 && k == K - 1)
                continue;
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
        }
    }
}
