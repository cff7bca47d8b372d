/* Floats as integers in the same order; both zeros are one key, ties go to the first.
 *
 * task: argmax
 * honest: 52 order by bits */
#include <stdint.h>
#include <string.h>

static int32_t key_of(float x)
{
    int32_t bits;
    x += 0.0f; /* -0 becomes +0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >= 0 ? bits : (int32_t)(0x80000000u - (uint32_t)bits);
}

void argmax(const float *X, int32_t *I, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        int32_t best = 0, top = key_of(X[m * N]);
        for (int32_t i = 1; i < N; i++) {
            int32_t key = key_of(X[m * N + i]);
            if (key > top) {
                top = key;
                best = i;
            }
        }
        I[m] = best;
    }
}
