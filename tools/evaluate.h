/* SPDX-License-Identifier: Apache-2.0 */
/* The one way a candidate is evaluated and recorded: used by kernel_* tools, kernel_tune
 * and the search.
 *
 * Order of events (docs/architecture.md, "What is stored"):
 *
 *   1. The answer is looked up by content (task hash, source, flags, tunables, tier, machine): a
 *      hit costs nothing.
 *   2. Ledger record "evaluation.start" with the whole source, the parent and the caller.
 *   3. Job folder, executor, report.
 *   4. Ledger record "evaluation.end" with everything needed to rebuild the commit; group fsync.
 *      Now the evaluation counts as acknowledged.
 *   5. Git commit (failed candidates too), ledger record "commit".
 *
 * Example:
 *
 *     struct hone_evaluation_request req = {.task = task, .source = text, .tier = HONE_TIER_SCREEN};
 *     struct hone_evaluation evaluation;
 *     hone_evaluate(ctx, &req, &evaluation, err);       0: look at evaluation.report.verdict */
#ifndef HONE_TOOLS_EVALUATE_H
#define HONE_TOOLS_EVALUATE_H

#include "tools/tool.h"

struct hone_evaluation_request {
    const struct hone_task *task; /* borrowed */
    const char *target;           /* NULL: cpu */
    const char *source;
    struct hone_strs flags;
    struct hone_array tunables; /* of struct hone_tunable */
    struct hone_array points;   /* of struct hone_point: a sweep */
    enum hone_tier tier;
    const char *stages;         /* comma list; NULL: all that the tier needs */
    const char *parent;         /* commit, or NULL */
    bool time_parent;           /* the parent's source becomes an arm: vs_parent */
    struct hone_strs workloads; /* empty: all public */
    struct hone_json *axes;     /* one size alone, {"M": 3}; NULL: none. With no_cache, no_commit */
    int64_t budget_ms, timeout_ms, call_timeout_ms, n_threads; /* 0: the tier's default */
    int64_t finish_ms;                                         /* as in a job; 0: none */
    int64_t lease_wait_ms;                  /* at most for the timing lease; 0: the default */
    const char *seed_hex;                   /* NULL: fresh */
    const char *assembly, *assembly_kernel; /* as in a job; NULL: none; NULL: the heaviest */
    const char *subject, *body;             /* commit text; NULL: made from the verdict */
    struct hone_array trailers;             /* of struct hone_trailer, added to the standard ones */
    bool no_commit;                         /* kernel_run, lint */
    bool must_beat_parent; /* no commit where the parent was timed and is not beaten */
    bool no_cache;
    const char *author;
};

struct hone_evaluation {
    const char *id;
    const char *commit;     /* NULL when none was made */
    const char *refutation; /* what found the version wrong; NULL: nothing did, or this does */
    bool is_cached;
    struct hone_report report;
    const char *report_text; /* the whole of it */
    const char *call_dir;
    const char *blob; /* content hash of the whole report: .hone/blobs/<hash> */
};

/* A ratio to the parent below 1, or above it by no more than noise. NULL: not timed, not lost. */
bool hone_lost_to_parent(const struct hone_ratio *ratio);

/* Everything in *ret lives in ctx->pool. 0 for every verdict; negative for cancel, full
 * disk, bad request. */
int hone_evaluate(struct hone_tool_ctx *ctx, const struct hone_evaluation_request *req,
                  struct hone_evaluation *ret, struct hone_err *err);

struct hone_recalled { /* strings in ctx->pool */
    const char *source;
    enum hone_tier tier;
    struct hone_evaluation evaluation; /* is_cached; call_dir NULL */
};
/* The answer of an evaluation that another process began and ended, by the numbers of its two
 * ledger records: acknowledged, so nobody needs to evaluate it again, whatever the cache knows.
 * HONE_E_NOT_FOUND: its report is gone. */
int hone_evaluate_recall(struct hone_tool_ctx *ctx, uint64_t start, uint64_t end,
                         struct hone_recalled *ret, struct hone_err *err);

#endif
