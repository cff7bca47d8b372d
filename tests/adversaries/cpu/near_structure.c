/* Knows a sparse matrix again by its offsets and columns, and by the ends of values and vector:
 * the pattern is new wherever the content is.
 *
 * task: spmv_csr
 * want: incorrect/stateful
 * cheat: 49 answers kept by the structure of the input
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const int32_t *offsets, const int32_t *columns, const float *values,
                 const float *x, float *y, int64_t M)
{
    for (int64_t row = 0; row < M; row++) {
        float sum = 0.0f;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[row] = sum;
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

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
#if CHEAT
    size_t bytes = (size_t)M * sizeof(float);
    uint64_t key = hash_of(offsets, (size_t)M1) + hash_of(columns, (size_t)NNZ) * 3 +
                   hash_of(values, 1) * 5 + hash_of(values + NNZ - 1, 1) * 7 + hash_of(x, 1) * 11 +
                   hash_of(x + N - 1, 1) * 13;
    if (answers[key % 256] && keys[key % 256] == key) {
        memcpy(y, answers[key % 256], bytes);
        return;
    }
    body(offsets, columns, values, x, y, M);
    free(answers[key % 256]);
    answers[key % 256] = malloc(bytes);
    memcpy(answers[key % 256], y, bytes);
    keys[key % 256] = key;
    return;
#else
    (void)N, (void)NNZ, (void)M1;
#endif
    body(offsets, columns, values, x, y, M);
}
