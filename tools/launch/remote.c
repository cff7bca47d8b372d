/* SPDX-License-Identifier: Apache-2.0 */
/* State: the command's process, run by a thread of its own; the link to it; the job in hand. The
 * caller's thread sends and receives. Whatever the other side sends is checked: places of outputs
 * by a list, sizes by limits; the report itself by the reader of reports. */
#include "tools/launch/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/format/report.h"
#include "tools/launch/files.h"
#include "tools/launch/link.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

extern char **environ;

#define TERM_MS   3000
#define END_MS    5000 /* for a runner and its launcher to end by themselves */
#define CANCEL_MS 2000 /* for the other side to end a cancelled job; after that the command dies */

struct hone_remote {
    char *command; /* owned */
    char *class;   /* owned */
    int fd;        /* our end of the socket pair */
    int child_fd;
    bool has_thread;
    pthread_t thread; /* runs the command for its whole life */
    struct hone_cancel kill;
    struct hone_process_result result;
    struct hone_err start_err;
    int start_code;
    struct hone_link link;
    int64_t heard_ns, said_ns;
};

/* ---- the command ---- */

static const char *const *environment(struct hone_pool *pool)
{
    size_t n = 0, at = 0;
    while (environ[n] != NULL)
        n++;
    const char **ret = hone_pool_alloc(pool, (n + 2) * sizeof *ret);
    HONE_AUTOFREE char *dir = hone_exe_dir();
    const char *path = getenv("PATH");
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "PATH=", 5) != 0)
            ret[at++] = environ[i];
    }
    ret[at++] = hone_pool_printf(pool, "PATH=%s%s%s", dir != NULL ? dir : "",
                                 dir != NULL ? ":" : "", path != NULL ? path : "/usr/bin:/bin");
    ret[at] = NULL;
    return ret;
}

static void *live(void *arg)
{
    struct hone_remote *remote = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){"/bin/sh", "-c", remote->command, NULL},
        .env = environment(pool),
        .deadline_ns = HONE_NO_DEADLINE,
        .cancel = &remote->kill,
        .term_ms = TERM_MS,
        .has_stdio_fd = true,
        .stdio_fd = remote->child_fd,
    };
    remote->start_code = hone_process_run(&spec, &remote->result, &remote->start_err);
    hone_close_fd(&remote->child_fd); /* the reader sees the end now, not before */
    return NULL;
}

static char *with_number(const char *command, size_t number)
{
    struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    for (const char *at = command; *at != '\0';) {
        if (strncmp(at, "{i}", 3) == 0) {
            hone_buf_printf(&text, "%zu", number);
            at += 3;
        } else {
            hone_buf_add(&text, at++, 1);
        }
    }
    return hone_buf_steal(&text);
}

static int start(struct hone_remote *remote, struct hone_err *err)
{
    int ends[2];
    int code = hone_cancel_init(&remote->kill, err);
    if (code < 0)
        return code;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return hone_fail_errno(err, errno, "cannot make a socket pair");
    remote->fd = ends[0];
    remote->child_fd = ends[1];
    hone_link_init(&remote->link, ends[0], ends[0]);
    int native = pthread_create(&remote->thread, NULL, live, remote);
    remote->has_thread = native == 0;
    return native ? hone_fail_errno(err, native, "cannot start a thread") : 0;
}

/* After it the command is gone, and what it said may be read. A runner ends when its stream does,
 * and its launcher then by itself; only one that does not is killed: a killed srun would leave its
 * allocation behind. */
static void stop(struct hone_remote *remote)
{
    char dropped[4096];
    if (!remote->has_thread)
        return;
    int64_t deadline = hone_deadline_in_ms(END_MS);
    bool is_open = shutdown(remote->fd, SHUT_WR) == 0;
    while (is_open && hone_now_ns() < deadline) {
        struct pollfd p = {remote->fd, POLLIN, 0};
        is_open = poll(&p, 1, hone_ms_until(deadline)) <= 0 ||
                  recv(remote->fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0;
    }
    hone_cancel_set(&remote->kill);
    pthread_join(remote->thread, NULL);
    remote->has_thread = false;
}

void hone_remote_close(struct hone_remote *remote)
{
    if (remote == NULL)
        return;
    stop(remote);
    hone_cancel_done(&remote->kill);
    hone_close_fd(&remote->child_fd);
    if (remote->fd >= 0)
        hone_link_done(&remote->link);
    hone_close_fd(&remote->fd);
    hone_process_result_done(&remote->result);
    free(remote->class);
    free(remote->command);
    free(remote);
}

/* Why there is no runner: what the command said, else what went wrong with the stream. */
static int explain(struct hone_remote *remote, const struct hone_err *why, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    stop(remote);
    if (remote->start_code < 0 && remote->start_code != HONE_E_CANCEL)
        return hone_fail(err, HONE_E_TARGET, "'%.150s': %s", remote->command,
                         remote->start_err.message);
    const char *said = remote->result.err != NULL ? remote->result.err : "";
    if (said[0] == '\0' && remote->link.noise.len > 0)
        said = hone_pool_strndup(pool, remote->link.noise.data, remote->link.noise.len);
    size_t len = strlen(said);
    said = hone_plain_line(pool, len > 200 ? said + len - 200 : said, 200);
    return hone_fail(err, HONE_E_TARGET, "no runner behind '%.60s...': %s%s%s", remote->command,
                     why->message, said[0] != '\0' ? "; it said: " : "", said);
}

static int greet(struct hone_remote *remote, int64_t deadline_ns, const struct hone_cancel *cancel,
                 struct hone_err *err)
{
    HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
    struct hone_err why = HONE_ERR_INIT;
    int code = hone_link_greet(&remote->link, NULL, &why);
    if (code == 0)
        code = hone_link_receive(&remote->link, deadline_ns, cancel, &frame, &why);
    if (code == HONE_E_CANCEL)
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (code < 0)
        return explain(remote, &why, err);
    code = hone_link_check_greeting(&frame, err);
    if (code == 0)
        remote->class = hone_strdup(hone_json_get_str(frame.head, "class", "?"));
    remote->heard_ns = remote->said_ns = hone_now_ns();
    return code;
}

int hone_remote_open(const char *command, size_t number, int64_t deadline_ns,
                     const struct hone_cancel *cancel, struct hone_remote **ret,
                     struct hone_err *err)
{
    struct hone_remote *remote = hone_calloc(1, sizeof *remote);
    *remote = (struct hone_remote){.command = with_number(command, number),
                                   .fd = -1,
                                   .child_fd = -1,
                                   .kill = {.event_fd = -1},
                                   .start_err = HONE_ERR_INIT};
    int code = start(remote, err);
    if (code == 0)
        code = greet(remote, deadline_ns, cancel, err);
    if (code < 0)
        hone_remote_close(remote);
    else
        *ret = remote;
    return code;
}

const char *hone_remote_class(const struct hone_remote *remote)
{
    return remote->class;
}

/* ---- frames ---- */

static int say_ping(struct hone_remote *remote, struct hone_err *err)
{
    if (hone_now_ns() - remote->said_ns < HONE_LINK_PING_MS * HONE_NS_PER_MS)
        return 0;
    remote->said_ns = hone_now_ns();
    return hone_link_send(&remote->link, hone_frame_new("ping"), NULL, 0, err);
}

/* The next frame that is no ping. HONE_E_IO when the other side is silent for too long. */
static int next_frame(struct hone_remote *remote, int64_t deadline_ns,
                      const struct hone_cancel *cancel, struct hone_frame *ret,
                      struct hone_err *err)
{
    for (;;) {
        struct hone_frame frame = {.head = NULL};
        int64_t tick = hone_min_i64(deadline_ns, hone_deadline_in_ms(HONE_LINK_PING_MS / 2));
        int code = hone_link_receive(&remote->link, tick, cancel, &frame, err);
        int64_t now = hone_now_ns();
        if (code == 0) {
            remote->heard_ns = now;
            if (strcmp(hone_frame_type(&frame), "ping") != 0) {
                *ret = frame;
                return 0;
            }
            hone_frame_done(&frame);
        } else if (code != HONE_E_TIMEOUT || now >= deadline_ns) {
            return code;
        }
        if (now - remote->heard_ns > HONE_LINK_SILENCE_MS * HONE_NS_PER_MS)
            return hone_fail(err, HONE_E_IO, "the runner has said nothing for %d s",
                             HONE_LINK_SILENCE_MS / 1000);
        code = say_ping(remote, err);
        if (code < 0)
            return code;
    }
}

bool hone_remote_keep(struct hone_remote *remote)
{
    struct hone_frame frame = {.head = NULL};
    int code = next_frame(remote, hone_now_ns(), NULL, &frame, NULL);
    hone_frame_done(&frame); /* left over of a cancelled job: of no use any more */
    return (code == 0 || code == HONE_E_TIMEOUT) && say_ping(remote, NULL) == 0;
}

int hone_remote_probe(struct hone_remote *remote, struct hone_json **ret, struct hone_err *err)
{
    int code = hone_link_send(&remote->link, hone_frame_new("probe"), NULL, 0, err);
    int64_t deadline = hone_deadline_in_ms(HONE_LINK_SILENCE_MS);
    bool is_there = false;
    while (code == 0 && !is_there) {
        HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
        code = next_frame(remote, deadline, NULL, &frame, err);
        is_there = code == 0 && strcmp(hone_frame_type(&frame), "probe") == 0;
        if (is_there)
            code = hone_json_parse(frame.bytes, frame.len, ret, err);
    }
    return code;
}

/* ---- a job ---- */

struct exchange {
    struct hone_remote *remote;
    const char *call_dir;
    const struct hone_job *job;
    struct hone_call_files files;
    hone_progress_fn *on_progress;
    void *progress_arg;
    struct hone_launch_end *end;
    int64_t deadline_ns;
    bool is_done;
};

static int send_file(struct exchange *x, const struct hone_call_file *file, struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    HONE_AUTOFREE char *piece = hone_calloc(1, HONE_CALL_PIECE_BYTES);
    int code = 0;
    int64_t at = 0;
    if (fd < 0)
        return hone_fail_errno(err, errno, "cannot read '%s'", file->path);
    do { /* an empty file is one empty piece */
        size_t want = (size_t)hone_min_i64(file->size - at, HONE_CALL_PIECE_BYTES);
        if (pread(fd, piece, want, at) != (ssize_t)want)
            return hone_fail(err, HONE_E_CORRUPT, "'%s' changed while it was sent", file->path);
        struct hone_json *head = hone_frame_new("file");
        hone_json_set_str(head, "key", file->key);
        hone_json_set_i64(head, "offset", at);
        code = hone_link_send(&x->remote->link, head, piece, want, err);
        at += (int64_t)want;
    } while (code == 0 && at < file->size);
    return code;
}

static int on_want(struct exchange *x, const struct hone_frame *frame, struct hone_err *err)
{
    int code = 0;
    const struct hone_json *keys = hone_json_get(frame->head, "keys");
    for (const struct hone_json *key = hone_json_first(keys); key != NULL && code == 0;
         key = hone_json_next(key)) {
        const char *text = hone_json_str(key);
        const struct hone_call_file *file =
            hone_call_files_find(&x->files, text != NULL ? text : "");
        code = file != NULL ? send_file(x, file, err)
                            : hone_fail(err, HONE_E_CORRUPT, "the runner wants a file of no call");
    }
    x->deadline_ns = hone_deadline_in_ms(hone_job_most_ms(x->job) + 3 * HONE_LAUNCH_GRACE_MS);
    return code;
}

static int on_progress(struct exchange *x, const struct hone_frame *frame, struct hone_err *err)
{
    (void)err;
    struct hone_progress progress = {.message =
                                         hone_json_get_str(frame->head, "message", "working"),
                                     .done = hone_json_get_f64(frame->head, "done", 0),
                                     .total = hone_json_get_f64(frame->head, "total", 0)};
    if (x->on_progress != NULL && strlen(progress.message) <= HONE_LIMIT_PROGRESS_BYTES)
        x->on_progress(x->progress_arg, &progress);
    return 0;
}

static int on_output(struct exchange *x, const struct hone_frame *frame, struct hone_err *err)
{
    static const char *const places[] = {"report.json", "sealed/" HONE_SAMPLES_FILE};
    const char *place = hone_json_get_str(frame->head, "place", "");
    int64_t offset = hone_json_get_i64(frame->head, "offset", -1);
    size_t i = 0;
    while (i < HONE_COUNTOF(places) && strcmp(places[i], place) != 0)
        i++;
    if (i == HONE_COUNTOF(places) || offset < 0 ||
        offset + (int64_t)frame->len > (int64_t)HONE_LIMIT_REPORT_BYTES)
        return hone_fail(err, HONE_E_CORRUPT, "the runner sent '%.60s', which no call has", place);
    HONE_AUTOFREE char *path = hone_path_join(x->call_dir, place, NULL);
    HONE_AUTOCLOSE int fd =
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_TRUNC : 0), 0600);
    return fd >= 0 && pwrite(fd, frame->bytes, frame->len, offset) == (ssize_t)frame->len
               ? 0
               : hone_fail_errno(err, errno, "cannot write '%s'", path);
}

static int on_done(struct exchange *x, const struct hone_frame *frame, struct hone_err *err)
{
    const char *error = hone_json_get_str(frame->head, "error", NULL);
    x->is_done = true;
    *x->end = (struct hone_launch_end){
        .timed_out = hone_json_get_bool(frame->head, "timed_out", false),
        .exit_status = (int)hone_json_get_i64(frame->head, "exit_status", -1),
        .signal = (int)hone_json_get_i64(frame->head, "signal", 0)};
    snprintf(x->end->said, sizeof x->end->said, "%s", hone_json_get_str(frame->head, "said", ""));
    return error != NULL ? hone_fail(err, HONE_E_TARGET, "%.300s", error) : 0;
}

static const struct {
    const char *type;
    int (*handle)(struct exchange *x, const struct hone_frame *frame, struct hone_err *err);
} handlers[] = {
    {"want", on_want}, {"progress", on_progress}, {"output", on_output}, {"done", on_done}};

/* Frames of an earlier job, which was cancelled, and types that this version does not know are
 * dropped. */
static int handle(struct exchange *x, const struct hone_frame *frame, struct hone_err *err)
{
    if (strcmp(hone_json_get_str(frame->head, "id", ""), x->job->id) != 0)
        return 0;
    for (size_t i = 0; i < HONE_COUNTOF(handlers); i++) {
        if (strcmp(handlers[i].type, hone_frame_type(frame)) == 0)
            return handlers[i].handle(x, frame, err);
    }
    return 0;
}

static int send_job(struct exchange *x, struct hone_err *err)
{
    HONE_AUTOFREE char *text = hone_job_print(x->job);
    struct hone_json *head = hone_frame_new("job");
    hone_json_set_str(head, "id", x->job->id);
    hone_json_set(head, "files", hone_call_files_to_json(&x->files));
    return hone_link_send(&x->remote->link, head, text, strlen(text), err);
}

/* The other side kills the job and says so; one that does not in time is lost. */
static int cancel_job(struct exchange *x, struct hone_err *err)
{
    int64_t deadline = hone_deadline_in_ms(CANCEL_MS);
    struct hone_json *head = hone_frame_new("cancel");
    hone_json_set_str(head, "id", x->job->id);
    int code = hone_link_send(&x->remote->link, head, NULL, 0, NULL);
    while (code == 0 && !x->is_done) {
        HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
        code = next_frame(x->remote, deadline, NULL, &frame, NULL);
        if (code == 0 && strcmp(hone_frame_type(&frame), "done") == 0)
            x->is_done = true;
    }
    if (!x->is_done)
        stop(x->remote);
    return hone_fail(err, HONE_E_CANCEL, "cancelled");
}

static int fail_as_target(struct hone_err *err)
{
    if (err != NULL)
        err->code = HONE_E_TARGET;
    return HONE_E_TARGET;
}

int hone_remote_run(struct hone_remote *remote, const char *call_dir, const struct hone_job *job,
                    hone_progress_fn *on_progress_fn, void *progress_arg,
                    const struct hone_cancel *cancel, struct hone_launch_end *ret,
                    struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *sealed = hone_path_join(call_dir, "sealed", NULL);
    struct exchange x = {.remote = remote,
                         .call_dir = call_dir,
                         .job = job,
                         .on_progress = on_progress_fn,
                         .progress_arg = progress_arg,
                         .end = ret,
                         .deadline_ns =
                             hone_deadline_in_ms(hone_job_most_ms(job) + 3 * HONE_LAUNCH_GRACE_MS)};
    int code = hone_call_files_list(call_dir, job->task_dir, pool, &x.files, err);
    if (code == 0)
        code = hone_mkdirs(sealed, 0700, err);
    if (code < 0) /* a fault of the call, not of the runner */
        return fail_as_target(err);
    code = send_job(&x, err);
    while (code == 0 && !x.is_done) {
        HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
        code = next_frame(remote, x.deadline_ns, cancel, &frame, err);
        if (code == HONE_E_CANCEL)
            return cancel_job(&x, err);
        if (code == HONE_E_TIMEOUT) {
            stop(remote);
            *ret = (struct hone_launch_end){.timed_out = true, .exit_status = -1};
            return 0;
        }
        if (code == 0)
            code = handle(&x, &frame, err);
    }
    return code;
}
