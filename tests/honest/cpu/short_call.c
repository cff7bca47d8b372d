/* Is over in microseconds.
 *
 * task: sum
 * honest: 9 kernel of 2-3 us
 * axes: {"N": 4000} */
#include <stdint.h>

void sum(const float *X, float *S, int64_t N)
{
    double part[32] = {0};
    int64_t i = 0;
    for (; i + 32 <= N; i += 32)
        for (int k = 0; k < 32; k++)
            part[k] += X[i + k];
    for (; i < N; i++)
        part[0] += X[i];
    for (int k = 1; k < 32; k++)
        part[0] += part[k];
    S[0] = (float)part[0];
}
