/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes: workloads.jsonl, and filling in every axis of a workload from its var axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/task/task_internal.h"

struct line_in {
    const char *id, *description, *target;
    struct hone_json *axes;
};

static const struct hone_field line_fields[] = {
    HONE_FIELD(struct line_in, id, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Unique name of the size."),
    HONE_FIELD(struct line_in, description, .help = "For readers."),
    HONE_FIELD(struct line_in, target, .choices = hone_target_words,
               .help = "Where this size counts; absent: on every target."),
    HONE_FIELD(struct line_in, axes, .required = true, .help = "Map var axis -> size."),
};

static int parse_axes(const struct hone_task *task, const struct hone_json *axes,
                      struct hone_workload *w, struct hone_err *err)
{
    if (hone_json_type(axes) != HONE_JSON_OBJECT)
        return hone_fail_at(err, HONE_E_ARG, "axes", "must be an object: var axis -> size");
    for (const struct hone_json *c = hone_json_first(axes); c; c = hone_json_next(c)) {
        char path[HONE_ERR_PATH_BYTES];
        snprintf(path, sizeof(path), "axes.%.60s", hone_json_key(c));
        int a = hone_task_axis(task, hone_json_key(c));
        if (a < 0 || task->axes[a].kind != HONE_AXIS_VAR)
            return hone_fail_at(err, HONE_E_ARG, path, "is not an axis of type var");
        if (!hone_json_as_i64(c, &w->axes[a]) || w->axes[a] < 1)
            return hone_fail_at(err, HONE_E_ARG, path, "must be an integer of 1 or more");
    }
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR && w->axes[a] == 0)
            return hone_fail_at(err, HONE_E_ARG, "axes", "axis '%s' is missing",
                                task->axes[a].name);
    return 0;
}

static int parse_line(struct hone_task *task, const char *text, size_t len, struct hone_err *err)
{
    if (task->n_workloads == HONE_LIMIT_WORKLOADS)
        return hone_fail(err, HONE_E_LIMIT, "at most %d workloads are accepted",
                         HONE_LIMIT_WORKLOADS);
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct line_in in;
    int code = hone_json_parse(text, len, &json, err);
    if (code == 0)
        code = hone_fields_decode(json, line_fields, HONE_COUNTOF(line_fields), &in, sizeof(in),
                                  task->pool, err);
    if (code < 0)
        return code;
    if (!hone_is_safe_name(in.id))
        return hone_fail_at(err, HONE_E_ARG, "id", "may hold letters, digits, '_', '-' and '.'");
    struct hone_workload *w = &task->workloads[task->n_workloads];
    w->id = in.id;
    w->target = in.target;
    if ((code = parse_axes(task, in.axes, w, err)) == 0)
        task->n_workloads++;
    return code;
}

int hone_task_parse_workloads(struct hone_task *task, const char *text, size_t len,
                              struct hone_err *err)
{
    size_t line = 1;
    for (const char *at = text, *end = text + len; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        bool is_blank = strspn(at, " \t\r") >= n;
        if (!is_blank && parse_line(task, at, n, err) < 0)
            return hone_task_prefix(err, "line %zu", line);
        at += n + (stop != NULL);
    }
    if (task->n_workloads == 0)
        return hone_fail(err, HONE_E_ARG,
                         "needs at least one line {\"id\": \"small\", \"axes\": {...}}");
    return 0;
}

static int check_tensor(const struct hone_task *task, const struct hone_tensor *t,
                        const struct hone_workload *w, struct hone_err *err)
{
    struct hone_pitch pitch;
    if (hone_tensor_pitch(t, w, &pitch) && pitch.row < pitch.used)
        return hone_fail(err, HONE_E_ARG, "the pitch of '%s' is %lld, less than its row of %lld",
                         t->name, (long long)pitch.row, (long long)pitch.used);
    (void)task;
    int64_t n = 1;
    for (size_t d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(n, w->axes[t->shape[d]], &n) || n > HONE_LIMIT_ELEMENTS)
            return hone_fail(err, HONE_E_LIMIT, "tensor '%s' has more than %lld elements", t->name,
                             (long long)HONE_LIMIT_ELEMENTS);
    if (n * hone_dtype_bytes(t->dtype) > HONE_LIMIT_TENSOR_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "tensor '%s' has more than %lld bytes", t->name,
                         (long long)HONE_LIMIT_TENSOR_BYTES);
    return 0;
}

static int resolve_axis(const struct hone_task *task, size_t a, struct hone_workload *w,
                        struct hone_err *err)
{
    const struct hone_axis *axis = &task->axes[a];
    struct hone_expr_name names[HONE_LIMIT_AXES];
    struct hone_expr_value value;
    int code;
    switch (axis->kind) {
    case HONE_AXIS_CONST:
        w->axes[a] = axis->value;
        return 0;
    case HONE_AXIS_EXPR:
        code = hone_expr_eval(axis->expression, names, hone_task_names(task, a, w, names), &value,
                              err);
        if (code < 0)
            return hone_wrap(err, "axis '%s'", axis->name);
        if (!value.is_int && value.f == floor(value.f) && fabs(value.f) < 9e15)
            value = (struct hone_expr_value){.is_int = true, .i = (int64_t)value.f, .f = value.f};
        if (!value.is_int || value.i < 1 || value.i > HONE_LIMIT_ELEMENTS)
            return hone_fail(err, HONE_E_ARG,
                             "axis '%s' comes out as %g: it must be an integer in 1..%lld",
                             axis->name, value.f, (long long)HONE_LIMIT_ELEMENTS);
        w->axes[a] = value.i;
        return 0;
    case HONE_AXIS_VAR:
        break;
    }
    if (w->axes[a] < axis->min || w->axes[a] > axis->max || w->axes[a] % axis->multiple != 0)
        return hone_fail(err, HONE_E_ARG,
                         "axis '%s' is %lld: legal are multiples of %lld in %lld..%lld", axis->name,
                         (long long)w->axes[a], (long long)axis->multiple, (long long)axis->min,
                         (long long)axis->max);
    return 0;
}

int hone_task_resolve(const struct hone_task *task, struct hone_workload *workload,
                      struct hone_err *err)
{
    struct hone_workload w = *workload;
    int code = 0;
    for (size_t a = 0; code == 0 && a < task->n_axes; a++)
        code = resolve_axis(task, a, &w, err);
    for (size_t i = 0; code == 0 && i < task->n_constraints; i++) {
        double holds = 0;
        code = hone_task_eval(task, task->constraints[i], &w, &holds, err);
        if (code == 0 && holds == 0)
            code =
                hone_fail(err, HONE_E_ARG, "constraint \"%s\" does not hold", task->constraints[i]);
    }
    for (size_t i = 0; code == 0 && i < task->n_inputs; i++)
        code = check_tensor(task, &task->inputs[i], &w, err);
    for (size_t i = 0; code == 0 && i < task->n_outputs; i++)
        code = check_tensor(task, &task->outputs[i], &w, err);
    if (code == 0)
        *workload = w;
    return code;
}

int hone_task_asked(const struct hone_task *task, const struct hone_json *axes,
                    struct hone_workload *ret, struct hone_err *err)
{
    size_t n_known = 0;
    *ret = (struct hone_workload){.id = "asked"};
    for (size_t a = 0; a < task->n_axes; a++) {
        const struct hone_json *value = hone_json_get(axes, task->axes[a].name);
        if (task->axes[a].kind != HONE_AXIS_VAR)
            continue;
        if (value == NULL || !hone_json_as_i64(value, &ret->axes[a]))
            return hone_fail_at(err, HONE_E_ARG, "axes", "needs a number for %s",
                                task->axes[a].name);
        n_known++;
    }
    if (hone_json_size(axes) != n_known)
        return hone_fail_at(err, HONE_E_ARG, "axes", "%s has %zu axes to choose, not %zu",
                            task->name, n_known, hone_json_size(axes));
    int rc = hone_task_resolve(task, ret, err);
    return rc < 0 ? hone_wrap(err, "axes") : 0;
}
