/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler made of one kernel, for people and agents to read.
 *
 * The text of a disassembler or compiler is divided into functions; of one of them labels and
 * instructions are kept, blanks squeezed, directives dropped, and each change of the source line is
 * told by a comment with that line. The text follows from a candidate: it is data, may lie, and is
 * made safe to show. One thread. */
#ifndef HONE_RUNNER_ASSEMBLY_H
#define HONE_RUNNER_ASSEMBLY_H

#include "tools/format/report.h"

struct hone_assembly_name {
    const char *name;   /* in the text */
    const char *pretty; /* for people */
};

struct hone_assembly_request {
    const char *kind; /* "sass": nvdisasm -c -gi; "ptx"; "asm": gcc -S -fverbose-asm */
    const char *text;
    size_t len;
    const char *file;   /* what the text calls the source, without folders */
    const char *source; /* for the comments */
    const char *wanted; /* by either name, or the pretty one without arguments; NULL: the one with
                           most instructions, loops counted ten times. With ":LINE" at its end the
                           text begins at that source line or the next that has instructions, else
                           near the heaviest loop where much stands before it */
    const struct hone_assembly_name *names; /* others are not shown; n_names 0: all are */
    size_t n_names;
};

/* Fills assembly (at most HONE_LIMIT_ASSEMBLY_BYTES, the last line tells how many lines are
 * missing), assembly_of and assembly_note. Everything lives in the pool. */
void hone_assembly_read(const struct hone_assembly_request *req, struct hone_pool *pool,
                        struct hone_build_report *ret);

#endif
