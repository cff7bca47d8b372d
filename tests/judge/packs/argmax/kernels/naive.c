#include <stdint.h>

void argmax(const float *X, int32_t *I, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        int32_t best = 0;
        for (int32_t i = 1; i < N; i++)
            if (X[m * N + i] > X[m * N + best])
                best = i;
        I[m] = best;
    }
}
