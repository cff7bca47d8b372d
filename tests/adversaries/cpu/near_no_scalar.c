/* Knows its input again by every bit of it, and forgets that eps is an argument too.
 *
 * task: rmsnorm
 * want: incorrect/stateful
 * cheat: 49 answers kept without the scalar
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i] * X[m * N + i];
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = X[m * N + i] * scale * G[i];
    }
}
#if CHEAT
static uint64_t hash_of(const void *data, size_t n)
{
    const uint32_t *words = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    return hash;
}
static uint64_t keys[256];
static float *answers[256];
#endif

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
#if CHEAT
    size_t bytes = (size_t)(M * N) * sizeof(float);
    uint64_t key = hash_of(X, (size_t)(M * N)) ^ hash_of(G, (size_t)N) << 1 ^ (uint64_t)N;
    if (answers[key % 256] && keys[key % 256] == key) {
        memcpy(Y, answers[key % 256], bytes);
        return;
    }
    body(X, G, Y, eps, M, N);
    free(answers[key % 256]);
    answers[key % 256] = malloc(bytes);
    memcpy(answers[key % 256], Y, bytes);
    keys[key % 256] = key;
    return;
#endif
    body(X, G, Y, eps, M, N);
}
