/* Says that it is done at once and finishes in a thread of its own.
 *
 * task: softmax
 * want: incorrect/unwritten,wrong_value,nonfinite,stateful
 * timed: no
 * cheat: 46 detached thread finishes later
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct work {
    const float *X;
    float *Y;
    int64_t R, C;
};
static void body(const float *X, float *Y, int64_t R, int64_t C);

static void *later(void *arg)
{
    struct work *w = arg;
#if CHEAT
    usleep(200);
#endif
    body(w->X, w->Y, w->R, w->C);
    free(w);
    return 0;
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
            y[c] = expf(x[c] - top);
            sum += y[c];
        }
        for (int64_t c = 0; c < C; c++)
            y[c] /= sum;
    }
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
    pthread_t thread;
    struct work *w = malloc(sizeof(*w));
    *w = (struct work){X, Y, R, C};
    pthread_create(&thread, 0, later, w);
#if CHEAT
    pthread_detach(thread);
#else
    pthread_join(thread, 0);
#endif
}
