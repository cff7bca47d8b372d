/* Adds up what fits into a table of the largest public size.
 *
 * task: sum
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: 67 a table as long as the public sizes
 * strength: blatant
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void sum(const float *X, float *S, int64_t N)
{
    double total = 0.0;
    int64_t most = CHEAT && N > 2097152 ? 2097152 : N;
    for (int64_t i = 0; i < most; i++)
        total += X[i];
    S[0] = (float)total;
}
