/* SPDX-License-Identifier: Apache-2.0 */
/* The words about an evaluation (evaluate_text.h): summary, commit text, trailers, and a report
 * that fits into a tree.
 *
 * hone_report_compact drops parts in a fixed order, least needed first (texts, remarks, checks,
 * points, workloads), until the limit is met. */
#include "tools/evaluate_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/format/options.h"
#include "workspace/base/text.h"
#include "tools/rests_text.h"
#include "workspace/history.h"

#define SUBJECT_BYTES 100
#define TRAILER_BYTES 400
#define TRAILERS_MAX  48
#define NAME_BYTES    80   /* of a stage, size or tier that a runner names */
#define APART         1.25 /* so far from each other, public and drawn sizes are told apart */

const char *hone_ratio_text(const struct hone_ratio *ratio, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "%.4g [%.4g, %.4g]", ratio->ratio, ratio->low, ratio->high);
}

double hone_report_time_ns(const struct hone_report *report, const char *arm)
{
    const struct hone_workload_report *workloads = report->workloads.v;
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_arm_time *times = workloads[i].times.v;
        for (size_t k = 0; k < workloads[i].times.n; k++) {
            if (strcmp(times[k].arm, arm) != 0 || !(times[k].median_ns > 0))
                continue;
            sum += log(times[k].median_ns);
            n++;
        }
    }
    return n > 0 ? exp(sum / n) : (double)NAN;
}

static const struct hone_diagnostic *first_error(const struct hone_report *report)
{
    const struct hone_diagnostic *d = report->build != NULL ? report->build->diagnostics.v : NULL;

    for (size_t i = 0; d != NULL && i < report->build->diagnostics.n; i++)
        if (d[i].severity == HONE_SEVERITY_ERROR)
            return &d[i];
    return NULL;
}

static const struct hone_check_report *first_bad_check(const struct hone_report *report)
{
    const struct hone_check_report *checks = report->checks.v;

    for (size_t i = 0; i < report->checks.n; i++)
        if (checks[i].n_bad > 0)
            return &checks[i];
    return NULL;
}

const char *hone_report_failure(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_diagnostic *error = first_error(report);
    const struct hone_check_report *check = first_bad_check(report);
    enum hone_reason reason = report->reason;

    if (hone_reason_row(reason)->error_class[0] == '\0')
        return NULL;
    if (reason == HONE_REASON_COMPILE && error != NULL && error->line == 0)
        return hone_plain_line(pool, error->message, 200);
    if (reason == HONE_REASON_COMPILE && error != NULL)
        return hone_pool_printf(pool, "line %lld: %s", (long long)error->line,
                                hone_plain_line(pool, error->message, 160));
    if (check != NULL && check->detail != NULL)
        return hone_pool_printf(
            pool, "%s (%s%s%s, %lld of %lld wrong)", hone_plain_line(pool, check->detail, 140),
            hone_plain_line(pool, check->name, NAME_BYTES), check->workload != NULL ? ", " : "",
            hone_plain_line(pool, check->workload, NAME_BYTES), (long long)check->n_bad,
            (long long)check->n_compared);
    if (report->summary != NULL)
        return hone_plain_line(pool, report->summary, 200);
    return hone_reason_row(reason)->meaning;
}

static const char *of_bound(const struct hone_report *report, struct hone_pool *pool)
{
    const char *beyond = hone_beyond_bound(report, pool);

    if (beyond[0] != '\0')
        return hone_pool_printf(pool, ", %s", beyond);
    if (!(report->percent_of_bound > 0))
        return "";
    return hone_pool_printf(pool, ", %.*f %% of bound%s", report->percent_of_bound < 10 ? 1 : 0,
                            report->percent_of_bound,
                            report->rests_on != NULL && report->rests_on->is_bound_counted
                                ? " by operations counted from loops"
                                : "");
}

const char *hone_review_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_review *review = report->review.v;
    const char *text = "";

    for (size_t i = 0; i < report->review.n; i++)
        if (i == 0 || strcmp(review[i].rule, review[i - 1].rule) != 0)
            text = hone_pool_printf(pool, "%s%s%s", text, i > 0 ? ", " : "",
                                    hone_plain_line(pool, review[i].rule, 40));
    return text[0] != '\0' ? text : NULL;
}

static const char *caution(const struct hone_report *report, struct hone_pool *pool)
{
    if (report->verdict == HONE_VERDICT_INCONCLUSIVE)
        return hone_pool_printf(pool, "%s; nothing follows from it", hone_tier_name(report->tier));
    if (report->tier == HONE_TIER_CONFIRM && report->doubts.n > 0)
        return hone_pool_printf(pool, "measured with fresh data, not to be claimed: %s",
                                hone_plain_line(pool, report->doubts.v[0], 200));
    if (report->tier == HONE_TIER_CONFIRM)
        return "confirmed with fresh data";
    if (report->tier == HONE_TIER_DECIDE)
        return "decide; confirm before you claim it";
    return "one short timing; decide before you believe it";
}

/* Geometric mean of the sizes' ratios to the baseline, of public or of drawn ones; 0: none. */
static double mean_ratio(const struct hone_report *report, bool is_hidden)
{
    const struct hone_workload_report *sizes = report->workloads.v;
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_ratio *ratios = sizes[i].ratios.v;
        for (size_t k = 0; sizes[i].is_hidden == is_hidden && k < sizes[i].ratios.n; k++) {
            if (strcmp(ratios[k].against, "baseline") != 0 || !(ratios[k].ratio > 0))
                continue;
            sum += log(ratios[k].ratio);
            n++;
        }
    }
    return n > 0 ? exp(sum / (double)n) : 0;
}

/* " (public 425x, drawn 131x)" where the two tell different things. */
static const char *apart_text(const struct hone_report *report, struct hone_pool *pool)
{
    double shown = mean_ratio(report, false), drawn = mean_ratio(report, true);

    if (!(shown > 0) || !(drawn > 0) || fmax(shown, drawn) < APART * fmin(shown, drawn))
        return "";
    return hone_pool_printf(pool, " (public %.3gx, drawn %.3gx)", shown, drawn);
}

/* "6 workloads", or where the report counts them "3 public and 3 of 3 drawn sizes". */
static const char *over_what(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_sizes_report *sizes = report->sizes;

    if (sizes == NULL || report->tier != HONE_TIER_CONFIRM)
        return hone_pool_printf(pool, "%zu workload%s", report->workloads.n,
                                report->workloads.n == 1 ? "" : "s");
    if (sizes->n_hidden_timed == 0)
        return hone_pool_printf(pool, "%lld of %lld public sizes only",
                                (long long)sizes->n_public_timed, (long long)sizes->n_public);
    return hone_pool_printf(pool, "%lld of %lld public and %lld of %lld drawn sizes%s",
                            (long long)sizes->n_public_timed, (long long)sizes->n_public,
                            (long long)sizes->n_hidden_timed, (long long)sizes->n_hidden,
                            apart_text(report, pool));
}

static const char *summary(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    const char *failure = hone_report_failure(report, pool);
    const char *verdict = hone_verdict_name(report->verdict), *over = over_what(report, pool);
    const char *word = hone_reason_name(report->reason);

    if (failure != NULL) {
        size_t len = strlen(word);
        if (strncmp(failure, word, len) == 0 && strncmp(failure + len, ": ", 2) == 0)
            failure += len + 2; /* runners like to begin with the reason, too */
        return strcmp(verdict, word) == 0
                   ? hone_pool_printf(pool, "%s: %s", verdict, failure)
                   : hone_pool_printf(pool, "%s (%s): %s", verdict, word, failure);
    }
    if (ratio == NULL || !(ratio->ratio > 0))
        return hone_pool_printf(pool, "%s: %s", verdict, hone_reason_row(report->reason)->meaning);
    if (report->reason == HONE_REASON_SCREENED)
        return hone_pool_printf(pool, "screened: right; about %.3gx baseline over %s%s (%s)",
                                ratio->ratio, over, of_bound(report, pool), caution(report, pool));
    return hone_pool_printf(pool, "%s%s%s: %.3gx baseline [%.3g, %.3g] over %s%s (%s)", verdict,
                            strcmp(verdict, word) != 0 ? ", " : "",
                            strcmp(verdict, word) != 0 ? word : "", ratio->ratio, ratio->low,
                            ratio->high, over, of_bound(report, pool), caution(report, pool));
}

const char *hone_evaluation_summary(const struct hone_report *report, struct hone_pool *pool)
{
    const char *text = summary(report, pool), *review = hone_review_text(report, pool);
    const char *flag =
        hone_report_ratio(report, "baseline") != NULL ? hone_rests_flag(report, pool) : NULL;

    if (flag != NULL)
        text = hone_pool_printf(pool, "%s; rests on %s", text, flag);
    if (report->rests_on != NULL && report->rests_on->is_parents_code)
        text = hone_pool_printf(pool, "%s; same machine code as the parent", text);
    return review != NULL ? hone_pool_printf(pool, "%s; for review: %s", text, review) : text;
}

/* ---- the report that fits into a tree ---- */

static void drop_texts(struct hone_report *r, struct hone_pool *pool)
{
    if (r->build != NULL)
        r->build->log = NULL;
    r->output = hone_plain_cut(pool, r->output, 1000);
    r->summary = hone_plain_line(pool, r->summary, 400);
}

static void drop_remarks(struct hone_report *r, struct hone_pool *pool)
{
    (void)pool;
    if (r->profile == NULL)
        return;
    if (r->profile->remarks.n > 16)
        r->profile->remarks.n = 16;
    if (r->profile->counters.n > 32)
        r->profile->counters.n = 32;
    if (r->profile->bottlenecks.n > 5)
        r->profile->bottlenecks.n = 5;
}

static void drop_checks(struct hone_report *r, struct hone_pool *pool)
{
    const struct hone_check_report *all = r->checks.v;
    struct hone_check_report *kept = hone_pool_alloc(pool, 8 * sizeof(*kept));
    size_t n = 0;

    for (int is_bad = 1; is_bad >= 0; is_bad--)
        for (size_t i = 0; i < r->checks.n && n < 8; i++)
            if ((all[i].n_bad > 0) == (is_bad != 0))
                kept[n++] = all[i];
    r->checks = (struct hone_array){.v = kept, .n = n};
}

static int by_time(const void *a, const void *b)
{
    const struct hone_point_report *left = a, *right = b;
    double l = left->median_ns > 0 ? left->median_ns : INFINITY;
    double r = right->median_ns > 0 ? right->median_ns : INFINITY;

    return (l > r) - (l < r);
}

struct hone_array hone_points_by_time(const struct hone_array *points, struct hone_pool *pool)
{
    size_t size = points->n * sizeof(struct hone_point_report);
    struct hone_point_report *copy = hone_pool_alloc(pool, size + 1);

    if (points->n > 0)
        memcpy(copy, points->v, size);
    qsort(copy, points->n, sizeof(*copy), by_time);
    return (struct hone_array){.v = copy, .n = points->n};
}

static void drop_points(struct hone_report *r, struct hone_pool *pool)
{
    if (r->points.n <= 24)
        return;
    r->points = hone_points_by_time(&r->points, pool);
    r->points.n = 24;
    if (r->best_point >= 0)
        r->best_point = 0;
}

static void drop_workloads(struct hone_report *r, struct hone_pool *pool)
{
    (void)pool;
    if (r->workloads.n > 10)
        r->workloads.n = 10;
}

static void drop_most(struct hone_report *r, struct hone_pool *pool)
{
    (void)pool;
    r->profile = NULL;
    r->output = NULL;
    r->warnings.n = r->warnings.n > 2 ? 2 : r->warnings.n;
    r->checks.n = r->checks.n > 1 ? 1 : r->checks.n;
    r->points.n = 0;
    r->best_point = -1;
    if (r->build != NULL && r->build->diagnostics.n > 1)
        r->build->diagnostics.n = 1;
    if (r->build != NULL)
        r->build->kernels.n = r->build->plans.n = 0;
}

static void drop_all(struct hone_report *r, struct hone_pool *pool)
{
    (void)pool;
    r->build = NULL;
    r->checks.n = r->workloads.n = r->warnings.n = r->stages.n = 0;
    r->machine = NULL;
}

static const char *print(const struct hone_report *report, struct hone_pool *pool)
{
    HONE_AUTOFREE char *text = hone_report_print(report);

    return hone_pool_strdup(pool, text);
}

const char *hone_report_compact(const struct hone_report *report, struct hone_pool *pool)
{
    static void (*const steps[])(struct hone_report *, struct hone_pool *) = {
        drop_texts, drop_remarks, drop_checks, drop_points, drop_workloads, drop_most, drop_all,
    };
    struct hone_report r = *report;
    struct hone_build_report build;
    struct hone_profile_report profile;
    const char *text;

    if (r.build != NULL) { /* the nested structs are copied: the caller's report stays whole */
        build = *r.build;
        build.assembly = NULL; /* never: the source gives it again */
        r.build = &build;
    }
    if (r.profile != NULL) {
        profile = *r.profile;
        r.profile = &profile;
    }
    text = print(&r, pool);
    for (size_t i = 0; i < HONE_COUNTOF(steps) && strlen(text) > HONE_LIMIT_TREE_REPORT_BYTES;
         i++) {
        steps[i](&r, pool);
        text = print(&r, pool);
    }
    return text;
}

/* ---- tunables and flags as text ---- */

const char *hone_tunables_text(const struct hone_array *tunables, struct hone_pool *pool)
{
    const struct hone_tunable *t = tunables->v;
    const char *text = "";

    for (size_t i = 0; i < tunables->n; i++)
        text = hone_pool_printf(pool, "%s%s%s=%lld", text, i > 0 ? " " : "", t[i].name,
                                (long long)t[i].value);
    return text;
}

int hone_tunables_parse(const char *text, struct hone_pool *pool, struct hone_array *ret,
                        struct hone_err *err)
{
    struct hone_strs words = hone_flags_parse(text, pool);
    struct hone_tunable *t = hone_pool_alloc(pool, (words.n + 1) * sizeof(*t));

    if (words.n > HONE_LIMIT_TUNABLES)
        return hone_fail(err, HONE_E_LIMIT, "more than %d tunables", HONE_LIMIT_TUNABLES);
    for (size_t i = 0; i < words.n; i++) {
        size_t len = strcspn(words.v[i], "=");
        char *end;
        if (len == 0 || words.v[i][len] == '\0')
            return hone_fail(err, HONE_E_ARG, "'%.60s' is not NAME=value", words.v[i]);
        t[i].name = hone_pool_strndup(pool, words.v[i], len);
        t[i].value = strtoll(words.v[i] + len + 1, &end, 10);
        if (*end != '\0' || end == words.v[i] + len + 1)
            return hone_fail(err, HONE_E_ARG, "'%.60s' is not NAME=value", words.v[i]);
    }
    *ret = (struct hone_array){.v = t, .n = words.n};
    return 0;
}

const char *hone_flags_text(const struct hone_strs *flags, struct hone_pool *pool)
{
    const char *text = "";

    for (size_t i = 0; i < flags->n; i++)
        text = hone_pool_printf(pool, "%s%s%s", text, i > 0 ? " " : "", flags->v[i]);
    return text;
}

struct hone_strs hone_flags_parse(const char *text, struct hone_pool *pool)
{
    struct hone_strs words = {.n = 0};

    if (text == NULL)
        return words;
    words.v = hone_pool_alloc(pool, (strlen(text) / 2 + 1) * sizeof(*words.v));
    while (*text != '\0') {
        size_t len = strcspn(text, " \t\n");
        if (len > 0)
            words.v[words.n++] = hone_pool_strndup(pool, text, len);
        text += len + (text[len] != '\0');
    }
    return words;
}

/* ---- the commit's words ---- */

struct list {
    struct hone_trailer *v;
    size_t n;
    struct hone_pool *pool;
};

/* What hone itself says in a commit: trailers, and the body's own paragraphs. A caller's line that
 * begins so is quoted. */
static const char *const own_words[] = {
    "Accuracy",
    "Code",
    "Cost",
    "Device",
    "Doubt",
    "Evaluation",
    "Fast-math",
    "Flags",
    "Jail",
    "Outcome",
    "Percent-of-bound",
    "Precision",
    "Reason",
    "Report",
    "Rests on",
    "Result-of",
    "Review",
    "Samples",
    "Speedup",
    "Speedup-tier",
    "Speedup-vs-parent",
    "Strategy",
    "Sweep",
    "Target",
    "Task",
    "Task-hash",
    "Threads",
    "Tier",
    "Time-ns",
    "Tokens",
    "Tunables",
    "Verdict",
    "Vs-fast-math",
    "Vs-torch-compile",
    "Vs-torch-eager",
};

static const char *quote(const char *text, struct hone_pool *pool)
{
    return hone_plain_quote(pool, text, own_words, HONE_COUNTOF(own_words));
}

static void add(struct list *list, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0' || list->n == TRAILERS_MAX)
        return;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i].key, key) == 0)
            return; /* the standard ones come first and are not overridden */
    list->v[list->n++] = (struct hone_trailer){
        .key = key, .value = hone_plain_line(list->pool, value, TRAILER_BYTES)};
}

static void add_figures(struct list *list, const struct hone_report *report)
{
    const struct hone_ratio *baseline = hone_report_ratio(report, "baseline");
    const struct hone_ratio *parent = hone_report_ratio(report, "parent");
    bool is_result = report->tier > HONE_TIER_SCREEN;
    double ns = hone_report_time_ns(report, "candidate");

    if (is_result && baseline != NULL && baseline->ratio > 0) {
        add(list, "Speedup", hone_ratio_text(baseline, list->pool));
        add(list, "Speedup-tier", hone_tier_name(report->tier));
    }
    if (is_result && parent != NULL && parent->ratio > 0)
        add(list, "Speedup-vs-parent", hone_ratio_text(parent, list->pool));
    if (ns > 0)
        add(list, "Time-ns", hone_pool_printf(list->pool, "%.0f", ns));
    if (report->percent_of_bound > 0)
        add(list, "Percent-of-bound",
            hone_pool_printf(list->pool, "%.1f", hone_shown_percent(report->percent_of_bound)));
    if (is_result && report->doubts.n > 0)
        add(list, "Doubt", report->doubts.v[0]);
    const struct hone_array yardsticks = hone_report_yardsticks(report, list->pool);
    for (size_t i = 0; is_result && i < yardsticks.n; i++) {
        const struct hone_yardstick *y = (const struct hone_yardstick *)yardsticks.v + i;
        add(list, hone_pool_printf(list->pool, "Vs-%s", y->name),
            hone_pool_printf(list->pool, "%.3g [%.3g, %.3g]", y->ratio, y->low, y->high));
    }
    add(list, "Accuracy", hone_rests_accuracy(report, list->pool));
    add(list, "Fast-math", hone_rests_fast_math_text(report, list->pool));
    add(list, "Precision", hone_rests_precision(report, list->pool));
    add(list, "Threads", hone_rests_threads(report, list->pool));
    if (report->machine != NULL)
        add(list, "Device", report->machine->cpu);
    add(list, "Jail", report->jail);
}

void hone_evaluation_describe(const struct hone_evaluation_request *req,
                              const struct hone_report *report,
                              const struct hone_evaluation_names *names, struct hone_pool *pool,
                              struct hone_version *ret)
{
    struct list list = {.v = hone_pool_alloc(pool, TRAILERS_MAX * sizeof(struct hone_trailer)),
                        .pool = pool};
    const struct hone_trailer *more = req->trailers.v;
    const char *rests = hone_rests_text(report, pool);
    const char *summary =
        hone_pool_printf(pool, "%s%s%s", hone_evaluation_summary(report, pool),
                         rests != NULL ? "\n\nRests on: " : "", rests != NULL ? rests : "");

    ret->subject = req->subject != NULL && req->subject[0] != '\0'
                       ? quote(hone_plain_line(pool, req->subject, SUBJECT_BYTES), pool)
                       : hone_pool_printf(pool, "%s: try a version", req->task->name);
    ret->body = req->body != NULL && req->body[0] != '\0'
                    ? hone_pool_printf(pool, "%s\n\nOutcome: %s", quote(req->body, pool), summary)
                    : hone_pool_printf(pool, "Outcome: %s", summary);
    add(&list, "Task", req->task->name);
    add(&list, "Target", report->target);
    for (size_t i = 0; i < req->trailers.n; i++)
        if (strcmp(more[i].key, "Strategy") == 0)
            add(&list, "Strategy", more[i].value);
    add(&list, "Verdict", hone_verdict_name(report->verdict));
    add(&list, "Reason", hone_reason_name(report->reason));
    add(&list, "Tier", hone_tier_name(report->tier));
    add(&list, "Review", hone_review_text(report, pool));
    add_figures(&list, report);
    add(&list, "Flags", hone_flags_text(&req->flags, pool));
    add(&list, "Tunables", hone_tunables_text(&req->tunables, pool));
    add(&list, "Task-hash", req->task->hash);
    add(&list, "Code", report->build != NULL ? report->build->code : NULL);
    add(&list, "Evaluation", names->evaluation);
    add(&list, "Report", names->blob);
    add(&list, "Samples", report->samples);
    for (size_t i = 0; i < req->trailers.n; i++)
        add(&list, more[i].key, more[i].value);
    ret->trailers = (struct hone_array){.v = list.v, .n = list.n};
}
