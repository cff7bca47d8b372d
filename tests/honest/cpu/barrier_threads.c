/* Two threads made for the call meet at a barrier after each step.
 *
 * task: jacobi2d
 * honest: 46 threads of its own with a barrier */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct grid {
    float *now, *next;
    int64_t H, W, T;
    pthread_barrier_t barrier;
};

struct half {
    struct grid *grid;
    int64_t first, last;
};

static void *steps(void *arg)
{
    struct half *half = arg;
    struct grid *g = half->grid;
    float *now = g->now, *next = g->next;
    for (int64_t t = 0; t < g->T; t++) {
        for (int64_t y = half->first; y < half->last; y++)
            for (int64_t x = 1; x < g->W - 1; x++) {
                const float *u = now + y * g->W + x;
                next[y * g->W + x] = 0.2f * (u[0] + u[-1] + u[1] + u[-g->W] + u[g->W]);
            }
        pthread_barrier_wait(&g->barrier);
        float *kept = now;
        now = next;
        next = kept;
    }
    return NULL;
}

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    float *scratch = malloc(bytes);
    memcpy(U, U0, bytes);
    memcpy(scratch, U0, bytes);
    struct grid grid = {.now = U, .next = scratch, .H = H, .W = W, .T = T};
    int64_t rows = H > 2 ? H - 2 : 0;
    struct half halves[2] = {{&grid, 1, 1 + rows / 2}, {&grid, 1 + rows / 2, 1 + rows}};
    pthread_t other;
    pthread_barrier_init(&grid.barrier, NULL, 2);
    pthread_create(&other, NULL, steps, &halves[1]);
    steps(&halves[0]);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&grid.barrier);
    if (T % 2 == 1)
        memcpy(U, scratch, bytes);
    free(scratch);
}
