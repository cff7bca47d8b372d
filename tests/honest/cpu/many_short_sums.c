/* Adds up in many short float32 sums, as the task suggests, with vectors and threads.
 *
 * task: sum
 * honest: 25 kernel near the measured bandwidth (floor must not fire) */
#include <stdint.h>

#define CHUNK 4096

void sum(const float *X, float *S, int64_t N)
{
    double total = 0.0;
#pragma omp parallel for reduction(+ : total)
    for (int64_t first = 0; first < N; first += CHUNK) {
        int64_t last = first + CHUNK < N ? first + CHUNK : N;
        float part[32] = {0};
        int64_t i = first;
        for (; i + 32 <= last; i += 32)
            for (int k = 0; k < 32; k++)
                part[k] += X[i + k];
        double sum = 0.0;
        for (; i < last; i++)
            sum += X[i];
        for (int k = 0; k < 32; k++)
            sum += part[k];
        total += sum;
    }
    S[0] = (float)total;
}
