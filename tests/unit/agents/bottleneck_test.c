/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: no rule says more than the values that it quotes show. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "agents/planner/catalogue.h"
#include "workspace/base/rng.h"

struct value {
    enum hone_feature_id id;
    double value;
};

static const struct row {
    const char *name, *target;
    struct value v[5];
    const char *yes;  /* class that must be there; NULL: none in particular */
    const char *no;   /* class that must not */
    const char *says; /* part of the values of yes */
} rows[] = {
    {"flops are the roof and far",
     "cpu",
     {{HONE_F_BOUND_IS_BYTES, 0}, {HONE_F_PERCENT_OF_BOUND, 2.3}},
     "far_from_roof",
     "compute_bound",
     "percent_of_bound=2.3"},
    {"at the limit",
     "cpu",
     {{HONE_F_BOUND_IS_BYTES, 0}, {HONE_F_PERCENT_OF_BOUND, 50}},
     "far_from_roof",
     "compute_bound",
     "percent_of_bound=50"},
    {"above it",
     "cpu",
     {{HONE_F_BOUND_IS_BYTES, 0}, {HONE_F_PERCENT_OF_BOUND, 51}},
     "compute_bound",
     "far_from_roof",
     "percent_of_bound=51"},
    {"flops are the roof, share not known",
     "cpu",
     {{HONE_F_BOUND_IS_BYTES, 0}},
     "far_from_roof",
     "compute_bound",
     ""},
    {"bytes are the roof and far",
     "cpu",
     {{HONE_F_BOUND_IS_BYTES, 1}, {HONE_F_PERCENT_OF_BOUND, 20}},
     "mixed",
     "memory_bound",
     "percent_of_bound=20"},
    {"stores alone are scattered",
     "cuda",
     {{HONE_F_SECTOR_USE_LD, 100},
      {HONE_F_SECTORS_LD, 4},
      {HONE_F_SECTOR_USE_ST, 12.5},
      {HONE_F_SECTORS_ST, 32}},
     "uncoalesced",
     NULL,
     "12.5"},
    {"few sectors, partly used: the edge of a small array",
     "cuda",
     {{HONE_F_SECTOR_USE_LD, 50}, {HONE_F_SECTORS_LD, 4}},
     NULL,
     "uncoalesced",
     NULL},
    {"asynchronous copies, whose bytes are not counted",
     "cuda",
     {{HONE_F_SECTOR_USE_LD, 0}, {HONE_F_SECTORS_LD, 16}},
     NULL,
     "uncoalesced",
     NULL},
    {"the compiler vectorised all",
     "cpu",
     {{HONE_F_PLAIN_INNER, 2}, {HONE_F_VECTORIZED, 2}, {HONE_F_MISSED, 0}},
     NULL,
     "not_vectorized",
     NULL},
    {"it missed one",
     "cpu",
     {{HONE_F_PLAIN_INNER, 2}, {HONE_F_VECTORIZED, 2}, {HONE_F_MISSED, 1}},
     "not_vectorized",
     NULL,
     "missed_loops=1"},
    {"no remarks", "cpu", {{HONE_F_PLAIN_INNER, 2}}, "not_vectorized", NULL, "plain_inner=2"},
    {"cores are busy",
     "cpu",
     {{HONE_F_CORES, 4}, {HONE_F_THREADS_BUSY, 3}},
     NULL,
     "parallelism_bound",
     NULL},
    {"one is",
     "cpu",
     {{HONE_F_CORES, 4}, {HONE_F_THREADS_BUSY, 1}},
     "parallelism_bound",
     NULL,
     "threads_busy=1"},
    {"spilled",
     "cuda",
     {{HONE_F_SPILL_BYTES, 16}, {HONE_F_LOCAL_ARRAYS, 1}},
     "spill",
     NULL,
     "hone__spill_bytes=16"},
    {"nothing spilled",
     "cuda",
     {{HONE_F_SPILL_BYTES, 0}, {HONE_F_LOCAL_ARRAYS, 0}},
     NULL,
     "spill",
     NULL},
    {"an indexed array in memory",
     "cuda",
     {{HONE_F_SPILL_BYTES, 0}, {HONE_F_LOCAL_ARRAYS, 1}, {HONE_F_FRAME_BYTES, 64}},
     "spill",
     NULL,
     "hone__frame_bytes=64"},
    {"an indexed array, not built yet",
     "cuda",
     {{HONE_F_LOCAL_ARRAYS, 1}},
     "spill",
     NULL,
     "local_arrays=1"},
    {"columns of shared memory",
     "cuda",
     {{HONE_F_SHARED, 1}, {HONE_F_SHARED_COLUMNS, 1}},
     "shared_conflict",
     NULL,
     "shared_columns=1"},
    {"columns without conflicts, counted",
     "cuda",
     {{HONE_F_SHARED, 1}, {HONE_F_SHARED_COLUMNS, 1}, {HONE_F_CONFLICT_SHARE, 0.01}},
     NULL,
     "shared_conflict",
     NULL},
    {"operands used again, whatever the text looks like",
     "cuda",
     {{HONE_F_SHARED, 0}, {HONE_F_INTENSITY, 100}},
     "l1_shared_bound",
     NULL,
     "flops_per_byte=100"},
    {"an indexed array in registers",
     "cuda",
     {{HONE_F_SPILL_BYTES, 0}, {HONE_F_LOCAL_ARRAYS, 1}, {HONE_F_FRAME_BYTES, 0}},
     NULL,
     "spill",
     NULL},
};

static const struct hone_finding *find(const struct hone_finding *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(hone_class_name(all[i].class_id), name) == 0)
            return &all[i];
    return NULL;
}

START_TEST(a_finding_fits_its_values)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        const struct row *row = &rows[i];
        struct hone_pool *pool = hone_pool_new();
        struct hone_features f = {.v = {{false, 0}}};
        struct hone_finding all[HONE_N_CLASSES];
        for (size_t k = 0; k < HONE_COUNTOF(row->v) && (k == 0 || row->v[k].id); k++)
            f.v[row->v[k].id] = (struct hone_feature){true, row->v[k].value};
        size_t n = hone_bottlenecks(row->target, &f, pool, all);
        const struct hone_finding *yes = row->yes ? find(all, n, row->yes) : NULL;
        ck_assert_msg(!row->yes || yes, "%s: no %s", row->name, row->yes);
        ck_assert_msg(!row->no || !find(all, n, row->no), "%s: %s", row->name, row->no);
        ck_assert_msg(!row->says || strstr(yes->values, row->says), "%s: %s", row->name,
                      yes ? yes->values : "");
        hone_pool_free(pool);
    }
}
END_TEST

/* The value of a feature as the finding quotes it; fallback: it does not. */
static double quoted(const struct hone_finding *f, const char *name, double fallback)
{
    const char *at = strstr(f->values, name);
    return at && at[strlen(name)] == '=' ? strtod(at + strlen(name) + 1, NULL) : fallback;
}

START_TEST(no_value_is_contradicted)
{
    static const struct { /* what a class cannot stand beside: at most this */
        const char *name, *value;
        double most;
    } never[] = {{"compute_bound", "percent_of_bound", 50},
                 {"memory_bound", "percent_of_bound", 50},
                 {"spill", "hone__spill_bytes", 0},
                 {"spill", "hone__frame_bytes", 0},
                 {"math_call_bound", "math_calls", 0},
                 {"latency_chain", "chains", 0},
                 {"indirect", "indirect", 0},
                 {"strided", "strided_inner", 0}};
    const uint8_t key[16] = {11};
    uint64_t counter = 0;
    for (int round = 0; round < 4000; round++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_features f = {.v = {{false, 0}}};
        struct hone_finding all[HONE_N_CLASSES];
        for (int i = 0; i < HONE_N_FEATURES; i++) {
            uint64_t bits = hone_rng_u64(key, 0, counter++);
            double value = (double)(bits % 101);
            f.v[i] = (struct hone_feature){(bits >> 20) % 2 > 0, (bits >> 30) % 3 > 0 ? value : 0};
        }
        size_t n = hone_bottlenecks(round % 2 ? "cuda" : "cpu", &f, pool, all);
        ck_assert_uint_gt(n, 0);
        for (size_t i = 0; i < n; i++) {
            const char *name = hone_class_name(all[i].class_id);
            ck_assert_msg(find(all, i, name) == NULL, "%s twice", name);
            for (size_t k = 0; k < HONE_COUNTOF(never); k++)
                ck_assert_msg(strcmp(name, never[k].name) != 0 ||
                                  quoted(&all[i], never[k].value, 1e9) > never[k].most,
                              "%s: %s (%s)", name, all[i].rule, all[i].values);
        }
        hone_pool_free(pool);
    }
}
END_TEST

/* Who helps where operations are the roof helps on the way there too. */
START_TEST(the_way_to_the_roof_has_its_strategies)
{
    int n = 0;
    for (size_t i = 0; i < hone_n_strategies; i++) {
        bool near = false, far = false;
        for (size_t k = 0; k < hone_strategies[i].n_helps; k++) {
            near = near || hone_strategies[i].helps[k] == HONE_CLASS_COMPUTE;
            far = far || hone_strategies[i].helps[k] == HONE_CLASS_FAR_FROM_ROOF;
        }
        ck_assert_msg(near == far, "%s", hone_strategies[i].id);
        n += far;
    }
    ck_assert_int_gt(n, 3);
}
END_TEST

/* What a strategy needs, by what is known: the task's operations a byte speak where the text does
 * not. */
static const struct {
    const char *id;
    struct value v[3];
    enum hone_tri fits;
} needs[] = {
    {"G05", {{HONE_F_REUSE, 0}, {HONE_F_LOCAL_ARRAYS, 0}, {HONE_F_PASSES, 0}}, HONE_TRI_UNKNOWN},
    {"G05", {{HONE_F_REUSE, 0}, {HONE_F_INTENSITY, 100}}, HONE_TRI_TRUE},
    {"G31", {{HONE_F_NARROW, 1}, {HONE_F_INTENSITY, 0.5}}, HONE_TRI_FALSE},
    {"G31", {{HONE_F_NARROW, 1}, {HONE_F_INTENSITY, 100}}, HONE_TRI_TRUE},
    {"G31", {{HONE_F_NARROW, 1}}, HONE_TRI_UNKNOWN},
};

START_TEST(strategies_say_what_they_need)
{
    for (size_t i = 0; i < HONE_COUNTOF(needs); i++) {
        struct hone_features f = {.v = {{false, 0}}};
        for (size_t k = 0; k < HONE_COUNTOF(needs[i].v) && needs[i].v[k].id; k++)
            f.v[needs[i].v[k].id] = (struct hone_feature){true, needs[i].v[k].value};
        enum hone_tri fits = hone_strategy_fits(hone_strategy_find("cuda", needs[i].id), &f);
        ck_assert_msg(fits == needs[i].fits, "%s, row %zu: %d", needs[i].id, i, (int)fits);
    }
}
END_TEST

UNIT_MAIN("bottleneck", a_finding_fits_its_values, strategies_say_what_they_need,
          no_value_is_contradicted, the_way_to_the_roof_has_its_strategies)
