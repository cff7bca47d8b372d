/* SPDX-License-Identifier: Apache-2.0 */
/* Notices reach a command and a webhook, and whatever those do, only the return value tells of it.
 */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/search/notify.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

static const struct hone_notice notice = {.event = "milestone",
                                          .search = "s-1",
                                          .name = "one",
                                          .task = "sum",
                                          .target = "cpu",
                                          .text = "tile \"it\": 2x",
                                          .ratio = 2,
                                          .evaluations = 7};

static struct hone_strs command(const char *script, const char **room)
{
    room[0] = "/bin/sh";
    room[1] = "-c";
    room[2] = script;
    return (struct hone_strs){.v = room, .n = 3};
}

START_TEST(test_command)
{
    char dir[] = "/tmp/hone-notify-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    HONE_AUTOFREE char *file = hone_sprintf("%s/said", dir);
    HONE_AUTOFREE char *script = hone_sprintf("{ cat; echo; echo \"$HONE_EVENT\"; } >%s", file);
    HONE_AUTOFREE char *text = NULL;
    const char *room[3];
    size_t len = 0;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_notify_config c = {.command = command(script, room)};
    ck_assert_msg(hone_notify(&c, &notice, NULL, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_file_read(file, 4096, &text, &len, &err), 0);
    ck_assert_ptr_nonnull(strstr(text, "\"text\":\"tile \\\"it\\\": 2x\""));
    ck_assert_ptr_nonnull(strstr(text, "\"evaluations\":7"));
    ck_assert_ptr_nonnull(strstr(text, "\nmilestone\n"));
    hone_remove_tree(dir, NULL);

    c.command = command("exit 3", room);
    ck_assert_int_eq(hone_notify(&c, &notice, NULL, &err), HONE_E_TARGET);
    ck_assert_ptr_nonnull(strstr(err.message, "status 3"));
}
END_TEST

START_TEST(test_events)
{
    const char *room[3], *only[] = {"stop"};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_notify_config c = {.command = command("exit 3", room),
                                   .events = {.v = only, .n = 1}};
    ck_assert(!hone_notify_wants(NULL, "stop"));
    ck_assert(!hone_notify_wants(&(struct hone_notify_config){.webhook = NULL}, "stop"));
    ck_assert(hone_notify_wants(&c, "stop"));
    ck_assert(!hone_notify_wants(&c, "milestone"));
    ck_assert_int_eq(hone_notify(&c, &notice, NULL, &err), 0); /* not run at all */
}
END_TEST

struct server {
    int fd, status;
    char got[4096];
};

static void *serve_one(void *arg)
{
    struct server *s = arg;
    int fd = accept(s->fd, NULL, NULL);
    size_t n = 0;
    while (n < sizeof(s->got) - 1 && !strstr(s->got, "\"elapsed_ms\":0}")) {
        ssize_t some = read(fd, s->got + n, sizeof(s->got) - 1 - n);
        if (some <= 0)
            break;
        n += (size_t)some;
    }
    HONE_AUTOFREE char *answer = hone_sprintf(
        "HTTP/1.1 %d X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", s->status);
    (void)!write(fd, answer, strlen(answer));
    close(fd);
    return NULL;
}

static int post_to(int status, struct server *s, struct hone_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    pthread_t thread;
    *s = (struct server){.fd = socket(AF_INET, SOCK_STREAM, 0), .status = status};
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(s->fd, 1), 0);
    ck_assert_int_eq(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, serve_one, s), 0);
    HONE_AUTOFREE char *url = hone_sprintf("http://127.0.0.1:%d/hook-SECRET", ntohs(at.sin_port));
    struct hone_notify_config c = {.webhook = url};
    int rc = hone_notify(&c, &notice, NULL, err);
    pthread_join(thread, NULL);
    close(s->fd);
    return rc;
}

START_TEST(test_webhook)
{
    struct hone_err err = HONE_ERR_INIT;
    struct server s;
    ck_assert_msg(post_to(200, &s, &err) == 0, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(s.got, "POST /hook-SECRET HTTP/1"));
    ck_assert_ptr_nonnull(strstr(s.got, "\"event\":\"milestone\""));
    ck_assert_int_eq(post_to(500, &s, &err), HONE_E_TARGET);
    ck_assert_ptr_nonnull(strstr(err.message, "500"));
    ck_assert_ptr_null(strstr(err.message, "SECRET"));
    struct hone_notify_config nobody = {.webhook = "http://127.0.0.1:1/hook-SECRET"};
    ck_assert_int_eq(hone_notify(&nobody, &notice, NULL, &err), HONE_E_TARGET);
    ck_assert_ptr_null(strstr(err.message, "SECRET"));
}
END_TEST

START_TEST(test_configuration)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"{\"notify\":{\"command\":[\"/bin/true\"],\"events\":[\"stop\"]}}", NULL},
        {"{\"notify\":{\"webhook\":\"https://x.example/y\"}}", NULL},
        {"{\"notify\":{\"webhook\":\"http://x.example/y\"}}", "f: notify.webhook"},
        {"{\"notify\":{\"webhook\":\"file:///etc/passwd\"}}", "f: notify.webhook"},
        {"{\"notify\":{\"command\":[\"/bin/true\"],\"events\":[\"lunch\"]}}", "f: notify.events"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_config c = {.model = NULL};
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_config_parse("f", rows[i].text, strlen(rows[i].text), pool, &c, &err);
        ck_assert_msg(rc == (rows[i].path ? HONE_E_ARG : 0), "row %zu: %d %s", i, rc, err.message);
        if (rows[i].path)
            ck_assert_str_eq(err.path, rows[i].path);
        else
            ck_assert_ptr_nonnull(c.notify);
    }
}
END_TEST

UNIT_MAIN("notify", test_command, test_events, test_webhook, test_configuration)
