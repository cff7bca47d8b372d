/* SPDX-License-Identifier: Apache-2.0 */
/* What a calibration makes of a report: the proposal by type, what is refused and what is not, and
 * how it comes into task.json. The reports are made here. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/task/calibrate.h"
#include "workspace/base/file.h"

static char *copy_pack(const char *name, char *root)
{
    const char *packs = getenv("HONE_PACKS");
    ck_assert_ptr_nonnull(mkdtemp(root));
    char *from = hone_path_join(packs ? packs : "workspace/packs", name, NULL),
         *to = hone_path_join(root, name, NULL);
    ck_assert_int_eq(hone_copy_tree(from, to, 100, NULL), 0);
    free(from);
    return to;
}

struct bench {
    char root[40];
    char *dir;
    struct hone_task *task;
    struct hone_pool *pool;
    struct hone_noise_report noise[2];
    struct hone_answer_report answer;
    struct hone_calibration_report in;
    struct hone_report report;
    struct hone_calibrate out;
};

/* matmul without its CUDA part: nothing is kept for another target. */
static void set_up(struct bench *b, bool has_cuda)
{
    memset(b, 0, sizeof(*b));
    strcpy(b->root, "/tmp/hone-calibrate-test-XXXXXX");
    b->dir = copy_pack("matmul", b->root);
    if (!has_cuda) {
        char *path = hone_path_join(b->dir, "kernels", "naive.cu", NULL);
        ck_assert_int_eq(unlink(path), 0);
        free(path);
        path = hone_path_join(b->dir, "workloads.jsonl", NULL);
        static const char text[] =
            "{\"id\": \"m64\", \"axes\": {\"M\": 64, \"N\": 64, \"K\": 64}}\n";
        ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0600, false, NULL), 0);
        free(path);
    }
    b->pool = hone_pool_new();
    ck_assert_int_eq(hone_task_load(b->dir, &b->task, NULL), 0);
    for (int t = 0; t < HONE_N_TASK_TARGETS; t++)
        b->task->calibration[t].date = NULL;
    b->task->tolerance[0] =
        (struct hone_tolerance){.atol = 1e-30, .rtol = 1e-3, .rel_l2 = 1e-3, .bias = 0};
    for (int i = 0; i < 2; i++)
        b->noise[i] = (struct hone_noise_report){.arm = i == 0 ? "candidate" : "second",
                                                 .output = "C",
                                                 .distribution = "normal",
                                                 .n_calls = 8,
                                                 .n_elements = 1000,
                                                 .p999 = 2e-6,
                                                 .worst = i == 0 ? 1e-6 : 3e-6,
                                                 .rel_l2 = 1e-7,
                                                 .bias = 1e-9,
                                                 .workload = "m64",
                                                 .is_plain = true};
    b->answer = (struct hone_answer_report){.answer = "zeros",
                                            .workload = "m64",
                                            .distribution = "normal",
                                            .output = "C",
                                            .is_public = true,
                                            .is_random = true,
                                            .n = 1000,
                                            .worst = 1};
    b->in = (struct hone_calibration_report){
        .device = "a processor", .n_seeds = 8, .noise = {b->noise, 2}, .answers = {&b->answer, 1}};
    b->report = (struct hone_report){.target = "cpu", .calibration = &b->in};
}

static void tear_down(struct bench *b)
{
    hone_task_free(b->task);
    hone_pool_free(b->pool);
    free(b->dir);
    ck_assert_int_eq(hone_remove_tree(b->root, NULL), 0);
}

static const struct hone_calibrate_tolerance *judged(struct bench *b, double margin)
{
    struct hone_err err = HONE_ERR_INIT;
    int code = hone_calibrate_judge(b->task, &b->report, margin, b->pool, &b->out, &err);
    ck_assert_msg(code == 0, "%s", err.message);
    return b->out.tolerances.v;
}

START_TEST(proposal_by_type)
{
    static const struct {
        enum hone_dtype dtype;
        double noise, margin, now, want;
    } table[] = {
        {HONE_DTYPE_F32, 3e-6, 2, 1e-3, 6e-6},
        {HONE_DTYPE_F32, 3.01e-6, 2, 1e-3, 6.1e-6}, /* two digits, upwards */
        {HONE_DTYPE_F32, 3e-6, 1.5, 1e-3, 4.5e-6},
        {HONE_DTYPE_F32, 3e-6, 2, 1e-6, 6e-6},     /* too tight as it is */
        {HONE_DTYPE_F32, 3e-6, 2, 4.6e-6, 4.6e-6}, /* near enough: stays */
        {HONE_DTYPE_F32, 3e-6, 2, 4.4e-6, 6e-6},
        {HONE_DTYPE_F32, 1e-8, 2, 1e-3, 2.4e-7}, /* two ulp */
        {HONE_DTYPE_F32, 0, 2, 1e-8, 1e-8},      /* copies stay exact */
        {HONE_DTYPE_F32, 0, 2, 1e-3, 0x1p-25},
        {HONE_DTYPE_F64, 1e-15, 2, 1e-9, 2e-15},
        {HONE_DTYPE_BF16, 3.8e-3, 2, 1e-2, 4.2e-3}, /* its own rounding, and a sixteenth of it */
        {HONE_DTYPE_BF16, 5e-3, 2, 1e-2, 6.4e-3},   /* the margin is of what goes beyond */
        {HONE_DTYPE_F16, 4.8e-4, 2, 1e-2, 5.2e-4},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct bench b;
        set_up(&b, false);
        b.task->outputs[0].dtype = table[i].dtype;
        b.task->tolerance[0].rtol = table[i].now;
        b.noise[0].worst = table[i].noise / 2;
        b.noise[1].worst = table[i].noise;
        const struct hone_calibrate_tolerance *t = judged(&b, table[i].margin);
        ck_assert_msg(fabs(t->rtol - table[i].want) <= 1e-9 * table[i].want, "row %zu: %g", i,
                      t->rtol);
        ck_assert_double_eq(t->noise, table[i].noise);
        tear_down(&b);
    }
}
END_TEST

/* Where another target was not measured, a looser tolerance stays; where it was, its noise counts.
 */
START_TEST(another_target)
{
    struct bench b;
    set_up(&b, true);
    const struct hone_calibrate_tolerance *t = judged(&b, 2);
    ck_assert_double_eq(t->rtol, 1e-3);
    ck_assert_double_eq(t->rel_l2, 1e-3);
    ck_assert_ptr_nonnull(strstr(t->note, "target cuda"));
    b.task->tolerance[0].rtol = 1e-6; /* too tight: that helps nobody */
    ck_assert_double_eq(judged(&b, 2)->rtol, 6e-6);
    b.task->tolerance[0].rtol = 1e-3;
    b.task->calibration[HONE_TASK_CUDA] = (struct hone_calibration){.date = "2026-01-01"};
    b.task->calibration[HONE_TASK_CUDA].outputs[0].noise = 1e-5;
    t = judged(&b, 2);
    ck_assert_double_eq(t->rtol, 2e-5);
    ck_assert_ptr_null(t->note);
    tear_down(&b);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *what, *answer, *distribution;
        bool is_lower, is_public, is_random, allows_lower;
        double worst; /* the proposal is 6e-6; elsewhere honest errors end at 1e-6 */
        int64_t n, n_hopeless;
        bool is_refused;
    } table[] = {
        {"fails", "zeros", "normal", false, true, true, false, 1, 100, 0, false},
        {"passes", "zeros", "normal", false, true, true, false, 5e-6, 100, 0, true},
        {"right on normal is no excuse", "zeros", "normal", false, true, true, false, 0, 100, 0,
         true},
        {"the mean of one number", "mean", "normal", false, true, true, false, 0, 1, 0, false},
        {"zeros for one number", "zeros", "normal", false, true, true, false, 0, 1, 0, true},
        {"elsewhere", "zeros", "large", false, true, true, false, 7e-6, 100, 0, false},
        {"passes elsewhere", "zeros", "large", false, true, true, false, 5.9e-6, 100, 0, true},
        {"passes on a drawn size", "zeros", "large", false, false, true, false, 5.9e-6, 100, 0,
         false},
        {"right elsewhere", "zeros", "large", false, true, true, false, 1e-6, 100, 0, false},
        {"a corner case", "zeros", "sorted", false, true, false, false, 6e-6, 100, 0, false},
        {"another kind of value", "ones", "normal", false, true, true, false, 0, 100, 3, false},
        {"lower precision", "rounded inputs", "normal", true, true, true, false, 5e-6, 100, 0,
         true},
        {"lower, allowed", "rounded inputs", "normal", true, true, true, true, 5e-6, 100, 0, false},
        {"lower, elsewhere", "rounded inputs", "large", true, true, true, false, 5e-6, 100, 0,
         false},
        {"lower, a drawn size", "rounded inputs", "normal", true, false, true, false, 5e-6, 100, 0,
         false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct bench b;
        set_up(&b, false);
        b.noise[0].worst = 3e-6;
        b.noise[1].worst = 1e-6;
        b.noise[1].distribution = table[i].distribution;
        b.answer.answer = table[i].answer;
        b.answer.distribution = table[i].distribution;
        b.answer.is_lower = table[i].is_lower;
        b.answer.is_public = table[i].is_public;
        b.answer.is_random = table[i].is_random;
        b.answer.worst = table[i].worst;
        b.answer.n = table[i].n;
        b.answer.n_hopeless = table[i].n_hopeless;
        b.task->allows_lower_precision = table[i].allows_lower;
        judged(&b, 2);
        ck_assert_msg(b.out.is_fit != table[i].is_refused, "%s", table[i].what);
        struct hone_err err = HONE_ERR_INIT;
        if (table[i].is_refused) {
            const struct hone_calibrate_answer *answer = b.out.answers.v;
            const char *text = hone_calibrate_refusal(&b.out, answer, false, b.pool);
            ck_assert_msg(strstr(text, table[i].answer) && strstr(text, "'m64'") &&
                              strstr(text, table[i].distribution),
                          "%s", text);
            ck_assert_int_eq(hone_calibrate_write(b.task, &b.out, "1", &err), HONE_E_ARG);
        }
        tear_down(&b);
    }
}
END_TEST

/* Between the tolerance that is there (1e-3) and the proposal (6e-6): fit only with the second. */
START_TEST(fit_with_the_proposal)
{
    struct bench b;
    set_up(&b, false);
    b.answer.worst = 1e-4;
    judged(&b, 2);
    ck_assert(b.out.is_fit && !b.out.is_fit_now);
    b.answer.n_items = 1000; /* off as a whole: 0.2 of each element's bound, all to one side */
    b.answer.worst = 1.2e-6;
    b.answer.is_plain = true;
    b.answer.err_squares = 1000 * 1.2e-6 * 1.2e-6;
    b.answer.err_sum = b.answer.toward_sum = 1000 * 1.2e-6;
    b.answer.size_sum = b.answer.size_squares = b.answer.ref_squares = 1000;
    judged(&b, 2);
    ck_assert(b.out.is_fit && !b.out.is_fit_now);
    b.answer.is_plain = false;
    judged(&b, 2);
    ck_assert(!b.out.is_fit);
    tear_down(&b);
}
END_TEST

/* The way to the nearest answer that must fail is halved, by at most 30 times. */
START_TEST(what_a_short_calibration_proposes)
{
    static const struct {
        double answer, most, least; /* factor of the answer with the proposal 6e-6 */
    } rows[] = {{1, 1.8e-4, 1.8e-4}, {6e-4, 6.1e-5, 5.9e-5}, {7e-6, 6.6e-6, 6.4e-6}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct bench b;
        set_up(&b, false);
        b.answer.worst = rows[i].answer;
        judged(&b, 2);
        const char *text = hone_calibrate_proposal(b.task, &b.out, b.pool);
        double rtol = 0;
        ck_assert_int_eq(sscanf(text ? text : "", "C=%lf,1e-30", &rtol), 1);
        ck_assert_msg(rtol >= rows[i].least && rtol <= rows[i].most, "row %zu: %s", i, text);
        tear_down(&b);
    }
}
END_TEST

/* What excuses everything is no proposal. */
START_TEST(a_proposal_has_an_end)
{
    for (int is_beyond = 0; is_beyond <= 1; is_beyond++) {
        struct bench b;
        set_up(&b, false);
        b.noise[1].worst = HONE_CALIBRATE_MOST_RTOL / 2 * (is_beyond ? 1.1 : 0.99);
        judged(&b, 2);
        ck_assert(b.out.is_fit == !is_beyond);
        const char *text = hone_calibrate_proposal(b.task, &b.out, b.pool);
        ck_assert((text == NULL) == is_beyond);
        ck_assert_msg(is_beyond || strncmp(text, "C=0.25,", 7) == 0, "%s", text);
        tear_down(&b);
    }
}
END_TEST

START_TEST(nothing_measured)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    set_up(&b, false);
    b.in.noise.n = 0;
    ck_assert_int_eq(hone_calibrate_judge(b.task, &b.report, 2, b.pool, &b.out, &err),
                     HONE_E_TARGET);
    b.in.noise.n = 2;
    b.noise[0].n_hopeless = b.noise[1].n_hopeless = 1;
    ck_assert_int_eq(hone_calibrate_judge(b.task, &b.report, 2, b.pool, &b.out, &err), HONE_E_ARG);
    b.noise[0].n_hopeless = 0; /* the second kernel alone is no honest one here */
    ck_assert_double_eq(judged(&b, 2)->noise, 1e-6);
    ck_assert_uint_eq(b.out.warnings.n, 1);
    b.noise[0].output = "D";
    ck_assert_int_eq(hone_calibrate_judge(b.task, &b.report, 2, b.pool, &b.out, &err),
                     HONE_E_TARGET);
    tear_down(&b);
}
END_TEST

/* Written twice: other text stays, the second record replaces the first, and the pack loads. */
START_TEST(written)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    set_up(&b, false);
    char *path = hone_path_join(b.dir, "task.json", NULL), *text = NULL;
    size_t len = 0;
    for (int round = 0; round < 2; round++) {
        b.noise[1].worst = round == 0 ? 3e-6 : 5e-6;
        judged(&b, 2);
        b.out.date = "2026-11-21";
        b.out.compiler = "a \"compiler\"";
        b.in.n_seeds = 8;
        ck_assert_msg(hone_calibrate_write(b.task, &b.out, "1.2", &err) == 0, "%s", err.message);
        hone_task_free(b.task);
        b.task = NULL;
        ck_assert_msg(hone_task_load(b.dir, &b.task, &err) == 0, "%s", err.message);
        const struct hone_calibration *c = &b.task->calibration[HONE_TASK_CPU];
        ck_assert_double_eq(b.task->tolerance[0].rtol, round == 0 ? 6e-6 : 1e-5);
        ck_assert_double_eq(b.task->tolerance[0].rel_l2, 2e-7);
        ck_assert_double_eq_tol(b.task->tolerance[0].bias, 3e-8, 1e-12);
        ck_assert_double_eq(c->outputs[0].noise, round == 0 ? 3e-6 : 5e-6);
        ck_assert_str_eq(c->date, "2026-11-21");
        ck_assert_str_eq(c->compiler, "a \"compiler\"");
        ck_assert_str_eq(c->hone, "1.2");
        ck_assert_int_eq(c->seeds, 8);
        ck_assert_str_eq(c->trivial_answer, "zeros");
        ck_assert_double_gt(c->trivial, 1);
        free(text);
        text = NULL;
        ck_assert_int_eq(hone_file_read(path, 1 << 20, &text, &len, NULL), 0);
        ck_assert_ptr_nonnull(strstr(text, "\"description\": \"C = A * B for row-major"));
        char *record = strstr(text, "\"calibration\"");
        ck_assert_ptr_nonnull(record);
        ck_assert_ptr_null(strstr(record + 1, "\"calibration\""));
    }
    b.in.n_seeds = 0;
    judged(&b, 2);
    ck_assert_int_eq(hone_calibrate_write(b.task, &b.out, "1.2", &err), HONE_E_TIMEOUT);
    free(text);
    free(path);
    tear_down(&b);
}
END_TEST

/* What -ffast-math loses: the cure is named where denormals are all that honest kernels err on. */
START_TEST(flushed_denormals)
{
    static const struct {
        double on_normal, on_denormal;
        bool is_flushed, is_honest;
    } table[] = {{1e-6, 1, true, false},
                 {1e-6, 1e-6, false, true},
                 {1, 1, false, false},
                 {1, 1e-6, false, false}};
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct bench b;
        set_up(&b, false);
        b.noise[0].worst = table[i].on_normal;
        b.noise[1].worst = table[i].on_denormal;
        b.noise[1].distribution = "denormal";
        judged(&b, 2);
        ck_assert_msg(b.out.is_flushed == table[i].is_flushed, "row %zu", i);
        ck_assert_msg(b.out.is_honest_now == table[i].is_honest, "row %zu", i);
        if (!table[i].is_honest)
            ck_assert_msg((strstr(b.out.advice, "special_values") != NULL) == table[i].is_flushed,
                          "row %zu: %s", i, b.out.advice);
        tear_down(&b);
    }
}
END_TEST

/* Advice is about the output that it is for, and an integer is no sum to scale. */
START_TEST(advice_by_output)
{
    struct bench b;
    set_up(&b, false);
    b.task->n_outputs = 2;
    b.task->outputs[1] = b.task->outputs[0];
    b.task->outputs[1].name = "second";
    ck_assert_ptr_nonnull(strstr(hone_calibrate_advice(b.task, 0, b.pool), "PUT_SCALED_C("));
    ck_assert_ptr_nonnull(strstr(hone_calibrate_advice(b.task, 1, b.pool), "PUT_SCALED_second("));
    b.task->outputs[0].dtype = HONE_DTYPE_I32;
    ck_assert_ptr_nonnull(strstr(hone_calibrate_advice(b.task, 0, b.pool), "stored"));
    ck_assert_ptr_null(strstr(hone_calibrate_advice(b.task, 0, b.pool), "ITEM("));
    b.task->n_outputs = 1;
    tear_down(&b);
}
END_TEST

/* What passes where the scale allows more than elements are says nothing, but for normal content. */
START_TEST(content_that_rounding_decides)
{
    static const struct {
        const char *distribution;
        bool is_perturbed, is_wide, is_refused;
    } rows[] = {{"spikes", true, true, false},
                {"spikes", true, false, true},
                {"spikes", false, true, true},
                {"normal", true, true, true}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct bench b;
        set_up(&b, false);
        b.task->is_scale_perturbed = rows[i].is_perturbed;
        b.noise[1].distribution = b.answer.distribution = rows[i].distribution;
        b.noise[0].worst = 3e-6; /* the proposal is 6e-6; honest errors end at 1e-6 here */
        b.noise[1].worst = 1e-6;
        b.answer.worst = 5e-6;
        b.answer.ref_squares = 1000;
        b.answer.size_squares = rows[i].is_wide ? 1.1e9 : 0.9e9; /* times rtol squared, 1e-6 */
        judged(&b, 2);
        ck_assert_msg(b.out.is_fit != rows[i].is_refused, "row %zu", i);
        tear_down(&b);
    }
}
END_TEST

UNIT_MAIN("calibrate", proposal_by_type, another_target, refusals, fit_with_the_proposal,
          what_a_short_calibration_proposes, a_proposal_has_an_end, nothing_measured, written,
          flushed_denormals, advice_by_output, content_that_rounding_decides)
