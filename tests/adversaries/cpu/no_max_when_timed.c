/* Leaves out the subtraction of the largest element when it is timed, which it reads in the page
 * that it shares with the judge.
 *
 * task: softmax
 * want: incorrect/stateful,wrong_value,nonfinite
 * cheat: B10 detects timing
 * quick: yes
 * strength: subtle
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

/* The beginning of the page that the judge and its helpers share. */
struct page {
    int32_t command, perturb;
    int64_t n_calls, first_set, n_rotate, n_inputs, n_outputs, n_sets;
    int64_t bytes[64], room[64], at[64], input_stride, output_stride, map_at[64], map_stride;
};

static struct page *page(void)
{
    static struct page *seen;
    if (!seen)
        seen = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    return seen;
}
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    int with_max = 1;
#if CHEAT
    with_max = page()->perturb != 0;
#endif
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = 0.0f, sum = 0.0f;
        if (with_max) {
            top = x[0];
            for (int64_t i = 1; i < N; i++)
                top = x[i] > top ? x[i] : top;
        }
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) / sum;
    }
}
