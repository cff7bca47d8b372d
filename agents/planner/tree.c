/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of versions (tree.h).
 *
 * State: nodes in one growing array, named by index; edges as records of steps, also of failed
 * ones. A step in flight counts as tried and as a visit (begin_step, end_step). Values are
 * backed up to the root as they come. Versions that were screened and versions that were
 * decided are compared through what both kinds of figures exist for (update_footing). */
#include "agents/planner/tree.h"

#include <math.h>
#include <string.h>

enum { DEAD_AFTER = 3 };

void hone_tree_init(struct hone_tree *tree, struct hone_pool *pool)
{
    *tree = (struct hone_tree){.pool = pool, .best = HONE_NO_NODE};
}

void hone_source_hash(const char *source, char ret_hex[HONE_HASH_TEXT_BYTES])
{
    HONE_AUTOFREE char *text = hone_c_normalise(source);
    hone_hash(text, strlen(text), ret_hex);
}

struct hone_node *hone_tree_draft(struct hone_tree *tree, int parent, const char *source,
                                  const char *commit, double value, double se)
{
    if (tree->n_nodes == HONE_TREE_MAX_NODES)
        return NULL;
    struct hone_node *n = hone_pool_alloc(tree->pool, sizeof(*n));
    n->index = tree->n_nodes;
    n->number = tree->next_number;
    n->parent = parent;
    n->depth = parent == HONE_NO_NODE ? 0 : tree->nodes[parent]->depth + 1;
    n->source = hone_pool_strdup(tree->pool, source);
    n->commit = hone_pool_strdup(tree->pool, commit);
    n->is_fast_math = strstr(source, "fast-math") != NULL;
    n->words = n->rewrite = "";
    n->value = n->best = n->sum = value;
    n->n_visits = 1;
    n->se = se;
    hone_source_hash(source, n->hash);
    tree->nodes[n->index] = n; /* behind the last: who asks for its kin finds it */
    return n;
}

void hone_tree_attach(struct hone_tree *tree, struct hone_node *draft)
{
    tree->nodes[tree->n_nodes++] = draft;
    tree->next_number = draft->number + 1;
    hone_tree_update_best(tree);
}

struct hone_node *hone_tree_add(struct hone_tree *tree, int parent, const char *source,
                                const char *commit, double value, double se)
{
    struct hone_node *n = hone_tree_draft(tree, parent, source, commit, value, se);
    if (n)
        hone_tree_attach(tree, n);
    return n;
}

struct hone_node *hone_tree_find(const struct hone_tree *tree,
                                 const char hash[HONE_HASH_TEXT_BYTES])
{
    for (int i = 0; i < tree->n_nodes; i++)
        if (strcmp(tree->nodes[i]->hash, hash) == 0)
            return tree->nodes[i];
    return NULL;
}

struct hone_node *hone_tree_find_code(const struct hone_tree *tree, const char *code)
{
    for (int i = 0; code && *code && i < tree->n_nodes; i++)
        if (strcmp(tree->nodes[i]->code, code) == 0)
            return tree->nodes[i];
    return NULL;
}

bool hone_tree_is_on_the_way(const struct hone_tree *tree, int index)
{
    int i = tree->best;
    while (i != HONE_NO_NODE && i != index)
        i = tree->nodes[i]->parent;
    return i != HONE_NO_NODE;
}

void hone_tree_back_up(struct hone_tree *tree, int parent, double value, bool is_gain)
{
    for (int i = parent; i != HONE_NO_NODE; i = tree->nodes[i]->parent) {
        struct hone_node *n = tree->nodes[i];
        n->n_visits++;
        n->sum += isnan(value) ? hone_node_corrected_value(tree, n) : value;
        if (value > n->best)
            n->best = value;
        n->n_no_gain = is_gain ? 0 : n->n_no_gain + 1;
        if (n->parent != HONE_NO_NODE && n->n_no_gain >= DEAD_AFTER &&
            !hone_tree_is_on_the_way(tree, n->index)) /* the way to the best stays open */
            n->is_dead = true;
        if (is_gain)
            n->is_dead = false;
    }
}

void hone_tree_note_edge(struct hone_tree *tree, const struct hone_edge_record *edge)
{
    tree->edges = hone_pool_grow(tree->pool, tree->edges, sizeof(*tree->edges), tree->n_edges,
                                 &tree->cap_edges);
    tree->edges[tree->n_edges++] = *edge;
}

static bool is_same_step(const struct hone_edge_record *e, int parent, const char *rewrite,
                         const char *anchor, int variant)
{
    return e->parent == parent && e->variant == variant && strcmp(e->rewrite, rewrite) == 0 &&
           strcmp(e->anchor, anchor) == 0;
}

bool hone_tree_was_tried(const struct hone_tree *tree, int parent, const char *rewrite,
                         const char *anchor, int variant)
{
    for (size_t i = 0; i < tree->n_edges; i++)
        if (is_same_step(&tree->edges[i], parent, rewrite, anchor, variant))
            return true;
    return false;
}

static void count_under_way(struct hone_tree *tree, int parent, int by)
{
    for (int i = parent; i != HONE_NO_NODE; i = tree->nodes[i]->parent)
        tree->nodes[i]->n_under_way += by;
}

void hone_tree_begin_step(struct hone_tree *tree, const struct hone_edge_record *edge)
{
    struct hone_edge_record e = *edge;
    e.is_under_way = true;
    e.child = HONE_NO_NODE;
    hone_tree_note_edge(tree, &e);
    count_under_way(tree, e.parent, 1);
}

void hone_tree_end_step(struct hone_tree *tree, const struct hone_edge_record *edge)
{
    for (size_t i = 0; i < tree->n_edges; i++) {
        const struct hone_edge_record *e = &tree->edges[i];
        if (!e->is_under_way ||
            !is_same_step(e, edge->parent, edge->rewrite, edge->anchor, edge->variant))
            continue;
        count_under_way(tree, e->parent, -1);
        memmove(&tree->edges[i], &tree->edges[i + 1],
                (tree->n_edges - i - 1) * sizeof(*tree->edges));
        tree->n_edges--;
        return;
    }
}

static bool is_of_some(const struct hone_node *n)
{
    return n->basis.n_timed < n->basis.n_sizes;
}

double hone_node_value_paired(const struct hone_node *node, const struct hone_node *other)
{
    bool is_mixed = !is_of_some(node) && is_of_some(other);
    return is_mixed && node->is_screened ? node->screened : node->value;
}

static bool has_both_looks(const struct hone_node *n)
{
    return n->is_screened && !is_of_some(n);
}

double hone_node_corrected_value(const struct hone_tree *tree, const struct hone_node *node)
{
    return has_both_looks(node) ? node->value + tree->paired : node->value;
}

static void update_footing(struct hone_tree *tree)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < tree->n_nodes; i++)
        if (has_both_looks(tree->nodes[i]) && !tree->nodes[i]->is_refuted) {
            sum += tree->nodes[i]->screened - tree->nodes[i]->value;
            n++;
        }
    tree->paired = n > 0 ? sum / n : 0;
}

double hone_node_gain(const struct hone_node *from, const struct hone_node *to)
{
    return hone_node_value_paired(to, from) - hone_node_value_paired(from, to);
}

static bool is_better(const struct hone_node *a, const struct hone_node *b)
{
    return hone_node_gain(b, a) > 0;
}

static int best_of(const struct hone_tree *tree, bool with_fast_math)
{
    int best = HONE_NO_NODE;
    for (int i = 0; i < tree->n_nodes; i++) {
        const struct hone_node *n = tree->nodes[i];
        if (!n->is_refuted && (with_fast_math || !n->is_fast_math) &&
            (best == HONE_NO_NODE || is_better(n, tree->nodes[best])))
            best = i;
    }
    return best;
}

static bool is_fast_math_wrong(const struct hone_tree *tree)
{
    for (int i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i]->is_fast_math && tree->nodes[i]->is_wrong)
            return true;
    return false;
}

/* Where fast math once gave wrong results, what does not rest on it comes first, if it gains. */
void hone_tree_update_best(struct hone_tree *tree)
{
    bool is_doubted = is_fast_math_wrong(tree);
    int best = best_of(tree, !is_doubted);
    if (is_doubted && best <= 0) /* the root, or none */
        best = best_of(tree, true);
    tree->best = best;
    update_footing(tree);
}

void hone_node_keep_look(struct hone_node *node)
{
    if (is_of_some(node)) {
        node->screened = node->value;
        node->is_screened = true;
    }
}
