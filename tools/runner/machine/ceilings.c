/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what this machine can do at best: reading and copying memory, the same inside the
 * last-level cache, and float32 multiply-adds; all allowed cores at once, best of several short
 * rounds. A neighbour can only lower a round. */
#include "tools/runner/jail/roles.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/machine/machine.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"

#define MAX_CORES    256
#define ROUNDS       6
#define FMA_STEPS    400000
#define STREAM_BYTES (64ll << 20) /* per core */

typedef float lanes __attribute__((vector_size(64)));
typedef float eight __attribute__((vector_size(32)));

struct worker {
    pthread_barrier_t *start;
    float *buffer;
    int64_t bytes;
    int64_t repeats;
    int rounds;
    void (*work)(struct worker *worker);
    double amount; /* bytes or operations of one round */
    int64_t begin_ns, end_ns;
    float sink;
};

/* One body, compiled for what the CPU may have (target_clones would dispatch on the vendor's model
 * names). */
#define FOR_AVX2   __attribute__((target("avx2,fma")))
#define FOR_AVX512 __attribute__((target("avx512f")))
#define BODY       static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

BODY float sum_body(const float *at, int64_t n)
{
    eight sum[8] = {{0}};
    const eight *v = (const eight *)(const void *)at;
    for (int64_t i = 0; i + 8 <= n / 8; i += 8) {
        UNROLL for (int k = 0; k < 8; k++) sum[k] += v[i + k];
    }
    eight all = (sum[0] + sum[1]) + (sum[2] + sum[3]) + (sum[4] + sum[5]) + (sum[6] + sum[7]);
    return all[0] + all[7];
}

/* Twelve independent chains hide the latency of a multiply-add on any core; contraction makes each
 * a single one. */
#define CHAINS 12
#define CHAINS_BODY(name, vector)                                                                  \
    BODY float name(int64_t n)                                                                     \
    {                                                                                              \
        vector c[CHAINS], a = {0}, b = {0};                                                        \
        a += 0.999999f;                                                                            \
        b += 1e-6f;                                                                                \
        for (int k = 0; k < CHAINS; k++)                                                           \
            c[k] = b * (float)k;                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            UNROLL for (int k = 0; k < CHAINS; k++) c[k] = c[k] * a + b;                           \
        }                                                                                          \
        float sum = 0;                                                                             \
        for (int k = 0; k < CHAINS; k++)                                                           \
            sum += c[k][0] + c[k][7];                                                              \
        return sum;                                                                                \
    }
CHAINS_BODY(chains_8, eight)
CHAINS_BODY(chains_16, lanes)

static float sum_plain(const float *at, int64_t n)
{
    return sum_body(at, n);
}

static float chains_plain(int64_t n)
{
    return chains_8(n);
}

#if defined(__x86_64__)
FOR_AVX2 static float sum_avx2(const float *at, int64_t n)
{
    return sum_body(at, n);
}

FOR_AVX2 static float chains_avx2(int64_t n)
{
    return chains_8(n);
}

FOR_AVX512 static float chains_avx512(int64_t n)
{
    return chains_16(n);
}

static float sum_best(const float *at, int64_t n)
{
    return __builtin_cpu_supports("avx2") ? sum_avx2(at, n) : sum_plain(at, n);
}

static float chains_best(int64_t n)
{
    bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has_fma ? chains_avx2(n) : chains_plain(n);
}

static float chains_wide(int64_t n)
{
    return __builtin_cpu_supports("avx512f") ? chains_avx512(n) : 0;
}

static bool has_wide(void)
{
    return __builtin_cpu_supports("avx512f");
}
#else
static float sum_best(const float *at, int64_t n)
{
    return sum_plain(at, n);
}

static float chains_best(int64_t n)
{
    return chains_plain(n);
}

static float chains_wide(int64_t n)
{
    return chains_16(n);
}

static bool has_wide(void)
{
    return false;
}
#endif

static void read_all(struct worker *w)
{
    for (int64_t r = 0; r < w->repeats; r++)
        w->sink += sum_best(w->buffer, w->bytes / 4);
    w->amount = (double)w->bytes * (double)w->repeats;
}

static void copy_all(struct worker *w)
{
    size_t half = (size_t)w->bytes / 2;
    for (int64_t r = 0; r < w->repeats; r++) {
        memcpy((char *)w->buffer + half, w->buffer, half);
        w->sink += w->buffer[half / 4];
    }
    w->amount = (double)w->bytes * (double)w->repeats;
}

static void fma_256(struct worker *w)
{
    w->sink += chains_best(FMA_STEPS);
    w->amount = 2.0 * 8 * CHAINS * FMA_STEPS;
}

static void fma_512(struct worker *w)
{
    w->sink += chains_wide(FMA_STEPS / 2);
    w->amount = 2.0 * 16 * CHAINS * (FMA_STEPS / 2);
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    for (int r = 0; r < w->rounds; r++) {
        pthread_barrier_wait(w->start);
        w->begin_ns = hone_now_ns();
        w->work(w);
        w->end_ns = hone_now_ns();
        pthread_barrier_wait(w->start);
        pthread_barrier_wait(w->start);
    }
    return NULL;
}

/* Best rate over the rounds of all cores: of something they share (memory) measured together; of
 * something each has for itself, the best core's times their number, so that a neighbour on one
 * core does not lower the ceiling. */
static double best_rate(int n_cores, void (*work)(struct worker *), int64_t bytes, int64_t repeats,
                        bool is_shared)
{
    static const size_t align = 4096;
    struct worker workers[MAX_CORES] = {0};
    pthread_t threads[MAX_CORES];
    pthread_barrier_t barrier;
    int rounds = is_shared ? 3 * ROUNDS : ROUNDS; /* all cores must be free at once */
    pthread_barrier_init(&barrier, NULL, (unsigned)n_cores + 1);
    for (int i = 0; i < n_cores; i++) {
        workers[i] = (struct worker){
            .start = &barrier, .bytes = bytes, .repeats = repeats, .rounds = rounds, .work = work};
        if (bytes > 0) {
            workers[i].buffer = aligned_alloc(align, (size_t)bytes);
            HONE_BUG_ON(workers[i].buffer == NULL);
            memset(workers[i].buffer, 1, (size_t)bytes);
        }
        int code = pthread_create(&threads[i], NULL, run_worker, &workers[i]);
        HONE_BUG_ON(code != 0);
    }
    double best = 0;
    for (int r = 0; r < rounds; r++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        int64_t begin = INT64_MAX, end = 0;
        double amount = 0, alone = 0;
        for (int i = 0; i < n_cores; i++) {
            begin = hone_min_i64(begin, workers[i].begin_ns);
            end = hone_max_i64(end, workers[i].end_ns);
            amount += workers[i].amount;
            double own = workers[i].amount /
                         (double)hone_max_i64(workers[i].end_ns - workers[i].begin_ns, 1);
            alone = fmax(alone, own * 1e9 * n_cores);
        }
        double together = amount / (double)hone_max_i64(end - begin, 1) * 1e9;
        best = fmax(best, is_shared ? together : alone);
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < n_cores; i++) {
        pthread_join(threads[i], NULL);
        free(workers[i].buffer);
    }
    pthread_barrier_destroy(&barrier);
    return best;
}

int hone_role_ceilings(int argc, char **argv)
{
    if (argc != 1) {
        fputs("hone-runner: --ceilings takes a file name\n", stderr);
        return 2;
    }
    struct hone_machine machine;
    hone_machine_facts(&machine);
    int n = (int)hone_min_i64(machine.n_cores, MAX_CORES);
    int64_t in_cache = hone_max_i64(machine.cache_bytes / (4 * n), 64 << 10) / 4096 * 4096;
    int64_t repeats = hone_max_i64((16 << 20) / in_cache, 1);
    machine.memory_rate = fmax(best_rate(n, read_all, STREAM_BYTES, 1, true),
                               best_rate(n, copy_all, STREAM_BYTES, 1, true));
    /* A core's own caches are faster still; the floor must hold for data that lies there. */
    double near = fmax(best_rate(n, read_all, 256 << 10, 256, false),
                       best_rate(n, read_all, 16 << 10, 4096, false));
    machine.cache_rate = fmax(near, best_rate(n, read_all, in_cache, repeats, true));
    machine.flops = best_rate(n, fma_256, 0, 0, false);
    if (has_wide())
        machine.flops = fmax(machine.flops, best_rate(n, fma_512, 0, 0, false));
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "cpu", machine.cpu);
    hone_json_set_i64(json, "n_cores", machine.n_cores);
    hone_json_set_f64(json, "memory_bytes_per_s", machine.memory_rate);
    hone_json_set_f64(json, "cache_bytes_per_s", machine.cache_rate);
    hone_json_set_f64(json, "flops_per_s", machine.flops);
    HONE_AUTOFREE char *text = hone_json_print(json);
    struct hone_err err = HONE_ERR_INIT;
    if (hone_file_write(argv[0], text, strlen(text), 0644, false, &err) < 0) {
        fprintf(stderr, "hone-runner: %s\n", err.message);
        return 1;
    }
    return 0;
}
