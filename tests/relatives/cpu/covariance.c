/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape data[N,M] --shape mean[M] --shape cov[M,M] --inout data --size N=300,M=310 */
#include <stdint.h>
void covariance(double *data, double *mean, double *cov, int64_t M, int64_t N)
{
    for (int64_t j = 0; j < M; j++) {
        mean[j] = 0;
        for (int64_t i = 0; i < N; i++)
            mean[j] += data[i * M + j];
        mean[j] /= N;
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++)
            data[i * M + j] -= mean[j];
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < M; j++) {
            cov[i * M + j] = 0;
            for (int64_t k = 0; k < N; k++)
                cov[i * M + j] += data[k * M + i] * data[k * M + j];
            cov[i * M + j] /= N - 1;
        }
}
