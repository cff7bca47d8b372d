/* SPDX-License-Identifier: Apache-2.0 */
/* How long a process was kept from running: what its threads waited for a core of, able to run.
 * From /proc/PID/task/N/schedstat; 0 where the kernel does not say. Any thread. */
#ifndef HONE_RUNNER_WAITED_H
#define HONE_RUNNER_WAITED_H

#include <sys/types.h>

/* Nanoseconds, summed over the threads that live, and how many those are. Threads that have ended
 * are not counted. */
double hone_waited_ns(pid_t pid, double *ret_n_threads);

#endif
