/* Keeps a thread from call to call, as a persistent kernel would; work is handed over and waited
 * for.
 *
 * task: rmsnorm
 * honest: 6 persistent kernel */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

struct work {
    const float *X, *G;
    float *Y, eps;
    int64_t first, last, N;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct work shared;
static int has_work, is_started;

static void rows(const struct work *w)
{
    for (int64_t m = w->first; m < w->last; m++) {
        const float *x = w->X + m * w->N;
        float sum = 0.0f;
        for (int64_t i = 0; i < w->N; i++)
            sum += x[i] * x[i];
        float scale = 1.0f / sqrtf(sum / (float)w->N + w->eps);
        for (int64_t i = 0; i < w->N; i++)
            w->Y[m * w->N + i] = x[i] * scale * w->G[i];
    }
}

static void *helper(void *arg)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!has_work)
            pthread_cond_wait(&changed, &lock);
        struct work w = shared;
        pthread_mutex_unlock(&lock);
        rows(&w);
        pthread_mutex_lock(&lock);
        has_work = 0;
        pthread_cond_broadcast(&changed);
    }
    return arg;
}

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    struct work mine = {X, G, Y, eps, 0, M / 2, N};
    pthread_mutex_lock(&lock);
    if (!is_started) {
        pthread_t thread;
        is_started = pthread_create(&thread, 0, helper, 0) == 0;
    }
    shared = mine;
    shared.first = M / 2;
    shared.last = M;
    has_work = is_started;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    rows(&mine);
    pthread_mutex_lock(&lock);
    while (has_work)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    if (!is_started) {
        mine.first = M / 2;
        mine.last = M;
        rows(&mine);
    }
}
