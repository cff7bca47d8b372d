/* SPDX-License-Identifier: Apache-2.0 */
/* Housekeeping of the repository: stale locks, empty files after a power cut, packing.
 *
 * `git gc` does not take the writers' lock: git is made to be packed while it is used, and a commit
 * must not wait for seconds. Only one gc runs at a time among all processes
 * (DIR/.hone/maintain.lock); the child inherits that lock, so it stays held even when hone is
 * killed and git lives on. */
#include "workspace/history_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"
#include "workspace/base/process.h"

#define GC_EVERY         3000 /* versions; about 12,000 loose objects */
#define OBJECTS_PER      4    /* loose objects of a version: source, report, tree, commit */
#define GIT_LIMIT_MS     600000
#define CLOSE_LIMIT_S    120
#define OLD_LOCK_S       60 /* a ref's lock is held for microseconds */
#define REF_FILE_BYTES   41 /* 40 digits and newline */
#define MAX_REF_DEPTH    8
#define LOOSE_SAMPLE_DIR ".git/objects/17"

static void close_dir_ptr(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t n = strlen(suffix);
    return len >= n && strcmp(name + len - n, suffix) == 0;
}

/* Calls fn for every regular file below path. */
static void each_file(const char *path, int depth, void (*fn)(void *arg, const char *path),
                      void *arg)
{
    DIR *dir HONE_CLEANUP(close_dir_ptr) = opendir(path);
    struct dirent *entry;
    while (dir && depth > 0 && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *child HONE_AUTOFREE = hone_path_join(path, entry->d_name, NULL);
        struct stat st;
        unsigned char type = entry->d_type;
        if (type == DT_UNKNOWN && lstat(child, &st) == 0)
            type = S_ISDIR(st.st_mode) ? DT_DIR : DT_REG;
        if (type == DT_DIR)
            each_file(child, depth - 1, fn, arg);
        else if (type == DT_REG)
            fn(arg, child);
    }
}

static void remove_lock(void *arg, const char *path)
{
    const bool *is_gc_idle = arg;
    struct stat st;
    if (!has_suffix(path, ".lock") || lstat(path, &st) < 0)
        return;
    if (*is_gc_idle || st.st_mtime < time(NULL) - OLD_LOCK_S) {
        unlink(path);
        hone_log(HONE_LOG_DEBUG, "removed stale lock path=%s", path);
    }
}

static int take_maintain_lock(const char *dir, int64_t deadline_ns, int *ret_fd,
                              struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, ".hone", "maintain.lock", NULL);
    return hone_lock_file(path, deadline_ns, ret_fd, err);
}

void hone_history_remove_stale(const char *dir)
{
    static const char *const old_only[] = {"packed-refs.lock", "HEAD.lock", "config.lock"};
    int fd HONE_AUTOCLOSE = -1;
    /* Of all others, only a git gc that outlived its hone can hold a lock now. */
    bool is_gc_idle = take_maintain_lock(dir, 0, &fd, NULL) == 0;
    static const char *const ours[] = {".git/refs/hone", ".git/refs/heads/search"};
    for (size_t i = 0; i < HONE_COUNTOF(ours); i++) {
        char *refs HONE_AUTOFREE = hone_path_join(dir, ours[i], NULL);
        each_file(refs, MAX_REF_DEPTH, remove_lock, &is_gc_idle);
    }
    /* These may belong to a git command of the user's. */
    bool is_sure = false;
    char *heads HONE_AUTOFREE = hone_path_join(dir, ".git/refs/heads", NULL);
    each_file(heads, MAX_REF_DEPTH, remove_lock, &is_sure);
    for (size_t i = 0; i < HONE_COUNTOF(old_only); i++) {
        char *path HONE_AUTOFREE = hone_path_join(dir, ".git", old_only[i], NULL);
        remove_lock(&is_sure, path);
    }
    char *objects HONE_AUTOFREE = hone_path_join(dir, ".git/objects", NULL);
    DIR *folder HONE_CLEANUP(close_dir_ptr) = opendir(objects);
    struct dirent *entry;
    while (folder &&
           (entry = readdir(folder))) /* only a writer makes these, and we hold its lock */
        if (strncmp(entry->d_name, "tmp_object_git2_", 16) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
}

int64_t hone_history_count_unpacked(const char *dir)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, LOOSE_SAMPLE_DIR, NULL);
    DIR *folder HONE_CLEANUP(close_dir_ptr) = opendir(path);
    int64_t n = 0;
    while (folder && readdir(folder))
        n++;
    return (n > 2 ? n - 2 : 0) * 256 / OBJECTS_PER; /* ids are spread evenly */
}

struct scrub {
    const char *dir;
    int64_t since_s;
    bool is_removing;
    size_t n;
};

static void scrub_file(struct scrub *scrub, const char *path, off_t least)
{
    struct stat st;
    if (lstat(path, &st) < 0 || st.st_size >= least)
        return;
    scrub->n++;
    if (!scrub->is_removing || unlink(path) < 0)
        return;
    hone_log(HONE_LOG_WARN, "removed an empty file that a crash left, making it again path=%s",
             path);
}

static void scrub_ref(void *arg, const char *path)
{
    scrub_file(arg, path, REF_FILE_BYTES);
}

static void scrub_object(void *arg, const char *path)
{
    scrub_file(arg, path, 1);
}

static void scrub_objects(struct scrub *scrub)
{
    for (int i = 0; i < 256; i++) {
        char *path HONE_AUTOFREE = hone_sprintf("%s/.git/objects/%02x", scrub->dir, (unsigned)i);
        struct stat st;
        if (stat(path, &st) == 0 && st.st_mtime >= scrub->since_s)
            each_file(path, 1, scrub_object, scrub);
    }
}

int hone_history_scrub(struct hone_history *h, int64_t since_s, bool is_removing, size_t *ret_n,
                       struct hone_err *err)
{
    static const char *const refs[] = {".git/refs/hone", ".git/refs/heads"};
    struct scrub scrub = {.dir = h->dir, .since_s = since_s, .is_removing = is_removing};
    int rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < HONE_COUNTOF(refs); i++) {
        char *path HONE_AUTOFREE = hone_path_join(h->dir, refs[i], NULL);
        each_file(path, MAX_REF_DEPTH, scrub_ref, &scrub);
    }
    scrub_objects(&scrub);
    hone_history_unlock(h);
    *ret_n = scrub.n;
    return 0;
}

static int run_git(struct hone_history *h, const char *const *argv, int keep_fd,
                   struct hone_err *err)
{
    struct hone_process_spec spec = {.argv = argv,
                                     .cwd = h->dir,
                                     .deadline_ns = hone_deadline_in_ms(GIT_LIMIT_MS),
                                     .cancel = &h->cancel};
    if (keep_fd >= 0) {
        spec.pass_fds[0] = keep_fd;
        spec.n_pass_fds = 1;
    }
    struct hone_process_result result = {.out = NULL};
    int rc = hone_process_run(&spec, &result, err);
    if (rc < 0)
        return hone_wrap(err, "cannot run git");
    if (result.timed_out)
        rc = hone_fail(err, HONE_E_TIMEOUT, "git did not end in %d s", GIT_LIMIT_MS / 1000);
    else if (result.cancelled)
        rc = hone_fail(err, HONE_E_CANCEL, "git was stopped");
    else if (result.exit_status != 0)
        rc = hone_fail(err, HONE_E_CORRUPT, "git ended with status %d: %.200s", result.exit_status,
                       result.err && result.err[0] ? result.err : "(no message)");
    hone_process_result_done(&result);
    return rc;
}

int hone_history_maintain(struct hone_history *h, bool is_forced, struct hone_err *err)
{
    static const char *const argv[] = {"nice",           "-n", "19",      "git", "-c",
                                       "pack.threads=1", "gc", "--quiet", NULL};
    int fd HONE_AUTOCLOSE = -1;
    if (!is_forced && hone_history_count_unpacked(h->dir) < GC_EVERY)
        return 0;
    int64_t deadline_ns = is_forced ? hone_deadline_in_ms(GIT_LIMIT_MS) : 0;
    int rc = take_maintain_lock(h->dir, deadline_ns, &fd, err);
    if (rc == HONE_E_BUSY && !is_forced)
        return 0;
    return rc < 0 ? rc : run_git(h, argv, fd, err);
}

int hone_history_check(struct hone_history *h, struct hone_err *err)
{
    static const char *const argv[] = {"git", "fsck", "--connectivity-only", "--no-dangling", NULL};
    return run_git(h, argv, -1, err);
}

static void *maintain_thread(void *arg)
{
    struct hone_history *h = arg;
    struct hone_err err = HONE_ERR_INIT;
    /* A failure costs disk space only; the next 3,000 commits try again. */
    if (hone_history_maintain(h, false, &err) < 0)
        hone_log(HONE_LOG_DEBUG, "git gc failed, trying again later error=\"%s\"", err.message);
    atomic_store(&h->is_thread_done, true);
    return NULL;
}

void hone_history_maybe_maintain(struct hone_history *h)
{
    if (++h->n_unpacked < GC_EVERY || (h->has_thread && !atomic_load(&h->is_thread_done)))
        return;
    if (h->has_thread)
        pthread_join(h->thread, NULL);
    h->n_unpacked = 0;
    atomic_store(&h->is_thread_done, false);
    h->has_thread = pthread_create(&h->thread, NULL, maintain_thread, h) == 0;
}

void hone_history_end_maintain(struct hone_history *h)
{
    struct timespec until;
    if (!h->has_thread)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLOSE_LIMIT_S;
    if (pthread_timedjoin_np(h->thread, NULL, &until) != 0) {
        hone_cancel_set(&h->cancel);
        pthread_join(h->thread, NULL);
    }
    h->has_thread = false;
}
