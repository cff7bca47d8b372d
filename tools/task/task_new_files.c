/* SPDX-License-Identifier: Apache-2.0 */
/* task.json of a new pack. */
#include "tools/task/task_new_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/task/c_tokens.h"
#include "workspace/base/file.h"

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
        return hone_new_formula(w, w->options->bytes);
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        text = hone_pool_printf(w->pool, "%s%s%d*%s", text, i ? " + " : "",
                                (int)hone_dtype_bytes(t->dtype), hone_new_elements(w, t));
    }
    return text;
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
        return hone_new_formula(w, w->options->flops);
    for (size_t a = 0; a < w->n_axes; a++)
        ones[a] = 1;
    for (size_t i = 0; i < w->n_outputs; i++)
        text = hone_pool_printf(w->pool, "%s%s%s", text, i ? " + " : "",
                                hone_new_elements(w, &w->outputs[i]));
    if (strcmp(work, "1") != 0 && strlen(work) + strlen(text) + 16 < HONE_LIMIT_EXPR_BYTES &&
        hone_new_value(w, work, ones, &value))
        text = hone_pool_printf(w->pool, "%s + max(0, %s) / 64", text, work);
    hone_new_note(
        w, hone_pool_printf(w->pool,
                            "flops is \"%s\", output elements and a part of the loops' rounds: a "
                            "safe lower bound. --flops gives the real count of the best known "
                            "algorithm",
                            text));
    return text;
}

/* What the source does, as far as it tells exactly: percentages of the bound rest on it. */
static void add_counted(struct hone_new_work *w, struct hone_json *json)
{
    const char *counted = w->cuda ? NULL : hone_extent_operations(w->index);
    int64_t ones[HONE_LIMIT_AXES];
    double value;
    for (size_t a = 0; a < w->n_axes; a++)
        ones[a] = 1;
    if (!counted || strlen(counted) >= HONE_LIMIT_EXPR_BYTES ||
        !hone_new_value(w, counted, ones, &value))
        return;
    hone_json_set_str(json, "flops_counted", counted);
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "percentages of the bound rest on %s operations, as your "
                                      "loops have them; a version that needs fewer may pass 100 %%",
                                      counted));
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

static bool has_float(const struct hone_new_tensor *tensors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hone_dtype_is_float(tensors[i].dtype))
            return true;
    return false;
}

bool hone_new_is_rounded(const struct hone_new_work *w)
{
    return has_float(w->inputs, w->n_inputs) && !has_float(w->outputs, w->n_outputs);
}

bool hone_new_can_be_perturbed(const struct hone_new_work *w)
{
    return !w->oracle_items && has_float(w->inputs, w->n_inputs) &&
           has_float(w->outputs, w->n_outputs);
}

static const char *const whole_types[] = {"int",      "long",     "short",    "char",
                                          "unsigned", "size_t",   "ssize_t",  "int64_t",
                                          "int32_t",  "uint64_t", "uint32_t", NULL};

/* A whole number in the text: a literal, or a name that has one of the types somewhere. */
static bool is_whole(const struct hone_new_work *w, const struct hone_c_tokens *t, size_t i)
{
    const struct hone_c_token *token = &t->v[i];
    if (!hone_c_is_word(token))
        return isdigit((unsigned char)*token->at) && !memchr(token->at, '.', token->len) &&
               !memchr(token->at, 'e', token->len);
    for (size_t p = 0; p < w->proto.n_params; p++)
        if (hone_c_is(token, w->proto.params[p].name))
            return !w->proto.params[p].is_pointer && !hone_dtype_is_float(w->proto.params[p].dtype);
    for (size_t k = 1; k < t->n; k++)
        if (t->v[k].len == token->len && memcmp(t->v[k].at, token->at, token->len) == 0 &&
            hone_c_is_any(&t->v[k - 1], whole_types))
            return true;
    return false;
}

/* Does a comparison or a rounding decide anything but how often loops run? Content can lie on such a
 * border, and how far the answer moves there would hide a border that is off by one. */
static bool has_border(const struct hone_new_work *w, const struct hone_c_tokens *t)
{
    static const char *const roundings[] = {
        "floor", "ceil",      "round",    "rint",    "trunc", "lrint", "lround", "nearbyint",
        "fmod",  "remainder", "copysign", "signbit", "modf",  "frexp", NULL};
    for (size_t i = 1; i + 2 < t->n; i++) {
        const struct hone_c_token *token = &t->v[i];
        bool is_cast = hone_c_is(token, "(") && hone_c_is_any(&t->v[i + 1], whole_types) &&
                       hone_c_is(&t->v[i + 2], ")");
        if (hone_c_is_any(token, roundings) || is_cast)
            return true;
        if (token->len != 1 || !strchr("<>=!", *token->at))
            continue;
        bool is_two = hone_c_is(&t->v[i + 1], "=");
        bool is_comparison = strchr("<>", *token->at) || is_two;
        size_t right = i + (is_two ? 2 : 1);
        bool is_count =
            is_whole(w, t, i - 1) && (is_whole(w, t, right) || hone_c_is(&t->v[right], "("));
        if (is_comparison && strchr("+-*/<>=!&|", *t->v[i - 1].at) == NULL && !is_count)
            return true;
        i += is_two;
    }
    return false;
}

bool hone_new_moves_freely(const struct hone_new_work *w)
{
    struct hone_c_tokens t;
    for (size_t i = 0; i < w->n_inputs; i++)
        if (hone_dtype_is_float(w->inputs[i].dtype) && w->inputs[i].dtype != HONE_DTYPE_F64)
            return false;
    return hone_new_can_be_perturbed(w) && hone_c_tokens_read(w->source, w->pool, &t, NULL) == 0 &&
           !has_border(w, &t);
}

/* Not 1: x - a * x would cancel, and a kernel that leaves the factor out would be right. */
static double default_of(const struct hone_new_scalar *scalar)
{
    return hone_dtype_is_float(scalar->dtype) ? 0.75 : 1;
}

static int scalars_json(struct hone_new_work *w, struct hone_json *map)
{
    for (size_t i = 0; i < w->n_scalars; i++) {
        struct hone_json *json = hone_json_new_object();
        const char *text = hone_new_said_of(w, &w->options->scalars, w->scalars[i].param);
        char *end = NULL;
        double value = text ? strtod(text, &end) : default_of(&w->scalars[i]);
        hone_json_set_str(json, "dtype", hone_dtype_name(w->scalars[i].dtype));
        hone_json_set_f64(json, "value", value);
        hone_json_set(map, w->scalars[i].name, json);
        if (text && (*end || end == text || !isfinite(value)))
            return hone_fail(w->err, HONE_E_ARG, "scalar '%s': '%.40s' is no number",
                             w->scalars[i].name, text);
        if (!text)
            hone_new_note(w, hone_pool_printf(w->pool, "scalar '%s' is %g (--scalar %s=VALUE)",
                                              w->scalars[i].name, value, w->scalars[i].name));
    }
    return 0;
}

/* Tolerance of an output: as given (RTOL, or RTOL,ATOL), else a guess. */
static int read_tolerance(struct hone_new_work *w, const struct hone_new_tensor *t, double *ret,
                          double *ret_atol)
{
    const struct hone_strs *list = &w->options->tolerances;
    const char *text = hone_new_said(w, list, t);
    char *end = NULL;
    for (size_t i = 0; !text && i < list->n; i++)
        text = strchr(list->v[i], '=') ? NULL : list->v[i];
    /* A sum has a scale: 256 half ulps are the most that rounding can do (task_new_oracle.c). */
    *ret = t->dtype == HONE_DTYPE_F64    ? 1e-9
           : t->dtype == HONE_DTYPE_F16  ? 1e-3 /* two roundings of the output itself */
           : t->dtype == HONE_DTYPE_BF16 ? 8e-3
           : w->oracle_items             ? 1.6e-5
                                         : 1e-4;
    *ret_atol = t->dtype == HONE_DTYPE_F64 ? 1e-200 : 1e-30;
    if (!text)
        return 0;
    double value = strtod(text, &end);
    bool is_good = end != text && value > 0 && value < 1;
    if (*end == ',') {
        const char *second = end + 1;
        *ret_atol = strtod(second, &end);
        is_good = is_good && end != second && isfinite(*ret_atol) && *ret_atol > 0;
    }
    if (*end || !is_good)
        return hone_fail(w->err, HONE_E_ARG,
                         "tolerance '%.40s': write %s=1e-4, a number between 0 and 1 (relative), "
                         "or %s=1e-4,1e-5 with what is allowed beside it near zero (absolute)",
                         text, t->name, t->name);
    *ret = value;
    return 0;
}

static int tolerance_json(struct hone_new_work *w, struct hone_json *map)
{
    int code = 0;
    for (size_t i = 0; i < w->options->tolerances.n; i++) {
        const struct hone_strs one = {&w->options->tolerances.v[i], 1};
        const char *names = "";
        bool is_known = strchr(one.v[0], '=') == NULL;
        for (size_t o = 0; o < w->n_outputs; o++) {
            is_known = is_known || hone_new_said(w, &one, &w->outputs[o]);
            names = hone_pool_printf(w->pool, "%s%s%s", names, o ? ", " : "", w->outputs[o].name);
        }
        if (!is_known)
            return hone_fail(w->err, HONE_E_ARG, "tolerance '%.80s' names no output of '%s': %s",
                             one.v[0], w->proto.name, names);
    }
    for (size_t i = 0; code == 0 && i < w->n_outputs; i++) {
        const struct hone_new_tensor *t = &w->outputs[i];
        struct hone_json *json = hone_json_new_object();
        bool is_double = t->dtype == HONE_DTYPE_F64;
        double rtol, atol;
        code = read_tolerance(w, t, &rtol, &atol);
        if (hone_dtype_is_float(t->dtype)) {
            hone_json_set_f64(json, "atol", atol);
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
        hone_json_push(list, hone_json_new_str(hone_new_formula(w, given->v[i])));
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
    if (w->options->is_perturbed && hone_new_can_be_perturbed(w))
        hone_json_set_str(oracle, "scale", "perturbed");
    hone_json_set(json, "oracle", oracle);
    hone_json_set_str(json, "flops", flops_formula(w));
    if (!w->options->flops) {
        hone_json_set_bool(json, "flops_guessed", true);
        add_counted(w, json);
    }
    hone_json_set_str(json, "bytes", bytes_formula(w));
    hone_json_set_str(json, "cache", "warm");
    hone_json_set_bool(json, "deterministic", false);
    hone_json_set_str(json, "compute_precision", has_float64(w) ? "float64" : "float32");
    /* Rounded inputs average out in one long sum. */
    hone_json_set_bool(json, "allow_lower_precision", w->oracle_items && w->outputs[0].rank == 0);
    hone_json_set_str(json, "library", "allowed");
    if (w->options->no_denormals)
        hone_json_set(json, "special_values", hone_json_new_array());
    return code;
}

int hone_task_move_pack(const char *from, const char *to, struct hone_err *err)
{
    if (hone_file_exists(to) && hone_remove_tree(to, err) < 0)
        return err ? err->code : HONE_E_IO;
    if (rename(from, to) < 0)
        return hone_fail_errno(err, errno, "cannot move '%s' to '%s'", from, to);
    return 0;
}
