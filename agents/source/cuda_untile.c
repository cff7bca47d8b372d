/* SPDX-License-Identifier: Apache-2.0 */
/* A step to the normal form (cuda_normal.h): a contraction that is tiled through shared memory
 * becomes the loop that it was made of.
 *
 *     for t < tiles:  S[ty][tx] = in range ? A[row * K + t * T + tx] : 0; ... the other factor
 *                     __syncthreads(); for k < T: acc += S[ty][k] * ...; __syncthreads();
 *     if (row < M && col < N) store
 *
 * becomes if (row < M && col < N) { for kk < K: acc += A[row * K + kk] * ...; store }. What a read
 * of S finds is what the thread stored whose place stands in the read's index: threadIdx.x is k
 * there. t * T + k is one index over all of the sum. */
#include "agents/source/cuda_normal.h"

#include <string.h>

enum { MAX_STAGES = 4, MAX_READS = 8, MAX_PARTS = 8 };

struct stage {                                     /* what is brought into one array */
    const struct hone_c_node *array, *load, *cond; /* cond NULL: always */
    struct hone_c_poly at;
};

struct map {       /* whose store a read finds */
    char is_sum;   /* threadIdx.is_sum is the inner counter there */
    char from, to; /* threadIdx.from is threadIdx.to there; 0: it is itself */
};

struct tiled {
    const struct hone_cuda_kernel *k;
    const struct hone_c_loop *outer, *inner;
    const struct hone_c_node *update, *guard; /* guard: the if at the end */
    struct stage stages[MAX_STAGES];
    size_t n_stages;
    struct hone_c_poly
        step; /* what a turn of the outer loop moves by, in its own counter's units */
    const char *sum, *upper; /* the new counter and its bound */
};

/* ---- sums of products in which locals made of threads are opened ---- */

static struct hone_c_poly one_factor(const struct hone_c_factor *f)
{
    struct hone_c_poly out = {.is_known = true, .n = 1};
    out.terms[0] = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {*f}};
    return out;
}

static struct hone_c_poly constant(int64_t value)
{
    struct hone_c_poly out = {.is_known = true, .n = value != 0};
    out.terms[0] = (struct hone_c_term){.k = value};
    return out;
}

/* Locals that are set once become what they are made of. */
static struct hone_c_poly opened(const struct hone_cuda_kernel *k, struct hone_c_poly p, int depth)
{
    struct hone_c_poly out = {.is_known = p.is_known && depth < 8};
    for (size_t i = 0; out.is_known && i < p.n; i++) {
        struct hone_c_poly product = constant(p.terms[i].k);
        for (size_t f = 0; f < p.terms[i].n_factors; f++) {
            const struct hone_c_node *d = p.terms[i].factors[f].decl;
            struct hone_c_poly factor = one_factor(&p.terms[i].factors[f]);
            if (d && d->kind == HONE_C_VAR && d->last && hone_c_contains(k->function, d) &&
                !strpbrk(d->type, "*[") && !hone_c_writes(k->function, d)) {
                struct hone_c_poly inner = hone_c_poly_of(k->function, d->last);
                if (inner.is_known)
                    factor = opened(k, inner, depth + 1);
            }
            product = hone_c_poly_product(&product, &factor);
        }
        out = hone_c_poly_sum(&out, &product, 1);
    }
    return out;
}

static bool is_thread(const struct hone_c_factor *f, char dim)
{
    return !f->decl && strncmp(f->name, "threadIdx.", 10) == 0 && f->name[10] == dim;
}

/* threadIdx.dim becomes another name. */
static struct hone_c_poly with_thread(const struct hone_c_poly *p, char dim,
                                      const struct hone_c_factor *by)
{
    struct hone_c_poly out = *p;
    for (size_t i = 0; i < out.n; i++)
        for (size_t f = 0; f < out.terms[i].n_factors; f++)
            if (is_thread(&out.terms[i].factors[f], dim))
                out.terms[i].factors[f] = *by;
    return out;
}

static bool has_decl(const struct hone_c_term *t, const struct hone_c_node *decl)
{
    for (size_t f = 0; f < t->n_factors; f++)
        if (t->factors[f].decl == decl)
            return true;
    return false;
}

/* c of c * threadIdx.dim, summed; the terms without go to ret_rest. */
static struct hone_c_poly times_thread(const struct hone_c_poly *p, char dim,
                                       struct hone_c_poly *ret_rest)
{
    struct hone_c_poly out = {.is_known = true};
    *ret_rest = out;
    for (size_t i = 0; i < p->n; i++) {
        struct hone_c_poly one = {.is_known = true, .n = 1, .terms = {p->terms[i]}};
        struct hone_c_term *t = &one.terms[0];
        size_t f = 0;
        while (f < t->n_factors && !is_thread(&t->factors[f], dim))
            f++;
        struct hone_c_poly *to = f < t->n_factors ? &out : ret_rest;
        if (f < t->n_factors)
            t->factors[f] = t->factors[--t->n_factors];
        *to = hone_c_poly_sum(to, &one, 1);
    }
    return out;
}

/* In c * threadIdx.dim + c * T * t + rest the first two are c * sum. False: it has another form. */
static bool flatten(const struct tiled *t, struct hone_c_poly p, const struct map *m,
                    struct hone_c_poly *ret)
{
    const struct hone_c_factor sum = {NULL, t->sum}, turn = {t->outer->var, t->outer->var->name};
    const struct hone_c_factor other = {NULL, m->to == 'x' ? "threadIdx.x" : "threadIdx.y"};
    struct hone_c_poly turns = one_factor(&turn), by = one_factor(&sum);
    p = opened(t->k, p, 0);
    if (!p.is_known)
        return false;
    struct hone_c_poly times = times_thread(&p, m->is_sum, ret);
    turns = hone_c_poly_product(&turns, &t->step);
    turns = hone_c_poly_product(&turns, &times);
    by = hone_c_poly_product(&by, &times);
    *ret = hone_c_poly_sum(ret, &turns, -1);
    for (size_t i = 0; i < ret->n; i++)
        if (has_decl(&ret->terms[i], t->outer->var))
            return false;
    if (m->from)
        *ret = with_thread(ret, m->from, &other);
    *ret = hone_c_poly_sum(ret, &by, 1);
    return ret->is_known;
}

/* c * (blockIdx.x * T + threadIdx.x) is c * column where the kernel has such a local. */
static struct hone_c_poly folded(const struct tiled *t, struct hone_c_poly p)
{
    const struct hone_c_node *body = t->k->function->body;
    for (const struct hone_c_node *s = body->first; s && s != t->outer->node; s = s->next) {
        const struct hone_c_node *v =
            s->kind == HONE_C_DECL_STMT && s->first == s->last ? s->first : NULL;
        if (!v || v->kind != HONE_C_VAR || !v->last || strpbrk(v->type, "*["))
            continue;
        const struct hone_c_factor name = {v, v->name};
        struct hone_c_poly place = opened(t->k, hone_c_poly_of(t->k->function, v->last), 0), rest,
                           by = one_factor(&name);
        for (const char *dim = "xy"; *dim; dim++) {
            struct hone_c_poly times = times_thread(&p, *dim, &rest);
            if (times.n == 0 || !hone_cuda_is_place(&place, *dim))
                continue;
            struct hone_c_poly taken = hone_c_poly_product(&times, &place),
                               put = hone_c_poly_product(&times, &by);
            p = hone_c_poly_sum(&p, &taken, -1);
            p = hone_c_poly_sum(&p, &put, 1);
        }
    }
    return p;
}

static const char *poly_text(const struct hone_cuda_kernel *k, const struct hone_c_poly *p,
                             bool is_wide)
{
    struct hone_pool *pool = k->in->pool;
    const char *out = "";
    for (size_t i = 0; i < p->n; i++) {
        const struct hone_c_term *t = &p->terms[i];
        int64_t n = t->k < 0 ? -t->k : t->k;
        const char *term =
            t->n_factors == 0 || n != 1 ? hone_pool_printf(pool, "%lld", (long long)n) : "";
        for (size_t f = 0; f < t->n_factors; f++)
            term = hone_pool_printf(pool, "%s%s%s", term, *term ? " * " : "", t->factors[f].name);
        if (is_wide && t->n_factors > 1)
            term = hone_pool_printf(pool, "(int64_t)%s", term);
        const char *sign = t->k < 0 ? (*out ? " - " : "-") : (*out ? " + " : "");
        out = hone_pool_printf(pool, "%s%s%s", out, sign, term);
    }
    return *out ? out : "0";
}

/* ---- reading ---- */

static bool is_zero(const struct hone_c_node *expr)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    return n && n->kind == HONE_C_CONST && strspn(n->name, "0.fF") == strlen(n->name);
}

static const struct hone_c_node *is_store(const struct hone_c_node *stmt)
{
    bool is_set = stmt && stmt->kind == HONE_C_BINARY && strcmp(stmt->op, "=") == 0 &&
                  stmt->first->kind == HONE_C_SUBSCRIPT;
    return is_set ? stmt : NULL;
}

static bool is_shared(const struct hone_c_node *v)
{
    return v && v->kind == HONE_C_VAR && (v->cuda & HONE_C_IS_SHARED);
}

/* S[..] = load, S[..] = cond ? load : 0, if (cond) S[..] = load; else S[..] = 0 */
static bool read_stage(struct tiled *t, const struct hone_c_node *stmt)
{
    const struct hone_c_node *cond = NULL, *store = is_store(stmt);
    struct hone_c_access a[2];
    if (stmt->kind == HONE_C_IF && hone_c_n_children(stmt) == 3) {
        const struct hone_c_node *other = is_store(hone_c_only_stmt(stmt->last));
        store = is_store(hone_c_only_stmt(hone_c_child(stmt, 1)));
        if (!store || !other || !is_zero(other->last) ||
            strcmp(hone_c_text(t->k->in->tree, store->first),
                   hone_c_text(t->k->in->tree, other->first)) != 0)
            return false;
        cond = stmt->first;
    }
    if (!store || t->n_stages == MAX_STAGES)
        return false;
    const struct hone_c_node *load = hone_c_strip(store->last);
    if (load->kind == HONE_C_CONDITIONAL && !cond && is_zero(load->last)) {
        cond = load->first;
        load = hone_c_strip(hone_c_child(load, 1));
    }
    if (load->kind != HONE_C_SUBSCRIPT ||
        hone_c_accesses(t->k->function, store->first, a, 1) != 1 || !is_shared(a[0].root))
        return false;
    for (size_t i = 0; i < t->n_stages; i++)
        if (t->stages[i].array == a[0].root)
            return false;
    t->stages[t->n_stages++] = (struct stage){a[0].root, load, cond, opened(t->k, a[0].index, 0)};
    return true;
}

static bool is_sync(const struct hone_c_node *s)
{
    return s->kind == HONE_C_CALL && strcmp(s->name, "__syncthreads") == 0;
}

static bool read_turn(struct tiled *t)
{
    const struct hone_c_node *body = t->outer->node->body;
    if (body->kind != HONE_C_COMPOUND)
        return false;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        if (is_sync(s) || (s->kind == HONE_C_DECL_STMT && !t->inner) ||
            (!t->inner && read_stage(t, s)))
            continue;
        if (s->kind != HONE_C_FOR || t->inner)
            return false;
        t->inner = hone_c_loop_of(&t->k->nest, s);
        t->update = t->inner ? hone_c_only_stmt(s->body) : NULL;
    }
    const struct hone_c_loop *l = t->inner;
    return l && l->is_canonical && l->is_unit_step && !l->is_inclusive && is_zero(l->lower) &&
           t->update && t->update->kind == HONE_C_ASSIGN_OP && strcmp(t->update->op, "+=") == 0 &&
           t->update->first->kind == HONE_C_REF && t->n_stages >= 2;
}

/* Turns of T each by number, or T at a time; the inner loop goes over T. */
static bool read_step(struct tiled *t)
{
    const struct hone_c_loop *l = t->outer;
    struct hone_c_poly inner = hone_c_poly_of(t->k->function, t->inner->upper);
    if (!l->is_canonical || l->is_inclusive || !is_zero(l->lower) || !inner.is_known)
        return false;
    t->step = inner;
    if (l->is_unit_step)
        return true;
    struct hone_c_poly step = hone_c_poly_of(t->k->function, l->node->inc->last);
    t->step = constant(1);
    return hone_cuda_same_poly(&step, &inner);
}

/* ---- making ---- */

/* The parts of a && b && c. */
static size_t parts_of(const struct hone_c_node *cond, const struct hone_c_node **ret, size_t n)
{
    cond = hone_c_strip(cond);
    if (cond && cond->kind == HONE_C_BINARY && strcmp(cond->op, "&&") == 0)
        return parts_of(cond->last, ret, parts_of(cond->first, ret, n));
    if (cond && n < MAX_PARTS)
        ret[n] = cond;
    return n + 1;
}

/* The left side of a < b without turns; false: it is no such comparison. */
static bool read_part(const struct tiled *t, const struct hone_c_node *part, const struct map *m,
                      struct hone_c_poly *ret)
{
    bool is_less = part->kind == HONE_C_BINARY && strcmp(part->op, "<") == 0;
    return is_less && flatten(t, hone_c_poly_of(t->k->function, part->first), m, ret);
}

static bool is_in_guard(const struct tiled *t, const struct hone_c_node *part,
                        const struct hone_c_poly *left)
{
    const struct hone_c_node *known[MAX_PARTS];
    size_t n = parts_of(t->guard->first, known, 0);
    const struct map none = {' ', 0, 0};
    struct hone_c_poly other;
    for (size_t i = 0; i < n && i < MAX_PARTS; i++) {
        if (read_part(t, known[i], &none, &other) && hone_cuda_same_poly(&other, left) &&
            strcmp(hone_c_text(t->k->in->tree, known[i]->last),
                   hone_c_text(t->k->in->tree, part->last)) == 0)
            return true;
    }
    return false;
}

/* row < M of the load stands in the guard already; kk < K becomes the bound of the loop. */
static bool read_cond(struct tiled *t, const struct stage *s, const struct map *m)
{
    const struct hone_c_node *parts[MAX_PARTS];
    size_t n = s->cond ? parts_of(s->cond, parts, 0) : 0;
    if (n > MAX_PARTS)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct hone_c_poly left;
        if (!read_part(t, parts[i], m, &left))
            return false;
        const char *bound = hone_c_text(t->k->in->tree, parts[i]->last);
        if (strcmp(poly_text(t->k, &left, false), t->sum) != 0) {
            if (!is_in_guard(t, parts[i], &left))
                return false;
        } else if (t->upper && strcmp(t->upper, bound) != 0) {
            return false;
        } else {
            t->upper = bound;
        }
    }
    return true;
}

/* What a read of a stage finds; NULL: not what one thread stored. */
static const char *read_text(struct tiled *t, const struct hone_c_access *a)
{
    static const struct map maps[] = {{'x', 0, 0}, {'y', 0, 0}, {'x', 'y', 'x'}, {'y', 'x', 'y'}};
    const struct hone_c_factor k = {t->inner->var, t->inner->var->name};
    struct hone_c_poly at = opened(t->k, a->index, 0), from;
    const struct stage *s = NULL;
    for (size_t i = 0; i < t->n_stages; i++)
        if (t->stages[i].array == a->root)
            s = &t->stages[i];
    for (size_t i = 0; s && i < HONE_COUNTOF(maps); i++) {
        struct hone_c_access load[1];
        const struct map *m = &maps[i];
        const struct hone_c_factor to = {NULL, m->to == 'x' ? "threadIdx.x" : "threadIdx.y"};
        struct hone_c_poly of = with_thread(&s->at, m->is_sum, &k);
        if (m->from)
            of = with_thread(&of, m->from, &to);
        if (!at.is_known || !hone_cuda_same_poly(&of, &at) || hone_cuda_same_poly(&s->at, &at))
            continue;
        if (hone_c_accesses(t->k->function, s->load, load, 1) != 1 || !load[0].root ||
            load[0].root->kind != HONE_C_PARAM || !flatten(t, load[0].index, m, &from) ||
            !read_cond(t, s, m))
            return NULL;
        const char *text = hone_c_text(t->k->in->tree, s->load);
        bool is_wide = strstr(text, "size_t)") || strstr(text, "int64_t)") || strstr(text, "long)");
        from = folded(t, from);
        return hone_pool_printf(t->k->in->pool, "%s[%s]", load[0].root->name,
                                poly_text(t->k, &from, is_wide));
    }
    return NULL;
}

/* The update with the loads in place of the reads. */
static const char *update_text(struct tiled *t)
{
    struct hone_c_access a[MAX_READS];
    struct hone_c_edits e;
    size_t n = hone_c_accesses(t->k->function, t->update->last, a, MAX_READS);
    hone_c_edits_init(&e, t->k->in->tree);
    if (n < 2 || n > MAX_READS)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *text = read_text(t, &a[i]);
        if (!text)
            return NULL;
        hone_c_replace(&e, a[i].node->begin, a[i].node->end, text);
    }
    for (const struct hone_c_node *r = t->update; r; r = hone_c_walk(t->update, r)) {
        bool is_inside = false;
        for (size_t i = 0; i < n; i++)
            is_inside = is_inside || hone_c_contains(a[i].node, r);
        if (!is_inside && r->kind == HONE_C_REF && r->decl &&
            (r->decl == t->inner->var || r->decl == t->outer->var || is_shared(r->decl)))
            return NULL;
    }
    return hone_c_edit_text(&e, t->update->begin, t->update->end);
}

/* The bound of the sum where no load is guarded by it. */
static const char *upper_of(const struct tiled *t)
{
    const char *upper = hone_cuda_inline(t->k, t->outer->upper, NULL, 0);
    struct hone_c_poly by = t->step;
    return upper
               ? hone_pool_printf(t->k->in->pool, "(%s) * (%s)", upper, poly_text(t->k, &by, false))
               : NULL;
}

static bool read_tiled(const struct hone_cuda_kernel *k, struct tiled *t)
{
    const struct hone_c_node *body = k->function->body, *loop = NULL;
    *t = (struct tiled){.k = k, .sum = hone_fresh_name(k->in, "kk")};
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        if (s->kind == HONE_C_DECL_STMT && !loop)
            continue;
        if (s->kind == HONE_C_FOR && !loop)
            loop = s;
        else if (s->kind == HONE_C_IF && loop && !s->next && hone_c_n_children(s) == 2)
            t->guard = s;
        else
            return false;
    }
    t->outer = loop ? hone_c_loop_of(&k->nest, loop) : NULL;
    return t->outer && t->outer->declares_var && t->guard && read_turn(t) && read_step(t);
}

/* Arrays of shared memory, and locals that the tiles alone named. */
static bool is_spent(const struct tiled *t, const struct hone_c_node *stmt, const char *text)
{
    const struct hone_c_node *v = stmt->kind == HONE_C_DECL_STMT ? stmt->first : NULL,
                             *body = t->k->function->body;
    if (is_shared(v))
        return true;
    if (!v || v != stmt->last || v->kind != HONE_C_VAR || !v->last ||
        hone_has_word(text, v->name) || hone_cuda_has_effect(t->k, v->last))
        return false;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_REF && n->decl == v && !hone_c_contains(t->outer->node, n))
            return false;
    return true;
}

const char *hone_cuda_untile(const struct hone_cuda_kernel *k)
{
    struct tiled t;
    struct hone_c_edits edits;
    if (!read_tiled(k, &t))
        return NULL;
    const char *update = update_text(&t);
    const char *upper = t.upper ? t.upper : upper_of(&t);
    if (!update || !upper)
        return NULL;
    hone_c_edits_init(&edits, k->in->tree);
    for (const struct hone_c_node *s = k->function->body->first; s; s = s->next)
        if (is_spent(&t, s, hone_pool_printf(k->in->pool, "%s %s", update, upper)))
            hone_c_replace(&edits, s->begin, hone_c_stmt_end(k->in->tree, s), "");
    const struct hone_c_node *loop = t.outer->node, *g = t.guard;
    hone_c_replace(&edits, loop->begin, hone_c_stmt_end(k->in->tree, loop), "");
    uint32_t end = hone_c_stmt_end(k->in->tree, g->last);
    hone_c_replace(&edits, g->last->begin, end,
                   hone_pool_printf(k->in->pool,
                                    "{\n        for (%s %s = 0; %s < %s; %s++)\n            %s;\n"
                                    "        %s\n    }",
                                    hone_cuda_type(k->in, t.outer->var), t.sum, t.sum, upper, t.sum,
                                    update, hone_cuda_body(&edits, g->last)));
    return hone_cuda_finish(&edits);
}
