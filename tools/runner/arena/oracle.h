/* SPDX-License-Identifier: Apache-2.0 */
/* The reference answers: a jailed process of its own that computes work items in double precision.
 *
 * The answers file holds a list of item numbers and then records; for iterated tasks instead the
 * final state, one double array per output. Runner main thread; blocks. */
#ifndef HONE_RUNNER_ORACLE_H
#define HONE_RUNNER_ORACLE_H

#include "tools/runner/arena/arm.h"
#include "workspace/task/oracle_abi.h"

/* In place of a count of records: the room is too small; a module has no answer at such a size. */
enum { HONE_ORACLE_NO_ROOM = -1, HONE_ORACLE_NO_ANSWER = -2 };

#define HONE_ORACLE_RECORDS_AT (HONE_CONTROL_ITEMS_MAX * (int64_t)sizeof(int64_t))

/* Size of the answers file for outputs of at most n_elements elements together. */
int64_t hone_oracle_answer_bytes(const struct hone_task *task, int64_t n_elements);

typedef void hone_records_fn(void *arg, const struct hone_oracle_record *records, int64_t n);
struct hone_oracle_ask {
    int64_t set;
    const int64_t *items; /* NULL: first .. first + n - 1 */
    int64_t first, n;     /* items; of one step for an iterated task */
    int64_t n_steps;      /* iterated tasks */
    int64_t n_threads;
    hone_records_fn *on_records;
    void *arg;
};
/* Calls on_records for the records of the items of one set, in portions. The oracle must be mapped
 * (hone_arena_map). A fault of the oracle is the pack's: HONE_E_TARGET. */
int hone_oracle_items(struct hone_arena *oracle, const struct hone_oracle_ask *what,
                      struct hone_err *err);
/* Has torch run the task's module n_calls times in float32 over the first n_sets sets, after calls
 * that do not count; *ret_ns is what one took by the worker's clock, 0: it could not. */
int hone_oracle_time(struct hone_arena *oracle, int64_t n_calls, int64_t n_sets, int64_t n_threads,
                     double *ret_ns, struct hone_err *err);
/* Runs an iterated task to its end and hands over each output element as a record. */
int hone_oracle_steps(struct hone_arena *oracle, const struct hone_oracle_ask *what,
                      struct hone_err *err);

#endif
