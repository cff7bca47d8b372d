/* SPDX-License-Identifier: Apache-2.0 */
/* The timing lease: one timing at a time on a device, by a lock file (tools/format/lease_file.h).
 *
 * Who holds it writes into the file who that is and what for. Whoever waits reads that, says it
 * while waiting (progress) and afterwards (stage "lease", a warning, the error when it was in
 * vain). What stands in the file was written by another process: it is made printable and cut, and
 * only believed while that process lives. Waiting counts against no budget of the timing, and the
 * job's own deadline moves by it. Blocks; ends early when the runner is told to stop. */
#ifndef HONE_RUNNER_LEASE_H
#define HONE_RUNNER_LEASE_H

#include "tools/runner/judge/judge.h"

/* *ret_fd: -1 when the job names no lease; close it to let go. HONE_E_BUSY: not within the job's
 * time for it; HONE_E_CANCEL. */
int hone_lease_take(struct hone_judge *judge, int *ret_fd, struct hone_err *err);

#endif
