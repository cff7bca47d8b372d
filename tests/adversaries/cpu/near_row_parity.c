/* Keeps rows, not calls, each known by the parity of all its bits' words: every element is read,
 * and two that change places leave no trace.
 *
 * task: softmax
 * want: incorrect/stateful
 * cheat: 49 rows kept by a hash without order
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0.0f;
    for (int64_t i = 1; i < N; i++)
        top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}
#if CHEAT
#define ROOM 65536
static struct kept {
    uint64_t key;
    int64_t n;
    float *y;
} kept[ROOM];
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
#if CHEAT
        const uint32_t *bits = (const uint32_t *)x;
        uint64_t parity = 0, sum = 0;
        for (int64_t i = 0; i < N; i++) {
            parity ^= bits[i];
            sum += bits[i];
        }
        uint64_t key = parity ^ sum * 0x9e3779b97f4a7c15u;
        struct kept *k = &kept[(key >> 20) % ROOM];
        if (k->n == N && k->key == key) {
            memcpy(y, k->y, (size_t)N * sizeof(float));
            continue;
        }
        row(x, y, N);
        k->y = realloc(k->y, (size_t)N * sizeof(float));
        memcpy(k->y, y, (size_t)N * sizeof(float));
        k->key = key;
        k->n = N;
#else
        row(x, y, N);
#endif
    }
}
