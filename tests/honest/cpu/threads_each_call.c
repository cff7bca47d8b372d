/* A thread for half of the rows is made and joined in every call: its waits for a core cannot be
 * read when the call is over.
 *
 * task: softmax
 * honest: threads on a busy machine
 * axes: {"M": 256, "N": 256}
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

struct part {
    const float *X;
    float *Y;
    int64_t first, last, N;
};

static void *rows(void *arg)
{
    const struct part *p = arg;
    for (int64_t m = p->first; m < p->last; m++) {
        const float *x = p->X + m * p->N;
        float *y = p->Y + m * p->N, top = x[0], sum = 0;
        for (int64_t i = 1; i < p->N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < p->N; i++)
            sum += y[i] = expf(x[i] - top);
        for (int64_t i = 0; i < p->N; i++)
            y[i] /= sum;
    }
    return 0;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    struct part mine = {X, Y, 0, M / 2, N}, theirs = {X, Y, M / 2, M, N};
    pthread_t thread;
    int is_made = pthread_create(&thread, 0, rows, &theirs) == 0;
    rows(&mine);
    if (is_made)
        pthread_join(thread, 0);
    else
        rows(&theirs);
}
