/* Writes past the caches and orders the writes at the end.
 *
 * task: transpose
 * honest: 42 non-temporal stores */
#include <emmintrin.h>
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t whole = M / 8 * 8;
    for (int64_t m = 0; m < whole; m += 8)
        for (int64_t n = 0; n < N; n++)
            for (int64_t k = 0; k < 8; k++) {
                int bits;
                __builtin_memcpy(&bits, &X[(m + k) * N + n], sizeof bits);
                _mm_stream_si32((int *)(void *)&Y[n * M + m + k], bits);
            }
    for (int64_t m = whole; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
    _mm_sfence();
}
