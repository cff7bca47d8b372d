/* SPDX-License-Identifier: Apache-2.0 */
/* Reading sums of gathered factors (cuda_gather.h): down through loops, declarations and conditions
 * to the one update, from there to the two loads, and what each of them depends on. What is not
 * shown to be as the header says is no such sum. */
#include "agents/source/cuda_gather.h"

#include <string.h>

#include "agents/source/cuda_contraction.h"
#include "agents/source/cuda_normal.h"

enum { MAX_ACCESSES = 16, MAX_REACHED = 16 };

unsigned hone_cuda_gather_mask(const struct hone_cuda_gather *g, const struct hone_c_node *expr)
{
    return hone_cuda_mask(&g->digits, g->loops, g->n_loops, expr);
}

static bool is_once(const struct hone_cuda_kernel *k, const struct hone_c_node *n)
{
    const struct hone_c_node *d = n->kind == HONE_C_REF ? n->decl : NULL;
    return d && d->kind == HONE_C_VAR && d->last && hone_c_contains(k->function, d) &&
           !strpbrk(d->type, "[&") && !hone_c_writes(k->function, d);
}

bool hone_cuda_is_copy(const struct hone_c_node *n)
{
    return n->kind == HONE_C_CALL && n->first && n->first == n->last &&
           n->first->begin == n->begin && n->first->end == n->end;
}

const struct hone_c_node *hone_cuda_behind(const struct hone_cuda_kernel *k,
                                           const struct hone_c_node *n)
{
    for (int i = 0; i < 16; i++) {
        if ((n->kind == HONE_C_PAREN && n->last) || hone_cuda_is_copy(n))
            n = n->last;
        else if (is_once(k, n))
            n = n->decl->last;
        else
            break;
    }
    return n;
}

/* ---- the nest ---- */

static const char *plain_type(const char *type)
{
    return strncmp(type, "const ", 6) == 0 ? type + 6 : type;
}

static bool is_one_of(const char *type, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(plain_type(type), *types) == 0)
            return true;
    return false;
}

static bool is_integer(const struct hone_c_node *n)
{
    static const char *const types[] = {"int",           "unsigned int",       "long", "long long",
                                        "unsigned long", "unsigned long long", NULL};
    return is_one_of(n->type, types);
}

static bool add_cond(struct hone_cuda_gather *g, const struct hone_c_node *cond, bool is_negated)
{
    if (g->n_conds == HONE_CUDA_MAX_CONDS || hone_cuda_has_effect(g->k, cond))
        return false;
    g->conds[g->n_conds].expr = cond;
    g->conds[g->n_conds++].is_negated = is_negated;
    return true;
}

static bool is_skip(const struct hone_cuda_gather *g, const struct hone_c_node *s)
{
    const struct hone_c_node *jump =
        s->kind == HONE_C_IF && hone_c_n_children(s) == 2 ? hone_c_only_stmt(s->last) : NULL;
    return jump && jump->kind == HONE_C_JUMP &&
           strncmp(g->k->in->tree->source + jump->begin, "continue", 8) == 0;
}

/* Does it run from lower to upper, whatever their signs? */
static bool is_counted(const struct hone_c_loop *l)
{
    bool is_mixed = strncmp(plain_type(l->upper->type), "unsigned", 8) == 0 &&
                    strncmp(plain_type(l->var->type), "unsigned", 8) != 0;
    return is_integer(l->var) && (!is_mixed || l->lower->kind == HONE_C_CONST);
}

/* The update, which stands below loops and conditions; NULL: there is more than that. */
static const struct hone_c_node *read_nest(struct hone_cuda_gather *g, const struct hone_c_node *s)
{
    if (!s)
        return NULL;
    if (s->kind == HONE_C_FOR) {
        const struct hone_c_loop *l = hone_c_loop_of(&g->k->nest, s);
        if (!l || !l->is_canonical || !l->is_unit_step || !l->declares_var || !is_counted(l) ||
            g->n_loops == HONE_CUDA_MAX_SUM_LOOPS)
            return NULL;
        g->loops[g->n_loops++] = l;
        return read_nest(g, s->body);
    }
    if (s->kind == HONE_C_IF && hone_c_n_children(s) == 2)
        return add_cond(g, s->first, false) ? read_nest(g, s->last) : NULL;
    if (s->kind != HONE_C_COMPOUND)
        return s;
    for (const struct hone_c_node *c = s->first; c && c != s->last; c = c->next) {
        bool is_local = c->kind == HONE_C_DECL_STMT && !hone_cuda_has_effect(g->k, c);
        if (!is_local && !(is_skip(g, c) && add_cond(g, c->first, true)))
            return NULL;
    }
    return read_nest(g, s->last);
}

/* The one loop among the statements; no other loop or jump stands beside it. */
static const struct hone_c_node *only_nest(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *nest = NULL;
    for (size_t i = 0; i < k->n_stmts; i++) {
        if (k->stmts[i]->kind == HONE_C_FOR) {
            if (nest)
                return NULL;
            nest = k->stmts[i];
            continue;
        }
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n))
            if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP)
                return NULL;
    }
    return nest;
}

/* ---- the product ---- */

static bool is_zero(const struct hone_cuda_gather *g, const struct hone_c_node *expr)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    const char *text = n->kind == HONE_C_CONST ? hone_c_text(g->k->in->tree, n) : "1";
    return *text == '0' && strspn(text, "0.fF") == strlen(text);
}

const struct hone_c_node *hone_cuda_chosen(const struct hone_cuda_gather *g,
                                           const struct hone_c_node *n)
{
    if (hone_c_n_children(n) != 3)
        return NULL;
    const struct hone_c_node *yes = n->first->next, *no = n->last;
    return is_zero(g, no) ? yes : is_zero(g, yes) ? no : NULL;
}

/* Through c ? value : 0, which is a condition more. NULL: there are too many. */
static const struct hone_c_node *open_choice(struct hone_cuda_gather *g,
                                             const struct hone_c_node *n)
{
    const struct hone_c_node *chosen = hone_cuda_chosen(g, n);
    return chosen && add_cond(g, n->first, chosen == n->last) ? chosen : NULL;
}

static bool names(const struct hone_c_node *expr, const struct hone_c_node *var)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    return n && n->kind == HONE_C_REF && n->decl == var;
}

/* acc += a * b, acc = acc + a * b, acc = fmaf(a, b, acc); a * b may be chosen. */
static bool read_update(struct hone_cuda_gather *g, const struct hone_c_node *s,
                        const struct hone_c_node *ret[2])
{
    const struct hone_c_node *to = hone_c_strip(s->first), *added = s->last;
    g->acc = to && to->kind == HONE_C_REF ? to->decl : NULL;
    if (!g->acc || g->acc->kind != HONE_C_VAR)
        return false;
    if (s->kind == HONE_C_BINARY && strcmp(s->op, "=") == 0) {
        const struct hone_c_node *n = hone_c_strip(added);
        if (n->kind == HONE_C_CALL && hone_c_n_children(n) == 4 && strstr(n->name, "fma")) {
            ret[0] = hone_c_child(n, 1);
            ret[1] = hone_c_child(n, 2);
            return names(n->last, g->acc);
        }
        if (n->kind != HONE_C_BINARY || strcmp(n->op, "+") != 0 ||
            names(n->first, g->acc) == names(n->last, g->acc))
            return false;
        added = names(n->first, g->acc) ? n->last : n->first;
    } else if (s->kind != HONE_C_ASSIGN_OP || strcmp(s->op, "+=") != 0) {
        return false;
    }
    const struct hone_c_node *n = hone_cuda_behind(g->k, added);
    while (n && n->kind == HONE_C_CONDITIONAL) {
        n = open_choice(g, n);
        n = n ? hone_cuda_behind(g->k, n) : NULL;
    }
    if (!n || n->kind != HONE_C_BINARY || strcmp(n->op, "*") != 0)
        return false;
    ret[0] = n->first;
    ret[1] = n->last;
    return true;
}

/* ---- a factor ---- */

static bool is_pointer(const struct hone_c_node *n)
{
    return strchr(n->type, '*') != NULL;
}

static bool add_offset(struct hone_cuda_factor *f, const struct hone_c_node *expr, bool is_negated)
{
    if (f->n_offsets == HONE_CUDA_MAX_OFFSETS)
        return false;
    f->offsets[f->n_offsets].expr = expr;
    f->offsets[f->n_offsets++].is_negated = is_negated;
    return true;
}

/* From a pointer to the parameter that it is made of. */
static bool read_pointer(const struct hone_cuda_gather *g, struct hone_cuda_factor *f,
                         const struct hone_c_node *p)
{
    for (int i = 0; i < 16; i++) {
        p = hone_cuda_behind(g->k, p);
        if (p->kind == HONE_C_REF) {
            f->root = p->decl;
            return f->root && f->root->kind == HONE_C_PARAM && is_pointer(f->root) &&
                   !hone_c_writes(g->k->function, f->root);
        }
        if (p->kind == HONE_C_UNARY && strcmp(p->op, "&") == 0) {
            p = hone_cuda_behind(g->k, p->first);
            if (p->kind != HONE_C_SUBSCRIPT || !add_offset(f, p->last, false))
                return false;
            p = p->first;
            continue;
        }
        bool is_sum = p->kind == HONE_C_BINARY && strcmp(p->op, "+") == 0,
             is_less = p->kind == HONE_C_BINARY && strcmp(p->op, "-") == 0;
        bool is_first = (is_sum || is_less) && is_pointer(p->first);
        if (!is_first && !(is_sum && is_pointer(p->last)))
            return false;
        if (!add_offset(f, is_first ? p->last : p->first, is_less))
            return false;
        p = is_first ? p->first : p->last;
    }
    return false;
}

static bool read_load(const struct hone_cuda_gather *g, struct hone_cuda_factor *f,
                      const struct hone_c_node *n)
{
    f->load = n;
    if (n->kind == HONE_C_SUBSCRIPT)
        return is_pointer(n->first) && add_offset(f, n->last, false) &&
               read_pointer(g, f, n->first);
    bool is_deref = n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0;
    return read_pointer(g, f, is_deref ? n->first : n);
}

/* Down to the load through parentheses, casts, locals, choices of zero and conversions. */
static bool read_factor(struct hone_cuda_gather *g, const struct hone_c_node *expr,
                        struct hone_cuda_factor *f)
{
    *f = (struct hone_cuda_factor){.expr = expr};
    const struct hone_c_node *n = expr;
    bool is_called = false;
    for (int i = 0; n && i < 32; i++) {
        n = hone_cuda_behind(g->k, n);
        bool is_call =
            n->kind == HONE_C_CALL && hone_c_n_children(n) == 2 && strncmp(n->name, "__", 2) == 0;
        if (n->kind == HONE_C_CAST)
            n = n->last;
        else if (n->kind == HONE_C_CONDITIONAL && !is_called)
            n = open_choice(g, n);
        else if (n->kind == HONE_C_UNARY && strcmp(n->op, "-") == 0)
            n = n->first;
        else if (is_call && is_pointer(n->last))
            return strncmp(n->name, "__ld", 4) == 0 && read_load(g, f, n->last);
        else if (is_call)
            n = n->last;
        else
            return (n->kind == HONE_C_SUBSCRIPT ||
                    (n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0)) &&
                   read_load(g, f, n);
        is_called = is_called || is_call;
    }
    return false;
}

/* ---- what they depend on ---- */

/* Is it what the digits give plus what the loops give? A sum in 32 bits without a sign is that of
 * 32 bits only: is_narrow says that it is read as such. */
static bool is_split(const struct hone_cuda_gather *g, const struct hone_c_node *n, bool is_narrow)
{
    unsigned m = hone_cuda_gather_mask(g, n);
    if (m & (HONE_CUDA_ON_MEMORY | HONE_CUDA_ON_UNKNOWN))
        return false;
    if (!(m & HONE_CUDA_ON_DIGITS) || !(m & HONE_CUDA_ON_SUM))
        return true;
    if (!is_integer(n) || (strcmp(plain_type(n->type), "unsigned int") == 0 && !is_narrow))
        return false;
    if (n->kind == HONE_C_PAREN || n->kind == HONE_C_CAST)
        return is_split(g, n->last, is_narrow);
    if (is_once(g->k, n))
        return is_split(g, n->decl->last, is_narrow);
    if (n->kind == HONE_C_UNARY)
        return strcmp(n->op, "-") == 0 && is_split(g, n->first, is_narrow);
    if (n->kind != HONE_C_BINARY)
        return false;
    if (strcmp(n->op, "*") == 0) {
        bool is_first = hone_cuda_gather_mask(g, n->first) == 0;
        return (is_first || hone_cuda_gather_mask(g, n->last) == 0) &&
               is_split(g, is_first ? n->last : n->first, is_narrow);
    }
    return (strcmp(n->op, "+") == 0 || strcmp(n->op, "-") == 0) &&
           is_split(g, n->first, is_narrow) && is_split(g, n->last, is_narrow);
}

bool hone_cuda_is_comparison(const struct hone_c_node *n)
{
    static const char *const ops[] = {"<", "<=", ">", ">=", "==", "!=", NULL};
    return n->kind == HONE_C_BINARY && is_one_of(n->op, ops);
}

bool hone_cuda_is_unsigned(const struct hone_c_node *n)
{
    const char *a = plain_type(n->first->type), *b = plain_type(n->last->type);
    bool is_long = strstr(a, "long") || strstr(b, "long");
    for (int i = 0; i < 2; i++) {
        const char *type = i == 0 ? a : b;
        if (strncmp(type, "unsigned", 8) == 0 && (!is_long || strstr(type, "long")))
            return true;
    }
    return false;
}

static bool is_side(const struct hone_cuda_gather *g, const struct hone_c_node *comparison,
                    const struct hone_c_node *side)
{
    return is_integer(side) &&
           is_split(g, side,
                    hone_cuda_is_unsigned(comparison) && strstr(side->type, "long") == NULL);
}

/* Comparisons of split numbers, joined; what is the same for all elements may be anything. */
static bool is_guard(const struct hone_cuda_gather *g, const struct hone_c_node *cond, bool is_bit)
{
    static const char *const joins[] = {"&&", "||", "&", "|", NULL};
    if (hone_cuda_gather_mask(g, cond) == 0)
        return !is_bit;
    const struct hone_c_node *n = hone_cuda_behind(g->k, cond);
    if (n->kind == HONE_C_UNARY)
        return strcmp(n->op, "!") == 0 && is_guard(g, n->first, false);
    if (hone_cuda_is_comparison(n))
        return is_side(g, n, n->first) && is_side(g, n, n->last);
    bool is_bits = n->kind == HONE_C_BINARY && strlen(n->op) == 1;
    return n->kind == HONE_C_BINARY && is_one_of(n->op, joins) && is_guard(g, n->first, is_bits) &&
           is_guard(g, n->last, is_bits);
}

static bool place_factor(const struct hone_cuda_gather *g, struct hone_cuda_factor *f)
{
    unsigned all = 0;
    for (size_t i = 0; i < f->n_offsets; i++) {
        if (!is_integer(f->offsets[i].expr) || !is_split(g, f->offsets[i].expr, false))
            return false;
        all |= hone_cuda_gather_mask(g, f->offsets[i].expr);
    }
    f->digits = all & HONE_CUDA_ON_DIGITS;
    return f->digits && (all & HONE_CUDA_ON_SUM);
}

/* Columns are what the guard asks about, else what runs along memory. */
static bool choose_sides(struct hone_cuda_gather *g)
{
    unsigned guard = 0;
    for (size_t i = 0; i < g->n_conds; i++) {
        if (!is_guard(g, g->conds[i].expr, false))
            return false;
        guard |= hone_cuda_gather_mask(g, g->conds[i].expr) & HONE_CUDA_ON_DIGITS;
    }
    if ((g->left.digits & g->right.digits) ||
        ((guard & g->left.digits) && (guard & g->right.digits)))
        return false;
    bool is_left = guard ? (guard & g->left.digits) != 0 : (g->left.digits & 1) != 0;
    if (is_left) {
        const struct hone_cuda_factor factor = g->left;
        g->left = g->right;
        g->right = factor;
    }
    g->rows = g->left.digits;
    g->columns = ((1u << g->digits.n) - 1) & ~g->rows;
    return true;
}

static bool has_fixed_bounds(const struct hone_cuda_gather *g)
{
    for (size_t i = 0; i < g->n_loops; i++)
        if (hone_cuda_gather_mask(g, g->loops[i]->lower) != 0 ||
            hone_cuda_gather_mask(g, g->loops[i]->upper) != 0)
            return false;
    return true;
}

/* A product of such factors is one in the sum's own type. */
static bool fits_type(const struct hone_cuda_gather *g, const struct hone_cuda_factor *f)
{
    static const char *const floats[] = {"float", NULL},
                             *const doubles[] = {"double", "float", NULL},
                             *const ints[] = {"int", "short", "signed char", "unsigned char", NULL};
    const char *type = g->acc->type;
    return is_one_of(f->expr->type, strcmp(type, "float") == 0    ? floats
                                    : strcmp(type, "double") == 0 ? doubles
                                                                  : ints);
}

/* ---- what is written ---- */

static const struct hone_c_node *argument(const struct hone_cuda_kernel *k,
                                          const struct hone_cuda_launch *l,
                                          const struct hone_c_node *param)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i] == param)
            return l->args[i];
    return NULL;
}

/* Are two parameters made of one pointer at some launch? */
static bool is_alias(const struct hone_cuda_kernel *k, const struct hone_c_node *a,
                     const struct hone_c_node *b)
{
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_c_node *x = argument(k, &k->launches[i], a),
                                 *y = argument(k, &k->launches[i], b);
        if (!x || !y || strcmp(hone_c_text(k->in->tree, x), hone_c_text(k->in->tree, y)) == 0)
            return true;
        for (const struct hone_c_node *n = x; n; n = hone_c_walk(x, n))
            if (n->kind == HONE_C_REF && n->decl && is_pointer(n->decl) && hone_c_uses(y, n->decl))
                return true;
    }
    return false;
}

/* Could the kernel write what the factor reads? */
static bool is_written(const struct hone_cuda_gather *g, const struct hone_cuda_factor *f)
{
    const struct hone_cuda_kernel *k = g->k;
    for (size_t i = 0; i < k->n_stmts; i++) {
        struct hone_c_access a[MAX_ACCESSES];
        size_t n = hone_c_accesses(k->function, k->stmts[i], a, MAX_ACCESSES);
        for (size_t j = 0; j < n && j < MAX_ACCESSES; j++) {
            const struct hone_c_node *root = a[j].root;
            bool is_param = root && root->kind == HONE_C_PARAM;
            if (a[j].is_write && (root == f->root || (is_param && is_alias(k, root, f->root))))
                return true;
        }
        for (const struct hone_c_node *c = k->stmts[i]; c; c = hone_c_walk(k->stmts[i], c))
            if (c->kind == HONE_C_CALL && c != k->stmts[i]->parent && hone_cuda_has_store(c) &&
                hone_c_uses(c, f->root))
                return true;
        if (n > MAX_ACCESSES)
            return true;
    }
    return false;
}

/* Do its threads know nothing of one another? */
static bool is_alone(const struct hone_cuda_kernel *k)
{
    static const char *const words[] = {"__shared__", "__sync", "__shfl", "__ballot", "asm"};
    const struct hone_c_node *all[MAX_REACHED];
    size_t n = hone_c_reached(k->in->tree, k->function, all, MAX_REACHED);
    for (size_t i = 0; i < n; i++) {
        const struct hone_c_node *f = all[i];
        if (n == MAX_REACHED || (i > 0 && hone_cuda_n_places(f->body) > 0))
            return false;
        for (size_t w = 0; w < HONE_COUNTOF(words); w++)
            if (memmem(k->in->tree->source + f->begin, f->end - f->begin, words[w],
                       strlen(words[w])))
                return false;
    }
    return true;
}

static bool is_own_local(const struct hone_cuda_gather *g)
{
    for (size_t i = 0; i < g->k->n_stmts && g->k->stmts[i] != g->nest; i++)
        if (g->acc->parent == g->k->stmts[i])
            return true;
    return false;
}

bool hone_cuda_read_gather(const struct hone_cuda_kernel *k, struct hone_cuda_gather *g)
{
    struct hone_cuda_contraction plain;
    const struct hone_c_node *factors[2];
    *g = (struct hone_cuda_gather){.k = k};
    g->nest = k->is_plain && k->n_axes > 0 ? only_nest(k) : NULL;
    const struct hone_c_node *update = g->nest ? read_nest(g, g->nest) : NULL;
    if (!update || hone_cuda_read_contraction(k, &plain) || !hone_cuda_read_digits(k, &g->digits) ||
        !read_update(g, update, factors) || !is_own_local(g))
        return false;
    if (strcmp(g->acc->type, "float") != 0 && strcmp(g->acc->type, "double") != 0 &&
        strcmp(g->acc->type, "int") != 0)
        return false;
    return read_factor(g, factors[0], &g->left) && read_factor(g, factors[1], &g->right) &&
           fits_type(g, &g->left) && fits_type(g, &g->right) && place_factor(g, &g->left) &&
           place_factor(g, &g->right) && has_fixed_bounds(g) && choose_sides(g) &&
           !is_written(g, &g->left) && !is_written(g, &g->right) && is_alone(k);
}
