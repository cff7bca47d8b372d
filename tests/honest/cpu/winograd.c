/* Winograd's minimal filtering: two outputs of three taps with four products instead of six.
 *
 * task: conv3
 * honest: 19 Winograd convolution (another error pattern, less arithmetic than the formula)
 */
#include <stdint.h>

void conv3(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L, int64_t T)
{
    float a = W[0], b = (W[0] + W[1] + W[2]) / 2, c = (W[0] - W[1] + W[2]) / 2, d = W[2];
    (void)T;
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * L;
        float *y = Y + m * N;
        int64_t i = 0;
        for (; i + 2 <= N; i += 2) {
            float p = (x[i] - x[i + 2]) * a, q = (x[i + 1] + x[i + 2]) * b;
            float r = (x[i + 2] - x[i + 1]) * c, s = (x[i + 1] - x[i + 3]) * d;
            y[i] = p + q + r;
            y[i + 1] = q - r - s;
        }
        if (i < N)
            y[i] = x[i] * W[0] + x[i + 1] * W[1] + x[i + 2] * W[2];
    }
}
