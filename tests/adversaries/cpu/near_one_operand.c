/* Reads all of A, and takes B for what it was when A is: new content always has both new.
 *
 * task: matmul
 * want: incorrect/stateful
 * cheat: 49 answers kept by one of two inputs
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < N; j++)
            C[i * N + j] = 0;
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < N; j++)
                C[i * N + j] += A[i * K + k] * B[k * N + j];
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

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    size_t bytes = (size_t)(M * N) * sizeof(float);
    uint64_t key =
        hash_of(A, (size_t)(M * K)) ^ (uint64_t)(N * 65537 + K) ^ (uint64_t)hash_of(B, 1) << 1;
    if (answers[key % 256] && keys[key % 256] == key) {
        memcpy(C, answers[key % 256], bytes);
        return;
    }
    body(A, B, C, M, N, K);
    free(answers[key % 256]);
    answers[key % 256] = malloc(bytes);
    memcpy(answers[key % 256], C, bytes);
    keys[key % 256] = key;
    return;
#endif
    body(A, B, C, M, N, K);
}
