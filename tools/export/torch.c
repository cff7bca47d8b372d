/* SPDX-License-Identifier: Apache-2.0 */
/* Forms torch and kernelbench: the kernel as an operator of PyTorch, or as ModelNew.
 *
 * What the kernel takes and gives stands as JSON at the top of the Python files; the rest of them is
 * the same for every export (torch_op.py and its neighbours). */
#include "tools/export/export_internal.h"

#include <string.h>

#include "workspace/base/embed.h"
#include "workspace/base/json.h"

HONE_EMBED(hone_export_op_text, "tools/export/torch_op.py");
HONE_EMBED(hone_export_module_text, "tools/export/torch_module.py");
HONE_EMBED(hone_export_model_text, "tools/export/torch_model.py");
HONE_EMBED(hone_export_test_text, "tools/export/torch_test.py");

static const char record_mark[] = "# hone: ";

static const char *after_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end != NULL ? end + 1 : "";
}

/* The record of the import and the module behind it; HONE_E_ARG: the task was not imported. */
static int read_module(const struct hone_export_work *work, struct hone_json **ret_record,
                       const char **ret_module, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = strlen(record_mark);
    int rc = hone_task_oracle_source(work->task, &text, err);

    if (rc < 0)
        return rc;
    if (strncmp(text, record_mark, len) != 0)
        return hone_fail(err, HONE_E_CORRUPT, "oracle.py of task '%s' has no record of its import",
                         work->task->name);
    *ret_module = hone_pool_strdup(work->pool, after_line(text));
    return hone_json_parse(text + len, strcspn(text + len, "\n"), ret_record, err);
}

int hone_export_record(const struct hone_export_work *work, struct hone_json **ret,
                       struct hone_err *err)
{
    const char *module = NULL;

    return work->task->is_oracle_torch ? read_module(work, ret, &module, err) : 0;
}

static int check_shapes(const struct hone_task *task, struct hone_err *err)
{
    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++) {
        size_t o = i - task->n_inputs;
        const struct hone_tensor *t = i < task->n_inputs ? &task->inputs[i] : &task->outputs[o];
        if (t->has_pitch)
            return hone_fail_at(err, HONE_E_ARG, "form",
                                "'%s' has padded rows, which no contiguous tensor has", t->name);
    }
    return 0;
}

/* What the kernel takes and gives; source NULL: it stands beside the file. record is borrowed. */
static const char *spec_text(const struct hone_export_work *work, const char *name,
                             const char *compile, const char *source,
                             const struct hone_json *record)
{
    static const char *const kept[] = {"axes",    "inputs",      "outputs",
                                       "scalars", "constraints", "tolerance"};
    HONE_AUTOJSON struct hone_json *task = hone_task_describe(work->task);
    HONE_AUTOJSON struct hone_json *spec = hone_json_new_object();

    hone_json_set_str(spec, "name", name);
    hone_json_set_str(spec, "device", work->is_cuda ? "cuda" : "cpu");
    hone_json_set_str(spec, "compile", compile);
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++) {
        struct hone_json *part = hone_json_detach(task, kept[i]);
        hone_json_set(spec, kept[i], part != NULL ? part : hone_json_new_object());
    }
    if (record != NULL)
        hone_json_set(spec, "record", hone_json_copy(record));
    if (source != NULL)
        hone_json_set_str(spec, "source", source);
    HONE_AUTOFREE char *text = hone_json_print(spec);
    return hone_pool_printf(work->pool, "SPEC_TEXT = r\"\"\"%s\"\"\"\n\n", text);
}

static const char *cases_text(const struct hone_export_work *work,
                              const struct hone_export_cases *cases)
{
    HONE_AUTOJSON struct hone_json *all = hone_json_new_array();
    const struct hone_export_value *values = cases->values.v;

    for (size_t c = 0; c < cases->n; c++) {
        struct hone_json *one = hone_json_new_object(), *sizes = hone_json_new_object();
        struct hone_json *expected = hone_json_new_array();
        for (size_t a = 0; a < work->task->n_axes; a++)
            hone_json_set_i64(sizes, work->task->axes[a].name, cases->v[c].axes[a]);
        for (size_t o = 0; o < work->task->n_outputs; o++) {
            struct hone_json *rows = hone_json_new_array();
            for (size_t i = 0; i < cases->values.n; i++) {
                if ((size_t)values[i].case_number != c || (size_t)values[i].output != o)
                    continue;
                struct hone_json *row = hone_json_new_array();
                hone_json_push(row, hone_json_new_i64(values[i].index));
                hone_json_push(row, hone_json_new_f64(values[i].value));
                hone_json_push(row, hone_json_new_f64(values[i].limit));
                hone_json_push(rows, row);
            }
            hone_json_push(expected, rows);
        }
        hone_json_set(one, "sizes", sizes);
        hone_json_set(one, "expected", expected);
        hone_json_push(all, one);
    }
    HONE_AUTOFREE char *text = hone_json_print(all);
    return hone_pool_printf(work->pool, "CASES_TEXT = r\"\"\"%s\"\"\"\n", text);
}

/* The head of NAME.c as comments of Python. */
static const char *python_head(const struct hone_export_work *work, const char *what,
                               const struct hone_export *export)
{
    const char *commit = work->commit != NULL ? work->commit : "none: the task's baseline";

    return hone_pool_printf(work->pool,
                            "# %s: %s\n# task      %s (%.12s), target %s\n# commit    %s\n"
                            "# verdict   %s\n"
                            "# Shapes, dtypes, contiguity and device are checked; the values of "
                            "index tensors are not.\n",
                            export->name, what, work->task->name, work->task->hash, work->target,
                            commit, export->verdict);
}

int hone_export_torch(const struct hone_export_work *work, const struct hone_export_cases *cases,
                      const char *compile, struct hone_export *ret, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *record = NULL;
    struct hone_pool *pool = work->pool;
    const char *module = NULL;
    int rc = check_shapes(work->task, err);

    if (rc == 0 && work->task->is_oracle_torch)
        rc = read_module(work, &record, &module, err);
    if (rc < 0)
        return rc;
    const char *file = hone_pool_printf(pool, "%s_torch", ret->name);
    hone_export_add(
        ret, hone_pool_printf(pool, "%s.py", file),
        hone_pool_printf(pool, "%s%s%s%s",
                         python_head(work, "an operator of PyTorch, for any from 1.13", ret),
                         spec_text(work, ret->name, compile, NULL, record),
                         after_line(hone_export_op_text), after_line(hone_export_module_text)));
    if (cases == NULL)
        return 0;
    hone_export_add(ret, hone_pool_printf(pool, "test_%s.py", file),
                    hone_pool_printf(pool, "%sfrom %s import kernel, op\n%s",
                                     cases_text(work, cases), file,
                                     after_line(hone_export_test_text)));
    if (module != NULL)
        hone_export_add(ret, "reference.py", module);
    return 0;
}

int hone_export_kernelbench(const struct hone_export_work *work, const char *compile,
                            struct hone_export *ret, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *record = NULL;
    struct hone_pool *pool = work->pool;
    const char *module = NULL;

    if (!work->task->is_oracle_torch)
        return hone_fail_at(err, HONE_E_ARG, "form",
                            "task '%s' was made of no PyTorch module, so there is no Model to "
                            "replace; --as torch makes an operator of it",
                            work->task->name);
    int rc = check_shapes(work->task, err);
    if (rc == 0)
        rc = read_module(work, &record, &module, err);
    if (rc < 0)
        return rc;
    hone_export_add(ret, hone_pool_printf(pool, "%s_model.py", ret->name),
                    hone_pool_printf(pool, "%s%s%s\n\n%s%s",
                                     python_head(work, "ModelNew in KernelBench's form", ret),
                                     spec_text(work, ret->name, compile, ret->source, record),
                                     after_line(hone_export_op_text), module,
                                     after_line(hone_export_model_text)));
    return 0;
}
