/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmations of one version held together (confirmations.h).
 *
 * Two confirmations contradict each other when their intervals of log ratios exclude each other
 * on the same machine, over the workloads that both have. The sum weighs runs by their variance
 * plus what varies between runs. A contradiction becomes the first doubt of the report. */
#include "tools/confirmations.h"

#include <math.h>
#include <string.h>

#include "workspace/base/limits.h"

#define CONTRADICTION "confirmations of this version contradict each other"
#define BATCH         256 /* versions looked at in one go */
#define Z_95          1.96
#define LEAST_ERROR   1e-3 /* of a log: no run knows itself better */

struct figure { /* log of a ratio, and its standard error */
    double mid, low, high;
};

static const struct hone_ratio *ratio_of(const struct hone_report *report)
{
    const struct hone_ratio *r = hone_report_ratio(report, "baseline");
    bool is_whole =
        r != NULL && r->low > 0 && r->low <= r->ratio && r->ratio <= r->high && isfinite(r->high);
    return is_whole ? r : NULL;
}

static bool has_only_contradictions(const struct hone_report *report)
{
    for (size_t i = 0; i < report->doubts.n; i++)
        if (strstr(report->doubts.v[i], CONTRADICTION) == NULL)
            return false;
    return true;
}

void hone_confirmations_add(struct hone_confirmations *list, const struct hone_report *report,
                            const char *commit)
{
    bool counts = report->reason == HONE_REASON_FASTER || report->reason == HONE_REASON_SAME ||
                  report->reason == HONE_REASON_SLOWER;
    if (!counts || report->tier != HONE_TIER_CONFIRM || ratio_of(report) == NULL ||
        !has_only_contradictions(report))
        return;
    if (list->n == HONE_LIMIT_CONFIRMATIONS)
        memmove(&list->v[0], &list->v[1], --list->n * sizeof(list->v[0]));
    list->v[list->n++] = (struct hone_confirmation){.report = report, .commit = commit};
}

struct record {
    const struct hone_report *report;
    const char *commit;
    int64_t time_s;
};

struct records {
    struct record *v;
    size_t n, cap;
    struct hone_pool *pool;
};

/* code: what its report must say of the machine code; NULL: anything. */
static void add_text(struct records *list, const struct hone_version *from, const char *commit,
                     const char *code)
{
    struct hone_report *report = hone_pool_alloc(list->pool, sizeof(*report));
    const char *text = from->report_json;

    if (text == NULL || hone_report_parse(text, strlen(text), list->pool, report, NULL) < 0)
        return;
    const char *its = report->build != NULL ? report->build->code : NULL;
    if (code != NULL && (its == NULL || strcmp(its, code) != 0))
        return;
    if (list->n == list->cap) {
        struct record *more =
            hone_pool_alloc(list->pool, (2 * list->cap + 8) * sizeof(struct record));
        if (list->n > 0)
            memcpy(more, list->v, list->n * sizeof(*more));
        list->v = more;
        list->cap = 2 * list->cap + 8;
    }
    list->v[list->n++] = (struct record){
        .report = report, .commit = hone_pool_strdup(list->pool, commit), .time_s = from->time_s};
}

static void add_version(struct hone_history *history, const char *commit, const char *code,
                        struct records *list)
{
    struct hone_version version, *evidence = NULL;
    size_t n = 0;

    if (hone_history_read(history, commit, list->pool, &version, NULL) == 0)
        add_text(list, &version, commit, code);
    if (hone_history_evidence_of(history, commit, list->pool, &evidence, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        add_text(list, &evidence[i], evidence[i].commit, code);
}

static bool is_equal(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool has_code(const struct hone_version *version, const struct hone_code_key *key)
{
    return is_equal(hone_trailer_get(version, "Code"), key->code) &&
           is_equal(hone_trailer_get(version, "Task-hash"), key->task_hash) &&
           is_equal(hone_trailer_get(version, "Flags"), key->flags) &&
           is_equal(version->target, key->target);
}

/* Other sources that were compiled to the same machine code. */
static void add_same_code(struct hone_history *history, const char *commit,
                          const struct hone_code_key *key, struct records *list)
{
    size_t n = BATCH;

    for (size_t at = 0; n == BATCH; at += n) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_version *versions = NULL;
        n = 0;
        if (hone_history_list(history, NULL, at, BATCH, pool, &versions, &n, NULL) < 0)
            return;
        for (size_t i = 0; i < n; i++)
            if (has_code(&versions[i], key) && !is_equal(versions[i].commit, commit))
                add_version(history, versions[i].commit, key->code, list);
    }
}

/* Oldest first; of the same second in the order they were found. */
static void sort_by_time(struct records *list)
{
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = i; k > 0 && list->v[k].time_s < list->v[k - 1].time_s; k--) {
            struct record kept = list->v[k];
            list->v[k] = list->v[k - 1];
            list->v[k - 1] = kept;
        }
}

void hone_confirmations_of(struct hone_history *history, const char *commit,
                           const struct hone_code_key *key, struct hone_pool *pool,
                           struct hone_confirmations *ret)
{
    struct records list = {.pool = pool};
    struct hone_version version;
    struct hone_code_key own = {.code = NULL};

    *ret = (struct hone_confirmations){.n = 0};
    if (commit != NULL && key == NULL &&
        hone_history_read(history, commit, pool, &version, NULL) == 0)
        own = (struct hone_code_key){.task_hash = hone_trailer_get(&version, "Task-hash"),
                                     .target = version.target,
                                     .flags = hone_trailer_get(&version, "Flags"),
                                     .code = hone_trailer_get(&version, "Code")};
    key = key != NULL ? key : &own;
    if (key->code != NULL)
        add_same_code(history, commit, key, &list);
    if (commit != NULL)
        add_version(history, commit, NULL, &list);
    sort_by_time(&list);
    for (size_t i = 0; i < list.n; i++)
        hone_confirmations_add(ret, list.v[i].report, list.v[i].commit);
}

void hone_confirmations_put_last(struct hone_confirmations *list, const struct hone_report *report)
{
    const struct hone_ratio *mine = ratio_of(report);
    for (size_t i = 0; mine != NULL && i < list->n; i++) {
        const struct hone_ratio *r = ratio_of(list->v[i].report);
        if (memcmp(&r->ratio, &mine->ratio, sizeof(double)) != 0 ||
            memcmp(&r->low, &mine->low, sizeof(double)) != 0 ||
            memcmp(&r->high, &mine->high, sizeof(double)) != 0)
            continue;
        memmove(&list->v[i], &list->v[i + 1], (--list->n - i) * sizeof(list->v[0]));
        break;
    }
    hone_confirmations_add(list, report, NULL);
}

/* ---- two of them ---- */

static bool is_same_machine(const struct hone_report *a, const struct hone_report *b)
{
    const struct hone_machine_report *x = a->machine, *y = b->machine;
    if (x == NULL || y == NULL || x->cpu == NULL || y->cpu == NULL)
        return true; /* nothing says otherwise */
    return strcmp(x->cpu, y->cpu) == 0 && x->n_cores == y->n_cores;
}

static struct figure log_of(const struct hone_ratio *r)
{
    return (struct figure){.mid = log(r->ratio), .low = log(r->low), .high = log(r->high)};
}

static const struct hone_ratio *public_ratio(const struct hone_workload_report *w)
{
    const struct hone_ratio *r = w->is_hidden ? NULL : hone_ratio_find(&w->ratios, "baseline");
    return r != NULL && r->low > 0 && isfinite(r->high) ? r : NULL;
}

/* Geometric mean over the public workloads that the other has too, errors added by squares. False:
 * there are none. */
static bool common_figure(const struct hone_report *mine, const struct hone_report *theirs,
                          struct figure *ret)
{
    const struct hone_workload_report *a = mine->workloads.v, *b = theirs->workloads.v;
    double mid = 0, below = 0, above = 0, n = 0;
    for (size_t i = 0; i < mine->workloads.n; i++) {
        const struct hone_ratio *r = public_ratio(&a[i]);
        bool is_common = false;
        for (size_t k = 0; k < theirs->workloads.n; k++)
            is_common = is_common || (public_ratio(&b[k]) != NULL && strcmp(a[i].id, b[k].id) == 0);
        if (r == NULL || !is_common)
            continue;
        struct figure f = log_of(r);
        mid += f.mid;
        below += (f.mid - f.low) * (f.mid - f.low);
        above += (f.high - f.mid) * (f.high - f.mid);
        n++;
    }
    if (!(n > 0))
        return false;
    *ret = (struct figure){
        .mid = mid / n, .low = (mid - sqrt(below)) / n, .high = (mid + sqrt(above)) / n};
    return true;
}

static bool exclude(const struct figure *a, const struct figure *b)
{
    return a->low > b->high || b->low > a->high;
}

static bool is_contrary(const struct hone_report *a, const struct hone_report *b)
{
    struct figure x = log_of(ratio_of(a)), y = log_of(ratio_of(b));
    if (!exclude(&x, &y))
        return false;
    if (!common_figure(a, b, &x) || !common_figure(b, a, &y))
        return a->workloads.n == 0 || b->workloads.n == 0; /* a report that was cut for size */
    return exclude(&x, &y);
}

/* ---- all of them ---- */

const char *hone_confirmations_contradiction(const struct hone_confirmations *list,
                                             struct hone_pool *pool)
{
    const struct hone_report *last = list->n > 0 ? list->v[list->n - 1].report : NULL;
    const struct hone_report *against = NULL;
    size_t n = 0, n_agree = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!is_same_machine(list->v[i].report, last))
            continue;
        n++;
        if (!is_contrary(list->v[i].report, last))
            n_agree++;
        else
            against = list->v[i].report;
    }
    if (against == NULL || 2 * n_agree > n)
        return NULL;
    const struct hone_ratio *a = ratio_of(against), *b = ratio_of(last);
    return hone_pool_printf(pool,
                            CONTRADICTION ": %.3g [%.3g, %.3g] and %.3g [%.3g, %.3g]; neither may "
                                          "be claimed until a third on a quiet machine decides",
                            a->ratio, a->low, a->high, b->ratio, b->low, b->high);
}

/* DerSimonian and Laird's estimate of the variance between runs. */
static double between_runs(const double *mid, const double *variance, size_t n)
{
    double weights = 0, squares = 0, mean = 0, q = 0;
    for (size_t i = 0; i < n; i++) {
        weights += 1 / variance[i];
        squares += 1 / (variance[i] * variance[i]);
        mean += mid[i] / variance[i];
    }
    mean /= weights;
    for (size_t i = 0; i < n; i++)
        q += (mid[i] - mean) * (mid[i] - mean) / variance[i];
    double scale = weights - squares / weights;
    return scale > 0 ? fmax(0, (q - (double)(n - 1)) / scale) : 0;
}

struct hone_confirmations_report *hone_confirmations_sum(const struct hone_confirmations *list,
                                                         struct hone_pool *pool)
{
    double mid[HONE_LIMIT_CONFIRMATIONS], variance[HONE_LIMIT_CONFIRMATIONS], weights = 0, mean = 0;
    struct hone_earlier *earlier = hone_pool_alloc(pool, (list->n + 1) * sizeof(*earlier));
    const struct hone_report *last = list->n > 0 ? list->v[list->n - 1].report : NULL;
    size_t n = 0, n_earlier = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct hone_report *report = list->v[i].report;
        const struct hone_ratio *r = ratio_of(report);
        if (!is_same_machine(report, last))
            continue;
        struct figure f = log_of(r);
        double error = fmax((f.high - f.low) / (2 * Z_95), LEAST_ERROR);
        mid[n] = f.mid;
        variance[n++] = error * error;
        if (report != last)
            earlier[n_earlier++] = (struct hone_earlier){.commit = list->v[i].commit,
                                                         .ratio = r->ratio,
                                                         .low = r->low,
                                                         .high = r->high,
                                                         .is_contrary = is_contrary(report, last)};
    }
    if (n < 2)
        return NULL;
    double between = between_runs(mid, variance, n);
    for (size_t i = 0; i < n; i++) {
        weights += 1 / (variance[i] + between);
        mean += mid[i] / (variance[i] + between);
    }
    mean /= weights;
    double half = Z_95 * sqrt(1 / weights + between);
    struct hone_confirmations_report *ret = hone_pool_alloc(pool, sizeof(*ret));
    *ret = (struct hone_confirmations_report){.n = (int64_t)n,
                                              .ratio = exp(mean),
                                              .low = exp(mean - half),
                                              .high = exp(mean + half),
                                              .earlier = {.v = earlier, .n = n_earlier}};
    return ret;
}

void hone_report_doubt_first(struct hone_report *report, const char *doubt, struct hone_pool *pool)
{
    size_t most = HONE_LIMIT_DOUBTS, n = 0;
    const char **all = hone_pool_alloc(pool, most * sizeof(*all));
    all[n++] = doubt;
    for (size_t i = 0; i < report->doubts.n && n < most; i++)
        if (strcmp(report->doubts.v[i], doubt) != 0)
            all[n++] = report->doubts.v[i];
    report->doubts = (struct hone_strs){.v = all, .n = n};
}

void hone_confirmations_judge(const struct hone_confirmations *list, struct hone_pool *pool,
                              struct hone_report *report)
{
    const char *doubt = hone_confirmations_contradiction(list, pool);
    report->confirmations = hone_confirmations_sum(list, pool);
    if (doubt != NULL)
        hone_report_doubt_first(report, doubt, pool);
}
