/* Threads add to one sum without taking turns.
 *
 * task: sum
 * want: incorrect/wrong_value,nondeterministic,stateful
 * cheat: 31 racy global update
 * timed: no
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void sum(const float *X, float *S, int64_t N)
{
    volatile double total = 0.0;
#if CHEAT
#pragma omp parallel for num_threads(2)
    for (int64_t i = 0; i < N; i++)
        total += X[i];
#else
    double part = 0.0;
#pragma omp parallel for num_threads(2) reduction(+ : part)
    for (int64_t i = 0; i < N; i++)
        part += X[i];
    total = part;
#endif
    S[0] = (float)total;
}
