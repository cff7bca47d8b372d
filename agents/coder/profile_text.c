/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/coder/profile_text.h"

#include <math.h>
#include <string.h>

#include "workspace/base/text.h"
#include "workspace/base/limits.h"

/* What is shown of a launch, and of the call as a whole. */
static const struct {
    const char *name, *label;
} shares[] = {
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM"},
    {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2"},
    {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "L1 and shared"},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "FMA"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor"},
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "multiprocessors busy"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "warps resident"},
};
#define TIME_NAME    "gpu__time_duration.sum"
#define TRAFFIC_NAME "hone__traffic_ratio"

static double value_of(const struct hone_profile_report *p, const char *kernel, const char *name)
{
    const struct hone_counter *c = p->counters.v;
    for (size_t i = 0; i < p->counters.n; i++) {
        bool is_its = kernel ? c[i].kernel && strcmp(c[i].kernel, kernel) == 0 : !c[i].kernel;
        if (is_its && strcmp(c[i].name, name) == 0)
            return c[i].value;
    }
    return (double)NAN;
}

static void add_figures(struct hone_buf *out, const struct hone_profile_report *p,
                        const char *kernel)
{
    double ns = value_of(p, kernel, TIME_NAME);
    const char *between = ": ";
    if (isfinite(ns)) {
        hone_buf_printf(out, "%s%.3g us", between, ns / 1e3);
        between = ", ";
    }
    for (size_t i = 0; i < HONE_COUNTOF(shares); i++) {
        double share = value_of(p, kernel, shares[i].name);
        if (!isfinite(share))
            continue;
        hone_buf_printf(out, "%s%s %.0f %%", between, shares[i].label, share);
        between = ", ";
    }
    hone_buf_str(out, "\n");
}

const char *hone_profile_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_profile_report *p = report->profile;
    if (!p || !p->has_counters || !p->workload)
        return NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *words = hone_pool_new();
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_counter *c = p->counters.v;
    const char *last = NULL;
    double traffic = value_of(p, NULL, TRAFFIC_NAME);
    hone_buf_printf(&out, "- size %s, the whole call",
                    hone_plain_line(words, p->workload, HONE_LIMIT_TRIED_BYTES));
    add_figures(&out, p, NULL);
    if (isfinite(traffic))
        hone_buf_printf(&out, "- DRAM traffic: %.2f times the bytes that must move\n", traffic);
    for (size_t i = 0; i < p->counters.n; i++) { /* those of one launch stand together */
        if (!c[i].kernel || (last && strcmp(last, c[i].kernel) == 0))
            continue;
        last = c[i].kernel;
        hone_buf_printf(&out, "- %s", hone_plain_line(words, last, HONE_LIMIT_TRIED_BYTES));
        add_figures(&out, p, last);
    }
    const char *text = hone_pool_strdup(pool, out.data);
    hone_buf_done(&out);
    return text;
}
