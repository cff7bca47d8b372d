/* SPDX-License-Identifier: Apache-2.0 */
/* `hone call`: one tool call, or with `-` one for each line of standard input.
 *
 * Flow: with --url the call goes to a running server (call_there), otherwise to a registry in
 * this process (call_here). Interrupting cancels the call. Exit status 1 when a result is an
 * error; one output line for each input line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/rpc/net_ws_client.h"
#include "server/stop.h"
#include "server/verb.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

struct args {
    struct hone_common_args common;
    const char *tool, *json, *url, *token_file;
    bool quiet;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, tool, "tool", "TOOL",
             "Name of the tool (hone tools lists them), or - for many calls: lines of TOOL JSON on "
             "stdin.",
             .is_positional = true, .is_required = true),
    HONE_OPT(struct args, json, "json", "JSON", "Arguments: a JSON object, @FILE, or - for stdin.",
             .is_positional = true, .fallback = "{}"),
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(
        struct args, url, "url", "URL",
        "Call through a running server: ws://..., http://..., HOST:PORT, or auto for the one that "
        "serves the workspace.",
        .env = "HONE_URL"),
    HONE_OPT(struct args, token_file, "token-file", "FILE",
             "Token for --url; default: the one in the URL, else the workspace's."),
    HONE_OPT(struct args, quiet, "quiet", NULL, "No progress on stderr."),
};

static int read_stdin(char **ret, struct hone_err *err)
{
    struct hone_buf text = {.limit = HONE_LIMIT_JSON_BYTES};
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof(part), stdin)) > 0)
        hone_buf_add(&text, part, n);
    int rc = hone_buf_check(&text, err);
    if (rc == 0)
        *ret = hone_buf_steal(&text);
    hone_buf_done(&text);
    return rc;
}

/* The arguments as checked JSON text of one object; owned. */
static int read_args(const char *word, char **ret_text, struct hone_json **ret_json,
                     struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    size_t len;
    int rc = 0;
    if (strcmp(word, "-") == 0)
        rc = read_stdin(&text, err);
    else if (word[0] == '@')
        rc = hone_file_read(word + 1, HONE_LIMIT_JSON_BYTES, &text, &len, err);
    else
        text = hone_strdup(word);
    if (rc == 0)
        rc = hone_json_parse(text, strlen(text), &json, err);
    if (rc < 0)
        return hone_wrap(err, "arguments");
    if (hone_json_type(json) != HONE_JSON_OBJECT)
        return hone_fail(err, HONE_E_ARG,
                         "arguments must be a JSON object, such as '{\"task\":\"matmul\"}'");
    *ret_text = HONE_STEAL(text);
    *ret_json = HONE_STEAL(json);
    return 0;
}

/* ---- in this process ---- */

static void cancel_call(void *arg)
{
    hone_cancel_set(arg);
}

static int call_here(const struct args *args, const struct hone_json *json,
                     struct hone_progress_line *line, struct hone_json **ret, bool *ret_is_error,
                     struct hone_err *err)
{
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    int rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc < 0)
        return rc;
    struct hone_cancel cancel;
    rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    struct hone_stop *stop = NULL;
    rc = hone_stop_watch(cancel_call, &cancel, &stop, err);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = {
        .app = hone_runtime_app(runtime),
        .pool = pool,
        .cancel = &cancel,
        .on_progress = args->quiet ? NULL : hone_progress_line_update,
        .progress_arg = line,
        .caller = "cli",
    };
    if (rc == 0)
        rc = hone_registry_call(&ctx, args->tool, json, ret, ret_is_error, err);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    return rc;
}

/* Many calls in one process, so that what is warm stays warm: lines of "TOOL {json}" on stdin, one
 * line each back: {"tool","wall_ms","is_error","result"}. A line that cannot be read is answered
 * with an error and the rest goes on. */
static int call_line(struct hone_tool_ctx *ctx, char *text, bool *ret_is_error,
                     struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    HONE_AUTOJSON struct hone_json *answer = hone_json_new_object();
    struct hone_json *result = NULL;
    struct hone_err why = HONE_ERR_INIT;
    size_t name_len = strcspn(text, " ");
    const char *rest = text[name_len] != '\0' ? text + name_len + 1 : "{}";
    text[name_len] = '\0';
    int64_t start = hone_now_ns();
    *ret_is_error = true;
    int rc = hone_json_parse(rest, strlen(rest), &json, &why);
    if (rc == 0)
        rc = hone_registry_call(ctx, text, json, &result, ret_is_error, &why);
    if (rc == HONE_E_CANCEL)
        return hone_fail(err, rc, "%s", why.message);
    hone_json_set_str(answer, "tool", text);
    hone_json_set_f64(answer, "wall_ms", (double)(hone_now_ns() - start) / 1e6);
    hone_json_set_bool(answer, "is_error", rc < 0 || *ret_is_error);
    if (rc < 0)
        hone_json_set_str(answer, "error", why.message);
    else
        hone_json_set(answer, "result", result);
    rc = hone_print_json(answer, err);
    fflush(stdout);
    return rc;
}

static int call_lines(const struct args *args, struct hone_err *err)
{
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    HONE_AUTOFREE char *line = NULL;
    size_t room = 0;
    ssize_t n;
    bool has_failed = false;
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    int rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    rc = hone_stop_watch(cancel_call, &cancel, &stop, err);
    while (rc == 0 && !hone_cancel_is_set(&cancel) && (n = getline(&line, &room, stdin)) > 0) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_tool_ctx ctx = {
            .app = hone_runtime_app(runtime), .pool = pool, .cancel = &cancel, .caller = "cli"};
        bool is_error = false;
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (line[0] == '\0')
            continue;
        rc = call_line(&ctx, line, &is_error, err);
        has_failed = has_failed || is_error;
    }
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    return rc < 0 ? rc : has_failed ? HONE_EXIT_TOOL_ERROR : 0;
}

/* ---- through a server ---- */

static void interrupt_client(void *arg)
{
    hone_ws_client_interrupt(arg);
}

static int call_there(const struct args *args, const char *text, struct hone_progress_line *line,
                      struct hone_json **ret, bool *ret_is_error, struct hone_err *err)
{
    HONE_AUTOFREE char *url = NULL;
    HONE_AUTOFREE char *token = NULL;
    int rc =
        hone_find_server(args->common.workspace, args->url, args->token_file, &url, &token, err);
    if (rc < 0)
        return rc;
    struct hone_ws_client *client = NULL;
    rc = hone_ws_client_new(url, token, &client, err);
    if (rc < 0)
        return rc;
    struct hone_stop *stop = NULL;
    rc = hone_stop_watch(interrupt_client, client, &stop, err);
    if (rc == 0)
        rc = hone_ws_client_call(client, args->tool, text,
                                 args->quiet ? NULL : hone_progress_line_update, line, ret,
                                 ret_is_error, err);
    hone_stop_free(stop);
    hone_ws_client_free(client);
    return rc;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    HONE_AUTOJSON struct hone_json *result = NULL;
    bool is_error = false;
    if (strcmp(args->tool, "-") == 0) {
        if (args->url)
            return hone_fail(err, HONE_E_ARG, "calls from stdin run in this process: drop --url");
        hone_stop_block();
        return call_lines(args, err);
    }
    int rc = read_args(args->json, &text, &json, err);
    if (rc < 0)
        return rc;
    struct hone_progress_line line;
    hone_progress_line_init(&line);
    hone_stop_block();
    rc = args->url ? call_there(args, text, &line, &result, &is_error, err)
                   : call_here(args, json, &line, &result, &is_error, err);
    hone_progress_line_clear(&line);
    if (rc == 0)
        rc = hone_print_json(result, err);
    return rc < 0 ? rc : is_error ? HONE_EXIT_TOOL_ERROR : 0;
}

const struct hone_verb hone_verb_call = {
    .name = "call",
    .summary = "Call one tool and print its result.",
    .description = "Runs the tool in this process, or through a server with --url. The result is "
                   "JSON on stdout, progress goes to\n"
                   "stderr. Exit status 1 when the tool answered with an error result. With - as "
                   "the tool, calls come as lines of\n"
                   "TOOL JSON on stdin and run one after the other in this process, which keeps a "
                   "device warm; each answer is one\n"
                   "line {\"tool\",\"wall_ms\",\"is_error\",\"result\"}.",
    .example = "hone call task_show '{\"task\":\"matmul\"}'",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
