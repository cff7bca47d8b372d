/* SPDX-License-Identifier: Apache-2.0 */
/* The jail: where compilers, oracles and candidates run. A ladder of rungs; the one used stands in
 * every report.
 *
 *   "userns"       user, mount, pid, ipc, uts and network namespaces, pivot_root to read-only binds
 *                  (an ordinary user, or root where user namespaces are allowed)
 *   "root"         the same without a user namespace: real root, a uid of its own per slot
 *                  (also in a chroot or a container)
 *   "weak"         landlock and seccomp only; refused unless the user allows it
 *   "device-open"  no jail at all: DEVICE only, never chosen by "auto"; for machines where a jailed
 *                  driver does not start
 *
 * On every rung of the ladder: no capabilities, no_new_privs, seccomp, resource limits, an empty
 * environment, only the descriptors that were passed, process count and memory by cgroup v2 or v1
 * where they can be made, else by per-slot limits. Runner main thread only. */
#ifndef HONE_RUNNER_JAIL_H
#define HONE_RUNNER_JAIL_H

#include <sys/types.h>
#include "workspace/base/buf.h"

enum hone_jail_profile {
    HONE_JAIL_COMPILE, /* may exec and fork (cc, as, ld); writes in /work only */
    HONE_JAIL_ARENA,   /* one process with threads: no fork, no exec, no sockets, no files to write
                          beyond a small /tmp */
    HONE_JAIL_ORACLE,  /* as ARENA */
    HONE_JAIL_RECORD,  /* as ARENA, but it may fork: a child per call of a launcher */
    HONE_JAIL_TORCH,   /* a Python with torch: it may fork and load libraries; files to write and
                          network as for ARENA. Not tightened */
    HONE_JAIL_DEVICE,  /* our own code beside a GPU driver, never a candidate: device nodes, the
                          driver's libraries, /proc, parts of /sys, ioctl, address space and locked
                          memory without limit; no exec after tighten, no fork, no network */
    HONE_JAIL_DEVICE_TORCH /* torch beside a GPU driver with the module of a task, which torch may
                              compile (gpu_yardstick.c): as DEVICE, and it may fork and exec, sees
                              compilers, and what it writes in /tmp may become code. Not tightened */
};

struct hone_jail_spec {
    enum hone_jail_profile profile;
    const char *rung; /* "auto" (also NULL), "userns", "root", "weak" */
    bool allow_weak;
    const char *const
        *argv; /* argv[0] is a path inside the jail; the runner itself is at /hone/hone-runner */
    const char *const *env; /* NULL: PATH=/usr/bin:/bin LANG=C */
    /* Host folder bound at /work, which is also the current folder: read-write for COMPILE,
     * read-only otherwise; NULL: an empty one. The weak rung has no /work: whole arguments that
     * start with /work/ are translated there, everything else should use relative names. When the
     * caller is root: COMPILE owns it while it runs (chown and back), otherwise it is made readable
     * for all (chmod a+rX). */
    const char *work_dir;
    const char *const *ro_files; /* further host files or folders visible read-only at the same
                                    path, NULL-terminated; NULL: none */
    /* DEVICE: host folder of the driver's library, shown at /hone/driver; the program finds it in
     * $HONE_CUDA_LIB. NULL: none. */
    const char *driver_dir;
    bool keep_perfmon; /* DEVICE on rung "root": CAP_PERFMON stays, which a driver asks for before
                          it shows counters; nothing elsewhere */
    /* 0: no limit of that kind. memory_bytes bounds private memory of each process (RLIMIT_DATA,
     * plus a stack a thread) and, where there is a memory cgroup, everything together, /tmp and
     * pages of shared buffers that the jail touched first included: count those in. file_bytes is
     * the most for one file; a COMPILE jail is killed when /work exceeds four times that or 4096
     * files. */
    int64_t memory_bytes, tmp_bytes, file_bytes;
    int64_t cpu_seconds; /* RLIMIT_CPU, per process; SIGKILL at the end */
    int max_pids;        /* threads included */
    int fds[16];         /* passed on as 3, 4, ... */
    size_t n_fds;
    int stdin_fd, stdout_fd, stderr_fd; /* -1: /dev/null */
};

struct hone_jail; /* opaque: one running jail */

/* Starts argv inside. HONE_E_UNSUPPORTED with an explanation when no rung works. */
int hone_jail_start(const struct hone_jail_spec *spec, struct hone_jail **ret,
                    struct hone_err *err);
pid_t hone_jail_pid(const struct hone_jail *jail); /* direct child of the caller; init of its pid
                                                      namespace where there is one */
const char *hone_jail_rung(const struct hone_jail *jail);
/* Stops every thread and returns when all have stopped (SIGSTOP + waitpid; a COMPILE jail has
 * several processes and needs cgroup v2, else HONE_E_UNSUPPORTED). HONE_E_TARGET when it has ended
 * meanwhile (hone_jail_has_exited tells how), and when it did not stop within two seconds: then it
 * is killed. */
int hone_jail_freeze(struct hone_jail *jail, struct hone_err *err);
/* HONE_E_TARGET when it has ended, or had been continued by somebody else: then it is killed. */
int hone_jail_thaw(struct hone_jail *jail, struct hone_err *err);
/* CPU time in ns: all threads of its first process while it runs, everything that was
 * waited for afterwards. */
int64_t hone_jail_cpu_ns(const struct hone_jail *jail);

/* Threads of its first process now; 0: not known. Reads a file. */
int64_t hone_jail_n_threads(const struct hone_jail *jail);

struct hone_jail_exit {
    bool has_exited;
    int status; /* exit status or -1 */
    int signal; /* 0 or what ended it. abort() of pid 1 of a namespace reads SIGSEGV: its SIGABRT is
                   ignored by the kernel */
    bool was_oom, was_seccomp, hit_pids, hit_disk, hit_cpu;
    bool defied_stop;      /* ran while it was frozen, or could not be; killed for it */
    int64_t cpu_ns;        /* of it and the children it waited for */
    int64_t max_rss_bytes; /* of its largest process */
};
/* Waits until it ends or the deadline passes (then HONE_E_TIMEOUT, still running). */
int hone_jail_wait(struct hone_jail *jail, int64_t deadline_ns, struct hone_jail_exit *ret,
                   struct hone_err *err);
bool hone_jail_has_exited(struct hone_jail *jail, struct hone_jail_exit *ret); /* does not block */
/* Kills everything inside, reaps, removes cgroup and mounts. NULL is fine. */
void hone_jail_free(struct hone_jail *jail);

/* For the program inside an ARENA or ORACLE jail, once it has started and before it loads anything
 * foreign: from now on exec, prctl and signals to others are refused as well, for all threads, and
 * other processes of the same user cannot attach. Cannot be undone. */
int hone_jail_tighten(enum hone_jail_profile profile, struct hone_err *err);
/* After that, and after everything foreign has been loaded: no memory becomes executable any more,
 * for all threads. dlopen fails from now on. Cannot be undone. */
int hone_jail_close_code(struct hone_err *err);

/* Which rungs work here, with one line of explanation each; for `hone doctor`. */
struct hone_jail_rung {
    const char *name;
    bool works;
    char why[200];
};
size_t hone_jail_probe(struct hone_jail_rung *ret,
                       size_t max); /* number of rungs; starts a small program on each */

#endif
