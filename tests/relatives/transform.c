/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to a kernel before it is spelled. A relative is its own reference: a transformation
 * need not keep the answer, only stay inside the arrays. Those that change it make what rules must
 * not take for the textbook's kernel. */
#include <string.h>

#include "tests/relatives/relative.h"

enum { MAX_NODES = 64 };

struct places {
    struct relative_node **link[MAX_NODES]; /* what points to the node */
    struct relative_node *parent[MAX_NODES];
    size_t n;
};

static void collect(struct relative_node *parent, struct places *p)
{
    for (struct relative_node **link = &parent->first; *link; link = &(*link)->next) {
        if (p->n == MAX_NODES)
            return;
        p->parent[p->n] = parent;
        p->link[p->n++] = link;
        collect(*link, p);
    }
}

static bool has_local(const struct relative_node *n)
{
    for (; n; n = n->next)
        if (n->text && (strncmp(n->text, "T ", 2) == 0 || strncmp(n->text, "COUNTER", 7) == 0))
            return true;
    return false;
}

static bool is_perfect(const struct relative_node *n)
{
    return n->var && n->first && !n->first->next && n->first->var &&
           !relative_has_word(n->first->lower, n->var) &&
           !relative_has_word(n->first->upper, n->var);
}

static bool interchange(struct relative *r, struct relative_node *parent,
                        struct relative_node **link)
{
    (void)r;
    (void)parent;
    struct relative_node *n = *link, *inner = n->first;
    if (!is_perfect(n))
        return false;
    struct relative_node outer = *n;
    n->var = inner->var, n->lower = inner->lower, n->upper = inner->upper, n->step = inner->step;
    n->is_reversed = inner->is_reversed;
    inner->var = outer.var, inner->lower = outer.lower, inner->upper = outer.upper;
    inner->step = outer.step, inner->is_reversed = outer.is_reversed;
    return true;
}

static bool reverse(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)r;
    (void)parent;
    if (!(*link)->var || (*link)->step || (*link)->is_reversed)
        return false;
    return (*link)->is_reversed = true;
}

static bool stride(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    if (!(*link)->var || (*link)->is_reversed || relative_random(r, 3) != 0)
        return false;
    (*link)->step = relative_random(r, 2) ? "2" : "3";
    return true;
}

/* for i { S; for j ... } becomes for i { S; } for i { for j ... } */
static bool distribute(struct relative *r, struct relative_node *parent,
                       struct relative_node **link)
{
    (void)parent;
    struct relative_node *n = *link;
    if (!n->var || !n->first || !n->first->next || has_local(n->first))
        return false;
    struct relative_node *second = hone_pool_alloc(r->pool, sizeof(*second));
    *second = *n;
    second->first = n->first->next;
    n->first->next = NULL;
    n->next = second;
    return true;
}

/* X = init; for ... { X += E } becomes T acc = init; for ... { acc += E } X = acc; */
static bool promote(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    struct relative_node *n = *link, *loop = n->next;
    struct relative_ref ref;
    if (!n->text || n->first || !loop || !loop->var || !relative_ref(r, n->text, &ref) ||
        ref.begin != n->text || strncmp(ref.end, " = ", 3) != 0)
        return false;
    const char *element = hone_pool_strndup(r->pool, ref.begin, (size_t)(ref.end - ref.begin));
    const char *local = hone_pool_printf(r->pool, "acc%d", r->n_names++);
    if (strstr(ref.end, element))
        return false;
    struct places p = {.n = 0};
    collect(loop, &p);
    for (size_t i = 0; i < p.n; i++) {
        struct relative_node *c = *p.link[i];
        for (const char *at = c->text ? strstr(c->text, element) : NULL; at;
             at = strstr(c->text, element))
            c->text = hone_pool_printf(r->pool, "%.*s%s%s", (int)(at - c->text), c->text, local,
                                       at + strlen(element));
    }
    struct relative_node *last = hone_pool_alloc(r->pool, sizeof(*last));
    n->text = hone_pool_printf(r->pool, "T %s%s", local, ref.end);
    last->text = hone_pool_printf(r->pool, "%s = %s;", element, local);
    last->next = loop->next;
    loop->next = last;
    return true;
}

/* for i for j becomes one loop over both */
static bool flatten(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    struct relative_node *n = *link, *inner = n->first;
    if (!is_perfect(n) || strcmp(n->lower, "0") != 0 || strcmp(inner->lower, "0") != 0 || n->step ||
        inner->step || n->is_reversed || inner->is_reversed)
        return false;
    const char *at = hone_pool_printf(r->pool, "at%d", r->n_names++);
    struct relative_node *i = hone_pool_alloc(r->pool, sizeof(*i));
    struct relative_node *j = hone_pool_alloc(r->pool, sizeof(*j));
    i->text = hone_pool_printf(r->pool, "COUNTER %s = %s / (%s);", n->var, at, inner->upper);
    j->text = hone_pool_printf(r->pool, "COUNTER %s = %s %% (%s);", inner->var, at, inner->upper);
    i->next = j;
    j->next = inner->first;
    n->upper = hone_pool_printf(r->pool, "(%s)*(%s)", n->upper, inner->upper);
    n->var = at;
    n->first = i;
    return true;
}

/* the value that a statement stores goes through a function */
static bool help(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    static const char *const bodies[] = {"return x;", "return x > 0 ? x : HALF * x;",
                                         "T y = x + 1; return y - HALF;"};
    struct relative_node *n = *link;
    const char *op = n->text && !n->first ? strstr(n->text, " = ") : NULL;
    if (n->text && !n->first && !op)
        op = strstr(n->text, " += ");
    if (!op || strncmp(n->text, "if", 2) == 0 || strncmp(n->text, "COUNTER", 7) == 0 || *r->helper)
        return false;
    const char *value = strstr(op, "= ") + 2;
    n->text = hone_pool_printf(r->pool, "%.*sHELPER(%.*s);", (int)(value - n->text), n->text,
                               (int)(strlen(value) - 1), value);
    r->helper = hone_pool_printf(r->pool, "static T HELPER(T x)\n{\n    %s\n}\n",
                                 bodies[relative_random(r, HONE_COUNTOF(bodies))]);
    return true;
}

/* one element earlier: what was a map may now carry a value from turn to turn */
static bool shift(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    struct relative_node *n = *link;
    if (!n->var || strcmp(n->lower, "0") != 0 || strncmp(n->var, "at", 2) == 0)
        return false;
    struct places p = {.n = 0};
    collect(n, &p);
    for (size_t i = 0; i < p.n; i++) {
        struct relative_node *c = *p.link[i];
        struct relative_ref ref;
        const char *at = c->text ? c->text : "";
        for (; relative_ref(r, at, &ref); at = ref.end)
            for (size_t d = 0; d < ref.array->n_dims; d++)
                if (strcmp(ref.index[d], n->var) == 0 && relative_random(r, 3) == 0) {
                    const char *one = hone_pool_printf(r->pool, "%s-1", n->var);
                    const char *old =
                        hone_pool_strndup(r->pool, ref.begin, (size_t)(ref.end - ref.begin));
                    c->text =
                        hone_pool_printf(r->pool, "%.*s%s%s", (int)(ref.begin - c->text), c->text,
                                         relative_replace(r->pool, old, n->var, one), ref.end);
                    n->lower = "1";
                    return true;
                }
    }
    return false;
}

/* an input becomes the output: in place */
static bool alias(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    const struct relative_array *out = &r->arrays[0];
    struct relative_node *n = *link;
    struct relative_ref ref;
    if (!(r->flags & SQUARE) || !n->text || n->first)
        return false;
    for (const char *at = n->text; relative_ref(r, at, &ref); at = ref.end) {
        const struct relative_array *a = ref.array;
        if (a == out || a->n_dims != out->n_dims || a->is_index || strchr(a->dims[0], '+') ||
            strchr(out->dims[0], '+') || strcmp(out->dims[0], "1") == 0)
            continue;
        n->text = hone_pool_printf(r->pool, "%.*s%s%s", (int)(ref.begin - n->text), n->text,
                                   out->name, ref.begin + strlen(a->name));
        return true;
    }
    return false;
}

/* only some turns */
static bool guard(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    struct relative_node *n = *link;
    if (!parent->var || !n->text || n->first || strncmp(n->text, "T ", 2) == 0 ||
        strncmp(n->text, "COUNTER", 7) == 0 || strncmp(n->text, "if", 2) == 0)
        return false;
    struct relative_node *inner = hone_pool_alloc(r->pool, sizeof(*inner));
    inner->text = n->text;
    n->first = inner;
    n->text = hone_pool_printf(r->pool, "if (%s %s)", parent->var,
                               relative_random(r, 2) ? "> 2" : "/ 3 != 1");
    return true;
}

/* the output once more, in an array of its own */
static bool split_output(struct relative *r, struct relative_node *parent,
                         struct relative_node **link)
{
    (void)parent;
    struct relative_node *n = *link;
    struct relative_ref ref;
    if (r->n_arrays == RELATIVE_MAX_ARRAYS || relative_array(r, "second", 6) || !n->text ||
        n->first || !relative_ref(r, n->text, &ref) || ref.begin != n->text || ref.array->is_index)
        return false;
    struct relative_array *a = &r->arrays[r->n_arrays++];
    *a = *ref.array;
    a->name = "second";
    struct relative_node *more = hone_pool_alloc(r->pool, sizeof(*more));
    const char *element = hone_pool_strndup(r->pool, ref.begin, (size_t)(ref.end - ref.begin));
    more->text = hone_pool_printf(r->pool, "second%s = %s * HALF;",
                                  element + strlen(ref.array->name), element);
    more->next = n->next;
    n->next = more;
    return true;
}

/* one more pass over the output */
static bool epilogue(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    const struct relative_array *out = &r->arrays[0];
    if (parent != r->root || (*link)->next || out->n_dims != 2)
        return false;
    const char *text = hone_pool_printf(
        r->pool, "for ei 0 %s { for ej 0 %s { %s(ei,ej) = %s(ei,ej) > 0 ? %s(ei,ej) : 0; } }",
        out->dims[0], out->dims[1], out->name, out->name, out->name);
    (*link)->next = relative_parse(r->pool, text)->first;
    return true;
}

/* the same again */
static bool repeat(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    struct relative_node *n = *link;
    if (parent != r->root || !n->var || relative_random(r, 3) != 0)
        return false;
    struct relative_node *inner = hone_pool_alloc(r->pool, sizeof(*inner));
    *inner = *n;
    inner->next = NULL;
    n->var = hone_pool_printf(r->pool, "turn%d", r->n_names++);
    n->lower = "0";
    n->upper = "3";
    n->step = NULL;
    n->is_reversed = false;
    n->first = inner;
    return true;
}

static bool transpose(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    (void)link;
    struct relative_array *a = &r->arrays[relative_random(r, r->n_arrays)];
    if (a->n_dims != 2 || a->is_transposed || a->pitch)
        return false;
    return a->is_transposed = true;
}

static bool pitch(struct relative *r, struct relative_node *parent, struct relative_node **link)
{
    (void)parent;
    (void)link;
    struct relative_array *a = &r->arrays[relative_random(r, r->n_arrays)];
    if (a->n_dims != 2 || a->pitch)
        return false;
    a->pitch = hone_pool_printf(r->pool, "ld%s", a->name);
    r->sizes = hone_pool_printf(r->pool, "%s,%s=%d", r->sizes, a->pitch, 400 + 10 * r->n_names++);
    r->params = hone_pool_printf(r->pool, "%s, COUNTER %s", r->params, a->pitch);
    return true;
}

static const struct {
    const char *name;
    bool (*apply)(struct relative *r, struct relative_node *parent, struct relative_node **link);
    unsigned percent;
} steps[] = {
    {"transpose", transpose, 25},     {"pitch", pitch, 25},     {"alias", alias, 40},
    {"epilogue", epilogue, 15},       {"repeat", repeat, 20},   {"shift", shift, 25},
    {"split", split_output, 15},      {"promote", promote, 50}, {"interchange", interchange, 35},
    {"distribute", distribute, 25},   {"help", help, 15},       {"guard", guard, 12},
    {"reverse", reverse, 20},         {"stride", stride, 12},   {"flatten", flatten, 20},
    {"interchange", interchange, 20}, {"alias", alias, 25},     {"shift", shift, 20},
};

void relative_transform(struct relative *r)
{
    for (size_t i = 0; i < HONE_COUNTOF(steps); i++) {
        if (relative_random(r, 100) >= steps[i].percent)
            continue;
        struct places p = {.n = 0};
        collect(r->root, &p);
        size_t from = relative_random(r, p.n);
        for (size_t k = 0; k < p.n; k++) {
            size_t at = (from + k) % p.n;
            if (steps[i].apply(r, p.parent[at], p.link[at])) {
                r->steps = hone_pool_printf(r->pool, "%s %s", r->steps, steps[i].name);
                break;
            }
        }
    }
}
