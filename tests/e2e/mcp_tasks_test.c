/* SPDX-License-Identifier: Apache-2.0 */
/* The extension io.modelcontextprotocol/tasks against the real program with the fake executor. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"

#define ABLE "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"

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

/* A request that stands alone; members: of params, with a comma at their end. Owned answer. */
static char *ask(int fd, const char *method, const char *able, const char *members)
{
    static int id;
    char number[16], params[900];
    snprintf(number, sizeof(number), "%d", ++id);
    snprintf(params, sizeof(params),
             "{%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":{%s}}}",
             members, able);
    return ws_ask(fd, number, method, params);
}

static void expect(int fd, const char *method, const char *able, const char *members,
                   const char *wanted)
{
    char *answer = ask(fd, method, able, members);
    ck_assert_msg(strstr(answer, wanted) != NULL, "%s %s: no %s in %s", method, members, wanted,
                  answer);
    free(answer);
}

/* Starts one; its id as members of params. */
static void begin(int fd, const char *call, char ret[64])
{
    char *answer = ask(fd, "tools/call", ABLE, call);
    const char *id = strstr(answer, "\"taskId\":\"");
    ck_assert_msg(id != NULL && strstr(answer, "\"resultType\":\"task\"") != NULL &&
                      strstr(answer, "\"status\":\"working\"") != NULL,
                  "no task: %s", answer);
    snprintf(ret, 64, "\"taskId\":\"%.*s\",", (int)strcspn(id + 10, "\""), id + 10);
    free(answer);
}

/* Polls until the status is no longer working; owned. */
static char *finish(int fd, const char *task)
{
    int64_t until = now_ms() + 20000;
    for (;;) {
        char *answer = ask(fd, "tasks/get", ABLE, task);
        ck_assert_ptr_nonnull(strstr(answer, "\"resultType\":\"complete\""));
        if (strstr(answer, "\"status\":\"working\"") == NULL)
            return answer;
        ck_assert_int_lt(now_ms(), until);
        free(answer);
        usleep(50000);
    }
}

#define EVALUATE(source_)                                                                          \
    "\"name\":\"kernel_evaluate\",\"arguments\":{\"task\":\"sum\",\"source\":\"" source_ "\"},"

START_TEST(long_calls_become_tasks)
{
    struct served served = {.pid = 0};
    char task[64];
    start(&served);
    int fd = ws_open(&served);
    expect(fd, "server/discover", "", "", "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}");
    int64_t from = now_ms();
    begin(fd, EVALUATE("second one"), task);
    ck_assert_int_lt(now_ms() - from, 900); /* at once */
    expect(fd, "tasks/get", ABLE, task, "\"status\":\"working\"");
    char *answer = finish(fd, task);
    ck_assert_msg(strstr(answer, "\"status\":\"completed\"") != NULL &&
                      strstr(answer, "\"isError\":false") != NULL &&
                      strstr(answer, "\\\"commit\\\":\\\"") != NULL &&
                      strstr(answer, "\"createdAt\":\"20") != NULL,
                  "%s", answer);
    free(answer);
    expect(fd, "tasks/update", ABLE, task, "\"result\":{\"resultType\":\"complete\"");
    begin(fd, "\"name\":\"kernel_evaluate\",\"arguments\":{\"task\":\"nonsense\"},", task);
    answer = finish(fd, task); /* a bad argument is an answer of the tool */
    ck_assert_msg(strstr(answer, "\"status\":\"completed\"") && strstr(answer, "\"isError\":true"),
                  "%s", answer);
    free(answer);
    begin(fd,
          "\"name\":\"search_start\",\"arguments\":{\"task\":\"sum\",\"budget_evaluations\":3,"
          "\"name\":\"s\"},",
          task);
    answer = finish(fd, task); /* the search's own end, not a handle */
    ck_assert_msg(strstr(answer, "\"isError\":false") && strstr(answer, "history_show"), "%s",
                  answer);
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(a_task_is_cancelled)
{
    struct served served = {.pid = 0};
    char task[64];
    start(&served);
    int fd = ws_open(&served);
    begin(fd, EVALUATE("slow"), task);
    usleep(200000);
    int64_t from = now_ms();
    expect(fd, "tasks/cancel", ABLE, task, "\"result\":{\"resultType\":\"complete\"");
    char *answer = finish(fd, task);
    ck_assert_int_lt(now_ms() - from, 3000);
    ck_assert_msg(strstr(answer, "\"status\":\"cancelled\"") &&
                      !strstr(answer, "\"result\":{\"con"),
                  "%s", answer);
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

START_TEST(who_knows_no_tasks_gets_none)
{
    struct served served = {.pid = 0};
    char task[64];
    start(&served);
    int fd = ws_open(&served);
    expect(fd, "tools/call", "", EVALUATE("int x;"), "\"isError\":false");
    expect(fd, "tools/call", ABLE, "\"name\":\"task_show\",\"arguments\":{\"task\":\"sum\"},",
           "\"resultType\":\"complete\""); /* a short one is answered as ever */
    begin(fd, EVALUATE("int y;"), task);
    expect(fd, "tasks/get", "", task, "\"code\":-32021");
    expect(fd, "tasks/cancel", "", task, "requiredCapabilities");
    expect(fd, "tasks/get", ABLE, "\"taskId\":\"job-0\",", "\"code\":-32602");
    expect(fd, "tasks/get", ABLE, "", "\"code\":-32602");
    expect(fd, "tasks/update", ABLE, "\"taskId\":7,", "\"code\":-32602");
    close(fd);
    stop(&served);
}
END_TEST

/* A task is shown to a viewer's token, which answers and cancels nothing. */
START_TEST(a_viewer_only_looks)
{
    struct served served = {.pid = 0};
    char task[64], *token, *err;
    start(&served);
    const char *const args[] = {"token",    "add",    "eye",    "--workspace",
                                served.dir, "--role", "viewer", NULL};
    ck_assert_int_eq(hone_program_run(args, NULL, &token, &err), 0);
    struct served eye = served;
    snprintf(eye.token, sizeof(eye.token), "%.64s", token);
    int fd = ws_open(&served), of_eye = ws_open(&eye);
    begin(fd, EVALUATE("slow"), task);
    expect(of_eye, "tasks/get", ABLE, task, "\"status\":\"working\"");
    expect(of_eye, "tasks/update", ABLE, task, "\"code\":-32012");
    expect(of_eye, "tasks/cancel", ABLE, task, "\"code\":-32012");
    expect(fd, "tasks/cancel", ABLE, task, "\"result\":{\"resultType\":\"complete\"");
    free(finish(fd, task));
    free(token);
    free(err);
    close(fd);
    close(of_eye);
    stop(&served);
}
END_TEST

UNIT_MAIN("mcp_tasks", long_calls_become_tasks, a_task_is_cancelled, a_viewer_only_looks,
          who_knows_no_tasks_gets_none)
