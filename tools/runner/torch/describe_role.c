/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the worker's describe.py on one file in a jail of its own and passes its answer on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/runner/torch/python.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static int make_folder(const char *file, const char *name, const char *dir, struct hone_err *err)
{
    size_t len = 0;
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOFREE char *to = hone_path_join(dir, "module.py", NULL);
    HONE_AUTOFREE char *named = hone_path_join(dir, "name", NULL);
    int code = hone_file_read(file, HONE_LIMIT_SOURCE_BYTES, &text, &len, err);
    if (code == 0)
        code = hone_file_write(to, text, len, 0644, false, err);
    if (code == 0)
        code = hone_file_write(named, name, strlen(name), 0644, false, err);
    return code;
}

static int describe(const char *file, const char *name, int out, struct hone_err *err)
{
    char dir[] = "/tmp/hone-torch-XXXXXX";
    if (mkdtemp(dir) == NULL)
        return hone_fail(err, HONE_E_IO, "no room in /tmp");
    int code = make_folder(file, name, dir, err);
    if (code == 0)
        code = hone_python_ask("describe", dir, false, out, err);
    hone_remove_tree(dir, NULL);
    return code;
}

int hone_role_torch(int argc, char **argv)
{
    if (argc < 1) {
        fputs("hone-runner: --torch takes a file\n", stderr);
        return 2;
    }
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOCLOSE int out = memfd_create("answer", MFD_CLOEXEC);
    int code = out < 0 ? hone_fail(&err, HONE_E_IO, "no memory file")
                       : describe(argv[0], argc > 1 ? argv[1] : "", out, &err);
    hone_python_print(code, out, &err);
    return 0;
}
