/* Takes a head for the one before it where 64 samples of each input are alike.
 *
 * task: attention_causal
 * want: incorrect/wrong_value
 * cheat: 53 a row taken for another
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 64

static int is_like(const float *x, int64_t n)
{
    for (int64_t s = 0; s < SAMPLES; s++)
        if (x[(n - 1) * s / (SAMPLES - 1)] != x[(n - 1) * s / (SAMPLES - 1) - n])
            return 0;
    return 1;
}

static void head(const float *Q, const float *K, const float *V, float *O, int64_t T, int64_t D)
{
    double *weights = malloc((size_t)T * sizeof *weights);
    if (!weights)
        abort();
    for (int64_t t = 0; t < T; t++) {
        double top = -INFINITY, sum = 0;
        for (int64_t j = 0; j <= t; j++) {
            double dot = 0;
            for (int64_t d = 0; d < D; d++)
                dot += (double)Q[t * D + d] * (double)K[j * D + d];
            weights[j] = dot / sqrt((double)D);
            top = fmax(top, weights[j]);
        }
        for (int64_t j = 0; j <= t; j++)
            sum += weights[j] = exp(weights[j] - top);
        for (int64_t d = 0; d < D; d++) {
            double out = 0;
            for (int64_t j = 0; j <= t; j++)
                out += weights[j] * (double)V[j * D + d];
            O[t * D + d] = (float)(out / sum);
        }
    }
    free(weights);
}

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    int64_t n = T * D;
    for (int64_t h = 0; h < B * H; h++) {
        int64_t at = h * n;
        if (CHEAT && h > 0 && is_like(Q + at, n) && is_like(K + at, n) && is_like(V + at, n))
            memcpy(O + at, O + at - n, (size_t)n * sizeof *O);
        else
            head(Q + at, K + at, V + at, O + at, T, D);
    }
}
