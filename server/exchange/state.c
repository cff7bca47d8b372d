/* SPDX-License-Identifier: Apache-2.0 */
/* The text is "EXPIRY.MAC.ANSWERS": 16 hex digits of monotonic nanoseconds, 64 of the MAC, and the
 * JSON. The MAC is looked at before anything else is believed. */
#include "server/exchange/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define EXPIRY_DIGITS 16
#define MAC_DIGITS    (HONE_HASH_TEXT_BYTES - 1)
#define HEAD_BYTES    (EXPIRY_DIGITS + 1 + MAC_DIGITS + 1)

static void put_value(struct hone_hasher *hasher, const struct hone_json *value);

static int by_key(const void *a, const void *b)
{
    return strcmp(hone_json_key(*(const struct hone_json *const *)a),
                  hone_json_key(*(const struct hone_json *const *)b));
}

static void put_members(struct hone_hasher *hasher, const struct hone_json *object)
{
    size_t n = hone_json_size(object), i = 0;
    HONE_AUTOFREE const struct hone_json **members = hone_calloc(n + 1, sizeof(*members));
    for (const struct hone_json *m = hone_json_first(object); m != NULL; m = hone_json_next(m))
        members[i++] = m;
    qsort(members, n, sizeof(*members), by_key);
    for (i = 0; i < n; i++) {
        hone_hasher_str(hasher, hone_json_key(members[i]));
        put_value(hasher, members[i]);
    }
}

/* As deep as a parsed text may be. */
static void put_value(struct hone_hasher *hasher, const struct hone_json *value)
{
    enum hone_json_type type = hone_json_type(value);
    size_t n = hone_json_size(value);
    if (type != HONE_JSON_OBJECT && type != HONE_JSON_ARRAY) {
        HONE_AUTOFREE char *text = hone_json_print(value);
        hone_hasher_str(hasher, text);
        return;
    }
    hone_hasher_str(hasher, type == HONE_JSON_OBJECT ? "{" : "[");
    hone_hasher_part(hasher, &n, sizeof(n));
    if (type == HONE_JSON_OBJECT)
        put_members(hasher, value);
    for (const struct hone_json *e = type == HONE_JSON_ARRAY ? hone_json_first(value) : NULL;
         e != NULL; e = hone_json_next(e))
        put_value(hasher, e);
}

static void mac_of(const struct hone_state_call *call, const char *expiry, const char *answers,
                   char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher hasher;
    char digest[HONE_HASH_TEXT_BYTES];
    HONE_AUTOJSON struct hone_json *none = call->arguments == NULL ? hone_json_new_object() : NULL;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, "hone request state 1");
    hone_hasher_str(&hasher, call->client);
    hone_hasher_str(&hasher, call->method);
    hone_hasher_str(&hasher, call->name);
    put_value(&hasher, none != NULL ? none : call->arguments);
    hone_hasher_part(&hasher, expiry, EXPIRY_DIGITS);
    hone_hasher_str(&hasher, answers);
    hone_hasher_end(&hasher, digest);
    hone_mac(call->key, HONE_STATE_KEY_BYTES, digest, MAC_DIGITS, ret);
}

int hone_state_make(const struct hone_state_call *call, const struct hone_json *answers,
                    int64_t now_ns, char **ret, struct hone_err *err)
{
    char expiry[EXPIRY_DIGITS + 1], mac[HONE_HASH_TEXT_BYTES];
    HONE_AUTOFREE char *text = hone_json_print(answers);
    if (text == NULL || HEAD_BYTES + strlen(text) > HONE_LIMIT_STATE_BYTES)
        return hone_fail(err, HONE_E_LIMIT,
                         "the answers of a call's earlier rounds have at most %u bytes together",
                         HONE_LIMIT_STATE_BYTES - (unsigned)HEAD_BYTES);
    snprintf(expiry, sizeof(expiry), "%016" PRIx64,
             (uint64_t)(now_ns + HONE_LIMIT_STATE_MS * HONE_NS_PER_MS));
    mac_of(call, expiry, text, mac);
    *ret = hone_sprintf("%s.%s.%s", expiry, mac, text);
    return 0;
}

static int refuse(struct hone_err *err, const char *why)
{
    return hone_fail_at(err, HONE_E_ARG, "params.requestState", "params.requestState %s", why);
}

int hone_state_read(const struct hone_state_call *call, const char *text, int64_t now_ns,
                    struct hone_json **ret_answers, struct hone_err *err)
{
    char mac[HONE_HASH_TEXT_BYTES], shown[HONE_HASH_TEXT_BYTES] = "";
    size_t len = strlen(text);
    if (len > HONE_LIMIT_STATE_BYTES)
        return hone_fail_at(err, HONE_E_LIMIT, "params.requestState",
                            "params.requestState has at most %u bytes", HONE_LIMIT_STATE_BYTES);
    if (len <= HEAD_BYTES || text[EXPIRY_DIGITS] != '.' || text[HEAD_BYTES - 1] != '.')
        return refuse(err, "is none of this server's");
    memcpy(shown, text + EXPIRY_DIGITS + 1, MAC_DIGITS);
    mac_of(call, text, text + HEAD_BYTES, mac);
    if (!hone_mac_is_equal(mac, shown))
        return refuse(err,
                      "is not what this server gave out for this call: it was changed, belongs "
                      "to another call, or the server was started anew");
    if ((int64_t)strtoull(text, NULL, 16) < now_ns) /* the digits end at the dot */
        return refuse(err, "is too old: make the call anew without it");
    return hone_json_parse(text + HEAD_BYTES, len - HEAD_BYTES, ret_answers, err);
}
