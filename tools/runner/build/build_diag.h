/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what compilers print. Text, not JSON: gcc 15 dropped -fdiagnostics-format=json, clang never
 * had it, and one line "file:line:column: severity: message" has been the same for all of them for
 * decades. A source can make a compiler print such a line, by a line feed in #pragma GCC warning:
 * after a build that passed none is an error. Everything returned lives in the pool. */
#ifndef HONE_RUNNER_BUILD_DIAG_H
#define HONE_RUNNER_BUILD_DIAG_H

#include "tools/format/report.h"

struct hone_diag_in {
    const char *text; /* compiler, assembler and linker output */
    const char
        *file; /* name of the candidate's file in it; other files' lines are put into the message */
    const char *source; /* for the context lines */
    const char *arm;
    bool has_passed; /* the tools succeeded: a line that reads as an error is the source's words */
};

struct hone_diag_out {
    struct hone_array diagnostics; /* of struct hone_diagnostic: errors with their notes first, then
                                      warnings; at most HONE_LIMIT_DIAGNOSTICS */
    bool has_error;                /* of compiler or assembler */
    bool has_link_error;
    /* By the last words of who started the tool, and only where the source has no error: a source
     * can make a compiler print anything else. */
    bool is_out_of_memory;
    bool is_killed_call; /* a compiler process was ended by the system call filter */
    bool is_too_big;     /* a compiler process wrote past the file size limit */
};

void hone_diag_parse(const struct hone_diag_in *in, struct hone_pool *pool,
                     struct hone_diag_out *ret);

/* gcc's -fopt-info-vec-optimized-missed: one remark per loop line, the most telling one; array of
 * struct hone_remark by line. */
void hone_diag_remarks(const char *text, const char *file, struct hone_pool *pool,
                       struct hone_array *ret);

#endif
