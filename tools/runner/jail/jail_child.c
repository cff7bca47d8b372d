/* SPDX-License-Identifier: Apache-2.0 */
/* The child between clone and exec. It is a copy of a process that may have had other threads, so
 * it makes system calls and formats into its own stack, nothing else. Order matters: mounts need
 * capabilities, the uid change needs some of them, limits come before the uid change (a lowered
 * process count is checked at exec), the parent-death signal after it (changing uid clears it),
 * seccomp last. */
#include "tools/runner/jail/jail_plan.h"
#include "tools/runner/jail/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_PASSED_FD 3

void hone_jail_child_fail(const struct hone_jail_plan *plan, bool try_next_rung, const char *step,
                          const char *detail)
{
    struct hone_jail_message message = {.kind = HONE_CHILD_FAILED,
                                        .native = errno == 0 ? EINVAL : errno,
                                        .try_next_rung = try_next_rung};
    (void)snprintf(message.step, sizeof(message.step), "%s %s", step, detail);
    (void)!write(plan->sync_fd, &message,
                 sizeof(message)); /* not send: the filter may be on already */
    _exit(127);
}

static void fail(const struct hone_jail_plan *plan, const char *step)
{
    hone_jail_child_fail(plan, true, step, "");
}

/* The folder itself, not what is in it: the parent asks it for free space at the end. */
static void send_tmp(const struct hone_jail_plan *plan, int fd)
{
    if (fd < 0)
        return;
    struct hone_jail_message message = {.kind = HONE_CHILD_TMP};
    struct iovec part = {.iov_base = &message, .iov_len = sizeof(message)};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
    (void)sendmsg(plan->sync_fd, &header, MSG_NOSIGNAL);
    (void)close(fd);
}

/* Moves every kept descriptor out of the way first, so that none is overwritten before it is
 * copied. */
static void arrange_fds(struct hone_jail_plan *plan)
{
    const struct hone_jail_spec *spec = plan->spec;
    int kept[3 + HONE_COUNTOF(spec->fds)];
    int wanted[3] = {spec->stdin_fd, spec->stdout_fd, spec->stderr_fd};
    size_t n = 3 + spec->n_fds;
    for (size_t i = 0; i < n; i++) {
        int fd = i < 3 ? wanted[i] : spec->fds[i - 3];
        if (i < 3 && fd < 0)
            fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        kept[i] = fcntl(fd, F_DUPFD_CLOEXEC, 64);
        if (kept[i] < 0)
            hone_jail_child_fail(plan, false, "descriptor", "to pass on");
    }
    int sync_fd = fcntl(plan->sync_fd, F_DUPFD_CLOEXEC, 64);
    if (sync_fd < 0)
        fail(plan, "descriptor");
    plan->sync_fd = sync_fd;
    for (size_t i = 0; i < n; i++)
        if (dup2(kept[i], (int)i) < 0)
            fail(plan, "dup2");
    if (dup2(sync_fd, (int)n) < 0)
        fail(plan, "dup2");
    plan->sync_fd = (int)n;
    (void)fcntl(plan->sync_fd, F_SETFD, FD_CLOEXEC);
    if (syscall(SYS_close_range, (unsigned)n + 1, ~0u, 0u) < 0)
        for (int fd = (int)n + 1; fd < 65536; fd++)
            (void)close(fd);
}

static void set_limits(const struct hone_jail_plan *plan)
{
    for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
        if (!plan->has_limit[i])
            continue;
        struct rlimit now;
        struct rlimit wanted = plan->limits[i];
        if (getrlimit((__rlimit_resource_t)i, &now) == 0 && wanted.rlim_max > now.rlim_max)
            wanted = (struct rlimit){.rlim_cur = now.rlim_max, .rlim_max = now.rlim_max};
        if (setrlimit((__rlimit_resource_t)i, &wanted) < 0)
            fail(plan, "setrlimit");
    }
}

/* CAP_PERFMON alone survives the change of uid and exec, as an ambient capability. What is set here
 * needs CAP_SETPCAP, which goes with the rest. */
static void keep_perfmon(const struct hone_jail_plan *plan, unsigned long bits)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    uint32_t setpcap = 1u << CAP_SETPCAP, perfmon = 1u << (CAP_PERFMON - 32);
    struct __user_cap_data_struct some[2] = {
        {.effective = setpcap, .permitted = setpcap, .inheritable = 0},
        {.effective = perfmon, .permitted = perfmon, .inheritable = perfmon}};
    if (syscall(SYS_capset, &header, some) < 0)
        fail(plan, "capset");
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_PERFMON, 0, 0) < 0)
        fail(plan, "keep CAP_PERFMON");
    if (prctl(PR_SET_SECUREBITS, bits) < 0)
        fail(plan, "set securebits");
    some[0] = (struct __user_cap_data_struct){0};
    if (syscall(SYS_capset, &header, some) < 0)
        fail(plan, "capset");
}

static void drop_privileges(const struct hone_jail_plan *plan)
{
    unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                         SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                         SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    bool is_privileged = hone_jail_has_namespaces(plan->rung) || geteuid() == 0;
    bool keeps_perfmon = plan->spec->keep_perfmon && plan->rung == HONE_RUNG_ROOT &&
                         plan->spec->profile == HONE_JAIL_DEVICE && geteuid() == 0 &&
                         prctl(PR_CAPBSET_READ, CAP_PERFMON) > 0;
    if (is_privileged) {
        if (prctl(PR_SET_SECUREBITS, keeps_perfmon ? SECBIT_NOROOT | SECBIT_KEEP_CAPS : bits) < 0)
            fail(plan, "set securebits");
        for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
            if (!(keeps_perfmon && cap == CAP_PERFMON) && prctl(PR_CAPBSET_DROP, cap) < 0)
                fail(plan, "drop capability bounding set");
    }
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    /* In a user namespace of an ordinary user setgroups is denied; the groups stay but nothing that
     * they open is mounted. */
    /* The system calls themselves: libc's functions tell the other threads of the program, which
     * are not here (a GPU driver makes threads), and wait for them forever. */
    if (plan->slot.lock_fd >= 0 && syscall(SYS_setgroups, 0, NULL) < 0)
        fail(plan, "setgroups");
    if (plan->slot.lock_fd >= 0 && plan->rung != HONE_RUNG_USERNS &&
        (syscall(SYS_setresgid, plan->slot.gid, plan->slot.gid, plan->slot.gid) < 0 ||
         syscall(SYS_setresuid, plan->slot.uid, plan->slot.uid, plan->slot.uid) < 0))
        fail(plan, "take the slot's uid");
    if (keeps_perfmon) {
        keep_perfmon(plan, bits);
        return;
    }
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}, {0}};
    if (syscall(SYS_capset, &header, none) < 0)
        fail(plan, "capset");
}

/* The jail must not outlive the judge. The signal is asked for first; then a parent that died
 * before it is noticed by its closed socket. */
static void tie_to_parent(const struct hone_jail_plan *plan)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        fail(plan, "set parent-death signal");
    struct pollfd parent = {.fd = plan->sync_fd, .events = 0};
    if (poll(&parent, 1, 0) < 0 || (parent.revents & (POLLHUP | POLLERR)) != 0)
        _exit(127);
}

static void reset_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            (void)signal(number, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void announce(const struct hone_jail_plan *plan)
{
    const struct hone_jail_message ready = {.kind = HONE_CHILD_READY};
    if (write(plan->sync_fd, &ready, sizeof(ready)) != (ssize_t)sizeof(ready))
        _exit(127);
}

static void load_filter(const struct hone_jail_plan *plan)
{
    struct sock_filter ops[HONE_SECCOMP_MAX_OPS];
    ssize_t len = recv(plan->sync_fd, ops, sizeof(ops), 0);
    if (len <= 0)
        _exit(127);
    struct sock_fprog program = {.len = (unsigned short)((size_t)len / sizeof(ops[0])),
                                 .filter = ops};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u, &program) < 0)
        fail(plan, "load seccomp filter");
    announce(plan);
}

void hone_jail_child(struct hone_jail_plan *plan)
{
    char go = 0;
    int tmp_fd = -1;
    if (recv(plan->sync_fd, &go, 1, 0) != 1)
        _exit(127);
    reset_signals();
    if (setsid() < 0)
        fail(plan, "setsid");
    if (hone_jail_has_namespaces(plan->rung)) {
        hone_jail_child_mounts(plan, &tmp_fd);
        (void)sethostname("hone", 4);
    }
    send_tmp(plan, tmp_fd);
    if (chdir(plan->cwd) < 0)
        hone_jail_child_fail(plan, false, "chdir", plan->cwd);
    arrange_fds(plan);
    set_limits(plan);
    if (plan->rung == HONE_RUNG_WEAK) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
            fail(plan, "set no_new_privs");
        hone_jail_child_landlock(plan);
    }
    if (plan->rung != HONE_RUNG_OPEN)
        drop_privileges(plan);
    tie_to_parent(plan);
    if (plan->rung != HONE_RUNG_OPEN)
        load_filter(plan);
    else
        announce(plan);
    (void)execve(plan->argv[0], plan->argv, plan->env);
    hone_jail_child_fail(plan, false, "exec", plan->argv[0]);
}
