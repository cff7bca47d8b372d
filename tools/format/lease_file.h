/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a timing lease: who holds it, and who waits.
 *
 * A lease is a lock file. Who holds it writes into it who that is; who waits leaves a file of the same
 * form beside it, LEASE.wait-PID, and removes it. What stands in these files was written by other
 * processes: it is made printable, cut, and believed only while that process lives. Each device has a
 * lease of its own, LEASE-UUID, beside the machine's, which timings on the processor take. The judge
 * reads the uuid from the device that it opened: a program that sees one device of several and one
 * that sees them all have the same lease. Any thread. */
#ifndef HONE_FORMAT_LEASE_FILE_H
#define HONE_FORMAT_LEASE_FILE_H

#include "tools/format/job.h"

#define HONE_LEASE_HOLDER_BYTES (HONE_LIMIT_HOLDER_BYTES + 32)

/* The lock of a device's timings: path itself without a device (NULL, or no uuid of 32 hex digits).
 * Owned. */
char *hone_lease_path(const char *path, const char *device);
/* Writes that this process holds it. */
void hone_lease_sign(int fd, const struct hone_job *job, const char *task);
/* "pid 123 (softmax, confirm, call 2026...)", or "another process": by what stands in the file. */
void hone_lease_holder(const char *path, char *ret, size_t size);
/* Says that this process waits for it; hone_lease_stop_waiting takes that back. A courtesy. */
void hone_lease_wait(const char *path, const struct hone_job *job, const char *task);
void hone_lease_stop_waiting(const char *path);
/* {"held": bool, "by": "pid ...", "waiting": ["pid ..."], "more_waiting": n}: takes the lock for a
 * moment when it is free. At most HONE_LIMIT_LEASE_WAITERS are named. Owned. */
struct hone_json *hone_lease_json(const char *path);

#endif
