/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/module/module_record.h"

#include <stdlib.h>
#include <string.h>

#include "tools/runner/build/blob_cache.h"
#include "workspace/base/hash.h"

#define CACHE_FORMAT "record 2"

/* An entry: the plans' texts, then symbol, kind, expression and typed expression of each instance,
 * NUL behind each; then the recorder's rung. */
enum { PART_PLANS, PART_INSTANCES, PART_RUNG };

static void make_key(const struct hone_record_spec *spec, const char *object_hash, bool with_facts,
                     char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher hasher;
    const struct hone_task *task = spec->task;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, CACHE_FORMAT);
    hone_hasher_str(&hasher, object_hash);
    hone_hasher_str(&hasher, task->name);
    hone_hasher_str(&hasher, task->hash);
    for (size_t w = 0; w < spec->n_workloads; w++) {
        hone_hasher_str(&hasher, spec->workloads[w].id);
        hone_hasher_part(&hasher, spec->workloads[w].axes,
                         task->n_axes * sizeof spec->workloads[w].axes[0]);
    }
    if (spec->scalars != NULL)
        hone_hasher_part(&hasher, spec->scalars,
                         spec->n_workloads * task->n_scalars * sizeof spec->scalars[0]);
    if (spec->device != NULL)
        hone_hasher_part(&hasher, spec->device, sizeof *spec->device);
    for (size_t i = 0; with_facts && i < spec->n_kernels; i++) {
        const struct hone_plan_kernel *kernel = &spec->kernels[i];
        const int64_t facts[] = {kernel->n_params, kernel->param_bytes, kernel->registers,
                                 kernel->static_shared_bytes, kernel->max_threads};
        hone_hasher_str(&hasher, kernel->name);
        hone_hasher_part(&hasher, facts, sizeof facts);
        if (spec->params != NULL)
            hone_hasher_part(&hasher, spec->params[i].v,
                             spec->params[i].n * sizeof(struct hone_plan_param));
    }
    hone_hasher_end(&hasher, ret);
}

static const char *next_text(const char **at, const char *end)
{
    const char *text = *at;
    const char *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    *at = nul == NULL ? end : nul + 1;
    return nul == NULL ? NULL : text;
}

static bool get(const char *dir, const char *key, const struct hone_record_spec *spec,
                struct hone_pool *pool, struct hone_record_result *ret)
{
    struct hone_blob_part parts[HONE_BLOB_PARTS];
    if (!hone_blob_get(dir, key, ".plans", pool, parts))
        return false;
    const char *at = parts[PART_PLANS].bytes, *end = at + parts[PART_PLANS].len;
    struct hone_plan *plans = hone_pool_alloc(pool, (spec->n_workloads + 1) * sizeof *plans);
    for (size_t i = 0; i < spec->n_workloads; i++) {
        const char *text = next_text(&at, end);
        if (text == NULL || hone_plan_parse(text, strlen(text), pool, &plans[i], NULL) < 0)
            return false;
    }
    at = parts[PART_INSTANCES].bytes;
    end = at + parts[PART_INSTANCES].len;
    size_t n = 0;
    for (const char *c = at; c < end; c++)
        n += *c == '\0';
    struct hone_record_instance *instances = hone_pool_alloc(pool, (n / 4 + 1) * sizeof *instances);
    for (size_t i = 0; i < n / 4; i++) {
        instances[i].symbol = next_text(&at, end);
        instances[i].is_variable = strcmp(next_text(&at, end), "v") == 0;
        const char *expression = next_text(&at, end);
        instances[i].expression = *expression == '\0' ? NULL : expression;
        instances[i].typed = next_text(&at, end);
    }
    *ret = (struct hone_record_result){.plans = {plans, spec->n_workloads},
                                       .instances = {instances, n / 4},
                                       .rung = parts[PART_RUNG].bytes};
    return true;
}

static void put(const char *dir, const char *key, const struct hone_record_result *result)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf plans = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf instances = HONE_BUF_INIT;
    const struct hone_plan *plan = result->plans.v;
    const struct hone_record_instance *instance = result->instances.v;
    for (size_t i = 0; i < result->plans.n; i++) {
        HONE_AUTOFREE char *text = hone_plan_print(&plan[i]);
        hone_buf_add(&plans, text, strlen(text) + 1);
    }
    for (size_t i = 0; i < result->instances.n; i++) {
        const char *expression = instance[i].expression != NULL ? instance[i].expression : "";
        const char *typed = instance[i].typed != NULL ? instance[i].typed : "";
        hone_buf_add(&instances, instance[i].symbol, strlen(instance[i].symbol) + 1);
        hone_buf_add(&instances, instance[i].is_variable ? "v" : "k", 2);
        hone_buf_add(&instances, expression, strlen(expression) + 1);
        hone_buf_add(&instances, typed, strlen(typed) + 1);
    }
    const char *rung = result->rung != NULL ? result->rung : "";
    const struct hone_blob_part parts[HONE_BLOB_PARTS] = {
        [PART_PLANS] = {plans.data, plans.len},
        [PART_INSTANCES] = {instances.data, instances.len},
        [PART_RUNG] = {rung, strlen(rung)}};
    if (!plans.has_failed && !instances.has_failed)
        hone_blob_put(dir, key, ".plans", parts);
}

int hone_record_cached(const struct hone_record_spec *spec, const char *object_hash,
                       const char *cache_dir, struct hone_pool *pool,
                       struct hone_record_result *ret, struct hone_outcome *ret_end,
                       bool *ret_cached, struct hone_err *err)
{
    char without[HONE_HASH_TEXT_BYTES];
    char with[HONE_HASH_TEXT_BYTES];
    struct hone_record_spec blind = *spec;
    make_key(spec, object_hash, false, without);
    make_key(spec, object_hash, true, with);
    *ret_cached = true;
    hone_outcome_set(ret_end, HONE_REASON_BUILT, "recorded before");
    if ((!spec->is_nvcc && get(cache_dir, without, spec, pool, ret)) ||
        get(cache_dir, with, spec, pool, ret))
        return 0;
    *ret_cached = false;
    blind.kernels = NULL;
    blind.n_kernels = 0;
    int rc = spec->is_nvcc ? 0 : hone_record(&blind, pool, ret, ret_end, err);
    bool needs_facts = rc == 0 && (spec->is_nvcc || (ret->asked_facts && spec->n_kernels > 0));
    if (needs_facts)
        rc = hone_record(spec, pool, ret, ret_end, err);
    if (rc == 0 && ret_end->reason == HONE_REASON_BUILT)
        put(cache_dir, needs_facts ? with : without, ret);
    return rc;
}
