/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's records in the ledger. One struct and one field table for each type. */
#ifndef HONE_AGENTS_SUITE_RECORD_H
#define HONE_AGENTS_SUITE_RECORD_H

#include "agents/suite/suite.h"

struct hone_suite_start { /* suite.start */
    const char *suite, *name, *key, *target;
    struct hone_strs tasks, searches;
    int64_t lanes;
    struct hone_event_caps caps;
};
struct hone_suite_run_record { /* suite.run: another process goes on; caps may be new ones */
    const char *suite;
    int64_t lanes, elapsed_ms;
    struct hone_event_caps caps;
};
struct hone_suite_begin { /* suite.begin: a search is about to begin */
    const char *suite, *task;
    int64_t elapsed_ms; /* of the suite */
    struct hone_event_caps share, before;
};
struct hone_suite_done { /* suite.task: it has ended */
    const char *suite, *task;
    int64_t elapsed_ms;
    struct hone_event_caps used;
    bool is_stopped_by_share;
    const char *code, *message; /* NULL: no error */
    struct hone_json *result;   /* hone_search_result_fields; NULL: there is none */
};
struct hone_suite_end { /* suite.end */
    const char *suite, *stopped;
    int64_t elapsed_ms;
};

enum hone_suite_record {
    HONE_SUITE_START,
    HONE_SUITE_RUN,
    HONE_SUITE_BEGIN,
    HONE_SUITE_DONE,
    HONE_SUITE_END,
    HONE_SUITE_N_RECORDS
};
/* record: the struct of that type. */
int hone_suite_append(struct hone_ledger *ledger, enum hone_suite_record type, const void *record,
                      struct hone_err *err);
/* The row of a task that began or ended, as its record says it; also while the suite runs. */
void hone_suite_apply_begin(struct hone_suite *suite, const struct hone_suite_begin *begin);
void hone_suite_apply_done(struct hone_suite *suite, const struct hone_suite_done *done,
                           struct hone_pool *pool);
void hone_suite_apply_start(struct hone_suite *suite, const struct hone_suite_start *start,
                            struct hone_pool *pool);

#endif
