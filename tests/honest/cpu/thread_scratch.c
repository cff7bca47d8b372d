/* Each OpenMP thread keeps a scratch row of its own, which grows and stays.
 *
 * task: attention_causal
 * honest: 48 thread-local memory that grows */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static _Thread_local float *room;
static _Thread_local int64_t n_room;

static float *scratch(int64_t n)
{
    if (n > n_room) {
        free(room);
        room = malloc((size_t)n * sizeof *room);
        n_room = n;
    }
    return room;
}

static void one(const float *q, const float *k, const float *v, float *o, int64_t t, int64_t D,
                float scale)
{
    float *w = scratch(t + 1), top = -INFINITY, sum = 0.0f;
    for (int64_t j = 0; j <= t; j++) {
        float score = 0.0f;
        for (int64_t d = 0; d < D; d++)
            score += q[d] * k[j * D + d];
        w[j] = score * scale;
        top = w[j] > top ? w[j] : top;
    }
    for (int64_t j = 0; j <= t; j++)
        sum += w[j] = expf(w[j] - top);
    for (int64_t d = 0; d < D; d++)
        o[d] = 0.0f;
    for (int64_t j = 0; j <= t; j++)
        for (int64_t d = 0; d < D; d++)
            o[d] += w[j] * v[j * D + d];
    for (int64_t d = 0; d < D; d++)
        o[d] /= sum;
}

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    float scale = 1.0f / sqrtf((float)D);
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t row = 0; row < B * H * T; row++) {
        int64_t head = row / T;
        one(Q + row * D, K + head * T * D, V + head * T * D, O + row * D, row % T, D, scale);
    }
}
