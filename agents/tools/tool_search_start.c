/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "agents/search/search.h"
#include "tools/kernel.h"

enum { MODEL_REPAIRS = 3 };

static const char *const policy_choices[] = {"puct", "ucb", "greedy", "chain", "random", NULL};

static const char *const coder_choices[] = {"rules", "llm", "auto", "external", NULL};
static const char *const planner_choices[] = {"rules", "llm", "external", NULL};

struct start_in {
    const char *task, *target, *name, *policy, *coder, *planner, *model;
    int64_t budget_wall_ms, budget_evaluations, budget_device_ms, budget_disk_bytes, budget_tokens;
    int64_t seed, submission_wait_ms, coders;
    double budget_cost, stop_at_speedup;
    bool wait;
};

struct start_out {
    struct hone_head head;
    struct hone_search_result *result;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct start_in, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name."),
    HONE_FIELD(struct start_in, target, .fallback_str = "cpu", .choices = hone_target_words,
               .help = "Where the kernels run."),
    HONE_FIELD(struct start_in, budget_wall_ms, .min = 0, .max = 86400000, .unit = "ms",
               .help = "Wall time."),
    HONE_FIELD(struct start_in, budget_evaluations, .min = 0, .max = 1000000,
               .help = "Evaluations."),
    HONE_FIELD(struct start_in, budget_device_ms, .min = 0, .max = 8640000000, .unit = "ms",
               .help = "Wall time of its evaluations."),
    HONE_FIELD(struct start_in, budget_disk_bytes, .min = 0, .max = INT64_MAX, .unit = "bytes",
               .help = "Size of the workspace's .hone folder."),
    HONE_FIELD(struct start_in, budget_cost, .min = 0, .max = 1000000, .unit = "USD",
               .help = "Of models."),
    HONE_FIELD(struct start_in, budget_tokens, .min = 0, .max = 1000000000000,
               .help = "Of models."),
    HONE_FIELD(struct start_in, stop_at_speedup, .min = 0, .max = 1000000,
               .help = "Stop there and confirm."),
    HONE_FIELD(struct start_in, policy, .fallback_str = "puct", .choices = policy_choices,
               .help = "Planner."),
    HONE_FIELD(struct start_in, coder, .fallback_str = "rules", .choices = coder_choices,
               .help = "Who edits; llm and auto ask a model (money); external: agents that submit "
                       "sources."),
    HONE_FIELD(struct start_in, planner, .fallback_str = "rules", .choices = planner_choices,
               .help = "llm: a model reranks the rules' steps; external: agents submit steps "
                       "(strategy_apply with search)."),
    HONE_FIELD(struct start_in, model, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name in the server's configuration; none: its default."),
    HONE_FIELD(struct start_in, coders, .fallback_i64 = 1, .min = 1, .max = HONE_MAX_CODERS,
               .help = "Model answers at a time."),
    HONE_FIELD(struct start_in, submission_wait_ms, .min = 0, .max = 86400000, .unit = "ms",
               .fallback_i64 = HONE_SUBMISSION_WAIT_MS,
               .help = "External: end when nothing came for so long."),
    HONE_FIELD(struct start_in, name, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Branch search/NAME; none: the task's."),
    HONE_FIELD(struct start_in, seed, .fallback_i64 = 1,
               .help = "Same seed and records: same choices."),
    HONE_FIELD(struct start_in, wait, .help = "Return when it has ended."),
};

/* The pointer to the result needs a table that the compiler can count. */
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct start_out),
    {.name = "result",
     .type = HONE_FIELD_OBJECT,
     .offset = offsetof(struct start_out, result),
     .of = hone_search_result_fields,
     .n_of = HONE_SEARCH_N_RESULT_FIELDS,
     .of_size = sizeof(struct hone_search_result),
     .skip_empty = true,
     .help = "Confirmed outcome, with wait."},
};

static void on_progress(void *arg, const struct hone_search_progress *p)
{
    struct hone_tool_ctx *ctx = arg;
    hone_tool_progress(ctx, (double)p->elapsed_ms, (double)p->budget_wall_ms,
                       "%s: best %.3gx; %s%s%s", p->phase, p->best_ratio, p->budgets,
                       p->budgets[0] ? "; " : "", p->message ? p->message : "");
}

static struct hone_search_options options_of(const struct start_in *in)
{
    return (struct hone_search_options){
        .task = in->task,
        .target = in->target,
        .name = in->name,
        .policy = in->policy,
        .coder = in->coder,
        .planner = in->planner,
        .model = in->model,
        .repairs = MODEL_REPAIRS,
        .n_coders = in->coders,
        .submission_wait_ms = in->submission_wait_ms,
        .budget_wall_ms = in->budget_wall_ms,
        .budget_evaluations = in->budget_evaluations,
        .budget_device_ms = in->budget_device_ms,
        .budget_disk_bytes = in->budget_disk_bytes,
        .budget_cost = in->budget_cost,
        .budget_tokens = in->budget_tokens,
        .stop_at_speedup = in->stop_at_speedup,
        .seed = in->seed,
    };
}

static int run_now(struct hone_tool_ctx *ctx, const struct start_in *in, struct start_out *out,
                   struct hone_err *err)
{
    struct hone_search_options options = options_of(in);
    struct hone_search_result *result = hone_pool_alloc(ctx->pool, sizeof(*result));
    int r = hone_search_run(ctx, &options, on_progress, ctx, result, err);
    if (r < 0)
        return r;
    out->result = result;
    out->head.status = "ok";
    out->head.verdict = result->verdict;
    out->head.commit = result->best_commit;
    out->head.summary = result->summary;
    out->head.next = "history_show the branch search/NAME for the steps; strategy_propose at its "
                     "commit for what is left.";
    return 0;
}

static struct hone_json *again(const struct start_in *in)
{
    struct hone_json *args = hone_json_new_object();
    hone_json_set_str(args, "task", in->task);
    hone_json_set_str(args, "target", in->target);
    hone_json_set_str(args, "policy", in->policy);
    hone_json_set_str(args, "coder", in->coder);
    hone_json_set_str(args, "planner", in->planner);
    if (in->model)
        hone_json_set_str(args, "model", in->model);
    if (in->name)
        hone_json_set_str(args, "name", in->name);
    hone_json_set_i64(args, "budget_wall_ms", in->budget_wall_ms);
    hone_json_set_i64(args, "budget_evaluations", in->budget_evaluations);
    hone_json_set_i64(args, "budget_device_ms", in->budget_device_ms);
    hone_json_set_i64(args, "budget_disk_bytes", in->budget_disk_bytes);
    hone_json_set_f64(args, "budget_cost", in->budget_cost);
    hone_json_set_i64(args, "budget_tokens", in->budget_tokens);
    hone_json_set_i64(args, "coders", in->coders);
    hone_json_set_f64(args, "stop_at_speedup", in->stop_at_speedup);
    hone_json_set_i64(args, "seed", in->seed);
    hone_json_set_i64(args, "submission_wait_ms", in->submission_wait_ms);
    hone_json_set_bool(args, "wait", true);
    return args;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct start_in *in = arguments;
    struct start_out *out = result;
    const struct hone_search_options options = options_of(in);
    int checked = hone_search_check_caps(&options, err);
    if (checked < 0)
        return checked;
    struct hone_jobs *jobs = ctx->app->jobs;
    if (in->wait || !jobs)
        return run_now(ctx, in, out, err);
    HONE_AUTOJSON struct hone_json *args = again(in);
    const char *id = NULL;
    int r = jobs->ops->start(jobs, "search_start", args, ctx->caller, ctx->pool, &id, err);
    if (r < 0)
        return r;
    out->head.status = "running";
    out->head.job = id;
    out->head.summary = hone_pool_printf(ctx->pool, "search of %s started as %s", in->task, id);
    out->head.next = "job_wait with this job; search_stop ends it and keeps everything.";
    return 0;
}

const struct hone_tool hone_tool_search_start = {
    .name = "search_start",
    .title = "Start a search",
    .summary = "Run the built-in planner and rule coder on a task under a budget.",
    .description =
        "Starts, or goes on with, the search of that name: baseline, steps by the planner, "
        "sweeps, confirmation. Returns a handle for job_wait at once; with wait the "
        "confirmed result. A commit per version, branch search/NAME. Holds the machine's "
        "timing lease for its budget; without a budget it is refused.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_LONG | HONE_TOOL_COSTS_MONEY,
    .in = in_fields,
    .n_in = HONE_COUNTOF(in_fields),
    .in_size = sizeof(struct start_in),
    .out = out_fields,
    .n_out = HONE_COUNTOF(out_fields),
    .out_size = sizeof(struct start_out),
    .run = run,
};
