/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that are read on: a position brings what came after it, anything else the whole. */
#include "server/page/reports.h"

#include <stdlib.h>
#include <string.h>

#include "agents/search/events.h"
#include "tests/unit/unit.h"
#include "workspace/base/file.h"

#define ID "s-000000000001"

struct rig {
    char dir[32];
    struct hone_workspace *ws;
    struct hone_reports *reports;
};

static struct hone_ledger *ledger_of(const struct rig *rig)
{
    return hone_workspace_ledger(rig->ws);
}

static void begin(const struct rig *rig, const char *id)
{
    const struct hone_event e = {
        .type = HONE_EVENT_START,
        .start = {.search = id, .name = "night", .task = "sum", .target = "cpu", .policy = "puct"}};
    ck_assert_int_eq(hone_event_append(ledger_of(rig), &e, NULL, NULL), 0);
}

static void add_evaluation(const struct rig *rig, const char *type, int i)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    HONE_AUTOFREE char *id = hone_sprintf("e-%d", i);
    hone_json_set_str(data, "evaluation", id);
    hone_json_set_str(data, "caller", "search " ID);
    hone_json_set_str(data, "verdict", "screened");
    ck_assert_int_eq(hone_ledger_append(ledger_of(rig), type, data, NULL, NULL), 0);
}

static void add_step(const struct rig *rig, int i)
{
    struct hone_event e = hone_event_new_result(i == 0 ? HONE_KIND_ROOT : HONE_KIND_EXPAND);
    e.result.search = ID;
    e.result.step = i;
    e.result.parent = i - 1;
    e.result.node = i;
    e.result.evaluations = i + 1;
    ck_assert_int_eq(hone_event_append(ledger_of(rig), &e, NULL, NULL), 0);
}

static void rig_open(struct rig *rig)
{
    strcpy(rig->dir, "/tmp/hone-reports-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(rig->dir));
    HONE_AUTOFREE char *ws = hone_sprintf("%s/ws", rig->dir);
    ck_assert_int_eq(hone_workspace_init(ws, NULL, false, NULL), 0);
    ck_assert_int_eq(hone_workspace_open(ws, &rig->ws, NULL), 0);
    rig->reports = hone_reports_new(rig->ws);
    begin(rig, ID);
    for (int i = 0; i < 40; i++) {
        add_evaluation(rig, "evaluation.start", i);
        add_step(rig, i);
    }
}

static void rig_close(struct rig *rig)
{
    hone_reports_free(rig->reports);
    hone_workspace_close(rig->ws);
    ck_assert_int_eq(hone_remove_tree(rig->dir, NULL), 0);
}

static struct hone_json *read_since(const struct rig *rig, const char *since)
{
    HONE_AUTOFREE char *text = hone_reports_text(rig->reports, "night", since);
    struct hone_json *json = NULL;
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &json, NULL), 0);
    return json;
}

static char *position_of(const struct hone_json *json)
{
    return hone_strdup(hone_json_get_str(json, "position", ""));
}

START_TEST(a_position_brings_what_came_after_it)
{
    struct rig rig;
    rig_open(&rig);
    HONE_AUTOJSON struct hone_json *all = read_since(&rig, NULL);
    HONE_AUTOFREE char *position = position_of(all);
    ck_assert_uint_eq(hone_json_size(hone_json_get(all, "steps")), 40);
    ck_assert_ptr_null(hone_json_get(all, "since"));
    add_evaluation(&rig, "evaluation.end", 30); /* of one that was told of without its verdict */
    add_evaluation(&rig, "evaluation.start", 40);
    add_step(&rig, 40);
    add_step(&rig, 41);
    HONE_AUTOJSON struct hone_json *part = read_since(&rig, position);
    const struct hone_json *steps = hone_json_get(part, "steps"),
                           *from = hone_json_get(part, "since");
    const struct hone_json *evaluations = hone_json_get(part, "evaluations");
    ck_assert_uint_eq(hone_json_size(steps), 2);
    ck_assert_int_eq(hone_json_get_i64(hone_json_first(steps), "node", -1), 40);
    ck_assert_int_eq(hone_json_get_i64(from, "steps", -1), 40);
    int64_t first = hone_json_get_i64(from, "evaluations", -1);
    ck_assert_int_ge(first, 0);
    ck_assert_uint_eq((size_t)first + hone_json_size(evaluations), 41);
    const char *verdict = NULL;
    for (const struct hone_json *e = hone_json_first(evaluations); e; e = hone_json_next(e))
        if (strcmp(hone_json_get_str(e, "evaluation", ""), "e-30") == 0)
            verdict = hone_json_get_str(e, "verdict", NULL);
    ck_assert_msg(verdict && strcmp(verdict, "screened") == 0, "the late verdict is told");
    HONE_AUTOFREE char *later = position_of(part);
    HONE_AUTOJSON struct hone_json *nothing = read_since(&rig, later);
    ck_assert_uint_eq(hone_json_size(hone_json_get(nothing, "steps")), 0);
    rig_close(&rig);
}
END_TEST

START_TEST(what_is_no_position_brings_the_whole)
{
    static const char *const rows[] = {"",          "x",           "1",
                                       "1.1",       "1.1.",        "1.1.s-2",
                                       "-1.1." ID,  "1.-1." ID,    "41.40." ID,
                                       "40.41." ID, "1.1." ID " ", "99999999999999999999.1." ID};
    struct rig rig;
    rig_open(&rig);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOJSON struct hone_json *json = read_since(&rig, rows[i]);
        ck_assert_msg(hone_json_size(hone_json_get(json, "steps")) == 40, "'%s'", rows[i]);
        ck_assert_msg(hone_json_get(json, "since") == NULL, "'%s'", rows[i]);
    }
    rig_close(&rig);
}
END_TEST

/* Another search takes the name: the position of the first means nothing in it. */
START_TEST(another_search_of_the_name_is_told_whole)
{
    struct rig rig;
    rig_open(&rig);
    HONE_AUTOJSON struct hone_json *all = read_since(&rig, NULL);
    HONE_AUTOFREE char *position = position_of(all);
    begin(&rig, "s-000000000002");
    HONE_AUTOJSON struct hone_json *other = read_since(&rig, position);
    ck_assert_str_eq(hone_json_get_str(other, "search", ""), "s-000000000002");
    ck_assert_ptr_null(hone_json_get(other, "since"));
    rig_close(&rig);
}
END_TEST

UNIT_MAIN("reports", a_position_brings_what_came_after_it, what_is_no_position_brings_the_whole,
          another_search_of_the_name_is_told_whole)
