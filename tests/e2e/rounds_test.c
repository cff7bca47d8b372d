/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that stand alone, over HTTP: questions to their client, and arguments that headers repeat. The
 * tools are the test's own, so the server is one in this process; whose a state is, the real program
 * says. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/rpc/net_ws.h"
#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"

/* ---- tools ---- */

struct in {
    const char *region;
    int64_t priority;
    bool verbose;
};
struct out {
    struct hone_head head;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, region, .header = "Region", .help = "Where."),
    HONE_FIELD(struct in, priority, .header = "Priority", .help = "How urgent."),
    HONE_FIELD(struct in, verbose, .header = "Verbose", .help = "How much to say."),
};
static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct out)};

static int run_place(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct out *o = out;
    (void)ctx;
    (void)in;
    (void)err;
    o->head.status = "ok";
    o->head.summary = "placed";
    return 0;
}

static int run_asks(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct hone_ask one = {
        .key = "name", .method = "elicitation/create", .params_json = "{\"message\":\"?\"}"};
    int rc = hone_tool_ask(ctx, &one, 1, err);
    return rc < 0 ? rc : run_place(ctx, in, out, err);
}

#define TOOL(name_, run_)                                                                          \
    {                                                                                              \
        .name = name_, .title = name_, .summary = name_, .in = in_fields,                          \
        .n_in = HONE_COUNTOF(in_fields), .in_size = sizeof(struct in), .out = out_fields,          \
        .n_out = HONE_COUNTOF(out_fields), .out_size = sizeof(struct out), .run = run_             \
    }
static const struct hone_tool asks_tool = TOOL("asks", run_asks),
                              place_tool = TOOL("place", run_place);
static const struct hone_tool *const tools[] = {&asks_tool, &place_tool};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

/* ---- a server of this process ---- */

struct rig {
    char dir[64];
    struct hone_runtime *runtime;
    struct hone_mcp mcp;
    struct hone_ws *ws; /* is_ready */
    pthread_t thread;
    pthread_barrier_t is_ready;
};

static void *serve(void *arg)
{
    struct rig *rig = arg;
    struct hone_err err = HONE_ERR_INIT;
    const struct hone_ws_spec spec = {
        .host = "127.0.0.1", .access = {.is_loopback = true}, .mcp = &rig->mcp};
    if (hone_ws_new(&spec, &rig->ws, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    pthread_barrier_wait(&rig->is_ready);
    hone_ws_run(rig->ws);
    hone_ws_free(rig->ws);
    return NULL;
}

static void rig_open(struct rig *rig)
{
    struct hone_err err = HONE_ERR_INIT;
    *rig = (struct rig){.dir = "/tmp/hone-rounds.XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(rig->dir));
    HONE_AUTOFREE char *ws = hone_sprintf("%s/ws", rig->dir);
    ck_assert_msg(hone_workspace_init(ws, NULL, true, &err) == 0, "%s", err.message);
    const struct hone_app_spec spec = {
        .workspace_dir = ws, .executor = {.name = "fake"}, .sets = sets, .n_sets = 1};
    ck_assert_msg(hone_runtime_open(&spec, &rig->runtime, &err) == 0, "%s", err.message);
    rig->mcp = (struct hone_mcp){.runtime = rig->runtime, .caller = "test"};
    pthread_barrier_init(&rig->is_ready, NULL, 2);
    ck_assert_int_eq(pthread_create(&rig->thread, NULL, serve, rig), 0);
    pthread_barrier_wait(&rig->is_ready);
}

static void rig_close(struct rig *rig)
{
    HONE_AUTOFREE char *command = hone_sprintf("rm -rf %s", rig->dir);
    hone_ws_stop(rig->ws);
    pthread_join(rig->thread, NULL);
    pthread_barrier_destroy(&rig->is_ready);
    hone_runtime_close(rig->runtime);
    ck_assert_int_eq(system(command), 0);
}

#define META(able_)                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{" able_ "}}"
#define CALL(able_, name_, more_)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META(                   \
        able_) ",\"name\":\"" name_ "\"" more_ "}}"
#define PLACE(arguments_) CALL("", "place", ",\"arguments\":{" arguments_ "}")

/* One call of a tool with these further headers; the whole answer, owned. */
static char *post(const struct rig *rig, const char *name, const char *lines, const char *body)
{
    bool is_closed;
    int fd = tcp_open(hone_ws_port(rig->ws));
    HONE_AUTOFREE char *head = hone_sprintf(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        "Mcp-Method: tools/call\r\nMcp-Name: %s\r\n%sContent-Length: %zu\r\n\r\n%s",
        name, lines, strlen(body), body);
    tcp_send_text(fd, head);
    char *answer = tcp_read(fd, NULL, 8000, &is_closed);
    ck_assert_msg(is_closed, "the connection stays open: %s", answer);
    close(fd);
    return answer;
}

/* The refusals: a header that differs, is missing, or is there without an argument. */
START_TEST(headers_repeat_arguments)
{
    static const struct {
        const char *name, *lines, *body, *status, *want;
    } rows[] = {
        {"place", "", PLACE(""), "200", "placed"},
        {"place", "", CALL("", "place", ""), "200", "placed"},
        {"place", "Mcp-Param-Region: eu\r\n", PLACE("\"region\":\"eu\""), "200", "placed"},
        {"place", "mcp-param-REGION:  eu \r\n", PLACE("\"region\":\"eu\""), "200", "placed"},
        {"place", "Mcp-Param-Region: =?base64?w6k=?=\r\n", PLACE("\"region\":\"\xc3\xa9\""), "200",
         "placed"},
        {"place", "Mcp-Param-Region: eu\r\nMcp-Param-Priority: 7\r\nMcp-Param-Verbose: true\r\n",
         PLACE("\"region\":\"eu\",\"priority\":7,\"verbose\":true"), "200", "placed"},
        {"place", "Mcp-Param-Other: x\r\n", PLACE(""), "200", "placed"},
        {"=?base64?cGxhY2U=?=", "", PLACE(""), "200", "placed"},
        {"place", "", PLACE("\"region\":\"eu\""), "400", "-32020"},
        {"place", "Mcp-Param-Region: us\r\n", PLACE("\"region\":\"eu\""), "400", "-32020"},
        {"place", "Mcp-Param-Region: eu\r\n", PLACE(""), "400", "-32020"},
        {"place", "Mcp-Param-Region:\r\n", PLACE("\"region\":\"\""), "200", "placed"},
        {"place", "Mcp-Param-Region: =?base64?ZXU?=\r\n", PLACE("\"region\":\"eu\""), "400",
         "-32020"},
        {"place", "Mcp-Param-Priority: 8\r\n", PLACE("\"priority\":7"), "400", "-32020"},
        {"place", "Mcp-Param-Verbose: yes\r\n", PLACE("\"verbose\":true"), "400", "-32020"},
    };
    struct rig rig;
    rig_open(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char *answer = post(&rig, rows[i].name, rows[i].lines, rows[i].body);
        ck_assert_msg(strncmp(answer + 9, rows[i].status, 3) == 0 &&
                          strstr(answer, rows[i].want) != NULL,
                      "%s%s -> %s", rows[i].lines, rows[i].body, answer);
        free(answer);
    }
    rig_close(&rig);
}
END_TEST

START_TEST(questions_over_http)
{
    static const struct {
        const char *body, *status, *want;
    } rows[] = {
        {CALL("\"elicitation\":{}", "asks", ""), "200", "\"resultType\":\"input_required\""},
        {CALL("\"elicitation\":{}", "asks",
              ",\"inputResponses\":{\"name\":{\"action\":\"accept\"}}"),
         "200", "placed"},
        {CALL("\"sampling\":{}", "asks", ""), "400", "{\"requiredCapabilities\":{\"elicitation\":"},
        {CALL("\"elicitation\":{}", "asks", ",\"requestState\":\"x\""), "200", "-32602"},
    };
    struct rig rig;
    rig_open(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char *answer = post(&rig, "asks", "", rows[i].body);
        ck_assert_msg(strncmp(answer + 9, rows[i].status, 3) == 0 &&
                          strstr(answer, rows[i].want) != NULL,
                      "%s -> %s", rows[i].body, answer);
        free(answer);
    }
    rig_close(&rig);
}
END_TEST

/* ---- the real program ---- */

#define PROMPT META("\"elicitation\":{}") ",\"name\":\"explain_version\""

/* A member requestState of the text, with a comma in front; owned. */
static char *state_of(const char *answer)
{
    const char *at = strstr(answer, "\"requestState\":\"");
    ck_assert_msg(at != NULL, "%s", answer);
    size_t len = strlen("\"requestState\":\"");
    while (at[len] != '"')
        len += at[len] == '\\' ? 2 : 1;
    return hone_sprintf(",%.*s", (int)len + 1, at);
}

static void expect(const struct served *served, const char *state, const char *want)
{
    int fd = ws_open(served);
    HONE_AUTOFREE char *params = hone_sprintf(
        "{" PROMPT ",\"inputResponses\":{\"arguments\":{\"action\":\"accept\",\"content\":{"
        "\"commit\":\"abc\"}}}%s}",
        state);
    char *answer = ws_ask(fd, "2", "prompts/get", params);
    ck_assert_msg(strstr(answer, want) != NULL, "no %s in %s", want, answer);
    free(answer);
    close(fd);
}

START_TEST(a_state_is_its_tokens)
{
    struct served served = {.pid = 0};
    char *token, *err;
    served_start(&served, NULL);
    const char *const args[] = {"token",    "add",    "other", "--workspace",
                                served.dir, "--role", "agent", NULL};
    ck_assert_int_eq(hone_program_run(args, NULL, &token, &err), 0);
    struct served other = served;
    snprintf(other.token, sizeof(other.token), "%.64s", token);
    int fd = ws_open(&served);
    char *answer = ws_ask(fd, "1", "prompts/get", "{" PROMPT "}");
    HONE_AUTOFREE char *state = state_of(answer);
    expect(&served, state, "Explain version abc");
    expect(&other, state, "params.requestState is not what this server gave out for this call");
    expect(&other, "", "Explain version abc");
    close(fd);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_start(&served, NULL); /* another process, another key */
    expect(&served, state, "the server was started anew");
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
    free(answer);
    free(token);
    free(err);
}
END_TEST

UNIT_MAIN("rounds", headers_repeat_arguments, questions_over_http, a_state_is_its_tokens)
