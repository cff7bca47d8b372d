/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a search, from records that a search of any kind may have left. */
#include "tests/unit/workspace/store_util.h"

#include "agents/search/search_report.h"

#include <math.h>

struct fixture {
    char *dir;
    struct hone_workspace *ws;
    struct hone_pool *pool;
};

static void open_fixture(struct fixture *f)
{
    HONE_AUTOFREE char *scratch_dir = scratch();
    f->dir = hone_path_join(scratch_dir, "ws", NULL);
    f->pool = hone_pool_new();
    OK(hone_workspace_init(f->dir, NULL, true, err));
    OK(hone_workspace_open(f->dir, &f->ws, err));
}

static void close_fixture(struct fixture *f)
{
    hone_pool_free(f->pool);
    hone_workspace_close(f->ws);
    *strrchr(f->dir, '/') = '\0';
    hone_remove_tree(f->dir, NULL);
    free(f->dir);
}

static void put(struct fixture *f, const char *type, const char *text)
{
    HONE_AUTOJSON struct hone_json *data = NULL;
    OK(hone_json_parse(text, strlen(text), &data, err));
    OK(hone_ledger_append(hone_workspace_ledger(f->ws), type, data, NULL, err));
}

static void put_search(struct fixture *f)
{
    put(f, "search.start",
        "{\"search\":\"s-1\",\"key\":\"k\",\"task\":\"sum\",\"task_hash\":\"abc\",\"target\":"
        "\"cpu\",\"name\":\"one\","
        "\"policy\":\"puct\",\"coder\":\"rules\",\"seed\":7,\"budget_wall_ms\":1000,\"budget_"
        "evaluations\":0}");
    put(f, "search.result",
        "{\"search\":\"s-1\",\"step\":0,\"kind\":\"root\",\"parent\":-1,\"node\":0,\"elapsed_ms\":"
        "100,\"evaluations\":1,"
        "\"value\":0,\"verdict\":\"screened\",\"commit\":\"aaaaaaaaaaaa\",\"wall_ms\":90}");
    put(f, "search.step",
        "{\"search\":\"s-1\",\"step\":1,\"parent\":0,\"rewrite\":\"r\",\"strategy\":\"C01\","
        "\"rule\":\"traffic > 2\",\"values\":\"3.1\","
        "\"expected_log2\":1,\"low\":0.5,\"high\":2,\"propensity\":0.4}");
    put(f, "search.result",
        "{\"search\":\"s-1\",\"step\":1,\"kind\":\"expand\",\"parent\":0,\"node\":1,\"elapsed_ms\":"
        "400,\"evaluations\":2,"
        "\"words\":\"tile "
        "it\",\"value\":1.5,\"ratio\":2.8,\"is_gain\":true,\"is_implemented\":true,\"verdict\":"
        "\"screened\","
        "\"commit\":\"bbbbbbbbbbbb\",\"wall_ms\":200}");
    put(f, "search.step",
        "{\"search\":\"s-1\",\"step\":2,\"parent\":1,\"rewrite\":\"q\",\"strategy\":\"C02\","
        "\"rule\":\"r\",\"values\":\"\",\"expected_log2\":0.3,"
        "\"low\":0.1,\"high\":0.6}");
    put(f, "search.result",
        "{\"search\":\"s-1\",\"step\":2,\"kind\":\"expand\",\"parent\":1,\"node\":-1,\"elapsed_"
        "ms\":900,\"evaluations\":3,"
        "\"words\":\"swap\",\"note\":\"<script>alert(1)</script> | "
        "`rm`\\u001b[2J\",\"verdict\":\"incorrect\",\"reason\":\"wrong_value\",\"wall_ms\":300}");
}

START_TEST(test_killed_search)
{
    struct fixture f;
    struct hone_search_report s;
    bool is_damaged = true;
    open_fixture(&f);
    FAILS(HONE_E_NOT_FOUND, "no search yet",
          hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    put_search(&f);
    OK(hone_search_report_read(f.ws, "one", f.pool, &s, &is_damaged, err));
    ck_assert(!is_damaged);
    ck_assert_str_eq(s.id, "s-1");
    ck_assert_uint_eq(s.steps.n, 3);
    const struct hone_report_step *steps = s.steps.v;
    ck_assert_str_eq(steps[1].strategy, "C01");
    ck_assert_str_eq(steps[1].rule, "traffic > 2 (3.1)");
    ck_assert_double_eq(steps[1].expected, 1);
    ck_assert_double_eq(steps[1].value, 1.5);
    ck_assert(isnan(steps[0].expected));
    ck_assert(isnan(steps[2].value));
    ck_assert_ptr_null(s.end);
    FAILS(HONE_E_NOT_FOUND, "there are: one",
          hone_search_report_read(f.ws, "two", f.pool, &s, &is_damaged, err));
    close_fixture(&f);
}
END_TEST

START_TEST(test_evaluations)
{
    struct fixture f;
    struct hone_search_report s;
    bool is_damaged;
    open_fixture(&f);
    put_search(&f);
    put(&f, "evaluation.start",
        "{\"evaluation\":\"e1\",\"caller\":\"search s-1\",\"tier\":\"screen\"}");
    put(&f, "evaluation.start", "{\"evaluation\":\"e2\",\"caller\":\"search s-10\"}");
    put(&f, "evaluation.start", "{\"evaluation\":\"e3\",\"caller\":\"cli\"}");
    put(&f, "evaluation.end",
        "{\"evaluation\":\"e1\",\"verdict\":\"failed\",\"reason\":\"compile\"}");
    put(&f, "evaluation.end", "{\"evaluation\":\"e2\",\"verdict\":\"screened\"}");
    put(&f, "commit", "{\"evaluation\":\"e1\",\"commit\":\"cccccccccccc\"}");
    put(&f, "evaluation.start",
        "{\"evaluation\":\"e4\",\"caller\":\"search s-1\",\"tier\":\"confirm\"}");
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    const struct hone_report_evaluation *e = s.evaluations.v;
    ck_assert_uint_eq(s.evaluations.n, 2);
    ck_assert_str_eq(e[0].id, "e1");
    ck_assert_str_eq(e[0].reason, "compile");
    ck_assert_str_eq(e[0].commit, "cccccccccccc");
    ck_assert_int_eq(e[0].step, 2);
    ck_assert_str_eq(e[1].tier, "confirm");
    ck_assert_ptr_null(e[1].verdict);
    HONE_AUTOJSON struct hone_json *json = hone_search_report_json(&s);
    ck_assert_uint_eq(hone_json_size(hone_json_get(json, "evaluations")), 2);
    HONE_AUTOFREE char *text = hone_search_report_markdown(&s, "/ws");
    ck_assert_ptr_nonnull(strstr(text, "Verdicts of 2 evaluations: 1 failed."));
    close_fixture(&f);
}
END_TEST

START_TEST(test_texts)
{
    struct fixture f;
    struct hone_search_report s;
    bool is_damaged;
    open_fixture(&f);
    put_search(&f);
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    HONE_AUTOFREE char *killed = hone_search_report_markdown(&s, "/ws");
    ck_assert_ptr_nonnull(strstr(killed, "No result yet"));
    ck_assert_ptr_nonnull(
        strstr(killed, "Expected 2.00x (1.41 to 4.00); got 2.83x its parent's speed (screened, "
                       "about 2.83x the baseline's)."));
    ck_assert_ptr_nonnull(strstr(killed, "incorrect (wrong_value)"));
    ck_assert_ptr_null(strchr(killed, '\033')); /* what kernels and models say is data */
    ck_assert_ptr_null(strchr(strstr(killed, "swap"), '<'));
    ck_assert_ptr_nonnull(strstr(killed, "| C01 | 1 | 1 | 1 | 1 of 1 |"));
    ck_assert_ptr_nonnull(strstr(killed, "| judge: expand | 2 | 0.5 s |"));

    put(&f, "search.end",
        "{\"search\":\"s-1\",\"task\":\"sum\",\"target\":\"cpu\",\"speedup\":2.7,\"ci\":[2.6,2.8],"
        "\"verdict\":\"faster\","
        "\"why_stopped\":\"plateau\",\"best_commit\":\"bbbbbbbbbbbb\",\"baseline_ns\":2700,\"best_"
        "ns\":1000}");
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    HONE_AUTOFREE char *ended = hone_search_report_markdown(&s, "/ws");
    ck_assert_ptr_nonnull(
        strstr(ended, "**2.7x the baseline**, 95 % interval 2.6 to 2.8, confirmed"));
    ck_assert_ptr_nonnull(strstr(ended, "because of **plateau**"));
    ck_assert_ptr_null(strstr(ended, "not to be claimed"));
    ck_assert_ptr_nonnull(strstr(ended, "\"commit\":\"bbbbbbbbbbbb\",\"tier\":\"confirm\""));
    HONE_AUTOJSON struct hone_json *json = hone_search_report_json(&s);
    ck_assert_str_eq(hone_json_get_str(hone_json_get(json, "end"), "why_stopped", ""), "plateau");
    ck_assert_double_eq(hone_json_get_f64(hone_json_get(json, "budgets"), "budget_wall_ms", 0),
                        1000);
    ck_assert_ptr_null(hone_json_get(hone_json_get(json, "budgets"), "budget_evaluations"));

    put(&f, "search.end",
        "{\"search\":\"s-1\",\"task\":\"sum\",\"target\":\"cpu\",\"speedup\":2.7,\"ci\":[2.6,2.8],"
        "\"vs_fast_math\":0.88,"
        "\"verdict\":\"faster\",\"doubt\":\"public sizes only\","
        "\"why_stopped\":\"plateau\",\"best_commit\":\"bbbbbbbbbbbb\",\"baseline_ns\":2700,\"best_"
        "ns\":1000}");
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    HONE_AUTOFREE char *doubted = hone_search_report_markdown(&s, "/ws");
    ck_assert_ptr_nonnull(strstr(doubted, "**Not to be claimed**: public sizes only"));
    ck_assert_ptr_nonnull(strstr(doubted, "**one flag is faster**: 0.88x over"));
    ck_assert_ptr_null(strstr(ended, "one flag is faster"));
    ck_assert_ptr_null(strstr(doubted, "it waited"));

    put(&f, "search.end",
        "{\"search\":\"s-1\",\"task\":\"sum\",\"why_stopped\":\"budget_wall\",\"waited_ms\":9000,"
        "\"waited_for\":\"pid 7 (sum, confirm)\",\"unconfirmed\":\"a confirmation takes 40 s\"}");
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    HONE_AUTOFREE char *unconfirmed = hone_search_report_markdown(&s, "/ws");
    ck_assert_ptr_nonnull(
        strstr(unconfirmed, "**Nothing was confirmed**: a confirmation takes 40 s"));
    ck_assert_ptr_nonnull(
        strstr(unconfirmed, "it waited 9 s for other timings on this machine, last for pid 7"));
    close_fixture(&f);
}
END_TEST

/* An ask whose answer never came keeps what was reserved for it. */
START_TEST(test_models)
{
    struct fixture f;
    struct hone_search_report s;
    bool is_damaged;
    open_fixture(&f);
    put_search(&f);
    put(&f, "model.ask",
        "{\"search\":\"s-1\",\"role\":\"coder\",\"model\":\"m\",\"reserved_cost\":0.5}");
    put(&f, "model.answer",
        "{\"search\":\"s-1\",\"role\":\"coder\",\"model\":\"m\",\"reserved_cost\":0.5,\"cost\":0.2,"
        "\"tokens_in\":100,\"tokens_out\":30}");
    put(&f, "model.ask",
        "{\"search\":\"s-1\",\"role\":\"coder\",\"model\":\"m\",\"reserved_cost\":0.5}");
    put(&f, "model.ask",
        "{\"search\":\"other\",\"role\":\"coder\",\"model\":\"m\",\"reserved_cost\":9}");
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    ck_assert_uint_eq(s.models.n, 1);
    const struct hone_report_model *m = s.models.v;
    ck_assert_int_eq(m->n_asked, 2);
    ck_assert_int_eq(m->n_answered, 1);
    ck_assert_int_eq(m->tokens_out, 30);
    ck_assert_double_eq_tol(m->cost, 0.7, 1e-12);
    close_fixture(&f);
}
END_TEST

/* A later search of the same name is another report, until the first one runs again. */
START_TEST(test_newest)
{
    struct fixture f;
    struct hone_search_report s;
    bool is_damaged;
    open_fixture(&f);
    put_search(&f);
    put(&f, "search.start",
        "{\"search\":\"s-2\",\"key\":\"k2\",\"task\":\"sum\",\"target\":\"cpu\",\"name\":\"one\","
        "\"policy\":\"ucb\",\"coder\":\"rules\"}");
    OK(hone_search_report_read(f.ws, "one", f.pool, &s, &is_damaged, err));
    ck_assert_str_eq(s.id, "s-2");
    ck_assert_uint_eq(s.steps.n, 0);
    OK(hone_search_report_read(f.ws, "s-1", f.pool, &s, &is_damaged, err));
    ck_assert_uint_eq(s.steps.n, 3);
    put(&f, "search.run", "{\"search\":\"s-1\",\"name\":\"one\",\"budget_evaluations\":5}");
    OK(hone_search_report_read(f.ws, "one", f.pool, &s, &is_damaged, err));
    ck_assert_str_eq(s.id, "s-1");
    ck_assert_uint_eq(s.steps.n, 3);
    OK(hone_search_report_read(f.ws, NULL, f.pool, &s, &is_damaged, err));
    ck_assert_str_eq(s.id, "s-1");
    close_fixture(&f);
}
END_TEST

/* A reader that goes on says what one that begins says, after each record. */
static void same(struct fixture *f, struct hone_search_reader *reader, const char *name)
{
    struct hone_search_report fresh;
    const struct hone_search_report *kept;
    bool is_damaged;
    OK(hone_search_report_read(f->ws, name, f->pool, &fresh, &is_damaged, err));
    OK(hone_search_reader_read(reader, &kept, err));
    HONE_AUTOJSON struct hone_json *a = hone_search_report_json(&fresh);
    HONE_AUTOJSON struct hone_json *b = hone_search_report_json(kept);
    HONE_AUTOFREE char *x = hone_json_print(a);
    HONE_AUTOFREE char *y = hone_json_print(b);
    ck_assert_str_eq(x, y);
}

START_TEST(test_reading_on)
{
    static const struct {
        const char *type, *text;
    } records[] = {
        {"search.step", "{\"search\":\"s-1\",\"step\":3,\"parent\":1,\"strategy\":\"C02\",\"rule\":"
                        "\"r\",\"expected_log2\":0.3}"},
        {"model.ask",
         "{\"search\":\"s-1\",\"ask\":\"a1\",\"role\":\"coder\",\"key\":\"k\",\"model\":"
         "\"m\",\"tokens_in\":10,\"tokens_out\":20,\"cost\":0.5}"},
        {"evaluation.start",
         "{\"evaluation\":\"e1\",\"caller\":\"search s-1\",\"tier\":\"screen\"}"},
        {"evaluation.end", "{\"evaluation\":\"e1\",\"verdict\":\"screened\"}"},
        {"search.result",
         "{\"search\":\"s-1\",\"step\":3,\"kind\":\"expand\",\"parent\":1,\"node\":2,"
         "\"elapsed_ms\":1000,\"evaluations\":4,\"value\":2,\"verdict\":"
         "\"screened\"}"},
        {"search.steer", "{\"search\":\"s-1\",\"action\":\"pause\",\"by\":\"me\"}"},
        {"search.end", "{\"search\":\"s-1\",\"summary\":\"done\"}"},
        {"search.start",
         "{\"search\":\"s-1\",\"task\":\"sum\",\"name\":\"one\",\"policy\":\"puct\","
         "\"target\":\"cpu\",\"coder\":\"rules\"}"},
        {"search.start", "{\"search\":\"s-2\",\"task\":\"sum\",\"name\":\"one\",\"policy\":\"ucb\","
                         "\"target\":\"cpu\",\"coder\":\"rules\"}"},
        {"search.result",
         "{\"search\":\"s-2\",\"step\":0,\"kind\":\"root\",\"parent\":-1,\"node\":0,"
         "\"value\":0}"},
        {"search.run", "{\"search\":\"s-1\",\"name\":\"one\",\"budget_evaluations\":5}"},
        {"search.start", "{\"search\":\"s-3\",\"task\":\"sum\",\"name\":\"two\",\"policy\":\"ucb\","
                         "\"target\":\"cpu\",\"coder\":\"rules\"}"},
    };
    struct fixture f;
    const struct hone_search_report *kept;
    open_fixture(&f);
    struct hone_search_reader *named = hone_search_reader_new(f.ws, "one");
    struct hone_search_reader *newest = hone_search_reader_new(f.ws, NULL);
    FAILS(HONE_E_NOT_FOUND, "no search yet", hone_search_reader_read(named, &kept, err));
    put_search(&f);
    for (size_t i = 0; i < HONE_COUNTOF(records); i++) {
        same(&f, named, "one");
        same(&f, newest, NULL);
        put(&f, records[i].type, records[i].text);
    }
    same(&f, named, "one");
    same(&f, newest, NULL);
    hone_search_reader_free(named);
    hone_search_reader_free(newest);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("search_report", test_reading_on, test_killed_search, test_evaluations, test_texts,
          test_models, test_newest)
