/* SPDX-License-Identifier: Apache-2.0 */
/* A description of a module becomes the files of a pack. */
#include "tools/import/import.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/import/form.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"
#include "workspace/base/limits.h"
#include "workspace/task/task.h"

#define PREFIX "torch_"
#define DIGITS 8 /* of a problem's number */

/* Files that are named alike in every problem: the folder has the problem's name. */
static bool is_named_alike(const char *base)
{
    static const char *const names[] = {"definition.json", "challenge.py", "task.yml",
                                        "reference.py"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(base, names[i]) == 0)
            return true;
    return false;
}

const char *hone_torch_name(const char *file, struct hone_pool *pool)
{
    HONE_AUTOFREE char *path = hone_strdup(file);
    char *slash = strrchr(path, '/');
    if (slash != NULL && is_named_alike(slash + 1)) {
        *slash = '\0';
        slash = strrchr(path, '/');
    } else if (strrchr(slash ? slash : path, '.') != NULL) {
        *strrchr(slash ? slash : path, '.') = '\0';
    }
    const char *base = slash ? slash + 1 : path;
    size_t len = strlen(base), digits = strspn(base, "0123456789");
    size_t most = HONE_LIMIT_NAME_BYTES - strlen(PREFIX) - (digits > 0 ? 1 + DIGITS : 0);
    struct hone_buf name = HONE_BUF_INIT;
    for (size_t i = digits; i < len && name.len < most; i++) {
        if (isalnum((unsigned char)base[i]))
            hone_buf_printf(&name, "%c", tolower((unsigned char)base[i]));
        else if (name.len > 0 && name.data[name.len - 1] != '_')
            hone_buf_str(&name, "_");
    }
    while (name.len > 0 && name.data[name.len - 1] == '_')
        name.data[--name.len] = '\0';
    bool is_taken = name.len > 0 && digits == 0 &&
                    (!hone_task_is_name(name.data, true) || hone_task_is_cuda_word(name.data));
    if (name.len == 0 || isdigit((unsigned char)name.data[0]) || is_taken) {
        HONE_AUTOFREE char *rest = hone_strdup(name.len > 0 ? name.data : "");
        hone_buf_done(&name);
        hone_buf_printf(&name, PREFIX "%s", rest);
    }
    if (digits > 0)
        hone_buf_printf(&name, "_%.*s", (int)hone_min_i64((int64_t)digits, DIGITS), base);
    const char *ret = hone_pool_strdup(pool, name.data);
    hone_buf_done(&name);
    return ret;
}

static int write_text(const char *dir, const char *name, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, name, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

/* The user's file behind the record, or what a form made of it. */
static int write_module(const char *dir, const char *file, const struct hone_json *said,
                        struct hone_err *err)
{
    HONE_AUTOFREE char *source = NULL;
    size_t len = 0;
    const char *made = hone_json_get_str(said, "module", NULL);
    int code = made ? 0 : hone_file_read(file, HONE_LIMIT_SOURCE_BYTES, &source, &len, err);
    if (code < 0)
        return code;
    HONE_AUTOFREE char *text =
        hone_sprintf("%s\n%s", hone_json_get_str(said, "record", "#"), made ? made : source);
    return write_text(dir, "oracle.py", text, err);
}

/* letter: of their ids. */
static void put_workloads(struct hone_buf *text, const struct hone_json *list, const char *target,
                          char letter)
{
    int i = 0;
    for (const struct hone_json *axes = hone_json_first(list); axes; axes = hone_json_next(axes)) {
        HONE_AUTOJSON struct hone_json *line = hone_json_new_object();
        HONE_AUTOFREE char *id = hone_sprintf("%c%d", letter, i++);
        hone_json_set_str(line, "id", id);
        hone_json_set_str(line, "target", target);
        hone_json_set(line, "axes", hone_json_copy(axes));
        HONE_AUTOFREE char *row = hone_json_print(line);
        hone_buf_printf(text, "%s\n", row);
    }
}

static int write_workloads(const char *dir, const struct hone_json *said, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    put_workloads(&text, hone_json_get(said, "workloads"), "cpu", 's');
    put_workloads(&text, hone_json_get(said, "device_workloads"), "cuda", 'd');
    return write_text(dir, "workloads.jsonl", text.data ? text.data : "", err);
}

/* What sums of float32 err by, or where an output is narrower, four of its roundings. */
static double step_of(const char *dtype)
{
    return strcmp(dtype, "float16") == 0 ? 2e-3 : strcmp(dtype, "bfloat16") == 0 ? 1.6e-2 : 2e-5;
}

/* To begin with: what sums of float32 err by, against the root mean square; `hone task calibrate`
 * measures the module's own. */
static struct hone_json *tolerances(const struct hone_json *outputs)
{
    struct hone_json *all = hone_json_new_object();
    for (const struct hone_json *o = hone_json_first(outputs); o; o = hone_json_next(o)) {
        struct hone_json *one = hone_json_new_object();
        if (strstr(hone_json_get_str(o, "dtype", ""), "float") == NULL) {
            hone_json_free(one);
            continue;
        }
        double step = step_of(hone_json_get_str(o, "dtype", ""));
        hone_json_set_f64(one, "atol", 1e-30);
        hone_json_set_f64(one, "rtol", step);
        hone_json_set_f64(one, "rel_l2", step / 2);
        hone_json_set(all, hone_json_key(o), one);
    }
    return all;
}

static int write_task(const char *dir, const char *file, const struct hone_json *said,
                      struct hone_err *err)
{
    static const char *const copied[] = {"axes", "inputs", "outputs", "scalars", "constraints"};
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    const char *slash = strrchr(file, '/');
    HONE_AUTOFREE char *of_file = hone_sprintf("The module of %.200s.", slash ? slash + 1 : file);
    const char *description = hone_json_get_str(said, "description", "");
    hone_json_set_i64(json, "format", 1);
    hone_json_set_str(json, "name", hone_json_get_str(said, "name", ""));
    hone_json_set_str(json, "op_type", "module");
    hone_json_set_str(json, "description", description[0] != '\0' ? description : of_file);
    for (size_t i = 0; i < HONE_COUNTOF(copied); i++)
        if (hone_json_size(hone_json_get(said, copied[i])) > 0)
            hone_json_set(json, copied[i], hone_json_copy(hone_json_get(said, copied[i])));
    hone_json_set(json, "tolerance", tolerances(hone_json_get(said, "outputs")));
    struct hone_json *oracle = hone_json_new_object();
    hone_json_set_str(oracle, "mode", "torch");
    hone_json_set(json, "oracle", oracle);
    hone_json_set_str(json, "flops", "0");
    hone_json_set_str(json, "bytes", hone_json_get_str(said, "bytes", ""));
    HONE_AUTOFREE char *text = hone_json_print_pretty(json);
    HONE_AUTOFREE char *whole = hone_sprintf("%s\n", text);
    return write_text(dir, "task.json", whole, err);
}

static int write_pack(const char *dir, const char *file, const struct hone_json *said,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *kernels = hone_path_join(dir, "kernels", NULL);
    int code = hone_mkdirs(kernels, 0755, err);
    if (code == 0)
        code = hone_form_store(dir, file, said, err);
    if (code == 0)
        code = write_task(dir, file, said, err);
    if (code == 0)
        code = write_workloads(dir, said, err);
    if (code == 0)
        code = write_module(dir, file, said, err);
    if (code == 0)
        code = write_text(kernels, "naive.c", hone_json_get_str(said, "naive", ""), err);
    if (code == 0)
        code =
            hone_json_get_str(said, "naive_cuda", "")[0] == '\0'
                ? 0 /* no baseline for a device: no sizes for one either */
                : write_text(kernels, "naive.cu", hone_json_get_str(said, "naive_cuda", ""), err);
    return code;
}

/* The runner describes one file: the module, or the problem's files as one JSON object. */
static int describe(const struct hone_torch_place *what, const struct hone_form *form,
                    const char *dir, struct hone_json **ret, struct hone_err *err)
{
    const struct hone_executor *executor = what->executor;
    HONE_AUTOFREE char *bundle = hone_sprintf("%s.json", dir);
    if (form == NULL || form->gather == NULL)
        return executor->describe(executor->cookie, what->file, what->name, ret, err);
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    struct hone_json *files = hone_json_new_object();
    hone_json_set_str(json, "form", form->module);
    hone_json_set(json, "files", files);
    int code = form->gather(what->file, files, err);
    if (code < 0)
        return code;
    HONE_AUTOFREE char *text = hone_json_print(json);
    code = hone_file_write(bundle, text, strlen(text), 0644, false, err);
    if (code == 0)
        code = executor->describe(executor->cookie, bundle, what->name, ret, err);
    hone_remove_tree(bundle, NULL); /* the first error is the one to tell */
    return code;
}

int hone_torch_check_said(const struct hone_json *said, struct hone_err *err)
{
    const char *wrong = hone_json_get_str(said, "error", NULL);
    const char *refused = hone_json_get_str(said, "refused", NULL);
    if (wrong != NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "%.400s", wrong);
    return refused != NULL ? hone_fail(err, HONE_E_ARG, "refused: %.400s", refused) : 0;
}

int hone_torch_import(const struct hone_torch_place *what, const char *dir, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    const struct hone_form *form = what->form ? what->form : hone_form_of(what->file);
    if (form != NULL && form->make != NULL)
        return form->make(what->file, what->name, dir, err);
    if (what->executor->describe == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "the executor '%s' describes no modules",
                         what->executor->name);
    int code = describe(what, form, dir, &said, err);
    if (code < 0)
        return code;
    if ((code = hone_torch_check_said(said, err)) < 0)
        return code;
    code = write_pack(dir, what->file, said, err);
    if (code == 0)
        code = hone_task_load(dir, &task, err);
    return code < 0 ? hone_wrap(err, "the pack of '%s'", what->name) : 0;
}
