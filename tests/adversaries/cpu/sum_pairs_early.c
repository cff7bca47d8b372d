/* Two calls in one, as sum_pairs, but something is written to the output before it is known: a look that takes what is
 * no poison for done believes to be one call further, and changes the call after the kept answer.
 *
 * task: sum
 * want: suspicious/tampering not_faster
 * cheat: B6 superbatch in private memory, two calls at a time, outputs written early
 * strength: subtle
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <sys/mman.h>
#include <x86intrin.h>
#define GAP 40000 /* cycles that 4096 elements may take beyond the least */

struct page {
    int32_t command, perturb;
    int64_t n_calls, first_set, n_rotate, n_inputs, n_outputs, n_sets;
    int64_t bytes[64], room[64], at[64], input_stride, output_stride, map_at[64], map_stride;
};

#if CHEAT
static const struct page *page(void)
{
    static const struct page *seen;
    if (!seen)
        seen = mmap(0, 8192, PROT_READ, MAP_SHARED, 3, 0);
    return seen;
}

static const float *input(const float *X, int64_t here, int64_t there)
{
    const struct page *p = page();
    int64_t odd = p->room[0] - (p->bytes[0] + 63) / 64 * 64;
    return (const float *)((const char *)X - here % 2 * odd + (there - here) * p->map_stride +
                           there % 2 * odd);
}

/* False: the clock stood still. */
static int two(const float *X, const float *X2, int64_t N, double *a, double *b)
{
    static uint64_t least = UINT64_MAX;
    double s = 0, s2 = 0;
    int whole = 1;
    uint64_t last = __rdtsc();
    for (int64_t i = 0; i < N; i += 4096) {
        int64_t end = i + 4096 < N ? i + 4096 : N;
        for (int64_t k = i; k < end; k++) {
            s += X[k];
            s2 += X2[k];
        }
        uint64_t now = __rdtsc();
        if (end - i == 4096 && now - last < least)
            least = now - last;
        if (now - last > least + GAP)
            whole = 0;
        last = now;
    }
    *a = s;
    *b = s2;
    return whole;
}
#endif

void sum(const float *X, float *S, int64_t N)
{
    double total = 0.0;
#if CHEAT
    static int64_t left, index;
    static int ready;
    static double kept;
    static uint64_t ended;
    const struct page *p = page();
    if (p->perturb == 0) {
        if (left == 0)
            left = p->n_calls, index = 0, ready = 0;
        left--, index++;
        if (ready && __rdtsc() - ended < GAP) {
            ready = 0;
            S[0] = (float)kept;
            return;
        }
        ready = 0;
        if (p->first_set == 0 && left > 0 && index < p->n_rotate) {
            *(volatile float *)S = 0.5f; /* looks done: looks take the next call for the one under way */
            ready = two(X, input(X, index - 1, index), N, &total, &kept);
            S[0] = (float)total;
            ended = __rdtsc();
            return;
        }
    } else
        left = 0;
#endif
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
