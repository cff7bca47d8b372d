/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on nearly the same content.
 *
 * Whoever keeps answers and knows them again by a part of the input (samples, sums, a checksum of
 * a tile, addresses) is right as long as content is drawn anew, and wrong where a user changes one
 * element. So after the comparisons a few elements of a buffer set change in place, and the same
 * process is called again on the same buffers; also the content of one set at another's address,
 * two elements or two inputs that changed places, another size or scalar over the same buffers,
 * and the old content once more. Which set it is, what changes in it, and how many calls on
 * others come between is drawn, so that nothing tells such a call from the first one; whoever
 * reads all of its inputs passes. Runner main thread. */
#ifndef HONE_RUNNER_NEAR_H
#define HONE_RUNNER_NEAR_H

#include "tools/runner/judge/judge.h"

/* Single elements of the inputs of one set, wherever they lie. */
struct hone_near_io {
    void *arg;
    int (*get)(void *arg, size_t input, int64_t i, double *ret, struct hone_err *err);
    int (*set)(void *arg, size_t input, int64_t i, double value, struct hone_err *err);
};
/* Changes one to three elements of some of the inputs, or of all, within what their roles allow;
 * dist is what the set was filled with. *ret_n: elements that have another value now (0: nothing
 * can change). */
int hone_near_change(struct hone_judge *judge, const struct hone_workload *workload,
                     enum hone_distribution dist, const struct hone_near_io *io, int64_t *ret_n,
                     struct hone_err *err);
/* Two inputs that may change places: as many elements of one type and role. False:
 * there are none. */
bool hone_near_pair(struct hone_judge *judge, const struct hone_workload *workload, size_t *ret_a,
                    size_t *ret_b);

/* What a set's outputs hold before a call: poison, what the call before it left, or that but for a
 * part. Who looks at some elements of an output and takes the rest for done shows. */
enum hone_near_fill { HONE_NEAR_POISON, HONE_NEAR_AS_LEFT, HONE_NEAR_PART };
struct hone_near_part { /* `count` stretches of `length` elements, a step apart */
    int64_t first, length, step, count;
};
enum hone_near_fill hone_near_fill(struct hone_judge *judge);
struct hone_near_part hone_near_part(struct hone_judge *judge, int64_t n); /* of n > 0 elements */

/* The kind, of n, that step k of a check is: first the first, then the others in turn, going on
 * from check to check, so that each comes however few steps a check can afford. */
size_t hone_near_kind(const struct hone_judge *judge, size_t k, size_t n);
#define HONE_NEAR_ROW "near" /* name of a check's row in the report */

/* How long such calls may go on after this check: on the smoke size and on every size that is asked
 * for, on one in four of those that the judge drew; a screening makes one step. 0: none here. */
int64_t hone_near_limit_ns(struct hone_judge *judge, const struct hone_check_plan *plan);

/* Target cpu: n_pairs pairs of sets as a check has left them (the same content in sets 2 d and
 * 2 d + 1), all answers good. Afterwards the answers of even sets are those of what they hold. */
int hone_near_check(struct hone_judge *judge, struct hone_slot *slot,
                    const struct hone_check_plan *plan, int64_t n_pairs, struct hone_outcome *ret,
                    struct hone_err *err);
/* Target cpu: one of the sets 0 .. n_sets - 1 of a timed hand-over that has been checked. */
int hone_near_timed(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                    struct hone_outcome *ret, struct hone_err *err);

#endif
