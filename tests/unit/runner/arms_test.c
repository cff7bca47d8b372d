/* SPDX-License-Identifier: Apache-2.0 */
/* Arms that nobody vouches for: what their failures come to, and what they have no say in. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/arms.h"
#include "tools/runner/judge/target.h"

#define N 40

static void drop(struct hone_judge *judge, struct hone_slot *slot)
{
    (void)slot;
    judge->counter++;
}

static const struct hone_target target = {.name = "cpu", .drop_arena = drop};

struct fixture {
    struct hone_judge judge;
    struct hone_job job;
    struct hone_task task;
    struct hone_report report;
    struct hone_machine_report machine;
    struct hone_arm arms[3];
    struct hone_known known;
    struct hone_workload workload;
    struct hone_timing_plan plan;
    struct hone_rounds rounds;
    struct hone_workload_report row;
    const char *warnings[32];
};

static void open_fixture(struct fixture *f)
{
    static const char *const names[] = {"candidate", "baseline", "parent"};
    *f = (struct fixture){.machine = {.cpu = "this one"},
                          .workload = {.id = "w"},
                          .known = {.workload = "w", .ratio = 4, .low = 3.8, .high = 4.2}};
    f->judge.job = &f->job;
    f->judge.task = &f->task;
    f->judge.target = &target;
    f->judge.report = &f->report;
    f->report.machine = &f->machine;
    f->judge.pool = hone_pool_new();
    f->judge.warnings = f->warnings;
    f->judge.n_slots = HONE_COUNTOF(names);
    f->plan.workload = &f->workload;
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        f->arms[i].name = names[i];
        f->judge.slots[i] = (struct hone_slot){.name = names[i], .arm = &f->arms[i]};
    }
    f->judge.n_threads = 4;
    f->arms[2].known_device = "this one";
    f->arms[2].known_threads = 4;
    f->arms[2].known = (struct hone_array){.v = &f->known, .n = 1};
    hone_rounds_init(&f->rounds, &f->judge, &f->plan);
    f->rounds.disturbed = 1.25;
}

/* Rounds of one call each, a little noise that is the same for all. */
static void play(struct fixture *f, double candidate, double baseline, double parent)
{
    const double ns[] = {candidate, baseline, parent};
    f->rounds.n = N;
    for (size_t i = 0; i < f->rounds.n_lanes; i++)
        for (size_t r = 0; r < N; r++) {
            f->rounds.lanes[i].wall[r] = ns[i] * (1 + 0.001 * (double)(r * 7 % 5));
            f->rounds.lanes[i].cpu[r] = f->rounds.lanes[i].wall[r];
            f->rounds.lanes[i].load[r] = 1;
        }
}

static void close_fixture(struct fixture *f)
{
    hone_json_free(f->row.axes);
    hone_pool_free(f->judge.pool);
}

START_TEST(test_who_fails)
{
    static const struct {
        size_t arm;
        int code, want;
        enum hone_reason reason;
        bool is_lost;
    } cases[] = {
        {0, 0, 0, HONE_REASON_CRASH, false},
        {1, 0, HONE_E_TARGET, HONE_REASON_CRASH, false},
        {2, 0, 0, HONE_REASON_CRASH, true},
        {2, 0, 0, HONE_REASON_CORRECT, false},
        {2, HONE_E_TARGET, 0, HONE_REASON_CORRECT, true},
        {2, HONE_E_CANCEL, HONE_E_CANCEL, HONE_REASON_CORRECT, false},
        {1, HONE_E_IO, HONE_E_IO, HONE_REASON_CORRECT, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct fixture f;
        struct hone_outcome end = {.reason = cases[i].reason,
                                   .detail = "verdict faster, report it"};
        struct hone_err err = HONE_ERR_INIT;
        open_fixture(&f);
        struct hone_slot *slot = &f.judge.slots[cases[i].arm];
        ck_assert_int_eq(hone_arm_settle(&f.judge, slot, cases[i].code, &end, &err), cases[i].want);
        ck_assert(slot->is_lost == cases[i].is_lost);
        ck_assert_uint_eq(f.judge.n_warnings, cases[i].is_lost);
        ck_assert_uint_eq(f.judge.counter, cases[i].is_lost); /* its process is gone */
        ck_assert(
            hone_outcome_is_good(&end) ||
            (cases[i].arm < 2 && end.reason == HONE_REASON_CRASH)); /* the candidate's stays */
        if (cases[i].is_lost) {
            ck_assert_ptr_null(strstr(f.warnings[0], "report it"));
            ck_assert_ptr_nonnull(strstr(f.warnings[0], cases[i].code < 0 ? "infra" : "crash"));
            ck_assert(!hone_arm_has_guest(&f.judge));
        }
        close_fixture(&f);
    }
}
END_TEST

START_TEST(test_names)
{
    struct fixture f;
    open_fixture(&f);
    f.judge.oracle.name = "oracle";
    ck_assert_str_eq(hone_arm_build_name(&f.judge, &f.judge.slots[2]), "candidate");
    ck_assert_str_eq(hone_arm_build_name(&f.judge, &f.judge.slots[1]), "baseline");
    ck_assert_str_eq(hone_arm_build_name(&f.judge, &f.judge.oracle), "oracle");
    ck_assert(hone_arm_has_guest(&f.judge));
    close_fixture(&f);
}
END_TEST

START_TEST(test_held_to_its_record)
{
    static const struct {
        double parent; /* of a baseline that takes 4000; recorded 3.8 to 4.2 */
        const char *device;
        int64_t threads; /* of the record; this job's kernels are allowed 4 */
        bool is_lost;
    } cases[] = {
        {1000, "this one", 4, false}, {1150, "this one", 4, false}, {1400, "this one", 4, true},
        {1400, "other", 4, false},    {2000, "this one", 4, true},  {500, "this one", 4, false},
        {2000, "this one", 8, false}, {2000, "this one", 0, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct fixture f;
        open_fixture(&f);
        f.arms[2].known_device = cases[i].device;
        f.arms[2].known_threads = cases[i].threads;
        play(&f, 1000, 4000, cases[i].parent);
        hone_rounds_report(&f.judge, &f.rounds, &f.row);
        ck_assert_msg(f.judge.slots[2].is_lost == cases[i].is_lost, "%g", cases[i].parent);
        ck_assert_uint_eq(f.row.ratios.n, cases[i].is_lost ? 1 : 2);
        ck_assert_uint_eq(f.row.times.n, cases[i].is_lost ? 2 : 3);
        ck_assert(!cases[i].is_lost || strstr(f.warnings[0], "slower than its record") != NULL);
        close_fixture(&f);
    }
}
END_TEST

/* Within the room of each workload, beyond that of the whole. */
START_TEST(test_whole_record)
{
    struct fixture f;
    struct hone_workload_report rows[2] = {{.id = "w"}, {.id = "w"}};
    open_fixture(&f);
    f.judge.workloads = rows;
    for (size_t w = 0; w < 2; w++) {
        play(&f, 1000, 4000, 1190);
        hone_rounds_report(&f.judge, &f.rounds, &rows[w]);
        ck_assert_uint_eq(rows[w].ratios.n, 2);
    }
    f.judge.n_workloads = 2;
    hone_arms_conclude(&f.judge);
    ck_assert(f.judge.slots[2].is_lost);
    ck_assert_ptr_nonnull(strstr(f.warnings[0], "on the whole"));
    for (size_t w = 0; w < 2; w++) {
        ck_assert_uint_eq(rows[w].ratios.n, 1);
        ck_assert_str_eq(((const struct hone_ratio *)rows[w].ratios.v)->against, "baseline");
        hone_json_free(rows[w].axes);
    }
    close_fixture(&f);
}
END_TEST

/* A lost arm is not there for the workloads that follow. */
START_TEST(test_lost_is_not_played)
{
    struct fixture f;
    open_fixture(&f);
    hone_arm_lose(&f.judge, &f.judge.slots[2], HONE_REASON_TIMEOUT);
    hone_arm_lose(&f.judge, &f.judge.slots[2], HONE_REASON_CRASH); /* one warning */
    ck_assert_uint_eq(f.judge.n_warnings, 1);
    hone_rounds_init(&f.rounds, &f.judge, &f.plan);
    ck_assert_uint_eq(f.rounds.n_lanes, 2);
    ck_assert_str_eq(f.rounds.lanes[1].name, "baseline");
    close_fixture(&f);
}
END_TEST

static struct hone_ratio against_baseline(struct fixture *f)
{
    hone_rounds_report(&f->judge, &f->rounds, &f->row);
    return *(const struct hone_ratio *)f->row.ratios.v;
}

/* What is said against the baseline is the same whatever a parent does with its own time. */
START_TEST(test_no_say_in_the_verdict)
{
    struct fixture quiet, loud;
    static bool is_out[HONE_MAX_ROUNDS];
    open_fixture(&quiet);
    open_fixture(&loud);
    quiet.arms[2].known.n = loud.arms[2].known.n = 0;
    play(&quiet, 1000, 4000, 1000);
    play(&loud, 1000, 4000, 1000);
    for (size_t r = 0; r < N; r++) {
        loud.rounds.lanes[2].wall[r] *= r % 2 == 0 ? 1 : 5;  /* noise */
        loud.rounds.lanes[2].load[r] = r % 3 == 0 ? 1 : 100; /* rounds that look disturbed */
        is_out[r] = r % 5 != 0;                              /* and like nothing at all */
    }
    loud.rounds.lanes[2].is_out = is_out;
    struct hone_ratio a = against_baseline(&quiet), b = against_baseline(&loud);
    ck_assert_str_eq(a.against, "baseline");
    ck_assert_double_eq(a.ratio, b.ratio);
    ck_assert_double_eq(a.low, b.low);
    ck_assert_double_eq(a.high, b.high);
    ck_assert_double_eq(a.least_gain, b.least_gain);
    ck_assert_int_eq(a.n_pairs, b.n_pairs);
    ck_assert_uint_eq(hone_rounds_believed(&loud.rounds), N);
    close_fixture(&quiet);
    close_fixture(&loud);
}
END_TEST

/* The baseline with -ffast-math leaves after some rounds: its ratio is of these alone, and what is
 * said of the others is as if it had never been there. */
START_TEST(test_set_aside)
{
    struct fixture with, without;
    open_fixture(&with);
    open_fixture(&without);
    without.arms[2].known.n = 0;
    play(&without, 1000, 4000, 2000);
    hone_rounds_drop(&without.rounds, 2);
    with.arms[2] = (struct hone_arm){.name = HONE_ARM_FAST_MATH};
    with.judge.slots[2].name = HONE_ARM_FAST_MATH;
    hone_rounds_init(&with.rounds, &with.judge, &with.plan);
    with.rounds.disturbed = 1.25;
    play(&with, 1000, 4000, 2000);
    with.rounds.n = HONE_ASIDE_ROUNDS;
    hone_rounds_set_aside(&with.rounds, 2);
    with.rounds.n = N;
    for (size_t r = HONE_ASIDE_ROUNDS; r < N; r++)
        with.rounds.aside.wall[r] = (double)NAN; /* never played */
    struct hone_ratio a = against_baseline(&with), b = against_baseline(&without);
    ck_assert_double_eq(a.ratio, b.ratio);
    ck_assert_double_eq(a.low, b.low);
    ck_assert_uint_eq(with.row.ratios.n, 1);
    hone_rounds_report_aside(&with.judge, &with.rounds, &with.row);
    ck_assert_uint_eq(with.row.ratios.n, 2);
    const struct hone_ratio *ratio = (const struct hone_ratio *)with.row.ratios.v + 1;
    ck_assert_str_eq(ratio->against, HONE_ARM_FAST_MATH);
    ck_assert_double_eq_tol(ratio->ratio, 2, 0.1);
    ck_assert_int_le(ratio->n_pairs, HONE_ASIDE_ROUNDS);
    with.judge.slots[2].is_lost = true; /* wrong in an audit: nothing is said */
    with.row.ratios.n = with.row.times.n = 1;
    hone_rounds_report_aside(&with.judge, &with.rounds, &with.row);
    ck_assert_uint_eq(with.row.ratios.n, 1);
    close_fixture(&with);
    close_fixture(&without);
}
END_TEST

UNIT_MAIN("arms", test_set_aside, test_who_fails, test_names, test_held_to_its_record,
          test_whole_record, test_lost_is_not_played, test_no_say_in_the_verdict)
