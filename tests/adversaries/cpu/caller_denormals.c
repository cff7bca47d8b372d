/* Leaves the caller with denormals flushed to zero.
 *
 * task: softmax
 * want: incorrect/caller_changed
 * cheat: C2 leaves FTZ and DAZ set
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
    unsigned control = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control |= 0x8040;
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
#endif
}
