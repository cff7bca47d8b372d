/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a search outlive who gave them, and come back from the record of its start. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/search/options.h"

START_TEST(a_copy_owns_its_strings)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char text[] = "words";
    const struct hone_search_options o = {.task = text,
                                          .target = text,
                                          .policy = text,
                                          .coder = text,
                                          .planner = text,
                                          .model = text,
                                          .planner_model = text,
                                          .name = text,
                                          .knowledge = text,
                                          .prior = hone_json_new_str("prior"),
                                          .cost = hone_json_new_str("cost"),
                                          .coders = 3,
                                          .plateau = -1,
                                          .stop_at_speedup = 2};
    const struct hone_search_options c = hone_search_options_copy(&o, pool);
    const char *const copies[] = {c.task,  c.target,        c.policy, c.coder,    c.planner,
                                  c.model, c.planner_model, c.name,   c.knowledge};
    memset(text, 'x', sizeof(text) - 1);
    ck_assert(c.prior != o.prior && c.cost != o.cost);
    hone_json_free(o.prior); /* a suite's are gone before its search has begun */
    hone_json_free(o.cost);
    ck_assert_str_eq(hone_json_str(c.prior), "prior");
    ck_assert_str_eq(hone_json_str(c.cost), "cost");
    for (size_t i = 0; i < HONE_COUNTOF(copies); i++)
        ck_assert_str_eq(copies[i], "words");
    ck_assert_int_eq(c.coders, 3);
    ck_assert_int_eq(c.plateau, -1);
    ck_assert_double_eq(c.stop_at_speedup, 2);
    const struct hone_search_options none = {.seed = 1};
    ck_assert_ptr_null(hone_search_options_copy(&none, pool).name);
}
END_TEST

START_TEST(a_start_keeps_them)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_search_options o = {.planner = "llm",
                                          .model = "big",
                                          .seed = 7,
                                          .budget_wall_ms = 1,
                                          .budget_evaluations = 2,
                                          .budget_device_ms = 3,
                                          .budget_disk_bytes = 4,
                                          .budget_tokens = 5,
                                          .budget_cost = 6};
    struct hone_event_start start = {.task = "sum", .target = "cpu", .name = "n", .coder = "auto"};
    hone_search_options_put(&o, &start);
    for (int i = 0; i < HONE_N_BUDGETS; i++) { /* each cap under its own kind */
        static const double want[] = {1, 2, 3, 4, 6, 5};
        ck_assert_double_eq(hone_event_cap(&start.caps, (enum hone_budget_kind)i), want[i]);
    }
    const struct hone_search_options back = hone_search_options_of(&start, pool);
    ck_assert_str_eq(back.task, "sum");
    ck_assert_str_eq(back.target, "cpu");
    ck_assert_str_eq(back.name, "n");
    ck_assert_str_eq(back.coder, "auto");
    ck_assert_str_eq(back.planner, "llm");
    ck_assert_str_eq(back.model, "big");
    ck_assert_int_eq(back.seed, 7);
    ck_assert_int_eq(back.budget_wall_ms, 1);
    ck_assert_int_eq(back.budget_evaluations, 2);
}
END_TEST

UNIT_MAIN("options", a_copy_owns_its_strings, a_start_keeps_them)
