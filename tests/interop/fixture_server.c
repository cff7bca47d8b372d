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
struct out {
    struct hone_head head;
    struct hone_json *content;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, prompt, .help = "For the client's model."),
    HONE_FIELD(struct in, message, .help = "For its user.")};
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

/* The answer's text ends the summary. */
static int ask(struct hone_tool_ctx *ctx, const char *method, const char *params, struct out *out,
               struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *answer = NULL;
    int rc = ctx->ask != NULL ? ctx->ask(ctx->ask_arg, method, params, &answer, err)
                              : hone_fail(err, HONE_E_UNSUPPORTED, "nobody can be asked");
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *text = hone_json_print(answer);
    out->head.status = "ok";
    out->head.summary = hone_pool_printf(ctx->pool, "The client answered: %s", text);
    return 0;
}

static int run_sampling(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct in *i = in;
    struct hone_buf params = HONE_BUF_INIT;
    hone_buf_str(&params,
                 "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    hone_json_print_str(&params, i->prompt != NULL ? i->prompt : "");
    hone_buf_str(&params, "}}],\"maxTokens\":100}");
    int rc = ask(ctx, "sampling/createMessage", params.data, out, err);
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
    int rc = ask(ctx, "elicitation/create", params.data, out, err);
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
static const struct hone_tool sampling = TOOL("test_sampling", HONE_TOOL_LONG, run_sampling),
                              elicitation =
                                  TOOL("test_elicitation", HONE_TOOL_LONG, run_elicitation),
                              defaults = TOOL("test_elicitation_sep1034_defaults", HONE_TOOL_LONG,
                                              run_defaults),
                              enums =
                                  TOOL("test_elicitation_sep1330_enums", HONE_TOOL_LONG, run_enums);
static const struct hone_tool image = TOOL("test_image_content", HONE_TOOL_READ_ONLY, run_image),
                              audio = TOOL("test_audio_content", HONE_TOOL_READ_ONLY, run_audio),
                              embedded =
                                  TOOL("test_embedded_resource", HONE_TOOL_READ_ONLY, run_embedded),
                              mixed = TOOL("test_multiple_content_types", HONE_TOOL_READ_ONLY,
                                           run_mixed);
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
static const struct hone_tool *const tools[] = {
    &sampling, &elicitation, &defaults, &enums,  &audio,       &embedded,  &error,       &image,
    &logging,  &mixed,       &progress, &schema, &simple_text, &streaming, &with_logging};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

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
