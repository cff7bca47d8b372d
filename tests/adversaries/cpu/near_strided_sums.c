/* Knows a matrix again by the sums of every third element from three starts, so that all are
 * looked at, and by nothing that tells where they stand.
 *
 * task: softmax
 * want: incorrect/stateful
 * cheat: 49 answers kept by strided sums
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) / sum;
    }
}
#if CHEAT
static uint64_t known[64][4];
static float *answers[64];
static int next;
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    const uint32_t *bits = (const uint32_t *)X;
    uint64_t key[4] = {(uint64_t)(M * 1000003 + N)};
    size_t bytes = (size_t)(M * N) * sizeof(float);
    for (int64_t i = 0; i < M * N; i++)
        key[1 + i % 3] += bits[i];
    for (int k = 0; k < 64; k++) {
        if (answers[k] && memcmp(known[k], key, sizeof key) == 0) {
            memcpy(Y, answers[k], bytes);
            return;
        }
    }
    body(X, Y, M, N);
    int k = next++ % 64;
    answers[k] = realloc(answers[k], bytes);
    memcpy(answers[k], Y, bytes);
    memcpy(known[k], key, sizeof key);
    return;
#endif
    body(X, Y, M, N);
}
