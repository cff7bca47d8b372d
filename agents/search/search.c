/* SPDX-License-Identifier: Apache-2.0 */
/* A search from its opening to its result (search.h). The loop is in driver.c, what comes next and
 * the stop rules are in next.c.
 *
 * Order of work: the baseline first; then expansions; a new best that is clearly ahead gets a
 * longer look (decide) while a sixth of the wall budget lasts for that; when expansions stop
 * paying, the tunables of the best are swept; what a confirmation takes here (pace.h), and a quarter
 * of the wall budget at least, is kept back for it. What does not fit is not begun; what takes
 * longer than its estimate is stopped at the wall. */
#include "agents/rewrites/unread.h"
#include "agents/search/driver.h"
#include "agents/search/search_models.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"

#define RANDOM_NUMBERS 64  /* set aside for one choice */
#define LOCK_WAIT_MS   100 /* who asks whether the search runs holds its lock for a moment */

/* ---- progress ---- */

/* The cap counts all rounds, what is shown is this one. */
static int64_t round_cap(const struct hone_search *s)
{
    int64_t cap = s->options->budget_evaluations;
    return cap > 0 ? cap - (s->usage.evaluations - s->usage.round_evaluations) : 0;
}

static const char *word_of_best(const struct hone_search *s, const struct hone_node *best)
{
    if (s->confirmed)
        return s->confirmed_verdict == HONE_VERDICT_FASTER ? "confirmed"
                                                           : "not confirmed as faster";
    return best && best->is_decided ? "decided" : "screened";
}

const char *hone_search_phase_name(enum hone_search_phase phase)
{
    static const char *const names[HONE_N_PHASES] = {
        [HONE_PHASE_BASELINE] = "baseline", [HONE_PHASE_SEARCH] = "search",
        [HONE_PHASE_DECIDE] = "decide",     [HONE_PHASE_SWEEP] = "sweep",
        [HONE_PHASE_CONFIRM] = "confirm",
    };
    return names[phase];
}

void hone_search_tell(struct hone_search *s, const char *fmt, ...)
{
    if (!s->on_progress)
        return;
    char message[240];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    for (char *c = message; *c; c++) /* one line, whatever a model said */
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    const struct hone_node *best =
        s->state.tree.best == HONE_NO_NODE ? NULL : s->state.tree.nodes[s->state.tree.best];
    if (s->confirmed)
        best = s->confirmed;
    HONE_CLEANUP(hone_buf_done) struct hone_buf budgets = HONE_BUF_INIT;
    hone_search_count(s);
    hone_budgets_put(&budgets, &s->budgets, HONE_BUDGET_DEVICE);
    s->on_progress(s->progress_arg, &(struct hone_search_progress){
                                        .task = s->task->name,
                                        .phase = s->phase,
                                        .message = message,
                                        .evaluations = s->n_evaluations,
                                        .elapsed_ms = hone_search_elapsed_ms(s),
                                        .budget_wall_ms = s->options->budget_wall_ms,
                                        .budget_evaluations = round_cap(s),
                                        .budgets = budgets.data ? budgets.data : "",
                                        .best_ratio = s->confirmed ? s->confirmed_ratio
                                                      : best       ? exp2(best->value)
                                                                   : 1,
                                        .best_word = word_of_best(s, best),
                                        .best_commit = best ? best->commit : NULL,
                                    });
}

/* ---- choices ---- */

/* Random numbers go by what was tried, so that a search that was killed chooses as it would have.
 */
bool hone_search_pick(struct hone_search *s, struct hone_pick *ret)
{
    hone_search_list_all_merges(s);
    s->policy_ctx.counter = (uint64_t)s->state.tree.n_edges * RANDOM_NUMBERS;
    return hone_policy_pick(s->policy, &s->policy_ctx, ret);
}

int hone_search_choose(struct hone_search *s, struct hone_pick *ret, bool *ret_has,
                       struct hone_err *err)
{
    *ret_has = hone_search_pick(s, ret);
    return hone_search_record_left_out(s, err);
}

/* ---- result ---- */

static void count_verdicts(const struct hone_search *s, struct hone_search_result *ret)
{
    struct hone_search_count *v =
        hone_pool_alloc(s->ctx->pool, HONE_COUNTOF(s->n_verdicts) * sizeof(*v));
    ret->verdicts.v = v;
    for (size_t i = 0; i < HONE_COUNTOF(s->n_verdicts); i++)
        if (s->n_verdicts[i] > 0)
            v[ret->verdicts.n++] = (struct hone_search_count){
                hone_verdict_name((enum hone_verdict)i), s->n_verdicts[i]};
}

/* What no rule reads in the baseline, or why it cannot be read at all; NULL: all is read. */
static const char *unread_of(const struct hone_search *s, struct hone_pool *pool)
{
    struct hone_coder_input in;
    struct hone_err err = {0};
    if (s->state.tree.n_nodes == 0 || !s->parser)
        return NULL;
    if (hone_coder_read_kernel(s->parser, s->task, s->target, s->state.tree.nodes[0]->source, pool,
                               &in, &err) < 0)
        return hone_pool_printf(pool, "the whole baseline, %s", err.message);
    return hone_unread_text(&in);
}

static void fill_result(const struct hone_search *s, const struct hone_round *round,
                        struct hone_search_result *ret)
{
    struct hone_pool *pool = s->ctx->pool;
    const struct hone_search_outcome *o = &round->outcome;
    const char *why = hone_stop_reason_name(round->closing.why);
    int node = round->closing.node;
    *ret = (struct hone_search_result){
        .task = hone_pool_strdup(pool, s->task->name),
        .target = hone_pool_strdup(pool, s->target),
        .name = hone_pool_strdup(pool, s->name),
        .baseline_ns = (double)NAN,
        .best_ns = (double)NAN,
        .speedup = (double)NAN,
        .vs_fast_math = (double)NAN,
        .percent_of_bound = (double)NAN,
        .evaluations = s->n_evaluations,
        .unruly = s->n_unruly,
        .why_stopped = why,
        .is_resumed = s->is_resumed,
        .wall_ms = hone_search_elapsed_ms(s),
        .waited_ms = s->waited_ms,
        .waited_for = s->waited_for[0] ? hone_pool_strdup(pool, s->waited_for) : NULL,
        .device_ms = (int64_t)s->budgets.of[HONE_BUDGET_DEVICE].spent,
        .tokens = (int64_t)s->budgets.of[HONE_BUDGET_TOKENS].spent,
        .cost = s->budgets.of[HONE_BUDGET_COST].spent,
    };
    count_verdicts(s, ret);
    ret->unread = unread_of(s, pool);
    const char *unruly = s->n_unruly == 0 ? ""
                                          : hone_pool_printf(pool,
                                                             "; %lld versions failed where the "
                                                             "baseline worked",
                                                             (long long)s->n_unruly);
    if (node == HONE_NO_NODE) {
        ret->unconfirmed = hone_pool_strdup(pool, s->unconfirmed);
        ret->summary = hone_pool_printf(pool, "%s: nothing was confirmed (%s)%s%s%s", ret->task,
                                        why, s->unconfirmed ? "; " : "",
                                        s->unconfirmed ? s->unconfirmed : "", unruly);
        return;
    }
    ret->baseline_ns = o->baseline_ns;
    ret->best_ns = o->best_ns;
    ret->speedup = o->ratio;
    ret->vs_fast_math = o->vs_fast_math;
    ret->yardsticks = hone_yardsticks_copy(&o->yardsticks, pool);
    ret->ci.v = hone_pool_alloc(pool, 2 * sizeof(double));
    ret->ci.n = isfinite(o->low) ? 2 : 0;
    ret->ci.v[0] = o->low;
    ret->ci.v[1] = o->high;
    ret->percent_of_bound = o->percent_of_bound;
    ret->verdict = hone_verdict_name(o->verdict);
    ret->rests_on = hone_pool_strdup(pool, o->rests_on);
    ret->best_commit = hone_pool_strdup(pool, s->state.tree.nodes[node]->commit);
    ret->summary = hone_pool_printf(
        pool, "%s: %s, %.3gx [%.3g, %.3g] after %lld evaluations (%s)%s%s%s", ret->task,
        ret->verdict, o->ratio, o->low, o->high, (long long)s->n_evaluations, why, unruly,
        o->doubt != NULL ? "; not to be claimed: " : "", o->doubt != NULL ? o->doubt : "");
    ret->doubt = hone_pool_strdup(pool, o->doubt);
}

/* ---- opening ---- */

static int check_options(struct hone_search *s, const struct hone_search_options *o,
                         struct hone_err *err)
{
    if (!o->task)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task");
    int r = s->is_view ? 0 : hone_search_check_caps(o, err);
    if (r < 0)
        return r;
    if (o->target && strcmp(o->target, "cpu") != 0 && strcmp(o->target, "cuda") != 0)
        return hone_fail_at(err, HONE_E_UNSUPPORTED, "target",
                            "the rule coder works on cpu and cuda, not on '%.40s'", o->target);
    s->policy = hone_policy_find(o->policy ? o->policy : "puct");
    if (!s->policy)
        return hone_fail_at(err, HONE_E_ARG, "policy", "'%.40s' is unknown; %s are", o->policy,
                            hone_policy_names(s->ctx->pool));
    if (o->coders < 0 || o->coders > HONE_MAX_CODERS)
        return hone_fail_at(err, HONE_E_ARG, "coders", "is 1 to %d", HONE_MAX_CODERS);
    if (!(o->skip_below >= 0) || o->skip_below > 1)
        return hone_fail_at(err, HONE_E_ARG, "skip_below", "is a chance, 0 to 1");
    s->name = o->name ? o->name : o->task;
    if (!hone_is_safe_name(s->name))
        return hone_fail_at(err, HONE_E_ARG, "name", "use letters, digits, '_', '.', '-'");
    return 0;
}

static int open_coder(struct hone_search *s, struct hone_err *err)
{
    const struct hone_search_options *o = s->options;
    if (o->planner && strcmp(o->planner, "rules") != 0 && strcmp(o->planner, "llm") != 0 &&
        strcmp(o->planner, "external") != 0)
        return hone_fail_at(err, HONE_E_ARG, "planner",
                            "'%.40s' is unknown; rules, llm and external are", o->planner);
    int r = hone_coder_is_known(o->coder) && !s->is_view ? hone_search_open_models(s, err) : 0;
    if (r < 0)
        return r;
    const struct hone_coder_setup setup = {.name = o->coder,
                                           .target = s->target,
                                           .task = s->task,
                                           .parser = s->parser,
                                           .model = s->models ? s->models->coder : NULL,
                                           .journal = s->models ? s->models->journal : NULL,
                                           .prompts_dir = s->models ? s->models->prompts_dir : NULL,
                                           .repairs = hone_max_i64(0, o->repairs),
                                           .n_beside = (int)hone_max_i64(1, o->coders) - 1,
                                           .only_lists = s->is_view,
                                           .seed = o->seed,
                                           .deadline_ns = HONE_NO_DEADLINE,
                                           .cancel = s->ctx->cancel};
    return hone_coder_open(&setup, &s->coder, err);
}

static int open_view_record(struct hone_search *s, struct hone_err *err)
{
    bool is_known = false;
    int r = hone_search_read_record(s, &is_known, err);
    if (r == 0 && (!is_known || s->state.tree.n_nodes == 0))
        r = hone_fail_at(err, HONE_E_NOT_FOUND, "search",
                         "search '%.64s' has no version yet that fits the task pack as it is now",
                         s->name);
    return r;
}

static const struct hone_rewrite *find_rewrite(void *coder, const char *name)
{
    return hone_coder_rewrite(coder, name);
}

static int open_search(struct hone_search *s, int *ret_lock, struct hone_err *err)
{
    HONE_AUTOFREE char *file = hone_sprintf("search-%s.lock", s->name);
    HONE_AUTOFREE char *path = hone_workspace_path(s->ctx->app->ws, file);
    int r = hone_workspace_task(s->ctx->app->ws, s->options->task, &s->task, err);
    if (r == 0)
        s->target = hone_task_target_of(s->task, s->options->target);
    if (r == 0)
        r = hone_task_select(s->task, s->target, err);
    if (r == 0)
        r = hone_c_parser_new(&s->parser, err);
    if (r == 0)
        r = open_coder(s, err);
    if (r == 0 && !s->is_view)
        r = hone_search_open_notices(s, err);
    if (r == 0)
        r = s->is_view ? 0 : hone_lock_file(path, hone_deadline_in_ms(LOCK_WAIT_MS), ret_lock, err);
    if (r == HONE_E_BUSY)
        return hone_fail(
            err, HONE_E_BUSY,
            "search '%s' is running already; wait for it (job_wait, or the terminal it "
            "runs in), or start another under a name of its own (--name)",
            s->name);
    if (r < 0)
        return hone_wrap(err, "search '%s'", s->name);
    hone_state_init(&s->state, s->pool, find_rewrite, s->coder);
    s->policy_ctx = (struct hone_policy_ctx){
        .tree = &s->state.tree,
        .credit = &s->state.credit,
        .expand = hone_search_list_steps,
        .expand_arg = s,
        .seed = s->options->seed,
    };
    r = s->is_view ? open_view_record(s, err) : hone_search_open_record(s, err);
    if (r == 0)
        r = hone_search_load_steering(s, err);
    if (r == 0 && !s->is_view)
        r = hone_search_announce(s, err);
    return r;
}

static void close_search(struct hone_search *s)
{
    hone_search_close_ahead(s);
    hone_coder_close(s->coder);
    hone_search_close_models(s);
    hone_c_parser_free(s->parser);
    hone_task_free(s->task);
    hone_pool_free(s->pool);
}

/* The round ends: what was confirmed is on the branch, who still waits is told, and it is written. */
static int end_round(struct hone_search *s, const struct hone_round *round,
                     struct hone_search_result *ret, struct hone_err *err)
{
    const struct hone_closing *c = &round->closing;
    int r = 0;
    if (c->node != HONE_NO_NODE)
        r = hone_search_present(s, s->state.tree.nodes[c->node], &round->outcome, err);
    if (r == 0)
        r = hone_search_drop_submissions(s, hone_stop_reason_name(c->why), err);
    if (r < 0)
        return r;
    hone_search_tell_wait(s);
    fill_result(s, round, ret);
    struct hone_event e = {.type = HONE_EVENT_END, .end = {.search = s->id, .result = ret}};
    r = hone_search_record_event(s, &e, NULL, NULL, err);
    return r < 0 ? r : hone_ledger_sync(hone_workspace_ledger(s->ctx->app->ws), err);
}

static int run_open(struct hone_search *s, struct hone_search_result *ret, struct hone_err *err)
{
    struct hone_round round;
    int r = hone_search_open_ahead(s, err);
    if (r == 0)
        r = hone_drive(s, &round, err);
    return r < 0 ? r : end_round(s, &round, ret, err);
}

int hone_search_run(struct hone_tool_ctx *ctx, const struct hone_search_options *options,
                    hone_search_progress_fn *on_progress, void *progress_arg,
                    struct hone_search_result *ret, struct hone_err *err)
{
    HONE_AUTOCLOSE int lock = -1;
    HONE_AUTOFREE struct hone_search *s = hone_calloc(1, sizeof(*s));
    s->ctx = ctx;
    s->options = options;
    s->on_progress = on_progress;
    s->progress_arg = progress_arg;
    s->start_ns = hone_search_now_ns(s);
    s->phase = HONE_PHASE_BASELINE;
    int r = check_options(s, options, err);
    if (r < 0)
        return r;
    s->pool = hone_pool_new();
    r = open_search(s, &lock, err);
    struct hone_err cause = HONE_ERR_INIT;
    if (r == 0) {
        r = run_open(s, ret, &cause);
        hone_search_tell_end(s, r, ret, &cause);
        if (r < 0 && err)
            *err = cause;
    }
    close_search(s);
    return r;
}

static int open_view(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                     uint64_t until, struct hone_search **ret, struct hone_err *err)
{
    struct hone_search *s = hone_calloc(1, sizeof(*s));
    s->pool = hone_pool_new();
    struct hone_search_options *o = hone_pool_alloc(s->pool, sizeof(*o));
    *o = which->options; /* borrowed */
    o->budget_disk_bytes = INT64_MAX;
    s->ctx = ctx;
    s->options = o;
    s->start_ns = hone_search_now_ns(s);
    s->phase = HONE_PHASE_SEARCH;
    s->is_view = true;
    s->replay_until = until;
    int r = check_options(s, o, err);
    if (r == 0)
        r = open_search(s, NULL, err);
    if (r < 0) {
        hone_search_view_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

int hone_search_view_open(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                          struct hone_search **ret, struct hone_err *err)
{
    return open_view(ctx, which, 0, ret, err);
}

int hone_search_digest_at(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                          uint64_t until, char ret[HONE_HASH_TEXT_BYTES], struct hone_err *err)
{
    struct hone_search *s = NULL;
    int r = open_view(ctx, which, until, &s, err);
    if (r < 0)
        return r;
    hone_state_digest(&s->state, ret);
    hone_search_view_close(s);
    return 0;
}

void hone_search_view_close(struct hone_search *s)
{
    if (!s)
        return;
    close_search(s);
    free(s);
}
