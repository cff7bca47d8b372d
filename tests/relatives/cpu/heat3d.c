/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N,N] --shape B[N,N,N] --inout A --inout B --size N=70,T=6 --constraint T<=20 */
#include <stdint.h>
void heat3d(double *A, double *B, int64_t N, int64_t T)
{
    for (int64_t t = 0; t < T; t++) {
        for (int64_t i = 1; i < N - 1; i++)
            for (int64_t j = 1; j < N - 1; j++)
                for (int64_t k = 1; k < N - 1; k++)
                    B[(i * N + j) * N + k] =
                        0.125 * (A[((i + 1) * N + j) * N + k] - 2.0 * A[(i * N + j) * N + k] +
                                 A[((i - 1) * N + j) * N + k]) +
                        0.125 * (A[(i * N + j + 1) * N + k] - 2.0 * A[(i * N + j) * N + k] +
                                 A[(i * N + j - 1) * N + k]) +
                        0.125 * (A[(i * N + j) * N + k + 1] - 2.0 * A[(i * N + j) * N + k] +
                                 A[(i * N + j) * N + k - 1]) +
                        A[(i * N + j) * N + k];
        for (int64_t i = 1; i < N - 1; i++)
            for (int64_t j = 1; j < N - 1; j++)
                for (int64_t k = 1; k < N - 1; k++)
                    A[(i * N + j) * N + k] =
                        0.125 * (B[((i + 1) * N + j) * N + k] - 2.0 * B[(i * N + j) * N + k] +
                                 B[((i - 1) * N + j) * N + k]) +
                        0.125 * (B[(i * N + j + 1) * N + k] - 2.0 * B[(i * N + j) * N + k] +
                                 B[(i * N + j - 1) * N + k]) +
                        0.125 * (B[(i * N + j) * N + k + 1] - 2.0 * B[(i * N + j) * N + k] +
                                 B[(i * N + j) * N + k - 1]) +
                        B[(i * N + j) * N + k];
    }
}
