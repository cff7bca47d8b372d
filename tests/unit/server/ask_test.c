/* SPDX-License-Identifier: Apache-2.0 */
/* Tools and prompts that ask their client: in a session, in rounds, and within a task. The protocol
 * without a socket, on a transport that keeps what is sent. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "server/rpc/mcp_prompts.h"
#include "tests/unit/server/peer_rig.h"
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

/* ---- tools ---- */

struct in {
    int64_t n;
};
struct out {
    struct hone_head head;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, n, .min = 0, .max = 1000, .help = "A number."),
};
static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct out)};

#define FORM(key_)                                                                                 \
    {                                                                                              \
        .key = key_, .method = "elicitation/create", .params_json = "{\"message\":\"" key_ "?\"}"  \
    }
static const struct hone_ask first_ask[] = {FORM("first")};

static int tell(struct hone_tool_ctx *ctx, const struct hone_ask *asks, size_t n, struct out *out)
{
    struct hone_buf said = HONE_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *text = asks[i].answer != NULL ? hone_json_print(asks[i].answer) : NULL;
        hone_buf_printf(&said, "%s=%s;", asks[i].key, text != NULL ? text : "nothing");
    }
    out->head.status = "ok";
    out->head.summary = hone_pool_strdup(ctx->pool, said.data);
    hone_buf_done(&said);
    return 0;
}

/* n 0: for roots; 1: for the client's model; 2: for the model if there is one. */
static int run_asks(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct in *i = in;
    struct hone_ask one = {.key = "it",
                           .method = i->n == 0 ? "roots/list" : "sampling/createMessage",
                           .params_json = "{\"q\":1}",
                           .is_optional = i->n == 2};
    int rc = hone_tool_ask(ctx, &one, 1, err);
    return rc < 0 ? rc : tell(ctx, &one, 1, out);
}

/* Two rounds: one question, then two at once, and the first again: the same answer. */
static int run_steps(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct hone_ask asks[] = {FORM("first"), FORM("second"), FORM("third")};
    (void)in;
    int rc = hone_tool_ask(ctx, asks, 1, err);
    if (rc == 0)
        rc = hone_tool_ask(ctx, asks + 1, 2, err);
    if (rc == 0)
        rc = hone_tool_ask(ctx, asks, 1, err);
    return rc < 0 ? rc : tell(ctx, asks, HONE_COUNTOF(asks), out);
}

#define TOOL(variable, name_, flags_, run_, ...)                                                   \
    static const struct hone_tool variable = {.name = name_,                                       \
                                              .title = name_,                                      \
                                              .summary = name_,                                    \
                                              .flags = flags_,                                     \
                                              .in = in_fields,                                     \
                                              .n_in = HONE_COUNTOF(in_fields),                     \
                                              .in_size = sizeof(struct in),                        \
                                              .out = out_fields,                                   \
                                              .n_out = HONE_COUNTOF(out_fields),                   \
                                              .out_size = sizeof(struct out),                      \
                                              .run = run_,                                         \
                                              __VA_ARGS__}
TOOL(asks_tool, "asks", HONE_TOOL_LONG, run_asks, .schema = NULL);
TOOL(steps_tool, "steps", HONE_TOOL_LONG, run_steps, .schema = NULL);
TOOL(twin_tool, "twin", HONE_TOOL_LONG, run_steps, .schema = NULL);
TOOL(task_tool, "task", HONE_TOOL_LONG | HONE_TOOL_TASK_ONLY, run_steps, .first = first_ask,
     .n_first = 1);
static const struct hone_tool *const tools[] = {&asks_tool, &steps_tool, &task_tool, &twin_tool};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};
static const struct hone_mcp_prompt prompts[] = {
    {.name = "hello",
     .title = "Hello",
     .description = "A greeting.",
     .arguments = {{"whom", "Whom to greet.", NULL}, {"how", "How.", "kindly"}},
     .text = "Greet {whom} {how}."},
};

/* ---- transport ---- */

static void rig_open(struct rig *rig)
{
    rig_start(rig, (struct hone_app_spec){.sets = sets, .n_sets = 1},
              (struct hone_mcp){.prompts = prompts, .n_prompts = HONE_COUNTOF(prompts)});
}

static const char *ask(struct rig *rig, const char *text)
{
    say(rig, text);
    ck_assert(hone_peer_wait_idle(rig->peer, hone_deadline_in_ms(20000)));
    return rig->sent[rig->n_sent - 1];
}

/* ---- in a session ---- */

static void say_call(struct rig *rig, const char *n)
{
    HONE_AUTOFREE char *text = hone_sprintf(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"asks\","
        "\"arguments\":{\"n\":%s}}}",
        n);
    say(rig, text);
}

/* A tool's question goes to the client within the call, and what comes back to the tool. */
START_TEST(a_client_is_asked)
{
    static const struct {
        const char *n, *says, *want; /* says NULL: it is not asked */
    } rows[] = {
        {"0", "{\"jsonrpc\":\"2.0\",\"id\":\"hone-1\",\"result\":{\"roots\":[5]}}",
         "it={\\\\\\\"roots\\\\\\\":[5]};"},
        {"0", "{\"jsonrpc\":\"2.0\",\"id\":\"hone-2\",\"error\":{\"code\":-1,\"message\":\"no\"}}",
         "the client refused roots/list: no"},
        {"0", "{\"jsonrpc\":\"2.0\",\"id\":\"hone-3\",\"result\":{\"root\":1}}",
         "an answer to roots/list is"},
        {"1", NULL, "the client does not declare sampling"},
        {"2", NULL, "it=nothing;"},
        {"0",
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
         "cancelled\",\"params\":{\"requestId\":7}}",
         "\"id\":\"hone-4\",\"method\":\"roots/list\",\"params\":{\"q\":1}"}, /* and no answer */
    };
    struct rig rig;
    rig_open(&rig);
    ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
              "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"roots\":{}}}}");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        size_t before = rig.n_sent;
        say_call(&rig, rows[i].n);
        for (int k = 0; rows[i].says != NULL && rig.n_sent == before && k < 20000; k++)
            usleep(1000);
        say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"hone-99\",\"result\":{}}"); /* of no question */
        if (rows[i].says != NULL)
            say(&rig, rows[i].says);
        ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(20000)));
        const char *last = rig.sent[rig.n_sent - 1];
        ck_assert_msg(strstr(last, rows[i].want) != NULL, "%s", last);
    }
    say_call(&rig, "0"); /* the connection ends while it is asked */
    rig_close(&rig);
}
END_TEST

/* ---- in rounds ---- */

#define FORMS      "\"elicitation\":{}"
#define TASKS      "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"
#define YES(word_) "{\"action\":\"accept\",\"content\":{\"" word_ "\":\"" word_ "\"}}"

/* A request that stands alone; members: of params, each with a comma in front. */
static const char *alone(struct rig *rig, const char *method, const char *able, const char *members)
{
    HONE_AUTOFREE char *text =
        hone_sprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"_meta\":{"
                     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                     "\"io.modelcontextprotocol/clientCapabilities\":{%s}}%s}}",
                     method, able, members);
    return ask(rig, text);
}

static void expect(struct rig *rig, const char *method, const char *able, const char *members,
                   const char *want)
{
    const char *answer = alone(rig, method, able, members);
    ck_assert_msg(strstr(answer, want) != NULL, "%s: no %s in %s", members, want, answer);
}

/* What the last answer wants brought back, as a member; owned. */
static char *state_of(const struct rig *rig)
{
    const char *at = strstr(rig->sent[rig->n_sent - 1], "\"requestState\":\"");
    ck_assert_ptr_nonnull(at);
    size_t len = strlen("\"requestState\":\"");
    while (at[len] != '"')
        len += at[len] == '\\' ? 2 : 1;
    return hone_sprintf(",%.*s", (int)len + 1, at);
}

#define NAMED(name_) ",\"name\":\"" name_ "\""

START_TEST(a_call_goes_in_rounds)
{
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "tools/call", FORMS, NAMED("steps"),
           "{\"inputRequests\":{\"first\":{\"method\":\"elicitation/create\",\"params\":{"
           "\"message\":\"first?\"}}},\"requestState\":\"");
    ck_assert_ptr_nonnull(
        strstr(rig.sent[rig.n_sent - 1], "\"resultType\":\"input_required\",\"_meta\""));
    HONE_AUTOFREE char *one = state_of(&rig);
    HONE_AUTOFREE char *second =
        hone_sprintf(NAMED("steps") ",\"inputResponses\":{\"first\":" YES("a") "}%s", one);
    expect(&rig, "tools/call", FORMS, second,
           "{\"inputRequests\":{\"second\":{\"method\":\"elicitation/create\",\"params\":{"
           "\"message\":\"second?\"}},\"third\":{");
    HONE_AUTOFREE char *two = state_of(&rig);
    ck_assert_str_ne(one, two);
    /* one of two, and one that nobody asked for */
    HONE_AUTOFREE char *half =
        hone_sprintf(NAMED("steps") ",\"inputResponses\":{\"third\":" YES("c") ",\"x\":1}%s", two);
    expect(&rig, "tools/call", FORMS, half, "{\"inputRequests\":{\"second\":{");
    ck_assert_ptr_null(strstr(rig.sent[rig.n_sent - 1], "\"third\":{\"method"));
    HONE_AUTOFREE char *three = state_of(&rig);
    HONE_AUTOFREE char *last =
        hone_sprintf(NAMED("steps") ",\"inputResponses\":{\"second\":" YES("b") "}%s", three);
    expect(&rig, "tools/call", FORMS, last, "\"resultType\":\"complete\"");
    const char *answer = rig.sent[rig.n_sent - 1];
    ck_assert_msg(strstr(answer, "\\\"a\\\\\\\"}};second=") != NULL, "%s", answer);
    ck_assert_ptr_null(strstr(answer, "requestState"));
    expect(&rig, "tools/call", FORMS,
           NAMED("steps") ",\"inputResponses\":{\"first\":" YES("a") ",\"second\":" YES(
               "b") ",\"third\":" YES("c") "}",
           "\"resultType\":\"complete\""); /* all at once, without a state */
    rig_close(&rig);
}
END_TEST

START_TEST(what_comes_back_is_checked)
{
    static const struct {
        const char *method, *members;
    } rows[] = {
        {"tools/call", NAMED("steps") ",\"arguments\":{\"n\":2}"},
        {"tools/call", NAMED("steps")},
        {"tools/call", NAMED("twin") ",\"arguments\":{\"n\":1}"},
        {"prompts/get", NAMED("hello") ",\"arguments\":{\"n\":1}"},
    };
    static const char *const bad[] = {
        ",\"requestState\":5",
        ",\"requestState\":\"\"",
        ",\"requestState\":null",
        ",\"inputResponses\":null",
        ",\"inputResponses\":[]",
        ",\"inputResponses\":{\"first\":12345}",
        ",\"inputResponses\":{\"first\":{\"action\":\"maybe\"}}",
    };
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "tools/call", FORMS, NAMED("steps") ",\"arguments\":{\"n\":1}", "requestState");
    HONE_AUTOFREE char *state = state_of(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *members = hone_sprintf("%s%s", rows[i].members, state);
        expect(&rig, rows[i].method, FORMS, members, "\"code\":-32602");
        ck_assert_ptr_nonnull(strstr(rig.sent[rig.n_sent - 1], "params.requestState"));
    }
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        HONE_AUTOFREE char *members = hone_sprintf(NAMED("steps") "%s", bad[i]);
        expect(&rig, "tools/call", FORMS, members, "\"code\":-32602");
    }
    HONE_AUTOFREE char *good = hone_sprintf(NAMED("steps") ",\"arguments\":{\"n\":1}%s", state);
    expect(&rig, "tools/call", FORMS, good, "input_required"); /* the same question again */
    rig_close(&rig);
}
END_TEST

/* An answer of which a later round could not be told is refused, not cut. */
START_TEST(answers_are_bounded)
{
    struct rig rig;
    rig_open(&rig);
    for (size_t more = 0; more < 2; more++) {
        size_t n = HONE_LIMIT_STATE_BYTES - 82 - strlen("{\"first\":" YES("") "}") + more;
        HONE_AUTOFREE char *word = hone_calloc(1, n + 1);
        memset(word, 'w', n);
        HONE_AUTOFREE char *members = hone_sprintf(
            NAMED("steps") ",\"inputResponses\":{\"first\":{\"action\":\"accept\",\"content\":{"
                           "\"\":\"%s\"}}}",
            word);
        expect(&rig, "tools/call", FORMS, members,
               more == 0 ? "input_required" : "earlier rounds have at most");
    }
    rig_close(&rig);
}
END_TEST

START_TEST(missing_capabilities)
{
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "tools/call", FORMS, NAMED("asks") ",\"arguments\":{\"n\":1}",
           "\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}");
    ck_assert_int_eq(rig.error_number, -32021);
    expect(&rig, "tools/call", FORMS, NAMED("asks") ",\"arguments\":{\"n\":2}", "it=nothing;");
    ck_assert_int_eq(rig.error_number, 0);
    expect(&rig, "tools/call", FORMS, NAMED("task"),
           "{\"requiredCapabilities\":{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}");
    ck_assert_int_eq(rig.error_number, -32021);
    expect(&rig, "tools/call", TASKS, NAMED("task"),
           "\"data\":{\"requiredCapabilities\":{\"elicitation\":{}}}");
    ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
              "\"protocolVersion\":\"2025-11-25\"}}");
    ck_assert_ptr_nonnull(strstr(ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                                           "call\",\"params\":{\"name\":\"task\"}}"),
                                 "task runs as a task alone"));
    rig_close(&rig);
}
END_TEST

START_TEST(a_prompt_asks_for_arguments)
{
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "prompts/get", "", NAMED("hello"), "prompt hello needs the argument whom");
    expect(&rig, "prompts/get", FORMS, NAMED("hello"),
           "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"whom\":{\"type\":\"string\","
           "\"description\":\"Whom to greet.\"}},\"required\":[\"whom\"]}");
    HONE_AUTOFREE char *state = state_of(&rig);
    HONE_AUTOFREE char *again =
        hone_sprintf(NAMED("hello") ",\"inputResponses\":{\"arguments\":{\"action\":\"accept\","
                                    "\"content\":{\"whom\":\"Alice\"}}}%s",
                     state);
    expect(&rig, "prompts/get", FORMS, again, "\"text\":\"Greet Alice kindly.\"");
    expect(&rig, "prompts/get", FORMS,
           NAMED("hello") ",\"inputResponses\":{\"arguments\":{\"action\":\"decline\"}}",
           "prompt hello needs the argument whom");
    expect(&rig, "prompts/get", FORMS, NAMED("hello") ",\"arguments\":{\"whom\":\"Bob\"}",
           "\"text\":\"Greet Bob kindly.\"");
    rig_close(&rig);
}
END_TEST

/* ---- within a task ---- */

/* Asks until the text is there. */
static void poll_task(struct rig *rig, const char *task, const char *want)
{
    for (int i = 0; i < 2000; i++) {
        if (strstr(alone(rig, "tasks/get", TASKS, task), want) != NULL)
            return;
        free(rig->sent[--rig->n_sent]);
        usleep(5000);
    }
    ck_abort_msg("no %s", want);
}

START_TEST(a_task_asks)
{
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "tools/call", TASKS "," FORMS, NAMED("task"), "\"inputRequests\":{\"first\":{");
    ck_assert_ptr_null(strstr(rig.sent[rig.n_sent - 1], "taskId"));
    HONE_AUTOFREE char *state = state_of(&rig);
    HONE_AUTOFREE char *begin =
        hone_sprintf(NAMED("task") ",\"inputResponses\":{\"first\":" YES("a") "}%s", state);
    expect(&rig, "tools/call", TASKS "," FORMS, begin, "\"resultType\":\"task\"");
    const char *id = strstr(rig.sent[rig.n_sent - 1], "\"taskId\":\"");
    ck_assert_ptr_nonnull(id);
    ck_assert_ptr_null(strstr(rig.sent[rig.n_sent - 1], "requestState"));
    HONE_AUTOFREE char *task = hone_sprintf(",%.*s", (int)strcspn(id + 10, "\"") + 11, id);
    poll_task(&rig, task, "\"status\":\"input_required\"");
    const char *shown = rig.sent[rig.n_sent - 1];
    ck_assert_msg(strstr(shown, "\"inputRequests\":{\"second\":{") &&
                      strstr(shown, "\"third\":{") && !strstr(shown, "\"first\":{"),
                  "%s", shown);
    HONE_AUTOFREE char *bad = hone_sprintf("%s,\"inputResponses\":{\"second\":5}", task);
    expect(&rig, "tasks/update", TASKS, bad, "params.inputResponses.second: an answer to");
    HONE_AUTOFREE char *half = hone_sprintf(
        "%s,\"inputResponses\":{\"second\":" YES("b") ",\"first\":" YES("z") ",\"y\":0}", task);
    expect(&rig, "tasks/update", TASKS, half, "\"result\":{\"resultType\":\"complete\"");
    expect(&rig, "tasks/get", TASKS, task, "\"inputRequests\":{\"third\":{");
    ck_assert_ptr_null(strstr(rig.sent[rig.n_sent - 1], "\"second\":{\"method"));
    HONE_AUTOFREE char *rest = hone_sprintf("%s,\"inputResponses\":{\"third\":" YES("c") "}", task);
    expect(&rig, "tasks/update", TASKS, rest, "\"result\":{\"resultType\":\"complete\"");
    poll_task(&rig, task, "\"status\":\"completed\"");
    shown = rig.sent[rig.n_sent - 1];
    ck_assert_msg(strstr(shown, "\\\"a\\\\\\\"}};second=") != NULL &&
                      !strstr(shown, "inputRequests"),
                  "%s", shown);
    rig_close(&rig);
}
END_TEST

START_TEST(responses_of_a_task_are_bounded)
{
    struct rig rig;
    rig_open(&rig);
    expect(&rig, "tools/call", TASKS "," FORMS,
           NAMED("task") ",\"inputResponses\":{\"first\":" YES("a") "}", "\"resultType\":\"task\"");
    const char *id = strstr(rig.sent[rig.n_sent - 1], "\"taskId\":\"");
    HONE_AUTOFREE char *task = hone_sprintf(",%.*s", (int)strcspn(id + 10, "\"") + 11, id);
    for (int more = 0; more < 2; more++) {
        HONE_AUTOJSON struct hone_json *many = hone_json_new_object();
        for (int i = 0; i < HONE_LIMIT_RESPONSES + more; i++) {
            HONE_AUTOFREE char *key = hone_sprintf("k%d", i);
            hone_json_set_i64(many, key, i);
        }
        HONE_AUTOFREE char *text = hone_json_print(many);
        HONE_AUTOFREE char *members = hone_sprintf("%s,\"inputResponses\":%s", task, text);
        expect(&rig, "tasks/update", TASKS, members, more == 0 ? "\"result\"" : "-32602");
    }
    expect(&rig, "tasks/cancel", TASKS, task, "\"result\"");
    poll_task(&rig, task, "\"status\":\"cancelled\""); /* while it waits for answers */
    rig_close(&rig);
}
END_TEST

/* A job that no client waits for with its capabilities. */
START_TEST(nobody_can_be_asked)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jobs *jobs = hone_runtime_app(rig.runtime)->jobs;
    for (int n = 1; n < 3; n++) {
        HONE_AUTOJSON struct hone_json *args = hone_json_new_object();
        const struct hone_job_spec spec = {.tool = "asks", .args = args, .caller = "me"};
        struct hone_job_state state = {.id = NULL};
        const char *id = NULL;
        hone_json_set_i64(args, "n", n);
        ck_assert_int_eq(jobs->ops->start(jobs, &spec, pool, &id, &err), 0);
        ck_assert_int_eq(
            jobs->ops->wait(jobs, id, hone_deadline_in_ms(20000), NULL, pool, &state, &err), 0);
        const char *summary = hone_json_get_str(state.result, "summary", "");
        ck_assert_str_eq(summary, n == 1 ? "nobody can be asked for sampling/createMessage here"
                                         : "it=nothing;");
    }
    rig_close(&rig);
}
END_TEST

UNIT_MAIN("ask", a_client_is_asked, a_call_goes_in_rounds, what_comes_back_is_checked,
          answers_are_bounded, missing_capabilities, a_prompt_asks_for_arguments, a_task_asks,
          responses_of_a_task_are_bounded, nobody_can_be_asked)
