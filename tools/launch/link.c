/* SPDX-License-Identifier: Apache-2.0 */
/* Frames over descriptors: a JSON head on a line, then as many bytes as its "bytes" says.
 *
 * Flow: receive polls and reads into one buffer until a whole frame is there, then takes it out.
 * States: before the first frame (is_greeted unset) lines that are no frame are noise of the
 * launcher: they are skipped, and the last of them kept for a message. Afterwards such a line is
 * an error.
 * Limits: HONE_LIMIT_FRAME_HEAD_BYTES, HONE_LIMIT_FRAME_BYTES and HONE_LIMIT_NOISE_BYTES; a
 * deadline and a cancel end the wait. Descriptors stay blocking, because a launcher may share
 * them. */
#include "tools/launch/link.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/base/version.h"

#define KEPT_NOISE_BYTES 300

void hone_link_init(struct hone_link *link, int in_fd, int out_fd)
{
    *link = (struct hone_link){
        .in_fd = in_fd,
        .out_fd = out_fd,
        .in = {.limit = HONE_LIMIT_FRAME_HEAD_BYTES + HONE_LIMIT_FRAME_BYTES + 65536}};
    pthread_mutex_init(&link->write_lock, NULL);
}

void hone_link_done(struct hone_link *link)
{
    hone_buf_done(&link->in);
    hone_buf_done(&link->noise);
    pthread_mutex_destroy(&link->write_lock);
}

struct hone_json *hone_frame_new(const char *type)
{
    struct hone_json *head = hone_json_new_object();
    hone_json_set_str(head, "type", type);
    return head;
}

const char *hone_frame_type(const struct hone_frame *frame)
{
    return hone_json_get_str(frame->head, "type", "");
}

void hone_frame_done(struct hone_frame *frame)
{
    hone_json_free(frame->head);
    free(frame->bytes);
    *frame = (struct hone_frame){.head = NULL};
}

/* ---- sending ---- */

/* A side that hangs must not hang the other. The descriptors stay blocking all the same: a launcher
 * may share them. One who polled may write PIPE_BUF bytes to a pipe. */
static ssize_t write_some(int fd, const char *bytes, size_t len)
{
    ssize_t n = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, bytes, len < PIPE_BUF ? len : PIPE_BUF) : n;
}

static int write_all(const struct hone_link *link, const char *bytes, size_t len,
                     struct hone_err *err)
{
    while (len > 0) {
        struct pollfd p = {link->out_fd, POLLOUT, 0};
        if (poll(&p, 1, HONE_LINK_SILENCE_MS) == 0)
            return hone_fail(err, HONE_E_IO, "the other side of the stream takes nothing");
        ssize_t n = write_some(link->out_fd, bytes, len);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return hone_fail_errno(err, errno, "the other side of the stream is gone");
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int hone_link_send(struct hone_link *link, struct hone_json *head, const void *bytes, size_t len,
                   struct hone_err *err)
{
    if (len > 0)
        hone_json_set_i64(head, "bytes", (int64_t)len);
    HONE_AUTOFREE char *text = hone_json_print(head);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    hone_json_free(head);
    pthread_mutex_lock(&link->write_lock);
    int code = write_all(link, line, strlen(line), err);
    if (code == 0 && len > 0)
        code = write_all(link, bytes, len, err);
    pthread_mutex_unlock(&link->write_lock);
    return code;
}

/* ---- receiving ---- */

static int skip_noise(struct hone_link *link, size_t len, struct hone_err *err)
{
    link->n_noise += len;
    hone_buf_add(&link->noise, link->in.data, len);
    if (link->noise.len > KEPT_NOISE_BYTES)
        hone_buf_drop(&link->noise, link->noise.len - KEPT_NOISE_BYTES);
    hone_buf_drop(&link->in, len);
    return link->n_noise > HONE_LIMIT_NOISE_BYTES
               ? hone_fail(err, HONE_E_CORRUPT, "%zu bytes came and none was a greeting of hone's",
                           link->n_noise)
               : 0;
}

/* A head that is there whole: 1 with *ret when its bytes are there too, 0 when more has to come. */
static int take_frame(struct hone_link *link, size_t head_len, struct hone_frame *ret,
                      struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *head = NULL;
    bool is_frame = hone_json_parse(link->in.data, head_len, &head, NULL) == 0 &&
                    hone_json_get_str(head, "type", NULL) != NULL;
    if (!is_frame && !link->is_greeted)
        return skip_noise(link, head_len + 1, err);
    int64_t n = is_frame ? hone_json_get_i64(head, "bytes", 0) : 0;
    if (!is_frame || n < 0)
        return hone_fail(err, HONE_E_CORRUPT, "what came is no frame");
    if (n > (int64_t)HONE_LIMIT_FRAME_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "a frame of %lld bytes; at most %u are taken",
                         (long long)n, HONE_LIMIT_FRAME_BYTES);
    size_t len = (size_t)n;
    if (link->in.len < head_len + 1 + len)
        return 0;
    link->is_greeted = true;
    *ret = (struct hone_frame){.bytes = hone_calloc(1, len + 1), .len = len};
    memcpy(ret->bytes, link->in.data + head_len + 1, len);
    ret->head = HONE_STEAL(head);
    hone_buf_drop(&link->in, head_len + 1 + len);
    return 1;
}

/* 1 with *ret, 0: nothing whole is there yet, or an error. */
static int take(struct hone_link *link, struct hone_frame *ret, struct hone_err *err)
{
    int code = 0;
    while (code == 0) {
        const char *end = link->in.len > 0 ? memchr(link->in.data, '\n', link->in.len) : NULL;
        size_t head_len = end != NULL ? (size_t)(end - link->in.data) : link->in.len;
        if (head_len > HONE_LIMIT_FRAME_HEAD_BYTES)
            return hone_fail(err, HONE_E_LIMIT, "a head of more than %u bytes",
                             HONE_LIMIT_FRAME_HEAD_BYTES);
        if (end == NULL)
            return 0;
        size_t before = link->in.len;
        code = take_frame(link, head_len, ret, err);
        if (code == 0 && link->in.len == before)
            return 0;
    }
    return code;
}

static int read_some(struct hone_link *link, int64_t deadline_ns, const struct hone_cancel *cancel,
                     struct hone_err *err)
{
    struct pollfd p[2] = {{link->in_fd, POLLIN, 0}, {cancel ? cancel->event_fd : -1, POLLIN, 0}};
    char part[65536];
    if (hone_cancel_is_set(cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    int n = poll(p, 2, hone_ms_until(deadline_ns));
    if (n == 0)
        return hone_fail(err, HONE_E_TIMEOUT, "nothing came in time");
    if (n < 0 || p[0].revents == 0) /* a signal, or the cancel: seen above */
        return 0;
    ssize_t len = read(link->in_fd, part, sizeof part);
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (len <= 0)
        return hone_fail(err, HONE_E_IO, "the other side closed the stream");
    hone_buf_add(&link->in, part, (size_t)len);
    return hone_buf_check(&link->in, err);
}

int hone_link_receive(struct hone_link *link, int64_t deadline_ns, const struct hone_cancel *cancel,
                      struct hone_frame *ret, struct hone_err *err)
{
    int code = take(link, ret, err);
    while (code == 0) {
        code = read_some(link, deadline_ns, cancel, err);
        if (code == 0)
            code = take(link, ret, err);
    }
    return code > 0 ? 0 : code;
}

/* ---- greeting ---- */

int hone_link_greet(struct hone_link *link, const char *device_class, struct hone_err *err)
{
    struct hone_json *head = hone_frame_new("hello");
    hone_json_set_i64(head, "protocol", HONE_LINK_PROTOCOL);
    hone_json_set_str(head, "version", HONE_VERSION);
    if (device_class != NULL)
        hone_json_set_str(head, "class", device_class);
    return hone_link_send(link, head, NULL, 0, err);
}

int hone_link_check_greeting(const struct hone_frame *frame, struct hone_err *err)
{
    int64_t protocol = hone_json_get_i64(frame->head, "protocol", -1);
    const char *version = hone_json_get_str(frame->head, "version", "?");
    if (strcmp(hone_frame_type(frame), "hello") != 0)
        return hone_fail(err, HONE_E_CORRUPT, "a frame '%.40s' came before the greeting",
                         hone_frame_type(frame));
    if (protocol != HONE_LINK_PROTOCOL || strcmp(version, HONE_VERSION) != 0)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "the other side is hone %.40s (protocol %lld), this one " HONE_VERSION
                         " (protocol %d): install the same version on both",
                         version, (long long)protocol, HONE_LINK_PROTOCOL);
    return 0;
}
