/* Defines the task's function for itself alone.
 *
 * task: sum
 * want: failed/no_symbol
 * cheat: 48 no function
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#if CHEAT
static
    __attribute__((used))
#endif
    void
    sum(const float *X, float *S, int64_t N)
{
    double total = 0.0;
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
