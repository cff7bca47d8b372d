/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/options.h"

const char *const hone_search_policy_words[] = {"puct",  "archive", "ucb", "greedy",
                                                "chain", "random",  NULL};
const char *const hone_search_coder_words[] = {"rules", "llm", "auto", "external", NULL};
const char *const hone_search_planner_words[] = {"rules", "llm", "external", NULL};

static void free_json(void *json)
{
    hone_json_free(json);
}

struct hone_search_options hone_search_options_copy(const struct hone_search_options *options,
                                                    struct hone_pool *pool)
{
    struct hone_search_options o = *options;
    const char **const texts[] = {&o.task,  &o.target,        &o.policy, &o.coder,    &o.planner,
                                  &o.model, &o.planner_model, &o.name,   &o.knowledge};
    struct hone_json **const values[] = {&o.prior, &o.cost};
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++)
        *texts[i] = hone_pool_strdup(pool, *texts[i]);
    for (size_t i = 0; i < HONE_COUNTOF(values); i++) {
        *values[i] = *values[i] ? hone_json_copy(*values[i]) : NULL;
        if (*values[i])
            hone_pool_defer(pool, free_json, *values[i]);
    }
    return o;
}

struct hone_event_caps hone_search_caps(const struct hone_search_options *o)
{
    return (struct hone_event_caps){.budget_wall_ms = o->budget_wall_ms,
                                    .budget_evaluations = o->budget_evaluations,
                                    .budget_device_ms = o->budget_device_ms,
                                    .budget_disk_bytes = o->budget_disk_bytes,
                                    .budget_tokens = o->budget_tokens,
                                    .budget_cost = o->budget_cost};
}

void hone_search_options_put(const struct hone_search_options *o, struct hone_event_start *ret)
{
    ret->planner = o->planner;
    ret->model = o->model;
    ret->seed = o->seed;
    ret->prior = o->prior;
    ret->knowledge = o->knowledge;
    ret->skip_below = o->skip_below;
    ret->cost = o->skip_below > 0 ? o->cost : NULL;
    ret->caps = hone_search_caps(o);
}

struct hone_search_options hone_search_options_of(const struct hone_event_start *start,
                                                  struct hone_pool *pool)
{
    const struct hone_search_options o = {.task = start->task,
                                          .target = start->target,
                                          .name = start->name,
                                          .policy = start->policy,
                                          .coder = start->coder,
                                          .planner = start->planner,
                                          .model = start->model,
                                          .seed = start->seed,
                                          .skip_below = start->skip_below,
                                          .budget_wall_ms = start->caps.budget_wall_ms,
                                          .budget_evaluations = start->caps.budget_evaluations};
    return hone_search_options_copy(&o, pool);
}
