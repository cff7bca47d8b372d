/* Adds up in an order that changes from call to call, where the task wants the same bits.
 *
 * task: sum
 * want: incorrect/nondeterministic,uninitialised
 * cheat: 33 non-deterministic sum where determinism is required
 * strength: blatant
 * pack: deterministic
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <time.h>

void sum(const float *X, float *S, int64_t N)
{
    double part[32] = {0};
    for (int64_t i = 0; i < N; i++)
        part[i % 32] += X[i];
    float total = 0.0f;
    int first = 0;
#if CHEAT
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    first = (int)(now.tv_nsec % 32);
#endif
    for (int k = 0; k < 32; k++)
        total += (float)part[(first + k) % 32];
    S[0] = total;
}
