/* SPDX-License-Identifier: Apache-2.0 */
/* What a search may start from beside the catalogue: rows of knowledge, and a cost model that is
 * fitted to recorded lattices. Nothing of the task itself, nor, in the cost model, of its family. */
#include <string.h>

#include "agents/coder/coder.h"
#include "agents/coder/prompt.h"
#include "agents/coder/prompt_machine.h"
#include "agents/knowledge/knowledge.h"
#include "agents/offline/cost_fit.h"
#include "server/verb_search.h"

static void free_json(void *json)
{
    hone_json_free(json);
}

static bool asks_model(const struct hone_search_options *o)
{
    return hone_coder_asks_model(o->coder) || (o->planner && strcmp(o->planner, "llm") == 0);
}

/* From the rows of this workspace and of the user's store. */
static int take_knowledge(struct hone_app *app, const struct hone_knowledge_of *of,
                          struct hone_search_options *options, struct hone_pool *pool,
                          struct hone_err *err)
{
    struct hone_knowledge k = {.pool = pool};
    HONE_AUTOFREE char *store = hone_knowledge_path();
    size_t n_refused = 0;
    int rc = hone_knowledge_collect(app->ws, &k, err);
    if (rc == 0 && store)
        rc = hone_knowledge_load(store, &k, &n_refused, err);
    if (rc < 0)
        return rc;
    struct hone_json *prior = hone_knowledge_prior(&k, of->task, of->family, of->target);
    options->prior = prior;
    if (prior)
        hone_pool_defer(pool, free_json, prior);
    if (asks_model(options))
        options->knowledge = hone_knowledge_notes(&k, of, hone_prompt_knowledge_room());
    hone_say("knowledge: %zu strategies were tried on other tasks of family %s (%s)",
             prior ? hone_json_size(prior) : 0, of->family, of->target);
    return 0;
}

static int take_cost(const char *lattices_dir, const struct hone_knowledge_of *of,
                     struct hone_search_options *options, struct hone_pool *pool,
                     struct hone_err *err)
{
    struct hone_lattice **lattices = NULL;
    struct hone_cost_model model;
    struct hone_strs from;
    size_t n = 0;
    int rc = hone_lattice_load_all(lattices_dir, pool, &lattices, &n, err);
    if (rc == 0)
        rc = hone_cost_fit_for(lattices, n, of->task, of->family, of->target, pool, &model, &from,
                               err);
    if (rc < 0)
        return hone_wrap(err, "--skip-below");
    options->cost = hone_cost_json(&model, &from);
    hone_pool_defer(pool, free_json, options->cost);
    hone_say("cost model: of %zu kernels of other families, error %.2f log2; steps are left out "
             "whose chance of a gain is below %g",
             from.n, model.error, options->skip_below);
    return 0;
}

int hone_search_take_learnt(struct hone_app *app, const struct hone_search_args *args,
                            struct hone_search_options *options, struct hone_pool *pool,
                            struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (!args->knowledge && !(options->skip_below > 0))
        return 0;
    int rc = hone_workspace_task(app->ws, options->task, &task, err);
    if (rc < 0)
        return rc;
    struct hone_knowledge_of of = {.task = task->name,
                                   .family = task->op_type ? task->op_type : task->name,
                                   .target = hone_task_target_of(task, options->target)};
    if (args->knowledge) {
        of.machine = hone_machine_name(app->executor, of.target, pool);
        rc = take_knowledge(app, &of, options, pool, err);
    }
    if (rc == 0 && options->skip_below > 0)
        rc = take_cost(args->lattices, &of, options, pool, err);
    return rc;
}
