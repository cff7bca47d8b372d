/* SPDX-License-Identifier: Apache-2.0 */
#include "server/verb.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server/stop.h"
#include "workspace/base/clock.h"
#include "workspace/base/utf8.h"

struct hone_executor_spec hone_executor_of(const struct hone_common_args *args)
{
    return (struct hone_executor_spec){.name = args->executor,
                                       .fake_script = args->fake_script,
                                       .runner_path = args->runner,
                                       .n_runners = args->n_runners};
}

static void on_stop(void *arg)
{
    hone_cancel_set(arg);
}

/* A runner may stand in a queue for long: a signal ends that wait. */
int hone_open_runtime(const struct hone_common_args *args, struct hone_runtime **ret,
                      struct hone_err *err)
{
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    int rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    struct hone_app_spec spec = {
        .workspace_dir = args->workspace,
        .executor = hone_executor_of(args),
        .n_workers = args->n_workers,
        .allow_weak_jail = args->allow_weak_jail,
    };
    spec.executor.cancel = &cancel;
    rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    if (rc == 0)
        rc = hone_runtime_open(&spec, ret, err);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    return rc;
}

int hone_open_to_read(const char *dir, struct hone_workspace **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *why;
    int rc = hone_workspace_open_read(dir, pool, ret, &why, err);
    if (rc == 0 && why)
        hone_say("reading what is there: %s", why);
    return rc;
}

int hone_print(const char *text, struct hone_err *err)
{
    bool is_bad = fputs(text, stdout) < 0 || fflush(stdout) != 0;
    int native = is_bad ? errno : EIO;
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (!is_bad && !ferror(stdout))
        return 0;
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0)
        native = EPIPE; /* an earlier write may have met it */
    return hone_fail_errno(err, native, "cannot write to stdout");
}

int hone_print_json(const struct hone_json *json, struct hone_err *err)
{
    HONE_AUTOFREE char *text =
        isatty(STDOUT_FILENO) ? hone_json_print_pretty(json) : hone_json_print(json);
    int rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

void hone_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = NULL;
    if (vasprintf(&text, fmt, args) >= 0) {
        hone_utf8_defuse(text, '?');
        fprintf(stderr, "%s\n", text); /* one write: lines of several threads stay whole */
        free(text);
    }
    va_end(args);
}

void hone_progress_line_init(struct hone_progress_line *line)
{
    *line = (struct hone_progress_line){.is_terminal = isatty(STDERR_FILENO) == 1};
}

#define BAR_CELLS 24

static void bar(char out[BAR_CELLS + 1], double done, double total)
{
    double share = total > 0 ? done / total : 0;
    size_t n = share <= 0 ? 0 : share >= 1 ? BAR_CELLS : (size_t)(share * BAR_CELLS);
    memset(out, '#', n);
    memset(out + n, '.', BAR_CELLS - n);
    out[BAR_CELLS] = '\0';
}

void hone_progress_line_update(void *arg, const struct hone_progress *progress)
{
    struct hone_progress_line *line = arg;
    int64_t now = hone_now_ns();
    if (now < line->next_ns)
        return;
    line->next_ns = now + (line->is_terminal ? 100 * HONE_NS_PER_MS : HONE_NS_PER_S);
    const char *message = progress->message ? progress->message : "";
    if (!line->is_terminal) {
        if (progress->total > 0)
            hone_say("%.6g of %.6g  %s", progress->done, progress->total, message);
        else
            hone_say("%s", message);
        return;
    }
    char cells[BAR_CELLS + 1];
    bar(cells, progress->done, progress->total);
    if (progress->total > 0)
        fprintf(stderr, "\r\033[K[%s] %.70s", cells, message);
    else
        fprintf(stderr, "\r\033[K%.96s", message);
    fflush(stderr);
    line->is_shown = true;
}

void hone_progress_line_clear(struct hone_progress_line *line)
{
    if (line->is_shown)
        fputs("\r\033[K", stderr);
    line->is_shown = false;
}
