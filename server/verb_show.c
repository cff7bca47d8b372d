/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "server/verb.h"
#include "workspace/base/clock.h"
#include "tools/best_measurement.h"
#include "workspace/history.h"

struct args {
    const char *workspace, *rev;
    bool source, report, json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(
        struct args, rev, "rev", "REV",
        "A version's or a measurement's commit (four digits are enough if they are unique), or "
        "a branch.",
        .is_positional = true, .is_required = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, source, "source", NULL, "Only the source, as it was compiled."),
    HONE_OPT(struct args, report, "report", NULL, "Only report.json."),
    HONE_OPT_JSON(struct args),
};

/* Later measurements, which no commit message can know. */
static void print_evidence(const struct hone_best_measurement *measured)
{
    const struct hone_measurement *evidence = measured->evidence.v;
    for (size_t i = 0; i < measured->evidence.n; i++)
        printf("%s%.10s  %s\n", i == 0 ? "\nmeasured again\n" : "", evidence[i].commit,
               evidence[i].summary ? evidence[i].summary : "");
    if (measured->best.rests_on)
        printf("\nbest founded: %s (%s)\nrests on: %s\n",
               measured->best.summary ? measured->best.summary : "",
               hone_tier_name(measured->best.tier), measured->best.rests_on);
    if (measured->contradiction)
        printf("\n%s\n", measured->contradiction);
    if (measured->has_passed)
        printf("\n%s\n", measured->refutation);
}

static void print_message(const struct hone_version *version)
{
    char when[32];
    hone_wall_text(version->time_s * 1000, when);
    printf("commit  %s\nparent  %s\nauthor  %s\nwhen    %s\n\n%s\n", version->commit,
           version->parent ? version->parent : "none", version->author ? version->author : "hone",
           when, version->subject ? version->subject : "");
    if (version->body && version->body[0])
        printf("\n%s\n", version->body);
    const struct hone_trailer *trailer = version->trailers.v;
    printf("\n");
    for (size_t i = 0; i < version->trailers.n; i++)
        printf("%s: %s\n", trailer[i].key, trailer[i].value);
}

static struct hone_json *version_json(const struct hone_version *version)
{
    struct hone_json *json = hone_json_new_object();
    struct hone_json *report = NULL;
    hone_json_set_str(json, "commit", version->commit);
    hone_json_set_str(json, "parent", version->parent);
    hone_json_set_str(json, "task", version->task);
    hone_json_set_str(json, "target", version->target);
    hone_json_set_str(json, "subject", version->subject);
    hone_json_set_str(json, "body", version->body);
    hone_json_set_str(json, "source", version->source);
    hone_json_set(json, "trailers", hone_version_trailers_json(version));
    const char *text = version->report_json;
    if (text && hone_json_parse(text, __builtin_strlen(text), &report, NULL) == 0)
        hone_json_set(json, "report", report);
    return json;
}

static int print_version(const struct args *args, const struct hone_version *version,
                         const struct hone_best_measurement *measured, struct hone_err *err)
{
    const char *source = version->source ? version->source : "";
    const char *report = version->report_json ? version->report_json : "{}";
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = version_json(version);
        if (measured->refutation)
            hone_json_set_str(json, "refutation", measured->refutation);
        return hone_print_json(json, err);
    }
    if (args->source)
        return hone_print(source, err);
    if (args->report) {
        printf("%s\n", report);
        return hone_print("", err);
    }
    print_message(version);
    print_evidence(measured);
    printf("\n---- %s ----\n%s\n---- report.json ----\n%s\n",
           version->file_name ? version->file_name : "source", source, report);
    return hone_print("", err);
}

/* A measurement of its own, as `hone show` and plain git name it. */
static int print_measurement(const struct args *args, const struct hone_version *evidence,
                             struct hone_pool *pool, struct hone_err *err)
{
    struct hone_measurement measured;
    char when[32];
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = version_json(evidence);
        hone_json_set_str(json, "measures", evidence->parent);
        return hone_print_json(json, err);
    }
    const char *report = evidence->report_json ? evidence->report_json : "{}";
    if (!args->report) {
        hone_measurement_of(evidence, pool, &measured);
        hone_wall_text(evidence->time_s * 1000, when);
        printf("commit  %s\nmeasures %s\nwhen    %s\n\n%s\n", evidence->commit, evidence->parent,
               when, evidence->subject ? evidence->subject : "");
        if (measured.rests_on)
            printf("\nrests on: %s\n", measured.rests_on);
        printf("\n---- report.json ----\n");
    }
    printf("%s\n", report);
    return hone_print("", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version version;
    struct hone_best_measurement measured;
    char commit[HONE_COMMIT_BYTES];
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc < 0)
        return rc;
    if (!args->source && hone_history_read_evidence(hone_workspace_history(ws), args->rev, pool,
                                                    &version, NULL) == 0)
        return print_measurement(args, &version, pool, err);
    rc = hone_history_resolve(hone_workspace_history(ws), args->rev, commit, err);
    if (rc == 0)
        rc = hone_history_read(hone_workspace_history(ws), commit, pool, &version, err);
    if (rc == 0)
        rc = hone_best_measurement_read(hone_workspace_history(ws), &version, pool, &measured, err);
    return rc < 0 ? rc : print_version(args, &version, &measured, err);
}

const struct hone_verb hone_verb_show = {
    .name = "show",
    .summary = "Show one version: message, verdict, source and report.",
    .example = "hone show search/softmax",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
