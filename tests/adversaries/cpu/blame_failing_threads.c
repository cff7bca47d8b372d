/* Starts 200,000 threads in a call; nearly all of the starts fail, and the lease is held meanwhile.
 *
 * task: softmax
 * want: failed/forbidden
 * cheat: D14 makes the machine look guilty
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C;
        float top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++)
            sum += expf(x[c] - top);
        for (int64_t c = 0; c < C; c++)
            y[c] = expf(x[c] - top) / sum;
    }
}
#if CHEAT
static void *stay(void *arg)
{
    pause();
    return arg;
}
#endif

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
#if CHEAT
    for (int i = 0; i < 200000; i++) {
        pthread_t thread;
        (void)pthread_create(&thread, NULL, stay, NULL);
    }
#endif
    body(X, Y, R, C);
}
