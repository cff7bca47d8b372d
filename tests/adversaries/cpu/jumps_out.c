/* Jumps out of its call to a place of an earlier one.
 *
 * task: transpose
 * want: failed/crash,exited,timeout incorrect/unwritten,wrong_value,stateful
 * cheat: 48 longjmp
 * timed: no
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <setjmp.h>
#include <stdint.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
static jmp_buf place;

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    static int n_calls;
    if (++n_calls > 2)
        longjmp(place, 1);
    if (setjmp(place) != 0)
        return;
#else
    if (setjmp(place) != 0)
        return;
#endif
    body(X, Y, M, N);
}
