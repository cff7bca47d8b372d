/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "agents/tools/submitting.h"
#include "workspace/base/clock.h"

enum { MAX_WAIT_MS = 600000 };

struct outcome_in {
    const char *search;
    int64_t submission, wait_ms;
};

struct outcome_out {
    struct hone_head head;
    struct hone_submitted_rows submitted;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct outcome_in, search, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name or id of the search."),
    HONE_FIELD(struct outcome_in, submission, .required = true, .min = 1, .max = INT64_MAX,
               .help = "Handle from strategy_apply."),
    HONE_FIELD(struct outcome_in, wait_ms, .min = 0, .max = MAX_WAIT_MS, .fallback_i64 = 30000,
               .unit = "ms", .help = "Wait at most so long for it."),
};

static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct outcome_out),
                                               HONE_SUBMITTED_FIELDS(struct outcome_out)};

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct outcome_in *in = arguments;
    struct outcome_out *out = result;
    struct hone_steer_search search;
    int r = hone_steer_find(ctx->app->ws, in->search, ctx->pool, &search, err);
    return r < 0 ? r
                 : hone_submitted_fill(ctx, &search, (uint64_t)in->submission, in->wait_ms,
                                       &out->head, &out->submitted, err);
}

const struct hone_tool hone_tool_search_outcome = {
    .name = "search_outcome",
    .title = "Outcome of a submission",
    .summary = "What came of a step that was submitted into a running search; waits for it.",
    .description = "Verdict, screened ratio, commit and node of a submission (strategy_apply with "
                   "search), or that it still waits. Handles are durable. The screened ratio is no "
                   "result; the search's confirmation is.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct outcome_in, struct outcome_out),
    .run = run,
};
