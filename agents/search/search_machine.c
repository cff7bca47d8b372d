/* SPDX-License-Identifier: Apache-2.0 */
/* A version whose evaluation ended as the machine's fault: is it?
 *
 * The same question as tools/runner/judge/blame.h asks inside of a job, for whatever brings a job to such
 * an end from outside of it. The search's own start, the baseline, is evaluated where the version
 * failed. It works, and the version fails once more: the version's own fault, and the search goes
 * on. It fails too: the machine's, and so many in a row end the search. These looks are no
 * evaluations of the search: they take its wall time alone. */
#include "agents/search/search_internal.h"

#include <string.h>

#include "tools/evaluate.h"

#define IN_A_ROW 5

static const char *const caller = "search's look at the machine";

static bool is_open(const struct hone_evaluation *e)
{
    return e->report.verdict == HONE_VERDICT_INFRA && e->report.reason != HONE_REASON_CANCELLED;
}

static int try_baseline(struct hone_search *s, const struct hone_tool_ctx *like,
                        struct hone_evaluation *ret, struct hone_err *err)
{
    struct hone_tool_ctx ctx = *like;
    const struct hone_evaluation_request req = {.task = s->task,
                                                .target = s->target,
                                                .source = s->state.tree.nodes[0]->source,
                                                .tier = HONE_TIER_SCREEN,
                                                .no_commit = true,
                                                .no_cache = true};
    ctx.caller = caller;
    return hone_evaluate(&ctx, &req, ret, err);
}

int hone_search_settle_blame(struct hone_search *s, const struct hone_tool_ctx *like,
                             const struct hone_evaluation_request *req, struct hone_evaluation *e,
                             bool *ret_is_own, struct hone_err *err)
{
    *ret_is_own = false;
    if (!is_open(e)) {
        s->n_infra = 0;
        return 0;
    }
    if (s->state.tree.n_nodes == 0) /* the baseline itself: the caller tries it again */
        return 0;
    struct hone_evaluation baseline = {.id = NULL};
    int r = try_baseline(s, like, &baseline, err);
    if (r < 0)
        return r;
    if (is_open(&baseline)) {
        if (++s->n_infra < IN_A_ROW)
            return 0;
        return hone_fail(err, HONE_E_TARGET,
                         "%d evaluations in a row ended with '%s', and so did the baseline",
                         IN_A_ROW, hone_reason_name(baseline.report.reason));
    }
    struct hone_tool_ctx ctx = *like;
    struct hone_evaluation_request again = *req;
    s->n_infra = 0;
    again.no_cache = true;
    ctx.caller = caller;
    r = hone_evaluate(&ctx, &again, e, err);
    *ret_is_own = r == 0 && is_open(e);
    if (*ret_is_own)
        hone_search_tell(s, "a version fails where the baseline works: its own fault");
    return r;
}
