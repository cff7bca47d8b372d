/* SPDX-License-Identifier: Apache-2.0 */
/* The worker beside a GPU driver: with the toolkit, if there is one, and room for what it compiles. */
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/compile/nvcc_compile.h"
#include "tools/runner/cuda/driver/driver_env.h"
#include "tools/runner/torch/python.h"

#define TMP_BYTES (512ll << 20)
#define MAX_PIDS  512
#define MAX_ENV   64

static const char *const *env_of(const struct hone_python *python, const struct hone_nvcc *nvcc,
                                 struct hone_pool *pool)
{
    const char **env = hone_pool_alloc(pool, MAX_ENV * sizeof *env);
    const char *const *own = hone_python_env(python, hone_python_device(python), pool);
    size_t n = 0;
    for (; own[n] != NULL && n + 1 < MAX_ENV; n++)
        env[n] = strncmp(own[n], "PATH=", 5) == 0 && nvcc->path[0] != '\0'
                     ? hone_pool_printf(pool, "PATH=%s/bin:%s", nvcc->home, own[n] + 5)
                     : own[n];
    (void)hone_cuda_pass_env(env, n, MAX_ENV);
    return env;
}

/* What the interpreter needs, and the toolkit. */
static const char *const *shown_of(const struct hone_python *python, const struct hone_nvcc *nvcc,
                                   struct hone_pool *pool)
{
    const char **shown = hone_pool_alloc(pool, (HONE_PYTHON_PATHS + 2) * sizeof *shown);
    size_t n = 0;
    for (; python->shown[n] != NULL; n++)
        shown[n] = python->shown[n];
    if (nvcc->path[0] != '\0' && strcmp(nvcc->home, "/usr") != 0)
        shown[n++] = hone_pool_strdup(pool, nvcc->home);
    shown[n] = NULL;
    return shown;
}

void hone_python_beside_device(const struct hone_python *python, struct hone_pool *pool,
                               struct hone_jail_spec *ret)
{
    struct hone_nvcc nvcc;
    hone_nvcc_find(&nvcc);
    HONE_AUTOFREE char *driver = hone_cuda_driver_dir();
    ret->profile = HONE_JAIL_DEVICE_TORCH;
    ret->env = env_of(python, &nvcc, pool);
    ret->ro_files = shown_of(python, &nvcc, pool);
    ret->driver_dir = driver == NULL ? NULL : hone_pool_strdup(pool, driver);
    ret->tmp_bytes = TMP_BYTES;
    ret->max_pids = MAX_PIDS;
    ret->memory_bytes = 0; /* address space: a driver maps far more than it uses */
}

int hone_python_start_on_device(const struct hone_python *python,
                                const struct hone_python_device_spec *what, struct hone_pool *pool,
                                struct hone_jail **ret, struct hone_err *err)
{
    const char *const argv[] = {python->program, "-s", "/work/worker.py", what->word, NULL};
    struct hone_jail_spec spec = {.allow_weak = what->allow_weak,
                                  .argv = argv,
                                  .work_dir = what->dir,
                                  .stdin_fd = what->in,
                                  .stdout_fd = what->out,
                                  .stderr_fd = what->said};
    hone_python_beside_device(python, pool, &spec);
    return hone_jail_start(&spec, ret, err);
}
