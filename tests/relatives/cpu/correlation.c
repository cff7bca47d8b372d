/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape data[N,M] --shape mean[M] --shape deviation[M] --shape corr[M,M] --inout data --size N=300,M=310 */
#include <stdint.h>
#include <math.h>
void correlation(double *data, double *mean, double *deviation, double *corr, int64_t N, int64_t M)
{
    for (int64_t j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (int64_t i = 0; i < N; i++)
            mean[j] += data[i * M + j];
        mean[j] /= (double)N;
    }
    for (int64_t j = 0; j < M; j++) {
        deviation[j] = 0.0;
        for (int64_t i = 0; i < N; i++)
            deviation[j] += (data[i * M + j] - mean[j]) * (data[i * M + j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / (double)N);
        deviation[j] = deviation[j] <= 0.1 ? 1.0 : deviation[j];
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++)
            data[i * M + j] = (data[i * M + j] - mean[j]) / (sqrt((double)N) * deviation[j]);
    for (int64_t i = 0; i < M - 1; i++) {
        corr[i * M + i] = 1.0;
        for (int64_t j = i + 1; j < M; j++) {
            corr[i * M + j] = 0.0;
            for (int64_t k = 0; k < N; k++)
                corr[i * M + j] += data[k * M + i] * data[k * M + j];
            corr[j * M + i] = corr[i * M + j];
        }
    }
    corr[(M - 1) * M + M - 1] = 1.0;
}
