/* SPDX-License-Identifier: Apache-2.0 */
/* C24: sums into an array that all iterations add to, in CHUNKS parts.
 *
 *     for (n) Y[bin[n]] += w[n];                            histograms, scatter
 *     for (i) for (j) y[j] += A[i * N + j] * x[i];          products with a transposed matrix
 *
 * Each part adds into an array of its own, threads take the parts, and the arrays are added to Y in
 * order, so that every call has the same bits. How many elements Y has is told by the task's shape.
 * More than BINS would not fit on the stack, and few sums do not pay: then the loop runs as it
 * stood. */
#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/sum_nest.h"

#include <string.h>

#include "workspace/task/task.h"

struct bins {
    const struct hone_c_node *root; /* Y */
    const char *type, *count;       /* of its elements; how many, as text */
};

static const struct hone_c_node *param_named(const struct hone_c_node *function, const char *name)
{
    for (const struct hone_c_node *p = function->first; p; p = p->next)
        if (p->kind == HONE_C_PARAM && strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Is the name that of a variable somewhere in the function? */
static bool is_local_name(const struct hone_c_node *function, const char *name)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n))
        if (n->kind == HONE_C_VAR && strcmp(n->name, name) == 0)
            return true;
    return false;
}

/* "L", "((long)R * C)" from the task's shape; NULL: an axis is no parameter that keeps its value. */
static const char *count_text(const struct hone_coder_input *in, const struct hone_c_node *root)
{
    const struct hone_task *task = in->task;
    const char *text = NULL;
    for (size_t o = 0; task && o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        if (strcmp(t->name, root->name) != 0 || t->has_pitch)
            continue;
        for (size_t d = 0; d < t->rank; d++) {
            const char *axis = task->axes[t->shape[d]].name;
            const struct hone_c_node *p = param_named(in->nest.function, axis);
            if (!p || strchr(p->type, '*') || hone_c_writes(in->nest.function, p) ||
                is_local_name(in->nest.function, axis))
                return NULL;
            text = text ? hone_pool_printf(in->pool, "%s * %s", text, axis) : axis;
        }
        return text && t->rank > 1 ? hone_pool_printf(in->pool, "((long)%s)", text) : text;
    }
    return NULL;
}

/* The type of what is added to; NULL: no number that may be written. */
static const char *number_type(const struct hone_coder_input *in, const struct hone_c_node *root)
{
    const char *type = strncmp(root->type, "const ", 6) == 0 ? NULL : hone_element_type(in, root);
    bool is_number =
        type && (strstr(type, "int") || strstr(type, "long") || hone_c_is_floating(type));
    return is_number ? type : NULL;
}

/* Y[...] = Y[...] + x, also with the sides of the sum changed. A cast cuts the sum each time. */
static bool is_spelled_out(const struct hone_c_tree *tree, const struct hone_c_node *n)
{
    const struct hone_c_node *sum =
        n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0 ? hone_c_bare(n->last) : NULL;
    bool is_sum = sum && sum->kind == HONE_C_BINARY && strcmp(sum->op, "+") == 0;
    bool is_less = sum && sum->kind == HONE_C_BINARY && strcmp(sum->op, "-") == 0;
    return ((is_sum || is_less) && hone_c_is_same_text(tree, n->first, sum->first)) ||
           (is_sum && hone_c_is_same_text(tree, n->first, sum->last));
}

/* Is it Y[...]++, Y[...] += x, Y[...] -= x or spelled out, a statement of its own? The array, and
 * how often the statement may name it; NULL: it is not. */
static const struct hone_c_node *added_to(const struct hone_c_tree *tree,
                                          const struct hone_c_node *n, size_t *ret_named)
{
    bool is_long = is_spelled_out(tree, n);
    bool is_addition =
        is_long || (n->kind == HONE_C_UNARY && strcmp(n->op, "++") == 0) ||
        (n->kind == HONE_C_ASSIGN_OP && (strcmp(n->op, "+=") == 0 || strcmp(n->op, "-=") == 0));
    const struct hone_c_node *to = is_addition && hone_c_is_stmt(n) ? hone_c_strip(n->first) : NULL;
    const struct hone_c_node *of =
        to && to->kind == HONE_C_SUBSCRIPT ? hone_c_strip(to->first) : NULL;
    bool is_param = of && of->kind == HONE_C_REF && of->decl && of->decl->kind == HONE_C_PARAM;
    *ret_named = is_long ? 2 : 1;
    return is_param ? of->decl : NULL;
}

/* Is the array reached by its own name alone? A call that is a statement (memcpy) keeps no pointer;
 * `float *q = Y`, `q = Y + 1`, `&Y[2]` and `Y++` do. */
static bool has_one_name(const struct hone_c_node *function, const struct hone_c_node *root)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n)) {
        if (n->kind != HONE_C_REF || n->decl != root || hone_c_is_element(n))
            continue;
        const struct hone_c_node *stmt = n;
        while (stmt->parent && !hone_c_is_stmt(stmt))
            stmt = stmt->parent;
        if (stmt->kind != HONE_C_CALL && stmt->kind != HONE_C_CAST)
            return false;
    }
    return true;
}

/* Is the array named in additions to its elements and nowhere else? */
static bool is_only_added_to(const struct hone_c_tree *tree, const struct hone_c_node *body,
                             const struct hone_c_node *root)
{
    size_t n_added = 0, n_named = 0, n_here;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (added_to(tree, n, &n_here) == root)
            n_added += n_here;
        n_named += n->kind == HONE_C_REF && n->decl == root;
    }
    return n_named == n_added;
}

/* Are floating values added to integers? Each addition rounds what was there before. */
static bool rounds_between(const struct hone_c_tree *tree, const struct hone_c_node *body,
                           const struct hone_c_node *root, const char *type)
{
    size_t n_named;
    for (const struct hone_c_node *n = body; n && !hone_c_is_floating(type);
         n = hone_c_walk(body, n))
        if (added_to(tree, n, &n_named) == root && n->last && hone_c_is_floating(n->last->type))
            return true;
    return false;
}

static bool has_other(const struct hone_c_node *body)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_OTHER)
            return true;
    return false;
}

/* The array whose sums are all that iterations share; NULL: there is none. */
static const struct hone_c_node *read_root(const struct hone_coder_input *in,
                                           const struct hone_c_loop *l)
{
    const struct hone_c_node *body = l->node->body;
    size_t n_named;
    if (has_other(body) || hone_c_writes_scalar(l))
        return NULL;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        const struct hone_c_node *root = added_to(in->tree, n, &n_named);
        if (root && has_one_name(in->nest.function, root) &&
            is_only_added_to(in->tree, body, root) && hone_c_is_parallel_but(&in->nest, l, root))
            return root;
    }
    return NULL;
}

static bool read_bins(const struct hone_coder_input *in, const struct hone_c_loop *l,
                      struct bins *ret)
{
    const char *why;
    if (l->depth != 0 || !l->is_canonical || !l->is_unit_step || !l->declares_var ||
        l->has_parallel || strstr(l->var->type, "unsigned") || !hone_may_thread(in, l) ||
        hone_c_is_parallel(&in->nest, l, &why))
        return false;
    *ret = (struct bins){.root = read_root(in, l)};
    if (!ret->root)
        return false;
    ret->type = number_type(in, ret->root);
    ret->count = ret->type ? count_text(in, ret->root) : NULL;
    return ret->count && !(hone_c_is_floating(ret->type) && hone_rounds_as_written(in)) &&
           !rounds_between(in->tree, l->node->body, ret->root, ret->type);
}

/* Has an iteration a sum beside what it adds, so that blocks of iterations may share both? */
static bool has_row_sums(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    struct hone_sum_nest nest;
    for (size_t i = 0; i < in->nest.n; i++)
        if (in->nest.loops[i].parent == l &&
            hone_sum_nest_of(in, &in->nest.loops[i], false, &nest) && nest.n_additions > 0)
            return true;
    return false;
}

static size_t all_sites(const struct hone_coder_input *in, bool with_tile,
                        struct hone_coder_site *ret, size_t max)
{
    struct bins b;
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->is_fallback || !read_bins(in, l, &b) || (with_tile && !has_row_sums(in, l)))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "sums into an array, by one thread alone";
    }
    return n;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    return all_sites(in, false, ret, max);
}

static size_t tile_sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    return all_sites(in, true, ret, max);
}

/* Where it pays: enough work to wake threads, and more of it than setting and adding up the parts.
 * The clause is " if(work > least)". */
static const char *condition(const struct hone_coder_input *in, const struct hone_c_loop *l,
                             const struct bins *b, const char *chunks, const char *most)
{
    const char *clause = hone_if_clause(in, l) + strlen(" if("), *above = strrchr(clause, '>');
    int n_work = (int)(above - clause), n_all = (int)strlen(clause) - 1;
    return hone_pool_printf(in->pool, "%s <= %s && %.*s && %.*s>= (double)%s * %s", b->count, most,
                            n_all, clause, n_work, clause, chunks, b->count);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct bins b;
    if (!l || !read_bins(in, l, &b)) {
        hone_fail(err, HONE_E_ARG, "the region is no loop of sums into one array");
        return NULL;
    }
    struct hone_c_edits e, none, of_body;
    hone_c_edits_init(&e, in->tree);
    hone_c_edits_init(&none, in->tree);
    hone_c_edits_init(&of_body, in->tree);
    const char *chunks = hone_add_tunable(&e, in, "CHUNKS", "8, 2, 4, 16"),
               *most = hone_add_tunable(&e, in, "BINS", "4096, 512, 16384"),
               *c = hone_fresh_name(in, "chunk"), *k = hone_fresh_name(in, "bin_of_chunk"),
               *parts = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_chunk", b.root->name)),
               *part = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_part", b.root->name));
    hone_c_replace_refs(&of_body, l->node->body, b.root, part);
    const char *as_written = hone_c_edit_text(&none, l->begin, hone_c_stmt_end(in->tree, l->node));
    const char *text = hone_pool_printf(
        in->pool,
        "if (%s) {\n%s %s[%s * %s];\n"
        "#pragma omp parallel for schedule(static)\nfor (int %s = 0; %s < %s; %s++) {\n"
        "%s *restrict %s = %s + %s * %s;\n"
        "for (long %s = 0; %s < (long)%s; %s++)\n%s[%s] = 0;\n"
        "%s}\n"
        "for (int %s = 0; %s < %s; %s++)\nfor (long %s = 0; %s < (long)%s; %s++)\n"
        "%s[%s] += %s[%s * %s + %s];\n} else {\n%s\n}",
        condition(in, l, &b, chunks, most), b.type, parts, chunks, most, c, c, chunks, c, b.type,
        part, parts, c, most, k, k, b.count, k, part, k,
        hone_chunk_text(in, l, c, chunks, hone_body_text(&of_body, l->node->body)), c, c, chunks, c,
        k, k, b.count, k, b.root->name, k, parts, c, most, k, as_written);
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_thread_bins = {
    .name = "thread_bins",
    .strategy = "C24",
    .words = "thread sums into an array, each part in an array of its own",
    .sites = sites,
    .apply = apply,
};

/* In one step, as neither alone comes near: y[j] += r[i] * A[i, j] beside q[i] += A[i, j] * p[j]. */
const struct hone_rewrite hone_rewrite_bin_tile = {
    .name = "bin_tile",
    .strategy = "G06",
    .words = "thread sums into an array, with a register tile in each part",
    .form = HONE_REWRITE_NORMAL,
    .then = "sum_tile",
    .sites = tile_sites,
    .apply = apply,
};
