/* SPDX-License-Identifier: Apache-2.0 */
/* `hone-runner --serve`: jobs from a stream (tools/launch/link.h) on stdin and stdout, one at a
 * time.
 *
 *   driver                                   this side
 *   hello {protocol, version}                hello {protocol, version, class}
 *   probe                                    probe, with the facts as JSON behind it
 *   job {id, files}, job.json behind it      want {id, keys}: what the store lacks
 *   file {key, offset}, a piece behind it    progress {id, message, done, total}
 *   cancel {id}                              output {id, place, offset}, a piece behind it
 *   ping                                     done {id, exit_status, signal, timed_out, said, error}
 *                                            ping
 *
 * State: the main thread receives; a job has a thread of its own, which runs hone-runner for it
 * (tools/launch) and sends what it leaves. Paths in job.json are the driver's: those of pack,
 * cache, lease and ceilings are replaced by this side's. The program ends when the stream does,
 * when it has heard nothing for HONE_LINK_SILENCE_MS, and at SIGTERM; a running job is killed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/format/report.h"
#include "tools/launch/files.h"
#include "tools/launch/launch.h"
#include "tools/launch/link.h"
#include "tools/runner/jail/roles.h"
#include "tools/runner/jail/stopping.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

struct call { /* the job in hand */
    struct hone_pool *pool;
    const char *id, *dir; /* in the pool */
    struct hone_job job;
    struct hone_call_files files;
    size_t n_missing;
    bool has_thread;
    pthread_t thread;
    struct hone_cancel cancel;
    atomic_bool is_told; /* cancelled by the driver, not by our own end */
    atomic_bool has_ended;
};

struct server {
    struct hone_link link;
    struct hone_launcher *launcher;
    struct hone_json *facts;
    const char *store;
    struct call *call; /* NULL: none */
    unsigned n_calls;
    int64_t heard_ns, said_ns;
    bool is_over;
};

static struct hone_json *frame_of(const struct server *server, const char *type)
{
    struct hone_json *head = hone_frame_new(type);
    hone_json_set_str(head, "id", server->call->id);
    return head;
}

/* ---- the job's thread ---- */

static void on_progress(void *arg, const struct hone_progress *progress)
{
    struct server *server = arg;
    struct hone_json *head = frame_of(server, "progress");
    hone_json_set_str(head, "message", progress->message);
    hone_json_set_f64(head, "done", progress->done);
    hone_json_set_f64(head, "total", progress->total);
    (void)hone_link_send(&server->link, head, NULL, 0, NULL); /* the main thread sees the end */
}

/* A file that the job left; none is fine: done says why. */
static void send_output(struct server *server, const char *place)
{
    HONE_AUTOFREE char *path = hone_path_join(server->call->dir, place, NULL);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    if (hone_file_read(path, HONE_LIMIT_REPORT_BYTES, &text, &len, NULL) < 0)
        return;
    for (size_t at = 0; at < len; at += HONE_CALL_PIECE_BYTES) {
        size_t n = len - at < HONE_CALL_PIECE_BYTES ? len - at : HONE_CALL_PIECE_BYTES;
        struct hone_json *head = frame_of(server, "output");
        hone_json_set_str(head, "place", place);
        hone_json_set_i64(head, "offset", (int64_t)at);
        if (hone_link_send(&server->link, head, text + at, n, NULL) < 0)
            return;
    }
}

static void *run_job(void *arg)
{
    struct server *server = arg;
    struct call *call = server->call;
    struct hone_launch_end end = {.exit_status = -1};
    struct hone_err err = HONE_ERR_INIT;
    int code = hone_launch(server->launcher, call->dir, &call->job, on_progress, server,
                           &call->cancel, &end, &err);
    /* The one who ends this program may have signalled the compiler and the candidate too: what they made
     * of it says nothing. */
    if ((code == HONE_E_CANCEL && !atomic_load(&call->is_told)) || hone_runner_is_stopping()) {
        (void)hone_remove_tree(call->dir, NULL);
        return NULL; /* the driver sees the end of the stream, and begins again elsewhere */
    }
    if (code == 0) {
        send_output(server, "report.json");
        send_output(server, "sealed/" HONE_SAMPLES_FILE);
    }
    struct hone_json *head = frame_of(server, "done");
    hone_json_set_i64(head, "exit_status", end.exit_status);
    hone_json_set_i64(head, "signal", end.signal);
    hone_json_set_bool(head, "timed_out", end.timed_out);
    hone_json_set_str(head, "said", end.said);
    if (code < 0)
        hone_json_set_str(head, "error", err.message);
    (void)hone_remove_tree(call->dir, NULL);
    atomic_store(&call->has_ended, true);
    (void)hone_link_send(&server->link, head, NULL, 0, NULL);
    return NULL;
}

/* ---- the job in hand ---- */

static void end_call(struct server *server)
{
    struct call *call = server->call;
    if (call == NULL)
        return;
    hone_cancel_set(&call->cancel);
    if (call->has_thread)
        pthread_join(call->thread, NULL);
    else
        (void)hone_remove_tree(call->dir, NULL);
    hone_cancel_done(&call->cancel);
    hone_pool_free(call->pool);
    free(call);
    server->call = NULL;
}

/* The driver's paths become this side's. */
static int write_job(const struct server *server, const char *task_dir, struct hone_err *err)
{
    struct call *call = server->call;
    struct hone_job *job = &call->job;
    HONE_AUTOFREE char *path = hone_path_join(call->dir, "job.json", NULL);
    job->task_dir = task_dir;
    job->cache_dir = hone_pool_printf(call->pool, "%s/objects", server->store);
    job->machine_path = hone_pool_printf(call->pool, "%s/machine.json", server->store);
    if (job->lease_path != NULL)
        job->lease_path = hone_timing_lock_path(call->pool);
    HONE_AUTOFREE char *text = hone_job_print(job);
    int code = hone_mkdirs(job->cache_dir, 0700, err);
    return code == 0 ? hone_file_write(path, text, strlen(text), 0600, false, err) : code;
}

static int start_job(struct server *server, struct hone_err *err)
{
    struct call *call = server->call;
    const char *task_dir;
    int code = hone_store_place(server->store, &call->files, call->dir, call->pool, &task_dir, err);
    if (code == 0)
        code = write_job(server, task_dir, err);
    if (code < 0)
        return code;
    int native = pthread_create(&call->thread, NULL, run_job, server);
    call->has_thread = native == 0;
    return native ? hone_fail_errno(err, native, "cannot start a thread") : 0;
}

/* What the store lacks, each once. */
static struct hone_json *missing_keys(struct server *server)
{
    struct call *call = server->call;
    struct hone_json *keys = hone_json_new_array();
    for (size_t i = 0; i < call->files.n; i++) {
        const struct hone_call_file *file = &call->files.v[i];
        if (hone_call_files_find(&call->files, file->key) != file ||
            hone_store_has(server->store, file))
            continue;
        hone_json_push(keys, hone_json_new_str(file->key));
        call->n_missing++;
    }
    return keys;
}

static int open_call(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    struct call *call = hone_calloc(1, sizeof *call);
    int code = hone_cancel_init(&call->cancel, err);
    if (code < 0) {
        free(call);
        return code;
    }
    server->call = call;
    call->pool = hone_pool_new();
    call->id = hone_pool_strdup(call->pool, hone_json_get_str(frame->head, "id", ""));
    call->dir = hone_pool_printf(call->pool, "%s/calls/%d.%u", server->store, (int)getpid(),
                                 ++server->n_calls);
    code = hone_job_parse(frame->bytes, frame->len, call->pool, &call->job, err);
    if (code == 0)
        code = hone_call_files_from_json(hone_json_get(frame->head, "files"), call->pool,
                                         &call->files, err);
    HONE_AUTOFREE char *open_dir = hone_path_join(call->dir, "open", NULL);
    HONE_AUTOFREE char *sealed_dir = hone_path_join(call->dir, "sealed", NULL);
    if (code == 0)
        code = hone_mkdirs(open_dir, 0700, err);
    return code == 0 ? hone_mkdirs(sealed_dir, 0700, err) : code;
}

/* ---- frames ---- */

typedef int handler(struct server *server, const struct hone_frame *frame, struct hone_err *err);

static int on_ping(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    (void)server;
    (void)frame;
    (void)err;
    return 0;
}

static int on_probe(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    (void)frame;
    HONE_AUTOFREE char *text = hone_json_print(server->facts);
    return hone_link_send(&server->link, hone_frame_new("probe"), text, strlen(text), err);
}

static int on_job(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    if (server->call != NULL && !atomic_load(&server->call->has_ended))
        return hone_fail(err, HONE_E_BUSY, "a job came while another runs");
    end_call(server);
    int code = open_call(server, frame, err);
    if (code < 0)
        return code;
    struct hone_json *head = frame_of(server, "want");
    hone_json_set(head, "keys", missing_keys(server));
    code = hone_link_send(&server->link, head, NULL, 0, err);
    return code == 0 && server->call->n_missing == 0 ? start_job(server, err) : code;
}

static int on_file(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    struct call *call = server->call;
    const char *key = hone_json_get_str(frame->head, "key", "");
    int64_t offset = hone_json_get_i64(frame->head, "offset", -1);
    const struct hone_call_file *file =
        call != NULL && !call->has_thread ? hone_call_files_find(&call->files, key) : NULL;
    if (file == NULL || call->n_missing == 0)
        return hone_fail(err, HONE_E_ARG, "a file came that no job asked for");
    int code = hone_store_put(server->store, file, offset, frame->bytes, frame->len, err);
    if (code < 0 || offset + (int64_t)frame->len < file->size)
        return code;
    return --call->n_missing == 0 ? start_job(server, err) : 0;
}

static int on_cancel(struct server *server, const struct hone_frame *frame, struct hone_err *err)
{
    (void)err;
    struct call *call = server->call;
    if (call != NULL && strcmp(call->id, hone_json_get_str(frame->head, "id", "")) == 0) {
        atomic_store(&call->is_told, true);
        hone_cancel_set(&call->cancel);
    }
    return 0;
}

static const struct {
    const char *type;
    handler *handle;
} handlers[] = {
    {"ping", on_ping}, {"probe", on_probe},   {"job", on_job},
    {"file", on_file}, {"cancel", on_cancel},
};

/* A job that cannot begin is answered; the stream goes on. */
static void refuse(struct server *server, const struct hone_err *why)
{
    if (server->call == NULL)
        return;
    struct hone_json *head = frame_of(server, "done");
    hone_json_set_str(head, "error", why->message);
    (void)hone_link_send(&server->link, head, NULL, 0, NULL);
    end_call(server);
}

static void handle(struct server *server, const struct hone_frame *frame)
{
    struct hone_err err = HONE_ERR_INIT;
    size_t i = 0;
    while (i < HONE_COUNTOF(handlers) && strcmp(handlers[i].type, hone_frame_type(frame)) != 0)
        i++;
    if (i == HONE_COUNTOF(handlers)) {
        hone_log(HONE_LOG_WARN, "a frame of an unknown type: %.40s", hone_frame_type(frame));
        return;
    }
    if (handlers[i].handle(server, frame, &err) < 0) {
        hone_log(HONE_LOG_WARN, "%s: %s", handlers[i].type, err.message);
        refuse(server, &err);
    }
}

static void serve(struct server *server)
{
    while (!server->is_over && !hone_runner_is_stopping()) {
        HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
        struct hone_err err = HONE_ERR_INIT;
        int code = hone_link_receive(&server->link, hone_deadline_in_ms(HONE_LINK_PING_MS), NULL,
                                     &frame, &err);
        int64_t now = hone_now_ns();
        if (code == 0) {
            server->heard_ns = now;
            handle(server, &frame);
        } else if (code != HONE_E_TIMEOUT) {
            server->is_over = true;
        }
        if (now - server->heard_ns > HONE_LINK_SILENCE_MS * HONE_NS_PER_MS)
            server->is_over = true;
        if (now - server->said_ns >= HONE_LINK_PING_MS * HONE_NS_PER_MS) {
            server->said_ns = now;
            if (hone_link_send(&server->link, hone_frame_new("ping"), NULL, 0, NULL) < 0)
                server->is_over = true;
        }
    }
}

/* ---- start and end ---- */

static int greet(struct server *server, struct hone_err *err)
{
    HONE_CLEANUP(hone_frame_done) struct hone_frame frame = {.head = NULL};
    HONE_AUTOFREE char *class = hone_launch_class(server->facts);
    int code = hone_link_greet(&server->link, class, err);
    if (code == 0)
        code = hone_link_receive(&server->link, hone_deadline_in_ms(HONE_LINK_SILENCE_MS), NULL,
                                 &frame, err);
    return code == 0 ? hone_link_check_greeting(&frame, err) : code;
}

static char *store_folder(void)
{
    const char *dir = getenv("HONE_RUNNER_DIR");
    return dir != NULL && dir[0] == '/' ? hone_strdup(dir)
                                        : hone_sprintf("/tmp/hone-runner-%u", (unsigned)getuid());
}

int hone_role_serve(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    HONE_AUTOFREE char *store = store_folder();
    HONE_AUTOFREE char *self = realpath("/proc/self/exe", NULL);
    struct server server = {.store = store, .heard_ns = hone_now_ns()};
    struct hone_err err = HONE_ERR_INIT;
    hone_process_init();
    hone_runner_catch_signals();
    server.launcher = hone_launcher_new(self != NULL ? self : "/proc/self/exe");
    hone_link_init(&server.link, STDIN_FILENO, STDOUT_FILENO);
    int code = hone_store_open(store, &err);
    if (code == 0)
        code = hone_launch_probe(server.launcher, &server.facts, &err);
    if (code == 0)
        code = greet(&server, &err);
    if (code == 0)
        serve(&server);
    else
        fprintf(stderr, "hone-runner --serve: %s\n", err.message);
    end_call(&server);
    hone_launcher_free(server.launcher);
    hone_json_free(server.facts);
    hone_link_done(&server.link);
    return code < 0 ? hone_code_exit(code) : 0;
}
