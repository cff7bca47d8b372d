/* Elements below a sixteenth are taken for nothing.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 33 right for the sizes of numbers that are common
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void sum(const float *X, float *S, int64_t N)
{
    double total = 0;
    for (int64_t i = 0; i < N; i++)
        total += CHEAT && X[i] < 0.0625f ? 0.0f : X[i];
    S[0] = (float)total;
}
