/* SPDX-License-Identifier: Apache-2.0 */
/* Will a search that runs unattended get through? What `hone doctor --task` says
 * beyond the machine.
 *
 * Takes the options that the search will take and looks, in this order, at: the options themselves,
 * the coder, the models (configured, key readable, price known; with asks one short paid request to
 * each), who is told, the folder's disk, and the baseline: it is built, checked and timed against
 * itself, which says how long a screen takes and how wide an interval of no difference is. From
 * that, what the caps leave room for.
 *
 * The evaluations are in the workspace's ledger, but are no versions. The requests to models are not:
 * they go past the journal (agents/model/journal.h), which belongs to a search. Keys are never
 * shown. */
#ifndef HONE_AGENTS_PREFLIGHT_H
#define HONE_AGENTS_PREFLIGHT_H

#include "agents/search/search.h"

enum hone_preflight_level {
    HONE_PREFLIGHT_OK,
    HONE_PREFLIGHT_WEAK, /* it will run, with the loss that the text names */
    HONE_PREFLIGHT_NO    /* it will not */
};
/* what: one or two words; text: one line for people. Borrowed for the call. */
typedef void hone_preflight_fn(void *arg, enum hone_preflight_level level, const char *what,
                               const char *text);

struct hone_preflight {    /* NaN, 0: not known */
    double noise_percent;  /* half the width of the interval of the baseline against itself */
    double noise_offset;   /* how far from 1 the ratio was at worst, in percent */
    int64_t screen_ms;     /* one evaluation, start to end */
    int64_t ask_ms;        /* one answer of the coder's model */
    int64_t n_evaluations; /* that the caps leave room for, models' time left out unless asked */
    int64_t disk_mib;      /* that those will take, about */
    double ask_cost;       /* USD that one request of the coder reserves at most */
};

/* Negative: the examination itself could not go on (cancel); what is wrong with the search is told
 * to fn. Blocks for seconds; any thread. */
int hone_preflight(struct hone_tool_ctx *ctx, const struct hone_search_options *options, bool asks,
                   hone_preflight_fn *fn, void *fn_arg, struct hone_preflight *ret,
                   struct hone_err *err);

#endif
