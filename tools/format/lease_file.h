/* SPDX-License-Identifier: Apache-2.0 */
/* The lock files of timing leases: one for the processors, one for each device, and what they say.
 *
 *     BASE               the processors' (hone_timing_lock_path)
 *     BASE.UUID          a device's, whatever number a program knows it by
 *     LOCK.wait-PID      locked by a process that waits for LOCK
 *
 * Who holds a lock writes "PID what for" into it; its time of change is since when. What stands
 * there was written by another process: it is made printable and cut, and believed only while the
 * file is locked. Any thread. */
#ifndef HONE_FORMAT_LEASE_FILE_H
#define HONE_FORMAT_LEASE_FILE_H

#include "tools/format/job.h"
#include "workspace/base/buf.h"

struct hone_lease_user { /* strings in the pool */
    int64_t pid;         /* 0: not known */
    const char *what;    /* "softmax, confirm, call 2026..." */
    int64_t since_ms;    /* Unix time */
};

struct hone_lease_state {
    bool is_held;
    struct hone_lease_user holder;
    struct hone_array waiters; /* of struct hone_lease_user */
};

/* uuid NULL: the processors'. In the pool. */
const char *hone_lease_path(const char *base, const char *uuid, struct hone_pool *pool);
/* Writes that this process holds fd's file. */
void hone_lease_sign(int fd, const struct hone_job *job, const char *task);
/* "pid 123 (softmax, confirm, call 2026...)", or "another process": by what stands in the file. */
void hone_lease_holder(const char *path, char *ret, size_t size);
/* Makes this process known as one that waits; -1: it could not be, which matters to nobody. */
int hone_lease_join_queue(const char *path, const struct hone_job *job, const char *task);
void hone_lease_leave_queue(const char *path, int fd); /* fd -1 is fine */
/* Who has it and who waits, of this instant. */
void hone_lease_look(const char *path, struct hone_pool *pool, struct hone_lease_state *ret);

#endif
