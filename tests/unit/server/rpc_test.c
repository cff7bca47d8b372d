/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/rpc.h"

#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

START_TEST(kinds)
{
    static const struct {
        const char *text;
        enum hone_rpc_kind kind;
        const char *id;
        int number;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", HONE_RPC_REQUEST, "1", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"x\",\"params\":{}}", HONE_RPC_REQUEST, "0", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"x\"}", HONE_RPC_REQUEST, "-7", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"x\"}", HONE_RPC_REQUEST, "\"1\"", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"x\"}", HONE_RPC_REQUEST, "\"\"", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740992,\"method\":\"x\"}", HONE_RPC_REQUEST,
         "9007199254740992", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740994,\"method\":\"x\"}", HONE_RPC_BAD, "null",
         -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"x\"}", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"x\"}", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", HONE_RPC_BAD, "1", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", HONE_RPC_BAD, "1", -32600},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", HONE_RPC_BAD, "1", -32600},
        {"{\"id\":1,\"method\":\"x\"}", HONE_RPC_BAD, "1", -32600},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", HONE_RPC_BAD, "1", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[1]}", HONE_RPC_BAD, "1",
         -32602},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}", HONE_RPC_BAD, "1",
         -32602},
        {"{}", HONE_RPC_BAD, "null", -32600},
        {"7", HONE_RPC_BAD, "null", -32600},
        {"\"x\"", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"method\":1}", HONE_RPC_BAD, "null", -32600},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", HONE_RPC_NOTIFICATION, NULL, 0},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}", HONE_RPC_IGNORED, NULL, 0},
        {"{\"method\":\"x\"}", HONE_RPC_IGNORED, NULL, 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", HONE_RPC_RESPONSE, "1", 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", HONE_RPC_RESPONSE, "1", 0},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOJSON struct hone_json *value = NULL;
        struct hone_err err = HONE_ERR_INIT;
        struct hone_rpc_message message;
        ck_assert_msg(hone_json_parse(rows[i].text, strlen(rows[i].text), &value, &err) == 0,
                      "%s: %s", rows[i].text, err.message);
        hone_rpc_read(value, &message);
        ck_assert_msg(message.kind == rows[i].kind, "%s: kind %d", rows[i].text, (int)message.kind);
        ck_assert_msg(message.error_number == rows[i].number, "%s: %d", rows[i].text,
                      message.error_number);
        if (rows[i].id)
            ck_assert_str_eq(message.id_text, rows[i].id);
        else
            ck_assert_ptr_null(message.id_text);
        hone_rpc_message_done(&message);
    }
}
END_TEST

START_TEST(id_length_is_limited)
{
    for (size_t over = 0; over < 2; over++) {
        size_t len = HONE_LIMIT_RPC_ID_BYTES + over;
        char *id = hone_calloc(1, len + 1);
        memset(id, 'x', len);
        HONE_AUTOJSON struct hone_json *value = hone_json_new_object();
        hone_json_set_str(value, "jsonrpc", "2.0");
        hone_json_set_str(value, "method", "m");
        hone_json_set_str(value, "id", id);
        struct hone_rpc_message message;
        hone_rpc_read(value, &message);
        ck_assert_int_eq(message.kind, over ? HONE_RPC_BAD : HONE_RPC_REQUEST);
        hone_rpc_message_done(&message);
        free(id);
    }
}
END_TEST

START_TEST(texts)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *result = hone_rpc_result("\"a\"", "{\"x\":1}");
    HONE_AUTOFREE char *error = hone_rpc_error("null", -32700, "say \"no\"\n", NULL);
    HONE_AUTOFREE char *note = hone_rpc_notification("notifications/x", NULL);
    hone_fail_at(&err, HONE_E_LIMIT, "params.x", "too much");
    HONE_AUTOFREE char *failed = hone_rpc_error_of("3", &err);
    ck_assert_str_eq(result, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"x\":1}}");
    ck_assert_str_eq(error, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                            "\"message\":\"say \\\"no\\\"\\n\"}}");
    ck_assert_str_eq(note, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{}}");
    ck_assert_str_eq(failed, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32010,\"message\":"
                             "\"too much\",\"data\":{\"code\":"
                             "\"limit\",\"path\":\"params.x\"}}}");
}
END_TEST

START_TEST(every_code_has_a_number)
{
    for (int code = HONE_E_CORRUPT; code < 0; code++) {
        int number = hone_rpc_number((enum hone_code)code);
        ck_assert(number == -32602 || number == -32603 || (number <= -32010 && number >= -32019));
    }
    ck_assert_int_eq(hone_rpc_number(HONE_E_BUSY), -32011);
    ck_assert_int_eq(hone_rpc_number(HONE_E_ARG), -32602);
}
END_TEST

UNIT_MAIN("rpc", kinds, id_length_is_limited, texts, every_code_has_a_number)
