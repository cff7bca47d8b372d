/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/verb.h"
#include "tools/format/verdict.h"
#include "tools/best_measurement.h"
#include "workspace/history.h"

#define PAGE 500

struct args {
    const char *workspace, *rev, *task;
    int64_t max;
    bool all, review, json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, rev, "rev", "REV",
             "A commit, or a branch such as search/softmax: what leads to it.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, all, "all", NULL,
             "Also the tries that failed, were wrong or were not believed."),
    HONE_OPT(struct args, review, "review", NULL,
             "Only the review list: suspicious, or with something that a reader should look at."),
    HONE_OPT(struct args, task, "task", "TASK", "Only versions of this task."),
    HONE_OPT(struct args, max, "max", "N", "At most so many.", .fallback = "50", .min = 1,
             .max = 1000000),
    HONE_OPT_JSON(struct args),
};

static bool is_good(enum hone_verdict verdict)
{
    return verdict != HONE_VERDICT_NONE && verdict < HONE_VERDICT_INCORRECT;
}

static bool is_of_task(const struct args *args, const struct hone_version *version)
{
    return !args->task || (version->task && strcmp(args->task, version->task) == 0);
}

static struct hone_json *version_json(const struct hone_version *version,
                                      const struct hone_measurement *best)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "commit", version->commit);
    hone_json_set_str(json, "parent", version->parent);
    hone_json_set_str(json, "task", version->task);
    hone_json_set_str(json, "target", version->target);
    hone_json_set_i64(json, "time_s", version->time_s);
    hone_json_set_str(json, "subject", version->subject);
    hone_json_set(json, "trailers", hone_version_trailers_json(version));
    hone_json_set_str(json, "verdict", best->verdict ? hone_verdict_name(best->verdict) : NULL);
    hone_json_set_str(json, "tier", best->tier ? hone_tier_name(best->tier) : NULL);
    if (best->speedup)
        hone_json_set_str(json, "speedup", best->speedup);
    if (best->flag)
        hone_json_set_str(json, "rests_on", best->flag);
    return json;
}

static void print_row(const struct hone_version *version, const struct hone_measurement *best)
{
    printf("%.10s  %-12s %-12s %-8s %-26s %s%s%s%s\n", version->commit,
           version->task ? version->task : "", hone_verdict_name(best->verdict),
           hone_tier_name(best->tier), best->speedup ? best->speedup : "",
           version->subject ? version->subject : "", best->flag ? " [" : "",
           best->flag ? best->flag : "", best->flag ? "]" : "");
}

static void print_version(const struct args *args, const struct hone_version *version,
                          const struct hone_best_measurement *measured)
{
    const struct hone_measurement *best = &measured->best;
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = version_json(version, best);
        if (measured->review)
            hone_json_set_str(json, "review", measured->review);
        if (measured->contradiction)
            hone_json_set_str(json, "contradiction", measured->contradiction);
        HONE_AUTOFREE char *text = hone_json_print(json);
        puts(text);
    } else {
        print_row(version, best);
        if (args->review && measured->review)
            printf("%12s%s\n", "", measured->review);
        if (measured->contradiction)
            printf("%12s%s\n", "", measured->contradiction);
    }
}

/* Prints one page; false when it was the last. */
static int print_page(const struct args *args, struct hone_history *history, const char *rev,
                      size_t *offset, int64_t *left, bool *ret_is_last, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version *versions;
    size_t n;
    int rc = hone_history_list(history, rev, *offset, PAGE, pool, &versions, &n, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i<n && * left> 0; i++) {
        struct hone_best_measurement measured;
        if (!is_of_task(args, &versions[i]))
            continue;
        rc = hone_best_measurement_read(history, &versions[i], pool, &measured, err);
        if (rc < 0)
            return rc;
        bool is_shown = args->review ? hone_best_measurement_is_for_review(&measured)
                                     : args->all || is_good(measured.best.verdict);
        if (!is_shown)
            continue;
        --*left;
        print_version(args, &versions[i], &measured);
    }
    *offset += n;
    *ret_is_last = n < PAGE;
    return 0;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    int rc = hone_workspace_open(args->workspace, &ws, err);
    if (rc < 0)
        return rc;
    struct hone_history *history = hone_workspace_history(ws);
    char commit[HONE_COMMIT_BYTES];
    if (args->rev) {
        rc = hone_history_resolve(history, args->rev, commit, err);
        if (rc < 0)
            return rc;
    }
    size_t offset = 0;
    int64_t left = args->max;
    bool is_last = false;
    if (!args->json)
        printf("%-10s  %-12s %-12s %-8s %-26s %s\n", "commit", "task", "verdict", "tier", "speedup",
               "what");
    while (rc == 0 && left > 0 && !is_last)
        rc = print_page(args, history, args->rev ? commit : NULL, &offset, &left, &is_last, err);
    if (rc == 0 && left == args->max && args->review)
        hone_say("nothing to review");
    else if (rc == 0 && left == args->max && !args->all)
        hone_say("nothing yet; --all also shows tries that failed");
    else if (rc == 0 && left == 0)
        hone_say("more with --max; plain git works too: git -C %s log --graph REV",
                 args->workspace);
    return rc < 0 ? rc : hone_print("", err);
}

const struct hone_verb hone_verb_log = {
    .name = "log",
    .summary = "List the versions that were tried, newest first.",
    .description = "Each version with its best founded measurement. Speedups stand against the "
                   "task's baseline with their 95 % interval. With "
                   "--json one object a line.",
    .example = "hone log --task softmax --all",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
