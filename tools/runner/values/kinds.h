/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of content: names, what they look like, and what the judge may conclude from them.
 *
 * One table; docs/reference/contents.md has it for readers, and a test holds the two together. How a kind is
 * drawn is gen_shape.h. Pure; any thread. */
#ifndef HONE_RUNNER_KINDS_H
#define HONE_RUNNER_KINDS_H

#include "tools/runner/values/gen_shape.h"
#include "workspace/task/task.h"

struct hone_kind {
    const char *name;
    const char *values; /* activations, weights, positive values */
    const char *others; /* index, offsets, mask, probability where they differ from the usual; NULL:
                           nowhere */
    bool is_plain;      /* random without structure: norm and bias of the whole output are tested */
    bool needs_all;     /* shows what is wrong at few elements: where the oracle sees some, all are
                           held against the baseline */
    bool is_corner;     /* a trivial answer may be right, or nearly so */
    bool needs_room;    /* shows nothing in short rows, or in one */
    unsigned special;   /* HONE_SPECIAL_*, of which the task has to cover one; 0: always drawn */
};
const struct hone_kind *hone_kind_row(enum hone_distribution dist);
const char *hone_dist_name(enum hone_distribution dist);
bool hone_dist_parse(const char *word, enum hone_distribution *ret);
/* The task's contract covers content of this kind. */
bool hone_kind_is_covered(enum hone_distribution dist, const struct hone_task *task);

#endif
