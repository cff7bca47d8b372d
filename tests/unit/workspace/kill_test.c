/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that was acknowledged is lost: a writer is killed at random moments, over and over, with
 * the damage of a power cut planted in between; at the end every acknowledged version is in the
 * ledger and in git, once, and git fsck has nothing to say. */
#include "tests/unit/workspace/store_util.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { ROUNDS = 60, MAX_VERSIONS = 60000 };

struct state {
    char *dir;
    bool acknowledged[MAX_VERSIONS];
    int n_acknowledged, n_committed;
    int next;                     /* number of the next evaluation */
    char last[HONE_COMMIT_BYTES]; /* newest known commit */
    unsigned seed;
};

static unsigned draw(struct state *state, unsigned below)
{
    state->seed = state->seed * 1103515245u + 12345u;
    return (state->seed >> 8) % below;
}

static void tell(int fd, char what, int i, const char *id)
{
    char *line HONE_AUTOFREE = hone_sprintf("%c %d %s\n", what, i, id);
    if (write(fd, line, strlen(line)) < 0)
        _exit(3);
}

/* What hone_evaluate does, without the evaluation. */
static int write_one(struct hone_workspace *ws, int i, const char *parent, int fd,
                     char ret_id[HONE_COMMIT_BYTES])
{
    struct hone_ledger *ledger = hone_workspace_ledger(ws);
    uint64_t n = 0;
    char *id HONE_AUTOFREE = hone_sprintf("%d", i);
    char *source HONE_AUTOFREE = hone_sprintf("int v = %d;\n", i);
    struct hone_trailer trailers[] = {{"Evaluation", id}};
    struct hone_version v = sample(parent[0] ? parent : NULL, i % 2 ? NULL : source);
    v.time_s += i;
    v.trailers = (struct hone_array){.v = trailers, .n = 1};
    const struct hone_record_start start = {.evaluation = id,
                                            .task = "matmul",
                                            .task_hash = "0",
                                            .target = "cpu",
                                            .tier = "screen",
                                            .source = source};
    int rc = hone_record_append_start(ledger, &start, &n, NULL);
    const struct hone_record_end end = {.evaluation = id,
                                        .start = (int64_t)n,
                                        .verdict = "screened",
                                        .reason = "screened",
                                        .version = &v};
    if (rc == 0)
        rc = hone_record_append_end(ledger, &end, NULL, NULL);
    if (rc == 0)
        rc = hone_ledger_sync(ledger, NULL);
    if (rc < 0)
        return rc;
    tell(fd, 'a', i, "-");
    v.source = source;
    rc = hone_history_commit(hone_workspace_history(ws), &v, ret_id, NULL);
    if (rc == 0)
        rc = hone_workspace_set_branch(ws, "s1", ret_id, NULL);
    if (rc < 0)
        return rc;
    tell(fd, 'c', i, ret_id);
    const struct hone_record_commit commit = {.evaluation = id, .commit = ret_id};
    return hone_record_append_commit(ledger, &commit, NULL, NULL);
}

static void writer(const char *dir, int from, int fd)
{
    struct hone_workspace *ws = NULL;
    struct hone_err err = HONE_ERR_INIT;
    char id[HONE_COMMIT_BYTES] = "";
    if (hone_workspace_open(dir, &ws, &err) < 0) {
        fprintf(stderr, "open: %s\n", err.message);
        _exit(2);
    }
    tell(fd, 'o', from, "-");
    for (int i = from;; i++) {
        char parent[HONE_COMMIT_BYTES];
        memcpy(parent, id, sizeof(id));
        if (write_one(ws, i, parent, fd, id) < 0)
            _exit(1);
    }
}

static void take_lines(struct state *state, FILE *lines)
{
    char what;
    int i;
    char id[HONE_COMMIT_BYTES];
    while (fscanf(lines, "%c %d %40s\n", &what, &i, id) == 3) {
        ck_assert_int_lt(i, MAX_VERSIONS);
        state->next = i + 1;
        if (what == 'a' && !state->acknowledged[i]) {
            state->acknowledged[i] = true;
            state->n_acknowledged++;
        } else if (what == 'c') {
            memcpy(state->last, id, sizeof(id));
            state->n_committed++;
        }
    }
}

/* Killed while it opens and repairs, in one round of four; else while it writes. */
static void round_of_killing(struct state *state)
{
    int fds[2];
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0)
        writer(state->dir, state->next + 1, fds[1]);
    close(fds[1]);
    FILE *lines = fdopen(fds[0], "r");
    ck_assert_ptr_nonnull(lines);
    if (draw(state, 4) != 0)
        ck_assert_int_eq(ungetc(fgetc(lines), lines), 'o');
    struct timespec life = {.tv_nsec = 1000000l * (1 + draw(state, 120))};
    nanosleep(&life, NULL);
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    ck_assert_msg(WIFSIGNALED(status), "the writer ended by itself: %d", status);
    take_lines(state, lines);
    fclose(lines);
}

static void empty_file(const char *path)
{
    if (unlink(path) == 0)
        OK(hone_file_write(path, "", 0, 0600, false, err));
}

static void append_to_ledger(struct state *state, const char *text)
{
    char *path HONE_AUTOFREE = hone_path_join(state->dir, ".hone/ledger/000001.jsonl", NULL);
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* What a killed writer, or a power cut, can leave behind. */
static void plant(struct state *state)
{
    const char *id = state->last;
    char *object HONE_AUTOFREE = hone_sprintf("%s/.git/objects/%.2s/%s", state->dir, id, id + 2);
    char *ref HONE_AUTOFREE = hone_sprintf("%s/.git/refs/hone/v/%.2s/%s", state->dir, id, id);
    char *ref_lock HONE_AUTOFREE = hone_sprintf("%s.lock", ref);
    char *branch HONE_AUTOFREE = hone_path_join(state->dir, ".git/refs/heads/search/s1", NULL);
    char *branch_lock HONE_AUTOFREE = hone_sprintf("%s.lock", branch);
    if (!id[0])
        return;
    switch (draw(state, 8)) {
    case 0:
        OK(hone_file_write(ref_lock, "", 0, 0600, false, err));
        OK(hone_file_write(branch_lock, "x", 1, 0600, false, err));
        break;
    case 1:
        append_to_ledger(state, "{\"n\":99999999,\"t\":1,\"type\":\"evalu");
        break;
    case 2:
        empty_file(object);
        break;
    case 3:
        empty_file(ref);
        empty_file(branch);
        break;
    default:
        break;
    }
}

struct count {
    bool has_end[MAX_VERSIONS];
};

static int on_record(void *arg, uint64_t n HONE_UNUSED, int64_t wall_ms HONE_UNUSED,
                     const char *type, const struct hone_json *data,
                     struct hone_err *err HONE_UNUSED)
{
    struct count *count = arg;
    if (strcmp(type, HONE_RECORD_END) == 0)
        count->has_end[atoi(hone_json_get_str(data, "evaluation", "0"))] = true;
    return 0;
}

static void check_all(struct state *state)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_workspace *ws HONE_CLEANUP(hone_workspace_close_ptr) = NULL;
    struct count *in_ledger HONE_AUTOFREE = hone_calloc(1, sizeof(*in_ledger));
    int *in_git HONE_AUTOFREE = hone_calloc(MAX_VERSIONS, sizeof(*in_git));
    struct hone_version *list = NULL;
    size_t n = 0;
    OK(hone_workspace_open(state->dir, &ws, err));
    OK(hone_ledger_scan(hone_workspace_ledger(ws), 1, on_record, in_ledger, err));
    OK(hone_history_list(hone_workspace_history(ws), NULL, 0, MAX_VERSIONS, pool, &list, &n, err));
    for (size_t i = 0; i < n; i++)
        in_git[atoi(hone_trailer_get(&list[i], "Evaluation"))]++;
    for (int i = 0; i < MAX_VERSIONS; i++) {
        ck_assert_msg(!state->acknowledged[i] || in_ledger->has_end[i], "%d: not in the ledger", i);
        ck_assert_msg(!state->acknowledged[i] || in_git[i] == 1, "%d: %d times in git", i,
                      in_git[i]);
    }
    char tip[HONE_COMMIT_BYTES];
    OK(hone_history_resolve(hone_workspace_history(ws), "search/s1", tip, err));
}

START_TEST(nothing_acknowledged_is_lost)
{
    char *outer SCRATCH = scratch();
    struct state *state HONE_AUTOFREE = hone_calloc(1, sizeof(*state));
    char *dir HONE_AUTOFREE = hone_path_join(outer, "ws", NULL);
    const char *seed = getenv("KILL_SEED");
    state->dir = dir;
    state->seed = seed ? (unsigned)strtol(seed, NULL, 10) : (unsigned)hone_wall_ms();
    printf("# KILL_SEED=%u repeats this run\n", state->seed);
    OK(hone_workspace_init(dir, NULL, false, err));
    for (int i = 0; i < ROUNDS; i++) {
        round_of_killing(state);
        plant(state);
        if (i % 10 == 9)
            check_all(state);
    }
    check_all(state);
    check_git(dir);
    printf("# %d rounds, %d acknowledged, %d committed\n", ROUNDS, state->n_acknowledged,
           state->n_committed);
    ck_assert_int_gt(state->n_acknowledged, ROUNDS);
}
END_TEST

UNIT_MAIN("kill", nothing_acknowledged_is_lost)
