/* SPDX-License-Identifier: Apache-2.0 */
/* An answer from the ledger: for who was killed between the end of an evaluation and its use. */
#include "tools/evaluate.h"

#include <string.h>

#include "workspace/base/file.h"
#include "workspace/history.h"
#include "workspace/records.h"

static int read_report(struct hone_tool_ctx *ctx, const char *blob, struct hone_evaluation *ret,
                       struct hone_err *err)
{
    HONE_AUTOFREE char *name = hone_sprintf("blobs/%s", blob ? blob : "");
    HONE_AUTOFREE char *path = hone_workspace_path(ctx->app->ws, name);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    if (!blob || !hone_is_safe_name(blob) ||
        hone_file_read(path, HONE_LIMIT_REPORT_BYTES, &text, &len, NULL) < 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "the report of evaluation %s is gone", ret->id);
    ret->blob = blob;
    ret->report_text = hone_pool_strndup(ctx->pool, text, len);
    return hone_report_parse(text, len, ctx->pool, &ret->report, err);
}

/* Opening the workspace has committed it already; the same content gives the same id. */
static int find_commit(struct hone_tool_ctx *ctx, struct hone_record_end *end, const char *source,
                       struct hone_evaluation *ret, struct hone_err *err)
{
    char id[HONE_COMMIT_BYTES];
    if (end->evidence)
        ret->commit = end->evidence->commit;
    if (!end->version)
        return 0;
    if (!end->version->source)
        end->version->source = source;
    int rc = hone_history_commit(hone_workspace_history(ctx->app->ws), end->version, id, err);
    if (rc == 0)
        ret->commit = hone_pool_strdup(ctx->pool, id);
    return rc;
}

int hone_evaluate_recall(struct hone_tool_ctx *ctx, uint64_t start, uint64_t end,
                         struct hone_recalled *ret, struct hone_err *err)
{
    struct hone_ledger *ledger = hone_workspace_ledger(ctx->app->ws);
    struct hone_record_start began;
    struct hone_record_end ended;
    int rc = hone_record_read_start(ledger, start, ctx->pool, &began, err);
    if (rc == 0)
        rc = hone_record_read_end(ledger, end, ctx->pool, &ended, err);
    if (rc < 0)
        return rc;
    struct hone_evaluation e = {.id = ended.evaluation, .is_cached = true};
    rc = read_report(ctx, ended.blob, &e, err);
    if (rc == 0)
        rc = find_commit(ctx, &ended, began.source, &e, err);
    if (rc < 0)
        return rc;
    *ret = (struct hone_recalled){
        .source = began.source, .tier = hone_tier_of(began.tier), .evaluation = e};
    return 0;
}
