/* SPDX-License-Identifier: Apache-2.0 */
/* Which sums into an array thread_bins gives to threads, and which it leaves alone. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "workspace/task/task.h"

/* Y[L] is its output; L is 40. */
static const struct hone_task *task_of(struct hone_pool *pool)
{
    struct hone_task *task = hone_pool_alloc(pool, sizeof(*task));
    *task = (struct hone_task){.name = "k", .n_axes = 1, .n_outputs = 1, .n_workloads = 1};
    task->axes[0].name = "L";
    task->workloads[0].axes[0] = 40;
    task->outputs[0] = (struct hone_tensor){.name = "Y", .rank = 1};
    return task;
}

/* Sums at places that are read: the array's extent comes from the task. */
START_TEST(sums_into_bins)
{
    static const struct {
        const char *body;
        bool is_fit;
    } rows[] = {
        {"for (long n = 0; n < N; n++) Y[bin[n]]++;", true},
        {"for (long n = 1; n < N; n++) { int b = bin[n] / 2; if (b > 1) Y[b] += bin[n - 1]; }",
         true},
        {"for (long n = 0; n < N; n++) for (int k = 0; k < 3; k++) Y[bin[n] + k] += 2;", true},
        {"for (long n = 0; n < N; n++) Y[bin[n]] = n;", false},
        {"for (long n = 0; n < N; n++) Y[bin[n]] += Y[0];", false},
        {"for (long n = 0; n < N; n++) { Y[bin[n]]++; Z[bin[n]]++; }", false},
        {"for (long n = 0; n < N; n++) { if (bin[n] < 0) break; Y[bin[n]]++; }", false},
        {"int s = 0; for (long n = 0; n < N; n++) { s += bin[n]; Y[s]++; }", false},
        {"for (long n = 0; n < N; n++) Z[Y[bin[n]]++] += 1;", false},
        {"for (long n = 0; n < N; n++) Z[bin[n]]++;", false}, /* no tensor of the task */
        {"for (long n = 0; n < N; n++) *(Y + bin[n]) += 1;", false},
        {"L++; for (long n = 0; n < N; n++) Y[bin[n]]++;", false},
        {"for (long n = 0; n < N; n++) Y[n]++;", false}, /* free as it stands */
        {"\n#pragma omp parallel for\nfor (long n = 0; n < 1; n++) Y[bin[n]]++;", false},
        /* the array has another name, is moved, or its size's name is another's */
        {"const int *q = Y; for (long n = 0; n < N; n++) Y[bin[n]] += q[0];", false},
        {"Z = &Y[1]; for (long n = 0; n < N; n++) Y[bin[n]]++;", false},
        {"Y++; for (long n = 0; n < N; n++) Y[bin[n]]++;", false},
        {"long M = L; { long L = 3; for (long n = 0; n < N; n++) Y[bin[n] % M] += L; }", false},
        /* each addition rounds what was there before */
        {"for (long n = 0; n < N; n++) Y[bin[n]] += 0.5 * n;", false},
        {"for (long n = 0; n < N; n++) Y[bin[n]] = (short)(Y[bin[n]] + 1);", false},
        {"for (long n = 0; n < N; n++) Y[bin[n]] = (short)Y[bin[n]] + 1;", false},
        /* sums of rows: all iterations add to all of the array */
        {"for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) Y[j] += bin[n * L + j];", true},
        {"for (long n = 0; n < N; n++) { Z[n] = 0; for (long j = 0; j < L; j++) Z[n] += bin[n * L "
         "+ "
         "j]; for (long j = 0; j < L; j++) Y[j] -= bin[n * L + j] * Z[n]; }",
         true},
        {"for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) Y[j] = Y[j] - bin[n * L + j];",
         true},
        {"for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) Y[j] = bin[n * L + j] + Y[j];",
         true},
        {"for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) Y[j] = bin[n * L + j] - Y[j];",
         false},
        {"for (long n = 0; n < N; n++) for (long j = 1; j < L; j++) Y[j] = Y[j] + Y[j - 1] * "
         "bin[n];",
         false},
        {"for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) { Y[j] += bin[n * L + j]; Z[j] "
         "= n; }",
         false},
        {"for (long n = 0; n < N; n++) for (long j = 1; j < L; j++) Y[j] += Y[j - 1] * bin[n];",
         false},
        {"int s = 0; for (long n = 0; n < N; n++) for (long j = 0; j < L; j++) { s += bin[n]; Y[j] "
         "+= bin[n * L + j]; }",
         false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    const struct hone_task *task = task_of(pool);
    const struct hone_rewrite *rule = hone_rewrite_find("thread_bins");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_err err = HONE_ERR_INIT;
        const char *text = hone_pool_printf(
            pool, "void k(const int *bin, int *Y, int *Z, long N, long L)\n{\n%s\n}\n",
            rows[i].body);
        ck_assert_int_eq(hone_coder_read_kernel(parser, task, "cpu", text, pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg((n == 1) == rows[i].is_fit, "%s: %zu places", rows[i].body, n);
        if (n == 0)
            continue;
        const char *made = NULL;
        int code = hone_coder_apply(parser, rule, &in, &sites[0], &made, &err);
        ck_assert_msg(code == 0, "%s: %s", rows[i].body, err.message);
        ck_assert_msg(strstr(made, "if (L <= BINS && ") && strstr(made, "Y_part["), "%s", made);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", text, "k", pool, &in, NULL), 0);
        ck_assert_uint_eq(hone_coder_sites(rule, &in, sites), 0); /* without a task */
    }
}
END_TEST

#define NEST    "\nfor (long i = 0; i < N; i++) for (long j = 0; j < L; j++) Z[i] += bin[i * L + j];"
#define THREADS "\n#pragma omp parallel for"
#define REGION  "\n#pragma omp parallel\n"

/* Nests get threads beside others that have them, and never in or around them. */
START_TEST(threads_beside_others)
{
    static const struct {
        const char *rule, *body;
        size_t n;
        int n_regions; /* when it is done */
    } rows[] = {
        {"thread_outer", NEST NEST, 1, 2},
        {"thread_outer", THREADS NEST NEST, 1, 2},
        {"thread_outer", NEST THREADS NEST, 1, 2},
        {"thread_outer", THREADS NEST NEST NEST, 1, 3},
        {"thread_outer", THREADS NEST, 0, 0},
        {"thread_outer", THREADS NEST "if (L > 4) {" NEST "}", 0, 0},
        {"thread_outer", REGION "{" NEST "}" NEST, 1, 2},
        {"thread_outer", REGION "{" NEST "}", 0, 0},
        /* what copies or clears is no nest */
        {"thread_outer", THREADS NEST "\nfor (long i = 0; i < N; i++) Z[i] = 0;", 0, 0},
        {"thread_outer", "for (long i = 0; i < N; i++) {" REGION "{ Z[i] = 0; } }" NEST, 1, 2},
        {"thread_bins", THREADS NEST "for (long n = 0; n < N; n++) Y[bin[n]]++;", 1, 2},
        {"thread_bins", "if (L > 4) {" THREADS NEST "} for (long n = 0; n < N; n++) Y[bin[n]]++;",
         1, 2},
        {"thread_bins", THREADS NEST "if (L > 4) for (long n = 0; n < N; n++) Y[bin[n]]++;", 0, 0},
        {"thread_reduction",
         THREADS NEST "long s = 0; for (long i = 0; i < N; i++) s += bin[i]; *Z = s;", 1, 2},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    const struct hone_task *task = task_of(pool);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_err err = HONE_ERR_INIT;
        const struct hone_rewrite *rule = hone_rewrite_find(rows[i].rule);
        const char *made = "",
                   *text = hone_pool_printf(pool,
                                            "void k(const int *restrict bin, int *restrict Y, long "
                                            "*restrict Z, long N, long L)\n"
                                            "{\n%s\n}\n",
                                            rows[i].body);
        ck_assert_int_eq(hone_coder_read_kernel(parser, task, "cpu", text, pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg(n == rows[i].n, "row %zu: %zu places in\n%s", i, n, text);
        if (n == 0)
            continue;
        int code = hone_coder_apply(parser, rule, &in, &sites[0], &made, &err);
        ck_assert_msg(code == 0, "row %zu: %s", i, err.message);
        int n_regions = 0;
        for (const char *at = made; (at = strstr(at, "omp parallel")) != NULL; at++)
            n_regions++;
        ck_assert_msg(n_regions == rows[i].n_regions, "row %zu: %s", i, made);
    }
}
END_TEST

/* Loops beside a deeper nest cost nothing: what acts on them alone is ranked last. */
START_TEST(cold_loops_come_last)
{
#define SUM(n)                                                                                     \
    "for (long a = 0; a < " n                                                                      \
    "; a++) { long s = 0; for (long b = 0; b < L; b++) s += bin[b + a]; Z[a] = s; }"
#define DEEP                                                                                       \
    "for (long i = 0; i < N; i++) for (long j = 0; j < N; j++) for (long k = 0; k < L; k++) Y[i "  \
    "* N + j] = Y[i * N + j] * 3 + bin[k];"
    static const struct {
        const char *rule, *body;
        bool is_weak;
    } rows[] = {
        {"accumulators", SUM("N"), false},
        {"accumulators", SUM("N") DEEP, true},
        {"simd_inner", SUM("N"), false},
        {"simd_inner", SUM("N") DEEP, true},
        {"simd_inner", "for (long i = 0; i < N; i++) Z[i] = 0;", false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *text = hone_pool_printf(
            pool,
            "void k(const int *restrict bin, int *restrict Y, long *restrict Z, long N, long L)\n"
            "{\n%s\n}\n",
            rows[i].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", text, "k", pool, &in, NULL), 0);
        ck_assert_uint_eq(hone_coder_sites(hone_rewrite_find(rows[i].rule), &in, sites), 1);
        ck_assert_msg(sites[0].is_weak == rows[i].is_weak, "row %zu: %s", i, text);
    }
}
END_TEST

UNIT_MAIN("thread_bins", sums_into_bins, threads_beside_others, cold_loops_come_last)
