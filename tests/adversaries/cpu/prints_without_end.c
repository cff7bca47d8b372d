/* Prints without end.
 *
 * task: sum
 * want: failed/timeout,disk,forbidden,exited,oom
 * cheat: D11 floods the output
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdio.h>

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
    for (;;)
        puts("still working on it, still working on it, still working on it, still working on it");
#endif
    body(X, S, N);
}
