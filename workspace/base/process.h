/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes with a deadline, captured output, and kill of everything they started.
 *
 * A child runs in a session of its own, with stdin, stdout, stderr and the passed descriptors only.
 * When it ends, by itself or on deadline or cancel, everything that it started is killed and
 * reaped: its group, its session, its descendants, and daemons that left both (found as orphans of
 * this program, which hone_process_init makes a subreaper, by the variable HONE_PROCESS in their
 * environment). A program that wipes its environment, forks twice and calls setsid within
 * microseconds can still escape: hostile code belongs into a jail with a pid namespace. A daemon
 * that ends by itself before its starter does stays a zombie until this program ends. No shell is
 * involved: argv is an array. */
#ifndef HONE_BASE_PROCESS_H
#define HONE_BASE_PROCESS_H

#include <stdatomic.h>
#include "workspace/base/buf.h"

/* Cancellation flag that one thread sets and another polls; also wakes a waiting hone_process_wait
 * through the eventfd. */
struct hone_cancel {
    atomic_bool is_set;
    int event_fd;                     /* readable once set */
    const struct hone_cancel *parent; /* set when this one is; NULL: none */
    _Atomic int64_t until_ns;         /* set from then on; 0: never */
};
int hone_cancel_init(struct hone_cancel *cancel, struct hone_err *err);
void hone_cancel_set(struct hone_cancel *cancel);          /* any thread, async-signal-safe */
bool hone_cancel_is_set(const struct hone_cancel *cancel); /* NULL: false */
void hone_cancel_done(struct hone_cancel *cancel);

/* One that is set when its parent (NULL: none) is, or from a time on. It is not set by hand. */
struct hone_cancel_timer {
    struct hone_cancel cancel;
    int timer_fd;
};
int hone_cancel_timer_init(struct hone_cancel_timer *timer, const struct hone_cancel *parent,
                           int64_t until_ns, struct hone_err *err);
void hone_cancel_timer_move(struct hone_cancel_timer *timer, int64_t until_ns); /* any thread */
void hone_cancel_timer_done(struct hone_cancel_timer *timer);

struct hone_process_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is a path, or a name looked up in /usr/bin
                                and /bin only */
    const char *const *env;  /* NULL-terminated "A=b"; NULL: a minimal one (PATH, LANG=C) */
    const char *cwd;         /* NULL: inherit */
    const char *stdin_text;  /* NULL: /dev/null */
    size_t stdin_len;
    bool has_stdio_fd; /* stdin and stdout are both stdio_fd (one end of a socket pair); out is then
                          empty and on_line is not called */
    int stdio_fd;
    size_t out_limit; /* kept bytes of stdout and of stderr, each; the rest is read and dropped (0:
                         HONE_LIMIT_LOG_BYTES) */
    bool ends_when_cut;               /* it is killed when its stdout reaches out_limit */
    int64_t deadline_ns;              /* absolute; HONE_NO_DEADLINE */
    const struct hone_cancel *cancel; /* may be NULL */
    int term_ms; /* at cancel and deadline: SIGTERM to its group, and so long until the kill (0: none) */
    /* Called for each whole line of stdout as it comes (without newline); NULL: none. */
    void (*on_line)(void *arg, const char *line, size_t len);
    void *on_line_arg;
    int pass_fds[4]; /* descriptors the child keeps, as 3, 4, ...; n_pass_fds of them */
    size_t n_pass_fds;
};

struct hone_process_result {
    int exit_status; /* 0-255, or -1 when killed by a signal */
    int signal;      /* 0 or the signal */
    bool timed_out;
    bool cancelled;
    int64_t wall_ns;
    int64_t cpu_ns; /* user + system of the child and its waited-for children */
    int64_t max_rss_bytes;
    char *out; /* owned, NUL-terminated, may be cut */
    size_t out_len;
    bool out_cut;
    char *err; /* owned; stderr */
    size_t err_len;
    bool err_cut;
};

/* Once per program, early: subreaper, SIGPIPE ignored. */
void hone_process_init(void);
/* Runs to the end. 0 when the child ran, however it ended (look at the result); HONE_E_TARGET when
 * it could not be started. Blocks. Any thread. */
int hone_process_run(const struct hone_process_spec *spec, struct hone_process_result *ret,
                     struct hone_err *err);
void hone_process_result_done(struct hone_process_result *result);

#endif
