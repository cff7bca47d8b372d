/* SPDX-License-Identifier: Apache-2.0 */
/* Every barrier of docs/security.md, on every rung that works here, as root and (re-started without
 * privileges) as an ordinary user. A rung that does not work here is named in the output and
 * skipped; the tests that do not name a rung fail then.
 * tsan: no; its run-time ends a process that aborts in its own way. */
#include "tools/runner/jail/jail.h"

#include <limits.h>
#include <poll.h>
#include <time.h>

#include "tests/unit/runner/jail_attacks.h"
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define NOBODY 65534

/* argv: program, "loose", "tight" or "record", name */
static int jail_attack(char **argv)
{
    struct hone_err err = HONE_ERR_INIT;
    bool is_record = strcmp(argv[1], "record") == 0;
    enum hone_jail_profile profile = is_record ? HONE_JAIL_RECORD : HONE_JAIL_ARENA;
    if (strcmp(argv[1], "loose") != 0 && hone_jail_tighten(profile, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        return NOT_TIGHT;
    }
    return run_attack(argv[2]);
}

static const char *const rungs[] = {"userns", "root", "weak"};
static char work_dir[] = "/tmp/hone-jail-test-XXXXXX";

static bool is_weak(const char *rung)
{
    return strcmp(rung, "weak") == 0;
}

static struct hone_jail_spec spec_for(const char *rung, const char *const *argv)
{
    return (struct hone_jail_spec){.profile = HONE_JAIL_ARENA,
                                   .rung = rung,
                                   .allow_weak = true,
                                   .argv = argv,
                                   .work_dir = work_dir,
                                   .memory_bytes = 256 * MIB,
                                   .tmp_bytes = 8 * MIB,
                                   .file_bytes = 4 * MIB,
                                   .cpu_seconds = 20,
                                   .max_pids = 16,
                                   .stdin_fd = -1,
                                   .stdout_fd = -1,
                                   .stderr_fd = 2};
}

static bool rung_works(const char *rung)
{
    if (UNIT_HAS_SANITIZER && is_weak(rung)) {
        (void)printf("# SKIP weak: the sanitizer's run-time needs /proc\n");
        return false;
    }
    if (strcmp(rung, "root") == 0 && geteuid() != 0)
        return false; /* as it should be: see the test of the probe */
    struct hone_jail_rung found[8];
    size_t n = hone_jail_probe(found, HONE_COUNTOF(found));
    for (size_t i = 0; i < n; i++)
        if (strcmp(found[i].name, rung) == 0 && found[i].works)
            return true;
        else if (strcmp(found[i].name, rung) == 0)
            (void)printf("# SKIP %s as uid %d: %s\n", rung, (int)geteuid(), found[i].why);
    return false;
}

#define FOR_EACH_RUNG(rung)                                                                        \
    for (size_t rung##_i = 0; rung##_i < HONE_COUNTOF(rungs); rung##_i++)                          \
        for (const char *rung = rungs[rung##_i]; rung != NULL && rung_works(rung); rung = NULL)

static void remove_work_dir(void)
{
    (void)hone_remove_tree(work_dir, NULL);
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(work_dir));
    (void)atexit(remove_work_dir);
    (void)setenv("HONE_TEST_SECRET", "must not be seen", 1);
}

static struct hone_jail_exit run(struct hone_jail_spec spec)
{
    struct hone_jail *jail = NULL;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_jail_exit how = {.status = -1};
    ck_assert_msg(hone_jail_start(&spec, &jail, &err) == 0, "%s", err.message);
    ck_assert_str_eq(hone_jail_rung(jail), spec.rung);
    ck_assert_msg(hone_jail_wait(jail, hone_deadline_in_ms(30000), &how, &err) == 0, "%s on %s: %s",
                  spec.argv[2], spec.rung, err.message);
    hone_jail_free(jail);
    return how;
}

static struct hone_jail_exit attack(const char *rung, const char *mode, const char *name,
                                    enum hone_jail_profile profile)
{
    const char *const argv[] = {"/hone/hone-runner", mode, name, NULL};
    struct hone_jail_spec spec = spec_for(rung, argv);
    spec.profile = profile;
    return run(spec);
}

/* Attacks that find the door shut. */
START_TEST(barriers_hold)
{
    static const char *const names[] = {
        "nothing",     "host_files",  "proc",         "write_outside", "devices",
        "environment", "descriptors", "capabilities", "own_signals",   "no_death_signal",
        "limits",      "clone3",      "threads",      "memory",        "shared_memory"};
    setup();
    FOR_EACH_RUNG(rung)
    {
        for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
            bool is_unbounded =
                is_weak(rung) && geteuid() != 0; /* no uid of its own: docs/security.md 6 */
            if (is_unbounded && strcmp(names[i], "threads") == 0)
                continue;
            if (UNIT_HAS_SANITIZER &&
                (strcmp(names[i], "proc") == 0 || strstr(names[i], "memory") != NULL))
                continue; /* its run-time needs /proc and takes terabytes of address space */
            struct hone_jail_exit how = attack(rung, "tight", names[i], HONE_JAIL_ARENA);
            ck_assert_msg(how.status == HELD || how.was_oom, "%s on %s: status %d, signal %d",
                          names[i], rung, how.status, how.signal);
        }
    }
}
END_TEST

/* Attacks that cost the process its life, before and after hone_jail_tighten. */
START_TEST(hostile_calls_kill)
{
    static const char *const also[] = {"fork", "socket", "unix_socket", "int80"};
    setup();
    FOR_EACH_RUNG(rung)
    {
        for (size_t i = 0; i < HONE_COUNTOF(hostile_calls); i++) {
            struct hone_jail_exit how = attack(rung, i % 2 == 0 ? "tight" : "loose",
                                               hostile_calls[i].name, HONE_JAIL_ARENA);
            ck_assert_msg(how.was_seccomp, "%s on %s: status %d, signal %d", hostile_calls[i].name,
                          rung, how.status, how.signal);
        }
        for (size_t i = 0; i < HONE_COUNTOF(also); i++) {
            struct hone_jail_exit how = attack(rung, "loose", also[i], HONE_JAIL_ARENA);
            bool is_fault = strcmp(also[i], "int80") == 0 && !kernel_has_int80();
            ck_assert_msg(how.was_seccomp || (is_fault && how.signal == SIGSEGV),
                          "%s on %s: status %d, signal %d", also[i], rung, how.status, how.signal);
        }
        ck_assert(attack(rung, "tight", "exec", HONE_JAIL_ORACLE).was_seccomp);
        ck_assert(attack(rung, "tight", "kill_all", HONE_JAIL_ARENA).was_seccomp);
        ck_assert(attack(rung, "tight", "kill_thread", HONE_JAIL_ARENA).was_seccomp);
        ck_assert(attack(rung, "tight", "catch_fault", HONE_JAIL_ARENA).was_seccomp);
        ck_assert(attack(rung, "tight", "catch_bus_wide", HONE_JAIL_ARENA).was_seccomp);
        /* RECORD may fork, and nothing else. */
        ck_assert_int_eq(attack(rung, "record", "fork", HONE_JAIL_RECORD).status, THROUGH);
        ck_assert(attack(rung, "record", "exec", HONE_JAIL_RECORD).was_seccomp);
        ck_assert(attack(rung, "record", "socket", HONE_JAIL_RECORD).was_seccomp);
        ck_assert(attack(rung, "record", "ptrace", HONE_JAIL_RECORD).was_seccomp);
        ck_assert(attack(rung, "record", "unshare", HONE_JAIL_RECORD).was_seccomp);
        ck_assert(attack(rung, "record", "catch_fault", HONE_JAIL_RECORD).was_seccomp);
        ck_assert(attack(rung, "loose", "socket", HONE_JAIL_COMPILE).was_seccomp);
        ck_assert(attack(rung, "loose", "ptrace", HONE_JAIL_COMPILE).was_seccomp);
        ck_assert(attack(rung, "loose", "unshare", HONE_JAIL_COMPILE).was_seccomp);
    }
}
END_TEST

/* Every way to end is seen: pid 1 of a namespace ignores some signals. */
START_TEST(endings)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        ck_assert_int_eq(attack(rung, "tight", "exit", HONE_JAIL_ARENA).status, 7);
        int signal = attack(rung, "tight", "abort", HONE_JAIL_ARENA).signal;
        ck_assert_msg(signal == SIGABRT || signal == SIGSEGV, "abort: %d", signal);
        ck_assert_int_eq(attack(rung, "tight", "fault", HONE_JAIL_ARENA).signal, SIGSEGV);
        ck_assert_int_eq(attack(rung, "tight", "divide", HONE_JAIL_ARENA).signal, SIGFPE);
        ck_assert_int_eq(attack(rung, "tight", "illegal", HONE_JAIL_ARENA).signal, SIGILL);
    }
}
END_TEST

START_TEST(disk_limits)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        struct hone_jail_exit how;
        if (!is_weak(rung)) {
            const char *const argv[] = {"/hone/hone-runner", "tight", "fill_tmp", NULL};
            struct hone_jail_spec spec = spec_for(rung, argv);
            spec.file_bytes = 0; /* the size of /tmp alone must hold */
            how = run(spec);
            ck_assert_msg(how.status == HELD && how.hit_disk, "fill_tmp on %s: %d %d", rung,
                          how.status, how.hit_disk);
            how = attack(rung, "tight", "many_files", HONE_JAIL_ARENA);
            ck_assert_msg(how.status == HELD && how.hit_disk, "many_files on %s: %d %d", rung,
                          how.status, how.hit_disk);
        }
        how = attack(rung, "loose", "big_file", HONE_JAIL_COMPILE);
        ck_assert_msg(how.status == HELD || how.hit_disk, "big_file on %s: %d", rung, how.status);
        how = attack(rung, "loose", "fill_work", HONE_JAIL_COMPILE);
        ck_assert_msg(how.hit_disk && how.signal == SIGKILL, "fill_work on %s: %d", rung,
                      how.status);
        ck_assert_int_eq(hone_remove_tree(work_dir, NULL), 0);
        ck_assert_int_eq(mkdir(work_dir, 0755), 0);
    }
}
END_TEST

START_TEST(time_limits)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        const char *const argv[] = {"/hone/hone-runner", "tight", "ignore", NULL};
        struct hone_jail_spec spec = spec_for(rung, argv);
        struct hone_jail *jail = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_jail_start(&spec, &jail, &err) == 0, "%s", err.message);
        ck_assert_int_eq(
            hone_jail_wait(jail, hone_deadline_in_ms(100), &(struct hone_jail_exit){0}, &err),
            HONE_E_TIMEOUT);
        ck_assert(!hone_jail_has_exited(jail, NULL));
        ck_assert_int_gt(hone_jail_cpu_ns(jail), 10 * HONE_NS_PER_MS);
        int64_t before = hone_now_ns();
        hone_jail_free(jail);
        ck_assert_int_lt(hone_now_ns() - before, 500 * HONE_NS_PER_MS);
        spec.cpu_seconds = 1;
        struct hone_jail_exit how = run(spec);
        ck_assert_msg(how.hit_cpu, "cpu limit on %s: status %d, signal %d, %lld ns", rung,
                      how.status, how.signal, (long long)how.cpu_ns);
        how = attack(rung, "loose", "spin_by_own_limit", HONE_JAIL_ARENA);
        ck_assert_msg(how.hit_cpu, "own cpu limit on %s: status %d, signal %d", rung, how.status,
                      how.signal);
    }
}
END_TEST

/* Reads until the writers are gone; false when somebody still holds the other end after a second.
 */
static bool drains(int fd)
{
    char block[4096];
    int64_t deadline = hone_deadline_in_ms(1000);
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, hone_ms_until(deadline)) <= 0)
            return false;
        if (read(fd, block, sizeof(block)) <= 0)
            return true;
    }
}

START_TEST(nothing_survives)
{
    static const char *const names[] = {"fork_bomb", "daemon"};
    setup();
    FOR_EACH_RUNG(rung)
    {
        for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
            if (is_weak(rung) && geteuid() != 0 && i == 0)
                continue; /* processes are not counted there: docs/security.md 6 */
            int ends[2];
            ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
            const char *const argv[] = {"/hone/hone-runner", "loose", names[i], NULL};
            struct hone_jail_spec spec = spec_for(rung, argv);
            spec.profile = HONE_JAIL_COMPILE;
            spec.stdout_fd = ends[1];
            struct hone_jail *jail = NULL;
            struct hone_err err = HONE_ERR_INIT;
            ck_assert_msg(hone_jail_start(&spec, &jail, &err) == 0, "%s", err.message);
            (void)close(ends[1]);
            struct hone_jail_exit how = {.status = -1};
            (void)hone_jail_wait(jail, hone_deadline_in_ms(200), &how, &err);
            char first = 0;
            ck_assert_msg(read(ends[0], &first, 1) == 1, "%s on %s: status %d signal %d", names[i],
                          rung, how.status, how.signal);
            int64_t before = hone_now_ns();
            hone_jail_free(jail);
            ck_assert_msg(drains(ends[0]), "%s on %s left processes behind", names[i], rung);
            ck_assert_int_lt(hone_now_ns() - before, 500 * HONE_NS_PER_MS);
            (void)close(ends[0]);
        }
    }
}
END_TEST

START_TEST(freeze_stops_every_thread)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        int fd = memfd_create("counters", MFD_CLOEXEC);
        ck_assert_int_eq(ftruncate(fd, 4096), 0);
        atomic_ullong *counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        const char *const argv[] = {"/hone/hone-runner", "tight", "count", NULL};
        struct hone_jail_spec spec = spec_for(rung, argv);
        spec.fds[0] = fd;
        spec.n_fds = 1;
        struct hone_jail *jail = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_jail_start(&spec, &jail, &err) == 0, "%s", err.message);
        int64_t deadline = hone_deadline_in_ms(10000);
        for (int i = 0; i < 4 && hone_now_ns() < deadline; i += atomic_load(&counters[i]) > 0)
            (void)poll(NULL, 0, 1);
        for (int round = 0; round < 5; round++) {
            unsigned long long seen[4];
            ck_assert_msg(hone_jail_freeze(jail, &err) == 0, "%s", err.message);
            for (int i = 0; i < 4; i++)
                seen[i] = atomic_load(&counters[i]);
            int64_t cpu = hone_jail_cpu_ns(jail);
            (void)poll(NULL, 0, 20);
            for (int i = 0; i < 4; i++)
                ck_assert_uint_eq(atomic_load(&counters[i]), seen[i]);
            ck_assert_int_eq(hone_jail_cpu_ns(jail), cpu);
            ck_assert_int_eq(hone_jail_thaw(jail, &err), 0);
            deadline = hone_deadline_in_ms(10000);
            for (int i = 0; i < 4 && hone_now_ns() < deadline;
                 i += atomic_load(&counters[i]) > seen[i])
                (void)poll(NULL, 0, 1);
            for (int i = 0; i < 4; i++)
                ck_assert_uint_gt(atomic_load(&counters[i]), seen[i]);
        }
        ck_assert_int_eq(hone_jail_freeze(jail, &err), 0);
        hone_jail_free(jail); /* a frozen jail can be killed */
        (void)munmap(counters, 4096);
        (void)close(fd);
    }
}
END_TEST

/* A judge that is killed takes its jail along. */
START_TEST(dies_with_the_judge)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        int ends[2];
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        pid_t judge = fork();
        if (judge == 0) {
            const char *const argv[] = {"/hone/hone-runner", "tight", "ignore", NULL};
            struct hone_jail_spec spec = spec_for(rung, argv);
            struct hone_jail *jail = NULL;
            spec.stdout_fd = ends[1];
            int rc = hone_jail_start(&spec, &jail, NULL);
            (void)!write(ends[1], rc == 0 ? "y" : "n", 1);
            (void)close(ends[1]);
            (void)pause();
            _exit(0);
        }
        (void)close(ends[1]);
        char started = 0;
        ck_assert_int_eq(read(ends[0], &started, 1), 1);
        ck_assert_int_eq(started, 'y');
        (void)kill(judge, SIGKILL);
        (void)waitpid(judge, NULL, 0);
        ck_assert_msg(drains(ends[0]), "the jail on %s outlived its judge", rung);
        (void)close(ends[0]);
    }
}
END_TEST

static long uid_of(pid_t pid)
{
    char path[64];
    char line[256];
    long uid = -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "Uid:", 4) == 0)
            uid = strtol(line + 4, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return uid;
}

START_TEST(two_jails_share_no_uid)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        const char *const argv[] = {"/hone/hone-runner", "tight", "ignore", NULL};
        struct hone_jail_spec spec = spec_for(rung, argv);
        struct hone_jail *jails[2] = {NULL, NULL};
        struct hone_err err = HONE_ERR_INIT;
        for (int i = 0; i < 2; i++)
            ck_assert_msg(hone_jail_start(&spec, &jails[i], &err) == 0, "%s", err.message);
        long uids[2] = {uid_of(hone_jail_pid(jails[0])), uid_of(hone_jail_pid(jails[1]))};
        if (geteuid() == 0) {
            ck_assert_int_gt(uids[0], 60000);
            ck_assert_int_ne(uids[0], uids[1]);
        } else {
            ck_assert_int_eq(uids[0], (long)geteuid());
        }
        hone_jail_free(jails[0]);
        hone_jail_free(jails[1]);
    }
}
END_TEST

/* COMPILE writes in /work; the files belong to the caller again afterwards; the next jail may read
 * them. */
START_TEST(work_folder)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        static const char *const copy[] = {"/usr/bin/cp", "in", "out", NULL};
        HONE_AUTOFREE char *in = hone_path_join(work_dir, "in", NULL);
        HONE_AUTOFREE char *out = hone_path_join(work_dir, "out", NULL);
        ck_assert_int_eq(hone_file_write(in, "hello", 5, 0600, false, NULL), 0);
        struct hone_jail_spec spec = spec_for(rung, copy);
        spec.profile = HONE_JAIL_COMPILE;
        ck_assert_int_eq(run(spec).status, 0);
        struct stat info;
        ck_assert_int_eq(stat(out, &info), 0);
        ck_assert_uint_eq(info.st_uid, geteuid());
        ck_assert_int_eq(info.st_size, 5);
        ck_assert_int_eq(unlink(out), 0);
    }
}
END_TEST

START_TEST(bad_requests)
{
    setup();
    const char *const argv[] = {"/hone/hone-runner", "tight", "nothing", NULL};
    struct hone_jail_spec spec = spec_for("ladder", argv);
    struct hone_jail *jail = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_jail_start(&spec, &jail, &err), HONE_E_ARG);
    spec.rung = "weak";
    spec.allow_weak = false;
    ck_assert_int_eq(hone_jail_start(&spec, &jail, &err), HONE_E_UNSUPPORTED);
    const char *const missing[] = {"/work/not-there", NULL};
    spec = spec_for("auto", missing);
    ck_assert_int_lt(hone_jail_start(&spec, &jail, &err), 0);
    ck_assert_msg(strstr(err.message, "exec") != NULL, "%s", err.message);
    spec = spec_for("auto", argv);
    spec.work_dir = "/nowhere";
    ck_assert_int_lt(hone_jail_start(&spec, &jail, &err), 0);
    ck_assert_ptr_null(jail);
}
END_TEST

/* Prints the least of 20 (other work on the machine only adds): a figure for docs/security.md, no
 * limit that a busy machine could break. */
START_TEST(start_cost)
{
    setup();
    FOR_EACH_RUNG(rung)
    {
        int64_t least_start = INT64_MAX;
        int64_t least_life = INT64_MAX;
        for (int i = 0; i < 20; i++) {
            const char *const argv[] = {"/hone/hone-runner", "loose", "nothing", NULL};
            struct hone_jail_spec spec = spec_for(rung, argv);
            struct hone_jail *jail = NULL;
            struct hone_jail_exit how;
            int64_t t0 = hone_now_ns();
            ck_assert_int_eq(hone_jail_start(&spec, &jail, NULL), 0);
            int64_t t1 = hone_now_ns();
            ck_assert_int_eq(hone_jail_wait(jail, hone_deadline_in_ms(10000), &how, NULL), 0);
            hone_jail_free(jail);
            least_start = hone_min_i64(least_start, t1 - t0);
            least_life = hone_min_i64(least_life, hone_now_ns() - t0);
        }
        (void)printf("# %s (uid %d): start %.2f ms, whole life %.2f ms\n", rung, (int)geteuid(),
                     (double)least_start / 1e6, (double)least_life / 1e6);
    }
}
END_TEST

START_TEST(probe)
{
    struct hone_jail_rung found[8];
    size_t n = hone_jail_probe(found, HONE_COUNTOF(found));
    ck_assert_uint_eq(n, HONE_COUNTOF(rungs));
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        (void)printf("# uid %d, %s: %s\n", (int)geteuid(), found[i].name, found[i].why);
        if (strcmp(found[i].name, "root") == 0 && geteuid() != 0)
            ck_assert(!found[i].works && strstr(found[i].why, "needs root") != NULL);
        any = any || found[i].works;
    }
    ck_assert_msg(any, "no rung works on this machine");
}
END_TEST

int suite_main(void);
#define main suite_main
UNIT_MAIN("jail", probe, barriers_hold, hostile_calls_kill, endings, disk_limits, time_limits,
          nothing_survives, freeze_stops_every_thread, dies_with_the_judge, two_jails_share_no_uid,
          work_folder, bad_requests, start_cost)
#undef main

/* Check reopens /dev/stdout, which must belong to the new user: a pipe made after the change,
 * copied on by its parent. */
static void rerun_as_nobody(char *name)
{
    char *const again[] = {name, (char[]){"as-ordinary-user"}, NULL};
    int ends[2];
    if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
        setresuid(NOBODY, NOBODY, NOBODY) < 0 || pipe(ends) < 0)
        _exit(98);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], 1);
        (void)execv("/proc/self/exe", again);
        _exit(99);
    }
    (void)close(ends[1]);
    char block[4096];
    ssize_t n;
    while ((n = read(ends[0], block, sizeof(block))) > 0)
        (void)!write(1, block, (size_t)n);
    int status = 0;
    (void)waitpid(pid, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
}

/* Whether another user may come to this file: a tree under a private home is closed to slot uids.
 */
static bool is_open_to_all(const char *path)
{
    char part[4096];
    struct stat st;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (stat(part, &st) < 0 || (st.st_mode & S_IXOTH) == 0)
            return false;
    }
    return true;
}

/* Runs a copy of this program from a folder that everybody can reach; -1: not needed. */
static int run_in_the_open(void)
{
    char self[4096], dir[] = "/tmp/hone-jail-test.XXXXXX";
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0)
        return -1;
    self[n] = '\0';
    if (is_open_to_all(self) || mkdtemp(dir) == NULL || chmod(dir, 0755) < 0)
        return -1;
    HONE_AUTOFREE char *copy = hone_path_join(dir, "jail_test", NULL);
    if (hone_file_copy(self, copy, HONE_LIMIT_FILE_BYTES, NULL) < 0 || chmod(copy, 0755) < 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execv(copy, (char *const[]){copy, NULL});
        _exit(99);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    (void)hone_remove_tree(dir, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return jail_attack(argv);
    int elsewhere = argc == 1 ? run_in_the_open() : -1;
    if (elsewhere >= 0)
        return elsewhere;
    int failed = suite_main();
    if (argc > 1 || geteuid() != 0)
        return failed;
    (void)fflush(NULL);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        rerun_as_nobody(argv[0]);
    (void)waitpid(pid, &status, 0);
    return failed != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
