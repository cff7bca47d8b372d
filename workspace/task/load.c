/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pack: task.json and workloads.jsonl into struct hone_task.
 *
 * Flow: field tables decode each object (types, unknown members), this file turns words into enums
 * and axis numbers, validate.c then looks at the whole (names, formulas, sizes). Maps are ordered:
 * JSON order is argument order. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/task/task_internal.h"
#include "workspace/task/stored.h"

#define TASK_FORMAT 1

struct top_in {
    int64_t format;
    const char *name, *op_type, *description, *reference;
    struct hone_json *axes, *inputs, *outputs, *scalars, *tolerance, *calibration, *oracle, *policy;
    struct hone_strs constraints, tags;
    const char *flops, *flops_counted, *bytes, *cache, *compute_precision, *library;
    struct hone_json *special_values;
    bool deterministic, allow_lower_precision, flops_guessed;
};

static const char *const cache_words[] = {"cold", "warm", NULL};
static const char *const library_words[] = {"allowed", "forbidden", NULL};
static const char *const axis_words[] = {
    [HONE_AXIS_CONST] = "const", [HONE_AXIS_VAR] = "var", [HONE_AXIS_EXPR] = "expr", NULL};
static const char *const mode_words[] = {"items", "naive", "naive_double", "torch", NULL};

static const struct hone_field top_fields[] = {
    HONE_FIELD(struct top_in, format, .min = 1, .max = TASK_FORMAT, .fallback_i64 = TASK_FORMAT,
               .help = "Version of this format."),
    HONE_FIELD(struct top_in, name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "C identifier; also the kernel's function name."),
    HONE_FIELD(struct top_in, op_type, .fallback_str = "other", .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Family: gemm, softmax, reduction..."),
    HONE_FIELD(struct top_in, description, .fallback_str = "",
               .help = "What is computed, in a sentence."),
    HONE_FIELD(struct top_in, reference, .help = "Free text of an imported definition; not used."),
    HONE_FIELD(struct top_in, axes, .required = true, .help = "Ordered map of axes."),
    HONE_FIELD(struct top_in, inputs, .required = true, .help = "Ordered map of input tensors."),
    HONE_FIELD(struct top_in, outputs, .required = true, .help = "Ordered map of output tensors."),
    HONE_FIELD(struct top_in, scalars, .help = "Ordered map of by-value parameters."),
    HONE_FIELD(struct top_in, tolerance, .help = "Map output -> atol, rtol, rel_l2."),
    HONE_FIELD(struct top_in, calibration, .help = "Map target -> what the tolerances rest on."),
    HONE_FIELD(struct top_in, oracle, .required = true, .help = "How oracle.c divides its work."),
    HONE_FIELD(struct top_in, constraints, .max_len = HONE_LIMIT_AXES,
               .help = "Formulas that must hold."),
    HONE_FIELD(struct top_in, tags, .help = "Free words."),
    HONE_FIELD(struct top_in, flops, .required = true, .help = "Least arithmetic."),
    HONE_FIELD(struct top_in, flops_counted, .help = "Of the source's own loops."),
    HONE_FIELD(struct top_in, flops_guessed, .fallback_bool = false,
               .help = "It is a guess: no percentage of the bound is told."),
    HONE_FIELD(struct top_in, bytes, .required = true, .help = "Compulsory traffic."),
    HONE_FIELD(struct top_in, cache, .fallback_str = "warm", .choices = cache_words,
               .help = "Cache state."),
    HONE_FIELD(struct top_in, compute_precision, .fallback_str = "float32",
               .choices = hone_dtype_words, .help = "Least precision of the arithmetic."),
    HONE_FIELD(struct top_in, library, .fallback_str = "allowed", .choices = library_words,
               .help = "Whether library calls are fine."),
    HONE_FIELD(struct top_in, special_values,
               .help = "What else than ordinary numbers is covered: nan, inf, denormal..."),
    HONE_FIELD(struct top_in, policy, .help = "What binaries may hold: rule -> action."),
    HONE_FIELD(struct top_in, deterministic, .fallback_bool = false,
               .help = "Repeated calls must give the same bits."),
    HONE_FIELD(struct top_in, allow_lower_precision, .fallback_bool = false,
               .help = "Inputs rounded to the next lower precision may pass."),
};

struct axis_in {
    enum hone_axis_kind type;
    const char *expression, *description;
    int64_t value, min, max, multiple;
    struct hone_json *draw;
};

static const struct hone_field axis_fields[] = {
    HONE_FIELD(struct axis_in, type, .required = true, .choices = axis_words,
               .help = "const, var or expr."),
    HONE_FIELD(struct axis_in, expression, .help = "expr: formula over the axes above it."),
    HONE_FIELD(struct axis_in, description, .fallback_str = "", .help = "For readers."),
    HONE_FIELD(struct axis_in, value, .help = "const: the size."),
    HONE_FIELD(struct axis_in, min, .fallback_i64 = 1, .help = "var: least legal size."),
    HONE_FIELD(struct axis_in, max, .fallback_i64 = HONE_LIMIT_ELEMENTS,
               .help = "var: largest legal size."),
    HONE_FIELD(struct axis_in, multiple, .fallback_i64 = 1,
               .help = "var: sizes are multiples of this."),
    HONE_FIELD(struct axis_in, draw,
               .help = "var: range of hidden sizes, [least, largest], or one for each target."),
};

struct tensor_in {
    struct hone_strs shape;
    enum hone_dtype dtype;
    enum hone_role role;
    const char *bound, *description, *pitch, *stored;
    bool is_static;
    double scale, shift, density;
};

static const struct hone_field input_fields[] = {
    HONE_FIELD(struct tensor_in, shape, .required = true, .max_len = HONE_LIMIT_RANK,
               .help = "Axis names."),
    HONE_FIELD(struct tensor_in, dtype, .required = true, .choices = hone_dtype_words,
               .help = "Element type."),
    HONE_FIELD(struct tensor_in, pitch, .help = "Axis: elements from row to row in memory."),
    HONE_FIELD(struct tensor_in, role, .choices = hone_role_words, .help = "How values are made."),
    HONE_FIELD(struct tensor_in, bound, .help = "Axis: index bound, or total of offsets."),
    HONE_FIELD(struct tensor_in, scale, .fallback_f64 = 1, .help = "Values are times this."),
    HONE_FIELD(struct tensor_in, shift, .help = "And plus this."),
    HONE_FIELD(struct tensor_in, stored, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Safetensors file of the pack: what normal content is."),
    HONE_FIELD(struct tensor_in, density, .fallback_f64 = 0.5, .help = "Masks: share of ones."),
    HONE_FIELD(struct tensor_in, description, .fallback_str = "", .help = "For readers."),
    {.name = "static",
     .type = HONE_FIELD_BOOL,
     .offset = offsetof(struct tensor_in, is_static),
     .help = "The same content in every call."},
};

static const struct hone_field output_fields[] = {
    HONE_FIELD(struct tensor_in, shape, .required = true, .max_len = HONE_LIMIT_RANK,
               .help = "Axis names."),
    HONE_FIELD(struct tensor_in, dtype, .required = true, .choices = hone_dtype_words,
               .help = "Element type."),
    HONE_FIELD(struct tensor_in, pitch, .help = "Axis: elements from row to row in memory."),
    HONE_FIELD(struct tensor_in, description, .fallback_str = "", .help = "For readers."),
};

struct scalar_in {
    enum hone_dtype dtype;
    const char *description;
    double value, min, max;
};

static const struct hone_field scalar_fields[] = {
    HONE_FIELD(struct scalar_in, dtype, .required = true, .choices = hone_dtype_words,
               .help = "Type."),
    HONE_FIELD(struct scalar_in, description, .fallback_str = "", .help = "For readers."),
    HONE_FIELD(struct scalar_in, value, .required = true, .help = "Public value."),
    HONE_FIELD(struct scalar_in, min, .fallback_f64 = NAN, .help = "Least hidden value."),
    HONE_FIELD(struct scalar_in, max, .fallback_f64 = NAN, .help = "Largest hidden value."),
};

static const struct hone_field tolerance_fields[] = {
    HONE_FIELD(struct hone_tolerance, atol, .help = "Absolute part."),
    HONE_FIELD(struct hone_tolerance, rtol, .help = "Part relative to the element's size."),
    HONE_FIELD(struct hone_tolerance, rel_l2, .help = "Norm of the error over the centred norm."),
    HONE_FIELD(struct hone_tolerance, bias, .help = "Mean signed error over the mean size."),
};

static const char *const scale_words[] = {"rms", "perturbed", NULL};

struct oracle_in {
    const char *mode, *items, *steps, *scale;
};

static const struct hone_field oracle_fields[] = {
    HONE_FIELD(struct oracle_in, mode, .fallback_str = "items", .choices = mode_words,
               .help = "items, naive, naive_double, or torch."),
    HONE_FIELD(struct oracle_in, items, .help = "Formula: number of work items."),
    HONE_FIELD(struct oracle_in, steps, .help = "Formula: number of steps of an iterated task."),
    HONE_FIELD(struct oracle_in, scale, .fallback_str = "rms", .choices = scale_words,
               .help = "Of naive_double: rms, or perturbed."),
};

int hone_task_prefix(struct hone_err *err, const char *fmt, ...)
{
    char old[HONE_ERR_PATH_BYTES], text[HONE_ERR_PATH_BYTES];
    memcpy(old, err->path, sizeof(old));
    old[sizeof(old) - 1] = '\0';
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    char joined[2 * HONE_ERR_PATH_BYTES + 1]; /* cut to fit only at the end */
    snprintf(joined, sizeof(joined), "%s%s%s", text, old[0] && old[0] != '[' ? "." : "", old);
    snprintf(err->path, sizeof(err->path), "%.*s", HONE_ERR_PATH_BYTES - 1, joined);
    return (int)err->code;
}

struct loader {
    struct hone_task *task;
    struct hone_pool *pool;
    struct hone_err *err; /* never NULL */
};

/* Checks the map itself; each member is then decoded by the caller. */
static int check_map(struct loader *l, const struct hone_json *map, const char *what, size_t min,
                     size_t max)
{
    if (hone_json_type(map) != HONE_JSON_OBJECT)
        return hone_fail_at(l->err, HONE_E_ARG, what, "must be an object: name -> description");
    if (hone_json_size(map) < min)
        return hone_fail_at(l->err, HONE_E_ARG, what, "needs at least %zu member", min);
    if (hone_json_size(map) > max)
        return hone_fail_at(l->err, HONE_E_LIMIT, what, "has %zu members, at most %zu are accepted",
                            hone_json_size(map), max);
    return 0;
}

static int load_draw(struct loader *l, const struct hone_json *json, const struct hone_axis *axis,
                     const char *path, struct hone_range *ret)
{
    const struct hone_json *low = hone_json_first(json), *high = low ? hone_json_next(low) : NULL;
    struct hone_range range;
    if (hone_json_type(json) != HONE_JSON_ARRAY || hone_json_size(json) != 2 ||
        !hone_json_as_i64(low, &range.min) || !hone_json_as_i64(high, &range.max) ||
        range.min < axis->min || range.max < range.min || range.max > axis->max)
        return hone_fail_at(l->err, HONE_E_ARG, path, "must be [least, largest] inside %lld..%lld",
                            (long long)axis->min, (long long)axis->max);
    *ret = range;
    return 0;
}

/* [1, 520], or {"cpu": [1, 520], "cuda": [1, 4200]}. What is not given stays 0..0: validate.c
 * derives it from the public sizes. */
static int load_draws(struct loader *l, const struct hone_json *json, struct hone_axis *axis)
{
    if (!json)
        return 0;
    if (hone_json_type(json) != HONE_JSON_OBJECT) {
        struct hone_range range = {.max = 0};
        int code = load_draw(l, json, axis, "draw", &range);
        for (size_t t = 0; code == 0 && t < HONE_N_TASK_TARGETS; t++)
            axis->draws[t] = range;
        return code;
    }
    for (const struct hone_json *c = hone_json_first(json); c; c = hone_json_next(c)) {
        char path[HONE_ERR_PATH_BYTES];
        enum hone_task_target target;
        snprintf(path, sizeof(path), "draw.%.60s", hone_json_key(c));
        if (!hone_task_target_parse(hone_json_key(c), &target))
            return hone_fail_at(l->err, HONE_E_ARG, path, "is no target: cpu or cuda");
        int code = load_draw(l, c, axis, path, &axis->draws[target]);
        if (code < 0)
            return code;
    }
    return 0;
}

static int load_axis(struct loader *l, const struct hone_json *json, struct hone_axis *axis)
{
    struct axis_in in;
    int code = hone_fields_decode(json, axis_fields, HONE_COUNTOF(axis_fields), &in, sizeof(in),
                                  l->pool, l->err);
    if (code < 0)
        return code;
    axis->description = in.description;
    axis->kind = in.type;
    axis->multiple = 1;
    if (axis->kind != HONE_AXIS_EXPR && in.expression)
        return hone_fail_at(l->err, HONE_E_ARG, "expression", "only an axis of type expr has one");
    if (axis->kind != HONE_AXIS_CONST && hone_json_get(json, "value"))
        return hone_fail_at(l->err, HONE_E_ARG, "value", "only an axis of type const has one");
    if (axis->kind == HONE_AXIS_CONST) {
        axis->value = in.value;
        if (in.value < 1 || in.value > HONE_LIMIT_ELEMENTS)
            return hone_fail_at(l->err, HONE_E_ARG, "value",
                                "a const axis needs a value of 1 or more");
        return 0;
    }
    if (axis->kind == HONE_AXIS_EXPR) {
        axis->expression = in.expression;
        return in.expression
                   ? 0
                   : hone_fail_at(l->err, HONE_E_ARG, "expression", "an expr axis needs one");
    }
    if (in.min < 1 || in.max < in.min || in.max > HONE_LIMIT_ELEMENTS)
        return hone_fail_at(l->err, HONE_E_ARG, "max", "the range %lld..%lld is not inside 1..%lld",
                            (long long)in.min, (long long)in.max, (long long)HONE_LIMIT_ELEMENTS);
    if (in.multiple < 1 || in.max / in.multiple * in.multiple < in.min)
        return hone_fail_at(l->err, HONE_E_ARG, "multiple",
                            "no multiple of %lld lies in %lld..%lld", (long long)in.multiple,
                            (long long)in.min, (long long)in.max);
    axis->min = in.min;
    axis->max = in.max;
    axis->multiple = in.multiple;
    return load_draws(l, in.draw, axis);
}

static int load_axes(struct loader *l, const struct hone_json *map)
{
    int code = check_map(l, map, "axes", 1, HONE_LIMIT_AXES);
    for (struct hone_json *c = hone_json_first(map); code == 0 && c; c = hone_json_next(c)) {
        struct hone_axis *axis = &l->task->axes[l->task->n_axes++];
        axis->name = hone_pool_strdup(l->pool, hone_json_key(c));
        if (load_axis(l, c, axis) < 0)
            code = hone_task_prefix(l->err, "axes.%s", axis->name);
    }
    return code;
}

static int load_role(struct loader *l, const struct tensor_in *in, struct hone_tensor *tensor)
{
    tensor->role = in->role;
    bool needs_bound = tensor->role == HONE_ROLE_INDEX || tensor->role == HONE_ROLE_OFFSETS;
    bool is_integer = !hone_dtype_is_float(tensor->dtype);
    if (needs_bound && !in->bound)
        return hone_fail_at(l->err, HONE_E_ARG, "bound",
                            "role %s needs the axis that bounds its values",
                            hone_role_name(in->role));
    if (!needs_bound && in->bound)
        return hone_fail_at(l->err, HONE_E_ARG, "bound",
                            "only the roles index and offsets have one");
    if (needs_bound && (!is_integer || hone_dtype_bytes(tensor->dtype) < 4))
        return hone_fail_at(l->err, HONE_E_ARG, "dtype",
                            "role %s needs int32, int64, uint32 or uint64",
                            hone_role_name(in->role));
    if (tensor->role == HONE_ROLE_BITS && (!is_integer || tensor->dtype == HONE_DTYPE_BOOL))
        return hone_fail_at(l->err, HONE_E_ARG, "dtype", "role bits needs an integer dtype");
    if (tensor->role == HONE_ROLE_OFFSETS && tensor->rank != 1)
        return hone_fail_at(l->err, HONE_E_ARG, "shape", "role offsets needs one dimension");
    if (hone_role_is_placed(tensor->role) && tensor->rank < 2)
        return hone_fail_at(l->err, HONE_E_ARG, "shape", "role %s needs two dimensions or more",
                            hone_role_name(in->role));
    if (is_integer && (tensor->role == HONE_ROLE_WEIGHT || hone_role_is_placed(tensor->role) ||
                       tensor->role == HONE_ROLE_PROBABILITY))
        return hone_fail_at(l->err, HONE_E_ARG, "role", "role %s needs a floating-point dtype",
                            hone_role_name(in->role));
    if (in->bound && (tensor->bound_axis = hone_task_axis(l->task, in->bound)) < 0)
        return hone_fail_at(l->err, HONE_E_ARG, "bound", "no axis is named '%s'", in->bound);
    return 0;
}

/* The largest scale and shift keep float32 content of all kinds but `extreme` finite. */
static int load_scale(struct loader *l, const struct tensor_in *in, struct hone_tensor *tensor)
{
    bool is_given = in->scale != 1 || in->shift != 0;
    bool is_value = tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
                    tensor->role == HONE_ROLE_POSITIVE;
    if (is_given && (!is_value || tensor->dtype == HONE_DTYPE_BOOL))
        return hone_fail_at(l->err, HONE_E_ARG, in->scale != 1 ? "scale" : "shift",
                            "roles activation, weight and positive have one, bool has none");
    if (!(in->scale > 0 && in->scale <= HONE_LIMIT_CONTENT_SCALE))
        return hone_fail_at(l->err, HONE_E_ARG, "scale", "must be above 0 and at most %g",
                            HONE_LIMIT_CONTENT_SCALE);
    if (!(fabs(in->shift) <= HONE_LIMIT_CONTENT_SCALE))
        return hone_fail_at(l->err, HONE_E_ARG, "shift", "must lie between -%g and %g",
                            HONE_LIMIT_CONTENT_SCALE, HONE_LIMIT_CONTENT_SCALE);
    tensor->unit = is_given ? in->scale : 0;
    tensor->shift = in->shift;
    return 0;
}

static int load_density(struct loader *l, const struct tensor_in *in, struct hone_tensor *tensor)
{
    bool is_mask = tensor->role == HONE_ROLE_MASK || tensor->role == HONE_ROLE_ADDITIVE_MASK;
    if (in->density != 0.5 && !is_mask)
        return hone_fail_at(l->err, HONE_E_ARG, "density",
                            "only the roles mask and additive_mask have one");
    if (!(in->density > 0 && in->density < 1))
        return hone_fail_at(l->err, HONE_E_ARG, "density", "must lie between 0 and 1");
    tensor->density = in->density != 0.5 ? in->density : 0;
    return 0;
}

static int load_stored(struct loader *l, const char *file, struct hone_tensor *tensor)
{
    bool is_value = tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
                    tensor->role == HONE_ROLE_BITS || tensor->role == HONE_ROLE_INDEX ||
                    tensor->role == HONE_ROLE_OFFSETS;
    tensor->stored_file = file;
    if (!file)
        return 0;
    if (!is_value || tensor->unit != 0)
        return hone_fail_at(l->err, HONE_E_ARG, "stored",
                            "is for the roles activation, weight, bits, index and offsets "
                            "without scale and shift");
    if (*file == '\0' || *file == '.' || strchr(file, '/'))
        return hone_fail_at(l->err, HONE_E_ARG, "stored",
                            "must be the name of a file of the pack, beside task.json");
    return 0;
}

/* In memory the last dimension is as long as the pitch. */
static int load_pitch(struct loader *l, const char *name, struct hone_tensor *tensor)
{
    int axis = hone_task_axis(l->task, name);
    if (axis < 0)
        return hone_fail_at(l->err, HONE_E_ARG, "pitch", "no axis is named '%.64s'", name);
    if (tensor->rank < 1)
        return hone_fail_at(l->err, HONE_E_ARG, "pitch", "one element has none");
    tensor->has_pitch = true;
    tensor->row_axis = tensor->shape[tensor->rank - 1];
    tensor->shape[tensor->rank - 1] = axis;
    return 0;
}

static int load_tensor(struct loader *l, const struct hone_json *json, bool is_input,
                       struct hone_tensor *tensor)
{
    struct tensor_in in;
    const struct hone_field *fields = is_input ? input_fields : output_fields;
    size_t n_fields = is_input ? HONE_COUNTOF(input_fields) : HONE_COUNTOF(output_fields);
    int code = hone_fields_decode(json, fields, n_fields, &in, sizeof(in), l->pool, l->err);
    if (code < 0)
        return code;
    tensor->dtype = in.dtype;
    tensor->description = in.description;
    tensor->is_static = in.is_static;
    tensor->bound_axis = -1;
    tensor->rank = in.shape.n;
    for (size_t d = 0; d < in.shape.n; d++) {
        tensor->shape[d] = hone_task_axis(l->task, in.shape.v[d]);
        if (tensor->shape[d] < 0) {
            char path[32];
            snprintf(path, sizeof(path), "shape[%zu]", d);
            return hone_fail_at(
                l->err, HONE_E_ARG, path,
                "no axis is named '%.64s'; a computed size needs an axis of type expr",
                in.shape.v[d]);
        }
    }
    code = in.pitch ? load_pitch(l, in.pitch, tensor) : 0;
    if (code == 0 && is_input)
        code = load_role(l, &in, tensor);
    if (code == 0 && is_input)
        code = load_scale(l, &in, tensor);
    if (code == 0 && is_input)
        code = load_density(l, &in, tensor);
    return code == 0 && is_input ? load_stored(l, in.stored, tensor) : code;
}

static int load_tensors(struct loader *l, const struct hone_json *map, bool is_input)
{
    const char *what = is_input ? "inputs" : "outputs";
    size_t *n = is_input ? &l->task->n_inputs : &l->task->n_outputs;
    size_t room = HONE_LIMIT_TENSORS - (is_input ? 1 : l->task->n_inputs);
    int code = check_map(l, map, what, 1, room);
    for (struct hone_json *c = hone_json_first(map); code == 0 && c; c = hone_json_next(c)) {
        struct hone_tensor *tensor = is_input ? &l->task->inputs[*n] : &l->task->outputs[*n];
        ++*n;
        tensor->name = hone_pool_strdup(l->pool, hone_json_key(c));
        if (load_tensor(l, c, is_input, tensor) < 0)
            code = hone_task_prefix(l->err, "%s.%s", what, tensor->name);
    }
    return code;
}

static int load_scalar(struct loader *l, const struct hone_json *json, struct hone_scalar *scalar)
{
    struct scalar_in in;
    int code = hone_fields_decode(json, scalar_fields, HONE_COUNTOF(scalar_fields), &in, sizeof(in),
                                  l->pool, l->err);
    if (code < 0)
        return code;
    scalar->dtype = in.dtype;
    if (scalar->dtype == HONE_DTYPE_F16 || scalar->dtype == HONE_DTYPE_BF16)
        return hone_fail_at(l->err, HONE_E_ARG, "dtype",
                            "a scalar of 16 bits is passed as float32: say so");
    scalar->value = in.value;
    scalar->min = isnan(in.min) ? in.value : in.min;
    scalar->max = isnan(in.max) ? in.value : in.max;
    if (!(scalar->min <= in.value && in.value <= scalar->max))
        return hone_fail_at(l->err, HONE_E_ARG, "value", "must lie in min..max");
    return 0;
}

static int load_scalars(struct loader *l, const struct hone_json *map)
{
    int code = map ? check_map(l, map, "scalars", 0, HONE_LIMIT_AXES) : 0;
    for (struct hone_json *c = hone_json_first(map); code == 0 && c; c = hone_json_next(c)) {
        struct hone_scalar *scalar = &l->task->scalars[l->task->n_scalars++];
        scalar->name = hone_pool_strdup(l->pool, hone_json_key(c));
        if (load_scalar(l, c, scalar) < 0)
            code = hone_task_prefix(l->err, "scalars.%s", scalar->name);
    }
    return code;
}

static int load_tolerance(struct loader *l, const struct hone_json *map)
{
    struct hone_task *task = l->task;
    int code = map ? check_map(l, map, "tolerance", 0, task->n_outputs) : 0;
    bool is_given[HONE_LIMIT_TENSORS] = {false};
    for (struct hone_json *c = hone_json_first(map); code == 0 && c; c = hone_json_next(c)) {
        size_t o = 0;
        while (o < task->n_outputs && strcmp(task->outputs[o].name, hone_json_key(c)) != 0)
            o++;
        struct hone_tolerance tol;
        if (o == task->n_outputs)
            hone_fail(l->err, code = HONE_E_ARG, "is not an output");
        else
            code = hone_fields_decode(c, tolerance_fields, HONE_COUNTOF(tolerance_fields), &tol,
                                      sizeof(tol), l->pool, l->err);
        if (code == 0 && !(tol.atol >= 0 && tol.rtol >= 0 && tol.rel_l2 >= 0 && tol.rtol < 1 &&
                           tol.bias >= 0 && tol.bias < 1))
            code = hone_fail(l->err, HONE_E_ARG, "values must be 0 or more, rtol and bias below 1");
        if (code < 0)
            return hone_task_prefix(l->err, "tolerance.%.40s", hone_json_key(c));
        is_given[o] = true;
        task->tolerance[o] = tol;
    }
    for (size_t o = 0; code == 0 && o < task->n_outputs; o++)
        if (!is_given[o] && hone_dtype_is_float(task->outputs[o].dtype))
            code =
                hone_fail_at(l->err, HONE_E_ARG, "tolerance",
                             "output '%s' needs one: {\"atol\": .., \"rtol\": .., \"rel_l2\": ..}",
                             task->outputs[o].name);
    return code;
}

static int load_oracle(struct loader *l, const struct hone_json *json)
{
    struct oracle_in in;
    if (hone_fields_decode(json, oracle_fields, HONE_COUNTOF(oracle_fields), &in, sizeof(in),
                           l->pool, l->err) < 0)
        return hone_task_prefix(l->err, "oracle");
    struct hone_task *task = l->task;
    task->is_oracle_torch = strcmp(in.mode, "torch") == 0;
    task->is_oracle_own = strcmp(in.mode, "naive") == 0;
    task->is_oracle_naive_double =
        strcmp(in.mode, "naive_double") == 0 || task->is_oracle_own || task->is_oracle_torch;
    if (task->is_oracle_own && hone_task_has_float_output(task))
        return hone_fail_at(l->err, HONE_E_ARG, "oracle.mode",
                            "mode naive is for integer outputs: a float's own rounding is no "
                            "reference, naive_double is");
    task->is_scale_perturbed = strcmp(in.scale, "perturbed") == 0;
    if (task->is_scale_perturbed && strcmp(in.mode, "naive_double") != 0)
        return hone_fail_at(l->err, HONE_E_ARG, "oracle.scale",
                            "perturbed belongs to mode naive_double alone");
    task->items = in.items;
    task->steps = in.steps;
    if (!task->is_oracle_naive_double)
        return in.items
                   ? 0
                   : hone_fail_at(l->err, HONE_E_ARG, "oracle.items",
                                  "needs a formula: how many items the axes give, e.g. \"M*N\"");
    if (in.items || in.steps)
        return hone_fail_at(l->err, HONE_E_ARG, "oracle.items",
                            "mode %s is one item without steps: leave both out", in.mode);
    task->items = "1";
    for (size_t o = 0; o < task->n_outputs && task->is_oracle_torch; o++)
        if (task->outputs[o].has_pitch)
            return hone_fail_at(l->err, HONE_E_ARG, "oracle.mode",
                                "a module's answer has no pitch: output '%s' must have none",
                                task->outputs[o].name);
    for (size_t i = 0; !task->is_oracle_torch && i < task->n_inputs + task->n_outputs; i++) {
        const struct hone_tensor *t =
            i < task->n_inputs ? &task->inputs[i] : &task->outputs[i - task->n_inputs];
        bool is_half = t->dtype == HONE_DTYPE_F16 || t->dtype == HONE_DTYPE_BF16;
        if (is_half && hone_task_has_kernel(task, HONE_TASK_CPU)) /* there they are uint16_t */
            return hone_fail_at(
                l->err, HONE_E_ARG, "oracle.mode",
                "naive_double cannot widen '%s' of dtype %s: write an oracle with items", t->name,
                hone_dtype_name(t->dtype));
    }
    return 0;
}

static int load_top(struct loader *l, const struct hone_json *json)
{
    struct top_in in;
    int code = hone_fields_decode(json, top_fields, HONE_COUNTOF(top_fields), &in, sizeof(in),
                                  l->pool, l->err);
    if (code < 0)
        return code;
    struct hone_task *task = l->task;
    task->name = in.name;
    task->op_type = in.op_type;
    task->description = in.description;
    task->flops = in.flops;
    task->bytes = in.bytes;
    task->is_flops_guessed = in.flops_guessed;
    task->flops_counted = in.flops_counted;
    task->is_cold = strcmp(in.cache, "cold") == 0;
    task->is_deterministic = in.deterministic;
    task->compute_precision = in.compute_precision;
    task->allows_lower_precision = in.allow_lower_precision;
    task->allows_library = strcmp(in.library, "allowed") == 0;
    task->n_constraints = in.constraints.n;
    if (in.constraints.n > HONE_LIMIT_AXES)
        return hone_fail_at(l->err, HONE_E_LIMIT, "constraints", "at most %d are accepted",
                            HONE_LIMIT_AXES);
    for (size_t i = 0; i < in.constraints.n; i++)
        task->constraints[i] = in.constraints.v[i];
    if (hone_policy_decode(in.policy, l->pool, &task->policy, l->err) < 0)
        return hone_task_prefix(l->err, "policy");
    if ((code = load_axes(l, in.axes)) < 0 || (code = load_tensors(l, in.inputs, true)) < 0 ||
        (code = load_tensors(l, in.outputs, false)) < 0 ||
        (code = load_scalars(l, in.scalars)) < 0 || (code = load_tolerance(l, in.tolerance)) < 0 ||
        (code = hone_task_load_calibration(task, in.calibration, l->err)) < 0 ||
        (code = hone_task_load_special(task, in.special_values, l->err)) < 0)
        return code;
    return load_oracle(l, in.oracle);
}

static int load_task_json(struct loader *l, const char *text, size_t len)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    int code = hone_json_parse(text, len, &json, l->err);
    if (code == 0)
        code = load_top(l, json);
    if (code == 0)
        code = hone_task_validate_names(l->task, l->err);
    return code == 0 ? hone_task_validate_formulas(l->task, l->err) : code;
}

/* "task.json" or "task.json: inputs.A". */
static int in_file(struct hone_err *err, const char *file)
{
    char old[HONE_ERR_PATH_BYTES];
    memcpy(old, err->path, sizeof(old));
    old[sizeof(old) - 1] = '\0';
    snprintf(err->path, sizeof(err->path), "%s%s%.*s", file, old[0] ? ": " : "",
             (int)(sizeof(err->path) - strlen(file) - 3), old);
    return (int)err->code;
}

int hone_task_parse(const char *task_json, size_t task_len, const char *workloads,
                    size_t workloads_len, const char *dir, struct hone_task **ret_task,
                    struct hone_err *err)
{
    struct hone_err local = HONE_ERR_INIT;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = hone_calloc(1, sizeof(*task));
    task->pool = hone_pool_new();
    task->dir = hone_pool_strdup(task->pool, dir);
    struct loader l = {.task = task, .pool = task->pool, .err = err ? err : &local};
    l.err->path[0] = '\0';
    if (load_task_json(&l, task_json, task_len) < 0)
        return in_file(l.err, "task.json");
    if (hone_task_parse_workloads(task, workloads, workloads_len, l.err) < 0 ||
        hone_task_validate_workloads(task, l.err) < 0)
        return in_file(l.err, "workloads.jsonl");
    *ret_task = HONE_STEAL(task);
    return 0;
}

int hone_task_load(const char *dir, struct hone_task **ret_task, struct hone_err *err)
{
    HONE_AUTOFREE char *real = realpath(dir, NULL);
    if (!real)
        return hone_fail(err, HONE_E_NOT_FOUND, "no task pack at '%s'", dir);
    HONE_AUTOFREE char *task_path = hone_path_join(real, "task.json", NULL);
    HONE_AUTOFREE char *loads_path = hone_path_join(real, "workloads.jsonl", NULL);
    HONE_AUTOFREE char *text = NULL, *loads = NULL;
    size_t len = 0, loads_len = 0;
    int code = hone_file_read(task_path, HONE_LIMIT_JSON_BYTES, &text, &len, err);
    if (code < 0)
        return hone_wrap(err, "task pack '%s' needs a task.json", dir);
    if ((code = hone_file_read(loads_path, HONE_LIMIT_JSON_BYTES, &loads, &loads_len, err)) < 0)
        return hone_wrap(err, "task pack '%s' needs a workloads.jsonl", dir);
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if ((code = hone_task_parse(text, len, loads, loads_len, real, &task, err)) < 0 ||
        (code = hone_task_hash(real, task->hash, err)) < 0 ||
        (code = hone_task_load_stored(task, err)) < 0)
        return code;
    *ret_task = HONE_STEAL(task);
    return 0;
}
