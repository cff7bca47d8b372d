/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/contents.h"

#include <string.h>

#include "tools/runner/judge/judge.h"

#define ROOM 64 /* elements of a row */

void hone_contents_start(struct hone_judge *judge)
{
    for (int d = 0; d < HONE_N_DISTS; d++) {
        if (hone_kind_is_covered((enum hone_distribution)d, judge->task))
            continue;
        judge->is_dist_left_out[d] = true;
        judge->contents.why_left_out[d] = "the task does not cover it";
    }
}

size_t hone_contents_kinds(const struct hone_judge *judge, enum hone_distribution ret[HONE_N_DISTS])
{
    size_t n = 0;
    for (int d = 0; d < HONE_N_DISTS; d++)
        if (hone_kind_is_covered((enum hone_distribution)d, judge->task))
            ret[n++] = (enum hone_distribution)d;
    return n;
}

static enum hone_distribution next_of_deck(struct hone_judge *judge)
{
    struct hone_contents *contents = &judge->contents;
    if (contents->n_deck == 0) {
        contents->n_deck = hone_contents_kinds(judge, contents->deck);
        hone_judge_shuffle(judge, contents->deck, contents->n_deck);
    }
    return contents->deck[--contents->n_deck];
}

enum hone_distribution hone_judge_any_distribution(struct hone_judge *judge)
{
    for (int try = 0; try < 2 * HONE_N_DISTS; try++) {
        enum hone_distribution dist = next_of_deck(judge);
        if (!judge->is_dist_left_out[dist])
            return dist;
    }
    return HONE_DIST_NORMAL;
}

/* Rows of a floating input, long enough for a few elements not to be seen in a sample. */
static bool has_room(const struct hone_judge *judge, const struct hone_workload *workload)
{
    for (size_t i = 0; i < judge->task->n_inputs; i++) {
        const struct hone_tensor *tensor = &judge->task->inputs[i];
        int64_t n = hone_tensor_elements(judge->task, tensor, workload),
                row = tensor->rank > 0 ? workload->axes[tensor->shape[tensor->rank - 1]] : 1;
        if (hone_dtype_is_float(tensor->dtype) && row >= ROOM && n >= 2 * row)
            return true;
    }
    return false;
}

/* What was drawn and would show nothing changes places with the next kind that does not need
 * room, and is dealt later. */
static enum hone_distribution next_that_shows(struct hone_judge *judge, bool is_roomy)
{
    struct hone_contents *contents = &judge->contents;
    enum hone_distribution dist = next_of_deck(judge);
    for (size_t i = contents->n_deck; i-- > 0 && !is_roomy && hone_kind_row(dist)->needs_room;) {
        enum hone_distribution other = contents->deck[i];
        if (hone_kind_row(other)->needs_room)
            continue;
        contents->deck[i] = dist;
        dist = other;
    }
    return dist;
}

void hone_contents_deal(struct hone_judge *judge, const struct hone_workload *workload,
                        enum hone_distribution *dists, size_t have, size_t n)
{
    bool is_roomy = has_room(judge, workload);
    for (int try = 0; have < n && try < 3 * HONE_N_DISTS; try++) {
        enum hone_distribution other = next_that_shows(judge, is_roomy);
        bool is_new = true;
        for (size_t i = 0; i < have; i++)
            is_new = is_new && dists[i] != other;
        if (is_new)
            dists[have++] = other;
    }
    HONE_BUG_ON(have < n); /* two decks have every kind */
}

void hone_contents_leave_out(struct hone_judge *judge, enum hone_distribution dist,
                             const char *workload)
{
    hone_judge_warn(judge,
                    "distribution '%s' left out for '%s': the task's own baseline fails it too",
                    hone_dist_name(dist), workload);
    judge->is_dist_left_out[dist] = true;
    if (judge->contents.why_left_out[dist] == NULL)
        judge->contents.why_left_out[dist] =
            hone_pool_printf(judge->pool, "the baseline fails it too (%s)", workload);
}

const char *hone_contents_detail(const struct hone_judge *judge, const char *detail,
                                 bool is_compared, enum hone_distribution dist)
{
    const struct hone_kind *kind = hone_kind_row(dist);
    if (detail[0] == '\0')
        return NULL;
    return is_compared && !kind->is_plain
               ? hone_pool_printf(judge->pool, "%s; %s: %s", detail, kind->name, kind->values)
               : hone_pool_strdup(judge->pool, detail);
}

void hone_contents_report(struct hone_judge *judge)
{
    const struct hone_contents *contents = &judge->contents;
    struct hone_contents_report *report = hone_pool_alloc(judge->pool, sizeof *report);
    const char **compared = hone_pool_alloc(judge->pool, HONE_N_DISTS * sizeof *compared);
    struct hone_left_out_report *out = hone_pool_alloc(judge->pool, HONE_N_DISTS * sizeof *out);
    *report = (struct hone_contents_report){.compared = {.v = compared}, .left_out = {.v = out}};
    for (int d = 0; d < HONE_N_DISTS; d++) {
        const char *name = hone_dist_name((enum hone_distribution)d);
        if (contents->is_compared[d])
            compared[report->compared.n++] = name;
        if (contents->why_left_out[d] != NULL)
            out[report->left_out.n++] =
                (struct hone_left_out_report){.kind = name, .reason = contents->why_left_out[d]};
    }
    if (report->compared.n > 0)
        judge->report->contents = report;
}
