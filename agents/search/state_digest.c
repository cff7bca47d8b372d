/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a search's state: every member that hone_state_apply writes. What the search makes
 * anew from it is left out (state.h): with it, a search that goes on would never look the same. */
#include "agents/search/state.h"

#include <string.h>

static void add_f64(struct hone_hasher *h, double x)
{
    hone_hasher_part(h, &x, sizeof(x));
}

static void add_i64(struct hone_hasher *h, int64_t x)
{
    hone_hasher_part(h, &x, sizeof(x));
}

/* What a version of other numbers is limited by is taken from its parent when it is looked at. */
static void add_profile(struct hone_hasher *h, const struct hone_node *n)
{
    if (!n->is_profiled || strcmp(n->rewrite, "tune") == 0)
        return;
    for (size_t i = 0; i < n->n_findings; i++) {
        add_i64(h, n->findings[i].class_id);
        hone_hasher_str(h, n->findings[i].rule);
        hone_hasher_str(h, n->findings[i].values);
    }
    for (int i = HONE_F_SM_ACTIVE; i < HONE_N_FEATURES; i++)
        add_f64(h, n->features.v[i].is_present ? n->features.v[i].value : -1);
    hone_hasher_str(h, n->hot_kernel);
    hone_hasher_str(h, n->profile);
}

static void add_node(struct hone_hasher *h, const struct hone_node *n)
{
    const char *const texts[] = {n->hash,       n->code,  n->commit,   n->words,     n->rewrite,
                                 n->basis.look, n->times, n->settings, n->refuted_by};
    const int64_t numbers[] = {n->index,         n->number,        n->parent,     n->depth,
                               n->basis.n_timed, n->basis.n_sizes, n->n_visits,   n->n_no_gain,
                               n->is_screened,   n->is_decided,    n->is_refuted, n->is_swept,
                               n->is_dead};
    const double values[] = {n->value,      n->se,  n->low,  n->high,
                             n->step_prior, n->sum, n->best, n->is_screened ? n->screened : 0};
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++)
        hone_hasher_str(h, texts[i]);
    hone_hasher_part(h, numbers, sizeof(numbers));
    hone_hasher_part(h, values, sizeof(values));
    for (int i = HONE_F_CORES; i < HONE_F_SM_ACTIVE; i++)
        add_f64(h, n->features.v[i].is_present ? n->features.v[i].value : -1);
    add_profile(h, n);
}

static void add_edge(struct hone_hasher *h, const struct hone_edge_record *e)
{
    if (e->is_under_way)
        return;
    const int64_t numbers[] = {e->parent,  e->child,       e->variant,
                               e->is_gain, e->is_declined, e->is_implemented};
    hone_hasher_part(h, numbers, sizeof(numbers));
    hone_hasher_str(h, e->rewrite);
    hone_hasher_str(h, e->anchor);
    hone_hasher_str(h, e->strategy->id);
    hone_hasher_str(h, e->verdict);
    hone_hasher_str(h, e->note);
    hone_hasher_str(h, e->plan);
    add_f64(h, e->gain);
}

/* Marks of the user stand beside it: steering has records and a reader of its own. */
static void add_credit(struct hone_hasher *h, const struct hone_credit *c)
{
    add_f64(h, c->done);
    add_f64(h, c->not_done);
    for (size_t i = 0; i < HONE_CREDIT_MAX; i++) {
        const struct hone_credit_row *row = &c->rows[i];
        add_f64(h, row->done);
        add_f64(h, row->not_done);
        hone_hasher_part(h, &row->before, sizeof(row->before));
        hone_hasher_part(h, &row->all, sizeof(row->all));
        hone_hasher_part(h, row->by_class, sizeof(row->by_class));
    }
}

void hone_state_digest(const struct hone_state *st, char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    for (int i = 0; i < st->tree.n_nodes; i++)
        add_node(&h, st->tree.nodes[i]);
    for (size_t i = 0; i < st->tree.n_edges; i++)
        add_edge(&h, &st->tree.edges[i]);
    add_i64(&h, st->tree.best);
    add_i64(&h, st->tree.next_number);
    add_i64(&h, st->tree.n_since_best);
    add_f64(&h, st->tree.paired);
    add_credit(&h, &st->credit);
    add_f64(&h, st->mix.rules);
    add_f64(&h, st->mix.llm);
    const int64_t counts[] = {st->has_ended, st->n_steps, st->decide_ms};
    hone_hasher_part(&h, counts, sizeof(counts));
    hone_hasher_end(&h, ret);
}
