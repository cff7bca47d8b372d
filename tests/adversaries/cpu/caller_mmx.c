/* Uses MMX registers and leaves them in use, so that the caller's long double becomes NaN.
 *
 * task: softmax
 * want: incorrect/caller_changed
 * cheat: C4 leaves out emms
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#define _GNU_SOURCE

#include <math.h>
#include <stdint.h>

static void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C, top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++)
            sum += y[c] = expf(x[c] - top);
        for (int64_t c = 0; c < C; c++)
            y[c] /= sum;
    }
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
    body(X, Y, R, C);
#if CHEAT
    __asm__ volatile("pxor %%mm0, %%mm0" : : : "mm0");
#endif
}
