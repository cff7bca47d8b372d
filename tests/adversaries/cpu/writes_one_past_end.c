/* Writes one element behind the end of its output.
 *
 * task: sum
 * want: incorrect/out_of_bounds
 * cheat: 19 writes 1 element past the end
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
    body(X, S, N);
#if CHEAT
    S[1] = S[0];
#endif
}
