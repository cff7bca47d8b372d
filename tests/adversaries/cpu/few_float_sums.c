/* Adds up in eight float32.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 12 drops Kahan/compensation
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#if CHEAT
typedef float part;
#else
typedef double part;
#endif

void sum(const float *X, float *S, int64_t N)
{
    part sums[8] = {0};
    for (int64_t i = 0; i < N; i++)
        sums[i % 8] += X[i];
    for (int k = 1; k < 8; k++)
        sums[0] += sums[k];
    S[0] = (float)sums[0];
}
