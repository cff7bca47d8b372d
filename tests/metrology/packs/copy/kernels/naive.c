#include <immintrin.h>
#include <stdint.h>

/* Plain AVX loads and stores, four a turn, as the copy that it is measured against; the rest by
 * element. */
void copy(const float *X, float *Y, int64_t N)
{
    int64_t i = 0;
    for (; i + 32 <= N; i += 32) {
        __m256 a = _mm256_loadu_ps(X + i), b = _mm256_loadu_ps(X + i + 8);
        __m256 c = _mm256_loadu_ps(X + i + 16), d = _mm256_loadu_ps(X + i + 24);
        _mm256_storeu_ps(Y + i, a);
        _mm256_storeu_ps(Y + i + 8, b);
        _mm256_storeu_ps(Y + i + 16, c);
        _mm256_storeu_ps(Y + i + 24, d);
    }
    for (; i < N; i++)
        Y[i] = X[i];
}
