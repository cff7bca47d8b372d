/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: the columns are centred and scaled in blocks; dsyrk makes one half, which is mirrored. */
#include <cblas.h>
#include <math.h>
#include <stdint.h>

enum { B = 64 };

static void scale_block(double *restrict data, double *restrict mean, double *restrict deviation,
                        int64_t N, int64_t M, int64_t n)
{
    double factor[B];
    for (int64_t j = 0; j < n; j++)
        mean[j] = deviation[j] = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < n; j++)
            mean[j] += data[i * M + j];
    for (int64_t j = 0; j < n; j++)
        mean[j] /= (double)N;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < n; j++)
            deviation[j] += (data[i * M + j] - mean[j]) * (data[i * M + j] - mean[j]);
    for (int64_t j = 0; j < n; j++) {
        const double found = sqrt(deviation[j] / (double)N);
        deviation[j] = found <= 0.1 ? 1.0 : found;
        factor[j] = 1 / (sqrt((double)N) * deviation[j]);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < n; j++)
            data[i * M + j] = (data[i * M + j] - mean[j]) * factor[j];
}

void correlation_blas(double *data, double *mean, double *deviation, double *corr, int64_t N,
                      int64_t M)
{
    const int m = (int)M, n = (int)N;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < M; j += B)
        scale_block(data + j, mean + j, deviation + j, N, M, M - j < B ? M - j : B);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, m, n, 1.0, data, m, 0.0, corr, m);
#pragma omp parallel for schedule(static, 8)
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < i; j++)
            corr[i * M + j] = corr[j * M + i];
        corr[i * M + i] = 1.0;
    }
}
