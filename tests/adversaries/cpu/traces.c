/* Attaches itself to whoever started it.
 *
 * task: sum
 * want: failed/forbidden
 * cheat: D3 ptrace
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <sys/ptrace.h>
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
    ptrace(PTRACE_ATTACH, getppid(), 0, 0);
#endif
    body(X, S, N);
}
