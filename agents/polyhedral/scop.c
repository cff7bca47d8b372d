/* SPDX-License-Identifier: Apache-2.0 */
/* A run is found in two steps. First its siblings are taken apart into statements, each under the
 * loops around it; a sibling that cannot be is the end of the run. Then the accesses of all
 * statements are written down, for each array in the dimensions that its subscripts show. */
#include "agents/polyhedral/scop.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/polyhedral/order.h"
#include "agents/polyhedral/subscript.h"
#include "agents/polyhedral/update.h"
#include "workspace/base/limits.h"

enum { MAX_NAMES = 24, MAX_ARRAYS = 24, MAX_ACCESSES = 160, MAX_STATEMENT_ACCESSES = 64 };

struct array {
    const struct hone_c_node *root;
    bool is_split;
    struct hone_subscript_rows rows;
};

struct access {
    struct hone_c_access of;
    size_t statement, array;
    char update; /* operator of the update that it is a part of; 0: of none */
};

struct builder {
    const struct hone_coder_input *in;
    struct hone_scop *scop;
    const char *names[MAX_NAMES]; /* sizes and outer counters that the texts name */
    const struct hone_c_node *decls[MAX_NAMES];
    size_t n_names;
    struct array arrays[MAX_ARRAYS];
    size_t n_arrays;
    struct access *accesses;
    size_t n_accesses;
};

/* ---- names and sums ---- */

/* Words of isl's notation, which no name in a text may be. */
static bool is_reserved(const char *name)
{
    static const char words[] = " exists and or not mod floor ceil floord ceild min max rational "
                                "true false infty infinity NaN implies ";
    char framed[80];
    snprintf(framed, sizeof framed, " %.70s ", name);
    return strstr(words, framed) != NULL;
}

static bool is_plain_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!hone_is_word_char(*c))
            return false;
    return strlen(name) < 60 && !is_reserved(name);
}

static bool is_in_run(const struct builder *b, const struct hone_c_node *node)
{
    return node->begin >= b->scop->begin && node->end <= b->scop->end;
}

static bool is_counter(const struct hone_c_node *decl, void *arg)
{
    const struct builder *b = arg;
    for (size_t i = 0; i < b->in->nest.n; i++)
        if (b->in->nest.loops[i].var == decl)
            return is_in_run(b, decl);
    return false;
}

/* A name that is the same throughout the run. False: it is not, or there are too many. */
static bool add_name(struct builder *b, const struct hone_c_factor *factor)
{
    if (!is_plain_name(factor->name) || (factor->decl && is_in_run(b, factor->decl)))
        return false;
    for (size_t i = 0; i < b->n_names; i++)
        if (strcmp(b->names[i], factor->name) == 0)
            return b->decls[i] == factor->decl;
    if (b->n_names == MAX_NAMES)
        return false;
    b->names[b->n_names] = factor->name;
    b->decls[b->n_names++] = factor->decl;
    return true;
}

/* "0+2*i-N", of the counters of the loops given and of names. */
static bool print_sum(struct builder *b, struct hone_buf *text, const struct hone_c_poly *poly,
                      const struct hone_c_loop *const *loops, size_t depth)
{
    if (!hone_poly_is_affine(poly))
        return false;
    hone_buf_str(text, "0");
    for (size_t i = 0; i < poly->n; i++) {
        const struct hone_c_term *t = &poly->terms[i];
        const char *name = "1";
        if (t->k > HONE_SCOP_MAX_FACTOR || t->k < -HONE_SCOP_MAX_FACTOR)
            return false;
        if (t->n_factors > 0) {
            size_t l = 0;
            name = t->factors[0].name;
            while (l < depth && loops[l]->var != t->factors[0].decl)
                l++;
            if (l == depth && !add_name(b, &t->factors[0]))
                return false;
        }
        hone_buf_printf(text, "%+lld*%s", (long long)t->k, name);
    }
    return true;
}

static bool print_expr(struct builder *b, struct hone_buf *text, const struct hone_c_node *expr,
                       const struct hone_c_loop *const *loops, size_t depth)
{
    struct hone_c_poly poly = hone_c_poly_of(b->in->nest.function, expr);
    return print_sum(b, text, &poly, loops, depth);
}

/* "0+0*1 <= i < 0+1*N" */
static bool print_bounds(struct builder *b, struct hone_buf *text, const struct hone_c_loop *loop,
                         const struct hone_c_loop *const *loops, size_t depth)
{
    if (!print_expr(b, text, loop->lower, loops, depth))
        return false;
    hone_buf_printf(text, " %s %s %s ", loop->is_exclusive_below ? "<" : "<=", loop->var->name,
                    loop->is_inclusive ? "<=" : "<");
    return print_expr(b, text, loop->upper, loops, depth);
}

/* "S2[i,j]" */
static void print_instance(const struct hone_scop *scop, struct hone_buf *text, size_t statement)
{
    const struct hone_scop_statement *s = &scop->statements[statement];
    hone_buf_printf(text, "S%zu[", statement);
    for (size_t i = 0; i < s->depth; i++)
        hone_buf_printf(text, "%s%s", i ? "," : "", s->loops[i]->var->name);
    hone_buf_str(text, "]");
}

/* ---- statements ---- */

static bool has_directive(const struct hone_c_tree *tree, uint32_t begin, uint32_t end)
{
    for (uint32_t at = begin; at < end; at++) {
        uint32_t line = at;
        while (line > 0 && (tree->source[line - 1] == ' ' || tree->source[line - 1] == '\t'))
            line--;
        if (tree->source[at] == '#' && (line == 0 || tree->source[line - 1] == '\n'))
            return true;
    }
    return false;
}

static bool is_pointer(const char *type)
{
    return strchr(type, '*') || strchr(type, '[');
}

/* May it run elsewhere, as often as before? It leaves no scalar behind, goes nowhere else and hands
 * no array to a call. */
static bool stands_alone(const struct builder *b, const struct hone_c_node *stmt)
{
    if (hone_c_state_call(b->in->tree, stmt))
        return false;
    for (const struct hone_c_node *n = stmt; n; n = hone_c_walk(stmt, n)) {
        if (n->kind == HONE_C_JUMP)
            return false;
        if (n->kind == HONE_C_CALL)
            for (const struct hone_c_node *a = n->first ? n->first->next : NULL; a; a = a->next)
                if (is_pointer(a->type))
                    return false;
        if (n->kind == HONE_C_VAR && strncmp(b->in->tree->source + n->begin, "static", 6) == 0)
            return false;
        if (n->kind == HONE_C_REF && n->decl && !hone_c_contains(stmt, n->decl) &&
            (n->decl->kind == HONE_C_VAR || n->decl->kind == HONE_C_PARAM) &&
            hone_c_writes(stmt, n->decl))
            return false;
    }
    return true;
}

static bool has_own_names(const struct hone_c_loop *const *loops, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(loops[i]->var->name, loops[j]->var->name) == 0)
                return false;
    return true;
}

struct place {
    const struct hone_c_loop *loops[HONE_SCOP_MAX_DEPTH];
    size_t depth;
    int at[HONE_SCOP_MAX_DEPTH + 1];
};

static bool add_statement(struct builder *b, const struct hone_c_node *node, const struct place *at)
{
    struct hone_scop *s = b->scop;
    if (s->n == HONE_SCOP_MAX_STATEMENTS || !stands_alone(b, node))
        return false;
    struct hone_scop_statement *to = &s->statements[s->n++];
    *to = (struct hone_scop_statement){.node = node, .depth = at->depth, .when = ""};
    memcpy(to->loops, at->loops, sizeof to->loops);
    memcpy(to->at, at->at, sizeof to->at);
    s->depth = at->depth > s->depth ? at->depth : s->depth;
    return true;
}

static bool declares(const struct hone_c_node *block)
{
    for (const struct hone_c_node *n = block->first; n; n = n->next)
        if (n->kind == HONE_C_DECL_STMT)
            return true;
    return false;
}

static bool take(struct builder *b, const struct hone_c_node *node, struct place *at);

static bool take_block(struct builder *b, const struct hone_c_node *block, struct place *at)
{
    at->at[at->depth] = 0;
    for (const struct hone_c_node *n = block->first; n; n = n->next) {
        if (!take(b, n, at))
            return false;
        at->at[at->depth]++;
    }
    return true;
}

static bool is_known(const struct hone_c_loop *loop)
{
    return (loop->is_canonical || loop->counts_down) && loop->declares_var &&
           is_plain_name(loop->var->name);
}

static bool is_counted(struct builder *b, const struct hone_c_loop *loop, const struct place *at)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf bounds = {.limit = HONE_LIMIT_BUF_BYTES};
    return loop && is_known(loop) && (loop->is_unit_step || loop->counts_down) &&
           loop->begin == loop->node->begin && at->depth < HONE_SCOP_MAX_DEPTH &&
           loop->node->body->kind != HONE_C_DECL_STMT &&
           print_bounds(b, &bounds, loop, at->loops, at->depth);
}

static bool take_loop(struct builder *b, const struct hone_c_loop *loop, struct place *at)
{
    const struct hone_c_node *body = loop->node->body;
    struct place inner = *at;
    inner.loops[inner.depth++] = loop;
    inner.at[inner.depth] = 0;
    if (!has_own_names(inner.loops, inner.depth))
        return false;
    return body->kind == HONE_C_COMPOUND && !declares(body) ? take_block(b, body, &inner)
                                                            : take(b, body, &inner);
}

/* A loop is taken apart where it can be, else it is one statement. */
static bool take(struct builder *b, const struct hone_c_node *node, struct place *at)
{
    size_t n = b->scop->n, depth = b->scop->depth;
    const struct hone_c_loop *loop =
        node->kind == HONE_C_FOR ? hone_c_loop_of(&b->in->nest, node) : NULL;
    if (is_counted(b, loop, at)) {
        if (take_loop(b, loop, at))
            return true;
        b->scop->n = n;
        b->scop->depth = depth;
    }
    return add_statement(b, node, at);
}

/* ---- accesses ---- */

static struct array *array_of(struct builder *b, const struct hone_c_node *root)
{
    for (size_t i = 0; i < b->n_arrays; i++)
        if (b->arrays[i].root == root)
            return &b->arrays[i];
    if (b->n_arrays == MAX_ARRAYS)
        return NULL;
    b->arrays[b->n_arrays] = (struct array){.root = root};
    return &b->arrays[b->n_arrays++];
}

static bool is_own(const struct hone_update *update, const struct hone_c_node *node)
{
    for (size_t i = 0; i < update->n_own; i++)
        if (hone_c_strip(node) == update->own[i])
            return true;
    return false;
}

/* A pointer that is set again may be another array's next time. */
static bool is_array(const struct builder *b, const struct hone_c_node *root)
{
    return root && (root->kind == HONE_C_PARAM || root->kind == HONE_C_VAR) &&
           !hone_c_writes(b->in->nest.function, root);
}

static bool add_accesses(struct builder *b, size_t statement)
{
    const struct hone_c_node *node = b->scop->statements[statement].node;
    struct hone_c_access *all = hone_pool_alloc(b->in->pool, MAX_STATEMENT_ACCESSES * sizeof *all);
    size_t n = hone_c_accesses(b->in->nest.function, node, all, MAX_STATEMENT_ACCESSES);
    struct hone_update update;
    hone_update_of(b->in->tree, node, &update);
    if (n > MAX_STATEMENT_ACCESSES || b->n_accesses + n > MAX_ACCESSES)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (all[i].root && hone_c_contains(node, all[i].root))
            continue; /* its own */
        struct array *array = is_array(b, all[i].root) ? array_of(b, all[i].root) : NULL;
        if (!array)
            return false;
        b->accesses[b->n_accesses++] =
            (struct access){.of = all[i],
                            .statement = statement,
                            .array = (size_t)(array - b->arrays),
                            .update = is_own(&update, all[i].node) ? update.op : '\0'};
    }
    return true;
}

static void split_arrays(struct builder *b)
{
    const struct hone_c_poly *index[MAX_ACCESSES];
    for (size_t a = 0; a < b->n_arrays; a++) {
        size_t n = 0;
        for (size_t i = 0; i < b->n_accesses; i++)
            if (b->accesses[i].array == a && b->accesses[i].of.index.is_known)
                index[n++] = &b->accesses[i].of.index;
        b->arrays[a].is_split = hone_subscript_rows(index, n, is_counter, b, &b->arrays[a].rows);
        if (!b->arrays[a].is_split)
            b->arrays[a].rows.n_dims = 1;
    }
}

/* The loops around an access: those of its statement, then those inside of the statement. */
static size_t loops_around(const struct builder *b, const struct access *access,
                           const struct hone_c_loop **ret, size_t max)
{
    const struct hone_scop_statement *s = &b->scop->statements[access->statement];
    size_t n = 0;
    for (; n < s->depth; n++)
        ret[n] = s->loops[n];
    for (size_t i = 0; i < b->in->nest.n; i++) {
        const struct hone_c_loop *l = &b->in->nest.loops[i];
        if (!hone_c_contains(s->node, l->node) || !hone_c_contains(l->node, access->of.node))
            continue;
        if (n == max || !is_known(l))
            return 0;
        ret[n++] = l;
    }
    return has_own_names(ret, n) ? n : 0;
}

/* What holds of counters inside of the statement: "exists (k : 0 <= k < N and ". */
static bool print_inner(struct builder *b, struct hone_buf *text,
                        const struct hone_c_loop *const *loops, size_t from, size_t n)
{
    if (from == n)
        hone_buf_str(text, "(");
    for (size_t i = from; i < n; i++)
        hone_buf_printf(text, "%s%s%s", i == from ? "exists (" : ",", loops[i]->var->name,
                        i + 1 == n ? " : " : "");
    for (size_t i = from; i < n; i++) {
        if (!print_bounds(b, text, loops[i], loops, i))
            return false;
        hone_buf_str(text, " and ");
    }
    return true;
}

static char *names_text(const struct builder *b)
{
    struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    for (size_t i = 0; i < b->n_names; i++)
        hone_buf_printf(&text, "%s%s", i ? "," : "", b->names[i]);
    HONE_AUTOFREE char *all = hone_buf_steal(&text);
    return hone_pool_printf(b->in->pool, "[%s] -> ", all ? all : "");
}

static bool print_domain(struct builder *b, struct hone_buf *text, size_t statement)
{
    const struct hone_scop_statement *s = &b->scop->statements[statement];
    print_instance(b->scop, text, statement);
    hone_buf_str(text, " : true");
    for (size_t i = 0; i < s->depth; i++) {
        hone_buf_str(text, " and ");
        if (!print_bounds(b, text, s->loops[i], s->loops, i))
            return false;
    }
    hone_buf_str(text, s->when);
    return true;
}

/* Does each index stay inside of its row, for every run of the statement? */
static bool is_inside(struct builder *b, const struct access *access,
                      const struct hone_c_loop *const *loops, size_t n,
                      const struct hone_c_poly *index)
{
    const struct hone_subscript_rows *rows = &b->arrays[access->array].rows;
    const struct hone_scop_statement *s = &b->scop->statements[access->statement];
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    bool is_good = rows->n_dims > 1;
    if (!is_good)
        return true;
    is_good = print_domain(b, &text, access->statement);
    hone_buf_str(&text, " and ");
    is_good = is_good && print_inner(b, &text, loops, s->depth, n);
    hone_buf_str(&text, "(false");
    for (size_t d = 1; d < rows->n_dims && is_good; d++) {
        hone_buf_str(&text, " or ");
        is_good = print_sum(b, &text, &index[d], loops, n);
        hone_buf_str(&text, " < 0 or ");
        is_good = is_good && print_sum(b, &text, &index[d], loops, n);
        hone_buf_str(&text, " >= ");
        is_good = is_good && print_sum(b, &text, &rows->size[d], loops, n);
    }
    hone_buf_str(&text, "))");
    return is_good && hone_buf_check(&text, NULL) == 0 &&
           hone_order_is_empty(hone_pool_printf(b->in->pool, "%s{ %s }", names_text(b), text.data));
}

static void print_array(struct hone_buf *text, const struct builder *b, const struct access *access)
{
    print_instance(b->scop, text, access->statement);
    hone_buf_printf(text, " -> A%zu[", access->array);
    for (size_t d = 0; d < b->arrays[access->array].rows.n_dims; d++)
        hone_buf_printf(text, "%sdim%zu_", d ? "," : "", d);
    hone_buf_str(text, "]");
}

/* "S0[i,j] -> A1[dim0_,dim1_] : exists (k : 0 <= k < N and dim0_ = i and dim1_ = k)" */
static bool print_place(struct builder *b, struct hone_buf *text, const struct access *access)
{
    const struct hone_c_loop *loops[2 * HONE_SCOP_MAX_DEPTH];
    struct hone_c_poly index[HONE_SUBSCRIPT_MAX_DIMS];
    const struct array *array = &b->arrays[access->array];
    size_t depth = b->scop->statements[access->statement].depth;
    size_t n = loops_around(b, access, loops, HONE_COUNTOF(loops));
    if (n == 0 || !array->is_split ||
        !hone_subscript_split(&access->of.index, &array->rows, index) ||
        !is_inside(b, access, loops, n, index))
        return false;
    print_array(text, b, access);
    hone_buf_str(text, " : ");
    if (!print_inner(b, text, loops, depth, n))
        return false;
    for (size_t d = 0; d < array->rows.n_dims; d++) {
        hone_buf_printf(text, "%sdim%zu_ = ", d ? " and " : "", d);
        if (!print_sum(b, text, &index[d], loops, n))
            return false;
    }
    hone_buf_str(text, ")");
    return true;
}

struct relation {
    struct hone_buf text;
    size_t n;
};

static void add_part(struct relation *to, const char *part)
{
    hone_buf_printf(&to->text, "%s%s", to->n++ ? "; " : "", part);
}

static void add_place(struct builder *b, const char *place)
{
    struct hone_scop *s = b->scop;
    for (size_t i = 0; i < s->n_places; i++)
        if (strcmp(s->places[i], place) == 0)
            return;
    s->places[s->n_places++] = place;
}

enum { DOMAIN, READS, WRITES, UPDATES, N_RELATIONS = UPDATES + HONE_SCOP_MAX_UPDATES };

struct relations {
    struct relation all[N_RELATIONS];
    char ops[HONE_SCOP_MAX_UPDATES];
    size_t n_ops;
};

/* Where updates with this operator are noted; NULL: there are too many operators. */
static struct relation *updates_of(struct relations *r, char op)
{
    size_t i = 0;
    while (i < r->n_ops && r->ops[i] != op)
        i++;
    if (i == HONE_SCOP_MAX_UPDATES)
        return NULL;
    r->n_ops += i == r->n_ops;
    r->ops[i] = op;
    return &r->all[UPDATES + i];
}

static void print_accesses(struct builder *b, struct relations *r)
{
    b->scop->places = hone_pool_alloc(b->in->pool, (b->n_accesses + 1) * sizeof(char *));
    for (size_t i = 0; i < b->n_accesses; i++) {
        const struct access *access = &b->accesses[i];
        HONE_CLEANUP(hone_buf_done) struct hone_buf part = {.limit = HONE_LIMIT_BUF_BYTES};
        bool is_known = access->of.index.is_known && print_place(b, &part, access);
        if (is_known) {
            add_place(b, hone_pool_printf(b->in->pool, "%s{ %s }", names_text(b), part.data));
        } else { /* may be anywhere */
            hone_buf_done(&part);
            part = (struct hone_buf){.limit = HONE_LIMIT_BUF_BYTES};
            print_array(&part, b, access);
        }
        struct relation *updates = access->update ? updates_of(r, access->update) : NULL;
        if (updates)
            add_part(updates, part.data);
        if (access->of.is_read && !updates)
            add_part(&r->all[READS], part.data);
        if (access->of.is_write && !updates)
            add_part(&r->all[WRITES], part.data);
    }
}

static const char *finish(const struct builder *b, struct relation *r)
{
    HONE_AUTOFREE char *text = hone_buf_steal(&r->text);
    return hone_pool_printf(b->in->pool, "%s{ %s }", names_text(b), text ? text : "");
}

static bool describe(struct builder *b)
{
    struct relations r = {.n_ops = 0};
    struct hone_scop *s = b->scop;
    bool is_good = true;
    for (size_t i = 0; i < N_RELATIONS; i++)
        r.all[i] = (struct relation){.text = {.limit = HONE_LIMIT_BUF_BYTES}};
    b->accesses = hone_pool_alloc(b->in->pool, MAX_ACCESSES * sizeof *b->accesses);
    for (size_t i = 0; i < s->n && is_good; i++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf part = {.limit = HONE_LIMIT_BUF_BYTES};
        is_good = add_accesses(b, i) && print_domain(b, &part, i);
        if (is_good)
            add_part(&r.all[DOMAIN], part.data);
    }
    if (is_good) {
        split_arrays(b);
        print_accesses(b, &r);
        is_good = r.all[WRITES].n + r.n_ops > 0;
    }
    for (size_t i = 0; i < N_RELATIONS; i++)
        is_good = is_good && hone_buf_check(&r.all[i].text, NULL) == 0;
    s->domain = finish(b, &r.all[DOMAIN]);
    s->reads = finish(b, &r.all[READS]);
    s->writes = finish(b, &r.all[WRITES]);
    s->names = names_text(b);
    for (s->n_updates = 0; s->n_updates < r.n_ops; s->n_updates++)
        s->updates[s->n_updates] = finish(b, &r.all[UPDATES + s->n_updates]);
    for (size_t i = r.n_ops; i < HONE_SCOP_MAX_UPDATES; i++)
        hone_buf_done(&r.all[UPDATES + i].text);
    return is_good;
}

/* ---- cuts ---- */

enum { MAX_CUTS = 2 };

struct cuts { /* pairs of counters of one statement */
    const char *pairs[MAX_CUTS][2];
    size_t n;
};

/* "i" and "k" of i - k; false: the difference is none of two counters. */
static bool is_meeting(const struct hone_scop_statement *s, const struct hone_c_poly *difference,
                       const char *ret[2])
{
    size_t n = 0;
    if (!difference->is_known || difference->n != 2 ||
        difference->terms[0].k + difference->terms[1].k != 0 || llabs(difference->terms[0].k) != 1)
        return false;
    for (size_t t = 0; t < 2; t++)
        for (size_t l = 0; l < s->depth && difference->terms[t].n_factors == 1; l++)
            if (s->loops[l]->var == difference->terms[t].factors[0].decl)
                ret[n++] = s->loops[l]->var->name;
    if (n == 2 && strcmp(ret[0], ret[1]) > 0) {
        const char *swap = ret[0];
        ret[0] = ret[1];
        ret[1] = swap;
    }
    return n == 2;
}

static void add_cut(struct cuts *cuts, const char *const pair[2])
{
    for (size_t i = 0; i < cuts->n; i++)
        if (strcmp(cuts->pairs[i][0], pair[0]) == 0 && strcmp(cuts->pairs[i][1], pair[1]) == 0)
            return;
    if (cuts->n == MAX_CUTS)
        return;
    cuts->pairs[cuts->n][0] = pair[0];
    cuts->pairs[cuts->n++][1] = pair[1];
}

static void find_cuts(const struct builder *b, size_t statement, struct cuts *cuts)
{
    const struct hone_scop_statement *s = &b->scop->statements[statement];
    for (size_t w = 0; w < b->n_accesses; w++) {
        const struct access *write = &b->accesses[w];
        const struct array *array = &b->arrays[write->array];
        struct hone_c_poly at[HONE_SUBSCRIPT_MAX_DIMS], other[HONE_SUBSCRIPT_MAX_DIMS];
        if (write->statement != statement || !write->of.is_write || !array->is_split ||
            !hone_subscript_split(&write->of.index, &array->rows, at))
            continue;
        for (size_t r = 0; r < b->n_accesses; r++) {
            const struct access *read = &b->accesses[r];
            if (read->statement != statement || read->array != write->array ||
                !hone_subscript_split(&read->of.index, &array->rows, other))
                continue;
            for (size_t d = 0; d < array->rows.n_dims; d++) {
                const char *pair[2];
                struct hone_c_poly difference = hone_c_poly_sum(&at[d], &other[d], -1);
                if (is_meeting(s, &difference, pair))
                    add_cut(cuts, pair);
            }
        }
    }
}

/* Three parts for each pair: before it meets, there, behind. False: too many. */
static bool add_parts(const struct builder *b, size_t statement, const struct cuts *cuts,
                      struct builder *to)
{
    static const char *const signs[] = {"<", "=", ">"};
    size_t n_parts = cuts->n == 0 ? 1 : cuts->n == 1 ? 3 : 9;
    for (size_t part = 0; part < n_parts; part++) {
        const char *when = "";
        for (size_t c = 0, rest = part; c < cuts->n; c++, rest /= 3)
            when = hone_pool_printf(b->in->pool, "%s and %s %s %s", when, cuts->pairs[c][0],
                                    signs[rest % 3], cuts->pairs[c][1]);
        if (to->scop->n == HONE_SCOP_MAX_STATEMENTS)
            return false;
        to->scop->statements[to->scop->n] = b->scop->statements[statement];
        to->scop->statements[to->scop->n++].when = when;
    }
    return true;
}

static struct hone_scop *cut(const struct builder *b)
{
    struct builder *to = hone_pool_alloc(b->in->pool, sizeof *to);
    struct hone_scop *ret = hone_pool_alloc(b->in->pool, sizeof *ret);
    size_t n_cuts = 0;
    *ret = (struct hone_scop){.begin = b->scop->begin,
                              .end = b->scop->end,
                              .first = b->scop->first,
                              .depth = b->scop->depth};
    *to = (struct builder){.in = b->in, .scop = ret};
    for (size_t i = 0; i < b->scop->n; i++) {
        struct cuts cuts = {.n = 0};
        find_cuts(b, i, &cuts);
        n_cuts += cuts.n;
        if (!add_parts(b, i, &cuts, to))
            return NULL;
    }
    return n_cuts > 0 && describe(to) ? ret : NULL;
}

/* ---- runs ---- */

struct runs {
    const struct hone_coder_input *in;
    struct hone_scop *all;
    size_t n, least_depth;
};

/* From `first` as many siblings as can be described together; returns the first one that is not. */
static const struct hone_c_node *add_run(struct runs *runs, const struct hone_c_node *first)
{
    struct builder *b = hone_pool_alloc(runs->in->pool, sizeof *b);
    struct hone_scop *scop = &runs->all[runs->n];
    *scop = (struct hone_scop){.begin = first->begin, .end = first->parent->end, .first = first};
    *b = (struct builder){.in = runs->in, .scop = scop};
    struct place at = {.depth = 0};
    const struct hone_c_node *n = first;
    uint32_t end = first->begin;
    for (; n && n->kind != HONE_C_DECL_STMT; n = n->next) {
        size_t before = scop->n, depth = scop->depth;
        uint32_t stmt_end = hone_c_stmt_end(runs->in->tree, n);
        if (has_directive(runs->in->tree, end, stmt_end) || !take(b, n, &at)) {
            scop->n = before;
            scop->depth = depth;
            break;
        }
        at.at[0]++;
        end = stmt_end;
    }
    scop->end = end;
    if (scop->n > 0 && scop->depth >= runs->least_depth && describe(b)) {
        scop->cut = cut(b);
        runs->n++;
    }
    return n == first ? first->next : n;
}

/* A pragma in front belongs to a loop as it is written; what is left for odd sizes stays. */
static bool may_begin(const struct runs *runs, const struct hone_c_node *n)
{
    const struct hone_c_loop *loop =
        n->kind == HONE_C_FOR ? hone_c_loop_of(&runs->in->nest, n) : NULL;
    return loop ? loop->begin == n->begin && !loop->is_fallback
                : n->kind == HONE_C_FOR || n->kind == HONE_C_COMPOUND;
}

static void find(struct runs *runs, const struct hone_c_node *block)
{
    for (const struct hone_c_node *n = block->first; n && runs->n < HONE_SCOP_MAX_RUNS;) {
        const struct hone_c_node *from = n;
        size_t before = runs->n;
        n = may_begin(runs, n) ? add_run(runs, n) : n->next;
        if (runs->n > before)
            continue;
        n = from->next; /* not this one; perhaps what is inside of it */
        for (const struct hone_c_node *in = from->first; in; in = in->next)
            if (in->kind == HONE_C_COMPOUND &&
                (from->kind == HONE_C_FOR || from->kind == HONE_C_IF))
                find(runs, in);
    }
}

const char *hone_scop_order(const struct hone_coder_input *in, const struct hone_scop *scop,
                            const size_t (*loops)[HONE_SCOP_MAX_DEPTH])
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    hone_buf_printf(&text, "%s{ ", scop->names);
    for (size_t i = 0; i < scop->n; i++) {
        const struct hone_scop_statement *s = &scop->statements[i];
        hone_buf_str(&text, i ? "; " : "");
        print_instance(scop, &text, i);
        hone_buf_printf(&text, " -> [%d", s->at[0]);
        for (size_t d = 0; d < scop->depth; d++) {
            const struct hone_c_loop *l = d < s->depth ? s->loops[loops ? loops[i][d] : d] : NULL;
            hone_buf_printf(&text, ",%s%s,%d", l && l->counts_down ? "-" : "",
                            l ? l->var->name : "0", l ? s->at[d + 1] : 0);
        }
        hone_buf_str(&text, "]");
    }
    hone_buf_str(&text, " }");
    return hone_buf_check(&text, NULL) == 0 ? hone_pool_strdup(in->pool, text.data) : "{ }";
}

size_t hone_scops_from(const struct hone_coder_input *in, size_t depth, struct hone_scop **ret)
{
    struct runs runs = {
        .in = in,
        .least_depth = depth,
        .all = hone_pool_alloc(in->pool, (HONE_SCOP_MAX_RUNS + 1) * sizeof(struct hone_scop))};
    if (!in->is_blind && in->nest.function && in->nest.function->body)
        find(&runs, in->nest.function->body);
    *ret = runs.all;
    return runs.n;
}

size_t hone_scops(const struct hone_coder_input *in, struct hone_scop **ret)
{
    return hone_scops_from(in, 2, ret);
}
