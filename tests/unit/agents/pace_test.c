/* SPDX-License-Identifier: Apache-2.0 */
/* How long the parts of a search take: estimates before and after something was seen, what they keep
 * back of a cap. */
#include "tests/unit/unit.h"

#include "agents/search/pace.h"

static void note(struct hone_pace *p, enum hone_result_kind kind, int64_t ms)
{
    struct hone_event e = hone_event_new_result(kind);
    e.result.verdict = "screened";

    hone_pace_note(p, &e.result, ms);
}

START_TEST(what_was_seen_replaces_the_guess)
{
    struct hone_pace p = {.n_sizes = 3};
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 0);
    note(&p, HONE_KIND_CONFIRM, 5000); /* in screens of unknown length: nothing is learnt */
    note(&p, HONE_KIND_ROOT, 1000);
    ck_assert_int_eq(hone_pace_look_ms(&p), 12000);
    /* none was seen: 30 s for it, and the 48 s of a confirmation after it, of which 24 are kept */
    ck_assert_int_eq(hone_pace_look_room_ms(&p), 54000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 24000);
    note(&p, HONE_KIND_DECIDE,
         8000); /* a confirmation has twice the sizes, drawn ones are cheaper */
    ck_assert_int_eq(hone_pace_look_ms(&p), 8000);
    ck_assert_int_eq(hone_pace_look_room_ms(&p), 8000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 12800);
    note(&p, HONE_KIND_CONFIRM, 17000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 17000);
    ck_assert_int_eq(hone_pace_look_ms(&p), 8000);
}
END_TEST

/* Known costs decide whether one begins: a task of one size has its drawn ones as well. */
START_TEST(few_sizes_are_not_cheap)
{
    struct hone_pace p = {.n_sizes = 1};
    note(&p, HONE_KIND_ROOT, 800);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 19200);
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 20000, 19000), 0);     /* none begins */
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 30000, 29000), 15000); /* a guess: half */
    struct hone_event e = hone_event_new_result(HONE_KIND_CONFIRM);
    e.result.verdict = "inconclusive"; /* cut short, maybe */
    hone_pace_note(&p, &e.result, 8000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 19200);
    hone_pace_note(&p, &e.result, 24000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 24000);
    note(&p, HONE_KIND_CONFIRM, 8000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 8000);
}
END_TEST

/* On a device compilers are most of a screen: a confirmation is few of them, and some seconds at
 * least until one was seen. */
START_TEST(looks_on_a_device_are_few_screens)
{
    struct hone_pace p = {.n_sizes = 1, .is_device = true};
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 0);
    note(&p, HONE_KIND_ROOT, 800);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 14000);
    ck_assert_int_eq(hone_pace_look_ms(&p), 1600);
    note(&p, HONE_KIND_CONFIRM, 8000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 8000);
    p = (struct hone_pace){.n_sizes = 1, .is_device = true};
    note(&p, HONE_KIND_ROOT, 3000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 24000);
    ck_assert_int_gt(hone_pace_reserve_ms(&p, 60000, 50000), 0); /* 60 s have room for it */
    p.is_device = false;
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 60000, 50000), 0);
}
END_TEST

/* Screens that get slower: what is kept back is given to a shorter confirmation, not to screens. */
START_TEST(an_estimate_that_rises_keeps_the_confirmation)
{
    struct hone_pace p = {.n_sizes = 1};
    note(&p, HONE_KIND_ROOT, 800);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 19200);
    ck_assert_int_eq(hone_pace_least_confirm_ms(&p), 14400);
    ck_assert_int_eq(hone_pace_last_confirm_ms(&p), 5760);
    ck_assert_int_ge(hone_pace_reserve_ms(&p, 75000, 19000), 19000); /* no screen begins */
    ck_assert_int_ge(hone_pace_reserve_ms(&p, 75000, 5760), 5760);
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 75000, 5759), 0); /* too late for one */
}
END_TEST

START_TEST(a_busy_machine_counts_in_screens)
{
    struct hone_pace p = {.n_sizes = 3};
    note(&p, HONE_KIND_ROOT, 4000);
    note(&p, HONE_KIND_CONFIRM, 64000);
    ck_assert_int_eq(hone_pace_confirm_ms(&p), 64000);
    for (int i = 0; i < 40; i++)
        note(&p, HONE_KIND_EXPAND, 1000);
    ck_assert_int_ge(hone_pace_confirm_ms(&p), 16000);
    ck_assert_int_le(hone_pace_confirm_ms(&p), 16100);
    note(&p, HONE_KIND_EXPAND, 9000); /* one slow version is no busy machine */
    ck_assert_int_le(hone_pace_confirm_ms(&p), 33000);
    for (int i = 0; i < 40; i++)
        note(&p, HONE_KIND_EXPAND, 1000);
    note(&p, HONE_KIND_CONFIRM, 3600000); /* once: no confirmation is shut out for ever */
    ck_assert_int_le(hone_pace_confirm_ms(&p), 96100);
}
END_TEST

START_TEST(what_counts_for_nothing_is_not_noted)
{
    struct hone_pace p = {.n_sizes = 3}, before;
    note(&p, HONE_KIND_ROOT, 1000);
    before = p;
    note(&p, HONE_KIND_SWEEP, 9000);
    note(&p, HONE_KIND_TUNE, 9000);
    note(&p, HONE_KIND_EXPAND, 0); /* nothing was evaluated */
    struct hone_event e = hone_event_new_result(HONE_KIND_EXPAND);
    /* an answer of a model that was no version */
    hone_pace_note(&p, &e.result, 9000);
    ck_assert_mem_eq(&p, &before, sizeof(p));
}
END_TEST

START_TEST(a_cap_has_room_for_what_it_promises)
{
    static const struct {
        int64_t cap_ms, reserve_ms;
    } rows[] = {
        {5000, 0}, /* no confirmation fits: nothing is kept back for one */
        {26000, 0},       {27000, 13500}, {60000, 26400}, {160000, 40000}, /* a quarter, */
        {3600000, 120000}                                                  /* two minutes at most */
    };
    struct hone_pace p = {.n_sizes = 3};
    note(&p, HONE_KIND_ROOT, 1000);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(hone_pace_reserve_ms(&p, rows[i].cap_ms, rows[i].cap_ms) ==
                          rows[i].reserve_ms,
                      "%lld: %lld", (long long)rows[i].cap_ms,
                      (long long)hone_pace_reserve_ms(&p, rows[i].cap_ms, rows[i].cap_ms));
    int64_t enough = hone_pace_cap_ms(&p);
    ck_assert_int_eq(enough % 5000, 0);
    ck_assert_int_gt(hone_pace_reserve_ms(&p, enough, enough), 0);
    ck_assert_int_ge(enough - hone_pace_reserve_ms(&p, enough, enough), 8 * 1000);
    /* what a confirmation may time beyond the usual fits beside the usual */
    for (int64_t left = 24000; left < 120000; left += 1000)
        ck_assert_int_le(hone_pace_timing_ms(&p, 60000, left),
                         hone_max_i64(1000, left - hone_pace_confirm_ms(&p)));
    ck_assert_int_eq(hone_pace_timing_ms(&p, 3600000, 3600000), 30000);
    /* settings of a sweep take half of the room, both rungs together */
    ck_assert_int_le(hone_pace_sweep_ms(&p, (size_t)hone_pace_settings(&p, 30000)) * 4 / 3, 15000);
    note(&p, HONE_KIND_CONFIRM, 90000);
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 60000, 60000), 0);
    note(&p, HONE_KIND_CONFIRM, 96000);
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 110000, 110000), 105600);
    /* what no longer fits has nothing kept back */
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 110000, 96000), 105600);
    ck_assert_int_eq(hone_pace_reserve_ms(&p, 110000, 71999), 0);
}
END_TEST

UNIT_MAIN("pace", what_was_seen_replaces_the_guess, few_sizes_are_not_cheap,
          looks_on_a_device_are_few_screens, an_estimate_that_rises_keeps_the_confirmation,
          a_busy_machine_counts_in_screens, what_counts_for_nothing_is_not_noted,
          a_cap_has_room_for_what_it_promises)
