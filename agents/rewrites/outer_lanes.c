/* SPDX-License-Identifier: Apache-2.0 */
/* C02, C05: some iterations of an independent outer loop run side by side, one in each lane of a
 * vector, although what stands inside is no perfect nest.
 *
 *     for (j...) {                       for (j_first...; j_first += LANES) {
 *         double s = 0;                      double s_lanes[LANES];
 *         for (i...)                         for (lane...) s_lanes[lane] = 0;
 *             s += x[i * n + j];     ->      for (i...)
 *         mean[j] = s / m;                       for (lane...) s_lanes[lane] += x[i * n + j];
 *     }                                      for (lane...) mean[j] = s_lanes[lane] / m;
 *                                        }   and the rest as it was, where LANES do not fit
 *
 * Loops whose bounds are the same for all lanes are shared by them; everything else is done lane by
 * lane. A local that lives across a shared loop becomes an array; one that is arithmetic on names
 * alone is computed again where it is read. Rows of the lanes that a shared loop reads again and
 * again are first packed, lane beside lane. Each element sees the same operations in the same order
 * as before.
 *
 * outer_strip takes loops along which memory is contiguous while it is not along the inner loop;
 * outer_lanes those whose inner loop carries something from one iteration to the next. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { PLAIN, THREADS, MAX_ACCESSES = 64, MAX_LOCALS = 32, MAX_HELD = 16, MAX_PACKED = 4 };
/* Elements of a lane that are packed, at most: longer rows stay as they were. */
#define PACKED "512"

struct lanes {
    const struct hone_coder_input *in;
    const struct hone_c_loop *loop;
    const char *lane, *first, *full, *count; /* names; count: of lanes */
    struct hone_c_edits edits;               /* locals that became arrays */
    const struct hone_c_node *names[MAX_LOCALS], *shared[MAX_LOCALS];
    size_t n_names;  /* locals that are computed again, those of inner scopes last */
    size_t n_shared; /* shared loops around */
    size_t n_held_names;
    struct hone_c_access *accesses; /* of the whole body; none where they are many */
    size_t n_accesses;
    struct hone_c_reduction sums[HONE_C_MAX_REDUCTIONS]; /* outside of the loop */
    size_t n_sums;
    struct packed {
        const struct hone_c_loop *along; /* the loop that goes through the row */
        const char *text, *name;
    } packed[MAX_PACKED];
    size_t n_packed;
    const char *guard;             /* what has to hold for the strips; NULL: nothing */
    struct hone_buf out, pending;  /* pending: statements of the lane loop that is being built */
    bool has_loop, writes_outside; /* of pending */
    bool is_bad;
};

/* ---- what a statement is ---- */

static bool is_word(const struct lanes *l, const struct hone_c_node *jump, const char *word)
{
    return strncmp(l->in->tree->source + jump->begin, word, strlen(word)) == 0;
}

/* Does the statement leave itself by this jump: `continue`, `break`, or either of return and goto? */
static bool jumps(const struct lanes *l, const struct hone_c_node *stmt, const char *word)
{
    for (const struct hone_c_node *n = stmt; n; n = hone_c_walk(stmt, n)) {
        bool is_inside = false;
        if (n->kind != HONE_C_JUMP || !is_word(l, n, word))
            continue;
        for (const struct hone_c_node *p = n->parent; n != stmt && p && p != stmt; p = p->parent)
            is_inside = is_inside || p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE;
        is_inside =
            is_inside || (n != stmt && (stmt->kind == HONE_C_FOR || stmt->kind == HONE_C_WHILE));
        if (!is_inside || strcmp(word, "return") == 0 || strcmp(word, "goto") == 0)
            return true;
    }
    return false;
}

static bool is_in(const struct hone_c_node *const *all, size_t n, const struct hone_c_node *decl)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == decl)
            return true;
    return false;
}

static bool is_shared_name(const struct lanes *l, const struct hone_c_node *decl)
{
    const struct hone_c_node *top = l->loop->node;
    return !decl || is_in(l->shared, l->n_shared, decl) ||
           (!hone_c_contains(top, decl) && !hone_c_writes(top, decl));
}

/* Arithmetic on names that are the same for all lanes, and where by_lane says so on those that each
 * lane has and on addresses; no memory is read. */
static bool is_arithmetic(const struct lanes *l, const struct hone_c_node *expr, bool by_lane)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        bool is_address = by_lane && n->kind == HONE_C_SUBSCRIPT &&
                          n->parent->kind == HONE_C_UNARY && strcmp(n->parent->op, "&") == 0;
        bool is_of_lane = n->kind == HONE_C_REF && by_lane &&
                          (n->decl == l->loop->var || is_in(l->names, l->n_names, n->decl));
        if ((n->kind == HONE_C_REF && !is_of_lane && !is_shared_name(l, n->decl)) ||
            (n->kind == HONE_C_SUBSCRIPT && !is_address) || n->kind == HONE_C_CALL ||
            n->kind == HONE_C_MEMBER || n->kind == HONE_C_OTHER ||
            (n->kind == HONE_C_UNARY && (strchr(by_lane ? "*" : "*&", n->op[0]) ||
                                         strcmp(n->op, "++") == 0 || strcmp(n->op, "--") == 0)))
            return false;
    }
    return expr != NULL;
}

static bool is_uniform(const struct lanes *l, const struct hone_c_node *expr)
{
    return is_arithmetic(l, expr, false);
}

/* Can every lane do it again? */
static bool is_again(const struct lanes *l, const struct hone_c_node *expr)
{
    return is_arithmetic(l, expr, true);
}

/* Would the loop's counter hide a name that each lane has around it? */
static bool hides_name(const struct lanes *l, const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < l->n_names; i++)
        if (strcmp(l->names[i]->name, loop->var->name) == 0)
            return true;
    return strcmp(l->loop->var->name, loop->var->name) == 0;
}

/* A loop that all lanes go through together; NULL: not one. */
static const struct hone_c_loop *shared_loop(const struct lanes *l, const struct hone_c_node *stmt)
{
    const struct hone_c_loop *loop =
        stmt->kind == HONE_C_FOR ? hone_c_loop_of(&l->in->nest, stmt) : NULL;
    if (!loop || !loop->declares_var || !(loop->is_canonical || loop->counts_down) ||
        !is_uniform(l, loop->lower) || !is_uniform(l, loop->upper) || l->n_shared == MAX_LOCALS ||
        hides_name(l, loop))
        return NULL;
    const struct hone_c_node *body = stmt->body;
    const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : body;
    for (; s; s = s == body ? NULL : s->next)
        if (jumps(l, s, "break"))
            return NULL;
    return loop;
}

/* ---- locals ---- */

static const struct hone_c_node *init_of(const struct hone_c_node *var)
{
    return var->last; /* NULL: none */
}

/* Does it read a local that each lane computes again? */
static bool is_named(const struct lanes *l, const struct hone_c_node *expr)
{
    for (size_t i = 0; i < l->n_names; i++)
        if (hone_c_uses(expr, l->names[i]))
            return true;
    return false;
}

/* Is it read behind the next shared loop of its scope, or in one? */
static bool lives_on(const struct lanes *l, const struct hone_c_node *stmt,
                     const struct hone_c_node *var)
{
    const struct hone_c_node *s = stmt->next;
    while (s && !shared_loop(l, s))
        s = s->next;
    for (; s; s = s->next)
        if (hone_c_uses(s, var))
            return true;
    return false;
}

static void put_local(struct lanes *l, const struct hone_c_node *stmt,
                      const struct hone_c_node *var)
{
    const struct hone_c_node *init = init_of(var);
    bool outlives = lives_on(l, stmt, var);
    if (strchr(var->type, '[') || l->n_names == MAX_LOCALS) {
        l->is_bad = true;
    } else if (init && !hone_c_writes(l->loop->node, var) && is_again(l, init)) {
        l->names[l->n_names++] = var;
    } else if (!outlives) {
        hone_buf_printf(&l->pending, "%s %s", hone_c_value_type(var), var->name);
        if (init)
            hone_buf_printf(&l->pending, " = %s",
                            hone_c_edit_text(&l->edits, init->begin, init->end));
        hone_buf_str(&l->pending, ";\n");
    } else if (strchr(var->type, '*')) {
        l->is_bad = true;
    } else {
        const char *name =
            hone_fresh_name(l->in, hone_pool_printf(l->in->pool, "%s_lanes", var->name));
        const char *element = hone_pool_printf(l->in->pool, "%s[%s]", name, l->lane);
        hone_buf_printf(&l->out, "%s %s[%s];\n", hone_c_value_type(var), name, l->count);
        if (init)
            hone_buf_printf(&l->pending, "%s = %s;\n", element,
                            hone_c_edit_text(&l->edits, init->begin, init->end));
        hone_c_replace_refs(&l->edits, l->loop->node, var, element);
    }
}

/* ---- the text ---- */

static void put_name(struct lanes *l, const struct hone_c_node *var)
{
    const struct hone_c_node *init = init_of(var);
    hone_buf_printf(&l->out, "%s %s = %s;\n", hone_c_value_type(var), var->name,
                    hone_c_edit_text(&l->edits, init->begin, init->end));
}

/* The lane loop of what is pending; a sum outside of the loop keeps its order without a pragma. */
static void flush(struct lanes *l)
{
    if (l->pending.len == 0)
        return;
    if (!l->has_loop && !l->writes_outside)
        hone_buf_str(&l->out, "#pragma omp simd\n");
    hone_buf_printf(&l->out, "for (int %s = 0; %s < %s; %s++) {\nconst %s %s = %s + %s;\n", l->lane,
                    l->lane, l->count, l->lane, hone_type_text(l->in, l->loop->var),
                    l->loop->var->name, l->first, l->lane);
    for (size_t i = 0; i < l->n_names; i++)
        put_name(l, l->names[i]);
    hone_buf_printf(&l->out, "%s}\n", l->pending.data);
    l->pending.len = 0;
    l->has_loop = l->writes_outside = false;
}

static bool holds_loop(const struct hone_c_node *stmt)
{
    for (const struct hone_c_node *n = stmt; n; n = hone_c_walk(stmt, n))
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
            return true;
    return false;
}

static bool writes_outside(const struct lanes *l, const struct hone_c_node *stmt)
{
    for (size_t i = 0; i < l->n_sums; i++)
        if (hone_c_writes(stmt, l->sums[i].var))
            return true;
    return false;
}

static void put_plain(struct lanes *l, const struct hone_c_node *stmt)
{
    bool is_sum = writes_outside(l, stmt);
    l->has_loop = l->has_loop || holds_loop(stmt);
    l->writes_outside = l->writes_outside || is_sum;
    l->is_bad = l->is_bad || jumps(l, stmt, "return") || jumps(l, stmt, "goto") ||
                jumps(l, stmt, "break") || (is_sum && l->n_shared > 0);
    hone_buf_printf(&l->pending, "%s\n",
                    hone_c_edit_text(&l->edits, stmt->begin, hone_c_stmt_end(l->in->tree, stmt)));
}

/* ---- memory that stays the same through a shared loop ---- */

struct held { /* an element of each lane, or of all */
    const char *text, *name;
    bool is_written;
};

/* Which of them has the text; n: none. */
static size_t find_held(const struct held *all, size_t n, const char *text)
{
    size_t k = 0;
    while (k < n && strcmp(all[k].text, text) != 0)
        k++;
    return k;
}

/* The same; where none has it there is one more, under a new name. */
static size_t need_held(struct lanes *l, struct held *all, size_t *n, const char *text,
                        const char *stem)
{
    size_t k = find_held(all, *n, text);
    if (k < *n)
        return k;
    stem = hone_pool_printf(l->in->pool, "%s_%zu", stem, l->n_held_names++);
    all[(*n)++] = (struct held){.text = text, .name = hone_fresh_name(l->in, stem)};
    return k;
}

/* A pointer that was set somewhere may point anywhere. */
static bool is_written(const struct lanes *l, const struct hone_c_node *root)
{
    for (size_t i = 0; i < l->n_accesses; i++) {
        const struct hone_c_node *to = l->accesses[i].root;
        if (l->accesses[i].is_write &&
            (to == root || !to || (to->kind == HONE_C_VAR && strchr(to->type, '*'))))
            return true;
    }
    return false;
}

/* The condition of `if (...) continue;`; NULL: no such statement. */
static const struct hone_c_node *skip_of(const struct lanes *l, const struct hone_c_node *stmt)
{
    if (stmt->kind != HONE_C_IF || hone_c_n_children(stmt) != 2)
        return NULL;
    const struct hone_c_node *only = hone_c_child(stmt, 1);
    only = only->kind == HONE_C_COMPOUND ? hone_c_only_stmt(only) : only;
    return only && only->kind == HONE_C_JUMP && is_word(l, only, "continue") ? stmt->first : NULL;
}

/* `if (i == k) continue;`, of the lane's counter and the shared one: the others read the element. */
static bool skips_one_lane(const struct lanes *l, const struct hone_c_loop *loop,
                           const struct hone_c_node *jump)
{
    const struct hone_c_node *s = jump->parent;
    s = s && s->kind == HONE_C_COMPOUND ? s->parent : s;
    const struct hone_c_node *c = s && s->kind == HONE_C_IF ? skip_of(l, s) : NULL;
    c = c ? hone_c_strip(c) : NULL;
    if (!c || c->kind != HONE_C_BINARY || strcmp(c->op, "==") != 0 ||
        c->first->kind != HONE_C_REF || c->last->kind != HONE_C_REF)
        return false;
    const struct hone_c_node *a = c->first->decl, *b = c->last->decl;
    return (a == l->loop->var && b == loop->var) || (b == l->loop->var && a == loop->var);
}

/* May a jump in front of the node leave it out? */
static bool is_jumped_over(const struct lanes *l, const struct hone_c_loop *loop,
                           const struct hone_c_node *node)
{
    const struct hone_c_node *body = loop->node->body;
    for (const struct hone_c_node *n = body; n && n->begin < node->begin; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_JUMP && !skips_one_lane(l, loop, n))
            return true;
    return false;
}

static bool is_addressed(const struct hone_c_node *node)
{
    const struct hone_c_node *p = node->parent;
    while (p && p->kind == HONE_C_PAREN)
        p = p->parent;
    return p && p->kind == HONE_C_UNARY && strcmp(p->op, "&") == 0;
}

/* An element of a parameter, whose value alone is asked for or set. */
static bool is_plain_place(const struct hone_c_access *a)
{
    return a->node->kind == HONE_C_SUBSCRIPT && a->root && a->root->kind == HONE_C_PARAM &&
           !is_addressed(a->node);
}

/* One that each iteration of the loop reaches. */
static bool is_steady(const struct lanes *l, const struct hone_c_loop *loop,
                      const struct hone_c_access *a)
{
    return is_plain_place(a) && hone_c_is_always_reached(loop->node, a->node) &&
           !is_jumped_over(l, loop, a->node);
}

/* Two places of one array that are certainly not the same element. */
static bool is_apart(const struct hone_c_access *a, const struct hone_c_access *b)
{
    int64_t d;
    return hone_c_poly_distance(&a->index, &b->index, &d) && d != 0;
}

/* May the access be held, as far as the others in the loop are concerned? */
static bool is_alone(const struct lanes *l, const struct hone_c_access *all, size_t n, size_t at)
{
    const struct hone_c_access *a = &all[at];
    const char *text = hone_c_text(l->in->tree, a->node);
    bool is_written = false, is_other = false;
    for (size_t i = 0; i < n; i++) {
        if (all[i].root != a->root)
            continue;
        is_written = is_written || all[i].is_write;
        is_other = is_other || (strcmp(hone_c_text(l->in->tree, all[i].node), text) != 0 &&
                                !is_apart(a, &all[i]));
    }
    return !is_written || !is_other;
}

/* All accesses of one text are held or none is: where one of them is reached in each iteration, the
 * others may stand in branches. */
static bool is_held(const struct lanes *l, const struct hone_c_loop *loop,
                    const struct hone_c_access *all, size_t n, size_t at)
{
    const struct hone_c_node *node = all[at].node;
    const char *text = hone_c_text(l->in->tree, node);
    bool is_reached = false;
    for (size_t i = 0; i < n; i++) {
        if (all[i].root != all[at].root || strcmp(hone_c_text(l->in->tree, all[i].node), text) != 0)
            continue;
        if (!is_plain_place(&all[i]))
            return false;
        is_reached = is_reached || is_steady(l, loop, &all[i]);
    }
    if (!is_reached || !all[at].index.is_known ||
        !(hone_c_uses(node, l->loop->var) || is_named(l, node)) || !is_alone(l, all, n, at))
        return false;
    for (const struct hone_c_node *c = node->first; c; c = c->next)
        if (!is_again(l, c))
            return false;
    return true;
}

static void require(struct lanes *l, const char *what)
{
    l->guard = l->guard ? hone_pool_printf(l->in->pool, "%s && %s", l->guard, what) : what;
}

/* Nothing is read ahead of a shared loop that has no iteration. */
static void require_iteration(struct lanes *l, const struct hone_c_loop *loop)
{
    require(l,
            hone_pool_printf(l->in->pool, "%s%s < %s", hone_lower_text(l->in, loop),
                             loop->is_exclusive_below ? " + 1" : "", hone_upper_text(l->in, loop)));
}

/* Elements that each lane reads again and again are read once, into an array; what is written goes
 * back behind the loop. Returns how many. */
static size_t hold(struct lanes *l, const struct hone_c_loop *loop, struct held *ret)
{
    struct hone_c_access *all = hone_pool_alloc(l->in->pool, MAX_ACCESSES * sizeof(*all));
    size_t n = hone_c_accesses(l->in->nest.function, loop->node->body, all, MAX_ACCESSES);
    size_t n_held = 0;
    for (size_t i = 0; n <= MAX_ACCESSES && i < n; i++) {
        if (!is_held(l, loop, all, n, i))
            continue;
        const char *text = hone_c_text(l->in->tree, all[i].node);
        const char *stem = hone_pool_printf(l->in->pool, "%s_held", all[i].root->name);
        if (n_held == MAX_HELD && find_held(ret, n_held, text) == n_held)
            continue; /* stays in memory, all of it */
        size_t before = n_held, k = need_held(l, ret, &n_held, text, stem);
        if (n_held > before) {
            hone_buf_printf(&l->out, "%s %s[%s];\n", hone_c_value_type(all[i].node), ret[k].name,
                            l->count);
            hone_buf_printf(&l->pending, "%s[%s] = %s;\n", ret[k].name, l->lane, text);
        }
        ret[k].is_written = ret[k].is_written || all[i].is_write;
        hone_c_replace(&l->edits, all[i].node->begin, all[i].node->end,
                       hone_pool_printf(l->in->pool, "%s[%s]", ret[k].name, l->lane));
    }
    return n_held;
}

/* What is the same for all lanes is read once for them, in front of the lane loop: a compiler does
 * not vectorise such a read behind a branch. */
static void read_uniform(struct lanes *l, const struct hone_c_loop *loop)
{
    struct held done[MAX_HELD];
    size_t n_done = 0;
    for (size_t i = 0; i < l->n_accesses && n_done < MAX_HELD; i++) {
        const struct hone_c_access *a = &l->accesses[i];
        if (!hone_c_contains(loop->node->body, a->node) || !is_steady(l, loop, a) ||
            is_written(l, a->root) || !is_uniform(l, a->node->first) ||
            !is_uniform(l, a->node->first->next))
            continue;
        const char *text = hone_c_text(l->in->tree, a->node);
        const char *stem = hone_pool_printf(l->in->pool, "%s_all", a->root->name);
        size_t before = n_done, k = need_held(l, done, &n_done, text, stem);
        if (n_done > before)
            hone_buf_printf(&l->out, "const %s %s = %s;\n", hone_c_value_type(a->node),
                            done[k].name, text);
        hone_c_replace(&l->edits, a->node->begin, a->node->end, done[k].name);
    }
}

/* ---- rows that are read again and again ---- */

/* A lower bound that means the same inside of the loop: a constant, or a name that nothing there
 * hides. */
static bool is_lower_plain(const struct hone_c_loop *row)
{
    const struct hone_c_node *lower = hone_c_strip(row->lower), *body = row->node->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (lower->kind == HONE_C_REF && n->kind == HONE_C_VAR && n->name && lower->decl &&
            strcmp(n->name, lower->decl->name) == 0)
            return false;
    return lower->kind == HONE_C_CONST || lower->kind == HONE_C_REF;
}

/* The loop right inside of the shared loop that goes along a row of the lane's own, which the
 * shared loop reads in each iteration; NULL: the access is no such one. */
static const struct hone_c_loop *row_of(const struct lanes *l, const struct hone_c_loop *loop,
                                        const struct hone_c_access *a)
{
    const struct hone_c_loop *row = NULL;
    for (size_t i = 0; i < l->in->nest.n; i++)
        if (l->in->nest.loops[i].parent == loop &&
            hone_c_contains(l->in->nest.loops[i].node->body, a->node))
            row = &l->in->nest.loops[i];
    if (!row || !row->is_canonical || !row->declares_var || !row->is_unit_step ||
        !is_uniform(l, row->lower) || !is_uniform(l, row->upper) || !a->index.is_known ||
        is_written(l, a->root) || !is_steady(l, row, a) ||
        !hone_c_is_always_reached(loop->node, row->node) || is_jumped_over(l, loop, row->node) ||
        hone_c_uses(a->node, loop->var) || hides_name(l, row) || !is_lower_plain(row))
        return NULL;
    enum hone_c_stride across = hone_c_poly_stride(&a->index, l->loop->var);
    return across == HONE_C_STRIDE_FAR && hone_c_uses(a->node, row->var) ? row : NULL;
}

/* Is the address arithmetic on names that each lane has, and on the counter along the row? */
static bool is_row_address(struct lanes *l, const struct hone_c_loop *row,
                           const struct hone_c_node *node)
{
    bool ret = true;
    l->shared[l->n_shared++] = row->var;
    for (const struct hone_c_node *c = node->first; c; c = c->next)
        ret = ret && is_again(l, c);
    l->n_shared--;
    return ret;
}

static const char *row_element(const struct lanes *l, const struct packed *p)
{
    const char *lower = hone_lower_text(l->in, p->along), *var = p->along->var->name;
    return strcmp(lower, "0") == 0
               ? hone_pool_printf(l->in->pool, "%s[%s][%s]", p->name, var, l->lane)
               : hone_pool_printf(l->in->pool, "%s[%s - %s][%s]", p->name, var, lower, l->lane);
}

static void put_row(struct lanes *l, const struct packed *p, const struct hone_c_access *a)
{
    const struct hone_c_node *node = p->along->node;
    hone_buf_printf(&l->out, "%s %s[" PACKED "][%s];\n", hone_c_value_type(a->node), p->name,
                    l->count);
    hone_buf_printf(&l->out, "%s{\n",
                    hone_pool_strndup(l->in->pool, l->in->tree->source + node->begin,
                                      node->body->begin - node->begin));
    hone_buf_printf(&l->pending, "%s = %s;\n", row_element(l, p), p->text);
    flush(l);
    hone_buf_str(&l->out, "}\n");
    require(l, hone_pool_printf(l->in->pool, "%s <= " PACKED, hone_count_text(l->in, p->along)));
}

/* Strided rows of the lanes that each iteration of a shared loop goes through are copied first. */
static void pack(struct lanes *l, const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < l->n_accesses; i++) {
        const struct hone_c_access *a = &l->accesses[i];
        const struct hone_c_loop *row =
            hone_c_contains(loop->node->body, a->node) ? row_of(l, loop, a) : NULL;
        if (!row || l->n_shared + 1 == MAX_LOCALS || !is_row_address(l, row, a->node))
            continue;
        const char *text = hone_c_text(l->in->tree, a->node);
        struct packed *p = l->packed;
        while (p < l->packed + l->n_packed && (p->along != row || strcmp(p->text, text) != 0))
            p++;
        if (p == l->packed + MAX_PACKED)
            continue;
        if (p == l->packed + l->n_packed) {
            l->n_packed++;
            *p = (struct packed){
                row, text,
                hone_fresh_name(l->in, hone_pool_printf(l->in->pool, "%s_packed_%zu", a->root->name,
                                                        l->n_packed))};
            put_row(l, p, a);
        }
        hone_c_replace(&l->edits, a->node->begin, a->node->end, row_element(l, p));
    }
}

static void put_scope(struct lanes *l, const struct hone_c_node *body);

static void put_shared(struct lanes *l, const struct hone_c_loop *loop)
{
    const struct hone_c_node *node = loop->node;
    struct held held[MAX_HELD];
    size_t n_held = l->n_shared == 0 ? hold(l, loop, held) : 0, n_packed = l->n_packed;
    flush(l);
    if (l->n_shared == 0)
        pack(l, loop);
    if (n_held > 0 || l->n_packed > n_packed)
        require_iteration(l, loop);
    hone_buf_printf(&l->out, "%s{\n", hone_c_edit_text(&l->edits, node->begin, node->body->begin));
    l->shared[l->n_shared++] = loop->var;
    read_uniform(l, loop);
    put_scope(l, node->body);
    l->n_shared--;
    hone_buf_str(&l->out, "}\n");
    for (size_t i = 0; i < n_held; i++)
        if (held[i].is_written)
            hone_buf_printf(&l->pending, "%s = %s[%s];\n", held[i].text, held[i].name, l->lane);
}

static void put_scope(struct lanes *l, const struct hone_c_node *body)
{
    const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : body;
    size_t n_names = l->n_names, n_shared = 0, n_open = 0;
    bool continues = false;
    for (; s && !l->is_bad; s = s == body ? NULL : s->next) {
        const struct hone_c_loop *loop = shared_loop(l, s);
        const struct hone_c_node *skip = skip_of(l, s);
        continues = continues || (!loop && jumps(l, s, "continue"));
        n_shared += loop != NULL;
        if (loop)
            put_shared(l, loop);
        else if (skip && ++n_open)
            hone_buf_printf(&l->pending, "if (!(%s)) {\n",
                            hone_c_edit_text(&l->edits, skip->begin, skip->end));
        else if (s->kind != HONE_C_DECL_STMT)
            put_plain(l, s);
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL; v;
             v = v->next)
            put_local(l, s, v);
    }
    l->is_bad = l->is_bad || (continues && n_shared > 0); /* it would skip one lane loop alone */
    while (n_open-- > 0)
        hone_buf_str(&l->pending, "}\n");
    flush(l);
    l->n_names = n_names;
}

/* In the pool; NULL: it cannot be expressed. */
static const char *text_of(const struct hone_coder_input *in, const struct hone_c_loop *loop,
                           const char *count, int variant)
{
    struct lanes l = {.in = in, .loop = loop, .count = count};
    l.lane = hone_fresh_name(in, "lane");
    const char *var = loop->var->name, *type = hone_type_text(in, loop->var);
    l.first = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_first", var));
    l.full = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", var));
    hone_c_edits_init(&l.edits, in->tree);
    hone_c_reductions(loop, l.sums, &l.n_sums);
    l.accesses = hone_pool_alloc(in->pool, MAX_ACCESSES * sizeof(*l.accesses));
    l.n_accesses = hone_c_accesses(in->nest.function, loop->node->body, l.accesses, MAX_ACCESSES);
    l.n_accesses = l.n_accesses <= MAX_ACCESSES ? l.n_accesses : 0; /* then nothing is read ahead */
    const char *pragma =
        variant == THREADS
            ? hone_pool_printf(in->pool, "#pragma omp parallel for schedule(static)%s\n",
                               hone_if_clause(in, loop))
            : hone_pool_strndup(in->pool, in->tree->source + loop->begin,
                                loop->node->begin - loop->begin);
    put_scope(&l, loop->node->body);
    const char *lower = hone_lower_text(in, loop), *full = hone_full_text(in, loop, count);
    if (l.guard)
        full = hone_pool_printf(in->pool, "%s ? %s : %s", l.guard, full, lower);
    const char *body =
        hone_pool_strndup(in->pool, in->tree->source + loop->node->body->begin,
                          hone_c_stmt_end(in->tree, loop->node->body) - loop->node->body->begin);
    const char *text =
        l.is_bad ? NULL
                 : hone_pool_printf(in->pool,
                                    "{\nconst %s %s = %s;\n%sfor (%s %s = %s; %s < %s; %s += %s) "
                                    "{\n%s}\nfor (%s %s = %s; %s < %s; %s++)\n%s\n}",
                                    type, l.full, full, pragma, type, l.first, lower, l.first,
                                    l.full, l.first, count, l.out.data, type, var, l.full, var,
                                    hone_upper_text(in, loop), var, body);
    hone_buf_done(&l.out);
    hone_buf_done(&l.pending);
    return text;
}

/* ---- the rule ---- */

static const struct hone_c_loop *around(const struct hone_coder_input *in,
                                        const struct hone_c_loop *outer,
                                        const struct hone_c_node *node)
{
    const struct hone_c_loop *ret = NULL;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l != outer && hone_c_contains(outer->node, l->node) && hone_c_contains(l->node, node) &&
            (!ret || hone_c_contains(ret->node, l->node)))
            ret = l;
    }
    return ret;
}

static bool is_plain_vector(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const char *why;
    return l->is_innermost && hone_c_is_parallel(&in->nest, l, &why) && !hone_c_writes_scalar(l);
}

struct traffic {                     /* of the inner loops, along the outer one */
    size_t n_unit, n_uniform, n_far; /* far: but for rows that are packed */
    bool turns_unit; /* something that is strided along the inner loop is not along the outer one */
    bool has_plain;  /* an inner loop that a compiler vectorises as it is */
    bool has_carried; /* an inner loop that it does not */
};

static struct traffic traffic_of(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    struct hone_c_access a[MAX_ACCESSES];
    struct traffic t = {0};
    size_t n = hone_c_accesses(in->nest.function, l->node->body, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++) {
        const struct hone_c_loop *inner = around(in, l, a[i].node);
        if (!inner)
            continue;
        enum hone_c_stride along = hone_c_poly_stride(&a[i].index, l->var),
                           across = hone_c_poly_stride(&a[i].index, inner->var);
        t.n_unit += along == HONE_C_STRIDE_UNIT;
        t.n_uniform += along == HONE_C_STRIDE_ZERO;
        bool is_row = inner->parent != l && !hone_c_uses(a[i].node, inner->parent->var);
        t.n_far += across != HONE_C_STRIDE_ZERO && !is_row &&
                   (along == HONE_C_STRIDE_FAR || along == HONE_C_STRIDE_UNKNOWN);
        t.turns_unit = t.turns_unit || (along == HONE_C_STRIDE_UNIT && across == HONE_C_STRIDE_FAR);
        t.has_plain = t.has_plain || is_plain_vector(in, inner);
        t.has_carried = t.has_carried || (inner->is_innermost && !is_plain_vector(in, inner));
    }
    return t;
}

static bool is_candidate(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const char *why;
    bool is_second = l->has_parallel && l->begin == l->node->begin; /* of a collapsed pair */
    return !is_second && !l->is_fallback && !l->is_small && !l->is_innermost && l->is_canonical &&
           l->declares_var && l->is_unit_step && !l->has_simd && !l->has_collapse &&
           hone_c_is_parallel(&in->nest, l, &why);
}

typedef bool is_wanted_fn(const struct traffic *t);

static bool is_strip(const struct traffic *t)
{
    return t->turns_unit && t->n_far <= t->n_unit;
}

static bool is_lanes(const struct traffic *t)
{
    return !t->turns_unit && t->has_carried && !t->has_plain &&
           t->n_far <= t->n_unit + t->n_uniform;
}

static size_t sites_of(const struct hone_coder_input *in, is_wanted_fn *is_wanted,
                       struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n + 1 < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        struct traffic t = is_candidate(in, l) ? traffic_of(in, l) : (struct traffic){0};
        if (!is_wanted(&t) || !text_of(in, l, "8", PLAIN))
            continue;
        bool can_share = l->depth == 0 && hone_may_thread(in, l) && !hone_c_writes_scalar(l);
        for (int variant = can_share ? THREADS : PLAIN; variant >= PLAIN; variant--) {
            ret[n] = hone_site(l->node, l->begin, l->node->end,
                               hone_pool_printf(in->pool, "%s%s", hone_loop_words(in, l),
                                                variant == THREADS ? ", by threads" : ""));
            ret[n].evidence = "its iterations are independent, and share their inner loops";
            ret[n++].variant = variant;
        }
    }
    return n;
}

static size_t strip_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    return sites_of(in, is_strip, ret, max);
}

static size_t lanes_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    return sites_of(in, is_lanes, ret, max);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const char *count = hone_add_tunable(&e, in, "LANES", "16, 8, 32");
    const char *text = l && is_candidate(in, l) ? text_of(in, l, count, site->variant) : NULL;
    if (!text) {
        hone_fail(err, HONE_E_ARG, "the region is no loop whose iterations run side by side");
        return NULL;
    }
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_pool_printf(in->pool, "%s%s", hone_const_math(in), hone_finish_edits(&e));
}

const struct hone_rewrite hone_rewrite_outer_strip = {
    .name = "outer_strip",
    .strategy = "C02",
    .words = "a strip of an outer loop innermost, where memory is contiguous along it",
    .sites = strip_sites,
    .apply = apply,
};

const struct hone_rewrite hone_rewrite_outer_lanes = {
    .name = "outer_lanes",
    .strategy = "C05",
    .words = "iterations of an outer loop in the lanes of a vector",
    .form = HONE_REWRITE_NORMAL,
    .sites = lanes_sites,
    .apply = apply,
};
