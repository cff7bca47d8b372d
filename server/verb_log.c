#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/verb.h"
#include "tools/format/verdict.h"
#include "workspace/history.h"

#define PAGE 500

struct args {
    const char *workspace, *rev, *task;
    int64_t max;
    bool all, json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, rev, "rev", "REV",
             "A commit, or a branch such as search/softmax: what leads to it.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, all, "all", NULL,
             "Also the tries that failed, were wrong or were not believed."),
    HONE_OPT(struct args, task, "task", "TASK", "Only versions of this task."),
    HONE_OPT(struct args, max, "max", "N", "At most so many.", .fallback = "50", .min = 1,
             .max = 1000000),
    HONE_OPT_JSON(struct args),
};

static bool is_good(const char *verdict)
{
    enum hone_verdict word;
    return verdict && hone_verdict_parse(verdict, &word) && word < HONE_VERDICT_INCORRECT;
}

static bool is_wanted(const struct args *args, const struct hone_version *version)
{
    if (args->task && (!version->task || strcmp(args->task, version->task) != 0))
        return false;
    return args->all || is_good(hone_trailer_get(version, "Verdict"));
}

static struct hone_json *version_json(const struct hone_version *version)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "commit", version->commit);
    hone_json_set_str(json, "parent", version->parent);
    hone_json_set_str(json, "task", version->task);
    hone_json_set_str(json, "target", version->target);
    hone_json_set_i64(json, "time_s", version->time_s);
    hone_json_set_str(json, "subject", version->subject);
    struct hone_json *trailers = hone_json_new_object();
    const struct hone_trailer *trailer = version->trailers.v;
    for (size_t i = 0; i < version->trailers.n; i++)
        hone_json_set_str(trailers, trailer[i].key, trailer[i].value);
    hone_json_set(json, "trailers", trailers);
    return json;
}

static void print_row(const struct hone_version *version)
{
    const char *verdict = hone_trailer_get(version, "Verdict");
    const char *speedup = hone_trailer_get(version, "Speedup");
    printf("%.10s  %-12s %-12s %-26s %s\n", version->commit, version->task ? version->task : "",
           verdict ? verdict : "", speedup ? speedup : "",
           version->subject ? version->subject : "");
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
        if (!is_wanted(args, &versions[i]))
            continue;
        --*left;
        if (args->json) {
            HONE_AUTOJSON struct hone_json *json = version_json(&versions[i]);
            HONE_AUTOFREE char *text = hone_json_print(json);
            puts(text);
        } else {
            print_row(&versions[i]);
        }
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
        printf("%-10s  %-12s %-12s %-26s %s\n", "commit", "task", "verdict", "speedup", "what");
    while (rc == 0 && left > 0 && !is_last)
        rc = print_page(args, history, args->rev ? commit : NULL, &offset, &left, &is_last, err);
    if (rc == 0 && left == args->max && !args->all)
        hone_say("nothing yet; --all also shows tries that failed");
    else if (rc == 0 && left == 0)
        hone_say("more with --max; plain git works too: git -C %s log --graph REV",
                 args->workspace);
    return rc < 0 ? rc : hone_print("", err);
}

const struct hone_verb hone_verb_log = {
    .name = "log",
    .summary = "List the versions that were tried, newest first.",
    .description = "Speedups stand against the task's baseline with their 95 % interval. With "
                   "--json one object a line.",
    .example = "hone log --task softmax --all",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
