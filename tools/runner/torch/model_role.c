/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the kernels that are to be swapped into a model, and asks the worker about it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/runner/torch/python.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

#define COMPILE_SECONDS 60
#define MEMORY_BYTES    (2ll << 30)
#define TMP_BYTES       (64ll << 20)
#define OBJECT_BYTES    (32ll << 20)
#define MAX_WORDS       64

/* The words of the export's own line; its first one names a compiler of the system. */
static int split(struct hone_pool *pool, const char *line, const char **argv, struct hone_err *err)
{
    static const char *const made[] = {"-o", "kernel.so", "kernel.c", "-lm"};
    char *rest = hone_pool_strdup(pool, line), *word;
    size_t n = 0;
    while ((word = strsep(&rest, " ")) != NULL) {
        if (word[0] == '\0')
            continue;
        if (n == MAX_WORDS)
            return hone_fail(err, HONE_E_LIMIT, "an export's compile line has more than %d words",
                             MAX_WORDS);
        argv[n++] = word;
    }
    const char *name = n > 0 ? argv[0] : "";
    bool is_known = strncmp(name, "gcc", 3) == 0 || strncmp(name, "clang", 5) == 0;
    if (!is_known || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")] != '\0')
        return hone_fail(err, HONE_E_ARG, "an export is compiled by '%s', not by gcc or clang",
                         hone_plain_line(pool, name, 60));
    argv[0] = hone_pool_printf(pool, "/usr/bin/%s", name);
    for (size_t i = 0; i < HONE_COUNTOF(made); i++)
        argv[n++] = made[i];
    argv[n] = NULL;
    return 0;
}

static int compile(struct hone_pool *pool, const char *folder, const char *line,
                   struct hone_err *err)
{
    const char *argv[MAX_WORDS + 8];
    HONE_AUTOCLOSE int log = memfd_create("compiler output", MFD_CLOEXEC);
    int code = log < 0 ? hone_fail(err, HONE_E_IO, "no memory file") : split(pool, line, argv, err);
    if (code < 0)
        return code;
    const struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                        .argv = argv,
                                        .work_dir = folder,
                                        .memory_bytes = MEMORY_BYTES,
                                        .tmp_bytes = TMP_BYTES,
                                        .file_bytes = OBJECT_BYTES,
                                        .cpu_seconds = COMPILE_SECONDS,
                                        .max_pids = 32,
                                        .stdin_fd = -1,
                                        .stdout_fd = log,
                                        .stderr_fd = log};
    struct hone_jail *jail = NULL;
    struct hone_jail_exit how = {0};
    code = hone_jail_start(&spec, &jail, err);
    if (code < 0)
        return code;
    code = hone_jail_wait(jail, hone_deadline_in_ms(1000 * COMPILE_SECONDS), &how, err);
    hone_jail_free(jail); /* before anything in the folder is looked at */
    if (code < 0 || (how.status == 0 && how.signal == 0))
        return code;
    char said[2001];
    ssize_t n = pread(log, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    return hone_fail(err, HONE_E_TARGET, "an exported kernel does not compile: %s",
                     hone_plain_line(pool, said, 300));
}

/* Reads the request; what a CPU is to run is compiled, an export for a device does that itself. */
static int prepare(const char *dir, bool *ret_is_on_device, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *path = hone_path_join(dir, "request.json", NULL);
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *request = NULL;
    size_t len = 0, n = 0;
    int code = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, err);
    if (code == 0)
        code = hone_json_parse(text, len, &request, err);
    *ret_is_on_device = strcmp(hone_json_get_str(request, "device", "cpu"), "cuda") == 0;
    for (const struct hone_json *s = hone_json_first(hone_json_get(request, "swaps"));
         s != NULL && code == 0 && !*ret_is_on_device; s = hone_json_next(s)) {
        HONE_AUTOFREE char *folder = hone_sprintf("%s/swap%zu", dir, n++);
        code = compile(pool, folder, hone_json_get_str(s, "compile", ""), err);
    }
    return code;
}

int hone_role_model(int argc, char **argv)
{
    if (argc != 1) {
        fputs("hone-runner: --model takes a folder\n", stderr);
        return 2;
    }
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOCLOSE int out = memfd_create("answer", MFD_CLOEXEC);
    bool is_on_device = false;
    int code = out < 0 ? hone_fail(&err, HONE_E_IO, "no memory file")
                       : prepare(argv[0], &is_on_device, &err);
    if (code == 0)
        code = hone_python_ask("model", argv[0], is_on_device, out, &err);
    hone_python_print(code, out, &err);
    return 0;
}
