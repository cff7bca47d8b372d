/* SPDX-License-Identifier: Apache-2.0 */
/* Member "calibration" of task.json: read, checked against the tolerances, written. */
#include <stdio.h>
#include <string.h>
#include "workspace/task/task_internal.h"

struct record_in {
    const char *date, *device, *compiler, *hone, *trivial_answer, *lower_answer;
    double margin, trivial, lower;
    int64_t seeds;
    struct hone_json *outputs;
};

#define MARGIN_MAX 64
#define FACTOR_MAX INT64_MAX

/* clang-format off */
static const struct hone_field record_fields[] = {
    HONE_FIELD(struct record_in, date, .required = true, .max_len = 10, .help = "Day, as in 2026-11-21."),
    HONE_FIELD(struct record_in, device, .max_len = HONE_LIMIT_LINE_BYTES, .help = "Processor."),
    HONE_FIELD(struct record_in, compiler, .max_len = HONE_LIMIT_WORD_BYTES, .help = "Name and version."),
    HONE_FIELD(struct record_in, hone, .max_len = HONE_LIMIT_WORD_BYTES, .help = "Version of hone."),
    HONE_FIELD(struct record_in, margin, .required = true, .min = 1, .max = MARGIN_MAX, .help = "Tolerance over noise, at least."),
    HONE_FIELD(struct record_in, seeds, .required = true, .min = 1, .max = 1000, .help = "Contents of every distribution and size, at least."),
    HONE_FIELD(struct record_in, trivial, .min = 0, .max = FACTOR_MAX, .help = "Factor by which the nearest trivial answer fails."),
    HONE_FIELD(struct record_in, trivial_answer, .max_len = HONE_LIMIT_WORD_BYTES, .help = "Which it is."),
    HONE_FIELD(struct record_in, lower, .min = 0, .max = FACTOR_MAX, .help = "Factor by which the nearest answer of the next lower precision fails."),
    HONE_FIELD(struct record_in, lower_answer, .max_len = HONE_LIMIT_WORD_BYTES, .help = "Which it is."),
    HONE_FIELD(struct record_in, outputs, .required = true, .help = "Map output -> noise, p999, rel_l2, bias."),
};

static const struct hone_field output_fields[] = {
    HONE_FIELD(struct hone_calibrated_output, noise, .required = true, .min = 0, .max = 1, .help = "Largest error of honest kernels, in sizes."),
    HONE_FIELD(struct hone_calibrated_output, p999, .min = 0, .max = 1, .help = "99.9 % of the errors lie below."),
    HONE_FIELD(struct hone_calibrated_output, rel_l2, .min = 0, .max = FACTOR_MAX, .help = "Relative error in the 2-norm."),
    HONE_FIELD(struct hone_calibrated_output, bias, .min = 0, .max = 1, .help = "Mean signed error beyond chance."),
};
/* clang-format on */

static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof(form); i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static int load_outputs(struct hone_task *task, const struct hone_json *map,
                        struct hone_calibration *ret, struct hone_err *err)
{
    if (hone_json_type(map) != HONE_JSON_OBJECT)
        return hone_fail_at(err, HONE_E_ARG, "outputs", "must be an object: output -> figures");
    for (struct hone_json *c = hone_json_first(map); c; c = hone_json_next(c)) {
        size_t o = 0;
        while (o < task->n_outputs && strcmp(task->outputs[o].name, hone_json_key(c)) != 0)
            o++;
        if (o == task->n_outputs)
            return hone_fail_at(err, HONE_E_ARG, "outputs", "'%.60s' is not an output",
                                hone_json_key(c));
        if (hone_fields_decode(c, output_fields, HONE_COUNTOF(output_fields), &ret->outputs[o],
                               sizeof(ret->outputs[o]), task->pool, err) < 0)
            return hone_task_prefix(err, "outputs.%.40s", hone_json_key(c));
        if (ret->outputs[o].noise > task->tolerance[o].rtol)
            return hone_fail_at(err, HONE_E_ARG, "outputs",
                                "honest kernels err by %.3g in '%s', and its rtol is %.3g: "
                                "calibrate the task again, or take the record out",
                                ret->outputs[o].noise, task->outputs[o].name,
                                task->tolerance[o].rtol);
    }
    return 0;
}

static int load_record(struct hone_task *task, const struct hone_json *json,
                       struct hone_calibration *ret, struct hone_err *err)
{
    struct record_in in;
    int code = hone_fields_decode(json, record_fields, HONE_COUNTOF(record_fields), &in, sizeof(in),
                                  task->pool, err);
    if (code < 0)
        return code;
    if (strlen(in.date) != 10 || !is_date(in.date))
        return hone_fail_at(err, HONE_E_ARG, "date", "must be a day, as in 2026-11-21");
    *ret = (struct hone_calibration){.date = in.date,
                                     .device = in.device,
                                     .compiler = in.compiler,
                                     .hone = in.hone,
                                     .margin = in.margin,
                                     .seeds = in.seeds,
                                     .trivial = in.trivial,
                                     .trivial_answer = in.trivial_answer,
                                     .lower = in.lower,
                                     .lower_answer = in.lower_answer};
    return load_outputs(task, in.outputs, ret, err);
}

int hone_task_load_calibration(struct hone_task *task, const struct hone_json *json,
                               struct hone_err *err)
{
    if (!json)
        return 0;
    if (hone_json_type(json) != HONE_JSON_OBJECT)
        return hone_fail_at(err, HONE_E_ARG, "calibration", "must be an object: target -> record");
    for (struct hone_json *c = hone_json_first(json); c; c = hone_json_next(c)) {
        enum hone_task_target target;
        if (!hone_task_target_parse(hone_json_key(c), &target))
            return hone_fail_at(err, HONE_E_ARG, "calibration", "'%.60s' is no target: cpu or cuda",
                                hone_json_key(c));
        if (load_record(task, c, &task->calibration[target], err) < 0)
            return hone_task_prefix(err, "calibration.%s", hone_json_key(c));
    }
    return 0;
}

static double three_digits(double value)
{
    char text[32];
    double short_value = value;
    snprintf(text, sizeof(text), "%.3g", value);
    sscanf(text, "%lf", &short_value);
    return short_value;
}

struct hone_json *hone_task_calibration_json(const struct hone_task *task,
                                             const struct hone_calibration *calibration)
{
    const struct {
        const char *name, *text;
        double value;
    } rows[] = {
        {"date", calibration->date, 0},          {"device", calibration->device, 0},
        {"compiler", calibration->compiler, 0},  {"hone", calibration->hone, 0},
        {"margin", NULL, calibration->margin},   {"seeds", NULL, (double)calibration->seeds},
        {"trivial", NULL, calibration->trivial}, {"trivial_answer", calibration->trivial_answer, 0},
        {"lower", NULL, calibration->lower},     {"lower_answer", calibration->lower_answer, 0},
    };
    struct hone_json *json = hone_json_new_object(), *outputs = hone_json_new_object();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        if (rows[i].text)
            hone_json_set_str(json, rows[i].name, rows[i].text);
        else if (rows[i].value > 0)
            hone_json_set_f64(json, rows[i].name, three_digits(rows[i].value));
    }
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_calibrated_output *out = &calibration->outputs[o];
        struct hone_json *one = hone_json_new_object();
        hone_json_set_f64(one, "noise", three_digits(out->noise));
        hone_json_set_f64(one, "p999", three_digits(out->p999));
        hone_json_set_f64(one, "rel_l2", three_digits(out->rel_l2));
        hone_json_set_f64(one, "bias", three_digits(out->bias));
        hone_json_set(outputs, task->outputs[o].name, one);
    }
    hone_json_set(json, "outputs", outputs);
    return json;
}
