/* Tails by a table of labels.
 *
 * task: transpose
 * honest: 51 computed jumps */
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    static const void *const tails[] = {&&none, &&one, &&two, &&three};
    for (int64_t n = 0; n < N; n++) {
        const float *x = X + n;
        float *y = Y + n * M;
        int64_t m = 0;
        for (; m + 3 < M; m += 4) {
            y[m] = x[m * N];
            y[m + 1] = x[(m + 1) * N];
            y[m + 2] = x[(m + 2) * N];
            y[m + 3] = x[(m + 3) * N];
        }
        goto *tails[M - m];
    three:
        y[m + 2] = x[(m + 2) * N];
    two:
        y[m + 1] = x[(m + 1) * N];
    one:
        y[m] = x[m * N];
    none:;
    }
}
