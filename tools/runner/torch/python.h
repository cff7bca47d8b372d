/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python with torch there is, and the worker that runs in it: describing a module, computing
 * reference values. hone needs neither to build nor to run; only torch tasks ask for them.
 *
 * The interpreter is $HONE_PYTHON, else the first of /usr/local/bin/python3 and /usr/bin/python3
 * that finds torch. Our own one-line script asks it; a user's module runs in the jail only. */
#ifndef HONE_RUNNER_PYTHON_H
#define HONE_RUNNER_PYTHON_H

#include "tools/runner/jail/jail.h"
#include "workspace/base/json.h"

#define HONE_PYTHON_PATHS 24

struct hone_python { /* strings live in the pool */
    const char *program, *version, *torch;
    const char *cuda;                         /* NULL: torch without CUDA */
    const char *paths;                        /* PYTHONPATH */
    const char *shown[HONE_PYTHON_PATHS + 1]; /* what a jail must show; ends with NULL */
};

/* HONE_E_UNSUPPORTED with what to do where there is none. Starts interpreters; blocks. */
int hone_python_find(struct hone_pool *pool, struct hone_python *ret, struct hone_err *err);
/* For doctor and --probe: {"program", "version", "torch", "cuda"} or {"why"}; owned. */
struct hone_json *hone_python_facts(void);
/* $HONE_TORCH_SECONDS where it is less than HONE_LIMIT_TORCH_SECONDS, which it is else; of processor
 * time, and HONE_LIMIT_TORCH_PATIENCE times as long by the clock. */
int64_t hone_torch_seconds(void);
/* Where a module in float64 is computed beside a GPU: "cuda", or as $HONE_TORCH_DEVICE says "cpu".
 * NULL: its torch has no CUDA, so that it answers small sizes alone. */
const char *hone_python_device(const struct hone_python *python);
/* Environment of the interpreter in a jail; in the pool, ends with NULL. device: as above, for a
 * reference (worker.py); NULL: the CPU. */
const char *const *hone_python_env(const struct hone_python *python, const char *device,
                                   struct hone_pool *pool);
/* What a jail of the profile DEVICE_TORCH shows and allows besides; in the pool. */
void hone_python_beside_device(const struct hone_python *python, struct hone_pool *pool,
                               struct hone_jail_spec *ret);
/* Writes the worker's files into a folder that a jail will show at /work. */
int hone_python_put_worker(const char *folder, struct hone_err *err);
struct hone_python_device_spec {
    const char *word;  /* of worker.py */
    const char *dir;   /* shown at /work, with the worker's files */
    int in, out, said; /* stdin, stdout, stderr; -1: none */
    bool allow_weak;
};
/* Starts `worker.py WORD` in a DEVICE_TORCH jail: it sees the GPUs, compilers and CUDA's toolkit.
 * *ret is owned. */
int hone_python_start_on_device(const struct hone_python *python,
                                const struct hone_python_device_spec *what, struct hone_pool *pool,
                                struct hone_jail **ret, struct hone_err *err);
/* Runs `worker.py WORD /work/module.py` with dir as /work, the worker's files included; what it prints
 * lands in out. HONE_E_TIMEOUT, HONE_E_TARGET with its last words. */
int hone_python_ask(const char *word, const char *dir, bool is_on_device, int out,
                    struct hone_err *err);
/* What landed in out as one line on stdout, or {"error"} where code or the text is bad. */
void hone_python_print(int code, int out, struct hone_err *err);
/* `hone-runner --torch FILE.py [NAME]`: what a module takes and gives, as one JSON line on stdout
 * (tools/import/import.h). Exit status 0 also where the module is refused. */
int hone_role_torch(int argc, char **argv);
/* `hone-runner --model FOLDER`: one question about a whole model (tools/import/model.h). FOLDER holds
 * module.py, request.json and for each swap N a folder swapN with export.py and kernel.c, which is
 * compiled in the jail by the words of the request, or NAME.cu, which the export compiles itself.
 * Prints as --torch does. */
int hone_role_model(int argc, char **argv);

#endif
