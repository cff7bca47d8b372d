/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/rpc/net_ws.h"
#include "server/stop.h"
#include "server/verb.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/workspace.h"

#define STOP_MS 2000 /* from the signal to the end of the process */

struct args {
    struct hone_common_args common;
    const char *listen, *auth, *allow_host, *allow_origin;
};

static const char *const auth_names[] = {"token", "none", NULL};

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(struct args, listen, "listen", "ADDRESS",
             "Literal address and port; port 0 takes a free one.", .env = "HONE_LISTEN",
             .fallback = "127.0.0.1:7411"),
    HONE_OPT(struct args, auth, "auth", "HOW",
             "none lets everybody in who can reach loopback; for tests and machines of one person.",
             .fallback = "token", .choices = auth_names),
    HONE_OPT(struct args, allow_host, "allow-host", "NAMES",
             "Further names accepted in the Host header, comma list."),
    HONE_OPT(struct args, allow_origin, "allow-origin", "ORIGINS",
             "Web pages of these origins may connect, comma list such as https://ui.example.com."),
};

struct server {
    struct hone_ws *ws;
};

static void on_stop(void *arg)
{
    struct server *server = arg;
    hone_ws_stop(server->ws);
}

/* Where `hone call --url auto` looks. The URL holds the token, so the file is for its owner alone.
 */
static int write_serve_json(const char *path, const char *url, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_i64(json, "pid", getpid());
    hone_json_set_str(json, "url", url);
    HONE_AUTOFREE char *text = hone_json_print(json);
    return hone_file_write(path, text, strlen(text), 0600, false, err);
}

/* path NULL: another server is the one that `--url auto` finds. */
static int announce(const struct args *args, const struct hone_ws_spec *spec, const char *path,
                    int port, struct hone_err *err)
{
    bool is_v6 = strchr(spec->host, ':') != NULL;
    HONE_AUTOFREE char *url =
        hone_sprintf("ws://%s%s%s:%d/mcp%s%s", is_v6 ? "[" : "", spec->host, is_v6 ? "]" : "", port,
                     spec->token ? "?token=" : "", spec->token ? spec->token : "");
    int rc = path ? write_serve_json(path, url, err) : 0;
    if (rc < 0)
        return hone_wrap(err, "%s", path);
    if (!path)
        hone_say(
            "note: another server serves this workspace too; `--url auto` goes on finding that "
            "one");
    if (!spec->token)
        hone_say("warning: --auth none: every user and program of this machine may compile and run "
                 "code through this server");
    if (!spec->access.is_loopback)
        hone_say("warning: listening on %s: the token travels unencrypted; use it in a trusted "
                 "network only",
                 spec->host);
    if (strcmp(args->common.executor, "fake") == 0)
        hone_say("note: the fake executor runs nothing; its figures are made up");
    hone_say("listening on %s", url);
    return 0;
}

static int serve(const struct args *args, struct hone_runtime *runtime, struct hone_ws_spec *spec,
                 struct hone_err *err)
{
    const struct hone_workspace *ws_dir = hone_runtime_app(runtime)->ws;
    HONE_AUTOFREE char *path = hone_workspace_path(ws_dir, "serve.json");
    HONE_AUTOFREE char *lock_path = hone_workspace_path(ws_dir, "serve.lock");
    HONE_AUTOCLOSE int lock = -1;
    struct server server = {.ws = NULL};
    int rc = hone_lock_file(lock_path, 0, &lock, err);
    bool is_first = rc == 0;
    if (rc == 0 || rc == HONE_E_BUSY)
        rc = hone_ws_new(spec, &server.ws, err);
    if (rc < 0)
        return rc;
    struct hone_stop *stop = NULL;
    rc = hone_stop_watch(on_stop, &server, &stop, err);
    if (rc == 0)
        rc = announce(args, spec, is_first ? path : NULL, hone_ws_port(server.ws), err);
    if (rc == 0) {
        hone_ws_run(server.ws);
        hone_say("stopping");
        if (is_first)
            unlink(path);
    }
    hone_stop_free(stop); /* first: a second signal must not find the server gone */
    hone_ws_free(server.ws);
    return rc;
}

static int prepare(const struct args *args, struct hone_runtime *runtime, char **ret_host,
                   int *ret_port, char **ret_token, struct hone_err *err)
{
    int rc = hone_split_address(args->listen, ret_host, ret_port, err);
    if (rc < 0)
        return hone_wrap(err, "--listen");
    if (*ret_port < 0)
        *ret_port = 7411;
    if (strcmp(args->auth, "none") == 0)
        return 0;
    HONE_AUTOFREE char *path = hone_workspace_path(hone_runtime_app(runtime)->ws, "token");
    return hone_token_load(path, true, ret_token, err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    struct hone_runtime *runtime;
    hone_stop_block();
    int rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc < 0)
        return rc;
    /* Calls may run on until the lanes have stopped: what they use lives in this scope. */
    const struct hone_mcp mcp = {.runtime = runtime, .caller = "websocket"};
    HONE_AUTOFREE char *host = NULL;
    HONE_AUTOFREE char *token = NULL;
    int port;
    rc = prepare(args, runtime, &host, &port, &token, err);
    if (rc == 0) {
        struct hone_ws_spec spec = {
            .host = host,
            .port = port,
            .token = token,
            .access = {.is_loopback = hone_is_loopback(host),
                       .allowed_hosts = args->allow_host,
                       .allowed_origins = args->allow_origin},
            .mcp = &mcp,
        };
        rc = serve(args, runtime, &spec, err);
    }
    if (!hone_runtime_stop(runtime, hone_deadline_in_ms(STOP_MS - 800)))
        _exit(rc < 0 ? hone_code_exit((enum hone_code)rc)
                     : 0); /* a call does not stop: its thread must not outlive the runtime */
    hone_runtime_close(runtime);
    return rc;
}

const struct hone_verb hone_verb_serve = {
    .name = "serve",
    .summary = "Serve MCP clients over HTTP and WebSocket.",
    .description =
        "Prints the WebSocket URL, with the token, on stderr. Over HTTP the same address is "
        "http://HOST:PORT/mcp. Clients that can send "
        "a header use\n"
        "`Authorization: Bearer TOKEN` with the token of DIR/.hone/token instead. "
        "Ctrl-C, SIGTERM or a closed terminal ends it within 2 s;\n"
        "running calls are cancelled, finished results are safe.",
    .example = "hone serve --workspace ~/kernels --listen 127.0.0.1:0",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
