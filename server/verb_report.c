/* SPDX-License-Identifier: Apache-2.0 */
/* `hone report`: a search (agents/search/search_report.h) as markdown or JSON, its page, its picture;
 * its archive (agents/search/view.h); or a suite. One of them at a time. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/search_report.h"
#include "agents/search/view.h"
#include "agents/suite/suite.h"
#include "server/page/page.h"
#include "server/page/searches.h"
#include "server/page/search_svg.h"
#include "server/verb.h"
#include "tools/best_measurement.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/history.h"

struct args {
    const char *workspace, *name, *suite, *html, *svg;
    bool json, commit, archive;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, name, "name", "NAME", "A search, by its name or id; default: the newest.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, suite, "suite", "NAME",
             "A suite instead (hone search --suite): its tasks, fast_p, failures by class."),
    HONE_OPT(struct args, commit, "commit", NULL,
             "Also write reports/NAME.md and .json into the workspace and commit them on main."),
    HONE_OPT(struct args, html, "html", "FILE",
             "Write the page of this search into one file that a browser opens without a server."),
    HONE_OPT(struct args, archive, "archive", NULL,
             "Instead, its best versions that differ: one for each cell of features."),
    HONE_OPT(struct args, svg, "svg", "FILE", "Draw its way up into a file."),
    HONE_OPT_JSON(struct args),
};

static int write_report(const char *dir, const char *file, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, file, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

static int commit(struct hone_workspace *ws, const char *name, const char *markdown,
                  const char *json, struct hone_err *err)
{
    HONE_AUTOFREE char *dir = hone_path_join(hone_workspace_dir(ws), "reports", NULL);
    HONE_AUTOFREE char *md = hone_sprintf("reports/%s.md", name);
    HONE_AUTOFREE char *js = hone_sprintf("reports/%s.json", name);
    HONE_AUTOFREE char *subject = hone_sprintf("report of %s", name);
    const char *const paths[] = {md, js};
    int rc = hone_mkdirs(dir, 0755, err);
    if (rc == 0)
        rc = write_report(hone_workspace_dir(ws), md, markdown, err);
    if (rc == 0)
        rc = write_report(hone_workspace_dir(ws), js, json, err);
    if (rc == 0)
        rc = hone_history_commit_main(hone_workspace_history(ws), paths, HONE_COUNTOF(paths),
                                      subject, hone_wall_ms() / 1000, err);
    if (rc == 0)
        hone_say("committed %s and %s on main", md, js);
    return rc;
}

/* What history knows of the best version beside the search's own records: later measurements may
 * contradict its figure. *ret_markdown stays NULL where there is nothing to say; owned. */
static int add_standing(struct hone_workspace *ws, const struct hone_search_report *report,
                        struct hone_pool *pool, struct hone_json *json, char **ret_markdown,
                        struct hone_err *err)
{
    const char *best = report->end ? hone_json_get_str(report->end, "best_commit", NULL) : NULL;
    struct hone_version version;
    struct hone_best_measurement measured;
    if (!best || hone_history_read(hone_workspace_history(ws), best, pool, &version, NULL) < 0)
        return 0;
    int rc = hone_best_measurement_read(hone_workspace_history(ws), &version, pool, &measured, err);
    if (rc < 0)
        return rc;
    double waited_s = (double)measured.waited_ns / HONE_NS_PER_S;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    if (measured.refutation)
        hone_buf_printf(&text, "\n**Refuted**: %s. Nothing of its figures may be claimed.\n",
                        measured.refutation);
    if (measured.contradiction)
        hone_buf_printf(&text, "\n**Contradicted**: %s.\n", measured.contradiction);
    if (waited_s >= 1)
        hone_buf_printf(&text, "\nIts measurements waited %.3g s for other timings here.\n",
                        waited_s);
    if (text.len == 0)
        return 0;
    hone_json_set_str(json, "contradiction", measured.contradiction);
    hone_json_set_str(json, "refutation", measured.refutation);
    hone_json_set_f64(json, "best_waited_s", waited_s);
    *ret_markdown = hone_sprintf("\n## What is known of the best version\n%s", text.data);
    return 0;
}

static int write_file(const char *path, const char *text, struct hone_err *err)
{
    char target[2];
    if (readlink(path, target, sizeof(target)) >= 0) /* /dev/stdout is one too */
        return hone_fail(err, HONE_E_ARG, "'%s' is a link; name the file itself", path);
    int rc = hone_file_write(path, text, strlen(text), 0644, false, err);
    if (rc == 0)
        hone_say("wrote %s, %.4g kB", path, (double)strlen(text) / 1000);
    return rc;
}

static int write_views(struct hone_workspace *ws, const struct args *args,
                       const struct hone_search_report *report, const struct hone_json *json,
                       struct hone_err *err)
{
    int rc = 0;
    if (args->svg) {
        HONE_AUTOFREE char *text = hone_search_svg(report);
        rc = write_file(args->svg, text, err);
    }
    if (rc == 0 && args->html) {
        HONE_AUTOJSON struct hone_json *data = hone_page_data(ws, report, json);
        HONE_AUTOFREE char *text = hone_page_static(data);
        rc = write_file(args->html, text, err);
    }
    return rc;
}

static int report_suite(struct hone_workspace *ws, const struct args *args, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_suite suite;
    int rc = args->html || args->svg || args->name
                 ? hone_fail(err, HONE_E_ARG, "--suite NAME goes with --commit and --json alone")
                 : hone_suite_read(ws, args->suite, pool, &suite, err);
    if (rc < 0)
        return rc;
    HONE_AUTOJSON struct hone_json *json = hone_suite_json(&suite);
    HONE_AUTOFREE char *json_text = hone_json_print(json);
    HONE_AUTOFREE char *markdown = hone_suite_markdown(&suite);
    HONE_AUTOFREE char *name = hone_sprintf("suite-%s", suite.name);
    if (args->commit)
        rc = commit(ws, name, markdown, json_text, err);
    if (rc == 0)
        rc = hone_print(args->json ? json_text : markdown, err);
    return rc == 0 && args->json ? hone_print("\n", err) : rc;
}

static void print_cells(const struct hone_json *archive)
{
    const struct hone_json *c = hone_json_first(hone_json_get(archive, "cells"));
    printf("%-9s %-10s %-8s %-9s %s\n", "speedup", "look", "versions", "commit", "cell");
    for (; c; c = hone_json_next(c))
        printf("%-9.3g %-10s %-8lld %-9.9s %s%s\n", hone_json_get_f64(c, "speedup", 0),
               hone_json_get_str(c, "look", ""), (long long)hone_json_get_i64(c, "versions", 0),
               hone_json_get_str(c, "commit", ""), hone_json_get_str(c, "cell", ""),
               hone_json_get_bool(c, "is_best", false) ? " (best)" : "");
}

static int report_archive(struct hone_workspace *ws, const struct args *args, const char *name,
                          struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *archive = NULL;
    struct hone_app app = {.ws = ws};
    struct hone_tool_ctx ctx = {.app = &app, .pool = pool, .caller = "cli"};
    struct hone_steer_search which;
    int rc = args->html || args->svg || args->commit
                 ? hone_fail(err, HONE_E_ARG, "--archive goes with --json alone")
                 : hone_steer_find(ws, name, pool, &which, err);
    if (rc == 0)
        rc = hone_view_archive(&ctx, &which, &archive, err);
    if (rc < 0)
        return rc;
    if (!args->json) {
        print_cells(archive);
        return hone_print("", err);
    }
    HONE_AUTOFREE char *text = hone_json_print(archive);
    rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_report report;
    bool is_damaged = false;
    int rc = args->commit ? hone_workspace_open(args->workspace, &ws, err)
                          : hone_open_to_read(args->workspace, &ws, err);
    if (rc == 0 && args->suite)
        return report_suite(ws, args, err);
    if (rc == 0)
        rc = hone_search_report_read(ws, args->name, pool, &report, &is_damaged, err);
    if (rc < 0)
        return rc;
    if (args->archive)
        return report_archive(ws, args, report.name, err);
    if (is_damaged)
        hone_say("some ledger lines are damaged; the report is without them");
    HONE_AUTOJSON struct hone_json *json = hone_search_report_json(&report);
    HONE_AUTOFREE char *known = NULL;
    rc = add_standing(ws, &report, pool, json, &known, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *json_text = hone_json_print(json);
    HONE_AUTOFREE char *told = hone_search_report_markdown(&report, hone_workspace_dir(ws));
    HONE_AUTOFREE char *markdown = hone_sprintf("%s%s", told, known ? known : "");
    if (args->html || args->svg)
        return write_views(ws, args, &report, json, err);
    if (args->commit)
        rc = commit(ws, report.name, markdown, json_text, err);
    if (rc == 0)
        rc = hone_print(args->json ? json_text : markdown, err);
    return rc == 0 && args->json ? hone_print("\n", err) : rc;
}

const struct hone_verb hone_verb_report = {
    .name = "report",
    .summary = "Tell what a search did: result, way up, ideas, cost, how to repeat it.",
    .description = "Markdown, or with --json everything, from the ledger alone: also of a search "
                   "that was killed or "
                   "still runs. Only the confirmed figure at its head is a result; the others were "
                   "screened or decided "
                   "on the way.",
    .example = "hone report softmax --commit",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
