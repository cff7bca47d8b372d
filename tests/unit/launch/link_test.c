/* SPDX-License-Identifier: Apache-2.0 */
/* Frames over a socket pair: whole and in pieces, noise before the greeting, limits, other versions. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/launch/link.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

struct pair {
    int fds[2];
    struct hone_link link; /* of fds[0] */
};

static void pair_open(struct pair *p)
{
    hone_process_init();
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->fds), 0);
    hone_link_init(&p->link, p->fds[0], p->fds[0]);
}

static void pair_close(struct pair *p)
{
    hone_link_done(&p->link);
    close(p->fds[0]);
    if (p->fds[1] >= 0)
        close(p->fds[1]);
}

static void put(struct pair *p, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(p->fds[1], text, len);
        ck_assert_int_gt(n, 0);
        text += n;
        len -= (size_t)n;
    }
}

static int get(struct pair *p, struct hone_frame *ret, struct hone_err *err)
{
    *err = (struct hone_err)HONE_ERR_INIT;
    *ret = (struct hone_frame){.head = NULL};
    return hone_link_receive(&p->link, hone_deadline_in_ms(200), NULL, ret, err);
}

START_TEST(frames_come_whole)
{
    struct pair p;
    struct hone_frame frame;
    struct hone_err err;
    pair_open(&p);
    put(&p, "{\"type\":\"a\"}\n{\"type\":\"b\",\"bytes\":4}\nx\n", 38);
    ck_assert_int_eq(get(&p, &frame, &err), 0);
    ck_assert_str_eq(hone_frame_type(&frame), "a");
    ck_assert_uint_eq(frame.len, 0);
    hone_frame_done(&frame);
    ck_assert_int_eq(get(&p, &frame, &err), HONE_E_TIMEOUT); /* two bytes are missing */
    put(&p, "yz{\"type\":\"c\"}\n", 15);
    ck_assert_int_eq(get(&p, &frame, &err), 0);
    ck_assert_str_eq(frame.bytes, "x\nyz");
    hone_frame_done(&frame);
    ck_assert_int_eq(get(&p, &frame, &err), 0);
    ck_assert_str_eq(hone_frame_type(&frame), "c");
    hone_frame_done(&frame);
    close(p.fds[1]);
    p.fds[1] = -1;
    ck_assert_int_eq(get(&p, &frame, &err), HONE_E_IO);
    pair_close(&p);
}
END_TEST

START_TEST(noise_is_skipped_until_the_greeting_only)
{
    struct pair p;
    struct hone_frame frame;
    struct hone_err err;
    pair_open(&p);
    put(&p, "Welcome\n\n[1]\n{\"type\":\"hello\"}\nnoise\n", 36);
    ck_assert_int_eq(get(&p, &frame, &err), 0);
    ck_assert_str_eq(hone_frame_type(&frame), "hello");
    hone_frame_done(&frame);
    ck_assert_int_eq(get(&p, &frame, &err), HONE_E_CORRUPT);
    pair_close(&p);
}
END_TEST

/* More than a socket holds: written beside the reader. */
struct writer {
    pthread_t thread;
    struct pair *pair;
    const char *text;
    size_t len;
};

static void *write_beside(void *arg)
{
    struct writer *w = arg;
    for (size_t at = 0; at < w->len;) {
        ssize_t n = write(w->pair->fds[1], w->text + at, w->len - at);
        if (n <= 0) /* the reader has had enough */
            break;
        at += (size_t)n;
    }
    return NULL;
}

static int receive_of(struct pair *p, const char *text, size_t len, struct hone_frame *ret)
{
    struct writer w = {.pair = p, .text = text, .len = len};
    struct hone_err err = HONE_ERR_INIT;
    *ret = (struct hone_frame){.head = NULL};
    ck_assert_int_eq(pthread_create(&w.thread, NULL, write_beside, &w), 0);
    int code = hone_link_receive(&p->link, hone_deadline_in_ms(20000), NULL, ret, &err);
    shutdown(p->fds[0], SHUT_RDWR);
    pthread_join(w.thread, NULL);
    return code;
}

static int after_noise(size_t n)
{
    struct pair p;
    struct hone_frame frame;
    HONE_AUTOFREE char *text = hone_calloc(1, n + 18);
    pair_open(&p);
    memset(text, 'x', n);
    memcpy(text + n - 1, "\n{\"type\":\"hello\"}\n", 18);
    int code = receive_of(&p, text, n + 17, &frame);
    hone_frame_done(&frame);
    pair_close(&p);
    return code;
}

/* A frame with a head of n bytes and so many behind it. */
static int of_size(size_t head, size_t bytes)
{
    struct pair p;
    struct hone_frame frame;
    HONE_AUTOFREE char *front = hone_sprintf("{\"type\":\"a\",\"bytes\":%zu,\"pad\":\"", bytes);
    HONE_AUTOFREE char *text = hone_calloc(1, head + bytes + 2);
    pair_open(&p);
    memset(text, 'x', head + bytes + 1);
    memcpy(text, front, strlen(front));
    memcpy(text + head - 2, "\"}\n", 3);
    int code = receive_of(&p, text, head + 1 + bytes, &frame);
    if (code == 0)
        ck_assert_uint_eq(frame.len, bytes);
    hone_frame_done(&frame);
    pair_close(&p);
    return code;
}

START_TEST(limits)
{
    ck_assert_int_eq(after_noise(HONE_LIMIT_NOISE_BYTES), 0);
    ck_assert_int_eq(after_noise(HONE_LIMIT_NOISE_BYTES + 1), HONE_E_CORRUPT);
    ck_assert_int_eq(of_size(HONE_LIMIT_FRAME_HEAD_BYTES, 10), 0);
    ck_assert_int_eq(of_size(HONE_LIMIT_FRAME_HEAD_BYTES + 1, 10), HONE_E_LIMIT);
    ck_assert_int_eq(of_size(100, HONE_LIMIT_FRAME_BYTES), 0);
    ck_assert_int_eq(of_size(100, HONE_LIMIT_FRAME_BYTES + 1), HONE_E_LIMIT);
}
END_TEST

START_TEST(greetings)
{
    static const struct {
        const char *text, *says;
        int code;
    } rows[] = {
        {"{\"type\":\"hello\",\"protocol\":1,\"version\":\"0.0.9\"}\n", "install the same version",
         HONE_E_UNSUPPORTED},
        {"{\"type\":\"hello\",\"protocol\":2,\"version\":\"0.1.0\"}\n", "protocol 2",
         HONE_E_UNSUPPORTED},
        {"{\"type\":\"ping\"}\n", "before the greeting", HONE_E_CORRUPT},
    };
    struct pair p;
    struct hone_frame frame;
    struct hone_err err;
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        pair_open(&p);
        put(&p, rows[i].text, strlen(rows[i].text));
        ck_assert_int_eq(get(&p, &frame, &err), 0);
        ck_assert_int_eq(hone_link_check_greeting(&frame, &err), rows[i].code);
        ck_assert_msg(strstr(err.message, rows[i].says) != NULL, "%s", err.message);
        hone_frame_done(&frame);
        pair_close(&p);
    }
    pair_open(&p);
    struct hone_link other;
    hone_link_init(&other, p.fds[1], p.fds[1]);
    ck_assert_int_eq(hone_link_greet(&other, "class", &err), 0);
    ck_assert_int_eq(get(&p, &frame, &err), 0);
    ck_assert_int_eq(hone_link_check_greeting(&frame, &err), 0);
    hone_frame_done(&frame);
    hone_link_done(&other);
    pair_close(&p);
}
END_TEST

UNIT_MAIN("link", frames_come_whole, noise_is_skipped_until_the_greeting_only, limits, greetings)
