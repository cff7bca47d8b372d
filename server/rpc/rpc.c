/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/rpc.h"

#include <stdlib.h>
#include <string.h>
#include "workspace/base/limits.h"

/* Own numbers lie in -32010..-32019: -32000..-32009 and -32042 have meanings in client libraries
 * and in MCP. */
static const struct {
    enum hone_code code;
    int number;
} numbers[] = {
    {HONE_E_ARG, HONE_RPC_PARAMS},
    {HONE_E_NOT_FOUND, HONE_RPC_PARAMS},
    {HONE_E_BUG, HONE_RPC_INTERNAL},
    {HONE_E_LIMIT, -32010},
    {HONE_E_BUSY, -32011},
    {HONE_E_AUTH, -32012},
    {HONE_E_CANCEL, -32013},
    {HONE_E_TIMEOUT, -32014},
    {HONE_E_IO, -32015},
    {HONE_E_NOMEM, -32016},
    {HONE_E_TARGET, -32017},
    {HONE_E_UNSUPPORTED, -32018},
    {HONE_E_EXISTS, -32019},
    {HONE_E_CORRUPT, -32019},
};

int hone_rpc_number(enum hone_code code)
{
    for (size_t i = 0; i < HONE_COUNTOF(numbers); i++)
        if (numbers[i].code == code)
            return numbers[i].number;
    return HONE_RPC_INTERNAL;
}

#define ID_INTEGER_MAX (1ll << 53)

/* Owned text of a usable id, NULL otherwise. */
static char *read_id(const struct hone_json *id)
{
    const char *text = hone_json_str(id);
    if (text)
        return strlen(text) <= HONE_LIMIT_RPC_ID_BYTES ? hone_json_print(id) : NULL;
    int64_t number;
    if (hone_json_type(id) != HONE_JSON_NUMBER || !hone_json_as_i64(id, &number) ||
        number > ID_INTEGER_MAX || number < -ID_INTEGER_MAX)
        return NULL;
    return hone_sprintf("%lld", (long long)number);
}

static void bad(struct hone_rpc_message *message, int number, const char *text)
{
    message->kind = HONE_RPC_BAD;
    message->error_number = number;
    message->error_text = text;
    if (!message->id_text)
        message->id_text = hone_strdup("null");
}

void hone_rpc_read(const struct hone_json *value, struct hone_rpc_message *ret)
{
    *ret = (struct hone_rpc_message){.kind = HONE_RPC_BAD};
    if (hone_json_type(value) != HONE_JSON_OBJECT) {
        bad(ret, HONE_RPC_INVALID, "a message is one JSON object");
        return;
    }
    const struct hone_json *id = hone_json_get(value, "id");
    const struct hone_json *method = hone_json_get(value, "method");
    const struct hone_json *params = hone_json_get(value, "params");
    bool is_ours = strcmp(hone_json_get_str(value, "jsonrpc", ""), "2.0") == 0;
    ret->method = hone_json_str(method);
    ret->params = params;
    if (!method && (hone_json_get(value, "result") || hone_json_get(value, "error"))) {
        ret->kind = HONE_RPC_RESPONSE;
        ret->id_text = id ? read_id(id) : NULL;
        return;
    }
    if (!id && ret->method) {
        bool is_good = is_ours && (!params || hone_json_type(params) == HONE_JSON_OBJECT);
        ret->kind = is_good ? HONE_RPC_NOTIFICATION : HONE_RPC_IGNORED;
        return;
    }
    ret->id_text = id ? read_id(id) : NULL;
    if (id && !ret->id_text)
        bad(ret, HONE_RPC_INVALID, "id must be a string or an integer");
    else if (!is_ours)
        bad(ret, HONE_RPC_INVALID, "jsonrpc must be \"2.0\"");
    else if (!ret->method)
        bad(ret, HONE_RPC_INVALID, "method must be a string");
    else if (params && hone_json_type(params) != HONE_JSON_OBJECT)
        bad(ret, HONE_RPC_PARAMS, "params must be an object");
    else
        ret->kind = HONE_RPC_REQUEST;
}

void hone_rpc_message_done(struct hone_rpc_message *message)
{
    free(message->id_text);
    message->id_text = NULL;
}

static char *envelope(const char *id_text, const char *member, const char *value)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_str(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    hone_buf_str(&out, id_text);
    hone_buf_str(&out, ",\"");
    hone_buf_str(&out, member);
    hone_buf_str(&out, "\":");
    hone_buf_str(&out, value);
    hone_buf_str(&out, "}");
    if (!out.has_failed)
        return hone_buf_steal(&out);
    hone_buf_done(&out);
    return NULL;
}

char *hone_rpc_result(const char *id_text, const char *result_json)
{
    char *text = envelope(id_text, "result", result_json);
    if (text)
        return text;
    return hone_rpc_error(id_text, hone_rpc_number(HONE_E_LIMIT), "the answer is too large", NULL);
}

char *hone_rpc_quote(const char *text)
{
    struct hone_buf out = {.limit = SIZE_MAX / 4}; /* bounded by the text */
    hone_json_print_str(&out, text);
    HONE_BUG_ON(out.has_failed);
    return hone_buf_steal(&out);
}

char *hone_rpc_error(const char *id_text, int number, const char *message, const char *data_json)
{
    HONE_AUTOFREE char *quoted = hone_rpc_quote(message);
    HONE_AUTOFREE char *error =
        hone_sprintf("{\"code\":%d,\"message\":%s%s%s}", number, quoted,
                     data_json ? ",\"data\":" : "", data_json ? data_json : "");
    return envelope(id_text, "error", error);
}

char *hone_rpc_notification(const char *method, const char *params_json)
{
    return hone_sprintf("{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method,
                        params_json ? params_json : "{}");
}

char *hone_rpc_request(const char *id_text, const char *method, const char *params_json)
{
    return hone_sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":%s}", id_text,
                        method, params_json ? params_json : "{}");
}

char *hone_rpc_error_of(const char *id_text, const struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "code", hone_code_name(err->code));
    if (err->path[0])
        hone_json_set_str(data, "path", err->path);
    HONE_AUTOFREE char *text = hone_json_print(data);
    return hone_rpc_error(id_text, hone_rpc_number(err->code), err->message, text);
}
