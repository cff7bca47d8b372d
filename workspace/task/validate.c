/* SPDX-License-Identifier: Apache-2.0 */
/* What a field table cannot see: names that must live together in one C
 * function, formulas, sizes. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/task/task_internal.h"

/* C and C++ (a .cu file is C++), and what the oracle's preamble and ordinary headers define. */
static const char *const reserved[] = {
    "auto",     "break",     "case",     "char",      "const",    "continue", "default",
    "do",       "double",    "else",     "enum",      "extern",   "float",    "for",
    "goto",     "if",        "inline",   "int",       "long",     "register", "restrict",
    "return",   "short",     "signed",   "sizeof",    "static",   "struct",   "switch",
    "typedef",  "union",     "unsigned", "void",      "volatile", "while",    "asm",
    "bool",     "catch",     "class",    "constexpr", "delete",   "explicit", "export",
    "false",    "friend",    "mutable",  "namespace", "new",      "nullptr",  "operator",
    "private",  "protected", "public",   "template",  "this",     "throw",    "true",
    "try",      "typename",  "using",    "virtual",   "alignas",  "alignof",  "typeof",
    "and",      "or",        "not",      "xor",       "ITEM",     "INIT",     "STEP",
    "SUM_OVER", "NULL",      "NAN",      "INFINITY",  "item",     "step",     "main",
    "linux",    "unix",      "errno",    "min",       "max",      "ceil",     "floor",
    "log2",     "sqrt",      "abs",      "exp",       "log",      "fabs",     "fmin",
    "fmax",     "pow",       "sin",      "cos",       "tan",      "tanh",     "erf",
    "round",    "rint",      "expf",     "logf",      "sqrtf",    "fabsf",    "fminf",
    "fmaxf",    "powf",      "malloc",   "calloc",    "realloc",  "free",     "memcpy",
    "memset",   "memmove",   "printf",   "exit",      "abort",    "read",     "write",
    "open",     "close",     "signal",   "time",      "clock",    "index",    "rand",
    "div",      "y0",        "y1",       "j0",        "j1",       "gamma",
};
/* y0, y1, j0, j1, gamma, index, time: functions of libc whose names kernels' authors like. As the
 * task's name they would clash with a header; as parameters they only shadow. So they are refused
 * for the task alone. */
static const char *const reserved_for_task_only[] = {"index", "time", "y0",    "y1",
                                                     "j0",    "j1",   "gamma", "div"};
static const char *const reserved_prefixes[] = {"_", "hone_", "HONE_", "PUT_", "PREV_", "SCALED_"};

static bool is_listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static int check_name(const char *path, const char *name, bool is_task, struct hone_err *err)
{
    size_t len = strlen(name);
    if (len == 0 || len > HONE_LIMIT_NAME_BYTES)
        return hone_fail_at(err, HONE_E_ARG, path, "a name has 1 to %d characters",
                            HONE_LIMIT_NAME_BYTES);
    for (size_t i = 0; i < len; i++)
        if (!(isalpha((unsigned char)name[i]) || name[i] == '_' ||
              (i > 0 && isdigit((unsigned char)name[i]))))
            return hone_fail_at(err, HONE_E_ARG, path,
                                "a name is a C identifier: letters, digits and _, no digit first");
    for (size_t i = 0; i < HONE_COUNTOF(reserved_prefixes); i++)
        if (strncmp(name, reserved_prefixes[i], strlen(reserved_prefixes[i])) == 0)
            return hone_fail_at(err, HONE_E_ARG, path, "names that start with %s are reserved",
                                reserved_prefixes[i]);
    bool is_type = len > 2 && strcmp(name + len - 2, "_t") == 0;
    bool is_mild = is_listed(name, reserved_for_task_only, HONE_COUNTOF(reserved_for_task_only));
    if (is_type || (is_listed(name, reserved, HONE_COUNTOF(reserved)) && (is_task || !is_mild)))
        return hone_fail_at(err, HONE_E_ARG, path, "'%s' has a meaning in C: choose another name",
                            name);
    return 0;
}

bool hone_task_is_cuda_word(const char *name)
{
    static const char *const words[] = {
        "norm",     "rnorm", "norm3d", "rnorm3d", "norm4d", "rnorm4d",   "hypot",  "rhypot",
        "cbrt",     "rcbrt", "rsqrt",  "lgamma",  "tgamma", "jn",        "yn",     "logb",
        "scalbn",   "exp2",  "exp10",  "sinpi",   "cospi",  "remainder", "fmod",   "fma",
        "trunc",    "nan",   "random", "select",  "remove", "rename",    "system", "atoi",
        "copysign", "expm1", "log10",  "log1p",   "asin",   "acos",      "atan",   "atan2",
        "sinh",     "cosh",  "erfc",   "erfinv",  "normcdf"};
    return is_listed(name, words, HONE_COUNTOF(words));
}

bool hone_task_is_name(const char *name, bool is_task)
{
    return check_name("", name, is_task, NULL) == 0;
}

struct seen {
    const char *path[1 + 2 * HONE_LIMIT_AXES + 2 * HONE_LIMIT_TENSORS];
    const char *name[1 + 2 * HONE_LIMIT_AXES + 2 * HONE_LIMIT_TENSORS];
    size_t n;
};

static int add_name(struct seen *seen, const char *kind, const char *name, struct hone_err *err)
{
    char path[HONE_ERR_PATH_BYTES];
    snprintf(path, sizeof(path), "%s%s%.60s", kind, seen->n ? "." : "", seen->n ? name : "");
    int code = check_name(path, name, seen->n == 0, err);
    if (code < 0)
        return code;
    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->name[i], name) == 0)
            return hone_fail_at(err, HONE_E_ARG, path, "'%s' is also used in %s: names must differ",
                                name, seen->path[i]);
    seen->path[seen->n] = kind;
    seen->name[seen->n++] = name;
    return 0;
}

int hone_task_validate_names(const struct hone_task *task, struct hone_err *err)
{
    struct seen seen = {.n = 0};
    int code = add_name(&seen, "name", task->name, err);
    for (size_t i = 0; code == 0 && i < task->n_axes; i++)
        code = add_name(&seen, "axes", task->axes[i].name, err);
    for (size_t i = 0; code == 0 && i < task->n_inputs; i++)
        code = add_name(&seen, "inputs", task->inputs[i].name, err);
    for (size_t i = 0; code == 0 && i < task->n_outputs; i++)
        code = add_name(&seen, "outputs", task->outputs[i].name, err);
    for (size_t i = 0; code == 0 && i < task->n_scalars; i++)
        code = add_name(&seen, "scalars", task->scalars[i].name, err);
    return code;
}

static int check_formula(const struct hone_task *task, size_t n_axes, const char *formula,
                         const char *path, struct hone_err *err)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    size_t n = hone_task_names(task, n_axes, NULL, names);
    if (!formula || hone_expr_check(formula, names, n, err) == 0)
        return 0;
    return hone_task_prefix(err, "%s", path);
}

int hone_task_validate_formulas(const struct hone_task *task, struct hone_err *err)
{
    const struct {
        const char *path, *formula;
    } all[] = {
        {"flops", task->flops},        {"flops_counted", task->flops_counted},
        {"bytes", task->bytes},        {"oracle.items", task->items},
        {"oracle.steps", task->steps},
    };
    int code = 0;
    char path[HONE_ERR_PATH_BYTES];
    for (size_t i = 0; code == 0 && i < task->n_axes; i++) {
        snprintf(path, sizeof(path), "axes.%s.expression", task->axes[i].name);
        code = check_formula(task, i, task->axes[i].expression, path, err);
    }
    for (size_t i = 0; code == 0 && i < task->n_constraints; i++) {
        snprintf(path, sizeof(path), "constraints[%zu]", i);
        code = check_formula(task, task->n_axes, task->constraints[i], path, err);
    }
    for (size_t i = 0; code == 0 && i < HONE_COUNTOF(all); i++)
        code = check_formula(task, task->n_axes, all[i].formula, all[i].path, err);
    return code;
}

static int check_value(const struct hone_task *task, const struct hone_workload *w,
                       const char *what, const char *formula, double least, struct hone_err *err)
{
    double value = 0;
    int code = formula ? hone_task_eval(task, formula, w, &value, err) : 0;
    if (code < 0)
        return hone_wrap(err, "%s", what);
    if (formula && (!(value >= least) || value > 1e18))
        return hone_fail(err, HONE_E_ARG, "%s gives %g for this size: it must be %g or more", what,
                         value, least);
    return 0;
}

/* Where the pack gives no draw range: between half the least and the largest public size. */
static void default_draw_range(struct hone_task *task, size_t a)
{
    struct hone_axis *axis = &task->axes[a];
    int64_t low = INT64_MAX, high = 0;
    for (size_t w = 0; w < task->n_workloads; w++) {
        low = hone_min_i64(low, task->workloads[w].axes[a]);
        high = hone_max_i64(high, task->workloads[w].axes[a]);
    }
    axis->draw_min = hone_max_i64(axis->min, low / 2);
    axis->draw_max = hone_min_i64(axis->max, high);
}

void hone_task_draw_ranges(struct hone_task *task, enum hone_task_target target)
{
    for (size_t a = 0; a < task->n_axes; a++) {
        struct hone_axis *axis = &task->axes[a];
        axis->draw_min = axis->draws[target].min;
        axis->draw_max = axis->draws[target].max;
        if (axis->kind == HONE_AXIS_VAR && axis->draw_max == 0)
            default_draw_range(task, a);
    }
}

int hone_task_validate_workloads(struct hone_task *task, struct hone_err *err)
{
    for (size_t i = 0; i < task->n_workloads; i++) {
        struct hone_workload *w = &task->workloads[i];
        int code = hone_task_resolve(task, w, err);
        if (code == 0)
            code = check_value(task, w, "flops", task->flops, 0, err);
        if (code == 0)
            code = check_value(task, w, "flops_counted", task->flops_counted, 0, err);
        if (code == 0)
            code = check_value(task, w, "bytes", task->bytes, 1, err);
        if (code == 0)
            code = check_value(task, w, "oracle.items", task->items, 1, err);
        if (code == 0)
            code = check_value(task, w, "oracle.steps", task->steps, 1, err);
        for (size_t k = 0; code == 0 && k < i; k++)
            if (strcmp(task->workloads[k].id, w->id) == 0)
                code = hone_fail(err, HONE_E_ARG, "the id is used twice");
        if (code < 0)
            return hone_task_prefix(err, "%s", w->id);
    }
    hone_task_draw_ranges(task, HONE_TASK_CPU);
    return 0;
}
