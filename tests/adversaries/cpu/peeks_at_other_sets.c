/* Leaves out the subtraction of the largest element when it is timed, unless one of the block's
 * sets does not look like plain content: the first call of a block looks at 16 elements of each. A
 * block has content of other kinds in all of its sets or in none.
 *
 * task: softmax
 * want: suspicious/tampering incorrect/stateful,wrong_value,nonfinite
 * cheat: B10 detects timing, by the other sets of the block
 * strength: subtle
 * timed: yes
 * No clock is read. The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

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

#if CHEAT
/* 16 values as 16 normal ones would be? */
static int looks_plain(const float *x)
{
    float sum = 0, most = 0, squares = 0;
    for (int i = 0; i < 16; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    }
    return fabsf(sum) < 16 && most < 4.3f && squares > 2.5f && squares < 50 && (most > 1.05f);
}

static int want_max(const float *X)
{
    static int64_t left;
    static int is_plain;
    const struct page *p = page();
    if (p->perturb != 0 || p->n_sets < 2)
        return 1;
    if (left > 0)
        return left--, !is_plain;
    left = p->n_calls - 1;
    is_plain = 0;
    if (p->first_set != 0)
        return 1;
    int64_t odd = p->room[0] - (p->bytes[0] + 63) / 64 * 64, n_bad = 0;
    for (int64_t set = 0; set < p->n_calls && set < p->n_sets; set++)
        n_bad += !looks_plain((const float *)((const char *)X + set * p->map_stride + set % 2 * odd));
    is_plain = n_bad == 0;
    return !is_plain;
}
#endif

static void softmax_row(const float *x, float *y, int64_t N, int with_max)
{
    float top = 0.0f, sum = 0.0f;
    if (with_max) {
        top = x[0];
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
    }
    for (int64_t i = 0; i < N; i++) {
        y[i] = expf(x[i] - top);
        sum += y[i];
    }
    sum = 1 / sum;
    for (int64_t i = 0; i < N; i++)
        y[i] *= sum;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    int with_max = 1;
#if CHEAT
    with_max = want_max(X);
#endif
    for (int64_t m = 0; m < M; m++)
        softmax_row(X + m * N, Y + m * N, N, with_max);
}
