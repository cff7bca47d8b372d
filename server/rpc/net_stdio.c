/* SPDX-License-Identifier: Apache-2.0 */
/* Reader and writers: the calling thread reads; answers are written by whichever thread has one,
 * whole lines under a lock. A client that does not read blocks the writers and, through them, the
 * reader: back-pressure without a queue.
 *
 * A line over the limit is skipped to its end and answered with an error; the
 * connection goes on. */
#include "server/rpc/net_stdio.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define READ_BYTES (64u << 10)

struct stdio {
    const struct hone_stdio_spec *spec;
    struct hone_peer *peer;
    struct hone_cancel gone; /* nobody reads our output any more */
    pthread_mutex_t lock;    /* one writer at a time */
    struct hone_buf line;    /* what has come of the current line */
    bool is_skipping;        /* the line is over the limit */
};

/* Writes everything or gives up when the reader is gone or we are told to stop. A pipe that polls
 * as writable takes PIPE_BUF bytes without blocking, so the descriptor (which others may share)
 * need not be made non-blocking. */
static bool write_all(struct stdio *io, const char *text, size_t len)
{
    while (len > 0) {
        struct pollfd fds[2] = {
            {.fd = io->spec->out_fd, .events = POLLOUT},
            {.fd = io->spec->stop ? io->spec->stop->event_fd : -1, .events = POLLIN}};
        if (poll(fds, HONE_COUNTOF(fds), -1) < 0 && errno != EINTR)
            return false;
        if (hone_cancel_is_set(io->spec->stop))
            return false;
        if (!fds[0].revents)
            continue;
        ssize_t n = write(io->spec->out_fd, text, len < PIPE_BUF ? len : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void write_line(struct stdio *io, char *text, size_t len)
{
    text[len] = '\n'; /* takes the place of the terminating NUL */
    pthread_mutex_lock(&io->lock);
    bool is_gone = hone_cancel_is_set(&io->gone) || !write_all(io, text, len + 1);
    pthread_mutex_unlock(&io->lock);
    free(text);
    if (is_gone)
        hone_cancel_set(&io->gone);
}

static void send_line(void *arg, uint64_t serial, const struct hone_peer_text *message)
{
    (void)serial;
    write_line(arg, message->text, message->len);
}

static const struct hone_transport transport = {.send = send_line};

static void line_ends(struct stdio *io)
{
    if (io->is_skipping) {
        struct hone_err err;
        hone_fail(&err, HONE_E_LIMIT, "a message may have %u bytes", HONE_LIMIT_STDIO_LINE_BYTES);
        char *text = hone_rpc_error_of("null", &err);
        write_line(io, text, strlen(text));
        io->is_skipping = false;
        return;
    }
    size_t len = io->line.len;
    while (len > 0 && strchr(" \t\r", io->line.data[len - 1]))
        len--;
    if (len > 0)
        hone_peer_receive(io->peer, io->line.data, len);
    hone_buf_drop(&io->line, io->line.len);
}

static void take(struct stdio *io, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t part = end ? (size_t)(end - bytes) : len;
        if (io->line.len + part > HONE_LIMIT_STDIO_LINE_BYTES) {
            io->is_skipping = true;
            hone_buf_drop(&io->line, io->line.len);
        }
        if (!io->is_skipping)
            hone_buf_add(&io->line, bytes, part);
        if (end) {
            line_ends(io);
            part++;
        }
        bytes += part;
        len -= part;
    }
}

static int read_until_end(struct stdio *io, struct hone_err *err)
{
    HONE_AUTOFREE char *bytes = hone_malloc(READ_BYTES);
    for (;;) {
        struct pollfd fds[3] = {
            {.fd = io->spec->in_fd, .events = POLLIN},
            {.fd = io->gone.event_fd, .events = POLLIN},
            {.fd = io->spec->stop ? io->spec->stop->event_fd : -1, .events = POLLIN}};
        if (poll(fds, HONE_COUNTOF(fds), -1) < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "poll on stdin");
        if (hone_cancel_is_set(&io->gone) || hone_cancel_is_set(io->spec->stop))
            return 0;
        if (!fds[0].revents)
            continue;
        ssize_t n = read(io->spec->in_fd, bytes, READ_BYTES);
        if (n > 0)
            take(io, bytes, (size_t)n);
        else if (n == 0)
            break;
        else if (errno != EINTR && errno != EAGAIN)
            return hone_fail_errno(err, errno, "read from stdin");
    }
    if (io->line.len > 0) /* a last line without newline is a message too */
        line_ends(io);
    return 0;
}

/* After the end of input: lets calls finish, for a while. */
static void linger(struct stdio *io)
{
    int64_t deadline_ns = hone_deadline_in_ms(io->spec->linger_ms);
    while (!hone_cancel_is_set(&io->gone) && !hone_cancel_is_set(io->spec->stop) &&
           hone_now_ns() < deadline_ns)
        if (hone_peer_wait_idle(io->peer, hone_min_i64(deadline_ns, hone_deadline_in_ms(100))))
            return;
}

int hone_stdio_run(const struct hone_stdio_spec *spec, struct hone_err *err)
{
    struct stdio io = {.spec = spec, .line = {.limit = HONE_LIMIT_STDIO_LINE_BYTES + 1}};
    int rc = hone_cancel_init(&io.gone, err);
    if (rc < 0)
        return rc;
    pthread_mutex_init(&io.lock, NULL);
    struct hone_peer_spec peer_spec = {
        .transport = &transport,
        .transport_arg = &io,
        .handler = &hone_mcp_handler,
        .handler_arg = spec->mcp,
        .parsers = hone_runtime_lane(spec->mcp->runtime, HONE_LANE_QUICK),
    };
    io.peer = hone_peer_new(&peer_spec);
    rc = read_until_end(&io, err);
    if (rc == 0)
        linger(&io);
    hone_peer_close(io.peer); /* no thread sends after this */
    pthread_mutex_destroy(&io.lock);
    hone_buf_done(&io.line);
    hone_cancel_done(&io.gone);
    return rc;
}
