/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what one step of an iterated stencil does to a point (cuda_time_tile.h).
 *
 * Guards are peeled off from the outside, `if (out) return;` and a last `if (in) {...}`. Their
 * comparisons of an axis with something fixed bound the points; what else they ask, and what the
 * statements inside ask before they store, says which of these points are written. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/cuda/cuda_time_tile.h"
#include "agents/source/cuda_normal.h"

enum { MAX_ACCESSES = 96, MAX_LEAVES = 24, MAX_GUARDS = 8, MAX_RADIUS = 8 };

struct leaf { /* what a guard asks */
    const struct hone_c_node *expr;
    bool is_negated, is_done;
};
struct reader {
    struct hone_time_step *s;
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *from, *to;
    const struct hone_c_node *core; /* first statement behind the guards */
    struct leaf leaves[MAX_LEAVES];
    const struct hone_c_node *guards[MAX_GUARDS];
    size_t n_leaves, n_guards, n_jumps; /* jumps that were understood */
    const char *why;
};

static const char *text_of(const struct reader *r, const struct hone_c_node *expr)
{
    struct hone_cuda_sub subs[HONE_CUDA_MAX_AXES];
    for (size_t i = 0; i < r->s->n_axes; i++)
        subs[i] = (struct hone_cuda_sub){r->s->axes[i].var, r->s->axes[i].var->name};
    return hone_cuda_inline(r->k, expr, subs, r->s->n_axes);
}

/* Does it depend on what steps change, or on a local that is set more than once? */
static bool is_changing(const struct reader *r, const struct hone_c_node *expr)
{
    return hone_cuda_depends(r->k, expr, r->from) || hone_cuda_depends(r->k, expr, r->to) ||
           !text_of(r, expr);
}

static bool depends_on_place(const struct reader *r, const struct hone_c_node *expr)
{
    for (size_t i = 0; i < r->s->n_axes; i++)
        if (hone_cuda_depends(r->k, expr, r->s->axes[i].var))
            return true;
    return false;
}

/* ---- axes ---- */

/* place, place + 1 */
static void read_axis(struct reader *r, const struct hone_c_node *stmt)
{
    const struct hone_c_node *v = stmt->kind == HONE_C_DECL_STMT ? stmt->first : NULL;
    if (!v || v != stmt->last || v->kind != HONE_C_VAR || !v->last ||
        r->s->n_axes == HONE_CUDA_MAX_AXES || hone_c_writes(r->k->function, v))
        return;
    struct hone_c_poly p = hone_c_poly_of(r->k->function, v->last);
    int64_t start = 0;
    for (size_t i = 0; p.is_known && i < p.n; i++) {
        if (p.terms[i].n_factors > 0)
            continue;
        start = p.terms[i].k;
        p.terms[i] = p.terms[--p.n];
        break;
    }
    for (const char *dim = "xyz"; *dim && start >= 0; dim++)
        if (hone_cuda_is_place(&p, *dim))
            r->s->axes[r->s->n_axes++] =
                (struct hone_time_axis){.stmt = stmt, .var = v, .dim = *dim, .start = start};
}

static struct hone_time_axis *axis_of(const struct reader *r, const struct hone_c_node *expr)
{
    expr = hone_c_strip(expr);
    for (size_t i = 0; expr && expr->kind == HONE_C_REF && i < r->s->n_axes; i++)
        if (r->s->axes[i].var == expr->decl)
            return &r->s->axes[i];
    return NULL;
}

static const char *read_axes(struct reader *r)
{
    size_t n_places = 0;
    for (const struct hone_c_node *s = r->k->function->body->first; s; s = s->next)
        read_axis(r, s);
    for (size_t i = 0; i < r->s->n_axes; i++)
        n_places += hone_cuda_n_places(r->s->axes[i].stmt);
    if (r->s->n_axes == 0)
        return "the step has no axis: a thread for each point is needed";
    return hone_cuda_n_places(r->k->function->body) != n_places
               ? "the step asks for its thread beside its axes"
               : NULL;
}

/* ---- guards ---- */

static void flatten(struct reader *r, const struct hone_c_node *cond, bool is_negated)
{
    const struct hone_c_node *e = hone_c_strip(cond);
    if (e->kind == HONE_C_UNARY && strcmp(e->op, "!") == 0) {
        flatten(r, e->first, !is_negated);
    } else if (e->kind == HONE_C_BINARY && strcmp(e->op, is_negated ? "||" : "&&") == 0) {
        flatten(r, e->first, is_negated);
        flatten(r, e->last, is_negated);
    } else if (r->n_leaves == MAX_LEAVES) {
        r->why = "the step's guards ask for too much";
    } else {
        r->leaves[r->n_leaves++] = (struct leaf){e, is_negated, false};
    }
}

static bool is_return(const struct reader *r, const struct hone_c_node *stmt)
{
    stmt = hone_c_only_stmt(stmt);
    return stmt && stmt->kind == HONE_C_JUMP &&
           strncmp(r->k->in->tree->source + stmt->begin, "return", 6) == 0;
}

static void add_guard(struct reader *r, const struct hone_c_node *s, bool is_negated)
{
    if (r->n_guards == MAX_GUARDS)
        r->why = "the step's guards ask for too much";
    else
        r->guards[r->n_guards++] = s;
    flatten(r, s->first, is_negated);
}

static void peel(struct reader *r, const struct hone_c_node *body)
{
    const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : body;
    for (; s; s = s->next) {
        bool is_guard = s->kind == HONE_C_IF && hone_c_n_children(s) == 2;
        if (s->kind == HONE_C_DECL_STMT)
            continue;
        if (is_guard && is_return(r, s->last)) {
            add_guard(r, s, true);
            r->n_jumps++;
            continue;
        }
        r->core = s;
        if (is_guard && (!s->next || s == body)) {
            add_guard(r, s, false);
            peel(r, s->last);
        }
        return;
    }
}

static void add_bound(struct hone_time_axis *a, bool is_low, const struct hone_c_node *expr,
                      int past)
{
    struct hone_time_bound *list = is_low ? a->low : a->high;
    size_t *n = is_low ? &a->n_low : &a->n_high;
    if (*n < HONE_TIME_MAX_BOUNDS)
        list[(*n)++] = (struct hone_time_bound){expr, past};
}

/* A comparison of an axis with something else. */
static void read_bound(struct reader *r, struct leaf *leaf)
{
    const struct hone_c_node *n = leaf->expr;
    if (n->kind != HONE_C_BINARY || !strchr("<>", n->op[0]) || strlen(n->op) > 2 ||
        (n->op[1] && n->op[1] != '='))
        return;
    struct hone_time_axis *left = axis_of(r, n->first), *right = axis_of(r, n->last),
                          *a = left ? left : right;
    const struct hone_c_node *limit = left ? n->last : n->first;
    if (!a || depends_on_place(r, limit) || is_changing(r, limit))
        return;
    bool is_greater = (n->op[0] == '>') == (left != NULL), is_equal = n->op[1] == '=';
    bool is_low = is_greater != leaf->is_negated;
    is_equal = is_equal != leaf->is_negated;
    add_bound(a, is_low, limit, is_low ? !is_equal : is_equal);
    leaf->is_done = true;
}

/* x != W - 1 beside x < W, and x != 0 beside x >= 0, take the last and the first point away. */
static void read_end(struct reader *r, struct leaf *leaf)
{
    const struct hone_c_node *n = leaf->expr, *f = r->k->function;
    if (leaf->is_done || n->kind != HONE_C_BINARY ||
        strcmp(n->op, leaf->is_negated ? "==" : "!=") != 0)
        return;
    struct hone_time_axis *left = axis_of(r, n->first), *a = left ? left : axis_of(r, n->last);
    const struct hone_c_node *limit = left ? n->last : n->first;
    if (!a || depends_on_place(r, limit) || is_changing(r, limit))
        return;
    struct hone_c_poly at = hone_c_poly_of(f, limit);
    int64_t apart;
    for (size_t i = 0; i < a->n_high && !leaf->is_done; i++) {
        struct hone_c_poly high = hone_c_poly_of(f, a->high[i].expr);
        if (hone_c_poly_distance(&high, &at, &apart) && apart + a->high[i].past == 1) {
            add_bound(a, false, limit, 0);
            leaf->is_done = true;
        }
    }
    struct hone_c_poly start = {.is_known = true, .n = a->start != 0, .terms = {{.k = a->start}}};
    if (!leaf->is_done && hone_c_poly_distance(&start, &at, &apart) && apart == 0) {
        add_bound(a, true, limit, 1);
        leaf->is_done = true;
    }
}

static void add_written(struct reader *r, const char *text)
{
    const char *so_far = r->s->written;
    r->s->written = so_far ? hone_pool_printf(r->k->in->pool, "%s && %s", so_far, text) : text;
}

static const char *read_guards(struct reader *r)
{
    peel(r, r->k->function->body);
    for (size_t i = 0; i < r->n_leaves; i++)
        read_bound(r, &r->leaves[i]);
    for (size_t i = 0; i < r->n_leaves; i++)
        read_end(r, &r->leaves[i]);
    for (size_t i = 0; i < r->n_leaves; i++) {
        struct leaf *leaf = &r->leaves[i];
        if (leaf->is_done)
            continue;
        if (is_changing(r, leaf->expr))
            return "a value that steps change decides whether a point is stored";
        add_written(r, hone_pool_printf(r->k->in->pool, "%s(%s)", leaf->is_negated ? "!" : "",
                                        text_of(r, leaf->expr)));
    }
    for (size_t i = 0; i < r->s->n_axes; i++)
        if (r->s->axes[i].n_high == 0)
            return "an axis of the step has no upper bound in its guards";
    return r->core ? r->why : "the step stores nothing";
}

/* ---- which points are stored ---- */

enum kind { NEVER, ALWAYS, SOMETIMES };
struct when {
    enum kind kind;
    const char *text;
};

static bool has_store(const struct reader *r, const struct hone_c_node *top)
{
    for (size_t i = 0; i < r->s->n_stores; i++)
        if (hone_c_contains(top, r->s->stores[i]))
            return true;
    return false;
}

static const char *word_of(struct when w)
{
    return w.kind == SOMETIMES ? w.text : w.kind == ALWAYS ? "true" : "false";
}

static struct when either(struct reader *r, const struct hone_c_node *cond, struct when yes,
                          struct when no)
{
    struct hone_pool *pool = r->k->in->pool;
    if (yes.kind == no.kind && yes.kind != SOMETIMES)
        return yes;
    if (is_changing(r, cond)) {
        r->why = "a value that steps change decides whether a point is stored";
        return yes;
    }
    const char *text = text_of(r, cond);
    if (yes.kind == ALWAYS && no.kind == NEVER)
        return (struct when){SOMETIMES, hone_pool_printf(pool, "(%s)", text)};
    if (yes.kind == NEVER && no.kind == ALWAYS)
        return (struct when){SOMETIMES, hone_pool_printf(pool, "!(%s)", text)};
    return (struct when){
        SOMETIMES, hone_pool_printf(pool, "((%s) ? %s : %s)", text, word_of(yes), word_of(no))};
}

/* Does the branch end with a return? */
static bool leaves(struct reader *r, const struct hone_c_node *s)
{
    const struct hone_c_node *last = s->kind == HONE_C_COMPOUND ? s->last : s;
    if (!last || !is_return(r, last))
        return false;
    r->n_jumps++;
    return true;
}

static struct when when_list(struct reader *r, const struct hone_c_node *s);

static struct when when_one(struct reader *r, const struct hone_c_node *s)
{
    return s->kind == HONE_C_COMPOUND ? when_list(r, s->first)
           : s->kind == HONE_C_IF     ? when_list(r, s)
           : has_store(r, s)          ? (struct when){ALWAYS, NULL}
                                      : (struct when){NEVER, NULL};
}

/* From the statement to the end of its block. */
static struct when when_list(struct reader *r, const struct hone_c_node *s)
{
    const struct when never = {NEVER, NULL};
    if (!s)
        return never;
    const struct hone_c_node *next = s->parent->kind == HONE_C_COMPOUND ? s->next : NULL;
    if (s->kind == HONE_C_IF) {
        const struct hone_c_node *no = hone_c_n_children(s) == 3 ? s->last : NULL;
        struct when yes = when_one(r, s->first->next);
        if (leaves(r, s->first->next)) {
            struct when other = no ? when_one(r, no) : never, rest = when_list(r, next);
            if (other.kind != NEVER && rest.kind != NEVER)
                r->why = "the step stores in several places that cannot be told apart";
            return either(r, s->first, yes, other.kind == NEVER ? rest : other);
        }
        struct when here = either(r, s->first, yes, no ? when_one(r, no) : never);
        struct when rest = when_list(r, next);
        if (here.kind == SOMETIMES && rest.kind == SOMETIMES)
            r->why = "the step stores in several places that cannot be told apart";
        return here.kind == ALWAYS || rest.kind == NEVER ? here : rest;
    }
    struct when here = when_one(r, s);
    if (here.kind == ALWAYS || s->kind == HONE_C_JUMP)
        return here;
    struct when rest = when_list(r, next);
    if (here.kind == SOMETIMES && rest.kind != NEVER)
        r->why = "the step stores in several places that cannot be told apart";
    return here.kind == SOMETIMES ? here : rest;
}

static const char *read_stored(struct reader *r)
{
    struct when w = when_list(r, r->core);
    size_t n_jumps = 0;
    for (const struct hone_c_node *n = r->k->function->body; n;
         n = hone_c_walk(r->k->function->body, n))
        n_jumps += n->kind == HONE_C_JUMP;
    if (r->why)
        return r->why;
    if (n_jumps != r->n_jumps)
        return "the step returns from the middle of a branch";
    if (w.kind == NEVER)
        return "the step stores nothing";
    if (w.kind == SOMETIMES)
        add_written(r, w.text);
    return NULL;
}

/* ---- accesses ---- */

/* What stands beside the variable; unknown where it stands twice. */
static struct hone_c_poly beside(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    struct hone_c_poly out = {.is_known = p->is_known};
    for (size_t i = 0; i < p->n && out.is_known; i++) {
        struct hone_c_poly one = {.is_known = true, .n = 1, .terms = {p->terms[i]}};
        struct hone_c_term *t = &one.terms[0];
        size_t n = 0;
        for (size_t f = t->n_factors; f-- > 0;) {
            if (t->factors[f].decl != var)
                continue;
            n++;
            t->factors[f] = t->factors[--t->n_factors];
        }
        out.is_known = n < 2;
        if (n == 1)
            out = hone_c_poly_sum(&out, &one, 1);
    }
    return out;
}

/* Takes whole multiples of the row's pitch away; returns how many. */
static int64_t take_rows(struct hone_c_poly *p, const struct hone_c_poly *pitch)
{
    const struct hone_c_term *lead = &pitch->terms[0];
    for (size_t i = 1; i < pitch->n; i++)
        if (pitch->terms[i].n_factors > lead->n_factors)
            lead = &pitch->terms[i];
    int64_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!hone_c_same_factors(&p->terms[i], lead))
            continue;
        int64_t k = p->terms[i].k, half = llabs(lead->k) / 2;
        n = lead->n_factors > 0 ? k / lead->k : (k + (k < 0 ? -half : half)) / lead->k;
        break;
    }
    struct hone_c_poly times = {.is_known = true, .n = n != 0, .terms = {{.k = n}}};
    times = hone_c_poly_product(pitch, &times);
    *p = hone_c_poly_sum(p, &times, -1);
    return n;
}

static void widen(struct hone_time_axis *a, int64_t d)
{
    if (a && llabs(d) > a->radius)
        a->radius = (int)llabs(d);
}

static bool is_guard(const struct reader *r, const struct hone_c_node *s)
{
    for (size_t i = 0; i < r->n_guards; i++)
        if (r->guards[i] == s)
            return true;
    return false;
}

static const char *also(const struct reader *r, const char *path, const struct hone_c_node *cond,
                        bool is_negated)
{
    if (is_changing(r, cond))
        return path;
    const char *text =
        hone_pool_printf(r->k->in->pool, "%s(%s)", is_negated ? "!" : "", text_of(r, cond));
    return *path ? hone_pool_printf(r->k->in->pool, "%s && %s", text, path) : text;
}

/* What a point asks about its place, beside the guards, before it comes to the node. */
static const char *path_of(const struct reader *r, const struct hone_c_node *node)
{
    const char *out = r->s->written ? r->s->written : ""; /* so far what guards ask beside bounds */
    for (const struct hone_c_node *n = node; n != r->k->function->body; n = n->parent) {
        const struct hone_c_node *p = n->parent;
        bool is_choice = (p->kind == HONE_C_IF && !is_guard(r, p)) || p->kind == HONE_C_CONDITIONAL;
        bool is_and = p->kind == HONE_C_BINARY && strcmp(p->op, "&&") == 0,
             is_or = p->kind == HONE_C_BINARY && strcmp(p->op, "||") == 0;
        if ((is_choice || is_and || is_or) && n != p->first)
            out = also(r, out, p->first, is_or || (is_choice && n != p->first->next));
        if (p->kind != HONE_C_COMPOUND)
            continue;
        for (const struct hone_c_node *s = p->first; s != n; s = s->next) {
            const struct hone_c_node *yes = s->kind == HONE_C_IF ? s->first->next : NULL;
            if (yes && !is_guard(r, s) &&
                is_return(r, yes->kind == HONE_C_COMPOUND ? yes->last : yes))
                out = also(r, out, s->first, true);
        }
    }
    return *out ? out : "true";
}

static const char *add_read(struct reader *r, const struct hone_c_access *a,
                            const struct hone_c_poly *centre)
{
    struct hone_time_step *s = r->s;
    struct hone_c_poly d = hone_c_poly_sum(&a->index, centre, -1);
    int64_t dy = 0;
    if (s->y) {
        struct hone_c_poly pitch = beside(centre, s->y->var);
        dy = take_rows(&d, &pitch);
    }
    bool is_number = d.is_known && (d.n == 0 || (d.n == 1 && d.terms[0].n_factors == 0));
    int64_t dx = d.n == 1 ? d.terms[0].k : 0;
    if (!is_number)
        return "the step reads at places that are no fixed distance from the point";
    if (llabs(dx) > MAX_RADIUS || llabs(dy) > MAX_RADIUS)
        return "the step reads too far from the point";
    if (s->n_reads == HONE_TIME_MAX_READS)
        return "the step reads too many points";
    s->reads[s->n_reads++] =
        (struct hone_time_read){a->node, (int)dx, (int)dy, path_of(r, a->node)};
    widen(s->x, dx);
    widen(s->y, dy);
    return NULL;
}

/* x runs along memory; along y a step reads too; a plane is what is left. */
static const char *name_axes(struct reader *r, const struct hone_c_poly *centre,
                             const struct hone_c_access *a, size_t n)
{
    struct hone_time_step *s = r->s;
    for (size_t i = 0; i < s->n_axes; i++) {
        struct hone_time_axis *axis = &s->axes[i];
        struct hone_c_poly by = beside(centre, axis->var);
        if (!by.is_known || by.n == 0)
            return "a step's point does not move with each axis";
        if (hone_c_poly_stride(centre, axis->var) == HONE_C_STRIDE_UNIT && !s->x) {
            s->x = axis;
            continue;
        }
        bool is_read_along = false;
        for (size_t j = 0; j < n; j++) {
            struct hone_c_poly d = hone_c_poly_sum(&a[j].index, centre, -1);
            is_read_along |= a[j].root == r->from && d.is_known && take_rows(&d, &by) != 0;
        }
        if (!is_read_along && (s->n_axes == 3 || s->plane) && !s->plane)
            s->plane = axis;
        else if (s->y)
            return "the step reads along three axes";
        else
            s->y = axis;
    }
    return s->x ? NULL : "no axis of the step runs along memory";
}

static bool is_assigned(const struct hone_c_node *n)
{
    const struct hone_c_node *p = n->parent;
    while (p && p->kind == HONE_C_PAREN)
        p = p->parent;
    return p && p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0 && hone_c_contains(p->first, n);
}

static const char *read_stores(struct reader *r, const struct hone_c_access *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_local = a[i].root && a[i].root->kind == HONE_C_VAR;
        if (!a[i].is_write || is_local)
            continue;
        if (a[i].root != r->to)
            return "a step changes two arrays";
        if (a[i].is_read || !is_assigned(a[i].node))
            return "the step reads what it writes";
        if (!a[i].index.is_known || r->s->n_stores == HONE_TIME_MAX_STORES)
            return "the step's stores could not be read";
        r->s->stores[r->s->n_stores++] = a[i].node;
    }
    return r->s->n_stores == 0 ? "the step stores nothing" : NULL;
}

static const char *read_accesses(struct reader *r)
{
    struct hone_c_access a[MAX_ACCESSES];
    struct hone_c_poly centre = {.is_known = false};
    size_t n = hone_c_accesses(r->k->function, r->k->function->body, a, MAX_ACCESSES);
    if (n > MAX_ACCESSES)
        return "the step reads too many points";
    const char *why = read_stores(r, a, n);
    if (why)
        return why;
    for (size_t i = 0; i < n; i++) {
        if (!a[i].root)
            return "the step uses an array that could not be read";
        if (a[i].root != r->to)
            continue;
        if (!a[i].is_write)
            return "the step reads what it writes";
        if (centre.is_known && !hone_cuda_same_poly(&centre, &a[i].index))
            return "the step writes two points";
        centre = a[i].index;
    }
    if ((why = name_axes(r, &centre, a, n)))
        return why;
    for (size_t i = 0; i < n && !why; i++)
        if (a[i].root == r->from)
            why = add_read(r, &a[i], &centre);
    return why;
}

/* ---- conditions about the place ---- */

static bool guess(const struct reader *r, const struct hone_c_node *cond)
{
    const struct hone_c_node *e = hone_c_strip(cond);
    bool is_once = e->kind == HONE_C_REF && e->decl && e->decl->kind == HONE_C_VAR && e->decl->last;
    if (is_once)
        return guess(r, e->decl->last);
    if (e->kind == HONE_C_UNARY && strcmp(e->op, "!") == 0)
        return !guess(r, e->first);
    return !(e->kind == HONE_C_BINARY &&
             (strcmp(e->op, "||") == 0 || strcmp(e->op, "==") == 0 || strcmp(e->op, "|") == 0));
}

static void read_conds(struct reader *r)
{
    const struct hone_c_node *body = r->k->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind != HONE_C_IF && n->kind != HONE_C_CONDITIONAL)
            continue;
        const char *text = text_of(r, n->first);
        if (!text || strpbrk(text, "[?") || is_changing(r, n->first) ||
            !depends_on_place(r, n->first) || r->s->n_conds == HONE_TIME_MAX_CONDS)
            continue;
        bool is_short = n->kind == HONE_C_IF && hone_c_n_children(n) == 2;
        const struct hone_c_node *end =
            is_short && n->last->kind == HONE_C_COMPOUND ? n->last->last : NULL;
        bool is_true = !is_short                  ? guess(r, n->first)
                       : is_return(r, n->last)    ? false
                       : end && is_return(r, end) ? guess(r, n->first)
                                                  : true;
        r->s->conds[r->s->n_conds++] = (struct hone_time_cond){n->first, is_true};
    }
}

/* ---- the whole ---- */

static const char *check_statements(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *body = k->function->body;
    if (!hone_cuda_may_regrid(k, body->first ? body->first : body))
        return "threads of the step work together";
    if (hone_c_pointer_call(body))
        return "the step hands an array to a function";
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
            return "a loop stands inside the step";
        if (n->kind == HONE_C_CALL &&
            (strcmp(n->type, "void") == 0 || strncmp(n->name, "atomic", 6) == 0))
            return "the step does more than store its point";
    }
    return NULL;
}

/* Where bounds begin behind the first point, or a read asks for no more than the guards did, steps
 * read beyond the bounds. */
static bool keeps_points(const struct hone_time_step *s)
{
    for (size_t i = 0; i < s->n_axes; i++)
        if (s->axes[i].radius > 0 && (s->axes[i].start > 0 || s->axes[i].n_low > 0))
            return true;
    for (size_t i = 0; i < s->n_reads; i++)
        if ((s->reads[i].dx || s->reads[i].dy) && strcmp(s->reads[i].path, "true") == 0)
            return true;
    return s->written != NULL;
}

/* The kernel with this parameter as the array that is read. */
static const char *read_step(const struct hone_cuda_kernel *k, size_t from,
                             struct hone_time_step *s)
{
    struct reader r = {.s = s, .k = k, .from = k->params[from]};
    *s = (struct hone_time_step){.k = k, .from = from, .to = k->n_params};
    const char *why = check_statements(k);
    if (why)
        return why;
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(k->function, k->function->body, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        for (size_t p = 0; p < k->n_params; p++)
            if (a[i].is_write && a[i].root == k->params[p]) {
                if (s->to != k->n_params && s->to != p)
                    return "a step changes two arrays";
                s->to = p;
            }
    if (s->to == k->n_params)
        return "the step stores nothing that could be read";
    if (s->to == from)
        return "the step reads what it writes";
    r.to = k->params[s->to];
    s->type = hone_element_type(k->in, r.from);
    const char *to_type = hone_element_type(k->in, r.to);
    if (!s->type || !to_type || strcmp(s->type, to_type) != 0 || hone_cuda_type_bytes(s->type) == 0)
        return "the two arrays have no common type of numbers";
    if ((why = read_axes(&r)) || (why = read_guards(&r)) || (why = read_accesses(&r)) ||
        (why = read_stored(&r)))
        return why;
    if (s->x->radius == 0 && (!s->y || s->y->radius == 0))
        return "the step reads no neighbour";
    s->keeps_points = keeps_points(s);
    s->written = s->written ? s->written : "true";
    read_conds(&r);
    return NULL;
}

/* Of several arrays that are read the launcher shows which one is written by turns. */
const char *hone_time_read(const struct hone_cuda_kernel *k, struct hone_time_step *s,
                           struct hone_time_loop *loop)
{
    const char *first = NULL;
    for (size_t i = 0; i < k->n_params; i++) {
        if (!strchr(k->params[i]->type, '*'))
            continue;
        const char *why = read_step(k, i, s);
        why = why ? why : hone_time_read_loop(s, loop);
        if (!why)
            return NULL;
        bool is_written = i == s->to;
        first = !first || (!is_written && s->n_reads > 1) ? why : first;
    }
    return first ? first : "the kernel has no array";
}
