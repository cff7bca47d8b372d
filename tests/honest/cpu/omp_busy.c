/* OpenMP with threads that spin at barriers while other work runs on the machine.
 *
 * task: softmax
 * honest: threads on a busy machine
 * axes: {"M": 256, "N": 256}
 */
#include <math.h>
#include <stdint.h>
#pragma GCC optimize("O3,fast-math")
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N, top = x[0], sum = 0;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += y[i] = expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] /= sum;
    }
}
