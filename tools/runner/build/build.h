/* SPDX-License-Identifier: Apache-2.0 */
/* Building C sources inside the jail: candidates, baselines, oracles.
 *
 * Objects are cached by (compiler, CPU, options, prologue, source) in cache_dir. The object is read
 * as data, never loaded here. #include of anything outside the compiler's own headers finds
 * nothing. The compiler is /usr/bin/cc, or what HONE_CC in the runner's environment names.
 *
 * That a source does not build is a result (ret->reason), not an error: COMPILE, LINK, NO_SYMBOL,
 * COMPILE_TIMEOUT, TOO_LARGE, OOM, FORBIDDEN, BAD_FLAG, NO_JAIL; report.log then says more. Errors
 * are what hone or the machine failed at. Runner main thread; blocks until deadline_ns at most. */
#ifndef HONE_RUNNER_BUILD_H
#define HONE_RUNNER_BUILD_H

#include "tools/format/job.h"
#include "tools/format/report.h"
#include "tools/runner/jail/jail.h"

struct hone_build_request {
    const char *arm;      /* for diagnostics */
    const char *prologue; /* text compiled in front (tunables, oracle preamble); may be NULL. Line
                             numbers of source stay right (#line) */
    const char *source;   /* C text */
    const char *const *flags; /* besides the standard -O3 -march=native -fPIC -shared -fopenmp ...;
                                 NULL-terminated, may be NULL */
    const char *symbol;       /* must be exported, else reason no_symbol */
    bool want_remarks;        /* vectorisation remarks by line (gcc; the same run) */
    const char *rung;
    bool allow_weak;
    const char *cache_dir;   /* NULL: none */
    const char *scratch_dir; /* folder for this build, made by the caller */
    int64_t deadline_ns;
};

struct hone_build {
    enum hone_reason reason;         /* HONE_REASON_BUILT or why not */
    char *object_path;               /* owned; NULL when not built */
    struct hone_build_report report; /* strings in the pool */
    struct hone_array remarks;       /* of struct hone_remark */
    const char *rung;
};

int hone_build_run(const struct hone_build_request *req, struct hone_pool *pool,
                   struct hone_build *ret, struct hone_err *err);

/* The assembly text that the same compile makes of the same request, with the compiler's comments;
 * in the pool. HONE_E_TARGET when the compiler refuses. */
int hone_build_assembly(const struct hone_build_request *req, struct hone_pool *pool,
                        const char **ret_text, size_t *ret_len, struct hone_err *err);

struct hone_program_request {
    const char *folder;       /* holds the files; the program is left there as "program" */
    const char *const *files; /* C files of it, NULL-terminated: the first is compiled alone with
                                  hone_options_of_objects and `flags`, the others plainly */
    const char *const *flags; /* NULL-terminated */
    const char *rung;
    bool allow_weak;
    int64_t deadline_ns;
};
/* Compiles and links a program in the jail; it is not run. ret->reason is HONE_REASON_BUILT or why
 * not, ret->report.log what the compiler said; nothing of *ret needs freeing. */
int hone_build_program(const struct hone_program_request *req, struct hone_pool *pool,
                       struct hone_build *ret, struct hone_err *err);

#endif
