#include "tools/runner/audit.h"

#include <math.h>

#define MIN_SETS   8   /* fewer are too coarse to compare with a share of time */
#define UNEVEN     0.4 /* of all calls; caches and a busy machine explain less */
#define MAX_UNEVEN 3

/* How much of a set's outputs is still poison: 0 none, 1 some, 2 all. */
static int untouched(const struct hone_audit *audit, int64_t set)
{
    const struct hone_task *task = audit->judge->task;
    int64_t n = 0, n_left = 0;
    for (size_t o = 0; o < task->n_outputs; o++) {
        int64_t n_elements = hone_judge_output_elements(audit->judge, o), count = 0;
        if (!hone_dtype_is_float(task->outputs[o].dtype))
            continue;
        (void)hone_find_unwritten(task->outputs[o].dtype,
                                  hone_judge_output(audit->judge, audit->slot, set, o), NULL,
                                  n_elements, &count);
        n += n_elements;
        n_left += count;
    }
    return n_left == 0 ? 0 : n_left < n ? 1 : 2;
}

void hone_audit_look(void *arg)
{
    struct hone_audit *audit = arg;
    bool was_unfinished = false;
    for (int64_t set = 0; set < audit->n_sets; set++) {
        int left = untouched(audit, set);
        audit->n_done += left == 0;
        audit->n_begun += left == 1;
        audit->is_out_of_order = audit->is_out_of_order || (was_unfinished && left < 2);
        was_unfinished = was_unfinished || left > 0;
    }
}

static bool has_float_output(const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        if (hone_dtype_is_float(task->outputs[o].dtype))
            return true;
    }
    return false;
}

void hone_audit_end(const struct hone_audit *audit, double share, int64_t *n_uneven,
                    struct hone_end *ret)
{
    if (!has_float_output(audit->judge->task))
        return;
    if (audit->is_out_of_order) {
        hone_end_set(ret, HONE_REASON_TAMPERING,
                     "the kernel worked on the outputs of a later call before an earlier one was "
                     "done");
        return;
    }
    double done = ((double)audit->n_done + 0.5 * (double)audit->n_begun) / (double)audit->n_sets;
    bool is_uneven = audit->n_sets >= MIN_SETS && fabs(done - share) > UNEVEN;
    *n_uneven = is_uneven ? *n_uneven + 1 : 0;
    if (*n_uneven >= MAX_UNEVEN)
        hone_end_set(
            ret, HONE_REASON_TAMPERING,
            "after %.0f %% of the CPU time %.0f %% of the calls were done: work of several "
            "calls is done in one",
            100 * share, 100 * done);
}
