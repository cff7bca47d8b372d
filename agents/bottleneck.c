#include "agents/bottleneck.h"

#define NEAR_ROOF_PERCENT 87.0 /* T / T_roof below 1.15 */

static const char *const names[HONE_N_CLASSES] = {
    [HONE_CLASS_NEAR_ROOF] = "near_roof",
    [HONE_CLASS_STRIDED] = "strided",
    [HONE_CLASS_PARALLELISM] = "parallelism_bound",
    [HONE_CLASS_CALLS] = "math_call_bound",
    [HONE_CLASS_CHAIN] = "latency_chain",
    [HONE_CLASS_SCALAR] = "not_vectorized",
    [HONE_CLASS_EXCESS_TRAFFIC] = "excess_traffic",
    [HONE_CLASS_NO_REUSE] = "no_reuse",
    [HONE_CLASS_INDIRECT] = "indirect",
    [HONE_CLASS_MEMORY] = "memory_bound",
    [HONE_CLASS_COMPUTE] = "compute_bound",
    [HONE_CLASS_MIXED] = "mixed",
};

const char *hone_class_name(enum hone_class class_id)
{
    return names[class_id];
}

#define GET(f, id) hone_feature_or(f, id, 0)
static bool near_roof(const struct hone_features *f)
{
    return GET(f, HONE_F_PERCENT_OF_BOUND) > NEAR_ROOF_PERCENT;
}
static bool strided(const struct hone_features *f)
{
    return GET(f, HONE_F_FAR_INNER) > 0;
}
static bool idle_cores(const struct hone_features *f)
{
    double cores = GET(f, HONE_F_CORES);
    bool is_busy =
        f->v[HONE_F_THREADS_BUSY].is_present && GET(f, HONE_F_THREADS_BUSY) > 0.6 * cores;
    return cores > 1 && !is_busy && GET(f, HONE_F_IS_THREADED) == 0;
}
static bool calls(const struct hone_features *f)
{
    return GET(f, HONE_F_MATH_CALLS) > 0;
}
static bool chain(const struct hone_features *f)
{
    return GET(f, HONE_F_CHAINS) > 0 && GET(f, HONE_F_FAR_INNER) == 0;
}
static bool scalar(const struct hone_features *f)
{
    return GET(f, HONE_F_PLAIN_INNER) > 0 && GET(f, HONE_F_IS_SIMD) == 0;
}
static bool traffic(const struct hone_features *f)
{
    return GET(f, HONE_F_COPIES) > 0 || GET(f, HONE_F_PASSES) > 1;
}
static bool no_reuse(const struct hone_features *f)
{
    return GET(f, HONE_F_REUSE) > 0 && GET(f, HONE_F_INTENSITY) > 8;
}
static bool indirect(const struct hone_features *f)
{
    return GET(f, HONE_F_INDIRECT) > 0;
}
static bool memory(const struct hone_features *f)
{
    return GET(f, HONE_F_BOUND_IS_BYTES) > 0 && GET(f, HONE_F_PERCENT_OF_BOUND) > 50;
}
static bool compute(const struct hone_features *f)
{
    return f->v[HONE_F_BOUND_IS_BYTES].is_present && GET(f, HONE_F_BOUND_IS_BYTES) <= 0;
}
static bool always(const struct hone_features *f)
{
    (void)f;
    return true;
}

static const struct {
    enum hone_class class_id;
    bool (*fires)(const struct hone_features *f);
    const char *rule;
    size_t n_shown;
    enum hone_feature_id shown[4];
} rules[] = {
    {HONE_CLASS_NEAR_ROOF, near_roof, "percent_of_bound > 87", 1, {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_STRIDED,
     strided,
     "an access of an innermost loop strides",
     2,
     {HONE_F_FAR_INNER, HONE_F_UNIT_INNER}},
    {HONE_CLASS_PARALLELISM,
     idle_cores,
     "cores > 1 and one thread busy",
     4,
     {HONE_F_CORES, HONE_F_THREADS_BUSY, HONE_F_IS_THREADED, HONE_F_PARALLEL_LOOPS}},
    {HONE_CLASS_CALLS, calls, "a scalar math call in an innermost loop", 1, {HONE_F_MATH_CALLS}},
    {HONE_CLASS_CHAIN, chain, "an innermost reduction with one accumulator", 1, {HONE_F_CHAINS}},
    {HONE_CLASS_SCALAR,
     scalar,
     "innermost loops without vectors",
     3,
     {HONE_F_PLAIN_INNER, HONE_F_VECTORIZED, HONE_F_MISSED}},
    {HONE_CLASS_EXCESS_TRAFFIC,
     traffic,
     "copies in a loop or several passes",
     2,
     {HONE_F_COPIES, HONE_F_PASSES}},
    {HONE_CLASS_NO_REUSE,
     no_reuse,
     "operands are read again and flops_per_byte > 8",
     2,
     {HONE_F_REUSE, HONE_F_INTENSITY}},
    {HONE_CLASS_INDIRECT, indirect, "an index comes from memory", 1, {HONE_F_INDIRECT}},
    {HONE_CLASS_MEMORY,
     memory,
     "bytes are the roof and percent_of_bound > 50",
     1,
     {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_COMPUTE, compute, "flops are the roof", 1, {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_MIXED, always, "no other rule fired", 1, {HONE_F_PERCENT_OF_BOUND}},
};

size_t hone_bottlenecks(const struct hone_features *f, struct hone_pool *pool,
                        struct hone_finding ret[HONE_N_CLASSES])
{
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(rules); i++) {
        if (!rules[i].fires(f) || (rules[i].class_id == HONE_CLASS_MIXED && n > 0))
            continue;
        ret[n++] =
            (struct hone_finding){rules[i].class_id, rules[i].rule,
                                  hone_features_text(f, rules[i].shown, rules[i].n_shown, pool)};
    }
    return n;
}
