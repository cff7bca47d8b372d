/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of one jail: process count and memory of everything inside, by cgroup v2 or v1,
 * where this process may make them.
 *
 * A group lies below the caller's own (limits set from outside keep counting), is named hone-<pid
 * of the caller>-<n> and is removed with the jail. Groups that a killed runner left behind are
 * removed by the next one. Runner main thread. */
#ifndef HONE_RUNNER_CGROUP_H
#define HONE_RUNNER_CGROUP_H

#include <sys/types.h>
#include "workspace/base/err.h"

struct hone_cgroup; /* opaque */

struct hone_cgroup_events {
    bool was_oom, hit_pids;
};

/* Makes what can be made; *ret is NULL when nothing can (no error: the jail then has per-slot
 * limits only). */
void hone_cgroup_make(int64_t memory_bytes, int max_pids, struct hone_cgroup **ret);
/* Moves a process in. A controller that refuses is dropped. */
void hone_cgroup_add(struct hone_cgroup *group, pid_t pid);
/* Stops or continues everything inside; HONE_E_UNSUPPORTED without cgroup v2. Blocks until the
 * kernel says so, at most a second. */
int hone_cgroup_freeze(struct hone_cgroup *group, bool freeze, struct hone_err *err);
/* What the limits did so far. */
struct hone_cgroup_events hone_cgroup_events(const struct hone_cgroup *group);
/* Kills what is left inside and removes the folders. NULL is fine. */
void hone_cgroup_free(struct hone_cgroup *group);
/* "pids v1, memory v1", "none": for hone doctor. */
void hone_cgroup_describe(const struct hone_cgroup *group, char *ret, size_t size);

#endif
