/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration into task.json. Two members are replaced in the text, so that whoever wrote the
 * file still knows it: "tolerance", and "calibration", which comes behind it when it is new. */
#include "tools/task/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/file.h"

struct span {
    size_t start, end; /* of a member's value */
};

static size_t skip_string(const char *text,
                          size_t at) /* at the opening quote; behind the closing */
{
    for (at++; text[at] && text[at] != '"'; at++)
        at += text[at] == '\\' && text[at + 1];
    return text[at] ? at + 1 : at;
}

/* The value of one member of the outermost object. The text has been parsed before. */
static bool find_member(const char *text, const char *name, struct span *ret)
{
    int depth = 0;
    bool is_found = false;
    size_t len = strlen(name);
    for (size_t at = 0; text[at];) {
        char c = text[at];
        if (c == '"') {
            size_t end = skip_string(text, at), next = end + strspn(text + end, " \t\r\n");
            if (!is_found && depth == 1 && text[next] == ':' && end - at == len + 2 &&
                strncmp(text + at + 1, name, len) == 0) {
                is_found = true;
                at = next + 1;
                at += strspn(text + at, " \t\r\n");
                ret->start = at;
                continue;
            }
            at = end;
            continue;
        }
        if (is_found && depth == 1 && (c == ',' || c == '}')) {
            while (at > ret->start && strchr(" \t\r\n", text[at - 1]))
                at--;
            ret->end = at;
            return true;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    }
    return false;
}

/* 1.6e-5, not 1.6e-05. */
static void add_number(struct hone_buf *buf, double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g", value);
    char *zero = strstr(text, "e-0");
    if (zero)
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    hone_buf_str(buf, text);
}

static void add_tolerances(const struct hone_task *task, const struct hone_calibrate *c,
                           struct hone_buf *buf)
{
    const struct hone_calibrate_tolerance *all = c->tolerances.v;
    bool is_first = true;
    hone_buf_str(buf, "{");
    for (size_t o = 0; o < task->n_outputs && o < c->tolerances.n; o++) {
        const double values[] = {all[o].atol, all[o].rtol, all[o].rel_l2, all[o].bias};
        static const char *const names[] = {"atol", "rtol", "rel_l2", "bias"};
        if (!hone_dtype_is_float(task->outputs[o].dtype))
            continue;
        hone_buf_printf(buf, "%s\n    \"%s\": {", is_first ? "" : ",", all[o].output);
        is_first = false;
        for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
            hone_buf_printf(buf, "%s\"%s\": ", i ? ", " : "", names[i]);
            add_number(buf, values[i]);
        }
        hone_buf_str(buf, "}");
    }
    hone_buf_str(buf, is_first ? "}" : "\n  }");
}

static double factor_or_0(double factor)
{
    return isnan(factor) ? 0 : fmin(factor, 1e12);
}

/* The records of all targets, this one's replaced. */
static void add_records(const struct hone_task *task, const struct hone_calibrate *c,
                        const char *hone, struct hone_buf *buf)
{
    const struct hone_calibrate_tolerance *all = c->tolerances.v;
    bool is_first = true;
    hone_buf_str(buf, "{");
    for (int t = 0; t < HONE_N_TASK_TARGETS; t++) {
        const char *target = hone_targets[t].name;
        struct hone_calibration record = task->calibration[t];
        if (strcmp(target, c->target) == 0) {
            record = (struct hone_calibration){.date = c->date,
                                               .device = c->device,
                                               .compiler = c->compiler,
                                               .hone = hone,
                                               .margin = c->margin,
                                               .seeds = c->n_seeds,
                                               .trivial = factor_or_0(c->trivial),
                                               .trivial_answer = c->trivial_answer,
                                               .lower = factor_or_0(c->lower),
                                               .lower_answer = c->lower_answer};
            for (size_t o = 0; o < c->tolerances.n; o++)
                record.outputs[o] = (struct hone_calibrated_output){.noise = all[o].noise,
                                                                    .p999 = all[o].noise_p999,
                                                                    .rel_l2 = all[o].noise_rel_l2,
                                                                    .bias = all[o].noise_bias};
        }
        if (!record.date)
            continue;
        HONE_AUTOJSON struct hone_json *json = hone_task_calibration_json(task, &record);
        HONE_AUTOFREE char *text = hone_json_print(json);
        hone_buf_printf(buf, "%s\n    \"%s\": %s", is_first ? "" : ",", target, text);
        is_first = false;
    }
    hone_buf_str(buf, "\n  }");
}

static int edit(const struct hone_task *task, const struct hone_calibrate *c, const char *hone,
                const char *text, struct hone_buf *buf, struct hone_err *err)
{
    struct span tolerance, record;
    if (!find_member(text, "tolerance", &tolerance))
        return hone_fail(err, HONE_E_ARG, "task.json has no member 'tolerance' to write to");
    bool has_record = find_member(text, "calibration", &record);
    bool is_record_first = has_record && record.start < tolerance.start;
    if (is_record_first) {
        hone_buf_add(buf, text, record.start);
        add_records(task, c, hone, buf);
        hone_buf_add(buf, text + record.end, tolerance.start - record.end);
    } else {
        hone_buf_add(buf, text, tolerance.start);
    }
    add_tolerances(task, c, buf);
    size_t done = tolerance.end;
    if (has_record && !is_record_first) {
        hone_buf_add(buf, text + done, record.start - done);
        add_records(task, c, hone, buf);
        done = record.end;
    } else if (!has_record) {
        hone_buf_str(buf, ",\n  \"calibration\": ");
        add_records(task, c, hone, buf);
    }
    hone_buf_str(buf, text + done);
    return 0;
}

int hone_calibrate_write(const struct hone_task *task, const struct hone_calibrate *calibrate,
                         const char *hone, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *again = NULL;
    HONE_AUTOFREE char *path = hone_path_join(task->dir, "task.json", NULL);
    HONE_AUTOFREE char *loads_path = hone_path_join(task->dir, "workloads.jsonl", NULL);
    HONE_AUTOFREE char *text = NULL, *loads = NULL;
    size_t len = 0, loads_len = 0;
    if (!calibrate->is_fit)
        return hone_fail(err, HONE_E_ARG, "task '%s' is not fit to judge with: nothing was written",
                         task->name);
    if (calibrate->n_seeds < 1)
        return hone_fail(err, HONE_E_TIMEOUT,
                         "not every distribution was tried on every size, so nothing was written: "
                         "give more time (--time)");
    int code = hone_file_read(path, HONE_LIMIT_JSON_BYTES, &text, &len, err);
    if (code == 0)
        code = hone_file_read(loads_path, HONE_LIMIT_JSON_BYTES, &loads, &loads_len, err);
    if (code == 0)
        code = edit(task, calibrate, hone, text, &buf, err);
    if (code == 0) /* a file that does not load never gets there */
        code = hone_task_parse(buf.data, buf.len, loads, loads_len, task->dir, &again, err);
    return code == 0 ? hone_file_write(path, buf.data, buf.len, 0644, true, err) : code;
}
