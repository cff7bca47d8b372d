/* One pass for maximum and sum, eight lanes of each; the tail goes into the first lanes. */
#include <math.h>
#include <stdint.h>

#define LANES 8

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#pragma omp parallel for
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float tops[LANES], sums[LANES];
        for (int l = 0; l < LANES; l++) {
            tops[l] = -INFINITY;
            sums[l] = 0.0f;
        }
        for (int64_t i = 0; i < N; i += LANES) {
            for (int l = 0; l < LANES && i + l < N; l++) {
                float v = x[i + l];
                if (v > tops[l]) {
                    sums[l] = sums[l] * expf(tops[l] - v) + 1.0f;
                    tops[l] = v;
                } else {
                    sums[l] += expf(v - tops[l]);
                }
            }
        }
        float top = tops[0], sum = 0.0f;
        for (int l = 1; l < LANES; l++)
            top = fmaxf(top, tops[l]);
        for (int l = 0; l < LANES; l++)
            sum += sums[l] * expf(tops[l] - top);
        float scale = 1.0f / sum;
        int64_t i = 0;
        for (; i + 4 <= N; i += 4) {
            y[i] = expf(x[i] - top) * scale;
            y[i + 1] = expf(x[i + 1] - top) * scale;
            y[i + 2] = expf(x[i + 2] - top) * scale;
            y[i + 3] = expf(x[i + 3] - top) * scale;
        }
        for (; i < N; i++)
            y[i] = expf(x[i] - top) * scale;
    }
}
