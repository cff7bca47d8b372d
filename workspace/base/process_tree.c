/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and killing what a child process started.
 *
 * Descendants come from /proc/<pid>/task/<tid>/children, or, where the kernel has no such file,
 * from the parent pids in /proc/<pid>/stat. They are stopped first and listed again until no new
 * one shows up, then killed: a fork in the meantime cannot get away. Orphans become children of
 * this program (a subreaper); those that carry the marker, belong to the leader's session or group,
 * or were seen before are killed and reaped. */
#include "workspace/base/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

/* Bounds of our own work, so that a child which forks for ever cannot hold us for ever. */
#define MAX_SEEN    65536
#define MAX_ROUNDS  64
#define SWEEP_MS    2000
#define EXEC_MS     20
#define N_CLEAN     2 /* passes that find nothing: a list read while others end may lack one */
#define PROC_BYTES  (1u << 20)
#define MAX_RECURSE 4096

struct process {
    pid_t pid;
    unsigned long long start; /* clock ticks since boot */
};

struct stat_line {
    pid_t parent, group, session;
    char state;
    unsigned long long start;
};

static bool read_stat(pid_t pid, struct stat_line *ret)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *rest = strrchr(text, ')'); /* the name in brackets may hold anything */
    int parent, group, session;
    if (rest == NULL ||
        sscanf(rest + 1,
               " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &ret->state, &parent, &group, &session, &ret->start) != 5)
        return false;
    ret->parent = parent;
    ret->group = group;
    ret->session = session;
    return true;
}

/* Sends a signal to exactly that process, or to none. */
static void send(const struct process *p, int sig)
{
    HONE_AUTOCLOSE int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    struct stat_line line;
    if (fd < 0 || !read_stat(p->pid, &line) || line.start != p->start)
        return;
    syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

static size_t n_seen(const struct hone_process_tree *tree)
{
    return tree->seen.len / sizeof(struct process);
}

static const struct process *seen_at(const struct hone_process_tree *tree, size_t i)
{
    return (const struct process *)(const void *)tree->seen.data + i;
}

static bool was_seen(const struct hone_process_tree *tree, pid_t pid, unsigned long long start)
{
    for (size_t i = 0; i < n_seen(tree); i++)
        if (seen_at(tree, i)->pid == pid && seen_at(tree, i)->start == start)
            return true;
    return false;
}

/* ---- who is whose child ---- */

typedef void visit_fn(void *arg, pid_t pid);

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}

/* Calls visit for every numeric name in a folder of /proc. */
static bool each_number(const char *path, visit_fn *visit, void *arg)
{
    HONE_CLEANUP(close_dir) DIR *dir = opendir(path);
    if (dir == NULL)
        return false;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char *end;
        long n = strtol(e->d_name, &end, 10);
        if (*end == '\0' && n > 0)
            visit(arg, (pid_t)n);
    }
    return true;
}

struct child_search {
    pid_t parent;
    visit_fn *visit;
    void *arg;
    bool has_list; /* the kernel offers "children" */
};

static void children_of_thread(void *arg, pid_t tid)
{
    struct child_search *s = arg;
    char path[80];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)s->parent, (int)tid);
    HONE_AUTOFREE char *text = NULL;
    if (hone_file_read(path, PROC_BYTES, &text, NULL, NULL) < 0)
        return;
    s->has_list = true;
    for (char *at = text, *end;; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            return;
        s->visit(s->arg, (pid_t)pid);
    }
}

static void child_by_stat(void *arg, pid_t pid)
{
    struct child_search *s = arg;
    struct stat_line line;
    if (read_stat(pid, &line) && line.parent == s->parent)
        s->visit(s->arg, pid);
}

static void each_child(pid_t parent, visit_fn *visit, void *arg)
{
    struct child_search s = {.parent = parent, .visit = visit, .arg = arg};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
    if (each_number(path, children_of_thread, &s) && !s.has_list)
        each_number("/proc", child_by_stat, &s);
}

/* ---- descendants ---- */

struct descent {
    struct hone_process_tree *tree;
    int depth;
    bool has_new;
};

static void note_process(struct descent *d, pid_t pid)
{
    struct stat_line line;
    if (!read_stat(pid, &line) || was_seen(d->tree, pid, line.start) || n_seen(d->tree) >= MAX_SEEN)
        return;
    struct process p = {.pid = pid, .start = line.start};
    hone_buf_add(&d->tree->seen, &p, sizeof(p));
    send(&p, SIGSTOP);
    d->has_new = true;
}

static void descend(void *arg, pid_t pid)
{
    struct descent *d = arg;
    note_process(d, pid);
    if (d->depth >= MAX_RECURSE)
        return;
    d->depth++;
    each_child(pid, descend, d);
    d->depth--;
}

void hone_process_tree_kill(struct hone_process_tree *tree)
{
    struct descent d = {.tree = tree};
    for (int i = 0; i < MAX_ROUNDS; i++) {
        d.has_new = false;
        descend(&d, tree->leader);
        if (!d.has_new)
            break;
    }
    kill(-tree->leader, SIGKILL);
    for (size_t i = 0; i < n_seen(tree); i++)
        send(seen_at(tree, i), SIGKILL);
}

/* ---- orphans ---- */

enum mark {
    MARK_OTHER,
    MARK_OURS,
    MARK_NONE, /* an empty environment */
    MARK_LATER /* in the middle of an exec or an exit, which take long on a busy machine */
};

/* The kernel sets where the environment ends in the last steps of an exec, and forgets it in the
 * first ones of an exit, when children still have their old parent. */
static bool is_between(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 51; field++) /* the name is field 2, env_end 51 */
        at = strchr(at + 1, ' ');
    return at != NULL && strtoull(at, NULL, 10) == 0;
}

static enum mark mark_of(pid_t pid, const char *marker)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_file_read(path, PROC_BYTES, &text, &len, &err) < 0)
        return err.native == ESRCH && is_between(pid) ? MARK_LATER : MARK_OTHER;
    if (len == 0)
        return is_between(pid) ? MARK_LATER : MARK_NONE;
    return memmem(text, len, marker, strlen(marker)) != NULL ? MARK_OURS : MARK_OTHER;
}

struct sweep {
    struct hone_process_tree *tree;
    bool has_found; /* something of ours: its children may become ours next, look again */
    bool has_none;  /* a child that may be ours or not */
    bool has_later; /* a child that will show soon whose it is */
};

static void sweep_one(void *arg, pid_t pid)
{
    struct sweep *s = arg;
    struct hone_process_tree *tree = s->tree;
    struct stat_line line;
    if (pid == getpid() || pid == tree->leader || !read_stat(pid, &line))
        return;
    bool is_child = line.parent == getpid();
    if (!was_seen(tree, pid, line.start) && line.session != tree->leader &&
        line.group != tree->leader) {
        enum mark mark = line.state == 'Z' ? MARK_OTHER : mark_of(pid, tree->marker);
        s->has_none |= mark == MARK_NONE && is_child;
        s->has_later |= mark == MARK_LATER && is_child;
        if (mark != MARK_OURS)
            return;
    }
    /* Noted, because a dead process has no environment any more. */
    struct descent d = {.tree = tree};
    descend(&d, pid);
    for (size_t i = 0; i < n_seen(tree); i++)
        send(seen_at(tree, i), SIGKILL);
    if (is_child)
        waitpid(pid, NULL, WNOHANG);
    s->has_found |= is_child || line.state != 'Z';
}

/* Those of the seen that are our children now, whether a list shows them or not. */
static void sweep_seen(struct sweep *s)
{
    struct stat_line line;
    for (size_t i = 0; i < n_seen(s->tree); i++) {
        const struct process *p = seen_at(s->tree, i);
        if (!read_stat(p->pid, &line) || line.start != p->start || line.parent != getpid())
            continue;
        waitpid(p->pid, NULL, WNOHANG);
        s->has_found = true;
    }
}

void hone_process_tree_sweep(struct hone_process_tree *tree)
{
    int is_subreaper = 0, n_clean = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
    int64_t deadline = hone_deadline_in_ms(SWEEP_MS), none_deadline = hone_deadline_in_ms(EXEC_MS);
    for (int64_t pause_ns = 50000;; pause_ns *= 2) {
        struct sweep s = {.tree = tree};
        if (is_subreaper)
            each_child(getpid(), sweep_one, &s);
        else
            each_number("/proc", sweep_one, &s);
        sweep_seen(&s);
        bool is_clean =
            !s.has_found && !s.has_later && !(s.has_none && hone_now_ns() < none_deadline);
        n_clean = is_clean ? n_clean + 1 : 0;
        if (n_clean == N_CLEAN || hone_now_ns() > deadline)
            return;
        if (is_clean)
            continue;
        if (pause_ns > 20 * HONE_NS_PER_MS)
            pause_ns = 20 * HONE_NS_PER_MS;
        struct timespec pause = {.tv_nsec = pause_ns};
        nanosleep(&pause, NULL);
    }
}

void hone_process_tree_done(struct hone_process_tree *tree)
{
    hone_buf_done(&tree->seen);
}
