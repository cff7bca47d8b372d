/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads with a bounded queue. Threads start when there is work for them and stay.
 *
 * A lane of its own for each kind of work is what keeps a cheap call from waiting behind a long one
 * (server/rpc/app.h lists them). Within a lane those who wait take turns: each task has the number of
 * whom it is for, and a free worker takes the oldest task of the next one in the round. Of the queue
 * the last quarter is for those who have nothing in it. So a client with a hundred tasks delays
 * another's one by a single task, and cannot fill the queue. A task runs to its end: whoever wants it
 * to stop sets the cancel flag that the task polls. */
#ifndef HONE_SERVER_WORKERS_H
#define HONE_SERVER_WORKERS_H

#include "workspace/base/err.h"

struct hone_workers; /* opaque */

typedef void hone_work_fn(void *arg);

struct hone_workers *hone_workers_new(size_t max_threads, size_t max_queued);
/* Runs fn(arg) on a worker; any thread. turn: for whom, any number. HONE_E_BUSY when the queue is full or the workers are
 * stopping: fn is then not called. */
int hone_workers_submit(struct hone_workers *workers, uint64_t turn, hone_work_fn *fn, void *arg,
                        struct hone_err *err);
/* A turn for those that names alone tell apart. */
uint64_t hone_turn_of(const char *name, const char *second);
/* Accepts nothing more and waits until everything accepted has run; false when the
 * deadline passes first. */
bool hone_workers_stop(struct hone_workers *workers, int64_t deadline_ns);
/* After a successful hone_workers_stop; NULL is fine. */
void hone_workers_free(struct hone_workers *workers);

#endif
