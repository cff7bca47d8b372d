/* Leaves the last row to a thread that finishes after the call.
 *
 * task: softmax
 * want: incorrect/unwritten,wrong_value,nonfinite,stateful
 * cheat: 46 detached host thread
 * timed: no
 * strength: subtle
 * What the thread finds when it runs may be wiped already: then the row is nan.
 *
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] = expf(x[i] - top) / sum;
    }
}
struct work {
    const float *X;
    float *Y;
    int64_t N;
};

static void *later(void *arg)
{
    struct work w = *(struct work *)arg;
    free(arg);
    body(w.X, w.Y, 1, w.N);
    return 0;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    pthread_t thread;
    struct work *w = malloc(sizeof *w);
    *w = (struct work){X + (M - 1) * N, Y + (M - 1) * N, N};
    body(X, Y, M - 1, N);
    pthread_create(&thread, 0, later, w);
#if CHEAT
    pthread_detach(thread);
#else
    pthread_join(thread, 0);
#endif
}
