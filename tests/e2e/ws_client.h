/* SPDX-License-Identifier: Apache-2.0 */
/* Raw sockets for the tests: HTTP heads and WebSocket frames exactly as a test wants them, and a
 * `hone serve` to aim them at.
 *
 * Everything has a time limit and fails the test (Check) when it passes it. */
#ifndef HONE_TESTS_WS_CLIENT_H
#define HONE_TESTS_WS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct served { /* a `hone serve` on a workspace of its own, with the fake executor */
    pid_t pid;
    int port;
    char token[80]; /* "" with --auth none */
    char dir[200];  /* the workspace */
    int err_fd;     /* its stderr */
};

/* args: further arguments, NULL-terminated, may be NULL. A served whose dir is set already is
 * restarted there. */
void served_start(struct served *served, const char *const *args);
/* SIGTERM, or another signal; waits; the exit status, or -signal. */
int served_stop(struct served *served, int signal_number);
void served_remove(struct served *served); /* the workspace */
long served_rss_kib(const struct served *served);
double served_cpu_s(const struct served *served);

const char *hone_program(void); /* $HONE_BUILD/hone */
/* Runs hone with these arguments (NULL-terminated) and input; owned stdout, NULL-terminated. err
 * may be NULL. */
int hone_program_run(const char *const *args, const char *input, char **ret_out, char **ret_err);

int tcp_open(int port); /* connected to 127.0.0.1 */
void tcp_send(int fd, const void *bytes, size_t len);
void tcp_send_text(int fd, const char *text);
/* Reads until the peer closes, `until` is seen (may be NULL) or the time is over; owned text.
 * *ret_closed: the peer closed. */
char *tcp_read(int fd, const char *until, int timeout_ms, bool *ret_closed);

/* Sends an upgrade head with these extra header lines ("X: y\r\n"); NULL fields take the good
 * value. Answer: the response head, owned. */
struct ws_head {
    const char *method, *path, *host, *upgrade, *protocol, *version, *extra;
    bool no_host, no_protocol;
};
char *ws_upgrade(int fd, const struct served *served, const struct ws_head *head);
/* A ready connection: upgraded with the token, nothing sent yet. */
int ws_open(const struct served *served);
/* The same, and initialized. */
int ws_open_session(const struct served *served);

struct ws_frame {
    int opcode; /* 1 text, 2 binary, 8 close, 9 ping, 10 pong; -1: the peer closed the socket; -2:
                   time over */
    bool is_final;
    char *payload; /* owned, NUL-terminated */
    size_t len;
    int close_code; /* of a close frame */
};
void ws_send_frame(int fd, int opcode, bool is_final, bool is_masked, const void *payload,
                   size_t len);
void ws_send(int fd, const char *text);
/* Next data or close frame; pings are answered, fragments are joined. */
struct ws_frame ws_receive(int fd, int timeout_ms);
/* Sends and waits for the message with that id; owned text. */
char *ws_ask(int fd, const char *id, const char *method, const char *params);
/* Waits until a message contains the text; owned. */
char *ws_wait_for(int fd, const char *text, int timeout_ms);

int64_t now_ms(void);

#endif
