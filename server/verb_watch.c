/* SPDX-License-Identifier: Apache-2.0 */
/* `hone watch`: looks at the ledger until the search ends. Nothing is asked of the process that runs
 * it: that may be another terminal, a server, or gone. */
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agents/search/search_report.h"
#include "agents/search/steer.h"
#include "server/page/watch_text.h"
#include "server/verb.h"
#include "workspace/base/clock.h"

enum { LOOK_MS = 250 };

struct args {
    const char *workspace, *name;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, name, "name", "NAME", "A search, by its name or id; default: the newest.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
};

struct watch {
    struct hone_workspace *ws;
    struct hone_search_reader *reader; /* owned; of the search that is watched, by its id */
    int64_t last_ms;                   /* of the records that were shown */
    size_t n_told;                     /* steps that have been printed as lines */
    size_t n_drawn;                    /* lines of the last screen */
    bool is_terminal, is_running;
};

static int draw(struct watch *w, const struct hone_search_report *report, struct hone_err *err)
{
    struct winsize size = {.ws_col = 0};
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    HONE_AUTOFREE char *screen =
        hone_watch_screen(report, w->is_running, is_known ? size.ws_col : 80,
                          is_known && size.ws_row > 1 ? size.ws_row - 1u : 23);
    if (w->n_drawn > 0)
        hone_buf_printf(&out, "\033[%zuA\r\033[J", w->n_drawn);
    hone_buf_str(&out, screen);
    w->n_drawn = 0;
    for (const char *at = screen; (at = strchr(at, '\n')) != NULL; at++)
        w->n_drawn++;
    return hone_print(out.data, err);
}

static int tell(struct watch *w, const struct hone_search_report *report, struct hone_err *err)
{
    const struct hone_report_step *steps = report->steps.v;
    int rc = 0;
    for (; rc == 0 && w->n_told < report->steps.n; w->n_told++) {
        HONE_AUTOFREE char *line = hone_watch_line(&steps[w->n_told]);
        rc = hone_print(line, err);
    }
    if (rc < 0 || w->is_running)
        return rc;
    HONE_AUTOFREE char *result = hone_watch_result(report, false);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", result);
    return hone_print(line, err);
}

/* Finds the search; from then on it is this one, whatever begins under the same name. */
static int begin(struct watch *w, const char *wanted, struct hone_err *err)
{
    const struct hone_search_report *report;
    struct hone_search_reader *reader = hone_search_reader_new(w->ws, wanted);
    int rc = hone_search_reader_read(reader, &report, err);
    if (rc == 0)
        w->reader = hone_search_reader_new(w->ws, report->id);
    hone_search_reader_free(reader);
    return rc;
}

static int watch(struct watch *w, struct hone_err *err)
{
    const struct hone_search_report *report;
    int rc = hone_search_reader_read(w->reader, &report, err);
    do {
        /* asked before the ledger is: whatever an ended search has written is then read */
        w->is_running = rc == 0 && hone_steer_is_running(w->ws, report->name ? report->name : "");
        if (rc == 0)
            rc = hone_search_reader_read(w->reader, &report, err);
        w->is_running = w->is_running && rc == 0 && !report->end; /* the lock is the name's */
        if (rc == 0 && (report->last_ms != w->last_ms || !w->is_running))
            rc = w->is_terminal ? draw(w, report, err) : tell(w, report, err);
        w->last_ms = rc == 0 ? report->last_ms : 0;
        if (w->is_running)
            poll(NULL, 0, LOOK_MS);
    } while (rc == 0 && w->is_running);
    return rc;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc < 0)
        return rc;
    struct watch w = {.ws = ws, .is_terminal = isatty(STDOUT_FILENO) == 1};
    rc = begin(&w, args->name, err);
    if (rc == 0)
        rc = watch(&w, err);
    hone_search_reader_free(w.reader);
    return rc;
}

const struct hone_verb hone_verb_watch = {
    .name = "watch",
    .summary = "Watch a search until it ends: result, what it used, way up, tree.",
    .description =
        "On a terminal the view is drawn anew as results come; otherwise each step is a line: "
        "evaluations, seconds, what came out.\n"
        "* a gain, o none, x failed, # confirmed, ! measured afresh, not to be claimed, ? "
        "measured afresh, inconclusive. A search that has ended is "
        "shown once. Ctrl-C "
        "ends "
        "the watching, not the search.",
    .example = "hone watch softmax",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
