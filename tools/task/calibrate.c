/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration (calibrate.h has the rules).
 *
 * Flow: one job measures; take_noise gathers honest errors by output; propose makes a
 * tolerance; the trivial answers are held against it (judge_answers); where the old
 * tolerance already does both it stays. Nothing is written unless everything was measured
 * and the task is fit. */
#include "tools/task/calibrate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/format/verdict.h"

#define KEPT           0.75      /* of the margin: a value between it and the margin stays */
#define NARROW_ROOM    (1. / 16) /* of a 16-bit output's rounding: what float32 arithmetic adds */
#define NARROW_NORM    1.25      /* margin of a norm that is that rounding's */
#define BIAS_ULP       0.25
#define NARROW_BIAS    (1. / 64) /* of an ulp: rounding to nearest has none */
#define RIGHT          2.        /* times the honest error */
#define DIGITS         2
#define TINY_ATOL      1e-20
#define MAX_TOLERANCES HONE_LIMIT_TENSORS

struct work {
    const struct hone_task *task;
    const struct hone_calibration_report *report;
    struct hone_pool *pool;
    struct hone_calibrate *ret;
    struct hone_tolerance now[HONE_LIMIT_TENSORS], proposed[HONE_LIMIT_TENSORS];
};

/* Distance of two neighbours just above 1. */
static double ulp_of(enum hone_dtype dtype)
{
    switch (dtype) {
    case HONE_DTYPE_F16:
        return 0x1p-10;
    case HONE_DTYPE_BF16:
        return 0x1p-7;
    case HONE_DTYPE_F32:
        return 0x1p-23;
    case HONE_DTYPE_F64:
        return 0x1p-52;
    case HONE_DTYPE_I8:
    case HONE_DTYPE_I32:
    case HONE_DTYPE_I64:
    case HONE_DTYPE_BOOL:
    case HONE_DTYPE_U8:
    case HONE_DTYPE_I16:
    case HONE_DTYPE_U16:
    case HONE_DTYPE_U32:
    case HONE_DTYPE_U64:
        break;
    }
    return 0;
}

static bool is_half(enum hone_dtype dtype)
{
    return dtype == HONE_DTYPE_F16 || dtype == HONE_DTYPE_BF16;
}

/* Up to so many digits. */
static double round_up(double value)
{
    if (!(value > 0))
        return 0;
    double unit = pow(10, floor(log10(value)) - (DIGITS - 1));
    char text[32];
    double result = value;
    snprintf(text, sizeof(text), "%.*e", DIGITS - 1, ceil(value / unit * (1 - 1e-12)) * unit);
    sscanf(text, "%lf", &result);
    return result;
}

static size_t output_named(const struct hone_task *task, const char *name)
{
    size_t o = 0;
    while (o < task->n_outputs && strcmp(task->outputs[o].name, name) != 0)
        o++;
    return o;
}

/* ---- rows: honest errors ---- */

static struct hone_calibrate_row *row_of(const struct work *w, const char *output,
                                         const char *distribution)
{
    struct hone_calibrate_row *rows = w->ret->rows.v;
    for (size_t i = 0; i < w->ret->rows.n; i++)
        if (strcmp(rows[i].output, output) == 0 && strcmp(rows[i].distribution, distribution) == 0)
            return &rows[i];
    return NULL;
}

static void warn(struct work *w, const char *text)
{
    const char **all = w->ret->warnings.v;
    for (size_t i = 0; i < w->ret->warnings.n; i++)
        if (strcmp(all[i], text) == 0)
            return;
    all[w->ret->warnings.n++] = text;
}

static void take_noise(struct work *w)
{
    const struct hone_noise_report *noise = w->report->noise.v;
    struct hone_calibrate_row *rows = w->ret->rows.v;
    for (size_t i = 0; i < w->report->noise.n; i++) {
        struct hone_calibrate_row *row = row_of(w, noise[i].output, noise[i].distribution);
        if (noise[i].n_hopeless > 0) { /* not the task's content, or not this kernel's */
            warn(w, hone_pool_printf(
                        w->pool,
                        "%s: %s gives %lld wrong kinds of values in '%s' (infinite, not a number, "
                        "or another integer): left out",
                        noise[i].distribution,
                        strcmp(noise[i].arm, "candidate") == 0 ? "the baseline"
                                                               : "the second honest kernel",
                        (long long)noise[i].n_hopeless, noise[i].output));
            continue;
        }
        if (row == NULL) {
            row = &rows[w->ret->rows.n++];
            *row = (struct hone_calibrate_row){.output = noise[i].output,
                                               .distribution = noise[i].distribution,
                                               .is_plain = noise[i].is_plain,
                                               .trivial = (double)NAN,
                                               .lower = (double)NAN};
        }
        if (strcmp(noise[i].arm, "candidate") == 0)
            row->n_contents = noise[i].n_calls;
        row->p999 = fmax(row->p999, noise[i].p999);
        row->worst = fmax(row->worst, noise[i].worst);
        row->rel_l2 = fmax(row->rel_l2, noise[i].rel_l2);
        row->bias = fmax(row->bias, noise[i].bias);
    }
}

/* ---- the proposal ---- */

static void sum_noise(const struct work *w, struct hone_calibrate_tolerance *out)
{
    const struct hone_calibrate_row *rows = w->ret->rows.v;
    for (size_t i = 0; i < w->ret->rows.n; i++) {
        if (strcmp(rows[i].output, out->output) != 0)
            continue;
        out->noise = fmax(out->noise, rows[i].worst);
        out->noise_p999 = fmax(out->noise_p999, rows[i].p999);
        if (!rows[i].is_plain)
            continue;
        out->noise_rel_l2 = fmax(out->noise_rel_l2, rows[i].rel_l2);
        out->noise_bias = fmax(out->noise_bias, rows[i].bias);
    }
}

static double propose_rtol(enum hone_dtype dtype, double noise, const struct hone_tolerance *was,
                           double margin)
{
    double ulp = ulp_of(dtype), half = ulp / 2;
    if (noise == 0 && was->atol < TINY_ATOL) /* copies, and not errors that atol excuses */
        return was->rtol > 0 && was->rtol < 2 * ulp ? was->rtol : half / 2;
    if (is_half(dtype))
        return round_up(half * (1 + NARROW_ROOM) + margin * fmax(noise - half, 0));
    double most = round_up(fmax(margin * noise, 2 * ulp));
    bool stays = was->rtol >= KEPT * margin * noise && was->rtol >= 2 * ulp && was->rtol < most;
    return stays ? was->rtol : most;
}

/* Is there a target whose sizes nobody has measured? */
static const char *unmeasured_target(const struct work *w)
{
    for (int t = 0; t < HONE_N_TASK_TARGETS; t++) {
        const char *name = hone_targets[t].name;
        if (strcmp(name, w->ret->target) != 0 &&
            hone_task_has_kernel(w->task, (enum hone_task_target)t) &&
            w->task->calibration[t].date == NULL)
            return name;
    }
    return NULL;
}

/* What other targets were found to need. */
static double other_noise(const struct work *w, size_t output)
{
    double noise = 0;
    for (int t = 0; t < HONE_N_TASK_TARGETS; t++)
        if (strcmp(hone_targets[t].name, w->ret->target) != 0 &&
            w->task->calibration[t].date != NULL)
            noise = fmax(noise, w->task->calibration[t].outputs[output].noise);
    return noise;
}

static void propose(struct work *w, size_t o)
{
    const struct hone_tolerance *now = &w->now[o];
    enum hone_dtype dtype = w->task->outputs[o].dtype;
    struct hone_calibrate_tolerance *all = w->ret->tolerances.v, *out = &all[o];
    *out = (struct hone_calibrate_tolerance){.output = w->task->outputs[o].name,
                                             .atol = now->atol,
                                             .now_rtol = now->rtol,
                                             .now_rel_l2 = now->rel_l2,
                                             .now_bias = now->bias};
    w->ret->tolerances.n = o + 1;
    if (!hone_dtype_is_float(dtype))
        return;
    sum_noise(w, out);
    double margin = w->ret->margin;
    out->rtol = propose_rtol(dtype, fmax(out->noise, other_noise(w, o)), now, margin);
    bool has_whole = out->noise_rel_l2 > 0, is_narrow = is_half(dtype);
    double least_bias = (is_narrow ? NARROW_BIAS : BIAS_ULP) * ulp_of(dtype);
    out->rel_l2 = round_up((is_narrow ? NARROW_NORM : margin) * out->noise_rel_l2);
    out->bias = has_whole ? round_up(fmax(margin * out->noise_bias, least_bias)) : 0;
    const char *other = unmeasured_target(w);
    if (other == NULL || !(now->rtol > 0))
        return;
    if (now->rtol > out->rtol || now->rel_l2 > out->rel_l2 || now->bias > out->bias)
        out->note = hone_pool_printf(
            w->pool,
            "looser values stay: the sizes of target %s are not calibrated (measured "
            "here: rtol %.2g, rel_l2 %.2g)",
            other, out->rtol, out->rel_l2);
    out->rtol = fmax(out->rtol, now->rtol);
    out->rel_l2 = fmax(out->rel_l2, now->rel_l2);
    out->bias = fmax(out->bias, now->bias);
}

static void use_proposal(struct work *w)
{
    struct hone_calibrate_tolerance *all = w->ret->tolerances.v;
    struct hone_calibrate_row *rows = w->ret->rows.v;
    for (size_t o = 0; o < w->task->n_outputs; o++) {
        w->proposed[o] = (struct hone_tolerance){
            .atol = all[o].atol, .rtol = all[o].rtol, .rel_l2 = all[o].rel_l2, .bias = all[o].bias};
        w->ret->is_change = w->ret->is_change || all[o].rtol != all[o].now_rtol ||
                            all[o].rel_l2 != all[o].now_rel_l2 || all[o].bias != all[o].now_bias;
    }
    for (size_t i = 0; i < w->ret->rows.n; i++) {
        size_t o = output_named(w->task, rows[i].output);
        rows[i].now = w->now[o].rtol;
        rows[i].proposed = w->proposed[o].rtol;
    }
}

/* ---- the answers ---- */

static struct hone_error_sums sums_of(const struct hone_answer_report *row)
{
    return (struct hone_error_sums){.n = row->n,
                                    .n_items = row->n_items,
                                    .worst = row->worst,
                                    .err_squares = row->err_squares,
                                    .ref_sum = row->ref_sum,
                                    .ref_squares = row->ref_squares,
                                    .size_squares = row->size_squares,
                                    .err_sum = row->err_sum,
                                    .toward_sum = row->toward_sum,
                                    .size_sum = row->size_sum,
                                    .is_plain = row->is_plain};
}

static double factor_of(const struct hone_answer_report *row, const struct hone_tolerance *tol)
{
    double factor = row->n_hopeless > 0 ? 1e30 : 0;
    struct hone_error_sums sums = sums_of(row);
    for (int t = 0; t < HONE_N_TOLERANCE_TESTS; t++)
        factor = fmax(factor, hone_tolerance_factor(tol, &sums, (enum hone_tolerance_test)t));
    return factor;
}

/* As near as honest kernels come. */
static bool is_right_here(const struct work *w, const struct hone_answer_report *row)
{
    const struct hone_calibrate_row *noise = row_of(w, row->output, row->distribution);
    double ulp = ulp_of(w->task->outputs[output_named(w->task, row->output)].dtype);
    return row->n_hopeless == 0 &&
           row->worst <= fmax(noise != NULL ? RIGHT * noise->worst : 0, 2 * ulp);
}

static bool is_same_content(const struct hone_answer_report *a, const struct hone_answer_report *b)
{
    return strcmp(a->answer, b->answer) == 0 && strcmp(a->workload, b->workload) == 0 &&
           strcmp(a->distribution, b->distribution) == 0;
}

/* What an array held, where all inputs are tiny: what a product of them adds is smaller still, so
 * the old content is the answer to the last step of the type but a few. */
static bool is_untouched(const struct work *w, const struct hone_calibrate_answer *a)
{
    for (size_t o = 0; o < w->task->n_outputs; o++)
        if (strcmp(a->answer,
                   hone_pool_printf(w->pool, "copy of %s_in", w->task->outputs[o].name)) == 0)
            return strcmp(a->distribution, "tiny") == 0;
    return false;
}

/* Sums of small inputs, as softmax has them, hardly differ: there their mean is right to the
 * tolerance. Normal content has to refuse it. */
static bool is_level(const struct hone_calibrate_answer *a)
{
    return strcmp(a->answer, "mean") == 0 && strcmp(a->distribution, "small") == 0;
}

/* Content that rounding decides: what the scale allows is more than elements are. The reference
 * finds it by moving inputs (workspace/task/oracle.h), now and then for any content but normal. */
static bool is_decided_by_rounding(const struct work *w, const struct hone_answer_report *row)
{
    const struct hone_tolerance *now = &w->now[output_named(w->task, row->output)];
    return w->task->is_scale_perturbed &&
           now->rtol * sqrt(row->size_squares) >= sqrt(row->ref_squares);
}

static bool must_fail(const struct work *w, const struct hone_calibrate_answer *a, bool is_number)
{
    if (!a->is_public) /* of two elements, one may well be the answer */
        return false;
    if (a->is_lower)
        return a->is_normal && !w->task->allows_lower_precision &&
               hone_task_has_float_output(w->task);
    if (a->is_normal)
        return !(is_number && strcmp(a->answer, "mean") == 0);
    return a->is_random && !a->is_right && !is_untouched(w, a) && !is_level(a);
}

static void note_nearest(const struct hone_calibrate_answer *a, double *ret_factor,
                         const char **ret_answer)
{
    if (!isnan(*ret_factor) && *ret_factor <= a->proposed)
        return;
    *ret_factor = a->proposed;
    *ret_answer = a->answer;
}

/* The rows of all outputs of one answer to one content. */
static void judge_answer(struct work *w, const struct hone_answer_report *rows, size_t n)
{
    struct hone_calibrate_answer a = {.answer = rows->answer,
                                      .workload = rows->workload,
                                      .distribution = rows->distribution,
                                      .is_lower = rows->is_lower,
                                      .is_public = rows->is_public,
                                      .is_random = rows->is_random,
                                      .is_normal = strcmp(rows->distribution, "normal") == 0,
                                      .is_right = true};
    bool is_number = true, is_known = true, says_nothing = true;
    for (size_t i = 0; i < n; i++) {
        size_t o = output_named(w->task, rows[i].output);
        a.now = fmax(a.now, factor_of(&rows[i], &w->now[o]));
        a.proposed = fmax(a.proposed, factor_of(&rows[i], &w->proposed[o]));
        a.is_right = a.is_right && is_right_here(w, &rows[i]);
        is_number = is_number && rows[i].n <= 1;
        says_nothing = says_nothing && is_decided_by_rounding(w, &rows[i]);
        is_known = is_known && row_of(w, rows[i].output, rows[i].distribution) != NULL;
    }
    if (!is_known) /* content that honest kernels cannot do */
        return;
    bool must = must_fail(w, &a, is_number) && (a.is_normal || !says_nothing);
    a.is_refused = must && a.proposed <= 1;
    w->ret->is_fit = w->ret->is_fit && !a.is_refused;
    a.is_refused_now = must && a.now <= 1;
    w->ret->is_fit_now = w->ret->is_fit_now && !a.is_refused_now;
    if (must)
        note_nearest(&a, a.is_lower ? &w->ret->lower : &w->ret->trivial,
                     a.is_lower ? &w->ret->lower_answer : &w->ret->trivial_answer);
    for (size_t i = 0; i < n && a.is_public && !a.is_right; i++) {
        struct hone_calibrate_row *row = row_of(w, rows[i].output, rows[i].distribution);
        note_nearest(&a, a.is_lower ? &row->lower : &row->trivial,
                     a.is_lower ? &row->lower_answer : &row->trivial_answer);
    }
    struct hone_calibrate_answer *all = w->ret->answers.v;
    all[w->ret->answers.n++] = a;
}

static void judge_answers(struct work *w)
{
    const struct hone_answer_report *rows = w->report->answers.v;
    for (size_t i = 0; i < w->report->answers.n;) {
        size_t n = 1;
        while (i + n < w->report->answers.n && is_same_content(&rows[i], &rows[i + n]))
            n++;
        judge_answer(w, &rows[i], n);
        i += n;
    }
}

static void start_answers(struct hone_calibrate *ret)
{
    struct hone_calibrate_row *rows = ret->rows.v;
    for (size_t i = 0; i < ret->rows.n; i++)
        rows[i].trivial = rows[i].lower = (double)NAN;
    ret->is_fit = ret->is_fit_now = true;
    ret->trivial = ret->lower = (double)NAN;
    ret->trivial_answer = ret->lower_answer = NULL;
    ret->answers.n = 0;
}

/* The proposal is refused, and what is there is not: that stays. */
static void keep_tolerances(struct work *w)
{
    struct hone_calibrate_tolerance *all = w->ret->tolerances.v;
    for (size_t o = 0; o < w->ret->tolerances.n; o++) {
        if (!hone_dtype_is_float(w->task->outputs[o].dtype) || all[o].rtol == all[o].now_rtol)
            continue;
        all[o].note = hone_pool_printf(
            w->pool,
            "what is there stays: with the whole margin (rtol %.2g) trivial answers would pass",
            all[o].rtol);
        all[o].rtol = all[o].now_rtol;
        all[o].rel_l2 = all[o].now_rel_l2;
        all[o].bias = all[o].now_bias;
    }
    w->ret->is_change = false;
    use_proposal(w);
    start_answers(w->ret);
    judge_answers(w);
}

static int check_names(const struct work *w, struct hone_err *err)
{
    const struct hone_noise_report *noise = w->report->noise.v;
    const struct hone_answer_report *rows = w->report->answers.v;
    bool is_good = true;
    for (size_t i = 0; i < w->report->noise.n; i++)
        is_good = is_good && output_named(w->task, noise[i].output) < w->task->n_outputs;
    for (size_t i = 0; i < w->report->answers.n; i++)
        is_good = is_good && output_named(w->task, rows[i].output) < w->task->n_outputs;
    return is_good ? 0
                   : hone_fail(err, HONE_E_TARGET,
                               "the report names outputs that task '%s' has not", w->task->name);
}

static bool is_too_wide(const struct hone_calibrate *ret)
{
    const struct hone_calibrate_tolerance *all = ret->tolerances.v;
    for (size_t o = 0; o < ret->tolerances.n; o++)
        if (all[o].rtol > fmax(HONE_CALIBRATE_MOST_RTOL, all[o].now_rtol))
            return true;
    return false;
}

/* The first output that honest kernels fail; 0: none. */
static size_t first_tight(const struct hone_calibrate *ret)
{
    const struct hone_calibrate_tolerance *all = ret->tolerances.v;
    for (size_t o = 0; o < ret->tolerances.n; o++)
        if (all[o].noise > all[o].now_rtol)
            return o;
    return 0;
}

int hone_calibrate_judge(const struct hone_task *task, const struct hone_report *report,
                         double margin, struct hone_pool *pool, struct hone_calibrate *ret,
                         struct hone_err *err)
{
    if (report->calibration == NULL || report->calibration->noise.n == 0)
        return hone_fail(err, HONE_E_TARGET, "nothing was measured: %.300s",
                         report->summary ? report->summary : "the report holds no calibration");
    const struct hone_calibration_report *in = report->calibration;
    *ret = (struct hone_calibrate){
        .task = hone_pool_strdup(pool, task->name),
        .hash = hone_pool_strdup(pool, task->hash),
        .target = hone_pool_strdup(pool, report->target ? report->target : "cpu"),
        .device = hone_pool_strdup(pool, in->device),
        .compiler = hone_pool_strdup(pool, report->build ? report->build->compiler : NULL),
        .margin = margin > 0 ? margin : HONE_CALIBRATE_MARGIN,
        .n_seeds = in->n_seeds,
        .is_fit = true,
        .is_fit_now = true,
        .trivial = (double)NAN,
        .lower = (double)NAN,
    };
    struct work w = {.task = task, .report = in, .pool = pool, .ret = ret};
    memcpy(w.now, task->tolerance, sizeof(w.now));
    ret->rows.v = hone_pool_alloc(pool, in->noise.n * sizeof(struct hone_calibrate_row));
    ret->tolerances.v =
        hone_pool_alloc(pool, MAX_TOLERANCES * sizeof(struct hone_calibrate_tolerance));
    ret->answers.v =
        hone_pool_alloc(pool, (in->answers.n + 1) * sizeof(struct hone_calibrate_answer));
    ret->warnings.v =
        hone_pool_alloc(pool, (in->noise.n + report->warnings.n) * sizeof(const char *));
    int code = check_names(&w, err);
    if (code < 0)
        return code;
    for (size_t i = 0; i < report->warnings.n; i++)
        warn(&w, report->warnings.v[i]);
    take_noise(&w);
    if (ret->rows.n == 0)
        return hone_fail(err, HONE_E_ARG,
                         "the baseline of task '%s' agrees with its oracle on no content at all: "
                         "hone task lint shows where",
                         task->name);
    for (size_t o = 0; o < task->n_outputs; o++)
        propose(&w, o);
    use_proposal(&w);
    start_answers(ret);
    judge_answers(&w);
    ret->is_fit = ret->is_fit && !is_too_wide(ret);
    ret->is_honest_now = true;
    for (size_t o = 0; o < task->n_outputs; o++)
        ret->is_honest_now = ret->is_honest_now && hone_calibrate_noise(ret, o, pool) == NULL;
    if (!ret->is_fit && ret->is_fit_now && ret->is_honest_now)
        keep_tolerances(&w);
    ret->is_flushed = hone_calibrate_is_flushed(ret);
    if (!ret->is_fit || !ret->is_fit_now || !ret->is_honest_now)
        ret->advice = ret->is_flushed ? HONE_CALIBRATE_FLUSHED
                                      : hone_calibrate_advice(task, first_tight(ret), pool);
    return 0;
}
