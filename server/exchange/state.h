/* SPDX-License-Identifier: Apache-2.0 */
/* requestState: what a call's client keeps for the server between two rounds, as text.
 *
 * It holds the answers of earlier rounds, which the client gave itself, and nothing else that is of
 * interest to anybody. It is good for one call alone (token, method, name, arguments) until its time
 * is over, and for as long as the server runs: all this goes into a MAC with a key that never leaves
 * the process. Arguments count by what they say: the order of members is the client's.
 *
 * No state; any thread. */
#ifndef HONE_SERVER_STATE_H
#define HONE_SERVER_STATE_H

#include "workspace/base/json.h"

#define HONE_STATE_KEY_BYTES 32

struct hone_state_call {               /* what a state is good for; all borrowed */
    const unsigned char *key;          /* HONE_STATE_KEY_BYTES random ones */
    const char *client;                /* whose token was shown */
    const char *method, *name;         /* tools/call, and of what */
    const struct hone_json *arguments; /* NULL: {} */
};

/* Owned text. HONE_E_LIMIT: the answers are too large. */
int hone_state_make(const struct hone_state_call *call, const struct hone_json *answers,
                    int64_t now_ns, char **ret, struct hone_err *err);
/* The answers, owned. HONE_E_LIMIT: too long to be one; HONE_E_ARG: none of ours, of another call, or
 * too old. */
int hone_state_read(const struct hone_state_call *call, const char *text, int64_t now_ns,
                    struct hone_json **ret_answers, struct hone_err *err);

#endif
