/* SPDX-License-Identifier: Apache-2.0 */
/* Two agents and a search on one workspace of one server: each version that an answer named is in
 * the history once, each evaluation has one start, one end and one commit, agents and search all
 * get on, and a call that waits says for what.
 *
 *   CK_FORK=no SECONDS=600 HONE_EXECUTOR=local build/tests/e2e/shared_workspace_test
 *
 * default: CALLS calls of each agent, with the fake executor. Without a fork check sets no limit. */
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

#define N_AGENTS    2
#define CALLS       40
#define QUIET_MS    5000 /* a call that takes longer has to have said something */
#define COMMIT_TEXT "\\\"commit\\\":\\\""

struct agent {
    int fd, n_calls, n_answers, n_told, n_waits;
    int64_t sent_ms, worst_ms;
    bool is_told; /* the call in flight said what it does */
};

struct play {
    struct served served;
    struct agent agents[N_AGENTS];
    struct hone_buf commits; /* 40 digits and a newline each */
    int64_t until_ms;        /* 0: CALLS calls of each */
};

static void call_tool(int fd, int id, const char *name, const char *args)
{
    HONE_AUTOFREE char *text = hone_sprintf(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
        "\"arguments\":%s,\"_meta\":{\"progressToken\":%d}}}",
        id, name, args, id);
    ws_send(fd, text);
}

static void evaluate(struct play *play, struct agent *agent)
{
    HONE_AUTOFREE char *args = hone_sprintf(
        "{\"task\":\"sum\",\"source\":\"#include <stdint.h>\\nvoid sum(const float *X, float *S, "
        "int64_t N)\\n{\\n    double total = 0.0;\\n    for (int64_t i = 0; i < N; i++)\\n        "
        "total += X[i];\\n    S[0] = (float)total;\\n}\\nint agent_%d_version_%d;\\n\"}",
        (int)(agent - play->agents), agent->n_calls);
    agent->sent_ms = now_ms();
    agent->is_told = false;
    call_tool(agent->fd, ++agent->n_calls, "kernel_evaluate", args);
}

static void take(struct play *play, struct agent *agent)
{
    struct ws_frame frame = ws_receive(agent->fd, 10000);
    ck_assert_msg(frame.opcode == 1, "the server is gone");
    if (strstr(frame.payload, "notifications/progress") != NULL) {
        bool has_words = strstr(frame.payload, "\"message\":\"") != NULL;
        agent->is_told = agent->is_told || has_words;
        agent->n_told += has_words;
        agent->n_waits += strstr(frame.payload, "waiting for the timing lease, held by ") != NULL;
        free(frame.payload);
        return;
    }
    const char *commit = strstr(frame.payload, COMMIT_TEXT);
    int64_t took = now_ms() - agent->sent_ms;
    ck_assert_msg(commit != NULL, "no version in: %s", frame.payload);
    ck_assert_msg(took < QUIET_MS || agent->is_told, "nothing was said for %lld ms",
                  (long long)took);
    hone_buf_add(&play->commits, commit + strlen(COMMIT_TEXT), 40);
    hone_buf_str(&play->commits, "\n");
    agent->worst_ms = took > agent->worst_ms ? took : agent->worst_ms;
    agent->n_answers++;
    free(frame.payload);
    if (play->until_ms > 0 ? now_ms() < play->until_ms : agent->n_calls < CALLS)
        evaluate(play, agent);
}

static bool is_busy(const struct play *play)
{
    for (int i = 0; i < N_AGENTS; i++)
        if (play->agents[i].n_answers < play->agents[i].n_calls)
            return true;
    return false;
}

/* What a shell prints; $W is the workspace. */
static long figure(const char *command)
{
    FILE *pipe = popen(command, "re");
    long n = -1;
    ck_assert_ptr_nonnull(pipe);
    ck_assert_msg(fscanf(pipe, "%ld", &n) == 1, "%s", command);
    pclose(pipe);
    return n;
}

#define OF(type_)     "cat \"$W\"/.hone/ledger/*.jsonl | grep '\"type\":\"" type_ "\"' | "
#define MEMBER(name_) "grep -o '\"" name_ "\":\"[^\"]*\"' | "
#define DOUBLED       "sort | uniq -d | wc -l"
#define LOG           "git -C \"$W\" log --all "

static void check_history(const struct play *play)
{
    long n_ends = figure(OF("evaluation.end") "wc -l");
    ck_assert_int_gt(n_ends, 0);
    ck_assert_int_eq(figure(OF("evaluation.end") MEMBER("evaluation") "sort -u | wc -l"), n_ends);
    ck_assert_int_eq(figure(OF("evaluation.start") MEMBER("evaluation") DOUBLED), 0);
    ck_assert_int_eq(figure(OF("commit") MEMBER("evaluation") DOUBLED), 0);
    ck_assert_int_eq(figure(OF("commit") MEMBER("commit") DOUBLED), 0);
    ck_assert_int_eq(figure("git -C \"$W\" fsck --no-progress 2>&1 | grep -vc dangling"), 0);
    ck_assert_int_eq(
        figure(LOG "--format='%(trailers:key=Evaluation,valueonly)' | grep . | " DOUBLED), 0);
    for (const char *c = play->commits.data; c && *c; c += 41) {
        HONE_AUTOFREE char *commit = hone_strndup(c, 40);
        HONE_AUTOFREE char *command = hone_sprintf(LOG "--format=%%H | grep -c %s", commit);
        ck_assert_msg(strstr(c + 41, commit) == NULL, "two answers named %s", commit);
        ck_assert_msg(figure(command) == 1, "%s is not in the history once", commit);
    }
}

START_TEST(two_agents_and_a_search)
{
    static const char search[] = "{\"task\":\"matmul\",\"budget_evaluations\":1000000,"
                                 "\"budget_wall_ms\":3600000}";
    struct play play = {.served = {.pid = 0}};
    const char *seconds = getenv("SECONDS");
    play.commits.limit = 64u << 20;
    served_start(&play.served, NULL);
    setenv("W", play.served.dir, 1);
    int other = ws_open_session(&play.served);
    call_tool(other, 1, "search_start", search);
    HONE_AUTOFREE char *started = ws_wait_for(other, "\\\"job\\\":\\\"", 20000);
    const char *job = strstr(started, "\\\"job\\\":\\\"") + strlen("\\\"job\\\":\\\"");
    HONE_AUTOFREE char *stop = hone_sprintf("{\"job\":\"%.*s\"}", (int)strcspn(job, "\\"), job);
    close(other); /* the search goes on without who started it */
    play.until_ms = seconds != NULL ? now_ms() + 1000ll * atoi(seconds) : 0;
    for (int i = 0; i < N_AGENTS; i++) {
        play.agents[i].fd = ws_open_session(&play.served);
        evaluate(&play, &play.agents[i]);
    }
    while (is_busy(&play)) {
        struct pollfd polled[N_AGENTS];
        for (int i = 0; i < N_AGENTS; i++)
            polled[i] = (struct pollfd){.fd = play.agents[i].fd, .events = POLLIN};
        ck_assert_msg(poll(polled, N_AGENTS, 60000) > 0, "silence for a minute");
        for (int i = 0; i < N_AGENTS; i++)
            if (polled[i].revents)
                take(&play, &play.agents[i]);
    }
    long n_search = figure(OF("search.result") "wc -l");
    other = ws_open_session(&play.served);
    call_tool(other, 2, "search_stop", stop);
    free(ws_wait_for(other, "\"id\":2", 60000));
    close(other);
    ck_assert_int_eq(served_stop(&play.served, SIGTERM), 0);
    for (int i = 0; i < N_AGENTS; i++)
        printf("# agent %d: %d versions, worst %lld ms, told %d times, of these %d of the lease\n",
               i, play.agents[i].n_answers, (long long)play.agents[i].worst_ms,
               play.agents[i].n_told, play.agents[i].n_waits);
    printf("# search: %ld results\n", n_search);
    ck_assert_int_gt(n_search, 0);
    ck_assert_int_le(play.agents[0].n_answers, 2 * play.agents[1].n_answers);
    ck_assert_int_le(play.agents[1].n_answers, 2 * play.agents[0].n_answers);
    check_history(&play);
    for (int i = 0; i < N_AGENTS; i++)
        close(play.agents[i].fd);
    hone_buf_done(&play.commits);
    served_remove(&play.served);
}
END_TEST

UNIT_MAIN("shared_workspace", two_agents_and_a_search)
