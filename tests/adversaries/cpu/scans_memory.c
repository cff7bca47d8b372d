/* Looks for all memory that it can write to and writes there.
 *
 * task: transpose
 * want: incorrect/out_of_bounds,wrong_value,unwritten suspicious/tampering failed/crash,exited,timeout
 * cheat: 41 writes into all reachable buffers
 * timed: no
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <unistd.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    body(X, Y, M, N);
#if CHEAT
    int ends[2];
    if (pipe(ends) != 0)
        return;
    for (char *at = (char *)((uintptr_t)Y & ~(uintptr_t)4095) - (64 << 20), *end = at + (128 << 20);
         at < end; at += 4096) {
        char byte;
        if ((char *)Y <= at && at < (char *)(Y + M * N))
            continue;
        if (write(ends[1], at, 1) == 1 && read(ends[0], &byte, 1) == 1 &&
            write(ends[1], "x", 1) == 1)
            (void)!read(ends[0], at + 64, 1);
    }
    close(ends[0]);
    close(ends[1]);
#endif
}
