/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: segments, appends, group fsync, scans.
 *
 * Append: mutex, flock, look at the segment's end (another process may have added to it or left a
 * torn line), write, release. A write that fails half-way is truncated away, so a full disk leaves
 * whole lines only. Sync: the first caller that finds something unsynced becomes the leader and
 * calls fdatasync without the mutex; those who come meanwhile wait, and the next leader serves all
 * of them at once. Scan: files are read by descriptors of their own without a lock, up to the last
 * newline there was at the start. */
#include "workspace/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/ledger_line.h"

#define SEGMENT_BYTES (64ll << 20)
#define NAME_BYTES    32
#define TAIL_BYTES    (64 << 10) /* first step backwards in search of the last record */
#define CHUNK_BYTES   (1 << 20)
#define LINE_BYTES    (HONE_LIMIT_RECORD_BYTES + HONE_LEDGER_HEAD_BYTES)

struct hone_ledger {
    char *dir; /* the ledger's folder */
    int dir_fd;
    int lock_fd;
    pthread_mutex_t lock; /* everything below */
    pthread_cond_t synced;
    int fd; /* current segment */
    int segment;
    int64_t end;                   /* of the current segment, as far as this process knows */
    uint64_t last_n;               /* number of the last record */
    uint64_t n_appended, n_synced; /* appends of this process, counted */
    bool is_syncing;
    bool is_broken; /* an fsync failed: what is on disk is unknown */
};

static void segment_name(int segment, char ret[NAME_BYTES])
{
    snprintf(ret, NAME_BYTES, "%06d.jsonl", segment);
}

/* 0 when the name is no segment's. */
static int segment_number(const char *name)
{
    char same[NAME_BYTES];
    int segment = (int)strtol(name, NULL, 10);
    segment_name(segment, same);
    return segment > 0 && strcmp(same, name) == 0 ? segment : 0;
}

static int open_segment(const struct hone_ledger *ledger, int segment, int flags, int *ret_fd,
                        struct hone_err *err)
{
    char name[NAME_BYTES];
    segment_name(segment, name);
    int fd = openat(ledger->dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hone_fail_errno(err, errno, "cannot open ledger segment %s", name);
    *ret_fd = fd;
    return 0;
}

static int size_of(int fd, int64_t *ret, struct hone_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hone_fail_errno(err, errno, "cannot examine the ledger");
    *ret = st.st_size;
    return 0;
}

static int read_at(int fd, char *to, size_t len, int64_t at, struct hone_err *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(fd, to + done, len - done, at + (int64_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hone_fail_errno(err, n < 0 ? errno : EIO, "cannot read the ledger");
        done += (size_t)n;
    }
    return 0;
}

/* Looks at the last `take` bytes of a segment: where the last whole line ends, and the number that
 * the next record follows. A damaged line still counts one. False: no sound line there, look
 * further back. */
static bool find_last(const char *bytes, size_t len, bool is_whole, int64_t *ret_end,
                      uint64_t *ret_n)
{
    const char *newline = memrchr(bytes, '\n', len);
    *ret_end = newline ? newline - bytes + 1 : 0;
    uint64_t n_damaged = 0;
    for (const char *end = newline; end;) {
        const char *before = memrchr(bytes, '\n', (size_t)(end - bytes));
        if (!before && !is_whole)
            return false;
        const char *line = before ? before + 1 : bytes;
        struct hone_ledger_line parsed;
        if (hone_ledger_line_parse(line, (size_t)(end - line), &parsed)) {
            *ret_n = parsed.n + n_damaged;
            return true;
        }
        n_damaged++;
        end = before;
    }
    *ret_n = n_damaged;
    return is_whole;
}

/* End of the last whole line of a segment and the last number in it (0: no record). */
static int read_tail(int fd, int64_t size, int64_t *ret_end, uint64_t *ret_n, struct hone_err *err)
{
    for (int64_t take = TAIL_BYTES;; take *= 8) {
        take = hone_min_i64(take, size);
        char *bytes HONE_AUTOFREE = malloc((size_t)take + 1);
        if (!bytes)
            return hone_fail(err, HONE_E_NOMEM, "no memory to read the ledger's end");
        int rc = read_at(fd, bytes, (size_t)take, size - take, err);
        if (rc < 0)
            return rc;
        int64_t end = 0;
        uint64_t n = 0;
        if (find_last(bytes, (size_t)take, take == size, &end, &n)) {
            *ret_end = end > 0 ? size - take + end : 0;
            *ret_n = n;
            return 0;
        }
    }
}

/* Under the file lock: brings end and last_n up to date; an unfinished line is from a process that
 * is gone, and is cut off. */
static int catch_up(struct hone_ledger *ledger, struct hone_err *err)
{
    int64_t size = 0;
    int64_t end = 0;
    uint64_t n = 0;
    int rc = size_of(ledger->fd, &size, err);
    if (rc < 0 || size == ledger->end)
        return rc;
    rc = read_tail(ledger->fd, size, &end, &n, err);
    if (rc < 0)
        return rc;
    if (end < size && ftruncate(ledger->fd, end) < 0)
        return hone_fail_errno(err, errno, "cannot cut an unfinished line off the ledger");
    ledger->end = end;
    ledger->last_n = n > ledger->last_n ? n : ledger->last_n;
    return 0;
}

/* Under the file lock: goes on to the segment that takes the next record. */
static int roll(struct hone_ledger *ledger, struct hone_err *err)
{
    int rc = catch_up(ledger, err);
    while (rc == 0 && ledger->end >= SEGMENT_BYTES) {
        int fd = -1;
        if (fdatasync(ledger->fd) < 0) {
            ledger->is_broken = true;
            return hone_fail_errno(err, errno, "cannot sync a full ledger segment");
        }
        rc = open_segment(ledger, ledger->segment + 1, O_RDWR | O_CREAT, &fd, err);
        if (rc < 0)
            return rc;
        fsync(ledger->dir_fd);
        /* A leader may be inside fdatasync on the old descriptor: it keeps its number, the file
         * under it changes. */
        rc = dup3(fd, ledger->fd, O_CLOEXEC) < 0
                 ? hone_fail_errno(err, errno, "cannot change the ledger segment")
                 : 0;
        close(fd);
        if (rc < 0)
            return rc;
        ledger->segment++;
        ledger->end = 0;
        rc = catch_up(ledger, err);
    }
    return rc;
}

static int take_file_lock(struct hone_ledger *ledger, struct hone_err *err)
{
    while (flock(ledger->lock_fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return hone_fail_errno(err, errno, "cannot lock the ledger");
    return 0;
}

static int write_line(struct hone_ledger *ledger, const char *line, size_t len,
                      struct hone_err *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(ledger->fd, line + done, len - done, ledger->end + (int64_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int native = n < 0 ? errno : ENOSPC;
            if (ftruncate(ledger->fd, ledger->end) < 0)
                ledger->end = -1; /* the next append looks at the end again */
            return hone_fail_errno(err, native, "cannot write the ledger (nothing was added)");
        }
        done += (size_t)n;
    }
    return 0;
}

static int append_locked(struct hone_ledger *ledger, const char *type, const char *data,
                         uint64_t *ret_n, struct hone_err *err)
{
    struct hone_buf line HONE_CLEANUP(hone_buf_done) = HONE_BUF_INIT;
    if (ledger->is_broken)
        return hone_fail(err, HONE_E_IO,
                         "the ledger could not be synced; open the workspace again");
    int rc = roll(ledger, err);
    if (rc < 0)
        return rc;
    hone_ledger_line_print(&line, ledger->last_n + 1, hone_wall_ms(), type, data);
    rc = hone_buf_check(&line, err);
    if (rc == 0)
        rc = write_line(ledger, line.data, line.len, err);
    if (rc < 0)
        return rc;
    ledger->end += (int64_t)line.len;
    ledger->last_n++;
    ledger->n_appended++;
    *ret_n = ledger->last_n;
    return 0;
}

int hone_ledger_append(struct hone_ledger *ledger, const char *type, const struct hone_json *data,
                       uint64_t *ret_n, struct hone_err *err)
{
    uint64_t n = 0;
    if (!type || !hone_ledger_is_type(type))
        return hone_fail(err, HONE_E_ARG, "'%.64s' is no record type", type ? type : "");
    char *text HONE_AUTOFREE = hone_json_print(data);
    if (strlen(text) > HONE_LIMIT_RECORD_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "a ledger record of %zu bytes, at most %u are kept",
                         strlen(text), HONE_LIMIT_RECORD_BYTES);
    if (hone_ledger_depth(text) > HONE_LIMIT_JSON_DEPTH)
        return hone_fail(err, HONE_E_LIMIT, "a ledger record is nested deeper than %d",
                         HONE_LIMIT_JSON_DEPTH);
    pthread_mutex_lock(&ledger->lock);
    int rc = take_file_lock(ledger, err);
    if (rc == 0) {
        rc = append_locked(ledger, type, text, &n, err);
        flock(ledger->lock_fd, LOCK_UN);
    }
    pthread_mutex_unlock(&ledger->lock);
    if (rc == 0 && ret_n)
        *ret_n = n;
    return rc;
}

int hone_ledger_sync(struct hone_ledger *ledger, struct hone_err *err)
{
    int rc = 0;
    pthread_mutex_lock(&ledger->lock);
    uint64_t want = ledger->n_appended;
    while (rc == 0 && ledger->n_synced < want) {
        if (ledger->is_broken) {
            rc = hone_fail(err, HONE_E_IO,
                           "the ledger could not be synced; open the workspace again");
            break;
        }
        if (ledger->is_syncing) {
            pthread_cond_wait(&ledger->synced, &ledger->lock);
            continue;
        }
        uint64_t covers = ledger->n_appended;
        ledger->is_syncing = true;
        pthread_mutex_unlock(&ledger->lock);
        int native = fdatasync(ledger->fd) < 0 ? errno : 0;
        pthread_mutex_lock(&ledger->lock);
        ledger->is_syncing = false;
        if (native == 0) {
            ledger->n_synced = covers;
        } else {
            /* The kernel may have dropped the pages: a second fsync would lie. */
            ledger->is_broken = true;
            rc = hone_fail_errno(err, native, "cannot sync the ledger");
        }
        pthread_cond_broadcast(&ledger->synced);
    }
    pthread_mutex_unlock(&ledger->lock);
    return rc;
}

uint64_t hone_ledger_last(struct hone_ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    uint64_t last = ledger->last_n;
    pthread_mutex_unlock(&ledger->lock);
    return last;
}

/* ---- opening ---- */

static int list_segments(const struct hone_ledger *ledger, struct hone_pool *pool,
                         int **ret_segments, size_t *ret_n, struct hone_err *err)
{
    const char **names = NULL;
    size_t n_names = 0;
    int rc = hone_list_dir(ledger->dir, pool, &names, &n_names, err);
    if (rc < 0)
        return rc;
    int *segments = hone_pool_alloc(pool, (n_names + 1) * sizeof(*segments));
    size_t n = 0;
    for (size_t i = 0; i < n_names; i++) /* sorted, and of equal width up to 999,999 */
        if (segment_number(names[i]) > 0)
            segments[n++] = segment_number(names[i]);
    *ret_segments = segments;
    *ret_n = n;
    return 0;
}

/* Under the file lock. The last segment may be empty: then the one before it has the last number.
 */
static int open_last(struct hone_ledger *ledger, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    int *segments = NULL;
    size_t n = 0;
    int rc = list_segments(ledger, pool, &segments, &n, err);
    if (rc < 0)
        return rc;
    for (size_t i = n; i-- > 1 && ledger->last_n == 0;) {
        int fd HONE_AUTOCLOSE = -1;
        int64_t size = 0;
        int64_t end = 0;
        rc = open_segment(ledger, segments[i - 1], O_RDONLY, &fd, err);
        if (rc == 0)
            rc = size_of(fd, &size, err);
        if (rc == 0)
            rc = read_tail(fd, size, &end, &ledger->last_n, err);
        if (rc < 0)
            return rc;
    }
    ledger->segment = n > 0 ? segments[n - 1] : 1;
    ledger->end = -1;
    rc = open_segment(ledger, ledger->segment, O_RDWR | O_CREAT, &ledger->fd, err);
    if (rc == 0 && n == 0 && fsync(ledger->dir_fd) < 0)
        rc = hone_fail_errno(err, errno, "cannot sync the ledger's folder");
    return rc < 0 ? rc : catch_up(ledger, err);
}

static int open_parts(struct hone_ledger *ledger, struct hone_err *err)
{
    char *lock HONE_AUTOFREE = hone_path_join(ledger->dir, "lock", NULL);
    int rc = hone_mkdirs(ledger->dir, 0700, err);
    if (rc < 0)
        return rc;
    ledger->dir_fd = open(ledger->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ledger->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (ledger->dir_fd < 0 || ledger->lock_fd < 0)
        return hone_fail_errno(err, errno, "cannot open the ledger's folder");
    rc = take_file_lock(ledger, err);
    if (rc == 0) {
        rc = open_last(ledger, err);
        flock(ledger->lock_fd, LOCK_UN);
    }
    return rc;
}

static int open_folder(struct hone_ledger *ledger, struct hone_err *err)
{
    ledger->dir_fd = open(ledger->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return ledger->dir_fd < 0 ? hone_fail_errno(err, errno, "cannot open the ledger's folder") : 0;
}

static int open_with(const char *dir, int (*open_it)(struct hone_ledger *, struct hone_err *),
                     struct hone_ledger **ret, struct hone_err *err)
{
    struct hone_ledger *ledger = hone_calloc(1, sizeof(*ledger));
    ledger->dir = hone_path_join(dir, ".hone", "ledger", NULL);
    ledger->dir_fd = ledger->lock_fd = ledger->fd = -1;
    pthread_mutex_init(&ledger->lock, NULL);
    pthread_cond_init(&ledger->synced, NULL);
    int rc = open_it(ledger, err);
    if (rc < 0) {
        hone_ledger_close(ledger);
        return hone_wrap(err, "ledger in '%s'", dir);
    }
    *ret = ledger;
    return 0;
}

int hone_ledger_open(const char *dir, struct hone_ledger **ret, struct hone_err *err)
{
    return open_with(dir, open_parts, ret, err);
}

int hone_ledger_open_read(const char *dir, struct hone_ledger **ret, struct hone_err *err)
{
    return open_with(dir, open_folder, ret, err);
}

void hone_ledger_close(struct hone_ledger *ledger)
{
    if (!ledger)
        return;
    hone_close_fd(&ledger->fd);
    hone_close_fd(&ledger->lock_fd);
    hone_close_fd(&ledger->dir_fd);
    pthread_mutex_destroy(&ledger->lock);
    pthread_cond_destroy(&ledger->synced);
    free(ledger->dir);
    free(ledger);
}

void hone_ledger_close_ptr(struct hone_ledger **ledger)
{
    hone_ledger_close(*ledger);
    *ledger = NULL;
}

/* ---- scanning ---- */

struct scan {
    uint64_t first;
    const char *const *types; /* how those that are wanted begin, NULL at the end; NULL: all */
    const char *about;        /* NULL: all */
    hone_ledger_fn *fn;
    void *arg;
    int segment;
    bool is_last;     /* segment */
    bool is_too_long; /* inside a line that is longer than any record */
    uint64_t line;
    uint64_t n_damaged;
    int first_segment; /* of the first damaged line */
    uint64_t first_line;
};

static void note_damage(struct scan *scan)
{
    if (scan->n_damaged++ > 0)
        return;
    scan->first_segment = scan->segment;
    scan->first_line = scan->line;
}

static bool is_wanted(const struct scan *scan, const char *type)
{
    if (!scan->types)
        return true;
    for (const char *const *at = scan->types; *at; at++)
        if (strncmp(type, *at, strlen(*at)) == 0)
            return true;
    return false;
}

static int scan_line(struct scan *scan, const char *line, size_t len, struct hone_err *err)
{
    struct hone_ledger_line parsed;
    struct hone_json *data HONE_AUTOJSON = NULL;
    scan->line++;
    uint64_t n = hone_ledger_line_number(line, len);
    if (n > 0 && n < scan->first) { /* not asked for: passed by without a look at its checksum */
        scan->n_damaged = 0;        /* nor were the lines before it */
        return 0;
    }
    if (!hone_ledger_line_parse(line, len, &parsed)) {
        note_damage(scan);
        return 0;
    }
    if (!is_wanted(scan, parsed.type))
        return 0;
    if (scan->about && !memmem(parsed.data, parsed.data_len, scan->about, strlen(scan->about)))
        return 0;
    if (hone_json_parse(parsed.data, parsed.data_len, &data, NULL) < 0) {
        note_damage(scan);
        return 0;
    }
    return scan->fn(scan->arg, parsed.n, parsed.wall_ms, parsed.type, data, err);
}

/* Hands the whole lines in buf over and keeps the rest. Bytes that are too many for a line are a
 * damaged one. */
static int scan_lines(struct scan *scan, struct hone_buf *buf, struct hone_err *err)
{
    size_t done = 0;
    for (const char *end; (end = memchr(buf->data + done, '\n', buf->len - done));) {
        const char *line = buf->data + done;
        size_t len = (size_t)(end - line);
        done += len + 1;
        if (scan->is_too_long) {
            scan->is_too_long = false;
            scan->line++;
            note_damage(scan);
            continue;
        }
        int rc = scan_line(scan, line, len, err);
        if (rc < 0)
            return rc;
    }
    hone_buf_drop(buf, done);
    if (buf->len > LINE_BYTES) {
        scan->is_too_long = true;
        hone_buf_drop(buf, buf->len);
    }
    return 0;
}

/* From *at up to size; *at is then behind the last whole line, what follows it is in buf. */
static int scan_bytes(struct scan *scan, int fd, int64_t *at, int64_t size, struct hone_buf *buf,
                      struct hone_err *err)
{
    char *chunk HONE_AUTOFREE = hone_malloc(CHUNK_BYTES);
    for (int64_t read = *at; read < size;) {
        size_t len = (size_t)hone_min_i64(CHUNK_BYTES, size - read);
        int rc = read_at(fd, chunk, len, read, err);
        if (rc < 0)
            return rc;
        read += (int64_t)len;
        hone_buf_add(buf, chunk, len);
        rc = hone_buf_check(buf, err);
        if (rc == 0)
            rc = scan_lines(scan, buf, err);
        if (rc < 0)
            return rc;
        *at = read - (int64_t)buf->len;
    }
    return 0;
}

static int scan_segment(struct scan *scan, int fd, int64_t size, struct hone_err *err)
{
    struct hone_buf buf HONE_CLEANUP(hone_buf_done) = {.limit = LINE_BYTES + 2 * CHUNK_BYTES};
    int64_t at = 0;
    scan->line = 0;
    scan->is_too_long = false;
    int rc = scan_bytes(scan, fd, &at, size, &buf, err);
    if (rc < 0)
        return rc;
    if ((buf.len > 0 || scan->is_too_long) && !scan->is_last) {
        scan->line++;
        note_damage(scan); /* only the last segment may end in an unfinished line */
    }
    return 0;
}

/* Number of the first record of a segment; 0: unknown. */
static uint64_t first_number(int fd)
{
    char head[64];
    ssize_t len = pread(fd, head, sizeof(head), 0);
    return len > 0 ? hone_ledger_line_number(head, (size_t)len) : 0;
}

static int scan_all(struct hone_ledger *ledger, struct scan *scan, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    int *segments = NULL;
    size_t n = 0;
    int rc = list_segments(ledger, pool, &segments, &n, err);
    if (rc < 0)
        return rc;
    int64_t last_size = 0; /* fn may append: what counts is what is there now */
    size_t from = n > 0 ? n - 1 : 0;
    for (size_t i = n; i-- > 0;) { /* find the last segment that begins at or before `first` */
        int fd HONE_AUTOCLOSE = -1;
        rc = open_segment(ledger, segments[i], O_RDONLY, &fd, err);
        if (rc == 0 && i + 1 == n)
            rc = size_of(fd, &last_size, err);
        if (rc < 0)
            return rc;
        uint64_t begins = first_number(fd);
        from = i;
        if (begins > 0 && begins <= scan->first)
            break;
    }
    for (size_t i = from; i < n; i++) {
        int fd HONE_AUTOCLOSE = -1;
        int64_t size = 0;
        rc = open_segment(ledger, segments[i], O_RDONLY, &fd, err);
        if (rc == 0)
            rc = size_of(fd, &size, err);
        scan->segment = segments[i];
        scan->is_last = i + 1 == n;
        if (rc == 0)
            rc = scan_segment(scan, fd, scan->is_last ? last_size : size, err);
        if (rc < 0)
            return rc;
    }
    if (scan->n_damaged == 0)
        return 0;
    return hone_fail(err, HONE_E_CORRUPT,
                     "%" PRIu64
                     " damaged lines in the ledger, the first in segment %06d.jsonl line %" PRIu64
                     "; all other records were read",
                     scan->n_damaged, scan->first_segment, scan->first_line);
}

int hone_ledger_scan(struct hone_ledger *ledger, uint64_t first, hone_ledger_fn *fn, void *arg,
                     struct hone_err *err)
{
    struct scan scan = {.first = first, .fn = fn, .arg = arg};
    return scan_all(ledger, &scan, err);
}

int hone_ledger_scan_type(struct hone_ledger *ledger, const char *prefix, hone_ledger_fn *fn,
                          void *arg, struct hone_err *err)
{
    return hone_ledger_scan_types(ledger, (const char *const[]){prefix, NULL}, fn, arg, err);
}

int hone_ledger_scan_types(struct hone_ledger *ledger, const char *const types[],
                           hone_ledger_fn *fn, void *arg, struct hone_err *err)
{
    struct scan scan = {.types = types, .fn = fn, .arg = arg};
    return scan_all(ledger, &scan, err);
}

/* The first segment there is; 0: none. */
static int first_segment(const struct hone_ledger *ledger, int *ret, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    int *segments = NULL;
    size_t n = 0;
    int rc = list_segments(ledger, pool, &segments, &n, err);
    *ret = rc == 0 && n > 0 ? segments[0] : 0;
    return rc;
}

static bool has_segment(const struct hone_ledger *ledger, int segment)
{
    char name[NAME_BYTES];
    segment_name(segment, name);
    return faccessat(ledger->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int follow(struct hone_ledger *ledger, struct scan *scan, struct hone_ledger_place *place,
                  struct hone_err *err)
{
    int rc = place->segment > 0 ? 0 : first_segment(ledger, &place->segment, err);
    if (rc < 0 || place->segment == 0)
        return rc;
    for (;;) {
        struct hone_buf buf HONE_CLEANUP(hone_buf_done) = {.limit = LINE_BYTES + 2 * CHUNK_BYTES};
        int fd HONE_AUTOCLOSE = -1;
        int64_t size = 0;
        bool is_full = has_segment(ledger, place->segment + 1); /* first: then this one is final */
        rc = open_segment(ledger, place->segment, O_RDONLY, &fd, err);
        if (rc == 0)
            rc = size_of(fd, &size, err);
        if (rc == 0)
            rc = scan_bytes(scan, fd, &place->offset, size, &buf, err);
        if (rc < 0 || !is_full)
            return rc;
        place->segment++;
        place->offset = 0;
    }
}

int hone_ledger_follow(struct hone_ledger *ledger, const char *prefix,
                       struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                       struct hone_err *err)
{
    struct scan scan = {.types = (const char *const[]){prefix, NULL}, .fn = fn, .arg = arg};
    return follow(ledger, &scan, place, err);
}

int hone_ledger_follow_about(struct hone_ledger *ledger, const char *prefix, const char *about,
                             struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                             struct hone_err *err)
{
    struct scan scan = {
        .types = (const char *const[]){prefix, NULL}, .about = about, .fn = fn, .arg = arg};
    return follow(ledger, &scan, place, err);
}

int hone_ledger_follow_types(struct hone_ledger *ledger, const char *const types[],
                             struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                             struct hone_err *err)
{
    struct scan scan = {.types = types, .fn = fn, .arg = arg};
    return follow(ledger, &scan, place, err);
}
