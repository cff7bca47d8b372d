/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a launcher's loop over the steps of a stencil (cuda_time_tile.h).
 *
 * Pointers take turns in many ways: they are swapped, chosen by t & 1, taken from an array of two.
 * So the loop is carried out here for a few numbers of steps, with names for what the pointers
 * hold, and again with an odd number of steps at once. Both must come to the same. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/cuda/cuda_time_tile.h"

enum { MAX_VARS = 24, MAX_STEPS = 11, MAX_DEPTH = 12 };

enum kind { UNKNOWN, NUMBER, POINTER };
struct value {
    enum kind kind;
    int64_t n;                      /* number; or which element of an array of pointers */
    const struct hone_c_node *decl; /* where the pointer stood at first */
};
struct variable {
    const struct hone_c_node *decl;
    int64_t at; /* of an array */
    struct value value;
};
struct pair {
    struct value from, to;
};
struct run {
    const struct hone_time_step *s;
    const struct hone_c_loop *loop;
    const struct hone_c_node *launcher;
    struct variable v[MAX_VARS];
    size_t n;
    struct pair made; /* by the last launch */
    int n_made;
    const char *why;
};

static bool is_same(struct value a, struct value b)
{
    return a.kind == b.kind && a.decl == b.decl && a.n == b.n;
}

static struct value number(int64_t n)
{
    return (struct value){NUMBER, n, NULL};
}

/* ---- values ---- */

static struct variable *find(struct run *r, const struct hone_c_node *decl, int64_t at)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].decl == decl && r->v[i].at == at)
            return &r->v[i];
    return NULL;
}

static void set(struct run *r, const struct hone_c_node *decl, int64_t at, struct value value)
{
    struct variable *v = find(r, decl, at);
    if (!v && r->n == MAX_VARS)
        r->why = "the loop over the steps has too many variables";
    else if (!v)
        v = &r->v[r->n++];
    if (v)
        *v = (struct variable){decl, at, value};
}

/* Is it set again before the loop? */
static bool is_set_before(const struct run *r, const struct hone_c_node *decl)
{
    for (const struct hone_c_node *n = r->launcher; n; n = hone_c_walk(r->launcher, n)) {
        const struct hone_c_node *to = n->first ? hone_c_strip(n->first) : NULL;
        bool is_change = n->kind == HONE_C_ASSIGN_OP || n->kind == HONE_C_UNARY ||
                         (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0);
        if (is_change && n->begin < r->loop->begin && to && to->kind == HONE_C_REF &&
            to->decl == decl)
            return true;
    }
    return false;
}

static struct value eval(struct run *r, const struct hone_c_node *e, int depth);

/* What a variable holds that the loop has not set. */
static struct value at_first(struct run *r, const struct hone_c_node *d, int64_t at, int depth)
{
    bool is_array = strchr(d->type, '[') != NULL, is_pointer = strchr(d->type, '*') != NULL;
    const struct hone_c_node *init = d->kind == HONE_C_VAR ? d->last : NULL;
    struct value out = {UNKNOWN, 0, NULL};
    if (init && is_array)
        init = hone_c_n_children(init) > (size_t)at ? hone_c_child(init, (size_t)at) : NULL;
    if (init && !is_set_before(r, d))
        out = eval(r, init, depth + 1);
    if (out.kind == UNKNOWN && is_pointer)
        out = (struct value){POINTER, at, d};
    return out;
}

static struct value of_name(struct run *r, const struct hone_c_node *d, int64_t at, int depth)
{
    struct variable *v = d ? find(r, d, at) : NULL;
    bool is_var = d && (d->kind == HONE_C_VAR || d->kind == HONE_C_PARAM);
    return v ? v->value : is_var ? at_first(r, d, at, depth) : (struct value){UNKNOWN, 0, NULL};
}

static struct value operate(const char *op, int64_t a, int64_t b)
{
    const struct value unknown = {UNKNOWN, 0, NULL};
    if (strcmp(op, "/") == 0 || strcmp(op, "%") == 0)
        return b == 0 ? unknown : number(op[0] == '/' ? a / b : a % b);
    const struct {
        const char *op;
        int64_t value;
    } all[] = {{"+", a + b},   {"-", a - b},   {"*", a * b},   {"&", a & b},   {"|", a | b},
               {"^", a ^ b},   {"<", a < b},   {">", a > b},   {"<=", a <= b}, {">=", a >= b},
               {"==", a == b}, {"!=", a != b}, {"&&", a && b}, {"||", a || b}};
    for (size_t i = 0; i < HONE_COUNTOF(all); i++)
        if (strcmp(all[i].op, op) == 0)
            return number(all[i].value);
    return unknown;
}

static struct value eval_unary(struct run *r, const struct hone_c_node *e, int depth)
{
    struct value v = eval(r, e->first, depth + 1);
    bool is_number = v.kind == NUMBER && strlen(e->op) == 1;
    return is_number && *e->op == '-'   ? number(-v.n)
           : is_number && *e->op == '!' ? number(!v.n)
           : is_number && *e->op == '~' ? number(~v.n)
                                        : (struct value){UNKNOWN, 0, NULL};
}

static struct value eval(struct run *r, const struct hone_c_node *e, int depth)
{
    const struct value unknown = {UNKNOWN, 0, NULL};
    e = depth < MAX_DEPTH ? hone_c_strip(e) : NULL;
    while (e && e->kind == HONE_C_OTHER && e->first && e->first == e->last)
        e = hone_c_strip(e->first);
    if (!e)
        return unknown;
    if (e->kind == HONE_C_CONST) {
        char *end = NULL;
        long long n = strtoll(e->name, &end, 0);
        return end != e->name && strspn(end, "uUlL") == strlen(end) ? number(n) : unknown;
    }
    if (e->kind == HONE_C_REF)
        return of_name(r, e->decl, 0, depth);
    if (e->kind == HONE_C_UNARY)
        return eval_unary(r, e, depth);
    if (e->kind == HONE_C_CONDITIONAL && hone_c_n_children(e) == 3) {
        struct value c = eval(r, e->first, depth + 1);
        return c.kind == NUMBER ? eval(r, c.n ? e->first->next : e->last, depth + 1) : unknown;
    }
    if (e->kind == HONE_C_SUBSCRIPT) {
        const struct hone_c_node *base = hone_c_strip(e->first);
        struct value at = eval(r, e->last, depth + 1);
        bool is_array = base && base->kind == HONE_C_REF && base->decl &&
                        strchr(base->decl->type, '[') && strchr(base->decl->type, '*');
        return is_array && at.kind == NUMBER && at.n >= 0 ? of_name(r, base->decl, at.n, depth)
                                                          : unknown;
    }
    if (e->kind != HONE_C_BINARY)
        return unknown;
    struct value a = eval(r, e->first, depth + 1), b = eval(r, e->last, depth + 1);
    return a.kind == NUMBER && b.kind == NUMBER ? operate(e->op, a.n, b.n) : unknown;
}

/* ---- statements ---- */

static void assign(struct run *r, const struct hone_c_node *to, struct value value)
{
    to = hone_c_strip(to);
    struct value at = number(0);
    const struct hone_c_node *base = to;
    if (to->kind == HONE_C_SUBSCRIPT) {
        base = hone_c_strip(to->first);
        at = eval(r, to->last, 0);
    }
    bool is_known = base->kind == HONE_C_REF && base->decl && at.kind == NUMBER &&
                    value.kind != UNKNOWN && (base == to || strchr(base->decl->type, '['));
    if (is_known)
        set(r, base->decl, at.n, value);
    else
        r->why = "what the loop over the steps sets could not be followed";
}

static const struct hone_cuda_launch *launch_of(const struct run *r, const struct hone_c_node *s)
{
    for (size_t i = 0; i < r->s->k->n_launches; i++)
        if (r->s->k->launches[i].call == s)
            return &r->s->k->launches[i];
    return NULL;
}

static bool is_idle(const struct hone_c_node *call)
{
    return strcmp(call->name, "cudaGetLastError") == 0 ||
           strcmp(call->name, "cudaPeekAtLastError") == 0;
}

static void call(struct run *r, const struct hone_c_node *s)
{
    const struct hone_cuda_launch *l = launch_of(r, s);
    if (l) {
        r->made = (struct pair){eval(r, l->args[r->s->from], 0), eval(r, l->args[r->s->to], 0)};
        r->n_made++;
        if (r->made.from.kind != POINTER || r->made.to.kind != POINTER)
            r->why = "which buffers a step is given could not be followed";
        for (size_t i = 0; i < l->n_args; i++) {
            struct value other = eval(r, l->args[i], 0);
            if (i != r->s->from && i != r->s->to && other.kind == POINTER &&
                (is_same(other, r->made.from) || is_same(other, r->made.to)))
                r->why = "a step is given a buffer twice";
        }
        return;
    }
    if (!is_idle(s))
        r->why = "something else happens in the loop beside one launch of the step";
}

static void step_by(struct run *r, const struct hone_c_node *s)
{
    struct value a = eval(r, s->first, 0), b = number(1);
    const char op[2] = {s->op[0], 0};
    if (s->kind == HONE_C_ASSIGN_OP)
        b = eval(r, s->last, 0);
    assign(r, s->first,
           a.kind == NUMBER && b.kind == NUMBER ? operate(op, a.n, b.n)
                                                : (struct value){UNKNOWN, 0, NULL});
}

static void declare(struct run *r, const struct hone_c_node *s)
{
    for (const struct hone_c_node *v = s->first; v; v = v->next) {
        if (v->kind != HONE_C_VAR || strchr(v->type, '[')) {
            r->why = "what the loop over the steps sets could not be followed";
        } else if (v->last && v->last->kind != HONE_C_OTHER) {
            struct value value = eval(r, v->last, 0);
            if (value.kind != UNKNOWN || !strchr(v->type, '*'))
                set(r, v, 0, value);
        }
    }
}

static void carry_out(struct run *r, const struct hone_c_node *s)
{
    while (s && (s->kind == HONE_C_OTHER || s->kind == HONE_C_PAREN) && s->first &&
           s->first == s->last)
        s = s->first;
    if (!s || r->why)
        return;
    if (s->kind == HONE_C_COMPOUND) {
        for (const struct hone_c_node *c = s->first; c; c = c->next)
            carry_out(r, c);
    } else if (s->kind == HONE_C_DECL_STMT) {
        declare(r, s);
    } else if (s->kind == HONE_C_BINARY && strcmp(s->op, "=") == 0) {
        assign(r, s->first, eval(r, s->last, 0));
    } else if (s->kind == HONE_C_ASSIGN_OP || (s->kind == HONE_C_UNARY && strlen(s->op) == 2)) {
        step_by(r, s);
    } else if (s->kind == HONE_C_CALL) {
        call(r, s);
    } else if (s->kind == HONE_C_IF) {
        struct value c = eval(r, s->first, 0);
        const struct hone_c_node *no = hone_c_n_children(s) == 3 ? s->last : NULL;
        if (c.kind != NUMBER)
            r->why = "which buffers a step is given could not be followed";
        carry_out(r, c.n ? s->first->next : no);
    } else {
        r->why = "something else happens in the loop beside one launch of the step";
    }
}

/* ---- the loop ---- */

/* As the text of a launch says: odd, and at most `most`. */
static int steps_of(int left, int most, bool is_last_alone)
{
    int n = left > 1 && is_last_alone ? left - 1 : left;
    n = n < most ? n : most;
    return n - (n % 2 == 0);
}

static void start(struct run *r, const struct hone_time_step *s, const struct hone_c_loop *loop,
                  int n_steps)
{
    *r = (struct run){.s = s, .loop = loop, .launcher = s->k->launches[0].launcher};
    struct value lower = eval(r, loop->lower, 0);
    const struct hone_c_node *upper = hone_c_strip(loop->upper);
    lower = lower.kind == NUMBER ? lower : number(0);
    if (upper->kind == HONE_C_REF && upper->decl && of_name(r, upper->decl, 0, 0).kind != NUMBER)
        set(r, upper->decl, 0, number(lower.n + n_steps - loop->is_inclusive));
    set(r, loop->var, 0, lower);
}

/* Carries the body out at step i. */
static struct pair make(struct run *r, int by)
{
    r->n_made = 0;
    carry_out(r, r->loop->node->body);
    if (!r->why && r->n_made != 1)
        r->why = "the loop starts more or less than one step at a time";
    struct variable *t = find(r, r->loop->var, 0);
    if (t)
        t->value.n += by;
    return r->made;
}

static const char *check_turns(const struct pair *all, int n)
{
    for (int i = 0; i < n; i++) {
        if (is_same(all[i].from, all[i].to))
            return "a step writes the buffer that it reads";
        if (i > 0 && !is_same(all[i].from, all[i - 1].to))
            return "a step does not read what the step before it wrote";
        if (i > 1 && !is_same(all[i].to, all[i - 2].to))
            return "more than two buffers take turns";
    }
    return NULL;
}

static bool is_end_same(struct run *a, struct run *b)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct hone_c_node *d = a->v[i].decl;
        struct variable *other = find(b, d, a->v[i].at);
        bool is_inner = hone_c_contains(a->loop->node, d);
        if (!is_inner && (!other || !is_same(a->v[i].value, other->value)))
            return false;
    }
    return true;
}

/* Is a buffer used behind the loop by another name? */
static bool has_alias(const struct run *r, struct value v)
{
    struct run at_end = *r;
    for (const struct hone_c_node *n = r->launcher; n; n = hone_c_walk(r->launcher, n)) {
        bool is_use = n->kind == HONE_C_SUBSCRIPT || (n->kind == HONE_C_REF && n->decl != v.decl);
        if (is_use && n->begin > r->loop->node->end && is_same(eval(&at_end, n, 0), v))
            return true;
    }
    return false;
}

/* Memory that the launcher allocates and frees, and nothing but the loop uses? */
static bool is_scratch(const struct run *r, struct value v)
{
    if (!v.decl || v.decl->kind != HONE_C_VAR || v.decl->last)
        return false;
    bool is_made = false;
    for (const struct hone_c_node *n = r->launcher; n; n = hone_c_walk(r->launcher, n)) {
        if (n->kind != HONE_C_REF || n->decl != v.decl || hone_c_contains(r->loop->node, n))
            continue;
        const struct hone_c_node *c = n->parent;
        while (c && c != r->launcher && c->kind != HONE_C_CALL && c->kind != HONE_C_VAR)
            c = c->parent;
        bool is_call = c && c->kind == HONE_C_CALL;
        if (is_call && strncmp(c->name, "cudaMalloc", 10) == 0 && n->begin < r->loop->begin)
            is_made = true;
        else if (!(is_call && strncmp(c->name, "cudaFree", 8) == 0) &&
                 n->begin > r->loop->node->end)
            return false;
    }
    return is_made && !has_alias(r, v);
}

static const char *compare(const struct hone_time_step *s, const struct hone_c_loop *loop,
                           int n_steps, int most, struct hone_time_loop *ret)
{
    struct pair all[MAX_STEPS];
    struct run plain, grouped;
    start(&plain, s, loop, n_steps);
    for (int i = 0; i < n_steps && !plain.why; i++)
        all[i] = make(&plain, 1);
    const char *why = plain.why ? plain.why : check_turns(all, n_steps);
    if (why)
        return why;
    if (s->keeps_points && n_steps > 2 && !is_same(all[0].from, all[1].to))
        return "points that no step writes would come from a third buffer";
    if (n_steps > 1 && !is_scratch(&plain, all[n_steps - 2].to))
        ret->is_last_alone = true;
    start(&grouped, s, loop, n_steps);
    for (int i = 0; i < n_steps;) {
        int n = steps_of(n_steps - i, most, ret->is_last_alone);
        struct pair now = make(&grouped, n);
        if (grouped.why || !is_same(now.from, all[i].from) || !is_same(now.to, all[i + n - 1].to))
            return "the buffers do not take turns by the steps' parity";
        i += n;
    }
    return is_end_same(&plain, &grouped) ? NULL
                                         : "the buffers do not take turns by the steps' parity";
}

/* What a launch is given beside the two buffers must be the same at each step. */
static const char *check_arguments(const struct hone_time_step *s, const struct hone_cuda_launch *l,
                                   const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < l->n_args; i++) {
        if (i == s->from || i == s->to)
            continue;
        if (hone_c_uses(l->args[i], loop->var))
            return "the number of the step is an argument of the step";
        for (const struct hone_c_node *n = l->args[i]; n; n = hone_c_walk(l->args[i], n)) {
            bool is_own =
                n->kind == HONE_C_REF && n->decl &&
                (hone_c_contains(loop->node, n->decl) || hone_c_writes(loop->node->body, n->decl));
            if (is_own)
                return "another argument of the step changes from step to step";
        }
    }
    return NULL;
}

/* Is the number of a step asked for its parity alone, or whether it is the first? Other conditions may
 * come true behind the steps that are carried out here. */
static bool is_of_parity(struct run *r, const struct hone_c_node *n)
{
    static const char *const refused[] = {"<", ">", "<=", ">=", "/", "<<", ">>", "^", "*"};
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++)
        if (strcmp(n->op, refused[i]) == 0)
            return false;
    const struct value right = eval(r, n->last, 0);
    const int64_t most = strcmp(n->op, "%") == 0 ? 2 : 1;
    bool has_limit = strcmp(n->op, "%") == 0 || strcmp(n->op, "&") == 0 ||
                     strcmp(n->op, "==") == 0 || strcmp(n->op, "!=") == 0;
    return !has_limit || right.kind != NUMBER || right.n <= most;
}

static const char *check_body(const struct hone_time_step *s, const struct hone_c_loop *loop)
{
    struct run r = {.s = s, .loop = loop, .launcher = s->k->launches[0].launcher};
    const struct hone_c_node *body = loop->node->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind == HONE_C_CALL && hone_c_is_stmt(n) && !launch_of(&r, n) && !is_idle(n))
            return "something else happens in the loop beside one launch of the step";
        if (n->kind == HONE_C_BINARY && hone_c_uses(n, loop->var) && !is_of_parity(&r, n))
            return "the loop asks for more than the parity of a step's number";
    }
    return NULL;
}

const char *hone_time_read_loop(const struct hone_time_step *s, struct hone_time_loop *ret)
{
    const struct hone_cuda_kernel *k = s->k;
    const struct hone_c_node *launcher = k->launches[0].launcher, *around = NULL;
    *ret = (struct hone_time_loop){.loop = NULL};
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_c_node *n = k->launches[i].call;
        while (n && n->kind != HONE_C_FOR && n->kind != HONE_C_WHILE && n != launcher)
            n = n->parent;
        if (!n || n->kind != HONE_C_FOR || (around && n != around))
            return "the step is started outside of a loop over steps";
        around = n;
    }
    struct hone_c_nest *nest = hone_pool_alloc(k->in->pool, sizeof(*nest));
    hone_c_nest_of(k->in->tree, launcher, nest);
    const struct hone_c_loop *loop = hone_c_loop_of(nest, around);
    if (!loop || !loop->is_canonical || !loop->is_unit_step || !loop->declares_var || loop->parent)
        return "the loop over steps does not count them one by one";
    if (!hone_c_is_invariant(loop->upper, loop->node->body))
        return "the number of steps changes in the loop";
    const char *why = NULL;
    for (size_t i = 0; i < k->n_launches && !why; i++)
        why = check_arguments(s, &k->launches[i], loop);
    for (int n = 1; n < MAX_STEPS && !why; n++)
        for (int most = 3; most <= 7 && !why; most += 2)
            why = compare(s, loop, n, most, ret);
    ret->loop = loop;
    return why ? why : check_body(s, loop);
}
