/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/relatives/runtime.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_ARRAYS = 16, MAX_VERSIONS = 512, N_THREADS = 4, SECONDS = 10 };

struct array {
    const char *name;
    char type;
    long n;
    double shift;
    long below;
    char *data, *map;
    size_t bytes, map_bytes;
    void *want;
};

static struct array arrays[MAX_ARRAYS];
static int n_arrays, current_call, ends;
static sigjmp_buf jump;
static bool is_dead[MAX_VERSIONS];
static volatile sig_atomic_t hit;

static void caught(int sig)
{
    hit = sig;
    siglongjmp(jump, 1);
}

void rt_begin(int call, int at_end)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGABRT};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], caught);
    for (int i = 0; i < n_arrays; i++) {
        munmap(arrays[i].map, arrays[i].map_bytes);
        free(arrays[i].want);
    }
    n_arrays = 0;
    current_call = call;
    ends = at_end;
}

void *rt_array(const char *name, char type, long n, double shift, long below)
{
    struct array *a = &arrays[n_arrays++];
    size_t page = 4096, size = type == 'd' ? 8 : 4;
    *a = (struct array){
        .name = name, .type = type, .n = n > 0 ? n : 1, .shift = shift, .below = below};
    a->bytes = (size_t)a->n * size;
    size_t inner = (a->bytes + page - 1) / page * page;
    a->map_bytes = inner + 2 * page;
    a->map = mmap(NULL, a->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->map == MAP_FAILED || mprotect(a->map + page, inner, PROT_READ | PROT_WRITE) != 0)
        exit(RT_FAILED);
    a->data = a->map + page + (ends ? inner - a->bytes : 0);
    a->want = malloc(a->bytes);
    return a->data;
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void fill(void)
{
    for (int k = 0; k < n_arrays; k++) {
        struct array *a = &arrays[k];
        uint32_t state = (uint32_t)(k * 7919 + current_call * 131 + 17);
        for (long i = 0; i < a->n; i++) {
            uint32_t x = draw(&state);
            double value = (double)(x % 2003) / 1000.0 - 1.0 + a->shift;
            if (a->type == 'f')
                ((float *)(void *)a->data)[i] = (float)value;
            else if (a->type == 'd')
                ((double *)(void *)a->data)[i] = value;
            else
                ((int32_t *)(void *)a->data)[i] =
                    a->type == 'x' ? (int32_t)(x % (uint32_t)a->below) : (int32_t)(x % 9) - 4;
        }
    }
    hit = 0;
    alarm(SECONDS);
}

static double element(const struct array *a, const void *from, long i)
{
    return a->type == 'f'   ? (double)((const float *)from)[i]
           : a->type == 'd' ? ((const double *)from)[i]
                            : (double)((const int32_t *)from)[i];
}

/* Sums in another order differ by rounding alone; what blew up says nothing. */
static bool is_alike(const struct array *a, double want, double got)
{
    double share = a->type == 'f' ? 1e-3 : a->type == 'd' ? 1e-9 : 0;
    if (!isfinite(want) || fabs(want) > 1e30)
        return true;
    return fabs(want - got) <= share + share * fabs(want);
}

static void compare(int version)
{
    alarm(0);
    if (hit && version == 0) {
        printf("failed signal %d call %d\n", (int)hit, current_call);
        exit(RT_FAILED);
    }
    for (int k = 0; k < n_arrays && !is_dead[version]; k++) {
        struct array *a = &arrays[k];
        if (version == 0)
            memcpy(a->want, a->data, a->bytes);
        for (long i = 0; i < a->n && !is_dead[version]; i++) {
            double want = element(a, a->want, i), got = element(a, a->data, i);
            if (hit || !is_alike(a, want, got)) {
                is_dead[version] = true;
                printf("wrong %d signal %d call %d %s[%ld] = %.9g, expected %.9g\n", version,
                       (int)hit, current_call, a->name, i, got, want);
            }
        }
    }
}

static void leave_region(void);

void rt_run(int version, void (*run)(void))
{
    if (is_dead[version])
        return;
    fill();
    leave_region();
    if (sigsetjmp(jump, 1) == 0)
        run();
    compare(version);
}

/* ---- OpenMP, four threads in turn from barrier to barrier, the last first ---- */

enum { STACK_BYTES = 8 << 20 };

static struct {
    ucontext_t context;
    char *stack;
    bool is_done;
    int n_singles; /* that it came to */
} threads[N_THREADS];
static ucontext_t caller;
static void (*shared_region)(void *);
static void *shared_data;
static bool is_in_region;
static int thread_number, n_taken; /* singles that a thread runs or has run */

static void leave_region(void)
{
    is_in_region = false;
    thread_number = 0;
}

static void run_thread(void)
{
    shared_region(shared_data);
    threads[thread_number].is_done = true;
}

static void start_thread(int t)
{
    if (!threads[t].stack)
        threads[t].stack = malloc(STACK_BYTES);
    threads[t].is_done = false;
    threads[t].n_singles = 0;
    getcontext(&threads[t].context);
    threads[t].context.uc_stack.ss_sp = threads[t].stack;
    threads[t].context.uc_stack.ss_size = STACK_BYTES;
    threads[t].context.uc_link = &caller;
    makecontext(&threads[t].context, run_thread, 0);
}

int omp_get_thread_num(void)
{
    return thread_number;
}

int omp_get_num_threads(void)
{
    return N_THREADS;
}

int omp_get_max_threads(void)
{
    return N_THREADS;
}

void GOMP_barrier(void)
{
    if (is_in_region)
        swapcontext(&threads[thread_number].context, &caller);
}

bool GOMP_single_start(void)
{
    if (threads[thread_number].n_singles++ < n_taken)
        return false;
    n_taken++;
    return true;
}

void GOMP_parallel(void (*region)(void *), void *data, unsigned n_threads, unsigned flags)
{
    (void)n_threads;
    (void)flags;
    if (is_in_region)
        abort(); /* no rule writes one in the other */
    shared_region = region;
    shared_data = data;
    is_in_region = true;
    n_taken = 0;
    for (int t = 0; t < N_THREADS; t++)
        start_thread(t);
    for (bool is_left = true; is_left;) {
        is_left = false;
        for (thread_number = N_THREADS - 1; thread_number >= 0; thread_number--) {
            if (!threads[thread_number].is_done)
                swapcontext(&caller, &threads[thread_number].context);
            is_left = is_left || !threads[thread_number].is_done;
        }
    }
    leave_region();
}
