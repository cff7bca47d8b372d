/* SPDX-License-Identifier: Apache-2.0 */
/* Reads loops over rows that follow from one another (skewed_form.h): first the form of the loops,
 * then what the columns write and the places that they read, as distances from the written element.
 * What is not known is no such loop. */
#include "agents/rewrites/skewed_form.h"

#include <string.h>

/* The loop right inside, where there is one alone and it is a statement of the body. */
static const struct hone_c_loop *only_inner(const struct hone_coder_input *in,
                                            const struct hone_c_loop *rows)
{
    const struct hone_c_loop *ret = NULL;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        bool is_behind = ret && l->node->parent == ret->node->parent; /* read_copies looks at it */
        if (l == rows || !hone_c_contains(rows->node, l->node) || is_behind)
            continue;
        if (ret || l->parent != rows)
            return NULL;
        ret = l;
    }
    const struct hone_c_node *body = rows->node->body;
    bool is_stmt = ret && (ret->node == body || ret->node->parent == body);
    return is_stmt ? ret : NULL;
}

static bool is_plain_loop(const struct hone_c_loop *l)
{
    return l->is_canonical && l->is_unit_step && l->declares_var && !l->is_fallback &&
           !l->has_simd && !l->has_parallel && !l->has_collapse;
}

/* Nothing but arithmetic, branches and calls that keep to their arguments. */
static bool is_plain_body(const struct hone_skew *s)
{
    for (const struct hone_c_node *n = s->body; n; n = hone_c_walk(s->body, n)) {
        bool is_known = n->kind != HONE_C_JUMP && n->kind != HONE_C_WHILE &&
                        n->kind != HONE_C_OTHER && n->kind != HONE_C_MEMBER;
        if (!is_known ||
            (n->kind == HONE_C_FOR && n != s->columns->node && !hone_skew_is_in_swap(s, n)))
            return false;
    }
    return !hone_c_pointer_call(s->body) && !hone_c_state_call(s->in->tree, s->body);
}

/* Arithmetic on names that a lane has: the row's counter, what is outside of the rows, pointers. */
static bool is_again(const struct hone_skew *s, const struct hone_c_node *expr)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        bool is_own = n->kind == HONE_C_REF && n->decl &&
                      (n->decl == s->rows->var || n->decl == s->columns->var);
        for (size_t i = 0; i < s->n_pointers; i++)
            is_own = is_own || (n->kind == HONE_C_REF && n->decl == s->pointers[i]);
        bool is_inside =
            n->kind == HONE_C_REF && n->decl &&
            (hone_c_contains(s->rows->node, n->decl) || hone_c_writes(s->rows->node, n->decl));
        if ((is_inside && !is_own) || n->kind == HONE_C_CALL ||
            (n->kind == HONE_C_SUBSCRIPT && !strchr(n->type, '[')) || n->kind == HONE_C_ASSIGN_OP ||
            (n->kind == HONE_C_UNARY && strchr("*+-", n->op[0]) && n->op[0] == n->op[1]) ||
            (n->kind == HONE_C_UNARY && n->op[0] == '*'))
            return false;
    }
    return true;
}

static const char *lanes_name(const struct hone_skew *s, const struct hone_c_node *var)
{
    return hone_fresh_name(s->in, hone_pool_printf(s->in->pool, "%s_lanes", var->name));
}

/* Locals of a row that stand in front of its columns. */
static bool read_locals(struct hone_skew *s)
{
    for (const struct hone_c_node *d = s->body->kind == HONE_C_COMPOUND ? s->body->first : NULL;
         d && d != s->columns->node; d = d->next) {
        for (const struct hone_c_node *v = d->kind == HONE_C_DECL_STMT ? d->first : NULL; v;
             v = v->next) {
            bool is_pointer = strchr(v->type, '*') != NULL;
            if (strchr(v->type, '[') || s->n_locals == HONE_SKEW_MAX_LOCALS ||
                s->n_pointers == HONE_SKEW_MAX_LOCALS)
                return false;
            if (!is_pointer)
                s->local_names[s->n_locals] = lanes_name(s, v), s->locals[s->n_locals++] = v;
            else if (v->last && !hone_c_writes(s->body, v) && is_again(s, v->last))
                s->pointers[s->n_pointers++] = v;
            else
                return false;
        }
    }
    return true;
}

/* ---- what is read and written ---- */

/* The index where the counter is one less; unknown where it is multiplied by itself. */
static struct hone_c_poly one_less(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    struct hone_c_poly ret = *p;
    for (size_t t = 0; t < p->n && ret.is_known; t++) {
        struct hone_c_poly step = {.is_known = true, .n = 1, .terms = {{.k = p->terms[t].k}}};
        size_t n_own = 0;
        for (size_t f = 0; f < p->terms[t].n_factors; f++) {
            if (p->terms[t].factors[f].decl == var)
                n_own++;
            else
                step.terms[0].factors[step.terms[0].n_factors++] = p->terms[t].factors[f];
        }
        if (n_own == 1)
            ret = hone_c_poly_sum(&ret, &step, -1);
        ret.is_known = ret.is_known && n_own <= 1;
    }
    return ret;
}

static bool is_same(const struct hone_c_poly *a, const struct hone_c_poly *b)
{
    int64_t d;
    return hone_c_poly_distance(a, b, &d) && d == 0;
}

static struct hone_c_poly poly_of_var(const struct hone_c_node *var)
{
    return (struct hone_c_poly){.is_known = true,
                                .n = 1,
                                .terms = {{.k = 1, .n_factors = 1, .factors = {{var, var->name}}}}};
}

static const struct hone_c_access *access_at(const struct hone_skew *s,
                                             const struct hone_c_node *node)
{
    for (size_t i = 0; i < s->n_accesses; i++)
        if (s->accesses[i].node == node)
            return &s->accesses[i];
    return NULL;
}

/* Where a loop begins, if that is a number above 0; else 0. */
static int64_t least_of(const struct hone_skew *s, const struct hone_c_loop *loop)
{
    struct hone_c_poly p = hone_c_poly_of(s->in->nest.function, loop->lower);
    bool is_number = p.is_known && p.n == 1 && p.terms[0].n_factors == 0;
    return is_number && p.terms[0].k > 0 ? p.terms[0].k : 0;
}

static bool has_var(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    return hone_c_poly_stride(p, var) != HONE_C_STRIDE_ZERO;
}

static enum hone_skew_place place_of(const struct hone_skew *s, const struct hone_skew_memory *m,
                                     const struct hone_c_access *a)
{
    struct hone_c_poly left = one_less(&m->index, s->columns->var);
    if (!a->index.is_known)
        return HONE_SKEW_ELSEWHERE;
    if (m->kind == HONE_SKEW_PAIR && a->root == m->other)
        return is_same(&a->index, &m->index) ? HONE_SKEW_ABOVE
               : is_same(&a->index, &left)   ? HONE_SKEW_CORNER
                                             : HONE_SKEW_ELSEWHERE;
    if (is_same(&a->index, &m->index) || is_same(&a->index, &left))
        return is_same(&a->index, &m->index) ? HONE_SKEW_NOW : HONE_SKEW_LEFT;
    struct hone_c_poly above = one_less(&m->index, s->rows->var);
    struct hone_c_poly corner = one_less(&left, s->rows->var);
    if (m->kind != HONE_SKEW_MATRIX || !(is_same(&a->index, &above) || is_same(&a->index, &corner)))
        return HONE_SKEW_ELSEWHERE;
    return is_same(&a->index, &above) ? HONE_SKEW_ABOVE : HONE_SKEW_CORNER;
}

/* ---- rows whose pointers are swapped ---- */

/* The variable that `x = y` sets and the one that it reads. */
static bool is_copy(const struct hone_c_node *stmt, const struct hone_c_node **ret_to,
                    const struct hone_c_node **ret_from)
{
    const struct hone_c_node *to = stmt ? stmt->first : NULL, *from = NULL;
    if (stmt && stmt->kind == HONE_C_DECL_STMT && to && to == stmt->last) {
        from = to->last ? hone_c_strip(to->last) : NULL;
        *ret_to = to;
    } else if (stmt && stmt->kind == HONE_C_BINARY && strcmp(stmt->op, "=") == 0) {
        from = hone_c_strip(stmt->last);
        *ret_to = to->kind == HONE_C_REF ? to->decl : NULL;
    }
    *ret_from = from && from->kind == HONE_C_REF ? from->decl : NULL;
    return *ret_from && *ret_to && strchr((*ret_to)->type, '*') && strchr((*ret_from)->type, '*');
}

static bool is_allocated(const struct hone_c_node *pointer)
{
    const struct hone_c_node *init = pointer->last ? hone_c_strip(pointer->last) : NULL;
    return init && init->kind == HONE_C_CALL &&
           (strcmp(init->name, "malloc") == 0 || strcmp(init->name, "calloc") == 0);
}

/* Is the pointer set by these statements alone, and first to memory that malloc made? */
static bool is_made_once(const struct hone_skew *s, const struct hone_c_node *pointer,
                         const struct hone_skew_swap *swap)
{
    const struct hone_c_node *function = s->in->nest.function;
    if (pointer->kind != HONE_C_VAR || hone_c_contains(s->rows->node, pointer) ||
        !is_allocated(pointer) || hone_c_takes_address(function, pointer))
        return false;
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n))
        if (n->first && n->first->kind == HONE_C_REF && n->first->decl == pointer &&
            (n->kind == HONE_C_ASSIGN_OP || n->kind == HONE_C_UNARY ||
             (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0)) &&
            !(n->begin >= swap->first->begin && n->end <= swap->last->end) &&
            strcmp(n->op, "*") != 0)
            return false;
    return true;
}

static bool is_temporary(const struct hone_skew *s, const struct hone_skew_swap *swap)
{
    size_t n_uses = 0;
    for (const struct hone_c_node *n = s->rows->node; n; n = hone_c_walk(s->rows->node, n))
        n_uses += n->kind == HONE_C_REF && n->decl == swap->temporary;
    bool is_inside = hone_c_contains(s->body, swap->temporary);
    return n_uses == (is_inside ? 1 : 2);
}

/* Behind the columns. Others that set pointers are left to whoever reads what is written. */
static void read_swaps(struct hone_skew *s)
{
    for (const struct hone_c_node *d = s->columns->node->next; d; d = d->next) {
        const struct hone_c_node *t, *a, *a_again, *b, *b_again, *t_again;
        const struct hone_c_node *second = d->next, *third = second ? second->next : NULL;
        if (s->n_swaps == HONE_SKEW_MAX_MEMORY || !is_copy(d, &t, &a) ||
            !is_copy(second, &a_again, &b) || !is_copy(third, &b_again, &t_again) || a != a_again ||
            b != b_again || t != t_again)
            continue;
        const struct hone_skew_swap swap = {a, b, t, d, third, NULL};
        if (a != b && is_temporary(s, &swap) && is_made_once(s, a, &swap) &&
            is_made_once(s, b, &swap))
            s->swaps[s->n_swaps++] = swap;
    }
}

/* Behind the columns: `for (...) above[j] = own[j];` over the columns and what is in front of them. */
static void read_copies(struct hone_skew *s)
{
    for (const struct hone_c_node *d = s->columns->node->next; d; d = d->next) {
        const struct hone_c_loop *l =
            d->kind == HONE_C_FOR ? hone_c_loop_of(&s->in->nest, d) : NULL;
        const struct hone_c_node *set = l ? hone_c_only_stmt(l->node->body) : NULL;
        bool is_set = set && set->kind == HONE_C_BINARY && strcmp(set->op, "=") == 0;
        if (!is_set || !is_plain_loop(l) || s->n_swaps == HONE_SKEW_MAX_MEMORY ||
            strcmp(hone_upper_text(s->in, l), hone_upper_text(s->in, s->columns)) != 0 ||
            !hone_c_is_invariant(l->upper, s->rows->node) ||
            hone_c_strip(l->lower)->kind != HONE_C_CONST ||
            hone_c_strip(s->columns->lower)->kind != HONE_C_CONST)
            continue;
        const struct hone_c_access *to = access_at(s, set->first);
        const struct hone_c_access *from = access_at(s, hone_c_strip(set->last));
        if (to && from && to->root != from->root && is_same(&to->index, &from->index) &&
            hone_c_poly_stride(&to->index, l->var) == HONE_C_STRIDE_UNIT)
            s->swaps[s->n_swaps++] = (struct hone_skew_swap){
                .a = to->root, .b = from->root, .first = d, .last = d, .copy = l};
    }
}

/* Is what is copied the element that the columns write? */
static bool is_copy_of(const struct hone_skew *s, const struct hone_skew_swap *swap,
                       const struct hone_c_access *write)
{
    const struct hone_c_node *set = hone_c_only_stmt(swap->copy->node->body);
    struct hone_c_poly here = poly_of_var(swap->copy->var), there = poly_of_var(s->columns->var);
    struct hone_c_poly mine = hone_c_poly_sum(&access_at(s, set->first)->index, &here, -1);
    struct hone_c_poly its = hone_c_poly_sum(&write->index, &there, -1);
    return write->root == swap->b && is_same(&mine, &its) &&
           least_of(s, swap->copy) <= least_of(s, s->columns);
}

static const struct hone_skew_swap *swap_of(const struct hone_skew *s,
                                            const struct hone_c_node *root)
{
    for (size_t i = 0; i < s->n_swaps; i++)
        if (s->swaps[i].a == root || s->swaps[i].b == root)
            return &s->swaps[i];
    return NULL;
}

bool hone_skew_is_in_swap(const struct hone_skew *s, const struct hone_c_node *stmt)
{
    for (size_t i = 0; i < s->n_swaps; i++)
        if (stmt->begin >= s->swaps[i].first->begin && stmt->end <= s->swaps[i].last->end)
            return true;
    return false;
}

/* A subscript that means the same wherever the two counters and the pointers are set. */
static bool is_place(const struct hone_skew *s, const struct hone_c_node *node)
{
    if (node->kind != HONE_C_SUBSCRIPT)
        return false;
    const struct hone_c_node *base = hone_c_strip(node->first);
    const struct hone_skew_swap *swap =
        base->kind == HONE_C_REF && base->decl ? swap_of(s, base->decl) : NULL;
    bool is_swapped = swap && !swap->copy;
    for (const struct hone_c_node *c = is_swapped ? node->first->next : node->first; c; c = c->next)
        if (!is_again(s, c))
            return false;
    return true;
}

/* Memory of its own: a parameter, an array, or what malloc gave for good. */
static bool is_own_memory(const struct hone_skew *s, const struct hone_c_node *root)
{
    const struct hone_skew_swap *swap = swap_of(s, root);
    if (swap && !swap->copy)
        return true;
    if (!root || root->kind == HONE_C_PARAM)
        return root != NULL && !hone_c_writes(s->in->nest.function, root);
    if (root->kind != HONE_C_VAR || hone_c_contains(s->rows->node, root))
        return false;
    return strchr(root->type, '[') ||
           (is_allocated(root) && !hone_c_writes(s->in->nest.function, root));
}

static struct hone_skew_memory *memory_of(struct hone_skew *s, const struct hone_c_node *root)
{
    for (size_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].root == root || (root && s->memory[i].other == root))
            return &s->memory[i];
    return NULL;
}

/* Does the statement write the element, whichever way it goes? */
static bool is_written_by(const struct hone_skew *s, const struct hone_skew_memory *m,
                          const struct hone_c_node *stmt)
{
    bool ret = false;
    if (stmt->kind == HONE_C_COMPOUND) {
        for (const struct hone_c_node *c = stmt->first; c && !ret; c = c->next)
            ret = is_written_by(s, m, c);
        return ret;
    }
    if (stmt->kind == HONE_C_IF && hone_c_n_children(stmt) == 3)
        return is_written_by(s, m, hone_c_child(stmt, 1)) &&
               is_written_by(s, m, hone_c_child(stmt, 2));
    for (size_t i = 0; i < s->n_accesses && !ret; i++)
        ret = s->accesses[i].is_write && s->accesses[i].root == m->root &&
              hone_c_contains(stmt, s->accesses[i].node) &&
              hone_c_is_always_reached(stmt->parent, s->accesses[i].node);
    return ret;
}

/* Has a statement in front of the node written the element? */
static bool is_written_before(const struct hone_skew *s, const struct hone_skew_memory *m,
                              const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n != s->inner && n->parent; n = n->parent) {
        const struct hone_c_node *block = n->parent->kind == HONE_C_COMPOUND ? n->parent : NULL;
        for (const struct hone_c_node *c = block ? block->first : NULL; c && c != n; c = c->next)
            if (is_written_by(s, m, c))
                return true;
    }
    return false;
}

/* Each array that the columns write becomes memory. False: what is written has no such form. */
static bool read_writes(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_accesses; i++) {
        const struct hone_c_access *a = &s->accesses[i];
        if (!is_own_memory(s, a->root))
            return false;
        if (!a->is_write || !hone_c_contains(s->inner, a->node) || memory_of(s, a->root))
            continue;
        if (s->n_memory == HONE_SKEW_MAX_MEMORY || !a->index.is_known || !is_place(s, a->node) ||
            hone_c_poly_stride(&a->index, s->columns->var) != HONE_C_STRIDE_UNIT ||
            strstr(a->node->type, "volatile"))
            return false;
        const struct hone_skew_swap *swap = swap_of(s, a->root);
        bool has_rows = has_var(&a->index, s->rows->var);
        if (swap && (has_rows || (swap->copy && !is_copy_of(s, swap, a))))
            return false;
        s->memory[s->n_memory++] = (struct hone_skew_memory){
            .kind = swap       ? HONE_SKEW_PAIR
                    : has_rows ? HONE_SKEW_MATRIX
                               : HONE_SKEW_ROW,
            .is_copied = swap && swap->copy,
            .root = a->root,
            .other = !swap                ? NULL
                     : swap->a == a->root ? swap->b
                                          : swap->a,
            .at = {[HONE_SKEW_NOW] = a->node},
            .index = a->index,
            .type = hone_c_value_type(a->node),
            .stem =
                hone_fresh_name(s->in, hone_pool_printf(s->in->pool, "%s_lanes", a->root->name))};
    }
    for (size_t i = 0; i < s->n_memory; i++)
        if (!is_written_by(s, &s->memory[i], s->inner))
            return false;
    for (size_t i = 0; i < s->n_swaps; i++) /* pointers that change from row to row elsewhere */
        if (!memory_of(s, s->swaps[i].a))
            return false;
    return s->n_memory > 0;
}

/* Before the columns: an element in front of the first column, of the row itself or of the one
 * above. */
static bool is_border(const struct hone_skew *s, const struct hone_skew_memory *m,
                      const struct hone_c_access *a)
{
    int64_t least = least_of(s, s->columns), d;
    struct hone_c_poly var = poly_of_var(s->columns->var);
    struct hone_c_poly zero = hone_c_poly_sum(&m->index, &var, -1); /* column 0 */
    struct hone_c_poly above = one_less(&zero, s->rows->var);
    return a->index.is_known &&
           ((hone_c_poly_distance(&a->index, &zero, &d) && d >= 0 && d < least) ||
            (m->kind == HONE_SKEW_MATRIX && hone_c_poly_distance(&a->index, &above, &d) && d >= 0 &&
             d < least));
}

/* Every access of memory that the columns write, by its place. */
static bool read_places(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_accesses; i++) {
        const struct hone_c_access *a = &s->accesses[i];
        struct hone_skew_memory *m = memory_of(s, a->root);
        bool is_inner = hone_c_contains(s->inner, a->node);
        if (hone_skew_is_in_swap(s, a->node))
            continue;
        if (m && !is_inner && (a->node->begin > s->columns->node->begin || !is_border(s, m, a)))
            return false;
        if (!m || !is_inner)
            continue;
        enum hone_skew_place place = place_of(s, m, a);
        if (place == HONE_SKEW_ELSEWHERE || (a->is_write && place != HONE_SKEW_NOW) ||
            !is_place(s, a->node))
            return false;
        /* But for a row, an element's old value is nowhere but in memory. */
        if (m->kind != HONE_SKEW_ROW && place == HONE_SKEW_NOW && a->is_read &&
            !is_written_before(s, m, a->node))
            return false;
        if (!m->at[place])
            m->at[place] = a->node;
    }
    return true;
}

/* Are the elements to the left and above there for the first column and the first row, and is the row
 * above named where it is one of two? */
static bool has_borders(const struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_memory; i++) {
        const struct hone_skew_memory *m = &s->memory[i];
        if (m->kind == HONE_SKEW_PAIR && !m->at[HONE_SKEW_ABOVE] && !m->at[HONE_SKEW_CORNER])
            return false; /* nothing names the row above, which has to be stored too */
        if ((m->at[HONE_SKEW_LEFT] || m->at[HONE_SKEW_CORNER]) && least_of(s, s->columns) == 0)
            return false;
        if (m->kind == HONE_SKEW_MATRIX && (m->at[HONE_SKEW_ABOVE] || m->at[HONE_SKEW_CORNER]) &&
            least_of(s, s->rows) == 0)
            return false;
    }
    return true;
}

/* What is written outside of the columns alone is read nowhere. */
static bool are_others_apart(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_accesses; i++)
        for (size_t j = 0; s->accesses[i].is_write && j < s->n_accesses; j++)
            if (!memory_of(s, s->accesses[i].root) && s->accesses[j].is_read &&
                s->accesses[j].root == s->accesses[i].root)
                return false;
    return true;
}

static bool is_input(struct hone_skew *s, const struct hone_c_access *a)
{
    bool is_written = memory_of(s, a->root) != NULL;
    for (size_t i = 0; i < s->n_accesses; i++)
        is_written = is_written || (s->accesses[i].is_write && s->accesses[i].root == a->root);
    return !is_written && a->index.is_known && hone_c_contains(s->inner, a->node) &&
           hone_c_is_always_reached(s->columns->node, a->node) && is_place(s, a->node) &&
           hone_c_poly_stride(&a->index, s->columns->var) == HONE_C_STRIDE_UNIT &&
           !has_var(&a->index, s->rows->var);
}

/* Inputs that go from lane to lane; the others are read where they stand. */
static void read_inputs(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_accesses; i++) {
        const struct hone_c_access *a = &s->accesses[i];
        if (!is_input(s, a))
            continue;
        const char *text = hone_c_text(s->in->tree, a->node);
        size_t k = 0;
        while (k < s->n_inputs && strcmp(s->inputs[k].text, text) != 0)
            k++;
        if (k == HONE_SKEW_MAX_COLUMNS)
            continue;
        if (k == s->n_inputs)
            s->inputs[s->n_inputs++] = (struct hone_skew_column){
                text, hone_c_value_type(a->node),
                hone_fresh_name(s->in,
                                hone_pool_printf(s->in->pool, "%s_column_%zu", a->root->name, k))};
        hone_c_replace(&s->edits, a->node->begin, a->node->end,
                       hone_pool_printf(s->in->pool, "%s_in[%s]", s->inputs[k].stem, s->lane));
    }
}

/* Greatest, least and sums across rows, in one statement of the columns or behind them. */
static bool read_scalars(struct hone_skew *s)
{
    const struct hone_c_node *aside[3 * HONE_SKEW_MAX_MEMORY];
    size_t n_aside = 0;
    for (size_t i = 0; i < s->n_swaps; i++) {
        if (s->swaps[i].copy)
            continue;
        aside[n_aside++] = s->swaps[i].a;
        aside[n_aside++] = s->swaps[i].b;
        aside[n_aside++] = s->swaps[i].temporary;
    }
    if (!hone_c_reductions_but(s->rows, aside, n_aside, s->sums, &s->n_sums))
        return false;
    for (size_t i = 0; i < s->n_sums; i++) {
        const char *op = s->sums[i].op;
        bool is_sum = strcmp(op, "+") == 0;
        s->sum_names[i] = lanes_name(s, s->sums[i].var);
        /* Of mixed types, the greatest of a lane may be compared in another way than that of all. */
        bool is_alike = strcmp(hone_c_value_type(s->sums[i].expr), s->sums[i].var->type) == 0;
        bool is_choice = strcmp(op, "max") == 0 || strcmp(op, "min") == 0;
        if ((is_sum && !hone_may_regroup(s->in, s->rows)) || (is_choice && !is_alike) ||
            (!is_sum && !is_choice))
            return false;
    }
    return true;
}

static void replace_places(struct hone_skew *s)
{
    static const char *const arrays[] = {
        [HONE_SKEW_LEFT] = "left", [HONE_SKEW_ABOVE] = "in", [HONE_SKEW_CORNER] = "corner"};
    for (size_t i = 0; i < s->n_accesses; i++) {
        const struct hone_c_access *a = &s->accesses[i];
        const struct hone_skew_memory *m = memory_of(s, a->root);
        if (!m || !hone_c_contains(s->inner, a->node))
            continue;
        enum hone_skew_place place = place_of(s, m, a);
        hone_c_replace(&s->edits, a->node->begin, a->node->end,
                       place == HONE_SKEW_NOW ? hone_pool_printf(s->in->pool, "%s_now", m->stem)
                                              : hone_pool_printf(s->in->pool, "%s_%s[%s]", m->stem,
                                                                 arrays[place], s->lane));
    }
}

static bool read_form(struct hone_skew *s)
{
    const char *why;
    if (!is_plain_loop(s->rows) || hone_c_is_parallel(&s->in->nest, s->rows, &why))
        return false;
    s->columns = only_inner(s->in, s->rows);
    if (!s->columns || !is_plain_loop(s->columns) ||
        hone_c_is_parallel(&s->in->nest, s->columns, &why) ||
        !hone_c_is_invariant(s->columns->lower, s->rows->node) ||
        !hone_c_is_invariant(s->columns->upper, s->rows->node))
        return false;
    s->body = s->rows->node->body;
    s->inner = s->columns->node->body;
    s->n_accesses =
        hone_c_accesses(s->in->nest.function, s->body, s->accesses, HONE_SKEW_MAX_ACCESSES);
    if (s->n_accesses > HONE_SKEW_MAX_ACCESSES)
        return false;
    read_swaps(s);
    read_copies(s);
    return is_plain_body(s) && read_locals(s) && read_scalars(s) && read_writes(s) &&
           read_places(s) && has_borders(s) && are_others_apart(s);
}

bool hone_skew_read(const struct hone_coder_input *in, const struct hone_c_loop *rows,
                    struct hone_skew *ret)
{
    const char *var = rows->var ? rows->var->name : "";
    *ret = (struct hone_skew){.in = in, .rows = rows};
    if (!read_form(ret))
        return false;
    ret->lane = hone_fresh_name(in, "lane");
    ret->step = hone_fresh_name(in, "step");
    ret->n_columns = hone_fresh_name(in, "n_columns");
    ret->first = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_first", var));
    ret->full = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", var));
    hone_c_edits_init(&ret->edits, in->tree);
    read_inputs(ret);
    replace_places(ret);
    return true;
}
