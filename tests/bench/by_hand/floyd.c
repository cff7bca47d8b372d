/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of 32 vertices in a padded copy, two rows of a block in registers. Negative weights, where
 * the order of the steps can matter, take the plain loops. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { B = 32 };

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The block at (i0, j0), by way of the vertices from k0 on. */
static void relax(int32_t *Q, int64_t n, int64_t i0, int64_t j0, int64_t k0)
{
    for (int64_t i = i0; i < i0 + B; i += 2) {
        int32_t a[B], b[B];
        memcpy(a, Q + i * n + j0, sizeof a);
        memcpy(b, Q + (i + 1) * n + j0, sizeof b);
        for (int64_t k = k0; k < k0 + B; k++) {
            const int32_t to_a = Q[i * n + k], to_b = Q[(i + 1) * n + k];
            for (int v = 0; v < B; v++) {
                a[v] = least(a[v], to_a + Q[k * n + j0 + v]);
                b[v] = least(b[v], to_b + Q[k * n + j0 + v]);
            }
        }
        memcpy(Q + i * n + j0, a, sizeof a);
        memcpy(Q + (i + 1) * n + j0, b, sizeof b);
    }
}

static void plain(int32_t *P, int64_t stride, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                P[i * stride + j] = least(P[i * stride + j], P[i * stride + k] + P[k * stride + j]);
}

void floyd_by_hand(int32_t *P, int64_t N)
{
    const int64_t blocks = (N + B - 1) / B, n = blocks * B;
    int32_t smallest = 0;
    for (int64_t i = 0; i < N * N; i++)
        smallest = least(smallest, P[i]);
    if (smallest < 0) {
        plain(P, N, N);
        return;
    }
    int32_t *Q = malloc((size_t)(n * n) * sizeof *Q);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                Q[i * n + j] = i < N && j < N ? P[i * N + j] : INT32_MAX / 2;
        for (int64_t k = 0; k < n; k += B) {
#pragma omp single
            plain(Q + k * n + k, n, B);
#pragma omp for schedule(dynamic)
            for (int64_t b = 0; b < 2 * blocks; b++)
                if (b / 2 * B != k)
                    relax(Q, n, b % 2 ? k : b / 2 * B, b % 2 ? b / 2 * B : k, k);
#pragma omp for collapse(2) schedule(static)
            for (int64_t i = 0; i < n; i += B)
                for (int64_t j = 0; j < n; j += B)
                    if (i != k && j != k)
                        relax(Q, n, i, j, k);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < N; i++)
            memcpy(P + i * N, Q + i * n, (size_t)N * sizeof *P);
    }
    free(Q);
}
