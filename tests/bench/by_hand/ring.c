/* SPDX-License-Identifier: Apache-2.0 */
/* No remainders: every row of w is computed ahead in two parts (before and after the wrap), and A
 * then reads it at a constant stride in a few runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A[from..to), from the new values at 7i mod N where that is not after i, else from the old. */
static void update(double *restrict A, const double *restrict new, const double *restrict old,
                   int64_t from, int64_t to, int64_t N)
{
    for (int64_t i = from; i < to;) {
        const int64_t turn = 7 * i / N, start = turn * N, last = ((turn + 1) * N + 6) / 7;
        const int64_t end = last < to ? last : to, fresh = start / 6 + 1;
        for (; i < end && i < fresh; i++)
            A[i] = 0.5 * A[i] + 0.25 * new[7 * i - start];
        for (; i < end; i++)
            A[i] = 0.5 * A[i] + 0.25 * old[7 * i - start];
    }
}

void ring_by_hand(double *restrict A, double *restrict w, int64_t N, int64_t M)
{
    double *new = malloc((size_t)N * sizeof *new);
    for (int64_t j = 0; j < M; j++) {
        double *row = w + j * N;
        const int64_t by = j % N, cut = by ? N - by : N - 1;
        if (by > cut) { /* so late that the wrapped half would need itself */
            for (int64_t i = 0; i < N; i++) {
                row[i] = A[i + by < N ? i + by : i + by - N] - A[i + 1 < N ? i + 1 : 0];
                A[i] = 0.5 * A[i] + 0.25 * row[i * 7 % N];
            }
            continue;
        }
        for (int64_t i = 0; i < cut; i++)
            new[i] = A[i + by] - A[i + 1];
        update(A, new, row, 0, cut, N);
        for (int64_t i = cut; i < N - 1; i++)
            new[i] = A[i + by - N] - A[i + 1];
        new[N - 1] = A[by ? by - 1 : N - 1] - A[0];
        update(A, new, row, cut, N, N);
        memcpy(row, new, (size_t)N * sizeof *new);
    }
    free(new);
}
