/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 of `hone serve` at random moments while three clients evaluate: every version that an
 * answer named is in the history and its evaluation in the ledger, the audit log has whole lines,
 * and the server starts again each time.
 *
 *   KILLS=100 SEED=1 build/tests/e2e/kill_serve_test      default: 10 kills */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/buf.h"
#include "workspace/base/file.h"

#define N_CLIENTS   3
#define IN_FLIGHT   4 /* calls of one client */
#define MAX_MS      250
#define MOST_MS     60000 /* for an answer */
#define COMMIT_TEXT "\\\"commit\\\":\\\""

struct load {
    struct served served;
    int fds[N_CLIENTS];
    unsigned seed;
    int n_sent, n_acknowledged;
    struct hone_buf commits; /* 40 digits and a newline each */
};

static unsigned below(struct load *load, unsigned n)
{
    return (unsigned)rand_r(&load->seed) % n;
}

static void send_call(struct load *load, int fd)
{
    char text[400];
    int id = ++load->n_sent;
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"kernel_evaluate\",\"arguments\":{\"task\":\"sum\",\"source\":\"int n%d;\"}}}",
             id, id);
    ws_send(fd, text);
}

/* False: the server is gone. */
static bool take_answer(struct load *load, int fd)
{
    struct ws_frame frame = ws_receive(fd, 10000);
    const char *commit = frame.payload ? strstr(frame.payload, COMMIT_TEXT) : NULL;
    bool is_answer = frame.opcode == 1;
    ck_assert_msg(!is_answer || commit != NULL, "no version in: %s", frame.payload);
    if (commit != NULL) {
        hone_buf_add(&load->commits, commit + strlen(COMMIT_TEXT), 40);
        hone_buf_str(&load->commits, "\n");
        load->n_acknowledged++;
    }
    free(frame.payload);
    return is_answer;
}

/* Until then, and where the machine has no time for us until as many answers have come. */
static void play(struct load *load, int64_t until_ms, int n_least)
{
    int64_t most_ms = until_ms + MOST_MS;
    while (now_ms() < until_ms || (load->n_acknowledged < n_least && now_ms() < most_ms)) {
        struct pollfd polled[N_CLIENTS];
        for (int i = 0; i < N_CLIENTS; i++)
            polled[i] = (struct pollfd){.fd = load->fds[i], .events = POLLIN};
        poll(polled, N_CLIENTS, now_ms() < until_ms ? (int)(until_ms - now_ms()) + 1 : 10);
        for (int i = 0; i < N_CLIENTS; i++)
            if (polled[i].revents && take_answer(load, load->fds[i]))
                send_call(load, load->fds[i]);
    }
}

/* What the dead server had written is still in the sockets. */
static void drain(struct load *load)
{
    for (int i = 0; i < N_CLIENTS; i++) {
        while (take_answer(load, load->fds[i]))
            ;
        close(load->fds[i]);
    }
}

static void check_log(struct load *load)
{
    const char *const args[] = {"log",    "--workspace", load->served.dir, "--all",
                                "--json", "--max",       "1000000",        NULL};
    HONE_AUTOFREE char *path = hone_path_join(load->served.dir, ".hone", "audit.log", NULL);
    HONE_AUTOFREE char *audit = NULL;
    char *out, *err;
    size_t len;
    ck_assert_msg(hone_program_run(args, NULL, &out, &err) == 0, "%s", err);
    for (const char *c = load->commits.data; c && *c; c += 41) {
        char commit[41];
        snprintf(commit, sizeof(commit), "%.40s", c);
        const char *row = strstr(out, commit);
        ck_assert_msg(row != NULL, "version %s was acknowledged and is gone", commit);
        const char *end = strstr(row, "\"subject\"");
        ck_assert_ptr_nonnull(end);
        const char *verdict = strstr(row, "\"verdict\":\"");
        ck_assert_msg(verdict != NULL, "the evaluation of %s is gone", commit);
    }
    ck_assert_int_eq(hone_file_read(path, 64u << 20, &audit, &len, NULL), 0);
    for (char *line = audit, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        ck_assert_ptr_nonnull(end);
        ck_assert_msg(line[0] == '{' && end[-1] == '}', "torn: %.*s", (int)(end - line), line);
    }
    free(out);
    free(err);
}

START_TEST(nothing_acknowledged_is_lost)
{
    struct load load = {.seed = (unsigned)now_ms()};
    int n_kills = getenv("KILLS") ? atoi(getenv("KILLS")) : 10;
    if (getenv("SEED"))
        load.seed = (unsigned)atoi(getenv("SEED"));
    load.commits.limit = 64u << 20;
    for (int kills = 0; kills < n_kills; kills++) {
        served_start(&load.served, NULL);
        for (int i = 0; i < N_CLIENTS; i++) {
            load.fds[i] = ws_open_session(&load.served);
            for (int k = 0; k < IN_FLIGHT; k++)
                send_call(&load, load.fds[i]);
        }
        play(&load, now_ms() + below(&load, MAX_MS), kills + 2);
        ck_assert_int_eq(served_stop(&load.served, SIGKILL), -SIGKILL);
        drain(&load);
    }
    printf("# %d kills, %d calls sent, %d acknowledged\n", n_kills, load.n_sent,
           load.n_acknowledged);
    ck_assert_int_gt(load.n_acknowledged, n_kills);
    check_log(&load);
    hone_buf_done(&load.commits);
    served_remove(&load.served);
}
END_TEST

UNIT_MAIN("kill_serve", nothing_acknowledged_is_lost)
