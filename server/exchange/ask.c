/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange/ask.h"

#include <string.h>

/* ---- forms of answers ---- */

static bool is_object(const struct hone_json *value)
{
    return hone_json_type(value) == HONE_JSON_OBJECT;
}

static bool is_message(const struct hone_json *answer)
{
    enum hone_json_type content = hone_json_type(hone_json_get(answer, "content"));
    return hone_json_get_str(answer, "role", NULL) != NULL &&
           (content == HONE_JSON_OBJECT || content == HONE_JSON_ARRAY);
}

static bool is_elicited(const struct hone_json *answer)
{
    static const char *const actions[] = {"accept", "decline", "cancel"};
    const char *action = hone_json_get_str(answer, "action", "");
    const struct hone_json *content = hone_json_get(answer, "content");
    for (size_t i = 0; i < HONE_COUNTOF(actions); i++)
        if (strcmp(actions[i], action) == 0)
            return content == NULL || is_object(content);
    return false;
}

static bool is_roots(const struct hone_json *answer)
{
    return hone_json_type(hone_json_get(answer, "roots")) == HONE_JSON_ARRAY;
}

/* ---- methods ---- */

/* A part is a capability within the capability; a client that names no part of elicitation can do
 * forms. */
static const struct method {
    const char *name, *capability;
    const char *member, *value; /* of params, for which the part is needed; value NULL: any */
    const char *part;
    bool (*is_good)(const struct hone_json *answer);
    const char *form;
} methods[] = {
    {"elicitation/create", "elicitation", "mode", "url", "url", is_elicited,
     "{\"action\":\"accept\"|\"decline\"|\"cancel\",\"content\":{...}}"},
    {"elicitation/create", "elicitation", NULL, NULL, "form", is_elicited, NULL},
    {"roots/list", "roots", NULL, NULL, NULL, is_roots, "{\"roots\":[...]}"},
    {"sampling/createMessage", "sampling", "tools", NULL, "tools", is_message,
     "{\"role\":...,\"content\":{...}}"},
    {"sampling/createMessage", "sampling", NULL, NULL, NULL, is_message, NULL},
};

static bool applies(const struct method *row, const struct hone_json *params)
{
    const struct hone_json *member =
        row->member != NULL ? hone_json_get(params, row->member) : NULL;
    if (row->member == NULL)
        return true;
    return member != NULL &&
           (row->value == NULL ||
            (hone_json_str(member) != NULL && strcmp(hone_json_str(member), row->value) == 0));
}

static const struct method *find(const struct hone_ask *ask)
{
    HONE_AUTOJSON struct hone_json *params = NULL;
    HONE_BUG_ON(hone_json_parse(ask->params_json, strlen(ask->params_json), &params, NULL) < 0);
    for (size_t i = 0; i < HONE_COUNTOF(methods); i++)
        if (strcmp(methods[i].name, ask->method) == 0 && applies(&methods[i], params))
            return &methods[i];
    return NULL;
}

static bool is_form(const struct method *row)
{
    return row->part != NULL && strcmp(row->part, "form") == 0;
}

bool hone_ask_can(const struct hone_json *able, const struct hone_ask *ask)
{
    const struct method *row = find(ask);
    const struct hone_json *whole = row != NULL ? hone_json_get(able, row->capability) : NULL;
    if (!is_object(whole))
        return false;
    return row->part == NULL || is_object(hone_json_get(whole, row->part)) ||
           (is_form(row) && hone_json_size(whole) == 0);
}

void hone_ask_need(const struct hone_ask *ask, struct hone_json *capabilities)
{
    const struct method *row = find(ask);
    if (row == NULL)
        return;
    if (hone_json_get(capabilities, row->capability) == NULL)
        hone_json_set(capabilities, row->capability, hone_json_new_object());
    if (row->part != NULL && !is_form(row))
        hone_json_set(hone_json_get(capabilities, row->capability), row->part,
                      hone_json_new_object());
}

int hone_ask_check(const char *method, const struct hone_json *answer, struct hone_err *err)
{
    for (size_t i = 0; i < HONE_COUNTOF(methods); i++) {
        if (strcmp(methods[i].name, method) != 0)
            continue;
        if (is_object(answer) && methods[i].is_good(answer))
            return 0;
        return hone_fail(err, HONE_E_ARG, "an answer to %s is %s", method, methods[i].form);
    }
    return hone_fail(err, HONE_E_BUG, "nobody answers %s", method);
}

struct hone_json *hone_ask_request(const struct hone_ask *ask)
{
    struct hone_json *request = hone_json_new_object(), *params = NULL;
    HONE_BUG_ON(hone_json_parse(ask->params_json, strlen(ask->params_json), &params, NULL) < 0);
    hone_json_set_str(request, "method", ask->method);
    hone_json_set(request, "params", params);
    return request;
}

static void free_json(void *json)
{
    hone_json_free(json);
}

void hone_ask_fill(struct hone_ask *ask, const struct hone_json *answer, struct hone_pool *pool)
{
    ask->answer = hone_json_copy(answer);
    hone_pool_defer(pool, free_json, ask->answer);
}
