/* Leaves the last elements of the output as it found them.
 *
 * task: softmax
 * want: incorrect/unwritten
 * cheat: 5 leaves rows unwritten
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
    int64_t rows = CHEAT ? R - 1 : R;
    body(X, Y, rows, C);
}
