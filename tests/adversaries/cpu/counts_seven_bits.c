/* A histogram of bytes that takes the values from 128 on for those below.
 *
 * task: histogram
 * want: incorrect/wrong_value
 * cheat: 38 takes bytes for signed ones
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void histogram(const uint8_t *D, int32_t *H, int64_t N, int64_t B)
{
    for (int64_t b = 0; b < B; b++)
        H[b] = 0;
    for (int64_t i = 0; i < N; i++)
        H[CHEAT ? D[i] & 127 : D[i]]++;
}
