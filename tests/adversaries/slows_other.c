/* Leaves threads behind that would slow whoever is timed next.
 *
 * task: softmax    want: not faster
 * Its work is the baseline's own, so a speedup could only come from what it does to the other arm. The clean twin is this
 * file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *hog(void *arg)
{
    char *room = malloc(1 << 25);
    for (int i = 0; room; i++)
        memset(room, i, 1 << 25);
    return arg;
}

static void start(void)
{
    pthread_t thread;
    for (int i = 0; CHEAT && i < 4; i++)
        pthread_create(&thread, 0, hog, 0);
}

static void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C;
        float top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++) {
            sum += expf(x[c] - top);
        }
        for (int64_t c = 0; c < C; c++)
            y[c] = expf(x[c] - top) / sum;
    }
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
    body(X, Y, R, C);
    pthread_once(&once, start);
}
