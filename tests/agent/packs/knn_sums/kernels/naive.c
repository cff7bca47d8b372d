#include <math.h>
#include <stdint.h>

void knn_sums(const float *Q, const float *P, float *S, int64_t M, int64_t N, int64_t D, int64_t K)
{
    for (int64_t m = 0; m < M; m++) {
        float best[8];
        for (int64_t k = 0; k < K; k++)
            best[k] = INFINITY;
        for (int64_t n = 0; n < N; n++) {
            float d2 = 0.0f;
            for (int64_t d = 0; d < D; d++) {
                float gap = Q[m * D + d] - P[n * D + d];
                d2 += gap * gap;
            }
            for (int64_t k = 0; k < K; k++) /* sorted: what is displaced moves on */
                if (d2 < best[k]) {
                    float old = best[k];
                    best[k] = d2;
                    d2 = old;
                }
        }
        float sum = 0.0f;
        for (int64_t k = 0; k < K; k++)
            sum += best[k];
        S[m] = sum;
    }
}
