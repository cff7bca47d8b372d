/* Are calls made one after the other?
 *
 * A kernel that knows how many calls a block holds could solve all of them in the first (one start
 * of its threads instead of many) or put them off to the last. Seen from outside that is all the
 * same, except in the middle: whoever works call by call leaves finished outputs, then at most one
 * that is partly written, then untouched ones, and as many finished ones as CPU time has passed. */
#ifndef HONE_RUNNER_AUDIT_H
#define HONE_RUNNER_AUDIT_H

#include "tools/runner/runner.h"

struct hone_audit {
    struct hone_judge *judge;
    struct hone_slot *slot;
    int64_t n_sets; /* called in order from 0, outputs poisoned with the NaN */
    /* filled */
    int64_t n_done, n_begun; /* sets */
    bool is_out_of_order;
};
void hone_audit_look(void *audit); /* while the arena stands still */
/* share: of the CPU time at the look. *n_uneven counts looks in a row at which far more or fewer
 * calls were done than that; the third ends it. Outputs that are not floating point tell nothing.
 */
void hone_audit_end(const struct hone_audit *audit, double share, int64_t *n_uneven,
                    struct hone_end *ret);

#endif
