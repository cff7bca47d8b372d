/* SPDX-License-Identifier: Apache-2.0 */
/* A server with the tools, prompts and resources that MCP's conformance suite asks for, registered
 * as hone's own are: what the suite wants of an answer is asked of the whole dispatcher.
 *
 *   fixture_server WORKSPACE PORT     without a token, on loopback; until it is killed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/rpc/mcp_prompts.h"
#include "server/rpc/mcp_resources.h"
#include "server/rpc/net_ws.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5Erk"   \
    "Jggg=="
#define WAV   "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define AUDIO "{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}"
#define EMBEDDED(uri_)                                                                             \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri_                                         \
    "\",\"mimeType\":\"text/plain\",\"text\":\"Embedded resource content for testing.\"}}"

struct in {
    const char *prompt, *message;
};
struct greet_in {
    const char *name;
};
struct slow_in {
    double seconds;
    const char *label;
};
struct file_in {
    const char *filename;
};
struct region_in {
    const char *region;
    int64_t priority;
    bool verbose;
};
struct out {
    struct hone_head head;
    struct hone_json *content;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, prompt, .help = "For the client's model."),
    HONE_FIELD(struct in, message, .help = "For its user.")};
static const struct hone_field greet_fields[] = {
    HONE_FIELD(struct greet_in, name, .required = true, .help = "Whom to greet.")};
static const struct hone_field slow_fields[] = {
    HONE_FIELD(struct slow_in, seconds, .min = 0, .max = 600, .help = "How long it takes."),
    HONE_FIELD(struct slow_in, label, .help = "Any words.")};
static const struct hone_field file_fields[] = {
    HONE_FIELD(struct file_in, filename, .help = "Any name.")};
static const struct hone_field region_fields[] = {
    HONE_FIELD(struct region_in, region, .header = "Region", .help = "Where."),
    HONE_FIELD(struct region_in, priority, .header = "Priority", .help = "How urgent."),
    HONE_FIELD(struct region_in, verbose, .header = "Verbose", .help = "How much to say.")};
static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct out),
                                               HONE_FIELD(struct out, content, .help = "Blocks.")};

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

/* The answers' texts end the summary; one that says no says nothing. */
static int ask(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n, struct out *out,
               struct hone_err *err)
{
    struct hone_buf said = HONE_BUF_INIT;
    int rc = hone_tool_ask(ctx, asks, n, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        HONE_AUTOFREE char *text = hone_json_print(asks[i].answer);
        hone_buf_printf(&said, " %s", asks[i].answer != NULL ? text : "nothing");
    }
    if (rc == 0) {
        out->head.status = "ok";
        out->head.summary = hone_pool_printf(ctx->pool, "The client answered:%s", said.data);
    }
    hone_buf_done(&said);
    return rc;
}

static int ask_one(struct hone_tool_ctx *ctx, const char *method, const char *params,
                   struct out *out, struct hone_err *err)
{
    struct hone_ask one = {.key = "answer", .method = method, .params_json = params};
    return ask(ctx, &one, 1, out, err);
}

static int run_sampling(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct in *i = in;
    struct hone_buf params = HONE_BUF_INIT;
    hone_buf_str(&params,
                 "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    hone_json_print_str(&params, i->prompt != NULL ? i->prompt : "");
    hone_buf_str(&params, "}}],\"maxTokens\":100}");
    int rc = ask_one(ctx, "sampling/createMessage", params.data, out, err);
    hone_buf_done(&params);
    return rc;
}

static int elicit(struct hone_tool_ctx *ctx, const char *message, const char *properties,
                  struct out *out, struct hone_err *err)
{
    struct hone_buf params = HONE_BUF_INIT;
    hone_buf_str(&params, "{\"message\":");
    hone_json_print_str(&params, message != NULL ? message : "");
    hone_buf_str(&params, ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{");
    hone_buf_str(&params, properties);
    hone_buf_str(&params, "}}}");
    int rc = ask_one(ctx, "elicitation/create", params.data, out, err);
    hone_buf_done(&params);
    return rc;
}

static int run_elicitation(struct hone_tool_ctx *ctx, const void *in, void *out,
                           struct hone_err *err)
{
    const struct in *i = in;
    return elicit(ctx, i->message,
                  "\"username\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}", out, err);
}

static int run_defaults(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)in;
    return elicit(ctx, "Defaults",
                  "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
                  "\"age\":{\"type\":\"integer\",\"default\":30},"
                  "\"score\":{\"type\":\"number\",\"default\":95.5},"
                  "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
                  "\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}",
                  out, err);
}

#define TITLED(a_, b_)                                                                             \
    "[{\"const\":\"value1\",\"title\":\"" a_ "\"},{\"const\":\"value2\",\"title\":\"" b_ "\"}]"

static int run_enums(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)in;
    return elicit(
        ctx, "Choices",
        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\"]},"
        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED(
            "First",
            "Second") "},"
                      "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\"],"
                      "\"enumNames\":[\"Option One\",\"Option Two\"]},"
                      "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
                      "\"enum\":[\"option1\",\"option2\"]}},"
                      "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLED(
                          "First", "Second") "}}",
        out, err);
}

/* ---- tools that only ask ---- */

#define FORM(key_, message_, name_, type_)                                                         \
    {                                                                                              \
        .key = key_, .method = "elicitation/create",                                               \
        .params_json = "{\"message\":\"" message_ "\",\"requestedSchema\":{\"type\":\"object\","   \
                       "\"properties\":{\"" name_ "\":{\"type\":\"" type_                          \
                       "\"}},\"required\":[\"" name_ "\"]}}"                                       \
    }
#define SAMPLE(key_, text_)                                                                        \
    {                                                                                              \
        .key = key_, .method = "sampling/createMessage",                                           \
        .params_json = "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","         \
                       "\"text\":\"" text_ "\"}}],\"maxTokens\":100}"                              \
    }
#define ROOTS                                                                                      \
    {                                                                                              \
        .key = "client_roots", .method = "roots/list", .params_json = "{}"                         \
    }
#define USER_NAME FORM("user_name", "What is your name?", "name", "string")

#define ASKS(name_, ...)                                                                           \
    static int name_(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)   \
    {                                                                                              \
        struct hone_ask asks[] = {__VA_ARGS__};                                                    \
        (void)in;                                                                                  \
        return ask(ctx, asks, HONE_COUNTOF(asks), out, err);                                       \
    }
ASKS(run_ask_user, USER_NAME)
ASKS(run_ask_model, SAMPLE("capital_question", "What is the capital of France?"))
ASKS(run_ask_roots, ROOTS)
ASKS(run_ask_confirm, FORM("confirm", "Please confirm", "ok", "boolean"))
ASKS(run_ask_all, USER_NAME, SAMPLE("greeting", "Generate a greeting"), ROOTS)
ASKS(run_ask_two, FORM("first", "First", "name", "string"),
     FORM("second", "Second", "name", "string"))

/* What the client can answer is asked, the rest is left out. */
static int run_ask_able(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct hone_ask asks[] = {USER_NAME, SAMPLE("greeting", "Generate a greeting")};
    (void)in;
    for (size_t i = 0; i < HONE_COUNTOF(asks); i++)
        asks[i].is_optional = true;
    return ask(ctx, asks, HONE_COUNTOF(asks), out, err);
}

/* One question after the other. */
static int run_ask_steps(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct hone_ask steps[] = {
        FORM("step1", "Step 1: What is your name?", "name", "string"),
        FORM("step2", "Step 2: What is your favorite color?", "color", "string")};
    int rc = 0;
    (void)in;
    for (size_t i = 0; rc == 0 && i < HONE_COUNTOF(steps); i++)
        rc = ask(ctx, &steps[i], 1, out, err);
    return rc;
}

/* ---- tools that become tasks ---- */

static int run_slow(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct slow_in *i = in;
    const struct timespec step = {.tv_nsec = 20000000};
    for (double past = 0; past < i->seconds; past += 0.02) {
        if (hone_cancel_is_set(ctx->cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled");
        nanosleep(&step, NULL);
    }
    return run_ok(ctx, NULL, out, err);
}

static int run_fault(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx;
    (void)in;
    (void)out;
    return hone_fail(err, HONE_E_BUG, "This tool is at fault, for testing");
}

static const struct hone_ask user_name[] = {USER_NAME};

static void free_json(void *json)
{
    hone_json_free(json);
}

static int answer_blocks(struct hone_tool_ctx *ctx, const char *blocks, struct out *out,
                         struct hone_err *err)
{
    struct hone_json *content;
    int rc = hone_json_parse(blocks, strlen(blocks), &content, err);
    if (rc < 0)
        return rc;
    hone_pool_defer(ctx->pool, free_json, content);
    out->content = content;
    return run_ok(ctx, NULL, out, err);
}

static int run_greet(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct greet_in *i = in;
    HONE_AUTOFREE char *hello = hone_sprintf("Hello, %s!", i->name);
    struct hone_buf block = HONE_BUF_INIT;
    hone_buf_str(&block, "[{\"type\":\"text\",\"text\":");
    hone_json_print_str(&block, hello);
    hone_buf_str(&block, "}]");
    int rc = answer_blocks(ctx, block.data, out, err);
    hone_buf_done(&block);
    return rc;
}

#define BLOCKS(name_, blocks_)                                                                     \
    static int name_(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)   \
    {                                                                                              \
        (void)in;                                                                                  \
        return answer_blocks(ctx, "[" blocks_ "]", out, err);                                      \
    }
BLOCKS(run_image, IMAGE)
BLOCKS(run_audio, AUDIO)
BLOCKS(run_embedded, EMBEDDED("test://embedded-resource"))
BLOCKS(run_mixed, "{\"type\":\"text\",\"text\":\"Multiple content types test:\"}," IMAGE
                  "," EMBEDDED("test://mixed-content-resource"))

#define TOOL_IN(name_, flags_, run_, in_, fields_, ...)                                            \
    {                                                                                              \
        .name = name_, .title = name_, .summary = "For the conformance suite.", .flags = flags_,   \
        .in = fields_, .n_in = HONE_COUNTOF(fields_), .in_size = sizeof(struct in_),               \
        .out = out_fields, .n_out = HONE_COUNTOF(out_fields), .out_size = sizeof(struct out),      \
        .run = run_, __VA_ARGS__                                                                   \
    }
#define TOOL(name_, flags_, run_) TOOL_IN(name_, flags_, run_, in, in_fields, .schema = NULL)
#define ASKER(name_, run_)        TOOL("test_input_required_result_" name_, HONE_TOOL_LONG, run_)
#define TASK                      (HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE)
#define TASK_ONLY                 (TASK | HONE_TOOL_TASK_ONLY)

static const struct hone_tool plain[] = {
    TOOL("test_simple_text", HONE_TOOL_READ_ONLY, run_ok),
    TOOL("test_error_handling", HONE_TOOL_READ_ONLY, run_error),
    TOOL("test_logging_tool", HONE_TOOL_READ_ONLY, run_ok),
    TOOL("test_tool_with_logging", HONE_TOOL_LONG, run_progress),
    TOOL("test_tool_with_progress", HONE_TOOL_LONG, run_progress),
    TOOL("test_image_content", HONE_TOOL_READ_ONLY, run_image),
    TOOL("test_audio_content", HONE_TOOL_READ_ONLY, run_audio),
    TOOL("test_embedded_resource", HONE_TOOL_READ_ONLY, run_embedded),
    TOOL("test_multiple_content_types", HONE_TOOL_READ_ONLY, run_mixed),
    TOOL_IN("greet", HONE_TOOL_READ_ONLY, run_greet, greet_in, greet_fields, .schema = NULL),
    TOOL_IN("test_custom_headers", HONE_TOOL_READ_ONLY, run_ok, region_in, region_fields,
            .schema = NULL)};
static const struct hone_tool asking[] = {
    TOOL("test_sampling", HONE_TOOL_LONG, run_sampling),
    TOOL("test_elicitation", HONE_TOOL_LONG, run_elicitation),
    TOOL("test_elicitation_sep1034_defaults", HONE_TOOL_LONG, run_defaults),
    TOOL("test_elicitation_sep1330_enums", HONE_TOOL_LONG, run_enums),
    TOOL("test_streaming_elicitation", HONE_TOOL_LONG, run_ask_user),
    TOOL("test_missing_capability", HONE_TOOL_LONG, run_ask_model),
    ASKER("elicitation", run_ask_user),
    ASKER("sampling", run_ask_model),
    ASKER("list_roots", run_ask_roots),
    ASKER("request_state", run_ask_confirm),
    ASKER("tampered_state", run_ask_confirm),
    ASKER("multiple_inputs", run_ask_all),
    ASKER("multi_round", run_ask_steps),
    ASKER("capabilities", run_ask_able)};
static const struct hone_tool tasks[] = {
    TOOL_IN("slow_compute", TASK, run_slow, slow_in, slow_fields, .schema = NULL),
    TOOL("failing_job", TASK_ONLY, run_error),
    TOOL("protocol_error_job", TASK, run_fault),
    TOOL("multi_input", TASK, run_ask_two),
    TOOL_IN("confirm_delete", TASK, run_ask_confirm, file_in, file_fields, .schema = NULL),
    TOOL_IN("test_tool_with_task", TASK_ONLY, run_ask_user, in, in_fields, .first = user_name,
            .n_first = HONE_COUNTOF(user_name))};
static const struct hone_tool schema = {
    .name = "json_schema_2020_12_tool",
    .title = "Schema",
    .summary = "Tool with JSON Schema 2020-12 features",
    .flags = HONE_TOOL_READ_ONLY,
    .in = in_fields,
    .n_in = HONE_COUNTOF(in_fields),
    .in_size = sizeof(struct in),
    .schema =
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
        "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
        "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
        "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
        "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
        "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
        "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
        "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
        "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
        "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}",
    .out = out_fields,
    .n_out = HONE_COUNTOF(out_fields),
    .out_size = sizeof(struct out),
    .run = run_ok,
};
static const struct hone_mcp_prompt prompts[] = {
    {.name = "test_simple_prompt",
     .title = "Simple",
     .description = "One message.",
     .text = "This is a simple prompt for testing."},
    {.name = "test_prompt_with_arguments",
     .title = "Arguments",
     .description = "Two values.",
     .arguments = {{"arg1", "First test argument", NULL}, {"arg2", "Second test argument", NULL}},
     .text = "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"},
    {.name = "test_prompt_with_embedded_resource",
     .title = "Resource",
     .description = "A resource and a message.",
     .arguments = {{"resourceUri", "URI of the resource to embed", NULL}},
     .content = EMBEDDED("{resourceUri}"),
     .text = "Please process the embedded resource above."},
    {.name = "test_prompt_with_image",
     .title = "Image",
     .description = "An image and a message.",
     .content = IMAGE,
     .text = "Please analyze the image above."},
    {.name = "test_input_required_result_prompt",
     .title = "Asks",
     .description = "An argument that its user is asked for.",
     .arguments = {{"context", "What context should the prompt use?", NULL}},
     .text = "Use this context: {context}"},
};

static char *static_text(const struct hone_mcp *mcp, const char *value)
{
    (void)mcp;
    (void)value;
    return hone_strdup("This is the content of the static text resource.");
}

static char *png_text(const struct hone_mcp *mcp, const char *value)
{
    (void)mcp;
    (void)value;
    return hone_strdup(PNG);
}

static char *template_text(const struct hone_mcp *mcp, const char *value)
{
    (void)mcp;
    return hone_sprintf("{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}", value,
                        value);
}

static const struct hone_mcp_resource resources[] = {
    {.uri = "test://static-text",
     .name = "static-text",
     .title = "Text",
     .description = "A text.",
     .mime = "text/plain",
     .text = static_text},
    {.uri = "test://static-binary",
     .name = "static-binary",
     .title = "Bytes",
     .description = "An image.",
     .mime = "image/png",
     .text = png_text,
     .is_base64 = true},
    {.uri = "test://template/{id}/data",
     .name = "template",
     .title = "Template",
     .description = "Data of an id.",
     .mime = "application/json",
     .text = template_text},
    {.uri = "test://watched-resource",
     .name = "watched-resource",
     .title = "Watched",
     .description = "To be subscribed to.",
     .mime = "text/plain",
     .text = static_text},
};

/* The rows above as a set. */
static size_t list(const struct hone_tool *rows, size_t n, const struct hone_tool **ret, size_t at)
{
    for (size_t i = 0; i < n; i++)
        ret[at++] = &rows[i];
    return at;
}

int main(int argc, char **argv)
{
    struct hone_runtime *runtime = NULL;
    struct hone_ws *ws = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: fixture_server WORKSPACE PORT\n");
        return 2;
    }
    const struct hone_tool
        *all[HONE_COUNTOF(plain) + HONE_COUNTOF(asking) + HONE_COUNTOF(tasks) + 1] = {&schema};
    size_t n = list(plain, HONE_COUNTOF(plain), all, 1);
    n = list(asking, HONE_COUNTOF(asking), all, n);
    const struct hone_tool_set set = {all, list(tasks, HONE_COUNTOF(tasks), all, n)};
    const struct hone_tool_set *const sets[] = {&set};
    const struct hone_app_spec app = {
        .workspace_dir = argv[1], .executor = {.name = "fake"}, .sets = sets, .n_sets = 1};
    int rc = hone_runtime_open(&app, &runtime, &err);
    const struct hone_mcp mcp = {.runtime = runtime,
                                 .caller = "conformance",
                                 .prompts = prompts,
                                 .n_prompts = HONE_COUNTOF(prompts),
                                 .resources = resources,
                                 .n_resources = HONE_COUNTOF(resources)};
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
