/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's own kernels, on the emulated driver: content by role and distribution, poison,
 * canaries, hashes, comparison (against compare.c's rule on the same data). */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/runner/kind_util.h"
#include "tests/unit/runner/task_util.h"
#include "tools/runner/cuda/judge/gpu_held.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/judge/gpu_reference.h"
#include "tools/runner/cuda/judge/gpu_steps.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define N (20 * 30)

struct bench {
    struct hone_task task;
    struct hone_job job;
    struct hone_report report;
    struct hone_session session;
    struct hone_judge judge;
    struct hone_slot *slot, *other;
};

static void set_up(struct bench *b)
{
    HONE_AUTOFREE char *dir = hone_exe_dir();
    if (getenv("HONE_CUDA_LIB") == NULL) {
        HONE_AUTOFREE char *lib = hone_sprintf("%s/../../../cuda_emulator", dir);
        HONE_AUTOFREE char *whole = realpath(lib, NULL);
        (void)setenv("HONE_CUDA_LIB", whole != NULL ? whole : lib, 1);
    }
    memset(b, 0, sizeof *b);
    static const uint8_t key[16] = {1, 2, 3};
    struct hone_judge *judge = &b->judge;
    make_task(&b->task, &judge->cases[0]);
    b->task.bytes = "8*M*N";
    b->job = (struct hone_job){.tier = HONE_TIER_DECIDE,
                               .target = "cuda",
                               .jail = "auto",
                               .cache_dir = getenv("HONE_OBJECTS")};
    *judge = (struct hone_judge){.job = &b->job,
                                 .target = &hone_target_cuda,
                                 .session = &b->session,
                                 .task = &b->task,
                                 .report = &b->report,
                                 .pool = hone_pool_new(),
                                 .deadline_ns = hone_deadline_in_ms(100000),
                                 .n_slots = 2,
                                 .n_cases = 1};
    make_task(&b->task, &judge->cases[0]);
    judge->slots[0].name = "candidate";
    judge->slots[1].name = "baseline";
    b->slot = &judge->slots[0];
    b->other = &judge->slots[1];
    judge->gen = hone_gen_new(key);
    judge->rng = hone_gen_rng(judge->gen, 0);
    judge->stages = hone_pool_alloc(judge->pool, 64 * sizeof *judge->stages);
    judge->n_stage_rows = 64;
    judge->warnings = hone_pool_alloc(judge->pool, 64 * sizeof *judge->warnings);
    judge->gpu = hone_pool_alloc(judge->pool, sizeof *judge->gpu);
    memset(judge->gpu, 0, sizeof *judge->gpu);
    judge->gpu->session = b->session.gpu = hone_gpu_session_new();
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_gpu_session_open(judge, &end, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_outcome_is_good(&end), "%s", end.detail);
}

static void tear_down(struct bench *b)
{
    hone_gpu_session_free(b->session.gpu);
    hone_gen_free(b->judge.gen);
    hone_pool_free(b->judge.pool);
}

static void frame(struct bench *b, int64_t n_sets, bool is_start_flush)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_gpu_set_frame(&b->judge, &b->judge.cases[0], n_sets, is_start_flush, &err) ==
                      0,
                  "%s", err.message);
}

static void fill(struct bench *b, int64_t first, int64_t n, enum hone_distribution dist,
                 uint64_t counter)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_gpu_fill(&b->judge, first, n, dist, counter, &err) == 0, "%s", err.message);
}

static void fetch(struct bench *b, hone_cu_ptr at, void *dst, size_t bytes)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_gpu_fetch(b->session.gpu, dst, at, (int64_t)bytes, &err) == 0, "%s",
                  err.message);
}

static void store(struct bench *b, hone_cu_ptr at, const void *src, size_t bytes)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_gpu_store(b->session.gpu, at, src, (int64_t)bytes, &err) == 0, "%s",
                  err.message);
}

static void values_of(struct bench *b, int64_t set, size_t input, double ret[N])
{
    char room[N * 8];
    enum hone_dtype dtype = b->task.inputs[input].dtype;
    fetch(b, hone_gpu_input(&b->judge, set, input), room, N * (size_t)hone_dtype_bytes(dtype));
    for (int64_t i = 0; i < N; i++)
        ret[i] = hone_element_get(dtype, room, i);
}

START_TEST(content_has_its_role)
{
    struct bench b;
    double v[N];
    set_up(&b);
    frame(&b, 2, false);
    fill(&b, 0, 2, HONE_DIST_NORMAL, 5);
    double sum = 0, squares = 0;
    values_of(&b, 0, 0, v);
    for (int i = 0; i < N; i++) {
        sum += v[i] / N;
        squares += v[i] * v[i] / N;
    }
    ck_assert_double_le(fabs(sum), 0.15);
    ck_assert_double_le(fabs(squares - 1), 0.3);
    values_of(&b, 0, 1, v); /* weight: 1 / sqrt(20) */
    squares = 0;
    for (int i = 0; i < N; i++)
        squares += v[i] * v[i] / N;
    ck_assert_double_le(fabs(squares * 20 - 1), 0.3);
    values_of(&b, 0, 2, v);
    for (int i = 0; i < N; i++)
        ck_assert_double_gt(v[i], 0.06);
    values_of(&b, 0, 3, v);
    for (int row = 0; row < 20; row++) {
        sum = 0;
        for (int i = 0; i < 30; i++)
            sum += v[30 * row + i];
        ck_assert_double_le(fabs(sum - 1), 1e-5);
    }
    values_of(&b, 0, 4, v);
    double most = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(v[i] >= 0 && v[i] < 17 && v[i] == floor(v[i]));
        most = fmax(most, v[i]);
    }
    ck_assert_double_ge(most, 15);
    values_of(&b, 0, 5, v);
    ck_assert_double_eq(v[0], 0);
    ck_assert_double_eq(v[N - 1], 17);
    for (int i = 1; i < N; i++)
        ck_assert_double_ge(v[i], v[i - 1]);
    values_of(&b, 0, 6, v);
    sum = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(v[i] == 0 || v[i] == 1);
        sum += v[i] / N;
    }
    ck_assert_double_le(fabs(sum - 0.5), 0.1);
    tear_down(&b);
}
END_TEST

START_TEST(content_follows_its_counter)
{
    struct bench b;
    double a[N], c[N];
    set_up(&b);
    frame(&b, 4, false);
    for (int d = 0; d < HONE_N_DISTS; d++) {
        enum hone_distribution dist = (enum hone_distribution)d;
        fill(&b, 0, 1, dist, 7);
        fill(&b, 1, 1, dist, 7);
        fill(&b, 2, 2, dist, 8);
        for (size_t input = 0; input < b.task.n_inputs; input++) {
            values_of(&b, 0, input, a);
            values_of(&b, 1, input, c);
            ck_assert_msg(memcmp(a, c, sizeof a) == 0, "%s, input %zu", hone_dist_name(dist),
                          input);
        }
        bool is_fixed = dist == HONE_DIST_ZEROS || dist == HONE_DIST_ALTERNATING;
        values_of(&b, 2, 0, a);
        values_of(&b, 3, 0, c);
        ck_assert_int_eq(memcmp(a, c, sizeof a) == 0, is_fixed);
        values_of(&b, 0, 0, c);
        ck_assert_int_eq(memcmp(a, c, sizeof a) == 0, is_fixed);
    }
    fill(&b, 0, 1, HONE_DIST_INTEGERS, 9);
    values_of(&b, 0, 0, a);
    for (int i = 0; i < N; i++)
        ck_assert(a[i] == floor(a[i]) && fabs(a[i]) <= 1023);
    fill(&b, 0, 1, HONE_DIST_SORTED, 9);
    values_of(&b, 0, 0, a);
    for (int i = 1; i < N; i++)
        ck_assert_double_ge(a[i], a[i - 1]);
    tear_down(&b);
}
END_TEST

/* The device draws the same kinds as the host. */
START_TEST(each_kind_looks_like_its_name)
{
    struct bench b;
    double v[N];
    set_up(&b);
    frame(&b, 2, false);
    for (int d = 0; d < HONE_N_DISTS; d++) {
        enum hone_distribution dist = (enum hone_distribution)d;
        for (uint64_t counter = 20; counter < 24; counter++) {
            fill(&b, 1, 1, dist, counter);
            values_of(&b, 1, 0, v);
            ck_assert_msg(kind_looks_right(dist, v), "%s %d", hone_dist_name(dist), (int)counter);
            for (size_t i = 2; i < b.task.n_inputs; i++) {
                values_of(&b, 1, i, v);
                ck_assert_msg(kind_role_is_right(b.task.inputs[i].role, v), "%s: %s, %d",
                              hone_dist_name(dist), b.task.inputs[i].name, (int)counter);
            }
        }
    }
    tear_down(&b);
}
END_TEST

START_TEST(looks_find_what_is_there)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_gpu_found found[4];
    uint64_t before[4], after[4];
    set_up(&b);
    for (int flush = 0; flush < 2; flush++) {
        frame(&b, 4, flush == 1);
        fill(&b, 0, 4, HONE_DIST_NORMAL, 3);
        ck_assert_int_eq(hone_gpu_poison(&b.judge, b.slot, 0, 2, 2, HONE_POISON_NAN, &err), 0);
        ck_assert_int_eq(hone_gpu_poison(&b.judge, b.slot, 1, 2, 2, HONE_POISON_LARGE, &err), 0);
        ck_assert_int_eq(hone_gpu_find_poison(&b.judge, b.slot, 0, 0, 2, 2, true, found, &err), 0);
        ck_assert_int_eq(found[0].count, N);
        ck_assert_int_eq(found[1].count, N);
        float one = 1;
        hone_cu_ptr y = hone_gpu_output(&b.judge, b.slot, 2, 0);
        store(&b, y + 17 * 4, &one, 4);
        store(&b, y, &one, 4);
        ck_assert_int_eq(hone_gpu_find_poison(&b.judge, b.slot, 0, 0, 2, 2, true, found, &err), 0);
        ck_assert_int_eq(found[1].count, N - 2);
        ck_assert_int_eq(found[1].first, 1);
        ck_assert_int_eq(hone_gpu_find_difference(&b.judge, b.slot, 0, 2,
                                                  hone_gpu_output(&b.judge, b.slot, 0, 0), found,
                                                  &err),
                         0);
        ck_assert_int_eq(found[0].count, 2);
        ck_assert_int_eq(found[0].first, 0);
        ck_assert_int_eq(hone_gpu_check_canaries(&b.judge, b.slot, &end, &err), 0);
        ck_assert(hone_outcome_is_good(&end));
        ck_assert_int_eq(hone_gpu_hash_inputs(&b.judge, 4, before, &err), 0);
        unsigned char byte = 0;
        hone_cu_ptr mask = hone_gpu_input(&b.judge, 3, 6) + N - 1;
        fetch(&b, mask, &byte, 1);
        byte ^= 1;
        store(&b, mask, &byte, 1);
        ck_assert_int_eq(hone_gpu_hash_inputs(&b.judge, 4, after, &err), 0);
        for (int s = 0; s < 4; s++)
            ck_assert_int_eq(before[s] == after[s], s != 3);
        ck_assert_int_ne(before[0] == before[1], 1);
        /* one byte beside an output */
        byte = 0;
        store(&b, hone_gpu_output(&b.judge, b.slot, 1, 1) + N * 4, &byte, 1);
        ck_assert_int_eq(hone_gpu_check_canaries(&b.judge, b.slot, &end, &err), 0);
        ck_assert_int_eq(end.reason, HONE_REASON_OUT_OF_BOUNDS);
        end = (struct hone_outcome)HONE_OUTCOME_INIT;
    }
    tear_down(&b);
}
END_TEST

/* The same arrays through the device's comparison and through compare.c. */
START_TEST(comparison_is_the_hosts)
{
    static const struct {
        const char *what;
        int at;
        double value;
        bool is_good, is_negative_zero; /* want -0 there, and the task says that this counts */
        double like;                    /* what is wanted there; 0: as elsewhere */
    } cases[] = {
        {"equal", 0, 0.5, true, false, 0},
        {"within", 3, 2 * (1 + 5e-5), true, false, 0},
        {"off", 3, 2 * (1 + 3e-4), false, false, 0},
        {"nan", 599, (double)NAN, false, false, 0},
        {"infinite", 0, (double)INFINITY, false, false, 0},
        {"plus zero for minus", 7, 0, false, true, 0},
        {"minus zero", 7, -0.0, true, true, 0},
        {"infinite at the end of float32", 5, (double)INFINITY, true, false, 0x1.fffffep127},
        {"infinite below it", 5, (double)INFINITY, false, false, 0x1.ff0p127},
        {"the other infinity", 5, -(double)INFINITY, false, false, 0x1.fffffep127},
    };
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    set_up(&b);
    frame(&b, 2, false);
    for (size_t k = 0; k < HONE_COUNTOF(cases); k++) {
        float got[N], like[N];
        int32_t ints[N];
        for (int i = 0; i < N; i++) {
            like[i] = got[i] = (float)(0.5 + 0.5 * (i % 7));
            ints[i] = i;
        }
        like[3] = got[3] = 2;
        got[cases[k].at] = (float)cases[k].value;
        b.task.special_values = 0;
        if (cases[k].is_negative_zero) {
            b.task.special_values = HONE_SPECIAL_DENORMAL | HONE_SPECIAL_NEGATIVE_ZERO;
            like[cases[k].at] = -0.0f;
        }
        if (k == 0)
            like[0] = got[0];
        if (cases[k].like > 0)
            like[cases[k].at] = (float)cases[k].like;
        for (int64_t s = 0; s < 2; s++) {
            store(&b, hone_gpu_output(&b.judge, b.slot, s, 0), s == 1 ? got : like, sizeof got);
            store(&b, hone_gpu_output(&b.judge, b.slot, s, 1), ints, sizeof ints);
            store(&b, hone_gpu_output(&b.judge, b.other, s, 0), like, sizeof got);
            store(&b, hone_gpu_output(&b.judge, b.other, s, 1), ints, sizeof ints);
        }
        struct hone_compare device, host;
        hone_compare_init(&device, &b.task, &b.judge.cases[0]);
        hone_compare_init(&host, &b.task, &b.judge.cases[0]);
        host.outputs[0] = got;
        host.outputs[1] = ints;
        b.judge.gpu->scale[0][0] = 1; /* as the oracle would have said */
        b.judge.gpu->scale[0][1] = 1;
        host.stats[0].max_scale = host.stats[1].max_scale = 1;
        struct hone_suspects suspects = {0};
        const struct hone_gpu_like like_of = {.slot = b.slot, .baseline = b.other, .n = 2};
        hone_compare_arrays(&host, 0, like, &suspects);
        hone_compare_arrays(&host, 1, ints, &suspects);
        for (size_t i = 0; i < suspects.n; i++)
            hone_compare_accuse(&host, &suspects.v[i]);
        ck_assert_int_eq(hone_gpu_compare_like(&b.judge, &like_of, &device, &err), 0);
        ck_assert_int_eq(device.stats[0].n_bad, host.stats[0].n_bad);
        ck_assert_int_eq(device.stats[0].n_bad == 0, cases[k].is_good);
        ck_assert_int_eq(device.stats[1].n_bad, 0);
        if (cases[k].is_good)
            continue;
        ck_assert_int_eq(device.stats[0].first_bad, cases[k].at);
        ck_assert(isnan(cases[k].value) ? isnan(device.stats[0].bad_got)
                                        : device.stats[0].bad_got == got[cases[k].at]);
        ck_assert_double_eq(device.stats[0].bad_want, (double)like[cases[k].at]);
        struct hone_outcome end =
            HONE_OUTCOME_INIT; /* without an oracle the other arm's word has to do */
        hone_compare_init(&device, &b.task, &b.judge.cases[0]);
        ck_assert_int_eq(hone_gpu_judge_like(&b.judge, &like_of, &device, &end, &err), 0);
        ck_assert(!hone_outcome_is_good(&end));
        /* Where the other arm overflows, content that is not plain says nothing, unless more is off. */
        for (int more = 0; more < 2; more++)
            for (int plain = 0; plain < 2; plain++) {
                struct hone_gpu_like turned = {.slot = b.other, .baseline = b.slot, .n = 1};
                turned.first = 1;
                turned.dist = plain == 1 ? HONE_DIST_NORMAL : HONE_DIST_HUGE;
                like[11] = more == 1 ? 77 : got[11];
                store(&b, hone_gpu_output(&b.judge, b.other, 1, 0), like, sizeof like);
                end = (struct hone_outcome)HONE_OUTCOME_INIT;
                hone_compare_init(&device, &b.task, &b.judge.cases[0]);
                ck_assert_int_eq(hone_gpu_judge_like(&b.judge, &turned, &device, &end, &err), 0);
                ck_assert_int_eq(hone_outcome_is_good(&end),
                                 !isfinite(cases[k].value) && more == 0 && plain == 0);
            }
    }
    tear_down(&b);
}
END_TEST

/* Sums over a whole output, and what follows from them, as compare.c has them. */
START_TEST(the_whole_is_the_hosts)
{
    static const struct {
        double error, sign;
        bool is_toward, is_good;
    } cases[] = {{0, 1, false, true},
                 {2e-5, -1, false, true},
                 {9e-5, -1, false, false}, /* norm */
                 {2e-5, 1, false, false},  /* bias */
                 {-2e-5, 1, true, false}};
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    set_up(&b);
    frame(&b, 1, false);
    b.task.items = "M*N";
    b.task.tolerance[0] =
        (struct hone_tolerance){.atol = 1e-30, .rtol = 1e-4, .rel_l2 = 1e-9, .bias = 1e-9};
    double reference[4 * N]; /* values of both outputs, then their scales */
    struct hone_gpu_reference known = {
        .dist = HONE_DIST_NORMAL, .is_full = true, .n_elements = 2 * N, .has_scales = true};
    ck_assert_int_eq(b.session.gpu->cu->MemAlloc(&known.memory, sizeof reference), 0);
    for (size_t k = 0; k < HONE_COUNTOF(cases); k++) {
        float got[N];
        int32_t ints[N];
        struct hone_oracle_record records[2 * N];
        for (int i = 0; i < N; i++) {
            double value = i % 4 < 2 ? 1.1 : -1.1, error = cases[k].error;
            error *= i % 2 == 0 ? 1 : cases[k].sign;
            got[i] = (float)(value + (cases[k].is_toward && value < 0 ? -error : error));
            ints[i] = i;
            reference[i] = value;
            reference[N + i] = i;
            reference[2 * N + i] = reference[3 * N + i] = 1;
            records[i] = (struct hone_oracle_record){.index = i, .value = value, .scale = 1};
            records[N + i] =
                (struct hone_oracle_record){.index = i, .value = i, .output = 1, .scale = 1};
        }
        store(&b, known.memory, reference, sizeof reference);
        store(&b, hone_gpu_output(&b.judge, b.slot, 0, 0), got, sizeof got);
        store(&b, hone_gpu_output(&b.judge, b.slot, 0, 1), ints, sizeof ints);
        struct hone_compare device, host;
        struct hone_outcome on_device = HONE_OUTCOME_INIT, on_host = HONE_OUTCOME_INIT;
        hone_compare_init(&host, &b.task, &b.judge.cases[0]);
        host.outputs[0] = got;
        host.outputs[1] = ints;
        host.is_plain = true;
        host.n_items = N;
        hone_compare_add(&host, records, 2 * N);
        hone_compare_end(&host, &on_host);
        ck_assert_msg(hone_gpu_compare(&b.judge, b.slot, 0, &known, &device, &on_device, &err) == 0,
                      "%s", err.message);
        ck_assert_msg(hone_outcome_is_good(&on_host) == cases[k].is_good, "%zu: %s", k,
                      on_host.detail);
        ck_assert_msg(hone_outcome_is_good(&on_device) == cases[k].is_good, "%zu: %s", k,
                      on_device.detail);
        struct hone_error_sums x = hone_compare_sums(&host, 0), y = hone_compare_sums(&device, 0);
        ck_assert_int_eq(x.n, y.n);
        ck_assert_int_eq(x.n_items, y.n_items);
        ck_assert(x.is_plain && y.is_plain);
        ck_assert_double_eq_tol(x.err_squares, y.err_squares, 1e-12);
        ck_assert_double_eq_tol(host.stats[0].worst, device.stats[0].worst, 1e-6);
        ck_assert(!(cases[k].error > 0) || host.stats[0].worst > 0.001);
        ck_assert_double_eq_tol(x.err_sum, y.err_sum, 1e-9);
        ck_assert_double_eq_tol(x.toward_sum, y.toward_sum, 1e-9);
        ck_assert_double_eq_tol(x.size_sum, y.size_sum, 1e-9);
    }
    (void)b.session.gpu->cu->MemFree(known.memory);
    tear_down(&b);
}
END_TEST

START_TEST(a_session_opens_again)
{
    struct bench b;
    for (int i = 0; i < 3; i++) {
        set_up(&b);
        frame(&b, 1, false);
        frame(&b, 3, false);
        frame(&b, 1, true);
        b.session.gpu->is_broken = i == 1;
        tear_down(&b);
    }
}
END_TEST

START_TEST(advice_fits_the_code)
{
    ck_assert_ptr_nonnull(strstr(hone_gpu_steps_advice(HONE_CU_ILLEGAL_INSTRUCTION), "setmaxnreg"));
    ck_assert_ptr_nonnull(strstr(hone_gpu_steps_advice(HONE_CU_ILLEGAL_ADDRESS), "bounds"));
    ck_assert_ptr_nonnull(strstr(hone_gpu_steps_advice(12345), "kernel_run"));
    ck_assert_int_eq(hone_cu_reason(HONE_CU_ILLEGAL_INSTRUCTION), HONE_REASON_ILLEGAL_INSTRUCTION);
}
END_TEST

#define MIB (1ll << 20)

static void hold(struct bench *b, size_t t, int64_t bytes)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_gpu_room *room = &b->session.gpu->rooms[4][0][t];
    hone_gpu_held_begin_frame(b->session.gpu);
    ck_assert_msg(hone_gpu_held_room(b->session.gpu, room, bytes, &err) == 0, "%s", err.message);
    ck_assert_int_eq((int64_t)room->range.size, bytes);
}

/* On a device of 256 MiB. */
START_TEST(what_is_held_makes_room)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(setenv("HONE_EMULATOR_MEMORY", "268435456", 1), 0);
    set_up(&b);
    struct hone_gpu_session *session = b.session.gpu;
    hone_gpu_held_begin_job(session, "earlier");
    for (size_t t = 0; t < 10; t++)
        hold(&b, t, 60 * MIB);
    ck_assert_int_eq(hone_gpu_held_bytes(session), 240 * MIB); /* and the reserve */
    ck_assert_uint_eq(session->rooms[4][0][5].range.size, 0);  /* the oldest went */
    ck_assert_uint_gt(session->rooms[4][0][9].range.size, 0);
    /* working memory of the job stays, that of the job before goes */
    ck_assert_int_eq(hone_gpu_buffer_need(session, &session->copy, 100 * MIB, &err), 0);
    hold(&b, 0, 60 * MIB);
    ck_assert_int_eq(session->copy.size, 100 * MIB);
    hone_gpu_held_begin_job(session, "later");
    hold(&b, 1, 200 * MIB);
    ck_assert_int_eq(session->copy.size, 0);
    ck_assert_int_eq(hone_gpu_held_bytes(session), 200 * MIB);
    /* nothing is left to give: the present frame's buffer of 200 stays, and the words say so */
    ck_assert_int_eq(hone_gpu_held_room(session, &session->rooms[4][0][2], 100 * MIB, &err),
                     HONE_E_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.message, "task 'later': 100 MiB wanted"));
    ck_assert_ptr_nonnull(strstr(err.message, "of the device's 256 free"));
    ck_assert_ptr_nonnull(strstr(err.message, "holds buffers 200"));
    ck_assert_int_eq(hone_gpu_buffer_need(session, &session->copy, 100 * MIB, &err), HONE_E_NOMEM);
    ck_assert(!session->is_broken);
    tear_down(&b);
}
END_TEST

static void hold_at(struct bench *b, size_t owner, size_t t, int64_t bytes)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_gpu_room *room = &b->session.gpu->rooms[0][owner][t];
    ck_assert_msg(hone_gpu_held_room(b->session.gpu, room, bytes, &err) == 0, "%s", err.message);
}

/* A buffer that is larger than the frame needs is used, but no other arm gets one as large, and it
 * goes where others lack what it has too much. */
START_TEST(a_large_room_is_no_measure)
{
    struct bench b;
    ck_assert_int_eq(setenv("HONE_EMULATOR_MEMORY", "268435456", 1), 0);
    set_up(&b);
    hone_gpu_held_begin_job(b.session.gpu, "task");
    hold_at(&b, 1, 7, 140 * MIB); /* an output of one arm */
    frame(&b, 1, false);
    ck_assert_int_eq(hone_gpu_held_bytes(b.session.gpu), (7 + 2 * 2) * 2 * MIB);
    hold_at(&b, 0, 0, 40 * MIB);
    frame(&b, 2, false);
    ck_assert_int_eq(hone_gpu_held_bytes(b.session.gpu), (6 + 2 * 2) * 2 * MIB + 40 * MIB);
    ck_assert_int_eq(hone_gpu_sync(b.session.gpu, NULL), 0);
    hone_gpu_held_free(b.session.gpu);
    hone_gpu_held_begin_job(b.session.gpu, "task");
    hold_at(&b, 0, 0, 120 * MIB); /* two inputs */
    hold_at(&b, 0, 1, 120 * MIB);
    frame(&b, 1, false);
    ck_assert_int_eq(hone_gpu_held_bytes(b.session.gpu), (7 + 2 * 2) * 2 * MIB);
    ck_assert_int_eq(hone_gpu_room_bytes(&b.judge), (int64_t)(0.6 * 256 * (double)MIB));
    hone_cu_ptr others = 0; /* memory that the judge knows nothing of */
    ck_assert_int_eq(b.session.gpu->cu->MemAlloc(&others, 156 * MIB), 0);
    ck_assert_int_lt(hone_gpu_room_bytes(&b.judge), 90 * MIB);
    ck_assert_int_gt(hone_gpu_room_bytes(&b.judge), 80 * MIB);
    ck_assert_int_eq(b.session.gpu->cu->MemFree(others), 0);
    tear_down(&b);
}
END_TEST

/* HONE_LIMIT_GPU_HELD_PERCENT of 256 MiB: 64. */
START_TEST(a_job_leaves_its_share)
{
    struct bench b;
    ck_assert_int_eq(setenv("HONE_EMULATOR_MEMORY", "268435456", 1), 0);
    set_up(&b);
    for (int64_t more = 0; more < 2; more++) { /* at the limit and above */
        hone_gpu_held_begin_job(b.session.gpu, "task");
        hold(&b, 0, 32 * MIB);
        hold(&b, 1, (32 + 2 * more) * MIB);
        hone_gpu_held_end_job(b.session.gpu);
        ck_assert_int_eq(hone_gpu_held_bytes(b.session.gpu), more == 0 ? 64 * MIB : 34 * MIB);
    }
    tear_down(&b);
}
END_TEST

static int tests_main(void);
#define main tests_main
static UNIT_MAIN("gpu_judge", content_has_its_role, content_follows_its_counter,
                 each_kind_looks_like_its_name, looks_find_what_is_there, comparison_is_the_hosts,
                 the_whole_is_the_hosts, a_session_opens_again, what_is_held_makes_room,
                 a_large_room_is_no_measure, advice_fits_the_code, a_job_leaves_its_share)
#undef main

    /* The compile server's jail starts this program again. */
    int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--role") == 0)
        return hone_role_nvrtc(argc - 3, argv + 3);
    return tests_main();
}
