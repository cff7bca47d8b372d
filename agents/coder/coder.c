/* SPDX-License-Identifier: Apache-2.0 */
/* The coders as a table (coder.h).
 *
 * Flow: hone_coder_open finds the row and lists what it may ever do: the rules' rewrites, one
 * "llm_..." rewrite for each strategy that a model may carry out, and the "ext_..." ones that
 * stand for outside agents. Sites come from the rule where one applies, otherwise from the model's
 * regions. A step goes to the rules or to coder_llm.c.
 *
 * State: the lists, and whether models are still asked (hone_coder_mute). Limits:
 * HONE_CODER_MAX_SITES places a rewrite. */
#include "agents/coder/coder.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "agents/coder/coder_internal.h"
#include "agents/source/cuda_kernel.h"
#include "agents/model/model.h"
#include "workspace/task/target.h"

#define HONE_CODER_NAMES "rules, llm, auto, external"

static const struct row {
    const char *name, *words;
    bool has_rules;
    const struct hone_coder_hands *hands;
} rows[] = {
    {"rules", "source-to-source rewrites", true, NULL},
    {"llm", "a language model", false, &hone_coder_llm},
    {"auto", "rules where one applies, a language model elsewhere", true, &hone_coder_llm},
    {"external", "outside agents alone", false, NULL},
};

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (strcmp(rows[i].name, name ? name : "rules") == 0)
            return &rows[i];
    return NULL;
}

bool hone_coder_is_known(const char *name)
{
    return find_row(name) != NULL;
}

bool hone_coder_asks_model(const char *name)
{
    const struct row *row = find_row(name);
    return row && row->hands;
}

/* One rewrite for each strategy of the target. */
static size_t add_model_rewrites(struct hone_coder *c, const struct hone_rewrite **list, size_t n)
{
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *s = &hone_strategies[i];
        if (strcmp(s->target, c->setup.target) != 0)
            continue;
        struct hone_rewrite *r = hone_pool_alloc(c->pool, sizeof(*r));
        *r = (struct hone_rewrite){.name = hone_pool_printf(c->pool, "llm_%s", s->id),
                                   .target = s->target,
                                   .strategy = s->id,
                                   .words = s->words};
        list[n++] = r;
    }
    return n;
}

static void list_outside(struct hone_coder *c)
{
    struct hone_rewrite *list = hone_pool_alloc(c->pool, hone_n_strategies * sizeof(*list));
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *s = &hone_strategies[i];
        if (strcmp(s->target, c->setup.target) == 0)
            list[c->n_outside++] =
                (struct hone_rewrite){.name = hone_pool_printf(c->pool, "ext_%s", s->id),
                                      .target = s->target,
                                      .strategy = s->id,
                                      .words = s->words};
    }
    c->outside = list;
}

static void note_naive(struct hone_coder *c)
{
    HONE_AUTOFREE char *naive = NULL;
    if (hone_task_naive(c->setup.task, c->setup.target, &naive, NULL) == 0)
        hone_hash(naive, strlen(naive), c->naive);
}

int hone_coder_open(const struct hone_coder_setup *setup, struct hone_coder **ret,
                    struct hone_err *err)
{
    const struct row *row = find_row(setup->name);
    if (!row)
        return hone_fail_at(err, HONE_E_ARG, "coder", "'%.40s' is unknown; %s are", setup->name,
                            HONE_CODER_NAMES);
    struct hone_pool *pool = hone_pool_new();
    struct hone_coder *c = hone_pool_alloc(pool, sizeof(*c));
    c->pool = pool;
    c->setup = *setup;
    c->name = row->name;
    c->has_rules = row->has_rules;
    c->hands = row->hands;
    const struct hone_rewrite **list =
        hone_pool_alloc(pool, (hone_n_rewrites + hone_n_strategies) * sizeof(const void *));
    size_t n = 0;
    for (size_t i = 0; i < hone_n_rewrites && row->has_rules; i++)
        if (hone_rewrite_is_for(hone_rewrites[i], setup->target))
            list[n++] = hone_rewrites[i];
    if (row->hands)
        n = add_model_rewrites(c, list, n);
    c->rewrites = list;
    c->n_rewrites = n;
    list_outside(c);
    if (row->hands)
        note_naive(c);
    int r = row->hands && !setup->only_lists ? row->hands->open(c, err) : 0;
    if (r < 0) {
        hone_coder_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void hone_coder_close(struct hone_coder *coder)
{
    if (coder)
        hone_pool_free(coder->pool);
}

const char *hone_coder_name(const struct hone_coder *coder)
{
    return coder->name;
}

const char *hone_coder_of(const struct hone_coder *coder, const struct hone_rewrite *rewrite)
{
    if (rewrite->apply)
        return "rules";
    return hone_pool_printf(coder->pool, "llm %s", hone_model_name(coder->setup.model));
}

int64_t hone_coder_repairs(const struct hone_coder *coder)
{
    return coder->hands ? coder->setup.repairs : 0;
}

const struct hone_rewrite *hone_coder_rewrite(const struct hone_coder *coder, const char *name)
{
    for (size_t i = 0; i < coder->n_rewrites; i++)
        if (strcmp(coder->rewrites[i]->name, name) == 0)
            return coder->rewrites[i];
    for (size_t i = 0; i < coder->n_outside; i++)
        if (strcmp(coder->outside[i].name, name) == 0)
            return &coder->outside[i];
    return NULL;
}

const struct hone_rewrite *hone_coder_merging(const struct hone_coder *coder)
{
    return coder->hands && !coder->is_muted ? hone_coder_rewrite(coder, "llm_" HONE_STRATEGY_MERGE)
                                            : NULL;
}

const struct hone_rewrite *hone_coder_outside(const struct hone_coder *coder, const char *strategy)
{
    for (size_t i = 0; i < coder->n_outside; i++)
        if (strcmp(coder->outside[i].strategy, strategy) == 0)
            return &coder->outside[i];
    return NULL;
}

int hone_coder_blind(const struct hone_coder *coder, const char *source, struct hone_pool *pool,
                     struct hone_coder_input *ret, struct hone_err *err)
{
    if (!coder->hands)
        return hone_fail(err, HONE_E_UNSUPPORTED, "coder %s edits what it can read only",
                         coder->name);
    struct hone_c_node *file = hone_pool_alloc(pool, sizeof(*file));
    struct hone_c_tree *tree = hone_pool_alloc(pool, sizeof(*tree));
    uint32_t len = (uint32_t)strlen(source);
    *file = (struct hone_c_node){.name = coder->setup.task->name, .end = len};
    *tree = (struct hone_c_tree){.source = source, .len = len, .root = file, .pool = pool};
    *ret = (struct hone_coder_input){.tree = tree,
                                     .nest = {.function = file},
                                     .pool = pool,
                                     .target = coder->setup.target,
                                     .is_blind = true};
    return 0;
}

/* Does a rule carry out the strategy somewhere in this version? */
static bool a_rule_does(const char *strategy, const struct hone_coder_input *in)
{
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    for (size_t i = 0; i < hone_n_rewrites; i++)
        if (hone_rewrite_is_for(hone_rewrites[i], in->target) &&
            strcmp(hone_rewrites[i]->strategy, strategy) == 0 &&
            hone_coder_sites(hone_rewrites[i], in, sites) > 0)
            return true;
    return false;
}

static bool is_naive(const struct hone_coder *c, const char *source)
{
    char hex[HONE_HASH_TEXT_BYTES];
    hone_hash(source, strlen(source), hex);
    return strcmp(hex, c->naive) == 0;
}

static size_t sites_of_coder(const void *coder, const struct hone_rewrite *rewrite,
                             const struct hone_coder_input *in,
                             struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    return hone_coder_regions(coder, rewrite, in, ret);
}

struct hone_step_list hone_coder_steps(const struct hone_coder *coder)
{
    struct hone_step_list ret = {.sites = sites_of_coder, .coder = coder};
    ret.rewrites = coder->rewrites;
    ret.n_rewrites = coder->n_rewrites;
    return ret;
}

void hone_coder_mute(struct hone_coder *coder)
{
    coder->is_muted = true;
}

/* A name as a prompt may hold it outside of data: letters that are none in C are shown as '?', so
 * that a name cannot be a sentence. */
static const char *plain_name(const struct hone_coder_input *in, const char *name)
{
    enum { MAX_NAME = 64 };
    char *plain = hone_pool_strndup(in->pool, name, strnlen(name, MAX_NAME));
    for (char *c = plain; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != ':' && *c != '<' && *c != '>')
            *c = '?';
    return plain;
}

/* On cuda the task's function only launches: the step is about a kernel. The anchor stays the
 * launcher's: it names the step in the records, and which kernel is hot is known from a profile
 * that a search which goes on has not. */
static void point_at_kernel(const struct hone_coder_input *in, struct hone_coder_site *site)
{
    const struct hone_c_node *k = hone_cuda_main_kernel(in);
    if (!k)
        return;
    struct hone_coder_site kernel =
        hone_site(k, k->begin, k->end,
                  hone_pool_printf(in->pool, "kernel %s, launched by %s", plain_name(in, k->name),
                                   plain_name(in, site->node->name)));
    hone_coder_locate(in, &kernel);
    memcpy(kernel.anchor, site->anchor, sizeof(kernel.anchor));
    *site = kernel;
}

enum { MAX_REACHED = 32, MAX_SPANS_BYTES = 400 };

/* Where helpers do the work the function alone would point at a few calls: the region is the text
 * from the first function that it reaches to the last, and the evidence says which lines are whose.
 * The anchor stays the function's own: it names the step in the records. */
static void add_helpers(const struct hone_coder_input *in, struct hone_coder_site *site)
{
    const struct hone_c_node *reached[MAX_REACHED];
    struct hone_coder_site whole = *site;
    struct hone_buf spans = HONE_BUF_INIT;
    size_t n = hone_c_reached(in->tree, site->node, reached, MAX_REACHED);
    for (size_t i = 0; i < n; i++) {
        const struct hone_c_node *f = reached[i];
        whole.begin = f->begin < whole.begin ? f->begin : whole.begin;
        whole.end = f->end > whole.end ? f->end : whole.end;
        if (spans.len < MAX_SPANS_BYTES)
            hone_buf_printf(&spans, "%s%s %u-%u",
                            i ? ", " : "the functions of it: ", plain_name(in, f->name),
                            hone_c_line(in->tree, f->begin), hone_c_line(in->tree, f->end));
    }
    if (n > 1) {
        hone_coder_locate(in, &whole);
        memcpy(whole.anchor, site->anchor, sizeof(whole.anchor));
        whole.evidence = hone_pool_strdup(in->pool, spans.data);
        *site = whole;
    }
    hone_buf_done(&spans);
}

size_t hone_coder_regions(const struct hone_coder *coder, const struct hone_rewrite *rewrite,
                          const struct hone_coder_input *in,
                          struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    if (rewrite->sites)
        return hone_coder_sites(rewrite, in, ret);
    const struct hone_strategy *s = hone_strategy_of(rewrite);
    if (coder->is_muted)
        return 0;
    if (!s || !coder->hands->can(s) || (coder->has_rules && a_rule_does(rewrite->strategy, in)))
        return 0;
    if (strcmp(s->id, HONE_STRATEGY_NEW) == 0 && !is_naive(coder, hone_coder_source(in)))
        return 0; /* only in front of everything else */
    const struct hone_c_node *f = in->nest.function;
    ret[0] = hone_site(f, f->begin, f->end,
                       hone_pool_printf(in->pool, "function %s", f->name ? f->name : "?"));
    hone_coder_locate(in, &ret[0]);
    if (!in->is_blind && hone_target_traits(in->target)->has_device)
        point_at_kernel(in, &ret[0]);
    if (!in->is_blind)
        add_helpers(in, &ret[0]);
    return 1;
}

/* ---- one step ---- */

static int step_by_rule(struct hone_coder *c, const struct hone_coder_work *w,
                        struct hone_pool *pool, struct hone_coder_outcome *ret)
{
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    struct hone_err why = HONE_ERR_INIT;
    int r = hone_coder_read_kernel(c->setup.parser, c->setup.task, c->setup.target, w->source, pool,
                                   &in, &why);
    size_t n = r == 0 ? hone_coder_sites(w->rewrite, &in, sites) : 0, i = 0;
    while (i < n &&
           (strcmp(sites[i].anchor, w->site->anchor) != 0 || sites[i].variant != w->site->variant))
        i++;
    if (r == 0 && i == n)
        r = hone_fail(&why, HONE_E_BUG, "%s: its region is gone", w->rewrite->name);
    if (r == 0)
        r = hone_coder_apply(c->setup.parser, w->rewrite, &in, &sites[i], &ret->source, &why);
    if (r < 0)
        ret->refusal = hone_pool_strdup(pool, why.message);
    return 0;
}

int hone_coder_step(struct hone_coder *coder, const struct hone_coder_work *work,
                    struct hone_pool *pool, struct hone_coder_outcome *ret, struct hone_err *err)
{
    *ret = (struct hone_coder_outcome){.source = NULL};
    return work->rewrite->apply ? step_by_rule(coder, work, pool, ret)
                                : coder->hands->step(coder, work, pool, ret, err);
}
