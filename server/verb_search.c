/* SPDX-License-Identifier: Apache-2.0 */
/* `hone search`: options to agents/search/search.h, progress to a bar or lines, the result to a
 * table or JSON.
 *
 * A task may be given as a pack's folder: take_pack makes it a task of the workspace
 * first. Ctrl-C stops in order and says how to confirm what was found; pressed three
 * times it ends at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/search.h"
#include "server/stop.h"
#include "server/verb_search.h"
#include "server/verb_task.h"
#include "workspace/base/clock.h"
#include "workspace/base/process.h"
#include "workspace/task/target.h"

static const struct hone_opt opts[] = {
    HONE_OPT(struct hone_search_args, options.task, "task", "TASK",
             "Task to make fast (hone task list), or a pack's folder (a path with a '/'), which is "
             "copied into the workspace first.",
             .is_positional = true),
    HONE_OPT(
        struct hone_search_args, suite, "suite", "WHAT",
        "Many tasks under one budget, with one report: a folder of packs or of PyTorch files, a "
        "file that lists tasks, a pattern of names, or 'all'. With --name its searches are "
        "NAME-TASK, else each has its task's name. Afterwards: hone report --suite."),
    HONE_OPT(struct hone_search_args, lanes, "lanes", "N",
             "Searches of a suite at a time. Default: one for each GPU or runner, one on a CPU.",
             .max = HONE_LIMIT_LANES),
    HONE_OPTS_COMMON(struct hone_search_args),
    HONE_OPTS_SEARCH(struct hone_search_args),
    HONE_OPT_JSON(struct hone_search_args),
    HONE_OPT(struct hone_search_args, quiet, "quiet", NULL, "No progress on stderr."),
};

struct view { /* progress on stderr */
    bool is_terminal, is_quiet, is_shown;
    int64_t next_ns;
    char last[300], best_commit[48];
    double best_ratio;
    const char *best_word;
    int64_t evaluations;
};

#define BAR_CELLS 20

static void draw(struct view *view, const struct hone_search_progress *p, const char *text)
{
    double share = p->budget_wall_ms > 0 ? (double)p->elapsed_ms / (double)p->budget_wall_ms : 0;
    size_t n = share >= 1 ? BAR_CELLS : (size_t)(share * BAR_CELLS);
    char cells[BAR_CELLS + 1];
    memset(cells, '#', n);
    memset(cells + n, '.', BAR_CELLS - n);
    cells[BAR_CELLS] = '\0';
    fprintf(stderr, "\r\033[K[%s] %.100s", cells, text);
    fflush(stderr);
    view->is_shown = true;
}

/* Steps are shown as they come; repeated texts twice a second at most. */
static void on_progress(void *arg, const struct hone_search_progress *p)
{
    struct view *view = arg;
    char text[300];
    snprintf(view->best_commit, sizeof(view->best_commit), "%s",
             p->best_commit ? p->best_commit : "");
    view->best_ratio = p->best_ratio;
    view->best_word = p->best_word;
    view->evaluations = p->evaluations;
    char wall[24] = "", most[24] = "";
    if (p->budget_wall_ms > 0)
        snprintf(wall, sizeof(wall), "/%.4g", (double)p->budget_wall_ms / 1000);
    if (p->budget_evaluations > 0)
        snprintf(most, sizeof(most), "/%lld", (long long)p->budget_evaluations);
    snprintf(text, sizeof(text), "%5.1f%s s  %-8s %4lld%s evaluations  best %s%.3gx (%s)  %s%s%s",
             (double)p->elapsed_ms / 1000, wall, hone_search_phase_name(p->phase),
             (long long)p->evaluations, most,
             strcmp(p->best_word, "confirmed") == 0 ? "" : "about ", p->best_ratio, p->best_word,
             p->budgets && p->budgets[0] ? p->budgets : "", p->budgets && p->budgets[0] ? "  " : "",
             p->message ? p->message : "");
    int64_t now = hone_now_ns();
    const char *message = p->message ? p->message : "";
    bool is_new = strncmp(view->last, message, sizeof(view->last) - 1) != 0;
    if (view->is_quiet || (!is_new && now < view->next_ns))
        return;
    view->next_ns = now + HONE_NS_PER_S / 2;
    snprintf(view->last, sizeof(view->last), "%s", message);
    if (view->is_terminal)
        draw(view, p, text);
    else
        hone_say("%s", text);
}

static void clear(struct view *view)
{
    if (view->is_shown)
        fputs("\r\033[K", stderr);
    view->is_shown = false;
}

static void print_table(const char *dir, const struct hone_search_result *r)
{
    printf("task             %s (%s)\n", r->task, r->target);
    if (r->baseline_ns > 0 && r->best_ns > 0)
        printf("baseline         %.6g us\nbest             %.6g us\n", r->baseline_ns / 1000,
               r->best_ns / 1000);
    if (isfinite(r->speedup) && r->ci.n == 2)
        printf("speedup          %.3fx   95 %% interval %.3f to %.3f, measured with fresh data\n",
               r->speedup, r->ci.v[0], r->ci.v[1]);
    if (r->verdict)
        printf("verdict          %s%s%s\n", r->verdict,
               strcmp(r->verdict, "faster") == 0
                   ? r->doubt ? ", measured afresh, not to be claimed" : ", confirmed"
                   : ": not confirmed as faster",
               r->vs_fast_math < 1 ? "; the baseline with the flag -ffast-math alone is faster"
                                   : "");
    if (r->doubt)
        printf("doubt            %s\n", r->doubt);
    const struct hone_yardstick *yardsticks = r->yardsticks.v;
    for (size_t i = 0; i < r->yardsticks.n; i++)
        printf("%s%-11s %.3gx   95 %% interval %.3g to %.3g, in the same run\n",
               i == 0 ? "over " : "     ", yardsticks[i].name, yardsticks[i].ratio,
               yardsticks[i].low, yardsticks[i].high);
    if (r->rests_on)
        printf("rests on         %s\n", r->rests_on);
    if (r->unread)
        printf("no rule reads    %s\n", r->unread);
    if (r->percent_of_bound > 0)
        printf("of the machine   %.1f %% of what bytes and operations allow\n",
               r->percent_of_bound);
    if (r->unconfirmed)
        printf("not confirmed    %s\n", r->unconfirmed);
    printf("evaluations      %lld (", (long long)r->evaluations);
    const struct hone_search_count *count = r->verdicts.v;
    for (size_t i = 0; i < r->verdicts.n; i++)
        printf("%s%lld %s", i ? ", " : "", (long long)count[i].n, count[i].verdict);
    printf(")\nstopped          %s after %.1f s\n", r->why_stopped ? r->why_stopped : "",
           (double)r->wall_ms / 1000);
    if (r->waited_ms >= 1000)
        printf("waited           %.1f s beside it for other timings on this machine%s%s\n",
               (double)r->waited_ms / 1000, r->waited_for ? ", last for " : "",
               r->waited_for ? r->waited_for : "");
    if (r->tokens > 0)
        printf("models           %lld tokens, %.4g USD (all rounds)\n", (long long)r->tokens,
               r->cost);
    if (!r->best_commit)
        return;
    printf("best version     %s\n\n", r->best_commit);
    printf("how it came about:  git -C %s log --stat search/%s\n", dir, r->name);
    printf("take it home:       hone export search/%s -o DIR --workspace %s\n", r->name, dir);
}

static int report(const struct hone_search_args *args, const char *dir,
                  const struct hone_search_result *result, struct hone_err *err)
{
    if (!args->json) {
        print_table(dir, result);
        return hone_print("", err);
    }
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(result, hone_search_result_fields, hone_search_n_result_fields);
    HONE_AUTOFREE char *text = hone_json_print(json);
    int rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

static int interrupted(const struct hone_search_args *args, const char *dir,
                       const struct view *view, struct hone_err *err)
{
    hone_say("stopped after %lld evaluations; everything finished is kept. The same command goes "
             "on from here.",
             (long long)view->evaluations);
    if (view->best_commit[0])
        hone_say("best so far: about %.3gx (%s, no result yet), commit %s; confirm it with\n"
                 "  hone call kernel_evaluate "
                 "'{\"task\":\"%s\",\"commit\":\"%s\",\"tier\":\"confirm\"}' --workspace %s",
                 view->best_ratio, view->best_word, view->best_commit, args->options.task,
                 view->best_commit, dir);
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
        hone_json_set_str(json, "task", args->options.task);
        hone_json_set_str(json, "target", args->options.target);
        hone_json_set_str(json, "why_stopped", "cancelled");
        hone_json_set_i64(json, "evaluations", view->evaluations);
        hone_json_set(json, "yardsticks", hone_json_new_array());
        if (view->best_commit[0])
            hone_json_set_str(json, "best_commit", view->best_commit);
        HONE_AUTOFREE char *text = hone_json_print(json);
        printf("%s\n", text);
    }
    int rc = hone_print("", err);
    return rc < 0 ? rc : hone_code_exit(HONE_E_CANCEL);
}

static void on_stop(void *arg)
{
    hone_say("\nstopping; press Ctrl-C twice more to leave at once");
    hone_cancel_set(arg);
}

static int search(const struct hone_search_args *args, struct hone_runtime *runtime,
                  const struct hone_cancel *cancel, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = {
        .app = hone_runtime_app(runtime), .pool = pool, .cancel = cancel, .caller = "cli"};
    struct view view = {.is_terminal = isatty(STDERR_FILENO) == 1, .is_quiet = args->quiet};
    struct hone_search_result result;
    const char *warning =
        hone_task_lint_warning(hone_runtime_app(runtime)->ws, args->options.task, pool);
    if (warning)
        hone_say("warning: %s", warning);
    const char *dir = hone_workspace_dir(hone_runtime_app(runtime)->ws);
    int rc = hone_search_run(&ctx, &args->options, on_progress, &view, &result, err);
    clear(&view);
    if (warning && rc == 0)
        hone_say("warning: %s", warning); /* beside the result too */
    if (rc == HONE_E_CANCEL)
        return interrupted(args, dir, &view, err);
    return rc < 0 ? rc : report(args, dir, &result, err);
}

/* A pack's folder becomes a task of the workspace. */
static int take_pack(struct hone_search_args *args, struct hone_runtime *runtime,
                     struct hone_pool *pool, struct hone_err *err)
{
    if (!args->options.task || !strchr(args->options.task, '/'))
        return 0;
    return hone_workspace_adopt(hone_runtime_app(runtime)->ws, args->options.task, pool,
                                &args->options.task, err);
}

static int run(const void *arg, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_args copy = *(const struct hone_search_args *)arg, *args = &copy;
    struct hone_cancel cancel;
    struct hone_search_options *o = &args->options;
    if (!args->suite == !o->task)
        return hone_fail(err, HONE_E_ARG, "name a task, or many with --suite");
    if (o->budget_wall_ms == 0 && o->budget_evaluations == 0 && args->disk_mib == 0 &&
        o->budget_device_ms == 0 && o->budget_cost <= 0 && o->budget_tokens == 0)
        return hone_fail(err, HONE_E_ARG,
                         "a search needs a cap; say for example --budget-wall 60s");
    hone_search_settle(o, args->disk_mib, args->no_plateau);
    int rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    hone_stop_block();
    HONE_CLEANUP(hone_stop_free_ptr) struct hone_stop *stop = NULL;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = take_pack(args, runtime, pool, err);
    if (rc == 0 && !args->suite)
        rc = hone_search_take_learnt(hone_runtime_app(runtime), args, o, pool, err);
    if (rc == 0)
        rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    if (rc < 0)
        return rc;
    return args->suite ? hone_search_suite(args, runtime, &cancel, err)
                       : search(args, runtime, &cancel, err);
}

const struct hone_verb hone_verb_search = {
    .name = "search",
    .summary = "Search for a faster version of a task, under a budget.",
    .description =
        "Planner and coder in a loop: each step is a version, verified and timed, and a commit. "
        "What is printed at the end was\n"
        "confirmed with fresh data. Ctrl-C stops it; the same command goes on where it was. A "
        "pack's "
        "folder is copied into\n"
        "the workspace's tasks/ and committed; another task of that name there is refused.",
    .example = "hone search softmax --budget-wall 60s",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct hone_search_args),
    .run = run,
};
