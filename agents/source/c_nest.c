/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop nest does, from its tree (c_nest.h): induction variables and bounds, strides of
 * accesses, reductions, independence of iterations, perfect nesting.
 *
 * Every answer is conservative: what cannot be shown is not claimed, and a call that may write
 * through a pointer ends a proof. */
#include "agents/source/c_nest.h"
#include "agents/source/c_slice.h"

#include <string.h>

static bool is_ref_to(const struct hone_c_node *expr, const struct hone_c_node *decl)
{
    expr = hone_c_strip(expr);
    return expr && expr->kind == HONE_C_REF && expr->decl == decl && decl;
}

static void read_init(struct hone_c_loop *l)
{
    const struct hone_c_node *init = l->node->init;
    if (!init)
        return;
    if (init->kind == HONE_C_DECL_STMT && init->first && init->first == init->last &&
        init->first->kind == HONE_C_VAR && init->first->last) {
        l->var = init->first;
        l->lower = init->first->last;
        l->declares_var = true;
    } else if (init->kind == HONE_C_BINARY && strcmp(init->op, "=") == 0 &&
               init->first->kind == HONE_C_REF) {
        l->var = init->first->decl;
        l->lower = init->last;
    }
}

static bool read_cond(struct hone_c_loop *l)
{
    const struct hone_c_node *c = l->node->cond;
    if (!c || c->kind != HONE_C_BINARY || hone_c_n_children(c) != 2)
        return false;
    bool is_left = is_ref_to(c->first, l->var), is_right = is_ref_to(c->last, l->var);
    if (is_left && (!strcmp(c->op, "<") || !strcmp(c->op, "<=")))
        l->upper = c->last;
    else if (is_right && (!strcmp(c->op, ">") || !strcmp(c->op, ">=")))
        l->upper = c->first;
    else
        return false;
    l->is_inclusive = c->op[1] == '=';
    return true;
}

static bool read_step(const struct hone_c_tree *tree, struct hone_c_loop *l)
{
    const struct hone_c_node *inc = l->node->inc;
    l->step = "1";
    if (!inc)
        return false;
    if (inc->kind == HONE_C_UNARY && strcmp(inc->op, "++") == 0 && is_ref_to(inc->first, l->var)) {
        l->is_unit_step = true;
        return true;
    }
    if (inc->kind != HONE_C_ASSIGN_OP || strcmp(inc->op, "+=") != 0 ||
        !is_ref_to(inc->first, l->var))
        return false;
    l->step = hone_c_text(tree, inc->last);
    l->is_unit_step = strcmp(l->step, "1") == 0;
    return true;
}

/* for (T v = a; v >= b; v--): the bounds change places. */
static bool read_down(struct hone_c_loop *l)
{
    const struct hone_c_node *c = l->node->cond, *inc = l->node->inc;
    if (!l->var || !c || c->kind != HONE_C_BINARY || hone_c_n_children(c) != 2 || !inc ||
        inc->kind != HONE_C_UNARY || strcmp(inc->op, "--") != 0 || !is_ref_to(inc->first, l->var))
        return false;
    bool is_left = is_ref_to(c->first, l->var) && c->op[0] == '>';
    bool is_right = is_ref_to(c->last, l->var) && c->op[0] == '<';
    if ((!is_left && !is_right) || (c->op[1] != '=' && c->op[1] != '\0'))
        return false;
    l->upper = l->lower;
    l->lower = is_left ? c->last : c->first;
    l->is_inclusive = true;
    l->is_exclusive_below = c->op[1] == '\0';
    return true;
}

/* Pragma lines that stand directly in front belong to the loop. */
static void read_pragmas(const struct hone_c_tree *tree, struct hone_c_loop *l)
{
    const char *s = tree->source;
    uint32_t line = l->node->begin;
    while (line > 0 && (s[line - 1] == ' ' || s[line - 1] == '\t'))
        line--;
    l->begin = l->node->begin;
    while (line > 0 && s[line - 1] == '\n') {
        uint32_t start = line - 1;
        while (start > 0 && s[start - 1] != '\n')
            start--;
        uint32_t text = start;
        while (text < line && (s[text] == ' ' || s[text] == '\t'))
            text++;
        if (strncmp(s + text, "#pragma", 7) != 0 || strncmp(s + text, "#pragma hone", 12) == 0)
            return;
        HONE_AUTOFREE char *words = hone_strndup(s + text, line - 1 - text);
        bool is_omp = strstr(words, "omp ") != NULL;
        l->has_parallel |= is_omp && (strstr(words, "parallel") || strstr(words, " for"));
        l->has_collapse |= is_omp && strstr(words, "collapse(");
        l->has_simd |= is_omp && strstr(words, "simd");
        l->begin = start;
        line = start;
    }
}

static bool is_about_tunable(const struct hone_c_node *condition)
{
    for (const struct hone_c_node *n = condition; n; n = hone_c_walk(condition, n))
        if (n->kind == HONE_C_REF && !n->decl)
            return true;
    return false;
}

static bool is_name_with(const struct hone_c_node *expr, const char *end)
{
    const struct hone_c_node *n = expr ? hone_c_strip(expr) : NULL;
    return n && n->kind == HONE_C_REF && *n->name && strstr(n->name + 1, end) != NULL;
}

/* Rewrites name the place where whole blocks end "<variable>_full". */
static bool is_tail(const struct hone_c_loop *l)
{
    return is_name_with(l->lower, "_full");
}

/* A part of a loop that was split at borders ends at "<variable>_head", or begins at
 * "<variable>_tail"; the part between them does both the other way round. */
static bool is_border(const struct hone_c_loop *l)
{
    return is_name_with(l->upper, "_head") || is_name_with(l->lower, "_tail");
}

static bool is_in_fallback(const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n->parent; n = n->parent)
        if (n->parent->kind == HONE_C_IF && hone_c_n_children(n->parent) == 3 &&
            n->parent->last == n && is_about_tunable(n->parent->first))
            return true;
    return false;
}

static void read_loop(const struct hone_c_tree *tree, struct hone_c_loop *l)
{
    read_init(l);
    read_pragmas(tree, l);
    l->is_canonical = l->var && read_cond(l) && read_step(tree, l) && l->node->body &&
                      !hone_c_writes(l->node->body, l->var) &&
                      hone_c_is_invariant(l->upper, l->node->body);
    l->counts_down = !l->is_canonical && l->node->body && !hone_c_writes(l->node->body, l->var) &&
                     read_down(l) && hone_c_is_invariant(l->lower, l->node->body);
    const struct hone_c_node *upper = l->upper ? hone_c_strip(l->upper) : NULL;
    l->is_small =
        upper && (upper->kind == HONE_C_CONST || (upper->kind == HONE_C_REF && !upper->decl));
    l->is_innermost = true;
    l->is_fallback = is_in_fallback(l->node) || is_tail(l) || is_border(l);
}

void hone_c_nest_of(const struct hone_c_tree *tree, const struct hone_c_node *function,
                    struct hone_c_nest *ret)
{
    *ret = (struct hone_c_nest){.tree = tree, .function = function};
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n)) {
        if (n->kind != HONE_C_FOR || ret->n == HONE_C_MAX_LOOPS)
            continue;
        struct hone_c_loop *l = &ret->loops[ret->n++];
        l->tree = tree;
        l->node = n;
        read_loop(tree, l);
        for (size_t i = ret->n - 1; i-- > 0 && !l->parent;)
            if (hone_c_contains(ret->loops[i].node, n))
                l->parent = &ret->loops[i];
        if (l->parent) {
            l->depth = l->parent->depth + 1;
            l->has_parallel |=
                l->parent->has_collapse && hone_c_only_stmt(l->parent->node->body) == n;
            for (struct hone_c_loop *p = l->parent; p; p = p->parent) {
                p->is_innermost = false;
                l->is_fallback |= is_border(p);
            }
        }
    }
}

const struct hone_c_loop *hone_c_loop_of(const struct hone_c_nest *nest,
                                         const struct hone_c_node *for_node)
{
    for (size_t i = 0; i < nest->n; i++)
        if (nest->loops[i].node == for_node)
            return &nest->loops[i];
    return NULL;
}

const struct hone_c_node *hone_c_only_stmt(const struct hone_c_node *body)
{
    while (body && body->kind == HONE_C_COMPOUND) {
        if (!body->first || body->first != body->last)
            return NULL;
        body = body->first;
    }
    return body;
}

bool hone_c_is_invariant(const struct hone_c_node *expr, const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        if (n->kind == HONE_C_CALL || n->kind == HONE_C_OTHER)
            return false;
        if (n->kind == HONE_C_REF && n->decl && n->decl->kind != HONE_C_FUNCTION &&
            (hone_c_contains(top, n->decl) || hone_c_writes(top, n->decl)))
            return false;
        if (n->kind == HONE_C_SUBSCRIPT) { /* memory: only when no store in top could reach it */
            const struct hone_c_node *root = hone_c_strip(n->first);
            if (!root || root->kind != HONE_C_REF || !strstr(root->type, "const"))
                return false;
        }
    }
    return true;
}

static bool is_same_text(const struct hone_c_tree *tree, const struct hone_c_node *a,
                         const struct hone_c_node *b)
{
    a = hone_c_strip(a), b = hone_c_strip(b);
    return a->end - a->begin == b->end - b->begin &&
           memcmp(tree->source + a->begin, tree->source + b->begin, a->end - a->begin) == 0;
}

static bool is_comparison(const struct hone_c_node *c)
{
    return c->kind == HONE_C_BINARY && (!strcmp(c->op, "<") || !strcmp(c->op, "<=") ||
                                        !strcmp(c->op, ">") || !strcmp(c->op, ">="));
}

/* s = max(s, e), s = e > s ? e : s; what is compared is what is taken */
static const char *choice_op(const struct hone_c_tree *tree, const struct hone_c_node *value,
                             const struct hone_c_node *var, const struct hone_c_node **ret_expr)
{
    value = hone_c_strip(value);
    if (value->kind == HONE_C_CALL && hone_c_n_children(value) == 3) {
        const struct hone_c_node *a = hone_c_child(value, 1), *b = hone_c_child(value, 2);
        bool is_max = !strncmp(value->name, "fmax", 4), is_min = !strncmp(value->name, "fmin", 4);
        if (!(is_max || is_min) || is_ref_to(a, var) == is_ref_to(b, var))
            return NULL;
        *ret_expr = is_ref_to(a, var) ? b : a;
        return is_max ? "max" : "min";
    }
    if (value->kind != HONE_C_CONDITIONAL || hone_c_n_children(value) != 3)
        return NULL;
    const struct hone_c_node *c = hone_c_strip(value->first), *yes = hone_c_child(value, 1),
                             *no = hone_c_child(value, 2);
    if (!is_comparison(c))
        return NULL;
    bool greater = c->op[0] == '>';
    bool var_left = is_ref_to(c->first, var), var_right = is_ref_to(c->last, var);
    if (var_left == var_right || is_ref_to(yes, var) == is_ref_to(no, var))
        return NULL;
    bool keeps_greater =
        greater ? (var_left == is_ref_to(yes, var)) : (var_right == is_ref_to(yes, var));
    *ret_expr = is_ref_to(yes, var) ? no : yes;
    if (!is_same_text(tree, *ret_expr, var_left ? c->last : c->first))
        return NULL;
    return keeps_greater ? "max" : "min";
}

static const char *update_op(const struct hone_c_tree *tree, const struct hone_c_node *stmt,
                             const struct hone_c_node *var, const struct hone_c_node **ret_expr)
{
    if (stmt->kind == HONE_C_ASSIGN_OP && is_ref_to(stmt->first, var)) {
        *ret_expr = stmt->last;
        return !strcmp(stmt->op, "+=") ? "+" : !strcmp(stmt->op, "*=") ? "*" : NULL;
    }
    if (stmt->kind == HONE_C_BINARY && !strcmp(stmt->op, "=") && is_ref_to(stmt->first, var)) {
        const struct hone_c_node *v = hone_c_strip(stmt->last);
        if (v->kind == HONE_C_BINARY && (!strcmp(v->op, "+") || !strcmp(v->op, "*")) &&
            is_ref_to(v->first, var) != is_ref_to(v->last, var)) {
            *ret_expr = is_ref_to(v->first, var) ? v->last : v->first;
            return v->op;
        }
        return choice_op(tree, v, var, ret_expr);
    }
    return NULL;
}

/* if (e > s) s = e; */
static const char *guarded_op(const struct hone_c_tree *tree, const struct hone_c_node *stmt,
                              const struct hone_c_node *var, const struct hone_c_node **ret_expr)
{
    if (stmt->kind != HONE_C_IF || hone_c_n_children(stmt) != 2)
        return NULL;
    const struct hone_c_node *c = hone_c_strip(stmt->first), *set = hone_c_only_stmt(stmt->last);
    if (!set || set->kind != HONE_C_BINARY || strcmp(set->op, "=") != 0 ||
        !is_ref_to(set->first, var))
        return NULL;
    if (!is_comparison(c))
        return NULL;
    bool var_right = is_ref_to(c->last, var);
    const struct hone_c_node *other = var_right ? c->first : c->last;
    if (is_ref_to(c->first, var) == var_right || !is_same_text(tree, other, set->last))
        return NULL;
    *ret_expr = set->last;
    return (c->op[0] == '>') == var_right ? "max" : "min";
}

/* How often is the scalar named in the loop outside of stmt? */
static bool is_used_elsewhere(const struct hone_c_node *top, const struct hone_c_node *stmt,
                              const struct hone_c_node *var)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl == var && !hone_c_contains(stmt, n))
            return true;
    return false;
}

static bool classify(const struct hone_c_loop *loop, const struct hone_c_node *var,
                     struct hone_c_reduction *ret)
{
    for (const struct hone_c_node *n = loop->node->body; n; n = hone_c_walk(loop->node->body, n)) {
        if (!hone_c_is_stmt(n) && n != loop->node->body)
            continue;
        const struct hone_c_node *expr = NULL;
        const char *op = update_op(loop->tree, n, var, &expr);
        if (!op)
            op = guarded_op(loop->tree, n, var, &expr);
        if (!op)
            continue;
        if (hone_c_uses(expr, var))
            return false;
        *ret = (struct hone_c_reduction){.var = var, .op = op, .stmt = n, .expr = expr};
        return !is_used_elsewhere(loop->node->body, n, var);
    }
    return false;
}

static bool is_known_reduction(const struct hone_c_reduction *all, size_t n,
                               const struct hone_c_node *var)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].var == var)
            return true;
    return false;
}

/* Does it keep its value until its block runs again? */
static bool outlives_block(const struct hone_c_tree *tree, const struct hone_c_node *decl)
{
    return decl->kind == HONE_C_VAR && strncmp(decl->type, "const ", 6) != 0 &&
           strncmp(tree->source + decl->begin, "static", 6) == 0;
}

static const struct hone_c_node *function_around(const struct hone_c_node *node)
{
    while (node->parent && node->kind != HONE_C_FUNCTION)
        node = node->parent;
    return node;
}

/* The first scalar that is written and is no plain reduction; NULL: none. */
static const struct hone_c_node *read_reductions(const struct hone_c_loop *loop,
                                                 const struct hone_c_node *const *aside,
                                                 size_t n_aside, struct hone_c_reduction *ret,
                                                 size_t *ret_n)
{
    const struct hone_c_node *body = loop->node->body;
    *ret_n = 0;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind != HONE_C_REF || !n->decl || n->decl == loop->var)
            continue;
        if (hone_c_contains(body, n->decl)) {
            if (outlives_block(loop->tree, n->decl))
                return n;
            continue;
        }
        bool is_aside = false;
        for (size_t i = 0; i < n_aside; i++)
            is_aside = is_aside || aside[i] == n->decl;
        if (is_aside || !hone_c_writes(body, n->decl) || is_known_reduction(ret, *ret_n, n->decl))
            continue;
        if (strchr(n->decl->type, '*') || strchr(n->decl->type, '[') ||
            *ret_n == HONE_C_MAX_REDUCTIONS || !classify(loop, n->decl, &ret[*ret_n]) ||
            hone_c_takes_address(function_around(loop->node), n->decl))
            return n;
        (*ret_n)++;
    }
    return NULL;
}

bool hone_c_reductions(const struct hone_c_loop *loop, struct hone_c_reduction *ret, size_t *ret_n)
{
    return read_reductions(loop, NULL, 0, ret, ret_n) == NULL;
}

bool hone_c_reductions_but(const struct hone_c_loop *loop, const struct hone_c_node *const *aside,
                           size_t n_aside, struct hone_c_reduction *ret, size_t *ret_n)
{
    return read_reductions(loop, aside, n_aside, ret, ret_n) == NULL;
}

bool hone_c_writes_scalar(const struct hone_c_loop *loop)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    return !hone_c_reductions(loop, r, &n) || n > 0;
}

static const struct hone_c_node *jump_out(const struct hone_c_nest *nest,
                                          const struct hone_c_node *body)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind != HONE_C_JUMP)
            continue;
        const char *word = nest->tree->source + n->begin;
        if (strncmp(word, "continue", 8) == 0)
            continue;
        if (strncmp(word, "break", 5) != 0)
            return n;
        const struct hone_c_node *p = n->parent;
        while (p != body->parent && p->kind != HONE_C_FOR && p->kind != HONE_C_WHILE &&
               p->kind != HONE_C_OTHER)
            p = p->parent;
        if (p == body->parent)
            return n;
    }
    return NULL;
}

const struct hone_c_node *hone_c_pointer_call(const struct hone_c_node *body)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind != HONE_C_CALL)
            continue;
        for (const struct hone_c_node *arg = n->first ? n->first->next : NULL; arg; arg = arg->next)
            if (strchr(arg->type, '*') || strchr(arg->type, '['))
                return n;
    }
    return NULL;
}

enum { MAX_REACHED = 16 };

static bool keeps_state(const struct hone_c_node *function)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n)) {
        const struct hone_c_node *v = n->kind == HONE_C_REF ? n->decl : NULL;
        if (v && v->kind == HONE_C_VAR && !hone_c_contains(function, v) &&
            strncmp(v->type, "const ", 6) != 0)
            return true;
    }
    return false;
}

static bool has_static(const struct hone_c_tree *tree, const struct hone_c_node *function)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n))
        if (outlives_block(tree, n))
            return true;
    return false;
}

const struct hone_c_node *hone_c_state_call(const struct hone_c_tree *tree,
                                            const struct hone_c_node *top)
{
    const struct hone_c_node *reached[MAX_REACHED];
    for (const struct hone_c_node *c = top; c; c = hone_c_walk(top, c)) {
        const struct hone_c_node *f =
            c->kind == HONE_C_CALL && *c->name ? hone_c_function(tree, c->name) : NULL;
        size_t n = f ? hone_c_reached(tree, f, reached, MAX_REACHED) : 0;
        for (size_t i = 0; i < n; i++)
            if (n == MAX_REACHED || keeps_state(reached[i]) || has_static(tree, reached[i]))
                return c;
    }
    return NULL;
}

/* A pointer of the loop that is set behind its declaration is none of memory of its own. */
static bool is_set_there(const struct hone_c_access *a, const struct hone_c_loop *loop)
{
    return a->root && strchr(a->root->type, '*') && hone_c_contains(loop->node->body, a->root) &&
           hone_c_writes(loop->node->body, a->root);
}

static bool is_assigned(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0 && is_ref_to(n->first, decl))
            return true;
    return false;
}

/* Does the array stand in the expression, or behind a pointer of it? One that is moved alone stays
 * in the array that it starts in. */
static bool may_come_from(const struct hone_c_node *expr, const struct hone_c_node *root,
                          const struct hone_c_node *function, int depth)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        const struct hone_c_node *d = n->kind == HONE_C_REF ? n->decl : NULL;
        if (!d || !strchr(d->type, '*') || (d->kind == HONE_C_PARAM && d != root))
            continue;
        if (d == root || depth == 0 || !d->last || is_assigned(function, d) ||
            may_come_from(d->last, root, function, depth - 1))
            return true;
    }
    return false;
}

/* May it be of the other's array? A pointer that is set outside of the loop (one of two buffers
 * that are swapped) is taken for an array of its own. */
static bool may_reach(const struct hone_c_nest *nest, const struct hone_c_access *a,
                      const struct hone_c_node *root, const struct hone_c_loop *loop)
{
    return (!a->root || is_set_there(a, loop)) && may_come_from(a->node, root, nest->function, 8);
}

enum { MAX_STARTS = 8 };

/* What a pointer that is declared in front of it is set to, once and outside of loops; NULL: it is
 * set otherwise, as buffers are that are swapped. */
static const struct hone_c_node *set_once(const struct hone_c_node *function,
                                          const struct hone_c_node *decl)
{
    const struct hone_c_node *value = NULL;
    if (decl->last && hone_c_strip(decl->last)->kind != HONE_C_CONST)
        return NULL;
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n)) {
        if (n->kind != HONE_C_BINARY || strcmp(n->op, "=") != 0 || !is_ref_to(n->first, decl))
            continue;
        for (const struct hone_c_node *up = n; up != function; up = up->parent)
            if (value || up->kind == HONE_C_FOR || up->kind == HONE_C_WHILE)
                return NULL;
        value = n->last;
    }
    return value;
}

/* Arrays that a pointer starts in which is moved, but never set again; itself, where it is no such
 * pointer. Adds to n; more than MAX_STARTS are left out. */
static size_t starts_of(const struct hone_c_node *function, const struct hone_c_node *root,
                        const struct hone_c_node *ret[MAX_STARTS], size_t n, int depth)
{
    size_t before = n;
    bool is_pointer = root->kind == HONE_C_VAR && strchr(root->type, '*');
    const struct hone_c_node *start = !is_pointer                   ? NULL
                                      : is_assigned(function, root) ? set_once(function, root)
                                                                    : root->last;
    bool is_moved = start && depth < MAX_STARTS && hone_c_strip(start)->kind != HONE_C_CALL;
    for (const struct hone_c_node *r = is_moved ? start : NULL; r; r = hone_c_walk(start, r))
        if (r->kind == HONE_C_REF && r->decl && strpbrk(r->decl->type, "*["))
            n = starts_of(function, r->decl, ret, n, depth + 1);
    if (n == before && n < MAX_STARTS)
        ret[n++] = root;
    return n;
}

bool hone_c_is_moved_beside(const struct hone_c_node *function, const struct hone_c_access *a,
                            const struct hone_c_access *b)
{
    const struct hone_c_node *of_a[MAX_STARTS], *of_b[MAX_STARTS];
    if (!a->root || !b->root || a->root == b->root)
        return false;
    size_t n = starts_of(function, a->root, of_a, 0, 0),
           m = starts_of(function, b->root, of_b, 0, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (of_a[i] == of_b[j])
                return true;
    return false;
}

static bool is_private(const struct hone_c_access *a, const struct hone_c_loop *loop)
{
    return a->root && hone_c_contains(loop->node->body, a->root) && !is_set_there(a, loop);
}

/* Is a counter from outside of the loop read behind it? Threads do not keep its value. */
static const struct hone_c_node *counter_behind(const struct hone_c_nest *nest,
                                                const struct hone_c_loop *loop)
{
    const struct hone_c_node *f = nest->function;
    for (const struct hone_c_node *n = loop->declares_var ? NULL : f; n; n = hone_c_walk(f, n)) {
        if (n->kind != HONE_C_REF || n->decl != loop->var || hone_c_contains(loop->node, n))
            continue;
        const struct hone_c_node *p = n;
        while (p != f && !(p->kind == HONE_C_FOR && p->init && p->init->kind == HONE_C_BINARY &&
                           is_ref_to(p->init->first, loop->var)))
            p = p->parent;
        if (p == f)
            return n;
    }
    return NULL;
}

static const struct hone_c_obstacle obstacles[] = {
    [HONE_C_FREE] = {"free", "its iterations are independent", NULL},
    [HONE_C_BOUNDS] = {"bounds", "the loop's bounds are not plain", NULL},
    [HONE_C_LEFT_EARLY] = {"left_early", "the loop is left early", NULL},
    [HONE_C_CARRIED_SCALAR] = {"carried_scalar",
                               "a scalar is carried from one iteration to the next", NULL},
    [HONE_C_POINTER_CALL] = {"pointer_call", "a call gets a pointer", NULL},
    [HONE_C_STATE_CALL] = {"state_call", "a function that it calls keeps a value", NULL},
    [HONE_C_MANY_ACCESSES] = {"many_accesses", "too many memory accesses to compare", NULL},
    [HONE_C_UNKNOWN_ARRAY] = {"unknown_array",
                              "a pointer is written through whose array is not known", NULL},
    [HONE_C_NOT_AFFINE] = {"not_affine", "a subscript is no sum of products of names", NULL},
    [HONE_C_SAME_ELEMENT] = {"same_element", "two iterations may write the same element", NULL},
    [HONE_C_CARRIED_ARRAY] = {"carried_array", "an iteration may read what another one writes",
                              NULL},
};

static struct hone_c_obstacle stands(enum hone_c_why why, const struct hone_c_node *at)
{
    struct hone_c_obstacle out = obstacles[why];
    out.at = at;
    return out;
}

/* What stands against a write: of its own, or beside another access to the same array. */
static struct hone_c_obstacle beside(const struct hone_c_nest *nest, const struct hone_c_loop *loop,
                                     const struct hone_c_access *a, size_t n, size_t i)
{
    enum hone_c_stride stride = hone_c_poly_stride(&a[i].index, loop->var);
    if (!a[i].root)
        return stands(HONE_C_UNKNOWN_ARRAY, a[i].node);
    if (stride == HONE_C_STRIDE_UNKNOWN)
        return stands(HONE_C_NOT_AFFINE, a[i].node);
    if (stride == HONE_C_STRIDE_ZERO)
        return stands(HONE_C_SAME_ELEMENT, a[i].node);
    if (!hone_c_is_same_slice(nest, &a[i].index, &a[i].index, loop))
        return stands(HONE_C_SAME_ELEMENT, a[i].node);
    for (size_t j = 0; j < n; j++) {
        if (may_reach(nest, &a[j], a[i].root, loop))
            return stands(HONE_C_CARRIED_ARRAY, a[j].node);
        if (hone_c_is_moved_beside(nest->function, &a[i], &a[j]))
            return stands(HONE_C_CARRIED_ARRAY, a[j].node);
        if (j == i || a[j].root != a[i].root ||
            (a[i].field && a[j].field && strcmp(a[i].field, a[j].field) != 0))
            continue;
        if (!a[j].index.is_known)
            return stands(HONE_C_NOT_AFFINE, a[j].node);
        if (!hone_c_is_same_slice(nest, &a[i].index, &a[j].index, loop))
            return stands(HONE_C_CARRIED_ARRAY, a[j].node);
    }
    return stands(HONE_C_FREE, NULL);
}

static struct hone_c_obstacle between_writes(const struct hone_c_nest *nest,
                                             const struct hone_c_loop *loop,
                                             const struct hone_c_node *aside)
{
    enum { MAX = 128 };
    HONE_AUTOFREE struct hone_c_access *a = hone_calloc(MAX, sizeof(*a));
    size_t n = hone_c_accesses(nest->function, loop->node->body, a, MAX);
    if (n > MAX)
        return stands(HONE_C_MANY_ACCESSES, NULL);
    for (size_t i = 0; i < n; i++) {
        bool is_aside = aside && a[i].root == aside;
        if (!a[i].is_write || is_aside || is_private(&a[i], loop))
            continue;
        struct hone_c_obstacle o = beside(nest, loop, a, n, i);
        if (o.at)
            return o;
    }
    return stands(HONE_C_FREE, NULL);
}

static struct hone_c_obstacle obstacle_but(const struct hone_c_nest *nest,
                                           const struct hone_c_loop *loop,
                                           const struct hone_c_node *aside)
{
    struct hone_c_reduction reductions[HONE_C_MAX_REDUCTIONS];
    const struct hone_c_node *at;
    size_t n = 0;
    if (!loop->is_canonical)
        return stands(HONE_C_BOUNDS, NULL);
    if ((at = jump_out(nest, loop->node->body)))
        return stands(HONE_C_LEFT_EARLY, at);
    if ((at = read_reductions(loop, NULL, 0, reductions, &n)) || (at = counter_behind(nest, loop)))
        return stands(HONE_C_CARRIED_SCALAR, at);
    if ((at = hone_c_pointer_call(loop->node->body)))
        return stands(HONE_C_POINTER_CALL, at);
    if ((at = hone_c_state_call(nest->tree, loop->node->body)))
        return stands(HONE_C_STATE_CALL, at);
    return between_writes(nest, loop, aside);
}

struct hone_c_obstacle hone_c_obstacle_of(const struct hone_c_nest *nest,
                                          const struct hone_c_loop *loop)
{
    return obstacle_but(nest, loop, NULL);
}

static bool is_free(const struct hone_c_obstacle *o)
{
    return o->words == obstacles[HONE_C_FREE].words;
}

bool hone_c_is_parallel(const struct hone_c_nest *nest, const struct hone_c_loop *loop,
                        const char **ret_why)
{
    struct hone_c_obstacle o = hone_c_obstacle_of(nest, loop);
    *ret_why = o.words;
    return is_free(&o);
}

bool hone_c_is_parallel_but(const struct hone_c_nest *nest, const struct hone_c_loop *loop,
                            const struct hone_c_node *aside)
{
    struct hone_c_obstacle o = obstacle_but(nest, loop, aside);
    return is_free(&o);
}

/* Is this part of a branch left out at times? Its condition is not. */
static bool is_optional(const struct hone_c_node *parent, const struct hone_c_node *part)
{
    bool is_branch = parent->kind == HONE_C_IF || parent->kind == HONE_C_CONDITIONAL ||
                     (parent->kind == HONE_C_BINARY &&
                      (strcmp(parent->op, "&&") == 0 || strcmp(parent->op, "||") == 0));
    return (is_branch && part != parent->first) || parent->kind == HONE_C_WHILE ||
           parent->kind == HONE_C_OTHER || (parent->kind == HONE_C_FOR && part == parent->body);
}

bool hone_c_is_always_reached(const struct hone_c_node *loop, const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node, *p = n->parent; p && p != loop; n = p, p = p->parent)
        if (is_optional(p, n))
            return false;
    return true;
}
