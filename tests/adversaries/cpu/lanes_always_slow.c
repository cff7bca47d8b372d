/* Was measured with its whole speed, and does its work twenty times when its child is held against
 * it.
 *
 * task: softmax
 * arm: parent
 * record: yes
 * want: parent not faster
 * cheat: P7 is slower than its record
 * strength: blatant
 * axes: {"M": 256, "N": 256}
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void softmax_row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0.0f;
    for (int64_t i = 1; i < N; i++)
        top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < N; i++)
        sum += y[i] = expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] /= sum;
}

static void all_rows(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        softmax_row(X + m * N, Y + m * N, N);
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int i = 1; CHEAT && i < 20; i++)
        all_rows(X, Y, M, N);
    all_rows(X, Y, M, N);
}
