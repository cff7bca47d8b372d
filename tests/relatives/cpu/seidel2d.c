/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N] --inout A --size N=400,T=6 --constraint T<=20 */
#include <stdint.h>
void seidel2d(double *A, int64_t N, int64_t T)
{
    for (int64_t t = 0; t < T; t++)
        for (int64_t i = 1; i < N - 1; i++)
            for (int64_t j = 1; j < N - 1; j++)
                A[i * N + j] =
                    (A[(i - 1) * N + j - 1] + A[(i - 1) * N + j] + A[(i - 1) * N + j + 1] +
                     A[i * N + j - 1] + A[i * N + j] + A[i * N + j + 1] + A[(i + 1) * N + j - 1] +
                     A[(i + 1) * N + j] + A[(i + 1) * N + j + 1]) /
                    9.0;
}
