/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration for readers: a table by distribution, the tolerances, what refuses the task. */
#include "tools/task/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_REFUSALS 12 /* lines; the rest is counted */
#define MOST_MIDDLE   30

/* clang-format off */
const struct hone_field hone_calibrate_row_fields[HONE_CALIBRATE_ROW_N_FIELDS] = {
    HONE_FIELD(struct hone_calibrate_row, output, .required = true, .help = "Output."),
    HONE_FIELD(struct hone_calibrate_row, distribution, .required = true, .help = "How inputs were drawn."),
    HONE_FIELD(struct hone_calibrate_row, n_contents, .help = "Contents that were tried, over all sizes."),
    HONE_FIELD(struct hone_calibrate_row, p999, .help = "99.9 % of the honest errors lie below, in sizes of the elements."),
    HONE_FIELD(struct hone_calibrate_row, worst, .help = "Largest honest error, in sizes of the elements."),
    HONE_FIELD(struct hone_calibrate_row, rel_l2, .help = "Largest honest relative error in the 2-norm."),
    HONE_FIELD(struct hone_calibrate_row, bias, .help = "Largest honest mean signed error beyond chance."),
    HONE_FIELD(struct hone_calibrate_row, now, .help = "The task's rtol."),
    HONE_FIELD(struct hone_calibrate_row, proposed, .help = "Proposed rtol."),
    HONE_FIELD(struct hone_calibrate_row, trivial, .fallback_f64 = NAN, .help = "By what factor the nearest trivial answer fails on the public sizes."),
    HONE_FIELD(struct hone_calibrate_row, trivial_answer, .skip_empty = true, .help = "Which it is."),
    HONE_FIELD(struct hone_calibrate_row, lower, .fallback_f64 = NAN, .help = "By what factor the nearest answer of the next lower precision fails there."),
    HONE_FIELD(struct hone_calibrate_row, lower_answer, .skip_empty = true, .help = "Which it is."),
};

const struct hone_field hone_calibrate_tolerance_fields[HONE_CALIBRATE_TOLERANCE_N_FIELDS] = {
    HONE_FIELD(struct hone_calibrate_tolerance, output, .required = true, .help = "Output."),
    HONE_FIELD(struct hone_calibrate_tolerance, atol, .help = "Absolute part, as it is."),
    HONE_FIELD(struct hone_calibrate_tolerance, now_rtol, .help = "The task's."),
    HONE_FIELD(struct hone_calibrate_tolerance, now_rel_l2, .help = "The task's."),
    HONE_FIELD(struct hone_calibrate_tolerance, now_bias, .help = "The task's."),
    HONE_FIELD(struct hone_calibrate_tolerance, rtol, .help = "Proposed."),
    HONE_FIELD(struct hone_calibrate_tolerance, rel_l2, .help = "Proposed."),
    HONE_FIELD(struct hone_calibrate_tolerance, bias, .help = "Proposed."),
    HONE_FIELD(struct hone_calibrate_tolerance, noise, .help = "Largest honest error."),
    HONE_FIELD(struct hone_calibrate_tolerance, noise_p999, .help = "99.9 % of them lie below."),
    HONE_FIELD(struct hone_calibrate_tolerance, noise_rel_l2, .help = "The same in the 2-norm."),
    HONE_FIELD(struct hone_calibrate_tolerance, noise_bias, .help = "Honest mean signed error."),
    HONE_FIELD(struct hone_calibrate_tolerance, note, .skip_empty = true, .help = "Why the proposal is not what was measured."),
};

const struct hone_field hone_calibrate_answer_fields[HONE_CALIBRATE_ANSWER_N_FIELDS] = {
    HONE_FIELD(struct hone_calibrate_answer, answer, .required = true, .help = "Which trivial answer."),
    HONE_FIELD(struct hone_calibrate_answer, workload, .required = true, .help = "Size."),
    HONE_FIELD(struct hone_calibrate_answer, distribution, .required = true, .help = "How inputs were drawn."),
    HONE_FIELD(struct hone_calibrate_answer, is_lower, .skip_empty = true, .help = "Right but for its precision."),
    HONE_FIELD(struct hone_calibrate_answer, is_public, .skip_empty = true, .help = "A public size."),
    HONE_FIELD(struct hone_calibrate_answer, is_right, .skip_empty = true, .help = "As near as honest kernels come."),
    HONE_FIELD(struct hone_calibrate_answer, is_refused, .skip_empty = true, .help = "The task is not fit, for this."),
    HONE_FIELD(struct hone_calibrate_answer, now, .help = "By what factor it fails with the task's tolerance; at most 1: it passes."),
    HONE_FIELD(struct hone_calibrate_answer, proposed, .help = "The same with the proposal."),
};
/* clang-format on */

const char *hone_calibrate_refusal(const struct hone_calibrate *calibrate,
                                   const struct hone_calibrate_answer *answer, bool is_now,
                                   struct hone_pool *pool)
{
    (void)calibrate;
    const char *fix =
        answer->is_lower
            ? "give the oracle a scale that follows what can cancel (PUT_SCALED), set atol near 0, "
              "or declare allow_lower_precision where mathematics hides the difference"
            : "set atol near 0, give the oracle a scale no larger than what is added up, or choose "
              "roles and sizes whose answer is not that";
    return hone_pool_printf(pool,
                            "'%s' passes on workload '%s', distribution '%s' (%.2g of the "
                            "tolerance): %s",
                            answer->answer, answer->workload, answer->distribution,
                            is_now ? answer->now : answer->proposed, fix);
}

const char *hone_calibrate_noise(const struct hone_calibrate *calibrate, size_t output,
                                 struct hone_pool *pool)
{
    const struct hone_calibrate_tolerance *all = calibrate->tolerances.v;
    const struct hone_calibrate_row *rows = calibrate->rows.v;
    const char *where = "";
    if (output >= calibrate->tolerances.n || !(all[output].noise > all[output].now_rtol))
        return NULL;
    for (size_t i = 0; i < calibrate->rows.n; i++)
        if (strcmp(rows[i].output, all[output].output) == 0 && rows[i].worst == all[output].noise)
            where = rows[i].distribution;
    return hone_pool_printf(pool,
                            "honest kernels err by %.2g in '%s' (distribution '%s'), and rtol is "
                            "%.2g",
                            all[output].noise, all[output].output, where, all[output].now_rtol);
}

/* A short calibration has not seen the worst content. So what it proposes is the middle, as ratios
 * go, between the proposal and the nearest answer that must fail. */
static double middle(const struct hone_calibrate *calibrate)
{
    double nearest =
        fmin(calibrate->trivial, calibrate->lower); /* fmin takes a number over a NaN */
    return isnan(nearest) ? 1 : fmin(fmax(sqrt(nearest), 1), MOST_MIDDLE);
}

const char *hone_calibrate_proposal(const struct hone_task *task,
                                    const struct hone_calibrate *calibrate, struct hone_pool *pool)
{
    const struct hone_calibrate_tolerance *all = calibrate->tolerances.v;
    const char *text = NULL;
    for (size_t o = 0; o < calibrate->tolerances.n && calibrate->is_fit; o++) {
        bool is_new = all[o].rtol != all[o].now_rtol && all[o].rtol > 0;
        if (!is_new || !hone_dtype_is_float(task->outputs[o].dtype))
            continue;
        const char *atol = all[o].atol > 0 ? hone_pool_printf(pool, ",%.2g", all[o].atol) : "";
        text = hone_pool_printf(
            pool, "%s%s%s=%.2g%s", text != NULL ? text : "", text != NULL ? " " : "", all[o].output,
            fmin(all[o].rtol * middle(calibrate), HONE_CALIBRATE_MOST_RTOL), atol);
    }
    return text;
}

static void add_factor(struct hone_buf *buf, double factor, const char *answer)
{
    char text[64];
    if (isnan(factor))
        snprintf(text, sizeof(text), "-");
    else if (factor >= 1e6)
        snprintf(text, sizeof(text), "%s >1e6x", answer);
    else
        snprintf(text, sizeof(text), "%s %.3gx%s", answer, factor, factor <= 1 ? " passes" : "");
    hone_buf_printf(buf, "  %-27s", text);
}

static void add_rows(const struct hone_calibrate *c, const char *output, struct hone_buf *buf)
{
    const struct hone_calibrate_row *rows = c->rows.v;
    hone_buf_printf(buf, "%-12s  %3s  %9s  %9s  %9s  %9s  %-27s  %s\n", "distribution", "n",
                    "99.9 %", "largest", "now", "proposed", "nearest trivial answer",
                    "nearest lower precision");
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct hone_calibrate_row *r = &rows[i];
        if (strcmp(r->output, output) != 0)
            continue;
        hone_buf_printf(buf, "%-12s  %3lld  %9.2e  %9.2e  %9.2e  %9.2e", r->distribution,
                        (long long)r->n_contents, r->p999, r->worst, r->now, r->proposed);
        add_factor(buf, r->trivial, r->trivial_answer);
        add_factor(buf, r->lower, r->lower_answer);
        while (buf->len > 0 && buf->data[buf->len - 1] == ' ')
            buf->len--;
        hone_buf_str(buf, "\n");
    }
}

static void add_refusals(const struct hone_calibrate *c, struct hone_buf *buf)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_calibrate_answer *all = c->answers.v;
    int n = 0;
    for (size_t i = 0; i < c->answers.n; i++) {
        if (!all[i].is_refused || n++ >= MOST_REFUSALS)
            continue;
        hone_buf_printf(buf, "refused: %s\n", hone_calibrate_refusal(c, &all[i], false, pool));
    }
    if (n > MOST_REFUSALS)
        hone_buf_printf(buf, "refused: and %d more; --json lists them\n", n - MOST_REFUSALS);
}

char *hone_calibrate_text(const struct hone_calibrate *c)
{
    struct hone_buf buf = HONE_BUF_INIT;
    const struct hone_calibrate_tolerance *all = c->tolerances.v;
    hone_buf_printf(&buf,
                    "%s, target %s, %s, %s; %lld or more contents of a kind and size, margin %g\n",
                    c->task, c->target, c->device ? c->device : "?",
                    c->compiler ? c->compiler : "?", (long long)c->n_seeds, c->margin);
    for (size_t o = 0; o < c->tolerances.n; o++) {
        const struct hone_calibrate_tolerance *t = &all[o];
        hone_buf_printf(&buf, "\noutput %s: honest errors and rtol, in sizes of the elements\n",
                        t->output);
        add_rows(c, t->output, &buf);
        hone_buf_printf(&buf,
                        "rtol %g -> %g, rel_l2 %g -> %g (honest %.2g), bias %g -> %g (honest "
                        "%.2g)\n",
                        t->now_rtol, t->rtol, t->now_rel_l2, t->rel_l2, t->noise_rel_l2,
                        t->now_bias, t->bias, t->noise_bias);
        if (t->note)
            hone_buf_printf(&buf, "%s\n", t->note);
    }
    hone_buf_str(&buf, "\n");
    for (size_t i = 0; i < c->warnings.n; i++)
        hone_buf_printf(&buf, "warning: %s\n", c->warnings.v[i]);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t o = 0; o < c->tolerances.n; o++) {
        const char *noise = hone_calibrate_noise(c, o, pool);
        if (noise != NULL)
            hone_buf_printf(&buf, "too tight now: %s\n", noise);
    }
    add_refusals(c, &buf);
    if (!c->is_fit && c->advice != NULL)
        hone_buf_printf(&buf, "what to do: %s\n", c->advice);
    hone_buf_printf(&buf, "%s: %s%s\n", c->task,
                    c->is_fit ? "trivial answers fail" : "not fit to judge with",
                    !c->is_fit || c->is_fit_now
                        ? ""
                        : " with the proposal, but not with the tolerance that is there");
    return hone_buf_steal(&buf);
}

static void add_array(struct hone_json *json, const char *name, const struct hone_array *array,
                      size_t size, const struct hone_field *fields, size_t n_fields)
{
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < array->n; i++)
        hone_json_push(list,
                       hone_fields_encode((const char *)array->v + i * size, fields, n_fields));
    hone_json_set(json, name, list);
}

struct hone_json *hone_calibrate_json(const struct hone_calibrate *c)
{
    struct hone_json *json = hone_json_new_object(), *warnings = hone_json_new_array();
    hone_json_set_str(json, "task", c->task);
    hone_json_set_str(json, "hash", c->hash);
    hone_json_set_str(json, "target", c->target);
    hone_json_set_str(json, "device", c->device);
    hone_json_set_str(json, "compiler", c->compiler);
    hone_json_set_str(json, "date", c->date);
    hone_json_set_f64(json, "margin", c->margin);
    hone_json_set_i64(json, "n_seeds", c->n_seeds);
    hone_json_set_bool(json, "is_fit", c->is_fit);
    hone_json_set_bool(json, "is_fit_now", c->is_fit_now);
    hone_json_set_bool(json, "is_change", c->is_change);
    add_array(json, "tolerances", &c->tolerances, sizeof(struct hone_calibrate_tolerance),
              hone_calibrate_tolerance_fields, HONE_CALIBRATE_TOLERANCE_N_FIELDS);
    add_array(json, "rows", &c->rows, sizeof(struct hone_calibrate_row), hone_calibrate_row_fields,
              HONE_CALIBRATE_ROW_N_FIELDS);
    add_array(json, "answers", &c->answers, sizeof(struct hone_calibrate_answer),
              hone_calibrate_answer_fields, HONE_CALIBRATE_ANSWER_N_FIELDS);
    for (size_t i = 0; i < c->warnings.n; i++)
        hone_json_push(warnings, hone_json_new_str(c->warnings.v[i]));
    hone_json_set(json, "warnings", warnings);
    return json;
}
