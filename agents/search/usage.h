/* SPDX-License-Identifier: Apache-2.0 */
/* What a search has used up, counted from its ledger records alone: by the search when it goes on,
 * by the report.
 *
 *     struct hone_usage t;
 *     hone_usage_init(&t, "s-0123456789ab");
 *     for every record of the ledger, in order: hone_usage_take(&t, &record);
 *
 * An evaluation belongs to the search whose id its start record names as caller
 * (HONE_USAGE_CALLER). It counts when it begins. One without an end (killed) counts with the
 * longest known. Models are counted by agents/model/journal.h. */
#ifndef HONE_AGENTS_USAGE_H
#define HONE_AGENTS_USAGE_H

#include "agents/search/events.h"

#define HONE_USAGE_CALLER "search " /* and the id */
enum { HONE_USAGE_UNUSED = 8, HONE_USAGE_ID_BYTES = 64 };

struct hone_usage_pair { /* an evaluation that ended: its records' numbers */
    uint64_t start, end;
};

struct hone_usage {
    char search[HONE_USAGE_ID_BYTES];
    int64_t evaluations;       /* begun, all rounds */
    int64_t round_evaluations; /* begun in this one */
    int64_t device_ms;         /* all rounds */
    int64_t longest_ms, longest_confirm_ms;
    int64_t wall_ms; /* of this round, without the time when no process worked on it */
    /* Evaluations that ended after the last search.result: answers that nobody may have used. The
     * newest are kept. */
    struct hone_usage_pair unused[HONE_USAGE_UNUSED];
    size_t n_unused;

    char open[HONE_USAGE_ID_BYTES]; /* evaluation without an end yet; "": none */
    bool is_open_confirm;
    uint64_t open_start;
    int64_t open_ms, open_reserved_ms;
    int64_t mark_ms, mark_wall_ms; /* Unix time of the last record that tells the search's own */
};

void hone_usage_init(struct hone_usage *usage, const char *search_id);
struct hone_usage_record { /* one of the ledger; borrowed */
    uint64_t n;
    int64_t wall_ms;
    const char *type;
    const struct hone_json *data;
    const struct hone_event *event; /* read from it; NULL: it is no event of a search */
};
void hone_usage_take(struct hone_usage *usage, const struct hone_usage_record *record);
/* The same for the search's own process, which knows better: one that has ended. */
void hone_usage_add(struct hone_usage *usage, bool is_confirm, int64_t ms);
/* How long an evaluation may hold the device, by what was seen. */
int64_t hone_usage_expected_ms(const struct hone_usage *usage, bool is_confirm);

#endif
