/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/module/module.h"

#define TRIES 2

/* The judge's own kernels: no candidate, no split, no names. */
int hone_cuda_compile_device(struct hone_cuda_compiler **compiler,
                             const struct hone_cuda_text *text, struct hone_pool *pool,
                             struct hone_cuda_object *ret, struct hone_err *err)
{
    const struct hone_cuda_compiler_spec spec = {.rung = text->rung,
                                                 .allow_weak = text->allow_weak};
    const struct hone_cuda_unit unit = {
        .text = hone_pool_printf(pool, "#line 1 \"%s\"\n%s", text->name, text->text),
        .arch = text->arch,
        .cache_dir = text->cache_dir,
        .deadline_ns = text->deadline_ns};
    struct hone_cuda_ticket *ticket = NULL;
    *ret = (struct hone_cuda_object){.reason = HONE_REASON_INFRA};
    if (*compiler == NULL)
        *compiler = hone_cuda_compiler_new(&spec);
    int rc = HONE_E_TARGET;
    /* What an earlier source did to the server is no matter of this text: it is started anew. */
    for (int i = 0; i < TRIES && rc == HONE_E_TARGET; i++) {
        rc = hone_cuda_compile_start(*compiler, &unit, &ticket, err);
        if (rc == 0)
            rc = hone_cuda_compile_finish(ticket, pool, ret, err);
    }
    if (rc < 0)
        return hone_wrap(err, "compiling %s", text->name);
    if (ret->reason != HONE_REASON_BUILT)
        return hone_fail(err,
                         ret->reason == HONE_REASON_COMPILE_TIMEOUT ? HONE_E_TIMEOUT : HONE_E_ARG,
                         "compiling %s: %.300s", text->name, ret->log);
    return 0;
}
