/* Each sum with a second float for what was lost, columns in tiles.
 *
 * task: conv3
 * honest: 57 compensated arithmetic */
#include <math.h>
#include <stdint.h>

void conv3(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L, int64_t T)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t first = 0; first < N; first += 128)
            for (int64_t i = first; i < N && i < first + 128; i++) {
                float sum = 0.0f, lost = 0.0f;
                for (int64_t k = 0; k < T; k++) {
                    float x = X[m * L + i + k], p = x * W[k], s = sum + p, b = s - sum;
                    lost += fmaf(x, W[k], -p) + (sum - (s - b)) + (p - b);
                    sum = s;
                }
                Y[m * N + i] = sum + lost;
            }
}
