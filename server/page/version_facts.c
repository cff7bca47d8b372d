/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/version_facts.h"

#include <string.h>

#include "tools/best_measurement.h"
#include "tools/rests_text.h"
#include "workspace/history.h"

static const char *const members[] = {"tier",      "verdict",          "summary",     "ratios",
                                      "workloads", "percent_of_bound", "worst_ratio", "rests_on",
                                      "doubts",    "warnings",         "machine",     "contents"};

enum { MAX_LOOKS = 64 };

static bool read_version(struct hone_workspace *ws, const char *rev, struct hone_pool *pool,
                         struct hone_version *ret)
{
    struct hone_history *history = hone_workspace_history(ws);
    char commit[HONE_COMMIT_BYTES];
    return hone_history_resolve(history, rev, commit, NULL) == 0 &&
           hone_history_read(history, commit, pool, ret, NULL) == 0;
}

static struct hone_json *profile_of(struct hone_workspace *ws, const struct hone_version *version,
                                    struct hone_pool *pool)
{
    struct hone_version *evidence = NULL;
    size_t n = 0;
    (void)hone_history_evidence_of(hone_workspace_history(ws), version->commit, pool, &evidence, &n,
                                   NULL);
    for (size_t i = n + 1; i-- > 0;) { /* the last one first; 0 is the version's own report */
        const char *text = i == 0 ? version->report_json : evidence[i - 1].report_json;
        HONE_AUTOJSON struct hone_json *report = NULL;
        if (text == NULL || hone_json_parse(text, strlen(text), &report, NULL) < 0)
            continue;
        const struct hone_json *profile = hone_json_get(report, "profile");
        if (hone_json_type(profile) == HONE_JSON_OBJECT)
            return hone_json_copy(profile);
    }
    return NULL;
}

/* What one measurement timed and found; NULL: it timed nothing. */
static struct hone_json *look_of(const struct hone_report *report)
{
    const struct hone_workload_report *workloads = report->workloads.v;
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    if (report->workloads.n == 0)
        return NULL;
    struct hone_json *look = hone_json_new_object(), *sizes = hone_json_new_array();
    hone_json_set_str(look, "tier", hone_tier_name(report->tier));
    hone_json_set_str(look, "verdict", hone_verdict_name(report->verdict));
    if (ratio != NULL && ratio->ratio > 0) {
        hone_json_set_f64(look, "ratio", ratio->ratio);
        hone_json_set_f64(look, "low", ratio->low);
        hone_json_set_f64(look, "high", ratio->high);
    }
    if (report->percent_of_bound > 0)
        hone_json_set_f64(look, "percent_of_bound", report->percent_of_bound);
    for (size_t i = 0; i < report->workloads.n; i++)
        hone_json_push(sizes, hone_json_new_str(workloads[i].id));
    hone_json_set(look, "sizes", sizes);
    return look;
}

/* The version's own measurement and those of its evidence; the latest where there are many. */
static struct hone_json *looks_of(struct hone_workspace *ws, const struct hone_version *version,
                                  struct hone_pool *pool)
{
    struct hone_version *evidence = NULL;
    struct hone_json *looks = hone_json_new_array();
    size_t n = 0;
    (void)hone_history_evidence_of(hone_workspace_history(ws), version->commit, pool, &evidence, &n,
                                   NULL);
    for (size_t i = n > MAX_LOOKS ? n - MAX_LOOKS : 0; i <= n; i++) {
        const char *text = i == 0 ? version->report_json : evidence[i - 1].report_json;
        struct hone_report report;
        if (text == NULL || hone_report_parse(text, strlen(text), pool, &report, NULL) < 0)
            continue;
        struct hone_json *look = look_of(&report);
        if (look != NULL)
            hone_json_push(looks, look);
    }
    return looks;
}

struct hone_json *hone_version_profile(struct hone_workspace *ws, const char *rev)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version version;
    return read_version(ws, rev, pool, &version) ? profile_of(ws, &version, pool) : NULL;
}

struct hone_json *hone_version_facts(struct hone_workspace *ws, const char *rev)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *all = NULL;
    struct hone_version version;
    struct hone_report report;
    if (!read_version(ws, rev, pool, &version))
        return NULL;
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "commit", version.commit);
    hone_json_set_str(json, "task", version.task);
    hone_json_set_str(json, "target", version.target);
    if (hone_best_report_read(hone_workspace_history(ws), &version, pool, &report)) {
        HONE_AUTOFREE char *text = hone_report_print(&report);
        (void)hone_json_parse(text, strlen(text), &all, NULL);
        const char *rests = hone_rests_text(&report, pool);
        if (rests != NULL)
            hone_json_set_str(json, "rests_text", rests);
    }
    hone_json_set_i64(json, "time_s", version.time_s);
    hone_json_set(json, "looks", looks_of(ws, &version, pool));
    for (size_t i = 0; all != NULL && i < HONE_COUNTOF(members); i++)
        if (hone_json_get(all, members[i]) != NULL)
            hone_json_set(json, members[i], hone_json_copy(hone_json_get(all, members[i])));
    hone_json_set_str(json, "refutation",
                      hone_refutation_of(hone_workspace_history(ws), version.commit, pool));
    struct hone_json *profile = profile_of(ws, &version, pool);
    if (profile != NULL)
        hone_json_set(json, "profile", profile);
    return json;
}
