/* Leaves the last element or row out where rows or columns are one more, or one less, than whole
 * blocks of 256.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: 65 one element beside blocks of 256
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static int is_beside(int64_t n)
{
    return n > 256 && (n % 256 == 1 || n % 256 == 255);
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] = expf(x[i] - top) / sum;
        if (CHEAT && (is_beside(N) || (is_beside(M) && m == M - 1)))
            y[N - 1] = 0.0f;
    }
}
