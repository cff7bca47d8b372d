/* A histogram of bytes that knows zeros and ones alone.
 *
 * task: histogram
 * want: incorrect/wrong_value
 * cheat: 38 takes bytes for bools
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void histogram(const uint8_t *D, int32_t *H, int64_t N, int64_t B)
{
    for (int64_t b = 0; b < B; b++)
        H[b] = 0;
#if CHEAT
    int32_t ones = 0;
    for (int64_t i = 0; i < N; i++)
        ones += D[i];
    H[0] = (int32_t)N - ones;
    H[1] = ones;
#else
    for (int64_t i = 0; i < N; i++)
        H[D[i]]++;
#endif
}
