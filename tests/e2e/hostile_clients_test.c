/* SPDX-License-Identifier: Apache-2.0 */
/* Slow and hostile clients, all at a time, against the real program: heads and bodies that drip,
 * sockets that say nothing, half-closed ones, thousands of requests in one write, messages over the
 * limit. A good client is answered meanwhile, memory stays bounded, and the slow ones are dropped.
 * (The same one by one: ws_rules_test.c, http_session_test.c.) */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_FACTOR 6
#else
#define MEMORY_FACTOR 1
#endif

#define N_EACH   100
#define LIMIT_MS 30000 /* a head has 10 s, a body 20 s */

enum kind { SILENT, HEAD, BODY, HALF_CLOSED, N_KINDS };

static void begin(const struct served *served, int fd, enum kind kind)
{
    char head[400];
    switch (kind) {
    case HEAD:
        tcp_send_text(fd, "POST /mcp HTTP/1.1\r\nX-Slow: ");
        break;
    case BODY:
        snprintf(head, sizeof(head),
                 "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                 "Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{",
                 served->token);
        tcp_send_text(fd, head);
        break;
    case HALF_CLOSED:
        tcp_send_text(fd, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n");
        shutdown(fd, SHUT_WR);
        break;
    case SILENT:
    case N_KINDS:
        break;
    }
}

/* One more byte, unless the server ended it. */
static bool drip(int fd, enum kind kind)
{
    char byte = ' ';
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    if (poll(&polled, 1, 0) > 0 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0)
        return false;
    byte = kind == HEAD ? 'x' : ' ';
    return kind == SILENT || kind == HALF_CLOSED || send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
}

static void allow_descriptors(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
}

START_TEST(slow_ones_are_dropped_and_harm_nobody)
{
    struct served served = {.pid = 0};
    int fds[N_KINDS][N_EACH], n_open = N_KINDS * N_EACH;
    allow_descriptors();
    served_start(&served, NULL);
    int good = ws_open_session(&served);
    free(ws_ask(good, "0", "ping", "{}"));
    long before = served_rss_kib(&served);
    for (int k = 0; k < N_KINDS; k++)
        for (int i = 0; i < N_EACH; i++) {
            fds[k][i] = tcp_open(served.port);
            begin(&served, fds[k][i], (enum kind)k);
        }
    int64_t start = now_ms(), worst = 0;
    while (n_open > 0 && now_ms() - start < LIMIT_MS) {
        n_open = 0;
        for (int k = 0; k < N_KINDS; k++)
            for (int i = 0; i < N_EACH; i++) {
                if (fds[k][i] >= 0 && !drip(fds[k][i], (enum kind)k)) {
                    close(fds[k][i]);
                    fds[k][i] = -1;
                }
                n_open += fds[k][i] >= 0;
            }
        int64_t asked = now_ms();
        free(ws_ask(good, "1", "ping", "{}"));
        worst = now_ms() - asked > worst ? now_ms() - asked : worst;
        int fresh = ws_open_session(&served); /* there is room for new ones too */
        close(fresh);
        usleep(500000);
    }
    ck_assert_msg(n_open == 0, "%d slow connections live on after %d ms", n_open, LIMIT_MS);
    ck_assert_int_lt(worst, 3000);
    ck_assert_int_lt(served_rss_kib(&served) - before, 30000 * MEMORY_FACTOR);
    close(good);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

/* Thousands of requests in one write: each is answered, once and in order of ids. */
START_TEST(pipelined_requests_are_all_answered)
{
    enum { N = 5000 };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    int fd = ws_open_session(&served), other = ws_open_session(&served);
    size_t len = 0;
    unsigned char *bytes = malloc((size_t)N * 100);
    for (int i = 0; i < N; i++) {
        char text[80];
        int n =
            snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
        bytes[len++] = 0x81;
        bytes[len++] = (unsigned char)(0x80 | n);
        memset(bytes + len, 0, 4);
        memcpy(bytes + len + 4, text, (size_t)n);
        len += 4 + (size_t)n;
    }
    tcp_send(fd, bytes, len);
    free(ws_ask(other, "1", "ping", "{}"));
    for (int i = 0; i < N; i++) {
        char wanted[40];
        struct ws_frame frame = ws_receive(fd, 10000);
        snprintf(wanted, sizeof(wanted), "\"id\":%d,", i);
        ck_assert_msg(frame.payload != NULL && strstr(frame.payload, wanted) != NULL,
                      "answer %d: %s", i, frame.payload);
        free(frame.payload);
    }
    free(bytes);
    close(fd);
    close(other);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

/* Many clients send messages over the limit at a time: each is closed with 1009. */
START_TEST(oversized_messages_are_bounded)
{
    enum { N = 12 };
    struct served served = {.pid = 0};
    int fds[N];
    size_t len = HONE_LIMIT_WS_MESSAGE_BYTES + 1, part = 65536;
    char *bytes = malloc(part);
    memset(bytes, ' ', part);
    served_start(&served, NULL);
    for (int i = 0; i < N; i++)
        fds[i] = ws_open_session(&served);
    long before = served_rss_kib(&served);
    for (size_t sent = 0; sent < len; sent += part)
        for (int i = 0; i < N; i++)
            ws_send_frame(fds[i], sent == 0 ? 1 : 0, false, true, bytes,
                          len - sent < part ? len - sent : part);
    ck_assert_int_lt(served_rss_kib(&served) - before,
                     (long)(N + 4) * HONE_LIMIT_WS_MESSAGE_BYTES / 1024 * 2 * MEMORY_FACTOR);
    for (int i = 0; i < N; i++) {
        struct ws_frame frame = ws_receive(fds[i], 10000);
        ck_assert_int_eq(frame.opcode, 8);
        ck_assert_int_eq(frame.close_code, 1009);
        free(frame.payload);
        close(fds[i]);
    }
    free(bytes);
    int good = ws_open_session(&served);
    free(ws_ask(good, "1", "ping", "{}"));
    close(good);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

/* A thousand idle connections: the library looks at every socket in each round, so a request costs
 * more CPU time (docs/results/2026-11-23-load.md), within bounds. */
START_TEST(a_thousand_idle_connections)
{
    enum { N_IDLE = 1000, N_ASKED = 4000 };
    static int idle[N_IDLE];
    double cost[2];
    struct served served = {.pid = 0};
    allow_descriptors();
    served_start(&served, NULL);
    int fd = ws_open_session(&served);
    long before = served_rss_kib(&served);
    for (int with = 0; with < 2; with++) {
        double from = served_cpu_s(&served);
        for (int i = 0; i < N_ASKED; i++)
            free(ws_ask(fd, "1", "ping", "{}"));
        cost[with] = served_cpu_s(&served) - from;
        for (int i = 0; i < N_IDLE && with == 0; i++)
            idle[i] = ws_open_session(&served);
    }
    printf("# %d idle connections: %.0f us a request instead of %.0f, %.1f KiB each\n", N_IDLE,
           1e6 * cost[1] / N_ASKED, 1e6 * cost[0] / N_ASKED,
           (double)(served_rss_kib(&served) - before) / N_IDLE);
    ck_assert_int_lt(served_rss_kib(&served) - before, N_IDLE * 32 * MEMORY_FACTOR);
    ck_assert_msg(cost[1] < N_ASKED * 2e-3 + 40 * cost[0], "%g s instead of %g", cost[1], cost[0]);
    for (int i = 0; i < N_IDLE; i++)
        close(idle[i]);
    close(fd);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

UNIT_MAIN("hostile_clients", slow_ones_are_dropped_and_harm_nobody,
          pipelined_requests_are_all_answered, oversized_messages_are_bounded,
          a_thousand_idle_connections)
