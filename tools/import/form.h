/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that `hone task import` reads: one row and one file a form.
 *
 * A problem is one file, and others that it needs. gather collects their texts, and the runner's
 * form_NAME.py makes a module in KernelBench's form of them, in the jail. The files are a stranger's:
 * sizes are limited, links are not followed, and no path leaves the problem's folder or the root of
 * its suite.
 *
 *     const struct hone_form *form = hone_form_of("suite/definitions/norm.json");     NULL: none
 *     hone_torch_place(&(struct hone_torch_place){.form = form, ...}, err); */
#ifndef HONE_TOOLS_IMPORT_FORM_H
#define HONE_TOOLS_IMPORT_FORM_H

#include "workspace/base/json.h"
#include "workspace/base/buf.h"

struct hone_form {
    const char *name;     /* as --format has it */
    const char *ending;   /* of the file that is the problem: ".py" */
    const char *marks[3]; /* that its text holds, all of them; ends with NULL */
    const char *module;   /* form_MODULE.py */
    /* Texts by name into files. NULL: the runner reads the file itself. */
    int (*gather)(const char *file, struct hone_json *files, struct hone_err *err);
    /* The pack itself, without the runner; NULL: by what the runner says. */
    int (*make)(const char *file, const char *name, const char *dir, struct hone_err *err);
};

const struct hone_form *hone_form_by_name(const char *name); /* NULL: there is none */
const char *hone_form_names(struct hone_pool *pool);         /* "flashinfer, leetgpu..." */
/* By content; the first row that fits. NULL: none does. */
const struct hone_form *hone_form_of(const char *file);
/* The problems below a folder, sorted; links and hidden names are left out. A .py file of the folder
 * itself counts as a module, whatever it holds. form NULL: of every form. HONE_E_LIMIT:
 * HONE_LIMIT_IMPORT_FILES, HONE_LIMIT_IMPORT_DEPTH. */
struct hone_problem {
    const struct hone_form *form;
    const char *path, *shown; /* shown: below the folder */
};
int hone_form_walk(const char *dir, const struct hone_form *form, struct hone_pool *pool,
                   struct hone_problem **ret, size_t *ret_n, struct hone_err *err);

/* Adds FILE's text under a name of the bundle, at most HONE_LIMIT_SOURCE_BYTES. */
int hone_form_add(struct hone_json *files, const char *name, const char *file,
                  struct hone_err *err);
/* The stored inputs that the answer names (flashinfer alone): checked against the problem's tensors,
 * and copied into the pack where content may come from a file. Changes said["inputs"]. */
int hone_form_store(const char *dir, const char *file, const struct hone_json *said,
                    struct hone_err *err);
int hone_form_make_polybench(const char *file, const char *name, const char *dir,
                             struct hone_err *err);
int hone_form_gather_flashinfer(const char *file, struct hone_json *files, struct hone_err *err);

#endif
