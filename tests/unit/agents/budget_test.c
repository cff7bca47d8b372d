/* SPDX-License-Identifier: Apache-2.0 */
/* Caps at the limit and above it; what was used up, read back from records. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "agents/search/budget.h"
#include "agents/search/usage.h"

START_TEST(test_limit)
{
    for (size_t i = 0; i < HONE_N_BUDGETS; i++) {
        enum hone_budget_kind kind = (enum hone_budget_kind)i;
        struct hone_budgets b = {.of = {{.cap = 0}}};
        struct hone_err err = HONE_ERR_INIT;
        ck_assert(hone_budget_fits(&b, kind, 1e18)); /* no cap */
        b.of[i] = (struct hone_budget){.cap = 8, .spent = 5};
        ck_assert(hone_budget_fits(&b, kind, 3)); /* at it */
        ck_assert(!hone_budget_fits(&b, kind, 3.001));
        ck_assert_int_eq(hone_budget_reserve(&b, kind, 2, &err), 0);
        ck_assert(hone_budget_fits(&b, kind, 1)); /* what is set aside counts */
        ck_assert(!hone_budget_fits(&b, kind, 2));
        ck_assert_int_eq(hone_budget_reserve(&b, kind, 2, &err), HONE_E_LIMIT);
        ck_assert_str_eq(err.path, hone_stop_reason_name(hone_stop_reason_of_budget(kind)));
        ck_assert_ptr_nonnull(strstr(err.message, hone_budget_rows[i].option));
        ck_assert_double_eq(b.of[i].reserved, 2); /* refused: nothing more */
        hone_budget_settle(&b, kind, 2, 0.5);
        ck_assert_double_eq(b.of[i].reserved, 0);
        ck_assert_double_eq(b.of[i].spent, 5.5);
        hone_budget_settle(&b, kind, 7, 9); /* more than was expected */
        ck_assert_double_eq(b.of[i].reserved, 0);
        ck_assert(!hone_budget_fits(&b, kind, 0));
    }
}
END_TEST

START_TEST(test_other_kinds_are_left_alone)
{
    struct hone_budgets b = {.of = {[HONE_BUDGET_COST] = {.cap = 1, .spent = 1}}};
    ck_assert(!hone_budget_fits(&b, HONE_BUDGET_COST, 0.01));
    for (size_t i = 0; i < HONE_N_BUDGETS; i++)
        if (i != HONE_BUDGET_COST)
            ck_assert_int_eq(hone_budget_reserve(&b, (enum hone_budget_kind)i, 100, NULL), 0);
}
END_TEST

START_TEST(test_words)
{
    struct hone_budgets b = {.of = {[HONE_BUDGET_WALL] = {.cap = 60000, .spent = 1500},
                                    [HONE_BUDGET_EVALUATIONS] = {.cap = 40, .spent = 12},
                                    [HONE_BUDGET_DEVICE] = {.spent = 900},
                                    [HONE_BUDGET_DISK] = {.cap = 2 << 20, .spent = 1 << 20},
                                    [HONE_BUDGET_COST] = {.cap = 5, .spent = 0.3125},
                                    [HONE_BUDGET_TOKENS] = {.spent = 123456}}};
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_budgets_put(&out, &b, HONE_BUDGET_WALL);
    ck_assert_str_eq(out.data, "wall 1.5 of 60 s, evaluations 12 of 40, disk 1 of 2 MiB, "
                               "cost 0.312 of 5 USD, tokens 123456");
}
END_TEST

/* ---- usage ---- */

static void put(struct hone_usage *t, uint64_t n, int64_t ms, const char *type, const char *text)
{
    HONE_AUTOJSON struct hone_json *data = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_json_parse(text, strlen(text), &data, &err) == 0, "%s", err.message);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_event event;
    bool is_event = hone_event_read(type, data, pool, &event);
    const struct hone_usage_record record = {n, ms, type, data, is_event ? &event : NULL};
    hone_usage_take(t, &record);
}

static void begin(struct hone_usage *t, uint64_t n, int64_t ms, const char *tier)
{
    char text[200];
    snprintf(text, sizeof(text),
             "{\"evaluation\":\"e%llu\",\"tier\":\"%s\",\"caller\":\"search s-1\"}",
             (unsigned long long)n, tier);
    put(t, n, ms, "evaluation.start", text);
}

static void end(struct hone_usage *t, uint64_t n, uint64_t start, int64_t ms)
{
    char text[100];
    snprintf(text, sizeof(text), "{\"evaluation\":\"e%llu\"}", (unsigned long long)start);
    put(t, n, ms, "evaluation.end", text);
}

START_TEST(test_tally)
{
    struct hone_usage t;
    hone_usage_init(&t, "s-1");
    put(&t, 1, 1000, "search.start", "{\"search\":\"s-1\"}");
    begin(&t, 2, 1100, "screen");
    ck_assert_int_eq(t.device_ms, hone_usage_expected_ms(&t, false)); /* set aside */
    end(&t, 3, 2, 1400);
    ck_assert_int_eq(t.device_ms, 300);
    ck_assert_uint_eq(t.n_unused, 1);
    put(&t, 4, 1450, "search.result", "{\"search\":\"s-1\",\"elapsed_ms\":440}");
    ck_assert_uint_eq(t.n_unused, 0);
    ck_assert_int_eq(t.wall_ms, 440);
    put(&t, 5, 1500, "evaluation.start", "{\"evaluation\":\"x\",\"caller\":\"search s-2\"}");
    put(&t, 6, 1500, "evaluation.start", "{\"evaluation\":\"y\",\"caller\":\"cli\"}");
    ck_assert_int_eq(t.evaluations, 1);
    begin(&t, 7, 1550, "screen"); /* killed, and nobody worked for an hour */
    put(&t, 8, 3601550, "search.run", "{\"search\":\"s-1\"}");
    ck_assert_int_eq(t.wall_ms, 540);
    ck_assert_int_eq(t.device_ms, 600); /* with the longest that was seen */
    put(&t, 9, 3601650, "model.ask", "{\"search\":\"s-1\"}");
    ck_assert_int_eq(t.wall_ms, 640);
    put(&t, 10, 7201650, "search.steer", "{\"search\":\"s-1\"}"); /* of somebody else */
    ck_assert_int_eq(t.wall_ms, 640);
    begin(&t, 11, 3601700, "confirm");
    end(&t, 12, 11, 3602200);
    ck_assert_int_eq(t.device_ms, 1100);
    ck_assert_int_eq(hone_usage_expected_ms(&t, true), 500);
    ck_assert_int_eq(hone_usage_expected_ms(&t, false), 300);
    ck_assert_int_eq(t.round_evaluations, 3);
    put(&t, 13, 3700000, "search.start", "{\"search\":\"s-1\"}");
    ck_assert_int_eq(t.round_evaluations, 0);
    ck_assert_int_eq(t.evaluations, 3);
    ck_assert_int_eq(t.wall_ms, 0);
}
END_TEST

START_TEST(test_unused_is_bounded)
{
    struct hone_usage t;
    hone_usage_init(&t, "s-1");
    for (uint64_t i = 0; i < HONE_USAGE_UNUSED + 1; i++) {
        begin(&t, 10 * i, 0, "screen");
        end(&t, 10 * i + 1, 10 * i, 5);
        ck_assert_uint_eq(t.n_unused, i < HONE_USAGE_UNUSED ? i + 1 : HONE_USAGE_UNUSED);
    }
    ck_assert_uint_eq(t.unused[0].start, 10); /* the newest are kept */
    ck_assert_uint_eq(t.unused[HONE_USAGE_UNUSED - 1].end, 10 * HONE_USAGE_UNUSED + 1);
}
END_TEST

UNIT_MAIN("budget", test_limit, test_other_kinds_are_left_alone, test_words, test_tally,
          test_unused_is_bounded)
