/* A short sorted list with insertion; equal values keep their order.
 *
 * task: topk
 * honest: 53 insertion into a sorted list */
#include <stdint.h>

void topk(const float *X, float *V, int32_t *I, int64_t M, int64_t N, int64_t K)
{
    for (int64_t m = 0; m < M; m++) {
        float *v = V + m * K;
        int32_t *at = I + m * K;
        int64_t n = 0;
        for (int32_t i = 0; i < N; i++) {
            float x = X[m * N + i];
            if (n == K && !(x > v[K - 1]))
                continue;
            int64_t k = n < K ? n++ : K - 1;
            for (; k > 0 && x > v[k - 1]; k--) {
                v[k] = v[k - 1];
                at[k] = at[k - 1];
            }
            v[k] = x;
            at[k] = i;
        }
    }
}
