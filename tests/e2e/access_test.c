/* SPDX-License-Identifier: Apache-2.0 */
/* Named tokens against the real program: roles, limits, removal, turns, the audit log, TLS. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/file.h"

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

static void check_shut(const struct served *as)
{
    char extra[200];
    int fd = tcp_open(as->port);
    snprintf(extra, sizeof(extra), "Authorization: Bearer %s\r\n", as->token);
    char *head = ws_upgrade(fd, as, &(struct ws_head){.extra = extra});
    ck_assert_msg(strstr(head, " 401 ") != NULL, "%s", head);
    free(head);
    close(fd);
}

/* The same server as the holder of another token sees it. */
static struct served token_add(const struct served *served, const char *name, const char *role,
                               const char *rate, const char *calls)
{
    const char *const args[] = {"token", "add",    name, "--workspace", served->dir, "--role",
                                role,    "--rate", rate, "--calls",     calls,       NULL};
    struct served as = *served;
    char *out, *err;
    int status = hone_program_run(args, NULL, &out, &err);
    ck_assert_msg(status == 0, "%s", err);
    ck_assert_uint_eq(strlen(out), 65);
    memcpy(as.token, out, 64);
    as.token[64] = '\0';
    free(out);
    free(err);
    return as;
}

/* What nobody saw lets nobody in, and its name is free. */
START_TEST(a_token_that_nobody_saw_is_none)
{
    struct served served = {.pid = 0};
    char *out, *err;
    start(&served);
    HONE_AUTOFREE char *command = hone_sprintf(
        "'%s' token add lost --workspace '%s' 2>/dev/null >/dev/full", hone_program(), served.dir);
    ck_assert_int_ne(system(command), 0);
    const char *const list[] = {"token", "list", "--workspace", served.dir, NULL};
    ck_assert_int_eq(hone_program_run(list, NULL, &out, &err), 0);
    ck_assert_ptr_null(strstr(out, "lost"));
    free(out);
    free(err);
    token_add(&served, "lost", "viewer", "0", "0");
    stop(&served);
}
END_TEST

static void token_remove(const struct served *served, const char *name)
{
    const char *const args[] = {"token", "remove", name, "--workspace", served->dir, NULL};
    char *out, *err;
    ck_assert_int_eq(hone_program_run(args, NULL, &out, &err), 0);
    free(out);
    free(err);
}

static char *audit_text(const struct served *served)
{
    HONE_AUTOFREE char *path = hone_path_join(served->dir, ".hone", "audit.log", NULL);
    char *text = NULL;
    size_t len;
    struct stat st;
    ck_assert_int_eq(hone_file_read(path, 1u << 20, &text, &len, NULL), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    return text;
}

static void ask(int fd, const char *id, const char *method, const char *params, const char *wanted)
{
    char *answer = ws_ask(fd, id, method, params);
    ck_assert_msg(strstr(answer, wanted) != NULL, "%s: %s", method, answer);
    free(answer);
}

static void send_evaluate(int fd, int id, const char *source)
{
    char text[400];
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"kernel_evaluate\",\"arguments\":{\"task\":\"sum\",\"source\":\"%s\"}}}",
             id, source);
    ws_send(fd, text);
}

#define EVALUATE                                                                                   \
    "{\"name\":\"kernel_evaluate\",\"arguments\":{\"task\":\"sum\",\"source\":\"int q7x;\"}}"

START_TEST(roles)
{
    struct served served = {.pid = 0};
    start(&served);
    struct served viewer = token_add(&served, "eye", "viewer", "0", "0");
    struct served agent = token_add(&served, "hand", "agent", "0", "0");
    int fd = ws_open_session(&viewer);
    char *list = ws_ask(fd, "1", "tools/list", "{}");
    ck_assert_ptr_nonnull(strstr(list, "\"history_show\""));
    ck_assert_ptr_null(strstr(list, "\"name\":\"kernel_evaluate\""));
    ck_assert_ptr_null(strstr(list, "\"name\":\"search_start\""));
    free(list);
    ask(fd, "2", "tools/call", EVALUATE, "token eye is a viewer's");
    ask(fd, "3", "tools/call", "{\"name\":\"task_show\",\"arguments\":{\"task\":\"sum\"}}",
        "\"isError\":false");
    close(fd);
    fd = ws_open_session(&agent);
    list = ws_ask(fd, "1", "tools/list", "{}");
    ck_assert_ptr_nonnull(strstr(list, "\"name\":\"kernel_evaluate\""));
    free(list);
    ask(fd, "2", "tools/call", EVALUATE, "\"isError\":false");
    close(fd);
    struct served wrong = served;
    wrong.token[5] = wrong.token[5] == 'a' ? 'b' : 'a';
    check_shut(&wrong);
    char *audit = audit_text(&served);
    ck_assert_ptr_nonnull(strstr(audit, "\"token\":\"eye\",\"role\":\"viewer\""));
    ck_assert_ptr_nonnull(strstr(audit, "\"outcome\":\"refused\""));
    ck_assert_ptr_nonnull(strstr(audit, "\"token\":\"hand\""));
    ck_assert_ptr_nonnull(strstr(audit, "\"commit\":\"")); /* hand's alone can make one */
    ck_assert_ptr_nonnull(strstr(audit, "\"status\":401"));
    ck_assert_ptr_null(strstr(audit, "q7x")); /* neither sources nor tokens */
    ck_assert_ptr_null(strstr(audit, agent.token));
    ck_assert_ptr_null(strstr(audit, served.token));
    free(audit);
    stop(&served);
}
END_TEST

START_TEST(a_removed_token_ends_its_connections)
{
    struct served served = {.pid = 0};
    start(&served);
    struct served agent = token_add(&served, "hand", "agent", "0", "0");
    int fd = ws_open_session(&agent), own = ws_open_session(&served);
    send_evaluate(fd, 1, "slow");
    token_remove(&served, "hand");
    struct ws_frame frame = ws_receive(fd, 5000);
    ck_assert_int_eq(frame.opcode, -1);
    free(frame.payload);
    close(fd);
    check_shut(&agent);
    ask(own, "1", "ping", "{}", "\"result\":{}");
    close(own);
    stop(&served);
}
END_TEST

/* The whole answer to a request of a session, "" without one. */
static char *post(const struct served *as, const char *session, const char *body)
{
    char head[600];
    bool is_closed;
    int fd = tcp_open(as->port);
    snprintf(head, sizeof(head),
             "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
             "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
             "%s%s%sContent-Length: %zu\r\n\r\n",
             as->token, session[0] ? "Mcp-Session-Id: " : "", session, session[0] ? "\r\n" : "",
             strlen(body));
    tcp_send_text(fd, head);
    tcp_send_text(fd, body);
    char *answer = tcp_read(fd, NULL, 8000, &is_closed);
    close(fd);
    return answer;
}

START_TEST(a_session_belongs_to_its_token)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    struct served served = {.pid = 0};
    char session[33] = "";
    start(&served);
    struct served one = token_add(&served, "one", "agent", "0", "0");
    struct served two = token_add(&served, "two", "agent", "0", "0");
    char *answer =
        post(&one, "",
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{}}}");
    const char *id = strstr(answer, "Mcp-Session-Id: ");
    ck_assert_msg(id != NULL, "%s", answer);
    memcpy(session, id + 16, 32);
    free(answer);
    answer = post(&two, session, ping);
    ck_assert_msg(strstr(answer, " 404 ") != NULL, "%s", answer);
    free(answer);
    answer = post(&one, session, ping);
    ck_assert_msg(strstr(answer, " 200 ") != NULL, "%s", answer);
    free(answer);
    token_remove(&served, "one");
    answer = post(&one, session, ping);
    ck_assert_msg(strstr(answer, " 401 ") != NULL, "%s", answer);
    free(answer);
    stop(&served);
}
END_TEST

START_TEST(limits_of_a_token)
{
    struct served served = {.pid = 0};
    start(&served);
    struct served agent = token_add(&served, "hand", "agent", "1", "0");
    struct served narrow = token_add(&served, "narrow", "agent", "0", "2");
    int fd = ws_open_session(&agent);
    for (int i = 0; i < 10; i++)
        ws_send(fd, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}");
    char *text = ws_wait_for(fd, "requests a second", 5000);
    free(text);
    close(fd);
    fd = ws_open_session(&narrow);
    for (int i = 1; i <= 3; i++)
        send_evaluate(fd, i, i == 1 ? "slow 1" : i == 2 ? "slow 2" : "slow 3");
    text = ws_wait_for(fd, "calls at a time", 5000);
    ck_assert_ptr_nonnull(strstr(text, "\"id\":3,"));
    free(text);
    ask(fd, "4", "resources/subscribe", "{\"uri\":\"hone://device\"}", "calls at a time");
    close(fd);
    stop(&served);
}
END_TEST

/* One client asks for twenty evaluations of a second each, then another one for one: two workers,
 * so in order of arrival nine would be answered before it. */
START_TEST(connections_take_turns)
{
    struct served served = {.pid = 0};
    start(&served);
    int greedy = ws_open_session(&served), other = ws_open_session(&served);
    for (int i = 1; i <= 20; i++) {
        char source[32];
        snprintf(source, sizeof(source), "second %d", i);
        send_evaluate(greedy, i, source);
    }
    ask(greedy, "99", "ping", "{}", "\"result\":{}"); /* all were read */
    send_evaluate(other, 1, "second other");
    free(ws_wait_for(other, "\"id\":1,", 30000));
    ws_send(greedy, "{\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"ping\"}");
    int n_before = 0;
    for (;;) {
        struct ws_frame frame = ws_receive(greedy, 5000);
        bool is_end = strstr(frame.payload, "\"id\":100,") != NULL;
        free(frame.payload);
        if (is_end)
            break;
        n_before++;
    }
    ck_assert_int_le(n_before, 6);
    close(greedy);
    close(other);
    stop(&served);
}
END_TEST

/* A certificate of our own; the client is openssl. */
START_TEST(tls)
{
    struct served served = {.pid = 0};
    char command[1200], line[512], key[300], cert[300];
    if (system("openssl version >/dev/null 2>&1") != 0)
        return; /* no openssl, nothing to connect with */
    start(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    snprintf(key, sizeof(key), "%s/key.pem", served.dir);
    snprintf(cert, sizeof(cert), "%s/cert.pem", served.dir);
    snprintf(command, sizeof(command),
             "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost -keyout %s "
             "-out %s 2>/dev/null",
             key, cert);
    ck_assert_int_eq(system(command), 0);
    const char *const args[] = {"--tls-cert", cert, "--tls-key", key, NULL};
    served_start(&served, args);
    snprintf(command, sizeof(command),
             "printf 'POST /mcp HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer %s\\r\\n"
             "Content-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{}' | timeout 10 "
             "openssl s_client -connect 127.0.0.1:%d -CAfile %s -verify_return_error -quiet "
             "2>&1",
             served.token, served.port, cert);
    FILE *pipe = popen(command, "r");
    bool has_answer = false;
    while (fgets(line, sizeof(line), pipe))
        has_answer = has_answer || strstr(line, "HTTP/1.1 400") != NULL;
    pclose(pipe);
    ck_assert_msg(has_answer, "last line: %s", line);
    /* hone's own client: not trusted, trusted, trusted for another name */
    static const char *const names[] = {"localhost", "localhost", "127.0.0.1"};
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof(command),
                 "%s%s timeout 20 %s call task_show '{\"task\":\"sum\"}' --url "
                 "wss://%s:%d/mcp?token=%s >/dev/null 2>&1",
                 i > 0 ? "SSL_CERT_FILE=" : "", i > 0 ? cert : "", hone_program(), names[i],
                 served.port, served.token);
        ck_assert_msg((system(command) == 0) == (i == 1), "case %d: %s", i, command);
    }
    bool is_closed;
    int fd = tcp_open(served.port); /* plain text finds no server */
    tcp_send_text(fd, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char *answer = tcp_read(fd, "HTTP/1.1 4", 3000, &is_closed);
    ck_assert_ptr_null(strstr(answer, "MCP"));
    ck_assert_ptr_null(strstr(answer, "jsonrpc"));
    free(answer);
    close(fd);
    stop(&served);
}
END_TEST

UNIT_MAIN("access", roles, a_removed_token_ends_its_connections, a_session_belongs_to_its_token,
          limits_of_a_token, connections_take_turns, a_token_that_nobody_saw_is_none, tls)
