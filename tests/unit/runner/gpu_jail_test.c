/* SPDX-License-Identifier: Apache-2.0 */
/* The jail's profile for our own code beside a GPU driver: what a driver needs works, what only an
 * attack needs is refused (and answered, not killed). The program is its own attacker, as in
 * jail_test.c. */
#include "tools/runner/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "workspace/base/clock.h"

enum { HELD = 40, THROUGH = 41, NO_SUCH = 42, NOT_TIGHT = 43, BROKEN = 44 };

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

static bool opens(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static int a_exec(void)
{
    char *const argv[] = {(char[]){"/hone/hone-runner"}, NULL};
    return is_refused(execve(argv[0], argv, argv + 1)) ? HELD : THROUGH;
}

static int a_fork(void)
{
    long pid = syscall(SYS_fork);
    if (pid == 0)
        _exit(0);
    return is_refused(pid) && is_refused(syscall(SYS_vfork)) &&
                   is_refused(syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0))
               ? HELD
               : THROUGH;
}

static int a_network(void)
{
    return is_refused(socket(AF_INET, SOCK_STREAM, 0)) &&
                   is_refused(socket(AF_INET6, SOCK_DGRAM, 0)) &&
                   is_refused(socket(AF_NETLINK, SOCK_RAW, 0))
               ? HELD
               : THROUGH;
}

static int a_calls(void)
{
    static const long calls[] = {SYS_ptrace,      SYS_mount,           SYS_umount2,
                                 SYS_unshare,     SYS_setns,           SYS_bpf,
                                 SYS_keyctl,      SYS_perf_event_open, SYS_userfaultfd,
                                 SYS_init_module, SYS_kexec_load,      SYS_process_vm_readv,
                                 SYS_chroot,      SYS_pivot_root,      SYS_io_uring_setup,
                                 SYS_reboot,      SYS_mknodat,         SYS_open_by_handle_at};
    for (size_t i = 0; i < HONE_COUNTOF(calls); i++) {
        if (!is_refused(syscall(calls[i], 0L, 0L, 0L, 0L, 0L, 0L))) {
            (void)fprintf(stderr, "call %ld: %s\n", calls[i], strerror(errno));
            return THROUGH;
        }
    }
    return HELD;
}

static int a_files(void)
{
    static const char *const closed[] = {"/etc/passwd", "/etc/shadow", "/root",
                                         "/home",       "/var",        "/boot"};
    for (size_t i = 0; i < HONE_COUNTOF(closed); i++)
        if (opens(closed[i]))
            return THROUGH;
    int fd = open("/hone/driver/planted", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 ? THROUGH : HELD;
}

/* What a driver does in its first second. */
static int a_works(void)
{
    struct rlimit limit = {.rlim_cur = 0};
    int pair[2], n = -1;
    if (!opens("/proc/self/maps") || !opens("/proc/self/fd"))
        return BROKEN;
    if (pipe(pair) < 0 || write(pair[1], "abc", 3) != 3 || ioctl(pair[0], FIONREAD, &n) < 0 ||
        n != 3)
        return BROKEN;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return BROKEN;
    if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY)
        return BROKEN;
    const char *driver = getenv("HONE_CUDA_LIB");
    if (driver == NULL || !opens(driver) || access("/dev/shm", W_OK) < 0)
        return BROKEN;
    return HELD;
}

static int run_program(const char *path)
{
    pid_t pid = fork();
    int status = -1;
    if (pid == 0) {
        (void)execl(path, path, (char *)NULL);
        _exit(1);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                           : -1;
}

/* What torch.compile does: it starts compilers, and runs what they wrote. */
static int a_compiles(void)
{
    static const char text[] = "#!/bin/sh\nexit 7\n";
    int fd = open("/tmp/made", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, text, sizeof text - 1) < 0 || close(fd) < 0)
        return BROKEN;
    return run_program("/bin/true") == 0 && run_program("/tmp/made") == 7 ? HELD : BROKEN;
}

static int a_namespaces(void)
{
    static const long flags[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,   CLONE_NEWPID,
                                 CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
    for (size_t i = 0; i < HONE_COUNTOF(flags); i++) {
        long pid = syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0);
        if (pid == 0)
            _exit(0);
        if (!is_refused(pid))
            return THROUGH;
    }
    return HELD;
}

static const struct {
    const char *name;
    int (*run)(void);
    bool of_device, of_torch; /* in which profiles */
} attacks[] = {
    {"exec", a_exec, true, false},         {"fork", a_fork, true, false},
    {"network", a_network, true, true},    {"calls", a_calls, true, true},
    {"files", a_files, true, true},        {"works", a_works, true, true},
    {"compiles", a_compiles, false, true}, {"namespaces", a_namespaces, true, true},
};

static int attacker(const char *name, bool is_torch)
{
    struct hone_err err = HONE_ERR_INIT;
    if (!is_torch && hone_jail_tighten(HONE_JAIL_DEVICE, &err) < 0)
        return NOT_TIGHT;
    for (size_t i = 0; i < HONE_COUNTOF(attacks); i++)
        if (strcmp(attacks[i].name, name) == 0)
            return attacks[i].run();
    return NO_SUCH;
}

static int start(const char *rung, const char *name, enum hone_jail_profile profile,
                 struct hone_jail_exit *ret, struct hone_err *err)
{
    const char *word = profile == HONE_JAIL_DEVICE_TORCH ? "torch" : "attack";
    const char *const argv[] = {"/hone/hone-runner", word, name, NULL};
    const char *const shown[] = {"/usr/bin/env", NULL}; /* for torch in a folder that is shown */
    struct hone_jail_spec spec = {.profile = profile,
                                  .rung = rung,
                                  .argv = argv,
                                  .ro_files = shown,
                                  .driver_dir = "/usr/share",
                                  .tmp_bytes = 1 << 20,
                                  .max_pids = 64,
                                  .stdin_fd = -1,
                                  .stdout_fd = -1,
                                  .stderr_fd = 2};
    struct hone_jail *jail = NULL;
    int code = hone_jail_start(&spec, &jail, err);
    if (code == 0)
        code = hone_jail_wait(jail, hone_deadline_in_ms(30000), ret, err);
    hone_jail_free(jail);
    return code;
}

static void attack_all(enum hone_jail_profile profile)
{
    bool is_torch = profile == HONE_JAIL_DEVICE_TORCH;
    static const char *const rungs[] = {"userns", "root"};
    size_t n_worked = 0;
    for (size_t r = 0; r < HONE_COUNTOF(rungs); r++) {
        for (size_t i = 0; i < HONE_COUNTOF(attacks); i++) {
            if (!(is_torch ? attacks[i].of_torch : attacks[i].of_device))
                continue;
            struct hone_jail_exit how = {.status = -1};
            struct hone_err err = HONE_ERR_INIT;
            int code = start(rungs[r], attacks[i].name, profile, &how, &err);
            if (code == HONE_E_UNSUPPORTED) {
                (void)printf("# SKIP %s: %s\n", rungs[r], err.message);
                break;
            }
            n_worked++;
            ck_assert_msg(code == 0, "%s", err.message);
            ck_assert_msg(how.status == HELD, "%s on %s: status %d, signal %d", attacks[i].name,
                          rungs[r], how.status, how.signal);
        }
    }
    ck_assert_uint_gt(n_worked, 0);
}

START_TEST(device_jail_holds)
{
    attack_all(HONE_JAIL_DEVICE);
}
END_TEST

START_TEST(torch_beside_a_driver_holds)
{
    attack_all(HONE_JAIL_DEVICE_TORCH);
}
END_TEST

/* No jail at all is for this profile alone, and never chosen by itself. */
START_TEST(open_is_only_for_devices)
{
    struct hone_jail_exit how = {.status = -1};
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(start("device-open", "works", HONE_JAIL_ARENA, &how, &err), HONE_E_ARG);
    ck_assert_int_eq(start("device-open", "works", HONE_JAIL_COMPILE, &how, &err), HONE_E_ARG);
    ck_assert_msg(start("device-open", "works", HONE_JAIL_DEVICE, &how, &err) == 0, "%s",
                  err.message);
    ck_assert_int_eq(how.status, HELD);
}
END_TEST

static int suite_main(void);
#define main suite_main
UNIT_MAIN("gpu_jail", device_jail_holds, torch_beside_a_driver_holds, open_is_only_for_devices)
#undef main

int main(int argc, char **argv)
{
    bool is_torch = argc == 3 && strcmp(argv[1], "torch") == 0;
    return is_torch || (argc == 3 && strcmp(argv[1], "attack") == 0) ? attacker(argv[2], is_torch)
                                                                     : suite_main();
}
