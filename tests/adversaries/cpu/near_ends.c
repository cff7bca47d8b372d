/* Compares the first and the last cache line of both operands with those of the call before on
 * the same buffers.
 *
 * task: matmul
 * want: incorrect/stateful
 * cheat: 49 answers kept by the ends of the inputs
 * strength: blatant
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 16

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
static struct buffer {
    const float *a, *b;
    int64_t size[3];
    float ends[4 * LINE], *c;
} buffers[512];

static void take(const float *from, int64_t n, float *to)
{
    for (int64_t i = 0; i < LINE; i++) {
        to[i] = from[i < n ? i : n - 1];
        to[LINE + i] = from[n - 1 - i >= 0 ? n - 1 - i : 0];
    }
}
#endif

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    float ends[4 * LINE];
    int64_t size[3] = {M, N, K};
    struct buffer *b = buffers;
    size_t bytes = (size_t)(M * N) * sizeof(float);
    while (b < buffers + 511 && b->a && (b->a != A || b->b != B))
        b++;
    take(A, M * K, ends);
    take(B, K * N, ends + 2 * LINE);
    if (b->a == A && b->b == B && memcmp(b->size, size, sizeof size) == 0 &&
        memcmp(b->ends, ends, sizeof ends) == 0) {
        memcpy(C, b->c, bytes);
        return;
    }
    body(A, B, C, M, N, K);
    b->a = A;
    b->b = B;
    memcpy(b->size, size, sizeof size);
    memcpy(b->ends, ends, sizeof ends);
    b->c = realloc(b->c, bytes);
    memcpy(b->c, C, bytes);
    return;
#endif
    body(A, B, C, M, N, K);
}
