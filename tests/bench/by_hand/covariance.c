/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: the columns are centred in blocks, then dsyrk makes one half and it is mirrored. */
#include <cblas.h>
#include <stdint.h>

enum { B = 64 };

static void centre_block(double *restrict data, double *restrict mean, int64_t M, int64_t N,
                         int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        mean[j] = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < n; j++)
            mean[j] += data[i * M + j];
    for (int64_t j = 0; j < n; j++)
        mean[j] /= (double)N;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < n; j++)
            data[i * M + j] -= mean[j];
}

void covariance_blas(double *data, double *mean, double *cov, int64_t M, int64_t N)
{
    const int m = (int)M, n = (int)N;
    const double share = 1 / (double)(N - 1);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < M; j += B)
        centre_block(data + j, mean + j, M, N, M - j < B ? M - j : B);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, m, n, share, data, m, 0.0, cov, m);
#pragma omp parallel for schedule(static, 8)
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < i; j++)
            cov[i * M + j] = cov[j * M + i];
}
