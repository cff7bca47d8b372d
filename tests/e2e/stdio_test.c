/* SPDX-License-Identifier: Apache-2.0 */
/* hone mcp: golden lines in, golden lines out; nothing but messages on stdout. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"

static void workspace(char dir[64])
{
    char *out, *err;
    strcpy(dir, "/tmp/hone-stdio.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    const char *const args[] = {"init", dir, NULL};
    char command[100];
    snprintf(command, sizeof(command), "rmdir %s", dir);
    ck_assert_int_eq(system(command), 0);
    int status = hone_program_run(args, NULL, &out, &err);
    ck_assert_msg(status == 0, "%s", err);
    free(out);
    free(err);
}

static void forget(const char *dir)
{
    char command[100];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\"}}\n"
#define INVALID(id, text)                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32600,\"message\":\"" text "\"}}"

/* One line in, exactly one line out (or none). */
static const struct {
    const char *in, *out;
} golden[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"ping\"}\r",
     "{\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":{}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\\n\",\"method\":\"ping\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\xa9\\n\",\"result\":{}}"},
    {"", NULL},
    {"   ", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
     INVALID("null", "id must be a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
     INVALID("null", "id must be a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", INVALID("1", "method must be a string")},
    {"{\"id\":1,\"method\":\"ping\"}", INVALID("1", "jsonrpc must be \\\"2.0\\\"")},
    {"7", INVALID("null", "a message is one JSON object")},
    {"[]",
     INVALID(
         "null",
         "batches are not part of the negotiated protocol revision: send one message at a time")},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
     INVALID(
         "null",
         "batches are not part of the negotiated protocol revision: send one message at a time")},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x/y\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32601,\"message\":\"no method "
     "'x/y'\"}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":[]}",
     "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32602,\"message\":\"params must be an "
     "object\"}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"nothing\"}}",
     "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"no tool 'nothing'; "
     "tools/list names them\"}}"},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}", NULL},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", NULL},
};

/* Parse errors: number and id are fixed, the wording is the parser's. */
static const char *const not_json[] = {
    "{bad",     "{\"a\":1,}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
    "\"\xff\"", "{} {}",      "\"\\u0000\"",
    "01",       "nul",
};

START_TEST(golden_lines)
{
    char dir[64], *out, *err;
    workspace(dir);
    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        char input[1000];
        const char *const args[] = {"mcp", "--workspace", dir, NULL};
        snprintf(input, sizeof(input),
                 INITIALIZE "%s\n{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"ping\"}\n",
                 golden[i].in);
        ck_assert_int_eq(hone_program_run(args, input, &out, &err), 0);
        char *line = strchr(out, '\n') + 1; /* behind initialize */
        char *end = strstr(line, "{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"result\":{}}\n");
        ck_assert_msg(end != NULL, "%s", out);
        *end = '\0';
        char wanted[1000];
        snprintf(wanted, sizeof(wanted), golden[i].out ? "%s\n" : "", golden[i].out);
        ck_assert_str_eq(line, wanted);
        free(out);
        free(err);
    }
    forget(dir);
}
END_TEST

START_TEST(parse_errors)
{
    char dir[64], *out, *err;
    workspace(dir);
    for (size_t i = 0; i < sizeof(not_json) / sizeof(not_json[0]); i++) {
        const char *const args[] = {"mcp", "--workspace", dir, NULL};
        ck_assert_int_eq(hone_program_run(args, not_json[i], &out, &err),
                         0); /* without a newline: a line all the same */
        const char *start =
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"not JSON: ";
        ck_assert_msg(strncmp(out, start, strlen(start)) == 0, "%s -> %s", not_json[i], out);
        ck_assert_ptr_eq(strchr(out, '\n') + 1, out + strlen(out));
        free(out);
        free(err);
    }
    forget(dir);
}
END_TEST

START_TEST(calls_finish_after_the_end_of_input)
{
    char dir[64], *out, *err;
    workspace(dir);
    const char *const args[] = {"mcp", "--workspace", dir, NULL};
    ck_assert_int_eq(hone_program_run(args,
                                      INITIALIZE
                                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                                      "call\",\"params\":{\"name\":\"kernel_evaluate\","
                                      "\"arguments\":{\"task\":\"sum\",\"source\":\"x\"}}}\n",
                                      &out, &err),
                     0);
    ck_assert_msg(strstr(out, "\"id\":1,\"result\"") && strstr(out, "verdict"), "%s", out);
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strncmp(line, "{\"jsonrpc\":\"2.0\",", 17) == 0,
                      "not a message on stdout: %s", line);
    free(out);
    free(err);
    forget(dir);
}
END_TEST

/* Runs hone mcp with pipes of our own. */
static pid_t start_mcp(const char *dir, int *ret_in, int *ret_out, const char *script)
{
    int in[2], out[2];
    ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        setenv("HONE_EXECUTOR", "fake", 1);
        execl(hone_program(), "hone", "mcp", "--workspace", dir, "--linger", "1s",
              script ? "--fake-script" : NULL, script, NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *ret_in = in[1];
    *ret_out = out[0];
    return pid;
}

static int wait_exit(pid_t pid, int64_t limit_ms)
{
    int64_t end = now_ms() + limit_ms;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        ck_assert_msg(now_ms() < end, "hone mcp did not end in %lld ms", (long long)limit_ms);
        usleep(10000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Beside the workspace's own files, and forgotten with them. */
static char *slow_script(const char *dir)
{
    static char name[96];
    const char *text = "{\"match\":\"slow\",\"delay_ms\":60000}\n";
    snprintf(name, sizeof name, "%s/slow.jsonl", dir);
    FILE *f = fopen(name, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    return name;
}

#define SLOW_CALL                                                                                  \
    INITIALIZE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"                                 \
               "call\",\"params\":{\"name\":\"kernel_evaluate\","                                  \
               "\"arguments\":{\"task\":\"sum\",\"source\":\"slow\"}}}\n"

START_TEST(a_slow_call_is_given_up_after_the_linger_time)
{
    char dir[64];
    int in, out;
    workspace(dir);
    pid_t pid = start_mcp(dir, &in, &out, slow_script(dir));
    ck_assert_int_eq(write(in, SLOW_CALL, strlen(SLOW_CALL)), (ssize_t)strlen(SLOW_CALL));
    int64_t begin = now_ms();
    close(in);
    ck_assert_int_eq(wait_exit(pid, 5000), 0);
    ck_assert_int_ge(now_ms() - begin, 800);
    close(out);
    forget(dir);
}
END_TEST

START_TEST(a_signal_or_a_lost_reader_ends_it)
{
    for (int is_signal = 0; is_signal < 2; is_signal++) {
        char dir[64];
        int in, out;
        bool is_closed;
        workspace(dir);
        pid_t pid = start_mcp(dir, &in, &out, slow_script(dir));
        ck_assert_int_eq(write(in, SLOW_CALL, strlen(SLOW_CALL)), (ssize_t)strlen(SLOW_CALL));
        free(tcp_read(out, "\n", 10000, &is_closed));
        if (is_signal) {
            kill(pid, SIGTERM);
        } else {
            close(out);
            const char *ping = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
            ck_assert_int_eq(write(in, ping, strlen(ping)), (ssize_t)strlen(ping));
        }
        ck_assert_int_eq(wait_exit(pid, 3000), 0);
        close(in);
        if (is_signal)
            close(out);
        forget(dir);
    }
}
END_TEST

/* The bridge: the same lines through a server that runs already. */
START_TEST(a_bridge_passes_everything_on)
{
    struct served served = {.pid = 0};
    char address[40], token_file[260], *out, *err;
    served_start(&served, NULL);
    snprintf(address, sizeof(address), "127.0.0.1:%d", served.port);
    snprintf(token_file, sizeof(token_file), "%s/.hone/token", served.dir);
    const char *const args[] = {"mcp", "--connect", address, "--token-file", token_file, NULL};
    const char *input = INITIALIZE
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n"
        "{\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"kernel_evaluate\",\"arguments\":{\"task\":\"sum\",\"source\":\"bridge\"}}}\r\n"
        "{bad\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"; /* a last line without newline */
    int status = hone_program_run(args, input, &out, &err);
    ck_assert_msg(status == 0, "%d: %s", status, err);
    ck_assert_msg(strstr(out, "\"id\":0,\"result\"") && strstr(out, "\"id\":\"e\",\"result\"") &&
                      strstr(out, "verdict") && strstr(out, "-32700") &&
                      strstr(out, "\"id\":2,\"result\":{}"),
                  "%s", out);
    size_t lines = 0;
    for (const char *at = out; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 4);
    free(out);
    free(err);
    const char *const bad[] = {"mcp", "--connect", address,
                               NULL}; /* the wrong workspace: no token */
    ck_assert_int_ne(hone_program_run(bad, input, &out, &err), 0);
    ck_assert_msg(strstr(err, "token") != NULL, "%s", err);
    ck_assert_str_eq(out, "");
    free(out);
    free(err);
    served_stop(&served, SIGTERM);
    ck_assert_int_ne(hone_program_run(args, input, &out, &err), 0);
    ck_assert_msg(strstr(err, "cannot connect") != NULL, "%s", err);
    free(out);
    free(err);
    served_remove(&served);
}
END_TEST

UNIT_MAIN("stdio", a_bridge_passes_everything_on, golden_lines, parse_errors,
          calls_finish_after_the_end_of_input, a_slow_call_is_given_up_after_the_linger_time,
          a_signal_or_a_lost_reader_ends_it)
