/* SPDX-License-Identifier: Apache-2.0 */
/* task.json and workloads.jsonl of a new pack. */
#include "tools/task/task_new_parts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/file.h"
#include "workspace/task/expr.h"

#define DEFAULT_ELEMENTS 1e6 /* of the largest tensor, when no size is given */
#define MOST_PER_ELEMENT 4   /* of a tensor whose size is a formula */
#define WORK_PER_ELEMENT 6   /* of the function's loops */

const char *hone_new_elements(struct hone_new_work *w, const struct hone_new_tensor *t)
{
    const char *text = "1";
    for (size_t d = 0; d < t->rank; d++)
        text = d == 0 ? w->axes[t->shape[d]].name
                      : hone_pool_printf(w->pool, "%s*%s", text, w->axes[t->shape[d]].name);
    return text;
}

static const char *bytes_formula(struct hone_new_work *w)
{
    const char *text = "";
    if (w->options->bytes)
        return w->options->bytes;
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        text = hone_pool_printf(w->pool, "%s%s%d*%s", text, i ? " + " : "",
                                (int)hone_dtype_bytes(t->dtype), hone_new_elements(w, t));
    }
    return text;
}

static bool value_of(const struct hone_new_work *w, const char *formula, const int64_t *sizes,
                     double *ret)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    struct hone_expr_value value;
    for (size_t a = 0; a < w->n_axes; a++)
        names[a] = (struct hone_expr_name){w->axes[a].name, sizes[a]};
    if (hone_expr_eval(formula, names, w->n_axes, &value, NULL) < 0)
        return false;
    *ret = value.f;
    return true;
}

/* One operation an output element, and a part of the loops' rounds: sizes that the judge draws must
 * not cost more than the public ones, so the formula has to grow as the time does. 64 is more than
 * one instruction does of the narrowest type. */
static const char *flops_formula(struct hone_new_work *w)
{
    const char *text = "", *work = hone_extent_work(w->index);
    int64_t ones[HONE_LIMIT_AXES];
    double value;
    if (w->options->flops)
        return w->options->flops;
    for (size_t a = 0; a < w->n_axes; a++)
        ones[a] = 1;
    for (size_t i = 0; i < w->n_outputs; i++)
        text = hone_pool_printf(w->pool, "%s%s%s", text, i ? " + " : "",
                                hone_new_elements(w, &w->outputs[i]));
    if (strcmp(work, "1") != 0 && strlen(work) + strlen(text) + 16 < HONE_LIMIT_EXPR_BYTES &&
        value_of(w, work, ones, &value))
        text = hone_pool_printf(w->pool, "%s + max(0, %s) / 64", text, work);
    hone_new_note(
        w, hone_pool_printf(w->pool,
                            "flops is \"%s\", output elements and a part of the loops' rounds: a "
                            "safe lower bound. --flops gives the real count of the best known "
                            "algorithm",
                            text));
    return text;
}

static struct hone_json *axis_json(const struct hone_new_axis *axis)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "type", axis->expression ? "expr" : axis->value > 0 ? "const" : "var");
    if (axis->expression)
        hone_json_set_str(json, "expression", axis->expression);
    else if (axis->value > 0)
        hone_json_set_i64(json, "value", axis->value);
    else if (axis->param && axis->param->most > 0)
        hone_json_set_i64(json, "max", axis->param->most);
    return json;
}

static struct hone_json *tensor_json(const struct hone_new_work *w, const struct hone_new_tensor *t,
                                     bool is_input)
{
    struct hone_json *json = hone_json_new_object(), *shape = hone_json_new_array();
    for (size_t d = 0; d < t->rank; d++)
        hone_json_push(shape, hone_json_new_str(w->axes[t->shape[d]].name));
    hone_json_set(json, "shape", shape);
    hone_json_set_str(json, "dtype", hone_dtype_name(t->dtype));
    if (is_input)
        hone_json_set_str(json, "role", t->role ? t->role : "activation");
    if (is_input && t->scale != 1)
        hone_json_set_f64(json, "scale", t->scale);
    if (is_input && t->shift != 0)
        hone_json_set_f64(json, "shift", t->shift);
    if (is_input && t->bound)
        hone_json_set_str(json, "bound", t->bound);
    return json;
}

static bool has_float64(const struct hone_new_work *w)
{
    bool found = false;
    for (size_t i = 0; i < w->n_outputs; i++)
        found = found || w->outputs[i].dtype == HONE_DTYPE_F64;
    return found;
}

bool hone_new_is_rounded(const struct hone_new_work *w)
{
    bool has_float = false;
    for (size_t i = 0; i < w->n_inputs; i++)
        has_float = has_float || hone_dtype_is_float(w->inputs[i].dtype);
    for (size_t i = 0; i < w->n_outputs; i++)
        if (hone_dtype_is_float(w->outputs[i].dtype))
            return false;
    return has_float;
}

static int scalars_json(struct hone_new_work *w, struct hone_json *map)
{
    for (size_t i = 0; i < w->n_scalars; i++) {
        struct hone_json *json = hone_json_new_object();
        const char *text = hone_new_option(&w->options->scalars, w->scalars[i].name, '=');
        char *end = NULL;
        double value = text ? strtod(text, &end) : 1;
        hone_json_set_str(json, "dtype", hone_dtype_name(w->scalars[i].dtype));
        hone_json_set_f64(json, "value", value);
        hone_json_set(map, w->scalars[i].name, json);
        if (text && (*end || end == text || !isfinite(value)))
            return hone_fail(w->err, HONE_E_ARG, "scalar '%s': '%.40s' is no number",
                             w->scalars[i].name, text);
        if (!text)
            hone_new_note(w, hone_pool_printf(w->pool, "scalar '%s' is 1", w->scalars[i].name));
    }
    return 0;
}

/* rtol of an output: as given, else a guess. */
static int rtol_of(struct hone_new_work *w, const struct hone_new_tensor *t, double *ret)
{
    const struct hone_strs *list = &w->options->tolerances;
    const char *text = hone_new_option(list, t->name, '=');
    char *end = NULL;
    for (size_t i = 0; !text && i < list->n; i++)
        text = strchr(list->v[i], '=') ? NULL : list->v[i];
    /* A sum has a scale: 256 half ulps are the most that rounding can do (task_new_oracle.c). */
    *ret = t->dtype == HONE_DTYPE_F64    ? 1e-9
           : t->dtype == HONE_DTYPE_F16  ? 1e-3 /* two roundings of the output itself */
           : t->dtype == HONE_DTYPE_BF16 ? 8e-3
           : w->oracle_items             ? 1.6e-5
                                         : 1e-4;
    if (!text)
        return 0;
    double value = strtod(text, &end);
    if (*end || end == text || !(value > 0 && value < 1))
        return hone_fail(w->err, HONE_E_ARG,
                         "tolerance '%.40s': write %s=1e-4, a number between 0 and 1", text,
                         t->name);
    *ret = value;
    return 0;
}

static int tolerance_json(struct hone_new_work *w, struct hone_json *map)
{
    int code = 0;
    for (size_t i = 0; i < w->options->tolerances.n; i++) {
        const char *text = w->options->tolerances.v[i], *equal = strchr(text, '=');
        bool is_known = equal == NULL;
        for (size_t o = 0; o < w->n_outputs; o++)
            is_known =
                is_known || hone_new_option(&w->options->tolerances, w->outputs[o].name, '=');
        if (!is_known)
            return hone_fail(w->err, HONE_E_ARG, "tolerance '%.80s' names no output of '%s'", text,
                             w->proto.name);
    }
    for (size_t i = 0; code == 0 && i < w->n_outputs; i++) {
        const struct hone_new_tensor *t = &w->outputs[i];
        struct hone_json *json = hone_json_new_object();
        bool is_double = t->dtype == HONE_DTYPE_F64;
        double rtol;
        code = rtol_of(w, t, &rtol);
        if (hone_dtype_is_float(t->dtype)) {
            hone_json_set_f64(json, "atol", is_double ? 1e-200 : 1e-30);
            hone_json_set_f64(json, "rtol", rtol);
            hone_json_set_f64(json, "rel_l2",
                              t->rank == 0 ? 0 : fmax(rtol, is_double ? 1e-9 : 1e-4));
        }
        hone_json_set(map, t->name, json);
    }
    return code;
}

static bool is_short(const struct hone_new_axis *a)
{
    return a->param && a->param->most == INT32_MAX;
}

enum { MAX_BLOCKS = 8, MOST_BLOCKS = 65535 /* that CUDA launches along y or z */ };

static void add_blocks(struct hone_new_work *w, struct hone_json *list)
{
    const char *blocks[MAX_BLOCKS];
    size_t n = w->cuda ? hone_extent_blocks(w->index, blocks, MAX_BLOCKS) : 0;
    for (size_t i = 0; i < n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < i; k++)
            is_there = is_there || strcmp(blocks[k], blocks[i]) == 0;
        if (!is_there)
            hone_json_push(list, hone_json_new_str(hone_pool_printf(w->pool, "%s <= %d", blocks[i],
                                                                    MOST_BLOCKS)));
    }
}

/* What the user says is legal, what a launch can be, and what an int can count. */
static struct hone_json *constraints_json(struct hone_new_work *w)
{
    struct hone_json *list = hone_json_new_array();
    const struct hone_strs *given = &w->options->constraints;
    const char *all = "";
    for (size_t i = 0; i < given->n; i++)
        hone_json_push(list, hone_json_new_str(given->v[i]));
    for (size_t i = 0; i < w->n_steps; i++)
        hone_json_push(list, hone_json_new_str(w->steps[i]));
    add_blocks(w, list);
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        bool has_short = false;
        for (size_t d = 0; d < t->rank; d++)
            has_short = has_short || is_short(&w->axes[t->shape[d]]);
        const char *text = hone_pool_printf(w->pool, "%s <= 2147483647", hone_new_elements(w, t));
        if (t->rank < 2 || !has_short || strstr(all, text))
            continue;
        all = hone_pool_printf(w->pool, "%s;%s", all, text);
        hone_json_push(list, hone_json_new_str(text));
    }
    return list;
}

int hone_new_task_json(struct hone_new_work *w, struct hone_json *json)
{
    struct hone_json *axes = hone_json_new_object(), *inputs = hone_json_new_object();
    struct hone_json *outputs = hone_json_new_object(), *scalars = hone_json_new_object();
    struct hone_json *oracle = hone_json_new_object(), *tolerance = hone_json_new_object();
    for (size_t i = 0; i < w->n_axes; i++)
        hone_json_set(axes, w->axes[i].name, axis_json(&w->axes[i]));
    for (size_t i = 0; i < w->n_inputs; i++)
        hone_json_set(inputs, w->inputs[i].name, tensor_json(w, &w->inputs[i], true));
    for (size_t i = 0; i < w->n_outputs; i++)
        hone_json_set(outputs, w->outputs[i].name, tensor_json(w, &w->outputs[i], false));
    hone_json_set_i64(json, "format", 1);
    hone_json_set_str(json, "name", w->name);
    hone_json_set_str(json, "op_type", w->options->op_type ? w->options->op_type : "other");
    hone_json_set_str(json, "description", w->options->description ? w->options->description : "");
    hone_json_set(json, "axes", axes);
    hone_json_set(json, "inputs", inputs);
    hone_json_set(json, "outputs", outputs);
    int code = scalars_json(w, scalars);
    if (w->n_scalars > 0)
        hone_json_set(json, "scalars", scalars);
    else
        hone_json_free(scalars);
    if (code == 0)
        code = tolerance_json(w, tolerance);
    hone_json_set(json, "constraints", constraints_json(w));
    hone_json_set(json, "tolerance", tolerance);
    if (w->oracle_items)
        hone_json_set_str(oracle, "items", w->oracle_items);
    else
        hone_json_set_str(oracle, "mode", hone_new_is_rounded(w) ? "naive" : "naive_double");
    hone_json_set(json, "oracle", oracle);
    hone_json_set_str(json, "flops", flops_formula(w));
    if (!w->options->flops)
        hone_json_set_bool(json, "flops_guessed", true);
    hone_json_set_str(json, "bytes", bytes_formula(w));
    hone_json_set_str(json, "cache", "warm");
    hone_json_set_bool(json, "deterministic", false);
    hone_json_set_str(json, "compute_precision", has_float64(w) ? "float64" : "float32");
    /* Rounded inputs average out in one long sum. */
    hone_json_set_bool(json, "allow_lower_precision", w->oracle_items && w->outputs[0].rank == 0);
    hone_json_set_str(json, "library", "allowed");
    return code;
}

static bool is_var(const struct hone_new_axis *axis)
{
    return !axis->expression && axis->value == 0;
}

/* "M=512,N=512": every var axis once. */
static int parse_sizes(struct hone_new_work *w, const char *text, struct hone_json *axes)
{
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ','), *equal = strchr(at, '=');
        if (!equal || (comma && comma < equal))
            return hone_fail(w->err, HONE_E_ARG, "sizes '%.80s': write M=512,N=512", text);
        const char *name = hone_new_trim(w->pool, at, (size_t)(equal - at));
        char *end = NULL;
        long long value = strtoll(equal + 1, &end, 10);
        int a = hone_new_find_axis(w, name);
        if (a < 0 || !is_var(&w->axes[a]) || value < 1 || (*end && *end != ','))
            return hone_fail(
                w->err, HONE_E_ARG,
                "sizes '%.80s': '%.40s' is no integer of '%s' with a size of 1 or more", text, name,
                w->proto.name);
        hone_json_set_i64(axes, w->axes[a].name, value);
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

static double elements_of(const struct hone_new_work *w)
{
    return w->options->elements > 0 ? w->options->elements : DEFAULT_ELEMENTS;
}

static int64_t default_size(const struct hone_new_work *w, const struct hone_new_axis *axis,
                            bool is_second)
{
    size_t rank = 1;
    for (size_t i = 0; i < w->n_inputs; i++)
        rank = w->inputs[i].rank > rank ? w->inputs[i].rank : rank;
    for (size_t i = 0; i < w->n_outputs; i++)
        rank = w->outputs[i].rank > rank ? w->outputs[i].rank : rank;
    if (!axis->is_in_shape && !axis->is_needed_by_expression)
        return is_second ? 8 : 10; /* steps, windows */
    /* three dimensions or more, or a product of two-dimensional ones: keep the cubic work bearable
     */
    double size = rank == 1   ? elements_of(w)
                  : rank == 2 ? ceil(512 * sqrt(elements_of(w) / DEFAULT_ELEMENTS))
                              : ceil(pow(elements_of(w), 1.0 / (double)rank));
    return (int64_t)(is_second ? floor(size * 0.7) - 1 : size);
}

/* Sizes that loops with steps can be given: 64 for what a step is made of, and what they run to a
 * multiple. */
static void fit_steps(struct hone_new_work *w, int64_t *sizes, bool is_second)
{
    for (size_t i = 0; i < w->n_steps; i++) {
        const char *mark = strstr(w->steps[i], " % (");
        const char *end = hone_pool_strndup(w->pool, w->steps[i], (size_t)(mark - w->steps[i]));
        const char *step = hone_pool_strndup(w->pool, mark + 3, strlen(mark + 3) - strlen(" == 0"));
        int axis = hone_new_find_axis(w, end);
        double by = 0;
        for (size_t a = 0; a < w->n_axes; a++)
            if (is_var(&w->axes[a]) && (int)a != axis &&
                hone_new_has_word(step, w->axes[a].name, w->pool))
                sizes[a] = is_second ? 64 : 16;
        if (axis >= 0 && value_of(w, step, sizes, &by) && by >= 1 && (int64_t)by < sizes[axis])
            sizes[axis] -= sizes[axis] % (int64_t)by;
    }
}

/* Do these sizes ask for more than a call of some milliseconds should? Fills the formulas' axes. */
static bool is_dear(struct hone_new_work *w, const char *work, int64_t *sizes)
{
    double value = 0;
    for (size_t a = 0; a < w->n_axes; a++)
        if (w->axes[a].expression && value_of(w, w->axes[a].expression, sizes, &value))
            sizes[a] = value > 1e15 ? (int64_t)1e15 : (int64_t)value;
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        if (value_of(w, hone_new_elements(w, t), sizes, &value) &&
            value > MOST_PER_ELEMENT * elements_of(w))
            return true;
    }
    return value_of(w, work, sizes, &value) && value > WORK_PER_ELEMENT * elements_of(w);
}

/* Sizes of about a million elements, or what was asked for; less where loops in loops would take long. */
static void guess_sizes(struct hone_new_work *w, bool is_second, int64_t *sizes)
{
    const char *work = hone_extent_work(w->index);
    for (size_t a = 0; a < w->n_axes; a++) {
        const struct hone_new_axis *axis = &w->axes[a];
        sizes[a] = is_var(axis) ? default_size(w, axis, is_second) : axis->value;
        if (is_var(axis) && axis->param && axis->param->most > 0)
            sizes[a] = sizes[a] < axis->param->most ? sizes[a] : axis->param->most;
    }
    for (int i = 0; i < 100 && is_dear(w, work, sizes); i++)
        for (size_t a = 0; a < w->n_axes; a++)
            if (is_var(&w->axes[a]) && sizes[a] > 16 &&
                (w->axes[a].is_in_shape || w->axes[a].is_needed_by_expression))
                sizes[a] = sizes[a] * 7 / 8;
    fit_steps(w, sizes, is_second);
}

static int add_workload(struct hone_new_work *w, struct hone_buf *buf, const char *id,
                        const char *sizes, bool is_second)
{
    HONE_AUTOJSON struct hone_json *line = hone_json_new_object();
    struct hone_json *axes = hone_json_new_object();
    hone_json_set_str(line, "id", id);
    hone_json_set(line, "axes", axes);
    int64_t guessed[HONE_LIMIT_AXES];
    if (!sizes)
        guess_sizes(w, is_second, guessed);
    for (size_t a = 0; !sizes && a < w->n_axes; a++)
        if (is_var(&w->axes[a]))
            hone_json_set_i64(axes, w->axes[a].name, guessed[a]);
    int code = sizes ? parse_sizes(w, sizes, axes) : 0;
    HONE_AUTOFREE char *text = hone_json_print(line);
    hone_buf_printf(buf, "%s\n", text);
    return code;
}

int hone_new_workloads(struct hone_new_work *w, struct hone_buf *buf)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < w->options->sizes.n; i++)
        code = add_workload(w, buf, hone_pool_printf(w->pool, "size%zu", i + 1),
                            w->options->sizes.v[i], false);
    if (w->options->sizes.n > 0)
        return code;
    hone_new_note(w, "sizes are guessed: --size gives those that matter");
    code = add_workload(w, buf, "size1", NULL, true);
    return code == 0 ? add_workload(w, buf, "size2", NULL, false) : code;
}

int hone_task_move_pack(const char *from, const char *to, struct hone_err *err)
{
    if (hone_file_exists(to) && hone_remove_tree(to, err) < 0)
        return err ? err->code : HONE_E_IO;
    if (rename(from, to) < 0)
        return hone_fail_errno(err, errno, "cannot move '%s' to '%s'", from, to);
    return 0;
}
