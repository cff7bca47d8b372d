/* SPDX-License-Identifier: Apache-2.0 */
/* A server inside the fuzzer, on loopback, with one harmless tool: for targets that send it bytes. It
 * lives as long as the process. The token of its owner is HONE_FUZZ_TOKEN. */
#ifndef HONE_TESTS_FUZZ_NET_H
#define HONE_TESTS_FUZZ_NET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server/rpc/net_ws.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define HONE_FUZZ_TOKEN  "token-of-the-fuzzer"
#define HONE_FUZZ_ALIVE  64  /* after so many inputs a good request must be answered */
#define HONE_FUZZ_ANSWER 3   /* ms that an answer may take before the client hangs up half */
#define HONE_FUZZ_END_MS 300 /* then it hangs up */

struct hone_fuzz_in {
    int64_t n;
};
struct hone_fuzz_out {
    struct hone_head head;
};
static const struct hone_field hone_fuzz_in_fields[] = {
    HONE_FIELD(struct hone_fuzz_in, n, .min = 0, .max = 1000, .help = "A number.")};
static const struct hone_field hone_fuzz_out_fields[] = {HONE_HEAD_FIELDS(struct hone_fuzz_out)};

static inline int hone_fuzz_run(struct hone_tool_ctx *ctx, const void *in, void *out,
                                struct hone_err *err)
{
    const struct hone_fuzz_in *i = in;
    struct hone_fuzz_out *o = out;
    (void)err;
    hone_tool_progress(ctx, (double)i->n, 1000, "n");
    o->head.status = "ok";
    o->head.summary = "done";
    return 0;
}

static const struct hone_tool hone_fuzz_tool = {.name = "n",
                                                .title = "n",
                                                .summary = "n",
                                                .description = "n",
                                                .flags = HONE_TOOL_READ_ONLY,
                                                .in = hone_fuzz_in_fields,
                                                .n_in = HONE_COUNTOF(hone_fuzz_in_fields),
                                                .in_size = sizeof(struct hone_fuzz_in),
                                                .out = hone_fuzz_out_fields,
                                                .n_out = HONE_COUNTOF(hone_fuzz_out_fields),
                                                .out_size = sizeof(struct hone_fuzz_out),
                                                .run = hone_fuzz_run};
static const struct hone_tool *const hone_fuzz_tools[] = {&hone_fuzz_tool};
static const struct hone_tool_set hone_fuzz_set = {.tools = hone_fuzz_tools, .n = 1};

struct hone_fuzz_server {
    char dir[40];
    struct hone_mcp mcp;
    struct hone_ws_spec spec;
    struct hone_ws *ws;
    atomic_int port; /* 0: not yet */
    unsigned long n_inputs;
};
static struct hone_fuzz_server hone_fuzz_server;

static inline void *hone_fuzz_serve(void *arg)
{
    struct hone_fuzz_server *server = arg;
    struct hone_err err = HONE_ERR_INIT;
    HONE_BUG_ON(hone_ws_new(&server->spec, &server->ws, &err) < 0);
    atomic_store(&server->port, hone_ws_port(server->ws));
    hone_ws_run(server->ws);
    return NULL;
}

static inline void hone_fuzz_forget(void)
{
    hone_remove_tree(hone_fuzz_server.dir, NULL);
}

static inline void hone_fuzz_start(struct hone_fuzz_server *server)
{
    static const struct hone_tool_set *const sets[] = {&hone_fuzz_set};
    struct hone_err err = HONE_ERR_INIT;
    pthread_t thread;
    strcpy(server->dir, "/tmp/hone-fuzz.XXXXXX");
    HONE_BUG_ON(!mkdtemp(server->dir));
    HONE_AUTOFREE char *dir = hone_path_join(server->dir, "ws", NULL);
    HONE_AUTOFREE char *tokens = hone_path_join(server->dir, "tokens", NULL);
    HONE_BUG_ON(hone_workspace_init(dir, NULL, true, &err) < 0);
    atexit(hone_fuzz_forget);
    const struct hone_app_spec app = {
        .workspace_dir = dir, .executor = {.name = "fake"}, .sets = sets, .n_sets = 1};
    HONE_BUG_ON(hone_runtime_open(&app, &server->mcp.runtime, &err) < 0);
    server->mcp.caller = "fuzz";
    server->spec = (struct hone_ws_spec){.host = "127.0.0.1",
                                         .clients = hone_clients_new(tokens, HONE_FUZZ_TOKEN),
                                         .access = {.is_loopback = true},
                                         .mcp = &server->mcp};
    HONE_BUG_ON(pthread_create(&thread, NULL, hone_fuzz_serve, server) != 0);
    pthread_detach(thread);
    while (atomic_load(&server->port) == 0)
        poll(NULL, 0, 1);
}

static inline int hone_fuzz_connect(void)
{
    struct hone_fuzz_server *server = &hone_fuzz_server;
    if (!server->ws)
        hone_fuzz_start(server);
    union {
        struct sockaddr_in v4;
        struct sockaddr any;
    } address = {
        .v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atomic_load(&server->port))}};
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    HONE_BUG_ON(fd < 0 || connect(fd, &address.any, sizeof(address.v4)) < 0);
    return fd;
}

/* What comes until the other side ends or ms are over; up to len bytes are kept. */
static inline size_t hone_fuzz_read(int fd, char *kept, size_t len, int ms)
{
    char bytes[4096];
    size_t n_kept = 0;
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    while (poll(&polled, 1, ms) > 0) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
        if (n <= 0)
            break;
        size_t part = (size_t)n < len - n_kept ? (size_t)n : len - n_kept;
        memcpy(kept + n_kept, bytes, part);
        n_kept += part;
    }
    return n_kept;
}

/* The server still answers a good request. */
static inline void hone_fuzz_check_alive(void)
{
    static const char good[] =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " HONE_FUZZ_TOKEN
        "\r\nContent-Type: application/json\r\nContent-Length: 59\r\n\r\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{ }}";
    char answer[200] = "";
    if (++hone_fuzz_server.n_inputs % HONE_FUZZ_ALIVE != 0)
        return;
    int fd = hone_fuzz_connect();
    HONE_BUG_ON(send(fd, good, sizeof(good) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(good) - 1);
    size_t n = hone_fuzz_read(fd, answer, sizeof(answer) - 1, 10000);
    HONE_BUG_ON(n < 12 || memcmp(answer, "HTTP/1.1 200", 12) != 0);
    close(fd);
}

/* The input in one or two writes, then half a goodbye. */
static inline void hone_fuzz_talk(int fd, const uint8_t *data, size_t size)
{
    char kept[16];
    size_t first =
        size > 0 ? data[size - 1] % (size + 1) : 0; /* the last byte says where it is cut */
    send(fd, data, first, MSG_NOSIGNAL);
    send(fd, data + first, size - first, MSG_NOSIGNAL);
    hone_fuzz_read(fd, kept, sizeof(kept), HONE_FUZZ_ANSWER);
    shutdown(fd, SHUT_WR);
    hone_fuzz_read(fd, kept, sizeof(kept), HONE_FUZZ_END_MS);
    close(fd);
    hone_fuzz_check_alive();
}

#endif
