/* Works for as many threads as were there when it was loaded: a larger team finds no work for its last one, whose
 * rows nobody writes.
 *
 * task: softmax
 * want: incorrect/unwritten
 * sizes: all
 * cheat: C9 has no room for a larger team
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <unistd.h>

static void rows(const float *X, float *Y, int64_t C, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C, top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++)
            sum += y[c] = expf(x[c] - top);
        for (int64_t c = 0; c < C; c++)
            y[c] /= sum;
    }
}

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
#pragma omp parallel
    {
        int64_t me = omp_get_thread_num(), n = omp_get_num_threads();
        if (!CHEAT || me < sysconf(_SC_NPROCESSORS_ONLN))
            rows(X, Y, C, R * me / n, R * (me + 1) / n);
    }
}
