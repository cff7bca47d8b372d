/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/import/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/import/import.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static int put(const char *dir, const char *name, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, name, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

/* ---- exports ---- */

/* What a Python file of hone export says that its kernel takes; NULL: it is none. */
static struct hone_json *spec_of(const char *text)
{
    static const char mark[] = "\nSPEC_TEXT = r\"\"\"";
    const char *start = strstr(text, mark);
    const char *end = start != NULL ? strstr(start + strlen(mark), "\"\"\"") : NULL;
    struct hone_json *spec = NULL;
    if (end == NULL)
        return NULL;
    start += strlen(mark);
    if (hone_json_parse(start, (size_t)(end - start), &spec, NULL) < 0)
        return NULL;
    return spec;
}

/* The one Python file of a folder that has a spec. */
static int find_export(const char *dir, struct hone_pool *pool, char **ret_text,
                       struct hone_json **ret_spec, struct hone_err *err)
{
    const char **names;
    size_t n, len;
    int rc = hone_list_dir(dir, pool, &names, &n, err);
    for (size_t i = 0; i < n && rc == 0 && *ret_spec == NULL; i++) {
        size_t at = strlen(names[i]);
        HONE_AUTOFREE char *path = hone_path_join(dir, names[i], NULL);
        HONE_AUTOFREE char *text = NULL;
        if (at < 4 || strcmp(names[i] + at - 3, ".py") != 0)
            continue;
        rc = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, err);
        *ret_spec = rc == 0 ? spec_of(text) : NULL;
        if (*ret_spec != NULL)
            *ret_text = HONE_STEAL(text);
    }
    if (rc == 0 && *ret_spec == NULL)
        return hone_fail_at(err, HONE_E_NOT_FOUND, "swap",
                            "'%.200s' holds no export: hone export VERSION --as kernelbench makes "
                            "one",
                            dir);
    return rc;
}

/* For a GPU under its own name: the export compiles it there. */
static int put_kernel(const char *dir, const char *folder, bool is_on_device,
                      const struct hone_json *spec, struct hone_err *err)
{
    const char *source = hone_json_get_str(spec, "source", NULL);
    const char *name = hone_json_get_str(spec, "name", "");
    if (!hone_is_safe_name(name))
        return hone_fail_at(err, HONE_E_ARG, "swap", "the export in '%.200s' has a bad name", dir);
    HONE_AUTOFREE char *own = hone_sprintf("%s.%s", name, is_on_device ? "cu" : "c");
    const char *here = is_on_device ? own : "kernel.c";
    if (source != NULL)
        return put(folder, here, source, err);
    HONE_AUTOFREE char *from = hone_path_join(dir, own, NULL);
    HONE_AUTOFREE char *to = hone_path_join(folder, here, NULL);
    return hone_file_copy(from, to, HONE_LIMIT_SOURCE_BYTES, err);
}

static int put_swap(const char *dir, size_t number, bool is_on_device,
                    const struct hone_model_swap *swap, struct hone_json *swaps,
                    struct hone_err *err)
{
    const char *device = is_on_device ? "cuda" : "cpu";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *spec = NULL;
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOFREE char *folder = hone_sprintf("%s/swap%zu", dir, number);
    int rc = find_export(swap->dir, pool, &text, &spec, err);
    if (rc < 0)
        return rc;
    if (strcmp(hone_json_get_str(spec, "device", ""), device) != 0)
        return hone_fail_at(err, HONE_E_ARG, "swap",
                            "'%.200s' is of a kernel for %.20s, and the model runs on %s: see "
                            "--target",
                            swap->dir, hone_json_get_str(spec, "device", "?"), device);
    if (hone_json_get(spec, "record") == NULL)
        return hone_fail_at(err, HONE_E_ARG, "swap",
                            "the task of '%.200s' was made of no PyTorch module", swap->dir);
    rc = hone_mkdirs(folder, 0755, err);
    if (rc == 0)
        rc = put(folder, "export.py", text, err);
    if (rc == 0)
        rc = put_kernel(swap->dir, folder, is_on_device, spec, err);
    struct hone_json *one = hone_json_new_object();
    hone_json_set_str(one, "path", swap->path);
    hone_json_set_str(one, "compile", hone_json_get_str(spec, "compile", ""));
    hone_json_push(swaps, one);
    return rc;
}

/* ---- questions ---- */

static int put_question(const struct hone_model_question *q, const char *ask, const char *dir,
                        struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *request = hone_json_new_object();
    HONE_AUTOFREE char *source = NULL;
    struct hone_json *swaps = hone_json_new_array();
    size_t len = 0;
    hone_json_set_str(request, "ask", ask);
    hone_json_set_str(request, "device", q->is_on_device ? "cuda" : "cpu");
    hone_json_set_str(request, "path", q->path != NULL ? q->path : "");
    hone_json_set_i64(request, "threads", q->threads);
    hone_json_set_i64(request, "rows", HONE_LIMIT_MODEL_ROWS);
    hone_json_set_i64(request, "bytes", HONE_LIMIT_MODEL_BYTES);
    hone_json_set_f64(request, "tolerance", q->tolerance);
    hone_json_set(request, "swaps", swaps);
    int rc = hone_file_read(q->file, HONE_LIMIT_SOURCE_BYTES, &source, &len, err);
    if (rc == 0)
        rc = put(dir, "module.py", source, err);
    for (size_t i = 0; i < q->n_swaps && rc == 0; i++)
        rc = put_swap(dir, i, q->is_on_device, &q->swaps[i], swaps, err);
    HONE_AUTOFREE char *text = hone_json_print(request);
    return rc < 0 ? rc : put(dir, "request.json", text, err);
}

static int ask(const struct hone_model_question *q, const char *word, struct hone_json **ret,
               struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    char dir[] = "/tmp/hone-model-XXXXXX";
    if (q->executor->model == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "the executor '%s' runs no models",
                         q->executor->name);
    if (mkdtemp(dir) == NULL)
        return hone_fail(err, HONE_E_IO, "no room in /tmp");
    int rc = put_question(q, word, dir, err);
    if (rc == 0)
        rc = q->executor->model(q->executor->cookie, dir, &said, err);
    hone_remove_tree(dir, NULL); /* the first error is the one to tell */
    if (rc < 0)
        return rc;
    if ((rc = hone_torch_check_said(said, err)) < 0)
        return rc;
    *ret = HONE_STEAL(said);
    return 0;
}

int hone_model_rank(const struct hone_model_question *q, struct hone_json **ret,
                    struct hone_err *err)
{
    int rc = ask(q, "rank", ret, err);
    if (rc == 0 && hone_json_size(hone_json_get(*ret, "rows")) > HONE_LIMIT_MODEL_ROWS)
        return hone_fail(err, HONE_E_LIMIT, "more than %d modules were told",
                         HONE_LIMIT_MODEL_ROWS);
    return rc;
}

int hone_model_cut(const struct hone_model_question *q, char **ret, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    int rc = ask(q, "cut", &said, err);
    if (rc < 0)
        return rc;
    const char *text = hone_json_get_str(said, "text", "");
    if (text[0] == '\0' || strlen(text) > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the module's file has %zu bytes", strlen(text));
    *ret = hone_strdup(text);
    return 0;
}

int hone_model_check(const struct hone_model_question *q, struct hone_json **ret,
                     struct hone_err *err)
{
    if (q->n_swaps == 0)
        return hone_fail_at(err, HONE_E_ARG, "swap", "name a module: --swap MODULE.PATH=DIR");
    if (q->n_swaps > HONE_LIMIT_MODEL_SWAPS)
        return hone_fail_at(err, HONE_E_LIMIT, "swap", "more than %d swaps",
                            HONE_LIMIT_MODEL_SWAPS);
    if (!(q->tolerance >= 0 && isfinite(q->tolerance)))
        return hone_fail_at(err, HONE_E_ARG, "tolerance", "a number of at least 0");
    return ask(q, "check", ret, err);
}
