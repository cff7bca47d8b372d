/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads with a bounded queue. Threads start when there is work for them and stay.
 *
 * A lane of its own for each kind of work is what keeps a cheap call from waiting behind a long one
 * (server/rpc/app.h lists them). A task runs to its end: whoever wants it to stop sets the cancel flag
 * that the task polls. */
#ifndef HONE_SERVER_WORKERS_H
#define HONE_SERVER_WORKERS_H

#include "workspace/base/err.h"

struct hone_workers; /* opaque */

typedef void hone_work_fn(void *arg);

struct hone_workers *hone_workers_new(size_t max_threads, size_t max_queued);
/* Runs fn(arg) on a worker; any thread. HONE_E_BUSY when the queue is full or the workers are
 * stopping: fn is then not called. */
int hone_workers_submit(struct hone_workers *workers, hone_work_fn *fn, void *arg,
                        struct hone_err *err);
/* Accepts nothing more and waits until everything accepted has run; false when the
 * deadline passes first. */
bool hone_workers_stop(struct hone_workers *workers, int64_t deadline_ns);
/* After a successful hone_workers_stop; NULL is fine. */
void hone_workers_free(struct hone_workers *workers);

#endif
