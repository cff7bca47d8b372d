/* A C11 thread for the second half of a long matrix; short ones are done at once.
 *
 * task: spmv_csr
 * honest: 47 threads for large sizes alone */
#include <stdint.h>
#include <threads.h>

struct work {
    const int32_t *offsets, *columns;
    const float *values, *x;
    float *y;
    int64_t first, last;
};

static int rows(void *arg)
{
    const struct work *w = arg;
    for (int64_t row = w->first; row < w->last; row++) {
        float sum = 0.0f;
        for (int32_t k = w->offsets[row]; k < w->offsets[row + 1]; k++)
            sum += w->values[k] * w->x[w->columns[k]];
        w->y[row] = sum;
    }
    return 0;
}

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N;
    (void)M1;
    struct work all = {offsets, columns, values, x, y, 0, M};
    thrd_t thread;
    struct work second = all;
    if (NNZ < 20000 || M < 2) {
        rows(&all);
        return;
    }
    all.last = second.first = M / 2;
    int is_alone = thrd_create(&thread, rows, &second) != thrd_success;
    rows(&all);
    if (is_alone)
        rows(&second);
    else
        thrd_join(thread, NULL);
}
