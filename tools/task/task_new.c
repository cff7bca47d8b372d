/* SPDX-License-Identifier: Apache-2.0 */
/* From a prototype to a pack: parameters are sorted into hone's order, shapes resolved to axes,
 * three files written, and the result loaded as a check. Whatever was guessed is told in a note. */
#include "tools/task/task_new.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tools/task/prototype.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"
#include "workspace/task/expr.h"

enum { MAX_NOTES = 32 };
#define DEFAULT_ELEMENTS 1000000.0 /* of the largest tensor, when no size is given */

struct axis {
    const char *name;
    const char *expression; /* NULL: var, or const when value > 0 */
    int64_t value;
    const struct hone_param *param; /* NULL: made for a shape */
    bool is_in_shape;
    bool is_needed_by_expression;
};

struct tensor {
    const struct hone_param *param; /* NULL: the returned value */
    const char *name;
    enum hone_dtype dtype;
    int shape[HONE_LIMIT_RANK];
    size_t rank;
    const char *role, *bound; /* inputs; NULL: activation */
};

struct work {
    const struct hone_task_new_options *options;
    struct hone_pool *pool;
    struct hone_err *err;
    struct hone_prototype proto;
    const char *name;
    struct axis axes[HONE_LIMIT_AXES];
    struct tensor inputs[HONE_LIMIT_TENSORS], outputs[HONE_LIMIT_TENSORS];
    const struct hone_param *scalars[HONE_LIMIT_AXES];
    size_t n_axes, n_inputs, n_outputs, n_scalars;
    const char *notes[MAX_NOTES];
    size_t n_notes;
};

static void note(struct work *w, const char *text)
{
    if (w->n_notes < MAX_NOTES)
        w->notes[w->n_notes++] = text;
}

/* The value after "NAME=" or the text from "NAME[" on; NULL: not given. */
static const char *option_for(const struct hone_strs *list, const char *name, char mark)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < list->n; i++)
        if (strncmp(list->v[i], name, len) == 0 && list->v[i][len] == mark)
            return list->v[i] + len + 1;
    return NULL;
}

static int find_axis(const struct work *w, const char *name)
{
    for (size_t i = 0; i < w->n_axes; i++)
        if (strcmp(w->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int too_many(struct work *w, const char *what)
{
    return hone_fail(w->err, HONE_E_LIMIT, "too many %s", what);
}

static int add_pointer(struct work *w, const struct hone_param *p)
{
    size_t *n = p->is_const ? &w->n_inputs : &w->n_outputs;
    if (w->n_inputs + w->n_outputs >= HONE_LIMIT_TENSORS)
        return too_many(w, "arrays");
    struct tensor *t = p->is_const ? &w->inputs[*n] : &w->outputs[*n];
    *t = (struct tensor){.param = p, .name = p->name, .dtype = p->dtype};
    ++*n;
    return 0;
}

static int sort_params(struct work *w)
{
    for (size_t i = 0; i < w->proto.n_params; i++) {
        const struct hone_param *p = &w->proto.params[i];
        int code = 0;
        if (p->is_pointer)
            code = add_pointer(w, p);
        else if (hone_dtype_is_float(p->dtype))
            w->n_scalars < HONE_LIMIT_AXES ? (void)(w->scalars[w->n_scalars++] = p)
                                           : (void)(code = too_many(w, "scalars"));
        else if (w->n_axes < HONE_LIMIT_AXES)
            w->axes[w->n_axes++] = (struct axis){.name = p->name, .param = p};
        else
            code = too_many(w, "integers");
        if (code < 0)
            return code;
    }
    if (!w->proto.returns_void) {
        if (w->n_outputs == HONE_LIMIT_TENSORS)
            return too_many(w, "arrays");
        w->outputs[w->n_outputs++] =
            (struct tensor){.name = "result", .dtype = w->proto.return_dtype};
    }
    if (w->n_outputs == 0)
        return hone_fail(w->err, HONE_E_ARG,
                         "line %d: '%s' has no output: a pointer that is not const, or a result",
                         w->proto.line, w->proto.name);
    if (w->n_inputs == 0)
        return hone_fail(
            w->err, HONE_E_ARG,
            "line %d: '%s' has no input: write const before the pointers that it only reads",
            w->proto.line, w->proto.name);
    return 0;
}

/* ---- shapes ---- */

static char *trim(struct hone_pool *pool, const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return hone_pool_strndup(pool, text, len);
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10;
}

/* An axis for one dimension: an existing one, a number, or a formula over existing ones. */
static int axis_of_dim(struct work *w, const char *tensor, const char *dim, int *ret)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    int a = find_axis(w, dim);
    for (size_t i = 0; a < 0 && i < w->n_axes; i++)
        if (w->axes[i].expression && strcmp(w->axes[i].expression, dim) == 0)
            a = (int)i;
    if (a < 0 && w->n_axes == HONE_LIMIT_AXES)
        return too_many(w, "axes");
    if (a < 0 && is_number(dim)) {
        a = (int)w->n_axes++;
        w->axes[a] = (struct axis){.name = hone_pool_printf(w->pool, "SIZE%d_%s", a, dim),
                                   .value = strtoll(dim, NULL, 10)};
        if (w->axes[a].value < 1)
            return hone_fail(w->err, HONE_E_ARG, "a dimension of '%s' is 0", tensor);
    } else if (a < 0) {
        for (size_t i = 0; i < w->n_axes; i++)
            names[i] = (struct hone_expr_name){w->axes[i].name, 1};
        if (hone_expr_check(dim, names, w->n_axes, w->err) < 0)
            return hone_wrap(w->err, "shape of '%s'", tensor);
        a = (int)w->n_axes++;
        w->axes[a] =
            (struct axis){.name = hone_pool_printf(w->pool, "SIZE%d", a), .expression = dim};
    }
    w->axes[a].is_in_shape = true;
    *ret = a;
    return 0;
}

static int add_dim(struct work *w, struct tensor *t, const char *dim)
{
    if (t->rank == HONE_LIMIT_RANK)
        return hone_fail(w->err, HONE_E_LIMIT, "'%s' has more than %d dimensions", t->name,
                         HONE_LIMIT_RANK);
    int code = axis_of_dim(w, t->name, dim, &t->shape[t->rank]);
    t->rank += code == 0;
    return code;
}

/* "M, K]" or "]" or "1]": one element. */
static int shape_from_option(struct work *w, struct tensor *t, const char *text)
{
    const char *end = strchr(text, ']');
    if (!end || end[1] != '\0')
        return hone_fail(w->err, HONE_E_ARG, "shape of '%s': write %s[M,K]", t->name, t->name);
    const char *all = trim(w->pool, text, (size_t)(end - text));
    if (*all == '\0' || strcmp(all, "1") == 0)
        return 0;
    int code = 0;
    for (const char *at = all; code == 0 && at;) {
        const char *comma = strchr(at, ',');
        size_t len = comma ? (size_t)(comma - at) : strlen(at);
        code = add_dim(w, t, trim(w->pool, at, len));
        at = comma ? comma + 1 : NULL;
    }
    return code;
}

static int shape_from_param(struct work *w, struct tensor *t)
{
    for (size_t d = 0; d < t->param->n_dims; d++) {
        const char *dim = trim(w->pool, t->param->dims[d], strlen(t->param->dims[d]));
        if (*dim == '\0')
            return hone_fail(w->err, HONE_E_ARG,
                             "the shape of '%s' is not known: give it as %s[M,K]", t->name,
                             t->name);
        int code = add_dim(w, t, dim);
        if (code < 0)
            return code;
    }
    return 0;
}

static int find_shape(struct work *w, struct tensor *t)
{
    const char *option = option_for(&w->options->shapes, t->name, '[');
    if (option)
        return shape_from_option(w, t, option);
    if (!t->param)
        return 0; /* the returned value: one element */
    if (t->param->n_dims > 0 && t->param->dims[0][0])
        return shape_from_param(w, t);
    size_t n_integers = 0;
    for (size_t a = 0; a < w->n_axes; a++)
        n_integers += w->axes[a].param != NULL;
    if (n_integers == 1) {
        note(w, hone_pool_printf(w->pool, "'%s' is taken to have %s elements, the only integer",
                                 t->name, w->axes[0].name));
        return add_dim(w, t, w->axes[0].name);
    }
    return hone_fail(w->err, HONE_E_ARG,
                     "the shape of '%s' is not known: give it as %s[M,K] with names of integers",
                     t->name, t->name);
}

static int check_options_used(struct work *w)
{
    const struct {
        const struct hone_strs *list;
        char mark;
        const char *what;
    } lists[] = {{&w->options->shapes, '[', "shape"},
                 {&w->options->roles, '=', "role"},
                 {&w->options->scalars, '=', "scalar"}};
    for (size_t l = 0; l < HONE_COUNTOF(lists); l++) {
        for (size_t i = 0; i < lists[l].list->n; i++) {
            const char *text = lists[l].list->v[i], *mark = strchr(text, lists[l].mark);
            bool is_known = false;
            for (size_t p = 0; mark && p < w->proto.n_params; p++)
                is_known = is_known ||
                           (strncmp(w->proto.params[p].name, text, (size_t)(mark - text)) == 0 &&
                            w->proto.params[p].name[mark - text] == '\0');
            if (!is_known)
                return hone_fail(w->err, HONE_E_ARG, "%s '%.80s' names no parameter of '%s'",
                                 lists[l].what, text, w->proto.name);
        }
    }
    return 0;
}

static int find_shapes(struct work *w)
{
    int code = check_options_used(w);
    for (size_t i = 0; code == 0 && i < w->n_inputs; i++)
        code = find_shape(w, &w->inputs[i]);
    for (size_t i = 0; code == 0 && i < w->n_outputs; i++)
        code = find_shape(w, &w->outputs[i]);
    for (size_t i = 0; code == 0 && i < w->n_inputs; i++) {
        struct tensor *t = &w->inputs[i];
        const char *role = option_for(&w->options->roles, t->name, '=');
        const char *colon = role ? strchr(role, ':') : NULL;
        t->role =
            role ? hone_pool_strndup(w->pool, role, colon ? (size_t)(colon - role) : strlen(role))
                 : NULL;
        t->bound = colon ? colon + 1 : NULL;
        if (!role && !hone_dtype_is_float(t->dtype))
            note(w, hone_pool_printf(
                        w->pool, "'%s' gets %s; if it indexes something say %s=index:AXIS", t->name,
                        t->dtype == HONE_DTYPE_U8     ? "all values of a byte"
                        : t->dtype == HONE_DTYPE_BOOL ? "zeros and ones"
                                                      : "small integers",
                        t->name));
    }
    return code;
}

/* ---- task.json and workloads.jsonl ---- */

static const char *elements(struct work *w, const struct tensor *t)
{
    const char *text = "1";
    for (size_t d = 0; d < t->rank; d++)
        text = d == 0 ? w->axes[t->shape[d]].name
                      : hone_pool_printf(w->pool, "%s*%s", text, w->axes[t->shape[d]].name);
    return text;
}

static const char *bytes_formula(struct work *w)
{
    const char *text = "";
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct tensor *t = i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        text = hone_pool_printf(w->pool, "%s%s%d*%s", text, i ? " + " : "",
                                (int)hone_dtype_bytes(t->dtype), elements(w, t));
    }
    return text;
}

static const char *flops_formula(struct work *w)
{
    const char *text = "";
    for (size_t i = 0; i < w->n_outputs; i++)
        text =
            hone_pool_printf(w->pool, "%s%s%s", text, i ? " + " : "", elements(w, &w->outputs[i]));
    note(w, hone_pool_printf(w->pool,
                             "flops is \"%s\", one operation an output element: a safe lower "
                             "bound. Put the real count of "
                             "the best known algorithm there",
                             text));
    return text;
}

static struct hone_json *axis_json(const struct axis *axis)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "type", axis->expression ? "expr" : axis->value > 0 ? "const" : "var");
    if (axis->expression)
        hone_json_set_str(json, "expression", axis->expression);
    else if (axis->value > 0)
        hone_json_set_i64(json, "value", axis->value);
    return json;
}

static struct hone_json *tensor_json(const struct work *w, const struct tensor *t, bool is_input)
{
    struct hone_json *json = hone_json_new_object(), *shape = hone_json_new_array();
    for (size_t d = 0; d < t->rank; d++)
        hone_json_push(shape, hone_json_new_str(w->axes[t->shape[d]].name));
    hone_json_set(json, "shape", shape);
    hone_json_set_str(json, "dtype", hone_dtype_name(t->dtype));
    if (is_input)
        hone_json_set_str(json, "role", t->role ? t->role : "activation");
    if (is_input && t->bound)
        hone_json_set_str(json, "bound", t->bound);
    return json;
}

static bool has_float64(const struct work *w)
{
    bool found = false;
    for (size_t i = 0; i < w->n_outputs; i++)
        found = found || w->outputs[i].dtype == HONE_DTYPE_F64;
    return found;
}

static int scalars_json(struct work *w, struct hone_json *map)
{
    for (size_t i = 0; i < w->n_scalars; i++) {
        struct hone_json *json = hone_json_new_object();
        const char *text = option_for(&w->options->scalars, w->scalars[i]->name, '=');
        char *end = NULL;
        double value = text ? strtod(text, &end) : 1;
        hone_json_set_str(json, "dtype", hone_dtype_name(w->scalars[i]->dtype));
        hone_json_set_f64(json, "value", value);
        hone_json_set(map, w->scalars[i]->name, json);
        if (text && (*end || end == text || !isfinite(value)))
            return hone_fail(w->err, HONE_E_ARG, "scalar '%s': '%.40s' is no number",
                             w->scalars[i]->name, text);
        if (!text)
            note(w, hone_pool_printf(w->pool, "scalar '%s' is 1", w->scalars[i]->name));
    }
    return 0;
}

static struct hone_json *tolerance_json(const struct work *w)
{
    struct hone_json *map = hone_json_new_object();
    for (size_t i = 0; i < w->n_outputs; i++) {
        struct hone_json *json = hone_json_new_object();
        bool is_double = w->outputs[i].dtype == HONE_DTYPE_F64;
        if (hone_dtype_is_float(w->outputs[i].dtype)) {
            hone_json_set_f64(json, "atol", is_double ? 1e-200 : 1e-30);
            hone_json_set_f64(json, "rtol", is_double ? 1e-9 : 1e-4);
            hone_json_set_f64(json, "rel_l2",
                              w->outputs[i].rank == 0 ? 0
                              : is_double             ? 1e-9
                                                      : 1e-4);
        }
        hone_json_set(map, w->outputs[i].name, json);
    }
    return map;
}

static int task_json(struct work *w, struct hone_json *json)
{
    struct hone_json *axes = hone_json_new_object(), *inputs = hone_json_new_object();
    struct hone_json *outputs = hone_json_new_object(), *scalars = hone_json_new_object();
    struct hone_json *oracle = hone_json_new_object();
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
    hone_json_set(json, "tolerance", tolerance_json(w));
    hone_json_set_str(oracle, "mode", "naive_double");
    hone_json_set(json, "oracle", oracle);
    hone_json_set_str(json, "flops", flops_formula(w));
    hone_json_set_str(json, "bytes", bytes_formula(w));
    hone_json_set_str(json, "cache", "warm");
    hone_json_set_bool(json, "deterministic", false);
    hone_json_set_str(json, "compute_precision", has_float64(w) ? "float64" : "float32");
    hone_json_set_bool(json, "allow_lower_precision", false);
    hone_json_set_str(json, "library", "allowed");
    return code;
}

static bool is_var(const struct axis *axis)
{
    return !axis->expression && axis->value == 0;
}

/* "M=512,N=512": every var axis once. */
static int parse_sizes(struct work *w, const char *text, struct hone_json *axes)
{
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ','), *equal = strchr(at, '=');
        if (!equal || (comma && comma < equal))
            return hone_fail(w->err, HONE_E_ARG, "sizes '%.80s': write M=512,N=512", text);
        const char *name = trim(w->pool, at, (size_t)(equal - at));
        char *end = NULL;
        long long value = strtoll(equal + 1, &end, 10);
        int a = find_axis(w, name);
        if (a < 0 || !is_var(&w->axes[a]) || value < 1 || (*end && *end != ','))
            return hone_fail(
                w->err, HONE_E_ARG,
                "sizes '%.80s': '%.40s' is no integer of '%s' with a size of 1 or more", text, name,
                w->proto.name);
        hone_json_set_i64(axes, name, value);
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

static int64_t default_size(const struct work *w, const struct axis *axis, bool is_second)
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
    double size = rank == 1   ? DEFAULT_ELEMENTS
                  : rank == 2 ? 512
                              : ceil(pow(DEFAULT_ELEMENTS, 1.0 / (double)rank));
    return (int64_t)(is_second ? floor(size * 0.7) - 1 : size);
}

static int add_workload(struct work *w, struct hone_buf *buf, const char *id, const char *sizes,
                        bool is_second)
{
    HONE_AUTOJSON struct hone_json *line = hone_json_new_object();
    struct hone_json *axes = hone_json_new_object();
    hone_json_set_str(line, "id", id);
    hone_json_set(line, "axes", axes);
    for (size_t a = 0; !sizes && a < w->n_axes; a++)
        if (is_var(&w->axes[a]))
            hone_json_set_i64(axes, w->axes[a].name, default_size(w, &w->axes[a], is_second));
    int code = sizes ? parse_sizes(w, sizes, axes) : 0;
    HONE_AUTOFREE char *text = hone_json_print(line);
    hone_buf_printf(buf, "%s\n", text);
    return code;
}

static int workloads_text(struct work *w, struct hone_buf *buf)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < w->options->sizes.n; i++)
        code = add_workload(w, buf, hone_pool_printf(w->pool, "size%zu", i + 1),
                            w->options->sizes.v[i], false);
    if (w->options->sizes.n > 0)
        return code;
    note(w, "workloads.jsonl holds guessed sizes: put those that matter there");
    code = add_workload(w, buf, "size1", NULL, true);
    return code == 0 ? add_workload(w, buf, "size2", NULL, false) : code;
}

/* ---- the kernel ---- */

static bool is_hone_order(const struct work *w)
{
    size_t at = 0;
    bool same = w->proto.returns_void && strcmp(w->name, w->proto.name) == 0;
    for (size_t i = 0; i < w->n_inputs; i++)
        same = same && w->inputs[i].param == &w->proto.params[at++];
    for (size_t i = 0; i < w->n_outputs; i++)
        same = same && w->outputs[i].param == &w->proto.params[at++];
    for (size_t i = 0; i < w->n_scalars; i++)
        same = same && w->scalars[i] == &w->proto.params[at++];
    for (size_t i = 0; i < w->n_axes; i++)
        same = same && w->axes[i].param == &w->proto.params[at++] &&
               strcmp(w->axes[i].param->type, "int64_t") == 0;
    for (size_t i = 0; i < w->proto.n_params; i++)
        same = same && w->proto.params[i].n_dims == 0;
    return same;
}

static void add_wrapper(struct work *w, struct hone_buf *buf, const char *inner,
                        const char *signature)
{
    hone_buf_printf(
        buf, "\n\n/* hone's order of parameters: inputs, outputs, scalars, sizes. */\n%s\n{\n",
        signature);
    for (size_t a = 0; a < w->n_axes; a++)
        if (!w->axes[a].param)
            hone_buf_printf(buf, "    (void)%s;\n", w->axes[a].name);
    hone_buf_printf(buf, "    %s%s(", w->proto.returns_void ? "" : "result[0] = ", inner);
    for (size_t i = 0; i < w->proto.n_params; i++) {
        const struct hone_param *p = &w->proto.params[i];
        hone_buf_str(buf, i ? ", " : "");
        if (!p->is_pointer && strcmp(p->type, "int64_t") != 0)
            hone_buf_printf(buf, "(%s)", p->type);
        if (p->n_dims > 1) /* float A[M][K]: the same memory under another type */
            hone_buf_str(buf, "(void *)");
        hone_buf_str(buf, p->name);
    }
    hone_buf_str(buf, ");\n}\n");
}

/* A pack needs a task to print its signature, and a task needs files: so the signature is made here
 * the same way. */
static const char *signature_of(struct work *w)
{
    const char *text = hone_pool_printf(w->pool, "void %s(", w->name);
    for (size_t i = 0; i < w->n_inputs; i++)
        text = hone_pool_printf(w->pool, "%s%sconst %s *%s", text, i ? ", " : "",
                                hone_dtype_c_name(w->inputs[i].dtype), w->inputs[i].name);
    for (size_t i = 0; i < w->n_outputs; i++)
        text = hone_pool_printf(w->pool, "%s, %s *%s", text, hone_dtype_c_name(w->outputs[i].dtype),
                                w->outputs[i].name);
    for (size_t i = 0; i < w->n_scalars; i++)
        text = hone_pool_printf(w->pool, "%s, %s %s", text, hone_dtype_c_name(w->scalars[i]->dtype),
                                w->scalars[i]->name);
    for (size_t i = 0; i < w->n_axes; i++)
        text = hone_pool_printf(w->pool, "%s, int64_t %s", text, w->axes[i].name);
    return hone_pool_printf(w->pool, "%s)", text);
}

static void kernel_text(struct work *w, struct hone_buf *buf)
{
    if (is_hone_order(w)) {
        hone_buf_str(buf, w->options->source);
        return;
    }
    const char *inner = hone_pool_printf(w->pool, "%s_body", w->proto.name);
    HONE_AUTOFREE char *renamed = hone_prototype_rename(w->options->source, w->proto.name, inner);
    hone_buf_str(buf, "#include <stdint.h>\n");
    hone_buf_str(buf, renamed);
    add_wrapper(w, buf, inner, signature_of(w));
    note(w, hone_pool_printf(w->pool,
                             "kernels/naive.c calls your function as %s through a wrapper: its "
                             "parameters are not in "
                             "hone's order (inputs, outputs, scalars, int64_t sizes)",
                             inner));
}

/* ---- files ---- */

static int put(struct work *w, const char *name, const char *text)
{
    const char *path = hone_pool_printf(w->pool, "%s/%s", w->options->dir, name);
    return hone_file_write(path, text, strlen(text), 0644, false, w->err);
}

static int write_pack(struct work *w)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_CLEANUP(hone_buf_done) struct hone_buf loads = HONE_BUF_INIT, kernel = HONE_BUF_INIT;
    int code = task_json(w, json);
    if (code == 0)
        code = workloads_text(w, &loads);
    kernel_text(w, &kernel);
    if (code == 0)
        code = hone_buf_check(&kernel, w->err);
    if (code < 0)
        return code;
    HONE_AUTOFREE char *text = hone_json_print_pretty(json);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    if ((code = hone_mkdirs(hone_pool_printf(w->pool, "%s/kernels", w->options->dir), 0755,
                            w->err)) < 0 ||
        (code = put(w, "task.json", line)) < 0 ||
        (code = put(w, "workloads.jsonl", loads.data)) < 0 ||
        (code = put(w, "oracle.c", kernel.data)) < 0)
        return code;
    return put(w, "kernels/naive.c", kernel.data);
}

static int prepare(struct work *w)
{
    const struct hone_task_new_options *o = w->options;
    if (hone_file_exists(o->dir))
        return hone_fail(w->err, HONE_E_EXISTS, "'%s' exists already: choose another folder",
                         o->dir);
    if (strnlen(o->source, HONE_LIMIT_SOURCE_BYTES + 1) > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(w->err, HONE_E_LIMIT, "the source is longer than %u bytes",
                         HONE_LIMIT_SOURCE_BYTES);
    int code = hone_prototype_parse(o->source, o->function, w->pool, &w->proto, w->err);
    if (code < 0)
        return code;
    w->name = o->name ? o->name : w->proto.name;
    if ((code = sort_params(w)) < 0 || (code = find_shapes(w)) < 0)
        return code;
    for (size_t a = 0; a < w->n_axes; a++)
        for (size_t b = 0; b < w->n_axes; b++)
            if (w->axes[b].expression && strstr(w->axes[b].expression, w->axes[a].name))
                w->axes[a].is_needed_by_expression = true;
    return 0;
}

int hone_task_new(const struct hone_task_new_options *options, struct hone_pool *pool,
                  struct hone_task_new *ret, struct hone_err *err)
{
    struct work *w = hone_pool_alloc(pool, sizeof(*w));
    w->options = options;
    w->pool = pool;
    w->err = err;
    int code = prepare(w);
    if (code < 0)
        return code;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if ((code = write_pack(w)) < 0 || (code = hone_task_load(options->dir, &task, err)) < 0) {
        hone_remove_tree(options->dir, NULL); /* the first error is the one to tell */
        return code;
    }
    note(w, "the oracle is your function with float read as double: it cannot find a mistake in "
            "the function itself "
            "(docs/tasks.md, \"naive_double\")");
    ret->name = hone_pool_strdup(pool, task->name);
    ret->dir = hone_pool_strdup(pool, task->dir);
    ret->notes.n = w->n_notes;
    ret->notes.v = hone_pool_alloc(pool, (w->n_notes + 1) * sizeof(ret->notes.v[0]));
    memcpy(ret->notes.v, w->notes, w->n_notes * sizeof(w->notes[0]));
    return 0;
}
