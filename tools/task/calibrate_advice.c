/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a tolerance that no value of rtol can mend: the oracle has to say how large the
 * things were that were added up. */
#include "tools/task/calibrate.h"

#include <string.h>

/* A running float sum errs in proportion to its partial sums too (workspace/packs/matmul). */
#define SIZED_SUM                                                                                  \
    "    ITEM(item)\n    {\n"                                                                      \
    "        double sum = 0, size = 0, partial = 0;\n"                                             \
    "        for (%s) {\n"                                                                         \
    "            double term = %s;\n"                                                              \
    "            sum += term;\n"                                                                   \
    "            size += fabs(term);\n"                                                            \
    "            partial += fabs(sum);\n"                                                          \
    "        }\n"                                                                                  \
    "        PUT_SCALED_%s(item, sum, (partial + 4 * size) / 256);\n    }"

static bool is_number(const struct hone_tensor *tensor)
{
    return tensor->rank == 0;
}

static const char *elements_of(const struct hone_task *task, const struct hone_tensor *tensor,
                               struct hone_pool *pool)
{
    const char *text = "1";
    for (size_t d = 0; d < tensor->rank; d++)
        text = d == 0 ? task->axes[tensor->shape[d]].name
                      : hone_pool_printf(pool, "%s * %s", text, task->axes[tensor->shape[d]].name);
    return text;
}

static bool is_same_shape(const struct hone_tensor *a, const struct hone_tensor *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* One number out of one array, or of two of one shape. */
static const char *plain_sum(const struct hone_task *task, struct hone_pool *pool)
{
    const struct hone_tensor *in = task->inputs, *out = task->outputs;
    bool is_sum = task->n_inputs == 1, is_dot = task->n_inputs == 2 && is_same_shape(in, in + 1);
    if (task->n_outputs != 1 || !is_number(out) || in->rank == 0 || !(is_sum || is_dot))
        return NULL;
    const char *term = is_sum ? hone_pool_printf(pool, "%s(i)", in[0].name)
                              : hone_pool_printf(pool, "%s(i) * %s(i)", in[0].name, in[1].name);
    const char *n = elements_of(task, in, pool);
    return hone_pool_printf(
        pool,
        "if it is a plain %s, put this into oracle.c in place of all that is there, and "
        "\"oracle\": {\"items\": \"1\"} into task.json, with \"allow_lower_precision\": true "
        "(rounded "
        "inputs average out in a long sum); then hone task calibrate --write:\n" SIZED_SUM,
        is_sum ? "sum" : "dot product", hone_pool_printf(pool, "int64_t i = 0; i < %s; i++", n),
        term, out->name);
}

typedef bool row_fn(const struct hone_calibrate_row *row);

/* Are all contents that this output errs on by more than its tolerance of one sort? *any: set where
 * there are such. */
static bool errs_only_where(const struct hone_calibrate *calibrate, size_t output, row_fn *is_sort,
                            bool *any)
{
    const struct hone_calibrate_tolerance *all = calibrate->tolerances.v;
    const struct hone_calibrate_row *rows = calibrate->rows.v;
    for (size_t i = 0; i < calibrate->rows.n; i++) {
        if (strcmp(rows[i].output, all[output].output) != 0 ||
            !(rows[i].worst > all[output].now_rtol))
            continue;
        if (!is_sort(&rows[i]))
            return false;
        *any = true;
    }
    return true;
}

static bool is_denormal(const struct hone_calibrate_row *row)
{
    return strcmp(row->distribution, "denormal") == 0;
}

/* Normal content of stored inputs is not plain, and the judge never leaves it out. */
static bool is_structured(const struct hone_calibrate_row *row)
{
    return !row->is_plain && strcmp(row->distribution, "normal") != 0;
}

bool hone_calibrate_is_flushed(const struct hone_calibrate *calibrate)
{
    bool any = false;
    for (size_t o = 0; o < calibrate->tolerances.n; o++)
        if (!errs_only_where(calibrate, o, is_denormal, &any))
            return false;
    return any;
}

bool hone_calibrate_errs_on_structure(const struct hone_task *task,
                                      const struct hone_calibrate *calibrate, size_t output)
{
    bool any = false;
    return task->is_oracle_torch && errs_only_where(calibrate, output, is_structured, &any) && any;
}

const char *hone_calibrate_item(const struct hone_task *task, size_t output, struct hone_pool *pool)
{
    return hone_pool_printf(pool, SIZED_SUM, "...", "...", task->outputs[output].name);
}

const char *hone_calibrate_advice(const struct hone_task *task, size_t output,
                                  struct hone_pool *pool)
{
    const struct hone_tensor *out = &task->outputs[output];
    if (!hone_dtype_is_float(out->dtype))
        return "its answer on random inputs must not be one that needs no work: give inputs a "
               "role, a "
               "scale or a shift, or stored content of their own (\"stored\", docs/tasks.md)";
    const char *text = plain_sum(task, pool);
    if (text != NULL)
        return text;
    return hone_pool_printf(
        pool,
        "let the oracle say how large the things are that it adds up%s. For sums, with "
        "\"items\": \"%s\" in task.json, then hone task calibrate --write (docs/tasks.md, \"The "
        "oracle\"):\n%s",
        task->is_oracle_naive_double ? " (a naive_double oracle cannot)" : "",
        elements_of(task, out, pool), hone_calibrate_item(task, output, pool));
}
