/* SPDX-License-Identifier: Apache-2.0 */
/* One test for each rule that keeps libwebsockets harmless, over raw sockets against the real
 * program. */
#include <glob.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

/* A sanitizer keeps freed memory for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_FACTOR 6
#else
#define MEMORY_FACTOR 1
#endif

/* The server still answers a good client at once. */
static void check_alive(const struct served *served)
{
    int64_t start = now_ms();
    int fd = ws_open_session(served);
    free(ws_ask(fd, "1", "ping", "{}"));
    close(fd);
    ck_assert_int_lt(now_ms() - start, 3000);
}

static void check_status(const char *answer, const char *status, const char *name)
{
    ck_assert_msg(strncmp(answer, "HTTP/1.", 7) == 0 &&
                      strncmp(answer + 9, status, strlen(status)) == 0,
                  "%s: wanted %s, got: %s", name, status, answer);
}

START_TEST(listens_on_loopback_alone)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    char wanted[32], line[512];
    int n_wanted = 0, n_other = 0;
    static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    snprintf(wanted, sizeof(wanted), ":%04X", served.port);
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "re");
        while (file && fgets(line, sizeof(line), file)) {
            char local[80], remote[80];
            unsigned state;
            if (sscanf(line, " %*d: %79s %79s %x", local, remote, &state) != 3 || state != 10 ||
                strcmp(strrchr(local, ':'), wanted) != 0)
                continue;
            if (i == 0 && strncmp(local, "0100007F:", 9) == 0)
                n_wanted++;
            else
                n_other++;
        }
        if (file)
            fclose(file);
    }
    ck_assert_int_eq(n_wanted, 1);
    ck_assert_int_eq(n_other, 0);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(refuses_bad_listen_addresses)
{
    static const struct {
        const char *listen, *auth, *message, *more;
    } rows[] = {
        {"0.0.0.0:0", "none", "loopback only", "--behind-proxy"},
        {"0.0.0.0:0", "token", "needs --tls-cert and --tls-key, or --behind-proxy", NULL},
        {"[::]:0", "token", "needs --tls-cert and --tls-key, or --behind-proxy", NULL},
        {"127.0.0.1:0", "token", "go together", "--tls-cert=/dev/null"},
        {"203.0.113.7:0", "token", "Cannot assign requested address", "--behind-proxy"},
        {"example.com:0", "token", "literal address", "--behind-proxy"},
        {"nonsense:port", "token", "no address", NULL},
        {"127.0.0.1:PORT", "token", "Address already in use", NULL},
    };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    char taken[32];
    snprintf(taken, sizeof(taken), "127.0.0.1:%d", served.port);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *listen = strstr(rows[i].listen, "PORT") ? taken : rows[i].listen;
        const char *const args[] = {"serve",  "--workspace", served.dir,   "--listen", listen,
                                    "--auth", rows[i].auth,  rows[i].more, NULL};
        char *out, *err;
        int status = hone_program_run(args, NULL, &out, &err);
        ck_assert_int_gt(status, 0);
        ck_assert_msg(strstr(err, rows[i].message) != NULL, "%s: %s", rows[i].listen, err);
        ck_assert_str_eq(out, "");
        free(out);
        free(err);
    }
    served_stop(&served, SIGTERM);
    served_remove(&served);
}
END_TEST

/* Plain HTTP of any kind gets a JSON error at once and the connection ends; bytes behind the
 * request do no harm. */
START_TEST(answers_plain_http_at_once)
{
    static const struct {
        const char *name, *request, *status;
    } rows[] = {
        {"get without token", "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "401"},
        {"get", "GET /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
        {"head", "HEAD /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
        {"options", "OPTIONS /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
        {"delete", "DELETE /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"},
        {"put", "PUT /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
         "405"},
        {"post", "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
         "415"},
        {"post and a pipelined one",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}POST /mcp "
         "HTTP/1.1\r\nHost: "
         "localhost\r\nContent-Length: 2\r\n\r\n{}\r\n\r\n",
         "415"},
        {"post without a body",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n", "415"},
        {"negative length",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "400"},
        {"two lengths",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: "
         "2\r\n\r\n{}",
         "400"},
        {"chunked",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         "411"},
        {"expect",
         "POST /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: "
         "100-continue\r\n\r\n",
         "415"},
        {"other path", "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"},
        {"path with the same start", "GET /mcpfoo?token=@ HTTP/1.1\r\nHost: localhost\r\n\r\n",
         "404"},
        {"well-known",
         "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
         "404"},
        {"climbing path", "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"},
        {"foreign host", "GET /mcp?token=@ HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", "403"},
        {"no host", "GET /mcp?token=@ HTTP/1.1\r\n\r\n", "403"},
        {"two hosts",
         "GET /mcp?token=@ HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\n\r\n", "403"},
    };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char request[1024] = "";
        for (const char *at = rows[i].request; *at; at++) {
            size_t n = strlen(request);
            snprintf(request + n, sizeof(request) - n, *at == '@' ? "%s" : "%.1s",
                     *at == '@' ? served.token : at);
        }
        int fd = tcp_open(served.port);
        int64_t start = now_ms();
        bool is_closed;
        tcp_send_text(fd, request);
        char *answer = tcp_read(fd, NULL, 8000, &is_closed);
        ck_assert_msg(is_closed, "%s: the connection stays open", rows[i].name);
        ck_assert_msg(now_ms() - start < 2000, "%s: took %lld ms", rows[i].name,
                      (long long)(now_ms() - start));
        check_status(answer, rows[i].status, rows[i].name);
        ck_assert_ptr_nonnull(strstr(answer, "\"error\":"));
        ck_assert_msg(!strstr(answer + 5, "HTTP/1.1"), "%s: two answers: %s", rows[i].name, answer);
        free(answer);
        close(fd);
    }
    double before = served_cpu_s(&served);
    check_alive(&served);
    usleep(300000);
    ck_assert_msg(served_cpu_s(&served) - before < 0.2, "the server spins");
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(upgrades_only_what_it_should)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    char bearer[200], own[100], bearer_own[300], path[200], offer[200], other_origin[400],
        null_origin[400], wrong[200];
    snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s\r\n", served.token);
    snprintf(wrong, sizeof(wrong), "Authorization: Bearer %.20s\r\n", served.token);
    snprintf(own, sizeof(own), "Origin: http://127.0.0.1:%d\r\n", served.port);
    snprintf(bearer_own, sizeof(bearer_own), "%s%s", bearer, own);
    snprintf(other_origin, sizeof(other_origin), "%sOrigin: http://127.0.0.1:%d\r\n", bearer,
             served.port + 1);
    snprintf(null_origin, sizeof(null_origin), "%sOrigin: null\r\n", bearer);
    snprintf(path, sizeof(path), "/mcp?token=%s", served.token);
    snprintf(offer, sizeof(offer), "mcp, bearer.%s", served.token);
    char evil[400];
    snprintf(evil, sizeof(evil), "%sOrigin: http://evil.example.com\r\n", bearer);
    const struct {
        const char *name, *status;
        struct ws_head head;
    } rows[] = {
        {"no token", "401", {.extra = ""}},
        {"wrong token", "401", {.extra = wrong}},
        {"wrong query token", "401", {.path = "/mcp?token=0000"}},
        {"wrong sub-protocol token", "401", {.protocol = "mcp, bearer.0000"}},
        {"token by header", "101", {.extra = bearer}},
        {"token by query", "101", {.path = path}},
        {"token by sub-protocol", "101", {.protocol = offer}},
        {"no sub-protocol", "400", {.extra = bearer, .no_protocol = true}},
        {"sub-protocol http", "400", {.extra = bearer, .protocol = "http"}},
        {"unknown sub-protocol", "400", {.extra = bearer, .protocol = "graphql-ws"}},
        {"the other protocol's name", "400", {.extra = bearer, .protocol = "hone-plain-http"}},
        {"no sub-protocol and no token", "401", {.no_protocol = true}},
        {"upgrade to foo", "40", {.extra = bearer, .upgrade = "foo"}},
        {"upgrade to h2c", "40", {.extra = bearer, .upgrade = "h2c"}},
        {"upgrade to foo without token", "40", {.upgrade = "foo"}},
        {"version 12", "426", {.extra = bearer, .version = "12"}},
        {"other path", "404", {.extra = bearer, .path = "/"}},
        {"path with the same start", "404", {.extra = bearer, .path = "/mcpfoo"}},
        {"post", "405", {.extra = bearer, .method = "POST"}},
        {"foreign host", "403", {.extra = bearer, .host = "evil.example.com"}},
        {"no host", "403", {.extra = bearer, .no_host = true}},
        {"localhost", "101", {.extra = bearer, .host = "localhost"}},
        {"own origin", "101", {.extra = bearer_own}},
        {"origin on another port", "403", {.extra = other_origin}},
        {"origin null", "403", {.extra = null_origin}},
        {"foreign origin", "403", {.extra = evil}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int fd = tcp_open(served.port);
        char *answer = ws_upgrade(fd, &served, &rows[i].head);
        check_status(answer, rows[i].status, rows[i].name);
        if (strcmp(rows[i].status, "101") == 0)
            ck_assert_msg(strstr(answer, "Sec-WebSocket-Protocol: mcp\r\n") != NULL, "%s: %s",
                          rows[i].name, answer);
        free(answer);
        close(fd);
    }
    /* two names of which one is the server's own, first: never in */
    int fd = tcp_open(served.port);
    char *answer = ws_upgrade(
        fd, &served, &(struct ws_head){.extra = bearer, .protocol = "hone-plain-http, mcp"});
    ck_assert_msg(strncmp(answer, "HTTP/1.1 101", 12) != 0, "%s", answer);
    free(answer);
    close(fd);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(second_request_on_a_connection_is_not_read)
{
    static const char *const seconds[] = {
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: "
        "h2c\r\nHTTP2-Settings: "
        "AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
    };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    for (size_t i = 0; i < 2; i++)
        for (int is_pipelined = 0; is_pipelined < 2; is_pipelined++) {
            char text[1024];
            bool is_closed;
            int fd = tcp_open(served.port);
            snprintf(text, sizeof(text),
                     "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n%s",
                     is_pipelined ? seconds[i] : "");
            tcp_send_text(fd, text);
            usleep(50000);
            if (!is_pipelined)
                tcp_send_text(fd, seconds[i]);
            char *answer = tcp_read(fd, NULL, 8000, &is_closed);
            ck_assert(is_closed);
            ck_assert_ptr_null(strstr(answer, "101 "));
            free(answer);
            close(fd);
        }
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(connect_and_noise_get_no_connection)
{
    static const char *const openings[] = {
        "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET http://127.0.0.1/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "BREW /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\r\n\r\n\r\n\r\n",
        "GET /mcp\r\n\r\n",
    };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
        bool is_closed;
        int fd = tcp_open(served.port);
        tcp_send_text(fd, openings[i]);
        shutdown(fd, SHUT_WR);
        char *answer = tcp_read(fd, NULL, 15000, &is_closed);
        ck_assert_msg(is_closed, "opening %zu stays open", i);
        ck_assert_msg(!strstr(answer, " 200 ") && !strstr(answer, " 101 "), "opening %zu: %s", i,
                      answer);
        free(answer);
        close(fd);
    }
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

static void check_close(const struct ws_frame frame, int code, const char *name)
{
    ck_assert_msg(frame.opcode == 8 && frame.close_code == code,
                  "%s: opcode %d, code %d, wanted close %d", name, frame.opcode, frame.close_code,
                  code);
    free(frame.payload);
}

START_TEST(closes_on_bad_frames)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    size_t big = HONE_LIMIT_WS_MESSAGE_BYTES + 1;
    char *zeros = calloc(1, big);
    memset(zeros, ' ', big);

    int fd = ws_open_session(&served);
    ws_send_frame(fd, 2, true, true, "{}", 2);
    check_close(ws_receive(fd, 5000), 1003, "binary");
    close(fd);

    fd = ws_open_session(&served);
    ws_send_frame(fd, 1, true, true, "\"\xff\xfe\"", 4);
    check_close(ws_receive(fd, 5000), 1007, "bad UTF-8");
    close(fd);

    fd = ws_open_session(&served);
    ws_send_frame(fd, 1, true, true, zeros, big);
    check_close(ws_receive(fd, 10000), 1009, "too large");
    close(fd);

    fd = ws_open_session(&served);
    for (size_t i = 0; i < 65; i++)
        ws_send_frame(fd, i == 0 ? 1 : 0, false, true, zeros, 65536);
    check_close(ws_receive(fd, 10000), 1009, "too large in fragments");
    close(fd);

    /* at the limit: taken, and found to be no JSON */
    fd = ws_open_session(&served);
    ws_send_frame(fd, 1, true, true, zeros, HONE_LIMIT_WS_MESSAGE_BYTES);
    free(ws_wait_for(fd, "-32700", 10000));
    close(fd);

    free(zeros);
    check_alive(&served);
    ck_assert_int_lt(served_rss_kib(&served), MEMORY_FACTOR * 100 * 1024);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

/* The library does not show the mask bit, so such frames count like others; what matters is that
 * nothing breaks. */
START_TEST(survives_unmasked_frames)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    int fd = ws_open_session(&served);
    const char *text = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}";
    ws_send_frame(fd, 1, true, false, text, strlen(text));
    struct ws_frame frame = ws_receive(fd, 5000);
    ck_assert(frame.opcode == 8 || frame.opcode == -1 ||
              (frame.opcode == 1 && strstr(frame.payload, "\"id\":5,")));
    free(frame.payload);
    close(fd);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(joins_fragments_of_one_byte)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    int fd = ws_open_session(&served);
    const char *text = "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\xa9\xe2\x82\xac\",\"method\":\"ping\"}";
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        ws_send_frame(fd, i == 0 ? 1 : 0, i + 1 == len, true, text + i, 1);
        if (i == len / 2)
            ws_send_frame(fd, 9, true, true, "between", 7); /* a control frame may come between */
    }
    free(ws_wait_for(fd, "\"id\":\"\xc3\xa9\xe2\x82\xac\",\"result\":{}", 5000));
    close(fd);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(half_heads_are_dropped_and_harm_nobody)
{
    enum { N = 200 };
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    int fds[N];
    for (int i = 0; i < N; i++) {
        fds[i] = tcp_open(served.port);
        tcp_send_text(fds[i], "GET /mcp HTTP/1.1\r\nHost: loc");
    }
    check_alive(&served);
    int64_t start = now_ms();
    bool is_closed;
    char *answer = tcp_read(fds[0], NULL, 25000, &is_closed);
    ck_assert(is_closed);
    ck_assert_int_lt(now_ms() - start, 25000);
    free(answer);
    for (int i = 0; i < N; i++)
        close(fds[i]);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(large_heads_are_read_and_huge_ones_refused)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    char *extra = malloc(40000);
    for (int is_huge = 0; is_huge < 2; is_huge++) {
        int fd = tcp_open(served.port),
            pad = is_huge ? 30000 : 3000; /* a request line's header may fill the default head */
        snprintf(extra, 40000, "Authorization: Bearer %s\r\nX-Pad: %0*d\r\n", served.token, pad, 7);
        char *text = malloc(41000), *answer;
        bool is_closed;
        snprintf(text, 41000,
                 "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
                 "websocket\r\nSec-WebSocket-Version: "
                 "13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
                 "mcp\r\n%s\r\n",
                 extra);
        tcp_send_text(fd, text);
        answer = tcp_read(fd, "\r\n\r\n", 12000, &is_closed);
        if (is_huge)
            ck_assert_ptr_null(strstr(answer, "101 "));
        else
            check_status(answer, "101", "a head of 3 KB");
        free(answer);
        free(text);
        close(fd);
    }
    free(extra);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(a_peer_that_never_reads_is_bounded)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    int fd = ws_open_session(&served), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    /* each answer has tens of KB; ask until the server stops reading */
    int64_t end = now_ms() + 5000;
    size_t n = 0;
    unsigned char frame[200];
    const char *text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    size_t len = strlen(text);
    frame[0] = 0x81;
    frame[1] = (unsigned char)(0x80 | len);
    memset(frame + 2, 0, 4);
    memcpy(frame + 6, text, len);
    while (now_ms() < end) {
        ssize_t sent = send(fd, frame, len + 6, MSG_NOSIGNAL);
        if (sent == (ssize_t)(len + 6)) {
            n++;
            continue;
        }
        if (sent >= 0)
            break; /* a cut frame: the stream is no longer usable, and the point is made */
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
        if (poll(&poll_fd, 1, 1000) == 0)
            break;
        if (poll_fd.revents & (POLLERR | POLLHUP))
            break;
    }
    ck_assert_uint_gt(n, 20);
    check_alive(&served);
    ck_assert_int_lt(served_rss_kib(&served), MEMORY_FACTOR * 64 * 1024);
    close(fd);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(frames_behind_the_handshake_are_read)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    char text[1024];
    int fd = tcp_open(served.port);
    int n = snprintf(text, sizeof(text),
                     "GET /mcp?token=%s HTTP/1.1\r\nHost: localhost\r\nConnection: "
                     "Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                     "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
                     "mcp\r\n\r\n",
                     served.token);
    const char *ping = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
    text[n++] = (char)0x81;
    text[n++] = (char)(0x80 | strlen(ping));
    memset(text + n, 0, 4);
    n += 4;
    memcpy(text + n, ping, strlen(ping));
    tcp_send(fd, text, (size_t)n + strlen(ping));
    bool is_closed;
    char *answer = tcp_read(fd, "\r\n\r\n", 5000, &is_closed);
    check_status(answer, "101", "upgrade");
    free(answer);
    free(ws_wait_for(fd, "\"id\":7,", 5000));
    /* a hundred requests at once are answered in order */
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
        ws_send(fd, text);
    }
    for (int i = 0; i < 100; i++) {
        struct ws_frame frame = ws_receive(fd, 5000);
        snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", i);
        ck_assert_str_eq(frame.payload, text);
        free(frame.payload);
    }
    close(fd);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

/* True when the process holds a descriptor for epoll. */
static bool has_epoll(pid_t pid)
{
    glob_t all = {.gl_pathc = 0};
    char pattern[64], target[64];
    bool has = false;
    snprintf(pattern, sizeof(pattern), "/proc/%d/fd/*", (int)pid);
    ck_assert_int_eq(glob(pattern, 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        ssize_t len = readlink(all.gl_pathv[i], target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        has = has || strcmp(target, "anon_inode:[eventpoll]") == 0;
    }
    globfree(&all);
    return has;
}

/* poll would make each request of one as dear as all connections are many. */
START_TEST(idle_connections_are_not_polled)
{
    struct served served = {.pid = 0};
    glob_t plugin = {.gl_pathc = 0};
    bool is_there = glob("/usr/lib/*/libwebsockets-evlib_uv.so", 0, NULL, &plugin) == 0;
    globfree(&plugin);
    served_start(&served, NULL);
    ck_assert_int_eq(has_epoll(served.pid), is_there);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(connections_are_limited)
{
    struct served served = {.pid = 0};
    served_start(&served, NULL);
    static int fds[HONE_LIMIT_CONNECTIONS];
    char path[200];
    snprintf(path, sizeof(path), "/mcp?token=%s", served.token);
    for (int i = 0; i < HONE_LIMIT_CONNECTIONS; i++)
        fds[i] = ws_open(&served);
    int fd = tcp_open(served.port);
    char *answer = ws_upgrade(fd, &served, &(struct ws_head){.path = path});
    check_status(answer, "503", "one connection too many");
    free(answer);
    close(fd);
    close(fds[0]);
    usleep(200000);
    fds[0] = ws_open(&served);
    for (int i = 0; i < HONE_LIMIT_CONNECTIONS; i++)
        close(fds[i]);
    usleep(200000);
    check_alive(&served);
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);
    served_remove(&served);
}
END_TEST

START_TEST(token_file_is_private)
{
    struct served served = {.pid = 0};
    char path[300], *out, *err;
    struct stat st;
    served_start(&served, NULL);
    snprintf(path, sizeof(path), "%s/.hone/token", served.dir);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq((int)(st.st_mode & 0777), 0600);
    snprintf(path, sizeof(path), "%s/.hone/serve.json", served.dir);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq((int)(st.st_mode & 0777), 0600);
    char token[80];
    strcpy(token, served.token);
    struct served second = served; /* serves beside the first, which --url auto goes on finding */
    served_start(&second, NULL);
    ck_assert_int_eq(served_stop(&second, SIGTERM), 0);
    const char *const call[] = {"call", "task_show",   "{\"name\":\"sum\"}", "--url",
                                "auto", "--workspace", served.dir,           NULL};
    ck_assert_int_eq(hone_program_run(call, NULL, &out, &err), 0);
    free(out);
    free(err);
    ck_assert_int_eq(served_stop(&served, SIGINT), 0);
    ck_assert_int_ne(stat(path, &st), 0); /* gone with the server */

    served_start(&served, NULL);
    ck_assert_str_eq(token, served.token); /* the same after a restart */
    ck_assert_int_eq(served_stop(&served, SIGTERM), 0);

    snprintf(path, sizeof(path), "%s/.hone/token", served.dir);
    chmod(path, 0644);
    const char *const args[] = {"serve",    "--workspace", served.dir,
                                "--listen", "127.0.0.1:0", NULL};
    ck_assert_int_gt(hone_program_run(args, NULL, &out, &err), 0);
    ck_assert_msg(strstr(err, "chmod 600") != NULL, "%s", err);
    free(out);
    free(err);
    served_remove(&served);
}
END_TEST

UNIT_MAIN("ws_rules", listens_on_loopback_alone, refuses_bad_listen_addresses,
          answers_plain_http_at_once, upgrades_only_what_it_should,
          second_request_on_a_connection_is_not_read, connect_and_noise_get_no_connection,
          closes_on_bad_frames, survives_unmasked_frames, joins_fragments_of_one_byte,
          half_heads_are_dropped_and_harm_nobody, large_heads_are_read_and_huge_ones_refused,
          a_peer_that_never_reads_is_bounded, frames_behind_the_handshake_are_read,
          connections_are_limited, idle_connections_are_not_polled, token_file_is_private)
