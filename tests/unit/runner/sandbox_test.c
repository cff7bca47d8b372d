/* SPDX-License-Identifier: Apache-2.0 */
/* Every attack on every rung of the jail, under every circumstance that hone may be started in: as
 * root, as an ordinary user, as root of a chroot, and in containers that refuse user namespaces.
 * Prints one table, attack by circumstance and rung, and which row of docs/security.md each attack
 * belongs to. What cannot be tried here is said, with the reason.
 *
 * Each circumstance is a process of its own (sandbox_places.h) that starts the jails and writes
 * into a shared page; each jail runs this same program as its attacker.
 * tsan: no; its run-time ends a process that aborts in its own way. sanitizers: no; their run-time
 * needs /proc and memory to execute, which the jail refuses. */
#include "tests/unit/runner/sandbox_places.h"

#include <poll.h>

#include "tests/unit/runner/sandbox_attacks.h"
#include "tools/runner/arena/buffers.h"
#include "workspace/base/clock.h"

#define SLOW_NS (5 * HONE_NS_PER_S) /* worth a line */

enum want {
    HOLDS,  /* the call is refused, or the process ends for it */
    KILLS,  /* the process ends with SIGSYS */
    FILLS,  /* it ends or is refused for disk or memory */
    STAYS,  /* does nothing; ended by the judge within the deadline */
    FROZEN, /* stands still between freeze and thaw, or has ended */
    GONE    /* leaves no process behind */
};

struct attack_row {
    const char *row; /* of docs/security.md, section 3 */
    const char *name;
    int (*run)(void);
    enum hone_jail_profile profile;
    enum want want;
};

#define A HONE_JAIL_ARENA
#define C HONE_JAIL_COMPILE
#define R HONE_JAIL_RECORD

static const struct attack_row table[] = {
    {"network", "inet_socket", a_socket, A, KILLS},
    {"network", "unix_socket", a_unix_socket, A, KILLS},
    {"network", "compiler_socket", a_socket, C, KILLS},
    {"network", "recorder_socket", a_socket, R, KILLS},
    {"network", "pass_descriptor", b_pass_descriptor, A, KILLS},
    {"network", "receive_descriptor", b_receive, A, KILLS},
    {"host files", "host_files", a_host_files, A, HOLDS},
    {"host files", "dotdot", b_dotdot, A, HOLDS},
    {"host files", "proc", a_proc, A, HOLDS},
    {"host files", "compiler_dotdot", b_dotdot, C, HOLDS},
    {"writing outside", "write_outside", a_write_outside, A, HOLDS},
    {"writing outside", "compiler_hard_link", c_hard_link, C, HOLDS},
    {"writing outside", "compiler_set_id", c_set_id, C, HOLDS},
    {"other processes, signals", "kill_all", a_kill_all, A, KILLS},
    {"other processes, signals", "kill_thread", a_kill_thread, A, KILLS},
    {"other processes, signals", "kill_self", b_kill_self, A, KILLS},
    {"other processes, signals", "queue_signal", b_queue_signal, A, HOLDS},
    {"other processes, signals", "own_signals", a_own_signals, A, HOLDS},
    {"other processes, signals", "descriptor_control", b_descriptor_control, A, HOLDS},
    {"other processes, signals", "affinity", b_affinity, A, HOLDS},
    {"other processes, signals", "priority", b_priority, A, HOLDS},
    {"new privileges", "capabilities", a_capabilities, A, HOLDS},
    {"new privileges", "prctl", b_prctl, A, HOLDS},
    {"leaving the namespaces", "clone_user", b_clone_user, A, KILLS},
    {"leaving the namespaces", "compiler_clone3", a_clone3, C, HOLDS},
    {"leaving the namespaces", "clone3", a_clone3, A, HOLDS},
    {"kernel attack surface", "int80", a_int80, A, KILLS},
    {"kernel attack surface", "x32", b_x32, A, KILLS},
    {"kernel attack surface", "splice", b_splice, A, HOLDS},
    {"kernel attack surface", "terminal", b_terminal, A, HOLDS},
    {"fork, exec", "fork", a_fork, A, KILLS},
    {"fork, exec", "clone_vfork", b_clone_vfork, A, KILLS},
    {"fork, exec", "exec", a_exec, A, KILLS},
    {"fork, exec", "exec_output", b_exec_output, A, KILLS},
    {"fork, exec", "recorder_exec", a_exec, R, KILLS},
    {"code of its own making", "new_code", b_new_code, A, HOLDS},
    {"code of its own making", "early_code", b_early_code, A, HOLDS},
    {"code of its own making", "tmp_code", b_tmp_code, A, HOLDS},
    {"code of its own making", "read_implies_exec", b_read_implies_exec, A, HOLDS},
    {"hiding faults", "catch_fault", a_catch_fault, A, KILLS},
    {"hiding faults", "catch_bus_wide", a_catch_bus_wide, A, KILLS},
    {"shared memory", "write_inputs", b_write_inputs, A, HOLDS},
    {"shared memory", "kernel_writes", b_kernel_writes, A, HOLDS},
    {"shared memory", "madvise", b_madvise, A, HOLDS},
    {"shared memory", "numa", b_numa, A, HOLDS},
    {"shared memory", "resize", b_resize, A, HOLDS},
    {"shared memory", "other_memory", b_other_memory, A, HOLDS},
    {"fork bomb", "fork_bomb", a_fork_bomb, C, GONE},
    {"fork bomb", "threads", a_threads, A, HOLDS},
    {"daemon", "daemon", a_daemon, C, GONE},
    {"memory", "memory", a_memory, A, FILLS},
    {"memory", "shared_anonymous", b_shared_anonymous, A, FILLS},
    {"memory", "pipes", b_pipes, A, HOLDS},
    {"disk", "fill_tmp", a_fill_tmp, A, FILLS},
    {"disk", "many_files", a_many_files, A, FILLS},
    {"disk", "sparse", b_sparse, A, HOLDS},
    {"disk", "deep_tmp", b_deep_tmp, A, HOLDS},
    {"disk", "compiler_big_file", a_big_file, C, FILLS},
    {"disk", "compiler_fills_work", a_fill_work, C, FILLS},
    {"disk", "compiler_deep", c_deep, C, FILLS},
    {"disk", "compiler_closed", c_closed, C, FILLS},
    {"disk", "flood_output", b_flood_output, A, HOLDS},
    {"disk", "flood_socket", b_flood_socket, A, HOLDS},
    {"CPU, time", "ignore_signals", a_ignore, A, STAYS},
    {"CPU, time", "raise_limits", b_raise_limits, A, HOLDS},
    {"CPU, time", "timers", b_timers, A, HOLDS},
    {"environment", "environment", a_environment, A, HOLDS},
    {"descriptors", "descriptors", b_descriptors, A, HOLDS},
    {"devices", "devices", a_devices, A, HOLDS},
    {"devices", "compiler_nodes", c_nodes, C, HOLDS},
    {"outliving the judge", "no_death_signal", a_no_death_signal, A, HOLDS},
    {"idle threads", "threads_frozen", f_threads, A, FROZEN},
    {"idle threads", "ignores_stop", f_ignores, A, FROZEN},
    {"idle threads", "no_leader", f_no_leader, A, FROZEN},
    {"idle threads", "continues_itself", f_continue, A, FROZEN},
    {"idle threads", "continue_self", b_continue_self, A, KILLS},
    {"idle threads", "stop_thread", b_stop_thread, A, KILLS},
    {"idle threads", "woken_by_notice", f_notice, A, FROZEN},
};
_Static_assert(HONE_COUNTOF(table) + HONE_COUNTOF(hostile_calls) <= MAX_ATTACKS, "MAX_ATTACKS");

/* What section 6 of docs/security.md says is not stopped. */
static const struct {
    const char *name;
    bool only_user; /* root has a uid of its own for each jail */
} open_on_weak[] = {{"threads", true}, {"fork_bomb", true}};

static size_t n_attacks(void)
{
    return HONE_COUNTOF(table) + HONE_COUNTOF(hostile_calls);
}

/* The calls of which one is enough are rows as well. */
static struct attack_row row_at(size_t i)
{
    if (i < HONE_COUNTOF(table))
        return table[i];
    return (struct attack_row){.row = "kernel attack surface",
                               .name = hostile_calls[i - HONE_COUNTOF(table)].name,
                               .profile = A,
                               .want = KILLS};
}

/* ---- inside of the jail ---- */

static int attack_inside(const char *profile, const char *name)
{
    struct hone_err err = HONE_ERR_INIT;
    int rc = 0;
    if (*profile != 'c')
        rc = hone_jail_tighten(*profile == 'r' ? HONE_JAIL_RECORD : HONE_JAIL_ARENA, &err);
    if (rc == 0 && *profile == 'a' && strncmp(name, "early_", 6) != 0)
        rc = hone_jail_close_code(&err);
    if (rc < 0) {
        (void)fprintf(stderr, "# %s\n", err.message);
        return NOT_TIGHT;
    }
    for (size_t i = 0; i < HONE_COUNTOF(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].run();
    return run_attack(name);
}

/* ---- outside: one attack ---- */

struct trial {
    const struct attack_row *row;
    const char *rung, *work;
    struct hone_shared control, inputs, outputs, printed;
    int socket, theirs;
    struct hone_jail *jail;
    struct hone_jail_exit how;
};

static void set_up(struct trial *t)
{
    int pair[2];
    if (hone_shared_new("control", 4096, false, &t->control, NULL) < 0 ||
        hone_shared_new("inputs", SHARED_SIZE, true, &t->inputs, NULL) < 0 ||
        hone_shared_new("outputs", SHARED_SIZE, false, &t->outputs, NULL) < 0 ||
        hone_shared_new("printed", 1 << 20, false, &t->printed, NULL) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        fail_place("memory files and a socket");
    t->socket = pair[0];
    t->theirs = pair[1];
    memset(t->inputs.base, 0x5a, SHARED_SIZE);
}

static void tear_down(struct trial *t)
{
    hone_jail_free(t->jail);
    hone_shared_done(&t->control);
    hone_shared_done(&t->inputs);
    hone_shared_done(&t->outputs);
    hone_shared_done(&t->printed);
    hone_close_fd(&t->socket);
    hone_close_fd(&t->theirs);
}

static bool start(struct trial *t, int extra_stdout)
{
    const char *profile = t->row->profile == A ? "a" : t->row->profile == C ? "c" : "r";
    const char *const argv[] = {"/hone/hone-runner", "attack", profile, t->row->name, NULL};
    bool is_compile = t->row->profile == C;
    struct hone_jail_spec spec = {.profile = t->row->profile,
                                  .rung = t->rung,
                                  .allow_weak = true,
                                  .argv = argv,
                                  .work_dir = t->work,
                                  .memory_bytes = 64 * MIB,
                                  .tmp_bytes = 8 * MIB,
                                  .file_bytes = strcmp(t->row->name, "fill_tmp") == 0 ? 0 : 4 * MIB,
                                  .cpu_seconds = 20,
                                  .max_pids = 16,
                                  .fds = {t->control.fd, t->theirs, t->inputs.fd, t->outputs.fd},
                                  .n_fds = is_compile ? 0 : 4,
                                  .stdin_fd = -1,
                                  .stdout_fd = extra_stdout >= 0 ? extra_stdout : t->printed.fd,
                                  .stderr_fd = 2};
    struct hone_err err = HONE_ERR_INIT;
    if (hone_jail_start(&spec, &t->jail, &err) == 0)
        return true;
    (void)fprintf(stderr, "# %s on %s: %s\n", t->row->name, t->rung, err.message);
    return false;
}

/* What an attacker may not change, and must not make unreadable. */
static bool is_intact(const struct trial *t)
{
    struct stat info;
    for (size_t i = 0; i < SHARED_SIZE; i++)
        if (t->inputs.base[i] != 0x5a)
            return false;
    volatile char sum = 0;
    for (size_t i = 0; i < SHARED_SIZE; i++)
        sum ^= t->outputs.base[i];
    HONE_AUTOFREE char *path = hone_path_join(t->work, "setid", NULL);
    bool has_bits = geteuid() == 0 && lstat(path, &info) == 0 && (info.st_mode & 07000) != 0;
    return !has_bits && fstat(t->control.fd, &info) == 0 && info.st_size == 4096;
}

static enum cell by_ending(const struct trial *t)
{
    const struct hone_jail_exit *how = &t->how;
    if (t->row->want == FILLS && (how->hit_disk || how->was_oom || how->status == HELD))
        return how->status == HELD ? CELL_HELD : CELL_LIMIT;
    if (how->was_seccomp && (t->row->want == KILLS || t->row->want == HOLDS))
        return CELL_KILLED;
    if (t->row->run == a_int80 && how->signal == SIGSEGV && !kernel_has_int80())
        return CELL_HELD;
    return how->status == HELD && t->row->want == HOLDS ? CELL_HELD : CELL_THROUGH;
}

static enum cell try_ending(struct trial *t)
{
    struct hone_err err = HONE_ERR_INIT;
    int64_t ms = t->row->want == STAYS ? 100 : 20000;
    if (!start(t, -1))
        return CELL_THROUGH;
    int rc = hone_jail_wait(t->jail, hone_deadline_in_ms(ms), &t->how, &err);
    int64_t before = hone_now_ns();
    hone_jail_free(t->jail);
    t->jail = NULL;
    if (t->row->want == STAYS)
        return rc == HONE_E_TIMEOUT && hone_now_ns() - before < HONE_NS_PER_S ? CELL_LIMIT
                                                                              : CELL_THROUGH;
    if (rc < 0 || !is_intact(t))
        return CELL_THROUGH;
    return by_ending(t);
}

static bool drains(int fd)
{
    char block[4096];
    int64_t deadline = hone_deadline_in_ms(2000);
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, hone_ms_until(deadline)) <= 0)
            return false;
        if (read(fd, block, sizeof(block)) <= 0)
            return true;
    }
}

static enum cell try_leaving(struct trial *t)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        fail_place("a pipe");
    bool is_started = start(t, ends[1]);
    (void)close(ends[1]);
    if (is_started)
        (void)hone_jail_wait(t->jail, hone_deadline_in_ms(200), &t->how, NULL);
    hone_jail_free(t->jail);
    t->jail = NULL;
    bool is_gone = is_started && drains(ends[0]);
    (void)close(ends[0]);
    return is_gone ? CELL_LIMIT : CELL_THROUGH;
}

static unsigned long long count_all(const struct trial *t)
{
    const atomic_ullong *counters = (const atomic_ullong *)(const void *)t->control.base;
    unsigned long long sum = 0;
    for (size_t i = 0; i < 4; i++)
        sum += atomic_load(&counters[i]);
    return sum;
}

/* Another process of the host looks into the folder. */
static void look_into(const char *folder)
{
    char byte;
    HONE_AUTOFREE char *path = hone_path_join(folder, "in", NULL);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)!read(fd, &byte, 1);
}

static enum cell try_freezing(struct trial *t)
{
    struct hone_err err = HONE_ERR_INIT;
    if (!start(t, -1))
        return CELL_THROUGH;
    int64_t deadline = hone_deadline_in_ms(3000);
    while (count_all(t) == 0 && !hone_jail_has_exited(t->jail, &t->how) && hone_now_ns() < deadline)
        (void)poll(NULL, 0, 1);
    for (int round = 0; round < 5 && !hone_jail_has_exited(t->jail, &t->how); round++) {
        int64_t before = hone_now_ns();
        int rc = hone_jail_freeze(t->jail, &err);
        if (hone_now_ns() - before > 3 * HONE_NS_PER_S)
            return CELL_THROUGH; /* the judge was held up */
        if (rc < 0)
            break;
        unsigned long long seen = count_all(t);
        look_into(t->work);
        (void)poll(NULL, 0, 10);
        if (count_all(t) != seen)
            return CELL_THROUGH;
        if (hone_jail_thaw(t->jail, &err) < 0)
            break;
        (void)poll(NULL, 0, 1);
    }
    if (!hone_jail_has_exited(t->jail, &t->how))
        return CELL_LIMIT;
    return t->how.was_seccomp ? CELL_KILLED : t->how.status == HELD ? CELL_HELD : CELL_THROUGH;
}

static bool is_known_open(const char *rung, const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(open_on_weak); i++)
        if (strcmp(rung, "weak") == 0 && strcmp(open_on_weak[i].name, name) == 0 &&
            (geteuid() != 0 || !open_on_weak[i].only_user))
            return true;
    return false;
}

static enum cell try_one(const struct attack_row *row, const char *rung, const char *work)
{
    struct trial t = {.row = row,
                      .rung = rung,
                      .work = work,
                      .control = HONE_SHARED_INIT,
                      .inputs = HONE_SHARED_INIT,
                      .outputs = HONE_SHARED_INIT,
                      .printed = HONE_SHARED_INIT,
                      .socket = -1,
                      .theirs = -1,
                      .how = {.status = -1}};
    if (is_known_open(rung, row->name))
        return CELL_OPEN;
    set_up(&t);
    enum cell cell = row->want == FROZEN ? try_freezing(&t)
                     : row->want == GONE ? try_leaving(&t)
                                         : try_ending(&t);
    if (cell == CELL_THROUGH)
        (void)fprintf(stderr, "# THROUGH: %s on %s as uid %d: status %d, signal %d\n", row->name,
                      rung, (int)geteuid(), t.how.status, t.how.signal);
    tear_down(&t);
    return cell;
}

/* ---- one circumstance ---- */

static void try_rung(struct results *results, size_t place, size_t rung, const char *only)
{
    char work[] = "/tmp/hone-sandbox-XXXXXX";
    if (mkdtemp(work) == NULL)
        fail_place("a work folder");
    HONE_AUTOFREE char *in = hone_path_join(work, "in", NULL);
    for (size_t i = 0; i < n_attacks(); i++) {
        struct attack_row row = row_at(i);
        if (only != NULL && strcmp(only, row.name) != 0)
            continue;
        if (hone_file_write(in, "x", 1, 0644, false, NULL) < 0)
            fail_place("a file in the work folder");
        int64_t before = hone_now_ns();
        results->cells[place][rung][i] = (unsigned char)try_one(&row, rung_names[rung], work);
        if (hone_now_ns() - before > SLOW_NS)
            (void)fprintf(stderr, "# %s on %s took %.1f s\n", row.name, rung_names[rung],
                          (double)(hone_now_ns() - before) / 1e9);
        if (row.profile == C) { /* what it left is no business of the next */
            if (hone_remove_tree(work, NULL) < 0 || mkdir(work, 0755) < 0)
                results->cells[place][rung][i] = CELL_THROUGH;
        }
    }
    (void)hone_remove_tree(work, NULL);
}

static int in_place(size_t place, int results_fd, const char *only)
{
    struct results *results = results_map(results_fd);
    struct hone_jail_rung found[N_RUNGS];
    size_t n = hone_jail_probe(found, N_RUNGS);
    results->was_tried[place] = true;
    for (size_t rung = 0; rung < n; rung++) {
        results->works[place][rung] = found[rung].works;
        (void)snprintf(results->why[place][rung], sizeof(results->why[place][rung]), "%s",
                       found[rung].why);
        if (found[rung].works)
            try_rung(results, place, rung, only);
    }
    return 0;
}

/* ---- the table ---- */

static const char *const cell_words[] = {
    [CELL_NONE] = "-",      [CELL_HELD] = "held", [CELL_KILLED] = "killed",
    [CELL_LIMIT] = "limit", [CELL_OPEN] = "OPEN", [CELL_THROUGH] = "THROUGH"};

static void print_table(const struct results *results, const char *only)
{
    (void)printf("# held: refused; killed: SIGSYS; limit: bounded or ended by the judge; OPEN: "
                 "docs/security.md, section 6\n# %-22s",
                 "attack");
    for (size_t p = 0; p < N_PLACES; p++)
        for (size_t r = 0; r < N_RUNGS; r++)
            if (results->works[p][r])
                (void)printf(" %s:%s", places[p].name, rung_names[r]);
    (void)printf("\n");
    const char *last = "";
    for (size_t i = 0; i < n_attacks(); i++) {
        struct attack_row row = row_at(i);
        if (only != NULL && strcmp(only, row.name) != 0)
            continue;
        if (strcmp(last, row.row) != 0)
            (void)printf("# [%s]\n", row.row);
        last = row.row;
        (void)printf("# %-22s", row.name);
        for (size_t p = 0; p < N_PLACES; p++)
            for (size_t r = 0; r < N_RUNGS; r++)
                if (results->works[p][r])
                    (void)printf(" %*s", (int)(strlen(places[p].name) + 1 + strlen(rung_names[r])),
                                 cell_words[results->cells[p][r][i]]);
        (void)printf("\n");
    }
}

static size_t count_cells(const struct results *results, size_t place, size_t rung, enum cell cell)
{
    size_t n = 0;
    for (size_t i = 0; i < n_attacks(); i++)
        n += results->cells[place][rung][i] == (unsigned char)cell;
    return n;
}

/* A TAP line for each circumstance and rung. */
static int judge_results(const struct results *results, const char *only)
{
    size_t n_tests = 0, n_failed = 0;
    for (size_t p = 0; p < N_PLACES; p++) {
        if (!results->was_tried[p]) {
            (void)printf("# SKIP %s: %s\n", places[p].name, results->not_tried[p]);
            continue;
        }
        size_t n_rungs = 0;
        for (size_t r = 0; r < N_RUNGS; r++) {
            if (!results->works[p][r]) {
                (void)printf("# %s: %s is not available: %s\n", places[p].name, rung_names[r],
                             results->why[p][r]);
                continue;
            }
            n_rungs++;
            size_t through = count_cells(results, p, r, CELL_THROUGH);
            size_t none = only != NULL ? 0 : count_cells(results, p, r, CELL_NONE);
            n_failed += through + none > 0;
            (void)printf("%s %zu - %s, %s: %zu attacks, %zu open by design, %zu got through\n",
                         through + none > 0 ? "not ok" : "ok", ++n_tests, places[p].name,
                         rung_names[r], n_attacks() - none, count_cells(results, p, r, CELL_OPEN),
                         through);
        }
        bool is_enough = n_rungs >= places[p].least_rungs;
        n_failed += !is_enough;
        (void)printf("%s %zu - %s: %zu rungs work, at least %zu are expected\n",
                     is_enough ? "ok" : "not ok", ++n_tests, places[p].name, n_rungs,
                     places[p].least_rungs);
    }
    (void)printf("1..%zu\n", n_tests);
    return n_failed == 0 ? 0 : 1;
}

/* argv: nothing, or one attack's name: that one alone. */
int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "attack") == 0)
        return attack_inside(argv[2], argv[3]);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc >= 4 && strcmp(argv[1], "place") == 0)
        return in_place((size_t)atoi(argv[2]), atoi(argv[3]), argc > 4 ? argv[4] : NULL);
    const char *only = argc > 1 ? argv[1] : NULL;
    struct results *results = try_all_places(only);
    if (results == NULL)
        return 1;
    print_table(results, only);
    return judge_results(results, only);
}
