/* The jail: where compilers, oracles and candidates run. A ladder of rungs; the one used stands in every report.
 *
 *   "userns"    user + mount + pid + ipc + uts + net namespaces, pivot_root to read-only binds        (ordinary user, or root where allowed)
 *   "root"      the same without a user namespace, real root; a uid of its own per slot               (root, also in a chroot or container)
 *   "weak"      landlock + seccomp only; refused unless the user allows it
 *
 * On every rung: no capabilities, no_new_privs, seccomp, resource limits, an empty environment, only the descriptors that were passed,
 * process count and memory by cgroup v2 or v1 where they can be made, else by per-slot limits. Runner main thread only. */
#ifndef HONE_RUNNER_JAIL_H
#define HONE_RUNNER_JAIL_H

#include <sys/types.h>
#include "workspace/base/buf.h"

enum hone_jail_profile {
    HONE_JAIL_COMPILE, /* may exec and fork (cc, as, ld); writes in /work only */
    HONE_JAIL_ARENA,   /* one process with threads: no fork, no exec, no sockets, no files to write beyond a small /tmp */
    HONE_JAIL_ORACLE   /* as ARENA */
};

struct hone_jail_spec {
    enum hone_jail_profile profile;
    const char *rung;               /* "auto", "userns", "root", "weak" */
    bool allow_weak;
    const char *const *argv;        /* path inside the jail; the runner itself is at /hone/hone-runner */
    const char *const *env;         /* NULL: PATH=/usr/bin:/bin LANG=C */
    const char *work_dir;           /* host folder bound at /work: read-write for COMPILE, read-only otherwise; NULL: none */
    const char *const *ro_files;    /* further host files or folders visible read-only at the same path, NULL-terminated; NULL: none */
    int64_t memory_bytes, tmp_bytes, file_bytes;
    int64_t cpu_seconds;            /* RLIMIT_CPU */
    int max_pids;                   /* threads included */
    int fds[16];                    /* passed on as 3, 4, ... */
    size_t n_fds;
    int stdin_fd, stdout_fd, stderr_fd; /* -1: /dev/null */
};

struct hone_jail; /* opaque: one running jail */

/* Starts argv inside. HONE_E_UNSUPPORTED with an explanation when no rung works. */
int hone_jail_start(const struct hone_jail_spec *spec, struct hone_jail **ret, struct hone_err *err);
pid_t hone_jail_pid(const struct hone_jail *jail); /* direct child of the caller; init of its pid namespace where there is one */
const char *hone_jail_rung(const struct hone_jail *jail);
/* Stops every thread and returns when all have stopped (SIGSTOP + waitpid, or the cgroup freezer). */
int hone_jail_freeze(struct hone_jail *jail, struct hone_err *err);
int hone_jail_thaw(struct hone_jail *jail, struct hone_err *err);
/* CPU time of the whole jail in ns. */
int64_t hone_jail_cpu_ns(const struct hone_jail *jail);

struct hone_jail_exit { bool has_exited; int status; /* exit status or -1 */ int signal; bool was_oom; bool was_seccomp; bool hit_pids; bool hit_disk; };
/* Waits until it ends or the deadline passes (then HONE_E_TIMEOUT, still running). */
int hone_jail_wait(struct hone_jail *jail, int64_t deadline_ns, struct hone_jail_exit *ret, struct hone_err *err);
bool hone_jail_has_exited(struct hone_jail *jail, struct hone_jail_exit *ret); /* does not block */
/* Kills everything inside, reaps, removes cgroup and mounts. NULL is fine. */
void hone_jail_free(struct hone_jail *jail);

/* Which rungs work here, with one line of explanation each; for `hone doctor`. */
struct hone_jail_rung { const char *name; bool works; char why[200]; };
size_t hone_jail_probe(struct hone_jail_rung *ret, size_t max);

#endif
