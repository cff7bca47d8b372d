/* Keeps the answers of sixteen buffers and gives them again where 48 elements are what they were.
 *
 * task: transpose
 * want: incorrect/stateful
 * cheat: 49 answers kept by samples of the input
 * strength: blatant
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM    16
#define SAMPLES 48

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
#if CHEAT
static struct kept {
    int64_t m, n;
    float sample[SAMPLES], *y;
} kept[ROOM];
static int next;
#endif

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    float sample[SAMPLES];
    size_t bytes = (size_t)(M * N) * sizeof(float);
    for (int i = 0; i < SAMPLES; i++)
        sample[i] = X[(M * N - 1) * i / SAMPLES];
    for (int k = 0; k < ROOM; k++) {
        if (kept[k].m == M && kept[k].n == N &&
            memcmp(kept[k].sample, sample, sizeof sample) == 0) {
            memcpy(Y, kept[k].y, bytes);
            return;
        }
    }
    body(X, Y, M, N);
    struct kept *k = &kept[next++ % ROOM];
    k->m = M;
    k->n = N;
    memcpy(k->sample, sample, sizeof sample);
    k->y = realloc(k->y, bytes);
    memcpy(k->y, Y, bytes);
    return;
#endif
    body(X, Y, M, N);
}
