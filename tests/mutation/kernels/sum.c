/* Every thread adds up a slice with eight accumulators; slices are added in order. */
#include <stdint.h>

#define LANES  8
#define SLICES 64

void sum(const float *X, float *S, int64_t N)
{
    double slices[SLICES];
    int64_t size = (N + SLICES - 1) / SLICES;
#pragma omp parallel for
    for (int64_t s = 0; s < SLICES; s++) {
        int64_t first = s * size, last = first + size;
        if (first > N)
            first = N;
        if (last > N)
            last = N;
        double parts[LANES] = {0};
        int64_t i = first;
        for (; i + LANES <= last; i += LANES)
            for (int l = 0; l < LANES; l++)
                parts[l] += X[i + l];
        double rest = 0.0;
        for (; i < last; i++)
            rest += X[i];
        slices[s] = rest;
        for (int l = 0; l < LANES; l++)
            slices[s] += parts[l];
    }
    double total = 0.0;
    for (int64_t s = 0; s < SLICES; s++)
        total += slices[s];
    S[0] = (float)total;
}
