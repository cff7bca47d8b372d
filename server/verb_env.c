/* SPDX-License-Identifier: Apache-2.0 */
/* `hone env`: episodes for learning agents, JSON lines on standard input and output; one source as an
 * episode of one step (grade); tasks as folders that bring that along (harbor).
 *
 *     {"op":"reset","task":"sum"}                        -> {"episode":1,"observation":{...}}
 *     {"op":"step","episode":1,"source":"..."}           -> {"episode":1,"reward":0.9,"done":false,...}
 *     {"op":"step","episode":1,"rewrite":"accumulators"} -> the same: the rule coder edits
 *     {"op":"close","episode":1}
 *
 * A step may name the "commit" to go on from; without it that is the last right version.
 *
 * With --lattices nothing is run: a step is a strategy, and the verdict is the recorded one
 * (agents/offline/episode.h).
 *
 *     {"op":"reset","task":"sum","seed":3}               -> {"episode":1,"observation":{...}}
 *     {"op":"step","episode":1,"strategy":"C04"}
 *
 * A step is a call of kernel_evaluate or strategy_apply through the registry, so that a learner is
 * judged as everybody is. The reward is log2 of the screened speedup over the baseline for a right
 * version, -1 for a wrong or failed one, 0 where the machine was at fault. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/offline/episode.h"
#include "server/stop.h"
#include "server/verb.h"
#include "tools/export/harbor.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/base/utf8.h"
#include "workspace/workspace.h"

struct args {
    struct hone_common_args common;
    const char *action, *subject, *record, *tier, *lattices, *target, *reward, *bundle, *base;
    struct hone_strs tasks;
    int64_t steps, observation_bytes;
    bool force;
};

static const char *const action_names[] = {"serve", "grade", "harbor", NULL};
static const char *const tiers[] = {"screen", "decide", "confirm", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .fallback = "serve", .choices = action_names),
    HONE_OPT(struct args, subject, "subject", "SUBJECT",
             "grade: a source. harbor: the folder for the tasks' folders.", .is_positional = true,
             .of = "grade harbor"),
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(struct args, steps, "steps", "N", "Steps of an episode; the last one is done.",
             .fallback = "64", .min = 1, .max = 100000, .of = "serve"),
    HONE_OPT(struct args, tier, "tier", "TIER",
             "How long a version is looked at. Default: serve: screen, else confirm.",
             .choices = tiers),
    HONE_OPT(struct args, tasks, "task", "NAME",
             "The task; harbor: may be repeated. Default: all of the workspace.",
             .of = "grade harbor"),
    HONE_OPT(struct args, target, "target", "TARGET", "Where the kernels run.", .fallback = "cpu",
             .choices = hone_target_words, .of = "grade harbor"),
    HONE_OPT(struct args, reward, "reward", "DIR",
             "Folder for reward.txt, reward.json and verdict.json.", .of = "grade"),
    HONE_OPT(struct args, bundle, "bundle", "FILE",
             "hone for the images: what `make bundle` writes.", .of = "harbor"),
    HONE_OPT(struct args, base, "base", "IMAGE",
             "Image to begin with. Default: cpu: debian:12-slim; cuda: none.", .of = "harbor"),
    HONE_OPT(struct args, force, "force", NULL, "Replace folders that are there.", .of = "harbor"),
    HONE_OPT(struct args, observation_bytes, "observation-bytes", "N",
             "Of an observation's text at most, about four a token.", .fallback = "16384",
             .min = 512, .max = 1 << 20),
    HONE_OPT(
        struct args, lattices, "lattices", "DIR",
        "Episodes on recorded lattices: a step is a strategy, nothing is run, and the same seed "
        "gives the same answers.",
        .of = "serve"),
    HONE_OPT(struct args, record, "record", "FILE",
             "Append each request with its answer: trajectories for training.", .of = "serve"),
};

struct episode {
    bool is_open;
    char *task, *target, *commit; /* owned; commit NULL: still the baseline */
    int64_t n_steps;
    double best;                  /* log2 over the baseline */
    struct hone_episode recorded; /* its lattice NULL: the episode is a real one */
};

struct env {
    const struct args *args;
    const char *tier;
    struct hone_tool_ctx ctx;
    struct episode episodes[HONE_LIMIT_EPISODES]; /* number - 1 */
    FILE *record;
    struct hone_lattice **lattices;
    size_t n_lattices; /* 0: episodes are real ones */
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

static int show_task(struct env *env, const char *task, const char *target, struct hone_json *seen,
                     struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *ask = hone_json_new_object();
    bool is_error = false;
    hone_json_set_str(ask, "task", task);
    hone_json_set_str(ask, "target", target);
    hone_json_set_bool(ask, "source", true);
    HONE_AUTOJSON struct hone_json *shown = call(env, "task_show", ask, &is_error, err);
    if (shown == NULL)
        return -1;
    if (is_error)
        return hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(shown, "summary", "no task"));
    hone_json_set_str(seen, "description", hone_json_get_str(shown, "description", ""));
    hone_json_set_str(seen, "signature", hone_json_get_str(shown, "signature", ""));
    put_cut(seen, "source", hone_json_get_str(shown, "baseline", ""),
            env->args->observation_bytes / 2);
    return 0;
}

static const struct hone_lattice *lattice_of(const struct env *env, const char *task,
                                             const char *target)
{
    for (size_t i = 0; i < env->n_lattices; i++)
        if (strcmp(env->lattices[i]->task, task) == 0 &&
            strcmp(env->lattices[i]->target, target) == 0)
            return env->lattices[i];
    return NULL;
}

static int show_lattice(const struct env *env, const struct hone_json *request, const char *task,
                        struct hone_episode *e, struct hone_json *seen, struct hone_err *err)
{
    const struct hone_lattice *l =
        lattice_of(env, task, hone_json_get_str(request, "target", "cpu"));
    if (l == NULL)
        return hone_fail_at(err, HONE_E_ARG, "task", "no lattice of '%.64s' has that target", task);
    hone_episode_begin(l, hone_json_get_i64(request, "seed", 1), e);
    HONE_AUTOJSON struct hone_json *now = hone_episode_look(e);
    hone_json_set_str(seen, "family", l->family);
    hone_json_set_str(seen, "machine", l->machine);
    hone_json_set(seen, "strategies", hone_json_copy(hone_json_get(now, "strategies")));
    hone_json_set(seen, "features", hone_json_copy(hone_json_get(now, "features")));
    return 0;
}

static int reset(struct env *env, const struct hone_json *request, struct hone_json *answer,
                 struct hone_err *err)
{
    const char *task = hone_json_get_str(request, "task", NULL);
    const char *target = hone_json_get_str(request, "target", "cpu");
    size_t at = 0;
    while (at < HONE_LIMIT_EPISODES && env->episodes[at].is_open)
        at++;
    if (at == HONE_LIMIT_EPISODES)
        return hone_fail(err, HONE_E_LIMIT, "%d episodes are open; close one", HONE_LIMIT_EPISODES);
    if (task == NULL)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task");
    struct hone_episode recorded = {.lattice = NULL};
    struct hone_json *seen = hone_json_new_object();
    int rc = env->n_lattices > 0 ? show_lattice(env, request, task, &recorded, seen, err)
                                 : show_task(env, task, target, seen, err);
    if (rc < 0) {
        hone_json_free(seen);
        return rc;
    }
    env->episodes[at] = (struct episode){.is_open = true,
                                         .task = hone_strdup(task),
                                         .target = hone_strdup(target),
                                         .recorded = recorded};
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
    static const char *const members[] = {
        "verdict",     "reason",           "error_class", "summary",   "next",        "time_ns",
        "baseline_ns", "percent_of_bound", "commit",      "workloads", "diagnostics", "failing",
        "strategies",  "features",         "doubts",      "rests_on"};
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
    const char *from = hone_json_get_str(request, "commit", e->commit);
    if (from != NULL)
        hone_json_set_str(ask, "commit", from);
    for (size_t i = 0; i < HONE_COUNTOF(passed); i++)
        if (hone_json_get(request, passed[i]) != NULL)
            hone_json_set(ask, passed[i], hone_json_copy(hone_json_get(request, passed[i])));
    HONE_AUTOJSON struct hone_json *result = call(env, "strategy_apply", ask, &is_error, err);
    const char *source = hone_json_get_str(result, "source", NULL);
    if (result != NULL && (is_error || source == NULL))
        hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(result, "summary", "refused"));
    return result != NULL && !is_error && source != NULL ? hone_strdup(source) : NULL;
}

/* What the tools say of a source, or of what a rewrite makes: *ret_made. */
static struct hone_json *judge(struct env *env, struct episode *e, const struct hone_json *request,
                               char **ret_made, bool *ret_is_error, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *ask = hone_json_new_object();
    bool has_rewrite = hone_json_get(request, "rewrite") != NULL;
    if (!has_rewrite && hone_json_get(request, "source") == NULL) {
        hone_fail_at(err, HONE_E_ARG, "source", "a step is a source or a rewrite");
        return NULL;
    }
    hone_json_set_str(ask, "task", e->task);
    hone_json_set_str(ask, "target", e->target);
    hone_json_set_str(ask, "tier", env->tier);
    if (has_rewrite && (*ret_made = edited(env, e, request, err)) == NULL)
        return NULL;
    hone_json_set_str(ask, "source",
                      *ret_made ? *ret_made : hone_json_get_str(request, "source", ""));
    const char *parent = hone_json_get_str(request, "commit", e->commit);
    if (parent != NULL)
        hone_json_set_str(ask, "parent", parent);
    if (hone_json_get(request, "flags") != NULL)
        hone_json_set(ask, "flags", hone_json_copy(hone_json_get(request, "flags")));
    struct hone_json *result = call(env, "kernel_evaluate", ask, ret_is_error, err);
    if (strcmp(hone_json_get_str(result, "error_class", ""), "request") == 0) {
        hone_fail(err, HONE_E_ARG, "%s", hone_json_get_str(result, "summary", "refused"));
        hone_json_free(result);
        return NULL;
    }
    return result;
}

static struct hone_json *look_up(struct episode *e, const struct hone_json *request,
                                 struct hone_err *err)
{
    const char *strategy = hone_json_get_str(request, "strategy", NULL);
    struct hone_json *result = NULL;
    if (strategy == NULL) {
        hone_fail_at(err, HONE_E_ARG, "strategy", "a step on a lattice is a strategy");
        return NULL;
    }
    return hone_episode_step(&e->recorded, hone_json_get_str(request, "commit", NULL), strategy,
                             &result, err) == 0
               ? result
               : NULL;
}

static int step(struct env *env, const struct hone_json *request, struct hone_json *answer,
                struct hone_err *err)
{
    HONE_AUTOFREE char *made = NULL;
    struct episode *e = episode_of(env, request, err);
    bool is_error = false;
    if (e == NULL)
        return -1;
    int64_t begin = hone_now_ns();
    HONE_AUTOJSON struct hone_json *result = e->recorded.lattice
                                                 ? look_up(e, request, err)
                                                 : judge(env, e, request, &made, &is_error, err);
    if (result == NULL)
        return -1;
    put_reward(e, result, is_error, e->recorded.lattice ? 0 : hone_now_ns() - begin, answer);
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

/* ---- one source as an episode ---- */

enum { REWARD_TXT, REWARD_JSON, VERDICT_JSON, N_REWARD_FILES };
static const char *const reward_files[N_REWARD_FILES] = {"reward.txt", "reward.json",
                                                         "verdict.json"};

/* What was there before is no reward of this source. */
static int clear_rewards(const char *dir, struct hone_err *err)
{
    int rc = hone_mkdirs(dir, 0755, err);
    for (size_t i = 0; i < N_REWARD_FILES && rc == 0; i++) {
        HONE_AUTOFREE char *path = hone_path_join(dir, reward_files[i], NULL);
        rc = hone_remove_tree(path, err);
    }
    return rc;
}

/* Never below zero, other than a step's: zero is what nothing at all gets, and no wrong kernel may get more
 * than a right one. */
static int write_rewards(const char *dir, const struct hone_json *answer, struct hone_err *err)
{
    double given = hone_json_get_f64(answer, "reward", -1), reward = fmax(0, given);
    bool is_right = hone_json_get_bool(hone_json_get(answer, "parts"), "is_right", false);
    HONE_AUTOJSON struct hone_json *numbers = hone_json_new_object();
    hone_json_set_f64(numbers, "reward", reward);
    hone_json_set_f64(numbers, "env_reward", given);
    hone_json_set_f64(numbers, "is_right", is_right ? 1 : 0);
    hone_json_set_f64(numbers, "speedup", is_right ? exp2(given) : 0);
    HONE_AUTOFREE char *txt = hone_sprintf("%.6g", reward);
    HONE_AUTOFREE char *json = hone_json_print(numbers);
    HONE_AUTOFREE char *verdict = hone_json_print(answer);
    const char *const texts[N_REWARD_FILES] = {txt, json, verdict};
    int rc = 0;
    for (size_t i = 0; i < N_REWARD_FILES && rc == 0; i++) {
        HONE_AUTOFREE char *path = hone_path_join(dir, reward_files[i], NULL);
        HONE_AUTOFREE char *line = hone_sprintf("%s\n", texts[i]);
        rc = hone_file_write(path, line, strlen(line), 0644, false, err);
    }
    return rc;
}

/* A source comes from somebody who may have made anything of it: no links, no devices, text alone. */
static int read_source(const char *file, char **ret, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    int rc = hone_file_read_at(AT_FDCWD, file, HONE_LIMIT_SOURCE_BYTES, &text, &len, err);
    if (rc < 0)
        return rc;
    if (memchr(text, '\0', len) != NULL || hone_utf8_valid_prefix(text, len) != len)
        return hone_fail(err, HONE_E_ARG, "'%s' is no text", file);
    *ret = HONE_STEAL(text);
    return 0;
}

/* The answer of a step that could not even be asked for. */
static void put_refusal(struct hone_json *answer, const char *why)
{
    struct hone_json *parts = hone_json_new_object();
    hone_json_set_bool(parts, "is_right", false);
    hone_json_set_f64(answer, "reward", -1);
    hone_json_set(answer, "parts", parts);
    hone_json_set_str(answer, "error", why);
}

static int grade_file(struct env *env, struct hone_json *answer, struct hone_err *err)
{
    const struct args *args = env->args;
    HONE_AUTOJSON struct hone_json *request = hone_json_new_object();
    HONE_AUTOJSON struct hone_json *begun = hone_json_new_object();
    HONE_AUTOFREE char *source = NULL;
    struct hone_err why = HONE_ERR_INIT;
    hone_json_set_str(request, "task", args->tasks.v[0]);
    hone_json_set_str(request, "target", args->target);
    int rc =
        reset(env, request, begun, err); /* a task that is not there is not the source's fault */
    if (rc < 0)
        return rc;
    hone_json_set_i64(request, "episode", 1);
    rc = read_source(args->subject, &source, &why);
    if (rc == 0) {
        hone_json_set_str(request, "source", source);
        if (step(env, request, answer, &why) == 0)
            return 0;
        if (why.code != HONE_E_ARG && why.code != HONE_E_LIMIT)
            return hone_fail(err, why.code, "%s", why.message);
    }
    put_refusal(answer, why.message);
    return 0;
}

static int grade(struct env *env, struct hone_err *err)
{
    const struct args *args = env->args;
    HONE_AUTOJSON struct hone_json *answer = hone_json_new_object();
    if (args->tasks.n != 1)
        return hone_fail_at(err, HONE_E_ARG, "task", "name one task");
    int rc = grade_file(env, answer, err);
    const struct hone_json *seen = hone_json_get(answer, "observation");
    if (rc == 0 && strcmp(hone_json_get_str(seen, "verdict", ""), "infra") == 0)
        rc = hone_fail(err, HONE_E_TARGET, "no verdict, so no reward: %s",
                       hone_json_get_str(seen, "summary", "the machine was at fault"));
    if (rc == 0 && args->reward != NULL)
        rc = write_rewards(args->reward, answer, err);
    return rc == 0 ? hone_print_json(answer, err) : rc;
}

/* ---- tasks as folders ---- */

static int harbor(struct env *env, struct hone_err *err)
{
    const struct args *args = env->args;
    const struct hone_harbor_options options = {.dir = args->subject,
                                                .target = args->target,
                                                .bundle = args->bundle,
                                                .base = args->base,
                                                .tier = env->tier,
                                                .force = args->force};
    struct hone_strs names = args->tasks;
    int rc = 0;
    if (args->bundle == NULL)
        return hone_fail_at(err, HONE_E_ARG, "bundle",
                            "name hone's bundle for the images; `make bundle` writes one");
    if (names.n == 0)
        rc = hone_workspace_task_names(env->ctx.app->ws, env->ctx.pool, &names.v, &names.n, err);
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        const char *dir;
        rc = hone_harbor_write(&env->ctx, names.v[i], &options, &dir, err);
        if (rc == 0)
            printf("%s\n", dir);
    }
    return rc == 0 ? hone_print("", err) : rc;
}

static const struct hone_verb_action actions[] = {
    {"serve", "", "episodes as JSON lines, until the input ends; what no action means",
     "hone env --executor fake --record trajectories.jsonl"},
    {"grade", "FILE",
     "one source as an episode of one step: the answer, and the reward as files, there never below "
     "0; a machine's fault is a fault and no reward",
     "hone env grade kernel.c --task sum --reward /logs/verifier"},
    {"harbor", "DIR",
     "a folder in Harbor's form for each task: instruction, images, the judge as its verifier, a "
     "solution",
     "hone env harbor tasks --bundle hone-bundle.tar.gz --task sum"},
};
static int (*const functions[])(struct env *env, struct hone_err *err) = {serve, grade, harbor};

static int run_action(struct env *env, struct hone_err *err)
{
    size_t i = 0;
    while (strcmp(actions[i].name, env->args->action) != 0) /* options checked that it is one */
        i++;
    if (actions[i].args[0] != '\0' && env->args->subject == NULL)
        return hone_fail(err, HONE_E_ARG, "say which: hone env %s %s", actions[i].name,
                         actions[i].args);
    env->tier = env->args->tier ? env->args->tier : i == 0 ? tiers[0] : tiers[2];
    return functions[i](env, err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    struct env env = {.args = args};
    hone_stop_block();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    int rc = args->reward != NULL ? clear_rewards(args->reward, err) : 0; /* whatever comes */
    if (rc == 0)
        rc = args->lattices
                 ? hone_lattice_load_all(args->lattices, pool, &env.lattices, &env.n_lattices, err)
                 : hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    env.ctx = (struct hone_tool_ctx){.app = runtime ? hone_runtime_app(runtime) : NULL,
                                     .pool = pool,
                                     .cancel = &cancel,
                                     .caller = "env"};
    if (args->record != NULL && (env.record = fopen(args->record, "ae")) == NULL)
        rc = hone_fail(err, HONE_E_IO, "cannot write '%s'", args->record);
    if (rc == 0)
        rc = hone_stop_watch(cancel_call, &cancel, &stop, err);
    if (rc == 0)
        rc = run_action(&env, err);
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
        "comes back.\n"
        "A step may name the \"commit\" to go on from. With --lattices a step is a \"strategy\", "
        "and "
        "a reset may have a \"seed\".\n"
        "The reward is log2 of the speedup over the baseline for a right version, -1 for a wrong "
        "or failed one.\n"
        "Short looks are noisy: no reward is a result, only a confirmation is.",
    .example = "hone env --executor fake --record trajectories.jsonl",
    .actions = actions,
    .n_actions = HONE_COUNTOF(actions),
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
