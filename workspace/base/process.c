/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes: start, a poll loop over output, end, cancel and deadline, then the kill of what
 * is left.
 *
 * posix_spawn starts the child (vfork semantics: safe with threads, no copy of our page
 * tables) with a new session, default signals, and only its own descriptors. The end is seen
 * through a pidfd; the child is reaped after its group was killed, while its pid still cannot
 * be used again. */
#include "workspace/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/process_tree.h"

/* First descriptor that is out of the way of the ones the child gets (0-2 and 3-6). */
#define HIGH_FD 16
/* After the end: how long to wait for the end of output that something out of reach still holds. */
#define DRAIN_MS     500
#define MARKER       "HONE_PROCESS"
#define MARKER_BYTES 256

/* ---- cancel ---- */

int hone_cancel_init(struct hone_cancel *cancel, struct hone_err *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return hone_fail_errno(err, errno, "cannot make an eventfd");
    *cancel = (struct hone_cancel){.event_fd = fd};
    return 0;
}

void hone_cancel_set(struct hone_cancel *cancel)
{
    static const uint64_t one = 1;
    int saved = errno;
    atomic_store(&cancel->is_set, true);
    /* Full means readable already. */
    ssize_t n = write(cancel->event_fd, &one, sizeof(one));
    (void)n;
    errno = saved;
}

bool hone_cancel_is_set(const struct hone_cancel *cancel)
{
    for (; cancel != NULL; cancel = cancel->parent) {
        int64_t until = atomic_load(&cancel->until_ns);
        if (atomic_load(&cancel->is_set) || (until > 0 && hone_now_ns() >= until))
            return true;
    }
    return false;
}

void hone_cancel_done(struct hone_cancel *cancel)
{
    hone_close_fd(&cancel->event_fd);
}

void hone_cancel_timer_move(struct hone_cancel_timer *timer, int64_t until_ns)
{
    const struct itimerspec at = {
        .it_value = {.tv_sec = until_ns / HONE_NS_PER_S, .tv_nsec = until_ns % HONE_NS_PER_S}};
    atomic_store(&timer->cancel.until_ns, until_ns);
    timerfd_settime(timer->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* An epoll descriptor is readable when one of those in it is. */
int hone_cancel_timer_init(struct hone_cancel_timer *timer, const struct hone_cancel *parent,
                           int64_t until_ns, struct hone_err *err)
{
    struct epoll_event in = {.events = EPOLLIN};
    int fds[] = {timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                 parent != NULL ? parent->event_fd : -1};
    int all = epoll_create1(EPOLL_CLOEXEC), code = fds[0] < 0 || all < 0 ? errno : 0;
    *timer = (struct hone_cancel_timer){.cancel = {.event_fd = all, .parent = parent},
                                        .timer_fd = fds[0]};
    for (size_t i = 0; i < HONE_COUNTOF(fds) && code == 0; i++)
        if (fds[i] >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, fds[i], &in) < 0)
            code = errno;
    if (code != 0) {
        hone_cancel_timer_done(timer);
        return hone_fail_errno(err, code, "cannot make a timer");
    }
    hone_cancel_timer_move(timer, until_ns);
    return 0;
}

void hone_cancel_timer_done(struct hone_cancel_timer *timer)
{
    hone_cancel_done(&timer->cancel);
    hone_close_fd(&timer->timer_fd);
}

void hone_process_init(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

/* ---- start ---- */

struct child {
    const struct hone_process_spec *spec;
    pid_t pid;
    int pid_fd, out_fd, err_fd; /* ours; -1 when closed */
    char marker[MARKER_BYTES];
    struct hone_buf out, err, line;
    bool out_cut, err_cut, is_line_too_long;
    bool has_ended, timed_out, cancelled;
};

/* What the child gets, at high numbers on our side. */
struct wiring {
    int fds[3 + HONE_COUNTOF(((struct hone_process_spec *)0)->pass_fds)];
    size_t n;
};

static void wiring_done(struct wiring *w)
{
    for (size_t i = 0; i < w->n; i++)
        hone_close_fd(&w->fds[i]);
}

/* Takes a copy of fd, out of the way; closes fd when it is ours. */
static int wire(struct wiring *w, int fd, bool is_ours, struct hone_err *err)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    int native = errno;
    if (is_ours)
        hone_close_fd(&fd);
    if (high < 0)
        return hone_fail_errno(err, native, "cannot prepare a descriptor for a child");
    w->fds[w->n++] = high;
    return 0;
}

/* A file in memory rather than a pipe: no writer is needed while the child runs. */
static int stdin_fd(const struct hone_process_spec *spec)
{
    if (spec->stdin_text == NULL)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    HONE_AUTOCLOSE int fd = memfd_create("hone-stdin", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t at = 0; at < spec->stdin_len;) {
        ssize_t n = write(fd, spec->stdin_text + at, spec->stdin_len - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    if (lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    int result = fd;
    fd = -1;
    return result;
}

static int wire_pipe(struct wiring *w, int *ret_read_fd, struct hone_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return hone_fail_errno(err, errno, "cannot make a pipe");
    *ret_read_fd = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return wire(w, ends[1], true, err);
}

static int wire_all(struct child *c, struct wiring *w, struct hone_err *err)
{
    const struct hone_process_spec *spec = c->spec;
    HONE_BUG_ON(spec->n_pass_fds > HONE_COUNTOF(spec->pass_fds));
    int rc = spec->has_stdio_fd ? wire(w, spec->stdio_fd, false, err)
                                : wire(w, stdin_fd(spec), true, err);
    if (rc == 0)
        rc = spec->has_stdio_fd ? wire(w, spec->stdio_fd, false, err)
                                : wire_pipe(w, &c->out_fd, err);
    if (rc == 0)
        rc = wire_pipe(w, &c->err_fd, err);
    for (size_t i = 0; i < spec->n_pass_fds && rc == 0; i++)
        rc = wire(w, spec->pass_fds[i], false, err);
    return rc;
}

/* The file to run; owned. A bare name is looked up in fixed folders, never in the caller's PATH. */
static int find_program(const char *name, char **ret, struct hone_err *err)
{
    static const char *const folders[] = {"/usr/bin/", "/bin/"};
    if (strchr(name, '/') != NULL) {
        *ret = hone_strdup(name);
        return 0;
    }
    for (size_t i = 0; i < HONE_COUNTOF(folders); i++) {
        HONE_AUTOFREE char *path = hone_sprintf("%s%s", folders[i], name);
        if (access(path, X_OK) == 0) {
            *ret = HONE_STEAL(path);
            return 0;
        }
    }
    return hone_fail(err, HONE_E_TARGET,
                     "program '%s' is neither in /usr/bin nor in /bin; install it or give its path",
                     name);
}

static const char *const minimal_env[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};

/* The environment with the marker behind it; the array is owned, its strings are borrowed. */
static char **make_env(const char *const *env, char *marker)
{
    if (env == NULL)
        env = minimal_env;
    size_t n = 0;
    while (env[n] != NULL)
        n++;
    char **copy = hone_calloc(n + 2, sizeof(*copy));
    memcpy(copy, env, n * sizeof(*copy));
    copy[n] = marker;
    return copy;
}

static int fill_actions(posix_spawn_file_actions_t *actions, const struct wiring *w,
                        const char *cwd)
{
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++)
        rc = posix_spawn_file_actions_adddup2(actions, w->fds[i], (int)i);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, (int)w->n);
    if (rc == 0 && cwd != NULL)
        rc = posix_spawn_file_actions_addchdir_np(actions, cwd);
    return rc;
}

static int fill_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                      POSIX_SPAWN_SETSIGMASK);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    return rc ? rc : posix_spawnattr_setsigmask(attributes, &none);
}

/* posix_spawn; the result is an errno. */
static int spawn(struct child *c, const char *program, const struct wiring *w)
{
    HONE_AUTOFREE char **env = make_env(c->spec->env, c->marker);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = fill_actions(&actions, w, c->spec->cwd);
        if (rc == 0)
            rc = fill_attributes(&attributes);
        if (rc == 0)
            rc = posix_spawn(&c->pid, program, &actions, &attributes,
                             (char **)(uintptr_t)c->spec->argv, env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* A child of a child carries both marks, outer first: whoever dies, the one above finds what it
 * left. */
static void make_marker(char marker[MARKER_BYTES])
{
    const char *outer = getenv(MARKER);
    char nonce[25];
    hone_random_hex(nonce, 12);
    bool has_outer = outer != NULL && strlen(outer) < MARKER_BYTES - 64;
    snprintf(marker, MARKER_BYTES, MARKER "=%s%s%s", has_outer ? outer : "", has_outer ? "." : "",
             nonce);
}

static int start(struct child *c, struct hone_err *err)
{
    const struct hone_process_spec *spec = c->spec;
    HONE_CLEANUP(wiring_done) struct wiring w = {.n = 0};
    HONE_AUTOFREE char *program = NULL;
    struct stat st;
    HONE_BUG_ON(spec->argv == NULL || spec->argv[0] == NULL);
    int rc = find_program(spec->argv[0], &program, err);
    if (rc == 0 && spec->cwd != NULL && (stat(spec->cwd, &st) != 0 || !S_ISDIR(st.st_mode)))
        rc = hone_fail(err, HONE_E_TARGET, "cannot start '%s': no folder '%s'", program, spec->cwd);
    if (rc == 0)
        rc = wire_all(c, &w, err);
    if (rc < 0)
        return rc;
    make_marker(c->marker);
    int native = spawn(c, program, &w);
    if (native != 0) {
        rc = hone_fail(err, HONE_E_TARGET, "cannot start '%s': %s", program,
                       strerrordesc_np(native));
        if (err != NULL)
            err->native = native;
        return rc;
    }
    c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pid_fd < 0) {
        native = errno;
        kill(-c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
        return hone_fail_errno(err, native, "cannot watch the child '%s'", program);
    }
    return 0;
}

/* ---- output ---- */

/* Splits stdout into lines; a line longer than what is kept of the output is dropped. */
static void take_lines(struct child *c, const char *bytes, size_t len, size_t limit)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) : len;
        if (c->line.len + n > limit)
            c->is_line_too_long = true;
        if (!c->is_line_too_long)
            hone_buf_add(&c->line, bytes, n);
        if (end == NULL)
            return;
        if (!c->is_line_too_long)
            c->spec->on_line(c->spec->on_line_arg, c->line.data ? c->line.data : "", c->line.len);
        c->is_line_too_long = false;
        hone_buf_drop(&c->line, c->line.len);
        bytes += n + 1;
        len -= n + 1;
    }
}

static void keep(struct hone_buf *buf, bool *is_cut, const char *bytes, size_t len, size_t limit)
{
    size_t room = limit - buf->len;
    if (len > room) {
        *is_cut = true;
        len = room;
    }
    hone_buf_add(buf, bytes, len);
}

/* Reads once; closes the descriptor at its end. */
static void read_some(struct child *c, bool is_out)
{
    int *fd = is_out ? &c->out_fd : &c->err_fd;
    size_t limit = c->spec->out_limit ? c->spec->out_limit : HONE_LIMIT_LOG_BYTES;
    char part[32768];
    ssize_t n = read(*fd, part, sizeof(part));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hone_close_fd(fd);
        return;
    }
    if (is_out && c->spec->on_line != NULL)
        take_lines(c, part, (size_t)n, limit);
    if (is_out)
        keep(&c->out, &c->out_cut, part, (size_t)n, limit);
    else
        keep(&c->err, &c->err_cut, part, (size_t)n, limit);
}

/* One wait for output and, while the child runs, its end or a cancel. Returns false when nothing
 * came. */
static bool pump(struct child *c, int timeout_ms)
{
    const struct hone_cancel *cancel = c->has_ended ? NULL : c->spec->cancel;
    struct pollfd p[4] = {{c->out_fd, POLLIN, 0},
                          {c->err_fd, POLLIN, 0},
                          {c->has_ended ? -1 : c->pid_fd, POLLIN, 0},
                          {cancel ? cancel->event_fd : -1, POLLIN, 0}};
    int n = poll(p, HONE_COUNTOF(p), timeout_ms);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    if (p[0].revents)
        read_some(c, true);
    if (p[1].revents)
        read_some(c, false);
    if (p[2].revents)
        c->has_ended = true;
    return true;
}

static void watch(struct child *c)
{
    int64_t deadline = c->spec->deadline_ns;
    while (!c->has_ended) {
        if (hone_cancel_is_set(c->spec->cancel)) {
            c->cancelled = true;
            return;
        }
        if (c->spec->ends_when_cut && c->out_cut)
            return;
        int left = hone_ms_until(deadline);
        if (left == 0) {
            /* An end that came before the deadline counts, however late we look. */
            pump(c, 0);
            c->timed_out = !c->has_ended;
            return;
        }
        pump(c, left);
    }
}

/* ---- end ---- */

static int reap(struct child *c, struct hone_process_result *ret, struct hone_err *err)
{
    int status;
    struct rusage usage;
    pid_t pid;
    do
        pid = wait4(c->pid, &status, 0, &usage);
    while (pid < 0 && errno == EINTR);
    if (pid != c->pid)
        return hone_fail_errno(err, errno, "cannot wait for a child");
    ret->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ret->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * HONE_NS_PER_S +
                  (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
    ret->max_rss_bytes = (int64_t)usage.ru_maxrss * 1024;
    return 0;
}

/* For a child that has something to give back before it dies. */
static void ask_to_end(struct child *c)
{
    int64_t deadline = hone_deadline_in_ms(c->spec->term_ms);
    kill(-c->pid, SIGTERM);
    while (!c->has_ended && hone_now_ns() < deadline) {
        struct pollfd p = {c->pid_fd, POLLIN, 0};
        if (poll(&p, 1, hone_ms_until(deadline)) > 0)
            c->has_ended = true;
    }
}

/* Kills, reaps, and reads the rest of the output. */
static int finish(struct child *c, int64_t started_ns, struct hone_process_result *ret,
                  struct hone_err *err)
{
    struct hone_process_tree tree = {.leader = c->pid, .marker = c->marker};
    if (!c->has_ended && c->spec->term_ms > 0)
        ask_to_end(c);
    if (!c->has_ended)
        hone_process_tree_kill(&tree);
    else
        kill(-c->pid, SIGKILL);
    int64_t ended_ns = hone_now_ns();
    int rc = reap(c, ret, err);
    c->has_ended = true;
    hone_process_tree_sweep(&tree);
    hone_process_tree_done(&tree);
    int64_t drain_deadline = hone_deadline_in_ms(DRAIN_MS);
    while (c->out_fd >= 0 || c->err_fd >= 0) {
        int left = hone_ms_until(drain_deadline);
        if (left == 0)
            break;
        pump(c, left);
    }
    if (rc < 0)
        return rc;
    ret->timed_out = c->timed_out;
    ret->cancelled = c->cancelled;
    ret->wall_ns = ended_ns - started_ns;
    ret->out_len = c->out.len;
    ret->out = hone_buf_steal(&c->out);
    ret->out_cut = c->out_cut;
    ret->err_len = c->err.len;
    ret->err = hone_buf_steal(&c->err);
    ret->err_cut = c->err_cut;
    return 0;
}

static void child_done(struct child *c)
{
    hone_close_fd(&c->pid_fd);
    hone_close_fd(&c->out_fd);
    hone_close_fd(&c->err_fd);
    hone_buf_done(&c->out);
    hone_buf_done(&c->err);
    hone_buf_done(&c->line);
}

int hone_process_run(const struct hone_process_spec *spec, struct hone_process_result *ret,
                     struct hone_err *err)
{
    size_t limit = spec->out_limit ? spec->out_limit : HONE_LIMIT_LOG_BYTES;
    HONE_CLEANUP(child_done)
    struct child c = {.spec = spec,
                      .pid_fd = -1,
                      .out_fd = -1,
                      .err_fd = -1,
                      .out = {.limit = limit},
                      .err = {.limit = limit},
                      .line = {.limit = limit}};
    struct hone_process_result result = {.exit_status = -1};
    int64_t started_ns = hone_now_ns();
    int rc = start(&c, err);
    if (rc < 0)
        return rc;
    watch(&c);
    rc = finish(&c, started_ns, &result, err);
    if (rc == 0)
        *ret = result;
    return rc;
}

void hone_process_result_done(struct hone_process_result *result)
{
    if (result == NULL)
        return;
    free(result->out);
    free(result->err);
    *result = (struct hone_process_result){.exit_status = -1};
}
