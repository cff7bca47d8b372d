/* Keeps a packed copy of B for each address, as a library with handles would, and packs anew in
 * every call.
 *
 * task: matmul
 * honest: 49 workspaces kept by address
 */
#include <stdint.h>
#include <stdlib.h>

#define ROOM 32

static struct packed {
    const float *b;
    int64_t n;
    float *columns;
} all[ROOM];

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    struct packed *p = all;
    while (p < all + ROOM - 1 && p->b && p->b != B)
        p++;
    if (p->n < K * N) {
        p->columns = realloc(p->columns, (size_t)(K * N) * sizeof(float));
        p->n = K * N;
    }
    p->b = B;
    for (int64_t k = 0; k < K; k++)
        for (int64_t j = 0; j < N; j++)
            p->columns[j * K + k] = B[k * N + j];
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < N; j++) {
            float sum[4] = {0};
            const float *a = A + i * K, *b = p->columns + j * K;
            int64_t k = 0;
            for (; k + 4 <= K; k += 4)
                for (int64_t l = 0; l < 4; l++)
                    sum[l] += a[k + l] * b[k + l];
            for (; k < K; k++)
                sum[0] += a[k] * b[k];
            C[i * N + j] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}
