/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol core without a socket: a transport that keeps what is sent, tools of the test's own.
 */
#include "server/rpc/mcp.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "server/rpc/mcp_prompts.h"
#include "server/rpc/mcp_resources.h"
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
    int64_t n;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, n, .min = 0, .max = 1000, .help = "A number."),
};
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct out),
    HONE_FIELD(struct out, n, .help = "The number."),
};

static int run_echo(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx;
    (void)err;
    const struct in *i = in;
    struct out *o = out;
    o->head.status = "ok";
    o->head.summary = "echo \"quoted\" \xc3\xa9";
    o->n = i->n;
    return 0;
}

/* n steps of 20 ms, each with progress; the counter also goes backwards, as careless tools let it.
 */
static int run_steps(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct in *i = in;
    for (int64_t step = 0; step <= i->n; step++) {
        struct timespec pause = {.tv_nsec = 20000000};
        hone_tool_progress(ctx, (double)(step % 7), (double)i->n, "step");
        nanosleep(&pause, NULL);
        if (hone_cancel_is_set(ctx->cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled");
    }
    return run_echo(ctx, in, out, err);
}

static int run_fails(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx;
    (void)in;
    (void)out;
    return hone_fail(err, HONE_E_IO, "disk full");
}

#define TOOL(variable, name_, flags_, run_)                                                        \
    static const struct hone_tool variable = {.name = name_,                                       \
                                              .title = name_,                                      \
                                              .summary = name_,                                    \
                                              .description = name_,                                \
                                              .flags = flags_,                                     \
                                              .in = in_fields,                                     \
                                              .n_in = HONE_COUNTOF(in_fields),                     \
                                              .in_size = sizeof(struct in),                        \
                                              .out = out_fields,                                   \
                                              .n_out = HONE_COUNTOF(out_fields),                   \
                                              .out_size = sizeof(struct out),                      \
                                              .run = run_}
struct blocks_out {
    struct hone_head head;
    struct hone_json *content;
};
static const struct hone_field blocks_fields[] = {
    HONE_HEAD_FIELDS(struct blocks_out),
    HONE_FIELD(struct blocks_out, content, .help = "Blocks."),
};

static void free_json(void *json)
{
    hone_json_free(json);
}

static int run_blocks(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    static const char blocks[] = "[{\"type\":\"image\"}]";
    struct blocks_out *o = out;
    (void)in;
    o->head.status = "ok";
    o->head.summary = "an image";
    int rc = hone_json_parse(blocks, strlen(blocks), &o->content, err);
    hone_pool_defer(ctx->pool, free_json, o->content);
    return rc;
}

static const struct hone_tool blocks_tool = {.name = "blocks",
                                             .title = "blocks",
                                             .summary = "blocks",
                                             .flags = HONE_TOOL_READ_ONLY,
                                             .in = in_fields,
                                             .n_in = HONE_COUNTOF(in_fields),
                                             .in_size = sizeof(struct in),
                                             .schema = "{\"$defs\":{}}",
                                             .out = blocks_fields,
                                             .n_out = HONE_COUNTOF(blocks_fields),
                                             .out_size = sizeof(struct blocks_out),
                                             .run = run_blocks};
TOOL(echo_tool, "echo", HONE_TOOL_READ_ONLY, run_echo);
TOOL(fails_tool, "fails", 0, run_fails);
TOOL(steps_tool, "steps", HONE_TOOL_LONG, run_steps);
static const struct hone_tool *const tools[] = {&blocks_tool, &echo_tool, &fails_tool, &steps_tool};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

/* ---- transport ---- */

static void rig_open(struct rig *rig)
{
    rig_start(rig, (struct hone_app_spec){.sets = sets, .n_sets = 1},
              (struct hone_mcp){.runtime = NULL});
    rig->may_drop = true;
}

/* Says it, waits until nothing is in flight, gives what was sent last ("" for nothing new). */
static const char *ask(struct rig *rig, const char *text)
{
    size_t before = rig->n_sent;
    say(rig, text);
    ck_assert(hone_peer_wait_idle(rig->peer, hone_deadline_in_ms(20000)));
    return rig->n_sent > before ? rig->sent[rig->n_sent - 1] : "";
}

static void initialize(struct rig *rig, const char *version)
{
    char text[200];
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\"}}",
             version);
    ck_assert_ptr_nonnull(strstr(ask(rig, text), "\"result\""));
}

START_TEST(revisions)
{
    static const struct {
        const char *asked, *got;
        bool has_structured, has_annotations;
    } rows[] = {
        {"2025-11-25", "2025-11-25", true, true},  {"2025-06-18", "2025-06-18", true, true},
        {"2025-03-26", "2025-03-26", false, true}, {"2024-11-05", "2024-11-05", false, false},
        {"1999-01-01", "2025-11-25", true, true},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct rig rig;
        char text[200];
        rig_open(&rig);
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"%s\"}}",
                 rows[i].asked);
        const char *answer = ask(&rig, text);
        snprintf(text, sizeof(text), "\"protocolVersion\":\"%s\"", rows[i].got);
        ck_assert_msg(strstr(answer, text) != NULL, "%s", answer);
        ck_assert(!strstr(answer, "\"title\"") == !rows[i].has_structured);
        answer = ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{"
                           "\"_meta\":{\"hone/structured\":true}}}");
        ck_assert(!strstr(answer, "outputSchema") == !rows[i].has_structured);
        ck_assert(!strstr(answer, "annotations") == !rows[i].has_annotations);
        answer = ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
                           "call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"n\":5},"
                           "\"_meta\":{\"hone/structured\":true}}}");
        ck_assert(!strstr(answer, "structuredContent") == !rows[i].has_structured);
        rig_close(&rig);
    }
}
END_TEST

/* As text, or on demand as structuredContent: never both at full length. */
START_TEST(an_answer_goes_once)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    initialize(&rig, "2025-11-25");
    const char *answer =
        ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
                  "call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"n\":5}}}");
    HONE_AUTOJSON struct hone_json *message = NULL;
    ck_assert_int_eq(hone_json_parse(answer, strlen(answer), &message, &err), 0);
    const struct hone_json *result = hone_json_get(message, "result");
    const struct hone_json *block = hone_json_first(hone_json_get(result, "content"));
    const char *full = hone_json_get_str(block, "text", "");
    HONE_AUTOJSON struct hone_json *said = NULL;
    ck_assert_str_eq(hone_json_get_str(block, "type", ""), "text");
    ck_assert_int_eq(hone_json_parse(full, strlen(full), &said, &err), 0);
    ck_assert_int_eq(hone_fields_validate(said, out_fields, HONE_COUNTOF(out_fields), &err), 0);
    ck_assert_int_eq(hone_json_get_i64(said, "n", 0), 5);
    ck_assert_ptr_null(hone_json_get(result, "structuredContent"));
    answer =
        ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"echo\",\"arguments\":{\"n\":5},\"_meta\":{\"hone/structured\":true}}}");
    HONE_AUTOJSON struct hone_json *asked = NULL;
    ck_assert_int_eq(hone_json_parse(answer, strlen(answer), &asked, &err), 0);
    result = hone_json_get(asked, "result");
    HONE_AUTOFREE char *structured = hone_json_print(hone_json_get(result, "structuredContent"));
    ck_assert_str_eq(structured, full);
    block = hone_json_first(hone_json_get(result, "content"));
    ck_assert_str_eq(hone_json_get_str(block, "text", ""), hone_json_get_str(said, "summary", ""));
    answer = ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
                       "call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"n\":5000}}}");
    ck_assert_msg(strstr(answer, "\"isError\":true") != NULL, "%s", answer);
    answer = ask(
        &rig,
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"fails\"}}");
    ck_assert_msg(strstr(answer, "\"isError\":true") && strstr(answer, "disk full"), "%s", answer);
    rig_close(&rig);
}
END_TEST

/* Lists, texts, errors of what is beside the tools; the tools here are the test's own, so that only
 * resources without a tool of hone's are there. */
START_TEST(resources_and_prompts)
{
    static const struct {
        const char *method, *params, *want;
    } rows[] = {
        {"resources/list", "{}", "\"uri\":\"hone://guide\""},
        {"resources/templates/list", "{}", "\"uriTemplate\":\"hone://tool/{tool}{?lines}\""},
        {"resources/read", "{\"uri\":\"hone://guide?lines=4\"}", "\"text\":\"C01 "},
        {"resources/list", "{}", "\"uri\":\"hone://docs/verdict\""},
        {"resources/list", "{}", "\"title\":\"Read a verdict\""},
        {"resources/templates/list", "{}", "\"hone://docs/{document}{?lines}\""},
        {"resources/read", "{\"uri\":\"hone://docs/tasks?lines=1\"}",
         "\"text\":\"# Task packs\\n\"}"},
        {"resources/read", "{\"uri\":\"hone://docs/nothing\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://docs/../tasks\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://tool/echo\"}", "outputSchema"},
        {"resources/read", "{\"uri\":\"hone://tool/nothing\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://tool/a/b\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://guide?lines=0\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://guide?lines=2-1\"}", "-32002"},
        {"resources/read", "{\"uri\":\"hone://guide?x=1\"}",
         "\"data\":{\"uri\":\"hone://guide?x=1\"}"},
        {"resources/read", "{\"uri\":\"hone://task/sum\"}", "-32002"}, /* no task_show here */
        {"resources/read", "{}", "-32602"},
        {"resources/subscribe", "{\"uri\":\"hone://guide\"}", "\"result\":{}"},
        {"resources/unsubscribe", "{\"uri\":\"hone://guide\"}", "\"result\":{}"},
        {"resources/subscribe", "{\"uri\":\"test://x\"}", "-32002"},
        {"prompts/list", "{}", "\"name\":\"optimise_kernel\""},
        {"prompts/list", "{\"cursor\":\"from-0\"}", "-32602"},
        {"prompts/get", "{\"name\":\"optimise_kernel\",\"arguments\":{\"task\":\"\\u007bx\"}}",
         "Make task {x fast on target cpu"},
        {"prompts/get", "{\"name\":\"optimise_kernel\"}", "needs the argument task"},
        {"prompts/get", "{\"name\":\"nothing\"}", "-32602"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"optimise_kernel\"},\"argument\":{\"name\":"
         "\"target\",\"value\":\"cu\"}}",
         "{\"values\":[\"cuda\"],\"total\":1,\"hasMore\":false}"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"hone://tool/{tool}\"},\"argument\":{"
         "\"name\":\"tool\",\"value\":\"\"}}",
         "\"values\":[\"blocks\",\"echo\",\"fails\",\"steps\"]"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"hone://docs/{document}\"},\"argument\":{"
         "\"name\":\"document\",\"value\":\"ver\"}}",
         "\"values\":[\"verdict\"]"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"optimise_kernel\"},\"argument\":{\"name\":"
         "\"commit\",\"value\":\"\"}}",
         "-32602"},
        {"logging/setLevel", "{\"level\":\"loud\"}", "-32602"},
        {"logging/setLevel", "{\"level\":\"info\"}", "\"result\":{}"},
    };
    struct rig rig;
    rig_open(&rig);
    initialize(&rig, "2025-11-25");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char text[500];
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\",\"params\":%s}", i,
                 rows[i].method, rows[i].params);
        const char *answer = ask(&rig, text);
        ck_assert_msg(strstr(answer, rows[i].want) != NULL, "%s -> %s", text, answer);
    }
    size_t first = rig.n_sent;
    ask(&rig,
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}");
    ck_assert_uint_eq(rig.n_sent, first + 2); /* told, then answered */
    ck_assert_ptr_nonnull(strstr(rig.sent[first], "notifications/message"));
    /* steps are told to who wants debug messages, with a progress token or without */
    ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"logging/setLevel\",\"params\":{"
              "\"level\":\"debug\"}}");
    first = rig.n_sent;
    ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":101,\"method\":\"tools/call\",\"params\":{\"name\":"
              "\"steps\",\"arguments\":{\"n\":2}}}");
    ck_assert_ptr_nonnull(strstr(rig.sent[first], "\"steps: step\""));
    ck_assert_ptr_nonnull(strstr(rig.sent[first], "\"debug\""));
    rig_close(&rig);
}
END_TEST

static char *bytes_text(const struct hone_mcp *mcp, const char *value)
{
    (void)mcp;
    return hone_sprintf("%sAA==", value);
}

/* Rows beside hone's own, and an answer that is content blocks. */
START_TEST(rows_of_others)
{
    static const struct hone_mcp_prompt prompts[] = {
        {.name = "other",
         .title = "Other",
         .description = "Other.",
         .arguments = {{"uri", "A resource.", NULL}},
         .text = "{\"uri\": \"{uri}\"} {",
         .content = "{\"type\":\"resource\",\"resource\":{\"uri\":\"{uri}\",\"n\":[1]}}"}};
    static const struct hone_mcp_resource resources[] = {{.uri = "test://{id}/data",
                                                          .name = "data",
                                                          .title = "Data",
                                                          .description = "Bytes.",
                                                          .mime = "image/png",
                                                          .text = bytes_text,
                                                          .is_base64 = true}};
    static const struct {
        const char *method, *params, *want;
    } rows[] = {
        {"prompts/list", "{}", "\"name\":\"other\""},
        {"prompts/get", "{\"name\":\"other\",\"arguments\":{\"uri\":\"a\\\"b\"}}",
         "{\"type\":\"resource\",\"resource\":{\"uri\":\"a\\\"b\",\"n\":[1]}}"},
        {"prompts/get", "{\"name\":\"other\",\"arguments\":{\"uri\":\"x\"}}",
         "\"text\":\"{\\\"uri\\\": \\\"x\\\"} {\""},
        {"resources/templates/list", "{}", "test://{id}/data"},
        {"resources/read", "{\"uri\":\"test://7/data\"}",
         "\"mimeType\":\"image/png\",\"blob\":\"7AA==\""},
        {"resources/subscribe", "{\"uri\":\"test://7/data\"}", "\"result\":{}"},
        {"tools/list", "{}", "\"inputSchema\":{\"$defs\":{}}"},
        {"tools/call", "{\"name\":\"blocks\"}",
         "\"result\":{\"content\":[{\"type\":\"image\"}],\"isError\":false}"},
    };
    struct rig rig;
    rig_open(&rig);
    rig.mcp.prompts = prompts;
    rig.mcp.n_prompts = HONE_COUNTOF(prompts);
    rig.mcp.resources = resources;
    rig.mcp.n_resources = HONE_COUNTOF(resources);
    initialize(&rig, "2025-11-25");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *text =
            hone_sprintf("{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\",\"params\":%s}", i,
                         rows[i].method, rows[i].params);
        const char *answer = ask(&rig, text);
        ck_assert_msg(strstr(answer, rows[i].want) != NULL, "%s -> %s", text, answer);
    }
    rig_close(&rig);
}
END_TEST

/* HONE_LIMIT_SUBSCRIPTIONS at the limit and above it. */
START_TEST(subscriptions_have_a_limit)
{
    struct rig rig;
    char text[200];
    rig_open(&rig);
    initialize(&rig, "2025-11-25");
    for (int i = 0; i <= HONE_LIMIT_SUBSCRIPTIONS; i++) {
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/subscribe\",\"params\":{"
                 "\"uri\":\"hone://tool/t%d\"}}",
                 i, i);
        const char *want = i < HONE_LIMIT_SUBSCRIPTIONS ? "\"result\":{}" : "\"code\":\"limit\"";
        const char *answer = ask(&rig, text);
        ck_assert_msg(strstr(answer, want) != NULL, "%s -> %s", text, answer);
    }
    rig_close(&rig);
}
END_TEST

#define META(version_)                                                                             \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version_                           \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* Requests that stand alone need no handshake, and do not disturb one. */
START_TEST(stateless_requests)
{
    static const struct {
        const char *method, *params, *want;
    } rows[] = {
        {"server/discover", META("2026-07-28"), "\"supportedVersions\":[\"2026-07-28\"]"},
        {"server/discover", META("2026-07-28"), "\"ttlMs\":3600000,\"cacheScope\":\"public\""},
        {"server/discover", "\"_meta\":{}", "-32602"},
        {"server/discover",
         "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}", "-32602"},
        {"tools/list", META("2027-01-01"), "\"requested\":\"2027-01-01\""},
        {"tools/list", META("2026-07-28"), "\"resultType\":\"complete\""},
        {"tools/call", META("2026-07-28") ",\"name\":\"echo\"",
         "io.modelcontextprotocol/serverInfo"},
        {"resources/read", META("2026-07-28") ",\"uri\":\"hone://x\"", "-32602"},
        {"initialize", META("2026-07-28"), "-32601"},
        {"ping", META("2026-07-28"), "-32601"},
        {"subscriptions/listen", META("2026-07-28"), "-32602"},
        {"tools/list", "\"x\":1", "send initialize before"},
    };
    struct rig rig;
    rig_open(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char text[500];
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\",\"params\":{%s}}", i,
                 rows[i].method, rows[i].params);
        const char *answer = ask(&rig, text);
        ck_assert_msg(strstr(answer, rows[i].want) != NULL, "%s -> %s", text, answer);
    }
    initialize(&rig, "2025-11-25");
    say(&rig,
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{" META(
            "2026-07-28") ",\"notifications\":{\"toolsListChanged\":true,"
                          "\"resourceSubscriptions\":[\"hone://guide\",\"test://x\"]}}}");
    ck_assert_str_eq(rig.sent[rig.n_sent - 1],
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                     "acknowledged\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
                     "subscriptionId\":\"s\"},\"notifications\":{\"resourceSubscriptions\":["
                     "\"hone://guide\"]}}}");
    rig_close(&rig); /* while something is subscribed to */
}
END_TEST

START_TEST(pages)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    rig.mcp.page_size = 3;
    initialize(&rig, "2025-11-25");
    char text[300];
    const char *answer =
        ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}");
    ck_assert(strstr(answer, "\"echo\"") && strstr(answer, "\"fails\"") &&
              !strstr(answer, "\"steps\""));
    HONE_AUTOJSON struct hone_json *message = NULL;
    ck_assert_int_eq(hone_json_parse(answer, strlen(answer), &message, &err), 0);
    const char *cursor = hone_json_get_str(hone_json_get(message, "result"), "nextCursor", NULL);
    ck_assert_ptr_nonnull(cursor);
    snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"%s\"}}",
        cursor);
    answer = ask(&rig, text);
    ck_assert(!strstr(answer, "\"fails\"") && strstr(answer, "\"steps\"") &&
              !strstr(answer, "nextCursor"));
    static const char *const bad[] = {"\"\"", "\"zz\"", "5", "null", "\"0000000000000000\""};
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        snprintf(
            text, sizeof(text),
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":%s}}",
            bad[i]);
        ck_assert_ptr_nonnull(strstr(ask(&rig, text), "-32602"));
    }
    rig_close(&rig);
}
END_TEST

START_TEST(progress_increases_and_stops_before_the_answer)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    initialize(&rig, "2025-11-25");
    size_t first = rig.n_sent;
    int64_t start = hone_now_ns();
    ask(&rig, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
              "call\",\"params\":{\"name\":\"steps\",\"arguments\":{\"n\":60},\"_meta\":{"
              "\"progressToken\":0}}}");
    int64_t wall_ms = (hone_now_ns() - start) / HONE_NS_PER_MS;
    double last = -1;
    ck_assert_uint_ge(rig.n_sent - first, 3);
    ck_assert_int_le((int64_t)(rig.n_sent - first), 3 + wall_ms / 250); /* rate limited */
    for (size_t i = first; i + 1 < rig.n_sent; i++) {
        HONE_AUTOJSON struct hone_json *message = NULL;
        ck_assert_int_eq(hone_json_parse(rig.sent[i], strlen(rig.sent[i]), &message, &err), 0);
        const struct hone_json *params = hone_json_get(message, "params");
        ck_assert_str_eq(hone_json_get_str(message, "method", ""), "notifications/progress");
        ck_assert_int_eq(hone_json_get_i64(params, "progressToken", -1), 0);
        double value = hone_json_get_f64(params, "progress", -1);
        ck_assert(value > last);
        last = value;
    }
    ck_assert_ptr_nonnull(strstr(rig.sent[rig.n_sent - 1], "\"id\":3,\"result\""));
    rig_close(&rig);
}
END_TEST

START_TEST(cancelled_calls_are_silent)
{
    struct rig rig;
    rig_open(&rig);
    initialize(&rig, "2025-11-25");
    size_t before = rig.n_sent;
    for (int i = 0; i < 10; i++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
                 "call\",\"params\":{\"name\":\"steps\",\"arguments\":{\"n\":1000}}}",
                 i);
        say(&rig, text);
    }
    for (int i = 0; i < 10; i++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                 "cancelled\",\"params\":{\"requestId\":%d}}",
                 i);
        say(&rig, text);
    }
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(1000)));
    usleep(200000);
    ck_assert_uint_eq(rig.n_sent, before);
    /* "1" is another id than 1 */
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
              "call\",\"params\":{\"name\":\"steps\",\"arguments\":{\"n\":10}}}");
    say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
              "cancelled\",\"params\":{\"requestId\":\"1\"}}");
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(10000)));
    ck_assert_ptr_nonnull(strstr(rig.sent[rig.n_sent - 1], "\"id\":1,\"result\""));
    rig_close(&rig);
}
END_TEST

START_TEST(notifications_are_never_answered)
{
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}",
        "{\"method\":\"nothing\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":1,\"message\":\"\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":null}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":{\"a\":1}}}",
    };
    struct rig rig;
    rig_open(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++)
        ck_assert_str_eq(ask(&rig, texts[i]), "");
    rig_close(&rig);
}
END_TEST

START_TEST(too_much_waiting_drops_the_peer)
{
    struct rig rig;
    rig_open(&rig);
    size_t len = 4u << 20;
    char *text = hone_malloc(len);
    memset(text, ' ', len);
    for (int i = 0; i < 30 && !rig.was_dropped; i++)
        hone_peer_receive(rig.peer, text, len);
    ck_assert(rig.was_dropped);
    free(text);
    rig_close(&rig);
}
END_TEST

START_TEST(lanes)
{
    static const struct {
        unsigned flags;
        enum hone_lane lane;
    } rows[] = {
        {HONE_TOOL_READ_ONLY, HONE_LANE_QUICK},
        {HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT, HONE_LANE_QUICK},
        {HONE_TOOL_READ_ONLY | HONE_TOOL_LONG, HONE_LANE_WAIT},
        {HONE_TOOL_LONG, HONE_LANE_WAIT},
        {HONE_TOOL_READ_ONLY | HONE_TOOL_NEEDS_DEVICE, HONE_LANE_WORK},
        {HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE, HONE_LANE_WORK},
        {0, HONE_LANE_WORK},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_tool tool = {.flags = rows[i].flags};
        ck_assert_int_eq(hone_lane_of(&tool), rows[i].lane);
    }
}
END_TEST

/* ---- jobs ---- */

START_TEST(jobs)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    struct hone_jobs *all = hone_runtime_app(rig.runtime)->jobs;
    struct hone_pool *pool = hone_pool_new();
    struct hone_job_state state;
    const char *quick, *slow, *bad;
    HONE_AUTOJSON struct hone_json *args = hone_json_new_object();
    hone_json_set_i64(args, "n", 1000);
    ck_assert_int_eq(
        all->ops->start(all,
                        &(struct hone_job_spec){.tool = "echo", .args = NULL, .caller = "test"},
                        pool, &quick, &err),
        0);
    ck_assert_int_eq(
        all->ops->start(all,
                        &(struct hone_job_spec){.tool = "steps", .args = args, .caller = "test"},
                        pool, &slow, &err),
        0);
    ck_assert_int_eq(
        all->ops->start(all,
                        &(struct hone_job_spec){.tool = "fails", .args = NULL, .caller = "test"},
                        pool, &bad, &err),
        0);
    ck_assert_int_eq(
        all->ops->wait(all, quick, hone_deadline_in_ms(5000), NULL, pool, &state, &err), 0);
    ck_assert_int_eq(state.status, HONE_JOB_DONE);
    ck_assert_str_eq(hone_json_get_str(state.result, "status", ""), "ok");
    ck_assert_int_eq(all->ops->wait(all, bad, hone_deadline_in_ms(5000), NULL, pool, &state, &err),
                     0);
    ck_assert_int_eq(state.status, HONE_JOB_FAILED);
    int64_t start = hone_now_ns();
    ck_assert_int_eq(all->ops->wait(all, slow, hone_deadline_in_ms(100), NULL, pool, &state, &err),
                     0);
    ck_assert_int_eq(state.status, HONE_JOB_RUNNING);
    ck_assert_ptr_null(state.result);
    ck_assert_int_lt(hone_now_ns() - start, 2 * HONE_NS_PER_S);
    struct hone_cancel cancel;
    ck_assert_int_eq(hone_cancel_init(&cancel, &err), 0);
    hone_cancel_set(&cancel);
    ck_assert_int_eq(
        all->ops->wait(all, slow, hone_deadline_in_ms(5000), &cancel, pool, &state, &err),
        HONE_E_CANCEL);
    hone_cancel_done(&cancel);
    ck_assert_int_eq(all->ops->cancel(all, slow, &err), 0);
    ck_assert_int_eq(all->ops->wait(all, slow, hone_deadline_in_ms(5000), NULL, pool, &state, &err),
                     0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    ck_assert_int_eq(all->ops->wait(all, "job-none", 0, NULL, pool, &state, &err),
                     HONE_E_NOT_FOUND);
    ck_assert_int_eq(all->ops->cancel(all, "job-none", &err), HONE_E_NOT_FOUND);
    struct hone_job_state *list;
    size_t n;
    ck_assert_int_eq(all->ops->list(all, pool, &list, &n, &err), 0);
    ck_assert_uint_eq(n, 3);
    hone_pool_free(pool);
    rig_close(&rig);
}
END_TEST

START_TEST(jobs_are_limited_and_stop)
{
    struct rig rig;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig);
    struct hone_jobs *all = hone_runtime_app(rig.runtime)->jobs;
    struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *args = hone_json_new_object();
    hone_json_set_i64(args, "n", 1000);
    const char *id;
    int rc = 0;
    size_t n = 0;
    for (; n < HONE_LIMIT_JOBS + 10 && rc == 0; n++)
        rc = all->ops->start(
            all, &(struct hone_job_spec){.tool = "steps", .args = args, .caller = "test"}, pool,
            &id, &err);
    ck_assert_int_eq(rc, HONE_E_BUSY);
    ck_assert_uint_ge(n, HONE_LIMIT_QUEUE - HONE_LIMIT_QUEUE / 4); /* of one caller */
    int64_t start = hone_now_ns();
    ck_assert(hone_runtime_stop(rig.runtime, hone_deadline_in_ms(5000)));
    ck_assert_int_lt(hone_now_ns() - start, 2 * HONE_NS_PER_S);
    ck_assert_int_eq(
        all->ops->start(all,
                        &(struct hone_job_spec){.tool = "echo", .args = NULL, .caller = "test"},
                        pool, &id, &err),
        HONE_E_BUSY);
    hone_pool_free(pool);
    rig_close(&rig);
}
END_TEST

UNIT_MAIN("mcp", revisions, an_answer_goes_once, resources_and_prompts, rows_of_others,
          subscriptions_have_a_limit, stateless_requests, pages,
          progress_increases_and_stops_before_the_answer, cancelled_calls_are_silent,
          notifications_are_never_answered, too_much_waiting_drops_the_peer, lanes, jobs,
          jobs_are_limited_and_stop)
