/* Lets the compiler read a file of the host.
 *
 * task: sum
 * want: failed/compile
 * cheat: D14 hostile source at compile time
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#if CHEAT
#include "/etc/passwd"
#endif

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
}
