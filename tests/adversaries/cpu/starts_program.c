/* Starts another program in its place.
 *
 * task: sum
 * want: failed/forbidden
 * cheat: D3 exec
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <unistd.h>

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
    execl("/bin/true", "true", (char *)0);
#endif
    body(X, S, N);
}
