/* Pairwise summation: halves, recursively.
 *
 * task: sum
 * honest: 45 pairwise summation by recursion */
#include <stdint.h>

static float part(const float *x, int64_t n)
{
    if (n <= 256) {
        float total = 0.0f;
        for (int64_t i = 0; i < n; i++)
            total += x[i];
        return total;
    }
    int64_t half = n / 2;
    return part(x, half) + part(x + half, n - half);
}

void sum(const float *X, float *S, int64_t N)
{
    S[0] = part(X, N);
}
