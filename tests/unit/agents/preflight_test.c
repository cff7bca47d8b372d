/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight of a search on the fake executor: what is told, what is counted. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/search/preflight.h"
#include "workspace/base/file.h"

struct fixture {
    char dir[64];
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_buf told;
    int n_no, n_weak;
};

static void note(void *arg, enum hone_preflight_level level, const char *what, const char *text)
{
    struct fixture *f = arg;
    f->n_no += level == HONE_PREFLIGHT_NO;
    f->n_weak += level == HONE_PREFLIGHT_WEAK;
    hone_buf_printf(&f->told, "%d %s: %s\n", (int)level, what, text);
}

static void open_fixture(struct fixture *f, const char *script)
{
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.dir = "/tmp/hone-preflight-XXXXXX", .told = HONE_BUF_INIT};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", f->dir, 1), 0);
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    HONE_AUTOFREE char *fake = hone_path_join(f->dir, "fake.jsonl", NULL);
    ck_assert_int_eq(hone_file_write(fake, script, strlen(script), 0600, false, &err), 0);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->ws, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_exec_fake_new(fake, &f->executor, &err) == 0, "%s", err.message);
    f->pool = hone_pool_new();
    f->app = (struct hone_app){.ws = f->ws, .executor = f->executor, .data_dir = "agents/coder"};
    f->ctx = (struct hone_tool_ctx){.app = &f->app, .pool = f->pool, .caller = "test"};
}

static void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->executor);
    hone_pool_free(f->pool);
    hone_buf_done(&f->told);
    hone_remove_tree(f->dir, NULL);
}

static struct hone_preflight look(struct fixture *f, const struct hone_search_options *o)
{
    struct hone_preflight p;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_preflight(&f->ctx, o, false, note, f, &p, &err) == 0, "%s", err.message);
    return p;
}

static const char same[] = "{\"match\":\"void\",\"ns\":1000000}\n";

START_TEST(a_good_search_goes)
{
    struct fixture f;
    open_fixture(&f, same);
    struct hone_preflight p =
        look(&f, &(struct hone_search_options){.task = "softmax", .budget_wall_ms = 60000});
    ck_assert_msg(f.n_no == 0, "%s", f.told.data);
    ck_assert_int_gt(p.screen_ms, 0);
    ck_assert_int_gt(p.n_evaluations, 100);
    ck_assert_double_le(p.noise_offset, 1e-6);
    ck_assert_double_gt(p.noise_percent, 0.5); /* the fake's intervals are 2 % each way */
    ck_assert_double_lt(p.noise_percent, 3);
    ck_assert(isnan(p.ask_cost));
    close_fixture(&f);
}
END_TEST

START_TEST(the_smaller_cap_counts)
{
    struct fixture f;
    open_fixture(&f, same);
    struct hone_preflight p =
        look(&f, &(struct hone_search_options){
                     .task = "softmax", .budget_wall_ms = 60000, .budget_evaluations = 40});
    ck_assert_int_eq(p.n_evaluations, 40);
    ck_assert_int_eq(p.disk_mib, 3);
    p = look(&f, &(struct hone_search_options){.task = "softmax", .budget_disk_bytes = 1 << 30});
    ck_assert_int_eq(p.n_evaluations, 0); /* nothing that counts them */
    close_fixture(&f);
}
END_TEST

START_TEST(what_cannot_work_is_told)
{
    static const struct {
        struct hone_search_options options;
        const char *want;
    } rows[] = {
        {{.task = "softmax"}, "2 budget: a search needs a cap"},
        {{.task = "nothing", .budget_evaluations = 9}, "2 task: "},
        {{.task = "softmax", .budget_evaluations = 9, .policy = "chance"}, "2 policy: 'chance'"},
        {{.task = "softmax", .budget_evaluations = 9, .name = "../x"}, "2 name: '../x'"},
        {{.task = "softmax", .budget_evaluations = 9, .coder = "magic"}, "2 coder: 'magic'"},
        {{.task = "softmax", .budget_evaluations = 9, .coder = "llm"}, "2 model: coder: no model"},
        {{.task = "softmax", .budget_evaluations = 9, .planner = "llm"},
         "2 model: planner: no model"},
        {{.task = "softmax", .target = "quantum", .budget_evaluations = 9}, "2 task: "},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct fixture f;
        open_fixture(&f, same);
        look(&f, &rows[i].options);
        ck_assert_msg(f.n_no >= 1, "row %zu: %s", i, f.told.data);
        ck_assert_msg(strstr(f.told.data, rows[i].want) != NULL, "%s: %s", rows[i].want,
                      f.told.data);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(a_bad_baseline_is_told)
{
    struct fixture f;
    open_fixture(&f, "{\"match\":\"void\",\"reason\":\"wrong_value\"}\n");
    struct hone_preflight p =
        look(&f, &(struct hone_search_options){.task = "softmax", .budget_evaluations = 9});
    ck_assert_msg(strstr(f.told.data, "2 baseline: ended as wrong_value") != NULL, "%s",
                  f.told.data);
    ck_assert_int_eq(p.screen_ms, 0);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("preflight", a_good_search_goes, the_smaller_cap_counts, what_cannot_work_is_told,
          a_bad_baseline_is_told)
