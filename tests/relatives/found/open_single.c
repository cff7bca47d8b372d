/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are joined behind what one thread runs. */
/* new: --shape A[N,N] --inout A --shape x[N] --inout x --shape z[N] --inout z --shape B[N,N] --size N=900 */
#include <stdint.h>
void open_single(double *A, double *x, double *z, const double *B, int64_t N)
{
    for (int64_t k = 1; k < N; k++) {
        x[k] = A[k * N + k] * 0.5 + x[k - 1] * 0.5;
        for (int64_t j = 0; j < k; j++)
            A[k * N + j] = A[(k - 1) * N + N - 1 - j] * 0.5 + x[k];
        for (int64_t j = k; j < N; j++)
            A[k * N + j] = A[(k - 1) * N + N - 1 - j] * 0.5 + x[k];
        z[k] = A[k * N + N - k] * 0.5 + z[k - 1] * 0.5;
        for (int64_t j = 0; j < k; j++)
            A[k * N + j] = A[k * N + j] * 0.5 + z[k];
        for (int64_t j = k; j < N; j++)
            A[k * N + j] = A[k * N + j] * 0.5 + z[k];
        if (k > 2)
            x[k] += A[k * N + 1];
        for (int64_t i = k + 1; i < N; i++)
            for (int64_t j = 0; j < i; j++)
                A[i * N + j] = A[i * N + j] * 0.5 + z[k] * 0.1 - x[k] * A[k * N + j];
    }
}
