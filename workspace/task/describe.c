/* SPDX-License-Identifier: Apache-2.0 */
/* A task for readers: the C signature, and everything as one JSON object. */
#include <stdio.h>
#include <string.h>
#include "workspace/base/json.h"
#include "workspace/task/task_internal.h"

typedef const char *type_name_fn(enum hone_dtype dtype);

static const struct {
    const char *front, *back;
    type_name_fn *type;
} dialects[HONE_N_TASK_TARGETS] = {
    [HONE_TASK_CPU] = {"", "", hone_dtype_c_name},
    [HONE_TASK_CUDA] = {"extern \"C\" ", ", cudaStream_t stream", hone_dtype_cuda_name},
};

char *hone_task_signature_for(const struct hone_task *task, const char *target)
{
    enum hone_task_target t = HONE_TASK_CPU;
    hone_task_target_parse(target, &t);
    type_name_fn *type = dialects[t].type;
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_printf(&buf, "%svoid %s(", dialects[t].front, task->name);
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(&buf, "%sconst %s *%s", i ? ", " : "", type(task->inputs[i].dtype),
                        task->inputs[i].name);
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(&buf, ", %s *%s", type(task->outputs[i].dtype), task->outputs[i].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(&buf, ", %s %s", type(task->scalars[i].dtype), task->scalars[i].name);
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(&buf, ", int64_t %s", task->axes[i].name);
    hone_buf_printf(&buf, "%s)", dialects[t].back);
    return hone_buf_steal(&buf);
}

char *hone_task_signature(const struct hone_task *task)
{
    return hone_task_signature_for(task, task->target);
}

static struct hone_json *range_json(int64_t min, int64_t max)
{
    struct hone_json *json = hone_json_new_array();
    hone_json_push(json, hone_json_new_i64(min));
    hone_json_push(json, hone_json_new_i64(max));
    return json;
}

/* One range where all targets have the same or one was selected; else one for each that gives
 * one. */
static struct hone_json *describe_draw(const struct hone_task *task, const struct hone_axis *axis)
{
    const struct hone_range *first = &axis->draws[0];
    bool differs = false;
    for (size_t t = 1; t < HONE_N_TASK_TARGETS; t++)
        differs = differs || axis->draws[t].min != first->min || axis->draws[t].max != first->max;
    if (task->target || !differs)
        return range_json(axis->draw_min, axis->draw_max);
    struct hone_json *json = hone_json_new_object();
    for (size_t t = 0; t < HONE_N_TASK_TARGETS; t++)
        if (axis->draws[t].max > 0)
            hone_json_set(json, hone_targets[t].name,
                          range_json(axis->draws[t].min, axis->draws[t].max));
    return json;
}

static struct hone_json *describe_axis(const struct hone_task *task, const struct hone_axis *axis)
{
    static const char *const kinds[] = {
        [HONE_AXIS_CONST] = "const", [HONE_AXIS_VAR] = "var", [HONE_AXIS_EXPR] = "expr"};
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "type", kinds[axis->kind]);
    if (axis->kind == HONE_AXIS_CONST)
        hone_json_set_i64(json, "value", axis->value);
    if (axis->kind == HONE_AXIS_EXPR)
        hone_json_set_str(json, "expression", axis->expression);
    if (axis->kind == HONE_AXIS_VAR) {
        hone_json_set_i64(json, "min", axis->min);
        hone_json_set_i64(json, "max", axis->max);
        if (axis->multiple > 1)
            hone_json_set_i64(json, "multiple", axis->multiple);
        hone_json_set(json, "draw", describe_draw(task, axis));
    }
    if (axis->description && *axis->description)
        hone_json_set_str(json, "description", axis->description);
    return json;
}

static struct hone_json *describe_tensor(const struct hone_task *task, const struct hone_tensor *t,
                                         bool is_input)
{
    struct hone_json *json = hone_json_new_object(), *shape = hone_json_new_array();
    for (size_t d = 0; d < t->rank; d++) {
        bool is_padded = t->has_pitch && d + 1 == t->rank;
        hone_json_push(shape,
                       hone_json_new_str(task->axes[is_padded ? t->row_axis : t->shape[d]].name));
    }
    hone_json_set(json, "shape", shape);
    if (t->has_pitch)
        hone_json_set_str(json, "pitch", task->axes[t->shape[t->rank - 1]].name);
    hone_json_set_str(json, "dtype", hone_dtype_name(t->dtype));
    if (is_input)
        hone_json_set_str(json, "role", hone_role_name(t->role));
    if (is_input && t->bound_axis >= 0)
        hone_json_set_str(json, "bound", task->axes[t->bound_axis].name);
    if (is_input && t->unit != 0) {
        hone_json_set_f64(json, "scale", t->unit);
        hone_json_set_f64(json, "shift", t->shift);
    }
    if (is_input && t->stored_file)
        hone_json_set_str(json, "stored", t->stored_file);
    if (is_input && t->density != 0)
        hone_json_set_f64(json, "density", t->density);
    if (is_input && t->is_static)
        hone_json_set_bool(json, "static", true);
    if (t->description && *t->description)
        hone_json_set_str(json, "description", t->description);
    return json;
}

static struct hone_json *describe_tolerance(const struct hone_tolerance *tol)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_f64(json, "atol", tol->atol);
    hone_json_set_f64(json, "rtol", tol->rtol);
    hone_json_set_f64(json, "rel_l2", tol->rel_l2);
    if (tol->bias > 0)
        hone_json_set_f64(json, "bias", tol->bias);
    return json;
}

static struct hone_json *describe_workload(const struct hone_task *task,
                                           const struct hone_workload *w)
{
    struct hone_json *json = hone_json_new_object(), *axes = hone_json_new_object();
    double flops = 0, bytes = 0;
    for (size_t a = 0; a < task->n_axes; a++)
        hone_json_set_i64(axes, task->axes[a].name, w->axes[a]);
    hone_json_set_str(json, "id", w->id);
    if (w->target)
        hone_json_set_str(json, "target", w->target);
    hone_json_set(json, "axes", axes);
    if (hone_task_eval(task, task->flops, w, &flops, NULL) == 0)
        hone_json_set_f64(json, "flops", flops);
    if (hone_task_eval(task, task->bytes, w, &bytes, NULL) == 0)
        hone_json_set_f64(json, "bytes", bytes);
    return json;
}

/* Rules by what is done about them; those that are allowed are not named. */
static struct hone_json *describe_rules(const struct hone_task *task)
{
    struct hone_json *json = hone_json_new_object();
    static const enum hone_policy_action shown[] = {HONE_POLICY_REJECT, HONE_POLICY_REVIEW};
    for (size_t a = 0; a < HONE_COUNTOF(shown); a++) {
        struct hone_json *names = hone_json_new_array();
        for (int rule = 0; rule < HONE_N_POLICY_RULES; rule++)
            if (hone_policy_action(task, (enum hone_policy_rule)rule) == shown[a])
                hone_json_push(
                    names, hone_json_new_str(hone_policy_row((enum hone_policy_rule)rule)->name));
        hone_json_set(json, hone_policy_action_name(shown[a]), names);
    }
    return json;
}

static void describe_policy(const struct hone_task *task, struct hone_json *json)
{
    struct hone_json *constraints = hone_json_new_array(), *oracle = hone_json_new_object();
    struct hone_json *special = hone_json_new_array();
    for (size_t i = 0; i < HONE_N_SPECIALS; i++)
        if ((task->special_values & 1u << i) != 0)
            hone_json_push(special, hone_json_new_str(hone_special_name(i)));
    for (size_t i = 0; i < task->n_constraints; i++)
        hone_json_push(constraints, hone_json_new_str(task->constraints[i]));
    hone_json_set(json, "constraints", constraints);
    hone_json_set_str(json, "flops", task->flops);
    if (task->is_flops_guessed)
        hone_json_set_bool(json, "flops_guessed", true);
    if (task->flops_counted)
        hone_json_set_str(json, "flops_counted", task->flops_counted);
    hone_json_set_str(json, "bytes", task->bytes);
    hone_json_set_str(oracle, "mode",
                      task->is_oracle_torch          ? "torch"
                      : task->is_oracle_own          ? "naive"
                      : task->is_oracle_naive_double ? "naive_double"
                                                     : "items");
    hone_json_set_str(oracle, "items", task->items);
    if (task->steps)
        hone_json_set_str(oracle, "steps", task->steps);
    if (task->is_scale_perturbed)
        hone_json_set_str(oracle, "scale", "perturbed");
    hone_json_set(json, "oracle", oracle);
    hone_json_set_str(json, "cache", task->is_cold ? "cold" : "warm");
    hone_json_set_bool(json, "deterministic", task->is_deterministic);
    hone_json_set_str(json, "compute_precision", task->compute_precision);
    hone_json_set_bool(json, "allow_lower_precision", task->allows_lower_precision);
    hone_json_set_str(json, "library", task->allows_library ? "allowed" : "forbidden");
    hone_json_set(json, "special_values", special);
    hone_json_set(json, "policy", describe_rules(task));
}

static void describe_calibration(const struct hone_task *task, struct hone_json *json)
{
    struct hone_json *map = hone_json_new_object();
    for (int t = 0; t < HONE_N_TASK_TARGETS; t++)
        if (task->calibration[t].date)
            hone_json_set(map, hone_targets[t].name,
                          hone_task_calibration_json(task, &task->calibration[t]));
    if (hone_json_size(map) > 0)
        hone_json_set(json, "calibration", map);
    else
        hone_json_free(map);
}

struct hone_json *hone_task_describe(const struct hone_task *task)
{
    struct hone_json *json = hone_json_new_object();
    struct hone_json *axes = hone_json_new_object(), *inputs = hone_json_new_object();
    struct hone_json *outputs = hone_json_new_object(), *scalars = hone_json_new_object();
    struct hone_json *tolerance = hone_json_new_object(), *workloads = hone_json_new_array();
    HONE_AUTOFREE char *signature = hone_task_signature(task);
    HONE_AUTOFREE char *cuda = hone_task_signature_for(task, hone_targets[HONE_TASK_CUDA].name);
    hone_json_set_str(json, "name", task->name);
    hone_json_set_str(json, "op_type", task->op_type);
    hone_json_set_str(json, "description", task->description);
    hone_json_set_str(json, "hash", task->hash);
    hone_json_set_str(json, "signature", signature);
    if (!task->target && hone_task_has_kernel(task, HONE_TASK_CUDA))
        hone_json_set_str(json, "signature_cuda", cuda);
    for (size_t i = 0; i < task->n_axes; i++)
        hone_json_set(axes, task->axes[i].name, describe_axis(task, &task->axes[i]));
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_json_set(inputs, task->inputs[i].name, describe_tensor(task, &task->inputs[i], true));
    for (size_t i = 0; i < task->n_outputs; i++) {
        hone_json_set(outputs, task->outputs[i].name,
                      describe_tensor(task, &task->outputs[i], false));
        hone_json_set(tolerance, task->outputs[i].name, describe_tolerance(&task->tolerance[i]));
    }
    for (size_t i = 0; i < task->n_scalars; i++) {
        struct hone_json *scalar = hone_json_new_object();
        hone_json_set_str(scalar, "dtype", hone_dtype_name(task->scalars[i].dtype));
        hone_json_set_f64(scalar, "value", task->scalars[i].value);
        hone_json_set_f64(scalar, "min", task->scalars[i].min);
        hone_json_set_f64(scalar, "max", task->scalars[i].max);
        hone_json_set(scalars, task->scalars[i].name, scalar);
    }
    for (size_t i = 0; i < task->n_workloads; i++)
        hone_json_push(workloads, describe_workload(task, &task->workloads[i]));
    hone_json_set(json, "axes", axes);
    hone_json_set(json, "inputs", inputs);
    hone_json_set(json, "outputs", outputs);
    hone_json_set(json, "scalars", scalars);
    hone_json_set(json, "tolerance", tolerance);
    describe_calibration(task, json);
    describe_policy(task, json);
    hone_json_set(json, "workloads", workloads);
    return json;
}
