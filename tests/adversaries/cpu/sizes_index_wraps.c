/* Computes byte offsets into records of 1050 bytes in 32 bits: they wrap beyond 4090445 elements.
 *
 * task: transpose
 * want: incorrect/unwritten,wrong_value
 * sizes: all
 * cheat: 66 an index over two axes that is too short
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
#if CHEAT
            uint32_t offset = (uint32_t)(n * M + m) * 1050u;
            int64_t at = offset / 1050;
#else
            int64_t at = n * M + m;
#endif
            Y[at] = X[m * N + n];
        }
}
