/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "server/rpc/net_stdio.h"
#include "server/rpc/net_ws_client.h"
#include "server/stop.h"
#include "server/verb.h"
#include "workspace/base/clock.h"

struct args {
    struct hone_common_args common;
    const char *connect, *token_file;
    int64_t linger_ms;
};

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(
        struct args, connect, "connect", "SERVER",
        "Pass everything on to a running `hone serve`: HOST:PORT, a ws:// URL, or auto for the "
        "one that serves the workspace. Nothing runs here."),
    HONE_OPT(struct args, token_file, "token-file", "FILE",
             "Token for --connect; default: the one in the URL, else the workspace's."),
    HONE_OPT(struct args, linger_ms, "linger", "TIME",
             "How long running calls may go on after the end of input.", .fallback = "60s",
             .is_duration = true),
};

static void on_stop(void *arg)
{
    hone_cancel_set(arg);
}

static void interrupt_relay(void *arg)
{
    hone_ws_client_interrupt(arg);
}

static int run_relay(const struct args *args, struct hone_err *err)
{
    HONE_AUTOFREE char *url = NULL;
    HONE_AUTOFREE char *token = NULL;
    struct hone_ws_client *client = NULL;
    struct hone_stop *stop = NULL;
    int rc = hone_find_server(args->common.workspace, args->connect, args->token_file, &url, &token,
                              err);
    if (rc == 0)
        rc = hone_ws_client_new(url, token, &client, err);
    if (rc < 0)
        return rc;
    rc = hone_stop_watch(interrupt_relay, client, &stop, err);
    if (rc == 0)
        rc = hone_ws_client_relay(client, STDIN_FILENO, STDOUT_FILENO, args->linger_ms, err);
    hone_stop_free(stop);
    hone_ws_client_free(client);
    return rc;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    if (args->connect)
        return run_relay(args, err);
    struct hone_cancel cancel;
    int rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    HONE_CLEANUP(hone_stop_free_ptr) struct hone_stop *stop = NULL;
    rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    if (rc < 0)
        return rc;
    struct hone_runtime *runtime;
    rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc < 0)
        return rc;
    const struct hone_mcp mcp = {.runtime = runtime, .caller = "stdio"};
    const struct hone_stdio_spec spec = {
        .mcp = &mcp,
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
        .linger_ms = args->linger_ms,
        .stop = &cancel,
    };
    rc = hone_stdio_run(&spec, err);
    if (!hone_runtime_stop(runtime, hone_deadline_in_ms(2000)))
        _exit(rc < 0 ? hone_code_exit((enum hone_code)rc)
                     : 0); /* a call does not stop: its thread must not outlive the runtime */
    hone_runtime_close(runtime);
    return rc;
}

const struct hone_verb hone_verb_mcp = {
    .name = "mcp",
    .summary = "Serve one MCP client over stdin and stdout.",
    .description = "For clients that start their servers themselves: one JSON-RPC message a line. "
                   "Ends at end of input. With --connect it\nis a bridge for clients that speak "
                   "stdin and stdout only: the server runs the tools.",
    .example = "claude mcp add hone -- hone mcp --workspace ~/kernels",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
