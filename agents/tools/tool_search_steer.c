/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agents/search/search.h"
#include "agents/search/steer.h"

struct steer_in {
    const char *search, *action, *strategy, *text;
};

struct steer_out {
    struct hone_head head;
    const char *search;
    int64_t request, submissions_waiting;
    bool is_running, is_paused;
    struct hone_strs banned, favoured, hints;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct steer_in, search, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name or id."),
    HONE_FIELD(struct steer_in, action, .required = true, .choices = hone_steer_actions,
               .help = "ban, favour, unban: a strategy; hint: for models; stop: end in order, with "
                       "the confirmation."),
    HONE_FIELD(struct steer_in, strategy, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Of ban, favour, unban: catalogue id, e.g. C08."),
    HONE_FIELD(struct steer_in, text, .max_len = HONE_LIMIT_HINT_BYTES,
               .help = "Of hint: one line; empty: no hints."),
};

static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct steer_out),
    HONE_FIELD(struct steer_out, search, .skip_empty = true, .help = "Id of the search."),
    HONE_FIELD(struct steer_out, request, .skip_empty = true,
               .help = "Number of this request: of its record in the ledger."),
    HONE_FIELD(struct steer_out, is_running, .help = "Some process runs the search now."),
    HONE_FIELD(struct steer_out, is_paused, .help = "It waits, or will when it goes on."),
    HONE_FIELD(struct steer_out, banned, .help = "Strategies that it does not try."),
    HONE_FIELD(struct steer_out, favoured, .help = "Strategies whose prior counts more."),
    HONE_FIELD(struct steer_out, hints, .help = "What models are told, oldest first."),
    HONE_FIELD(struct steer_out, submissions_waiting, .help = "Steps from outside in its queue."),
};

static void list_marked(const bool *marks, struct hone_pool *pool, struct hone_strs *ret)
{
    ret->v = hone_pool_alloc(pool, HONE_CREDIT_MAX * sizeof(*ret->v));
    for (size_t i = 0; i < hone_n_strategies && i < HONE_CREDIT_MAX; i++)
        if (marks[i])
            ret->v[ret->n++] = hone_strategies[i].id;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct steer_in *in = arguments;
    struct steer_out *out = result;
    struct hone_steer_search search;
    struct hone_steer_request request = {
        .strategy = in->strategy, .text = in->text, .by = ctx->caller};
    uint64_t n = 0;
    if (!hone_steer_parse(in->action, &request.action))
        return hone_fail_at(err, HONE_E_ARG, "action", "'%.40s' is unknown", in->action);
    struct hone_steering *now = hone_pool_alloc(ctx->pool, sizeof(*now));
    int r = hone_steer_find(ctx->app->ws, in->search, ctx->pool, &search, err);
    if (r == 0)
        r = hone_steer_send(ctx->app->ws, &search, &request, &n, err);
    if (r < 0)
        return r;
    hone_steering_init(now, search.id, search.target, ctx->pool);
    r = hone_steering_read(now, hone_workspace_ledger(ctx->app->ws), err);
    if (r < 0)
        return r;
    out->search = search.id;
    out->request = (int64_t)n;
    out->is_running = search.is_running;
    out->is_paused = now->is_paused;
    list_marked(now->is_banned, ctx->pool, &out->banned);
    list_marked(now->is_favoured, ctx->pool, &out->favoured);
    out->hints = (struct hone_strs){now->hints, now->n_hints};
    out->submissions_waiting = (int64_t)now->n_waiting;
    out->head.status = "ok";
    out->head.summary = hone_pool_printf(ctx->pool, "%s: %s%s%s; %s", search.name, in->action,
                                         in->strategy ? " " : "", in->strategy ? in->strategy : "",
                                         search.is_running ? "taken at the next expansion"
                                                           : "taken when the search goes on");
    out->head.next = "strategy_propose with search shows what it would do next.";
    return 0;
}

const struct hone_tool hone_tool_search_steer = {
    .name = "search_steer",
    .title = "Steer a search",
    .summary = "Pause, resume, ban or favour a strategy, hint, or end a search while it runs.",
    .description =
        "Writes a request into the ledger, read between expansions by the search in "
        "whichever process it runs; survives restarts and stands in the history. A pause "
        "uses no wall time. Returns what holds now. To cancel at once use search_stop.",
    /* no device, and never behind an evaluation */
    .flags = HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct steer_in, struct steer_out),
    .run = run,
};
