/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile on target cpu names first, on a quiet machine and on one that others use. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "tools/runner/machine/cpu_bottleneck.h"
#include "workspace/base/buf.h"

#define MISSED(text)                                                                               \
    {                                                                                              \
        .line = 7, .kind = HONE_REMARK_MISSED, .message = text                                     \
    }
static const struct hone_remark missed[] = {MISSED("not vectorized: unsupported data-type")};
static const struct hone_remark chained[] = {MISSED("not vectorized: reduction: unsafe fp math")};
static const struct hone_remark strided[] = {MISSED("not vectorized: complicated access pattern")};

static struct hone_cpu_facts slow_call(void)
{
    return (struct hone_cpu_facts){.call_ns = 1e7,
                                   .flops = 1e9,
                                   .bytes = 1e7,
                                   .flops_share = 0.1,
                                   .bytes_share = 0.05,
                                   .threads_busy = 0.5,
                                   .n_threads = 2,
                                   .slowdown = 1,
                                   .others = 0,
                                   .n_cores = 2};
}

static const struct hone_bottleneck *find(const struct hone_array *found, const char *name)
{
    const struct hone_bottleneck *list = found->v;
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(list[i].class_name, name) == 0)
            return &list[i];
    return NULL;
}

static const char *first(const struct hone_array *found)
{
    ck_assert_uint_ge(found->n, 1);
    return ((const struct hone_bottleneck *)found->v)->class_name;
}

START_TEST(test_load_comes_first)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_cpu_facts f = slow_call();
    struct hone_array found;
    f.remarks = chained;
    f.n_remarks = 1;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_str_eq(first(&found), "parallelism_bound");
    ck_assert_ptr_nonnull(find(&found, "no_reuse"));
    ck_assert_ptr_null(strstr(find(&found, "latency_chain")->rule, "under load"));

    f.slowdown = 1.9;
    f.others = 1.7;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_str_eq(first(&found), "loaded");
    ck_assert_ptr_nonnull(strstr(find(&found, "loaded")->rule, "others used 1.7 of 2 cores"));
    ck_assert_ptr_nonnull(strstr(find(&found, "loaded")->advice, "n_threads 1"));
    /* idle threads and a low share are the load's doing; what the source shows as well stays */
    ck_assert_ptr_null(find(&found, "parallelism_bound"));
    ck_assert_ptr_null(find(&found, "no_reuse"));
    ck_assert_ptr_null(find(&found, "mixed"));
    ck_assert_ptr_nonnull(strstr(find(&found, "latency_chain")->rule, "measured under load"));

    f.n_threads = 1;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_ptr_null(strstr(find(&found, "loaded")->advice, "n_threads"));
}
END_TEST

/* Others used a core that the kernel did not need: nothing was slowed. */
START_TEST(test_load_beside_it)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_cpu_facts f = slow_call();
    struct hone_array found;
    f.others = 0.9;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_ptr_null(find(&found, "loaded"));
    /* what is near a ceiling under load is near it */
    f.slowdown = 2;
    f.bytes_share = 0.9;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_str_eq(first(&found), "loaded");
    ck_assert_ptr_nonnull(find(&found, "near_roof"));
}
END_TEST

START_TEST(test_vectors_by_hand)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const struct {
        const struct hone_remark *remark;
        const char *name;
    } rows[] = {{missed, "not_vectorized"}, {strided, "strided"}, {chained, "latency_chain"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_cpu_facts f = slow_call();
        struct hone_array found;
        f.remarks = rows[i].remark;
        f.n_remarks = 1;
        hone_cpu_bottlenecks(&f, pool, &found);
        ck_assert_msg(find(&found, rows[i].name) != NULL, "%s", rows[i].name);
        ck_assert_int_eq(find(&found, rows[i].name)->line, 7);
        f.is_hot_vector = true;
        hone_cpu_bottlenecks(&f, pool, &found);
        ck_assert_msg(find(&found, rows[i].name) == NULL, "%s", rows[i].name);
        ck_assert_uint_ge(found.n, 1);
    }
}
END_TEST

/* Operations that the task does not tell: the text says where they are from, or that there are
 * none, and then no rule fires for a share of them. */
START_TEST(test_operations_that_nobody_told)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_cpu_facts f = slow_call();
    struct hone_array found;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_ptr_nonnull(strstr(find(&found, "no_reuse")->rule, ", 10.0 % of arithmetic, "));
    f.is_flops_counted = true;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_ptr_nonnull(
        strstr(find(&found, "no_reuse")->rule, ", 10.0 % of arithmetic counted from loops, "));
    f.is_flops_counted = false;
    f.flops = f.flops_share = (double)NAN;
    f.bytes_share = 0.6;
    hone_cpu_bottlenecks(&f, pool, &found);
    ck_assert_ptr_null(find(&found, "no_reuse"));
    ck_assert_ptr_null(find(&found, "compute_bound"));
    ck_assert_ptr_nonnull(strstr(find(&found, "memory_bound")->rule, "operations guessed, "));
}
END_TEST

UNIT_MAIN("cpu_bottleneck", test_load_comes_first, test_load_beside_it, test_vectors_by_hand,
          test_operations_that_nobody_told)
