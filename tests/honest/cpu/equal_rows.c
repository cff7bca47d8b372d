/* A row of one value has a known answer; the others are computed. Rows go from the last to the
 * first.
 *
 * task: softmax
 * honest: 54 a fast path that depends on data */
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = M - 1; m >= 0; m--) {
        const float *x = X + m * N;
        float *y = Y + m * N, top = x[0], least = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++) {
            top = x[i] > top ? x[i] : top;
            least = x[i] < least ? x[i] : least;
        }
        if (top == least) {
            for (int64_t i = 0; i < N; i++)
                y[i] = 1.0f / (float)N;
            continue;
        }
        for (int64_t i = 0; i < N; i++)
            sum += y[i] = expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] *= 1.0f / sum;
    }
}
