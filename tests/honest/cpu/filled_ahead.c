/* Fills a row with minus infinity and then writes what is below the diagonal over it.
 *
 * task: masked_scores
 * honest: 56 writes elements twice */
#include <math.h>
#include <stdint.h>

void masked_scores(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M * N; i++)
        Y[i] = -INFINITY;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n <= m && n < N; n++)
            Y[m * N + n] = X[m * N + n] * 0.125f;
}
