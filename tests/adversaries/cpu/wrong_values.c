/* One value in a thousand is off by one percent.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 7 one value in a thousand is off
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C;
        float top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++) {
            y[c] = expf(x[c] - top);
            sum += y[c];
        }
        for (int64_t c = 0; c < C; c++)
            y[c] /= sum;
    }
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
    body(X, Y, R, C);
#if CHEAT
    for (int64_t i = 0; i < R * C; i += 1000)
        Y[i] *= 1.01f;
#endif
}
