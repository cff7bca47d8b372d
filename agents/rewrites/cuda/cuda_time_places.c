/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements a step of a stencil reads and writes (cuda_time_read.h): the point that it writes,
 * and how far from it each element lies that it reads. A local that is a neighbour's index but at
 * the end, max(x - 1, 0), is read as x - 1; its value says at the point which element it is. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/cuda/cuda_time_read.h"

enum { MAX_RADIUS = 8 };

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

static bool is_guard(const struct hone_time_reader *r, const struct hone_c_node *s)
{
    for (size_t i = 0; i < r->n_guards; i++)
        if (r->guards[i] == s)
            return true;
    return false;
}

static const char *also(const struct hone_time_reader *r, const char *path,
                        const struct hone_c_node *cond, bool is_negated)
{
    if (hone_time_is_changing(r, cond))
        return path;
    const char *text = hone_pool_printf(r->k->in->pool, "%s(%s)", is_negated ? "!" : "",
                                        hone_time_text(r->s, cond));
    return *path ? hone_pool_printf(r->k->in->pool, "%s && %s", text, path) : text;
}

/* What a point asks about its place, beside the guards, before it comes to the node. */
static const char *path_of(const struct hone_time_reader *r, const struct hone_c_node *node)
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
                hone_cuda_is_return(r->k->in->tree, yes->kind == HONE_C_COMPOUND ? yes->last : yes))
                out = also(r, out, s->first, true);
        }
    }
    return *out ? out : "true";
}

static struct hone_c_poly poly_of_axis(const struct hone_time_axis *a, int64_t more)
{
    struct hone_c_poly out = {.is_known = true, .n = 1};
    out.terms[0] =
        (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{a->var, a->var->name}}};
    if (more != 0)
        out.terms[out.n++] = (struct hone_c_term){.k = more};
    return out;
}

/* Is it the last point towards which k goes, or nearer? */
static bool is_end(const struct hone_time_reader *r, const struct hone_time_axis *a,
                   const struct hone_c_node *expr, int64_t k)
{
    struct hone_c_poly at = hone_c_poly_of(r->k->function, expr), axis = poly_of_axis(a, 0),
                       start = {.is_known = true, .n = a->start != 0, .terms = {{.k = a->start}}};
    int64_t apart;
    if (hone_c_poly_distance(&at, &axis, &apart))
        return llabs(apart) <= llabs(k);
    if (k < 0)
        return hone_c_poly_distance(&at, &start, &apart) && apart >= k && apart <= 0;
    for (size_t i = 0; i < a->n_high; i++) {
        struct hone_c_poly high = hone_c_poly_of(r->k->function, a->high[i].expr);
        if (hone_c_poly_distance(&high, &at, &apart) && apart + a->high[i].past >= 1 &&
            apart + a->high[i].past <= k)
            return true;
    }
    return false;
}

/* max(x - 1, 0), x + 1 < W ? x + 1 : x: a local that is x + k but for the points at the end. */
static bool read_held(const struct hone_time_reader *r, const struct hone_c_node *var,
                      const struct hone_time_axis *a, int *ret_k)
{
    const struct hone_c_node *e = hone_c_strip(var->last);
    bool is_call = e->kind == HONE_C_CALL && hone_c_n_children(e) == 3 &&
                   (strcmp(e->name, "max") == 0 || strcmp(e->name, "min") == 0);
    if (!is_call && (e->kind != HONE_C_CONDITIONAL || hone_time_is_changing(r, e->first)))
        return false;
    const struct hone_c_node *sides[2] = {e->first->next, e->last};
    for (size_t i = 0; i < 2; i++) {
        struct hone_c_poly side = hone_c_poly_of(r->k->function, sides[i]),
                           axis = poly_of_axis(a, 0);
        int64_t k;
        if (hone_c_poly_distance(&side, &axis, &k) && k != 0 && llabs(k) <= MAX_RADIUS &&
            is_end(r, a, sides[1 - i], k)) {
            *ret_k = (int)k;
            return true;
        }
    }
    return false;
}

/* Puts x + k in the place of such a local. */
static void open_held(const struct hone_time_reader *r, struct hone_c_poly *p,
                      struct hone_time_axis *a, const struct hone_c_node **ret_var, int *ret_k)
{
    struct hone_c_poly out = {.is_known = p->is_known};
    for (size_t i = 0; i < p->n; i++) {
        struct hone_c_poly one = {.is_known = true, .n = 1, .terms = {p->terms[i]}};
        struct hone_c_term *t = &one.terms[0];
        for (size_t f = 0; f < t->n_factors; f++) {
            const struct hone_c_node *d = t->factors[f].decl;
            int k;
            if (!d || d->kind != HONE_C_VAR || !d->last || d == a->var ||
                (*ret_var && *ret_var != d) || hone_c_writes(r->k->function, d) ||
                !read_held(r, d, a, &k))
                continue;
            t->factors[f] = t->factors[--t->n_factors];
            struct hone_c_poly at = poly_of_axis(a, k);
            one = hone_c_poly_product(&one, &at);
            *ret_var = d;
            *ret_k = k;
            break;
        }
        out = hone_c_poly_sum(&out, &one, 1);
    }
    *p = out;
}

bool hone_time_is_load(const struct hone_c_node *call)
{
    const struct hone_c_node *to = call->last ? hone_c_strip(call->last) : NULL;
    return call->kind == HONE_C_CALL && strcmp(call->name, "__ldg") == 0 &&
           to->kind == HONE_C_UNARY && strcmp(to->op, "&") == 0 &&
           hone_c_strip(to->first)->kind == HONE_C_SUBSCRIPT;
}

/* What stands for the value: the element, or __ldg of its address. */
static const struct hone_c_node *whole_read(const struct hone_c_node *n)
{
    const struct hone_c_node *p = n->parent;
    while (p->kind == HONE_C_PAREN || (p->kind == HONE_C_UNARY && strcmp(p->op, "&") == 0))
        p = p->parent;
    return hone_time_is_load(p) ? p : n;
}

static const char *add_read(struct hone_time_reader *r, const struct hone_c_access *a,
                            const struct hone_c_poly *centre)
{
    struct hone_time_step *s = r->s;
    struct hone_time_read read = {.node = whole_read(a->node), .path = path_of(r, a->node)};
    struct hone_c_poly d = a->index;
    int64_t dy = 0;
    int x_by = 0, y_by = 0;
    open_held(r, &d, s->x, &read.x_var, &x_by);
    if (s->y)
        open_held(r, &d, s->y, &read.y_var, &y_by);
    d = hone_c_poly_sum(&d, centre, -1);
    if (s->y) {
        struct hone_c_poly pitch = hone_c_poly_beside(centre, s->y->var);
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
    read.dx = (int)dx;
    read.dy = (int)dy;
    read.x_more = (int)dx - x_by;
    read.y_more = (int)dy - y_by;
    s->reads[s->n_reads++] = read;
    widen(s->x, dx);
    widen(s->y, dy);
    return NULL;
}

/* x runs along memory; along y a step reads too; a plane is what is left. */
static const char *name_axes(struct hone_time_reader *r, const struct hone_c_poly *centre,
                             const struct hone_c_access *a, size_t n)
{
    struct hone_time_step *s = r->s;
    for (size_t i = 0; i < s->n_axes; i++) {
        struct hone_time_axis *axis = &s->axes[i];
        struct hone_c_poly by = hone_c_poly_beside(centre, axis->var);
        if (!by.is_known || by.n == 0)
            return "a step's point does not move with each axis";
        if (hone_c_poly_stride(centre, axis->var) == HONE_C_STRIDE_UNIT && !s->x) {
            s->x = axis;
            continue;
        }
        bool is_read_along = false;
        for (size_t j = 0; j < n; j++) {
            const struct hone_c_node *var = NULL;
            struct hone_c_poly d = a[j].index;
            int k = 0;
            open_held(r, &d, axis, &var, &k);
            d = hone_c_poly_sum(&d, centre, -1);
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

/* Is it, or the local pointer, used as an element that was read or stored, or to make a pointer? */
static bool is_understood(const struct hone_time_reader *r, const struct hone_c_node *ref)
{
    for (const struct hone_c_node *n = ref; n != r->k->function->body; n = n->parent) {
        if (n->kind == HONE_C_VAR && strchr(n->type, '*'))
            return true;
        for (size_t i = 0; i < r->s->n_reads; i++)
            if (r->s->reads[i].node == n)
                return true;
        for (size_t i = 0; i < r->s->n_stores; i++)
            if (r->s->stores[i] == n)
                return true;
    }
    return false;
}

static const char *check_uses(const struct hone_time_reader *r)
{
    const struct hone_c_node *body = r->k->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        bool is_array = n->kind == HONE_C_REF && n->decl && strchr(n->decl->type, '*') &&
                        (hone_cuda_depends(r->k, n, r->from) || hone_cuda_depends(r->k, n, r->to));
        if (is_array && !is_understood(r, n))
            return "the step uses its arrays in a way that could not be read";
    }
    return NULL;
}

static bool is_assigned(const struct hone_c_node *n)
{
    const struct hone_c_node *p = n->parent;
    while (p && p->kind == HONE_C_PAREN)
        p = p->parent;
    return p && p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0 && hone_c_contains(p->first, n);
}

static const char *read_stores(struct hone_time_reader *r, const struct hone_c_access *a, size_t n)
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

const char *hone_time_read_places(struct hone_time_reader *r)
{
    struct hone_c_access a[HONE_TIME_MAX_ACCESSES];
    struct hone_c_poly centre = {.is_known = false};
    size_t n = hone_c_accesses(r->k->function, r->k->function->body, a, HONE_TIME_MAX_ACCESSES);
    if (n > HONE_TIME_MAX_ACCESSES)
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
    return why ? why : check_uses(r);
}
