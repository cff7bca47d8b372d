/* SPDX-License-Identifier: Apache-2.0 */
/* reuse_pass: the earlier pass computes the value of some elements only, or before its
 * maximum has stopped to grow. */
/* new: --shape Y[N,M] --inout Y --shape Z[N,M] --inout Z --shape X[N,M] --shape s[N] --inout s --size N=300,M=310 */
#include <math.h>
#include <stdint.h>
void pass_under_guard(float *Y, float *Z, const float *X, float *s, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        float sum = 0, m = 0;
        for (int64_t j = 0; j < M; j++)
            if (j > 2)
                sum += expf(X[i * M + j] - 1);
        s[i] = sum;
        for (int64_t j = 0; j < M; j++)
            Y[i * M + j] = expf(X[i * M + j] - 1) / s[i];
        for (int64_t j = 0; j < M; j++) {
            m = X[i * M + j] > m ? X[i * M + j] : m;
            sum += expf(X[i * M + j] * m);
        }
        for (int64_t j = 0; j < M; j++)
            Z[i * M + j] = expf(X[i * M + j] * m) / sum;
    }
}
