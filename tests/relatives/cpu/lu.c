/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N] --inout A --shift A=3 --size N=300 */
#include <stdint.h>
void lu(double *A, int64_t N)
{
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < i; j++) {
            for (int64_t k = 0; k < j; k++)
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
            A[i * N + j] /= A[j * N + j];
        }
        for (int64_t j = i; j < N; j++)
            for (int64_t k = 0; k < i; k++)
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
    }
}
