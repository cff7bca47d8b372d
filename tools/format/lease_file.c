/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/format/lease_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define WAIT_SUFFIX ".wait-"

char *hone_lease_path(const char *path, const char *device)
{
    if (device == NULL || strlen(device) != 32 ||
        strspn(device, "0123456789abcdef") != strlen(device))
        return hone_strdup(path);
    return hone_sprintf("%s-%s", path, device);
}

static void put_words(int fd, const struct hone_job *job, const char *task)
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

void hone_lease_sign(int fd, const struct hone_job *job, const char *task)
{
    put_words(fd, job, task);
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

/* false: its process is gone, or it says nothing. */
static bool read_words(const char *path, char *ret, size_t size)
{
    char text[HONE_LIMIT_HOLDER_BYTES] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *end = text;
    long pid = strtol(text, &end, 10);
    if (end == text || pid <= 0 || pid >= INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno != EPERM))
        return false;
    end += strspn(end, " ");
    make_plain(end);
    snprintf(ret, size, "pid %ld (%s)", pid, end);
    return true;
}

void hone_lease_holder(const char *path, char *ret, size_t size)
{
    if (!read_words(path, ret, size))
        snprintf(ret, size, "another process");
}

void hone_lease_wait(const char *path, const struct hone_job *job, const char *task)
{
    HONE_AUTOFREE char *own = hone_sprintf("%s" WAIT_SUFFIX "%d", path, (int)getpid());
    (void)unlink(own); /* of a process that had this number, or a pipe that would not open */
    int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    put_words(fd, job, task);
    close(fd);
}

void hone_lease_stop_waiting(const char *path)
{
    HONE_AUTOFREE char *own = hone_sprintf("%s" WAIT_SUFFIX "%d", path, (int)getpid());
    (void)unlink(own);
}

/* Files of those that were killed while they waited go. ret_more: of those that are not named. */
static struct hone_json *waiting(const char *path, int64_t *ret_more)
{
    struct hone_json *out = hone_json_new_array();
    size_t n = 0;
    const char *slash = strrchr(path, '/');
    HONE_AUTOFREE char *dir = hone_strndup(path, slash != NULL ? (size_t)(slash - path) : 0);
    HONE_AUTOFREE char *head = hone_sprintf("%s" WAIT_SUFFIX, slash != NULL ? slash + 1 : path);
    DIR *d = opendir(dir[0] != '\0' ? dir : "/");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char words[HONE_LEASE_HOLDER_BYTES];
        if (strncmp(e->d_name, head, strlen(head)) != 0)
            continue;
        if (n == HONE_LIMIT_LEASE_WAITERS) { /* anybody can make such files */
            ++*ret_more;
            continue;
        }
        HONE_AUTOFREE char *file = hone_sprintf("%s/%s", dir, e->d_name);
        if (!read_words(file, words, sizeof words)) {
            (void)unlink(file);
            continue;
        }
        hone_json_push(out, hone_json_new_str(words));
        n++;
    }
    if (d != NULL)
        closedir(d);
    return out;
}

struct hone_json *hone_lease_json(const char *path)
{
    struct hone_json *out = hone_json_new_object();
    char holder[HONE_LEASE_HOLDER_BYTES];
    int fd = -1;
    bool is_held = hone_file_exists(path) && hone_lock_file(path, 0, &fd, NULL) == HONE_E_BUSY;
    hone_close_fd(&fd);
    hone_json_set_bool(out, "held", is_held);
    if (is_held) {
        hone_lease_holder(path, holder, sizeof holder);
        hone_json_set_str(out, "by", holder);
    }
    int64_t more = 0;
    hone_json_set(out, "waiting", waiting(path, &more));
    if (more > 0)
        hone_json_set_i64(out, "more_waiting", more);
    return out;
}
