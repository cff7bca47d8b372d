/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer of the array that is written, moved before the loop. */
/* new: --shape a[N,N] --inout a --shape x[N,N] --size N=300 */
#include <stdint.h>
void pointer_moved(double *a, const double *x, int64_t N)
{
    double *p = a, *q = a;
    p += 3;
    q += N;
    for (int64_t i = 3; i < N; i++)
        a[i] = p[i - 6] * 0.5 + x[i];
    for (int64_t i = 0; i < N - 1; i++)
        for (int64_t j = 0; j < N; j++)
            q[i * N + j] = a[i * N + j] * 0.5 + x[i * N + j];
    for (int64_t i = 0; i < N - 1; i++) {
        double s = 0;
        for (int64_t k = 0; k < N; k++)
            s += a[i * N + k] * x[k * N + i];
        q[i * N] = s;
    }
    for (int64_t i = 0; i < N - 1; i++)
        for (int64_t j = 0; j < N; j++) {
            double s = 0;
            for (int64_t k = 0; k < N; k++)
                s += a[i * N + k] * x[k * N + j];
            q[i * N + j] = s * 0.01;
        }
}
