/* Does its work twice where the inputs of another set than its own last ones lie there: then
 * another arm had its turn before.
 *
 * task: softmax
 * arm: parent
 * record: yes
 * want: parent not faster
 * cheat: P8 knows its place in the round
 * strength: subtle
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

#if CHEAT
static uint64_t last;
static int is_late;

static uint64_t word_of(const float *X)
{
    uint64_t word;
    __builtin_memcpy(&word, X, sizeof word);
    return word;
}
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    uint64_t word = word_of(X);
    if (M == 256 && last != 0 && word != last)
        is_late = !is_late;
    last = word;
    if (is_late)
        all_rows(X, Y, M, N);
#endif
    all_rows(X, Y, M, N);
}
