/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/e2e/ws_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "workspace/base/buf.h"

#define MAX_ARGS 32

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- programs ---- */

const char *hone_program(void)
{
    static char path[4096];
    const char *build = getenv("HONE_BUILD");
    snprintf(path, sizeof(path), "%s/hone", build && build[0] ? build : "build");
    return path;
}

/* in and out: descriptors for the child, out[2] for stdout and stderr. */
static pid_t spawn(const char *const *args, int in, int out, int err)
{
    const char *argv[MAX_ARGS] = {hone_program()};
    for (size_t i = 0; args[i]; i++) {
        ck_assert_uint_lt(i + 2, MAX_ARGS);
        argv[i + 1] = args[i];
    }
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    setenv("HONE_EXECUTOR", "fake", 0);
    union {
        const char **borrowed;
        char **plain;
    } vector = {.borrowed = argv};
    execv(argv[0], vector.plain);
    _exit(127);
}

static char *drain_fd(int fd)
{
    struct hone_buf text = HONE_BUF_INIT;
    char part[4096];
    ssize_t n;
    while ((n = read(fd, part, sizeof(part))) > 0)
        hone_buf_add(&text, part, (size_t)n);
    close(fd);
    return hone_buf_steal(&text);
}

static int exit_of(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int hone_program_run(const char *const *args, const char *input, char **ret_out, char **ret_err)
{
    char name[] = "/tmp/hone-test-in.XXXXXX", err_name[] = "/tmp/hone-test-err.XXXXXX";
    int in = mkstemp(name), err = mkstemp(err_name), out[2];
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    unlink(name);
    unlink(err_name);
    if (input)
        ck_assert_int_eq(write(in, input, strlen(input)), (ssize_t)strlen(input));
    lseek(in, 0, SEEK_SET);
    pid_t pid = spawn(args, in, out[1], err);
    close(in);
    close(out[1]);
    *ret_out = drain_fd(out[0]);
    int status = exit_of(pid);
    lseek(err, 0, SEEK_SET);
    char *text = drain_fd(err);
    if (ret_err)
        *ret_err = text;
    else
        free(text);
    return status;
}

static void make_workspace(struct served *served)
{
    snprintf(served->dir, sizeof(served->dir), "%s/hone-e2e.XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(served->dir));
    strncat(served->dir, "/ws", sizeof(served->dir) - strlen(served->dir) - 1);
    char *out, *err;
    const char *const args[] = {"init", served->dir, NULL};
    int status = hone_program_run(args, NULL, &out, &err);
    ck_assert_msg(status == 0, "hone init: %s", err);
    free(out);
    free(err);
}

void served_start(struct served *served, const char *const *args)
{
    const char *argv[MAX_ARGS] = {"serve", "--workspace", NULL, "--listen", "127.0.0.1:0"};
    size_t n = 5;
    bool is_fresh = served->dir[0] == '\0';
    if (is_fresh)
        make_workspace(served);
    argv[2] = served->dir;
    for (size_t i = 0; args && args[i]; i++)
        argv[n++] = args[i];
    int err[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
    served->pid = spawn(argv, null, null, err[1]);
    close(null);
    close(err[1]);
    served->err_fd = err[0];
    bool is_closed;
    char *text = tcp_read(served->err_fd, "/mcp", 20000, &is_closed);
    const char *url = strstr(text, "listening on ws");
    ck_assert_msg(url != NULL, "hone serve said: %s", text);
    const char *port = strrchr(url + 18, ':');
    ck_assert_ptr_nonnull(port);
    served->port = atoi(port + 1);
    const char *token = strstr(url, "token=");
    served->token[0] = '\0';
    if (token)
        sscanf(token + 6, "%79[0-9a-f]", served->token);
    free(text);
}

int served_stop(struct served *served, int signal_number)
{
    kill(served->pid, signal_number);
    int status = exit_of(served->pid);
    close(served->err_fd);
    served->pid = 0;
    return status;
}

void served_remove(struct served *served)
{
    char command[300];
    *strrchr(served->dir, '/') = '\0';
    snprintf(command, sizeof(command), "rm -rf '%s'", served->dir);
    ck_assert_int_eq(system(command), 0);
    served->dir[0] = '\0';
}

long served_rss_kib(const struct served *served)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)served->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

double served_cpu_s(const struct served *served)
{
    char path[64], text[1024] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)served->pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, sizeof(text), file))
        return -1;
    fclose(file);
    unsigned long user = 0, kernel = 0;
    sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
           &kernel);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- sockets ---- */

int tcp_open(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    union {
        struct sockaddr_in v4;
        struct sockaddr any;
    } address = {.v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, &address.any, sizeof(address.v4)), 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    struct timeval limit = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    return fd;
}

void tcp_send(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the peer closed: what the test reads next tells */
        at += n;
        len -= (size_t)n;
    }
}

void tcp_send_text(int fd, const char *text)
{
    tcp_send(fd, text, strlen(text));
}

char *tcp_read(int fd, const char *until, int timeout_ms, bool *ret_closed)
{
    struct hone_buf text = HONE_BUF_INIT;
    int64_t end = now_ms() + timeout_ms;
    *ret_closed = false;
    while (!until || !text.data || !strstr(text.data, until)) {
        int64_t left = end - now_ms();
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&poll_fd, 1, (int)left) <= 0)
            break;
        char part[4096];
        ssize_t n = read(fd, part, until ? 1 : sizeof(part));
        if (n <= 0) {
            *ret_closed = true;
            break;
        }
        hone_buf_add(&text, part, (size_t)n);
    }
    /* to the end of the line, for callers that parse it */
    while (until && strcmp(until, "/mcp") == 0 && text.len > 0 && text.data[text.len - 1] != '\n') {
        char byte;
        if (read(fd, &byte, 1) <= 0)
            break;
        hone_buf_add(&text, &byte, 1);
    }
    return hone_buf_steal(&text);
}

char *ws_upgrade(int fd, const struct served *served, const struct ws_head *head)
{
    char host[64], text[4096], *out = text;
    size_t left = sizeof(text);
    snprintf(host, sizeof(host), "127.0.0.1:%d", served->port);
    const char *path = head->path ? head->path : "/mcp";
    int n = snprintf(out, left, "%s %s HTTP/1.1\r\n", head->method ? head->method : "GET", path);
    if (!head->no_host)
        n += snprintf(out + n, left - (size_t)n, "Host: %s\r\n", head->host ? head->host : host);
    n +=
        snprintf(out + n, left - (size_t)n,
                 "Connection: Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Version: "
                 "%s\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                 head->upgrade ? head->upgrade : "websocket", head->version ? head->version : "13");
    if (!head->no_protocol)
        n += snprintf(out + n, left - (size_t)n, "Sec-WebSocket-Protocol: %s\r\n",
                      head->protocol ? head->protocol : "mcp");
    snprintf(out + n, left - (size_t)n, "%s\r\n", head->extra ? head->extra : "");
    tcp_send_text(fd, text);
    bool is_closed;
    return tcp_read(fd, "\r\n\r\n", 15000, &is_closed);
}

int ws_open(const struct served *served)
{
    char extra[200] = "";
    if (served->token[0])
        snprintf(extra, sizeof(extra), "Authorization: Bearer %s\r\n", served->token);
    int fd = tcp_open(served->port);
    char *answer = ws_upgrade(fd, served, &(struct ws_head){.extra = extra});
    ck_assert_msg(strncmp(answer, "HTTP/1.1 101", 12) == 0, "upgrade answered: %s", answer);
    ck_assert_ptr_nonnull(strstr(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    free(answer);
    return fd;
}

int ws_open_session(const struct served *served)
{
    int fd = ws_open(served);
    char *answer = ws_ask(fd, "\"init\"", "initialize",
                          "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
                          "\"name\":\"test\",\"version\":\"1\"}}");
    ck_assert_ptr_nonnull(strstr(answer, "\"protocolVersion\":\"2025-11-25\""));
    free(answer);
    ws_send(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    return fd;
}

void ws_send_frame(int fd, int opcode, bool is_final, bool is_masked, const void *payload,
                   size_t len)
{
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    unsigned char *frame = malloc(len + 14);
    const unsigned char *bytes = payload;
    size_t n = 0, bit = is_masked ? 0x80 : 0;
    frame[n++] = (unsigned char)((is_final ? 0x80 : 0) | opcode);
    if (len < 126) {
        frame[n++] = (unsigned char)(bit | len);
    } else if (len < 65536) {
        frame[n++] = (unsigned char)(bit | 126);
        frame[n++] = (unsigned char)(len >> 8);
        frame[n++] = (unsigned char)(len & 255);
    } else {
        frame[n++] = (unsigned char)(bit | 127);
        for (int shift = 56; shift >= 0; shift -= 8)
            frame[n++] = (unsigned char)((uint64_t)len >> shift & 255);
    }
    if (is_masked) {
        memcpy(frame + n, mask, 4);
        n += 4;
    }
    for (size_t i = 0; i < len; i++)
        frame[n + i] = is_masked ? bytes[i] ^ mask[i % 4] : bytes[i];
    tcp_send(fd, frame, n + len);
    free(frame);
}

void ws_send(int fd, const char *text)
{
    ws_send_frame(fd, 1, true, true, text, strlen(text));
}

/* 1 all there, 0 closed, -1 time over. */
static int read_exactly(int fd, void *bytes, size_t len, int64_t end_ms)
{
    char *at = bytes;
    while (len > 0) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        int64_t left = end_ms - now_ms();
        if (left <= 0 || poll(&poll_fd, 1, (int)left) <= 0)
            return -1;
        ssize_t n = read(fd, at, len);
        if (n <= 0)
            return 0;
        at += n;
        len -= (size_t)n;
    }
    return 1;
}

/* Header of the next frame. */
static int read_head(int fd, struct ws_frame *frame, int64_t end_ms)
{
    unsigned char head[2], more[8];
    int got = read_exactly(fd, head, 2, end_ms);
    if (got <= 0)
        return got;
    frame->is_final = (head[0] & 0x80) != 0;
    frame->opcode = head[0] & 15;
    frame->len = head[1] & 127;
    size_t n_more = frame->len == 126 ? 2 : frame->len == 127 ? 8 : 0;
    got = read_exactly(fd, more, n_more, end_ms);
    if (got <= 0 && n_more > 0)
        return got;
    if (n_more > 0)
        frame->len = 0;
    for (size_t i = 0; i < n_more; i++)
        frame->len = frame->len << 8 | more[i];
    return 1;
}

struct ws_frame ws_receive(int fd, int timeout_ms)
{
    int64_t end_ms = now_ms() + timeout_ms;
    struct ws_frame whole = {.opcode = 0, .payload = calloc(1, 1)};
    for (;;) {
        struct ws_frame frame = {.opcode = 0};
        int got = read_head(fd, &frame, end_ms);
        char *payload = got > 0 ? malloc(frame.len + 1) : NULL;
        if (got > 0 && frame.len > 0)
            got = read_exactly(fd, payload, frame.len, end_ms);
        if (got <= 0) {
            free(payload);
            whole.opcode = got == 0 ? -1 : -2;
            return whole;
        }
        payload[frame.len] = '\0';
        if (frame.opcode == 9 || frame.opcode == 10) {
            if (frame.opcode == 9)
                ws_send_frame(fd, 10, true, true, payload, frame.len);
            free(payload);
            continue;
        }
        if (frame.opcode == 8) {
            whole.opcode = 8;
            whole.close_code =
                frame.len >= 2 ? (unsigned char)payload[0] << 8 | (unsigned char)payload[1] : 1005;
            free(payload);
            return whole;
        }
        if (frame.opcode != 0)
            whole.opcode = frame.opcode;
        whole.payload = realloc(whole.payload, whole.len + frame.len + 1);
        memcpy(whole.payload + whole.len, payload, frame.len + 1);
        whole.len += frame.len;
        free(payload);
        if (frame.is_final)
            return whole;
    }
}

char *ws_wait_for(int fd, const char *text, int timeout_ms)
{
    int64_t end_ms = now_ms() + timeout_ms;
    for (;;) {
        int64_t left = end_ms - now_ms();
        struct ws_frame frame = ws_receive(fd, left > 0 ? (int)left : 0);
        ck_assert_msg(frame.opcode == 1, "waiting for %s: opcode %d, close code %d", text,
                      frame.opcode, frame.close_code);
        if (strstr(frame.payload, text))
            return frame.payload;
        free(frame.payload);
    }
}

char *ws_ask(int fd, const char *id, const char *method, const char *params)
{
    size_t len = strlen(params) + strlen(method) + strlen(id) + 100;
    char *text = malloc(len), wanted[100];
    snprintf(text, len, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":%s}", id,
             method, params);
    ws_send(fd, text);
    free(text);
    snprintf(wanted, sizeof(wanted), "\"id\":%s,", id);
    return ws_wait_for(fd, wanted, 20000);
}
