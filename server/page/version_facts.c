/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/version_facts.h"

#include <string.h>

#include "tools/best_measurement.h"
#include "workspace/history.h"

static const char *const members[] = {"tier",      "verdict",          "summary",     "ratios",
                                      "workloads", "percent_of_bound", "worst_ratio", "rests_on",
                                      "doubts",    "warnings"};

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
    }
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
