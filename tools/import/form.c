/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/import/form.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

int hone_form_add(struct hone_json *files, const char *name, const char *file, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int rc = hone_file_read(file, HONE_LIMIT_SOURCE_BYTES, &text, &len, err);
    if (rc == 0)
        hone_json_set_str(files, name, text);
    return rc;
}

static int gather_leetgpu(const char *file, struct hone_json *files, struct hone_err *err)
{
    return hone_form_add(files, "challenge.py", file, err);
}

/* task.yml, and reference.py beside it. */
static int gather_gpumode(const char *file, struct hone_json *files, struct hone_err *err)
{
    const char *slash = strrchr(file, '/');
    HONE_AUTOFREE char *reference =
        hone_sprintf("%.*sreference.py", slash ? (int)(slash + 1 - file) : 0, file);
    int rc = hone_form_add(files, "task.yml", file, err);
    return rc < 0 ? rc : hone_form_add(files, "reference.py", reference, err);
}

static const struct hone_form forms[] = {
    {.name = "flashinfer",
     .ending = ".json",
     .marks = {"\"axes\"", "\"reference\""},
     .module = "flashinfer",
     .gather = hone_form_gather_flashinfer},
    {.name = "leetgpu",
     .ending = ".py",
     .marks = {"get_solve_signature", "reference_impl"},
     .module = "leetgpu",
     .gather = gather_leetgpu},
    {.name = "gpu-mode",
     .ending = "task.yml",
     .marks = {"tests:"},
     .module = "gpumode",
     .gather = gather_gpumode},
    {.name = "polybench",
     .ending = ".c",
     .marks = {"#pragma scop", "void kernel_"},
     .make = hone_form_make_polybench},
    {.name = "kernelbench", .ending = ".py", .marks = {"get_init_inputs"}},
};

const struct hone_form *hone_form_by_name(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(forms); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

const char *hone_form_names(struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    for (size_t i = 0; i < HONE_COUNTOF(forms); i++)
        hone_buf_printf(&text, "%s%s", i > 0 ? ", " : "", forms[i].name);
    return hone_pool_strdup(pool, text.data);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), n = strlen(ending);
    return len >= n && strcmp(text + len - n, ending) == 0;
}

static bool is_one(const struct hone_form *form, const char *file, const char *text)
{
    if (!ends_with(file, form->ending))
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(form->marks) && form->marks[i] != NULL; i++)
        if (strstr(text, form->marks[i]) == NULL)
            return false;
    return true;
}

const struct hone_form *hone_form_of(const char *file)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    bool is_known = false;
    for (size_t i = 0; i < HONE_COUNTOF(forms); i++)
        is_known = is_known || ends_with(file, forms[i].ending);
    if (!is_known || hone_file_read(file, HONE_LIMIT_SOURCE_BYTES, &text, &len, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < HONE_COUNTOF(forms); i++)
        if (is_one(&forms[i], file, text))
            return &forms[i];
    return NULL;
}

struct walk {
    const char *root;
    const struct hone_form *wanted;
    struct hone_pool *pool;
    struct hone_problem *found;
    size_t n, n_files;
};

static int walk_folder(struct walk *w, const char *dir, int depth, struct hone_err *err);

static int visit(struct walk *w, const char *path, int depth, struct hone_err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
        return 0;
    if (S_ISDIR(st.st_mode))
        return walk_folder(w, path, depth + 1, err);
    if (!S_ISREG(st.st_mode))
        return 0;
    if (++w->n_files > HONE_LIMIT_IMPORT_FILES)
        return hone_fail(err, HONE_E_LIMIT, "'%.200s' holds more than %d files", w->root,
                         HONE_LIMIT_IMPORT_FILES);
    const struct hone_form *form = hone_form_of(path);
    if (form == NULL && depth == 0 && ends_with(path, ".py"))
        form = hone_form_by_name("kernelbench");
    if (form != NULL && (w->wanted == NULL || w->wanted == form))
        w->found[w->n++] = (struct hone_problem){
            form, path, path + strlen(w->root) + strspn(path + strlen(w->root), "/")};
    return 0;
}

static int walk_folder(struct walk *w, const char *dir, int depth, struct hone_err *err)
{
    const char **names;
    size_t n;
    if (depth > HONE_LIMIT_IMPORT_DEPTH)
        return hone_fail(err, HONE_E_LIMIT, "'%.200s' lies more than %d folders deep", dir,
                         HONE_LIMIT_IMPORT_DEPTH);
    int rc = hone_list_dir(dir, w->pool, &names, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (names[i][0] != '.')
            rc = visit(w, hone_pool_printf(w->pool, "%s/%s", dir, names[i]), depth, err);
    return rc;
}

int hone_form_walk(const char *dir, const struct hone_form *form, struct hone_pool *pool,
                   struct hone_problem **ret, size_t *ret_n, struct hone_err *err)
{
    struct walk w = {.root = dir, .wanted = form, .pool = pool};
    w.found = hone_pool_alloc(pool, HONE_LIMIT_IMPORT_FILES * sizeof *w.found);
    int rc = walk_folder(&w, dir, 0, err);
    *ret = w.found;
    *ret_n = w.n;
    return rc;
}
