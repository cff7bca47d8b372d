/* SPDX-License-Identifier: Apache-2.0 */
/* `hone doctor --task` (preflight.h): the checks one after the other, each a look_at_... that
 * tells lines of level ok, weak or no.
 *
 * A check that cannot go on stops those that need its result: without a task no baseline,
 * without a baseline no noise and no forecast. Costs: three evaluations of the baseline, and
 * one short question a model with --ask. */
#include "agents/search/preflight.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agents/coder/coder.h"
#include "agents/model/model.h"
#include "agents/search/notify.h"
#include "agents/planner/policy.h"
#include "agents/search/pace.h"
#include "tools/evaluate.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define ROUNDS               3 /* of the baseline against itself */
#define NOISY_PERCENT        3.0
#define OFFSET_PERCENT       2.0
#define KIB_AN_EVALUATION    80 /* ledger, report and git objects; measured by tests/night */
#define FEW_EVALUATIONS      20
#define TYPICAL_PROMPT_BYTES 12000
#define TYPICAL_ANSWER       16384 /* most tokens that the coder asks for */
#define ASK_MS               60000
#define GIB                  1073741824.0

struct exam {
    struct hone_tool_ctx *ctx;
    const struct hone_search_options *options;
    bool asks;
    hone_preflight_fn *fn;
    void *fn_arg;
    struct hone_pool *pool;
    struct hone_preflight *ret;
    struct hone_pace pace;
};

static void tell(struct exam *x, enum hone_preflight_level level, const char *what, const char *fmt,
                 ...) HONE_PRINTF(4, 5);
static void tell(struct exam *x, enum hone_preflight_level level, const char *what, const char *fmt,
                 ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    x->fn(x->fn_arg, level, what, text);
}

/* ---- options ---- */

/* "time, disk" */
static const char *caps_of(const struct hone_search_options *o, struct hone_pool *pool)
{
    const struct {
        bool is_set;
        const char *words;
    } caps[] = {
        {o->budget_wall_ms > 0, "time"},
        {o->budget_evaluations > 0, "evaluations"},
        {o->budget_device_ms > 0, "device time"},
        {o->budget_disk_bytes > 0, "disk"},
        {o->budget_cost > 0, "money"},
        {o->budget_tokens > 0, "tokens"},
    };
    const char *out = "";
    for (size_t i = 0; i < HONE_COUNTOF(caps); i++)
        if (caps[i].is_set)
            out = hone_pool_printf(pool, "%s%s%s", out, *out ? ", " : "", caps[i].words);
    return out;
}

static void look_at_options(struct exam *x)
{
    const struct hone_search_options *o = x->options;
    const char *policy = o->policy ? o->policy : "puct", *name = o->name ? o->name : o->task;
    struct hone_err cause = HONE_ERR_INIT;
    if (hone_search_check_caps(o, &cause) < 0)
        tell(x, HONE_PREFLIGHT_NO, "budget", "%s; say when to stop, for example --budget-wall 8h",
             cause.message);
    else
        tell(x, HONE_PREFLIGHT_OK, "budget", "capped by %s", caps_of(o, x->pool));
    if (!hone_policy_find(policy))
        tell(x, HONE_PREFLIGHT_NO, "policy", "'%.40s' is unknown; %s are", policy,
             hone_policy_names(x->pool));
    if (!hone_is_safe_name(name))
        tell(x, HONE_PREFLIGHT_NO, "name", "'%.80s': use letters, digits, '_', '.', '-'", name);
}

/* ---- models ---- */

static bool wants_planner(const struct hone_search_options *o)
{
    return o->planner && strcmp(o->planner, "llm") == 0;
}

/* Where a key comes from, and whether it is there; never the key. */
static void look_at_key(struct exam *x, const struct hone_model_config *c)
{
    struct stat st;
    if (c->key_env)
        tell(x, getenv(c->key_env) ? HONE_PREFLIGHT_OK : HONE_PREFLIGHT_NO, "key",
             "%s: variable %.80s is %s", c->name, c->key_env,
             getenv(c->key_env) ? "set" : "not set");
    if (!c->key_file)
        return;
    HONE_AUTOFREE char *path = hone_config_path(c->key_file);
    if (stat(path, &st) < 0)
        tell(x, HONE_PREFLIGHT_NO, "key", "%s: %.200s is not there", c->name, path);
    else
        tell(x, (st.st_mode & 077) ? HONE_PREFLIGHT_NO : HONE_PREFLIGHT_OK, "key",
             "%s: %.200s, mode %03o%s", c->name, path, (unsigned)st.st_mode & 0777,
             (st.st_mode & 077) ? ": others can read it; chmod 600" : "");
}

static bool can_run(const char *program)
{
    HONE_AUTOFREE char *path = hone_config_path(program);
    return !strchr(path, '/') || access(path, X_OK) == 0;
}

/* One line for a model and for each that stands in for it. */
static void look_at_chain(struct exam *x, const struct hone_config *config, const char *role,
                          const char *name)
{
    const struct hone_model_config *c = NULL;
    for (int i = 0; i < HONE_LIMIT_MODEL_CHAIN && hone_config_model(config, name, &c, NULL) == 0;
         i++) {
        const char *where = c->url ? c->url : c->command.n > 0 ? c->command.v[0] : c->file;
        tell(x, HONE_PREFLIGHT_OK, "model", "%s%s: %s, %s %s%s%.160s", role,
             i > 0 ? ", stands in" : "", c->name, c->provider, c->model ? c->model : "",
             where ? " at " : "", where ? where : "");
        look_at_key(x, c);
        if (c->command.n > 0 && !can_run(c->command.v[0]))
            tell(x, HONE_PREFLIGHT_NO, "model", "%s: %.160s cannot be run", c->name,
                 c->command.v[0]);
        if (!c->fallback)
            return;
        name = c->fallback;
    }
}

static struct hone_model_request short_request(const char *const *stable,
                                               const struct hone_model_message *message,
                                               const struct hone_cancel *cancel)
{
    return (struct hone_model_request){.stable = stable,
                                       .n_stable = 1,
                                       .messages = message,
                                       .n_messages = 1,
                                       .max_tokens = 512, /* some think first */
                                       .temperature = -1,
                                       .deadline_ns = hone_deadline_in_ms(ASK_MS),
                                       .cancel = cancel};
}

static int ask(struct exam *x, const char *role, struct hone_model *model, struct hone_err *err)
{
    static const char *const stable[] = {"Answer with the one word OK."};
    static const struct hone_model_message message = {"user", "Are you there?"};
    const struct hone_model_request q = short_request(stable, &message, x->ctx->cancel);
    struct hone_model_answer a;
    struct hone_err cause = HONE_ERR_INIT;
    int rc = hone_model_ask(model, &q, x->pool, &a, &cause);
    if (rc == HONE_E_CANCEL) {
        if (err)
            *err = cause;
        return rc;
    }
    if (rc < 0) {
        tell(x, HONE_PREFLIGHT_NO, "answer", "%s: %s", role, cause.message);
        return 0;
    }
    bool is_other = strcmp(a.answered_by, hone_model_name(model)) != 0;
    tell(x, is_other ? HONE_PREFLIGHT_WEAK : HONE_PREFLIGHT_OK, "answer",
         "%s: %s answered in %lld ms, %lld tries, cost %.6g USD%s", role, a.answered_by,
         (long long)a.latency_ms, (long long)a.n_tries, a.cost,
         is_other ? "; it stood in, the model itself did not answer" : "");
    if (strcmp(role, "coder") == 0)
        x->ret->ask_ms = a.latency_ms;
    return 0;
}

/* What one request of the coder sets aside, from a prompt of the usual size. */
static void estimate(struct exam *x, const struct hone_model *model)
{
    HONE_AUTOFREE char *text = hone_malloc(TYPICAL_PROMPT_BYTES + 1);
    memset(text, 'x', TYPICAL_PROMPT_BYTES);
    text[TYPICAL_PROMPT_BYTES] = '\0';
    const char *const stable[] = {text};
    const struct hone_model_message message = {"user", ""};
    struct hone_model_request q = short_request(stable, &message, NULL);
    struct hone_model_estimate most;
    q.max_tokens = TYPICAL_ANSWER;
    hone_model_cost_estimate(model, &q, &most);
    x->ret->ask_cost = most.cost;
}

static int look_at_model(struct exam *x, const struct hone_config *config, const char *role,
                         const char *name, struct hone_err *err)
{
    HONE_CLEANUP(hone_model_free_ptr) struct hone_model *model = NULL;
    struct hone_err cause = HONE_ERR_INIT;
    look_at_chain(x, config, role, name);
    if (hone_model_open(config, name, &model, &cause) < 0) {
        tell(x, HONE_PREFLIGHT_NO, "model", "%s: %s", role, cause.message);
        return 0;
    }
    if (strcmp(role, "coder") == 0)
        estimate(x, model);
    if (hone_model_has_price(model))
        tell(x, HONE_PREFLIGHT_OK, "price", "%s: known", role);
    else
        tell(x, x->options->budget_cost > 0 ? HONE_PREFLIGHT_NO : HONE_PREFLIGHT_WEAK, "price",
             "%s: not known, so that no cap on money can hold; set price_in and price_out", role);
    if (x->options->budget_cost > 0 && x->ret->ask_cost > x->options->budget_cost)
        tell(x, HONE_PREFLIGHT_NO, "money", "one request may cost %.3g USD, the cap is %.3g",
             x->ret->ask_cost, x->options->budget_cost);
    if (x->asks)
        return ask(x, role, model, err);
    tell(x, HONE_PREFLIGHT_OK, "answer", "%s: not asked; --ask asks one short, paid question",
         role);
    return 0;
}

static bool has_prompts(struct exam *x)
{
    HONE_AUTOFREE char *found = x->ctx->app->data_dir ? NULL : hone_data_dir();
    static const char *const files[] = {"coder.md", "coder-cuda.md", "planner.md"};
    const char *data = x->ctx->app->data_dir ? x->ctx->app->data_dir : found;
    bool is_there = data != NULL;
    for (size_t i = 0; is_there && i < HONE_COUNTOF(files); i++) {
        HONE_AUTOFREE char *path = hone_path_join(data, "prompts", files[i], NULL);
        is_there = hone_file_exists(path);
    }
    return is_there;
}

static void look_at_notify(struct exam *x, const struct hone_config *config)
{
    const struct hone_notify_config *n = config->notify;
    if (!n || (n->command.n == 0 && !n->webhook)) {
        tell(x, HONE_PREFLIGHT_OK, "notify",
             "nobody, when it stops or fails (docs/guides/models.md)");
        return;
    }
    bool runs = n->command.n == 0 || can_run(n->command.v[0]);
    tell(x, runs ? HONE_PREFLIGHT_OK : HONE_PREFLIGHT_WEAK, "notify", "%s%.160s%s%s",
         n->command.n > 0 ? n->command.v[0] : "", runs ? "" : " cannot be run",
         n->command.n > 0 && n->webhook ? ", and " : "", n->webhook ? "a webhook" : "");
}

static const char *who_else(const struct hone_search_options *o)
{
    bool plans = o->planner && strcmp(o->planner, "external") == 0;
    bool edits = o->coder && strcmp(o->coder, "external") == 0;
    return plans && edits ? "agents outside plan and edit"
           : plans        ? "agents outside plan, rules edit"
           : edits        ? "rules plan, agents outside edit"
                          : "rules plan and edit";
}

static int look_at_models(struct exam *x, struct hone_err *err)
{
    const struct hone_search_options *o = x->options;
    struct hone_config config = {.model = NULL};
    struct hone_err cause = HONE_ERR_INIT;
    bool is_coder = hone_coder_asks_model(o->coder);
    if (!hone_coder_is_known(o->coder))
        tell(x, HONE_PREFLIGHT_NO, "coder", "'%.40s' is unknown; rules, llm, auto, external are",
             o->coder);
    if (hone_config_load(hone_workspace_dir(x->ctx->app->ws), x->pool, &config, &cause) < 0) {
        tell(x, HONE_PREFLIGHT_NO, "config", "%s%s%s", cause.path, cause.path[0] ? ": " : "",
             cause.message);
        return 0;
    }
    int rc = 0;
    if (is_coder)
        rc = look_at_model(x, &config, "coder", o->model, err);
    if (rc == 0 && wants_planner(o))
        rc = look_at_model(x, &config, "planner", o->planner_model ? o->planner_model : o->model,
                           err);
    if (!is_coder && !wants_planner(o))
        tell(x, HONE_PREFLIGHT_OK, "model", "none is asked: %s", who_else(o));
    else if (!has_prompts(x))
        tell(x, HONE_PREFLIGHT_NO, "prompts",
             "share/hone/prompts was not found beside the program; set HONE_DATA");
    if (rc == 0)
        look_at_notify(x, &config);
    return rc;
}

/* ---- the baseline ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int evaluate(struct exam *x, const struct hone_task *task, const char *source,
                    struct hone_evaluation *ret, int64_t *ret_ms, struct hone_err *err)
{
    struct hone_tool_ctx ctx = *x->ctx;
    const struct hone_evaluation_request req = {.task = task,
                                                .target = task->target,
                                                .source = source,
                                                .tier = HONE_TIER_SCREEN,
                                                .subject = "preflight: the baseline",
                                                .no_commit = true,
                                                .no_cache = true};
    int64_t begin = hone_now_ns();
    ctx.pool = x->pool;
    int rc = hone_evaluate(&ctx, &req, ret, err);
    *ret_ms = (hone_now_ns() - begin) / HONE_NS_PER_MS;
    return rc;
}

static void note_noise(struct exam *x, const struct hone_report *report)
{
    const struct hone_ratio *r = hone_report_ratio(report, "baseline");
    if (!r || !(r->ratio > 0))
        return;
    double half = r->low > 0 && r->high > 0 ? 50 * (r->high - r->low) : 0;
    double offset = 100 * fabs(r->ratio - 1);
    struct hone_preflight *p = x->ret;
    p->noise_percent = isnan(p->noise_percent) ? half : fmax(p->noise_percent, half);
    p->noise_offset = isnan(p->noise_offset) ? offset : fmax(p->noise_offset, offset);
}

static void tell_baseline(struct exam *x, const int64_t *ms)
{
    const struct hone_preflight *p = x->ret;
    tell(x, HONE_PREFLIGHT_OK, "baseline",
         "is built, right and timed; one evaluation takes %lld ms (the first one %lld ms)",
         (long long)p->screen_ms, (long long)ms[0]);
    if (isnan(p->noise_percent))
        tell(x, HONE_PREFLIGHT_WEAK, "noise", "the baseline against itself gave no interval");
    else
        tell(x,
             p->noise_percent > NOISY_PERCENT || p->noise_offset > OFFSET_PERCENT
                 ? HONE_PREFLIGHT_WEAK
                 : HONE_PREFLIGHT_OK,
             "noise",
             "the baseline against itself, %d screens: %.2f %% from 1 at worst, half-width %.2f "
             "%%%s",
             ROUNDS, p->noise_offset, p->noise_percent,
             p->noise_percent > NOISY_PERCENT || p->noise_offset > OFFSET_PERCENT
                 ? "; smaller gains are lost in it: wait for a quiet machine"
                 : "");
}

static int look_at_baseline(struct exam *x, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *naive = NULL;
    struct hone_err cause = HONE_ERR_INIT;
    int64_t ms[ROUNDS], first = 0;
    int rc = hone_workspace_task(x->ctx->app->ws, x->options->task, &task, &cause);
    const char *target = rc == 0 ? hone_task_target_of(task, x->options->target) : NULL;
    if (rc == 0)
        rc = hone_task_select(task, target, &cause);
    if (rc == 0)
        rc = hone_task_naive(task, target, &naive, &cause);
    if (rc < 0) {
        tell(x, HONE_PREFLIGHT_NO, "task", "%s", cause.message);
        return 0;
    }
    tell(x, HONE_PREFLIGHT_OK, "task", "%s, target %s, %zu sizes", task->name, target,
         task->n_workloads);
    for (int i = 0; i < ROUNDS; i++) {
        struct hone_evaluation e = {.id = NULL};
        rc = evaluate(x, task, naive, &e, &ms[i], &cause);
        if (rc == HONE_E_CANCEL) {
            if (err)
                *err = cause;
            return rc;
        }
        if (rc < 0 || e.report.verdict != HONE_VERDICT_SCREENED) {
            tell(x, HONE_PREFLIGHT_NO, "baseline", "ended as %s: %s",
                 rc < 0 ? "an error" : hone_reason_name(e.report.reason),
                 rc < 0             ? cause.message
                 : e.report.summary ? e.report.summary
                                    : "");
            return 0;
        }
        note_noise(x, &e.report);
    }
    first = ms[0]; /* with the oracle's compile and the machine's first measurement */
    qsort(ms + 1, ROUNDS - 1, sizeof(ms[0]), by_size);
    x->ret->screen_ms = hone_max_i64(1, ms[1 + (ROUNDS - 1) / 2]);
    x->pace = (struct hone_pace){.n_sizes = task->n_workloads,
                                 .is_device = strcmp(task->target, "cuda") == 0,
                                 .usual_ms = x->ret->screen_ms};
    ms[0] = first;
    tell_baseline(x, ms);
    return 0;
}

/* ---- room ---- */

static void look_at_confirmation(struct exam *x)
{
    double seconds = (double)hone_pace_confirm_ms(&x->pace) / 1e3;
    if (hone_pace_reserve_ms(&x->pace, x->options->budget_wall_ms, x->options->budget_wall_ms) > 0)
        tell(x, HONE_PREFLIGHT_OK, "confirm", "a confirmation takes about %.2g s here", seconds);
    else
        tell(x, HONE_PREFLIGHT_WEAK, "confirm",
             "a confirmation takes about %.2g s here: the time is too short for one; --budget-wall "
             "%llds is enough",
             seconds, (long long)hone_pace_cap_ms(&x->pace) / 1000);
}

static void look_at_time(struct exam *x)
{
    const struct hone_search_options *o = x->options;
    struct hone_preflight *p = x->ret;
    int64_t by_wall = INT64_MAX, by_cap = INT64_MAX;
    bool has_model = hone_coder_asks_model(o->coder);
    if (p->screen_ms == 0)
        return;
    if (o->budget_wall_ms > 0) {
        int64_t kept = hone_pace_reserve_ms(&x->pace, o->budget_wall_ms, o->budget_wall_ms);
        by_wall = (o->budget_wall_ms - kept) / (p->screen_ms + p->ask_ms);
        look_at_confirmation(x);
    }
    if (o->budget_evaluations > 0)
        by_cap = o->budget_evaluations;
    p->n_evaluations = hone_min_i64(by_wall, by_cap);
    if (p->n_evaluations == INT64_MAX)
        p->n_evaluations = 0;
    if (p->n_evaluations == 0 && by_wall == INT64_MAX)
        return;
    tell(x, p->n_evaluations < FEW_EVALUATIONS ? HONE_PREFLIGHT_WEAK : HONE_PREFLIGHT_OK, "time",
         "about %lld evaluations%s%s%s", (long long)p->n_evaluations,
         by_cap <= by_wall ? " (their cap)" : " in the time given",
         has_model && p->ask_ms == 0 ? "; the model's own time comes on top, --ask measures it"
                                     : "",
         p->n_evaluations < FEW_EVALUATIONS ? ": too few to expect much" : "");
}

static void look_at_disk(struct exam *x)
{
    const struct hone_search_options *o = x->options;
    struct statvfs fs;
    if (statvfs(hone_workspace_dir(x->ctx->app->ws), &fs) < 0) {
        tell(x, HONE_PREFLIGHT_NO, "disk_use", "the workspace's disk cannot be asked");
        return;
    }
    double room = (double)fs.f_bavail * (double)fs.f_frsize, cap = (double)o->budget_disk_bytes;
    double need = (double)x->ret->n_evaluations * KIB_AN_EVALUATION * 1024;
    x->ret->disk_mib = (int64_t)(need / 1048576);
    bool is_short = room < need + 0.2 * GIB || (cap > 0 && room < fmin(cap, need));
    HONE_AUTOFREE char *of_cap = cap > 0 ? hone_sprintf(", cap %.2f GiB", cap / GIB) : NULL;
    if (is_short)
        tell(x, HONE_PREFLIGHT_NO, "disk_use",
             "%.1f GiB are free, about %.1f GiB are needed; make room, or fewer evaluations",
             room / GIB, need / GIB);
    else if (cap > 0 && cap < need)
        tell(x, HONE_PREFLIGHT_WEAK, "disk_use",
             "%.1f GiB are free%s: the cap will end it after about %lld evaluations", room / GIB,
             of_cap, (long long)(cap / (KIB_AN_EVALUATION * 1024)));
    else
        tell(x, HONE_PREFLIGHT_OK, "disk_use", "%.1f GiB are free%s, about %.2f GiB will be used",
             room / GIB, of_cap ? of_cap : "", need / GIB);
}

int hone_preflight(struct hone_tool_ctx *ctx, const struct hone_search_options *options, bool asks,
                   hone_preflight_fn *fn, void *fn_arg, struct hone_preflight *ret,
                   struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct exam x = {.ctx = ctx,
                     .options = options,
                     .asks = asks,
                     .fn = fn,
                     .fn_arg = fn_arg,
                     .pool = pool,
                     .ret = ret};
    *ret = (struct hone_preflight){
        .noise_percent = (double)NAN, .noise_offset = (double)NAN, .ask_cost = (double)NAN};
    look_at_options(&x);
    int rc = look_at_models(&x, err);
    if (rc == 0)
        rc = look_at_baseline(&x, err);
    if (rc < 0)
        return rc;
    look_at_time(&x);
    look_at_disk(&x);
    return 0;
}
