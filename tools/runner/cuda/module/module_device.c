/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/module/module.h"

#define TRIES 2

/* The judge's own kernels: no candidate, no split, no names. */
int hone_cuda_compile_device(struct hone_cuda_compiler **compiler, const char *text,
                             const char *name, const char *arch, const char *cache_dir,
                             const char *rung, bool allow_weak, int64_t deadline_ns,
                             struct hone_pool *pool, const unsigned char **ret_cubin,
                             size_t *ret_len, const char **ret_log, struct hone_err *err)
{
    const struct hone_cuda_compiler_spec spec = {.rung = rung, .allow_weak = allow_weak};
    const char *full = hone_pool_printf(pool, "#line 1 \"%s\"\n%s", name, text);
    const struct hone_cuda_unit unit = {
        .text = full, .arch = arch, .cache_dir = cache_dir, .deadline_ns = deadline_ns};
    struct hone_cuda_ticket *ticket = NULL;
    struct hone_cuda_object object = {.reason = HONE_REASON_INFRA};
    if (*compiler == NULL)
        *compiler = hone_cuda_compiler_new(&spec);
    int rc = HONE_E_TARGET;
    /* What an earlier source did to the server is no matter of this text: it is started anew. */
    for (int i = 0; i < TRIES && rc == HONE_E_TARGET; i++) {
        rc = hone_cuda_compile_start(*compiler, &unit, &ticket, err);
        if (rc == 0)
            rc = hone_cuda_compile_finish(ticket, pool, &object, err);
    }
    if (rc < 0)
        return hone_wrap(err, "compiling %s", name);
    *ret_log = object.log;
    if (object.reason != HONE_REASON_BUILT)
        return hone_fail(err,
                         object.reason == HONE_REASON_COMPILE_TIMEOUT ? HONE_E_TIMEOUT : HONE_E_ARG,
                         "compiling %s: %.300s", name, object.log);
    *ret_cubin = object.cubin;
    *ret_len = object.cubin_len;
    return 0;
}
