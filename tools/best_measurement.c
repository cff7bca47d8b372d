/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a version (best_measurement.h): its own measurement from its report or, where
 * that was not read, from its trailers; then the evidence commits, each by its report. */
#include "tools/best_measurement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/confirmations.h"
#include "tools/evaluate_text.h"
#include "tools/format/report.h"
#include "tools/kernel.h"
#include "tools/rests_text.h"

/* How well a measurement is founded. Whether it is fast plays no part, or luck would be kept. */
struct weight {
    int rank; /* its tier; -1: it timed nothing, or is not known */
    bool is_doubted;
    double low, high; /* 0: no interval */
};

#define MUCH_WIDER 1.5
#define NARROW     0.01 /* widths below are alike */

static struct weight weight_of(enum hone_tier tier, bool is_doubted, double low, double high)
{
    bool has_interval = low > 0 && high >= low;
    return (struct weight){.rank = tier == HONE_TIER_NONE ? -1 : (int)tier,
                           .is_doubted = is_doubted,
                           .low = has_interval ? low : 0,
                           .high = has_interval ? high : 0};
}

static double width_of(const struct weight *w)
{
    return w->low > 0 ? log(w->high / w->low) : (double)INFINITY;
}

static struct weight weight_of_report(const struct hone_report *report)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");

    if (report->workloads.n == 0)
        return weight_of(HONE_TIER_NONE, false, 0, 0);
    return weight_of(report->tier, report->doubts.n > 0, ratio != NULL ? ratio->low : 0,
                     ratio != NULL ? ratio->high : 0);
}

/* next is the later one: of equals it counts, and where the two exclude each other. */
static bool outweighs(const struct weight *next, const struct weight *until)
{
    if (next->rank < 0 || next->rank != until->rank)
        return next->rank > until->rank;
    if (next->rank <= HONE_TIER_SCREEN)
        return true;
    if (next->low > until->high || next->high < until->low)
        return true;
    if (next->is_doubted != until->is_doubted)
        return until->is_doubted;
    return width_of(next) <= MUCH_WIDER * fmax(width_of(until), NARROW);
}

static int64_t waited_ns(const struct hone_report *report)
{
    const struct hone_stage_report *stages = report->stages.v;
    int64_t ns = 0;

    for (size_t i = 0; i < report->stages.n; i++)
        if (strcmp(stages[i].name, "lease") == 0)
            ns += stages[i].wall_ns;
    return ns;
}

static void put_ratio(const struct hone_ratio *ratio, struct hone_pool *pool,
                      struct hone_measurement *ret)
{
    ret->speedup = hone_ratio_text(ratio, pool);
    ret->ratio = ratio->ratio;
    ret->low = ratio->low;
    ret->high = ratio->high;
}

/* "3.21 [3.15, 3.28]" of a trailer, as numbers. */
static void read_ratio(struct hone_measurement *m)
{
    char *end;
    m->ratio = m->speedup != NULL ? strtod(m->speedup, &end) : 0;
    if (m->ratio > 0 && sscanf(end, " [%lf, %lf]", &m->low, &m->high) != 2)
        m->low = m->high = m->ratio;
}

/* Of rank -1 where it timed nothing or cannot be read. */
static struct weight read_report(const char *report_json, struct hone_pool *pool,
                                 struct hone_measurement *ret)
{
    const struct hone_ratio *ratio;
    struct hone_report *report = hone_pool_alloc(pool, sizeof(*report));

    if (report_json == NULL ||
        hone_report_parse(report_json, strlen(report_json), pool, report, NULL) < 0)
        return weight_of(HONE_TIER_NONE, false, 0, 0);
    ratio = hone_report_ratio(report, "baseline");
    ret->verdict = report->verdict;
    ret->reason = report->reason;
    ret->tier = report->tier;
    ret->waited_ns = waited_ns(report);
    ret->summary = hone_evaluation_summary(report, pool);
    ret->review = hone_review_text(report, pool);
    ret->flag = hone_rests_flag(report, pool);
    ret->rests_on = hone_rests_text(report, pool);
    ret->threads = hone_rests_threads(report, pool);
    const struct hone_ratio *parent = hone_report_ratio(report, "parent");
    if (parent != NULL && parent->ratio > 0 && report->tier > HONE_TIER_SCREEN)
        ret->vs_parent = hone_ratio_text(parent, pool);
    if (report->doubts.n > 0 && report->tier > HONE_TIER_SCREEN)
        ret->flag = hone_pool_printf(pool, "not to be claimed%s%s", ret->flag != NULL ? ", " : "",
                                     ret->flag != NULL ? ret->flag : "");
    if (ratio != NULL && ratio->ratio > 0 && report->tier > HONE_TIER_SCREEN)
        put_ratio(ratio, pool, ret);
    return weight_of_report(report);
}

/* The version's own, from its report where that was read, else from its trailers. */
static struct weight read_first(const struct hone_version *version, struct hone_pool *pool,
                                struct hone_measurement *ret)
{
    *ret = (struct hone_measurement){
        .tier = hone_tier_of(hone_trailer_get(version, "Tier")),
        .speedup = hone_trailer_get(version, "Speedup"),
        .review = hone_trailer_get(version, "Review"),
        .threads = hone_trailer_get(version, "Threads"),
        .vs_parent = hone_trailer_get(version, "Speedup-vs-parent"),
        .time_s = version->time_s,
    };
    read_ratio(ret);
    hone_verdict_parse(hone_trailer_get(version, "Verdict"), &ret->verdict);
    hone_reason_parse(hone_trailer_get(version, "Reason"), &ret->reason);
    if (hone_trailer_get(version, "Fast-math") != NULL)
        ret->flag = "fast-math";
    if (hone_trailer_get(version, "Precision") != NULL)
        ret->flag =
            hone_pool_printf(pool, "%s%s%s", ret->flag != NULL ? ret->flag : "",
                             ret->flag != NULL ? ", " : "", hone_trailer_get(version, "Precision"));
    if (hone_trailer_get(version, "Doubt") != NULL)
        ret->flag = hone_pool_printf(pool, "not to be claimed%s%s", ret->flag != NULL ? ", " : "",
                                     ret->flag != NULL ? ret->flag : "");
    if (version->report_json != NULL)
        return read_report(version->report_json, pool, ret);
    if (ret->speedup == NULL && ret->verdict != HONE_VERDICT_SCREENED)
        return weight_of(HONE_TIER_NONE, false, 0, 0);
    return weight_of(ret->tier, hone_trailer_get(version, "Doubt") != NULL, ret->low, ret->high);
}

/* What the version's own latest confirmation says, beside all of its machine code. */
static const char *contradiction_of(struct hone_history *history, const char *version,
                                    const char *best, struct hone_pool *pool)
{
    struct hone_confirmations list;

    hone_confirmations_of(history, version, NULL, pool, &list);
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(list.v[i].commit, best != NULL ? best : version) == 0) {
            hone_confirmations_put_last(&list, list.v[i].report);
            break;
        }
    return hone_confirmations_contradiction(&list, pool);
}

/* ---- refutations ---- */

bool hone_is_refutation(enum hone_verdict verdict, enum hone_reason reason)
{
    static const enum hone_reason own[] = {HONE_REASON_CRASH, HONE_REASON_EXITED,
                                           HONE_REASON_FORBIDDEN, HONE_REASON_UNRULY};
    for (size_t i = 0; i < HONE_COUNTOF(own); i++)
        if (reason == own[i])
            return true;
    return verdict == HONE_VERDICT_INCORRECT;
}

static bool refutes(const struct hone_measurement *m)
{
    return hone_is_refutation(m->verdict, m->reason);
}

/* What the others said before or after, where they called it right; NULL: none did. */
static const char *passed_as(const struct hone_measurement *first,
                             const struct hone_best_measurement *measured)
{
    static const enum hone_verdict order[] = {HONE_VERDICT_FASTER,   HONE_VERDICT_SAME,
                                              HONE_VERDICT_SLOWER,   HONE_VERDICT_INCONCLUSIVE,
                                              HONE_VERDICT_SCREENED, HONE_VERDICT_CORRECT};
    const struct hone_measurement *rows = measured->evidence.v;
    for (size_t k = 0; k < HONE_COUNTOF(order); k++) {
        bool is_said = first->verdict == order[k];
        for (size_t i = 0; i < measured->evidence.n; i++)
            is_said = is_said || rows[i].verdict == order[k];
        if (is_said)
            return hone_verdict_name(order[k]);
    }
    return NULL;
}

/* The latest that says wrong is what is known of the version, whatever others said. */
static void refute(const struct hone_measurement *first, const struct hone_version *version,
                   struct hone_pool *pool, struct hone_best_measurement *ret)
{
    const struct hone_measurement *rows = ret->evidence.v, *wrong = refutes(first) ? first : NULL;
    for (size_t i = 0; i < ret->evidence.n; i++)
        wrong = refutes(&rows[i]) ? &rows[i] : wrong;
    if (wrong == NULL)
        return;
    const char *passed = passed_as(first, ret), *reason = hone_reason_name(wrong->reason);
    const char *where = wrong->commit != NULL ? wrong->commit : version->commit;
    ret->refutation =
        hone_pool_printf(pool, "found wrong: %s, see evaluation %.12s%s%s%s", reason, where,
                         passed != NULL ? "; it was " : "", passed != NULL ? passed : "",
                         passed != NULL ? " in another one, which does not count" : "");
    ret->best = *wrong;
    ret->best.ratio = ret->best.low = ret->best.high = 0;
    ret->best.speedup = NULL;
    ret->contradiction = NULL;
    ret->has_passed = passed != NULL;
    if (passed == NULL)
        return;
    ret->best.summary = wrong->summary != NULL
                            ? hone_pool_printf(pool, "%s; %s", wrong->summary, ret->refutation)
                            : ret->refutation;
    ret->review = ret->review != NULL
                      ? hone_pool_printf(pool, "%s; %s", ret->refutation, ret->review)
                      : ret->refutation;
}

const char *hone_refutation_of(struct hone_history *history, const char *commit,
                               struct hone_pool *pool)
{
    struct hone_version version;
    struct hone_best_measurement measured;

    if (commit == NULL || hone_history_read(history, commit, pool, &version, NULL) < 0)
        return NULL;
    version.commit = hone_pool_strdup(pool, commit);
    if (hone_best_measurement_read(history, &version, pool, &measured, NULL) < 0)
        return NULL;
    return measured.refutation;
}

/* ---- what is known ---- */

int hone_best_measurement_read(struct hone_history *history, const struct hone_version *version,
                               struct hone_pool *pool, struct hone_best_measurement *ret,
                               struct hone_err *err)
{
    struct hone_version *evidence = NULL;
    struct hone_measurement first, *rows;
    size_t n = 0;
    struct weight best = read_first(version, pool, &first);
    int rc = hone_history_evidence_of(history, version->commit, pool, &evidence, &n, err);

    if (rc < 0)
        return rc;
    *ret = (struct hone_best_measurement){
        .best = first, .review = first.review, .waited_ns = first.waited_ns};
    rows = hone_pool_alloc(pool, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        rows[i] = (struct hone_measurement){
            .commit = evidence[i].commit,
            .time_s = evidence[i].time_s,
        };
        struct weight next = read_report(evidence[i].report_json, pool, &rows[i]);
        ret->waited_ns += rows[i].waited_ns;
        if (outweighs(&next, &best)) {
            best = next;
            ret->best = rows[i];
        }
        ret->review = rows[i].review != NULL ? rows[i].review : ret->review;
        if (rows[i].summary == NULL)
            rows[i].summary = evidence[i].subject;
    }
    ret->evidence = (struct hone_array){.v = rows, .n = n};
    if (best.rank == HONE_TIER_CONFIRM)
        ret->contradiction = contradiction_of(history, version->commit, ret->best.commit, pool);
    refute(&first, version, pool, ret);
    return 0;
}

void hone_measurement_of(const struct hone_version *evidence, struct hone_pool *pool,
                         struct hone_measurement *ret)
{
    *ret = (struct hone_measurement){.commit = evidence->commit, .time_s = evidence->time_s};
    (void)read_report(evidence->report_json, pool, ret);
}

bool hone_report_is_better_founded(const struct hone_report *next, const struct hone_report *until)
{
    if (hone_is_refutation(next->verdict, next->reason))
        return true;
    if (hone_is_refutation(until->verdict, until->reason))
        return false;
    const struct weight a = weight_of_report(next), b = weight_of_report(until);
    return until->workloads.n == 0 || outweighs(&a, &b);
}

bool hone_best_report_read(struct hone_history *history, const struct hone_version *version,
                           struct hone_pool *pool, struct hone_report *ret)
{
    struct hone_version *evidence = NULL;
    size_t n = 0;
    bool has_report =
        version->report_json != NULL &&
        hone_report_parse(version->report_json, strlen(version->report_json), pool, ret, NULL) == 0;

    if (hone_history_evidence_of(history, version->commit, pool, &evidence, &n, NULL) < 0)
        return has_report;
    for (size_t i = 0; i < n; i++) {
        struct hone_report report;
        if (evidence[i].report_json == NULL ||
            hone_report_parse(evidence[i].report_json, strlen(evidence[i].report_json), pool,
                              &report, NULL) < 0)
            continue;
        if (has_report && !hone_report_is_better_founded(&report, ret))
            continue;
        *ret = report;
        has_report = true;
    }
    return has_report;
}

bool hone_best_measurement_is_for_review(const struct hone_best_measurement *measured)
{
    return measured->review != NULL || measured->best.verdict == HONE_VERDICT_SUSPICIOUS;
}

struct hone_json *hone_version_trailers_json(const struct hone_version *version)
{
    const struct hone_trailer *trailers = version->trailers.v;
    struct hone_json *json = hone_json_new_object();

    for (size_t i = 0; i < version->trailers.n; i++)
        hone_json_set_str(json, trailers[i].key, trailers[i].value);
    return json;
}
