/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what one step of an iterated stencil does to a point (cuda_time_tile.h).
 *
 * Guards are peeled off from the outside, `if (out) return;` and a last `if (in) {...}`. Their
 * comparisons of an axis with something fixed bound the points; what else they ask, and what the
 * statements inside ask before they store, says which of these points are written. */
#include <string.h>

#include "agents/rewrites/cuda/cuda_time_read.h"
#include "agents/source/cuda_normal.h"

const char *hone_time_text(const struct hone_time_step *s, const struct hone_c_node *expr)
{
    struct hone_cuda_sub subs[HONE_CUDA_MAX_AXES];
    for (size_t i = 0; i < s->n_axes; i++)
        subs[i] = (struct hone_cuda_sub){s->axes[i].var, s->axes[i].var->name};
    return hone_cuda_inline(s->k, expr, subs, s->n_axes);
}

bool hone_time_is_changing(const struct hone_time_reader *r, const struct hone_c_node *expr)
{
    return hone_cuda_depends(r->k, expr, r->from) || hone_cuda_depends(r->k, expr, r->to) ||
           !hone_time_text(r->s, expr);
}

static bool depends_on_place(const struct hone_time_reader *r, const struct hone_c_node *expr)
{
    for (size_t i = 0; i < r->s->n_axes; i++)
        if (hone_cuda_depends(r->k, expr, r->s->axes[i].var))
            return true;
    return false;
}

/* ---- axes ---- */

/* place, place + 1 */
static void read_axis(struct hone_time_reader *r, const struct hone_c_node *stmt)
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

static struct hone_time_axis *axis_of(const struct hone_time_reader *r,
                                      const struct hone_c_node *expr)
{
    expr = hone_c_strip(expr);
    for (size_t i = 0; expr && expr->kind == HONE_C_REF && i < r->s->n_axes; i++)
        if (r->s->axes[i].var == expr->decl)
            return &r->s->axes[i];
    return NULL;
}

static const char *read_axes(struct hone_time_reader *r)
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

static void flatten(struct hone_time_reader *r, const struct hone_c_node *cond, bool is_negated)
{
    const struct hone_c_node *e = hone_c_strip(cond);
    if (e->kind == HONE_C_UNARY && strcmp(e->op, "!") == 0) {
        flatten(r, e->first, !is_negated);
    } else if (e->kind == HONE_C_BINARY && strcmp(e->op, is_negated ? "||" : "&&") == 0) {
        flatten(r, e->first, is_negated);
        flatten(r, e->last, is_negated);
    } else if (r->n_leaves == HONE_TIME_MAX_LEAVES) {
        r->why = "the step's guards ask for too much";
    } else {
        r->leaves[r->n_leaves++] = (struct hone_time_leaf){e, is_negated, false};
    }
}

static void add_guard(struct hone_time_reader *r, const struct hone_c_node *s, bool is_negated)
{
    if (r->n_guards == HONE_TIME_MAX_GUARDS)
        r->why = "the step's guards ask for too much";
    else
        r->guards[r->n_guards++] = s;
    flatten(r, s->first, is_negated);
}

static void peel(struct hone_time_reader *r, const struct hone_c_node *body)
{
    const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : body;
    for (; s; s = s->next) {
        bool is_guard = s->kind == HONE_C_IF && hone_c_n_children(s) == 2;
        if (s->kind == HONE_C_DECL_STMT)
            continue;
        if (is_guard && hone_cuda_is_return(r->k->in->tree, s->last)) {
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
static void read_bound(struct hone_time_reader *r, struct hone_time_leaf *leaf)
{
    const struct hone_c_node *n = leaf->expr;
    if (n->kind != HONE_C_BINARY || !strchr("<>", n->op[0]) || strlen(n->op) > 2 ||
        (n->op[1] && n->op[1] != '='))
        return;
    struct hone_time_axis *left = axis_of(r, n->first), *right = axis_of(r, n->last),
                          *a = left ? left : right;
    const struct hone_c_node *limit = left ? n->last : n->first;
    if (!a || depends_on_place(r, limit) || hone_time_is_changing(r, limit))
        return;
    bool is_greater = (n->op[0] == '>') == (left != NULL), is_equal = n->op[1] == '=';
    bool is_low = is_greater != leaf->is_negated;
    is_equal = is_equal != leaf->is_negated;
    add_bound(a, is_low, limit, is_low ? !is_equal : is_equal);
    leaf->is_done = true;
}

/* x != W - 1 beside x < W, and x != 0 beside x >= 0, take the last and the first point away. */
static void read_end(struct hone_time_reader *r, struct hone_time_leaf *leaf)
{
    const struct hone_c_node *n = leaf->expr, *f = r->k->function;
    if (leaf->is_done || n->kind != HONE_C_BINARY ||
        strcmp(n->op, leaf->is_negated ? "==" : "!=") != 0)
        return;
    struct hone_time_axis *left = axis_of(r, n->first), *a = left ? left : axis_of(r, n->last);
    const struct hone_c_node *limit = left ? n->last : n->first;
    if (!a || depends_on_place(r, limit) || hone_time_is_changing(r, limit))
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

static void add_written(struct hone_time_reader *r, const char *text)
{
    const char *so_far = r->s->written;
    r->s->written = so_far ? hone_pool_printf(r->k->in->pool, "%s && %s", so_far, text) : text;
}

static const char *read_guards(struct hone_time_reader *r)
{
    peel(r, r->k->function->body);
    for (size_t i = 0; i < r->n_leaves; i++)
        read_bound(r, &r->leaves[i]);
    for (size_t i = 0; i < r->n_leaves; i++)
        read_end(r, &r->leaves[i]);
    for (size_t i = 0; i < r->n_leaves; i++) {
        struct hone_time_leaf *leaf = &r->leaves[i];
        if (leaf->is_done)
            continue;
        if (hone_time_is_changing(r, leaf->expr))
            return "a value that steps change decides whether a point is stored";
        add_written(r, hone_pool_printf(r->k->in->pool, "%s(%s)", leaf->is_negated ? "!" : "",
                                        hone_time_text(r->s, leaf->expr)));
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

static bool has_store(const struct hone_time_reader *r, const struct hone_c_node *top)
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

static struct when either(struct hone_time_reader *r, const struct hone_c_node *cond,
                          struct when yes, struct when no)
{
    struct hone_pool *pool = r->k->in->pool;
    if (yes.kind == no.kind && yes.kind != SOMETIMES)
        return yes;
    if (hone_time_is_changing(r, cond)) {
        r->why = "a value that steps change decides whether a point is stored";
        return yes;
    }
    const char *text = hone_time_text(r->s, cond);
    if (yes.kind == ALWAYS && no.kind == NEVER)
        return (struct when){SOMETIMES, hone_pool_printf(pool, "(%s)", text)};
    if (yes.kind == NEVER && no.kind == ALWAYS)
        return (struct when){SOMETIMES, hone_pool_printf(pool, "!(%s)", text)};
    return (struct when){
        SOMETIMES, hone_pool_printf(pool, "((%s) ? %s : %s)", text, word_of(yes), word_of(no))};
}

/* Does the branch end with a return? */
static bool leaves(struct hone_time_reader *r, const struct hone_c_node *s)
{
    const struct hone_c_node *last = s->kind == HONE_C_COMPOUND ? s->last : s;
    if (!last || !hone_cuda_is_return(r->k->in->tree, last))
        return false;
    r->n_jumps++;
    return true;
}

static struct when when_list(struct hone_time_reader *r, const struct hone_c_node *s);

static struct when when_one(struct hone_time_reader *r, const struct hone_c_node *s)
{
    return s->kind == HONE_C_COMPOUND ? when_list(r, s->first)
           : s->kind == HONE_C_IF     ? when_list(r, s)
           : has_store(r, s)          ? (struct when){ALWAYS, NULL}
                                      : (struct when){NEVER, NULL};
}

/* From the statement to the end of its block. */
static struct when when_list(struct hone_time_reader *r, const struct hone_c_node *s)
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

static const char *read_stored(struct hone_time_reader *r)
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

/* ---- conditions about the place ---- */

static bool guess(const struct hone_time_reader *r, const struct hone_c_node *cond)
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

static void read_conds(struct hone_time_reader *r)
{
    const struct hone_c_node *body = r->k->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind != HONE_C_IF && n->kind != HONE_C_CONDITIONAL)
            continue;
        const char *text = hone_time_text(r->s, n->first);
        if (!text || strpbrk(text, "[?") || hone_time_is_changing(r, n->first) ||
            !depends_on_place(r, n->first) || r->s->n_conds == HONE_TIME_MAX_CONDS)
            continue;
        bool is_short = n->kind == HONE_C_IF && hone_c_n_children(n) == 2;
        const struct hone_c_node *end =
            is_short && n->last->kind == HONE_C_COMPOUND ? n->last->last : NULL;
        bool is_true = !is_short                                         ? guess(r, n->first)
                       : hone_cuda_is_return(r->k->in->tree, n->last)    ? false
                       : end && hone_cuda_is_return(r->k->in->tree, end) ? guess(r, n->first)
                                                                         : true;
        r->s->conds[r->s->n_conds++] = (struct hone_time_cond){n->first, is_true};
    }
}

/* ---- the whole ---- */

static bool hands_pointer(const struct hone_c_node *call)
{
    for (const struct hone_c_node *c = call->first ? call->first->next : NULL; c; c = c->next)
        if (strpbrk(c->type, "*["))
            return true;
    return false;
}

static const char *check_statements(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *body = k->function->body;
    if (!hone_cuda_may_regrid(k, body->first ? body->first : body))
        return "threads of the step work together";
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
            return "a loop stands inside the step";
        if (n->kind == HONE_C_CALL && !hone_time_is_load(n) && hands_pointer(n))
            return "the step hands an array to a function";
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
        if ((s->reads[i].dx || s->reads[i].dy) && !s->reads[i].x_var && !s->reads[i].y_var &&
            strcmp(s->reads[i].path, "true") == 0)
            return true;
    return s->written != NULL;
}

/* The kernel with this parameter as the array that is read. */
static const char *read_step(const struct hone_cuda_kernel *k, size_t from,
                             struct hone_time_step *s)
{
    struct hone_time_reader r = {.s = s, .k = k, .from = k->params[from]};
    *s = (struct hone_time_step){.k = k, .from = from, .to = k->n_params};
    const char *why = check_statements(k);
    if (why)
        return why;
    struct hone_c_access a[HONE_TIME_MAX_ACCESSES];
    size_t n = hone_c_accesses(k->function, k->function->body, a, HONE_TIME_MAX_ACCESSES);
    for (size_t i = 0; i < n && i < HONE_TIME_MAX_ACCESSES; i++)
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
    if ((why = read_axes(&r)) || (why = read_guards(&r)) || (why = hone_time_read_places(&r)) ||
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
