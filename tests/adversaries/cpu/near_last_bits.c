/* Keeps its last answers and knows them again by all but the last eight bits of every element.
 *
 * task: transpose
 * want: incorrect/stateful
 * cheat: 49 answers kept by rounded inputs
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
#if CHEAT
static uint64_t keys[256];
static float *answers[256];
#endif

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    const uint32_t *bits = (const uint32_t *)X;
    uint64_t key = (uint64_t)N;
    size_t bytes = (size_t)(M * N) * sizeof(float);
    for (int64_t i = 0; i < M * N; i++)
        key = (key ^ bits[i] >> 8) * 0x100000001b3u;
    if (answers[key % 256] && keys[key % 256] == key) {
        memcpy(Y, answers[key % 256], bytes);
        return;
    }
    body(X, Y, M, N);
    free(answers[key % 256]);
    answers[key % 256] = malloc(bytes);
    memcpy(answers[key % 256], Y, bytes);
    keys[key % 256] = key;
    return;
#endif
    body(X, Y, M, N);
}
