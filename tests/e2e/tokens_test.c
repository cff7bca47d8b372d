/* SPDX-License-Identifier: Apache-2.0 */
/* What hone costs a model's context: bytes, and tokens at four bytes each, of the list of tools and
 * of typical answers, as a host shows them. Prints the table, so that it is the tool to look with
 * too:
 *
 *     HONE_BUILD=build build/tests/e2e/tokens_test
 *
 * The executor is the fake one: it fills in what a report may have, and times nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/json.h"

#define LIST_WIRE_BYTES  40000
#define LIST_SHOWN_BYTES 24000 /* 6,000 tokens */
#define INIT_BYTES       2500
#define CONCISE_BYTES    1000
#define NORMAL_BYTES     4000

static void workspace(char dir[64])
{
    char *out, *err;
    strcpy(dir, "/tmp/hone-tokens.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    char inner[80];
    snprintf(inner, sizeof(inner), "%s/ws", dir);
    const char *const args[] = {"init", inner, NULL};
    ck_assert_msg(hone_program_run(args, NULL, &out, &err) == 0, "%s", err);
    free(out);
    free(err);
}

static void forget(const char *dir)
{
    char command[100];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static void print_row(const char *what, size_t bytes)
{
    printf("# %7zu bytes %6zu tokens  %s\n", bytes, (bytes + 3) / 4, what);
}

#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\"}}\n"

/* All messages of one run of `hone mcp`; owned. */
static char *converse(const char *dir, const char *requests)
{
    char inner[80], *out, *err;
    snprintf(inner, sizeof(inner), "%s/ws", dir);
    const char *const args[] = {"mcp", "--workspace", inner, NULL};
    char *input;
    ck_assert_int_ge(asprintf(&input, INITIALIZE "%s", requests), 0);
    ck_assert_int_eq(hone_program_run(args, input, &out, &err), 0);
    free(input);
    free(err);
    return out;
}

/* The message with this id, parsed; *ret_bytes: its length on the wire. */
static struct hone_json *message_of(const char *out, int id, size_t *ret_bytes)
{
    char start[40];
    snprintf(start, sizeof(start), "{\"jsonrpc\":\"2.0\",\"id\":%d,", id);
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1) {
        struct hone_json *message = NULL;
        if (strncmp(line, start, strlen(start)) != 0)
            continue;
        *ret_bytes = strcspn(line, "\n");
        ck_assert_int_eq(hone_json_parse(line, *ret_bytes, &message, NULL), 0);
        return message;
    }
    ck_abort_msg("no answer %d in %s", id, out);
    return NULL;
}

/* What a host shows of a tool: name, description, arguments. */
static size_t shown_bytes(const struct hone_json *tool)
{
    HONE_AUTOFREE char *schema = hone_json_print(hone_json_get(tool, "inputSchema"));
    return strlen(hone_json_get_str(tool, "name", "")) +
           strlen(hone_json_get_str(tool, "description", "")) + strlen(schema) +
           strlen("{\"name\":\"\",\"description\":\"\",\"inputSchema\":},");
}

START_TEST(list_of_tools)
{
    char dir[64];
    size_t bytes, shown = 0;
    workspace(dir);
    HONE_AUTOFREE char *out =
        converse(dir, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    HONE_AUTOJSON struct hone_json *hello = message_of(out, 0, &bytes);
    print_row("answer to initialize", bytes);
    ck_assert_uint_le(bytes, INIT_BYTES);
    HONE_AUTOJSON struct hone_json *list = message_of(out, 1, &bytes);
    const struct hone_json *tools = hone_json_get(hone_json_get(list, "result"), "tools");
    ck_assert_uint_ge(hone_json_size(tools), 15);
    for (const struct hone_json *t = hone_json_first(tools); t; t = hone_json_next(t)) {
        print_row(hone_json_get_str(t, "name", ""), shown_bytes(t));
        shown += shown_bytes(t);
    }
    print_row("tools/list as a host shows it", shown);
    print_row("tools/list on the wire", bytes);
    ck_assert_uint_le(shown, LIST_SHOWN_BYTES);
    ck_assert_uint_le(bytes, LIST_WIRE_BYTES);
    forget(dir);
}
END_TEST

#define SOURCE "\"source\":\"void sum(void) {}\""

static const struct {
    const char *tool, *args;
    size_t limit;
} answers[] = {
    {"device_info", "{}", NORMAL_BYTES},
    {"task_show", "{}", NORMAL_BYTES},
    {"task_show", "{\"detail\":\"concise\"}", CONCISE_BYTES},
    {"task_show", "{\"name\":\"matmul\"}", NORMAL_BYTES},
    {"task_show", "{\"name\":\"attention_causal\"}", NORMAL_BYTES},
    {"task_show", "{\"name\":\"matmul\",\"detail\":\"concise\"}", CONCISE_BYTES},
    {"kernel_evaluate", "{\"task\":\"matmul\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_evaluate", "{\"task\":\"matmul\",\"detail\":\"concise\"," SOURCE "}", CONCISE_BYTES},
    {"kernel_evaluate", "{\"task\":\"matmul\",\"tier\":\"confirm\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_compile", "{\"task\":\"matmul\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_verify", "{\"task\":\"matmul\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_run", "{\"task\":\"matmul\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_profile", "{\"task\":\"matmul\"," SOURCE "}", NORMAL_BYTES},
    {"kernel_profile", "{\"task\":\"matmul\",\"detail\":\"concise\"," SOURCE "}", CONCISE_BYTES},
    {"history_show", "{}", NORMAL_BYTES},
    {"history_show", "{\"detail\":\"concise\"}", CONCISE_BYTES},
    {"strategy_propose", "{\"task\":\"matmul\"}", NORMAL_BYTES},
    {"job_wait", "{}", CONCISE_BYTES},
};

START_TEST(typical_answers)
{
    char dir[64];
    workspace(dir);
    for (size_t i = 0; i < HONE_COUNTOF(answers); i++) {
        char request[500], what[200];
        size_t wire;
        snprintf(request, sizeof(request),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"%s\",\"arguments\":%s}}\n",
                 answers[i].tool, answers[i].args);
        HONE_AUTOFREE char *out = converse(dir, request);
        HONE_AUTOJSON struct hone_json *message = message_of(out, 1, &wire);
        const struct hone_json *result = hone_json_get(message, "result");
        const struct hone_json *block = hone_json_first(hone_json_get(result, "content"));
        const char *text = hone_json_get_str(block, "text", "");
        snprintf(what, sizeof(what), "%s %.80s", answers[i].tool, answers[i].args);
        print_row(what, strlen(text));
        ck_assert_msg(strlen(text) <= answers[i].limit, "%s has %zu bytes: %s", what, strlen(text),
                      text);
        ck_assert_msg(!hone_json_get_bool(result, "isError", true), "%s: %s", what, text);
        ck_assert_msg(wire < strlen(text) * 3 / 2 + 300, "%s goes twice", what);
    }
    forget(dir);
}
END_TEST

UNIT_MAIN("tokens", list_of_tools, typical_answers)
