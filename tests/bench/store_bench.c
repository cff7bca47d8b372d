/* SPDX-License-Identifier: Apache-2.0 */
/* What the store costs, each figure with its floor beside it, taken in the same run on the same
 * disk.
 *
 *     store_bench [FOLDER [VERSIONS]]      lines of "name value unit"; FOLDER: where to write
 * (default /tmp)
 *
 * commit        hone_history_commit; floors: git fast-import of the same versions, and bare file
 * writes (4 files of a version) ledger_syncN  append + sync by N threads; floor: write + fdatasync
 * of the same line by one thread list, open    with VERSIONS versions (default 2000) */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"
#include "workspace/records.h"
#include "workspace/workspace.h"

#define SOURCE_BYTES 4096
#define REPORT_BYTES 3000
#define SYNCS        100 /* per thread */
#define FLOOR_SYNCS  100

static void die(const char *what, const struct hone_err *err)
{
    fprintf(stderr, "store_bench: %s: %s\n", what, err->message);
    exit(1);
}

static double seconds_since(int64_t start_ns)
{
    return (double)(hone_now_ns() - start_ns) / 1e9;
}

static void print(const char *name, double value, const char *unit)
{
    printf("%s %.6g %s\n", name, value, unit);
    fflush(stdout);
}

/* Text of that size that does not compress to nothing; the start is the version's own. */
static char *text_of(size_t len, int number)
{
    char *text = hone_malloc(len + 64);
    int at = snprintf(text, 64, "/* version %d */\n", number);
    uint32_t state = (uint32_t)number * 2654435761u + 1;
    for (size_t i = (size_t)at; i < len; i++) {
        state = state * 1664525u + 1013904223u;
        text[i] = i % 64 == 63 ? '\n' : (char)('a' + (state >> 24) % 16);
    }
    text[len] = '\0';
    return text;
}

static struct hone_version version_of(const char *parent, const char *source, const char *report,
                                      int number)
{
    return (struct hone_version){.parent = parent,
                                 .task = "matmul",
                                 .target = "cpu",
                                 .file_name = "matmul.c",
                                 .source = source,
                                 .report_json = report,
                                 .subject = "tile the inner loop",
                                 .time_s = 1700000000 + number};
}

static void bench_commits(struct hone_workspace *ws, int n)
{
    struct hone_err err = HONE_ERR_INIT;
    char id[HONE_COMMIT_BYTES] = "";
    int64_t start = hone_now_ns();
    for (int i = 0; i < n; i++) {
        char *source HONE_AUTOFREE = text_of(SOURCE_BYTES, i);
        char *report HONE_AUTOFREE = text_of(REPORT_BYTES, -i);
        struct hone_version v = version_of(i % 50 ? id : NULL, source, report, i);
        if (hone_history_commit(hone_workspace_history(ws), &v, id, &err) < 0)
            die("commit", &err);
    }
    print("commit", n / seconds_since(start), "versions/s");
}

static void bench_fast_import(const char *dir, int n)
{
    struct hone_buf in HONE_CLEANUP(hone_buf_done) = {.limit = 1u << 30};
    struct hone_err err = HONE_ERR_INIT;
    for (int i = 0; i < n; i++) {
        char *source HONE_AUTOFREE = text_of(SOURCE_BYTES, i);
        char *report HONE_AUTOFREE = text_of(REPORT_BYTES, -i);
        hone_buf_printf(
            &in,
            "commit refs/hone/v/%d\nmark :%d\ncommitter hone <hone@localhost> %d +0000\n"
            "data 7\nversion\n",
            i, i + 1, 1700000000 + i);
        if (i % 50)
            hone_buf_printf(&in, "from :%d\n", i);
        hone_buf_printf(
            &in, "M 644 inline matmul.c\ndata %d\n%s\nM 644 inline report.json\ndata %d\n%s\n",
            SOURCE_BYTES, source, REPORT_BYTES, report);
    }
    char *repo HONE_AUTOFREE = hone_path_join(dir, "import", NULL);
    const char *const init[] = {"git", "init", "-q", "--bare", repo, NULL};
    const char *const import[] = {"git", "-C", repo, "fast-import", "--quiet", NULL};
    struct hone_process_spec spec = {.argv = init, .deadline_ns = HONE_NO_DEADLINE};
    struct hone_process_result result = {.out = NULL};
    if (hone_process_run(&spec, &result, &err) < 0)
        die("git init", &err);
    hone_process_result_done(&result);
    spec.argv = import;
    spec.stdin_text = in.data;
    spec.stdin_len = in.len;
    int64_t start = hone_now_ns();
    if (hone_process_run(&spec, &result, &err) < 0 || result.exit_status != 0)
        die("git fast-import", &err);
    print("commit_floor_fast_import", n / seconds_since(start), "versions/s");
    hone_process_result_done(&result);
}

static void bench_files(const char *dir, int n)
{
    char *folder HONE_AUTOFREE = hone_path_join(dir, "files", NULL);
    char *report HONE_AUTOFREE = text_of(SOURCE_BYTES / 2, 1); /* a loose object is compressed */
    hone_mkdirs(folder, 0755, NULL);
    int64_t start = hone_now_ns();
    for (int i = 0; i < n * 4; i++) {
        char *temporary HONE_AUTOFREE = hone_sprintf("%s/t", folder);
        char *path HONE_AUTOFREE = hone_sprintf("%s/%d", folder, i);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, report, SOURCE_BYTES / 2) < 0 || close(fd) < 0 ||
            rename(temporary, path) < 0)
            exit(1);
    }
    print("commit_floor_4_files", n / seconds_since(start), "versions/s");
}

struct syncer {
    struct hone_ledger *ledger;
    const struct hone_json *data;
    pthread_t thread;
};

static void *sync_some(void *arg)
{
    struct syncer *s = arg;
    struct hone_err err = HONE_ERR_INIT;
    for (int i = 0; i < SYNCS; i++)
        if (hone_ledger_append(s->ledger, "search.bench", s->data, NULL, &err) < 0 ||
            hone_ledger_sync(s->ledger, &err) < 0)
            die("ledger", &err);
    return NULL;
}

static void bench_ledger(struct hone_workspace *ws, size_t n_threads, const struct hone_json *data)
{
    struct syncer all[4];
    char *name HONE_AUTOFREE = hone_sprintf("ledger_sync%zu", n_threads);
    int64_t start = hone_now_ns();
    for (size_t i = 0; i < n_threads; i++) {
        all[i] = (struct syncer){.ledger = hone_workspace_ledger(ws), .data = data};
        if (pthread_create(&all[i].thread, NULL, sync_some, &all[i]) != 0)
            exit(1);
    }
    for (size_t i = 0; i < n_threads; i++)
        pthread_join(all[i].thread, NULL);
    print(name, (double)n_threads * SYNCS / seconds_since(start), "records/s");
}

static void bench_fsync(const char *dir, const struct hone_json *data)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, "floor", NULL);
    char *text HONE_AUTOFREE = hone_json_print(data);
    int fd HONE_AUTOCLOSE = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int64_t start = hone_now_ns();
    for (int i = 0; i < FLOOR_SYNCS; i++)
        if (write(fd, text, strlen(text)) < 0 || fdatasync(fd) < 0)
            exit(1);
    print("ledger_floor_write_fdatasync", FLOOR_SYNCS / seconds_since(start), "records/s");
}

static void bench_append(struct hone_workspace *ws, const struct hone_json *data)
{
    struct hone_err err = HONE_ERR_INIT;
    int64_t start = hone_now_ns();
    for (int i = 0; i < 5000; i++)
        if (hone_ledger_append(hone_workspace_ledger(ws), "search.bench", data, NULL, &err) < 0)
            die("append", &err);
    print("ledger_append_unsynced", 5000 / seconds_since(start), "records/s");
}

static void bench_list(struct hone_workspace *ws, const char *name, const char *rev)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_version *list = NULL;
    size_t n = 0;
    int64_t start = hone_now_ns();
    if (hone_history_list(hone_workspace_history(ws), rev, 0, 50, pool, &list, &n, &err) < 0)
        die("list", &err);
    print(name, seconds_since(start) * 1e3, "ms");
}

static struct hone_workspace *reopen(struct hone_workspace *ws, const char *dir, const char *name)
{
    struct hone_err err = HONE_ERR_INIT;
    hone_workspace_close(ws);
    int64_t start = hone_now_ns();
    if (hone_workspace_open(dir, &ws, &err) < 0)
        die("open", &err);
    print(name, seconds_since(start) * 1e3, "ms");
    return ws;
}

static int acknowledge(struct hone_workspace *ws, int i, struct hone_err *err)
{
    char *source HONE_AUTOFREE = text_of(SOURCE_BYTES, i);
    char *report HONE_AUTOFREE = text_of(REPORT_BYTES, -i);
    struct hone_version v = version_of(NULL, source, report, i);
    const struct hone_record_end end = {
        .evaluation = "e", .verdict = "screened", .reason = "screened", .version = &v};
    return hone_record_append_end(hone_workspace_ledger(ws), &end, NULL, err);
}

static void bench_all(const char *dir, const char *scratch, int n)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_workspace *ws = NULL;
    if (hone_workspace_init(dir, NULL, true, &err) < 0)
        die("init", &err);
    ws = reopen(NULL, dir, "open_empty");
    struct hone_json *data HONE_AUTOJSON = hone_json_new_object();
    char *text HONE_AUTOFREE = text_of(SOURCE_BYTES, 7);
    hone_json_set_str(data, "source", text);
    bench_fsync(scratch, data);
    bench_ledger(ws, 1, data);
    bench_ledger(ws, 4, data);
    bench_fsync(scratch, data);
    bench_append(ws, data);
    bench_commits(ws, n);
    bench_fast_import(scratch, n);
    bench_files(scratch, n);
    ws = reopen(ws, dir, "open");
    bench_list(ws, "list_50_first", NULL);
    bench_list(ws, "list_50_again", NULL);
    for (int i = n; i < n + 500; i++)
        if (acknowledge(ws, i, &err) < 0)
            die("acknowledge", &err);
    int64_t start = hone_now_ns();
    if (hone_workspace_checkpoint(ws, &err) < 0)
        die("checkpoint", &err);
    print("replay_500_missing", seconds_since(start) * 1e3, "ms");
    start = hone_now_ns();
    if (hone_history_maintain(hone_workspace_history(ws), true, &err) < 0)
        die("maintain", &err);
    print("git_gc", seconds_since(start) * 1e3, "ms");
    ws = reopen(ws, dir, "open_packed");
    bench_list(ws, "list_50_first_packed", NULL);
    bench_list(ws, "list_50_again_packed", NULL);
    hone_workspace_close(ws);
}

int main(int argc, char **argv)
{
    char *scratch HONE_AUTOFREE = hone_sprintf("%s/hone-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    int n = argc > 2 ? atoi(argv[2]) : 2000;
    if (n < 1 || !mkdtemp(scratch)) {
        fprintf(stderr, "usage: store_bench [FOLDER [VERSIONS]]\n");
        return 2;
    }
    char *dir HONE_AUTOFREE = hone_path_join(scratch, "ws", NULL);
    hone_process_init();
    print("versions", n, "");
    bench_all(dir, scratch, n);
    hone_remove_tree(scratch, NULL);
    return 0;
}
