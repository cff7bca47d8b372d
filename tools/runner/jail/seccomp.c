/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filters (seccomp.h).
 *
 * The tables come first: calls that are allowed in every jail, by jail, and those that end the
 * process instead of failing. Then one add_... function for each call whose arguments matter
 * (clone, prctl, signals, fcntl, mmap...). A filter is built in the parent and loaded in the
 * child before exec; a second one is added after the candidate was loaded (tighten). */
#include "tools/runner/jail/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* One row a system call: what each kind of filter does with it. The order of the letters is
 * COMPILE, START, TIGHT. 'a' allow, 'k' kill the process, 'e' EPERM, 'n' answered with 0 and not
 * done, '-' not named (ENOSYS).
 * Calls whose arguments matter (clone, prctl, prlimit64, kill, tgkill, ioctl, mmap, mprotect,
 * fcntl, madvise) have code below instead. */
struct row {
    const char *name;
    char what[HONE_SECCOMP_N_COLUMNS + 1];
};

static const struct row rows[] = {
    /* memory */
    {"brk", "aaa"},
    {"mbind", "aae"}, /* a policy on shared memory would be that of every arm */
    {"get_mempolicy", "aaa"},
    {"set_mempolicy", "aaa"},
    {"membarrier", "aaa"},
    {"mincore", "aaa"},
    {"mlock", "aaa"},
    {"mlock2", "aaa"},
    {"munlock", "aaa"},
    {"mremap", "aaa"},
    {"msync", "aaa"},
    {"munmap", "aaa"},
    {"pkey_alloc", "aaa"},
    {"pkey_free", "aaa"},
    /* threads, waiting, time */
    {"arch_prctl", "aaa"},
    {"clock_getres", "aaa"},
    {"clock_gettime", "aaa"},
    {"clock_nanosleep", "aaa"},
    {"exit", "aaa"},
    {"exit_group", "aaa"},
    {"futex", "aaa"},
    {"futex_waitv", "aaa"},
    {"get_robust_list", "aaa"},
    {"getcpu", "aaa"},
    {"getitimer", "aaa"},
    {"gettimeofday", "aaa"},
    {"nanosleep", "aaa"},
    {"pause", "aaa"},
    {"restart_syscall", "aaa"},
    {"rseq", "aaa"},
    {"rt_sigpending", "aaa"},
    {"rt_sigprocmask", "aaa"},
    {"rt_sigreturn", "aaa"},
    {"rt_sigsuspend", "aaa"},
    {"rt_sigtimedwait", "aaa"},
    {"sched_get_priority_max", "aaa"},
    {"sched_get_priority_min", "aaa"},
    {"sched_getaffinity", "aaa"},
    {"sched_getparam", "aaa"},
    {"sched_getscheduler", "aaa"},
    {"sched_setaffinity", "aan"}, /* places are the judge's; OpenMP's threads end on a refusal */
    {"sched_yield", "aaa"},
    {"set_robust_list", "aaa"},
    {"set_tid_address", "aaa"},
    {"sigaltstack", "aaa"},
    {"time", "aaa"},
    /* who am I */
    {"getegid", "aaa"},
    {"geteuid", "aaa"},
    {"getgid", "aaa"},
    {"getgroups", "aaa"},
    {"getpgid", "aaa"},
    {"getpgrp", "aaa"},
    {"getpid", "aaa"},
    {"getppid", "aaa"},
    {"getpriority", "aaa"},
    {"getrandom", "aaa"},
    {"getresgid", "aaa"},
    {"getresuid", "aaa"},
    {"getrlimit", "aaa"},
    {"getrusage", "aaa"},
    {"getsid", "aaa"},
    {"gettid", "aaa"},
    {"getuid", "aaa"},
    {"setrlimit", "aan"}, /* the judge's limits stay the ones that the judge knows */
    {"sysinfo", "aaa"},
    {"times", "aaa"},
    {"umask", "aaa"},
    {"uname", "aaa"},
    /* descriptors and reading; what can be written is decided by the mounts */
    {"access", "aaa"},
    {"close", "aaa"},
    {"close_range", "aaa"},
    {"epoll_create1", "aaa"},
    {"epoll_ctl", "aaa"},
    {"epoll_pwait", "aaa"},
    {"epoll_wait", "aaa"},
    {"eventfd2", "aaa"},
    {"faccessat", "aaa"},
    {"faccessat2", "aaa"},
    {"fadvise64", "aaa"},
    {"fstat", "aaa"},
    {"fstatfs", "aaa"},
    {"fsync", "aaa"},
    {"fdatasync", "aaa"},
    {"ftruncate", "aaa"},
    {"getcwd", "aaa"},
    {"getdents64", "aaa"},
    {"lseek", "aaa"},
    {"lstat", "aaa"},
    {"newfstatat", "aaa"},
    {"open", "aaa"},
    {"openat", "aaa"},
    {"pipe", "aaa"},
    {"pipe2", "aaa"},
    {"poll", "aaa"},
    {"ppoll", "aaa"},
    {"pread64", "aaa"},
    {"preadv", "aaa"},
    {"preadv2", "aaa"},
    {"pselect6", "aaa"},
    {"pwrite64", "aaa"},
    {"pwritev", "aaa"},
    {"pwritev2", "aaa"},
    {"read", "aaa"},
    {"readlink", "aaa"},
    {"readlinkat", "aaa"},
    {"readv", "aaa"},
    {"select", "aaa"},
    {"stat", "aaa"},
    {"statfs", "aaa"},
    {"statx", "aaa"},
    {"unlink", "aaa"},
    {"unlinkat", "aaa"},
    {"write", "aaa"},
    {"writev", "aaa"},
    /* starting programs */
    {"execve", "aak"},
    {"execveat", "kkk"},
    {"fork", "akk"},
    {"vfork", "akk"},
    {"wait4", "aaa"},
    {"waitid", "aaa"},
    {"seccomp", "-a-"},
    /* writing files */
    {"chdir", "aa-"},
    {"chmod", "a--"},
    {"copy_file_range", "a--"},
    {"creat", "a--"},
    {"fallocate", "a--"},
    {"fchdir", "aa-"},
    {"fchmod", "a--"},
    {"fchmodat", "a--"},
    {"flock", "a--"},
    {"link", "a--"},
    {"linkat", "a--"},
    {"mkdir", "aa-"},
    {"mkdirat", "aa-"},
    {"rename", "a--"},
    {"renameat", "a--"},
    {"renameat2", "a--"},
    {"rmdir", "aa-"},
    {"sendfile", "a--"},
    {"setitimer", "a--"},
    {"alarm", "a--"},
    {"symlink", "a--"},
    {"symlinkat", "a--"},
    {"truncate", "a--"},
    {"utime", "a--"},
    {"utimensat", "a--"},
    {"utimes", "a--"},
    {"futimesat", "a--"},
    /* useless here, but honest code may try */
    {"chown", "eee"},
    {"fchown", "eee"},
    {"fchownat", "eee"},
    {"lchown", "eee"},
    {"mknod", "eee"},
    {"mknodat", "eee"},
    {"ioprio_set", "eee"},
    {"migrate_pages", "eee"},
    {"mlockall", "eee"},
    {"move_pages", "eee"},
    {"sched_setattr", "eee"},
    {"sched_setparam", "eee"},
    {"sched_setscheduler", "eee"},
    {"setpriority", "eee"},
    {"setxattr", "eee"},
    {"setfsgid", "eee"},
    {"setfsuid", "eee"},
    {"setgid", "eee"},
    {"setgroups", "eee"},
    {"setregid", "eee"},
    {"setresgid", "eee"},
    {"setresuid", "eee"},
    {"setreuid", "eee"},
    {"setuid", "eee"},
    {"shmget", "eee"},
    {"shmat", "eee"},
    {"semget", "eee"},
    {"msgget", "eee"},
    {"mq_open", "eee"},
    {"personality", "eee"},
    {"rt_sigqueueinfo", "eee"},
    {"rt_tgsigqueueinfo", "eee"},
    {"tkill", "eee"},
    /* nobody who multiplies matrices calls these */
    {"accept", "kkk"},
    {"accept4", "kkk"},
    {"bind", "kkk"},
    {"connect", "kkk"},
    {"listen", "kkk"},
    {"sendmmsg", "kkk"},
    {"sendmsg", "kkk"},
    {"sendto", "kkk"},
    {"recvmsg", "kkk"},
    {"recvfrom", "kkk"},
    {"socket", "kkk"},
    {"socketpair", "kkk"},
    {"acct", "kkk"},
    {"add_key", "kkk"},
    {"adjtimex", "kkk"},
    {"bpf", "kkk"},
    {"chroot", "kkk"},
    {"clock_adjtime", "kkk"},
    {"clock_settime", "kkk"},
    {"delete_module", "kkk"},
    {"fanotify_init", "kkk"},
    {"finit_module", "kkk"},
    {"fsconfig", "kkk"},
    {"fsmount", "kkk"},
    {"fsopen", "kkk"},
    {"fspick", "kkk"},
    {"init_module", "kkk"},
    {"io_uring_enter", "kkk"},
    {"io_uring_register", "kkk"},
    {"io_uring_setup", "kkk"},
    {"ioperm", "kkk"},
    {"iopl", "kkk"},
    {"kcmp", "kkk"},
    {"kexec_file_load", "kkk"},
    {"kexec_load", "kkk"},
    {"keyctl", "kkk"},
    {"mount", "kkk"},
    {"mount_setattr", "kkk"},
    {"move_mount", "kkk"},
    {"name_to_handle_at", "kkk"},
    {"open_by_handle_at", "kkk"},
    {"open_tree", "kkk"},
    {"perf_event_open", "kkk"},
    {"pidfd_getfd", "kkk"},
    {"pidfd_open", "kkk"},
    {"pidfd_send_signal", "kkk"},
    {"pivot_root", "kkk"},
    {"process_madvise", "kkk"},
    {"process_vm_readv", "kkk"},
    {"process_vm_writev", "kkk"},
    {"ptrace", "kkk"},
    {"quotactl", "kkk"},
    {"reboot", "kkk"},
    {"request_key", "kkk"},
    {"sethostname", "kkk"},
    {"setns", "kkk"},
    {"settimeofday", "kkk"},
    {"swapoff", "kkk"},
    {"swapon", "kkk"},
    {"syslog", "kkk"},
    {"umount2", "kkk"},
    {"unshare", "kkk"},
    {"userfaultfd", "kkk"},
};

#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

struct builder {
    scmp_filter_ctx ctx;
    int failed; /* first negative errno */
};

static void add(struct builder *b, uint32_t action, const char *name, unsigned n,
                const struct scmp_arg_cmp *args)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || b->failed < 0)
        return; /* a call that this libseccomp does not know cannot be allowed: it answers ENOSYS */
    int rc = seccomp_rule_add_array(b->ctx, action, number, n, args);
    if (rc < 0)
        b->failed = rc;
}

static void add_clone(struct builder *b, enum hone_seccomp_kind kind)
{
    const uint64_t namespaces = (uint64_t)(unsigned)NEW_NAMESPACES;
    if (kind == HONE_SECCOMP_COMPILE) {
        add(b, SCMP_ACT_ALLOW, "clone", 1,
            &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, namespaces, 0});
        return;
    }
    if (kind == HONE_SECCOMP_RECORD || kind == HONE_SECCOMP_RECORD_START ||
        kind == HONE_SECCOMP_TORCH) {
        add(b, SCMP_ACT_ALLOW, "clone", 1,
            &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, namespaces, 0});
        return;
    }
    const uint64_t thread = CLONE_THREAD;
    add(b, SCMP_ACT_ALLOW, "clone", 1,
        &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, namespaces | thread, thread});
    add(b, SCMP_ACT_KILL_PROCESS, "clone", 1,
        &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, thread, 0});
}

static void add_prctl(struct builder *b, enum hone_seccomp_kind kind)
{
    static const unsigned always[] = {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_GET_DUMPABLE};
    static const unsigned start[] = {PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_DUMPABLE,
                                     PR_SET_SECCOMP, PR_GET_SECCOMP};
    for (size_t i = 0; i < HONE_COUNTOF(always); i++)
        add(b, SCMP_ACT_ALLOW, "prctl", 1, &(struct scmp_arg_cmp){0, SCMP_CMP_EQ, always[i], 0});
    bool is_start = kind == HONE_SECCOMP_START || kind == HONE_SECCOMP_RECORD_START;
    for (size_t i = 0; is_start && i < HONE_COUNTOF(start); i++)
        add(b, SCMP_ACT_ALLOW, "prctl", 1, &(struct scmp_arg_cmp){0, SCMP_CMP_EQ, start[i], 0});
}

/* Signal numbers by the bits that they share: first to first + 2^n - 1. The kernel looks at 32
 * bits, and each rule costs time whenever a jail starts. */
struct signals {
    unsigned first, n_bits;
    bool is_refused;
};

/* To itself: everything that raise(), abort() and libc's own threads send. Being continued would
 * undo the judge's stop, and a death by SIGKILL looks like one from outside. */
static const struct signals own_signals[] = {
    {0, 3, false},      {8, 0, false},  {SIGKILL, 0, true}, {10, 1, false},
    {12, 2, false},     {16, 1, false}, {SIGCONT, 1, true}, {SIGTSTP, 1, true},
    {SIGTTOU, 0, true}, {23, 0, false}, {24, 3, false},     {32, 5, false}};
_Static_assert(SIGKILL == 9 && SIGCONT == 18 && SIGSTOP == 19 && SIGTSTP == 20 && SIGTTIN == 21 &&
                   SIGTTOU == 22,
               "the table above");

/* Handlers: all but those for memory faults. */
static const struct signals handled_signals[] = {{0, 2, false},      {4, 1, false},  {6, 0, false},
                                                 {SIGBUS, 0, true},  {8, 1, false},  {10, 0, false},
                                                 {SIGSEGV, 0, true}, {12, 2, false}, {16, 4, false},
                                                 {32, 5, false},     {64, 0, false}};
_Static_assert(SIGBUS == 7 && SIGSEGV == 11, "the table above");

static struct scmp_arg_cmp compare_signals(unsigned arg, const struct signals *which)
{
    uint64_t mask = UINT32_MAX & ~((1u << which->n_bits) - 1);
    return (struct scmp_arg_cmp){arg, SCMP_CMP_MASKED_EQ, mask, which->first};
}

static void add_own_signals(struct builder *b, const struct signals *which)
{
    uint32_t action = which->is_refused ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW;
    struct scmp_arg_cmp args[] = {{0, SCMP_CMP_EQ, (uint64_t)getpid(), 0},
                                  compare_signals(1, which)};
    add(b, action, "kill", HONE_COUNTOF(args), args);
    args[1] = compare_signals(2, which);
    add(b, action, "tgkill", HONE_COUNTOF(args), args);
}

/* In a pid namespace nobody else can be named. Without one the caller's own number is the only one
 * allowed, which is known only to the process itself, hence later. */
static void add_signals(struct builder *b, enum hone_seccomp_kind kind, bool is_weak)
{
    if (kind == HONE_SECCOMP_TIGHT) {
        const struct scmp_arg_cmp other = {0, SCMP_CMP_NE, (uint64_t)getpid(), 0};
        for (size_t i = 0; i < HONE_COUNTOF(own_signals); i++)
            add_own_signals(b, &own_signals[i]);
        /* A signal to anybody else has no honest use: the process ends, and the verdict says why.
         */
        add(b, SCMP_ACT_KILL_PROCESS, "kill", 1, &other);
        add(b, SCMP_ACT_KILL_PROCESS, "tgkill", 1, &other);
        return;
    }
    if (kind == HONE_SECCOMP_RECORD) { /* abort() in a child, whose number nobody knows yet */
        bool is_namespace = getpid() == 1;
        add(b, is_namespace ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "kill", 0, NULL);
        add(b, is_namespace ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "tgkill", 0, NULL);
        return;
    }
    uint32_t action = is_weak ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW;
    add(b, action, "kill", 0, NULL);
    add(b, action, "setsid", 0, NULL);
    add(b, action, "setpgid", 0, NULL);
    add(b, SCMP_ACT_ALLOW, "tgkill", 0, NULL); /* abort(); needs a thread number as well */
}

/* A constructor runs before the last filter is loaded, and the files that an arena was given are
 * memory that it can write: none of those may be mapped as code, nor copied to another number. The
 * last of n comparisons is filled here, with the argument that is the descriptor. */
static void add_own_files(struct builder *b, const char *name, unsigned descriptor,
                          struct scmp_arg_cmp *args, unsigned n)
{
    /* 0 to 3, 4 and 5, 6 are refused, 7 is its own, and so is all with a higher bit; the kernel
     * looks at 32 bits, and an arena may have 256 descriptors. */
    static const struct {
        uint32_t mask, value;
        bool is_own;
    } groups[] = {{~3u, 0, false}, {~1u, 4, false}, {~0u, 6, false}, {~0u, 7, true},  {8, 8, true},
                  {16, 16, true},  {32, 32, true},  {64, 64, true},  {128, 128, true}};
    for (size_t i = 0; i < HONE_COUNTOF(groups); i++) {
        args[n - 1] =
            (struct scmp_arg_cmp){descriptor, SCMP_CMP_MASKED_EQ, groups[i].mask, groups[i].value};
        add(b, groups[i].is_own ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), name, n, args);
    }
}

static void add_copies(struct builder *b, enum hone_seccomp_kind kind)
{
    static const char *const names[] = {"dup", "dup2", "dup3"};
    static const unsigned commands[] = {F_DUPFD, F_DUPFD_CLOEXEC};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        struct scmp_arg_cmp args[1];
        if (kind == HONE_SECCOMP_TIGHT)
            add_own_files(b, names[i], 0, args, 1);
        else
            add(b, SCMP_ACT_ALLOW, names[i], 0, NULL);
    }
    for (size_t i = 0; kind == HONE_SECCOMP_TIGHT && i < HONE_COUNTOF(commands); i++) {
        struct scmp_arg_cmp args[2] = {{1, SCMP_CMP_EQ, commands[i], 0}};
        add_own_files(b, "fcntl", 0, args, 2);
    }
}

/* Memory that is written never becomes code, so that the code of a candidate is what its object
 * holds. Objects are still loaded: private mappings of files, which no writable folder allows. */
static void add_code(struct builder *b, enum hone_seccomp_kind kind)
{
    static const char *const names[] = {"mmap", "mprotect", "pkey_mprotect"};
    const uint64_t exec = PROT_EXEC, both = PROT_EXEC | PROT_WRITE;
    const uint64_t how = MAP_TYPE | MAP_ANONYMOUS;
    bool is_free = kind != HONE_SECCOMP_TIGHT && kind != HONE_SECCOMP_RECORD;
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        if (is_free)
            add(b, SCMP_ACT_ALLOW, names[i], 0, NULL);
        else
            add(b, SCMP_ACT_ALLOW, names[i], 1,
                &(struct scmp_arg_cmp){2, SCMP_CMP_MASKED_EQ, exec, 0});
        if (!is_free && i > 0)
            add(b, SCMP_ACT_ERRNO(EPERM), names[i], 1,
                &(struct scmp_arg_cmp){2, SCMP_CMP_MASKED_EQ, exec, exec});
    }
    if (is_free)
        return;
    add(b, SCMP_ACT_ERRNO(EPERM), "mmap", 1,
        &(struct scmp_arg_cmp){2, SCMP_CMP_MASKED_EQ, both, both});
    static const uint64_t ways[] = {MAP_PRIVATE, MAP_SHARED, MAP_SHARED_VALIDATE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS};
    for (size_t i = 0; i < HONE_COUNTOF(ways); i++) {
        struct scmp_arg_cmp args[3] = {{2, SCMP_CMP_MASKED_EQ, both, exec},
                                       {3, SCMP_CMP_MASKED_EQ, how, ways[i]}};
        if (ways[i] == MAP_PRIVATE && kind == HONE_SECCOMP_TIGHT)
            add_own_files(b, "mmap", 4, args, 3);
        else
            add(b, ways[i] == MAP_PRIVATE ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "mmap", 2,
                args);
    }
}

struct values { /* of one argument of one call */
    const char *name;
    unsigned arg;
    const int *v;
    size_t n;
};

static void add_values(struct builder *b, uint32_t action, const struct values *values)
{
    for (size_t i = 0; i < values->n; i++)
        add(b, action, values->name, 1,
            &(struct scmp_arg_cmp){values->arg, SCMP_CMP_EQ, (uint64_t)values->v[i], 0});
}

/* Advice about a shared mapping can act on the pages of everybody who has it: those that would
 * slow another arm down, or empty its memory, are refused. */
static void add_advice(struct builder *b, enum hone_seccomp_kind kind)
{
    static const int allowed[] = {MADV_NORMAL,
                                  MADV_RANDOM,
                                  MADV_SEQUENTIAL,
                                  MADV_WILLNEED,
                                  MADV_DONTNEED,
                                  MADV_FREE,
                                  MADV_DONTFORK,
                                  MADV_DOFORK,
                                  MADV_HUGEPAGE,
                                  MADV_NOHUGEPAGE,
                                  MADV_DONTDUMP,
                                  MADV_DODUMP,
                                  22,
                                  23 /* POPULATE_* */,
                                  102,
                                  103 /* GUARD_*, thread stacks */};
    static const int refused[] = {MADV_REMOVE,
                                  MADV_MERGEABLE,
                                  MADV_UNMERGEABLE,
                                  20,
                                  21 /* COLD, PAGEOUT */,
                                  25 /* COLLAPSE */,
                                  MADV_HWPOISON,
                                  101 /* SOFT_OFFLINE */};
    if (kind != HONE_SECCOMP_TIGHT && kind != HONE_SECCOMP_RECORD) {
        add(b, SCMP_ACT_ALLOW, "madvise", 0, NULL);
        return;
    }
    add_values(b, SCMP_ACT_ALLOW, &(struct values){"madvise", 2, allowed, HONE_COUNTOF(allowed)});
    add_values(b, SCMP_ACT_ERRNO(EPERM),
               &(struct values){"madvise", 2, refused, HONE_COUNTOF(refused)});
}

/* Descriptors can be told to send signals (to others, or SIGCONT to a process that the judge has
 * stopped), to watch folders, to take more kernel memory, and to carry locks that other arms see.
 */
static void add_fcntl(struct builder *b, enum hone_seccomp_kind kind)
{
    static const int allowed[] = {F_GETFD, F_SETFD, F_GETFL, F_GETPIPE_SZ, F_GET_SEALS};
    static const int copies[] = {F_DUPFD, F_DUPFD_CLOEXEC}; /* TIGHT: add_copies */
    static const int refused[] = {F_SETLK,     F_SETLKW,     F_SETOWN,     F_SETSIG,
                                  F_SETOWN_EX, F_OFD_SETLK,  F_OFD_SETLKW, F_SETLEASE,
                                  F_NOTIFY,    F_SETPIPE_SZ, F_ADD_SEALS};
    if (kind != HONE_SECCOMP_TIGHT && kind != HONE_SECCOMP_RECORD) {
        add(b, SCMP_ACT_ALLOW, "fcntl", 0, NULL);
        return;
    }
    add_values(b, SCMP_ACT_ALLOW, &(struct values){"fcntl", 1, allowed, HONE_COUNTOF(allowed)});
    if (kind == HONE_SECCOMP_RECORD)
        add_values(b, SCMP_ACT_ALLOW, &(struct values){"fcntl", 1, copies, HONE_COUNTOF(copies)});
    add_values(b, SCMP_ACT_ERRNO(EPERM),
               &(struct values){"fcntl", 1, refused, HONE_COUNTOF(refused)});
    const uint64_t async = O_ASYNC;
    struct scmp_arg_cmp args[] = {{1, SCMP_CMP_EQ, F_SETFL, 0}, {2, SCMP_CMP_MASKED_EQ, async, 0}};
    add(b, SCMP_ACT_ALLOW, "fcntl", HONE_COUNTOF(args), args);
    args[1].datum_b = async;
    add(b, SCMP_ACT_ERRNO(EPERM), "fcntl", HONE_COUNTOF(args), args);
}

/* Whoever catches memory faults hides that it reads beside its buffers. */
static void add_handlers(struct builder *b, enum hone_seccomp_kind kind)
{
    if (kind != HONE_SECCOMP_TIGHT && kind != HONE_SECCOMP_RECORD) {
        add(b, SCMP_ACT_ALLOW, "rt_sigaction", 0, NULL);
        return;
    }
    for (size_t i = 0; i < HONE_COUNTOF(handled_signals); i++) {
        const struct scmp_arg_cmp args[] = {compare_signals(0, &handled_signals[i]),
                                            {1, SCMP_CMP_NE, 0, 0}};
        add(b, handled_signals[i].is_refused ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW,
            "rt_sigaction", HONE_COUNTOF(args), args);
    }
    /* Asking what is set. */
    add(b, SCMP_ACT_ALLOW, "rt_sigaction", 1, &(struct scmp_arg_cmp){1, SCMP_CMP_EQ, 0, 0});
}

/* What a driver may need of the things that no arena may: talking to its own daemon. libcuda 580
 * does not start when it cannot bind and listen on a local socket of its own. */
static bool is_for_drivers(const char *name)
{
    static const char *const names[] = {"accept",   "accept4",  "bind",   "connect",
                                        "listen",   "sendmsg",  "sendto", "recvmsg",
                                        "recvfrom", "sendmmsg", "socket", "socketpair"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_for_device(enum hone_seccomp_kind kind)
{
    return kind == HONE_SECCOMP_DEVICE_START || kind == HONE_SECCOMP_DEVICE ||
           kind == HONE_SECCOMP_DEVICE_TORCH;
}

/* One rule a flag: a filter that allows the rest can only name what it refuses. */
static void refuse_namespaces(struct builder *b)
{
    for (int bit = 0; bit < 32; bit++) {
        const uint64_t flag = (uint64_t)(unsigned)NEW_NAMESPACES & 1u << bit;
        if (flag != 0)
            add(b, SCMP_ACT_ERRNO(EPERM), "clone", 1,
                &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, flag, flag});
    }
}

static int fill_device(struct builder *b, enum hone_seccomp_kind kind)
{
    bool may_fork = kind == HONE_SECCOMP_DEVICE_TORCH;
    size_t column = kind == HONE_SECCOMP_DEVICE ? HONE_SECCOMP_TIGHT
                    : may_fork                  ? HONE_SECCOMP_COMPILE
                                                : HONE_SECCOMP_START;
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char what = rows[i].what[column];
        if ((what == 'k' || what == 'e') && !is_for_drivers(rows[i].name))
            add(b, SCMP_ACT_ERRNO(EPERM), rows[i].name, 0, NULL);
    }
    const uint64_t thread = CLONE_THREAD;
    if (may_fork)
        refuse_namespaces(b);
    else
        add(b, SCMP_ACT_ERRNO(EPERM), "clone", 1,
            &(struct scmp_arg_cmp){0, SCMP_CMP_MASKED_EQ, thread, 0});
    add(b, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
    add(b, SCMP_ACT_ERRNO(EPERM), "socket", 1, &(struct scmp_arg_cmp){0, SCMP_CMP_NE, AF_UNIX, 0});
    return b->failed;
}

/* For NO_CODE to be loaded; that filter closes the door behind it. Without a listener, which would
 * answer calls in the kernel's place. */
static void add_filter_loading(struct builder *b, enum hone_seccomp_kind kind)
{
    const uint64_t harmless = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
                              SECCOMP_FILTER_FLAG_SPEC_ALLOW | (1u << 4) /* TSYNC_ESRCH */;
    const struct scmp_arg_cmp args[] = {{0, SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER, 0},
                                        {1, SCMP_CMP_MASKED_EQ, ~harmless, 0}};
    if (kind == HONE_SECCOMP_TIGHT)
        add(b, SCMP_ACT_ALLOW, "seccomp", HONE_COUNTOF(args), args);
}

static int fill_no_code(struct builder *b)
{
    static const char *const names[] = {"mmap", "mprotect", "pkey_mprotect"};
    const uint64_t exec = PROT_EXEC;
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        add(b, SCMP_ACT_ERRNO(EPERM), names[i], 1,
            &(struct scmp_arg_cmp){2, SCMP_CMP_MASKED_EQ, exec, exec});
    add(b, SCMP_ACT_ERRNO(EPERM), "seccomp", 0, NULL);
    return b->failed;
}

/* Asking is free; setting is answered like setrlimit. */
static void add_limits(struct builder *b, enum hone_seccomp_kind kind)
{
    const struct scmp_arg_cmp own = {0, SCMP_CMP_EQ, 0, 0};
    if (kind != HONE_SECCOMP_TIGHT && kind != HONE_SECCOMP_RECORD) {
        add(b, SCMP_ACT_ALLOW, "prlimit64", 1, &own);
        return;
    }
    const struct scmp_arg_cmp asks[] = {own, {2, SCMP_CMP_EQ, 0, 0}};
    add(b, SCMP_ACT_ALLOW, "prlimit64", HONE_COUNTOF(asks), asks);
    add(b, SCMP_ACT_ERRNO(0), "prlimit64", 1, &(struct scmp_arg_cmp){2, SCMP_CMP_NE, 0, 0});
}

static int fill(struct builder *b, enum hone_seccomp_kind kind, bool is_weak)
{
    if (is_for_device(kind))
        return fill_device(b, kind);
    if (kind == HONE_SECCOMP_NO_CODE)
        return fill_no_code(b);
    bool is_torch = kind == HONE_SECCOMP_TORCH;
    size_t column = kind == HONE_SECCOMP_RECORD                     ? HONE_SECCOMP_TIGHT
                    : kind == HONE_SECCOMP_RECORD_START || is_torch ? HONE_SECCOMP_START
                                                                    : kind;
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char what = rows[i].what[column];
        if (is_torch && what == 'k' && is_for_drivers(rows[i].name))
            what = 'e';
        if (what == 'a')
            add(b, SCMP_ACT_ALLOW, rows[i].name, 0, NULL);
        else if (what == 'k')
            add(b, SCMP_ACT_KILL_PROCESS, rows[i].name, 0, NULL);
        else if (what == 'e' || what == 'n')
            add(b, SCMP_ACT_ERRNO(what == 'e' ? EPERM : 0), rows[i].name, 0, NULL);
    }
    add_clone(b, kind);
    add_prctl(b, kind);
    add_signals(b, kind, is_weak);
    add_handlers(b, kind);
    add_code(b, kind);
    add_advice(b, kind);
    add_fcntl(b, kind);
    add_copies(b, kind);
    add_filter_loading(b, kind);
    add(b, SCMP_ACT_ERRNO(ENOTTY), "ioctl", 0, NULL);
    add_limits(b, kind);
    return b->failed;
}

/* Default ENOSYS also covers clone3, whose flags a filter cannot read: glibc then calls clone. */
static int make(enum hone_seccomp_kind kind, bool is_weak, scmp_filter_ctx *ret_ctx,
                struct hone_err *err)
{
    bool allows_rest = is_for_device(kind) || kind == HONE_SECCOMP_NO_CODE;
    struct builder b = {.ctx = seccomp_init(allows_rest ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS))};
    if (b.ctx == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "libseccomp cannot build a filter here");
    int rc = seccomp_attr_set(b.ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        rc =
            seccomp_attr_set(b.ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* binary tree over the numbers */
    if (rc == 0)
        rc = fill(&b, kind, is_weak);
    if (rc < 0) {
        seccomp_release(b.ctx);
        return hone_fail_errno(err, -rc, "cannot build the system call filter");
    }
    *ret_ctx = b.ctx;
    return 0;
}

int hone_seccomp_build(enum hone_seccomp_kind kind, bool is_weak, void **ret_ops, size_t *ret_n_ops,
                       struct hone_err *err)
{
    scmp_filter_ctx ctx = NULL;
    int rc = make(kind, is_weak, &ctx, err);
    if (rc < 0)
        return rc;
    HONE_AUTOCLOSE int fd = memfd_create("filter", MFD_CLOEXEC);
    int wrong = fd < 0 ? errno : -seccomp_export_bpf(ctx, fd);
    seccomp_release(ctx);
    if (wrong != 0)
        return hone_fail_errno(err, wrong, "cannot export the system call filter");
    HONE_AUTOFREE struct sock_filter *ops = hone_calloc(HONE_SECCOMP_MAX_OPS, sizeof(*ops));
    ssize_t n = pread(fd, ops, HONE_SECCOMP_MAX_OPS * sizeof(*ops), 0);
    if (n <= 0 || n == (ssize_t)(HONE_SECCOMP_MAX_OPS * sizeof(*ops)))
        return hone_fail(err, HONE_E_BUG, "the system call filter has an odd size (%zd bytes)", n);
    *ret_n_ops = (size_t)n / sizeof(*ops);
    *ret_ops = HONE_STEAL(ops);
    return 0;
}

int hone_seccomp_tighten(enum hone_seccomp_kind kind, struct hone_err *err)
{
    scmp_filter_ctx ctx = NULL;
    int rc = make(kind, false, &ctx, err);
    if (rc < 0)
        return rc;
    rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
    if (rc == 0) /* it is set, and prctl may be closed */
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
    if (rc == 0)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc == 0 ? 0 : hone_fail_errno(err, -rc, "cannot load the second system call filter");
}
