/* SPDX-License-Identifier: Apache-2.0 */
/* A runner behind a command: the command's standard streams are a link (link.h) to `hone-runner
 * --serve` at its other end, on this machine or another one.
 *
 *     hone_remote_open("ssh node7 hone-runner --serve", 0, deadline, cancel, &remote, &err);
 *     hone_remote_run(remote, "CALL", &job, on_progress, arg, cancel, &end, &err);
 *     read CALL/report.json; when there is none, end tells why
 *     hone_remote_close(remote);
 *
 * The command runs under /bin/sh with this program's environment; the folder of this program comes
 * first in PATH, so that "hone-runner --serve" finds the one beside hone. "{i}" in it becomes the
 * runner's number. One job at a time; one thread at a time uses a remote. */
#ifndef HONE_LAUNCH_REMOTE_H
#define HONE_LAUNCH_REMOTE_H

#include "tools/launch/launch.h"

struct hone_remote;

/* Starts the command and waits for the greeting. HONE_E_UNSUPPORTED: another version;
 * HONE_E_TARGET: it ended or did not greet in time, with what it said; HONE_E_CANCEL. */
int hone_remote_open(const char *command, size_t number, int64_t deadline_ns,
                     const struct hone_cancel *cancel, struct hone_remote **ret,
                     struct hone_err *err);
void hone_remote_close(struct hone_remote *remote); /* kills the command; NULL is fine */
const char *hone_remote_class(const struct hone_remote *remote); /* hone_launch_class over there */
/* Sends the job with the files that the other side lacks, and receives report.json and raw samples
 * into CALL. 0 with *ret: the runner ended. HONE_E_CANCEL; HONE_E_TARGET: it could not begin the
 * job; HONE_E_IO and all others: the runner is lost, close it. */
int hone_remote_run(struct hone_remote *remote, const char *call_dir, const struct hone_job *job,
                    hone_progress_fn *on_progress, void *progress_arg,
                    const struct hone_cancel *cancel, struct hone_launch_end *ret,
                    struct hone_err *err);
int hone_remote_probe(struct hone_remote *remote, struct hone_json **ret, struct hone_err *err);
/* Between jobs, every HONE_LINK_PING_MS or so: says that this side lives. false: the runner is
 * lost. */
bool hone_remote_keep(struct hone_remote *remote);

#endif
