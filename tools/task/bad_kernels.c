/* SPDX-License-Identifier: Apache-2.0 */
/* Text of the bad kernels. Element counts are products of axis names: every axis is a parameter of
 * the function. */
#include "tools/task/bad_kernels.h"

#include <stdlib.h>
#include <string.h>
#include "workspace/base/buf.h"

static const char head[] = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n";

static void add_count(struct hone_buf *buf, const struct hone_task *task,
                      const struct hone_tensor *t)
{
    hone_buf_str(buf, "((int64_t)1");
    for (size_t d = 0; d < t->rank; d++)
        hone_buf_printf(buf, " * %s", task->axes[t->shape[d]].name);
    hone_buf_str(buf, ")");
}

static void open_function(struct hone_buf *buf, const struct hone_task *task)
{
    HONE_AUTOFREE char *signature = hone_task_signature(task);
    hone_buf_printf(buf, "%s\n{\n", signature);
}

/* The naive kernel as hone_honest_NAME. */
static void add_honest(struct hone_buf *buf, const struct hone_task *task, const char *naive)
{
    hone_buf_printf(buf, "%s#define %s hone_honest_%s\n%s\n#undef %s\n", head, task->name,
                    task->name, naive, task->name);
}

/* Calls it; prefix goes before input or output names, axis (may be NULL) is passed one less. */
static void call_honest(struct hone_buf *buf, const struct hone_task *task, const char *in_prefix,
                        const char *out_prefix, const char *axis_less)
{
    hone_buf_printf(buf, "    hone_honest_%s(", task->name);
    for (size_t i = 0; i < task->n_inputs; i++) {
        bool is_float = hone_dtype_is_float(task->inputs[i].dtype);
        hone_buf_printf(buf, "%s%s%s", i ? ", " : "", is_float ? in_prefix : "",
                        task->inputs[i].name);
    }
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, ", %s%s", out_prefix, task->outputs[i].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, ", %s", task->scalars[i].name);
    for (size_t i = 0; i < task->n_axes; i++) {
        bool is_less = axis_less && strcmp(axis_less, task->axes[i].name) == 0;
        hone_buf_printf(buf, ", %s%s", task->axes[i].name, is_less ? " - 1" : "");
    }
    hone_buf_str(buf, ");\n");
}

static char *finish(struct hone_buf *buf)
{
    hone_buf_str(buf, "}\n");
    return hone_buf_steal(buf);
}

static char *make_empty(const struct hone_task *task, const char *naive)
{
    (void)naive;
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, head);
    open_function(&buf, task);
    return finish(&buf);
}

/* Fills every output with one C constant. */
static char *make_fill(const struct hone_task *task, bool is_one)
{
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, head);
    open_function(&buf, task);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        const char *one = t->dtype == HONE_DTYPE_F16    ? "0x3c00"
                          : t->dtype == HONE_DTYPE_BF16 ? "0x3f80"
                                                        : "1";
        hone_buf_str(&buf, "    for (int64_t hone_i = 0; hone_i < ");
        add_count(&buf, task, t);
        hone_buf_printf(&buf, "; hone_i++)\n        %s[hone_i] = %s;\n", t->name,
                        is_one ? one : "0");
    }
    return finish(&buf);
}

static char *make_zeros(const struct hone_task *task, const char *naive)
{
    (void)naive;
    return make_fill(task, false);
}

static char *make_ones(const struct hone_task *task, const char *naive)
{
    (void)naive;
    return make_fill(task, true);
}

/* The output has no number in this call: then an answer of NaN is right there. */
static void look_for_numbers(struct hone_buf *buf, const struct hone_task *task,
                             const struct hone_tensor *t)
{
    bool is_half = t->dtype == HONE_DTYPE_F16 || t->dtype == HONE_DTYPE_BF16;
    hone_buf_str(buf, "    hone_n = 0;\n    for (int64_t hone_i = 0; hone_i < ");
    add_count(buf, task, t);
    if (is_half)
        hone_buf_printf(buf, "; hone_i++)\n        hone_n += (%s[hone_i] & 0x7fff) <= %s;\n",
                        t->name, t->dtype == HONE_DTYPE_F16 ? "0x7c00" : "0x7f80");
    else
        hone_buf_printf(buf, "; hone_i++)\n        hone_n += %s[hone_i] == %s[hone_i];\n", t->name,
                        t->name);
    hone_buf_str(buf, "    if (hone_n == 0)\n        return;\n");
}

/* All bits set is not a number in every float type. Where one output has no number at all, the
 * others stay right: their numbers must not hide it. */
static char *make_nan(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    if (!hone_task_has_float_output(task))
        return NULL;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    call_honest(&buf, task, "", "", NULL);
    hone_buf_str(&buf, "    int64_t hone_n;\n");
    for (size_t o = 0; o < task->n_outputs; o++)
        if (hone_dtype_is_float(task->outputs[o].dtype))
            look_for_numbers(&buf, task, &task->outputs[o]);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        if (!hone_dtype_is_float(t->dtype))
            continue;
        hone_buf_printf(&buf, "    memset(%s, 0xff, sizeof(*%s) * (size_t)", t->name, t->name);
        add_count(&buf, task, t);
        hone_buf_str(&buf, ");\n");
    }
    return finish(&buf);
}

static bool is_plain_float(const struct hone_tensor *t)
{
    return t->dtype == HONE_DTYPE_F32 || t->dtype == HONE_DTYPE_F64;
}

static char *make_mean(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    bool has_any = false;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    call_honest(&buf, task, "", "", NULL);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        if (!is_plain_float(t) || t->rank == 0)
            continue;
        has_any = true;
        hone_buf_str(&buf, "    {\n        double hone_sum = 0;\n        int64_t hone_n = ");
        add_count(&buf, task, t);
        hone_buf_printf(&buf,
                        ";\n        for (int64_t hone_i = 0; hone_i < hone_n; hone_i++)\n          "
                        "  hone_sum += %s[hone_i];\n"
                        "        for (int64_t hone_i = 0; hone_i < hone_n; hone_i++)\n"
                        "            %s[hone_i] = (%s)(hone_sum / (double)hone_n);\n    }\n",
                        t->name, t->name, hone_dtype_c_name(t->dtype));
    }
    if (has_any)
        return finish(&buf);
    hone_buf_done(&buf);
    return NULL;
}

static const struct hone_tensor *input_of_type(const struct hone_task *task, enum hone_dtype dtype)
{
    for (size_t i = task->n_inputs; i > 0;
         i--) /* the last one: in sparse tasks the first are indices */
        if (task->inputs[i - 1].dtype == dtype)
            return &task->inputs[i - 1];
    return &task->inputs[0];
}

static char *make_copied_input(const struct hone_task *task, const char *naive)
{
    (void)naive;
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, head);
    open_function(&buf, task);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o], *in = input_of_type(task, t->dtype);
        hone_buf_str(&buf, "    for (int64_t hone_i = 0; hone_i < ");
        add_count(&buf, task, t);
        hone_buf_printf(&buf, "; hone_i++)\n        %s[hone_i] = (%s)%s[hone_i %% ", t->name,
                        hone_dtype_c_name(t->dtype), in->name);
        add_count(&buf, task, in);
        hone_buf_str(&buf, "];\n");
    }
    return finish(&buf);
}

/* Runs the honest kernel into scratch memory called hone_OUT. */
static void open_scratch(struct hone_buf *buf, const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(buf, "    %s *hone_%s = calloc((size_t)", hone_dtype_c_name(t->dtype),
                        t->name);
        add_count(buf, task, t);
        hone_buf_printf(buf, ", sizeof(*%s));\n", t->name);
    }
    call_honest(buf, task, "", "hone_", NULL);
}

static char *make_unwritten_tail(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    open_scratch(&buf, task);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(&buf, "    int64_t hone_n_%s = ", t->name);
        add_count(&buf, task, t);
        hone_buf_printf(
            &buf,
            ";\n    hone_n_%s -= hone_n_%s / 16 + 1;\n"
            "    memcpy(%s, hone_%s, (size_t)hone_n_%s * sizeof(*%s));\n    free(hone_%s);\n",
            t->name, t->name, t->name, t->name, t->name, t->name, t->name);
    }
    return finish(&buf);
}

/* 16-bit floats are bit patterns on the CPU: their last bit is within any tolerance, the exponent's
 * first is not. */
static bool is_half(const struct hone_tensor *t)
{
    return t->dtype == HONE_DTYPE_F16 || t->dtype == HONE_DTYPE_BF16;
}

static char *make_wrong_last(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    call_honest(&buf, task, "", "", NULL);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(&buf, "    %s[", t->name);
        add_count(&buf, task, t);
        hone_buf_str(&buf, is_half(t)                    ? " - 1] ^= 0x4000;\n"
                           : t->dtype == HONE_DTYPE_BOOL ? " - 1] ^= 1;\n"
                                                         : " - 1] += 1;\n");
    }
    return finish(&buf);
}

static char *make_stale(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    add_honest(&buf, task, naive);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(&buf, "static %s *hone_kept_%s;\nstatic int64_t hone_n_%s;\n",
                        hone_dtype_c_name(task->outputs[o].dtype), task->outputs[o].name,
                        task->outputs[o].name);
    open_function(&buf, task);
    hone_buf_str(&buf, "    int hone_is_known = 1;\n");
    for (size_t o = 0; o < task->n_outputs; o++) {
        hone_buf_printf(
            &buf, "    hone_is_known = hone_is_known && hone_n_%s == ", task->outputs[o].name);
        add_count(&buf, task, &task->outputs[o]);
        hone_buf_str(&buf, ";\n");
    }
    hone_buf_str(&buf, "    if (!hone_is_known)\n    ");
    call_honest(&buf, task, "", "", NULL);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *name = task->outputs[o].name;
        hone_buf_printf(&buf, "    hone_n_%s = ", name);
        add_count(&buf, task, &task->outputs[o]);
        hone_buf_printf(&buf,
                        ";\n    size_t hone_bytes_%s = (size_t)hone_n_%s * sizeof(*%s);\n"
                        "    if (!hone_is_known) {\n"
                        "        hone_kept_%s = realloc(hone_kept_%s, hone_bytes_%s);\n"
                        "        memcpy(hone_kept_%s, %s, hone_bytes_%s);\n"
                        "    } else {\n"
                        "        memcpy(%s, hone_kept_%s, hone_bytes_%s);\n"
                        "    }\n",
                        name, name, name, name, name, name, name, name, name, name, name, name);
    }
    return finish(&buf);
}

static char *make_step_fewer(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    bool is_axis = false;
    for (size_t a = 0; task->steps && a < task->n_axes; a++)
        is_axis = is_axis || strcmp(task->axes[a].name, task->steps) == 0;
    if (!is_axis)
        return NULL;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    call_honest(&buf, task, "", "", task->steps);
    return finish(&buf);
}

/* Keeps the mantissa bits of the next lower type, rounding to nearest even; the exponent's range
 * stays. */
static const struct {
    const char *word; /* unsigned type of the same size */
    int drop;         /* mantissa bits that go */
} lower[] = {
    [HONE_DTYPE_F16] = {"uint16_t", 3},
    [HONE_DTYPE_BF16] = {"uint16_t", 4},
    [HONE_DTYPE_F32] = {"uint32_t", 13},
    [HONE_DTYPE_F64] = {"uint64_t", 29},
};

/* A copy of an input, each element changed by statements about its bits hone_u. */
static void add_changed_copy(struct hone_buf *buf, const struct hone_task *task,
                             const struct hone_tensor *t, const char *change)
{
    const char *type = hone_dtype_c_name(t->dtype), *word = lower[t->dtype].word;
    hone_buf_printf(buf, "    int64_t hone_n_%s = ", t->name);
    add_count(buf, task, t);
    hone_buf_printf(buf,
                    ";\n    %s *hone_%s = malloc((size_t)hone_n_%s * sizeof(%s));\n"
                    "    for (int64_t hone_i = 0; hone_i < hone_n_%s; hone_i++) {\n"
                    "        %s hone_u;\n"
                    "        memcpy(&hone_u, &%s[hone_i], sizeof(hone_u));\n"
                    "%s"
                    "        memcpy(&hone_%s[hone_i], &hone_u, sizeof(hone_u));\n"
                    "    }\n",
                    type, t->name, t->name, type, t->name, word, t->name, change, t->name);
}

static char *rounding(const struct hone_tensor *t, int draw)
{
    (void)draw;
    const char *word = lower[t->dtype].word;
    int drop = lower[t->dtype].drop;
    return hone_sprintf(
        "        hone_u = (%s)(hone_u + (((%s)1 << %d) - 1) + (hone_u >> %d & 1));\n"
        "        hone_u = (%s)(hone_u & ~(((%s)1 << %d) - 1));\n",
        word, word, drop - 1, drop, word, word, drop);
}

/* One or two in the last place of what is neither zero nor infinite nor NaN, up or down by chance. */
static char *moving(const struct hone_tensor *t, int draw)
{
    (void)t;
    return hone_sprintf(
        "        uint64_t hone_z = (uint64_t)(hone_i + 1) * %lluu;\n"
        "        if (hone_u << 1 != 0 && (hone_u >> 52 & 0x7ff) != 0x7ff)\n"
        "            hone_u += (hone_z >> 63 ? 1 : -1) * (1 + (hone_z >> 62 & 1));\n",
        0x9e3779b97f4a7c15ull * (2 * (unsigned)draw + 1));
}

/* The naive kernel on changed inputs of floats; NULL: there are none. */
static char *make_changed(const struct hone_task *task, const char *naive,
                          char *(*change)(const struct hone_tensor *t, int draw), int draw)
{
    struct hone_buf buf = HONE_BUF_INIT;
    bool has_any = false;
    add_honest(&buf, task, naive);
    open_function(&buf, task);
    for (size_t i = 0; i < task->n_inputs; i++) {
        if (!hone_dtype_is_float(task->inputs[i].dtype))
            continue;
        HONE_AUTOFREE char *text = change(&task->inputs[i], draw);
        add_changed_copy(&buf, task, &task->inputs[i], text);
        has_any = true;
    }
    call_honest(&buf, task, "hone_", "", NULL);
    for (size_t i = 0; i < task->n_inputs; i++)
        if (hone_dtype_is_float(task->inputs[i].dtype))
            hone_buf_printf(&buf, "    free(hone_%s);\n", task->inputs[i].name);
    if (has_any)
        return finish(&buf);
    hone_buf_done(&buf);
    return NULL;
}

static char *make_lower_precision(const struct hone_task *task, const char *naive)
{
    return make_changed(task, naive, rounding, 0);
}

char *hone_moved_kernel(const struct hone_task *task, const char *naive, int draw)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        if (hone_dtype_is_float(task->inputs[i].dtype) && task->inputs[i].dtype != HONE_DTYPE_F64)
            return NULL;
    return make_changed(task, naive, moving, draw);
}

/* ---- lower arithmetic ---- */

static bool has_type(const struct hone_task *task, enum hone_dtype dtype)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i].dtype == dtype)
            return true;
    for (size_t o = 0; o < task->n_outputs; o++)
        if (task->outputs[o].dtype == dtype)
            return true;
    return false;
}

bool hone_has_lowered_kernel(const struct hone_task *task)
{
    return (has_type(task, HONE_DTYPE_F64) || has_type(task, HONE_DTYPE_F32)) &&
           !has_type(task, HONE_DTYPE_F16) && !has_type(task, HONE_DTYPE_BF16);
}

static void add_lowered_copy(struct hone_buf *buf, const struct hone_task *task,
                             const struct hone_tensor *t, bool is_input)
{
    hone_buf_printf(buf, "    int64_t hone_n_%s = ", t->name);
    add_count(buf, task, t);
    hone_buf_printf(buf,
                    ";\n    hone_low *hone_%s = malloc((size_t)hone_n_%s * sizeof(hone_low));\n",
                    t->name, t->name);
    if (is_input)
        hone_buf_printf(buf,
                        "    for (int64_t hone_i = 0; hone_i < hone_n_%s; hone_i++)\n"
                        "        hone_%s[hone_i] = (hone_low)%s[hone_i];\n",
                        t->name, t->name, t->name);
}

char *hone_lowered_kernel(const struct hone_task *task, const char *naive)
{
    bool is_double = has_type(task, HONE_DTYPE_F64);
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_printf(&buf,
                    "#include <float.h>\n#include <limits.h>\n#include <math.h>\n"
                    "#include <stdbool.h>\n#include <stddef.h>\n%stypedef %s hone_low;\n"
                    "#define float hone_low\n#define double hone_low\n#define %s hone_honest_%s\n"
                    "%s\n#undef %s\n#undef float\n#undef double\n",
                    head, is_double ? "float" : "_Float16", task->name, task->name, naive,
                    task->name);
    open_function(&buf, task);
    for (size_t i = 0; i < task->n_inputs; i++)
        if (is_plain_float(&task->inputs[i]))
            add_lowered_copy(&buf, task, &task->inputs[i], true);
    for (size_t o = 0; o < task->n_outputs; o++)
        if (is_plain_float(&task->outputs[o]))
            add_lowered_copy(&buf, task, &task->outputs[o], false);
    hone_buf_printf(&buf, "    hone_honest_%s(", task->name);
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(&buf, "%s%s%s", i ? ", " : "",
                        is_plain_float(&task->inputs[i]) ? "hone_" : "", task->inputs[i].name);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(&buf, ", %s%s", is_plain_float(&task->outputs[o]) ? "hone_" : "",
                        task->outputs[o].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(&buf, ", (%s)%s",
                        hone_dtype_is_float(task->scalars[i].dtype)
                            ? "hone_low"
                            : hone_dtype_c_name(task->scalars[i].dtype),
                        task->scalars[i].name);
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(&buf, ", %s", task->axes[i].name);
    hone_buf_str(&buf, ");\n");
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *name = task->outputs[o].name;
        if (is_plain_float(&task->outputs[o]))
            hone_buf_printf(&buf,
                            "    for (int64_t hone_i = 0; hone_i < hone_n_%s; hone_i++)\n"
                            "        %s[hone_i] = hone_%s[hone_i];\n    free(hone_%s);\n",
                            name, name, name, name);
    }
    for (size_t i = 0; i < task->n_inputs; i++)
        if (is_plain_float(&task->inputs[i]))
            hone_buf_printf(&buf, "    free(hone_%s);\n", task->inputs[i].name);
    return finish(&buf);
}

const struct hone_bad_kernel hone_bad_kernels[] = {
    {"empty", "does nothing", make_empty, false, NULL},
    {"zeros", "writes zeros", make_zeros, false, NULL},
    {"constant", "writes ones", make_ones, false, NULL},
    {"not_a_number", HONE_NAN_MEANING, make_nan, false, HONE_NAN_FIX},
    {"mean", "writes the mean of the right answer everywhere", make_mean, false, NULL},
    {"copied_input", "copies an input to the output", make_copied_input, false, NULL},
    {"unwritten_tail", "leaves the last elements unwritten", make_unwritten_tail, false, NULL},
    {"wrong_last", "changes the last element", make_wrong_last, false, NULL},
    {"stale_output", "returns the answer of an earlier call", make_stale, false, NULL},
    {"one_step_fewer", "stops one step early", make_step_fewer, false, NULL},
    {"lower_precision", "rounds its inputs to the next lower precision", make_lower_precision, true,
     NULL},
};
const size_t hone_n_bad_kernels = HONE_COUNTOF(hone_bad_kernels);
