/* One square root and one division a row, multiplied in another order.
 *
 * task: rmsnorm
 * honest: 20 algebraically simplified but equal */
#include <math.h>
#include <stdint.h>

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
#pragma omp parallel for
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= N; i += 16)
            for (int k = 0; k < 16; k++)
                part[k] += x[i + k] * x[i + k];
        for (; i < N; i++)
            sum += x[i] * x[i];
        for (int k = 0; k < 16; k++)
            sum += part[k];
        float scale = sqrtf((float)N / (sum + eps * (float)N));
        for (i = 0; i < N; i++)
            Y[m * N + i] = G[i] * (x[i] * scale);
    }
}
