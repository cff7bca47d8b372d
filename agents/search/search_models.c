/* SPDX-License-Identifier: Apache-2.0 */
/* The models of a search: opened from local configuration, asked through the journal. */
#include "agents/search/search_models.h"

#include <string.h>

#include "agents/coder/prompt_machine.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

static bool wants_planner(const struct hone_search_options *o)
{
    return o->planner && strcmp(o->planner, "llm") == 0;
}

static bool asks_model(const struct hone_search *s)
{
    return hone_coder_asks_model(s->options->coder) || wants_planner(s->options);
}

static int open_one(struct hone_search_models *m, const char *name, bool is_capped,
                    struct hone_model **ret, struct hone_err *err)
{
    int r = hone_model_open(&m->config, name, ret, err);
    if (r < 0)
        return hone_wrap(err, "--model");
    if (is_capped && !hone_model_has_price(*ret))
        return hone_fail_at(err, HONE_E_ARG, "budget_cost",
                            "a cap on money needs prices, and that of model '%.64s' (or of its "
                            "fallback) is not known: set price_in and price_out in hone.json, or "
                            "cap tokens (--budget-tokens)",
                            hone_model_name(*ret));
    return 0;
}

int hone_search_open_models(struct hone_search *s, struct hone_err *err)
{
    const struct hone_search_options *o = s->options;
    if (!asks_model(s))
        return 0;
    struct hone_search_models *m = hone_pool_alloc(s->pool, sizeof(*m));
    s->models = m;
    m->journal = hone_journal_new(hone_workspace_ledger(s->ctx->app->ws));
    int r = hone_config_load(hone_workspace_dir(s->ctx->app->ws), s->pool, &m->config, err);
    if (r == 0 && hone_coder_asks_model(o->coder))
        r = open_one(m, o->model, o->budget_cost > 0, &m->coder, err);
    if (r == 0 && wants_planner(o))
        r = open_one(m, o->planner_model ? o->planner_model : o->model, o->budget_cost > 0,
                     &m->planner, err);
    if (r < 0)
        return r;
    HONE_AUTOFREE char *found = s->ctx->app->data_dir ? NULL : hone_data_dir();
    const char *data = s->ctx->app->data_dir ? s->ctx->app->data_dir : found;
    if (!data)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "the prompt files were not found (share/hone/prompts); set HONE_DATA");
    HONE_AUTOFREE char *dir = hone_path_join(data, "prompts", NULL);
    m->prompts_dir = hone_pool_strdup(s->pool, dir);
    return 0;
}

int hone_search_load_models(struct hone_search *s, struct hone_err *err)
{
    return s->models ? hone_journal_load(s->models->journal, s->id, err) : 0;
}

void hone_search_close_models(struct hone_search *s)
{
    if (!s->models)
        return;
    hone_model_free(s->models->coder);
    hone_model_free(s->models->planner);
    hone_journal_free(s->models->journal);
    s->models = NULL;
}

const char *hone_search_machine(struct hone_search *s)
{
    struct hone_search_models *m = s->models;
    if (!m || m->machine)
        return m ? m->machine : NULL;
    HONE_AUTOFREE char *path = hone_workspace_path(s->ctx->app->ws, "machine.json");
    m->machine = hone_prompt_machine_of(s->ctx->app->executor, path, s->target, s->pool);
    return m->machine;
}

/* What is asked must come back while it can still be tried. */
int64_t hone_search_ask_deadline_ns(const struct hone_search *s)
{
    int64_t room = hone_search_room_ms(s);
    if (room == INT64_MAX)
        return HONE_NO_DEADLINE;
    return hone_deadline_in_ms(hone_max_i64(0, room - hone_search_one_screen_ms(s)));
}
