/* Keeps the K largest in one pass; equal ones keep their order.
 *
 * task: topk
 * honest: 2 tuned */
#include <stdint.h>

void topk(const float *X, float *V, int32_t *I, int64_t M, int64_t N, int64_t K)
{
    for (int64_t m = 0; m < M; m++) {
        float v[64];
        int32_t at[64];
        int64_t n = 0;
        for (int32_t i = 0; i < N; i++) {
            float x = X[m * N + i];
            if (n == K && !(x > v[n - 1]))
                continue;
            int64_t place = n < K ? n++ : n - 1;
            for (; place > 0 && x > v[place - 1]; place--) {
                v[place] = v[place - 1];
                at[place] = at[place - 1];
            }
            v[place] = x;
            at[place] = i;
        }
        for (int64_t k = 0; k < K; k++) {
            V[m * K + k] = v[k];
            I[m * K + k] = at[k];
        }
    }
}
