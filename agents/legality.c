#include "agents/legality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_BOOST 1.6
#define PRIOR_SHARP 1.2  /* of the soft-max over utilities */
#define PRIOR_FLOOR 0.10 /* share of the uniform part */
#define SATURATED   87.0 /* percent of bound at which raising a resource's use is pointless */

/* A site with a variant further down its rewrite's list starts a little lower: lists are best
 * first. */
#define SITE_DISCOUNT 0.75

/* On a GPU the mask is by mechanism: who raises the use of a unit is pointless when that unit is
 * saturated, who cuts traffic or work when there is none to cut. The other way round would forbid
 * fusion and tiling exactly where DRAM is the limit. */
static const struct {
    enum hone_mechanism mechanism;
    enum hone_resource resource;
    enum hone_feature_id feature;
    char op;
    double limit;
} saturations[] = {
    {HONE_RAISE, HONE_SM, HONE_F_ISSUE_ACTIVE, '>', 80},
    {HONE_RAISE, HONE_SM, HONE_F_FMA_PCT, '>', 80},
    {HONE_RAISE, HONE_DRAM, HONE_F_DRAM_PCT, '>', 70},
    {HONE_RAISE, HONE_L2, HONE_F_L2_PCT, '>', 75},
    {HONE_CUT, HONE_TRAFFIC, HONE_F_TRAFFIC_RATIO, '<', 1.1},
    {HONE_CUT, HONE_WORK, HONE_F_WORK_RATIO, '<', 1.1},
};

static bool is_saturated(const struct hone_features *f, const struct hone_strategy *s)
{
    for (size_t i = 0; i < HONE_COUNTOF(saturations); i++) {
        struct hone_feature v = f->v[saturations[i].feature];
        if (s->mechanism != saturations[i].mechanism || s->resource != saturations[i].resource ||
            !v.is_present)
            continue;
        if (saturations[i].op == '>' ? v.value > saturations[i].limit
                                     : v.value < saturations[i].limit)
            return true;
    }
    return false;
}

static bool is_masked(const struct hone_legality_input *in, const struct hone_strategy *s)
{
    if (hone_strategy_fits(s, in->features) == HONE_TRI_FALSE || is_saturated(in->features, s))
        return true;
    double percent = hone_feature_or(in->features, HONE_F_PERCENT_OF_BOUND, 0);
    if (s->mechanism == HONE_RAISE && percent > SATURATED)
        return true;
    return s->mechanism == HONE_CUT && percent > 100 / 1.1;
}

/* The same idea twice without gain under this version is a dead end here. */
static bool is_worn_out(const struct hone_legality_input *in, const struct hone_rewrite *rewrite)
{
    int n = 0;
    for (size_t i = 0; in->tree && i < in->tree->n_edges; i++) {
        const struct hone_edge_record *e = &in->tree->edges[i];
        n += e->parent == in->node && e->is_implemented && !e->is_gain &&
             strcmp(e->rewrite, rewrite->name) == 0;
    }
    return n >= 2;
}

static void note_class(const struct hone_legality_input *in, struct hone_action *a)
{
    a->boost = 1;
    a->rule = "no bottleneck rule names it";
    a->values = "";
    for (size_t i = 0; i < in->n_findings; i++) {
        for (size_t k = 0; k < a->strategy->n_helps; k++) {
            if (a->strategy->helps[k] != in->findings[i].class_id)
                continue;
            a->boost = i == 0 ? CLASS_BOOST : 1 + (CLASS_BOOST - 1) / (1 + (double)i);
            a->rule =
                hone_pool_printf(in->coder->pool, "%s: %s",
                                 hone_class_name(in->findings[i].class_id), in->findings[i].rule);
            a->values = in->findings[i].values;
            return;
        }
    }
}

static size_t collect(const struct hone_legality_input *in, bool use_mask, struct hone_action *ret)
{
    size_t n = 0;
    const struct hone_rewrite *const *rewrites = hone_rewrites;
    size_t n_rewrites = in->who ? hone_coder_rewrites(in->who, &rewrites) : hone_n_rewrites;
    for (size_t i = 0; i < n_rewrites; i++) {
        const struct hone_rewrite *r = rewrites[i];
        const struct hone_strategy *s =
            hone_rewrite_is_for(r, in->coder->target) ? hone_strategy_of(r) : NULL;
        if (!s || (use_mask && (is_masked(in, s) || is_worn_out(in, r))))
            continue;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        size_t n_sites = in->who ? hone_coder_regions(in->who, r, in->coder, sites)
                                 : hone_coder_sites(r, in->coder, sites);
        for (size_t k = 0; k < n_sites && n < HONE_TREE_MAX_ACTIONS; k++) {
            if (in->tree &&
                hone_tree_was_tried(in->tree, in->node, r->name, sites[k].anchor, sites[k].variant))
                continue;
            struct hone_action a = {.rewrite = r, .strategy = s, .site = sites[k]};
            hone_credit_expect(in->credit, s, &a.p_impl, &a.low, &a.gain, &a.high);
            note_class(in, &a);
            a.utility = a.p_impl * fmax(0, a.gain) * a.boost * pow(SITE_DISCOUNT, (double)k);
            ret[n++] = a;
        }
    }
    return n;
}

static int by_prior(const void *a, const void *b)
{
    const struct hone_action *x = a, *y = b;
    if (x->prior != y->prior)
        return x->prior > y->prior ? -1 : 1;
    int order = strcmp(x->rewrite->name, y->rewrite->name);
    return order ? order : x->site.variant - y->site.variant;
}

size_t hone_legal_actions(const struct hone_legality_input *in, struct hone_action *ret)
{
    size_t n = collect(in, true, ret);
    if (n == 0)
        n = collect(in, false, ret);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += exp(PRIOR_SHARP * ret[i].utility);
    for (size_t i = 0; i < n; i++)
        ret[i].prior =
            PRIOR_FLOOR / (double)n + (1 - PRIOR_FLOOR) * exp(PRIOR_SHARP * ret[i].utility) / sum;
    qsort(ret, n, sizeof(*ret), by_prior);
    return n;
}
