/* Knows a call again by its addresses and a checksum of every tenth row of both operands.
 *
 * task: matmul
 * want: incorrect/stateful
 * cheat: 49 answers kept by addresses and a checksum of tiles
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
static uint64_t checksum(uint64_t hash, const float *x, int64_t rows, int64_t columns)
{
    const uint32_t *bits = (const uint32_t *)x;
    for (int64_t r = rows / 2 % 10; r < rows; r += 10)
        for (int64_t c = 0; c < columns; c++)
            hash = (hash ^ bits[r * columns + c]) * 0x100000001b3u;
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
        (uint64_t)(uintptr_t)A * 31 + (uint64_t)(M * 7 + N * 3 + K) * 0x9e3779b97f4a7c15u;
    key = checksum(checksum(key, A, M, K), B, K, N);
    uint64_t at = key % 256;
    if (answers[at] && keys[at] == key) {
        memcpy(C, answers[at], bytes);
        return;
    }
    body(A, B, C, M, N, K);
    free(answers[at]);
    answers[at] = malloc(bytes);
    memcpy(answers[at], C, bytes);
    keys[at] = key;
    return;
#endif
    body(A, B, C, M, N, K);
}
