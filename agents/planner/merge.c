/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/merge.h"

#include <string.h>

#include "agents/planner/credit.h"

static bool is_strategy(const struct hone_edge_record *e, const char *id)
{
    return e->strategy && strcmp(e->strategy->id, id) == 0;
}

bool hone_merge_has_won(const struct hone_tree *t, const struct hone_edge_record *e)
{
    if (e->child == HONE_NO_NODE || !e->strategy || is_strategy(e, HONE_STRATEGY_NEW))
        return false;
    const struct hone_node *from = t->nodes[e->parent], *to = t->nodes[e->child];
    return to->parent == from->index && !from->is_refuted && !to->is_refuted &&
           hone_effective_gain(hone_node_gain(from, to), from->se, to->se) > 0;
}

static const struct hone_edge_record *edge_of(const struct hone_tree *t, int node)
{
    for (size_t i = 0; i < t->n_edges; i++)
        if (t->edges[i].child == node && t->edges[i].parent == t->nodes[node]->parent)
            return &t->edges[i];
    return NULL;
}

/* Free ideas are each of another kind, and so are merges of different siblings. */
static bool is_other_idea(const struct hone_edge_record *a, const struct hone_edge_record *b)
{
    return a->strategy != b->strategy || is_strategy(a, HONE_STRATEGY_FREE) ||
           is_strategy(a, HONE_STRATEGY_MERGE);
}

int hone_merge_base(const struct hone_tree *t, int node)
{
    while (t->nodes[node]->parent != HONE_NO_NODE && strcmp(t->nodes[node]->rewrite, "tune") == 0)
        node = t->nodes[node]->parent;
    return node;
}

static bool was_merged(const struct hone_tree *t, const struct hone_node *a,
                       const struct hone_node *b)
{
    for (size_t i = 0; i < t->n_edges; i++) {
        const struct hone_edge_record *e = &t->edges[i];
        if (!is_strategy(e, HONE_STRATEGY_MERGE))
            continue;
        int at = hone_merge_base(t, e->parent);
        if ((at == a->index && e->variant == b->number) ||
            (at == b->index && e->variant == a->number))
            return true;
    }
    return false;
}

static size_t insert(struct hone_merge ret[HONE_MERGES], size_t n, const struct hone_merge *m)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++)
        if (ret[i].sibling == m->sibling) /* the same version by a second step */
            return n;
    while (at > 0 && ret[at - 1].gain < m->gain)
        at--;
    if (at == HONE_MERGES)
        return n;
    size_t n_after = n < HONE_MERGES ? n - at : HONE_MERGES - 1 - at;
    memmove(&ret[at + 1], &ret[at], n_after * sizeof(*ret));
    ret[at] = *m;
    return n < HONE_MERGES ? n + 1 : n;
}

size_t hone_merges_of(const struct hone_tree *t, int node, struct hone_merge ret[HONE_MERGES])
{
    const struct hone_node *n = t->nodes[hone_merge_base(t, node)];
    const struct hone_edge_record *own = n->parent == HONE_NO_NODE ? NULL : edge_of(t, n->index);
    size_t n_found = 0;
    if (!own || !hone_merge_has_won(t, own))
        return 0;
    for (size_t i = 0; i < t->n_edges; i++) {
        const struct hone_edge_record *e = &t->edges[i];
        if (e->parent != n->parent || e->child == n->index || !hone_merge_has_won(t, e) ||
            !is_other_idea(own, e))
            continue;
        const struct hone_merge m = {e->child, e,
                                     hone_node_gain(t->nodes[e->parent], t->nodes[e->child])};
        bool has_room = n_found < HONE_MERGES || m.gain > ret[HONE_MERGES - 1].gain;
        if (has_room && !was_merged(t, n, t->nodes[e->child])) /* the dearest question last */
            n_found = insert(ret, n_found, &m);
    }
    return n_found;
}

/* Is the strategy on the way from the root to the version, or `other` itself on that way? */
static bool has_on_way(const struct hone_tree *t, int node, int other,
                       const struct hone_strategy *strategy)
{
    for (; node != HONE_NO_NODE; node = t->nodes[node]->parent) {
        const struct hone_edge_record *e = edge_of(t, node);
        if (node == other || (e && strategy && e->strategy == strategy))
            return true;
    }
    return false;
}

size_t hone_merges_across(const struct hone_tree *t, const struct hone_archive *archive, int node,
                          struct hone_merge ret[HONE_MERGES], size_t n)
{
    int base = hone_merge_base(t, node);
    size_t own = hone_archive_cell_of(archive, t->nodes[node]);
    for (size_t i = 0; base > 0 && i < archive->n && n < HONE_MERGES; i++) {
        int other = hone_merge_base(t, archive->cells[i].node);
        const struct hone_edge_record *e = other > 0 ? edge_of(t, other) : NULL;
        if (i == own || !e || !hone_merge_has_won(t, e) ||
            has_on_way(t, base, other, e->strategy) || has_on_way(t, other, base, NULL) ||
            was_merged(t, t->nodes[base], t->nodes[other]))
            continue;
        const struct hone_merge m = {other, e,
                                     hone_node_gain(t->nodes[e->parent], t->nodes[other])};
        n = insert(ret, n, &m);
    }
    return n;
}
