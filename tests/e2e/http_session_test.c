/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over HTTP against the real program with the fake executor: sessions, answers as JSON or as
 * events, resuming, cancelling, limits and hostile requests over raw sockets. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

#define TYPE   "Content-Type: application/json\r\n"
#define ACCEPT "Accept: application/json, text/event-stream\r\n"

/* Sources that contain "slow" take a minute, "second" one second. */
static void start(struct served *served)
{
    char script[] = "/tmp/hone-e2e-script.XXXXXX";
    int fd = mkstemp(script);
    const char *text =
        "{\"match\":\"slow\",\"delay_ms\":60000}\n{\"match\":\"second\",\"delay_ms\":1000}\n";
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const char *const args[] = {"--fake-script", script, NULL};
    served_start(served, args);
    unlink(script);
}

static void stop(struct served *served)
{
    ck_assert_int_eq(served_stop(served, SIGTERM), 0);
    served_remove(served);
}

/* Sends a request with the token; lines: further headers. body NULL: none. */
static int send_http(const struct served *served, const char *method, const char *lines,
                     const char *body)
{
    int fd = tcp_open(served->port);
    char head[1000];
    snprintf(head, sizeof(head),
             "%s /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s", method,
             served->token, lines);
    tcp_send_text(fd, head);
    if (body != NULL) {
        snprintf(head, sizeof(head), "Content-Length: %zu\r\n", strlen(body));
        tcp_send_text(fd, head);
    }
    tcp_send_text(fd, "\r\n");
    if (body != NULL)
        tcp_send_text(fd, body);
    return fd;
}

/* The whole answer; the connection has to end. */
static char *finish(int fd)
{
    bool is_closed;
    char *answer = tcp_read(fd, NULL, 8000, &is_closed);
    ck_assert_msg(is_closed, "the connection stays open: %s", answer);
    close(fd);
    return answer;
}

static char *post(const struct served *served, const char *lines, const char *body)
{
    return finish(send_http(served, "POST", lines, body));
}

static void check_status(const char *answer, const char *status, const char *name)
{
    ck_assert_msg(strncmp(answer, "HTTP/1.1 ", 9) == 0 &&
                      strncmp(answer + 9, status, strlen(status)) == 0,
                  "%s: wanted %s, got: %s", name, status, answer);
}

/* Header lines of a session, ready for send_http. */
static void open_session(const struct served *served, const char *revision, char ret[400])
{
    char body[300];
    snprintf(body, sizeof(body),
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\"}}}",
             revision);
    char *answer = post(served, TYPE ACCEPT, body);
    check_status(answer, "200", "initialize");
    const char *id = strstr(answer, "Mcp-Session-Id: ");
    ck_assert_ptr_nonnull(id);
    snprintf(ret, 400, TYPE ACCEPT "Mcp-Session-Id: %.32s\r\nMCP-Protocol-Version: %s\r\n", id + 16,
             revision);
    free(answer);
}

static int call_evaluate(const struct served *served, const char *session, const char *id,
                         const char *source)
{
    char body[500];
    snprintf(body, sizeof(body),
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{"
             "\"name\":\"kernel_evaluate\",\"_meta\":{\"progressToken\":0},\"arguments\":{"
             "\"task\":\"sum\",\"source\":\"%s\"}}}",
             id, source);
    return send_http(served, "POST", session, body);
}

START_TEST(a_session_from_start_to_end)
{
    struct served served = {.pid = 0};
    char session[400];
    start(&served);
    open_session(&served, "2025-11-25", session);
    char *answer =
        post(&served, session, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    check_status(answer, "202", "notification");
    ck_assert_ptr_nonnull(strstr(answer, "\r\n\r\n"));
    ck_assert_str_eq(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    free(answer);
    answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}");
    check_status(answer, "200", "ping");
    ck_assert_ptr_nonnull(strstr(answer, "Content-Type: application/json\r\n"));
    ck_assert_ptr_nonnull(strstr(answer, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}"));
    free(answer);
    answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
    ck_assert_ptr_nonnull(strstr(answer, "\"kernel_evaluate\""));
    free(answer);
    answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nothing\"}");
    check_status(answer, "200", "an error is an answer");
    ck_assert_ptr_nonnull(strstr(answer, "-32601"));
    free(answer);
    answer = finish(send_http(&served, "DELETE", session, NULL));
    check_status(answer, "204", "delete");
    free(answer);
    answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}");
    check_status(answer, "404", "after the end");
    free(answer);
    stop(&served);
}
END_TEST

START_TEST(long_calls_are_streams)
{
    struct served served = {.pid = 0};
    char session[400], old[400];
    start(&served);
    open_session(&served, "2025-11-25", session);
    open_session(&served, "2025-06-18", old);
    char *answer = finish(call_evaluate(&served, session, "7", "second"));
    check_status(answer, "200", "a call of a second");
    ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/event-stream\r\n"));
    ck_assert_ptr_nonnull(strstr(answer, "\r\n\r\nid: 2-0\ndata:\n\nid: 2-1\ndata: {"));
    ck_assert_ptr_nonnull(strstr(answer, "\"id\":7,\"result\""));
    free(answer);
    answer = finish(call_evaluate(&served, old, "7", "second"));
    ck_assert_msg(strstr(answer, "data:\n") == NULL, "an event without data: %s", answer);
    ck_assert_ptr_nonnull(strstr(answer, "\"id\":7,\"result\""));
    free(answer);
    stop(&served);
}
END_TEST

/* A connection that breaks cancels nothing: the answer is read later, once. */
START_TEST(a_broken_stream_is_resumed)
{
    struct served served = {.pid = 0};
    char session[400], resume[500];
    bool is_closed;
    start(&served);
    open_session(&served, "2025-11-25", session);
    int fd = call_evaluate(&served, session, "7", "second");
    char *answer = tcp_read(fd, "id: 2-0\ndata:\n\n", 5000, &is_closed);
    ck_assert_ptr_nonnull(strstr(answer, "id: 2-0"));
    free(answer);
    close(fd);
    snprintf(resume, sizeof(resume), "%sLast-Event-ID: 2-0\r\n", session);
    answer = finish(send_http(&served, "GET", resume, NULL));
    check_status(answer, "200", "resumed");
    ck_assert_ptr_nonnull(strstr(answer, "\"id\":7,\"result\""));
    free(answer);
    answer = finish(send_http(&served, "GET", resume, NULL));
    check_status(answer, "405", "read already");
    free(answer);
    snprintf(resume, sizeof(resume), "%sLast-Event-ID: 99-1\r\n", session);
    answer = finish(send_http(&served, "GET", resume, NULL));
    check_status(answer, "405", "no such stream");
    free(answer);
    stop(&served);
}
END_TEST

START_TEST(a_cancelled_call_ends_its_stream)
{
    struct served served = {.pid = 0};
    char session[400];
    bool is_closed;
    start(&served);
    open_session(&served, "2025-11-25", session);
    int fd = call_evaluate(&served, session, "7", "slow");
    char *answer = tcp_read(fd, "data:\n\n", 5000, &is_closed);
    free(answer);
    answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}");
    check_status(answer, "400", "an id in flight");
    free(answer);
    answer = post(&served, session,
                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":7}}");
    check_status(answer, "202", "cancel");
    free(answer);
    answer = finish(fd);
    ck_assert_msg(strstr(answer, "\"result\"") == NULL, "%s", answer);
    free(answer);
    /* the end of a session ends its streams too */
    fd = call_evaluate(&served, session, "8", "slow");
    free(tcp_read(fd, "data:\n\n", 5000, &is_closed));
    free(finish(send_http(&served, "DELETE", session, NULL)));
    free(finish(fd));
    stop(&served);
}
END_TEST

/* Each is refused at once, and the server goes on. */
START_TEST(bad_requests_are_refused)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    static const struct {
        const char *name, *lines, *body, *status;
        bool in_session;
    } rows[] = {
        {"no session", TYPE ACCEPT, ping, "400", false},
        {"unknown session", TYPE ACCEPT "Mcp-Session-Id: 00\r\n", ping, "404", false},
        {"modern probe", TYPE ACCEPT "MCP-Protocol-Version: 2026-07-28\r\n",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", "400", false},
        {"no type", ACCEPT, ping, "415", false},
        {"other type", "Content-Type: text/plain\r\n" ACCEPT, ping, "415", false},
        {"json alone", TYPE "Accept: application/json\r\n", ping, "406", false},
        {"unknown revision", "MCP-Protocol-Version: 1999-01-01\r\n", ping, "400", true},
        {"no JSON", "", "{\"jsonrpc\"", "400", true},
        {"batch", "", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "400", true},
        {"bad id", "", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "400", true},
        {"no length", TYPE ACCEPT, NULL, "411", false},
        {"negative length", TYPE ACCEPT "Content-Length: -1\r\n", NULL, "400", false},
        {"no number", TYPE ACCEPT "Content-Length: abc\r\n", NULL, "400", false},
        {"two lengths", TYPE ACCEPT "Content-Length: 1\r\nContent-Length: 2\r\n", NULL, "400",
         false},
        {"too long", TYPE ACCEPT "Content-Length: 4194305\r\n", NULL, "413", false},
        {"far too long", TYPE ACCEPT "Content-Length: 99999999999999999999\r\n", NULL, "413",
         false},
        {"chunked", TYPE ACCEPT "Transfer-Encoding: chunked\r\n", NULL, "411", false},
        {"foreign origin", TYPE ACCEPT "Origin: http://evil.example.com\r\n", ping, "403", false},
    };
    struct served served = {.pid = 0};
    char session[400], lines[600];
    start(&served);
    open_session(&served, "2025-11-25", session);
    char *cut = strstr(session, "MCP-Protocol-Version");
    *cut = '\0';
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(lines, sizeof(lines), "%s%s", rows[i].in_session ? session : "", rows[i].lines);
        char *answer = post(&served, lines, rows[i].body);
        check_status(answer, rows[i].status, rows[i].name);
        ck_assert_msg(strstr(answer, "\"error\":") != NULL, "%s: %s", rows[i].name, answer);
        free(answer);
    }
    char *answer = post(&served, session, ping);
    check_status(answer, "200", "good again");
    free(answer);
    stop(&served);
}
END_TEST

/* Bytes behind a body must not make the library come again for ever, and are no second request. */
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define ALONE(method_) TYPE ACCEPT "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method_ "\r\n"
#define BODY(method_, params_)                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method_ "\",\"params\":{" META params_ "}}"

/* Revision 2026-07-28: no handshake, no session; headers say what the body says. */
START_TEST(requests_that_stand_alone)
{
    static const struct {
        const char *lines, *body, *status, *want;
    } rows[] = {
        {ALONE("server/discover"), BODY("server/discover", ""), "200", "supportedVersions"},
        {ALONE("tools/call") "Mcp-Name:  task_show \r\n",
         BODY("tools/call", ",\"name\":\"task_show\""), "200", "\"resultType\":\"complete\""},
        {ALONE("tools/call") "Mcp-Name: device_info\r\n",
         BODY("tools/call", ",\"name\":\"task_show\""), "400", "-32020"},
        {ALONE("tools/list"), BODY("tools/call", ",\"name\":\"task_show\""), "400", "-32020"},
        {TYPE ACCEPT, BODY("tools/list", ""), "400", "-32020"},
        {ALONE("tools/list"),
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}", "400", "-32602"},
        {ALONE("ping"), BODY("ping", ""), "404", "-32601"},
        {ALONE("tools/list"), BODY("tools/list", ",\"cursor\":\"x\""), "200", "-32602"},
        {TYPE ACCEPT "MCP-Protocol-Version: 2027-01-01\r\nMcp-Method: tools/list\r\n",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"2027-01-01\"}}}",
         "400", "\"supported\":[\"2026-07-28\"]"},
    };
    struct served served = {.pid = 0};
    start(&served);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *answer = post(&served, rows[i].lines, rows[i].body);
        check_status(answer, rows[i].status, rows[i].body);
        ck_assert_msg(strstr(answer, rows[i].want) != NULL, "%s -> %s", rows[i].body, answer);
        ck_assert_ptr_null(strstr(answer, "Mcp-Session-Id"));
        free(answer);
    }
    stop(&served);
}
END_TEST

/* A stream without ids; hanging up is cancelling: the worker is free again. */
START_TEST(hanging_up_cancels_what_stands_alone)
{
    struct served served = {.pid = 0};
    bool is_closed;
    start(&served);
    for (int i = 0; i < 4; i++) { /* two workers: without the cancel the third would wait */
        int fd = send_http(&served, "POST", ALONE("tools/call") "Mcp-Name: kernel_evaluate\r\n",
                           BODY("tools/call", ",\"name\":\"kernel_evaluate\",\"arguments\":{"
                                              "\"task\":\"sum\",\"source\":\"slow\"}"));
        char *begun = tcp_read(fd, "text/event-stream", 8000, &is_closed);
        ck_assert_ptr_nonnull(strstr(begun, "text/event-stream"));
        ck_assert_ptr_null(strstr(begun, "\nid: "));
        free(begun);
        close(fd);
    }
    char *answer = post(&served, ALONE("tools/call") "Mcp-Name: kernel_evaluate\r\n",
                        BODY("tools/call", ",\"name\":\"kernel_evaluate\",\"arguments\":{\"task\":"
                                           "\"sum\",\"source\":\"quick\"}"));
    ck_assert_msg(strstr(answer, "verdict") != NULL, "%s", answer);
    free(answer);
    stop(&served);
}
END_TEST

/* What belongs to no request comes on the stream of a GET; a second GET takes its place. */
START_TEST(the_standing_stream)
{
    struct served served = {.pid = 0};
    char session[400], body[300];
    bool is_closed;
    start(&served);
    open_session(&served, "2025-11-25", session);
    int old = send_http(&served, "GET", session, NULL);
    free(tcp_read(old, "data:", 8000, &is_closed));
    int fd = send_http(&served, "GET", session, NULL);
    char *begun = tcp_read(fd, "data:", 8000, &is_closed);
    check_status(begun, "200", "standing stream");
    free(begun);
    free(finish(old));
    char *answer = post(&served, session,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"search_start\",\"arguments\":{\"task\":\"sum\","
                        "\"budget_wall_ms\":2000}}}");
    const char *job = strstr(answer, "job-");
    ck_assert_msg(job != NULL, "%s", answer);
    snprintf(body, sizeof(body),
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":{"
             "\"uri\":\"hone://job/%.16s\"}}",
             job);
    free(answer);
    free(post(&served, session, body));
    answer = tcp_read(fd, "notifications/resources/updated", 20000, &is_closed);
    ck_assert_msg(strstr(answer, "notifications/resources/updated") != NULL, "%s", answer);
    free(answer);
    free(finish(send_http(&served, "DELETE", session, NULL)));
    free(finish(fd)); /* the session's end is the stream's */
    stop(&served);
}
END_TEST

START_TEST(bytes_behind_a_body_do_no_harm)
{
    struct served served = {.pid = 0};
    char session[400], body[3000];
    start(&served);
    open_session(&served, "2025-11-25", session);
    for (int k = 0; k < 8; k++) {
        int fd = call_evaluate(&served, session, k % 2 == 0 ? "5" : "6", k < 4 ? "x" : "second");
        if (k % 4 >= 2)
            usleep(50000);
        memset(body, k % 2 == 0 ? '\n' : 'x', sizeof(body) - 1);
        body[sizeof(body) - 1] = '\0';
        snprintf(body, 100, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
        tcp_send_text(fd, body);
        char *answer = finish(fd);
        const char *first = strstr(answer, "HTTP/1.1 ");
        ck_assert_msg(first == NULL || strstr(first + 5, "HTTP/1.1 ") == NULL, "two answers: %s",
                      answer);
        free(answer);
        usleep(1200000);
    }
    double before = served_cpu_s(&served);
    usleep(400000);
    ck_assert_msg(served_cpu_s(&served) - before < 0.2, "the server spins");
    char *answer = post(&served, session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    check_status(answer, "200", "good again");
    free(answer);
    stop(&served);
}
END_TEST

/* One more than there may be: the oldest idle one goes. */
START_TEST(sessions_are_limited)
{
    struct served served = {.pid = 0};
    char first[400], last[400];
    start(&served);
    open_session(&served, "2025-11-25", first);
    for (int i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++)
        open_session(&served, "2025-11-25", last);
    char *answer = post(&served, first, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    check_status(answer, "404", "the oldest");
    free(answer);
    answer = post(&served, last, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    check_status(answer, "200", "the newest");
    free(answer);
    stop(&served);
}
END_TEST

/* A body of the largest size is read; its call is answered. */
START_TEST(large_bodies)
{
    struct served served = {.pid = 0};
    char session[400];
    start(&served);
    open_session(&served, "2025-11-25", session);
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"";
    size_t size = HONE_LIMIT_WS_MESSAGE_BYTES;
    char *body = malloc(size + 1);
    ck_assert_ptr_nonnull(body);
    memset(body, 'y', size);
    memcpy(body, head, sizeof(head) - 1);
    memcpy(body + size - 3, "\"}}", 4);
    char *answer = post(&served, session, body);
    check_status(answer, "200", "4 MiB");
    ck_assert_ptr_nonnull(strstr(answer, "\"result\":{}"));
    free(answer);
    free(body);
    stop(&served);
}
END_TEST

UNIT_MAIN("http_session", a_session_from_start_to_end, long_calls_are_streams,
          a_broken_stream_is_resumed, a_cancelled_call_ends_its_stream, bad_requests_are_refused,
          requests_that_stand_alone, hanging_up_cancels_what_stands_alone, the_standing_stream,
          bytes_behind_a_body_do_no_harm, sessions_are_limited, large_bodies)
