/* SPDX-License-Identifier: Apache-2.0 */
/* A call that stands alone and has questions goes in rounds: it ends with the questions, and its
 * client makes it again with the answers. Between rounds the server keeps nothing.
 *
 *     hone_round_open(&round, able, HONE_STEAL(earlier), responses, err);
 *     rc = hone_round_ask(&round, pool, asks, n, err);
 *     rc == HONE_E_CANCEL: look at round.bad, round.needed, round.asked, in this order;
 *     round.used goes into the state (state.h) that comes back with the answers.
 *     hone_round_done(&round);
 *
 * Not thread safe; one call's. */
#ifndef HONE_SERVER_ROUND_H
#define HONE_SERVER_ROUND_H

#include "server/exchange/ask.h"

struct hone_round {
    struct hone_json *able;   /* the client's capabilities */
    struct hone_json *given;  /* key: answer, of earlier rounds and of this one */
    struct hone_json *used;   /* those that were asked for */
    struct hone_json *asked;  /* key: request, to be answered next */
    struct hone_json *needed; /* capabilities without which the call cannot go on */
    struct hone_err bad;      /* an answer that is malformed */
};

/* able and responses (params.inputResponses, NULL: none) are borrowed, earlier (NULL: none) is moved.
 * What earlier rounds hold stays: an answer that was used is not replaced. HONE_E_ARG: responses is
 * no object; HONE_E_LIMIT: it has too many members. */
int hone_round_open(struct hone_round *round, const struct hone_json *able,
                    struct hone_json *earlier, const struct hone_json *responses,
                    struct hone_err *err);
/* Fills in the answers. HONE_E_CANCEL where one is missing or bad: the call ends here. Keys that
 * nobody asks for are passed over. */
int hone_round_ask(struct hone_round *round, struct hone_pool *pool, struct hone_ask *asks,
                   size_t n, struct hone_err *err);
bool hone_round_has_ended(const struct hone_round *round); /* by hone_round_ask */
void hone_round_done(struct hone_round *round);            /* a zeroed one is fine */

#endif
