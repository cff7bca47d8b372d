/* SPDX-License-Identifier: Apache-2.0 */
/* `hone serve`: opens what a server needs, announces the address, serves until it is told to stop. */
#include <errno.h>
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
    const char *listen, *auth, *allow_host, *allow_origin, *tls_cert, *tls_key;
    bool behind_proxy;
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
    HONE_OPT(struct args, tls_cert, "tls-cert", "FILE",
             "Certificate chain, PEM: clients connect by wss:// and https:// then."),
    HONE_OPT(struct args, tls_key, "tls-key", "FILE", "Its private key, PEM."),
    HONE_OPT(struct args, behind_proxy, "behind-proxy", NULL,
             "Listen beyond loopback without TLS: a proxy or tunnel encrypts."),
};

struct server {
    struct hone_ws *ws;
};

struct parts {          /* what a server is made of, beside the runtime */
    char *host, *token; /* owned; token NULL: none is wanted */
    int port;
    struct hone_clients *clients;
    struct hone_audit *audit;
};

static void parts_done(struct parts *parts)
{
    hone_clients_free(parts->clients);
    hone_audit_free(parts->audit);
    free(parts->host);
    free(parts->token);
}

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
static int announce(const struct args *args, const struct hone_ws_spec *spec, const char *token,
                    const char *path, int port, struct hone_err *err)
{
    bool is_v6 = strchr(spec->host, ':') != NULL;
    HONE_AUTOFREE char *url = hone_sprintf(
        "%s://%s%s%s:%d/mcp%s%s", spec->certificate ? "wss" : "ws", is_v6 ? "[" : "", spec->host,
        is_v6 ? "]" : "", port, token ? "?token=" : "", token ? token : "");
    int rc = path ? write_serve_json(path, url, err) : 0;
    if (rc < 0)
        return hone_wrap(err, "%s", path);
    if (!path)
        hone_say(
            "note: another server serves this workspace too; `--url auto` goes on finding that "
            "one");
    if (!token)
        hone_say("warning: --auth none: every user and program of this machine may compile and run "
                 "code through this server");
    if (!spec->access.is_loopback && !spec->certificate)
        hone_say("warning: listening on %s: tokens travel unencrypted but for the proxy's or "
                 "tunnel's encryption",
                 spec->host);
    if (strcmp(args->common.executor, "fake") == 0)
        hone_say("note: the fake executor runs nothing; its figures are made up");
    hone_say("listening on %s", url);
    hone_say("in a browser: %s://%s%s%s:%d/%s%s", spec->certificate ? "https" : "http",
             is_v6 ? "[" : "", spec->host, is_v6 ? "]" : "", port, token ? "?token=" : "",
             token ? token : "");
    return 0;
}

static int serve(const struct args *args, struct hone_runtime *runtime, struct hone_ws_spec *spec,
                 const char *token, struct hone_err *err)
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
        rc = announce(args, spec, token, is_first ? path : NULL, hone_ws_port(server.ws), err);
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

/* Beyond loopback tokens must not travel in the clear. */
static int check_cover(const struct args *args, const char *host, struct hone_err *err)
{
    if (!args->tls_cert != !args->tls_key)
        return hone_fail(err, HONE_E_ARG, "--tls-cert and --tls-key go together");
    if (args->tls_cert && (access(args->tls_cert, R_OK) < 0 || access(args->tls_key, R_OK) < 0))
        return hone_fail_errno(err, errno, "--tls-cert %s, --tls-key %s", args->tls_cert,
                               args->tls_key);
    if (!hone_is_loopback(host) && !args->tls_cert && !args->behind_proxy)
        return hone_fail(err, HONE_E_ARG,
                         "listening on %s needs --tls-cert and --tls-key, or --behind-proxy where "
                         "a proxy or tunnel encrypts",
                         host);
    return 0;
}

static int prepare(const struct args *args, const struct hone_workspace *ws, struct parts *parts,
                   struct hone_err *err)
{
    int rc = hone_split_address(args->listen, &parts->host, &parts->port, err);
    if (rc < 0)
        return hone_wrap(err, "--listen");
    if (parts->port < 0)
        parts->port = 7411;
    HONE_AUTOFREE char *audit_path = hone_workspace_path(ws, "audit.log");
    parts->audit = hone_audit_new(audit_path, 0);
    if (strcmp(args->auth, "none") == 0)
        return check_cover(args, parts->host, err);
    HONE_AUTOFREE char *path = hone_workspace_path(ws, "token");
    HONE_AUTOFREE char *named = hone_workspace_path(ws, "tokens");
    rc = hone_token_load(path, true, &parts->token, err);
    if (rc == 0)
        rc = check_cover(args, parts->host, err);
    if (rc == 0)
        parts->clients = hone_clients_new(named, parts->token);
    return rc;
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
    struct parts parts = {.host = NULL};
    rc = prepare(args, hone_runtime_app(runtime)->ws, &parts, err);
    const struct hone_mcp mcp = {.runtime = runtime, .caller = "websocket", .audit = parts.audit};
    if (rc == 0) {
        struct hone_ws_spec spec = {
            .host = parts.host,
            .port = parts.port,
            .clients = parts.clients,
            .certificate = args->tls_cert,
            .key = args->tls_key,
            .access = {.is_loopback = hone_is_loopback(parts.host),
                       .allowed_hosts = args->allow_host,
                       .allowed_origins = args->allow_origin},
            .mcp = &mcp,
        };
        rc = serve(args, runtime, &spec, parts.token, err);
    }
    if (!hone_runtime_stop(runtime, hone_deadline_in_ms(STOP_MS - 800)))
        _exit(rc < 0 ? hone_code_exit((enum hone_code)rc)
                     : 0); /* a call does not stop: its thread must not outlive the runtime */
    hone_runtime_close(runtime);
    parts_done(&parts);
    return rc;
}

const struct hone_verb hone_verb_serve = {
    .name = "serve",
    .summary = "Serve MCP clients over HTTP and WebSocket.",
    .description =
        "Prints the WebSocket URL, with the token, on stderr, and the address of the page for a "
        "browser. Over HTTP the same address is "
        "http://HOST:PORT/mcp. Clients that can send "
        "a header use\n"
        "`Authorization: Bearer TOKEN` with the token of DIR/.hone/token instead; `hone token` "
        "makes further\ntokens, each with a name, a role and limits. DIR/.hone/audit.log says who "
        "called what.\n"
        "Ctrl-C, SIGTERM or a closed terminal ends it within 2 s;\n"
        "running calls are cancelled, finished results are safe.",
    .example = "hone serve --workspace ~/kernels --listen 127.0.0.1:0",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
