/* SPDX-License-Identifier: Apache-2.0 */
/* C text compiled with gcc and loaded. */
#ifndef HONE_TESTS_COMPILED_H
#define HONE_TESTS_COMPILED_H

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "workspace/base/buf.h"

/* The function of that name in the text behind front, with threads; flags: of gcc besides. */
static inline void *compiled(const char *front, const char *text, const char *name,
                             const char *flags, struct hone_pool *pool)
{
    char dir[] = "/tmp/hone-compiled-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    const char *c = hone_pool_printf(pool, "%s/k.c", dir);
    const char *so = hone_pool_printf(pool, "%s/k.so", dir);
    FILE *file = fopen(c, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s%s", front, text);
    fclose(file);
    int code = system(hone_pool_printf(
        pool,
        "tests/cached %s %s -- gcc -w -O1 -ftree-vectorize -fopenmp %s -fPIC -shared %s -o %s -lm",
        so, c, flags, c, so));
    ck_assert_msg(code == 0, "%s: %s", name, text);
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(lib != NULL, "%s: %s", name, dlerror());
    void *symbol = dlsym(lib, name);
    ck_assert_ptr_nonnull(symbol);
    code = system(hone_pool_printf(pool, "rm -rf %s", dir));
    ck_assert_int_eq(code, 0);
    return symbol;
}

#endif
