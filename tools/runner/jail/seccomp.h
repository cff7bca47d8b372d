/* SPDX-License-Identifier: Apache-2.0 */
/* System call filters of the jail. seccomp.c is the only file that includes libseccomp.
 *
 * A filter is an allow-list: what the table does not name answers ENOSYS (libraries then fall
 * back), what is useless in a jail but common in honest code answers EPERM, and what only an attack
 * would call ends the whole process with SIGSYS. */
#ifndef HONE_RUNNER_SECCOMP_H
#define HONE_RUNNER_SECCOMP_H

#include "workspace/base/err.h"

#define HONE_SECCOMP_MAX_OPS 1024 /* instructions of one filter */

enum hone_seccomp_kind {
    HONE_SECCOMP_COMPILE, /* may fork, exec and write files */
    HONE_SECCOMP_START,   /* one process with threads, before hone_jail_tighten: exec still works */
    HONE_SECCOMP_TIGHT,   /* the same afterwards */
    HONE_SECCOMP_N_COLUMNS,
    /* For our own code beside a device driver, whose calls cannot be listed: everything is allowed
     * except attacks (EPERM instead of an end), and ioctl works. */
    HONE_SECCOMP_DEVICE_START = HONE_SECCOMP_N_COLUMNS,
    HONE_SECCOMP_DEVICE,
    HONE_SECCOMP_DEVICE_TORCH, /* and it may fork and exec */
    /* As START and TIGHT, but it may fork. */
    HONE_SECCOMP_RECORD_START,
    HONE_SECCOMP_RECORD,
    /* As RECORD_START for good, and a socket is refused instead of ending the process: libraries
       that torch loads ask for one when they start. */
    HONE_SECCOMP_TORCH,
    /* On top of TIGHT, once everything is loaded: no memory becomes code any more. */
    HONE_SECCOMP_NO_CODE,
    HONE_SECCOMP_N_KINDS
};

/* Builds a filter as classic BPF (struct sock_filter), to be loaded by a child that must not
 * allocate. is_weak: no pid namespace, so signals to others and leaving the process group are
 * refused too. *ret_ops is owned by the caller (free). Any thread. */
int hone_seccomp_build(enum hone_seccomp_kind kind, bool is_weak, void **ret_ops, size_t *ret_n_ops,
                       struct hone_err *err);

/* Loads the TIGHT, RECORD, DEVICE or NO_CODE filter for all threads of the calling process. */
int hone_seccomp_tighten(enum hone_seccomp_kind kind, struct hone_err *err);

#endif
