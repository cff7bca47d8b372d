/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel as it is written and as a rewrite makes it, built and called with the same values. Its
 * parameters are pointers to double or float, and sizes. */
#ifndef HONE_TESTS_KERNEL_RIG_H
#define HONE_TESTS_KERNEL_RIG_H

#include "tests/unit/agents/compiled.h"

#include <math.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "workspace/base/file.h"

enum { MAX_PARAMS = 10, BUFFER = 4096, ROUNDS = 8, MAX_SIZE = 21 };

typedef void kernel_any(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t, intptr_t);

struct kernel {
    const char *name, *source;
    size_t n_params;
    char kinds[MAX_PARAMS]; /* d double, f float, n a size */
};

static double before[MAX_PARAMS][BUFFER], expected[MAX_PARAMS][BUFFER], got[MAX_PARAMS][BUFFER];

static inline struct hone_c_parser *open_parser(void)
{
    struct hone_c_parser *p = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_c_parser_new(&p, &err) == 0, "%s", err.message);
    return p;
}

static inline void read_kernel(struct hone_c_parser *parser, struct hone_pool *pool,
                               struct kernel *kernel, struct hone_coder_input *in)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_coder_read(parser, "cpu", kernel->source, kernel->name, pool, in, &err) == 0,
                  "%s: %s", kernel->name, err.message);
    kernel->n_params = 0;
    for (const struct hone_c_node *n = in->nest.function->first; n; n = n->next)
        if (n->kind == HONE_C_PARAM && kernel->n_params < MAX_PARAMS)
            kernel->kinds[kernel->n_params++] = !strchr(n->type, '*')      ? 'n'
                                                : strstr(n->type, "float") ? 'f'
                                                                           : 'd';
}

/* tunables: "MR=2 NR=3"; those that are not named have their first value. */
static inline kernel_any *build(const char *source, const char *name, const char *tunables,
                                struct hone_pool *pool)
{
    struct hone_array none = {.n = 0};
    const char *prologue = "";
    setenv("OMP_WAIT_POLICY", "passive", 1); /* threads that spin starve one another here */
    setenv("OMP_NUM_THREADS", "3", 1);
    ck_assert_int_eq(hone_tune_prologue(source, &none, pool, &prologue, NULL), 0);
    void *symbol = compiled(*tunables ? tunables : prologue, source, name, "", pool);
    kernel_any *ret;
    memcpy(&ret, &symbol, sizeof ret);
    return ret;
}

static inline void fill(const struct kernel *kernel, unsigned *seed)
{
    for (size_t p = 0; p < kernel->n_params; p++)
        for (size_t i = 0; i < BUFFER; i++) {
            double value = 1 + rand_r(seed) % 97 / 64.0;
            if (kernel->kinds[p] == 'f')
                ((float *)before[p])[i] = (float)value;
            else
                before[p][i] = value;
        }
}

static inline void call(const struct kernel *kernel, kernel_any *f, double (*data)[BUFFER],
                        const int64_t *sizes)
{
    intptr_t x[MAX_PARAMS] = {0};
    for (size_t p = 0, n = 0; p < kernel->n_params; p++)
        x[p] = kernel->kinds[p] == 'n' ? (intptr_t)sizes[n++] : (intptr_t)data[p];
    memcpy(data, before, sizeof before);
    f(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]);
}

static inline double element(const struct kernel *kernel, double (*data)[BUFFER], size_t p,
                             size_t i)
{
    return kernel->kinds[p] == 'f' ? (double)((float *)data[p])[i] : data[p][i];
}

static inline void compare(const struct kernel *kernel, kernel_any *f, kernel_any *changed,
                           const char *text)
{
    unsigned seed = 5;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t sizes[MAX_PARAMS];
        for (size_t i = 0; i < MAX_PARAMS; i++)
            sizes[i] = round == 0 ? 0 : rand_r(&seed) % MAX_SIZE + 1;
        fill(kernel, &seed);
        call(kernel, f, expected, sizes);
        call(kernel, changed, got, sizes);
        for (size_t p = 0; p < kernel->n_params; p++)
            for (size_t i = 0; i < BUFFER; i++) {
                double want = element(kernel, expected, p, i), is = element(kernel, got, p, i);
                double most = (kernel->kinds[p] == 'f' ? 1e-4 : 1e-9) * (1 + fabs(want));
                ck_assert_msg(!isfinite(want) || fabs(want - is) <= most,
                              "%s, sizes %d %d %d: %zu[%zu] is %g, expected %g\n%s", kernel->name,
                              (int)sizes[0], (int)sizes[1], (int)sizes[2], p, i, is, want, text);
            }
    }
}

/* Every place of the rule, with each text of tunables in front; returns how many places there are. */
static inline size_t try_rule(struct hone_c_parser *parser, const char *name, struct kernel kernel,
                              const char *const *tunables, size_t n_tunables)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_rewrite *rule = hone_rewrite_find(name);
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    struct hone_coder_input in;
    struct hone_err err = HONE_ERR_INIT;
    read_kernel(parser, pool, &kernel, &in);
    kernel_any *f = build(kernel.source, kernel.name, "", pool);
    size_t n = hone_coder_sites(rule, &in, sites);
    for (size_t s = 0; s < n; s++) {
        const char *text;
        ck_assert_msg(hone_coder_apply(parser, rule, &in, &sites[s], &text, &err) == 0, "%s: %s",
                      kernel.name, err.message);
        for (size_t t = 0; t < n_tunables; t++)
            compare(&kernel, f, build(text, kernel.name, tunables[t], pool), text);
    }
    return n;
}

#endif
