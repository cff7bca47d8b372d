/* SPDX-License-Identifier: Apache-2.0 */
/* More of what hostile code tries inside a jail, by the rows of docs/security.md; only for
 * sandbox_test.c, which is its own attacker. Descriptors are those of an arena: 3 control page, 4
 * socket, 5 inputs (sealed), 6 outputs. An attack returns HELD or THROUGH; those that want KILLED
 * must not return. */
#ifndef HONE_TESTS_SANDBOX_ATTACKS_H
#define HONE_TESTS_SANDBOX_ATTACKS_H

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "tests/unit/runner/jail_attacks.h"

#define CONTROL_FD  3
#define SOCKET_FD   4
#define INPUTS_FD   5
#define OUTPUTS_FD  6
#define SHARED_SIZE (64 * 1024)

/* Says which of several ways it was. */
static int through(const char *how)
{
    (void)fprintf(stderr, "# got through: %s\n", how);
    return THROUGH;
}

static bool is_refused(long rc)
{
    return rc < 0;
}

/* A call that a row of refusals makes: true when none succeeds. */
struct refusal {
    const char *name;
    long number, a, b, c, d, e;
};

static int all_refused(const struct refusal *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_refused(syscall(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d,
                                calls[i].e, 0L)))
            return through(calls[i].name);
    return HELD;
}

static char *map_shared(int fd, int protection, int flags)
{
    char *at = mmap(NULL, SHARED_SIZE, protection, flags, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- shared memory ---- */

static int b_write_inputs(void)
{
    struct iovec part = {.iov_base = (char[]){"x"}, .iov_len = 1};
    char *map = map_shared(INPUTS_FD, PROT_READ, MAP_SHARED);
    if (pwrite(INPUTS_FD, "x", 1, 0) == 1 || write(INPUTS_FD, "x", 1) == 1)
        return through("write");
    if (syscall(SYS_pwritev2, INPUTS_FD, &part, 1L, 0L, 0L, 0L) == 1)
        return through("pwritev2");
    if (map_shared(INPUTS_FD, PROT_READ | PROT_WRITE, MAP_SHARED) != NULL ||
        map_shared(INPUTS_FD, PROT_WRITE, MAP_SHARED_VALIDATE) != NULL)
        return through("mmap for writing");
    if (map == NULL || mprotect(map, SHARED_SIZE, PROT_READ | PROT_WRITE) == 0)
        return through("mprotect for writing");
    if (syscall(SYS_fallocate, INPUTS_FD, 3L, 0L, 4096L) == 0)
        return through("a hole");
    int again = open("/dev/fd/5", O_RDWR); /* on the weak rung */
    return again >= 0 && pwrite(again, "x", 1, 0) == 1 ? through("/dev/fd") : HELD;
}

/* The kernel as a writer: into a mapping that the process itself may not write. */
static void *exit_with_list(void *arg)
{
    struct robust_list_head *head = arg;
    (void)syscall(SYS_set_robust_list, head, sizeof(*head));
    (void)syscall(SYS_set_tid_address, head);
    (void)syscall(SYS_exit, 0L);
    return NULL;
}

static int b_kernel_writes(void)
{
    char *map = map_shared(INPUTS_FD, PROT_READ, MAP_SHARED);
    int zero = open("/dev/zero", O_RDONLY);
    pthread_t thread;
    if (map == NULL || zero < 0)
        return through("no map");
    if (read(zero, map, 64) == 64 || syscall(SYS_getrandom, map, 64L, 0L) == 64 ||
        syscall(SYS_clock_gettime, (long)CLOCK_REALTIME, map) == 0 ||
        syscall(SYS_uname, map) == 0 || syscall(SYS_sysinfo, map) == 0)
        return through("a call that fills memory");
    if (pthread_create(&thread, NULL, exit_with_list, map) == 0)
        (void)usleep(20000); /* no join: its exit is no longer announced where libc looks */
    return HELD;             /* the judge compares the inputs afterwards */
}

static int b_madvise(void)
{
    static const int advices[] = {MADV_REMOVE,
                                  12 /* MERGEABLE */,
                                  20 /* COLD */,
                                  21 /* PAGEOUT */,
                                  25 /* COLLAPSE */,
                                  100 /* HWPOISON */,
                                  101 /* SOFT_OFFLINE */};
    static const int fds[] = {INPUTS_FD, OUTPUTS_FD};
    for (size_t f = 0; f < HONE_COUNTOF(fds); f++) {
        int protection = fds[f] == INPUTS_FD ? PROT_READ : PROT_READ | PROT_WRITE;
        char *map = map_shared(fds[f], protection, MAP_SHARED);
        for (size_t i = 0; map != NULL && i < HONE_COUNTOF(advices); i++)
            if (madvise(map, SHARED_SIZE, advices[i]) == 0) {
                (void)fprintf(stderr, "# madvise %d on %d\n", advices[i], fds[f]);
                return THROUGH;
            }
        if (map == NULL || madvise(map, SHARED_SIZE, MADV_SEQUENTIAL) != 0 ||
            madvise(map, SHARED_SIZE, MADV_HUGEPAGE) != 0)
            return through(map == NULL ? "no map" : strerror(errno));
    }
    return HELD;
}

/* A policy on shared memory is the file's: it moves the pages of every arm. */
static int b_numa(void)
{
    char *map = map_shared(INPUTS_FD, PROT_READ, MAP_SHARED);
    unsigned long nodes = 1;
    if (map == NULL ||
        syscall(SYS_mbind, map, (long)SHARED_SIZE, 2L, &nodes, 8L * (long)sizeof(nodes), 0L) == 0)
        return through("mbind");
    if (syscall(SYS_mbind, map, (long)SHARED_SIZE, 0L, NULL, 0L, 2L) == 0)
        return through("mbind, moving");
    return HELD;
}

static int b_resize(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    for (int fd = CONTROL_FD; fd <= OUTPUTS_FD; fd++)
        if (fd != SOCKET_FD &&
            (ftruncate(fd, 0) == 0 || ftruncate(fd, 1 << 24) == 0 ||
             syscall(SYS_fallocate, fd, 0L, 0L, 1L << 24) == 0 || pwrite(fd, "x", 1, 1 << 24) == 1))
            return through("ftruncate, fallocate or a write past the end");
    return HELD;
}

static int b_descriptor_control(void)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid() > 0 ? getppid() : 1};
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int pipes[2] = {-1, -1};
    int work = open("/", O_RDONLY | O_DIRECTORY);
    if (fcntl(OUTPUTS_FD, F_ADD_SEALS, F_SEAL_WRITE) == 0)
        return through("a seal");
    if (pipe(pipes) < 0 || fcntl(pipes[0], F_SETSIG, SIGCONT) == 0)
        return through("F_SETSIG");
    if (fcntl(pipes[0], F_SETOWN, getpid()) == 0 || fcntl(pipes[0], F_SETOWN_EX, &owner) == 0)
        return through("F_SETOWN");
    if (fcntl(pipes[0], F_SETFL, O_ASYNC) == 0)
        return through("O_ASYNC");
    if (fcntl(pipes[0], F_SETPIPE_SZ, 1 << 20) >= 0)
        return through("F_SETPIPE_SZ");
    if (fcntl(work, F_NOTIFY, DN_ACCESS | (int)DN_MULTISHOT) == 0)
        return through("F_NOTIFY");
    if (fcntl(INPUTS_FD, F_SETLEASE, F_RDLCK) == 0)
        return through("a lease");
    if (fcntl(INPUTS_FD, F_OFD_SETLK, &lock) == 0)
        return through("a lock that other arms see");
    (void)close(work);
    int copy = fcntl(pipes[0], F_DUPFD_CLOEXEC, 10);
    return copy >= 10 && fcntl(copy, F_GETFD) == FD_CLOEXEC &&
                   fcntl(copy, F_SETFL, O_NONBLOCK) == 0 && fcntl(copy, F_GETFL) >= 0
               ? HELD
               : through("honest use is refused");
}

static int b_other_memory(void)
{
    static const struct refusal calls[] = {
        {"shmget", SYS_shmget, 0, 4096, 01600, 0, 0},
        {"semget", SYS_semget, 0, 1, 01600, 0, 0},
        {"msgget", SYS_msgget, 0, 01600, 0, 0, 0},
        {"memfd_create", SYS_memfd_create, (long)(intptr_t) "x", 0, 0, 0, 0},
        {"memfd_secret", 447, 0, 0, 0, 0, 0},
        {"mq_open", SYS_mq_open, (long)(intptr_t) "x", O_RDWR | O_CREAT, 0600, 0, 0},
        {"remap_file_pages", SYS_remap_file_pages, 0, 0, 0, 0, 0},
        {"mlockall", SYS_mlockall, 7, 0, 0, 0, 0},
    };
    if (opens("/dev/shm/x", O_RDWR | O_CREAT) || opens("/dev/mqueue", O_RDONLY) ||
        opens("/dev/hugepages", O_RDONLY))
        return through("/dev/shm");
    return all_refused(calls, HONE_COUNTOF(calls));
}

/* Hardly touched: where there is no memory cgroup, the address space is what bounds it. */
static int b_shared_anonymous(void)
{
    for (int i = 0; i < 8192; i++) {
        char *block = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            return HELD;
        *block = 1;
    }
    return through("8 GiB of shared memory");
}

/* ---- descriptors and the judge's socket ---- */

static int b_descriptors(void)
{
    for (int fd = OUTPUTS_FD + 1; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return through("one descriptor too many");
    return HELD;
}

static int b_flood_socket(void)
{
    static char block[65536];
    ssize_t n = 1;
    (void)fcntl(SOCKET_FD, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 256 && n > 0; i++)
        n = write(SOCKET_FD, block, sizeof(block));
    return n < 0 ? HELD : through("16 MiB into the socket");
}

static int b_flood_output(void)
{
    static char block[65536];
    for (int i = 0; i < 256; i++)
        if (write(1, block, sizeof(block)) < 0)
            return HELD;
    return through("16 MiB on stdout");
}

static int b_pass_descriptor(void)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (char[]){"d"}, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    (void)sendmsg(SOCKET_FD, &message, MSG_DONTWAIT);
    return THROUGH;
}

static int b_receive(void)
{
    char byte = 0;
    (void)recv(SOCKET_FD, &byte, 1, MSG_DONTWAIT);
    return THROUGH;
}

static int b_splice(void)
{
    int pipes[2] = {-1, -1};
    struct iovec part = {.iov_base = (char[]){"x"}, .iov_len = 1};
    if (pipe(pipes) < 0)
        return through("no pipe");
    const struct refusal calls[] = {
        {"vmsplice", SYS_vmsplice, pipes[1], (long)(intptr_t)&part, 1, 0, 0},
        {"splice", SYS_splice, INPUTS_FD, 0, pipes[1], 0, 1},
        {"sendfile", SYS_sendfile, OUTPUTS_FD, INPUTS_FD, 0, 1, 0},
        {"copy_file_range", SYS_copy_file_range, INPUTS_FD, 0, OUTPUTS_FD, 0, 1},
        {"inotify_init1", SYS_inotify_init1, 0, 0, 0, 0, 0},
        {"signalfd4", SYS_signalfd4, -1, 0, 0, 0, 0},
        {"openat2", 437, AT_FDCWD, (long)(intptr_t) "/", 0, 0, 0},
        {"statmount", 457, 0, 0, 0, 0, 0},
        {"landlock_create_ruleset", 444, 0, 0, 1, 0, 0},
        {"process_mrelease", 448, -1, 0, 0, 0, 0},
    };
    return all_refused(calls, HONE_COUNTOF(calls));
}

/* ---- code of its own making ---- */

static int b_new_code(void)
{
    int lib = open("/hone/hone-runner", O_RDONLY);
    lib = lib >= 0 ? lib : open("/usr/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY);
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
        MAP_FAILED)
        return through("memory to write and execute");
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        return through("shared memory to execute");
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED || mprotect(own, 4096, PROT_READ | PROT_EXEC) == 0 ||
        syscall(SYS_pkey_mprotect, own, 4096L, (long)PROT_EXEC, -1L) == 0)
        return through("written memory made code");
    if (map_shared(OUTPUTS_FD, PROT_READ | PROT_EXEC, MAP_SHARED) != NULL ||
        map_shared(OUTPUTS_FD, PROT_READ | PROT_EXEC, MAP_PRIVATE) != NULL)
        return through("an output as code");
    if (lib >= 0 && mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, lib, 0) != MAP_FAILED)
        return through("a file as code, after loading");
    return HELD;
}

/* As a constructor: before the last filter. */
static int b_early_code(void)
{
    int copies[] = {OUTPUTS_FD, dup(OUTPUTS_FD), fcntl(OUTPUTS_FD, F_DUPFD, 20),
                    fcntl(CONTROL_FD, F_DUPFD_CLOEXEC, 20), dup3(OUTPUTS_FD, 30, 0)};
    for (size_t i = 0; i < HONE_COUNTOF(copies); i++)
        if (copies[i] >= 0 && (map_shared(copies[i], PROT_READ | PROT_EXEC, MAP_PRIVATE) != NULL ||
                               map_shared(copies[i], PROT_READ | PROT_EXEC, MAP_SHARED) != NULL))
            return through("memory that it was given as code");
    void *both = mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &all};
    if (both != MAP_FAILED)
        return through("memory to write and execute");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) >=
        0)
        return through("a listener for its own calls");
    return HELD;
}

static int b_tmp_code(void)
{
    int fd = open("/tmp/code", O_RDWR | O_CREAT, 0755);
    if (fd < 0)
        return is_weak_here() ? HELD : through("no /tmp");
    if (write(fd, "\xc3", 1) != 1 ||
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED)
        return through("a file of /tmp as code");
    return HELD;
}

static int b_exec_output(void)
{
    (void)syscall(SYS_execveat, OUTPUTS_FD, "", NULL, NULL, AT_EMPTY_PATH);
    return THROUGH;
}

static int b_read_implies_exec(void)
{
    return syscall(SYS_personality, 0x0400000L) >= 0 ? through("personality") : HELD;
}

/* ---- signals, time, priority ---- */

static int b_continue_self(void)
{
    (void)kill(getpid(), SIGCONT);
    return THROUGH;
}

static int b_stop_thread(void)
{
    (void)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
    return THROUGH;
}

static int b_kill_self(void)
{
    (void)kill(getpid(), SIGKILL);
    return THROUGH;
}

static int b_queue_signal(void)
{
    siginfo_t info = {.si_signo = SIGCONT, .si_code = SI_QUEUE};
    if (syscall(SYS_rt_sigqueueinfo, getpid(), SIGCONT, &info) == 0 ||
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGCONT, &info) == 0 ||
        syscall(SYS_tkill, syscall(SYS_gettid), SIGCONT) == 0)
        return through("a queued signal");
    return HELD;
}

static int b_timers(void)
{
    int timer = 0;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    const struct refusal calls[] = {
        {"timer_create", SYS_timer_create, CLOCK_MONOTONIC, (long)(intptr_t)&event,
         (long)(intptr_t)&timer, 0, 0},
        {"setitimer", SYS_setitimer, ITIMER_REAL, (long)(intptr_t)&soon, 0, 0, 0},
        {"timerfd_create", SYS_timerfd_create, CLOCK_MONOTONIC, 0, 0, 0, 0},
#ifdef SYS_alarm
        {"alarm", SYS_alarm, 1, 0, 0, 0, 0},
#endif
    };
    return all_refused(calls, HONE_COUNTOF(calls));
}

static int b_priority(void)
{
    struct sched_param param = {.sched_priority = 1}, none = {.sched_priority = 0};
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = 48, .policy = 6, .runtime = 1000000, .deadline = 2000000, .period = 2000000};
    const struct refusal calls[] = {
        {"setpriority", SYS_setpriority, PRIO_PROCESS, 0, 5, 0, 0},
        {"SCHED_FIFO", SYS_sched_setscheduler, 0, SCHED_FIFO, (long)(intptr_t)&param, 0, 0},
        {"SCHED_BATCH", SYS_sched_setscheduler, 0, SCHED_BATCH, (long)(intptr_t)&none, 0, 0},
        {"sched_setparam", SYS_sched_setparam, 0, (long)(intptr_t)&none, 0, 0, 0},
        {"SCHED_DEADLINE", SYS_sched_setattr, 0, (long)(intptr_t)&attr, 0, 0, 0},
        {"ioprio_set", SYS_ioprio_set, 1, 0, 4 << 13, 0, 0},
    };
    return all_refused(calls, HONE_COUNTOF(calls));
}

/* Processors, of the judge (in a pid namespace there is nobody to name) and its own: the call is
 * answered and not done. */
static int b_affinity(void)
{
    cpu_set_t one, before, after;
    pid_t judge = getppid();
    for (pid_t who = judge > 1 ? judge : 0;; who = 0) {
        CPU_ZERO(&one);
        CPU_ZERO(&before);
        CPU_ZERO(&after);
        if (sched_getaffinity(who, sizeof(before), &before) != 0)
            return through("nobody may ask for processors");
        for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
            if (CPU_ISSET(cpu, &before))
                CPU_SET(cpu, &one);
        if (sched_setaffinity(who, sizeof(one), &one) != 0)
            return through("OpenMP's threads would end on this answer");
        if (sched_getaffinity(who, sizeof(after), &after) != 0 || !CPU_EQUAL(&before, &after))
            return through(who == 0 ? "its own processors" : "another's processors");
        if (who == 0)
            break;
    }
    if (judge > 1 && syscall(SYS_prlimit64, judge, (long)RLIMIT_CPU, NULL, &one) == 0)
        return through("another's limits");
    return HELD;
}

static int b_raise_limits(void)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)i, &now) < 0 || now.rlim_max == RLIM_INFINITY)
            continue;
        struct rlimit more = {.rlim_cur = now.rlim_max + 1, .rlim_max = now.rlim_max + 1};
        /* answered with success, and not done */
        if (setrlimit((__rlimit_resource_t)i, &more) == 0 &&
            (getrlimit((__rlimit_resource_t)i, &more) < 0 || more.rlim_max > now.rlim_max ||
             more.rlim_cur > now.rlim_cur))
            return through("a limit raised");
    }
    return HELD;
}

static int b_prctl(void)
{
    static const long options[] = {PR_SET_DUMPABLE,
                                   PR_SET_PDEATHSIG,
                                   PR_SET_MM,
                                   PR_SET_PTRACER,
                                   PR_SET_TIMERSLACK,
                                   PR_SET_CHILD_SUBREAPER,
                                   PR_SET_KEEPCAPS,
                                   PR_SET_SECUREBITS,
                                   PR_SET_SECCOMP,
                                   PR_SET_THP_DISABLE,
                                   PR_MCE_KILL,
                                   PR_SET_IO_FLUSHER,
                                   PR_SET_SPECULATION_CTRL,
                                   PR_SET_TSC,
                                   PR_SET_UNALIGN,
                                   62 /* PR_SCHED_CORE */,
                                   59 /* PR_SET_SYSCALL_USER_DISPATCH */,
                                   65 /* PR_SET_MDWE */,
                                   67 /* PR_SET_MEMORY_MERGE */,
                                   78 /* PR_FUTEX_HASH */};
    for (size_t i = 0; i < HONE_COUNTOF(options); i++)
        if (prctl((int)options[i], 1L, 0L, 0L, 0L) == 0) {
            (void)fprintf(stderr, "# prctl %ld\n", options[i]);
            return THROUGH;
        }
    return HELD;
}

/* ---- files ---- */

static int b_dotdot(void)
{
    char path[512] = "/tmp";
    for (int i = 0; i < 40; i++)
        (void)strcat(path, "/..");
    (void)strcat(path, "/etc/passwd");
    if (opens(path, O_RDONLY) || opens("/proc/self/root/etc/passwd", O_RDONLY) ||
        opens("/etc/ssh", O_RDONLY) || opens("/opt", O_RDONLY) || opens("/srv", O_RDONLY) ||
        opens("/mnt", O_RDONLY))
        return through("a host file");
    return HELD;
}

static int b_terminal(void)
{
    char byte = 'x';
    if (ioctl(0, TIOCSTI, &byte) == 0 || ioctl(1, TIOCSTI, &byte) == 0 ||
        opens("/dev/tty", O_RDWR) || opens("/dev/console", O_RDWR))
        return through("the terminal");
    return HELD;
}

static int b_sparse(void)
{
    int fd = open("/tmp/sparse", O_RDWR | O_CREAT, 0644);
    if (fd < 0)
        return is_weak_here() ? HELD : through("no /tmp");
    (void)signal(SIGXFSZ, SIG_IGN);
    return ftruncate(fd, 1ll << 40) < 0 && pwrite(fd, "x", 1, 1ll << 40) < 0
               ? HELD
               : through("a sparse file of a terabyte");
}

static int b_deep_tmp(void)
{
    return mkdir("/tmp/a", 0755) == 0 ? through("a folder in /tmp") : HELD;
}

/* ---- processes ---- */

static int b_clone_user(void)
{
    (void)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0L, 0L, 0L, 0L);
    return THROUGH;
}

static int b_clone_vfork(void)
{
    (void)syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0L, 0L, 0L, 0L);
    return THROUGH;
}

static int b_x32(void)
{
    (void)syscall(0x40000000L | SYS_getpid);
    return THROUGH;
}

static int b_pipes(void)
{
    int pipes[2];
    for (int i = 0; i < 4096; i++)
        if (pipe(pipes) < 0)
            return HELD;
    return through("8192 descriptors");
}

/* ---- a compiler that was taken over ---- */

static int c_deep(void)
{
    static const char block[65536] = {1};
    char path[64];
    for (int i = 0; i < 1500; i++) {
        if (mkdir("d", 0755) < 0 || chdir("d") < 0)
            return HELD;
        for (int k = 0; i > 20 && k < 4; k++) {
            (void)snprintf(path, sizeof(path), "f%d", k);
            int fd = open(path, O_WRONLY | O_CREAT, 0644);
            if (fd < 0 || write(fd, block, sizeof(block)) < 0)
                return HELD;
            (void)close(fd);
        }
    }
    (void)usleep(300000); /* the judge looks every 50 ms */
    return through("folders that nobody counts");
}

/* A folder that only root could look into. */
static int c_closed(void)
{
    if (mkdir("closed", 0755) < 0 || chdir("closed") < 0 || chmod(".", 0300) < 0)
        return HELD;
    return a_fill_work() == HELD ? HELD : through("a closed folder that nobody counts");
}

static int c_nodes(void)
{
    if (mkfifo("fifo", 0666) == 0 || mknod("node", S_IFCHR | 0666, makedev(1, 3)) == 0)
        return through("a fifo or a device in /work");
    return HELD;
}

static int c_hard_link(void)
{
    static const char *const files[] = {"/usr/bin/true", "/hone/hone-runner", "/etc/ld.so.cache"};
    for (size_t i = 0; i < HONE_COUNTOF(files); i++)
        if (link(files[i], "linked") == 0)
            return through("a hard link to a file of the host");
    return HELD;
}

static int c_set_id(void)
{
    int fd = open("setid", O_WRONLY | O_CREAT, 0755);
    if (fd < 0 || write(fd, "#!", 2) != 2)
        return through("cannot write in /work");
    (void)fchmod(fd, 06755);
    return HELD; /* the judge looks at its bits afterwards */
}

/* ---- being frozen: descriptor 3 is a page of counters ---- */

static atomic_ullong *counters_of_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, CONTROL_FD, 0);
    if (page == MAP_FAILED)
        _exit(THROUGH);
    return page;
}

static void *continue_thread(void *arg)
{
    atomic_ullong *counter = arg;
    for (;;) {
        (void)kill(getpid(), SIGCONT);
        atomic_fetch_add(counter, 1);
    }
    return NULL;
}

static int f_threads(void)
{
    return a_count();
}

static int f_continue(void)
{
    atomic_ullong *counters = counters_of_page();
    pthread_t thread;
    (void)pthread_create(&thread, NULL, continue_thread, &counters[1]);
    (void)pthread_create(&thread, NULL, continue_thread, &counters[2]);
    (void)continue_thread(&counters[0]);
    return THROUGH;
}

/* The first thread ends; the others go on. */
static int f_no_leader(void)
{
    atomic_ullong *counters = counters_of_page();
    pthread_t thread;
    (void)pthread_create(&thread, NULL, count_thread, &counters[0]);
    (void)pthread_create(&thread, NULL, count_thread, &counters[1]);
    (void)syscall(SYS_exit, 0L);
    return THROUGH;
}

/* Asks to be continued whenever somebody reads in a folder that the host shares. */
static int f_notice(void)
{
    atomic_ullong *counters = counters_of_page();
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    if (folder < 0 || fcntl(folder, F_SETSIG, SIGCONT) != 0 ||
        fcntl(folder, F_NOTIFY, DN_ACCESS | (int)DN_MULTISHOT) != 0)
        return HELD;
    (void)count_thread(&counters[0]);
    return THROUGH;
}

static int f_ignores(void)
{
    for (int number = 1; number < NSIG; number++)
        if (number != SIGSEGV && number != SIGBUS)
            (void)signal(number, SIG_IGN);
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    return a_count();
}

#endif
