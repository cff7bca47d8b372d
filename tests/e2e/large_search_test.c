/* SPDX-License-Identifier: Apache-2.0 */
/* A search of ten thousand versions, as records of the size that real ones have.
 *
 * HONE_LARGE_WORKSPACE=DIR writes the search, "large", into that workspace and looks no further: for
 * page_browser_test.sh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/events.h"
#include "agents/search/search_report.h"
#include "server/page/watch_text.h"
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/workspace.h"

enum { N = 10000, EVALUATION_BYTES = 6000 };
#define ID "s-000000000001"

static void append(struct hone_ledger *ledger, const struct hone_event *event)
{
    if (hone_event_append(ledger, event, NULL, NULL) < 0)
        abort();
}

/* What an evaluation leaves in the ledger beside its search's own records: its source and report. */
static void add_evaluation(struct hone_ledger *ledger, int i)
{
    HONE_AUTOJSON struct hone_json *start = hone_json_new_object();
    HONE_AUTOJSON struct hone_json *report = hone_json_new_object();
    HONE_AUTOFREE char *id = hone_sprintf("20261123-000000-000-%08x", (unsigned)i);
    struct hone_json *checks = hone_json_new_array();
    hone_json_set_str(start, "evaluation", id);
    hone_json_set_str(start, "caller", "search " ID);
    hone_json_set_str(start, "tier", "screen");
    for (int k = 0; k < EVALUATION_BYTES / 60; k++) {
        struct hone_json *check = hone_json_new_object();
        hone_json_set_str(check, "name", "verify");
        hone_json_set_f64(check, "max_abs_err", 1e-6 * k);
        hone_json_set_i64(check, "n_compared", k);
        hone_json_push(checks, check);
    }
    hone_json_set(report, "checks", checks);
    if (hone_ledger_append(ledger, "evaluation.start", start, NULL, NULL) < 0 ||
        hone_ledger_append(ledger, "test.report", report, NULL, NULL) < 0)
        abort();
}

static void add_step(struct hone_ledger *ledger, int i)
{
    static const char *const words[] = {"let the compiler vectorise: restrict and omp simd",
                                        "thread the outer loops (static schedule)", "tune: U=64"};
    HONE_AUTOFREE char *commit = hone_sprintf("%040x", (unsigned)i + 1);
    HONE_AUTOFREE char *evaluation = hone_sprintf("20261123-000000-000-%08x", (unsigned)i);
    bool is_wrong = i % 6 == 5, is_root = i == 0;
    int parent = is_root ? -1 : i % 3 == 0 ? i / 2 : i / 50 * 49;
    while (parent > 0 && parent % 6 == 5)
        parent--;
    double value = is_root ? 0 : 3 * log1p(i) / log1p(N) - 0.4 * (i % 7);
    append(ledger, &(struct hone_event){.type = HONE_EVENT_STEP,
                                        .step = {.search = ID,
                                                 .step = i,
                                                 .parent = parent,
                                                 .strategy = "C08",
                                                 .rule = "parallelism_bound: several cores, no "
                                                         "threaded loop",
                                                 .values = "cores=2 threads_busy=1",
                                                 .expected_log2 = 0.9,
                                                 .low = 0.7,
                                                 .high = 1.1,
                                                 .propensity = 0.5}});
    append(ledger, &(struct hone_event){.type = HONE_EVENT_RESULT,
                                        .result = {.search = ID,
                                                   .kind = is_root ? "root" : "expand",
                                                   .step = i,
                                                   .parent = parent,
                                                   .node = is_wrong ? -1 : i,
                                                   .elapsed_ms = 2800ll * i,
                                                   .evaluations = i + 1,
                                                   .is_implemented = true,
                                                   .is_gain = !is_wrong && i % 7 == 0,
                                                   .words = words[i % 3],
                                                   .value = is_wrong ? (double)NAN : value,
                                                   .ratio = is_wrong ? (double)NAN : exp2(value),
                                                   .verdict = is_wrong ? "incorrect" : "screened",
                                                   .reason = is_wrong ? "wrong_value" : "screened",
                                                   .evaluation = evaluation,
                                                   .commit = is_wrong ? NULL : commit,
                                                   .wall_ms = 2500}});
}

static void write_search(const char *dir)
{
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    if (hone_workspace_open(dir, &ws, NULL) < 0)
        abort();
    struct hone_ledger *ledger = hone_workspace_ledger(ws);
    append(ledger, &(struct hone_event){.type = HONE_EVENT_START,
                                        .start = {.search = ID,
                                                  .name = "large",
                                                  .task = "rmsnorm",
                                                  .target = "cpu",
                                                  .policy = "puct",
                                                  .coder = "rules",
                                                  .seed = 1}});
    for (int i = 0; i < N; i++) {
        add_evaluation(ledger, i);
        add_step(ledger, i);
    }
}

START_TEST(a_report_has_all_versions)
{
    if (getenv("HONE_LARGE_WORKSPACE") != NULL) {
        write_search(getenv("HONE_LARGE_WORKSPACE"));
        return;
    }
    char dir[] = "/tmp/hone-large-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    HONE_AUTOFREE char *ws_dir = hone_sprintf("%s/ws", dir);
    ck_assert_int_eq(hone_workspace_init(ws_dir, NULL, false, NULL), 0);
    write_search(ws_dir);
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_report report;
    bool is_damaged;
    ck_assert_int_eq(hone_workspace_open(ws_dir, &ws, NULL), 0);
    int64_t begun = hone_now_ns();
    ck_assert_int_eq(hone_search_report_read(ws, "large", pool, &report, &is_damaged, NULL), 0);
    int64_t read = hone_now_ns();
    HONE_AUTOJSON struct hone_json *json = hone_search_report_json(&report);
    HONE_AUTOFREE char *text = hone_json_print(json);
    int64_t printed = hone_now_ns();
    HONE_AUTOFREE char *screen = hone_watch_screen(&report, true, 120, 50);
    printf("# read in %lld ms, JSON of %.1f MB in %lld ms, a screen in %lld ms\n",
           (long long)((read - begun) / HONE_NS_PER_MS), (double)strlen(text) / 1e6,
           (long long)((printed - read) / HONE_NS_PER_MS),
           (long long)((hone_now_ns() - printed) / HONE_NS_PER_MS));
    ck_assert_uint_eq(report.steps.n, N);
    ck_assert_uint_eq(report.evaluations.n, N);
    ck_assert(!is_damaged);
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

UNIT_MAIN("large_search", a_report_has_all_versions)
