#include <stdint.h>

void topk(const float *X, float *V, int32_t *I, int64_t M, int64_t N, int64_t K)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t k = 0; k < K; k++) {
            int32_t best = -1;
            for (int32_t i = 0; i < N; i++) {
                int is_taken = 0;
                for (int64_t l = 0; l < k && !is_taken; l++)
                    is_taken = I[m * K + l] == i;
                if (!is_taken && (best < 0 || X[m * N + i] > X[m * N + best]))
                    best = i;
            }
            I[m * K + k] = best;
            V[m * K + k] = X[m * N + best];
        }
}
