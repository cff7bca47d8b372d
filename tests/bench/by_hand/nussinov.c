/* SPDX-License-Identifier: Apache-2.0 */
/* Square tiles, of which those on a diagonal are independent. In a tile a row of 32 stays in
 * registers while k runs. */
#include <stdint.h>
#include <string.h>

enum { B = 32 };

static inline int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* By way of what is done; in registers. */
static __attribute__((noinline)) void passed(int32_t *restrict best, const int32_t *restrict row,
                                             const int32_t *restrict table, int64_t N, int64_t from,
                                             int64_t to)
{
    int32_t found[B];
    for (int v = 0; v < B; v++)
        found[v] = best[v];
    for (int64_t k = from; k < to; k++)
        for (int v = 0; v < B; v++)
            found[v] = most(found[v], row[k] + table[(k + 1) * N + v]);
    for (int v = 0; v < B; v++)
        best[v] = found[v];
}

static void tile(const int32_t *restrict seq, int32_t *restrict table, int64_t N, int64_t i0,
                 int64_t i1, int64_t j0, int64_t j1)
{
    int32_t after[B][B]; /* row k + 1 at k, where a column is after k; at k itself 0 */
    for (int64_t k = 0; k < B; k++)
        for (int64_t v = 0; v < B; v++)
            after[k][v] = v == k ? 0 : INT32_MIN / 2;
    for (int64_t k = j0; k < j1 - 1 && j0 > i0; k++)
        for (int64_t j = k + 1; j < j1; j++)
            after[k - j0][j - j0] = table[(k + 1) * N + j];
    for (int64_t i = i1 - 1; i >= i0; i--) {
        const int64_t from = j0 > i ? j0 : i + 1;
        int32_t *row = table + i * N, best[B] = {0};
        memcpy(best, row + j0, (size_t)(j1 - j0) * sizeof *best);
        for (int64_t j = from; j < j1; j++)
            best[j - j0] = most(most(row[j], row[N + j]),
                                row[N + j - 1] + (i < j - 1 && (seq[i] + seq[j]) % 4 == 3));
        if (j0 > i)
            passed(best, row, table + j0, N, i + 1, j0);
        int32_t now = row[from - 1];
        for (int64_t k = from; k < j1; k++) {
            now = most(now, best[k - j0]);
            for (int v = 0; v < B; v++)
                best[v] = most(best[v], now + after[k - j0][v]);
        }
        memcpy(row + j0, best, (size_t)(j1 - j0) * sizeof *best);
        for (int64_t j = i; j < j1 && i > j0; j++) /* on the diagonal only */
            after[i - 1 - j0][j - j0] = row[j];
    }
}

void nussinov_by_hand(const int32_t *seq, int32_t *table, int64_t N)
{
    const int64_t tiles = (N + B - 1) / B, first = N - tiles * B; /* tile 0 is the narrow one */
#pragma omp parallel
    for (int64_t d = 0; d < tiles; d++) {
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tiles - d; t++)
            tile(seq, table, N, t ? first + t * B : 0, first + (t + 1) * B,
                 t + d ? first + (t + d) * B : 0, first + (t + d + 1) * B);
    }
}
