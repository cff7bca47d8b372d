/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "tests/e2e/model_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workspace/base/buf.h"
#include "workspace/base/json.h"

void model_say(int fd, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

void model_say_head(int fd, const char *status, const char *type, const char *more)
{
    HONE_AUTOFREE char *head = hone_sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\n%sConnection: "
                                            "close\r\n\r\n",
                                            status, type, more);
    model_say(fd, head);
}

static void say_body(int fd, const char *quoted, const char *usage)
{
    HONE_AUTOFREE char *body = hone_sprintf(
        "{\"id\":\"c\",\"model\":\"stub\",\"choices\":[{\"message\":{\"role\":\"assistant\","
        "\"content\":%s},\"finish_reason\":\"stop\"}],\"usage\":%s}",
        quoted, usage ? usage : "{\"prompt_tokens\":2000,\"completion_tokens\":300}");
    model_say_head(fd, "200 OK", "application/json", "");
    model_say(fd, body);
}

void model_say_answer(int fd, const char *text, const char *usage)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_str(text);
    HONE_AUTOFREE char *quoted = hone_json_print(json);
    say_body(fd, quoted, usage);
}

void model_say_raw(int fd, const char *json_text)
{
    HONE_AUTOFREE char *quoted = hone_sprintf("\"%s\"", json_text);
    say_body(fd, quoted, NULL);
}

void model_hold(int fd, int ms)
{
    char byte;
    struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    while (recv(fd, &byte, 1, 0) > 0)
        continue;
}

/* ---- reading ---- */

enum { MAX_REQUEST = 4 << 20 };

/* Head and body, NUL-terminated and apart; owned. */
static char *read_request(int fd, const char **ret_body)
{
    char *text = hone_malloc(MAX_REQUEST);
    size_t n = 0;
    while (n + 1 < MAX_REQUEST) {
        ssize_t got = recv(fd, text + n, MAX_REQUEST - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
        text[n] = '\0';
        char *end = strstr(text, "\r\n\r\n");
        const char *length = strstr(text, "Content-Length: ");
        if (end && length && n >= (size_t)(end + 4 - text) + strtoul(length + 16, NULL, 10)) {
            *end = '\0';
            *ret_body = end + 4;
            return text;
        }
    }
    free(text);
    return NULL;
}

static const char *text_of(const struct hone_json *json, const char *role)
{
    const struct hone_json *messages = hone_json_get(json, "messages");
    for (const struct hone_json *m = hone_json_first(messages); m; m = hone_json_next(m))
        if (strcmp(hone_json_get_str(m, "role", ""), role) == 0)
            return hone_json_get_str(m, "content", "");
    return "";
}

static void answer(struct model_server *s, int fd, const char *head, const char *body)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    if (hone_json_parse(body, strlen(body), &json, NULL) < 0)
        return;
    struct model_ask ask = {.head = head,
                            .body = body,
                            .system = text_of(json, "system"),
                            .user = text_of(json, "user"),
                            .arg = s->arg};
    ask.is_planner = strstr(ask.system, "You choose the next optimisation step") != NULL;
    ask.n = atomic_fetch_add(&s->n_requests, 1);
    int n_planner =
        ask.is_planner ? atomic_fetch_add(&s->n_planner, 1) : atomic_load(&s->n_planner);
    ask.n_role = ask.is_planner ? n_planner : ask.n - n_planner;
    s->turn(fd, &ask);
}

static void *serve(void *arg)
{
    struct model_server *s = arg;
    for (;;) {
        const char *body = NULL;
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return NULL;
        HONE_AUTOFREE char *head = read_request(fd, &body);
        if (head)
            answer(s, fd, head, body);
        close(fd);
    }
}

void model_server_start(struct model_server *s, model_turn *turn, void *arg)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    *s = (struct model_server){.turn = turn, .arg = arg};
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(s->fd, 16), 0);
    ck_assert_int_eq(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
    s->port = ntohs(at.sin_port);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

void model_server_stop(struct model_server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}
