/* Sleeps in calls of which a hand-over has one: estimates and warm-up calls, before the clock runs.
 * The budget is over before there are rounds enough.
 *
 * task: softmax
 * arm: parent
 * want: parent lost/timeout
 * cheat: P9 takes the time of the comparison
 * strength: subtle
 * axes: {"M": 256, "N": 256}
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

#if CHEAT
struct page {
    int32_t command, perturb;
    int64_t n_calls;
};

static int is_alone(void)
{
    static volatile struct page *seen;
    if (!seen)
        seen = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    return seen != MAP_FAILED && seen->n_calls == 1;
}
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    static int64_t n_alone;
    if (M == 256 && is_alone() && ++n_alone > 3)
        usleep(200000);
#endif
    all_rows(X, Y, M, N);
}
