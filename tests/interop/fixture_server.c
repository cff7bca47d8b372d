/* SPDX-License-Identifier: Apache-2.0 */
/* A server with the tools that MCP's conformance suite calls, registered as hone's own tools are:
 * what the suite asks of a tool's answer, error and progress is asked of the whole dispatcher.
 *
 *   fixture_server WORKSPACE PORT     without a token, on loopback; until it is killed */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/rpc/net_ws.h"

struct in {
    const char *name;
};
struct out {
    struct hone_head head;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, name, .help = "Not looked at.")};
static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct out)};

static int run_ok(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct out *o = out;
    (void)ctx;
    (void)in;
    (void)err;
    o->head.status = "ok";
    o->head.summary = "This is a simple text response for testing.";
    return 0;
}

static int run_error(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx;
    (void)in;
    (void)out;
    return hone_fail(err, HONE_E_IO, "This tool intentionally returns an error for testing");
}

/* Steps further apart than the server's least gap between two notices of progress. */
static int run_progress(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    static const double steps[] = {0, 50, 99};
    for (size_t i = 0; i < HONE_COUNTOF(steps); i++) {
        const struct timespec pause = {.tv_nsec = 300000000};
        hone_tool_progress(ctx, steps[i], 100, "step %zu", i);
        nanosleep(&pause, NULL);
    }
    return run_ok(ctx, in, out, err);
}

#define TOOL(name_, flags_, run_)                                                                  \
    {                                                                                              \
        .name = name_, .title = name_, .summary = "For the conformance suite.", .flags = flags_,   \
        .in = in_fields, .n_in = HONE_COUNTOF(in_fields), .in_size = sizeof(struct in),            \
        .out = out_fields, .n_out = HONE_COUNTOF(out_fields), .out_size = sizeof(struct out),      \
        .run = run_                                                                                \
    }
static const struct hone_tool simple_text = TOOL("test_simple_text", HONE_TOOL_READ_ONLY, run_ok),
                              error = TOOL("test_error_handling", HONE_TOOL_READ_ONLY, run_error),
                              logging = TOOL("test_logging_tool", HONE_TOOL_READ_ONLY, run_ok),
                              with_logging =
                                  TOOL("test_tool_with_logging", HONE_TOOL_LONG, run_progress),
                              streaming =
                                  TOOL("test_streaming_elicitation", HONE_TOOL_LONG, run_progress),
                              progress =
                                  TOOL("test_tool_with_progress", HONE_TOOL_LONG, run_progress);
static const struct hone_tool *const tools[] = {&error,     &logging,      &simple_text,
                                                &streaming, &with_logging, &progress};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

int main(int argc, char **argv)
{
    struct hone_runtime *runtime = NULL;
    struct hone_ws *ws = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: fixture_server WORKSPACE PORT\n");
        return 2;
    }
    const struct hone_app_spec app = {
        .workspace_dir = argv[1], .executor = {.name = "fake"}, .sets = sets, .n_sets = 1};
    int rc = hone_runtime_open(&app, &runtime, &err);
    const struct hone_mcp mcp = {.runtime = runtime, .caller = "conformance"};
    const struct hone_ws_spec spec = {
        .host = "127.0.0.1", .port = atoi(argv[2]), .access = {.is_loopback = true}, .mcp = &mcp};
    if (rc == 0)
        rc = hone_ws_new(&spec, &ws, &err);
    if (rc < 0) {
        fprintf(stderr, "fixture_server: %s\n", err.message);
        return 1;
    }
    fprintf(stderr, "listening on port %d\n", hone_ws_port(ws));
    hone_ws_run(ws);
    return 0;
}
