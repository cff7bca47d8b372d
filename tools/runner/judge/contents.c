/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/contents.h"

#include <string.h>

#include "tools/runner/judge/judge.h"

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

void hone_contents_deal(struct hone_judge *judge, enum hone_distribution *dists, size_t have,
                        size_t n)
{
    for (int try = 0; have < n && try < 3 * HONE_N_DISTS; try++) {
        enum hone_distribution other = next_of_deck(judge);
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
