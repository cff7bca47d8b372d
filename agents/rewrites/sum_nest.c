/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of a sum's nest (sum_nest.h), cheap questions before those that isl answers. */
#include "agents/rewrites/sum_nest.h"

#include <string.h>

enum { MAX_ACCESSES = 64 };

struct accesses {
    struct hone_c_access v[MAX_ACCESSES];
    size_t n;
};

static bool is_counted(const struct hone_c_loop *l)
{
    return l && l->is_canonical && l->declares_var && l->is_unit_step && !l->has_simd &&
           !l->is_fallback && !l->has_parallel && !strstr(l->var->type, "unsigned") &&
           l->begin == l->node->begin;
}

/* Factor of the row in a bound: -1, 0, 1. False: it is another, or not known. */
static bool read_factor(const struct hone_coder_input *in, const struct hone_c_node *bound,
                        const struct hone_c_node *row, int *ret)
{
    struct hone_c_poly p = hone_c_poly_of(in->nest.function, bound);
    *ret = 0;
    if (!hone_c_uses(bound, row)) {
        for (size_t i = 0; i < p.n; i++) /* through a local */
            for (size_t f = 0; f < p.terms[i].n_factors; f++)
                if (p.terms[i].factors[f].decl == row)
                    return false;
        return p.is_known;
    }
    for (size_t i = 0; i < p.n; i++)
        for (size_t f = 0; f < p.terms[i].n_factors; f++) {
            if (p.terms[i].factors[f].decl != row)
                continue;
            if (*ret != 0 || p.terms[i].n_factors != 1 || p.terms[i].k * p.terms[i].k != 1)
                return false;
            *ret = (int)p.terms[i].k;
        }
    return p.is_known && *ret != 0;
}

static bool is_plain(const struct hone_c_node *top, bool may_loop)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_JUMP || n->kind == HONE_C_WHILE || n->kind == HONE_C_OTHER ||
            (n->kind == HONE_C_FOR && !may_loop))
            return false;
    return true;
}

static bool has_directive(const struct hone_coder_input *in, const struct hone_c_node *top)
{
    return memchr(in->tree->source + top->begin, '#', top->end - top->begin) != NULL;
}

/* ---- the sum ---- */

static bool is_ref(const struct hone_c_node *expr, const struct hone_c_node *var)
{
    expr = hone_c_strip(expr);
    return expr && expr->kind == HONE_C_REF && expr->decl == var;
}

static bool read_update(const struct hone_c_node *stmt, struct hone_sum_update *ret)
{
    const struct hone_c_node *target = stmt->first ? hone_c_strip(stmt->first) : NULL;
    if (!target || target->kind != HONE_C_REF || !target->decl)
        return false;
    *ret = (struct hone_sum_update){.stmt = stmt, .var = target->decl, .expr = stmt->last};
    if (stmt->kind == HONE_C_ASSIGN_OP) {
        ret->is_minus = strcmp(stmt->op, "-=") == 0;
        return ret->is_minus || strcmp(stmt->op, "+=") == 0;
    }
    if (stmt->kind != HONE_C_BINARY || strcmp(stmt->op, "=") != 0)
        return false;
    const struct hone_c_node *value = hone_c_strip(stmt->last);
    bool is_sum = value->kind == HONE_C_BINARY && strcmp(value->op, "+") == 0;
    ret->is_minus = value->kind == HONE_C_BINARY && strcmp(value->op, "-") == 0;
    bool is_left = (is_sum || ret->is_minus) && is_ref(value->first, ret->var);
    if (!is_left && !(is_sum && is_ref(value->last, ret->var)))
        return false;
    ret->expr = is_left ? value->last : value->first;
    return true;
}

static bool is_one_float(const char *type)
{
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

static bool names_local(const struct hone_sum_nest *nest, const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl && n->decl != nest->sum->var &&
            hone_c_contains(nest->body, n->decl))
            return true;
    return false;
}

/* It adds to a local of the body that no other statement does, and reads no local of it. */
static bool add_update(struct hone_sum_nest *nest, const struct hone_c_node *stmt)
{
    struct hone_sum_update *u = &nest->updates[nest->n_updates];
    if (nest->n_updates == HONE_SUM_MAX_UPDATES || !read_update(stmt, u) ||
        !hone_c_contains(nest->body, u->var) || !is_one_float(u->var->type) ||
        names_local(nest, u->expr))
        return false;
    for (size_t i = 0; i < nest->n_updates; i++)
        if (nest->updates[i].var == u->var)
            return false;
    nest->n_updates++;
    return true;
}

static bool add_other(struct hone_sum_nest *nest, const struct hone_c_node *stmt)
{
    bool is_set = stmt->kind == HONE_C_ASSIGN_OP ||
                  (stmt->kind == HONE_C_BINARY && strcmp(stmt->op, "=") == 0);
    if (nest->n_others == HONE_SUM_MAX_OTHERS || !is_set || names_local(nest, stmt) ||
        hone_c_strip(stmt->first)->kind != HONE_C_SUBSCRIPT)
        return false;
    nest->others[nest->n_others++] = stmt;
    return true;
}

static bool read_updates(const struct hone_coder_input *in, struct hone_sum_nest *nest)
{
    const struct hone_c_node *body = nest->sum->node->body;
    bool is_braced = body->kind == HONE_C_COMPOUND;
    for (const struct hone_c_node *s = is_braced ? body->first : body; s;
         s = is_braced ? s->next : NULL)
        if (!add_update(nest, s) && !add_other(nest, s))
            return false;
    return (nest->n_updates > 0 || !nest->columns) && !has_directive(in, nest->sum->node);
}

/* ---- rows and columns ---- */

static bool read_body(const struct hone_coder_input *in, const struct hone_sum_nest *nest)
{
    const struct hone_c_node *body = nest->body;
    if (body == nest->sum->node) /* without braces */
        return nest->n_updates == 0 && !hone_c_state_call(in->tree, body);
    if (body->kind != HONE_C_COMPOUND || has_directive(in, body) ||
        hone_c_state_call(in->tree, body))
        return false;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        if (s != nest->sum->node && !is_plain(s, !nest->columns))
            return false;
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL; v;
             v = v->next)
            if (v->kind != HONE_C_VAR || strpbrk(v->type, "*["))
                return false;
    }
    return true;
}

/* The loop around the columns, which may have plain statements in front of it. */
static const struct hone_c_loop *rows_of(const struct hone_c_loop *columns,
                                         const struct hone_c_node **ret_first)
{
    const struct hone_c_loop *rows = columns->parent;
    *ret_first = NULL;
    if (!is_counted(rows))
        return NULL;
    const struct hone_c_node *body = rows->node->body;
    if (hone_c_only_stmt(body) == columns->node)
        return rows;
    if (body->kind != HONE_C_COMPOUND || body->last != columns->node)
        return NULL;
    for (const struct hone_c_node *s = body->first; s != columns->node; s = s->next)
        if (s->kind == HONE_C_DECL_STMT || !is_plain(s, false))
            return NULL;
    *ret_first = body->first;
    return rows;
}

static bool have_own_names(const struct hone_sum_nest *n)
{
    const char *row = n->rows->var->name, *sum = n->sum->var->name;
    const char *column = n->columns ? n->columns->var->name : "";
    return strcmp(row, sum) != 0 && strcmp(row, column) != 0 && strcmp(sum, column) != 0;
}

static bool read_bounds(const struct hone_coder_input *in, struct hone_sum_nest *n)
{
    const struct hone_c_node *row = n->rows->var;
    if (!have_own_names(n) || !read_factor(in, n->sum->lower, row, &n->sum_lower) ||
        !read_factor(in, n->sum->upper, row, &n->sum_upper))
        return false;
    if (!n->columns)
        return true;
    if (hone_c_uses(n->sum->lower, n->columns->var) || hone_c_uses(n->sum->upper, n->columns->var))
        return false;
    return read_factor(in, n->columns->lower, row, &n->column_lower) &&
           read_factor(in, n->columns->upper, row, &n->column_upper) &&
           !(n->column_lower && n->column_upper) &&
           !((n->column_lower || n->column_upper) && (n->sum_lower || n->sum_upper));
}

/* Bounds may name what is set once outside of the nest alone: they are written down elsewhere. */
static bool are_bounds_fixed(const struct hone_sum_nest *n)
{
    const struct hone_c_loop *loops[] = {n->rows, n->columns, n->sum};
    for (size_t i = 0; i < HONE_COUNTOF(loops); i++)
        for (int side = 0; loops[i] && side < 2; side++) {
            const struct hone_c_node *bound = side ? loops[i]->upper : loops[i]->lower;
            for (const struct hone_c_node *x = bound; x; x = hone_c_walk(bound, x)) {
                bool is_row = x->kind == HONE_C_REF && x->decl == n->rows->var && i > 0;
                if (x->kind == HONE_C_CALL || x->kind == HONE_C_SUBSCRIPT ||
                    x->kind == HONE_C_MEMBER || x->kind == HONE_C_OTHER)
                    return false;
                if (x->kind == HONE_C_REF && x->decl && !is_row &&
                    (hone_c_contains(n->rows->node, x->decl) ||
                     hone_c_writes(n->rows->node, x->decl)))
                    return false;
            }
        }
    return true;
}

/* ---- what a block reads ---- */

static bool read_accesses(const struct hone_coder_input *in, const struct hone_c_node *top,
                          struct accesses *ret)
{
    ret->n = hone_c_accesses(in->nest.function, top, ret->v, MAX_ACCESSES);
    if (ret->n > MAX_ACCESSES)
        return false;
    for (size_t i = 0; i < ret->n; i++)
        if (!ret->v[i].root || !ret->v[i].index.is_known)
            return false;
    return true;
}

static bool add_accesses(const struct hone_coder_input *in, const struct hone_c_node *expr,
                         struct accesses *ret)
{
    struct accesses one;
    if (!read_accesses(in, expr, &one) || ret->n + one.n > MAX_ACCESSES)
        return false;
    memcpy(ret->v + ret->n, one.v, one.n * sizeof *one.v);
    ret->n += one.n;
    return true;
}

/* Of what the sums add up. */
static bool read_terms(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                       struct accesses *ret)
{
    ret->n = 0;
    for (size_t u = 0; u < n->n_updates; u++)
        if (!add_accesses(in, n->updates[u].expr, ret))
            return false;
    return true;
}

/* Does one of the two write memory that the other one touches? */
static bool collide(const struct hone_coder_input *in, const struct accesses *a,
                    const struct accesses *b)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if ((a->v[i].is_write || b->v[k].is_write) &&
                (a->v[i].root == b->v[k].root ||
                 hone_c_is_moved_beside(in->nest.function, &a->v[i], &b->v[k])))
                return true;
    return false;
}

static bool is_triangle(const struct hone_sum_nest *n)
{
    return n->column_lower || n->column_upper;
}

/* A block of a triangle adds up pairs of row and column that the text has no element for. */
static bool exists(const struct hone_sum_nest *n, const struct hone_c_access *a)
{
    return !is_triangle(n) || hone_c_poly_stride(&a->index, n->rows->var) == HONE_C_STRIDE_ZERO ||
           hone_c_poly_stride(&a->index, n->columns->var) == HONE_C_STRIDE_ZERO;
}

/* Such a pair may also divide a whole number by zero. */
static bool may_trap(const struct hone_sum_nest *n)
{
    const struct hone_c_node *top = n->sum->node->body;
    for (const struct hone_c_node *x = top; x && is_triangle(n); x = hone_c_walk(top, x))
        if (x->kind == HONE_C_BINARY && strpbrk(x->op, "/%") && !is_one_float(x->type))
            return true;
    return false;
}

/* bound = row + number, on the side of the row's block where no row of it is reached. */
static bool is_past_rows(const struct hone_coder_input *in, const struct hone_c_loop *sum,
                         const struct hone_c_node *row, bool is_upper)
{
    struct hone_c_poly p = hone_c_poly_of(in->nest.function, is_upper ? sum->upper : sum->lower),
                       own = {.is_known = true, .n = 1};
    own.terms[0] = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{row, row->name}}};
    p = hone_c_poly_sum(&p, &own, -1);
    if (!p.is_known || p.n > 1 || (p.n == 1 && p.terms[0].n_factors > 0))
        return false;
    int64_t by = p.n ? p.terms[0].k : 0;
    return is_upper ? by <= -(int64_t)sum->is_inclusive : by >= 1;
}

/* row * P + column with column in [0, P), or row alone: rows do not overlap. */
static bool are_rows_apart(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                           const struct hone_c_poly *write)
{
    const struct hone_c_node *row = n->rows->var;
    if (!n->columns)
        return hone_c_poly_stride(write, row) == HONE_C_STRIDE_UNIT && write->n == 1;
    struct hone_c_poly pitch = hone_c_poly_of(in->nest.function, n->columns->upper),
                       lower = hone_c_poly_of(in->nest.function, n->columns->lower), rest = *write;
    struct hone_c_poly i = {.is_known = true, .n = 1}, j = i;
    i.terms[0] = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{row, row->name}}};
    j.terms[0] = (struct hone_c_term){
        .k = 1, .n_factors = 1, .factors = {{n->columns->var, n->columns->var->name}}};
    i = hone_c_poly_product(&i, &pitch);
    rest = hone_c_poly_sum(&rest, &i, -1);
    rest = hone_c_poly_sum(&rest, &j, -1);
    return rest.is_known && rest.n == 0 && lower.is_known && lower.n == 0 &&
           !n->columns->is_inclusive;
}

/* Is the read the element that is written, in row k instead, and no k is a row of the block? */
static bool is_other_row(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                         const struct hone_c_access *read, const struct hone_c_access *write)
{
    struct hone_c_poly other = write->index;
    for (size_t i = 0; i < other.n; i++)
        for (size_t f = 0; f < other.terms[i].n_factors; f++)
            if (other.terms[i].factors[f].decl == n->rows->var)
                other.terms[i].factors[f] = (struct hone_c_factor){n->sum->var, n->sum->var->name};
    other = hone_c_poly_sum(&other, &read->index, -1);
    return other.is_known && other.n == 0 && are_rows_apart(in, n, &write->index) &&
           (is_past_rows(in, n->sum, n->rows->var, true) ||
            is_past_rows(in, n->sum, n->rows->var, false));
}

static bool is_readable(const struct hone_coder_input *in, const struct hone_sum_nest *n)
{
    struct accesses inner, all;
    if (may_trap(n) || !read_terms(in, n, &inner) || !read_accesses(in, n->rows->node, &all))
        return false;
    for (size_t r = 0; r < inner.n; r++) {
        if (inner.v[r].is_write || !exists(n, &inner.v[r]))
            return false;
        for (size_t w = 0; w < all.n; w++) {
            if (all.v[w].is_write &&
                hone_c_is_moved_beside(in->nest.function, &all.v[w], &inner.v[r]))
                return false;
            if (!all.v[w].is_write || all.v[w].root != inner.v[r].root)
                continue;
            if (n->first || is_triangle(n) || !is_other_row(in, n, &inner.v[r], &all.v[w]))
                return false;
        }
    }
    return true;
}

/* ---- vectors ---- */

/* Of what is added up, or where no sums are, of what is added to memory. */
static bool read_added(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                       struct accesses *ret)
{
    if (n->n_updates > 0)
        return read_terms(in, n, ret);
    ret->n = 0;
    for (size_t a = 0; a < n->n_additions; a++)
        if (!add_accesses(in, n->additions[a].value, ret))
            return false;
    return true;
}

static bool suits(const struct accesses *a, const struct hone_c_node *counter)
{
    bool has_unit = false;
    for (size_t i = 0; i < a->n; i++) {
        enum hone_c_stride s = hone_c_poly_stride(&a->v[i].index, counter);
        if (s != HONE_C_STRIDE_UNIT && s != HONE_C_STRIDE_ZERO)
            return false;
        has_unit = has_unit || s == HONE_C_STRIDE_UNIT;
    }
    return has_unit;
}

static bool choose_vectors(const struct hone_coder_input *in, struct hone_sum_nest *n)
{
    struct accesses a;
    if (!read_added(in, n, &a))
        return false;
    bool fits_columns = n->columns && suits(&a, n->columns->var);
    bool fits_sum = suits(&a, n->sum->var) && !n->sum->is_small;
    n->along_sum = !fits_columns && fits_sum;
    return fits_columns || fits_sum || n->for_panels;
}

/* Rows without columns are worth a block where they read something in common: the vector of a
 * product. The squares of a row are the work of several accumulators. */
static bool have_common(const struct hone_coder_input *in, const struct hone_sum_nest *n)
{
    struct accesses a;
    if (n->n_updates == 0) /* what they add to */
        return true;
    if (n->columns || !read_terms(in, n, &a))
        return n->columns != NULL;
    for (size_t i = 0; i < a.n; i++)
        if (hone_c_poly_stride(&a.v[i].index, n->rows->var) == HONE_C_STRIDE_ZERO &&
            hone_c_poly_stride(&a.v[i].index, n->sum->var) != HONE_C_STRIDE_ZERO)
            return true;
    return false;
}

/* Y[k] += x, Y[k] -= x or spelled out, in a float. */
static bool read_addition(const struct hone_coder_input *in, const struct hone_c_node *stmt,
                          struct hone_sum_addition *ret)
{
    *ret = (struct hone_sum_addition){.stmt = stmt, .target = stmt->first, .value = stmt->last};
    if (!is_one_float(stmt->first->type))
        return false;
    if (stmt->kind == HONE_C_ASSIGN_OP) {
        ret->is_minus = strcmp(stmt->op, "-=") == 0;
        return ret->is_minus || strcmp(stmt->op, "+=") == 0;
    }
    const struct hone_c_node *sum = hone_c_bare(stmt->last);
    bool is_sum = sum->kind == HONE_C_BINARY && strcmp(sum->op, "+") == 0;
    ret->is_minus = sum->kind == HONE_C_BINARY && strcmp(sum->op, "-") == 0;
    ret->value = sum->last;
    if ((is_sum || ret->is_minus) && hone_c_is_same_text(in->tree, stmt->first, sum->first))
        return true;
    ret->value = sum->first;
    return is_sum && hone_c_is_same_text(in->tree, stmt->first, sum->last);
}

/* Is the array named in its addition alone, at a place that follows the sum's counter? */
static bool is_only_added_to(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                             const struct hone_sum_addition *a)
{
    struct accesses all, own;
    if (!read_accesses(in, a->target, &own) || !read_accesses(in, n->rows->node, &all) ||
        own.n != 1 || hone_c_poly_stride(&own.v[0].index, n->rows->var) != HONE_C_STRIDE_ZERO ||
        hone_c_poly_stride(&own.v[0].index, n->sum->var) != HONE_C_STRIDE_UNIT)
        return false;
    for (size_t i = 0; i < all.n; i++) {
        bool is_target =
            hone_c_contains(a->stmt, all.v[i].node) && !hone_c_contains(a->value, all.v[i].node);
        if (!is_target && (all.v[i].root == own.v[0].root ||
                           hone_c_is_moved_beside(in->nest.function, &all.v[i], &own.v[0])))
            return false;
    }
    return true;
}

bool hone_sum_is_fixed(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                       const struct hone_c_node *expr)
{
    struct accesses all, own;
    const struct hone_c_node *nest = n->rows->node;
    if (!read_accesses(in, nest, &all) || !read_accesses(in, expr, &own))
        return false;
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < own.n; k++)
            if (all.v[i].is_write &&
                (all.v[i].root == own.v[k].root ||
                 hone_c_is_moved_beside(in->nest.function, &all.v[i], &own.v[k])))
                return false;
    for (const struct hone_c_node *x = expr; x; x = hone_c_walk(expr, x)) {
        bool is_counter = x->decl == n->rows->var || x->decl == n->sum->var ||
                          (n->columns && x->decl == n->columns->var);
        if (x->kind == HONE_C_REF && x->decl && !is_counter && hone_c_writes(nest, x->decl))
            return false;
    }
    return true;
}

static void read_additions(const struct hone_coder_input *in, struct hone_sum_nest *n)
{
    n->n_additions = 0;
    if (n->columns || n->sum_lower || n->sum_upper)
        return;
    for (size_t o = 0; o < n->n_others; o++)
        if (!read_addition(in, n->others[o], &n->additions[o]) ||
            !is_only_added_to(in, n, &n->additions[o]) ||
            !hone_sum_is_fixed(in, n, n->additions[o].value))
            return;
    n->n_additions = n->n_others;
}

/* The other statements touch nothing that the sums read, and perhaps nothing that the body does in
 * front of its sums. */
static bool read_others(const struct hone_coder_input *in, struct hone_sum_nest *n)
{
    struct accesses terms, own, front;
    bool is_first = n->columns != NULL;
    if (!read_terms(in, n, &terms))
        return false;
    for (size_t o = 0; o < n->n_others; o++) {
        if (!read_accesses(in, n->others[o], &own) || collide(in, &own, &terms))
            return false;
        const struct hone_c_node *s = n->body->first;
        for (; s && s != n->sum->node; s = s->next)
            is_first = is_first && read_accesses(in, s, &front) && !collide(in, &own, &front);
        is_first = is_first && s; /* a loop in braces of its own: not looked into */
    }
    n->others_first = is_first;
    read_additions(in, n);
    return true;
}

static bool is_legal(const struct hone_coder_input *in, struct hone_sum_nest *n)
{
    if (!read_updates(in, n) || !read_body(in, n) || !read_bounds(in, n) || !are_bounds_fixed(n) ||
        !read_others(in, n) || (n->n_updates == 0 && n->n_additions == 0) ||
        !choose_vectors(in, n) || !have_common(in, n) || !is_readable(in, n))
        return false;
    if (n->n_updates == 0) { /* additions alone, in any order of rows */
        n->order = (struct hone_order_pair){.is_known = true, .is_tileable = true};
        return hone_c_only_stmt(n->body) == n->sum->node;
    }
    n->order = hone_order_pair_of(in, n->rows, n->columns);
    n->others_first = n->others_first && n->order.inner_is_free;
    return n->order.is_known && n->order.is_tileable && (!n->first || n->order.is_split);
}

bool hone_sum_nest_of(const struct hone_coder_input *in, const struct hone_c_loop *sum,
                      bool for_panels, struct hone_sum_nest *ret)
{
    const struct hone_c_loop *around = sum->parent;
    *ret = (struct hone_sum_nest){.sum = sum, .for_panels = for_panels};
    if (!sum->is_innermost || !is_counted(sum) || !is_counted(around))
        return false;
    ret->body = around->node->body;
    ret->columns = around;
    ret->rows = rows_of(around, &ret->first);
    if (ret->rows && is_legal(in, ret))
        return true;
    if (for_panels)
        return false;
    *ret = (struct hone_sum_nest){.sum = sum, .rows = around, .body = around->node->body};
    return is_legal(in, ret);
}
