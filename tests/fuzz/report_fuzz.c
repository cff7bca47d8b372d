/* SPDX-License-Identifier: Apache-2.0 */
/* A report that parses prints to a report that parses to the same, and its verdict follows from its
 * reason. What is said of it fits a commit and a tree: no trailer or subject has a line break or a
 * control character, and the commit's text read again says the same verdict. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tools/evaluate_text.h"
#include "tools/format/report.h"
#include "tools/report_check.h"
#include "workspace/base/limits.h"
#include "workspace/history_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        HONE_BUG_ON((unsigned char)*text < ' ' || *text == 0x7f);
}

/* As the server does it. */
static void describe(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_task task = {.name = "sum"};
    const struct hone_evaluation_request req = {
        .task = &task, .source = "void sum(void) {}\n", .tier = HONE_TIER_DECIDE};
    const struct hone_evaluation_names names = {.evaluation = "e1", .blob = "b1"};
    struct hone_version version = {.task = "sum", .target = "cpu", .file_name = "sum.c"}, again;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_report small;
    const char *compact = hone_report_compact(report, pool);

    HONE_BUG_ON(strlen(compact) > HONE_LIMIT_TREE_REPORT_BYTES);
    HONE_BUG_ON(hone_report_parse(compact, strlen(compact), pool, &small, &err) < 0);
    HONE_BUG_ON(small.reason != report->reason);
    check_plain(hone_evaluation_summary(report, pool));
    check_plain(hone_report_failure(report, pool));
    hone_evaluation_describe(&req, report, &names, pool, &version);
    check_plain(version.subject);
    const struct hone_trailer *trailers = version.trailers.v;
    for (size_t i = 0; i < version.trailers.n; i++)
        check_plain(trailers[i].value);
    char *message = NULL;
    HONE_BUG_ON(hone_text_message(&version, &message, &err) < 0);
    again = version;
    again.trailers = (struct hone_array){.n = 0};
    hone_text_parse(message, pool, &again);
    HONE_BUG_ON(strcmp(hone_trailer_get(&again, "Verdict"), hone_verdict_name(report->verdict)) !=
                0);
    free(message);
}

static void hold_against_jobs(const struct hone_report *report)
{
    static const char *stages[] = {"build", "verify", "time"};
    struct hone_arm arms[] = {{.name = "candidate"}, {.name = "baseline"}};
    struct hone_job job = {.id = report->id == NULL ? "x" : report->id,
                           .tier = report->tier == HONE_TIER_NONE ? HONE_TIER_DECIDE : report->tier,
                           .target = report->target == NULL ? "cpu" : report->target,
                           .stages = {.v = stages, .n = 3},
                           .arms = {arms, 2}};
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_report_answers(report, &job, &err);

    HONE_BUG_ON(rc < 0 && err.message[0] == '\0');
    HONE_BUG_ON(rc == 0 && report->points.n > 0);
    if (rc == 0 && report->reason == HONE_REASON_FASTER)
        HONE_BUG_ON(report->workloads.n == 0 || !(report->worst_ratio >= 0.97) ||
                    !(hone_report_ratio(report, "baseline")->low > 1));
    job.id = "another";
    HONE_BUG_ON(report->id != NULL && strcmp(report->id, job.id) != 0 &&
                hone_report_answers(report, &job, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_report report;

    if (hone_report_parse((const char *)data, size, pool, &report, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_BUG_ON(report.reason == HONE_REASON_NONE);
    HONE_BUG_ON(hone_reason_row(report.reason)->verdict != report.verdict);
    HONE_AUTOFREE char *first = hone_report_print(&report);
    HONE_BUG_ON(hone_report_parse(first, strlen(first), pool, &report, &err) < 0);
    HONE_AUTOFREE char *second = hone_report_print(&report);
    HONE_BUG_ON(strcmp(first, second) != 0);
    hold_against_jobs(&report);
    describe(&report, pool);
    return 0;
}
