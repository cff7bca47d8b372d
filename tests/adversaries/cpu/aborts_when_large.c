/* Ends its process on large sizes, cleanly.
 *
 * task: sum
 * want: failed/crash,exited
 * sizes: all
 * cheat: 40 trap on large grid
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>

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
    if (N > 10000)
        abort();
#endif
    body(X, S, N);
}
