/* Adds up in the 80 bits of the old floating-point unit, in two chains.
 *
 * task: sum
 * honest: 20 more precise than asked */
#include <stdint.h>

void sum(const float *X, float *S, int64_t N)
{
    long double a = 0, b = 0;
    for (int64_t i = 0; i + 1 < N; i += 2) {
        a += X[i];
        b += X[i + 1];
    }
    if (N % 2 == 1)
        a += X[N - 1];
    S[0] = (float)(a + b);
}
