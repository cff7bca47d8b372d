/* Closes everything that is open.
 *
 * task: sum
 * want: failed/exited,crash,timeout
 * cheat: 48 forges the result: descriptors
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
    body(X, S, N);
#if CHEAT
    for (int fd = 0; fd < 64; fd++)
        close(fd);
#endif
}
