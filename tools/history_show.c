/* SPDX-License-Identifier: Apache-2.0 */
/* history_show: the list of versions, or one of them with its evidence.
 *
 * A version's trailers say what its first measurement found; later ones are evidence. Both are
 * shown, and `best` names the measurement of the highest tier. The cursor is opaque to clients: an
 * offset into the list, which is newest first; versions that arrive between two pages shift it, so
 * that one may be seen twice, never missed. */
#include "tools/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/evaluate_text.h"
#include "workspace/base/text.h"
#include "tools/best_measurement.h"
#include "workspace/base/clock.h"

#define WHY_BYTES    200
#define PAGE_DEFAULT 20
#define PAGE_MAX     200
#define BATCH        256
#define SCAN_MAX     100000 /* versions looked at for one filtered page */

struct show_in {
    const char *commit, *branch, *task, *cursor, *detail;
    int64_t limit;
    bool review, source;
};

struct version_row {
    const char *commit, *parent, *task, *subject, *verdict, *reason, *tier, *speedup, *strategy,
        *vs_parent, *why, *review, *contradiction, *time, *doubt, *threads;
};

struct evidence_row {
    const char *commit, *verdict, *reason, *tier, *speedup, *summary, *time;
};

struct show_out {
    struct hone_head head;
    struct hone_array versions;
    const char *next_cursor;
    struct version_row *version;
    const char *body, *source, *best;
    struct hone_json *trailers, *report;
    struct hone_array evidence;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct show_in, commit, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "One version: id, a prefix of at least 4 digits, or a branch."),
    HONE_FIELD(struct show_in, branch, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Only what led to this version or branch."),
    HONE_FIELD(struct show_in, task, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Only this task."),
    HONE_FIELD(struct show_in, review,
               .help = "Only the review list: suspicious, or with something to look at."),
    HONE_FIELD(struct show_in, source, .help = "With commit: print its source."),
    HONE_FIELD(struct show_in, limit, .min = 1, .max = PAGE_MAX, .fallback_i64 = PAGE_DEFAULT,
               .help = "Versions on a page."),
    HONE_FIELD(struct show_in, cursor, .max_len = 128, .help = "next_cursor of the page before."),
    HONE_FIELD(struct show_in, detail, .fallback_str = "normal", .choices = hone_detail_choices,
               .help = HONE_DETAIL_HELP),
};

#define ROW(m_, ...) HONE_FIELD(struct version_row, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field row_fields[] = {
    ROW(commit, .required = true, .help = "Id."),
    ROW(parent, .help = "The version that was edited."),
    ROW(task, .help = "Task."),
    ROW(subject, .help = "The step in words."),
    ROW(verdict, .help = "Of the best founded measurement."),
    ROW(reason, .help = "Of the best founded measurement."),
    ROW(tier, .help = "Effort of that measurement."),
    ROW(speedup, .help = "Against the baseline, with interval."),
    ROW(doubt, .help = "Not to be claimed, fast-math, lower precision: of that figure."),
    ROW(threads, .help = "Busy in that measurement, of those allowed."),
    ROW(strategy, .help = "Strategy step."),
    ROW(vs_parent, .help = "Ratio to the parent in one run: above 1 is faster."),
    ROW(why, .help = "Why it was tried, in short."),
    ROW(review, .help = "What a reader should look at."),
    ROW(contradiction, .help = "Confirmations that contradict each other."),
    ROW(time, .help = "When."),
};

#define EVIDENCE(m_, ...) HONE_FIELD(struct evidence_row, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field evidence_fields[] = {
    EVIDENCE(commit, .required = true, .help = "Id of the evidence."),
    EVIDENCE(verdict, .help = "Verdict."),
    EVIDENCE(reason, .help = "Typed reason."),
    EVIDENCE(tier, .help = "Effort."),
    EVIDENCE(speedup, .help = "Against the baseline, with interval."),
    EVIDENCE(summary, .help = "One line."),
    EVIDENCE(time, .help = "When."),
};

#define OUT(m_, ...) HONE_FIELD(struct show_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct show_out),
    OUT(versions, HONE_OF(struct version_row, row_fields), .help = "Newest first."),
    OUT(next_cursor, .help = "Pass as cursor for the next page."),
    HONE_FIELD_OBJ(struct show_out, version, row_fields, .skip_empty = true,
                   .help = "The version."),
    OUT(best, .help = "Its best founded measurement."),
    OUT(body, .help = "Why, what was expected, what happened."),
    OUT(trailers, .json_schema = "{\"type\":\"object\"}", .help = "Trailers of the commit."),
    OUT(evidence, HONE_OF(struct evidence_row, evidence_fields),
        .help = "Later measurements, oldest first."),
    OUT(source, .help = "Source text, cut in the middle."),
    OUT(report, .json_schema = "{\"type\":\"object\"}", .help = "First report (detail full)."),
};

static void free_json(void *json)
{
    hone_json_free(json);
}

static const char *time_text(int64_t time_s, struct hone_pool *pool)
{
    char text[32];

    hone_wall_text(time_s * 1000, text);
    return hone_pool_strdup(pool, text);
}

/* What the author said, before what hone found. */
static const char *why_of(const struct hone_version *v, struct hone_pool *pool)
{
    const char *end = v->body != NULL ? strstr(v->body, "Outcome:") : NULL;
    size_t len = v->body == NULL ? 0 : end != NULL ? (size_t)(end - v->body) : strlen(v->body);
    while (len > 0 && strchr(" \n", v->body[len - 1]) != NULL)
        len--;
    return len > 0 ? hone_plain_line(pool, hone_pool_strndup(pool, v->body, len), WHY_BYTES) : NULL;
}

static void fill_row(const struct hone_version *v, struct hone_pool *pool, struct version_row *ret)
{
    *ret = (struct version_row){
        .commit = v->commit,
        .parent = v->parent,
        .task = v->task,
        .subject = hone_plain_line(pool, v->subject, 120),
        .verdict = hone_trailer_get(v, "Verdict"),
        .reason = hone_trailer_get(v, "Reason"),
        .tier = hone_trailer_get(v, "Tier"),
        .speedup = hone_trailer_get(v, "Speedup"),
        .strategy = hone_trailer_get(v, "Strategy"),
        .vs_parent = hone_trailer_get(v, "Speedup-vs-parent"),
        .why = why_of(v, pool),
        .review = hone_trailer_get(v, "Review"),
        .time = time_text(v->time_s, pool),
    };
}

/* ---- evidence ---- */

/* All figures of a row are those of one measurement, in the list and for one version alike. */
static void take_best(const struct hone_best_measurement *measured, struct version_row *row)
{
    const struct hone_measurement *best = &measured->best;

    row->verdict = hone_verdict_name(best->verdict);
    row->reason = hone_reason_name(best->reason);
    row->tier = hone_tier_name(best->tier);
    row->speedup = best->speedup;
    row->vs_parent = best->vs_parent;
    row->doubt = best->flag;
    row->threads = best->threads;
    row->review = measured->review;
    row->contradiction = measured->contradiction;
}

/* A row of the list says what is known best, not what was known first. */
static void prefer_evidence(struct hone_tool_ctx *ctx, const struct hone_version *version,
                            struct version_row *row, bool *ret_is_for_review)
{
    struct hone_best_measurement measured;

    if (hone_best_measurement_read(hone_workspace_history(ctx->app->ws), version, ctx->pool,
                                   &measured, NULL) < 0)
        return;
    take_best(&measured, row);
    *ret_is_for_review = hone_best_measurement_is_for_review(&measured);
}

/* ---- the list ---- */

struct page {
    const struct show_in *in;
    const char *rev;
    size_t offset; /* of the next version to look at */
    struct version_row *rows;
    size_t *ends; /* offset behind each row */
    size_t n;
    bool is_end;
};

static int parse_cursor(const char *cursor, size_t *ret, struct hone_err *err)
{
    char *end;
    unsigned long long offset;

    if (cursor == NULL) {
        *ret = 0;
        return 0;
    }
    offset = strncmp(cursor, "v1-", 3) == 0 ? strtoull(cursor + 3, &end, 10) : 0;
    if (strncmp(cursor, "v1-", 3) != 0 || *end != '\0' || end == cursor + 3 ||
        offset > SIZE_MAX / 2)
        return hone_fail_at(err, HONE_E_ARG, "cursor", "is not a next_cursor of history_show");
    *ret = (size_t)offset;
    return 0;
}

static int read_page(struct hone_tool_ctx *ctx, struct page *page, struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    size_t n_scanned = 0;

    while (page->n < (size_t)page->in->limit && !page->is_end && n_scanned < SCAN_MAX) {
        struct hone_version *versions;
        size_t n = 0;
        int rc = hone_history_list(history, page->rev, page->offset, BATCH, ctx->pool, &versions,
                                   &n, err);
        if (rc < 0)
            return rc;
        page->is_end = n < BATCH;
        for (size_t i = 0; i < n; i++, n_scanned++) {
            if (page->n == (size_t)page->in->limit) {
                page->is_end = false;
                return 0;
            }
            page->offset++;
            if (page->in->task != NULL &&
                (versions[i].task == NULL || strcmp(versions[i].task, page->in->task) != 0))
                continue;
            struct version_row *row = &page->rows[page->n];
            page->ends[page->n] = page->offset;
            fill_row(&versions[i], ctx->pool, row);
            bool is_for_review = false;
            prefer_evidence(ctx, &versions[i], row, &is_for_review);
            if (!page->in->review || is_for_review)
                page->n++;
        }
    }
    return 0;
}

static void shorten_rows(struct version_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct version_row){.commit = rows[i].commit,
                                       .subject = rows[i].subject,
                                       .verdict = rows[i].verdict,
                                       .review = rows[i].review,
                                       .contradiction = rows[i].contradiction,
                                       .vs_parent = rows[i].vs_parent,
                                       .doubt = rows[i].doubt,
                                       .threads = rows[i].threads,
                                       .speedup = rows[i].speedup};
}

static int list(struct hone_tool_ctx *ctx, const struct show_in *in, struct show_out *out,
                struct hone_err *err)
{
    struct page page = {.in = in};
    char commit[HONE_COMMIT_BYTES];
    size_t budget = hone_detail_budget(in->detail), kept;
    int rc = parse_cursor(in->cursor, &page.offset, err);

    if (rc == 0 && in->branch != NULL) {
        rc = hone_history_resolve(hone_workspace_history(ctx->app->ws), in->branch, commit, err);
        page.rev = commit;
    }
    if (rc < 0)
        return rc;
    page.rows = hone_pool_alloc(ctx->pool, (size_t)in->limit * sizeof(*page.rows));
    page.ends = hone_pool_alloc(ctx->pool, (size_t)in->limit * sizeof(*page.ends));
    rc = read_page(ctx, &page, err);
    if (rc < 0)
        return rc;
    out->versions = (struct hone_array){.v = page.rows, .n = page.n};
    out->head.status = "ok";
    out->head.next = "history_show with a commit shows one version; kernel_diff compares two.";
    out->head.summary = "";
    out->next_cursor = "v1-0000000000"; /* room for it */
    if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) + 80 > budget)
        shorten_rows(page.rows, page.n);
    while (out->versions.n > 1 &&
           hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) + 80 > budget)
        out->versions.n--;
    kept = out->versions.n;
    if (kept < page.n) /* the rest is the next page's */
        page.offset = page.ends[kept - 1];
    out->next_cursor =
        page.is_end && kept == page.n ? NULL : hone_pool_printf(ctx->pool, "v1-%zu", page.offset);
    out->head.summary = hone_pool_printf(ctx->pool, "%zu version%s%s", kept, kept == 1 ? "" : "s",
                                         out->next_cursor != NULL ? ", there are more" : "");
    return 0;
}

/* ---- one version ---- */

static int add_evidence(struct hone_tool_ctx *ctx, const struct hone_version *v,
                        struct show_out *out, struct hone_err *err)
{
    const struct hone_measurement *evidence;
    struct hone_best_measurement measured;
    struct evidence_row *rows;
    int rc = hone_best_measurement_read(hone_workspace_history(ctx->app->ws), v, ctx->pool,
                                        &measured, err);

    if (rc < 0)
        return rc;
    evidence = measured.evidence.v;
    rows = hone_pool_alloc(ctx->pool, (measured.evidence.n + 1) * sizeof(*rows));
    for (size_t i = 0; i < measured.evidence.n; i++)
        rows[i] = (struct evidence_row){.commit = evidence[i].commit,
                                        .verdict = hone_verdict_name(evidence[i].verdict),
                                        .reason = hone_reason_name(evidence[i].reason),
                                        .tier = hone_tier_name(evidence[i].tier),
                                        .speedup = evidence[i].speedup,
                                        .summary = evidence[i].summary,
                                        .time = time_text(evidence[i].time_s, ctx->pool)};
    out->evidence = (struct hone_array){.v = rows, .n = measured.evidence.n};
    out->best = measured.best.summary;
    take_best(&measured, out->version);
    return 0;
}

static void fit(struct hone_tool_ctx *ctx, const char *detail, struct show_out *out)
{
    size_t budget = hone_detail_budget(detail), room = budget / 2;
    const char *source = out->source;

    if (budget <= 4000)
        out->report = NULL;
    if (budget <= 1000) {
        out->trailers = NULL;
        out->source = source = NULL;
        out->body = hone_plain_cut(ctx->pool, out->body, 200);
    }
    for (int i = 0; i < 10; i++, room /= 2) {
        out->source = hone_plain_cut(ctx->pool, source, room);
        if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) <= budget)
            return;
        if (i > 2) {
            out->report = NULL;
            out->body = hone_plain_cut(ctx->pool, out->body, room);
            out->evidence.n = out->evidence.n > 4 ? out->evidence.n / 2 : out->evidence.n;
        }
    }
    out->source = out->body = NULL;
    out->evidence.n = 0;
    if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) > budget)
        out->trailers = NULL;
}

static int show(struct hone_tool_ctx *ctx, const struct show_in *in, struct show_out *out,
                struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    struct hone_version v;
    char commit[HONE_COMMIT_BYTES];
    int rc = hone_history_resolve(history, in->commit, commit, err);

    if (rc == 0)
        rc = hone_history_read(history, commit, ctx->pool, &v, err);
    if (rc < 0)
        return rc;
    v.commit = hone_pool_strdup(ctx->pool, commit);
    out->version = hone_pool_alloc(ctx->pool, sizeof(*out->version));
    fill_row(&v, ctx->pool, out->version);
    out->body = v.body;
    out->source = in->source ? v.source : NULL;
    out->trailers = hone_version_trailers_json(&v);
    hone_pool_defer(ctx->pool, free_json, out->trailers);
    if (v.report_json != NULL &&
        hone_json_parse(v.report_json, strlen(v.report_json), &out->report, NULL) == 0)
        hone_pool_defer(ctx->pool, free_json, out->report);
    rc = add_evidence(ctx, &v, out, err);
    if (rc < 0)
        return rc;
    out->head.status = "ok";
    out->head.commit = v.commit;
    out->head.verdict = out->version->verdict;
    out->head.reason = out->version->reason;
    const char *contradiction = out->version->contradiction;
    out->head.summary = hone_pool_printf(ctx->pool, "%s; %s%s%s", out->version->subject,
                                         out->best != NULL ? out->best : "never timed",
                                         contradiction != NULL ? "; " : "",
                                         contradiction != NULL ? contradiction : "");
    out->head.next =
        "kernel_diff compares it with its parent; kernel_evaluate with commit measures it again.";
    fit(ctx, in->detail, out);
    return 0;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct show_in *in = arguments;

    return in->commit != NULL ? show(ctx, in, result, err) : list(ctx, in, result, err);
}

const struct hone_tool hone_tool_history_show = {
    .name = "history_show",
    .title = "Show the history",
    .summary =
        "Every version that was tried, newest first; with a commit one version and its evidence.",
    .description = "A page of versions with verdict, speedup, ratio to the parent and why each was "
                   "made; or one version with its source and every measurement. A speedup that was "
                   "never confirmed is no result.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct show_in, struct show_out),
    .run = run,
};
