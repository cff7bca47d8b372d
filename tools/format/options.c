#include "tools/format/options.h"

#include "workspace/base/limits.h"

#include <string.h>

/* Options that change how code is generated and nothing else: no paths, no plugins, no linker
 * options, no -D. */
static const char *const allowed[] = {
    "-O1",
    "-O2",
    "-O3",
    "-Ofast",
    "-falign-functions=32",
    "-falign-functions=64",
    "-falign-loops=16",
    "-falign-loops=32",
    "-falign-loops=64",
    "-fassociative-math",
    "-ffast-math",
    "-ffinite-math-only",
    "-ffp-contract=fast",
    "-ffp-contract=off",
    "-ffp-contract=on",
    "-fgcse-after-reload",
    "-finline-functions",
    "-fipa-pta",
    "-floop-interchange",
    "-floop-nest-optimize",
    "-floop-unroll-and-jam",
    "-fmodulo-sched",
    "-fno-associative-math",
    "-fno-inline",
    "-fno-math-errno",
    "-fno-prefetch-loop-arrays",
    "-fno-schedule-insns",
    "-fno-schedule-insns2",
    "-fno-signed-zeros",
    "-fno-stack-protector",
    "-fno-strict-aliasing",
    "-fno-trapping-math",
    "-fno-tree-loop-distribute-patterns",
    "-fno-tree-slp-vectorize",
    "-fno-tree-vectorize",
    "-fno-unroll-loops",
    "-fomit-frame-pointer",
    "-fpeel-loops",
    "-fprefetch-loop-arrays",
    "-freciprocal-math",
    "-fschedule-insns",
    "-fselective-scheduling2",
    "-fsplit-loops",
    "-fstrict-aliasing",
    "-ftree-loop-distribution",
    "-ftree-vectorize",
    "-funroll-all-loops",
    "-funroll-loops",
    "-funswitch-loops",
    "-fvect-cost-model=cheap",
    "-fvect-cost-model=dynamic",
    "-fvect-cost-model=unlimited",
    "-fwrapv",
    "-mno-avx512f",
    "-mno-fma",
    "-mprefer-vector-width=128",
    "-mprefer-vector-width=256",
    "-mprefer-vector-width=512",
    "-mprefer-vector-width=none",
    NULL,
};

const char *const *hone_options_allowed(void)
{
    return allowed;
}

static bool is_allowed(const char *flag)
{
    for (size_t i = 0; allowed[i] != NULL; i++)
        if (strcmp(flag, allowed[i]) == 0)
            return true;
    return false;
}

/* As many as share the longest beginning with the bad one: the error message has room for some, not
 * for all. */
static void list_near(const char *flag, struct hone_buf *out)
{
    size_t best = 0;

    for (size_t i = 0; allowed[i] != NULL; i++) {
        size_t k = 0;
        while (flag[k] != '\0' && flag[k] == allowed[i][k])
            k++;
        if (k > best)
            best = k;
    }
    for (size_t i = 0; allowed[i] != NULL; i++)
        if (strncmp(flag, allowed[i], best) == 0 && out->len < 240)
            hone_buf_printf(out, "%s%s", out->len > 0 ? " " : "", allowed[i]);
}

int hone_options_check(const struct hone_strs *flags, struct hone_err *err)
{
    if (flags->n > HONE_LIMIT_FLAGS)
        return hone_fail_at(err, HONE_E_LIMIT, "flags",
                            "%zu compiler options, at most %d are allowed", flags->n,
                            HONE_LIMIT_FLAGS);
    for (size_t i = 0; i < flags->n; i++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf near = HONE_BUF_INIT;
        if (is_allowed(flags->v[i]))
            continue;
        list_near(flags->v[i], &near);
        return hone_fail_at(err, HONE_E_ARG, "flags",
                            "compiler option '%.40s' is not allowed; allowed, nearest first: %s",
                            flags->v[i], near.data != NULL ? near.data : "");
    }
    return 0;
}
