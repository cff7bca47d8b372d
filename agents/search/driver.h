/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a search: it looks around, asks next.h what comes next, carries that out, and again
 * until the round ends.
 *
 *     for (;;) {
 *         outlook = what the process sees
 *         decision = hone_next(&outlook)
 *         row of the decision: evaluates, and commits its events (hone_search_record_event: appended to
 *         the ledger, then applied to the state)
 *     }
 *
 * Nothing else decides what a search does. One thread. */
#ifndef HONE_AGENTS_DRIVER_H
#define HONE_AGENTS_DRIVER_H

#include "agents/search/next.h"
#include "agents/search/search_internal.h"

struct hone_round { /* that has ended */
    struct hone_closing closing;
    struct hone_search_outcome outcome; /* of closing.node's confirmation; unset without one */
};

/* From an open search to the end of its round. HONE_E_CANCEL: what ended is in the records. */
int hone_drive(struct hone_search *s, struct hone_round *ret, struct hone_err *err);

#endif
