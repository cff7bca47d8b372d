/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text that goes in front of oracle.c: from there on the reference sees
 * its task's names.
 *
 * Shape of the text, for inputs A, output C, axes M, K:
 *
 *     (oracle_abi.h's structs)
 *     struct hone_call_     what the accessors need, one per hone_oracle_items call, hence thread
 *                           safe
 *     hone_in_A_(call, i)   reads element i as double; NaN outside
 *     #define A(i)          function-like, so that a local variable may still be called A
 *     #define PUT_C(i, v)   emits; PREV_C(i) reads the state before the step
 *     #define ITEM(item)    opens static void hone_item_(call, item, M, K): axes and scalars are
 *                           real parameters
 *     hone_oracle_items     the one exported function
 *     #line 1 "oracle.c"
 *
 * In naive_double mode oracle.c is the kernel itself: `float` is double from the #define on, one
 * item widens the inputs, calls it and emits everything. */
#include <stdlib.h>
#include <string.h>
#include "workspace/task/task_internal.h"

enum { MOVED_CALLS = 3 };

static const char abi_text[] =
    "typedef signed char hone_i8_; typedef unsigned char hone_u8_; typedef unsigned short "
    "hone_u16_;\n"
    "typedef unsigned int hone_u32_;\n"
    "struct hone_oracle_record { int64_t index; double value; int64_t output; double scale; };\n"
    "struct hone_oracle_args {\n"
    "    const void *const *inputs; const int32_t *input_types; const double *scalars; const "
    "int64_t *axes;\n"
    "    double *const *prev; double *const *next; int64_t step;\n"
    "    struct hone_oracle_record *records; int64_t n_records_max; int64_t n_records;\n"
    "};\n"
    "void hone_oracle_items(struct hone_oracle_args *, int64_t, int64_t, const int64_t *);\n";

static const char own_types_text[] = "typedef __INT64_TYPE__ int64_t; typedef __INT32_TYPE__ "
                                     "int32_t; typedef __SIZE_TYPE__ size_t;\n"
                                     "#define NAN __builtin_nan(\"\")\n"
                                     "#define INFINITY __builtin_inf()\n"
                                     "double exp(double); double log(double); double sqrt(double); "
                                     "double fabs(double); double floor(double);\n"
                                     "double ceil(double); double pow(double, double); double "
                                     "fmin(double, double); double fmax(double, double);\n"
                                     "double sin(double); double cos(double); double tanh(double); "
                                     "double erf(double); double log2(double);\n"
                                     "double exp2(double); double log1p(double); double "
                                     "expm1(double); double rint(double); double trunc(double);\n";

/* The same words on a device share the loop among the threads of a block (oracle_device.c). */
static const char sum_text[] =
    "#define SUM_OVER(i, from, to, ...) \\\n"
    "    (__extension__({ double hone_sum_ = 0; int64_t hone_end_ = (to); \\\n"
    "        for (int64_t i = (from); i < hone_end_; i++) hone_sum_ += (__VA_ARGS__); hone_sum_; "
    "}))\n";

static const char convert_text[] =
    "static inline double hone_get_float32_(const void *p, int64_t i) { return ((const float "
    "*)p)[i]; }\n"
    "static inline double hone_get_float64_(const void *p, int64_t i) { return ((const double "
    "*)p)[i]; }\n"
    "static inline double hone_get_int8_(const void *p, int64_t i) { return ((const hone_i8_ "
    "*)p)[i]; }\n"
    "static inline double hone_get_int32_(const void *p, int64_t i) { return ((const int32_t "
    "*)p)[i]; }\n"
    "static inline double hone_get_int64_(const void *p, int64_t i) { return (double)((const "
    "int64_t *)p)[i]; }\n"
    "static inline double hone_get_bool_(const void *p, int64_t i) { return ((const hone_u8_ "
    "*)p)[i] != 0; }\n"
    "static inline double hone_get_uint8_(const void *p, int64_t i) { return ((const hone_u8_ "
    "*)p)[i]; }\n"
    "#define HONE_GET_(name, type) static inline double hone_get_##name##_(const void *p, int64_t "
    "i) "
    "{ return (double)((const type *)p)[i]; }\n"
    "HONE_GET_(int16, short)\nHONE_GET_(uint16, hone_u16_)\nHONE_GET_(uint32, hone_u32_)\n"
    "HONE_GET_(uint64, unsigned long)\n"
    "static inline double hone_get_bfloat16_(const void *p, int64_t i)\n"
    "{\n"
    "    union { hone_u32_ u; float f; } v = {(hone_u32_)((const hone_u16_ *)p)[i] << 16};\n"
    "    return v.f;\n"
    "}\n"
    "static inline double hone_get_float16_(const void *p, int64_t i)\n"
    "{\n"
    "    hone_u32_ h = ((const hone_u16_ *)p)[i], e = h >> 10 & 31, m = h & 1023;\n"
    "    double v = e == 31 ? (m ? __builtin_nan(\"\") : __builtin_inf())\n"
    "             : e == 0  ? m * 0x1p-24 : __builtin_ldexp(m + 1024, (int)e - 25);\n"
    "    return h & 0x8000 ? -v : v;\n"
    "}\n";

static const char emit_text[] =
    "static inline void hone_put_(struct hone_call_ *c, int output, int64_t i, double v, double "
    "scale)\n"
    "{\n"
    "    if (i < 0 || i >= c->n_out[output])\n"
    "        return;\n"
    "    if (c->args->next) {\n"
    "        c->args->next[output][i] = v;\n"
    "        return;\n"
    "    }\n"
    "    int64_t n = c->args->n_records++;\n"
    "    if (n < c->args->n_records_max)\n"
    "        c->args->records[n] = (struct hone_oracle_record){i, v, output, scale};\n"
    "}\n"
    "static inline double hone_prev_(struct hone_call_ *c, int output, int64_t i)\n"
    "{\n"
    "    return c->args->prev && i >= 0 && i < c->n_out[output] ? c->args->prev[output][i] : "
    "__builtin_nan(\"\");\n"
    "}\n";

static void add_count(struct hone_buf *buf, const struct hone_task *task,
                      const struct hone_tensor *t)
{
    hone_buf_str(buf, "1");
    for (size_t d = 0; d < t->rank; d++)
        hone_buf_printf(buf, " * args->axes[%d]", t->shape[d]);
    (void)task;
}

static void add_accessors(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_printf(
        buf,
        "struct hone_call_ { struct hone_oracle_args *args; int64_t n_in[%zu], n_out[%zu]; };\n",
        task->n_inputs, task->n_outputs);
    for (size_t i = 0; i < task->n_inputs; i++) {
        const char *name = task->inputs[i].name;
        hone_buf_printf(
            buf,
            "static inline double hone_in_%s_(struct hone_call_ *c, int64_t i)\n"
            "{\n    return i >= 0 && i < c->n_in[%zu] ? hone_get_%s_(c->args->inputs[%zu], i) "
            ": __builtin_nan(\"\");\n}\n"
            "#define %s(i) hone_in_%s_(hone_c_, (i))\n",
            name, i, hone_dtype_name(task->inputs[i].dtype), i, name, name);
    }
    hone_buf_str(buf, emit_text);
    for (size_t i = 0; i < task->n_outputs; i++) {
        const char *name = task->outputs[i].name;
        hone_buf_printf(
            buf,
            "#define PUT_%s(i, v) hone_put_(hone_c_, %zu, (i), (v), 0)\n"
            "#define PUT_SCALED_%s(i, v, scale) hone_put_(hone_c_, %zu, (i), (v), (scale))\n"
            "#define PREV_%s(i) hone_prev_(hone_c_, %zu, (i))\n",
            name, i, name, i, name, i);
    }
}

static bool is_integer(enum hone_dtype dtype)
{
    return !hone_dtype_is_float(dtype);
}

/* ", int64_t M, double alpha" as parameters, or ", args->axes[0], args->scalars[0]" as arguments.
 */
static void add_environment(struct hone_buf *buf, const struct hone_task *task, bool is_call)
{
    for (size_t i = 0; i < task->n_axes; i++)
        is_call ? hone_buf_printf(buf, ", args->axes[%zu]", i)
                : hone_buf_printf(buf, ", __attribute__((unused)) const int64_t %s",
                                  task->axes[i].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        is_call ? hone_buf_printf(buf, ", args->scalars[%zu]", i)
                : hone_buf_printf(buf, ", __attribute__((unused)) const double %s",
                                  task->scalars[i].name);
}

static void add_function(struct hone_buf *buf, const struct hone_task *task, const char *word)
{
    hone_buf_printf(
        buf,
        "#define HONE_SIGNATURE_%s(item) static void hone_%s_(struct hone_call_ *hone_c_, "
        "__attribute__((unused)) const int64_t item",
        word, word);
    if (strcmp(word, "STEP") == 0)
        hone_buf_str(buf, ", __attribute__((unused)) const int64_t step");
    add_environment(buf, task, false);
    hone_buf_printf(buf, ")\n#define %s(item) HONE_SIGNATURE_%s(item)\n%s(hone_item_);\n", word,
                    word, word);
}

static void add_call(struct hone_buf *buf, const struct hone_task *task, const char *word)
{
    hone_buf_printf(buf, "hone_%s_(&call, item%s", word,
                    strcmp(word, "STEP") == 0 ? ", args->step" : "");
    add_environment(buf, task, true);
    hone_buf_str(buf, ");\n");
}

static void add_type_check(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_str(buf, "    static const int32_t types[] = {");
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "%s%d", i ? ", " : "", (int)task->inputs[i].dtype);
    hone_buf_printf(buf,
                    "};\n"
                    "    for (int i = 0; args->input_types && i < %zu; i++)\n"
                    "        if (args->input_types[i] != types[i]) {\n"
                    "            args->n_records = -1;\n"
                    "            return;\n"
                    "        }\n",
                    task->n_inputs);
}

static void add_items_entry(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_str(
        buf, "void hone_oracle_items(struct hone_oracle_args *args, int64_t first, int64_t count, "
             "const int64_t *items)\n{\n");
    add_type_check(buf, task);
    hone_buf_str(buf, "    struct hone_call_ call = {args, {");
    for (size_t i = 0; i < task->n_inputs; i++) {
        hone_buf_str(buf, i ? ", " : "");
        add_count(buf, task, &task->inputs[i]);
    }
    hone_buf_str(buf, "}, {");
    for (size_t i = 0; i < task->n_outputs; i++) {
        hone_buf_str(buf, i ? ", " : "");
        add_count(buf, task, &task->outputs[i]);
    }
    hone_buf_str(buf, "}};\n"
                      "    for (int64_t n = 0; n < count; n++) {\n"
                      "        int64_t item = items ? items[n] : first + n;\n        ");
    if (task->steps) {
        hone_buf_str(buf, "if (args->step == 0)\n            ");
        add_call(buf, task, "INIT");
        hone_buf_str(buf, "        else\n            ");
        add_call(buf, task, "STEP");
    } else {
        add_call(buf, task, "ITEM");
    }
    hone_buf_str(buf, "    }\n}\n");
}

static const char *wide_type(const struct hone_task *task, enum hone_dtype dtype)
{
    return is_integer(dtype) || task->is_oracle_own ? hone_dtype_c_name(dtype) : "double";
}

/* Prototype of the kernel with its float types widened. */
static void add_wide_prototype(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_printf(buf, "void %s(", task->name);
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "%sconst %s *", i ? ", " : "", wide_type(task, task->inputs[i].dtype));
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, ", %s *", wide_type(task, task->outputs[i].dtype));
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, ", %s", wide_type(task, task->scalars[i].dtype));
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_str(buf, ", int64_t");
    /* Under a name that no local variable of the entry hides, whatever the task is called. */
    hone_buf_printf(buf, ");\nstatic __typeof__(%s) *const hone_kernel_ = %s;\n", task->name,
                    task->name);
}

/* factor: of each element, C text. */
static void add_wide_fill(struct hone_buf *buf, const struct hone_tensor *t, size_t i,
                          const char *factor)
{
    hone_buf_printf(buf,
                    "    for (int64_t i = 0; in%zu && i < n_in%zu; i++) {\n"
                    "        in%zu[i] = %s",
                    i, i, i, factor);
    bool is_half = t->dtype == HONE_DTYPE_F16 || t->dtype == HONE_DTYPE_BF16;
    is_half ? hone_buf_printf(buf, "hone_get_%s_(args->inputs[%zu], i);\n    }\n",
                              hone_dtype_name(t->dtype), i)
            : hone_buf_printf(buf, "((const %s *)args->inputs[%zu])[i];\n    }\n",
                              hone_dtype_c_name(t->dtype), i);
}

static void add_wide_buffers(struct hone_buf *buf, const struct hone_task *task)
{
    for (size_t i = 0; i < task->n_inputs; i++) {
        const struct hone_tensor *t = &task->inputs[i];
        hone_buf_printf(buf, "    int64_t n_in%zu = ", i);
        add_count(buf, task, t);
        hone_buf_printf(buf, ";\n    %s *in%zu = malloc((size_t)n_in%zu * sizeof(*in%zu));\n",
                        wide_type(task, t->dtype), i, i, i);
        add_wide_fill(buf, t, i, "");
    }
    for (size_t i = 0; i < task->n_outputs; i++) {
        const struct hone_tensor *t = &task->outputs[i];
        hone_buf_printf(buf, "    int64_t n_out%zu = ", i);
        add_count(buf, task, t);
        hone_buf_printf(buf, ";\n    %s *out%zu = calloc((size_t)n_out%zu, sizeof(*out%zu));\n",
                        wide_type(task, t->dtype), i, i, i);
    }
}

static void add_wide_call(struct hone_buf *buf, const struct hone_task *task, const char *out)
{
    hone_buf_str(buf, "        hone_kernel_(");
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "%sin%zu", i ? ", " : "", i);
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, ", %s%zu", out, i);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, ", (%s)args->scalars[%zu]", wide_type(task, task->scalars[i].dtype),
                        i);
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(buf, ", args->axes[%zu]", i);
    hone_buf_str(buf, ");\n");
}

static bool has_axis(const struct hone_tensor *t, int axis)
{
    for (size_t d = 0; d < t->rank; d++)
        if (t->shape[d] == axis)
            return true;
    return false;
}

/* Does every output lack an axis of some input of floats, so that it can be a sum along that? */
static bool is_reduction(const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        bool lacks = false;
        for (size_t i = 0; i < task->n_inputs; i++)
            for (size_t d = 0; d < task->inputs[i].rank; d++)
                lacks = lacks || (hone_dtype_is_float(task->inputs[i].dtype) &&
                                  !has_axis(&task->outputs[o], task->inputs[i].shape[d]));
        if (!lacks || !hone_dtype_is_float(task->outputs[o].dtype))
            return false;
    }
    return true;
}

static const char probe_text[] =
    "/* The size of what was added up: the root mean square of the answer to the inputs' absolute\n"
    " * values, each whole or halved by chance. 0 unless twice those values give exactly 2, 4 or "
    "8\n"
    " * times the answer: only sums and powers of the inputs are so. */\n"
    "__attribute__((unused)) static double hone_size_(const double *a, const double *b, int64_t "
    "n)\n"
    "{\n"
    "    double squares = 0;\n"
    "    int64_t same[3] = {0};\n"
    "    for (int64_t i = 0; i < n; i++) {\n"
    "        squares += a[i] * a[i];\n"
    "        for (int k = 0; k < 3; k++)\n"
    "            same[k] += b[i] == a[i] * (2 << k);\n"
    "    }\n"
    "    if (!__builtin_isfinite(squares) || (same[0] < n && same[1] < n && same[2] < n))\n"
    "        return 0;\n"
    "    return __builtin_sqrt(squares / (double)(n > 0 ? n : 1));\n"
    "}\n"
    "__attribute__((unused)) static double hone_probe_(int64_t i)\n"
    "{\n"
    "    return (uint64_t)i * 0x9e3779b97f4a7c15u >> 63 ? 1 : 0.5;\n"
    "}\n";

/* Cancellation must excuse rounding in a sum, which no output tells by itself. */
static void add_probes(struct hone_buf *buf, const struct hone_task *task)
{
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, "        double size%zu = 0;\n", i);
    if (task->is_oracle_own || !is_reduction(task))
        return;
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < task->n_outputs; i++)
            hone_buf_printf(
                buf,
                "        double *%s%zu = calloc((size_t)n_out%zu + 1, sizeof(double));\n"
                "        if (!%s%zu)\n            return;\n",
                twice ? "twice" : "probe", i, i, twice ? "twice" : "probe", i);
        for (size_t i = 0; i < task->n_inputs; i++)
            if (hone_dtype_is_float(task->inputs[i].dtype))
                hone_buf_printf(buf,
                                twice ? "        for (int64_t i = 0; i < n_in%zu; i++)\n"
                                        "            in%zu[i] = 2 * in%zu[i];\n"
                                      : "        for (int64_t i = 0; i < n_in%zu; i++)\n"
                                        "            in%zu[i] = fabs(in%zu[i]) * hone_probe_(i);\n",
                                i, i, i);
        add_wide_call(buf, task, twice ? "twice" : "probe");
    }
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf,
                        "        size%zu = hone_size_(probe%zu, twice%zu, n_out%zu);\n"
                        "        free(probe%zu);\n        free(twice%zu);\n",
                        i, i, i, i, i, i);
}

static const char moved_text[] =
    "/* 1, and one or two in the last place more or less, by chance: moves of one size would often "
    "cancel each other. */\n"
    "__attribute__((unused)) static double hone_moved_(int64_t i, int stream)\n"
    "{\n"
    "    uint64_t z = (uint64_t)i + 0x9e3779b97f4a7c15u * (uint64_t)(stream + 1);\n"
    "    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;\n"
    "    z = (z ^ z >> 27) * 0x94d049bb133111ebu;\n"
    "    double move = z >> 62 & 1 ? HONE_LAST_PLACE_ : 2 * HONE_LAST_PLACE_;\n"
    "    return z >> 63 ? 1 + move : 1 - move;\n"
    "}\n"
    "/* Largest move of an answer in each run of HONE_RUN_ elements, for a whole move of the "
    "inputs; "
    "in front of them for all elements of doubles, 1024 times that, where one moves by a "
    "thousandth "
    "of what elements are: rounding decides what comes of such a one. And what nothing defines: "
    "elements that are a number for one of the two inputs alone. At n: 1, there is one; 2, one "
    "moves "
    "by more than elements are. */\n"
    "#define HONE_RUN_ 512\n"
    "static int hone_kind_(double a)\n"
    "{\n"
    "    return __builtin_isfinite(a) ? 0 : a > 0 ? 1 : a < 0 ? 2 : 3;\n"
    "}\n"
    "__attribute__((unused)) static void hone_moves_(double *runs, char *undefined, const double "
    "*a, const double *b, int64_t n)\n"
    "{\n"
    "    double squares = 0, most = 0, used = 1;\n"
    "    for (int64_t i = 0; i < n; i++) {\n"
    "        double move = fabs(b[i] - a[i]);\n"
    "        int is_number = __builtin_isfinite(move);\n"
    "        if (hone_kind_(a[i]) != hone_kind_(b[i]))\n"
    "            undefined[i] = 1, undefined[n] |= 1;\n"
    "        most = is_number && move > most ? move : most;\n"
    "        squares += is_number ? a[i] * a[i] : 0;\n"
    "        used += is_number;\n"
    "        move /= 2 * HONE_LAST_PLACE_;\n"
    "        if (is_number && move > runs[1 + i / HONE_RUN_])\n"
    "            runs[1 + i / HONE_RUN_] = move;\n"
    "    }\n"
    "    if (HONE_LAST_PLACE_ > 1e-10 || !(most > 0x1p-10 * sqrt(squares / used)))\n"
    "        return;\n"
    "    runs[0] = fmax(runs[0], 0x1p10 * most / (2 * HONE_LAST_PLACE_));\n"
    "    if (squares > 0 && most > sqrt(squares / used))\n"
    "        undefined[n] |= 2;\n"
    "}\n";

static void add_moved_text(struct hone_buf *buf, const struct hone_task *task)
{
    bool is_double = true;
    for (size_t i = 0; i < task->n_inputs; i++)
        is_double = is_double && (!hone_dtype_is_float(task->inputs[i].dtype) ||
                                  task->inputs[i].dtype == HONE_DTYPE_F64);
    hone_buf_printf(buf, "#define HONE_LAST_PLACE_ %s\n", is_double ? "0x1p-52" : "0x1p-24");
    hone_buf_str(buf, moved_text);
}

static void add_moved_call(struct hone_buf *buf, const struct hone_task *task, int draw)
{
    for (size_t i = 0; i < task->n_inputs; i++) {
        HONE_AUTOFREE char *factor =
            hone_sprintf("hone_moved_(i, %zu) * ", i * MOVED_CALLS + (size_t)draw);
        add_wide_fill(buf, &task->inputs[i], i,
                      hone_dtype_is_float(task->inputs[i].dtype) ? factor : "");
    }
    add_wide_call(buf, task, "moved");
    for (size_t i = 0; i < task->n_outputs; i++)
        if (hone_dtype_is_float(task->outputs[i].dtype))
            hone_buf_printf(
                buf, "        hone_moves_(runs%zu, undefined%zu, out%zu, moved%zu, n_out%zu);\n", i,
                i, i, i, i);
}

/* How far the answer moves where the inputs do. For a sum that is near the size of what was added
 * up; for anything else it is what a difference of the inputs' last place makes of the answer. */
static void add_moves(struct hone_buf *buf, const struct hone_task *task)
{
    if (!task->is_scale_perturbed)
        return;
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(
            buf,
            "        %s *moved%zu = calloc((size_t)n_out%zu + 1, sizeof(*moved%zu));\n"
            "        double *runs%zu = calloc((size_t)n_out%zu / HONE_RUN_ + 2, "
            "sizeof(double));\n"
            "        char *undefined%zu = calloc((size_t)n_out%zu + 1, 1);\n"
            "        if (!moved%zu || !runs%zu || !undefined%zu)\n            return;\n",
            wide_type(task, task->outputs[i].dtype), i, i, i, i, i, i, i, i, i, i);
    for (int draw = 0; draw < MOVED_CALLS; draw++)
        add_moved_call(buf, task, draw);
}

/* Records of one output. Left out is what lies between rows with a pitch, and what a last place of
 * an input decides: what is a number or not, and, as few draws find few such elements, all that is no
 * number where there is one; and everything where an element moves by more than elements are. */
static void add_wide_records(struct hone_buf *buf, const struct hone_task *task, size_t i)
{
    const struct hone_tensor *t = &task->outputs[i];
    HONE_AUTOFREE char *move =
        task->is_scale_perturbed
            ? hone_sprintf("__builtin_fmax(runs%zu[0], runs%zu[1 + i / HONE_RUN_])", i, i)
            : hone_strdup("0");
    HONE_AUTOFREE char *is_defined =
        task->is_scale_perturbed
            ? hone_sprintf("!undefined%zu[i] && undefined%zu[n_out%zu] < 2 && "
                           "(!undefined%zu[n_out%zu] || __builtin_isfinite((double)out%zu[i])) && ",
                           i, i, i, i, i, i)
            : hone_strdup("");
    hone_buf_str(buf, "#define HONE_IS_OUT_(i) ");
    if (t->has_pitch)
        hone_buf_printf(buf, "((i) %% args->axes[%d] < args->axes[%d])\n", t->shape[t->rank - 1],
                        t->row_axis);
    else
        hone_buf_str(buf, "1\n");
    hone_buf_printf(buf,
                    "        double sum%zu = 0, used%zu = 0;\n"
                    "        for (int64_t i = 0; i < n_out%zu; i++)\n"
                    "            if (%sHONE_IS_OUT_(i)) {\n"
                    "                double square = (double)out%zu[i] * (double)out%zu[i];\n"
                    "                sum%zu += __builtin_isfinite(square) ? square : 0;\n"
                    "                used%zu++;\n"
                    "            }\n"
                    "        for (int64_t i = 0; i < n_out%zu; i++) {\n"
                    "            if (!(%sHONE_IS_OUT_(i)))\n"
                    "                continue;\n"
                    "            int64_t n = args->n_records++;\n"
                    "            if (n < args->n_records_max)\n"
                    "                args->records[n] = (struct hone_oracle_record){i, "
                    "(double)out%zu[i], %zu, "
                    "__builtin_fmax(__builtin_fmax(sqrt(sum%zu / __builtin_fmax(used%zu, 1)), "
                    "size%zu), %s)};\n"
                    "        }\n"
                    "#undef HONE_IS_OUT_\n",
                    i, i, i, is_defined, i, i, i, i, i, is_defined, i, i, i, i, i, move);
}

static void add_wide_entry(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_str(
        buf, "void hone_oracle_items(struct hone_oracle_args *args, int64_t first, int64_t count, "
             "const int64_t *items)\n{\n    (void)first;\n    (void)items;\n"
             "    if (count <= 0)\n        return;\n");
    add_type_check(buf, task);
    add_wide_buffers(buf, task);
    hone_buf_str(buf, "    if (1");
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, " && in%zu", i);
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, " && out%zu", i);
    hone_buf_str(buf, ") {\n");
    add_wide_call(buf, task, "out");
    add_probes(buf, task);
    add_moves(buf, task);
    for (size_t i = 0; i < task->n_outputs; i++)
        add_wide_records(buf, task, i);
    for (size_t i = 0; i < task->n_outputs && task->is_scale_perturbed; i++)
        hone_buf_printf(buf,
                        "        free(moved%zu);\n        free(runs%zu);\n"
                        "        free(undefined%zu);\n",
                        i, i, i);
    hone_buf_str(buf, "    }\n");
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "    free(in%zu);\n", i);
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(buf, "    free(out%zu);\n", i);
    hone_buf_str(buf, "}\n");
}

static const char widen_text[] =
    "#define float double\n"
    "#define expf exp\n#define exp2f exp2\n#define expm1f expm1\n#define logf log\n#define log2f "
    "log2\n"
    "#define log10f log10\n#define log1pf log1p\n#define sqrtf sqrt\n#define cbrtf cbrt\n#define "
    "fabsf fabs\n"
    "#define fminf fmin\n#define fmaxf fmax\n#define fmaf fma\n#define powf pow\n#define sinf sin\n"
    "#define cosf cos\n#define tanf tan\n#define tanhf tanh\n#define erff erf\n#define erfcf erfc\n"
    "#define floorf floor\n#define ceilf ceil\n#define roundf round\n#define rintf rint\n#define "
    "truncf trunc\n"
    "#define fmodf fmod\n#define hypotf hypot\n#define atanf atan\n#define atan2f atan2\n#define "
    "copysignf copysign\n"
    "#undef FLT_MAX\n#define FLT_MAX DBL_MAX\n#undef FLT_EPSILON\n#define FLT_EPSILON DBL_EPSILON\n"
    "#undef FLT_MIN\n#define FLT_MIN DBL_MIN\n";

char *hone_task_oracle_preamble(const struct hone_task *task)
{
    struct hone_buf buf = HONE_BUF_INIT;
    if (task->is_oracle_naive_double) {
        hone_buf_str(
            &buf,
            "#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdbool.h>\n"
            "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n");
        hone_buf_str(&buf, abi_text);
        hone_buf_str(&buf, convert_text);
        hone_buf_str(&buf, probe_text);
        if (task->is_scale_perturbed)
            add_moved_text(&buf, task);
        add_wide_prototype(&buf, task);
        add_wide_entry(&buf, task);
        if (!task->is_oracle_own)
            hone_buf_str(&buf, widen_text);
    } else {
        hone_buf_str(&buf, own_types_text);
        hone_buf_str(&buf, abi_text);
        hone_buf_str(&buf, sum_text);
        hone_buf_str(&buf, convert_text);
        add_accessors(&buf, task);
        if (task->steps) {
            add_function(&buf, task, "INIT");
            add_function(&buf, task, "STEP");
        } else {
            add_function(&buf, task, "ITEM");
        }
        add_items_entry(&buf, task);
    }
    hone_buf_str(&buf, "#line 1 \"oracle.c\"\n");
    return hone_buf_steal(&buf);
}
