/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/version_tree.h"

#include <math.h>

enum { MAX_COLUMNS = 24 };

struct knot {
    int64_t first, last, next; /* children, and the next child of the same parent; -1: none */
    int64_t trunk;             /* the child that continues the column; -1: none */
    size_t n_children, n_below;
    double best; /* of the item and all below it; -INFINITY: none is known */
};

struct todo {
    int64_t item;
    size_t column;
    bool is_branch;
};

static bool is_better(const struct knot *a, const struct knot *b)
{
    return a->best > b->best || (!(b->best > a->best) && a->n_below > b->n_below);
}

/* Children in order, and of each item the child that continues its column. */
static struct knot *tie(const struct hone_tree_item *items, size_t n, struct hone_pool *pool)
{
    struct knot *knots = hone_pool_alloc(pool, (n + 1) * sizeof(*knots));
    for (size_t i = 0; i < n; i++) {
        double own = isfinite(items[i].worth) ? items[i].worth : (double)-INFINITY;
        int64_t parent = items[i].parent;
        knots[i] = (struct knot){.first = -1, .last = -1, .next = -1, .trunk = -1, .best = own};
        if (parent < 0)
            continue;
        struct knot *p = &knots[parent];
        if (p->last >= 0)
            knots[p->last].next = (int64_t)i;
        else
            p->first = (int64_t)i;
        p->last = (int64_t)i;
        p->n_children++;
    }
    for (size_t i = n; i-- > 0;) {
        int64_t parent = items[i].parent;
        if (parent < 0)
            continue;
        struct knot *p = &knots[parent];
        p->best = fmax(p->best, knots[i].best);
        p->n_below += knots[i].n_below + 1;
        bool may = !items[i].is_failed || knots[i].n_below > 0;
        /* of equals the earliest, which this loop meets last */
        if (may && (p->trunk < 0 || !is_better(&knots[p->trunk], &knots[i])))
            p->trunk = (int64_t)i;
    }
    return knots;
}

/* left[k]: how many children of the item that stands in column k are still to come. */
static const char *lead_of(const struct todo *t, size_t *left, char sign, struct hone_pool *pool)
{
    char lead[2 * MAX_COLUMNS + 2];
    size_t at = 0;
    for (size_t k = 0; k < t->column; k++) {
        bool is_here = t->is_branch && k + 1 == t->column;
        if (is_here && left[k] > 0) /* in the last column others stand too */
            left[k]--;
        bool goes_on = left[k] > 0;
        lead[at++] = (char)(goes_on ? '|' : is_here ? '`' : ' ');
        lead[at++] = (char)(is_here ? '-' : ' ');
    }
    lead[at++] = sign;
    lead[at] = '\0';
    return hone_pool_strdup(pool, lead);
}

void hone_version_tree(const struct hone_tree_item *items, size_t n, struct hone_pool *pool,
                       struct hone_tree_line *ret_lines)
{
    size_t left[MAX_COLUMNS + 1] = {0}, n_todo = 0, n_lines = 0;
    struct knot *knots = tie(items, n, pool);
    struct todo *stack = hone_pool_alloc(pool, (n + 1) * sizeof(*stack));
    int64_t *branches = hone_pool_alloc(pool, (n + 1) * sizeof(*branches));
    for (size_t i = n; i-- > 0;)
        if (items[i].parent < 0)
            stack[n_todo++] = (struct todo){.item = (int64_t)i};
    while (n_todo > 0) {
        struct todo t = stack[--n_todo];
        const struct knot *knot = &knots[t.item];
        ret_lines[n_lines++] = (struct hone_tree_line){
            .item = (size_t)t.item,
            .lead = lead_of(&t, left, items[t.item].sign, pool),
        };
        size_t n_branches = 0, inner = t.column < MAX_COLUMNS ? t.column + 1 : MAX_COLUMNS;
        for (int64_t c = knot->first; c >= 0; c = knots[c].next)
            if (c != knot->trunk)
                branches[n_branches++] = c;
        /* with the child that continues the column, its line goes on below the last branch */
        left[t.column] = n_branches + (knot->trunk >= 0);
        if (knot->trunk >= 0)
            stack[n_todo++] = (struct todo){.item = knot->trunk, .column = t.column};
        while (n_branches > 0)
            stack[n_todo++] = (struct todo){branches[--n_branches], inner, true};
    }
}
