/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/format/lease_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define QUEUE_MS 100 /* one who looks has the file locked for an instant */

const char *hone_lease_path(const char *base, const char *uuid, struct hone_pool *pool)
{
    return uuid != NULL ? hone_pool_printf(pool, "%s.%s", base, uuid) : base;
}

void hone_lease_sign(int fd, const struct hone_job *job, const char *task)
{
    char text[HONE_LIMIT_HOLDER_BYTES];
    int n = snprintf(text, sizeof text, "%d %.60s, %.20s, call %.40s\n", (int)getpid(), task,
                     job->tier != HONE_TIER_NONE ? hone_tier_name(job->tier) : "?",
                     job->id != NULL ? job->id : "?");
    size_t len = n > 0 ? (size_t)n : 0;
    /* A courtesy: who cannot write it holds the lease all the same. */
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, len < sizeof text ? len : sizeof text - 1, 0) < 0)
        return;
}

/* Words, points and the like: nothing that a terminal or a prompt could take for more. */
static void make_plain(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c > 126 || (!isalnum(c) && strchr(" ._-,:", c) == NULL))
            *at = ' ';
    }
    for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
        text[len - 1] = '\0';
}

static int open_to_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* The process that signed, and what for (in text); 0: nobody who still lives. */
static int64_t read_user(int fd, char text[HONE_LIMIT_HOLDER_BYTES], const char **ret_what)
{
    ssize_t n = fd >= 0 ? pread(fd, text, HONE_LIMIT_HOLDER_BYTES - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    char *end = text;
    long pid = strtol(text, &end, 10);
    bool is_there =
        end != text && pid > 0 && pid < INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
    end += strspn(end, " ");
    make_plain(end);
    *ret_what = is_there ? end : "";
    return is_there ? pid : 0;
}

void hone_lease_holder(const char *path, char *ret, size_t size)
{
    char text[HONE_LIMIT_HOLDER_BYTES];
    const char *what;
    HONE_AUTOCLOSE int fd = open_to_read(path);
    int64_t pid = read_user(fd, text, &what);
    if (pid > 0)
        snprintf(ret, size, "pid %lld (%s)", (long long)pid, what);
    else
        snprintf(ret, size, "another process");
}

static char *queue_path(const char *path)
{
    return hone_sprintf("%s.wait-%d", path, (int)getpid());
}

int hone_lease_join_queue(const char *path, const struct hone_job *job, const char *task)
{
    HONE_AUTOFREE char *own = queue_path(path);
    int fd = -1;
    if (hone_lock_file(own, hone_deadline_in_ms(QUEUE_MS), &fd, NULL) < 0)
        return -1;
    hone_lease_sign(fd, job, task);
    return fd;
}

void hone_lease_leave_queue(const char *path, int fd)
{
    HONE_AUTOFREE char *own = queue_path(path);
    if (fd < 0)
        return;
    (void)unlink(own);
    close(fd);
}

/* Does a process have this file of ours locked? A file in the queue that nobody has is what a
 * killed process left: it is removed. */
static bool look_at(const char *path, bool is_queued, struct hone_pool *pool,
                    struct hone_lease_user *ret)
{
    char text[HONE_LIMIT_HOLDER_BYTES];
    const char *what;
    struct stat st;
    HONE_AUTOCLOSE int fd = open_to_read(path);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid())
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        if (is_queued)
            (void)unlink(path);
        return false;
    }
    ret->pid = read_user(fd, text, &what);
    ret->what = hone_pool_strdup(pool, what);
    ret->since_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / HONE_NS_PER_MS;
    return true;
}

void hone_lease_look(const char *path, struct hone_pool *pool, struct hone_lease_state *ret)
{
    const char *slash = strrchr(path, '/');
    const char *dir = slash != NULL && slash > path
                          ? hone_pool_printf(pool, "%.*s", (int)(slash - path), path)
                          : "/";
    const char *prefix = hone_pool_printf(pool, "%s.wait-", slash != NULL ? slash + 1 : path);
    const char **names;
    size_t n = 0;
    *ret = (struct hone_lease_state){.is_held = false};
    ret->is_held = look_at(path, false, pool, &ret->holder);
    struct hone_lease_user *waiters =
        hone_pool_alloc(pool, HONE_LIMIT_LEASE_WAITERS * sizeof *waiters);
    ret->waiters.v = waiters;
    if (hone_list_dir(dir, pool, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n && ret->waiters.n < HONE_LIMIT_LEASE_WAITERS; i++) {
        HONE_AUTOFREE char *file = hone_path_join(dir, names[i], NULL);
        if (strncmp(names[i], prefix, strlen(prefix)) == 0)
            ret->waiters.n += look_at(file, true, pool, &waiters[ret->waiters.n]);
    }
}
