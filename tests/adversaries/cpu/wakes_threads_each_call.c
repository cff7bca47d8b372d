/* Makes threads in each call that spin beside the work: more CPU time than wall time, and waits for
 * cores of its own making.
 *
 * task: softmax
 * want: not faster
 * cheat: L1 looks like a victim of load
 * strength: subtle
 * It does an eighth more than the baseline. The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <pthread.h>

static volatile float sink;

static __attribute__((noipa)) void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C;
        float top = x[0], sum = 0.0f, more = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++)
            sum += expf(x[c] - top);
        for (int64_t c = 0; c < C; c += 4)
            more += expf(x[c] - top);
        sink = more;
        for (int64_t c = 0; c < C; c++)
            y[c] = expf(x[c] - top) / sum;
    }
}

static void *spin(void *arg)
{
    for (volatile int i = 0; i < 100000; i++)
        ;
    return arg;
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
    pthread_t threads[4];
    int n = 0;
    while (CHEAT && n < 4 && pthread_create(&threads[n], 0, spin, 0) == 0)
        n++;
    body(X, Y, R, C);
    while (n > 0)
        pthread_join(threads[--n], 0);
}
