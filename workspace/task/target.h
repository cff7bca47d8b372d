/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: where kernels run. One row a target holds what differs outside of the runner, whose own
 * table is tools/runner/judge/target.h. Code asks the row, not the name; a new target begins here.
 *
 *     if (hone_target_traits(job->target)->has_device) ... */
#ifndef HONE_TASK_TARGET_H
#define HONE_TASK_TARGET_H

#include "workspace/base/base.h"

enum hone_task_target { HONE_TASK_CPU, HONE_TASK_CUDA, HONE_N_TASK_TARGETS };
enum hone_language { HONE_LANGUAGE_C, HONE_LANGUAGE_CUDA, HONE_N_LANGUAGES };

struct hone_target_traits {
    const char *name; /* "cpu", "cuda" */
    enum hone_language language;
    bool has_device;           /* kernels run on a device with units, rates and memory of its own */
    const char *extension;     /* of sources: "c", "cu" */
    const char *naive_path;    /* in a pack: "kernels/naive.c" */
    const char *loose_math[3]; /* compiler flags that allow another order of sums; NULL behind */
};
extern const struct hone_target_traits hone_targets[HONE_N_TASK_TARGETS];
extern const char *const hone_target_words[HONE_N_TASK_TARGETS + 1]; /* names, NULL behind */

bool hone_task_target_parse(const char *word, enum hone_task_target *ret); /* false: unknown */
/* The row of a name; the CPU's for NULL and for an unknown one (a field table or
 * hone_task_target_parse has refused that before). */
const struct hone_target_traits *hone_target_traits(const char *name);

#endif
