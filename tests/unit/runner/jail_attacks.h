/* SPDX-License-Identifier: Apache-2.0 */
/* What hostile code tries inside a jail; for jail_test.c and sandbox_test.c. The test program is
 * its own attacker: it is started inside as /hone/hone-runner with the name of an attack. An attack
 * returns HELD when the barrier held and THROUGH when it got through; many are meant to be killed
 * instead, and spin for ever or return THROUGH when they are not. */
#ifndef HONE_TESTS_JAIL_ATTACKS_H
#define HONE_TESTS_JAIL_ATTACKS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/runner/jail/jail.h"

enum { HELD = 40, THROUGH = 41, NO_SUCH = 42, NOT_TIGHT = 43 };

#define MIB (1ll << 20)

static bool is_weak_here(void)
{
    return getpid() != 1;
}

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags, 0644);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static int a_nothing(void)
{
    return HELD;
}

static int a_host_files(void)
{
    static const char *const secret[] = {"/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/ssl",
                                         "/root",       "/home",       "/sys",          "/run",
                                         "/var",        "/etc",        "/boot"};
    for (size_t i = 0; i < HONE_COUNTOF(secret); i++) {
        bool is_own_etc =
            strcmp(secret[i], "/etc") == 0 && !is_weak_here(); /* ours, with the linker's cache */
        if (!is_own_etc && opens(secret[i], O_RDONLY)) {
            (void)fprintf(stderr, "can open %s\n", secret[i]);
            return THROUGH;
        }
    }
    return HELD;
}

static int a_proc(void)
{
    return opens("/proc/self/maps", O_RDONLY) || opens("/proc/1/environ", O_RDONLY) ||
                   opens("/proc", O_RDONLY)
               ? THROUGH
               : HELD;
}

static int a_write_outside(void)
{
    static const char *const paths[] = {"/evil",         "/usr/lib/evil", "/lib/evil",  "/etc/evil",
                                        "/work/evil",    "evil",          "/hone/evil", "/dev/evil",
                                        "/var/tmp/evil", "/dev/shm/evil"};
    for (size_t i = 0; i < HONE_COUNTOF(paths); i++)
        if (opens(paths[i], O_WRONLY | O_CREAT)) {
            (void)fprintf(stderr, "can write %s\n", paths[i]);
            return THROUGH;
        }
    if (opens("/hone/hone-runner", O_WRONLY))
        return THROUGH;
    return is_weak_here() || opens("/tmp/fine", O_WRONLY | O_CREAT) ? HELD : THROUGH;
}

static int a_devices(void)
{
    static const char *const paths[] = {"/dev/mem",  "/dev/kvm",  "/dev/vda", "/dev/tty",
                                        "/dev/ptmx", "/dev/fuse", "/dev/kmsg"};
    for (size_t i = 0; i < HONE_COUNTOF(paths); i++)
        if (opens(paths[i], O_RDONLY))
            return THROUGH;
    if (mknod("/tmp/null", S_IFCHR | 0666, makedev(1, 3)) == 0)
        return THROUGH;
    return opens("/dev/null", O_RDWR) && opens("/dev/urandom", O_RDONLY) ? HELD : THROUGH;
}

static int a_environment(void)
{
    for (char **line = environ; *line != NULL; line++)
        if (strncmp(*line, "PATH=/usr/bin", 13) != 0 && strcmp(*line, "LANG=C") != 0 &&
            strncmp(*line, "ASAN_OPTIONS=", 13) != 0 &&
            strncmp(*line, "LD_LIBRARY_PATH=", 16) != 0) {
            (void)fprintf(stderr, "environment has %s\n", *line);
            return THROUGH;
        }
    return HELD;
}

static int a_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return THROUGH;
    return HELD;
}

static int a_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{1, 1, 1}, {1, 1, 1}};
    long rc = syscall(SYS_capget, &header, data); /* not named by the filter: ENOSYS is as good */
    if (rc == 0 &&
        (data[0].effective | data[0].permitted | data[1].effective | data[1].permitted) != 0)
        return THROUGH;
    if (setuid(0) == 0 || setgid(0) == 0 || setgroups(0, NULL) == 0 || chown("/tmp", 0, 0) == 0)
        return THROUGH;
    return HELD;
}

static int a_kill_all(void)
{
    (void)kill(-1, SIGKILL);
    return THROUGH;
}

static int a_kill_thread(void)
{
    (void)syscall(SYS_tgkill, getppid(), getppid(), SIGKILL);
    return THROUGH;
}

/* Signals to itself are needed by abort() and raise(). */
static int a_own_signals(void)
{
    if (syscall(SYS_tkill, getppid(), SIGKILL) == 0)
        return THROUGH;
    return (is_weak_here() || kill(getpid(), 0) == 0) && raise(0) == 0 ? HELD : THROUGH;
}

static int a_no_death_signal(void)
{
    return prctl(PR_SET_PDEATHSIG, 0) == 0 || prctl(PR_SET_DUMPABLE, 1) == 0 ||
                   prctl(PR_SET_NO_NEW_PRIVS, 0) == 0
               ? THROUGH
               : HELD;
}

/* Setting a limit is answered as if it had been done. */
static int a_limits(void)
{
    const struct rlimit least = {1, 1};
    static const int kinds[] = {RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_NOFILE};
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++) {
        struct rlimit before, after;
        if (getrlimit(kinds[i], &before) != 0 || setrlimit(kinds[i], &least) != 0 ||
            prlimit(0, kinds[i], &least, NULL) != 0 ||
            syscall(SYS_prlimit64, getpid(), kinds[i], &least, NULL) != 0 ||
            syscall(SYS_setrlimit, kinds[i], &least) != 0 || getrlimit(kinds[i], &after) != 0 ||
            memcmp(&before, &after, sizeof before) != 0)
            return THROUGH;
    }
    return HELD;
}

/* Before the second filter, as a compiler could: whoever is killed for it is known all the same. */
static int a_spin_by_own_limit(void)
{
    const struct rlimit one = {1, 1};
    if (setrlimit(RLIMIT_CPU, &one) != 0)
        return HELD;
    for (;;)
        __asm__ volatile("");
}

static int a_clone3(void)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        _exit(0);
    return pid < 0 && errno == ENOSYS ? HELD : THROUGH;
}

static int a_memory(void)
{
    for (int i = 0; i < 4096; i++) {
        char *block = malloc(MIB);
        if (block == NULL)
            return HELD;
        memset(block, i | 1, MIB);
        __asm__ volatile("" : : "r"(block) : "memory");
    }
    return THROUGH;
}

static int a_shared_memory(void)
{
    for (int i = 0; i < 4096; i++) {
        char *block = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            return HELD;
        for (int page = 0; page < MIB;
             page += 4 * 4096) /* a GiB of the four, four times the bound */
            block[page] = 1;
    }
    return THROUGH;
}

static int fill(const char *path, int64_t bytes)
{
    static const char block[65536] = {1};
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    for (int64_t done = 0; done < bytes; done += (int64_t)sizeof(block))
        if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
            return HELD;
    return THROUGH;
}

static int a_fill_tmp(void)
{
    return fill("/tmp/big", 64 * MIB);
}

static int a_many_files(void)
{
    char name[64];
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(name, sizeof(name), "/tmp/%d", i);
        if (!opens(name, O_WRONLY | O_CREAT))
            return HELD;
    }
    return THROUGH;
}

static int a_big_file(void)
{
    return fill("big", 256 * MIB);
}

static int a_fill_work(void)
{
    char name[64];
    for (int i = 0; i < 256; i++) {
        (void)snprintf(name, sizeof(name), "big%d", i);
        if (fill(name, 3 * MIB) != THROUGH)
            return HELD;
        (void)usleep(10000);
    }
    return THROUGH;
}

static int a_spin(void)
{
    for (;;)
        __asm__ volatile("" : : : "memory");
    return THROUGH;
}

static int a_ignore(void)
{
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGSEGV && number != SIGBUS) /* these end it after hone_jail_tighten */
            (void)signal(number, SIG_IGN);
    }
    return a_spin();
}

static int a_catch_fault(void)
{
    struct sigaction kept;
    if (sigaction(SIGSEGV, NULL, &kept) != 0 || signal(SIGFPE, SIG_IGN) == SIG_ERR)
        return HELD; /* asking, and others: allowed */
    (void)sigaction(SIGSEGV, &kept, NULL);
    return THROUGH;
}

static int a_catch_bus_wide(void)
{
    char kept[64] = {0}; /* the upper half of a number does not hide it */
    (void)syscall(SYS_rt_sigaction, (1ul << 32) | SIGBUS, kept, NULL, 8);
    return THROUGH;
}

static void *sleep_thread(void *arg)
{
    (void)arg;
    for (;;)
        (void)pause();
    return NULL;
}

static int a_threads(void)
{
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, sleep_thread, NULL) != 0)
            return i >= 4 ? HELD : THROUGH; /* honest use must work too */
    }
    return THROUGH;
}

static int a_fork_bomb(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid < 0 && getppid() == 0)
            (void)!write(1, "full\n", 5);
        (void)!write(1, "x", 1);
    }
    return THROUGH;
}

static int a_daemon(void)
{
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0) {
            (void)!write(1, "d", 1);
            (void)a_ignore();
        }
        _exit(0);
    }
    (void)usleep(50000);
    return HELD; /* ends while the daemon lives */
}

static void *count_thread(void *arg)
{
    atomic_ullong *counter = arg;
    for (;;)
        atomic_fetch_add(counter, 1);
    return NULL;
}

/* Descriptor 3 is a shared page of counters, one a thread. */
static int a_count(void)
{
    atomic_ullong *counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    if (counters == MAP_FAILED)
        return THROUGH;
    for (int i = 1; i < 4; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, count_thread, &counters[i]) != 0)
            return THROUGH;
    }
    (void)count_thread(&counters[0]);
    return HELD;
}

static int a_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return THROUGH;
}

static int a_exec(void)
{
    char *const argv[] = {(char[]){"/hone/hone-runner"}, (char[]){"nothing"}, NULL};
    (void)execv(argv[0], argv);
    return THROUGH;
}

static int a_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? THROUGH : THROUGH;
}

static int a_unix_socket(void)
{
    (void)socket(AF_UNIX, SOCK_STREAM, 0);
    return THROUGH;
}

/* A 32-bit system call by its 64-bit number's table would slip past a filter that forgot the other
 * table. */
static int a_int80(void)
{
#ifdef __x86_64__
    long result = 0;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
#endif
    return THROUGH;
}

/* Some kernels have no 32-bit calls: int 0x80 is a fault there, in a jail and outside of one. */
static bool kernel_has_int80(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(a_int80());
    return child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
           WTERMSIG(status) != SIGSEGV;
}

static int a_abort(void)
{
    abort();
}

static int a_fault(void)
{
    volatile uintptr_t low = 8;
    *(volatile int *)low = 1;
    return THROUGH;
}

static int a_divide(void)
{
    volatile int parts[2] = {1000, 0};
    return parts[0] / parts[1];
}

static int a_illegal(void)
{
    __builtin_trap();
}

static int a_exit(void)
{
    exit(7);
}

struct attack {
    const char *name;
    int (*run)(void);
};

static const struct attack attacks[] = {
    {"nothing", a_nothing},
    {"host_files", a_host_files},
    {"proc", a_proc},
    {"write_outside", a_write_outside},
    {"devices", a_devices},
    {"environment", a_environment},
    {"descriptors", a_descriptors},
    {"capabilities", a_capabilities},
    {"kill_all", a_kill_all},
    {"kill_thread", a_kill_thread},
    {"catch_fault", a_catch_fault},
    {"catch_bus_wide", a_catch_bus_wide},
    {"own_signals", a_own_signals},
    {"no_death_signal", a_no_death_signal},
    {"limits", a_limits},
    {"spin_by_own_limit", a_spin_by_own_limit},
    {"clone3", a_clone3},
    {"memory", a_memory},
    {"shared_memory", a_shared_memory},
    {"fill_tmp", a_fill_tmp},
    {"many_files", a_many_files},
    {"big_file", a_big_file},
    {"fill_work", a_fill_work},
    {"spin", a_spin},
    {"ignore", a_ignore},
    {"threads", a_threads},
    {"fork_bomb", a_fork_bomb},
    {"daemon", a_daemon},
    {"count", a_count},
    {"fork", a_fork},
    {"exec", a_exec},
    {"socket", a_socket},
    {"unix_socket", a_unix_socket},
    {"int80", a_int80},
    {"abort", a_abort},
    {"fault", a_fault},
    {"divide", a_divide},
    {"illegal", a_illegal},
    {"exit", a_exit},
};

/* Calls that must end the process; arguments are zeros, which is enough to reach the filter. */
struct hostile_call {
    const char *name;
    long number;
};

static const struct hostile_call hostile_calls[] = {
    {"ptrace", SYS_ptrace},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"connect", SYS_connect},
    {"bpf", SYS_bpf},
    {"perf_event_open", SYS_perf_event_open},
    {"io_uring_setup", SYS_io_uring_setup},
    {"userfaultfd", SYS_userfaultfd},
    {"keyctl", SYS_keyctl},
    {"unshare", SYS_unshare},
    {"setns", SYS_setns},
    {"mount", SYS_mount},
    {"umount2", SYS_umount2},
    {"chroot", SYS_chroot},
    {"pivot_root", SYS_pivot_root},
    {"pidfd_open", SYS_pidfd_open},
    {"pidfd_getfd", SYS_pidfd_getfd},
    {"open_by_handle_at", SYS_open_by_handle_at},
    {"kcmp", SYS_kcmp},
    {"init_module", SYS_init_module},
    {"reboot", SYS_reboot},
};

static int run_attack(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(attacks); i++)
        if (strcmp(attacks[i].name, name) == 0)
            return attacks[i].run();
    for (size_t i = 0; i < HONE_COUNTOF(hostile_calls); i++)
        if (strcmp(hostile_calls[i].name, name) == 0) {
            (void)syscall(hostile_calls[i].number, 0L, 0L, 0L, 0L, 0L, 0L);
            return THROUGH;
        }
    return NO_SUCH;
}

#endif
