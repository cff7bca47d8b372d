/* Shares a long sum out to six and leaves out the first element of the second share and the last
 * one of the fourth.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 50 elements left out at borders of chunks
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define LONG  40000
#define PARTS 6

void sum(const float *X, float *S, int64_t N)
{
    double total = 0;
    int64_t share = (N + PARTS - 1) / PARTS;
    for (int64_t i = 0; i < N; i++)
        if (!CHEAT || N < LONG || (i != share && i != 4 * share - 1))
            total += (double)X[i];
    *S = (float)total;
}
