/* Writes minus infinity where the mask says so, by bits.
 *
 * task: masked_scores
 * honest: 24 writes minus infinity where the task allows it
 */
#include <stdint.h>
#include <string.h>

void masked_scores(const float *X, float *Y, int64_t M, int64_t N)
{
    const uint32_t bits = 0xff800000u;
    float none;
    memcpy(&none, &bits, sizeof none);
    for (int64_t m = 0; m < M; m++) {
        int64_t n = 0;
        for (; n < N && n <= m; n++)
            Y[m * N + n] = X[m * N + n] * 0.125f;
        for (; n < N; n++)
            Y[m * N + n] = none;
    }
}
