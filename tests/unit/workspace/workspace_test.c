/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/workspace/store_util.h"

#include <pthread.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

struct fixture {
    char *outer;
    char *dir;
    struct hone_workspace *ws;
    struct hone_pool *pool;
};

static void fixture_done(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_pool_free(f->pool);
    scratch_done(&f->outer);
    free(f->dir);
}
#define FIXTURE HONE_CLEANUP(fixture_done)

static void put(const char *dir, const char *name, const char *text)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, name, NULL);
    OK(hone_file_write(path, text, strlen(text), 0644, false, err));
}

/* A workspace with one shipped pack, which is no valid task. */
static struct fixture make(void)
{
    struct fixture f = {.outer = scratch(), .pool = hone_pool_new()};
    f.dir = hone_path_join(f.outer, "ws", NULL);
    char *pack HONE_AUTOFREE = hone_path_join(f.outer, "packs/matmul", NULL);
    OK(hone_mkdirs(pack, 0755, err));
    put(pack, "task.json", "{}\n");
    OK(hone_workspace_init(f.dir, f.outer, false, err));
    OK(hone_workspace_open(f.dir, &f.ws, err));
    return f;
}

static void reopen(struct fixture *f)
{
    hone_workspace_close_ptr(&f->ws);
    OK(hone_workspace_open(f->dir, &f->ws, err));
}

/* What a tool does before and at the acknowledgement: no commit yet. */
static void acknowledge(struct fixture *f, int i, const char *parent, bool with_source)
{
    struct hone_ledger *ledger = hone_workspace_ledger(f->ws);
    uint64_t start = 0;
    char *id HONE_AUTOFREE = hone_sprintf("e%d", i);
    char *source HONE_AUTOFREE = hone_sprintf("int v = %d; /* \xc3\xa4 */\n", i);
    struct hone_trailer trailers[] = {{"Evaluation", id}};
    struct hone_version v = sample(parent, with_source ? source : NULL);
    v.time_s += i;
    v.body = "why\n\nand how";
    v.author = "hone rules";
    v.trailers = (struct hone_array){.v = trailers, .n = 1};
    const struct hone_record_start begin = {.evaluation = id,
                                            .task = "matmul",
                                            .task_hash = "00",
                                            .target = "cpu",
                                            .tier = "screen",
                                            .parent = parent,
                                            .source = source};
    OK(hone_record_append_start(ledger, &begin, &start, err));
    const struct hone_record_end end = {.evaluation = id,
                                        .start = (int64_t)start,
                                        .key = "00",
                                        .verdict = "screened",
                                        .reason = "screened",
                                        .version = &v};
    OK(hone_record_append_end(ledger, &end, NULL, err));
    OK(hone_ledger_sync(ledger, err));
}

static size_t list_all(struct fixture *f, struct hone_version **ret)
{
    size_t n = 0;
    OK(hone_history_list(hone_workspace_history(f->ws), NULL, 0, 10000, f->pool, ret, &n, err));
    return n;
}

/* Three acknowledged versions in a chain, committed by reopening. */
static void three(struct fixture *f, struct hone_version **ret)
{
    struct hone_version *list = NULL;
    for (int i = 1; i <= 3; i++) {
        acknowledge(f, i, i > 1 ? list[0].commit : NULL, i == 2);
        reopen(f);
        ck_assert_uint_eq(list_all(f, &list), (size_t)i);
    }
    *ret = list;
}

START_TEST(fresh_workspace_is_clean)
{
    struct fixture f FIXTURE = make();
    char *status HONE_AUTOFREE = RUN(f.dir, "git", "status", "--short", "--branch");
    ck_assert_str_eq(status, "## main\n");
    char *files HONE_AUTOFREE = RUN(f.dir, "git", "ls-files");
    ck_assert_str_eq(files, ".gitignore\nREADME.md\nhone.json\ntasks/matmul/task.json\n");
    struct stat st;
    char *hone_dir HONE_AUTOFREE = hone_workspace_path(f.ws, "");
    ck_assert_int_eq(stat(hone_dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
    ck_assert_str_eq(hone_workspace_dir(f.ws), f.dir);
    check_git(f.dir);
}
END_TEST

START_TEST(init_refuses_bad_places)
{
    struct fixture f FIXTURE = make();
    char *sub HONE_AUTOFREE = hone_path_join(f.dir, "a/b", NULL);
    FAILS(HONE_E_EXISTS, "workspace already", hone_workspace_init(f.dir, NULL, false, err));
    FAILS(HONE_E_ARG, "inside the git repository", hone_workspace_init(sub, NULL, false, err));
    OK(hone_workspace_init(sub, NULL, true, err));
    char *used HONE_AUTOFREE = hone_path_join(f.outer, "used", NULL);
    OK(hone_mkdirs(used, 0755, err));
    put(used, "README.md", "mine\n");
    FAILS(HONE_E_EXISTS, "README.md", hone_workspace_init(used, NULL, false, err));
    char *text HONE_AUTOFREE = NULL;
    char *path HONE_AUTOFREE = hone_path_join(used, "README.md", NULL);
    OK(hone_file_read(path, 100, &text, NULL, err));
    ck_assert_str_eq(text, "mine\n");
}
END_TEST

START_TEST(two_inits_do_not_undo_each_other)
{
    struct fixture f FIXTURE = make();
    char *dir HONE_AUTOFREE = hone_path_join(f.outer, "both", NULL);
    char *inner HONE_AUTOFREE = hone_path_join(dir, ".hone", NULL);
    OK(hone_mkdirs(inner, 0755, err));
    int other HONE_AUTOCLOSE = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0); /* as the first one holds it */
    put(dir, ".hone/incomplete", "");
    put(dir, "hone.json", "half");
    FAILS(HONE_E_BUSY, "another `hone init`", hone_workspace_init(dir, NULL, true, err));
    char *path HONE_AUTOFREE = hone_path_join(dir, "hone.json", NULL);
    ck_assert(hone_file_exists(path));
    flock(other, LOCK_UN);
    OK(hone_workspace_init(dir, NULL, true, err));
}
END_TEST

START_TEST(moved_workspace_is_named)
{
    struct fixture f FIXTURE = make();
    char *away HONE_AUTOFREE = hone_path_join(f.outer, "away", NULL);
    struct hone_task *task = NULL;
    ck_assert_int_eq(rename(f.dir, away), 0);
    FAILS(HONE_E_NOT_FOUND, "is gone", hone_workspace_task(f.ws, "sum", &task, err));
    ck_assert_int_eq(rename(away, f.dir), 0);
}
END_TEST

START_TEST(killed_init_is_begun_again)
{
    struct fixture f FIXTURE = make();
    put(f.dir, ".hone/incomplete", "");
    struct hone_workspace *ws = NULL;
    FAILS(HONE_E_CORRUPT, "interrupted", hone_workspace_open(f.dir, &ws, err));
    OK(hone_workspace_init(f.dir, NULL, false, err));
    reopen(&f);
}
END_TEST

START_TEST(open_names_what_is_wrong)
{
    struct fixture f FIXTURE = make();
    struct hone_workspace *ws = NULL;
    char *empty HONE_AUTOFREE = hone_path_join(f.outer, "packs", NULL);
    FAILS(HONE_E_NOT_FOUND, "hone init", hone_workspace_open(empty, &ws, err));
    FAILS(HONE_E_NOT_FOUND, "hone init", hone_workspace_open("/nowhere/at/all", &ws, err));
    put(f.dir, "hone.json", "{\"format\": 2}\n");
    FAILS(HONE_E_UNSUPPORTED, "newer hone", hone_workspace_open(f.dir, &ws, err));
    put(f.dir, "hone.json", "{}\n");
    FAILS(HONE_E_CORRUPT, "names no format", hone_workspace_open(f.dir, &ws, err));
    put(f.dir, "hone.json", "{");
    FAILS(HONE_E_CORRUPT, "it should say {\"format\": 1}", hone_workspace_open(f.dir, &ws, err));
    char *big HONE_AUTOFREE = hone_calloc(1, 100001);
    memset(big, ' ', 100000);
    put(f.dir, "hone.json", big);
    FAILS(HONE_E_CORRUPT, "it should say", hone_workspace_open(f.dir, &ws, err));
    put(f.dir, "hone.json", "{\"format\": 1}\n");
    char *lock HONE_AUTOFREE = hone_path_join(f.dir, ".hone", "open.lock", NULL);
    unlink(lock);
    OK(hone_mkdirs(lock, 0700, err));
    FAILS(HONE_E_IO, "cannot be written", hone_workspace_open(f.dir, &ws, err));
}
END_TEST

/* Where nothing can be written there is still something to read. */
START_TEST(what_cannot_be_written_is_read)
{
    struct fixture f FIXTURE = make();
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_workspace *ws HONE_CLEANUP(hone_workspace_close_ptr) = NULL;
    const char *why = "";
    char id[HONE_COMMIT_BYTES];
    struct hone_version *list = NULL;
    size_t n = 0;
    OK(hone_workspace_open_read(f.dir, pool, &ws, &why, err));
    ck_assert_ptr_null(why);
    hone_workspace_close(HONE_STEAL(ws));
    char *lock HONE_AUTOFREE = hone_path_join(f.dir, ".hone", "open.lock", NULL);
    unlink(lock);
    OK(hone_mkdirs(lock, 0700, err));
    OK(hone_workspace_open_read(f.dir, pool, &ws, &why, err));
    ck_assert_ptr_nonnull(strstr(why, "cannot be written"));
    OK(hone_history_resolve(hone_workspace_history(ws), "main", id, err));
    OK(hone_history_list(hone_workspace_history(ws), NULL, 0, 9, pool, &list, &n, err));
    ck_assert_int_lt(hone_workspace_set_branch(ws, "s1", id, NULL), 0);
}
END_TEST

/* As git does; an explicit folder is not looked above. */
START_TEST(a_workspace_is_found_upwards)
{
    struct fixture f FIXTURE = make();
    char *below HONE_AUTOFREE = hone_path_join(f.dir, "tasks", "deep", NULL);
    OK(hone_mkdirs(below, 0755, err));
    char *found HONE_AUTOFREE = hone_workspace_find(below);
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_nonnull(strstr(found, f.dir));
    ck_assert_ptr_null(hone_workspace_find("/"));
    struct hone_workspace *ws = NULL;
    FAILS(HONE_E_NOT_FOUND, "no workspace", hone_workspace_open(below, &ws, err));
}
END_TEST

START_TEST(acknowledged_versions_are_committed_at_open)
{
    struct fixture f FIXTURE = make();
    struct hone_version *list = NULL;
    struct hone_version v;
    three(&f, &list);
    ck_assert_str_eq(hone_trailer_get(&list[0], "Evaluation"), "e3");
    ck_assert_str_eq(list[0].body, "why\n\nand how");
    OK(hone_history_read(hone_workspace_history(f.ws), list[0].commit, f.pool, &v, err));
    ck_assert_str_eq(v.source, "int v = 3; /* \xc3\xa4 */\n");
    check_git(f.dir);
}
END_TEST

START_TEST(checkpoint_is_kept_and_replays_nothing_twice)
{
    struct fixture f FIXTURE = make();
    struct hone_version *list = NULL;
    char *path HONE_AUTOFREE = hone_workspace_path(f.ws, "replay.json");
    char *text HONE_AUTOFREE = NULL;
    three(&f, &list);
    OK(hone_workspace_checkpoint(f.ws, err));
    OK(hone_file_read(path, 1000, &text, NULL, err));
    ck_assert_ptr_nonnull(strstr(text, "\"n\":7"));
    ck_assert_ptr_nonnull(strstr(text, "\"durable\":1"));
    put(f.dir, ".hone/replay.json", "{\"n\":"); /* unreadable: all again */
    reopen(&f);
    ck_assert_uint_eq(list_all(&f, &list), 3);
}
END_TEST

/* Whatever happens to .git, the same commits come back. */
START_TEST(repository_is_rebuilt_with_the_same_ids)
{
    static const char *const hurt[] = {
        "rm -rf .git",
        "rm .git/HEAD",
        "echo nonsense >.git/config",
        "rm -rf .git/objects",
        "git update-ref -d refs/hone/root",
        "for i in .git/objects/[0-9a-f]*/*; do chmod u+w $i; echo x >$i; done",
        "for i in .git/objects/[0-9a-f]*/*; do rm -f $i; : >$i; done",
        "for i in $(find .git/refs -type f); do : >$i; done",
        "for i in $(find .git/refs/hone -type f); do touch $i.lock; done; rm -rf .git/refs/hone/v",
    };
    for (size_t i = 0; i < HONE_COUNTOF(hurt); i++) {
        struct fixture f FIXTURE = make();
        struct hone_version *before = NULL;
        struct hone_version *after = NULL;
        char branch[HONE_COMMIT_BYTES];
        three(&f, &before);
        OK(hone_workspace_set_branch(f.ws, "s1", before[2].commit, err));
        OK(hone_workspace_set_branch(f.ws, "s1", before[1].commit, err));
        OK(hone_workspace_checkpoint(f.ws, err));
        char *out HONE_AUTOFREE = RUN(f.dir, "sh", "-c", hurt[i]);
        put(f.dir, ".hone/replay.json", "{\"n\":0,\"durable\":0,\"boot\":\"another\"}");
        reopen(&f);
        ck_assert_msg(list_all(&f, &after) == 3, "%s", hurt[i]);
        for (size_t k = 0; k < 3; k++)
            ck_assert_str_eq(before[k].commit, after[k].commit);
        OK(hone_history_resolve(hone_workspace_history(f.ws), "search/s1", branch, err));
        ck_assert_str_eq(branch, before[1].commit);
        char *status HONE_AUTOFREE = RUN(f.dir, "git", "status", "--short", "--branch");
        ck_assert_str_eq(status, "## main\n");
        check_git(f.dir);
    }
}
END_TEST

/* A search's branch ends with its result in plain git, stands for the version all the same, and is
 * made again with the same id. */
START_TEST(a_branch_ends_with_its_result)
{
    struct fixture f FIXTURE = make();
    struct hone_version *before = NULL;
    char branch[HONE_COMMIT_BYTES];
    const struct hone_branch_result result = {
        .subject = "faster: 11.5x", .body = "rests on: fast-math", .time_s = 1700000000};
    three(&f, &before);
    OK(hone_workspace_set_result(f.ws, "s1", before[1].commit, &result, err));
    char *tip HONE_AUTOFREE = RUN(f.dir, "git", "rev-parse", "search/s1");
    ck_assert(strncmp(tip, before[1].commit, 40) != 0);
    for (int rebuilt = 0; rebuilt < 2; rebuilt++) {
        char *log HONE_AUTOFREE = RUN(f.dir, "git", "log", "-2", "--format=%H %s", "search/s1");
        ck_assert_msg(strstr(log, "faster: 11.5x") != NULL && strncmp(log, tip, 40) == 0, "%s",
                      log);
        ck_assert_msg(strstr(log, before[1].commit) != NULL, "%s", log);
        char *change HONE_AUTOFREE = RUN(f.dir, "git", "diff", "search/s1^", "search/s1");
        ck_assert_str_eq(change, "");
        OK(hone_history_resolve(hone_workspace_history(f.ws), "s1", branch, err));
        ck_assert_str_eq(branch, before[1].commit);
        OK(hone_workspace_set_branch(f.ws, "s1", before[1].commit, err)); /* stays on top */
        hone_workspace_close_ptr(&f.ws);
        OK(hone_workspace_rebuild(f.dir, err));
        OK(hone_workspace_open(f.dir, &f.ws, err));
    }
    OK(hone_workspace_set_branch(f.ws, "s1", before[2].commit, err)); /* another version */
    char *moved HONE_AUTOFREE = RUN(f.dir, "git", "rev-parse", "search/s1");
    ck_assert(strncmp(moved, before[2].commit, 40) == 0);
    check_git(f.dir);
}
END_TEST

START_TEST(rebuild_by_hand)
{
    struct fixture f FIXTURE = make();
    struct hone_version *before = NULL;
    struct hone_version *after = NULL;
    three(&f, &before);
    hone_workspace_close_ptr(&f.ws);
    OK(hone_workspace_rebuild(f.dir, err));
    OK(hone_workspace_open(f.dir, &f.ws, err));
    ck_assert_uint_eq(list_all(&f, &after), 3);
    ck_assert_str_eq(before[0].commit, after[0].commit);
    char *kept HONE_AUTOFREE = RUN(f.dir, "sh", "-c", "ls -d .hone/broken-git-*/HEAD");
    ck_assert_ptr_nonnull(strstr(kept, "broken-git-"));
}
END_TEST

/* A damaged record loses its own version and those below it, nothing else; git keeps what it has.
 */
START_TEST(damaged_ledger_line_stops_nothing)
{
    struct fixture f FIXTURE = make();
    struct hone_version *list = NULL;
    three(&f, &list);
    hone_workspace_close_ptr(&f.ws);
    char *out HONE_AUTOFREE =
        RUN(f.dir, "sed", "-i", "s/\"evaluation\":\"e2\"/\"evaluation\":\"x2\"/",
            ".hone/ledger/000001.jsonl");
    put(f.dir, ".hone/replay.json", "{}");
    OK(hone_workspace_open(f.dir, &f.ws, err));
    ck_assert_uint_eq(list_all(&f, &list), 3);
    acknowledge(&f, 4, list[0].commit, false);
    reopen(&f);
    ck_assert_uint_eq(list_all(&f, &list), 4);
    hone_workspace_close_ptr(&f.ws);
    OK(hone_workspace_rebuild(f.dir, err));
    OK(hone_workspace_open(f.dir, &f.ws, err));
    ck_assert_uint_eq(list_all(&f, &list), 1); /* e1; the parents of e3 and e4 are lost */
    ck_assert_str_eq(hone_trailer_get(&list[0], "Evaluation"), "e1");
}
END_TEST

START_TEST(calls_are_pruned)
{
    struct fixture f FIXTURE = make();
    const struct timespec old[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
    char *first HONE_AUTOFREE = NULL;
    char *running HONE_AUTOFREE = NULL;
    for (int i = 0; i < 230; i++) {
        char *id HONE_AUTOFREE = NULL;
        char *path HONE_AUTOFREE = NULL;
        OK(hone_workspace_new_call(f.ws, &id, &path, err));
        char *sealed HONE_AUTOFREE = hone_path_join(path, "sealed", NULL);
        char *report HONE_AUTOFREE = hone_path_join(path, "report.json", NULL);
        struct stat st;
        ck_assert_int_eq(stat(sealed, &st), 0);
        ck_assert_uint_eq(st.st_mode & 0777, 0700);
        if (i == 1) { /* still at work */
            running = HONE_STEAL(path);
            continue;
        }
        OK(hone_file_write(report, "{}", 2, 0600, false, err));
        ck_assert_int_eq(utimensat(AT_FDCWD, report, old, 0), 0);
        if (i == 0)
            first = HONE_STEAL(path);
    }
    char *calls HONE_AUTOFREE = hone_workspace_path(f.ws, "calls");
    const char **names = NULL;
    size_t n = 0;
    OK(hone_list_dir(calls, f.pool, &names, &n, err));
    /* 200, the one at work, and those made since the last look */
    ck_assert_uint_ge(n, 201);
    ck_assert_uint_le(n, 201 + 32);
    ck_assert_uint_lt(n, 230);
    ck_assert(!hone_file_exists(first));
    ck_assert(hone_file_exists(running));
}
END_TEST

START_TEST(tasks_are_listed)
{
    struct fixture f FIXTURE = make();
    struct hone_task *task = NULL;
    const char **names = NULL;
    size_t n = 0;
    OK(hone_workspace_task_names(f.ws, f.pool, &names, &n, err));
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(names[0], "matmul");
    FAILS(HONE_E_NOT_FOUND, "matmul", hone_workspace_task(f.ws, "nothing", &task, err));
    FAILS(HONE_E_NOT_FOUND, "matmul", hone_workspace_task(f.ws, "../tasks/matmul", &task, err));
    FAILS(HONE_E_NOT_FOUND, "task 'matmul'", hone_workspace_task(f.ws, "matmul", &task, err));
}
END_TEST

static void *open_and_close(void *arg)
{
    for (int i = 0; i < 10; i++) {
        struct hone_workspace *ws = NULL;
        if (hone_workspace_open(arg, &ws, NULL) < 0)
            return arg;
        hone_workspace_close(ws);
    }
    return NULL;
}

START_TEST(many_open_at_once)
{
    struct fixture f FIXTURE = make();
    pthread_t threads[4];
    struct hone_version *list = NULL;
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close, f.dir), 0);
    for (int i = 0; i < 30; i++)
        acknowledge(&f, i, NULL, false);
    for (size_t i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    reopen(&f);
    ck_assert_uint_eq(list_all(&f, &list), 30);
    check_git(f.dir);
}
END_TEST

START_TEST(records_refuse_what_a_replay_could_not_use)
{
    struct fixture f FIXTURE = make();
    struct hone_ledger *ledger = hone_workspace_ledger(f.ws);
    struct hone_record_start start = {.evaluation = "e1",
                                      .task = "matmul",
                                      .task_hash = "00",
                                      .target = "cpu",
                                      .tier = "screen",
                                      .source = "bad \xff byte"};
    FAILS(HONE_E_ARG, "UTF-8", hone_record_append_start(ledger, &start, NULL, err));
    char *big HONE_AUTOFREE = calloc(1, HONE_LIMIT_SOURCE_BYTES + 2);
    memset(big, 'x', HONE_LIMIT_SOURCE_BYTES);
    start.source = big;
    OK(hone_record_append_start(ledger, &start, NULL, err));
    big[HONE_LIMIT_SOURCE_BYTES] = 'x';
    FAILS(HONE_E_LIMIT, "", hone_record_append_start(ledger, &start, NULL, err));
    start.source = NULL;
    FAILS(HONE_E_ARG, "", hone_record_append_start(ledger, &start, NULL, err));
    struct hone_version v = sample(NULL, NULL);
    struct hone_record_end end = {
        .evaluation = "e1", .verdict = "screened", .reason = "screened", .version = &v};
    FAILS(HONE_E_ARG, "start", hone_record_append_end(ledger, &end, NULL, err));
    struct hone_record_start got;
    FAILS(HONE_E_NOT_FOUND, "record 99", hone_record_read_start(ledger, 99, f.pool, &got, err));
    FAILS(HONE_E_NOT_FOUND, "record 1", hone_record_read_start(ledger, 1, f.pool, &got, err));
}
END_TEST

START_TEST(data_dir_follows_the_environment)
{
    setenv("HONE_DATA", "/some/where", 1);
    char *dir HONE_AUTOFREE = hone_data_dir();
    ck_assert_str_eq(dir, "/some/where");
}
END_TEST

UNIT_MAIN("workspace", fresh_workspace_is_clean, init_refuses_bad_places,
          two_inits_do_not_undo_each_other, moved_workspace_is_named, killed_init_is_begun_again,
          open_names_what_is_wrong, what_cannot_be_written_is_read, a_workspace_is_found_upwards,
          acknowledged_versions_are_committed_at_open, checkpoint_is_kept_and_replays_nothing_twice,
          repository_is_rebuilt_with_the_same_ids, a_branch_ends_with_its_result, rebuild_by_hand,
          damaged_ledger_line_stops_nothing, calls_are_pruned, tasks_are_listed, many_open_at_once,
          records_refuse_what_a_replay_could_not_use, data_dir_follows_the_environment)
