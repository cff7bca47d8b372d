/* SPDX-License-Identifier: Apache-2.0 */
/* From everything the coder could do to a ranked list of legal steps (step_mask.h).
 *
 * Flow of hone_allowed_actions: each rewrite whose strategy is not banned gives its sites;
 * hone_rank_actions marks what was tried here, drops what fails its preconditions or is masked by a
 * saturated resource, lifts the mask when nothing is left, scores by credit and class
 * (hone_score_actions) and sorts by prior. */
#include "agents/planner/step_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/planner/merge.h"
#include "agents/planner/mix.h"

#define CLASS_BOOST 1.6
#define PRIOR_SHARP 1.2  /* of the soft-max over utilities */
#define PRIOR_FLOOR 0.10 /* share of the uniform part */
#define SATURATED   87.0 /* percent of bound at which raising a resource's use is pointless */

/* A site with a variant further down its rewrite's list starts a little lower: lists are best
 * first. */
#define SITE_DISCOUNT 0.75
#define WEAK_DISCOUNT 0.05 /* behind those that have something to work on */
/* What stands in a version already is not expected to pay as it did, although its success taught
 * the credit that it pays. */
#define REPEAT_DISCOUNT 0.3

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

/* The mask of one strategy, by preconditions and saturated resources alone. */
static bool is_masked(const struct hone_strategy *s, const struct hone_features *f)
{
    if (hone_strategy_fits(s, f) == HONE_TRI_FALSE || is_saturated(f, s))
        return true;
    double percent = hone_feature_or(f, HONE_F_PERCENT_OF_BOUND, 0);
    if (s->mechanism == HONE_RAISE && percent > SATURATED)
        return true;
    return s->mechanism == HONE_CUT && percent > 100 / 1.1;
}

/* The same idea twice without gain under this version is a dead end here. */
static bool is_worn_out(const struct hone_scene *in, const struct hone_rewrite *rewrite)
{
    int n = 0;
    for (size_t i = 0; in->tree && i < in->tree->n_edges; i++) {
        const struct hone_edge_record *e = &in->tree->edges[i];
        n += e->parent == in->node && e->is_implemented && !e->is_gain &&
             strcmp(e->rewrite, rewrite->name) == 0;
    }
    return n >= 2;
}

/* For every time that the way to this version holds the step, or that the coder declined it there.
 * Free steps are each of another kind. */
static double repeat_discount(const struct hone_scene *in, const struct hone_action *a)
{
    int n = 0;
    if (!in->tree || strcmp(a->strategy->id, HONE_STRATEGY_FREE) == 0)
        return 1;
    for (int at = in->node; at != HONE_NO_NODE; at = in->tree->nodes[at]->parent) {
        const char *step = in->tree->nodes[at]->rewrite;
        n += step && strcmp(step, a->rewrite->name) == 0;
        for (size_t i = 0; i < in->tree->n_edges; i++) {
            const struct hone_edge_record *e = &in->tree->edges[i];
            n += e->is_declined && e->parent == at && strcmp(e->rewrite, a->rewrite->name) == 0;
        }
    }
    return pow(REPEAT_DISCOUNT, n);
}

static void note_class(const struct hone_scene *in, struct hone_action *a)
{
    a->boost = 1;
    a->rule = "no bottleneck rule names it";
    a->values = "";
    for (size_t i = 0; i < in->n_findings; i++) {
        for (size_t k = 0; k < a->strategy->n_helps; k++) {
            if (a->strategy->helps[k] != in->findings[i].class_id)
                continue;
            a->boost = i == 0 ? CLASS_BOOST : 1 + (CLASS_BOOST - 1) / (1 + (double)i);
            a->values = in->findings[i].values;
            if (in->pool) /* NULL: nobody reads it */
                a->rule =
                    hone_pool_printf(in->pool, "%s: %s", hone_class_name(in->findings[i].class_id),
                                     in->findings[i].rule);
            return;
        }
    }
}

static int by_prior(const void *a, const void *b)
{
    const struct hone_action *x = a, *y = b;
    if (x->prior != y->prior)
        return x->prior > y->prior ? -1 : 1;
    int order = strcmp(x->rewrite->name, y->rewrite->name);
    return order ? order : x->site.variant - y->site.variant;
}

/* What the user favours weighs more, whoever made the prior. */
static void favour(const struct hone_credit *credit, struct hone_action *actions, size_t n)
{
    double before = 0, after = 0;
    for (size_t i = 0; i < n; i++) {
        double factor = credit->rows[hone_strategy_index(actions[i].strategy)].favour;
        before += actions[i].prior;
        actions[i].prior *= factor > 0 ? factor : 1;
        after += actions[i].prior;
    }
    for (size_t i = 0; i < n && after > before; i++)
        actions[i].prior *= before / after;
}

static void expect_of_merge(double theirs, struct hone_expectation *e)
{
    e->low = HONE_MERGE_LOW * theirs;
    e->gain = HONE_MERGE_MEAN * theirs;
    e->high = HONE_MERGE_HIGH * theirs;
    e->positive = HONE_MERGE_POSITIVE * theirs;
}

void hone_score_actions(const struct hone_credit *credit, enum hone_class first,
                        struct hone_action *actions, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct hone_action *a = &actions[i];
        struct hone_expectation e;
        hone_credit_predict(credit, a->strategy, first, &e);
        if (a->sibling_gain > 0)
            expect_of_merge(a->sibling_gain, &e);
        a->p_impl = e.p_impl;
        a->low = e.low;
        a->gain = e.gain;
        a->high = e.high;
        a->positive = e.positive;
        a->utility = e.p_impl * e.positive * a->boost * (a->discount > 0 ? a->discount : 1);
        sum += exp(PRIOR_SHARP * a->utility);
    }
    for (size_t i = 0; i < n; i++)
        actions[i].prior = PRIOR_FLOOR / (double)n +
                           (1 - PRIOR_FLOOR) * exp(PRIOR_SHARP * actions[i].utility) / sum;
    hone_mix_priors(actions, n);
    favour(credit, actions, n);
    qsort(actions, n, sizeof(*actions), by_prior);
}

static bool is_open(const struct hone_scene *in, const struct hone_action *a)
{
    return !is_masked(a->strategy, in->features) && !is_worn_out(in, a->rewrite);
}

size_t hone_rank_actions(const struct hone_scene *in, struct hone_action *actions, size_t n)
{
    size_t n_open = 0, n_left = 0;
    for (size_t i = 0; i < n; i++) {
        struct hone_action *a = &actions[i];
        a->is_tried = in->tree && hone_tree_was_tried(in->tree, in->node, a->rewrite->name,
                                                      a->site.anchor, a->site.variant);
        n_open += !a->is_tried && is_open(in, a);
    }
    for (size_t i = 0; i < n; i++) /* the mask never empties the set */
        if (actions[i].is_tried || n_open == 0 || is_open(in, &actions[i]))
            actions[n_left++] = actions[i];
    for (size_t i = 0; i < n_left; i++) {
        note_class(in, &actions[i]);
        actions[i].discount =
            (actions[i].discount > 0 ? actions[i].discount : 1) * repeat_discount(in, &actions[i]);
    }
    hone_score_actions(in->credit, in->n_findings ? in->findings[0].class_id : HONE_N_CLASSES,
                       actions, n_left);
    return n_left;
}

static size_t sites_of_rule(const void *coder, const struct hone_rewrite *rewrite,
                            const struct hone_coder_input *in,
                            struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    (void)coder;
    return hone_coder_sites(rewrite, in, ret);
}

size_t hone_allowed_actions(const struct hone_mask_input *in, struct hone_action *ret)
{
    const struct hone_step_list rules = {hone_rewrites, hone_n_rewrites, sites_of_rule, NULL};
    const struct hone_step_list *steps = in->steps ? in->steps : &rules;
    struct hone_scene scene = {in->features, in->findings, in->n_findings, in->credit,
                               in->tree,     in->node,     in->coder->pool};
    enum { ROOM = 4 * HONE_TREE_MAX_ACTIONS };
    HONE_AUTOFREE struct hone_action *all = hone_calloc(ROOM, sizeof(*all));
    size_t n = 0;
    for (size_t i = 0; i < steps->n_rewrites; i++) {
        const struct hone_rewrite *r = steps->rewrites[i];
        const struct hone_strategy *s =
            hone_rewrite_is_for(r, in->coder->target) ? hone_strategy_of(r) : NULL;
        if (!s || hone_credit_is_banned(in->credit, s))
            continue;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        size_t n_sites = steps->sites(steps->coder, r, in->coder, sites);
        for (size_t k = 0; k < n_sites && n < ROOM; k++)
            all[n++] = (struct hone_action){.rewrite = r,
                                            .strategy = s,
                                            .site = sites[k],
                                            .discount = (sites[k].is_weak ? WEAK_DISCOUNT : 1) *
                                                        pow(SITE_DISCOUNT, (double)k)};
    }
    n = hone_rank_actions(&scene, all, n);
    n = n < HONE_TREE_MAX_ACTIONS ? n : HONE_TREE_MAX_ACTIONS;
    if (n > 0)
        memcpy(ret, all, n * sizeof(*ret));
    return n;
}
