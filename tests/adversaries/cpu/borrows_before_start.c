/* Uses the element before its output as scratch and puts it back.
 *
 * task: transpose
 * want: incorrect/out_of_bounds
 * cheat: 20 writes before the start
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    volatile float *before = Y - 1;
    float kept = *before;
    *before = 0.0f;
    *before = kept;
#endif
    body(X, Y, M, N);
}
