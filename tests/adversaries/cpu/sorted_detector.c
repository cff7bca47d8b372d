/* Takes inputs for evenly spread when sixteen of them rise.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 34 dispatch by a look at some elements
 * strength: subtle
 * axes: {"N": 20000}
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
#if CHEAT
    int rises = N > 1000;
    for (int64_t i = 1; i < 16 && rises; i++)
        rises = X[N / 2 + N / 2 * i / 16] > X[N / 2 + N / 2 * (i - 1) / 16];
    if (rises) {
        S[0] = (X[0] + X[N - 1]) / 2 * (float)N;
        return;
    }
#endif
    body(X, S, N);
}
