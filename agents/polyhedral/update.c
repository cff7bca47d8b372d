/* SPDX-License-Identifier: Apache-2.0 */
/* Read from the tree alone; X is known again by its text. */
#include "agents/polyhedral/update.h"

#include <string.h>

static bool is_integer(const char *type)
{
    static const char *const others[] = {"float", "double", "*", "[", "_Bool", "_Complex"};
    for (size_t i = 0; i < HONE_COUNTOF(others); i++)
        if (strstr(type, others[i]))
            return false;
    return *type != '\0';
}

static const char *plain(const char *type)
{
    return strncmp(type, "const ", 6) == 0 ? type + 6 : type;
}

static bool is_same_type(const struct hone_c_node *a, const struct hone_c_node *b)
{
    return strcmp(plain(a->type), plain(b->type)) == 0;
}

/* "u < v ? v : u": '>', the larger; 0: something else. The two of it in *u and *v. */
static char extreme_of(const struct hone_c_tree *tree, const struct hone_c_node *expr,
                       const struct hone_c_node **u, const struct hone_c_node **v)
{
    expr = hone_c_bare(expr);
    if (!expr || expr->kind != HONE_C_CONDITIONAL || hone_c_n_children(expr) != 3)
        return 0;
    const struct hone_c_node *test = hone_c_bare(expr->first);
    if (test->kind != HONE_C_BINARY || hone_c_n_children(test) != 2 ||
        (test->op[0] != '<' && test->op[0] != '>') || (test->op[1] && test->op[1] != '=') ||
        (test->op[1] && test->op[2]))
        return 0;
    *u = hone_c_bare(test->first);
    *v = hone_c_bare(test->last);
    const struct hone_c_node *yes = expr->first->next, *no = expr->last;
    if (hone_c_is_same_text(tree, yes, *u) && hone_c_is_same_text(tree, no, *v))
        return test->op[0];
    if (hone_c_is_same_text(tree, yes, *v) && hone_c_is_same_text(tree, no, *u))
        return test->op[0] == '<' ? '>' : '<';
    return 0;
}

static const struct hone_c_node *param_of(const struct hone_c_node *function, size_t i)
{
    for (const struct hone_c_node *n = function->first; n; n = n->next)
        if (n->kind == HONE_C_PARAM && i-- == 0)
            return n;
    return NULL;
}

/* A function of this source of two values of this type that does nothing but return one of them. */
static char helper_of(const struct hone_c_tree *tree, const struct hone_c_node *call,
                      const struct hone_c_node *target)
{
    const struct hone_c_node *f = hone_c_function(tree, call->name), *u, *v;
    const struct hone_c_node *ret = f && f->body ? f->body->first : NULL;
    const struct hone_c_node *a = f ? param_of(f, 0) : NULL, *b = f ? param_of(f, 1) : NULL;
    if (!ret || ret->next || ret->kind != HONE_C_JUMP || !ret->first || !a || !b ||
        param_of(f, 2) || !is_same_type(a, target) || !is_same_type(b, target) ||
        !is_same_type(ret->first, target))
        return 0;
    char op = extreme_of(tree, ret->first, &u, &v);
    bool is_both = op && u->kind == HONE_C_REF && v->kind == HONE_C_REF &&
                   ((u->decl == a && v->decl == b) || (u->decl == b && v->decl == a));
    return is_both ? op : 0;
}

struct reading {
    const struct hone_c_tree *tree;
    const struct hone_c_node *target;
    struct hone_update *ret;
};

static bool add_own(struct reading *r, const struct hone_c_node *node)
{
    r->ret->own[r->ret->n_own++] = hone_c_bare(node);
    return true;
}

/* Of two values one is X. The other one must not be cut down when it is stored. */
static bool is_one_own(struct reading *r, const struct hone_c_node *a, const struct hone_c_node *b,
                       bool needs_type)
{
    bool is_a = hone_c_is_same_text(r->tree, a, r->target),
         is_b = hone_c_is_same_text(r->tree, b, r->target);
    const struct hone_c_node *other = hone_c_bare(is_a ? b : a);
    if (is_a == is_b || !is_integer(other->type) || (needs_type && !is_same_type(other, r->target)))
        return false;
    return add_own(r, is_a ? a : b);
}

/* Every place of X within a conditional: once in the test, once in a branch. */
static bool read_extreme(struct reading *r, const struct hone_c_node *expr)
{
    const struct hone_c_node *u, *v;
    r->ret->op = extreme_of(r->tree, expr, &u, &v);
    return r->ret->op && is_one_own(r, u, v, true) &&
           is_one_own(r, expr->first->next, expr->last, true);
}

static bool read_value(struct reading *r, const struct hone_c_node *expr)
{
    expr = hone_c_bare(expr);
    if (expr->kind == HONE_C_CONDITIONAL)
        return read_extreme(r, expr);
    if (expr->kind == HONE_C_CALL && hone_c_n_children(expr) == 3) {
        r->ret->op = helper_of(r->tree, expr, r->target);
        return r->ret->op && is_one_own(r, expr->first->next, expr->last, true);
    }
    if (expr->kind != HONE_C_BINARY || hone_c_n_children(expr) != 2 || expr->op[1] ||
        !strchr("+-*&|^", expr->op[0]))
        return false;
    r->ret->op = expr->op[0] == '-' ? '+' : expr->op[0];
    if (expr->op[0] == '-' && !hone_c_is_same_text(r->tree, expr->first, r->target))
        return false;
    return is_one_own(r, expr->first, expr->last, false);
}

static const struct hone_c_node *only_stmt(const struct hone_c_node *stmt)
{
    while (stmt && stmt->kind == HONE_C_COMPOUND)
        stmt = stmt->first && !stmt->first->next ? stmt->first : NULL;
    return stmt;
}

static bool read_plain(struct reading *r, const struct hone_c_node *stmt)
{
    r->target = hone_c_bare(stmt->first);
    if (r->target->kind != HONE_C_SUBSCRIPT || !is_integer(r->target->type))
        return false;
    add_own(r, r->target);
    if (stmt->kind == HONE_C_BINARY)
        return strcmp(stmt->op, "=") == 0 && read_value(r, stmt->last);
    if (!strchr("+-*&|^", stmt->op[0]) || strcmp(stmt->op + 1, "=") != 0 ||
        !is_integer(stmt->last->type)) /* X += 0.3 rounds what X was before */
        return false;
    r->ret->op = stmt->op[0] == '-' ? '+' : stmt->op[0];
    return true;
}

/* if (X < e) X = e; */
static bool read_guarded(struct reading *r, const struct hone_c_node *test,
                         const struct hone_c_node *stmt)
{
    r->target = stmt->kind == HONE_C_BINARY ? hone_c_bare(stmt->first) : NULL;
    if (!r->target || strcmp(stmt->op, "=") != 0 || r->target->kind != HONE_C_SUBSCRIPT ||
        !is_integer(r->target->type) || test->kind != HONE_C_BINARY ||
        (test->op[0] != '<' && test->op[0] != '>') || (test->op[1] && test->op[1] != '=') ||
        (test->op[1] && test->op[2]))
        return false;
    add_own(r, r->target);
    if (!is_one_own(r, test->first, test->last, true))
        return false;
    bool is_left = r->ret->own[1] == hone_c_bare(test->first);
    r->ret->op = (test->op[0] == '<') == is_left ? '>' : '<';
    return hone_c_is_same_text(r->tree, is_left ? test->last : test->first, stmt->last);
}

bool hone_update_of(const struct hone_c_tree *tree, const struct hone_c_node *stmt,
                    struct hone_update *ret)
{
    struct reading r = {.tree = tree, .ret = ret};
    *ret = (struct hone_update){0};
    stmt = only_stmt(stmt);
    while (stmt && stmt->kind == HONE_C_IF && hone_c_n_children(stmt) == 2) {
        const struct hone_c_node *test = hone_c_bare(stmt->first);
        stmt = only_stmt(stmt->last);
        if (stmt && read_guarded(&r, test, stmt))
            return true;
        *ret = (struct hone_update){0};
    }
    if (stmt && (stmt->kind == HONE_C_BINARY || stmt->kind == HONE_C_ASSIGN_OP) &&
        read_plain(&r, stmt))
        return true;
    *ret = (struct hone_update){0};
    return false;
}
