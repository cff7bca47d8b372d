/* SPDX-License-Identifier: Apache-2.0 */
/* One table of rules; each scores the facts, and what fires is ordered by score. What load does to
 * a rule stands in its row. */
#include "tools/runner/machine/cpu_bottleneck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_NS  5000.0
#define LOAD_MOST 1.15 /* as of a ratio (judge/load.h) */

#define LOADED_ADVICE "kernel_profile again when the machine is quiet"

/* What a rule is worth where others slowed the call: a share of a ceiling is then too low, and a
 * class that stands on a low share may be the load's doing. */
enum under_load {
    HOLDS,
    MARKED, /* it stands on the source as well: told, and said to be measured under load */
    LEFT_OUT
};

struct rule {
    const char *class_name;
    const char *text;
    const char *advice;
    enum under_load under_load;
    /* Score above 0 when it fires; *ret_line is the source line, when there is one. */
    double (*score)(const struct hone_cpu_facts *f, int64_t *ret_line);
};

static bool is_loaded(const struct hone_cpu_facts *f)
{
    return f->slowdown > LOAD_MOST;
}

static double loaded(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return is_loaded(f) ? 2 : 0; /* above every other */
}

/* What the compiler could not do says nothing of a loop that has vectors all the same. */
static const struct hone_remark *find_remark(const struct hone_cpu_facts *f,
                                             enum hone_remark_kind kind, const char *const *words,
                                             size_t n_words)
{
    for (size_t i = 0; i < f->n_remarks && !f->is_hot_vector; i++) {
        if (f->remarks[i].kind != kind)
            continue;
        for (size_t w = 0; w < n_words; w++) {
            if (strstr(f->remarks[i].message, words[w]) != NULL)
                return &f->remarks[i];
        }
    }
    return NULL;
}

static double near_roof(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    double share = fmax(f->flops_share, f->bytes_share);
    return share > 0.87 ? 1 : 0;
}

static double too_short(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->call_ns < SHORT_NS ? 0.9 : 0;
}

static double parallelism(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    if (f->n_threads < 2 || f->call_ns < 10 * SHORT_NS || f->threads_busy > 0.7 * f->n_threads)
        return 0;
    return 1 - f->threads_busy / f->n_threads;
}

static double chain(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"reorder floating-point", "reduction", "unsafe fp math",
                                        "fold-left"};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL || f->flops_share > 0.3)
        return 0;
    *ret_line = remark->line;
    return 0.7;
}

static double strided(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"stride", "gather", "not consecutive", "non-consecutive",
                                        "complicated access pattern"};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL)
        return 0;
    *ret_line = remark->line;
    return 0.75;
}

static double math_calls(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"function call", "call to",
                                        "relevant stmt not supported: "};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL || f->flops_share > 0.3)
        return 0;
    *ret_line = remark->line;
    return 0.55;
}

static double not_vectorized(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    bool has_any = false;
    const struct hone_remark *missed = NULL;
    for (size_t i = 0; i < f->n_remarks; i++) {
        has_any = has_any || f->remarks[i].kind == HONE_REMARK_VECTORIZED;
        if (missed == NULL && f->remarks[i].kind == HONE_REMARK_MISSED)
            missed = &f->remarks[i];
    }
    if (missed == NULL || f->is_hot_vector || f->flops_share > 0.5)
        return 0;
    *ret_line = missed->line;
    return has_any ? 0.3 : 0.6;
}

static double no_reuse(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    bool is_dense = f->bytes > 0 && f->flops / f->bytes > 8;
    return is_dense && f->flops_share < 0.35 ? 0.5 * (1 - f->flops_share) : 0;
}

static double memory_bound(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->bytes_share > 0.5 && !(f->flops_share >= f->bytes_share) ? f->bytes_share * 0.8 : 0;
}

static double compute_bound(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->flops_share > 0.4 && f->flops_share >= f->bytes_share ? f->flops_share * 0.8 : 0;
}

static double mixed(const struct hone_cpu_facts *f, int64_t *ret_line)
{
    (void)f;
    (void)ret_line;
    return 0.05;
}

static const struct rule rules[] = {
    {HONE_BOTTLENECK_LOADED,
     "other processes took the cores, so that times say nothing of the kernel", LOADED_ADVICE,
     HOLDS, loaded},
    {"near_roof", "more than 87 % of a measured ceiling", "stop, or change the algorithm", HOLDS,
     near_roof},
    {"too_short", "a call takes less than 5 us",
     "measure larger workloads; call overhead and clock dominate", HOLDS, too_short},
    {"strided", "the compiler names an access that jumps through memory",
     "interchange loops, or copy into a contiguous buffer", HOLDS, strided},
    {"parallelism_bound", "busy threads below 70 % of the allowed ones",
     "parallelise the outer loop; balance the parts", LEFT_OUT, parallelism},
    {"latency_chain",
     "a floating-point reduction keeps its order and the arithmetic rate is below 30 %",
     "several accumulators, or allow reassociation for this loop", MARKED, chain},
    {"math_call_bound", "a scalar call inside a loop that is not vectorised",
     "a vectorisable approximation, or fewer calls", MARKED, math_calls},
    {"not_vectorized", "loops that the compiler did not vectorise",
     "restrict, simpler bounds, no aliasing, or intrinsics", MARKED, not_vectorized},
    {"no_reuse", "more than 8 operations a byte, but below 35 % of the arithmetic ceiling",
     "tile for registers and caches", LEFT_OUT, no_reuse},
    {"memory_bound", "more than 50 % of the memory ceiling",
     "fewer bytes: fuse, narrow, avoid write-allocate", HOLDS, memory_bound},
    {"compute_bound", "more than 40 % of the arithmetic ceiling",
     "wider vectors, fewer instructions per result", HOLDS, compute_bound},
    {"mixed", "no single cause", "look at the remarks", LEFT_OUT, mixed},
};

static int by_score(const void *a, const void *b)
{
    double x = ((const struct hone_bottleneck *)a)->score,
           y = ((const struct hone_bottleneck *)b)->score;
    return (x < y) - (x > y);
}

static const char *arithmetic_text(const struct hone_cpu_facts *f, struct hone_pool *pool)
{
    if (!isfinite(f->flops_share))
        return "share of arithmetic unknown: operations guessed";
    return hone_pool_printf(pool, "%.1f %% of arithmetic%s", 100 * f->flops_share,
                            f->is_flops_counted ? " counted from loops" : "");
}

static const char *rule_text(const struct rule *rule, const struct hone_cpu_facts *f,
                             struct hone_pool *pool)
{
    const char *load = "";
    if (is_loaded(f))
        load = hone_pool_printf(pool, "; others used %.1f of %.0f cores%s", f->others, f->n_cores,
                                rule->under_load == MARKED ? ": measured under load" : "");
    return hone_pool_printf(pool, "%s (threads busy %.2f of %.0f, %s, %.1f %% of bandwidth%s)",
                            rule->text, f->threads_busy, f->n_threads, arithmetic_text(f, pool),
                            100 * f->bytes_share, load);
}

/* Fewer threads leave a core to the others. */
static const char *advice_of(const struct rule *rule, const struct hone_cpu_facts *f)
{
    if (rule->score == loaded && f->n_threads > 1)
        return LOADED_ADVICE ", or with n_threads 1";
    return rule->advice;
}

void hone_cpu_bottlenecks(const struct hone_cpu_facts *f, struct hone_pool *pool,
                          struct hone_array *ret)
{
    struct hone_bottleneck *found = hone_pool_alloc(pool, HONE_COUNTOF(rules) * sizeof *found);
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(rules); i++) {
        int64_t line = 0;
        double score = rules[i].score(f, &line);
        if (!(score > 0) || (is_loaded(f) && rules[i].under_load == LEFT_OUT))
            continue;
        found[n++] = (struct hone_bottleneck){.class_name = rules[i].class_name,
                                              .score = score,
                                              .rule = rule_text(&rules[i], f, pool),
                                              .advice = advice_of(&rules[i], f),
                                              .line = line};
    }
    qsort(found, n, sizeof *found, by_score);
    *ret = (struct hone_array){.v = found, .n = n};
}
