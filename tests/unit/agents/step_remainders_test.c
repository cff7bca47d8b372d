/* SPDX-License-Identifier: Apache-2.0 */
/* Which remainders are kept in step with a counter, and which divisions stay. That the answers stay
 * too is shown by tests/relatives/found/remainders.c. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "workspace/task/task.h"

START_TEST(remainders_in_step)
{
    static const struct {
        const char *body;
        const char *has; /* NULL: no place */
    } rows[] = {
        {"for (long i = 0; i < M; i++) y[i] = x[i % L];", "i_rest + 1 < L ? i_rest + 1 : 0"},
        {"for (long j = 0; j < M; j++) for (long i = 2; i < M; i++) y[i] += x[(3 * i + j) % L];",
         "i_rest += 3"},
        {"for (long i = 0; i < M; i++) y[i] = x[i / L] + x[i % L];", "i_quotient++"},
        {"for (long i = 0; i < M; i++) y[i] = x[i % 10];", "i_rest + 1 < 10"},
        /* a divisor that nobody knows to be above zero, or that changes */
        {"for (long i = 0; i < M; i++) y[i] = x[i % s];", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[i % (L - 4)];", NULL},
        {"for (long i = 0; i < M; i++) { y[i] = x[i % L]; L++; }", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[i % -3];", NULL},
        /* what may be below zero: C's remainder is, too */
        {"for (long i = 0; i < M; i++) y[i] = x[(i - 1) % L];", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[(i + s) % L];", NULL},
        {"for (long i = s; i < M; i++) y[i] = x[i % L];", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[(L - i) % L];", NULL},
        /* no number for each step, or a step that is left out */
        {"for (long i = 0; i < M; i++) y[i] = x[(i * L) % L];", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[(i * i) % L];", NULL},
        {"for (long i = 0; i < M; i++) { if (x[i] > 0) continue; y[i] = x[i % L]; }", NULL},
        {"for (long i = 0; i < M; i++) { long k = i; y[i] = x[k % L]; k = 1; }", NULL},
        /* compilers shift */
        {"for (long i = 0; i < M; i++) y[i] = x[i % 8];", NULL},
        {"for (unsigned long i = 0; i < (unsigned long)M; i++) y[i] = x[i % 10];", NULL},
        {"for (long i = 0; i < M; i++) y[i] = x[i] / L;", NULL}, /* a value, no place */
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    struct hone_task *task = hone_pool_alloc(pool, sizeof(*task));
    *task = (struct hone_task){.name = "k", .n_axes = 2, .n_outputs = 1, .n_workloads = 1};
    task->axes[0].name = "L";
    task->axes[1].name = "M";
    task->workloads[0].axes[0] = 40;
    task->workloads[0].axes[1] = 90;
    const struct hone_rewrite *rule = hone_rewrite_find("step_remainders");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *made = NULL;
        const char *text = hone_pool_printf(
            pool, "void k(const float *x, float *y, long s, long M, long L)\n{\n%s\n}\n",
            rows[i].body);
        ck_assert_int_eq(hone_coder_read_kernel(parser, task, "cpu", text, pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg((n == 1) == (rows[i].has != NULL), "%s: %zu places", rows[i].body, n);
        if (n == 0)
            continue;
        ck_assert_int_eq(hone_coder_apply(parser, rule, &in, &sites[0], &made, NULL), 0);
        ck_assert_msg(strstr(made, rows[i].has) != NULL, "%s", made);
    }
}
END_TEST

UNIT_MAIN("step_remainders", remainders_in_step)
