/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on (rests_text.h): each part is a function of its own that gives NULL where the
 * report does not say; the line and its short form join them, what matters most first. */
#include "tools/rests_text.h"

#include <math.h>
#include <string.h>

#include "tools/format/job.h"
#include "workspace/base/text.h"

#define BEYOND      100.5 /* percent: what is printed as more than 100 */
#define PART_BYTES  120
#define SHORT_BYTES 160
#define LITTLE      0.02 /* of the cores: a load that nobody has to know of */

static const char *joined(const struct hone_strs *list, struct hone_pool *pool)
{
    const char *text = "";
    for (size_t i = 0; i < list->n; i++)
        text = hone_pool_printf(pool, "%s%s%s", text, i > 0 ? ", " : "",
                                hone_plain_line(pool, list->v[i], 60));
    return hone_plain_line(pool, text, PART_BYTES);
}

const char *hone_rests_accuracy(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (r == NULL || !isfinite(r->rms_error))
        return NULL;
    const char *mine = hone_pool_printf(pool, "error rms %.2g, worst %.2g of tolerance",
                                        r->rms_error, r->worst_error);
    if (!isfinite(r->baseline_rms_error))
        return mine;
    double times = r->rms_error / r->baseline_rms_error;
    const char *factor =
        isfinite(times) && times > 1.5 ? hone_pool_printf(pool, ": %.2g times its rms", times) : "";
    return hone_pool_printf(pool, "%s (baseline %.2g, %.2g%s)", mine, r->baseline_rms_error,
                            r->baseline_worst_error, factor);
}

const char *hone_rests_fast_math_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    return r != NULL && r->fast_math.n > 0 ? joined(&r->fast_math, pool) : NULL;
}

/* Of stages that the report names, `policy` reads the code. */
static bool was_read(const struct hone_report *report)
{
    const struct hone_stage_report *stages = report->stages.v;
    for (size_t i = 0; i < report->stages.n; i++)
        if (strcmp(stages[i].name, "policy") == 0)
            return true;
    return report->stages.n == 0;
}

const char *hone_rests_precision(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (r == NULL)
        return NULL;
    if (r->units.n > 0)
        return joined(&r->units, pool);
    return r->has_units || !was_read(report) ? NULL : "units of lower precision not known";
}

const char *hone_rests_threads(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (r == NULL || r->n_threads == 0 || !(r->threads > 0))
        return NULL;
    const char *mine =
        hone_pool_printf(pool, "%.1f of %lld threads", r->threads, (long long)r->n_threads);
    return r->baseline_threads > 0
               ? hone_pool_printf(pool, "%s (baseline %.1f)", mine, r->baseline_threads)
               : mine;
}

static const char *and_then(const char *text, const char *part, struct hone_pool *pool)
{
    if (part == NULL || part[0] == '\0')
        return text;
    return hone_pool_printf(pool, "%s%s%s", text, text[0] != '\0' ? ", " : "", part);
}

static const char *sizes_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_sizes_report *s = report->sizes;
    if (s == NULL)
        return report->rests_on->n_sizes == 0
                   ? NULL
                   : hone_pool_printf(pool, "%lld sizes", (long long)report->rests_on->n_sizes);
    const char *text = s->n_checked < s->n_planned
                           ? hone_pool_printf(pool, "%lld of %lld sizes", (long long)s->n_checked,
                                              (long long)s->n_planned)
                           : hone_pool_printf(pool, "%lld sizes", (long long)s->n_checked);
    long long n_timed = (long long)(s->n_public_timed + s->n_hidden_timed);
    return n_timed == 0 ? text
                        : hone_pool_printf(pool, "%s (%lld timed, %lld drawn)", text, n_timed,
                                           (long long)s->n_hidden_timed);
}

static const char *contents_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_contents_report *c = report->contents;
    long long n = c != NULL ? (long long)c->compared.n : (long long)report->rests_on->n_contents;
    if (n == 0)
        return NULL;
    return c != NULL && c->left_out.n > 0
               ? hone_pool_printf(pool, "%lld contents (%zu left out)", n, c->left_out.n)
               : hone_pool_printf(pool, "%lld contents", n);
}

/* What others used of the machine. */
static const char *load_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_load_report *load = report->load;
    if (load == NULL)
        return NULL;
    return load->is_known ? hone_pool_printf(pool, "load %.1f of %lld cores", load->others,
                                             (long long)load->n_cores)
                          : "load not known";
}

/* What the compiler alone would have given. */
static const char *fair_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_ratio *fair = hone_report_ratio(report, HONE_ARM_FAST_MATH);
    if (fair == NULL || !(fair->ratio > 0))
        return NULL;
    return hone_pool_printf(
        pool, "%.3gx (%.3g to %.3g) against the baseline built with -O3 -march=native -ffast-math",
        fair->ratio, fair->low, fair->high);
}

const char *hone_rests_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    const char *text = "", *fast = hone_rests_fast_math_text(report, pool);
    if (r == NULL)
        return NULL;
    if (r->is_parents_code)
        text = "same machine code as the parent";
    if (r->copied.n > 0)
        text = and_then(
            text,
            hone_pool_printf(pool, "in-place: %s copied before each call, in the baseline too",
                             hone_plain_line(pool, joined(&r->copied, pool), 60)),
            pool);
    text = and_then(text, fair_text(report, pool), pool);
    if (fast != NULL)
        text =
            and_then(text,
                     hone_pool_printf(
                         pool, "fast-math (%s: NaN, infinities and the order of sums are not kept)",
                         hone_plain_line(pool, fast, 70)),
                     pool);
    const char *beyond = hone_beyond_bound(report, pool); /* names the units too */
    text = and_then(text, beyond[0] != '\0' ? beyond : hone_rests_precision(report, pool), pool);
    text = and_then(text, hone_rests_accuracy(report, pool), pool);
    text = and_then(text, hone_rests_threads(report, pool), pool);
    text = and_then(text, hone_plain_line(pool, r->flags, 50), pool);
    text = and_then(text, sizes_text(report, pool), pool);
    text = and_then(text, contents_text(report, pool), pool);
    text = and_then(text, r->is_deterministic ? "same bits always" : "bits may differ", pool);
    if (report->jail != NULL)
        text = and_then(
            text, hone_pool_printf(pool, "jail %s", hone_plain_line(pool, report->jail, 20)), pool);
    text = and_then(text, load_text(report, pool), pool);
    return hone_plain_line(pool, text, HONE_RESTS_BYTES - 1);
}

const char *hone_rests_flag(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (r == NULL)
        return NULL;
    const char *text = r->fast_math.n > 0 ? "fast-math" : "";
    text = and_then(text, r->units.n > 0 ? joined(&r->units, pool) : NULL, pool);
    return text[0] != '\0' ? text : NULL;
}

const char *hone_rests_short(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (r == NULL)
        return NULL;
    const char *flag = hone_rests_flag(report, pool), *text = flag != NULL ? flag : "";
    text = and_then(text, hone_rests_threads(report, pool), pool);
    text = and_then(text, hone_plain_line(pool, r->flags, 50), pool);
    const struct hone_load_report *load = report->load;
    if (load != NULL && (!load->is_known || load->others > LITTLE * (double)load->n_cores))
        text = and_then(text, load_text(report, pool), pool);
    return hone_plain_line(pool, text, SHORT_BYTES);
}

/* ---- the bound ---- */

double hone_shown_percent(double percent)
{
    return percent > 100 ? 100 : percent;
}

const char *hone_beyond_bound(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_rests_report *r = report->rests_on;
    if (!(report->percent_of_bound > BEYOND))
        return "";
    const char *unit = r != NULL && r->bound_unit != NULL ? hone_plain_line(pool, r->bound_unit, 60)
                                                          : "the units that it assumes";
    if (r != NULL && r->units.n > 0)
        return hone_pool_printf(pool, "beyond the bound of %s: it uses %s", unit,
                                hone_plain_line(pool, joined(&r->units, pool), 80));
    return hone_pool_printf(pool, "beyond the bound of %s", unit);
}

/* ---- ratios ---- */

const char *hone_ratio_note(const struct hone_ratio *ratio, struct hone_pool *pool)
{
    bool is_below = ratio->high<1, is_above = ratio->low> 1;
    if (ratio->word == NULL || strcmp(ratio->word, "inconclusive") != 0 || (!is_below && !is_above))
        return NULL;
    return hone_pool_printf(pool,
                            "probably %s: by at least %.2g %% in this run, whose noise reaches "
                            "%.2g %%",
                            is_below ? "slower" : "faster",
                            100 * (is_below ? 1 - ratio->high : ratio->low - 1),
                            100 * ratio->least_gain);
}
