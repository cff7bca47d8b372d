/* SPDX-License-Identifier: Apache-2.0 */
/* How fast is an empty call? `hone serve` beside a bare libwebsockets echo in a process of its own,
 * in one run, so that the two rows of a pair saw the same machine. Over WebSocket, and over HTTP, where
 * each request has a connection of its own, in all servers. Then the same with idle connections.
 * Over HTTP a server of the TypeScript SDK is the third (tests/interop/sdk_server.mjs), where node and
 * the packages of tests/interop are installed.
 *
 *   ws_bench [SECONDS_PER_ROW]     (HONE_BUILD names the build tree)
 *
 * One request in flight on each connection. Rows: requests a second, median and 99th percentile of
 * a round trip, CPU time of the server for one request (the figure that still means something on a
 * busy machine), resident memory. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workspace/base/clock.h"

#define MAX_CONNECTIONS 64
#define N_IDLE          1000
#define FRAME_BYTES     65536
#define MAX_US          200000

struct target { /* what is measured */
    const char *name;
    pid_t pid;
    int port;
    char token[80];
    char session[192]; /* further lines of the head, for HTTP */
};

struct conn {
    int fd;
    int64_t sent_ns;
    size_t len; /* bytes in frame */
    unsigned char frame[FRAME_BYTES];
};

struct row {
    const struct target *target;
    const char *what, *request;
    bool is_http;
    int n_connections, n_idle;
    double seconds;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the bare echo ---- */

struct echo_conn {
    size_t len;
    unsigned char bytes[LWS_PRE + 4096];
};

static int on_echo(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t len)
{
    struct echo_conn *conn = user;
    if (reason == LWS_CALLBACK_RECEIVE && len <= 4096) {
        memcpy(conn->bytes + LWS_PRE, in, len);
        conn->len = len;
        lws_callback_on_writable(wsi);
    }
    if (reason == LWS_CALLBACK_SERVER_WRITEABLE && conn->len > 0) {
        lws_write(wsi, conn->bytes + LWS_PRE, conn->len, LWS_WRITE_TEXT);
        conn->len = 0;
    }
    return 0;
}

/* The least that answers a POST: what came is not looked at. */
static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t len)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    unsigned char bytes[LWS_PRE + sizeof(answer)];
    if (reason == LWS_CALLBACK_HTTP || reason == LWS_CALLBACK_HTTP_BODY)
        return 0;
    if (reason != LWS_CALLBACK_HTTP_BODY_COMPLETION)
        return lws_callback_http_dummy(wsi, reason, user, in, len);
    memcpy(bytes + LWS_PRE, answer, sizeof(answer) - 1);
    lws_write(wsi, bytes + LWS_PRE, sizeof(answer) - 1, LWS_WRITE_HTTP);
    return -1;
}

static const struct lws_protocols echo_protocols[] = {
    {.name = "http", .callback = on_http},
    {.name = "mcp", .callback = on_echo, .per_session_data_size = sizeof(struct echo_conn)},
    {.name = NULL},
};

static void start_echo(struct target *target)
{
    int ports[2];
    if (pipe2(ports, O_CLOEXEC) < 0)
        die("pipe");
    target->pid = fork();
    if (target->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        lws_set_log_level(0, NULL);
        struct lws_context_creation_info info = {.iface = "127.0.0.1",
                                                 .protocols = echo_protocols,
                                                 .options = LWS_SERVER_OPTION_DISABLE_IPV6,
                                                 .gid = -1,
                                                 .uid = -1,
                                                 .fd_limit_per_thread = 2048};
        struct lws_context *context = lws_create_context(&info);
        if (!context)
            die("echo server");
        int port = lws_get_vhost_listen_port(lws_get_vhost_by_name(context, "default"));
        if (write(ports[1], &port, sizeof(port)) != sizeof(port))
            die("pipe");
        while (lws_service(context, 0) >= 0)
            ;
        _exit(0);
    }
    if (read(ports[0], &target->port, sizeof(target->port)) != sizeof(target->port))
        die("echo server");
    close(ports[0]);
    close(ports[1]);
}

/* ---- hone ---- */

static void start_hone(struct target *target, const char *dir)
{
    const char *build = getenv("HONE_BUILD");
    char program[4096], workspace[200], line[512], command[5000];
    int err[2];
    snprintf(program, sizeof(program), "%s/hone", build ? build : "build");
    snprintf(workspace, sizeof(workspace), "%s/ws", dir);
    snprintf(command, sizeof(command), "'%s' init '%s' 2>/dev/null", program, workspace);
    if (system(command) != 0 || pipe(err) < 0)
        die("hone init");
    target->pid = fork();
    if (target->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(err[1], 2);
        setenv("HONE_EXECUTOR", "fake", 1);
        execl(program, "hone", "serve", "--workspace", workspace, "--listen", "127.0.0.1:0", NULL);
        die(program);
    }
    close(err[1]);
    FILE *file = fdopen(err[0], "r");
    const char *url = NULL;
    while (!url && file && fgets(line, sizeof(line), file))
        url = strstr(line, "ws://127.0.0.1:");
    if (!url ||
        sscanf(url, "ws://127.0.0.1:%d/mcp?token=%79[0-9a-f]", &target->port, target->token) != 2)
        die("hone serve");
}

/* ---- the TypeScript SDK ---- */

static void open_socket(struct conn *conn, const struct target *target);

/* A session, as its clients have one; "" and port 0: there is no such server here. */
static void open_session(struct target *target)
{
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"b\",\"version\":\"1\"}}}";
    struct conn conn;
    char text[4096], id[80];
    size_t len = 0;
    ssize_t n =
        snprintf(text, sizeof(text),
                 "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                 "Accept: application/json, text/event-stream\r\nConnection: close\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 strlen(hello), hello);
    open_socket(&conn, target);
    if (send(conn.fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        die("send");
    while (len < sizeof(text) - 1 && (n = recv(conn.fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(conn.fd);
    const char *at = strcasestr(text, "mcp-session-id: ");
    if (!at || sscanf(at + 16, "%79[0-9a-f-]", id) != 1)
        die("the SDK's session");
    snprintf(target->session, sizeof(target->session),
             "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n", id);
}

static void start_sdk(struct target *target)
{
    int out[2];
    char line[32] = "";
    if (access("tests/interop/node_modules/@modelcontextprotocol/sdk", R_OK) < 0 || pipe(out) < 0)
        return;
    target->pid = fork();
    if (target->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], 1);
        execlp("node", "node", "tests/interop/sdk_server.mjs", NULL);
        _exit(1);
    }
    close(out[1]);
    FILE *file = fdopen(out[0], "r");
    if (file && fgets(line, sizeof(line), file))
        target->port = atoi(line);
    if (target->port > 0)
        open_session(target);
}

static double cpu_seconds(pid_t pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof(text), file))
        sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
               &user, &kernel);
    if (file)
        fclose(file);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static long rss_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

/* ---- the client ---- */

static void send_text(struct conn *conn, const char *text)
{
    unsigned char frame[4200];
    size_t len = strlen(text), n = 0;
    frame[n++] = 0x81;
    if (len < 126) {
        frame[n++] = (unsigned char)(0x80 | len);
    } else {
        frame[n++] = 0x80 | 126;
        frame[n++] = (unsigned char)(len >> 8);
        frame[n++] = (unsigned char)(len & 255);
    }
    memset(frame + n, 0, 4); /* a mask of zeros */
    memcpy(frame + n + 4, text, len);
    conn->sent_ns = hone_now_ns();
    if (send(conn->fd, frame, n + 4 + len, MSG_NOSIGNAL) != (ssize_t)(n + 4 + len))
        die("send");
}

/* Bytes of the first frame in the buffer, 0 when it is not whole yet. */
static size_t whole_frame(const struct conn *conn)
{
    const unsigned char *f = conn->frame;
    if (conn->len < 2)
        return 0;
    size_t len = f[1] & 127, head = 2;
    if (len == 126 && conn->len >= 4) {
        len = (size_t)f[2] << 8 | f[3];
        head = 4;
    } else if (len >= 126) {
        return 0;
    }
    return conn->len >= head + len ? head + len : 0;
}

static bool read_frame(struct conn *conn)
{
    ssize_t n = recv(conn->fd, conn->frame + conn->len, sizeof(conn->frame) - conn->len, 0);
    if (n <= 0)
        die("recv");
    conn->len += (size_t)n;
    size_t used = whole_frame(conn);
    if (used == 0)
        return false;
    memmove(conn->frame, conn->frame + used, conn->len - used);
    conn->len -= used;
    return true;
}

static void open_socket(struct conn *conn, const struct target *target)
{
    union {
        struct sockaddr_in v4;
        struct sockaddr any;
    } address = {.v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)target->port)}};
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    conn->len = 0;
    if (connect(conn->fd, &address.any, sizeof(address.v4)) < 0)
        die("connect");
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* A connection for one request. */
static void begin_http(struct conn *conn, const struct row *row, int poll_fd)
{
    char text[2048];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
    conn->sent_ns = hone_now_ns();
    open_socket(conn, row->target);
    int n = snprintf(text, sizeof(text),
                     "POST /mcp?token=%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                     "application/json\r\nAccept: application/json, text/event-stream\r\n"
                     "Connection: close\r\n%sContent-Length: %zu\r\n\r\n%s",
                     row->target->token, row->target->session, strlen(row->request), row->request);
    if (send(conn->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        die("send");
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, conn->fd, &event);
}

/* True when the answer is there: the server ends the connection. */
static bool read_http(struct conn *conn)
{
    ssize_t n = recv(conn->fd, conn->frame + conn->len, sizeof(conn->frame) - conn->len, 0);
    if (n > 0) {
        conn->len += (size_t)n;
        return false;
    }
    if (conn->len < 12 || memcmp(conn->frame + 9, "200", 3) != 0)
        die("HTTP answer");
    conn->len = 0;
    close(conn->fd);
    return true;
}

static void open_conn(struct conn *conn, const struct target *target)
{
    char head[1024];
    open_socket(conn, target);
    int n = snprintf(head, sizeof(head),
                     "GET /mcp?token=%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: "
                     "Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                     "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\r\n",
                     target->token);
    if (send(conn->fd, head, (size_t)n, MSG_NOSIGNAL) != n)
        die("send");
    size_t got = 0;
    while (got < 4 || memcmp(head + got - 4, "\r\n\r\n", 4) != 0)
        if (got == sizeof(head) || recv(conn->fd, head + got++, 1, 0) != 1)
            die("upgrade");
    send_text(conn, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-11-25\"}}");
    while (!read_frame(conn))
        ;
}

static double percentile(const unsigned *histogram, unsigned long n, double share)
{
    unsigned long seen = 0, wanted = (unsigned long)((double)n * share);
    int us = 0;
    while (us < MAX_US - 1 && (seen += histogram[us]) <= wanted)
        us++;
    return us;
}

static void measure(const struct row *row, struct conn *conns, unsigned *histogram)
{
    struct conn *idle = calloc((size_t)row->n_idle + 1, sizeof(*idle));
    for (int i = 0; i < row->n_idle; i++)
        open_conn(&idle[i], row->target);
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    memset(histogram, 0, MAX_US * sizeof(*histogram));
    for (int i = 0; i < row->n_connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &conns[i]};
        if (row->is_http) {
            begin_http(&conns[i], row, poll_fd);
            continue;
        }
        open_conn(&conns[i], row->target);
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, conns[i].fd, &event);
        send_text(&conns[i], row->request);
    }
    int64_t start = hone_now_ns(), warm = start + HONE_NS_PER_S / 3,
            end = warm + (int64_t)(row->seconds * 1e9), now = start;
    unsigned long n = 0;
    double cpu = 0;
    bool is_warm = false;
    while (now < end) {
        struct epoll_event events[MAX_CONNECTIONS];
        int n_events = epoll_wait(poll_fd, events, MAX_CONNECTIONS, 1000);
        for (int i = 0; i < n_events; i++) {
            struct conn *conn = events[i].data.ptr;
            if (!(row->is_http ? read_http(conn) : read_frame(conn)))
                continue;
            now = hone_now_ns();
            int64_t us = (now - conn->sent_ns) / 1000;
            if (is_warm) {
                histogram[us < MAX_US ? us : MAX_US - 1]++;
                n++;
            }
            if (row->is_http)
                begin_http(conn, row, poll_fd);
            else
                send_text(conn, row->request);
        }
        now = hone_now_ns();
        if (!is_warm && now >= warm) {
            is_warm = true;
            cpu = cpu_seconds(row->target->pid);
        }
    }
    cpu = cpu_seconds(row->target->pid) - cpu;
    for (int i = 0; i < row->n_connections; i++)
        close(conns[i].fd);
    close(poll_fd);
    printf("server=%-8s by=%-4s call=%-9s connections=%-2d idle=%-4d requests_per_s=%-8.0f "
           "p50_us=%-6.0f p99_us=%-6.0f server_cpu_us=%-6.1f rss_kib=%ld\n",
           row->target->name, row->is_http ? "http" : "ws", row->what, row->n_connections,
           row->n_idle, (double)n / row->seconds, percentile(histogram, n, 0.5),
           percentile(histogram, n, 0.99), n ? cpu * 1e6 / (double)n : 0,
           rss_kib(row->target->pid));
    fflush(stdout);
    for (int i = 0; i < row->n_idle; i++)
        close(idle[i].fd);
    free(idle);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 16, 64};
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                               "call\",\"params\":{\"name\":\"job_wait\",\"arguments\":{}}}";
    static const char alone[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"job_wait\","
        "\"arguments\":{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    char dir[] = "/tmp/hone-bench.XXXXXX", command[64];
    if (!mkdtemp(dir))
        die("mkdtemp");
    struct target echo = {.name = "lws-echo"}, sdk = {.name = "sdk"},
                  hone = {.name = "hone",
                          .session = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: "
                                     "tools/call\r\nMcp-Name: job_wait\r\n"};
    struct rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &limit);
    start_echo(&echo);
    start_hone(&hone, dir);
    start_sdk(&sdk);
    struct conn *conns = calloc(MAX_CONNECTIONS, sizeof(*conns));
    unsigned *histogram = calloc(MAX_US, sizeof(*histogram));
    if (!conns || !histogram)
        die("calloc");
    printf("idle: hone serve rss_kib=%ld, bare echo rss_kib=%ld\n", rss_kib(hone.pid),
           rss_kib(echo.pid));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const struct row rows[] = {
            {&echo, "echo", ping, false, counts[i], 0, seconds},
            {&hone, "ping", ping, false, counts[i], 0, seconds},
            {&hone, "job_wait", call, false, counts[i], 0, seconds},
            {&echo, "echo", alone, true, counts[i], 0, seconds},
            {&hone, "job_wait", alone, true, counts[i], 0, seconds},
            {&sdk, "job_wait", call, true, counts[i], 0, seconds},
        };
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]) - (sdk.port == 0); k++)
            measure(&rows[k], conns, histogram);
    }
    const struct row idle[] = {
        {&echo, "echo", ping, false, 16, N_IDLE, seconds},
        {&hone, "job_wait", call, false, 16, N_IDLE, seconds},
    };
    for (size_t k = 0; k < sizeof(idle) / sizeof(idle[0]); k++)
        measure(&idle[k], conns, histogram);
    kill(hone.pid, SIGTERM);
    kill(echo.pid, SIGKILL);
    if (sdk.port > 0)
        kill(sdk.pid, SIGKILL);
    waitpid(hone.pid, NULL, 0);
    waitpid(echo.pid, NULL, 0);
    free(conns);
    free(histogram);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) != 0;
}
