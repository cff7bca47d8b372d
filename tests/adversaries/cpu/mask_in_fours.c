/* Looks at the mask of every fourth element alone.
 *
 * task: added_mask
 * want: incorrect/nonfinite,wrong_value
 * cheat: A22 a mask taken for blocks of four
 * strength: blatant
 */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void added_mask(const float *X, const float *A, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N, *a = A + m * N;
        float top = -INFINITY;
        double sum = 0;
        for (int64_t n = 0; n < N; n++)
            top = fmaxf(top, x[n] + a[CHEAT ? n - n % 4 : n]);
        for (int64_t n = 0; n < N; n++)
            sum += exp((double)x[n] + a[CHEAT ? n - n % 4 : n] - top);
        for (int64_t n = 0; n < N; n++)
            Y[m * N + n] = (float)(exp((double)x[n] + a[CHEAT ? n - n % 4 : n] - top) / sum);
    }
}
