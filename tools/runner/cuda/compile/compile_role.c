/* SPDX-License-Identifier: Apache-2.0 */
/* The compile server: role "nvrtc" of hone-runner, inside the COMPILE jail.
 *
 * NVRTC cannot be stopped and its front end is under one lock (measured: a template bomb outlives
 * every callback; two threads are no quicker than one), so each request gets a forked child: it
 * inherits the loaded library and the precompiled headers, runs beside the others, and can be
 * killed. The server itself compiles nothing of a candidate: only the fixed header texts.
 *
 *     socket -> asks -> queue -> child per ask -> pipe -> answer -> socket
 *
 * A child is bounded three times: the server kills it at the deadline, its own timer ends it a
 * little later (where the jail forbids signals to others), and its CPU limit ends what it started.
 * A precompiled header is made when the third request of its kind comes, or after the first when
 * nobody asks for a while (at once when the server was started for many, argument "warm"). What a
 * child could do to the others' headers in /tmp it could only do through a hole in NVRTC; who does
 * not want to share even then starts a server of its own. */
#include "tools/runner/cuda/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/runner/cuda/compile/compile_work.h"
#include "workspace/base/clock.h"

#define MAX_CHILDREN     64
#define MAX_PRECOMPILED  4
#define IDLE_MS          200 /* nobody asks: time for a precompiled header that was wanted once */
#define ASKED_OFTEN      3   /* precompiling pays from here on */
#define PRECOMPILE_NS    (20 * HONE_NS_PER_S) /* a request that has this long can wait for it */
#define CHILD_MEMORY     (4ll << 30)
#define CHILD_FILE_BYTES (64ll << 20)
#define READ_BYTES       65536
#define SPARE_NS         (500 * HONE_NS_PER_MS)
#define OUT_BYTES        (256u << 20) /* answers that the client has not read yet */

struct child {
    pid_t pid; /* 0: free */
    int fd;
    uint32_t id;
    int64_t start_ns, deadline_ns;
    bool was_killed;
    struct hone_buf out;
};

struct queued {
    struct hone_wire_ask ask;
    char *bytes; /* owned */
    struct queued *next;
};

struct precompiled {
    uint32_t variant;
    char *options; /* owned: joined; NULL: free */
    int n_asked;
    bool is_tried, is_good;
    char path[64];
};

struct server {
    struct hone_work_tools tools;
    bool is_warm, is_warmed_up;
    int max_children;
    struct child children[MAX_CHILDREN];
    struct queued *first, **last;
    struct precompiled precompiled[MAX_PRECOMPILED];
    struct precompiled *wanted; /* to be made when nothing waits */
    struct hone_buf in, out;
};

static int n_running(const struct server *server)
{
    int n = 0;
    for (int i = 0; i < MAX_CHILDREN; i++)
        n += server->children[i].pid > 0;
    return n;
}

/* ---- precompiled headers ---- */

static struct precompiled *precompiled_of(struct server *server, const struct hone_work *work)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf options = HONE_BUF_INIT;
    if (work->ask.variant == HONE_VARIANT_PLAIN || server->tools.is_emulated ||
        hone_work_is_virtual(work)) /* asked for once in a while */
        return NULL;
    for (uint32_t i = 0; i < work->ask.n_options; i++)
        hone_buf_printf(&options, "%s\n", work->options[i]);
    for (int i = 0; i < MAX_PRECOMPILED; i++) {
        struct precompiled *entry = &server->precompiled[i];
        if (entry->options == NULL) {
            entry->options = hone_buf_steal(&options);
            entry->variant = work->ask.variant;
            (void)snprintf(entry->path, sizeof entry->path, "/tmp/hone%d.pch", i);
            return entry;
        }
        if (entry->variant == work->ask.variant && strcmp(entry->options, options.data) == 0)
            return entry;
    }
    return NULL;
}

static void make_precompiled(struct server *server)
{
    struct precompiled *entry = server->wanted;
    struct hone_work *work = hone_calloc(1, sizeof *work);
    char *options = hone_strdup(entry->options);
    work->ask.variant = entry->variant;
    for (char *line = options; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        char *next = line + len + (line[len] != '\0');
        line[len] = '\0';
        work->options[work->ask.n_options++] = line;
        line = next;
    }
    entry->is_tried = true;
    entry->is_good = hone_work_precompile(&server->tools, work, entry->path);
    server->wanted = NULL;
    free(options);
    free(work);
}

/* The first compile of a process costs twice: done once here, children inherit it. */
static void warm_up(struct server *server)
{
    static const char *const options[] = {"--gpu-architecture=sm_90a", "-std=c++17"};
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct hone_work *work = hone_calloc(1, sizeof *work);
    work->text = "__global__ void hone_warm_up(float *a) { a[threadIdx.x] *= 2; }\n";
    for (size_t i = 0; i < HONE_COUNTOF(options); i++)
        work->options[work->ask.n_options++] = options[i];
    hone_work_run(&server->tools, work, NULL, &out);
    server->is_warmed_up = true;
    free(work);
}

/* ---- children ---- */

static void bound_child(int64_t deadline_ns)
{
    int64_t ns = hone_max_i64(deadline_ns - hone_now_ns(), HONE_NS_PER_MS) + SPARE_NS;
    rlim_t seconds = (rlim_t)(ns / HONE_NS_PER_S + 1);
    const struct rlimit cpu = {seconds, seconds};
    const struct itimerval timer = {
        .it_value = {.tv_sec = ns / HONE_NS_PER_S, .tv_usec = ns % HONE_NS_PER_S / 1000}};
    const struct rlimit file = {CHILD_FILE_BYTES, CHILD_FILE_BYTES};
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)setrlimit(RLIMIT_FSIZE, &file);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit memory = {CHILD_MEMORY, CHILD_MEMORY};
    (void)setrlimit(RLIMIT_DATA, &memory);
#endif
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

HONE_NORETURN static void run_child(struct server *server, const struct hone_work *work,
                                    const char *pch, int fd)
{
    HONE_CLEANUP(hone_buf_done)
    struct hone_buf out = {.limit = HONE_LIMIT_CUBIN_BYTES + (4u << 20)};
    (void)setpgid(0, 0); /* what the compiler starts is killed with it */
    (void)close(HONE_WIRE_FD);
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (server->children[i].pid > 0)
            (void)close(server->children[i].fd);
    bound_child(work->ask.deadline_ns);
    HONE_AUTOFREE char *option = pch == NULL ? NULL : hone_sprintf("--use-pch=%s", pch);
    hone_work_run(&server->tools, work, option, &out);
    for (size_t done = 0; done < out.len;) {
        ssize_t n = write(fd, out.data + done, out.len - done);
        if (n < 0 && errno != EINTR)
            _exit(1);
        done += n > 0 ? (size_t)n : 0;
    }
    _exit(0);
}

static void say(struct server *server, uint32_t id, enum hone_wire_outcome outcome, const char *log,
                int64_t wall_ns)
{
    const struct hone_wire_say head = {.magic = HONE_WIRE_SAY,
                                       .id = id,
                                       .outcome = (int32_t)outcome,
                                       .log_len = (uint32_t)strlen(log),
                                       .wall_ns = wall_ns};
    hone_buf_add(&server->out, &head, sizeof head);
    hone_buf_str(&server->out, log);
}

static void start_child(struct server *server, struct child *child, const struct hone_work *work)
{
    int pipe_fds[2];
    struct precompiled *headers = precompiled_of(server, work);
    if (headers != NULL && !headers->is_tried) {
        server->wanted = headers;
        if (++headers->n_asked >= ASKED_OFTEN &&
            work->ask.deadline_ns - hone_now_ns() > PRECOMPILE_NS)
            make_precompiled(server);
    }
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        say(server, work->ask.id, HONE_WIRE_CRASHED, "no pipe for the compiler\n", 0);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pipe_fds[0]);
        run_child(server, work, headers != NULL && headers->is_good ? headers->path : NULL,
                  pipe_fds[1]);
    }
    (void)close(pipe_fds[1]);
    if (pid < 0) {
        (void)close(pipe_fds[0]);
        say(server, work->ask.id, HONE_WIRE_OOM, "no process for the compiler\n", 0);
        return;
    }
    (void)fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
    *child = (struct child){.pid = pid,
                            .fd = pipe_fds[0],
                            .id = work->ask.id,
                            .start_ns = hone_now_ns(),
                            .deadline_ns = work->ask.deadline_ns,
                            .out = {.limit = HONE_LIMIT_CUBIN_BYTES + (4u << 20)}};
}

static void start_waiting(struct server *server)
{
    while (server->first != NULL && n_running(server) < server->max_children) {
        struct queued *queued = server->first;
        struct hone_work *work = hone_calloc(1, sizeof *work);
        struct child *child = server->children;
        server->first = queued->next;
        if (server->first == NULL)
            server->last = &server->first;
        while (child->pid > 0)
            child++;
        if (queued->ask.deadline_ns <= hone_now_ns())
            say(server, queued->ask.id, HONE_WIRE_TIMEOUT, "", 0);
        else if (!hone_work_unpack(&queued->ask, queued->bytes, work))
            say(server, queued->ask.id, HONE_WIRE_CRASHED, "not a request\n", 0);
        else
            start_child(server, child, work);
        free(queued->bytes);
        free(queued);
        free(work);
    }
}

static void kill_child(struct child *child)
{
    child->was_killed = true;
    if (kill(-child->pid, SIGKILL) < 0)
        (void)kill(child->pid, SIGKILL);
}

/* Its answer is complete exactly when the sizes that it states are those that came. */
static bool is_answer(const struct child *child)
{
    struct hone_wire_say head;
    if (child->out.has_failed || child->out.len < sizeof head)
        return false;
    memcpy(&head, child->out.data, sizeof head);
    return hone_wire_say_is_sane(&head) && head.id == child->id &&
           hone_wire_say_bytes(&head) == child->out.len - sizeof head;
}

static void end_child(struct server *server, struct child *child)
{
    int status = 0;
    int64_t wall_ns = hone_now_ns() - child->start_ns;
    (void)close(child->fd);
    (void)kill(-child->pid, SIGKILL); /* what it left behind */
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (child->was_killed || number == SIGALRM || number == SIGXCPU ||
        (number == SIGKILL && hone_now_ns() >= child->deadline_ns))
        say(server, child->id, HONE_WIRE_TIMEOUT, "", wall_ns);
    else if (is_answer(child))
        hone_buf_add(&server->out, child->out.data, child->out.len);
    else if (number == SIGSYS)
        say(server, child->id, HONE_WIRE_FORBIDDEN, "", wall_ns);
    else if (child->out.has_failed)
        say(server, child->id, HONE_WIRE_TOO_LARGE, "", wall_ns);
    else
        say(server, child->id,
            number == SIGKILL || number == SIGABRT ? HONE_WIRE_OOM : HONE_WIRE_CRASHED,
            "the compiler ended without an answer\n", wall_ns);
    hone_buf_done(&child->out);
    child->pid = 0;
}

static void read_child(struct server *server, struct child *child)
{
    char bytes[READ_BYTES];
    for (;;) {
        ssize_t n = read(child->fd, bytes, sizeof bytes);
        if (n > 0)
            hone_buf_add(&child->out, bytes, (size_t)n);
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && errno == EAGAIN)
            return;
        else
            break;
        if (child->out.has_failed)
            kill_child(child);
    }
    end_child(server, child);
}

/* ---- the socket ---- */

static void take_asks(struct server *server)
{
    struct hone_wire_ask ask;
    while (server->in.len >= sizeof ask) {
        memcpy(&ask, server->in.data, sizeof ask);
        if (!hone_wire_ask_is_sane(&ask))
            _exit(3); /* whoever talks here is not our client */
        if (server->in.len < sizeof ask + ask.n_bytes)
            return;
        struct queued *queued = hone_calloc(1, sizeof *queued);
        queued->ask = ask;
        queued->bytes = hone_malloc(ask.n_bytes + 1u);
        memcpy(queued->bytes, server->in.data + sizeof ask, ask.n_bytes);
        hone_buf_drop(&server->in, sizeof ask + ask.n_bytes);
        *server->last = queued;
        server->last = &queued->next;
    }
}

static bool read_socket(struct server *server)
{
    char bytes[READ_BYTES];
    ssize_t n = read(HONE_WIRE_FD, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        return false;
    if (n > 0)
        hone_buf_add(&server->in, bytes, (size_t)n);
    take_asks(server);
    return !server->in.has_failed;
}

static bool write_socket(struct server *server)
{
    ssize_t n = write(HONE_WIRE_FD, server->out.data, server->out.len);
    if (n > 0)
        hone_buf_drop(&server->out, (size_t)n);
    return (n >= 0 || errno == EINTR || errno == EAGAIN) && !server->out.has_failed;
}

static int timeout_ms(struct server *server)
{
    int64_t deadline = HONE_NO_DEADLINE;
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (server->children[i].pid > 0 && !server->children[i].was_killed)
            deadline = hone_min_i64(deadline, server->children[i].deadline_ns);
    bool has_idle_work = server->first == NULL && server->out.len == 0 && n_running(server) == 0 &&
                         (!server->is_warmed_up || server->wanted != NULL);
    if (!has_idle_work)
        return hone_ms_until(deadline);
    return server->is_warmed_up && !server->is_warm ? IDLE_MS : 0;
}

static bool turn(struct server *server)
{
    struct pollfd fds[MAX_CHILDREN + 1];
    struct child *of[MAX_CHILDREN + 1];
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = HONE_WIRE_FD,
                             .events = (short)(POLLIN | (server->out.len > 0 ? POLLOUT : 0))};
    for (int i = 0; i < MAX_CHILDREN; i++) {
        if (server->children[i].pid <= 0)
            continue;
        of[n] = &server->children[i];
        fds[n++] = (struct pollfd){.fd = server->children[i].fd, .events = POLLIN};
    }
    int got = poll(fds, n, timeout_ms(server));
    if (got < 0 && errno != EINTR)
        return false;
    for (nfds_t i = 1; got > 0 && i < n; i++)
        if (fds[i].revents != 0)
            read_child(server, of[i]);
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (server->children[i].pid > 0 && !server->children[i].was_killed &&
            server->children[i].deadline_ns <= hone_now_ns())
            kill_child(&server->children[i]);
    if (got > 0 && (fds[0].revents & POLLOUT) != 0 && !write_socket(server))
        return false;
    if (got > 0 && (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !read_socket(server))
        return false;
    start_waiting(server);
    if (got == 0 && server->first == NULL && server->out.len == 0 && n_running(server) == 0) {
        if (!server->is_warmed_up)
            warm_up(server);
        else if (server->wanted != NULL)
            make_precompiled(server);
    }
    return true;
}

int hone_role_nvrtc(int argc, char **argv)
{
    struct server *server = hone_calloc(1, sizeof *server);
    struct hone_nvrtc *nvrtc = NULL;
    struct hone_err err = HONE_ERR_INIT;
    server->last = &server->first;
    server->in.limit = HONE_WIRE_ASK_BYTES + (1u << 20);
    server->out.limit = OUT_BYTES;
    server->is_warm = argc > 1 && strcmp(argv[1], "warm") == 0;
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    server->max_children = n_cores < 2 ? 2 : n_cores > MAX_CHILDREN ? MAX_CHILDREN : (int)n_cores;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)fcntl(HONE_WIRE_FD, F_SETFL, O_NONBLOCK);
    if (hone_nvrtc_open(&nvrtc, &err) < 0) {
        say(server, 0, HONE_WIRE_NO_COMPILER, err.message, 0);
        while (server->out.len > 0 && write_socket(server))
            continue;
        return 3;
    }
    int major = 0, minor = 0;
    (void)nvrtc->Version(&major, &minor);
    hone_work_tools_init(&server->tools, nvrtc, argc > 0 && argv[0][0] == '/' ? argv[0] : NULL);
    HONE_AUTOFREE char *name =
        hone_sprintf("NVRTC %d.%d%s", major, minor, server->tools.is_emulated ? " (emulated)" : "");
    server->is_warmed_up = server->tools.is_emulated;
    say(server, 0, HONE_WIRE_BUILT, name, 0);
    while (turn(server))
        continue;
    return 0; /* its children end with the jail */
}
