/* SPDX-License-Identifier: Apache-2.0 */
/* `hone env`: episodes for learning agents, JSON lines on standard input and output.
 *
 *     {"op":"reset","task":"sum"}                        -> {"episode":1,"observation":{...}}
 *     {"op":"step","episode":1,"source":"..."}           -> {"episode":1,"reward":0.9,"done":false,...}
 *     {"op":"step","episode":1,"rewrite":"accumulators"} -> the same: the rule coder edits
 *     {"op":"close","episode":1}
 *
 * A step is a call of kernel_evaluate or strategy_apply through the registry, so that a learner is
 * judged as everybody is. The reward is log2 of the screened speedup over the baseline for a right
 * version, -1 for a wrong or failed one, 0 where the machine was at fault. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/stop.h"
#include "server/verb.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

struct args {
    struct hone_common_args common;
    const char *record, *tier;
    int64_t steps, observation_bytes;
};

static const char *const tiers[] = {"screen", "decide", NULL};

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(struct args, steps, "steps", "N", "Steps of an episode; the last one is done.",
             .fallback = "64", .min = 1, .max = 100000),
    HONE_OPT(struct args, tier, "tier", "TIER", "How long a version is looked at.",
             .fallback = "screen", .choices = tiers),
    HONE_OPT(struct args, observation_bytes, "observation-bytes", "N",
             "Of an observation's text at most, about four a token.", .fallback = "16384",
             .min = 512, .max = 1 << 20),
    HONE_OPT(struct args, record, "record", "FILE",
             "Append each request with its answer: trajectories for training."),
};

struct episode {
    bool is_open;
    char *task, *target, *commit; /* owned; commit NULL: still the baseline */
    int64_t n_steps;
    double best; /* log2 over the baseline */
};

struct env {
    const struct args *args;
    struct hone_tool_ctx ctx;
    struct episode episodes[HONE_LIMIT_EPISODES]; /* number - 1 */
    FILE *record;
};

static void end(struct episode *e)
{
    free(e->task);
    free(e->target);
    free(e->commit);
    *e = (struct episode){.is_open = false};
}

static struct episode *episode_of(struct env *env, const struct hone_json *request,
                                  struct hone_err *err)
{
    int64_t n = hone_json_get_i64(request, "episode", 0);
    if (n >= 1 && n <= HONE_LIMIT_EPISODES && env->episodes[n - 1].is_open)
        return &env->episodes[n - 1];
    hone_fail_at(err, HONE_E_ARG, "episode", "no open episode has that number; reset opens one");
    return NULL;
}

/* A string member as text that fits the budget; what is cut is said. */
static void put_cut(struct hone_json *to, const char *key, const char *text, int64_t most)
{
    size_t len = text != NULL ? strlen(text) : 0;
    HONE_AUTOFREE char *cut = len > (size_t)most ? hone_sprintf("%.*s\n[%zu bytes are left out]",
                                                                (int)most, text, len - (size_t)most)
                                                 : NULL;
    hone_json_set_str(to, key, cut != NULL ? cut : text);
}

/* The answer of a tool; NULL with err, also when the answer is an error. */
static struct hone_json *call(struct env *env, const char *tool, const struct hone_json *arguments,
                              bool *ret_is_error, struct hone_err *err)
{
    struct hone_json *result = NULL;
    return hone_registry_call(&env->ctx, tool, arguments, &result, ret_is_error, err) == 0 ? result
                                                                                           : NULL;
}

static int reset(struct env *env, const struct hone_json *request, struct hone_json *answer,
                 struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *ask = hone_json_new_object();
    const char *task = hone_json_get_str(request, "task", NULL);
    const char *target = hone_json_get_str(request, "target", "cpu");
    int64_t most = env->args->observation_bytes / 2;
    size_t at = 0;
    bool is_error = false;
    while (at < HONE_LIMIT_EPISODES && env->episodes[at].is_open)
        at++;
    if (at == HONE_LIMIT_EPISODES)
        return hone_fail(err, HONE_E_LIMIT, "%d episodes are open; close one", HONE_LIMIT_EPISODES);
    if (task == NULL)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task");
    hone_json_set_str(ask, "task", task);
    hone_json_set_bool(ask, "source", true);
    HONE_AUTOJSON struct hone_json *shown = call(env, "task_show", ask, &is_error, err);
    if (shown == NULL)
        return -1;
    if (is_error)
        return hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(shown, "summary", "no task"));
    env->episodes[at] =
        (struct episode){.is_open = true, .task = hone_strdup(task), .target = hone_strdup(target)};
    struct hone_json *seen = hone_json_new_object();
    hone_json_set_str(seen, "description", hone_json_get_str(shown, "description", ""));
    hone_json_set_str(
        seen, "signature",
        hone_json_get_str(shown, strcmp(target, "cuda") == 0 ? "signature_cuda" : "signature", ""));
    put_cut(seen, "source", hone_json_get_str(shown, "baseline", ""), most);
    hone_json_set_i64(answer, "episode", (int64_t)at + 1);
    hone_json_set(answer, "observation", seen);
    return 0;
}

static double log2_of(const struct hone_json *result)
{
    double ratio = hone_json_get_f64(hone_json_get(result, "speedup"), "ratio", (double)NAN);
    return ratio > 0 ? log2(ratio) : (double)NAN;
}

/* Parts and sum. What the machine did wrong is nobody's reward. */
static void put_reward(struct episode *e, const struct hone_json *result, bool is_error,
                       int64_t wall_ns, struct hone_json *answer)
{
    const char *verdict = hone_json_get_str(result, "verdict", "");
    struct hone_json *parts = hone_json_new_object();
    double value = log2_of(result);
    bool is_right = !is_error && isfinite(value), is_infra = strcmp(verdict, "infra") == 0;
    double reward = is_right ? value : is_infra ? 0 : -1;
    hone_json_set_bool(parts, "is_right", is_right);
    if (is_right)
        hone_json_set_f64(parts, "log2_speedup", value);
    hone_json_set_f64(parts, "log2_over_best", is_right ? value - e->best : 0);
    hone_json_set_f64(parts, "wall_ms", (double)wall_ns / 1e6);
    e->best = is_right ? fmax(e->best, value) : e->best;
    hone_json_set_f64(answer, "reward", reward);
    hone_json_set(answer, "parts", parts);
    hone_json_set_f64(answer, "best_log2", e->best);
}

/* made: the text that a rewrite gave; NULL: the learner knows its own. */
static void put_observation(const struct env *env, const struct hone_json *result, const char *made,
                            struct hone_json *answer)
{
    static const char *const members[] = {"verdict", "reason",    "error_class", "summary",
                                          "next",    "time_ns",   "baseline_ns", "percent_of_bound",
                                          "commit",  "workloads", "diagnostics", "failing"};
    struct hone_json *seen = hone_json_new_object();
    int64_t left = env->args->observation_bytes;
    for (size_t i = 0; i < HONE_COUNTOF(members); i++) {
        const struct hone_json *value = hone_json_get(result, members[i]);
        HONE_AUTOFREE char *text = value != NULL ? hone_json_print(value) : NULL;
        int64_t len = text != NULL ? (int64_t)strlen(text) : 0;
        if (value == NULL || len > left)
            continue;
        left -= len;
        hone_json_set(seen, members[i], hone_json_copy(value));
    }
    if (made != NULL && left > 64)
        put_cut(seen, "source", made, left);
    hone_json_set(answer, "observation", seen);
}

/* The rule coder's text for a rewrite, owned. NULL with err; */
static char *edited(struct env *env, const struct episode *e, const struct hone_json *request,
                    struct hone_err *err)
{
    static const char *const passed[] = {"rewrite", "anchor", "variant"};
    HONE_AUTOJSON struct hone_json *ask = hone_json_new_object();
    bool is_error = false;
    hone_json_set_str(ask, "task", e->task);
    hone_json_set_str(ask, "target", e->target);
    if (e->commit != NULL)
        hone_json_set_str(ask, "commit", e->commit);
    for (size_t i = 0; i < HONE_COUNTOF(passed); i++)
        if (hone_json_get(request, passed[i]) != NULL)
            hone_json_set(ask, passed[i], hone_json_copy(hone_json_get(request, passed[i])));
    HONE_AUTOJSON struct hone_json *result = call(env, "strategy_apply", ask, &is_error, err);
    const char *source = hone_json_get_str(result, "source", NULL);
    if (result != NULL && (is_error || source == NULL))
        hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(result, "summary", "refused"));
    return result != NULL && !is_error && source != NULL ? hone_strdup(source) : NULL;
}

static int step(struct env *env, const struct hone_json *request, struct hone_json *answer,
                struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *ask = hone_json_new_object();
    HONE_AUTOFREE char *made = NULL;
    struct episode *e = episode_of(env, request, err);
    bool is_error = false, has_rewrite = hone_json_get(request, "rewrite") != NULL;
    if (e == NULL)
        return -1;
    if (!has_rewrite && hone_json_get(request, "source") == NULL)
        return hone_fail_at(err, HONE_E_ARG, "source", "a step is a source or a rewrite");
    hone_json_set_str(ask, "task", e->task);
    hone_json_set_str(ask, "target", e->target);
    hone_json_set_str(ask, "tier", env->args->tier);
    int64_t begin = hone_now_ns();
    if (has_rewrite && (made = edited(env, e, request, err)) == NULL)
        return -1;
    hone_json_set_str(ask, "source", made ? made : hone_json_get_str(request, "source", ""));
    if (e->commit != NULL)
        hone_json_set_str(ask, "parent", e->commit);
    if (hone_json_get(request, "flags") != NULL)
        hone_json_set(ask, "flags", hone_json_copy(hone_json_get(request, "flags")));
    HONE_AUTOJSON struct hone_json *result = call(env, "kernel_evaluate", ask, &is_error, err);
    if (result == NULL)
        return -1;
    if (strcmp(hone_json_get_str(result, "error_class", ""), "request") == 0)
        return hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(result, "summary", "refused"));
    put_reward(e, result, is_error, hone_now_ns() - begin, answer);
    const char *commit = hone_json_get_str(result, "commit", NULL);
    if (commit != NULL && isfinite(log2_of(result))) {
        free(e->commit);
        e->commit = hone_strdup(commit);
    }
    bool is_done = ++e->n_steps >= env->args->steps;
    hone_json_set_i64(answer, "episode", hone_json_get_i64(request, "episode", 0));
    hone_json_set_i64(answer, "step", e->n_steps);
    put_observation(env, result, made, answer);
    hone_json_set_bool(answer, "done", is_done);
    if (is_done)
        end(e);
    return 0;
}

static int close_episode(struct env *env, const struct hone_json *request, struct hone_json *answer,
                         struct hone_err *err)
{
    struct episode *e = episode_of(env, request, err);
    if (e == NULL)
        return -1;
    hone_json_set_i64(answer, "episode", hone_json_get_i64(request, "episode", 0));
    hone_json_set_f64(answer, "best_log2", e->best);
    end(e);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct env *env, const struct hone_json *request, struct hone_json *answer,
               struct hone_err *err);
} ops[] = {{"reset", reset}, {"step", step}, {"close", close_episode}};

static int answer_line(struct env *env, const char *line, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *request = NULL;
    HONE_AUTOJSON struct hone_json *answer = hone_json_new_object();
    struct hone_err why = HONE_ERR_INIT;
    size_t i = 0;
    int rc = hone_json_parse(line, strlen(line), &request, &why);
    const char *op = hone_json_get_str(request, "op", "");
    while (i < HONE_COUNTOF(ops) && strcmp(ops[i].name, op) != 0)
        i++;
    if (hone_json_get(request, "id") != NULL)
        hone_json_set(answer, "id", hone_json_copy(hone_json_get(request, "id")));
    if (rc == 0 && i == HONE_COUNTOF(ops))
        rc = hone_fail_at(&why, HONE_E_ARG, "op", "known are reset, step and close");
    if (rc == 0)
        rc = ops[i].run(env, request, answer, &why);
    if (rc < 0 && hone_cancel_is_set(env->ctx.cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (rc < 0)
        hone_json_set_str(answer, "error", why.message);
    HONE_AUTOFREE char *text = hone_json_print(answer);
    if (env->record != NULL) {
        HONE_AUTOFREE char *asked = hone_json_print(request);
        fprintf(env->record, "{\"request\":%s,\"answer\":%s}\n", asked != NULL ? asked : "null",
                text);
        if (fflush(env->record) != 0)
            return hone_fail(err, HONE_E_IO, "the record cannot be written");
    }
    HONE_AUTOFREE char *out = hone_sprintf("%s\n", text);
    rc = hone_print(out, err);
    fflush(stdout);
    return rc;
}

static void cancel_call(void *arg)
{
    hone_cancel_set(arg);
}

static int serve(struct env *env, struct hone_err *err)
{
    HONE_AUTOFREE char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = 0;
    while (rc == 0 && !hone_cancel_is_set(env->ctx.cancel) &&
           (n = getline(&line, &room, stdin)) > 0) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        env->ctx.pool = pool;
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (n > HONE_LIMIT_JSON_BYTES)
            return hone_fail(err, HONE_E_LIMIT, "a line has at most %d bytes",
                             (int)HONE_LIMIT_JSON_BYTES);
        if (line[0] != '\0')
            rc = answer_line(env, line, err);
    }
    return rc;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    struct env env = {.args = args};
    hone_stop_block();
    int rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    env.ctx = (struct hone_tool_ctx){
        .app = hone_runtime_app(runtime), .cancel = &cancel, .caller = "env"};
    if (args->record != NULL && (env.record = fopen(args->record, "ae")) == NULL)
        rc = hone_fail(err, HONE_E_IO, "cannot write '%s'", args->record);
    if (rc == 0)
        rc = hone_stop_watch(cancel_call, &cancel, &stop, err);
    if (rc == 0)
        rc = serve(&env, err);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    for (size_t i = 0; i < HONE_LIMIT_EPISODES; i++)
        end(&env.episodes[i]);
    if (env.record != NULL && fclose(env.record) != 0 && rc == 0)
        rc = hone_fail(err, HONE_E_IO, "the record cannot be written");
    return rc;
}

const struct hone_verb hone_verb_env = {
    .name = "env",
    .summary = "Episodes for learning agents: JSON lines in, verdicts and rewards out.",
    .description =
        "Requests, one a line: {\"op\":\"reset\",\"task\":NAME,\"target\":\"cpu\"}, "
        "{\"op\":\"step\",\"episode\":N,\"source\":TEXT}\n"
        "or with \"rewrite\" instead of a source, {\"op\":\"close\",\"episode\":N}; an \"id\" "
        "comes "
        "back. The reward is log2 of the\n"
        "speedup over the baseline for a right version, -1 for a wrong or failed one. Short looks "
        "are noisy: no reward\nis a result, only a confirmation is.",
    .example = "hone env --executor fake --record trajectories.jsonl",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
