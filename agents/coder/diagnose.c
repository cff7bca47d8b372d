/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "agents/coder/coder.h"

enum { MAX_ROWS = 3 };

/* Errors first; warnings only where there is nothing worse. */
static size_t add_diagnostics(const struct hone_report *report, struct hone_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; report->build && i < report->build->diagnostics.n && n < MAX_ROWS; i++) {
        const struct hone_diagnostic *d =
            &((const struct hone_diagnostic *)report->build->diagnostics.v)[i];
        if (d->arm && strcmp(d->arm, "candidate") != 0)
            continue;
        if (d->severity != HONE_SEVERITY_ERROR)
            continue;
        hone_buf_printf(out, "line %lld: %s\n%s%s", (long long)d->line,
                        d->message ? d->message : "", n == 0 && d->context ? d->context : "",
                        n == 0 && d->context ? "\n" : "");
        n++;
    }
    return n;
}

static size_t add_checks(const struct hone_report *report, struct hone_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < report->checks.n && n < MAX_ROWS; i++) {
        const struct hone_check_report *c =
            &((const struct hone_check_report *)report->checks.v)[i];
        if (c->n_bad == 0 && !(c->detail && *c->detail))
            continue;
        hone_buf_printf(out, "check %s, size %s, values %s: %lld of %lld elements are wrong; %s\n",
                        c->name ? c->name : "?", c->workload ? c->workload : "?",
                        c->distribution ? c->distribution : "?", (long long)c->n_bad,
                        (long long)c->n_compared, c->detail ? c->detail : "");
        n++;
    }
    return n;
}

const char *hone_diagnose(const struct hone_report *report, struct hone_pool *pool)
{
    struct hone_buf out = {.limit = 16 << 10};
    hone_buf_printf(&out, "verdict %s (%s): %s\n",
                    report->verdict ? hone_verdict_name(report->verdict) : "?",
                    report->reason ? hone_reason_name(report->reason) : "?",
                    report->summary ? report->summary : "");
    size_t n = add_diagnostics(report, &out);
    n += add_checks(report, &out);
    if (n == 0 && report->build && report->build->log && report->build->log[0])
        hone_buf_printf(&out, "%.1500s\n", report->build->log);
    for (size_t i = 0; i < report->warnings.n && i < MAX_ROWS; i++)
        hone_buf_printf(&out, "warning: %.300s\n", report->warnings.v[i]);
    const char *text = hone_pool_strdup(pool, out.data ? out.data : "");
    hone_buf_done(&out);
    return text;
}
