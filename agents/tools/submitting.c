/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/tools/submitting.h"

#include <math.h>
#include <string.h>

#include "tools/format/verdict.h"
#include "workspace/base/clock.h"

static void fill_head(struct hone_pool *pool, const struct hone_steer_search *search, uint64_t n,
                      const struct hone_submitted *s, struct hone_head *head)
{
    enum hone_reason reason;
    bool is_waiting = strcmp(s->status, "waiting") == 0;
    head->status = is_waiting ? "running" : "ok";
    head->verdict = s->verdict;
    head->reason = s->reason;
    head->commit = s->commit;
    head->evaluation = s->evaluation;
    if (s->reason && hone_reason_parse(s->reason, &reason)) {
        const struct hone_reason_row *row = hone_reason_row(reason);
        head->error_class = *row->error_class ? row->error_class : NULL;
        head->next = row->next;
    }
    if (is_waiting) {
        head->summary = hone_pool_printf(pool, "submission %llu waits in search %s%s",
                                         (unsigned long long)n, search->name,
                                         s->is_running ? ""
                                                       : ", which no process runs now; it is taken "
                                                         "when the search goes on");
        head->next = "search_outcome with this submission and wait_ms.";
    } else if (s->verdict) {
        head->summary = hone_pool_printf(
            pool, "%s: %s%s", s->words ? s->words : "", s->verdict,
            isfinite(s->ratio) ? hone_pool_printf(pool, ", about %.3gx the baseline", s->ratio)
                               : "");
    } else {
        head->summary = hone_pool_printf(pool, "%s: %s", s->status, s->note ? s->note : "");
        head->next = "strategy_propose with this search shows what is left.";
    }
}

int hone_submitted_fill(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                        uint64_t n, int64_t wait_ms, struct hone_head *head,
                        struct hone_submitted_rows *ret, struct hone_err *err)
{
    struct hone_submitted s;
    int r = hone_submission_wait(ctx->app->ws, search, n, hone_deadline_in_ms(wait_ms), ctx->cancel,
                                 ctx->pool, &s, err);
    if (r < 0)
        return r;
    fill_head(ctx->pool, search, n, &s, head);
    *ret = (struct hone_submitted_rows){.search = search->id,
                                        .state = s.status,
                                        .words = s.words,
                                        .note = s.note,
                                        .submission = (int64_t)n,
                                        .node = s.node > 0 ? s.node : 0,
                                        .ratio = s.ratio,
                                        .is_gain = s.is_gain};
    return 0;
}
