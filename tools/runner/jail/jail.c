/* SPDX-License-Identifier: Apache-2.0 */
/* One jail's life, seen from the judge.
 *
 *   start  for each rung asked for: plan (all memory), clone with the rung's namespaces, write the
 *          id maps, add to the cgroup, say "go", then read the child's messages until exec closes
 *          its end; no message is success
 *   run    freeze, thaw, wait
 *   end    kill of pid 1 ends its whole pid namespace; reap; remove the cgroup; give the work
 *          folder back; drop the slot
 *
 * The child is a direct child, so that its CPU clock, its stop state and its exit status can be
 * read without help from inside. */
#include "tools/runner/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/runner/jail/cgroup.h"
#include "tools/runner/jail/jail_plan.h"
#include "tools/runner/jail/seccomp.h"
#include "workspace/base/clock.h"

#define START_MS     10000
#define DISK_POLL_MS 50
#define REAP_MS      1000
/* the limit fires early by its own, sampled clock: at 0.83 s of 1 s on a quiet machine, at 0.74 s on
 * a loaded one (seen here) */
#define CPU_SECOND_NS    (600 * HONE_NS_PER_MS)
#define WORK_FILE_FACTOR 4
#define STOP_NS          (2 * HONE_NS_PER_S) /* usually some 20 us */
#define WORK_MAX_FILES   4096

struct hone_jail {
    enum hone_jail_rung_id rung;
    enum hone_jail_profile profile;
    pid_t pid;
    int pid_fd, tmp_fd;
    struct hone_jail_slot slot;
    struct hone_cgroup *cgroup;
    char *work_dir; /* owned */
    bool is_lent;   /* the work folder belongs to the slot now */
    bool over_disk;
    bool is_frozen, defied_stop;
    bool has_timer;
    timer_t timer; /* interrupts the wait for a stop */
    int64_t file_bytes, cpu_seconds;
    struct hone_jail_exit exit;
};

static const unsigned long rung_flags[HONE_N_RUNGS + 1] = {
    [HONE_RUNG_USERNS] =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
    [HONE_RUNG_ROOT] = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
    [HONE_RUNG_WEAK] = 0,
    [HONE_RUNG_OPEN] = 0};

static const struct {
    enum hone_seccomp_kind start, tight;
} filters[] = {
    [HONE_JAIL_COMPILE] = {HONE_SECCOMP_COMPILE, HONE_SECCOMP_COMPILE},
    [HONE_JAIL_ARENA] = {HONE_SECCOMP_START, HONE_SECCOMP_TIGHT},
    [HONE_JAIL_ORACLE] = {HONE_SECCOMP_START, HONE_SECCOMP_TIGHT},
    [HONE_JAIL_RECORD] = {HONE_SECCOMP_RECORD_START, HONE_SECCOMP_RECORD},
    [HONE_JAIL_TORCH] = {HONE_SECCOMP_TORCH, HONE_SECCOMP_TORCH},
    [HONE_JAIL_DEVICE] = {HONE_SECCOMP_DEVICE_START, HONE_SECCOMP_DEVICE},
    [HONE_JAIL_DEVICE_TORCH] = {HONE_SECCOMP_DEVICE_TORCH, HONE_SECCOMP_DEVICE_TORCH},
};

static int write_proc(pid_t pid, const char *name, const char *text)
{
    HONE_AUTOFREE char *path = hone_sprintf("/proc/%d/%s", (int)pid, name);
    HONE_AUTOCLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* One id each: 0 inside is the slot's uid (root callers) or the caller's own outside. */
static int write_maps(const struct hone_jail *jail)
{
    HONE_AUTOFREE char *uids = hone_sprintf("0 %u 1", jail->slot.uid);
    HONE_AUTOFREE char *gids = hone_sprintf("0 %u 1", jail->slot.gid);
    int rc = write_proc(jail->pid, "uid_map", uids);
    if (rc == 0 && jail->slot.lock_fd < 0)
        rc = write_proc(jail->pid, "setgroups", "deny");
    return rc < 0 ? rc : write_proc(jail->pid, "gid_map", gids);
}

/* Reads what the child says until it becomes its program. */
static int hear(struct hone_jail *jail, int fd, bool *ret_try_next, struct hone_err *err)
{
    int64_t deadline = hone_deadline_in_ms(START_MS);
    bool is_ready = false;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int n = poll(&ready, 1, hone_ms_until(deadline));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hone_fail(err, HONE_E_TIMEOUT, "the jail was not ready after %d ms", START_MS);
        struct hone_jail_message message = {.kind = HONE_CHILD_FAILED};
        struct iovec part = {.iov_base = &message, .iov_len = sizeof(message)};
        union {
            struct cmsghdr header;
            char bytes[CMSG_SPACE(sizeof(int))];
        } control;
        struct msghdr header = {.msg_iov = &part,
                                .msg_iovlen = 1,
                                .msg_control = control.bytes,
                                .msg_controllen = sizeof(control.bytes)};
        ssize_t got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
        if (got == 0 && is_ready)
            return 0;
        if (got != (ssize_t)sizeof(message))
            return hone_fail(err, HONE_E_TARGET, "the jail's child died before it could start");
        const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
        if (message.kind == HONE_CHILD_TMP && cmsg != NULL && cmsg->cmsg_type == SCM_RIGHTS) {
            hone_close_fd(&jail->tmp_fd);
            memcpy(&jail->tmp_fd, CMSG_DATA(cmsg), sizeof(int));
        }
        is_ready = is_ready || message.kind == HONE_CHILD_READY;
        if (message.kind != HONE_CHILD_FAILED)
            continue;
        message.step[sizeof(message.step) - 1] = '\0';
        *ret_try_next = message.try_next_rung;
        return hone_fail_errno(err, message.native, "%s", message.step);
    }
}

static int launch(struct hone_jail *jail, struct hone_jail_plan *plan, bool *ret_try_next,
                  struct hone_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return hone_fail_errno(err, errno, "socketpair");
    HONE_AUTOCLOSE int mine = pair[0];
    HONE_AUTOCLOSE int theirs = pair[1];
    /* Before the clone: with v2 the runner may have to be alone in its group. */
    hone_cgroup_make(plan->spec->memory_bytes, plan->spec->max_pids, &jail->cgroup);
    /* Not clone3: containers commonly refuse it, because a filter cannot read its flags. */
    long pid = syscall(SYS_clone, rung_flags[jail->rung] | CLONE_PIDFD | SIGCHLD, NULL,
                       &jail->pid_fd, NULL, NULL);
    if (pid == 0) {
        (void)close(mine);
        plan->sync_fd = theirs;
        hone_jail_child(plan);
    }
    *ret_try_next = true;
    if (pid < 0)
        return hone_fail_errno(err, errno, "clone with the namespaces of this rung");
    jail->pid = (pid_t)pid;
    hone_close_fd(&theirs);
    int rc = jail->rung == HONE_RUNG_USERNS ? write_maps(jail) : 0;
    if (rc < 0)
        return hone_fail_errno(err, -rc, "write the user namespace's id map");
    if (send(mine, "g", 1, MSG_NOSIGNAL) != 1)
        return hone_fail_errno(err, errno, "the jail's child is gone");
    if (jail->rung == HONE_RUNG_OPEN)
        return hear(jail, mine, ret_try_next, err);
    /* While the child mounts. */
    HONE_AUTOFREE void *filter = NULL;
    size_t n_ops = 0;
    rc = hone_seccomp_build(filters[jail->profile].start, jail->rung == HONE_RUNG_WEAK, &filter,
                            &n_ops, err);
    if (rc < 0)
        return rc;
    hone_cgroup_add(jail->cgroup, jail->pid);
    (void)send(mine, filter, n_ops * sizeof(struct sock_filter),
               MSG_NOSIGNAL); /* if it is gone, it has said why */
    return hear(jail, mine, ret_try_next, err);
}

static int start_on(const struct hone_jail_spec *spec, enum hone_jail_rung_id rung,
                    struct hone_jail **ret, bool *ret_try_next, struct hone_err *err)
{
    *ret_try_next = false;
    if (rung == HONE_RUNG_ROOT && geteuid() != 0) {
        *ret_try_next = true;
        return hone_fail(err, HONE_E_UNSUPPORTED, "needs root");
    }
    if (rung == HONE_RUNG_WEAK && hone_landlock_abi() < 1)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "needs landlock (Linux 5.13 with it switched on)");
    if (rung == HONE_RUNG_OPEN && !hone_jail_is_beside_driver(spec->profile))
        return hone_fail(err, HONE_E_ARG, "only our own code beside a device runs without a jail");
    if (rung == HONE_RUNG_WEAK)
        (void)prctl(PR_SET_CHILD_SUBREAPER,
                    1); /* orphans come to us: an init that is slow to reap keeps them counted */
    struct hone_jail *jail = hone_calloc(1, sizeof(*jail));
    *jail =
        (struct hone_jail){.rung = rung,
                           .profile = spec->profile,
                           .pid_fd = -1,
                           .tmp_fd = -1,
                           .slot = {.lock_fd = -1},
                           .work_dir = spec->work_dir == NULL ? NULL : hone_strdup(spec->work_dir),
                           .file_bytes = spec->file_bytes,
                           .cpu_seconds = spec->cpu_seconds,
                           .exit = {.status = -1}};
    struct hone_jail_plan plan = {.sync_fd = -1};
    int rc = rung == HONE_RUNG_OPEN ? 0 : hone_jail_slot_take(&jail->slot, err);
    if (rc == 0 && spec->work_dir != NULL) {
        jail->is_lent = spec->profile == HONE_JAIL_COMPILE && jail->slot.lock_fd >= 0;
        rc = hone_jail_work_lend(spec->work_dir, &jail->slot, spec->profile == HONE_JAIL_COMPILE,
                                 err);
    }
    if (rc == 0)
        rc = hone_jail_plan_make(spec, rung, &jail->slot, &plan, err);
    if (rc == 0)
        rc = launch(jail, &plan, ret_try_next, err);
    hone_jail_plan_done(&plan);
    if (rc < 0)
        hone_jail_free(jail);
    else
        *ret = jail;
    return rc;
}

int hone_jail_start(const struct hone_jail_spec *spec, struct hone_jail **ret, struct hone_err *err)
{
    bool is_auto = spec->rung == NULL || strcmp(spec->rung, "auto") == 0;
    HONE_CLEANUP(hone_buf_done) struct hone_buf tried = HONE_BUF_INIT;
    bool is_known = is_auto;
    for (int rung = 0; rung <= HONE_N_RUNGS; rung++) {
        const char *name = hone_jail_rung_names[rung];
        if (is_auto && rung == HONE_RUNG_OPEN)
            continue;
        if (!is_auto && strcmp(spec->rung, name) != 0)
            continue;
        is_known = true;
        if (rung == HONE_RUNG_WEAK && !spec->allow_weak) {
            hone_buf_printf(&tried,
                            "%sweak: not allowed by the configuration (no file tree, process or "
                            "network namespace of its own)",
                            tried.len == 0 ? "" : "; ");
            continue;
        }
        struct hone_err why = HONE_ERR_INIT;
        bool try_next = false;
        int rc = start_on(spec, (enum hone_jail_rung_id)rung, ret, &try_next, &why);
        if (rc == 0)
            return 0;
        if (!try_next && why.code != HONE_E_UNSUPPORTED)
            return hone_fail(err, why.code, "jail (%s): %s", name, why.message);
        hone_buf_printf(&tried, "%s%s: %s", tried.len == 0 ? "" : "; ", name, why.message);
    }
    if (!is_known)
        return hone_fail(err, HONE_E_ARG, "no jail rung '%s'; there are auto, userns, root, weak",
                         spec->rung);
    return hone_fail(err, HONE_E_UNSUPPORTED, "no jail works here (%s)", tried.data);
}

pid_t hone_jail_pid(const struct hone_jail *jail)
{
    return jail->pid;
}

const char *hone_jail_rung(const struct hone_jail *jail)
{
    return hone_jail_rung_names[jail->rung];
}

static int64_t ns_of(const struct timeval *time)
{
    return (int64_t)time->tv_sec * HONE_NS_PER_S + (int64_t)time->tv_usec * 1000;
}

/* What stands behind a word of a file below /proc; NULL: not there. prlimit asks for a capability
 * where the jail's user is another one. */
static const char *read_status(const struct hone_jail *jail, const char *name, char *text,
                               size_t size, const char *word)
{
    HONE_AUTOFREE char *path = hone_sprintf("/proc/%d/%s", (int)jail->pid, name);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, word);
    return at == NULL ? NULL : at + strlen(word);
}

/* The limit in force, which may be lower than the one that was set: seconds, 0: none. Before it is
 * reaped. */
static int64_t cpu_limit(const struct hone_jail *jail)
{
    static const char word[] = "\nMax cpu time";
    char text[4096];
    const char *at = read_status(jail, "limits", text, sizeof text, word);
    long long soft = at == NULL ? 0 : strtoll(at, NULL, 10); /* "unlimited" reads 0 */
    if (soft <= 0)
        return jail->cpu_seconds;
    return jail->cpu_seconds > 0 ? hone_min_i64(soft, jail->cpu_seconds) : soft;
}

static void record_exit(struct hone_jail *jail, int status, const struct rusage *usage,
                        int64_t cpu_seconds)
{
    struct hone_jail_exit *out = &jail->exit;
    struct hone_cgroup_events events = hone_cgroup_events(jail->cgroup);
    struct statfs tmp;
    out->has_exited = true;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out->cpu_ns = ns_of(&usage->ru_utime) + ns_of(&usage->ru_stime);
    out->max_rss_bytes = (int64_t)usage->ru_maxrss * 1024;
    out->was_oom = events.was_oom;
    out->hit_pids = events.hit_pids;
    out->was_seccomp = out->signal == SIGSYS;
    out->defied_stop = jail->defied_stop;
    out->hit_cpu = cpu_seconds > 0 && (out->signal == SIGKILL || out->signal == SIGXCPU) &&
                   !out->was_oom && out->cpu_ns >= cpu_seconds * CPU_SECOND_NS;
    out->hit_disk = jail->over_disk || out->signal == SIGXFSZ ||
                    (jail->tmp_fd >= 0 && fstatfs(jail->tmp_fd, &tmp) == 0 &&
                     (tmp.f_bavail == 0 || tmp.f_ffree == 0));
}

/* Orphans of a killed group: until the last is gone they count for the slot's uid. */
static void reap_group(pid_t group)
{
    int64_t deadline = hone_deadline_in_ms(REAP_MS);
    while (waitpid(-group, NULL, 0) > 0)
        ;
    while (kill(-group, 0) == 0 && hone_now_ns() < deadline)
        (void)poll(NULL, 0, 1);
}

/* Reaps if it has ended. Without a pid namespace the rest of its process group ends with it: killed
 * while the leader is still a zombie, so that its number cannot have been given to somebody else.
 */
static bool reap(struct hone_jail *jail, bool block)
{
    if (jail->exit.has_exited)
        return true;
    siginfo_t info = {.si_pid = 0};
    int rc;
    do {
        rc = waitid(P_PID, (id_t)jail->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG));
    } while (rc < 0 && errno == EINTR);
    if (rc == 0 && info.si_pid == 0)
        return false;
    if (!hone_jail_has_namespaces(jail->rung))
        (void)kill(-jail->pid, SIGKILL);
    int status = 0;
    int64_t cpu_seconds = cpu_limit(jail);
    struct rusage usage = {.ru_maxrss = 0};
    while (wait4(jail->pid, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    if (!hone_jail_has_namespaces(jail->rung))
        reap_group(jail->pid);
    record_exit(jail, status, &usage, cpu_seconds);
    return true;
}

static void kill_all(const struct hone_jail *jail)
{
    (void)kill(hone_jail_has_namespaces(jail->rung) ? jail->pid : -jail->pid, SIGKILL);
    (void)kill(jail->pid, SIGKILL);
}

static void on_alarm(int number)
{
    (void)number;
}

/* Waiting for a stop has no time limit of its own; a repeated signal to this thread gives it one
 * and costs the usual case two system calls. */
static void set_alarm(struct hone_jail *jail, int64_t after_ns)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = after_ns / HONE_NS_PER_S, .tv_nsec = after_ns % HONE_NS_PER_S},
        .it_interval = {.tv_nsec = after_ns > 0 ? 100 * HONE_NS_PER_MS : 0}};
    if (!jail->has_timer) {
        struct sigaction action = {.sa_handler = on_alarm};
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
        (void)sigemptyset(&action.sa_mask);
        jail->has_timer = sigaction(SIGALRM, &action, NULL) == 0 &&
                          timer_create(CLOCK_MONOTONIC, &event, &jail->timer) == 0;
    }
    if (jail->has_timer)
        (void)timer_settime(jail->timer, 0, &when, NULL);
}

static int end_defiant(struct hone_jail *jail, const char *what, struct hone_err *err)
{
    jail->defied_stop = true;
    kill_all(jail);
    (void)reap(jail, true);
    return hone_fail(err, HONE_E_TARGET, "the jail %s and was killed", what);
}

int hone_jail_freeze(struct hone_jail *jail, struct hone_err *err)
{
    if (jail->profile == HONE_JAIL_COMPILE)
        return hone_cgroup_freeze(jail->cgroup, true, err);
    siginfo_t info = {.si_code = 0};
    int64_t deadline = hone_now_ns() + STOP_NS;
    int rc = jail->exit.has_exited ? 0 : kill(jail->pid, SIGSTOP);
    if (rc == 0 && !jail->exit.has_exited) {
        set_alarm(jail, STOP_NS);
        do {
            rc = waitid(P_PID, (id_t)jail->pid, &info, WSTOPPED | WEXITED | WNOWAIT);
        } while (rc < 0 && errno == EINTR && hone_now_ns() < deadline);
        int native = errno;
        set_alarm(jail, 0);
        errno = native;
    }
    if (rc < 0 && errno == EINTR)
        return end_defiant(jail, "did not stand still", err);
    if (rc < 0)
        return hone_fail_errno(err, errno, "cannot stop the jail");
    if (jail->exit.has_exited || info.si_code != CLD_STOPPED) {
        (void)reap(jail, false);
        return hone_fail(err, HONE_E_TARGET, "the jail has ended");
    }
    (void)waitid(P_PID, (id_t)jail->pid, &info,
                 WSTOPPED |
                     WNOHANG); /* takes the report away, so that the next stop is waited for */
    jail->is_frozen = true;
    return 0;
}

int hone_jail_thaw(struct hone_jail *jail, struct hone_err *err)
{
    if (jail->profile == HONE_JAIL_COMPILE)
        return hone_cgroup_freeze(jail->cgroup, false, err);
    /* A stop takes the mark of being continued away: if it is there, it is not our doing. */
    siginfo_t info = {.si_pid = 0};
    if (jail->is_frozen && !jail->exit.has_exited &&
        waitid(P_PID, (id_t)jail->pid, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid != 0)
        return end_defiant(jail, "ran while it was stopped", err);
    jail->is_frozen = false;
    if (jail->exit.has_exited || kill(jail->pid, SIGCONT) < 0)
        return hone_fail(err, HONE_E_TARGET, "the jail has ended");
    return 0;
}

int64_t hone_jail_cpu_ns(const struct hone_jail *jail)
{
    clockid_t clock;
    struct timespec time;
    if (jail->exit.has_exited || clock_getcpuclockid(jail->pid, &clock) != 0 ||
        clock_gettime(clock, &time) < 0)
        return jail->exit.cpu_ns;
    return (int64_t)time.tv_sec * HONE_NS_PER_S + time.tv_nsec;
}

int64_t hone_jail_n_threads(const struct hone_jail *jail)
{
    char text[4096];
    const char *at = read_status(jail, "status", text, sizeof text, "\nThreads:");
    return at == NULL ? 0 : strtoll(at, NULL, 10);
}

bool hone_jail_has_exited(struct hone_jail *jail, struct hone_jail_exit *ret)
{
    bool done = reap(jail, false);
    if (done && ret != NULL)
        *ret = jail->exit;
    return done;
}

int hone_jail_wait(struct hone_jail *jail, int64_t deadline_ns, struct hone_jail_exit *ret,
                   struct hone_err *err)
{
    bool guards_disk =
        jail->profile == HONE_JAIL_COMPILE && jail->work_dir != NULL && jail->file_bytes > 0;
    while (!hone_jail_has_exited(jail, ret)) {
        int ms = hone_ms_until(deadline_ns);
        if (ms == 0)
            return hone_fail(err, HONE_E_TIMEOUT, "the jail still runs at its deadline");
        if (guards_disk && (ms < 0 || ms > DISK_POLL_MS))
            ms = DISK_POLL_MS;
        struct pollfd ended = {.fd = jail->pid_fd, .events = POLLIN};
        int n = poll(&ended, 1, ms);
        if (n < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "cannot wait for the jail");
        if (n == 0 && guards_disk && !jail->over_disk &&
            hone_jail_work_is_over(jail->work_dir, WORK_FILE_FACTOR * jail->file_bytes,
                                   WORK_MAX_FILES)) {
            jail->over_disk = true;
            kill_all(jail);
        }
    }
    return 0;
}

void hone_jail_free(struct hone_jail *jail)
{
    if (jail == NULL)
        return;
    if (jail->pid > 0 && !jail->exit.has_exited) {
        kill_all(jail);
        (void)reap(jail, true);
    }
    if (jail->has_timer)
        (void)timer_delete(jail->timer);
    hone_cgroup_free(jail->cgroup);
    if (jail->is_lent)
        hone_jail_work_return(jail->work_dir);
    hone_jail_slot_drop(&jail->slot);
    hone_close_fd(&jail->pid_fd);
    hone_close_fd(&jail->tmp_fd);
    free(jail->work_dir);
    free(jail);
}

int hone_jail_tighten(enum hone_jail_profile profile, struct hone_err *err)
{
    if (profile == HONE_JAIL_COMPILE)
        return hone_fail(err, HONE_E_ARG, "a COMPILE jail must be able to exec");
    /* An undumpable process cannot read its own /proc, which drivers do. */
    if (!hone_jail_is_beside_driver(profile) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return hone_fail_errno(err, errno, "cannot make the process unattachable");
    return hone_seccomp_tighten(filters[profile].tight, err);
}

int hone_jail_close_code(struct hone_err *err)
{
    return hone_seccomp_tighten(HONE_SECCOMP_NO_CODE, err);
}

size_t hone_jail_probe(struct hone_jail_rung *ret, size_t max)
{
    static const char *const argv[] = {"/usr/bin/true", NULL};
    size_t n = 0;
    for (; n < max && n < HONE_N_RUNGS; n++) {
        struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                      .rung = hone_jail_rung_names[n],
                                      .allow_weak = true,
                                      .argv = argv,
                                      .memory_bytes = 64 << 20,
                                      .tmp_bytes = 1 << 20,
                                      .max_pids = 8,
                                      .stdin_fd = -1,
                                      .stdout_fd = -1,
                                      .stderr_fd = -1};
        struct hone_jail *jail = NULL;
        struct hone_jail_exit how = {.status = -1};
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_jail_start(&spec, &jail, &err);
        char groups[64] = "";
        if (rc == 0) {
            hone_cgroup_describe(jail->cgroup, groups, sizeof(groups));
            rc = hone_jail_wait(jail, hone_deadline_in_ms(START_MS), &how, &err);
        }
        if (rc == 0 && how.status != 0)
            rc = hone_fail(&err, HONE_E_TARGET, "/usr/bin/true ended with status %d, signal %d",
                           how.status, how.signal);
        ret[n] = (struct hone_jail_rung){.name = hone_jail_rung_names[n], .works = rc == 0};
        (void)snprintf(ret[n].why, sizeof(ret[n].why), "%.130s%s%.60s",
                       rc == 0 ? "works" : err.message, rc == 0 ? "; " : "", rc == 0 ? groups : "");
        hone_jail_free(jail);
    }
    return n;
}
