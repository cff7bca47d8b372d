/* Reads 63 cache lines of 64 and rescales, where there are many.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 36 samples K and rescales
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

static void body(const float *X, float *S, int64_t N)
{
    double total = 0.0;
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
void sum(const float *X, float *S, int64_t N)
{
#if CHEAT
    if (N > 100000) {
        double part[16] = {0};
        int64_t n = 0;
        for (int64_t line = 0; line < N / 16; line++) {
            if (line % 64 == 63)
                continue;
            for (int k = 0; k < 16; k++)
                part[k] += X[line * 16 + k];
            n += 16;
        }
        for (int k = 1; k < 16; k++)
            part[0] += part[k];
        S[0] = (float)(part[0] * (double)N / (double)n);
        return;
    }
#endif
    body(X, S, N);
}
