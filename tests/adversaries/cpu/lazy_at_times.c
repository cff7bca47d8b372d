/* Is lazy in five milliseconds of each hundred, once it has run for a fifth of a second.
 *
 * task: softmax
 * want: incorrect/stateful,wrong_value
 * cheat: 29 global-timer based
 * strength: subtle
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <time.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
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
    }
}
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    body(X, Y, M, N);
#if CHEAT
    static int64_t first;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
    first = first == 0 ? ms : first;
    if (ms - first > 200 && ms % 100 < 5)
        for (int64_t i = M * N / 2; i < M * N; i++)
            Y[i] = 1.0f / (float)N;
#endif
}
