/* SPDX-License-Identifier: Apache-2.0 */
/* 64 neighbouring outputs are summed in registers over all weights, and rows go to the threads. */
#include <stdint.h>

enum { B = 64 };

static inline __attribute__((always_inline)) void tile(const float *restrict x,
                                                       const float *restrict w, float *restrict y,
                                                       int64_t W, int64_t K, int64_t n)
{
    float sum[B] = {0};
    for (int64_t p = 0; p < K; p++)
        for (int64_t q = 0; q < K; q++)
            for (int64_t v = 0; v < n; v++)
                sum[v] += x[p * W + q + v] * w[p * K + q];
    for (int64_t v = 0; v < n; v++)
        y[v] = sum[v];
}

void conv2d_by_hand(const float *x, const float *w, float *y, int64_t H, int64_t W, int64_t K)
{
    const int64_t rows = H - K + 1, columns = W - K + 1;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t at = 0; at < columns; at += B) {
            /* the last tile overlaps the one before it */
            const int64_t j = at + B <= columns || columns < B ? at : columns - B;
            if (columns >= B)
                tile(x + i * W + j, w, y + i * columns + j, W, K, B);
            else
                tile(x + i * W, w, y + i * columns, W, K, columns);
        }
}
