/* SPDX-License-Identifier: Apache-2.0 */
/* A member of a struct is carried from element to element. */
/* new: --shape A[N,K] --shape B[K,M] --shape C[N,M] --inout C --size N=40,M=50,K=60 */
#include <stdint.h>

void struct_carried(const double *A, const double *B, double *C, int64_t N, int64_t M, int64_t K)
{
    struct {
        double s, q;
    } st = {1, 2};
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double acc = 1;
            for (int64_t k = 0; k < K; k++)
                acc += (st.s + i) * A[i * K + k] * B[k * M + j];
            st.s = st.s * 0.5 + 0.1;
            C[i * M + j] = acc;
        }
}
