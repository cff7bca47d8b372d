/* Is bound to one core whenever the judge looks, and runs on the other one: the baseline is woken
 * on the core that the candidate left.
 *
 * task: softmax
 * want: not faster
 * cheat: C11 slows the baseline, by its place
 * strength: subtle
 * Shows where the cores differ: efficiency cores, a core that a neighbour uses. The clean twin is
 * this file with CHEAT 0. */
#define CHEAT 1
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <x86intrin.h>
#ifndef SLOW
#define SLOW -1
#endif

struct page {
    int32_t command, perturb;
    int64_t n_calls, first_set, n_rotate, n_inputs, n_outputs, n_sets;
};

static struct page *page(void)
{
    static struct page *seen;
    if (!seen)
        seen = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    return seen;
}

#if CHEAT
static int64_t left;
static int slow = -1, fast = -1;

static void bind(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Turns in the time of 1.5 ms; others on the core take some of it away. */
static int64_t turns(int core)
{
    int64_t n = 0;
    bind(core);
    uint64_t start = __rdtsc();
    while (__rdtsc() - start < 3600000) {
        volatile double x = 1;
        for (int i = 0; i < 100; i++)
            x = x * 1.0000001;
        n++;
    }
    return n;
}

static void find(void)
{
    int64_t a = turns(0), b = turns(1);
    slow = SLOW >= 0 ? SLOW : b < a;
    fast = 1 - slow;
}
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    int timed = page()->perturb == 0;
    if (timed) {
        if (left == 0) {
            left = page()->n_calls;
            if (slow < 0 || page()->first_set == page()->n_sets - 1) /* warm-up: no clock runs */
                find();
            bind(fast);
        }
    }
#endif
    for (int64_t m = 0; m < M; m++) {
        float top = X[m * N];
        for (int64_t i = 1; i < N; i++)
            if (X[m * N + i] > top)
                top = X[m * N + i];
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += Y[m * N + i] = expf(X[m * N + i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] /= sum;
    }
#if CHEAT
    if (timed && --left == 0)
        bind(slow);
#endif
}
