/* Is a hundred times slower than it has to be, and right.
 *
 * task: transpose
 * honest: 10 kernel of 2 s */
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            for (volatile int i = 0; i < 30; i++)
                Y[n * M + m] = X[m * N + n];
}
