/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0: what a message is, and the text of answers. No transport, no methods, no
 * state; any thread.
 *
 * An id is a string or an integer (0 and negative ones too, at most 2^53 either way); it is kept as
 * its JSON text, so that "1" and 1 stay different and go back exactly as they came. A fractional,
 * null or oversized id is an invalid request (answered with id null). A message without an id is a
 * notification and is never answered, however wrong it is. */
#ifndef HONE_SERVER_RPC_H
#define HONE_SERVER_RPC_H

#include "workspace/base/json.h"

enum hone_rpc_number {
    HONE_RPC_PARSE = -32700,
    HONE_RPC_INVALID = -32600,
    HONE_RPC_METHOD = -32601,
    HONE_RPC_PARAMS = -32602,
    HONE_RPC_INTERNAL = -32603
};
/* The JSON-RPC number of an error code: one table. */
int hone_rpc_number(enum hone_code code);

enum hone_rpc_kind {
    HONE_RPC_REQUEST,
    HONE_RPC_NOTIFICATION,
    HONE_RPC_RESPONSE, /* an answer to a request of ours */
    HONE_RPC_BAD,      /* to be answered with error_number */
    HONE_RPC_IGNORED   /* wrong, but a notification */
};

struct hone_rpc_message {
    enum hone_rpc_kind kind;
    char *id_text;      /* owned JSON text; "null" where a bad message has no usable id; NULL:
                           notification */
    const char *method; /* borrowed from the value */
    const struct hone_json *params; /* borrowed; an object, or NULL */
    int error_number;               /* HONE_RPC_BAD only */
    const char *error_text;         /* static text that says what is accepted */
};

/* Looks at one parsed value (not an array). Cannot fail: a bad one is a kind. */
void hone_rpc_read(const struct hone_json *value, struct hone_rpc_message *ret);
void hone_rpc_message_done(struct hone_rpc_message *message); /* usable as HONE_CLEANUP */

/* Whole messages, one line, owned by the caller. id_text and the *_json texts are put in
 * as they are. */
char *hone_rpc_result(const char *id_text, const char *result_json);
char *hone_rpc_error(const char *id_text, int number, const char *message,
                     const char *data_json /* NULL: none */);
char *hone_rpc_notification(const char *method, const char *params_json);
char *hone_rpc_request(const char *id_text, const char *method, const char *params_json);
/* Error answer for a failed hone call: number by table, data {"code":"limit"} and "path" where
 * there is one. */
char *hone_rpc_error_of(const char *id_text, const struct hone_err *err);
/* Text as a JSON string with quotes; owned. */
char *hone_rpc_quote(const char *text);

#endif
