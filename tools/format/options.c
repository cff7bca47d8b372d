/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler options that a request may name, by target, and what a refusal says. */
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

/* The same for NVRTC; -maxrregcount takes any number below. */
static const char *const allowed_cuda[] = {
    "-use_fast_math",
    "-ftz=true",
    "-ftz=false",
    "-prec-div=true",
    "-prec-div=false",
    "-prec-sqrt=true",
    "-prec-sqrt=false",
    "-fmad=true",
    "-fmad=false",
    "-maxrregcount=32",
    "-maxrregcount=40",
    "-maxrregcount=48",
    "-maxrregcount=56",
    "-maxrregcount=64",
    "-maxrregcount=72",
    "-maxrregcount=80",
    "-maxrregcount=96",
    "-maxrregcount=104",
    "-maxrregcount=112",
    "-maxrregcount=128",
    "-maxrregcount=160",
    "-maxrregcount=168",
    "-maxrregcount=192",
    "-maxrregcount=224",
    "-maxrregcount=255",
    "--extra-device-vectorization",
    "-restrict",
    "--ptxas-options=-O1",
    "--ptxas-options=-O2",
    "--ptxas-options=-O3",
    "--ptxas-options=--allow-expensive-optimizations=true",
    "--ptxas-options=--allow-expensive-optimizations=false",
    "--ptxas-options=-dlcm=ca",
    "--ptxas-options=-dlcm=cg",
    "--ptxas-options=-dscm=wb",
    "--ptxas-options=-dscm=cg",
    "--ptxas-options=-dscm=cs",
    NULL,
};

const char *const *hone_options_of_objects(void)
{
    static const char *const options[] = {
        "-std=gnu17", "-O3", "-march=native", "-fopenmp", "-falign-functions=64", NULL};
    return options;
}

struct target_options {
    const char *target;
    const char *const *allowed;
};
static const struct target_options targets[] = {{"cpu", allowed}, {"cuda", allowed_cuda}};

const char *const *hone_options_allowed_for(const char *target)
{
    for (size_t i = 0; target != NULL && i < HONE_COUNTOF(targets); i++)
        if (strcmp(targets[i].target, target) == 0)
            return targets[i].allowed;
    return allowed;
}

static bool is_register_count(const char *flag)
{
    static const char start[] = "-maxrregcount=";
    if (strncmp(flag, start, sizeof start - 1) != 0)
        return false;
    const char *at = flag + sizeof start - 1;
    int value = 0;
    for (; *at >= '0' && *at <= '9' && value < 1000; at++)
        value = value * 10 + (*at - '0');
    return *at == '\0' && value >= 16 && value <= 255;
}

static bool is_allowed(const char *const *list, const char *flag)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcmp(flag, list[i]) == 0)
            return true;
    return list == allowed_cuda && is_register_count(flag);
}

/* As many as share the longest beginning with the bad one: the error message has room for some, not
 * for all. */
static void list_near(const char *const *list, const char *flag, struct hone_buf *out)
{
    size_t best = 0;

    for (size_t i = 0; list[i] != NULL; i++) {
        size_t k = 0;
        while (flag[k] != '\0' && flag[k] == list[i][k])
            k++;
        if (k > best)
            best = k;
    }
    for (size_t i = 0; list[i] != NULL; i++)
        if (strncmp(flag, list[i], best) == 0 && out->len < 240)
            hone_buf_printf(out, "%s%s", out->len > 0 ? " " : "", list[i]);
}

int hone_options_check_for(const char *target, const struct hone_strs *flags, struct hone_err *err)
{
    const char *const *list = hone_options_allowed_for(target);
    if (flags->n > HONE_LIMIT_FLAGS)
        return hone_fail_at(err, HONE_E_LIMIT, "flags",
                            "%zu compiler options, at most %d are allowed", flags->n,
                            HONE_LIMIT_FLAGS);
    for (size_t i = 0; i < flags->n; i++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf near = HONE_BUF_INIT;
        if (is_allowed(list, flags->v[i]))
            continue;
        if (strncmp(flags->v[i], "-D", 2) == 0)
            return hone_fail_at(err, HONE_E_ARG, "flags",
                                "compiler option '%.40s' is not allowed; a macro is a tunable: "
                                "#pragma hone tune(NAME: 1, 2) in the source, and tunables",
                                flags->v[i]);
        list_near(list, flags->v[i], &near);
        return hone_fail_at(err, HONE_E_ARG, "flags",
                            "compiler option '%.40s' is not allowed; allowed, nearest first: %s",
                            flags->v[i], near.data != NULL ? near.data : "");
    }
    return 0;
}

int hone_options_check(const struct hone_strs *flags, struct hone_err *err)
{
    return hone_options_check_for("cpu", flags, err);
}
