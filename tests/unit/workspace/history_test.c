/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/workspace/store_util.h"

#include <pthread.h>

struct fixture {
    char *dir;
    struct hone_history *h;
    struct hone_pool *pool;
};

static void fixture_done(struct fixture *f)
{
    hone_history_close(f->h);
    hone_pool_free(f->pool);
    scratch_done(&f->dir);
}
#define FIXTURE HONE_CLEANUP(fixture_done)

static struct fixture make(void)
{
    struct fixture f = {.dir = scratch(), .pool = hone_pool_new()};
    /* A fixed time, so that ids are the same in every run. */
    const struct hone_history_file files[] = {{"README.md", "test\n"}};
    char root[HONE_COMMIT_BYTES];
    OK(hone_history_create_root(f.dir, files, 1, 1600000000, root, err));
    OK(hone_history_open(f.dir, &f.h, err));
    ck_assert_str_eq(root, hone_history_root(f.h));
    return f;
}

/* A chain of n versions, one a second; the last one's id. */
static void chain(struct fixture *f, int n, char ret_last[HONE_COMMIT_BYTES])
{
    char id[HONE_COMMIT_BYTES] = "";
    for (int i = 0; i < n; i++) {
        char *source HONE_AUTOFREE = hone_sprintf("int v = %d;\n", i);
        struct hone_version v = sample(i > 0 ? id : NULL, source);
        v.time_s += i;
        OK(hone_history_commit(f->h, &v, id, err));
    }
    memcpy(ret_last, id, sizeof(id));
}

START_TEST(version_comes_back_as_it_was)
{
    struct fixture f FIXTURE = make();
    struct hone_trailer trailers[] = {{"Verdict", "faster"}, {"Speedup", "1.52 [1.49, 1.55]"}};
    struct hone_version v = sample(NULL, "void matmul(void) {}\n");
    v.body = "Why: reuse.\n\nExpected 1.4x.";
    v.author = "hone rules";
    v.trailers = (struct hone_array){.v = trailers, .n = 2};
    char id[HONE_COMMIT_BYTES], same[HONE_COMMIT_BYTES];
    OK(hone_history_commit(f.h, &v, id, err));
    OK(hone_history_commit(f.h, &v, same, err));
    ck_assert_str_eq(id, same);
    ck_assert(hone_history_has(f.h, id));
    struct hone_version got;
    OK(hone_history_read(f.h, id, f.pool, &got, err));
    ck_assert_str_eq(got.commit, id);
    ck_assert_ptr_null(got.parent);
    ck_assert_str_eq(got.task, "matmul");
    ck_assert_str_eq(got.target, "cpu");
    ck_assert_str_eq(got.file_name, "matmul.c");
    ck_assert_str_eq(got.source, v.source);
    ck_assert_str_eq(got.report_json, v.report_json);
    ck_assert_str_eq(got.subject, v.subject);
    ck_assert_str_eq(got.body, v.body);
    ck_assert_str_eq(got.author, "hone rules");
    ck_assert_int_eq(got.time_s, v.time_s);
    ck_assert_str_eq(hone_trailer_get(&got, "Speedup"), "1.52 [1.49, 1.55]");
    ck_assert_ptr_null(hone_trailer_get(&got, "Cost"));
    OK(hone_history_commit(f.h, &got, same, err)); /* what was read makes the same commit */
    ck_assert_str_eq(id, same);
    v.time_s++;
    OK(hone_history_commit(f.h, &v, same, err));
    ck_assert_str_ne(id, same);
    check_git(f.dir);
}
END_TEST

/* Whatever text comes in, plain git finds exactly the trailers, and the body does not add to them.
 */
START_TEST(created_repository_is_clean)
{
    char *dir SCRATCH = scratch();
    struct hone_history *h HONE_CLEANUP(hone_history_close_ptr) = NULL;
    FAILS(HONE_E_NOT_FOUND, "no git repository", hone_history_open(dir, &h, err));
    OK(hone_history_create(dir, err));
    FAILS(HONE_E_EXISTS, "exists", hone_history_create(dir, err));
    char *status HONE_AUTOFREE = RUN(dir, "git", "status", "--short", "--branch");
    ck_assert_str_eq(status, "## main\n");
    check_git(dir);
}
END_TEST

/* Whatever text comes in, plain git finds exactly the trailers, and the body does not add to them.
 */
START_TEST(trailers_are_valid_for_git)
{
    static const char *const bodies[] = {
        NULL,
        "",
        "Task: no trailer",
        "text\n\nTask: no trailer\nX-Y: neither",
        "--- \npatch\n---",
        "---",
        "# comment\n#",
        "\n\n\n",
        "(cherry picked from commit abc)",
        "a\r\nb\r\n",
        "Signed-off-by: x <x@y>",
    };
    struct fixture f FIXTURE = make();
    struct hone_trailer trailers[] = {{"Verdict", "same\nTask: forged"},
                                      {"Empty", " \n"},
                                      {"Planner", "a\tb\x01"
                                                  "c\x7f  d "}};
    for (size_t i = 0; i < HONE_COUNTOF(bodies); i++) {
        struct hone_version v = sample(NULL, "int x;\n");
        char id[HONE_COMMIT_BYTES];
        v.body = bodies[i];
        v.trailers = (struct hone_array){.v = trailers, .n = 3};
        OK(hone_history_commit(f.h, &v, id, err));
        char *path HONE_AUTOFREE = hone_path_join(f.dir, "message", NULL);
        char *message HONE_AUTOFREE = RUN(f.dir, "git", "log", "-1", "--format=%B", id);
        OK(hone_file_write(path, message, strlen(message), 0600, false, err));
        char *found HONE_AUTOFREE = RUN(f.dir, "git", "interpret-trailers", "--parse", "message");
        ck_assert_str_eq(found, "Task: matmul\nTarget: cpu\nVerdict: same Task: forged\n"
                                "Planner: a b c d\n");
    }
    check_git(f.dir);
}
END_TEST

START_TEST(odd_text_is_made_fit)
{
    static const struct {
        const char *subject, *author, *want_subject, *want_author;
    } rows[] = {
        {"two\nlines", "a <b>\n", "two lines", "a b"},
        {"", "", "version", "hone"},
        {" \t ", "<>", "version", "hone"},
        {"bad \xff byte", ".hone.", "bad \xef\xbf\xbd byte", "hone"},
        {"\x1b[31m red\xc2\x9b", "a\xe2\x80\xae b", "[31m red", "a b"},
    };
    struct fixture f FIXTURE = make();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_version v = sample(NULL, "");
        struct hone_version got;
        char id[HONE_COMMIT_BYTES];
        v.subject = rows[i].subject;
        v.author = rows[i].author;
        OK(hone_history_commit(f.h, &v, id, err));
        OK(hone_history_read(f.h, id, f.pool, &got, err));
        ck_assert_str_eq(got.subject, rows[i].want_subject);
        ck_assert_str_eq(got.author, rows[i].want_author);
        ck_assert_str_eq(got.source, "");
    }
    check_git(f.dir);
}
END_TEST

static char *filled(size_t len)
{
    char *text = hone_malloc(len + 1);
    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

START_TEST(sizes_at_and_above_their_limits)
{
    struct fixture f FIXTURE = make();
    char id[HONE_COMMIT_BYTES];
    struct hone_version got;
    struct {
        size_t limit, offset;
        bool is_cut;
    } rows[] = {
        {HONE_LIMIT_SOURCE_BYTES, offsetof(struct hone_version, source), false},
        {HONE_LIMIT_TREE_REPORT_BYTES, offsetof(struct hone_version, report_json), false},
        {HONE_LIMIT_COMMIT_TEXT_BYTES, offsetof(struct hone_version, body), false},
        {HONE_LIMIT_NAME_BYTES, offsetof(struct hone_version, task), false},
        {HONE_LIMIT_NAME_BYTES, offsetof(struct hone_version, target), false},
        {HONE_LIMIT_NAME_BYTES, offsetof(struct hone_version, file_name), false},
        {HONE_LIMIT_SUBJECT_BYTES, offsetof(struct hone_version, subject), true},
        {HONE_LIMIT_SUBJECT_BYTES, offsetof(struct hone_version, author), true},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char *at HONE_AUTOFREE = filled(rows[i].limit);
        char *above HONE_AUTOFREE = filled(rows[i].limit + 1);
        struct hone_version v = sample(NULL, "int x;\n");
        const char **member = (const char **)(void *)((char *)&v + rows[i].offset);
        const char **read_back = (const char **)(void *)((char *)&got + rows[i].offset);
        *member = at;
        OK(hone_history_commit(f.h, &v, id, err));
        OK(hone_history_read(f.h, id, f.pool, &got, err));
        ck_assert_str_eq(*read_back, at);
        *member = above;
        struct hone_err cause = HONE_ERR_INIT;
        int rc = hone_history_commit(f.h, &v, id, &cause);
        if (!rows[i].is_cut) {
            ck_assert(rc == HONE_E_LIMIT || rc == HONE_E_ARG);
            ck_assert_ptr_nonnull(strstr(cause.message, "at most"));
            continue;
        }
        ck_assert_int_eq(rc, 0);
        OK(hone_history_read(f.h, id, f.pool, &got, err));
        ck_assert_str_eq(*read_back, at);
    }
    check_git(f.dir);
}
END_TEST

START_TEST(trailer_limits)
{
    struct fixture f FIXTURE = make();
    struct hone_trailer trailers[HONE_LIMIT_TRAILERS + 1];
    struct hone_version v = sample(NULL, "int x;\n");
    struct hone_version got;
    char id[HONE_COMMIT_BYTES];
    char *value HONE_AUTOFREE = filled(HONE_LIMIT_TRAILER_BYTES + 1);
    for (size_t i = 0; i < HONE_COUNTOF(trailers); i++)
        trailers[i] = (struct hone_trailer){"Key", value};
    v.trailers = (struct hone_array){.v = trailers, .n = HONE_LIMIT_TRAILERS};
    OK(hone_history_commit(f.h, &v, id, err));
    OK(hone_history_read(f.h, id, f.pool, &got, err));
    ck_assert_uint_eq(strlen(hone_trailer_get(&got, "Key")), HONE_LIMIT_TRAILER_BYTES);
    v.trailers.n++;
    FAILS(HONE_E_LIMIT, "at most", hone_history_commit(f.h, &v, id, err));
    static const char *const bad[] = {NULL, "", "A B", "A:", "-a", "1", "\n"};
    v.trailers.n = 1;
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        trailers[0].key = bad[i];
        FAILS(HONE_E_ARG, "trailer name", hone_history_commit(f.h, &v, id, err));
    }
}
END_TEST

START_TEST(bad_versions_are_refused)
{
    struct fixture f FIXTURE = make();
    char id[HONE_COMMIT_BYTES];
    static const char *const names[] = {NULL, "", ".git", "a/b", "-x", "report.json", "a b"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        struct hone_version v = sample(NULL, "int x;\n");
        v.file_name = names[i];
        FAILS(HONE_E_ARG, "", hone_history_commit(f.h, &v, id, err));
    }
    struct hone_version v = sample("0123456789012345678901234567890123456789", "int x;\n");
    FAILS(HONE_E_NOT_FOUND, "parent", hone_history_commit(f.h, &v, id, err));
    v = sample("abc", "int x;\n");
    FAILS(HONE_E_ARG, "40 hex digits", hone_history_commit(f.h, &v, id, err));
    v = sample(NULL, NULL);
    FAILS(HONE_E_ARG, "source", hone_history_commit(f.h, &v, id, err));
    v = sample(NULL, "int x;\n");
    v.report_json = NULL;
    FAILS(HONE_E_ARG, "report", hone_history_commit(f.h, &v, id, err));
    v = sample(NULL, "int x;\n");
    v.time_s = -1;
    FAILS(HONE_E_ARG, "time", hone_history_commit(f.h, &v, id, err));
}
END_TEST

START_TEST(lists_newest_first)
{
    struct fixture f FIXTURE = make();
    char last[HONE_COMMIT_BYTES], side[HONE_COMMIT_BYTES];
    struct hone_version *list = NULL;
    size_t n = 99;
    OK(hone_history_list(f.h, NULL, 0, 10, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 0);
    chain(&f, 10, last);
    struct hone_version v = sample(NULL, "int side;\n");
    v.time_s += 100;
    OK(hone_history_commit(f.h, &v, side, err));
    OK(hone_history_list(f.h, NULL, 0, 100, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 11);
    ck_assert_str_eq(list[0].commit, side);
    ck_assert_str_eq(list[1].commit, last);
    for (size_t i = 1; i + 1 < n; i++)
        ck_assert_str_eq(list[i].parent, list[i + 1].commit);
    ck_assert_ptr_null(list[10].parent);
    ck_assert_ptr_null(list[0].source);
    OK(hone_history_list(f.h, NULL, 9, 5, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 2);
    OK(hone_history_list(f.h, NULL, 11, 5, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 0);
    OK(hone_history_list(f.h, last, 2, 3, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(list[0].time_s, 1700000007);
    OK(hone_history_list(f.h, last, 0, (size_t)-1, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 10);
    OK(hone_history_list(f.h, "main", 0, 10, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 0);
    FAILS(HONE_E_NOT_FOUND, "nothing",
          hone_history_list(f.h, "nothing", 0, 10, f.pool, &list, &n, err));
}
END_TEST

/* Many versions a second: children before parents all the same. */
START_TEST(equal_seconds_list_children_first)
{
    struct fixture f FIXTURE = make();
    char id[HONE_COMMIT_BYTES] = "";
    struct hone_version *list = NULL;
    size_t n = 0;
    for (int i = 0; i < 30; i++) {
        char *source HONE_AUTOFREE = hone_sprintf("int v = %d;\n", i);
        struct hone_version v = sample(i > 0 ? id : NULL, source);
        OK(hone_history_commit(f.h, &v, id, err));
        if (i == 10) /* the index is there already when the rest comes */
            OK(hone_history_list(f.h, NULL, 0, 3, f.pool, &list, &n, err));
    }
    OK(hone_history_list(f.h, NULL, 0, 100, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 30);
    for (size_t i = 0; i + 1 < n; i++)
        ck_assert_str_eq(list[i].parent, list[i + 1].commit);
}
END_TEST

START_TEST(names_resolve)
{
    struct fixture f FIXTURE = make();
    char last[HONE_COMMIT_BYTES], got[HONE_COMMIT_BYTES];
    chain(&f, 40, last);
    OK(hone_history_set_branch(f.h, "s1", last, err));
    char *shorter HONE_AUTOFREE = hone_strndup(last, 12);
    char *upper HONE_AUTOFREE = hone_strdup(last);
    for (char *c = upper; *c; c++)
        *c = (char)(*c >= 'a' ? *c - 32 : *c);
    const char *const names[] = {last, upper, shorter, "s1", "search/s1"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        OK(hone_history_resolve(f.h, names[i], got, err));
        ck_assert_str_eq(got, last);
    }
    OK(hone_history_resolve(f.h, "main", got, err));
    ck_assert_str_ne(got, last);
    static const char *const unknown[] = {
        "ffffffffffff", "s2",     "search/s2",
        "../main",      "refs/x", "ffffffffffffffffffffffffffffffffffffffff"};
    for (size_t i = 0; i < HONE_COUNTOF(unknown); i++)
        FAILS(HONE_E_NOT_FOUND, "", hone_history_resolve(f.h, unknown[i], got, err));
    FAILS(HONE_E_NOT_FOUND, "at least 4",
          hone_history_resolve(f.h, (char[]){last[0], last[1], last[2], 0}, got, err));
    FAILS(HONE_E_ARG, "needed", hone_history_resolve(f.h, "", got, err));
}
END_TEST

START_TEST(ambiguous_prefix_is_an_argument_error)
{
    struct fixture f FIXTURE = make();
    struct hone_version *list = NULL;
    char last[HONE_COMMIT_BYTES], got[HONE_COMMIT_BYTES];
    size_t n = 0;
    chain(&f, 900, last); /* 900 ids, 65,536 prefixes: two share one but for a chance of 1 in 400 */
    OK(hone_history_list(f.h, NULL, 0, 900, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 900);
    bool is_found = false;
    for (size_t i = 0; i < n && !is_found; i++) {
        for (size_t k = 0; k < i && !is_found; k++) {
            if (strncmp(list[i].commit, list[k].commit, 4) != 0)
                continue;
            is_found = true;
            char *prefix HONE_AUTOFREE = hone_strndup(list[i].commit, 4);
            FAILS(HONE_E_ARG, "ambiguous", hone_history_resolve(f.h, prefix, got, err));
        }
    }
    ck_assert(is_found); /* the ids are the same in every run */
}
END_TEST

START_TEST(diff_is_a_patch)
{
    struct fixture f FIXTURE = make();
    char first[HONE_COMMIT_BYTES], second[HONE_COMMIT_BYTES];
    struct hone_version v = sample(NULL, "a\nb\nc\n");
    OK(hone_history_commit(f.h, &v, first, err));
    v = sample(first, "a\nB\nc\n");
    OK(hone_history_commit(f.h, &v, second, err));
    char *patch HONE_AUTOFREE = NULL;
    OK(hone_history_diff(f.h, first, second, &patch, err));
    ck_assert_ptr_nonnull(
        strstr(patch, "--- a/matmul.c\n+++ b/matmul.c\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"));
    hone_free_ptr(&patch);
    OK(hone_history_diff(f.h, first, first, &patch, err));
    ck_assert_str_eq(patch, "");
    hone_free_ptr(&patch);
    OK(hone_history_diff(f.h, "main", first, &patch, err));
    ck_assert_ptr_nonnull(strstr(patch, "+a\n+b\n+c\n"));
    FAILS(HONE_E_NOT_FOUND, "", hone_history_diff(f.h, "s9", first, &patch, err));
}
END_TEST

START_TEST(evidence_is_added_and_read)
{
    struct fixture f FIXTURE = make();
    char id[HONE_COMMIT_BYTES], one[HONE_COMMIT_BYTES], two[HONE_COMMIT_BYTES];
    chain(&f, 1, id);
    OK(hone_history_evidence(
        f.h, &(struct hone_evidence){id, "confirmed: 1.5x", "{\"n\":1}", 1700000001}, one, err));
    OK(hone_history_evidence(
        f.h, &(struct hone_evidence){id, "confirmed: 1.4x", "{\"n\":2}", 1700000002}, two, err));
    OK(hone_history_evidence(
        f.h, &(struct hone_evidence){id, "confirmed: 1.5x", "{\"n\":1}", 1700000001}, two, err));
    ck_assert_str_eq(one, two);
    struct hone_version *list = NULL;
    size_t n = 0;
    OK(hone_history_evidence_of(f.h, id, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(list[1].report_json, "{\"n\":2}");
    ck_assert_str_eq(list[1].subject, "confirmed: 1.4x");
    OK(hone_history_list(f.h, NULL, 0, 10, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 1); /* evidence is no version */
    char got[HONE_COMMIT_BYTES], brief[10];
    snprintf(brief, sizeof(brief), "%.9s", list[0].commit);
    struct hone_version read;
    FAILS(HONE_E_NOT_FOUND, "", hone_history_read_evidence(f.h, brief, f.pool, &read, err));
    snprintf(brief, sizeof(brief), "%.9s", two);
    OK(hone_history_resolve(f.h, brief, got, err)); /* as plain git prints it */
    ck_assert_str_eq(got, id);
    OK(hone_history_resolve(f.h, two, got, err));
    ck_assert_str_eq(got, id);
    OK(hone_history_read_evidence(f.h, brief, f.pool, &read, err));
    ck_assert_str_eq(read.parent, id);
    ck_assert_ptr_nonnull(read.report_json);
    char *big HONE_AUTOFREE = filled(HONE_LIMIT_TREE_REPORT_BYTES + 1);
    FAILS(HONE_E_LIMIT, "at most",
          hone_history_evidence(f.h, &(struct hone_evidence){id, "x", big, 0}, one, err));
    FAILS(HONE_E_NOT_FOUND, "", hone_history_read(f.h, two, f.pool, list, err));
    check_git(f.dir);
}
END_TEST

START_TEST(branches_move)
{
    struct fixture f FIXTURE = make();
    char first[HONE_COMMIT_BYTES], last[HONE_COMMIT_BYTES], got[HONE_COMMIT_BYTES];
    chain(&f, 1, first);
    chain(&f, 3, last);
    OK(hone_history_set_branch(f.h, "s1", first, err));
    OK(hone_history_set_branch(f.h, "s1", last, err));
    OK(hone_history_set_branch(f.h, "s1", first, err));
    OK(hone_history_resolve(f.h, "s1", got, err));
    ck_assert_str_eq(got, first);
    static const char *const bad[] = {"", "a/b", "..", "x.lock", "a..b", "x."};
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        FAILS(HONE_E_ARG, "branch name", hone_history_set_branch(f.h, bad[i], first, err));
    char *name HONE_AUTOFREE = filled(HONE_LIMIT_NAME_BYTES);
    char *longer HONE_AUTOFREE = filled(HONE_LIMIT_NAME_BYTES + 1);
    OK(hone_history_set_branch(f.h, name, first, err));
    FAILS(HONE_E_ARG, "branch name", hone_history_set_branch(f.h, longer, first, err));
    FAILS(HONE_E_NOT_FOUND, "not in the history",
          hone_history_set_branch(f.h, "s2", "0123456789012345678901234567890123456789", err));
    char *out HONE_AUTOFREE = RUN(f.dir, "git", "branch", "--list", "--format=%(refname:short)");
    ck_assert_ptr_nonnull(strstr(out, "search/s1\n"));
}
END_TEST

START_TEST(stale_locks_go_at_open)
{
    struct fixture f FIXTURE = make();
    char id[HONE_COMMIT_BYTES];
    chain(&f, 1, id);
    OK(hone_history_set_branch(f.h, "s1", id, err));
    char *lock HONE_AUTOFREE = hone_path_join(f.dir, ".git/refs/heads/search/s1.lock", NULL);
    char *temporary HONE_AUTOFREE = hone_path_join(f.dir, ".git/objects/tmp_object_git2_xyz", NULL);
    OK(hone_file_write(lock, "", 0, 0600, false, err));
    OK(hone_file_write(temporary, "", 0, 0600, false, err));
    struct hone_history *again HONE_CLEANUP(hone_history_close_ptr) = NULL;
    OK(hone_history_open(f.dir, &again, err));
    ck_assert(!hone_file_exists(lock));
    ck_assert(!hone_file_exists(temporary));
    chain(&f, 2, id);
    OK(hone_history_set_branch(again, "s1", id, err));
}
END_TEST

struct committer {
    struct hone_history *h;
    int number;
    pthread_t thread;
    struct hone_err err;
};

static void *commit_some(void *arg)
{
    struct committer *c = arg;
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    char id[HONE_COMMIT_BYTES] = "";
    for (int i = 0; i < 40; i++) {
        char *source HONE_AUTOFREE = hone_sprintf("int v = %d, w = %d;\n", i, c->number);
        struct hone_version v = sample(i > 0 ? id : NULL, source);
        struct hone_version *list = NULL;
        struct hone_version got;
        size_t n = 0;
        if (hone_history_commit(c->h, &v, id, &c->err) < 0 ||
            hone_history_set_branch(c->h, c->number % 2 ? "odd" : "even", id, &c->err) < 0 ||
            hone_history_read(c->h, id, pool, &got, &c->err) < 0 ||
            hone_history_list(c->h, NULL, 0, 3, pool, &list, &n, &c->err) < 0 || n == 0)
            return arg;
    }
    return NULL;
}

/* Two handles stand for two processes: the file lock is between them. */
START_TEST(threads_and_handles_write_together)
{
    struct fixture f FIXTURE = make();
    struct hone_history *second HONE_CLEANUP(hone_history_close_ptr) = NULL;
    OK(hone_history_open(f.dir, &second, err));
    struct committer all[4];
    for (int i = 0; i < 4; i++) {
        all[i] = (struct committer){.h = i < 2 ? f.h : second, .number = i};
        ck_assert_int_eq(pthread_create(&all[i].thread, NULL, commit_some, &all[i]), 0);
    }
    OK(hone_history_maintain(second, true, err)); /* git gc at the same time */
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(all[i].thread, &failed);
        ck_assert_msg(failed == NULL, "%s", all[i].err.message);
    }
    struct hone_version *list = NULL;
    size_t n = 0;
    OK(hone_history_list(f.h, NULL, 0, 1000, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 160);
    check_git(f.dir);
}
END_TEST

START_TEST(gc_packs_and_everything_stays)
{
    struct fixture f FIXTURE = make();
    char last[HONE_COMMIT_BYTES];
    chain(&f, 200, last);
    OK(hone_history_maintain(f.h, true, err));
    char *out HONE_AUTOFREE = RUN(f.dir, "git", "count-objects", "-v");
    ck_assert_ptr_nonnull(strstr(out, "count: 0\n"));
    struct hone_version *list = NULL;
    struct hone_version v;
    size_t n = 0;
    OK(hone_history_list(f.h, NULL, 0, 1000, f.pool, &list, &n, err));
    ck_assert_uint_eq(n, 200);
    OK(hone_history_read(f.h, last, f.pool, &v, err));
    ck_assert_str_eq(v.source, "int v = 199;\n");
    chain(&f, 201, last);
    OK(hone_history_check(f.h, err));
    check_git(f.dir);
}
END_TEST

UNIT_MAIN("history", created_repository_is_clean, version_comes_back_as_it_was,
          trailers_are_valid_for_git, odd_text_is_made_fit, sizes_at_and_above_their_limits,
          trailer_limits, bad_versions_are_refused, lists_newest_first,
          equal_seconds_list_children_first, names_resolve, ambiguous_prefix_is_an_argument_error,
          diff_is_a_patch, evidence_is_added_and_read, branches_move, stale_locks_go_at_open,
          threads_and_handles_write_together, gc_packs_and_everything_stays)
