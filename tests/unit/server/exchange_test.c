/* SPDX-License-Identifier: Apache-2.0 */
/* Questions, rounds and the state between them, as data. */
#include "server/exchange/round.h"
#include "server/exchange/state.h"

#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

static struct hone_json *json(const char *text)
{
    struct hone_json *value = NULL;
    ck_assert_msg(hone_json_parse(text, strlen(text), &value, NULL) == 0, "%s", text);
    return value;
}

static void same(const struct hone_json *value, const char *want)
{
    HONE_AUTOFREE char *text = hone_json_print(value);
    ck_assert_str_eq(text, want);
}

/* ---- questions ---- */

START_TEST(a_question_needs_a_capability)
{
    static const struct {
        const char *able, *method, *params;
        bool can;
        const char *needed;
    } rows[] = {
        {"{}", "roots/list", "{}", false, "{\"roots\":{}}"},
        {"{\"roots\":{}}", "roots/list", "{}", true, NULL},
        {"{\"roots\":true}", "roots/list", "{}", false, NULL},
        {"{\"sampling\":{}}", "sampling/createMessage", "{}", true, NULL},
        {"{\"sampling\":{}}", "sampling/createMessage", "{\"tools\":[]}", false,
         "{\"sampling\":{\"tools\":{}}}"},
        {"{\"sampling\":{\"tools\":{}}}", "sampling/createMessage", "{\"tools\":[]}", true, NULL},
        {"{\"elicitation\":{}}", "elicitation/create", "{}", true, NULL},
        {"{\"elicitation\":{\"form\":{}}}", "elicitation/create", "{\"mode\":\"form\"}", true,
         NULL},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/create", "{}", false,
         "{\"elicitation\":{}}"},
        {"{\"elicitation\":{}}", "elicitation/create", "{\"mode\":\"url\"}", false,
         "{\"elicitation\":{\"url\":{}}}"},
        {"{\"elicitation\":{\"url\":{}}}", "elicitation/create", "{\"mode\":\"url\"}", true, NULL},
        {"{\"tools\":{}}", "tools/call", "{}", false, "{}"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOJSON struct hone_json *able = json(rows[i].able);
        HONE_AUTOJSON struct hone_json *needed = hone_json_new_object();
        const struct hone_ask ask = {
            .key = "k", .method = rows[i].method, .params_json = rows[i].params};
        ck_assert_msg(hone_ask_can(able, &ask) == rows[i].can, "row %zu", i);
        ck_assert(!hone_ask_can(NULL, &ask));
        hone_ask_need(&ask, needed);
        if (rows[i].needed != NULL)
            same(needed, rows[i].needed);
    }
}
END_TEST

START_TEST(an_answer_has_a_form)
{
    static const struct {
        const char *method, *answer;
        bool is_good;
    } rows[] = {
        {"elicitation/create", "{\"action\":\"accept\",\"content\":{\"a\":1}}", true},
        {"elicitation/create", "{\"action\":\"decline\"}", true},
        {"elicitation/create", "{\"action\":\"maybe\"}", false},
        {"elicitation/create", "{\"action\":\"accept\",\"content\":[]}", false},
        {"elicitation/create", "{}", false},
        {"elicitation/create", "12345", false},
        {"elicitation/create", "null", false},
        {"roots/list", "{\"roots\":[]}", true},
        {"roots/list", "{\"roots\":{}}", false},
        {"sampling/createMessage", "{\"role\":\"assistant\",\"content\":{}}", true},
        {"sampling/createMessage", "{\"role\":\"assistant\",\"content\":[]}", true},
        {"sampling/createMessage", "{\"role\":\"assistant\",\"content\":\"x\"}", false},
        {"sampling/createMessage", "{\"content\":{}}", false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        HONE_AUTOJSON struct hone_json *answer = json(rows[i].answer);
        int rc = hone_ask_check(rows[i].method, answer, &err);
        ck_assert_msg(rc == (rows[i].is_good ? 0 : HONE_E_ARG), "%s", rows[i].answer);
    }
}
END_TEST

/* ---- rounds ---- */

#define ABLE "{\"elicitation\":{},\"roots\":{}}"
static const struct hone_ask name_ask = {
    .key = "name", .method = "elicitation/create", .params_json = "{}"};
static const struct hone_ask roots_ask = {
    .key = "roots", .method = "roots/list", .params_json = "{}"};
static const struct hone_ask model_ask = {
    .key = "model", .method = "sampling/createMessage", .params_json = "{}", .is_optional = true};

#define SAID(text_) "{\"action\":\"accept\",\"content\":{\"name\":\"" text_ "\"}}"

START_TEST(rounds)
{
    static const struct {
        const char *earlier, *responses; /* NULL: none */
        const char *asked, *used;
        const char *bad; /* NULL: none */
    } rows[] = {
        {NULL, NULL,
         "{\"name\":{\"method\":\"elicitation/create\",\"params\":{}},"
         "\"roots\":{\"method\":\"roots/list\",\"params\":{}}}",
         "{}", NULL},
        {NULL, "{\"other\":1,\"name\":" SAID("A") "}",
         "{\"roots\":{\"method\":\"roots/list\",\"params\":{}}}", "{\"name\":" SAID("A") "}", NULL},
        {"{\"name\":" SAID("A") "}", "{\"roots\":{\"roots\":[]},\"name\":" SAID("B") "}", "{}",
         "{\"name\":" SAID("A") ",\"roots\":{\"roots\":[]}}", NULL},
        {NULL, "{\"name\":12345}", NULL, NULL, "params.inputResponses.name: an answer to"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_round round;
        struct hone_ask asks[] = {name_ask, model_ask, roots_ask};
        struct hone_pool *pool = hone_pool_new();
        HONE_AUTOJSON struct hone_json *able = json(ABLE);
        HONE_AUTOJSON struct hone_json *responses =
            rows[i].responses ? json(rows[i].responses) : NULL;
        struct hone_json *earlier = rows[i].earlier ? json(rows[i].earlier) : NULL;
        ck_assert_int_eq(hone_round_open(&round, able, earlier, responses, &err), 0);
        int rc = hone_round_ask(&round, pool, asks, HONE_COUNTOF(asks), &err);
        bool is_over = rows[i].bad == NULL && strcmp(rows[i].asked, "{}") == 0;
        ck_assert_int_eq(rc, is_over ? 0 : HONE_E_CANCEL);
        ck_assert(hone_round_has_ended(&round) == !is_over);
        ck_assert_ptr_null(asks[1].answer); /* it may be left out, and the client has no model */
        ck_assert_uint_eq(hone_json_size(round.needed), 0);
        if (rows[i].bad != NULL) {
            ck_assert_msg(strncmp(round.bad.message, rows[i].bad, strlen(rows[i].bad)) == 0, "%s",
                          round.bad.message);
        } else {
            same(round.asked, rows[i].asked);
            same(round.used, rows[i].used);
        }
        if (is_over)
            same(asks[0].answer, SAID("A"));
        hone_round_done(&round);
        hone_pool_free(pool);
    }
}
END_TEST

START_TEST(a_round_wants_capabilities)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_round round;
    struct hone_ask asks[] = {model_ask, name_ask};
    struct hone_pool *pool = hone_pool_new();
    asks[0].is_optional = false;
    ck_assert_int_eq(hone_round_open(&round, NULL, NULL, NULL, &err), 0);
    ck_assert_int_eq(hone_round_ask(&round, pool, asks, 2, &err), HONE_E_CANCEL);
    same(round.needed, "{\"sampling\":{},\"elicitation\":{}}");
    hone_round_done(&round);
    hone_pool_free(pool);
}
END_TEST

START_TEST(responses_are_bounded)
{
    static const char *const bad[] = {"null", "[]", "5", "\"x\""};
    struct hone_round round;
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        HONE_AUTOJSON struct hone_json *responses = json(bad[i]);
        ck_assert_int_eq(hone_round_open(&round, NULL, NULL, responses, NULL), HONE_E_ARG);
        hone_round_done(&round);
    }
    HONE_AUTOJSON struct hone_json *many = hone_json_new_object();
    for (int i = 0; i < HONE_LIMIT_RESPONSES; i++) {
        HONE_AUTOFREE char *key = hone_sprintf("k%d", i);
        hone_json_set_i64(many, key, i);
    }
    ck_assert_int_eq(hone_round_open(&round, NULL, NULL, many, NULL), 0);
    hone_round_done(&round);
    hone_json_set_i64(many, "more", 1);
    ck_assert_int_eq(hone_round_open(&round, NULL, NULL, many, NULL), HONE_E_LIMIT);
    hone_round_done(&round);
}
END_TEST

/* ---- state ---- */

#define NOW (5 * HONE_NS_PER_S)
static const unsigned char key[HONE_STATE_KEY_BYTES] = {1, 2, 3};

static struct hone_state_call call_with(const struct hone_json *arguments)
{
    return (struct hone_state_call){.key = key,
                                    .client = "owner",
                                    .method = "tools/call",
                                    .name = "echo",
                                    .arguments = arguments};
}

static char *make(const struct hone_state_call *call, const char *answers)
{
    HONE_AUTOJSON struct hone_json *value = json(answers);
    char *text = NULL;
    ck_assert_int_eq(hone_state_make(call, value, NOW, &text, NULL), 0);
    return text;
}

static int read_state(const struct hone_state_call *call, const char *text, int64_t now_ns)
{
    HONE_AUTOJSON struct hone_json *answers = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_state_read(call, text, now_ns, &answers, &err);
    ck_assert((rc == 0) == (answers != NULL));
    return rc;
}

START_TEST(a_state_comes_back)
{
    HONE_AUTOJSON struct hone_json *arguments = json("{\"a\":[1,{\"x\":1,\"y\":2}],\"b\":null}");
    HONE_AUTOJSON struct hone_json *reordered = json("{\"b\":null,\"a\":[1,{\"y\":2,\"x\":1}]}");
    struct hone_state_call call = call_with(arguments);
    HONE_AUTOFREE char *text = make(&call, "{\"name\":{\"action\":\"accept\"}}");
    HONE_AUTOJSON struct hone_json *answers = NULL;
    ck_assert_int_eq(hone_state_read(&call, text, NOW, &answers, NULL), 0);
    same(answers, "{\"name\":{\"action\":\"accept\"}}");
    call.arguments = reordered;
    ck_assert_int_eq(read_state(&call, text, NOW), 0);
    int64_t last = NOW + HONE_LIMIT_STATE_MS * HONE_NS_PER_MS;
    ck_assert_int_eq(read_state(&call, text, last), 0);
    ck_assert_int_eq(read_state(&call, text, last + 1), HONE_E_ARG);
    call.arguments = NULL;
    HONE_AUTOFREE char *bare = make(&call, "{}");
    HONE_AUTOJSON struct hone_json *empty = hone_json_new_object();
    call.arguments = empty;
    ck_assert_int_eq(read_state(&call, bare, NOW), 0);
}
END_TEST

START_TEST(a_state_is_of_one_call)
{
    static const unsigned char other_key[HONE_STATE_KEY_BYTES] = {1, 2, 4};
    static const char *const other[] = {"{}",
                                        "{\"a\":[1,2],\"b\":1}",
                                        "{\"a\":[2,1]}",
                                        "{\"a\":[1,2,null]}",
                                        "{\"a\":\"[1,2]\"}",
                                        "{\"a\":{\"1\":2}}",
                                        "{\"A\":[1,2]}",
                                        "{\"a\":[[1,2]]}",
                                        "{\"a\":[\"1\",2]}"};
    HONE_AUTOJSON struct hone_json *arguments = json("{\"a\":[1,2]}");
    const struct hone_state_call call = call_with(arguments);
    HONE_AUTOFREE char *text = make(&call, "{}");
    struct hone_state_call calls[4] = {call, call, call, call};
    ck_assert_int_eq(read_state(&call, text, NOW), 0);
    calls[0].client = "somebody";
    calls[1].method = "prompts/get";
    calls[2].name = "ech";
    calls[3].key = other_key;
    for (size_t i = 0; i < HONE_COUNTOF(calls); i++)
        ck_assert_msg(read_state(&calls[i], text, NOW) == HONE_E_ARG, "call %zu", i);
    for (size_t i = 0; i < HONE_COUNTOF(other); i++) {
        HONE_AUTOJSON struct hone_json *value = json(other[i]);
        const struct hone_state_call of_other = call_with(value);
        ck_assert_msg(read_state(&of_other, text, NOW) == HONE_E_ARG, "%s", other[i]);
    }
}
END_TEST

/* Every cut, every changed byte, and what somebody may think up. */
START_TEST(hostile_states)
{
    static const char *const made_up[] = {
        "",
        ".",
        "..",
        "{}",
        "ffffffffffffffff.",
        "null",
        "7fffffffffffffff."
        "0000000000000000000000000000000000000000000000000000000000000000.{}"};
    const struct hone_state_call call = call_with(NULL);
    HONE_AUTOFREE char *text = make(&call, "{\"k\":{}}");
    size_t len = strlen(text);
    for (size_t i = 0; i < HONE_COUNTOF(made_up); i++)
        ck_assert_int_eq(read_state(&call, made_up[i], NOW), HONE_E_ARG);
    for (size_t i = 0; i < len; i++) {
        HONE_AUTOFREE char *cut = hone_strndup(text, i);
        HONE_AUTOFREE char *changed = hone_strdup(text);
        changed[i] ^= 1;
        ck_assert_msg(read_state(&call, cut, NOW) == HONE_E_ARG, "cut at %zu", i);
        ck_assert_msg(read_state(&call, changed, NOW) == HONE_E_ARG, "changed at %zu", i);
    }
    HONE_AUTOFREE char *longer = hone_sprintf("%s-TAMPERED", text);
    ck_assert_int_eq(read_state(&call, longer, NOW), HONE_E_ARG);
}
END_TEST

START_TEST(a_state_is_bounded)
{
    const struct hone_state_call call = call_with(NULL);
    size_t head = 16 + 1 + 64 + 1, rest = strlen("{\"k\":\"\"}");
    size_t n = HONE_LIMIT_STATE_BYTES - head - rest;
    for (size_t more = 0; more < 2; more++) {
        HONE_AUTOFREE char *letters = hone_calloc(1, n + more + 1);
        HONE_AUTOJSON struct hone_json *answers = hone_json_new_object();
        HONE_AUTOFREE char *text = NULL;
        memset(letters, 'x', n + more);
        hone_json_set_str(answers, "k", letters);
        int rc = hone_state_make(&call, answers, NOW, &text, NULL);
        ck_assert_int_eq(rc, more == 0 ? 0 : HONE_E_LIMIT);
        if (more == 0) {
            ck_assert_uint_eq(strlen(text), HONE_LIMIT_STATE_BYTES);
            ck_assert_int_eq(read_state(&call, text, NOW), 0);
            HONE_AUTOFREE char *above = hone_sprintf("%s ", text);
            ck_assert_int_eq(read_state(&call, above, NOW), HONE_E_LIMIT);
        }
    }
}
END_TEST

UNIT_MAIN("exchange", a_question_needs_a_capability, an_answer_has_a_form, rounds,
          a_round_wants_capabilities, responses_are_bounded, a_state_comes_back,
          a_state_is_of_one_call, hostile_states, a_state_is_bounded)
