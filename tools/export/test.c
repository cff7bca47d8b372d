/* SPDX-License-Identifier: Apache-2.0 */
/* The test program of an export, and the program that makes its expected values from the pack's
 * oracle. Both fill their inputs with the same text, so that they hold the same numbers.
 *
 * Inputs are multiples of 1/64 up to 2, exact in every type, drawn by a fixed formula from element
 * and tensor. Indices, offsets, masks and probabilities keep what their role promises. Of a long
 * output one element in every block is recorded. */
#include "tools/export/export_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EDGE_FIRST   4
#define EDGE_LAST    12
#define MOST_BYTES   (256 << 10) /* of one case's tensors */
#define MOST_FLOPS   1e8
#define TILED_LENGTH 67

static const char common_text[] =
    "static uint64_t drawn(uint64_t i, uint64_t tensor)\n"
    "{\n"
    "    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + tensor * 0xbf58476d1ce4e5b9u;\n"
    "    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;\n"
    "    x = (x ^ x >> 27) * 0x94d049bb133111ebu;\n"
    "    return x ^ x >> 31;\n"
    "}\n"
    "\n"
    "__attribute__((unused)) static uint16_t to_bfloat16(double v)\n"
    "{\n"
    "    union { float f; uint32_t bits; } word = {(float)v};\n"
    "    return (uint16_t)(word.bits >> 16);\n"
    "}\n"
    "\n"
    "/* Of numbers that are not too small; what does not fit is cut. */\n"
    "__attribute__((unused)) static uint16_t to_float16(double v)\n"
    "{\n"
    "    int e = 0;\n"
    "    double m = frexp(fabs(v), &e);\n"
    "    if (m == 0 || e < -13)\n"
    "        return 0;\n"
    "    return (uint16_t)((v < 0 ? 0x8000 : 0) | (e + 14) << 10 | ((int)(m * 2048) - 1024));\n"
    "}\n"
    "\n"
    "__attribute__((unused)) static double from_bfloat16(uint16_t bits)\n"
    "{\n"
    "    union { uint32_t bits; float f; } word = {(uint32_t)bits << 16};\n"
    "    return word.f;\n"
    "}\n"
    "\n"
    "__attribute__((unused)) static double from_float16(uint16_t bits)\n"
    "{\n"
    "    int e = bits >> 10 & 31, m = bits & 1023;\n"
    "    double v = e == 31  ? (m ? NAN : INFINITY)\n"
    "               : e == 0 ? ldexp(m, -24)\n"
    "                        : ldexp(m + 1024, e - 25);\n"
    "    return bits & 0x8000 ? -v : v;\n"
    "}\n"
    "\n"
    "static void *room(int64_t n, size_t size)\n"
    "{\n"
    "    void *p = calloc((size_t)n + 1, size);\n"
    "    if (p == NULL) {\n"
    "        printf(\"no memory\\n\");\n"
    "        exit(2);\n"
    "    }\n"
    "    return p;\n"
    "}\n";

void hone_export_note(struct hone_export_work *work, const char *text)
{
    if (work->n_notes < HONE_EXPORT_NOTES)
        work->notes[work->n_notes++] = text;
}

/* How a value of the type is stored on the host, and read. */
static const char *store_word(enum hone_dtype dtype)
{
    return dtype == HONE_DTYPE_BF16 ? "to_bfloat16" : dtype == HONE_DTYPE_F16 ? "to_float16" : "";
}

static const char *load_word(enum hone_dtype dtype)
{
    return dtype == HONE_DTYPE_BF16  ? "from_bfloat16"
           : dtype == HONE_DTYPE_F16 ? "from_float16"
                                     : "(double)";
}

static int64_t elements(const struct hone_export_work *work, const struct hone_tensor *tensor,
                        const struct hone_workload *workload)
{
    return hone_tensor_elements(work->task, tensor, workload);
}

/* ---- cases ---- */

static bool is_small(const struct hone_export_work *work, const struct hone_workload *workload)
{
    const struct hone_task *task = work->task;
    int64_t bytes = 0;
    double flops = 0;

    for (size_t i = 0; i < task->n_inputs; i++)
        bytes +=
            elements(work, &task->inputs[i], workload) * hone_dtype_bytes(task->inputs[i].dtype);
    for (size_t i = 0; i < task->n_outputs; i++)
        bytes +=
            elements(work, &task->outputs[i], workload) * hone_dtype_bytes(task->outputs[i].dtype);
    return bytes <= MOST_BYTES && hone_task_eval(task, task->flops, workload, &flops, NULL) == 0 &&
           flops <= MOST_FLOPS;
}

/* An odd number of the axis' multiples, past two tiles of the usual lengths: code for whole tiles
 * and code for what remains both run. 0: the axis is shorter. */
static int64_t tiled_length(const struct hone_axis *axis)
{
    int64_t multiple = axis->multiple > 1 ? axis->multiple : 1;
    int64_t length = multiple * ((TILED_LENGTH + multiple - 1) / multiple | 1);

    return length >= axis->min && length <= axis->max ? length : 0;
}

/* The smoke size with every axis that may be as long made so: all at once, else one by one. */
static bool tiled_case(const struct hone_export_work *work, const struct hone_workload *smoke,
                       struct hone_workload *ret)
{
    const struct hone_task *task = work->task;
    struct hone_workload all = *smoke, now = *smoke;
    bool has_any = false;

    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR && tiled_length(&task->axes[a]) > 0)
            all.axes[a] = tiled_length(&task->axes[a]);
    if (hone_task_resolve(task, &all, NULL) == 0 && is_small(work, &all)) {
        *ret = all;
        return true;
    }
    for (size_t a = 0; a < task->n_axes; a++) {
        struct hone_workload next = now;
        int64_t length = tiled_length(&task->axes[a]);
        if (task->axes[a].kind != HONE_AXIS_VAR || length <= now.axes[a])
            continue;
        next.axes[a] = length;
        if (hone_task_resolve(task, &next, NULL) == 0 && is_small(work, &next)) {
            now = next;
            has_any = true;
        }
    }
    *ret = now;
    return has_any;
}

int hone_export_cases(const struct hone_export_work *work, struct hone_export_cases *ret,
                      struct hone_err *err)
{
    static const uint8_t key[16] = {0}; /* the same sizes each time */
    struct hone_workload edge;
    int rc = hone_task_smoke(work->task, &ret->v[0], err);

    if (rc < 0)
        return rc;
    ret->n = 1;
    if (tiled_case(work, &ret->v[0], &ret->v[1]))
        ret->n = 2;
    for (uint32_t i = EDGE_FIRST; i <= EDGE_LAST && ret->n < HONE_EXPORT_CASES; i++)
        if (hone_task_edge(work->task, key, i, &edge, NULL) == 0 && is_small(work, &edge))
            ret->v[ret->n++] = edge;
    return 0;
}

/* ---- inputs ---- */

/* The same of a role whose elements' places matter (hone_role_is_placed). */
static const char *placed_text(const struct hone_export_work *work,
                               const struct hone_tensor *tensor, const char *drawn,
                               const struct hone_workload *workload)
{
    long long row = (long long)workload->axes[tensor->shape[tensor->rank - 1]];
    long long depth = (long long)workload->axes[tensor->shape[tensor->rank - 2]];

    if (tensor->role == HONE_ROLE_ADDITIVE_MASK)
        return hone_pool_printf(
            work->pool, "((%s & 1) || i %% %lld == i / %lld %% %lld %% %lld ? 0.0 : -1.0 / 0.0)",
            drawn, row, row, depth, row);
    return hone_pool_printf(work->pool,
                            "(i %% %lld %s i / %lld %% %lld ? 0.0 : i %% %lld == i / %lld %% %lld "
                            "? (double)(%s %% 65 + 32) / 64 : ((double)(%s %% 257) - 128) / %lld)",
                            row, tensor->role == HONE_ROLE_TRIANGULAR ? ">" : "<", row, depth, row,
                            row, depth, drawn, drawn, 128 * (row > depth ? row : depth));
}

/* The value of element i as C text. */
static const char *value_text(const struct hone_export_work *work, size_t t,
                              const struct hone_workload *workload, int64_t n)
{
    const struct hone_tensor *tensor = &work->task->inputs[t];
    const char *drawn = hone_pool_printf(work->pool, "drawn((uint64_t)i, %zu)", t);
    int64_t bound = tensor->bound_axis >= 0 ? workload->axes[tensor->bound_axis] : 1;

    if (hone_role_is_placed(tensor->role))
        return placed_text(work, tensor, drawn, workload);
    if (tensor->role == HONE_ROLE_INDEX)
        return hone_pool_printf(work->pool, "(int64_t)(%s %% %lld)", drawn,
                                (long long)hone_max_i64(bound, 1));
    if (tensor->role == HONE_ROLE_OFFSETS) { /* squares: rows of uneven length, some empty */
        long long last = (long long)hone_max_i64(n - 1, 1);
        return hone_pool_printf(work->pool,
                                "(int64_t)((double)i * (double)i / %lld.0 / %lld.0 * "
                                "%lld.0)",
                                last, last, (long long)bound);
    }
    if (tensor->role == HONE_ROLE_MASK || tensor->dtype == HONE_DTYPE_BOOL)
        return hone_pool_printf(work->pool, "(int64_t)(%s & 1)", drawn);
    if (tensor->dtype == HONE_DTYPE_U8)
        return hone_pool_printf(work->pool, "(int64_t)(%s %% 256)", drawn);
    if (hone_dtype_is_unsigned(tensor->dtype))
        return hone_pool_printf(work->pool, "(int64_t)(%s %% 17)", drawn);
    if (!hone_dtype_is_float(tensor->dtype))
        return hone_pool_printf(work->pool, "(int64_t)(%s %% 17) - 8", drawn);
    if (tensor->role == HONE_ROLE_POSITIVE || tensor->role == HONE_ROLE_PROBABILITY)
        return hone_pool_printf(work->pool, "(double)(%s %% 128 + 1) / 64", drawn);
    return hone_pool_printf(work->pool, "((double)(%s %% 257) - 128) / 64", drawn);
}

/* Rows that sum to 1. */
static void add_probability(const struct hone_export_work *work, struct hone_buf *text, size_t t,
                            const struct hone_workload *workload, int64_t n)
{
    const struct hone_tensor *tensor = &work->task->inputs[t];
    int64_t row = tensor->rank > 0 ? workload->axes[tensor->shape[tensor->rank - 1]] : 1;

    hone_buf_printf(text,
                    "    for (int64_t row = 0; row < %lld; row += %lld) {\n"
                    "        double sum = 0;\n"
                    "        for (int64_t i = row; i < row + %lld; i++)\n"
                    "            sum += %s;\n"
                    "        for (int64_t i = row; i < row + %lld; i++)\n"
                    "            in%zu[i] = (%s)%s(%s / sum);\n"
                    "    }\n",
                    (long long)n, (long long)hone_max_i64(row, 1), (long long)row,
                    value_text(work, t, workload, n), (long long)row, t,
                    hone_dtype_c_name(tensor->dtype), store_word(tensor->dtype),
                    hone_pool_printf(work->pool, "(%s)", value_text(work, t, workload, n)));
}

static void add_inputs(const struct hone_export_work *work, struct hone_buf *text,
                       const struct hone_workload *workload)
{
    for (size_t t = 0; t < work->task->n_inputs; t++) {
        const struct hone_tensor *tensor = &work->task->inputs[t];
        const char *type = hone_dtype_c_name(tensor->dtype);
        int64_t n = elements(work, tensor, workload);
        hone_buf_printf(text, "    %s *in%zu = (%s *)room(%lld, sizeof(*in%zu)); /* %s */\n", type,
                        t, type, (long long)n, t, tensor->name);
        if (tensor->role == HONE_ROLE_PROBABILITY)
            add_probability(work, text, t, workload, n);
        else
            hone_buf_printf(text,
                            "    for (int64_t i = 0; i < %lld; i++)\n"
                            "        in%zu[i] = (%s)%s(%s);\n",
                            (long long)n, t, type, store_word(tensor->dtype),
                            value_text(work, t, workload, n));
    }
}

/* ---- the oracle's program ---- */

static const char oracle_abi[] =
    "struct hone_oracle_record { int64_t index; double value; int64_t output; double scale; };\n"
    "struct hone_oracle_args {\n"
    "    const void *const *inputs; const int32_t *input_types; const double *scalars; const "
    "int64_t *axes;\n"
    "    double *const *prev; double *const *next; int64_t step;\n"
    "    struct hone_oracle_record *records; int64_t n_records_max; int64_t n_records;\n"
    "};\n"
    "void hone_oracle_items(struct hone_oracle_args *, int64_t, int64_t, const int64_t *);\n"
    "static void put(int c, const struct hone_oracle_record *r)\n"
    "{\n"
    "    printf(\"v %d %d %lld %.17g %.17g\\n\", c, (int)r->output, (long long)r->index, r->value, "
    "r->scale);\n"
    "}\n";

/* One element of each block of a long output; %s: is element `i` of `n` wanted? */
static void add_wanted(struct hone_buf *text)
{
    hone_buf_printf(text,
                    "static int is_wanted(int64_t i, int64_t n)\n"
                    "{\n"
                    "    int64_t block = (n + %d) / %d;\n"
                    "    return i %% block == (int64_t)(drawn((uint64_t)(i / block), 99) %% "
                    "(uint64_t)block) || i == n - 1;\n"
                    "}\n",
                    HONE_LIMIT_EXPORT_VALUES - 1, HONE_LIMIT_EXPORT_VALUES);
}

static void add_items(const struct hone_export_work *work, struct hone_buf *text, size_t c,
                      const struct hone_workload *workload, int64_t n_items)
{
    const struct hone_task *task = work->task;
    int64_t n_all = 0;

    hone_buf_str(text, "    static const int64_t sizes[] = {");
    for (size_t o = 0; o < task->n_outputs; o++) {
        int64_t n = elements(work, &task->outputs[o], workload);
        hone_buf_printf(text, "%lld, ", (long long)n);
        n_all += n;
    }
    hone_buf_printf(text,
                    "};\n"
                    "    args.n_records_max = 2 * %lld;\n"
                    "    args.records = (struct hone_oracle_record *)room(args.n_records_max, "
                    "sizeof(*args.records));\n"
                    "    hone_oracle_items(&args, 0, %lld, NULL);\n"
                    "    if (args.n_records < 0 || args.n_records > args.n_records_max)\n"
                    "        exit(3);\n"
                    "    for (int64_t k = 0; k < args.n_records; k++)\n"
                    "        if (is_wanted(args.records[k].index, "
                    "sizes[args.records[k].output]))\n"
                    "            put(%zu, &args.records[k]);\n",
                    (long long)n_all, (long long)n_items, c);
}

static void add_steps(const struct hone_export_work *work, struct hone_buf *text, size_t c,
                      const struct hone_workload *workload, int64_t n_items, int64_t n_steps)
{
    const struct hone_task *task = work->task;

    hone_buf_printf(text, "    double *state[2][%zu];\n", task->n_outputs);
    for (size_t o = 0; o < task->n_outputs; o++)
        for (int side = 0; side < 2; side++)
            hone_buf_printf(text, "    state[%d][%zu] = (double *)room(%lld, sizeof(double));\n",
                            side, o, (long long)elements(work, &task->outputs[o], workload));
    hone_buf_printf(text,
                    "    double over_all[%zu] = {0};\n"
                    "    for (args.step = 0; args.step <= %lld; args.step++) {\n"
                    "        args.next = state[args.step %% 2];\n"
                    "        args.prev = state[(args.step + 1) %% 2];\n"
                    "        hone_oracle_items(&args, 0, %lld, NULL);\n",
                    task->n_outputs, (long long)n_steps, (long long)n_items);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(
            text,
            "        for (int64_t i = 0; i < %lld; i++)\n"
            "            over_all[%zu] += args.next[%zu][i] * args.next[%zu][i] / %lld.0;\n",
            (long long)elements(work, &task->outputs[o], workload), o, o, o,
            (long long)n_steps + 1);
    hone_buf_str(text, "    }\n");
    for (size_t o = 0; o < task->n_outputs; o++) {
        long long n = (long long)elements(work, &task->outputs[o], workload);
        hone_buf_printf(text,
                        "    {\n"
                        "        const double *end = state[%lld][%zu];\n"
                        "        double squares = 0;\n"
                        "        for (int64_t i = 0; i < %lld; i++)\n"
                        "            squares += end[i] * end[i];\n"
                        "        squares = fmax(squares, over_all[%zu]);\n"
                        "        for (int64_t i = 0; i < %lld; i++)\n"
                        "            if (is_wanted(i, %lld)) {\n"
                        "                struct hone_oracle_record r = {i, end[i], %zu, "
                        "sqrt(squares / %lld.0)};\n"
                        "                put(%zu, &r);\n"
                        "            }\n"
                        "    }\n",
                        (long long)n_steps % 2, o, n, o, n, n, o, n, c);
    }
}

static int64_t formula(const struct hone_export_work *work, const char *text,
                       const struct hone_workload *workload)
{
    double value = 0;

    (void)hone_task_eval(work->task, text, workload, &value, NULL);
    return (int64_t)value;
}

const char *hone_export_oracle_main(const struct hone_export_work *work,
                                    const struct hone_export_cases *cases)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const struct hone_task *task = work->task;

    hone_buf_str(&text, "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
                        "#include <stdlib.h>\n");
    hone_buf_str(&text, common_text);
    hone_buf_str(&text, oracle_abi);
    add_wanted(&text);
    for (size_t c = 0; c < cases->n; c++) {
        const struct hone_workload *workload = &cases->v[c];
        bool is_whole = task->is_oracle_naive_double;
        int64_t n_items = is_whole ? 1 : formula(work, task->items, workload);
        hone_buf_printf(&text, "static void case_%zu(void)\n{\n", c);
        add_inputs(work, &text, workload);
        hone_buf_str(&text, "    const void *const inputs[] = {");
        for (size_t t = 0; t < task->n_inputs; t++)
            hone_buf_printf(&text, "in%zu, ", t);
        hone_buf_str(&text, "};\n    static const int64_t axes[] = {");
        for (size_t a = 0; a < task->n_axes; a++)
            hone_buf_printf(&text, "%lld, ", (long long)workload->axes[a]);
        hone_buf_str(&text, "0};\n    static const double scalars[] = {");
        for (size_t s = 0; s < task->n_scalars; s++)
            hone_buf_printf(&text, "%.17g, ", task->scalars[s].value);
        hone_buf_str(&text, "0};\n    struct hone_oracle_args args = {.inputs = inputs, .scalars = "
                            "scalars, .axes = axes};\n");
        if (task->steps != NULL)
            add_steps(work, &text, c, workload, n_items, formula(work, task->steps, workload));
        else
            add_items(work, &text, c, workload, n_items);
        hone_buf_str(&text, "}\n");
    }
    hone_buf_str(&text, "int main(void)\n{\n");
    for (size_t c = 0; c < cases->n; c++)
        hone_buf_printf(&text, "    case_%zu();\n", c);
    hone_buf_str(&text, "    return 0;\n}\n");
    return hone_pool_strdup(work->pool, text.data);
}

/* ---- what it said ---- */

static bool read_value(const struct hone_export_work *work, const struct hone_export_cases *cases,
                       const char *line, struct hone_export_value *ret)
{
    int c = -1, o = -1, n = 0;
    long long index = -1;
    double value = 0, scale = 0;

    if (sscanf(line, "v %d %d %lld %lf %lf%n", &c, &o, &index, &value, &scale, &n) != 5 ||
        line[n] != '\n' || c < 0 || (size_t)c >= cases->n || o < 0 ||
        (size_t)o >= work->task->n_outputs || index < 0 ||
        index >= elements(work, &work->task->outputs[o], &cases->v[c]))
        return false;
    *ret = (struct hone_export_value){
        .case_number = c,
        .output = o,
        .index = index,
        .value = value,
        .limit = hone_tolerance_limit(&work->task->tolerance[o], value, scale)};
    return true;
}

int hone_export_read_values(const struct hone_export_work *work, const char *text,
                            struct hone_export_cases *cases, struct hone_err *err)
{
    size_t most = HONE_EXPORT_CASES * work->task->n_outputs * (HONE_LIMIT_EXPORT_VALUES + 1);
    struct hone_export_value *values = hone_pool_alloc(work->pool, (most + 1) * sizeof(*values));
    size_t n = 0;

    for (const char *at = text != NULL ? text : ""; *at != '\0'; at += strcspn(at, "\n") + 1) {
        if (n == most || !read_value(work, cases, at, &values[n]))
            return hone_fail(err, HONE_E_TARGET, "the oracle of task '%s' answered '%.*s'",
                             work->task->name, (int)hone_min_i64((int64_t)strcspn(at, "\n"), 80),
                             at);
        n += isfinite(values[n].value) && isfinite(values[n].limit);
        if (strchr(at, '\n') == NULL)
            break;
    }
    if (n == 0)
        return hone_fail(err, HONE_E_TARGET,
                         "the oracle of task '%s' gave no value to compare with", work->task->name);
    cases->values = (struct hone_array){.v = values, .n = n};
    return 0;
}

/* ---- the test ---- */

static void add_expected(const struct hone_export_work *work, struct hone_buf *text, size_t c,
                         size_t o, const struct hone_export_cases *cases)
{
    const struct hone_export_value *values = cases->values.v;

    hone_buf_printf(text, "static const struct expected case_%zu_%s[] = {\n", c,
                    work->task->outputs[o].name);
    for (size_t i = 0; i < cases->values.n; i++)
        if ((size_t)values[i].case_number == c && (size_t)values[i].output == o)
            hone_buf_printf(text, "    {%lld, %.17g, %.3g},\n", (long long)values[i].index,
                            values[i].value, values[i].limit);
    hone_buf_str(text, "    {-1, 0, 0}};\n\n");
}

/* What the function gets for a parameter of this name. */
static void add_argument(const struct hone_export_work *work, struct hone_buf *text,
                         const char *name, const struct hone_workload *workload)
{
    const struct hone_task *task = work->task;
    size_t before = text->len;

    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++) {
        size_t o = i - task->n_inputs;
        bool is_input = i < task->n_inputs;
        const struct hone_tensor *tensor = is_input ? &task->inputs[i] : &task->outputs[o];
        if (strcmp(tensor->name, name) != 0)
            continue;
        hone_buf_printf(text, work->is_cuda ? "device_pointer{device_%s%zu}" : "(void *)%s%zu",
                        is_input ? "in" : "out", is_input ? i : o);
    }
    for (size_t i = 0; i < task->n_scalars; i++)
        if (strcmp(task->scalars[i].name, name) == 0)
            hone_buf_printf(text, "(%s)%.17g", hone_dtype_c_name(task->scalars[i].dtype),
                            task->scalars[i].value);
    for (size_t i = 0; i < task->n_axes; i++)
        if (strcmp(task->axes[i].name, name) == 0)
            hone_buf_printf(text, "%lld", (long long)workload->axes[i]);
    if (text->len == before) /* a launcher's stream: the default one */
        hone_buf_str(text, "0");
}

static bool has_name(const char *names, const char *name)
{
    for (; *names != '\0'; names += strlen(names) + 1)
        if (strcmp(names, name) == 0)
            return true;
    return false;
}

/* What is read and written begins with its old content. */
static void add_old_content(const struct hone_export_work *work,
                            const struct hone_export_function *function, struct hone_buf *text,
                            const struct hone_workload *workload)
{
    const struct hone_task *task = work->task;

    for (size_t i = 0; i < task->n_inputs && function->is_users; i++) {
        size_t o = hone_export_old_of(task, &task->inputs[i]);
        if (o < task->n_outputs && !has_name(function->params, task->inputs[i].name))
            hone_buf_printf(text, "    memcpy(out%zu, in%zu, %lld);\n", o, i,
                            (long long)(elements(work, &task->inputs[i], workload) *
                                        hone_dtype_bytes(task->inputs[i].dtype)));
    }
}

static void add_call(const struct hone_export_work *work,
                     const struct hone_export_function *function, struct hone_buf *text,
                     const struct hone_workload *workload)
{
    const struct hone_task *task = work->task;

    hone_buf_str(text, "    ");
    for (size_t o = 0; o < task->n_outputs && function->result != NULL; o++)
        if (strcmp(task->outputs[o].name, function->result) == 0)
            hone_buf_printf(text, "out%zu[0] = ", o);
    hone_buf_printf(text, "%s(", function->name);
    for (const char *name = function->params; *name != '\0'; name += strlen(name) + 1) {
        hone_buf_str(text, name == function->params ? "" : ", ");
        add_argument(work, text, name, workload);
    }
    hone_buf_str(text, work->is_cuda && !function->is_users ? ", 0);\n" : ");\n");
}

static void add_device_copies(const struct hone_export_work *work, struct hone_buf *text,
                              const struct hone_workload *workload, bool is_before)
{
    const struct hone_task *task = work->task;

    for (size_t i = 0; i < task->n_inputs && is_before; i++)
        hone_buf_printf(text, "    void *device_in%zu = to_device(in%zu, %lld);\n", i, i,
                        (long long)(elements(work, &task->inputs[i], workload) *
                                    hone_dtype_bytes(task->inputs[i].dtype)));
    for (size_t o = 0; o < task->n_outputs; o++) {
        long long bytes = (long long)(elements(work, &task->outputs[o], workload) *
                                      hone_dtype_bytes(task->outputs[o].dtype));
        if (is_before)
            hone_buf_printf(text, "    void *device_out%zu = to_device(out%zu, %lld);\n", o, o,
                            bytes);
        else
            hone_buf_printf(text,
                            "    ok(cudaMemcpy(out%zu, device_out%zu, %lld, "
                            "cudaMemcpyDeviceToHost));\n",
                            o, o, bytes);
    }
}

static void add_case(const struct hone_export_work *work,
                     const struct hone_export_function *function, struct hone_buf *text, size_t c,
                     const struct hone_export_cases *cases)
{
    const struct hone_task *task = work->task;
    const struct hone_workload *workload = &cases->v[c];

    for (size_t o = 0; o < task->n_outputs; o++)
        add_expected(work, text, c, o, cases);
    hone_buf_printf(text, "static int case_%zu(void)\n{\n    int n_bad = 0;\n", c);
    add_inputs(work, text, workload);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *type = hone_dtype_c_name(task->outputs[o].dtype);
        long long n = (long long)elements(work, &task->outputs[o], workload);
        hone_buf_printf(text,
                        "    %s *out%zu = (%s *)room(%lld, sizeof(*out%zu)); /* %s */\n"
                        "    memset(out%zu, 0x%s, %lld * sizeof(*out%zu));\n",
                        type, o, type, n, o, task->outputs[o].name, o,
                        hone_dtype_is_float(task->outputs[o].dtype) ? "ff" : "55", n, o);
    }
    add_old_content(work, function, text, workload);
    if (work->is_cuda)
        add_device_copies(work, text, workload, true);
    add_call(work, function, text, workload);
    if (work->is_cuda) {
        hone_buf_str(text, "    ok(cudaDeviceSynchronize());\n");
        add_device_copies(work, text, workload, false);
    }
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(text,
                        "    for (const struct expected *e = case_%zu_%s; e->index >= 0; e++)\n"
                        "        n_bad += is_bad(\"%s\", e, %s(out%zu[e->index]));\n",
                        c, task->outputs[o].name, task->outputs[o].name,
                        load_word(task->outputs[o].dtype), o);
    for (size_t t = 0; t < task->n_inputs; t++)
        hone_buf_printf(text, "    free(in%zu);\n", t);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(text, "    free(out%zu);\n", o);
    hone_buf_str(text, "    return n_bad;\n}\n\n");
}

static const char cuda_text[] =
    "static void ok(cudaError_t code)\n"
    "{\n"
    "    if (code == cudaSuccess)\n"
    "        return;\n"
    "    printf(\"%s\\n\", cudaGetErrorString(code));\n"
    "    exit(2);\n"
    "}\n"
    "\n"
    "static void *to_device(const void *host, size_t bytes)\n"
    "{\n"
    "    void *p = NULL;\n"
    "    ok(cudaMalloc(&p, bytes));\n"
    "    ok(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));\n"
    "    return p;\n"
    "}\n"
    "\n"
    "struct device_pointer { /* converts to a pointer of the type that is asked for */\n"
    "    void *p;\n"
    "    template <class T> operator T *() const { return (T *)p; }\n"
    "};\n"
    "\n";

static const char check_text[] =
    "struct expected { /* what the task's reference says, in double precision */\n"
    "    int64_t index;\n"
    "    double value, limit; /* the result may be that far off */\n"
    "};\n"
    "\n"
    "static int is_bad(const char *name, const struct expected *e, double got)\n"
    "{\n"
    "    if (fabs(got - e->value) <= e->limit)\n"
    "        return 0;\n"
    "    printf(\"%s[%lld] = %.17g, expected %.17g, at most %.3g off\\n\", name, (long "
    "long)e->index, got,\n"
    "           e->value, e->limit);\n"
    "    return 1;\n"
    "}\n"
    "\n";

const char *hone_export_test(const struct hone_export_work *work,
                             const struct hone_export_function *function,
                             const struct hone_export_cases *cases)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const char *name = function->name;

    if (work->is_cuda)
        hone_buf_printf(&text, "/* nvcc -std=c++17 -arch=%s -o %s_test %s_test.cu %s.o\n",
                        hone_export_arch(work), name, name, name);
    else
        hone_buf_printf(&text, "/* gcc -O1 -fopenmp -o %s_test %s_test.c %s.o -lm\n", name, name,
                        name);
    hone_buf_printf(&text,
                    " *\n * Calls %s on small inputs and compares with what the task's reference "
                    "computed.\n"
                    " * Exit status 0: every compared element is right. */\n"
                    "#include \"%s.h\"\n\n"
                    "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
                    "#include <stdlib.h>\n#include <string.h>\n\n",
                    name, name);
    hone_buf_str(&text, common_text);
    hone_buf_str(&text, "\n");
    hone_buf_str(&text, check_text);
    hone_buf_str(&text, work->is_cuda ? cuda_text : "");
    for (size_t c = 0; c < cases->n; c++)
        add_case(work, function, &text, c, cases);
    hone_buf_str(&text, "int main(void)\n{\n    int n_bad = 0");
    for (size_t c = 0; c < cases->n; c++)
        hone_buf_printf(&text, " + case_%zu()", c);
    hone_buf_printf(&text,
                    ";\n    printf(\"%s: %%d of %zu elements are wrong\\n\", n_bad);\n"
                    "    return n_bad != 0;\n}\n",
                    name, cases->values.n);
    return hone_pool_strdup(work->pool, text.data);
}
