/* SPDX-License-Identifier: Apache-2.0 */
/* Records lattices: every state of a template is built, checked and timed, in rounds, and the file
 * is written after each part, so that a killed recording goes on where it was. */
#ifndef HONE_AGENTS_LATTICE_RECORD_H
#define HONE_AGENTS_LATTICE_RECORD_H

#include "agents/offline/lattice.h"
#include "tools/tool.h"

struct hone_lattice_recording {
    const char *template_path; /* tests/lattices/matmul.c */
    const char *out_dir;       /* gets matmul.cpu.json */
    int64_t rounds;            /* repeats that every state shall have */
    int64_t n_top;             /* after the first round only so many of the fastest states, by what
                                  is known then, and the first state; 0: all */
    int64_t n_workloads;       /* the task's first public sizes; 0: as a screening takes them */
    int64_t budget_ms;         /* of timing for one state and round; 0: the tier's */
    const char *note;          /* NULL: the file's stays */
    bool is_profiled;          /* cuda: counters of every state too */
    bool is_fresh;             /* what is there already does not count */
};

/* Rounds that are there already are not done again, unless the template changed. HONE_E_CANCEL
 * keeps what is finished. Blocks. */
int hone_lattice_record(struct hone_tool_ctx *ctx, const struct hone_lattice_recording *recording,
                        struct hone_err *err);

#endif
