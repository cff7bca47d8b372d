/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over WebSocket against the real program with the fake executor: order, limits,
 * cancelling, shutdown, kill -9. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

/* Sources that contain "slow" take a minute; all others none. */
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

static void call_evaluate(int fd, const char *id, const char *source, const char *meta)
{
    char text[1000];
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/"
             "call\",\"params\":{%s\"name\":\"kernel_evaluate\",\"arguments\":{"
             "\"task\":\"sum\",\"source\":\"%s\"}}}",
             id, meta, source);
    ws_send(fd, text);
}

START_TEST(methods_and_errors)
{
    static const struct {
        const char *send, *want;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "\"nextCursor\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nothing\"}", "-32601"},
        {"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"nothing\"}}",
         "-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"task_show\",\"arguments\":[]}}",
         "-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"task_show\",\"arguments\":{\"x\":1}}}",
         "\"isError\":true"},
        {"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"task_show\"}}",
         "\"isError\":false"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"cursor\":\"zzz\"}}",
         "-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
         "\"2025-11-25\"}}",
         "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":[]}", "-32602"},
    };
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char wanted[32];
        ws_send(fd, rows[i].send);
        snprintf(wanted, sizeof(wanted), "\"id\":%zu,", i + 1);
        char *answer = ws_wait_for(fd, wanted, 10000);
        bool is_list = i == 0;
        ck_assert_msg(is_list ? strstr(answer, "\"inputSchema\"") && !strstr(answer, rows[i].want)
                              : strstr(answer, rows[i].want) != NULL,
                      "%s -> %s", rows[i].send, answer);
        free(answer);
    }
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(a_cancelled_call_stops_and_is_not_answered)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    call_evaluate(fd, "1", "slow", "");
    call_evaluate(fd, "2", "slow 2", ""); /* both workers are busy now */
    usleep(300000);
    int64_t begin = now_ms();
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                "cancelled\",\"params\":{\"requestId\":1,\"reason\":\"test\"}}");
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                "cancelled\",\"params\":{\"requestId\":2}}");
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                "cancelled\",\"params\":{\"requestId\":99}}");
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
    call_evaluate(fd, "3", "quick", ""); /* needs a worker: proof that the work stopped */
    struct ws_frame frame = ws_receive(fd, 5000);
    ck_assert_msg(frame.opcode == 1 && strstr(frame.payload, "\"id\":3,") != NULL, "%s",
                  frame.payload);
    ck_assert_int_lt(now_ms() - begin, 1000);
    free(frame.payload);
    frame = ws_receive(fd, 500);
    ck_assert_int_eq(frame.opcode, -2); /* nothing for 1 and 2 */
    free(frame.payload);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(a_lost_client_stops_its_calls)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    call_evaluate(fd, "1", "slow", "");
    call_evaluate(fd, "2", "slow 2", "");
    usleep(200000);
    close(fd);
    fd = ws_open_session(&served);
    int64_t begin = now_ms();
    call_evaluate(fd, "3", "quick", "");
    free(ws_wait_for(fd, "\"id\":3,", 5000));
    ck_assert_int_lt(now_ms() - begin, 1500);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(progress_tokens_may_be_zero)
{
    static const char *const tokens[] = {"0", "\"\"", "\"abc\"", "-3"};
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        char meta[100], wanted[100], source[40];
        snprintf(meta, sizeof(meta), "\"_meta\":{\"progressToken\":%s},", tokens[i]);
        snprintf(source, sizeof(source), "second %zu", i);
        snprintf(wanted, sizeof(wanted), "{\"progressToken\":%s,", tokens[i]);
        call_evaluate(fd, "1", source, meta);
        struct ws_frame frame = ws_receive(fd, 5000);
        ck_assert_msg(strstr(frame.payload, "notifications/progress") &&
                          strstr(frame.payload, wanted),
                      "%s", frame.payload);
        free(frame.payload);
        free(ws_wait_for(fd, "\"id\":1,", 5000));
    }
    call_evaluate(fd, "1", "second x", ""); /* no token, no progress */
    struct ws_frame frame = ws_receive(fd, 5000);
    ck_assert_msg(strstr(frame.payload, "\"id\":1,") != NULL, "%s", frame.payload);
    free(frame.payload);
    call_evaluate(fd, "2", "x", "\"_meta\":{\"progressToken\":1.5},");
    free(ws_wait_for(fd, "-32602", 5000));
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(cheap_calls_do_not_wait_behind_long_ones)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served), other = ws_open_session(&served);
    char id[16], source[32];
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "%d", i);
        snprintf(source, sizeof(source), "slow %d", i);
        call_evaluate(fd, id, source, "");
    }
    usleep(100000);
    int64_t begin = now_ms();
    free(ws_ask(fd, "100", "tools/call", "{\"name\":\"task_show\",\"arguments\":{}}"));
    free(ws_ask(other, "100", "tools/call", "{\"name\":\"history_show\",\"arguments\":{}}"));
    ck_assert_int_lt(now_ms() - begin, 1500);
    close(fd);
    close(other);
    stop(&served);
}
END_TEST

START_TEST(calls_of_a_connection_are_limited)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    char id[16], source[32];
    for (int i = 0; i < HONE_LIMIT_CALLS_PER_CONN; i++) {
        snprintf(id, sizeof(id), "%d", i);
        snprintf(source, sizeof(source), "slow %d", i);
        call_evaluate(fd, id, source, "");
    }
    call_evaluate(fd, "1000", "slow too", "");
    char *answer = ws_wait_for(fd, "\"id\":1000,", 5000);
    ck_assert_msg(strstr(answer, "-32010") && strstr(answer, "\"code\":\"limit\""), "%s", answer);
    free(answer);
    call_evaluate(fd, "0", "slow again", ""); /* an id in flight */
    free(ws_wait_for(fd, "still in flight", 5000));
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                "cancelled\",\"params\":{\"requestId\":5}}");
    free(ws_ask(fd, "\"p\"", "ping", "{}")); /* there is room again */
    close(fd);
    stop(&served);
}
END_TEST

/* A message too large for the loop thread is parsed elsewhere; what comes behind it still comes
 * after it, also when it comes just as the first one's answer is on its way to the loop. */
START_TEST(large_messages_keep_their_order)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    enum { ROUNDS = 200, US_APART = 10 };
    size_t len = 100000;
    char *text = malloc(len + 300);
    int n = snprintf(text, 300,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"pad\":\"");
    memset(text + n, 'a', len);
    strcpy(text + (size_t)n + len, "\"}}");
    for (int round = 0; round < ROUNDS; round++) {
        ws_send(fd, text);
        usleep((unsigned)round * US_APART);
        ws_send(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
        for (int id = 1; id <= 2; id++) {
            char wanted[64];
            struct ws_frame frame = ws_receive(fd, 10000);
            snprintf(wanted, sizeof(wanted), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", id);
            ck_assert_str_eq(frame.payload, wanted);
            free(frame.payload);
        }
    }
    free(text);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(batches_belong_to_one_revision)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open(&served);
    free(ws_ask(fd, "0", "initialize", "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{}}"));
    ws_send(fd,
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":"
            "\"notifications/x\"},{\"jsonrpc\":"
            "\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"task_show\"}},7]");
    struct ws_frame frame = ws_receive(fd, 5000);
    ck_assert_msg(frame.payload[0] == '[' && strstr(frame.payload, "\"id\":1,") &&
                      strstr(frame.payload, "\"id\":2,") && strstr(frame.payload, "-32600"),
                  "%s", frame.payload);
    ck_assert_ptr_null(strstr(frame.payload, "structuredContent"));
    free(frame.payload);
    ws_send(fd, "[]");
    free(ws_wait_for(fd, "-32600", 5000));
    close(fd);
    fd = ws_open_session(&served);
    ws_send(fd, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
    free(ws_wait_for(fd, "\"id\":null,\"error\":{\"code\":-32600", 5000));
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(an_unknown_revision_gets_the_newest)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open(&served);
    char *answer =
        ws_ask(fd, "1", "server/discover", "{}"); /* another era's, and without a version */
    ck_assert_ptr_nonnull(strstr(answer, "-32602"));
    free(answer);
    answer = ws_ask(fd, "2", "tools/list", "{}");
    ck_assert_ptr_nonnull(strstr(answer, "-32600"));
    free(answer);
    answer =
        ws_ask(fd, "3", "initialize", "{\"protocolVersion\":\"2099-01-01\",\"capabilities\":{}}");
    ck_assert_ptr_nonnull(strstr(answer, "\"protocolVersion\":\"2025-11-25\""));
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(shutdown_says_1001_and_is_quick)
{
    static const int signals[] = {SIGTERM, SIGINT};
    struct served served = {.pid = 0};
    for (size_t i = 0; i < 2; i++) {
        start(&served);
        int busy = ws_open_session(&served), idle = ws_open_session(&served);
        call_evaluate(busy, "1", "slow", "");
        usleep(200000);
        int64_t begin = now_ms();
        kill(served.pid, signals[i]);
        struct ws_frame frame = ws_receive(idle, 3000);
        ck_assert_int_eq(frame.opcode, 8);
        ck_assert_int_eq(frame.close_code, 1001);
        free(frame.payload);
        frame = ws_receive(busy, 3000);
        ck_assert_int_eq(frame.close_code, 1001);
        free(frame.payload);
        ck_assert_int_eq(served_stop(&served, 0), 0);
        ck_assert_int_lt(now_ms() - begin, 2000);
        close(busy);
        close(idle);
    }
    served_remove(&served);
}
END_TEST

START_TEST(shutdown_does_not_wait_for_a_peer_that_hangs)
{
    struct served served = {.pid = 0};
    start(&served);
    int fds[20];
    for (int i = 0; i < 20; i++)
        fds[i] = ws_open_session(&served);
    int64_t begin = now_ms();
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0); /* nobody answers the close frames */
    ck_assert_int_lt(now_ms() - begin, 2000);
    for (int i = 0; i < 20; i++)
        close(fds[i]);
    served_remove(&served);
}
END_TEST

/* A job of a running server as a resource: listed, read, and told of when it changes; in both eras.
 */
START_TEST(resources_are_read_and_watched)
{
    struct served served = {.pid = 0};
    char text[400], job[30], *answer;
    start(&served);
    int fd = ws_open_session(&served);
    answer = ws_ask(fd, "1", "resources/read", "{\"uri\":\"hone://task/sum/source?lines=1-2\"}");
    ck_assert_msg(strstr(answer, "\"mimeType\":\"text/x-c\"") != NULL, "%s", answer);
    free(answer);
    answer = ws_ask(fd, "2", "resources/read", "{\"uri\":\"hone://device\"}");
    ck_assert_msg(strstr(answer, "cores") != NULL, "%s", answer);
    free(answer);
    answer = ws_ask(fd, "3", "tools/call",
                    "{\"name\":\"search_start\",\"arguments\":{\"task\":\"sum\",\"budget_wall_ms\":"
                    "2000}}");
    const char *at = strstr(answer, "\\\"job\\\":\\\"");
    ck_assert_msg(at != NULL, "%s", answer);
    snprintf(job, sizeof(job), "%.*s", (int)strcspn(at + 10, "\\"), at + 10);
    free(answer);
    snprintf(text, sizeof(text), "{\"uri\":\"hone://job/%s\"}", job);
    free(ws_ask(fd, "4", "resources/subscribe", text));
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{"
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":{}},\"notifications\":{"
             "\"resourceSubscriptions\":[\"hone://job/%s\"]}}}",
             job);
    ws_send(fd, text);
    bool is_told = false, is_heard = false;
    while (!is_told || !is_heard) {
        answer = ws_wait_for(fd, "notifications/resources/updated", 30000);
        ck_assert_msg(strstr(answer, job) != NULL, "%s", answer);
        if (strstr(answer, "\"io.modelcontextprotocol/subscriptionId\":\"s\"") != NULL)
            is_heard = true;
        else
            is_told = true;
        free(answer);
    }
    close(fd); /* while both watch */
    stop(&served);
}
END_TEST

START_TEST(kill_and_restart_loses_nothing)
{
    struct served served = {.pid = 0};
    start(&served);
    int fd = ws_open_session(&served);
    char commit[41], text[200], *answer;
    call_evaluate(fd, "1", "first", "");
    answer = ws_wait_for(fd, "\"id\":1,", 10000);
    const char *at = strstr(answer, "\\\"commit\\\":\\\""); /* JSON in a JSON string */
    ck_assert_msg(at != NULL, "%s", answer);
    snprintf(commit, sizeof(commit), "%.40s", at + 13);
    free(answer);
    call_evaluate(fd, "2", "slow", "");
    usleep(100000);
    ck_assert_int_eq(served_stop(&served, SIGKILL), -SIGKILL);
    close(fd);
    start(&served);
    fd = ws_open_session(&served);
    snprintf(text, sizeof(text), "{\"name\":\"history_show\",\"arguments\":{\"commit\":\"%s\"}}",
             commit);
    answer = ws_ask(fd, "3", "tools/call", text);
    ck_assert_msg(strstr(answer, "\"isError\":false") && strstr(answer, commit), "%s", answer);
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(hone_call_talks_to_a_server)
{
    struct served served = {.pid = 0};
    start(&served);
    char url[100], *out, *err;
    snprintf(url, sizeof(url), "ws://127.0.0.1:%d/mcp", served.port);
    const struct {
        const char *url, *tool, *args, *dir;
        int status;
        const char *out, *err;
    } rows[] = {
        {"auto", "task_show", "{}", served.dir, 0, "\"status\":\"ok\"", ""},
        {url, "task_show", "{\"name\":\"sum\"}", served.dir, 0, "", ""},
        {url, "task_show", "{}", "/nonexistent", 11, "", "token"},
        {"ws://127.0.0.1:1/mcp", "task_show", "{}", served.dir, 7, "", "cannot connect"},
        {url, "no_such_tool", "{}", served.dir, 2, "", "no tool"},
        {url, "kernel_evaluate", "{\"task\":\"sum\",\"source\":\"second\"}", served.dir, 0,
         "\"verdict\"", "fake"},
        {url, "kernel_evaluate", "{\"task\":\"none\",\"source\":\"x\"}", served.dir, 1,
         "\"status\":\"error\"", ""},
        {url, "task_show", "[]", served.dir, 2, "", "object"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const args[] = {"call",      "--workspace", rows[i].dir,  "--url",
                                    rows[i].url, rows[i].tool,  rows[i].args, NULL};
        int status = hone_program_run(args, NULL, &out, &err);
        ck_assert_msg((status == rows[i].status || (rows[i].status == 7 && status > 0)) &&
                          strstr(out, rows[i].out) && strstr(err, rows[i].err),
                      "row %zu: status %d\n%s\n%s", i, status, out, err);
        free(out);
        free(err);
    }
    stop(&served);
}
END_TEST

START_TEST(without_a_token_on_loopback)
{
    struct served served = {.pid = 0};
    const char *const args[] = {"--auth", "none", NULL};
    served_start(&served, args);
    ck_assert_str_eq(served.token, "");
    close(ws_open_session(&served));
    int fd = tcp_open(served.port); /* Origin and Host still count */
    char *answer =
        ws_upgrade(fd, &served, &(struct ws_head){.extra = "Origin: http://evil.example.com\r\n"});
    ck_assert_ptr_nonnull(strstr(answer, " 403 "));
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

UNIT_MAIN("ws_session", methods_and_errors, a_cancelled_call_stops_and_is_not_answered,
          a_lost_client_stops_its_calls, progress_tokens_may_be_zero,
          cheap_calls_do_not_wait_behind_long_ones, calls_of_a_connection_are_limited,
          large_messages_keep_their_order, batches_belong_to_one_revision,
          an_unknown_revision_gets_the_newest, shutdown_says_1001_and_is_quick,
          shutdown_does_not_wait_for_a_peer_that_hangs, resources_are_read_and_watched,
          kill_and_restart_loses_nothing, hone_call_talks_to_a_server, without_a_token_on_loopback)
