/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an exported file: how to compile it, and what was measured, in the report's own
 * words. */
#include "tools/export/export_internal.h"

#include <math.h>
#include <string.h>

#include "tools/evaluate_text.h"
#include "tools/rests_text.h"
#include "workspace/base/text.h"

#define LINE_BYTES 400

/* " * Word      text\n", without what would end the comment. */
static void add(const struct hone_export_work *work, struct hone_buf *head, const char *word,
                const char *text)
{
    char *line = hone_pool_strdup(work->pool, hone_plain_line(work->pool, text, LINE_BYTES));

    for (char *at = line; (at = strstr(at, "*/")) != NULL; at++)
        *at = '.';
    hone_buf_printf(head, " * %-9s %s\n", word, line);
}

static const char *axes_text(const struct hone_export_work *work,
                             const struct hone_workload_report *row)
{
    const char *text = "";

    for (size_t a = 0; a < work->task->n_axes; a++) {
        const struct hone_axis *axis = &work->task->axes[a];
        int64_t value = row->axes != NULL ? hone_json_get_i64(row->axes, axis->name, -1) : -1;
        if (axis->kind == HONE_AXIS_VAR && value >= 0)
            text = hone_pool_printf(work->pool, "%s %s=%lld", text, axis->name, (long long)value);
    }
    return text;
}

static void add_sizes(const struct hone_export_work *work, struct hone_buf *head)
{
    const struct hone_workload_report *rows = work->report->workloads.v;

    for (size_t i = 0; i < work->report->workloads.n; i++) {
        const struct hone_ratio *ratio = hone_ratio_find(&rows[i].ratios, "baseline");
        double mine = hone_workload_time_ns(&rows[i], "candidate");
        double other = hone_workload_time_ns(&rows[i], "baseline");
        const char *text = hone_pool_printf(
            work->pool, "%s%s%s: %s, baseline %s", rows[i].id, rows[i].is_hidden ? " (drawn)" : "",
            axes_text(work, &rows[i]), isnan(mine) ? "not timed" : hone_plain_ns(work->pool, mine),
            isnan(other) ? "not timed" : hone_plain_ns(work->pool, other));
        if (ratio != NULL && ratio->ratio > 0)
            text = hone_pool_printf(work->pool, "%s, ratio %s", text,
                                    hone_ratio_text(ratio, work->pool));
        add(work, head, "size", text);
    }
}

static void add_figures(const struct hone_export_work *work, struct hone_buf *head)
{
    const struct hone_report *report = work->report;
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");

    add(work, head, "verdict", hone_evaluation_summary(report, work->pool));
    if (ratio != NULL && ratio->ratio > 0)
        add(work, head, "speedup",
            hone_pool_printf(work->pool, "%s (95 %% interval), %s%s",
                             hone_ratio_text(ratio, work->pool),
                             hone_report_is_claimable(report) && work->contradiction == NULL
                                 ? "may be claimed"
                                 : "not to be claimed",
                             hone_report_is_claim(report) ? "" : ": not confirmed as faster"));
    for (size_t i = 0; i < report->doubts.n; i++)
        add(work, head, "doubt", report->doubts.v[i]);
    if (work->contradiction != NULL)
        add(work, head, "doubt", work->contradiction);
    const char *rests = hone_rests_text(report, work->pool);
    if (rests != NULL)
        add(work, head, "rests on", rests);
    if (report->machine != NULL && report->machine->cpu != NULL)
        add(work, head, "machine", report->machine->cpu);
    add_sizes(work, head);
}

static const char *tunables_text(const struct hone_export_work *work)
{
    const struct hone_tunable *t = work->tunables.v;
    const char *text = "";

    for (size_t i = 0; i < work->tunables.n; i++)
        text = hone_pool_printf(work->pool, "%s%s%s=%lld", text, i ? " " : "", t[i].name,
                                (long long)t[i].value);
    return text;
}

const char *hone_export_head(const struct hone_export_work *work,
                             const struct hone_export_function *function, const char *compile)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf head = HONE_BUF_INIT;

    hone_buf_printf(&head, "/* %s\n *\n", compile);
    if (work->refutation != NULL)
        add(work, &head, "WRONG",
            hone_pool_printf(work->pool, "this version was %s", work->refutation));
    add(work, &head, "function",
        hone_pool_printf(work->pool, "%s, %s", function->name,
                         function->is_users ? "with its own parameters"
                                            : "with the parameters of the task"));
    add(work, &head, "task",
        hone_pool_printf(work->pool, "%s (%.12s), target %s", work->task->name, work->task->hash,
                         work->target));
    add(work, &head, "commit", work->commit != NULL ? work->commit : "none: the task's baseline");
    if (work->tunables.n > 0)
        add(work, &head, "tunables", tunables_text(work));
    if (work->report != NULL)
        add_figures(work, &head);
    else
        add(work, &head, "verdict", "none: this version was not measured");
    for (size_t i = 0; i < work->n_notes; i++)
        add(work, &head, "note", work->notes[i]);
    hone_buf_str(&head, " */\n");
    return hone_pool_strdup(work->pool, head.data);
}
