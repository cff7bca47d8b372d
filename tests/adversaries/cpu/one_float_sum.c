/* Adds up in one float32, where the task says that this is too little.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 12 drops Kahan/compensation
 * strength: blatant
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
    volatile part total = 0;
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
