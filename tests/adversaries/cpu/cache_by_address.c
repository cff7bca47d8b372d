/* Keeps its answer and gives it again for the same address.
 *
 * task: transpose
 * want: incorrect/stateful,wrong_value,unwritten
 * cheat: 26 keeps last result (by address)
 * strength: blatant
 * timed: yes
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
static const float *known[256];
static float *kept[256];
#endif

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    size_t bytes = (size_t)(M * N) * sizeof(float);
    int at = 0;
    while (at < 255 && known[at] && known[at] != X)
        at++;
    if (known[at] == X) {
        memcpy(Y, kept[at], bytes);
        return;
    }
    body(X, Y, M, N);
    known[at] = X;
    kept[at] = malloc(bytes);
    memcpy(kept[at], Y, bytes);
    return;
#endif
    body(X, Y, M, N);
}
