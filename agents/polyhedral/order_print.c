/* SPDX-License-Identifier: Apache-2.0 */
/* C of an order: isl makes a syntax tree, which is printed with the statements' own text. Whether
 * the iterations of a printed loop are independent is asked of the dependences, loop by loop, and
 * not taken from the schedule. */
#include "agents/polyhedral/order_print.h"

#include <isl/aff.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/options.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"

enum {
    FEW = 16384, /* iterations of the innermost loop in all: less is not worth waking threads */
    FEW_INSIDE = 131072, /* where loops around wake them again and again, and vectors do the work */
    FEW_IN_REGION = 524288, /* where they meet several times for it */
    MOST_WAKES = 2, /* loops around an innermost one from which on threads are not woken for it */
    MAX_FORS = 64   /* loops of a tree that are joined with their neighbours */
};

#define UNKNOWN_COUNT "32" /* of a loop whose bounds follow a counter */

struct made_for { /* a loop of the tree: when the statements in it run, its own counter last */
    isl_union_map *schedule;
    bool is_free;
};

struct printer {
    const struct hone_order_model *model;
    struct hone_order_result *result;
    struct hone_buf text;
    isl_union_map *depends; /* while the tree is made */
    bool is_shared;         /* within a loop that threads share, or no threads are wanted */
    bool in_region;         /* within one parallel region around a loop that they do not share */
    bool is_single;         /* there, in a block that one thread runs */
    size_t depth;           /* loops around */
    const char *counters;   /* "t0, t1": of the loops around, and what is known of them: */
    const char *known;      /* "t0 >= 1 and t0 < N and " */
    struct made_for fors[MAX_FORS];
    size_t n_fors;
};

/* Are the iterations of the loop independent, the loops around it being where they are? The last
 * dimension of the schedule is the loop's; it is given away. */
static bool is_independent(isl_union_map *schedule, isl_union_map *depends)
{
    isl_union_map *times =
        isl_union_map_apply_domain(isl_union_map_copy(depends), isl_union_map_copy(schedule));
    times = isl_union_map_apply_range(times, schedule);
    isl_union_set *all = isl_union_map_deltas(times);
    if (isl_union_set_is_empty(all) == isl_bool_true) { /* of no dimension */
        isl_union_set_free(all);
        return true;
    }
    isl_set *steps = isl_set_from_union_set(all);
    int n = steps ? (int)isl_set_dim(steps, isl_dim_set) : 0;
    for (int i = 0; i + 1 < n; i++)
        steps = isl_set_fix_si(steps, isl_dim_set, (unsigned)i, 0);
    isl_set *same = isl_set_fix_si(isl_set_copy(steps), isl_dim_set, (unsigned)n - 1, 0);
    bool ret = isl_set_is_subset(steps, same) == isl_bool_true;
    isl_set_free(steps);
    isl_set_free(same);
    return ret;
}

/* The loop's annotation: its row of p->fors. */
static isl_id *before_loop(isl_ast_build *build, void *arg)
{
    struct printer *p = arg;
    struct made_for made = {.schedule = isl_ast_build_get_schedule(build)};
    made.is_free = is_independent(isl_union_map_copy(made.schedule), p->depends);
    if (p->n_fors < MAX_FORS)
        p->fors[p->n_fors] = made;
    else
        isl_union_map_free(made.schedule);
    p->n_fors++;
    return isl_id_alloc(
        p->model->ctx,
        hone_pool_printf(p->model->in->pool, "%c%zu", made.is_free ? 'f' : 'b', p->n_fors - 1),
        NULL);
}

static bool is_marked_free(isl_ast_node *node)
{
    isl_id *id = isl_ast_node_get_annotation(node);
    bool ret = id && isl_id_get_name(id)[0] == 'f';
    isl_id_free(id);
    return ret;
}

/* NULL: one of too many. */
static const struct made_for *made_for(const struct printer *p, isl_ast_node *node)
{
    isl_id *id = isl_ast_node_get_annotation(node);
    size_t i = id ? strtoul(isl_id_get_name(id) + 1, NULL, 10) : MAX_FORS;
    isl_id_free(id);
    return i < MAX_FORS ? &p->fors[i] : NULL;
}

/* C of an expression; the names of the functions that isl would have as macros are hone's. */
static char *expr_text(const struct printer *p, isl_ast_expr *expr)
{
    isl_printer *to = isl_printer_to_str(p->model->ctx);
    to = isl_printer_set_output_format(to, ISL_FORMAT_C);
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_min, "least_of");
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_max, "greatest_of");
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_fdiv_q, "floor_div");
    to = isl_printer_print_ast_expr(to, expr);
    char *own = isl_printer_get_str(to);
    char *ret = hone_pool_strdup(p->model->in->pool, own ? own : "0");
    free(own);
    isl_printer_free(to);
    isl_ast_expr_free(expr);
    return ret;
}

static void print_node(struct printer *p, isl_ast_node *node);
static void print_part(struct printer *p, isl_ast_node *node);

static bool is_name(const char *text)
{
    while (hone_is_word_char(*text))
        text++;
    return *text == '\0';
}

/* S2(c0, c1) becomes the statement's text with its counters replaced. */
static void print_statement(struct printer *p, isl_ast_node *node)
{
    isl_ast_expr *call = isl_ast_node_user_get_expr(node);
    isl_ast_expr *callee = isl_ast_expr_op_get_arg(call, 0);
    isl_id *id = isl_ast_expr_get_id(callee);
    size_t which = id ? strtoul(isl_id_get_name(id) + 1, NULL, 10) : 0;
    const struct hone_scop_statement *s = &p->model->scop->statements[which];
    const struct hone_c_tree *tree = p->model->in->tree;
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, tree);
    for (size_t i = 0; i < s->depth; i++) {
        const char *value = expr_text(p, isl_ast_expr_op_get_arg(call, (int)i + 1));
        const char *type = s->loops[i]->var->type;
        if (strstr(type, "unsigned")) /* i - 5 wraps there, as in the source */
            value = hone_pool_printf(p->model->in->pool, "((%s)(%s))", type, value);
        else if (!is_name(value))
            value = hone_pool_printf(p->model->in->pool, "(%s)", value);
        if (strcmp(value, s->loops[i]->var->name) != 0)
            hone_c_replace_refs(&edits, s->node, s->loops[i]->var, value);
    }
    hone_buf_str(&p->text,
                 hone_c_edit_text(&edits, s->node->begin, hone_c_stmt_end(tree, s->node)));
    hone_buf_str(&p->text, "\n");
    isl_id_free(id);
    isl_ast_expr_free(callee);
    isl_ast_expr_free(call);
}

/* The children of a block, the branches of an if, the body of a loop. Given to the caller. */
static isl_ast_node_list *parts_of(const struct hone_order_model *m, isl_ast_node *node)
{
    enum isl_ast_node_type type = isl_ast_node_get_type(node);
    if (type == isl_ast_node_block)
        return isl_ast_node_block_get_children(node);
    isl_ast_node_list *ret = isl_ast_node_list_alloc(m->ctx, 2);
    if (type == isl_ast_node_for)
        ret = isl_ast_node_list_add(ret, isl_ast_node_for_get_body(node));
    if (type == isl_ast_node_if)
        ret = isl_ast_node_list_add(ret, isl_ast_node_if_get_then_node(node));
    if (type == isl_ast_node_if && isl_ast_node_if_has_else_node(node) == isl_bool_true)
        ret = isl_ast_node_list_add(ret, isl_ast_node_if_get_else_node(node));
    return ret;
}

/* The first loop in the tree; NULL: none. Given to the caller. */
static isl_ast_node *first_loop(const struct hone_order_model *m, isl_ast_node *node)
{
    if (isl_ast_node_get_type(node) == isl_ast_node_for)
        return isl_ast_node_copy(node);
    isl_ast_node_list *list = parts_of(m, node);
    isl_ast_node *ret = NULL;
    for (int i = 0; i < (int)isl_ast_node_list_n_ast_node(list) && !ret; i++) {
        isl_ast_node *part = isl_ast_node_list_get_ast_node(list, i);
        ret = first_loop(m, part);
        isl_ast_node_free(part);
    }
    isl_ast_node_list_free(list);
    return ret;
}

static bool holds_loop(const struct hone_order_model *m, isl_ast_node *node)
{
    isl_ast_node *loop = first_loop(m, node);
    isl_ast_node_free(loop);
    return loop != NULL;
}

/* "to) - (from" of a loop that counts up to a bound, or of it and `last`, which goes on where it
 * ends; NULL: it has another condition. */
static const char *extent_text(struct printer *p, isl_ast_node *node, isl_ast_node *last)
{
    const char *name = expr_text(p, isl_ast_node_for_get_iterator(node));
    const char *condition = expr_text(p, isl_ast_node_for_get_cond(last ? last : node));
    const char *bound = strchr(condition, '<');
    if (!bound || strncmp(condition, name, strlen(name)) != 0)
        return NULL;
    return hone_pool_printf(p->model->in->pool, "%s) - (%s", bound + (bound[1] == '=' ? 3 : 2),
                            expr_text(p, isl_ast_node_for_get_init(node)));
}

/* " * ((M) - (0)) * 32": how often what is in the body runs, by its first loops. A bound that
 * follows the loop's own counter is not known ahead of it: `unknown` stands for that count. */
static const char *count_inside(struct printer *p, isl_ast_node *body, const char *counter,
                                const char *unknown, bool *ret_is_vector)
{
    struct hone_pool *pool = p->model->in->pool;
    const char *ret = "", *inner[HONE_SCOP_MAX_DEPTH * 2] = {counter};
    size_t n_inner = 1;
    isl_ast_node *loop = first_loop(p->model, body);
    while (loop && n_inner < HONE_COUNTOF(inner)) {
        bool is_once = isl_ast_node_for_is_degenerate(loop) == isl_bool_true;
        const char *extent = is_once ? NULL : extent_text(p, loop, NULL);
        bool is_known = extent != NULL;
        for (size_t i = 0; i < n_inner && is_known; i++)
            is_known = !hone_has_word(extent, inner[i]);
        if (!is_once)
            ret = is_known ? hone_pool_printf(pool, "%s * ((%s))", ret, extent)
                           : hone_pool_printf(pool, "%s * %s", ret, unknown);
        *ret_is_vector = is_marked_free(loop);
        inner[n_inner++] = expr_text(p, isl_ast_node_for_get_iterator(loop));
        isl_ast_node *inside = isl_ast_node_for_get_body(loop),
                     *next = first_loop(p->model, inside);
        isl_ast_node_free(inside);
        isl_ast_node_free(loop);
        loop = next;
    }
    isl_ast_node_free(loop);
    return ret;
}

static const char *clause_text(struct printer *p, isl_ast_node *node, isl_ast_node *last,
                               isl_ast_node *body)
{
    const char *extent = extent_text(p, node, last);
    bool is_vector = !holds_loop(p->model, body);
    if (!extent)
        return "";
    const char *inside = count_inside(p, body, expr_text(p, isl_ast_node_for_get_iterator(node)),
                                      UNKNOWN_COUNT, &is_vector);
    return hone_pool_printf(p->model->in->pool, " if(%s((%s))%s >= %d)", *inside ? "(double)" : "",
                            extent, inside, p->depth > 0 && is_vector ? FEW_INSIDE : FEW);
}

static void print_pragma(struct printer *p, isl_ast_node *node, isl_ast_node *last,
                         isl_ast_node *body)
{
    bool is_inner = !holds_loop(p->model, body);
    if (!is_marked_free(node))
        return;
    bool is_shared = !p->is_shared && !(is_inner && p->depth >= MOST_WAKES);
    if (!is_shared && !is_inner)
        return;
    hone_buf_str(&p->text, "#pragma omp");
    if (is_shared)
        hone_buf_str(&p->text, p->in_region ? " for" : " parallel for");
    if (is_inner)
        hone_buf_str(&p->text, " simd");
    if (is_shared && !p->in_region)
        hone_buf_str(&p->text, clause_text(p, node, last, body));
    hone_buf_str(&p->text, "\n");
    p->result->n_threaded += is_shared;
    p->result->n_vector += is_inner;
}

/* ---- one parallel region ---- */

/* Is there a loop that threads share, so many loops being around the node? */
static bool has_shared(const struct hone_order_model *m, isl_ast_node *node, size_t depth)
{
    bool is_loop = isl_ast_node_get_type(node) == isl_ast_node_for &&
                   isl_ast_node_for_is_degenerate(node) != isl_bool_true;
    isl_ast_node_list *list = parts_of(m, node);
    bool ret = false;
    for (int i = 0; i < (int)isl_ast_node_list_n_ast_node(list) && !ret; i++) {
        isl_ast_node *part = isl_ast_node_list_get_ast_node(list, i);
        ret = is_loop && is_marked_free(node) ? depth < MOST_WAKES || holds_loop(m, part)
                                              : has_shared(m, part, depth + is_loop);
        isl_ast_node_free(part);
    }
    isl_ast_node_list_free(list);
    return ret;
}

/* Around a loop whose iterations follow one another, with loops inside that threads share: they are
 * woken once, and meet at the end of each shared loop. NULL: it is no such loop; else where that
 * pays, by the work of one iteration. */
static const char *region_condition(struct printer *p, isl_ast_node *node, isl_ast_node *body)
{
    struct hone_pool *pool = p->model->in->pool;
    const char *extent = extent_text(p, node, NULL);
    if (p->is_shared || p->in_region || p->depth > 0 || is_marked_free(node) || !extent ||
        !has_shared(p->model, body, 1))
        return NULL;
    bool is_vector = false;
    const char *inside = count_inside(p, body, expr_text(p, isl_ast_node_for_get_iterator(node)),
                                      hone_pool_printf(pool, "((%s))", extent), &is_vector);
    return hone_pool_printf(pool, "(double)1%s >= %d", inside,
                            is_vector ? FEW_IN_REGION : FEW_IN_REGION / 8);
}

/* In a region, what threads do not share is for one of them; neighbours are for the same one. */
static void begin_part(struct printer *p, isl_ast_node *node)
{
    bool is_all = !p->in_region || p->is_shared || has_shared(p->model, node, p->depth);
    if (p->is_single && is_all)
        hone_buf_str(&p->text, "}\n");
    if (!p->is_single && !is_all)
        hone_buf_str(&p->text, "#pragma omp single\n{\n");
    p->is_single = !is_all;
}

static void end_parts(struct printer *p)
{
    if (p->is_single)
        hone_buf_str(&p->text, "}\n");
    p->is_single = false;
}

/* The body in a loop of its counter; what is known of that is said while it lasts. */
static void print_body(struct printer *p, isl_ast_node *body, const char *name, const char *known)
{
    const char *counters = p->counters, *before = p->known;
    struct hone_pool *pool = p->model->in->pool;
    p->counters = hone_pool_printf(pool, "%s%s%s", counters, *counters ? ", " : "", name);
    p->known = hone_pool_printf(pool, "%s%s and ", before, known);
    print_part(p, body);
    hone_buf_str(&p->text, "}\n");
    p->counters = counters;
    p->known = before;
}

/* last: the loop that goes on where this one ends (joins); NULL: none. */
static void print_loop(struct printer *p, isl_ast_node *node, isl_ast_node *last,
                       isl_ast_node *body)
{
    struct hone_pool *pool = p->model->in->pool;
    const char *name = expr_text(p, isl_ast_node_for_get_iterator(node));
    const char *from = expr_text(p, isl_ast_node_for_get_init(node));
    const char *condition = expr_text(p, isl_ast_node_for_get_cond(last ? last : node));
    const char *step = expr_text(p, isl_ast_node_for_get_inc(node));
    bool was_shared = p->is_shared, is_free = is_marked_free(node);
    print_pragma(p, node, last, body);
    p->is_shared = p->is_shared || is_free;
    p->depth++;
    hone_buf_printf(&p->text, "for (int64_t %s = %s; %s; %s += %s) {\n", name, from, condition,
                    name, step);
    print_body(p, body, name, hone_pool_printf(pool, "%s >= %s and %s", name, from, condition));
    p->is_shared = was_shared;
    p->depth--;
}

/* Where it does not pay, the same for one thread: a team of one pays for each meeting, too. */
static void print_in_region(struct printer *p, isl_ast_node *node, isl_ast_node *last,
                            isl_ast_node *body, const char *condition)
{
    size_t n_vector = p->result->n_vector;
    hone_buf_printf(&p->text, "if (%s) {\n#pragma omp parallel\n", condition);
    p->in_region = true;
    print_loop(p, node, last, body);
    p->in_region = false;
    hone_buf_str(&p->text, "} else {\n");
    p->is_shared = true;
    p->result->n_vector = n_vector;
    print_loop(p, node, last, body);
    p->is_shared = false;
    hone_buf_str(&p->text, "}\n");
}

static void print_for(struct printer *p, isl_ast_node *node, isl_ast_node *last)
{
    isl_ast_node *body = isl_ast_node_for_get_body(node);
    bool is_once = isl_ast_node_for_is_degenerate(node) == isl_bool_true;
    const char *condition = is_once ? NULL : region_condition(p, node, body);
    if (is_once) {
        const char *name = expr_text(p, isl_ast_node_for_get_iterator(node));
        const char *from = expr_text(p, isl_ast_node_for_get_init(node));
        hone_buf_printf(&p->text, "{\nconst int64_t %s = %s;\n", name, from);
        print_body(p, body, name, hone_pool_printf(p->model->in->pool, "%s = %s", name, from));
    } else if (condition) {
        print_in_region(p, node, last, body, condition);
    } else {
        print_loop(p, node, last, body);
    }
    isl_ast_node_free(body);
}

/* ---- loops that go on where the one before them ends ---- */

/* Bounds of a loop in steps of one that has no loop inside; to: exclusive. */
struct plain_for {
    const char *name, *from, *to, *body;
};

static bool read_plain_for(struct printer *p, isl_ast_node *node, struct plain_for *ret)
{
    if (isl_ast_node_get_type(node) != isl_ast_node_for ||
        isl_ast_node_for_is_degenerate(node) == isl_bool_true)
        return false;
    isl_ast_node *body = isl_ast_node_for_get_body(node);
    bool is_plain = !holds_loop(p->model, body);
    struct hone_buf text = p->text;
    bool is_single = p->is_single, is_shared = p->is_shared;
    p->text = (struct hone_buf){.limit = HONE_LIMIT_SOURCE_BYTES};
    p->is_single = false;
    p->is_shared = true; /* the body alone: nothing is opened or closed around it */
    if (is_plain)
        print_node(p, body);
    p->is_single = is_single;
    p->is_shared = is_shared;
    ret->body =
        hone_pool_strndup(p->model->in->pool, p->text.data ? p->text.data : "", p->text.len);
    hone_buf_done(&p->text);
    p->text = text;
    isl_ast_node_free(body);
    ret->name = expr_text(p, isl_ast_node_for_get_iterator(node));
    ret->from = expr_text(p, isl_ast_node_for_get_init(node));
    const char *condition = expr_text(p, isl_ast_node_for_get_cond(node));
    size_t len = strlen(ret->name);
    bool has_bound =
        strncmp(condition, ret->name, len) == 0 && strncmp(condition + len, " < ", 3) == 0;
    ret->to = has_bound ? condition + len + 3 : "";
    return is_plain && has_bound && strcmp(expr_text(p, isl_ast_node_for_get_inc(node)), "1") == 0;
}

/* Never, whatever the loops around are at? False also when that was not found out. */
static bool is_never(const struct printer *p, const char *a, const char *b)
{
    return hone_order_is_empty(hone_pool_printf(p->model->in->pool, "%s{ [%s] : %s%s > %s }",
                                                p->model->scop->names, p->counters, p->known, a,
                                                b));
}

/* Does the second loop do the same for the counters that follow the first one's? The iterations of
 * both have to be as free together as each has them. */
static bool joins(struct printer *p, isl_ast_node *first, isl_ast_node *second)
{
    struct plain_for a, b;
    if (!read_plain_for(p, first, &a) || !read_plain_for(p, second, &b) ||
        strcmp(a.name, b.name) != 0 || strcmp(a.to, b.from) != 0 || strcmp(a.body, b.body) != 0)
        return false;
    const struct made_for *x = made_for(p, first), *y = made_for(p, second);
    if (!x || !y || x->is_free != y->is_free)
        return false;
    isl_union_map *both =
        isl_union_map_union(isl_union_map_copy(x->schedule), isl_union_map_copy(y->schedule));
    bool is_free = is_independent(both, p->depends);
    return (is_free || !x->is_free) && is_never(p, a.from, a.to) && is_never(p, b.from, b.to);
}

/* The children of a block; those of a block in it, which begins no scope, too. */
static isl_ast_node_list *flat_children(const struct printer *p, isl_ast_node *node)
{
    isl_ast_node_list *list = isl_ast_node_block_get_children(node),
                      *ret = isl_ast_node_list_alloc(p->model->ctx, 0);
    for (int i = 0; i < (int)isl_ast_node_list_n_ast_node(list); i++) {
        isl_ast_node *child = isl_ast_node_list_get_ast_node(list, i);
        if (isl_ast_node_get_type(child) == isl_ast_node_block) {
            ret = isl_ast_node_list_concat(ret, flat_children(p, child));
            isl_ast_node_free(child);
        } else {
            ret = isl_ast_node_list_add(ret, child);
        }
    }
    isl_ast_node_list_free(list);
    return ret;
}

/* last: as print_for. What one thread runs is not shared further. */
static void print_inside(struct printer *p, isl_ast_node *node, isl_ast_node *last)
{
    bool is_single = p->is_single, is_shared = p->is_shared;
    p->is_shared = is_shared || is_single;
    p->is_single = false;
    if (last)
        print_for(p, node, last);
    else
        print_node(p, node);
    p->is_shared = is_shared;
    p->is_single = is_single;
}

static void print_block(struct printer *p, isl_ast_node *node)
{
    isl_ast_node_list *list = flat_children(p, node);
    int n = (int)isl_ast_node_list_n_ast_node(list);
    for (int i = 0; i < n; i++) {
        isl_ast_node *child = isl_ast_node_list_get_ast_node(list, i);
        isl_ast_node *next = i + 1 < n ? isl_ast_node_list_get_ast_node(list, i + 1) : NULL;
        bool is_joined = next && joins(p, child, next);
        begin_part(p, child);
        print_inside(p, child, is_joined ? next : NULL);
        i += is_joined;
        isl_ast_node_free(child);
        isl_ast_node_free(next);
    }
    end_parts(p);
    isl_ast_node_list_free(list);
}

/* A block sees to its own parts. */
static void print_part(struct printer *p, isl_ast_node *node)
{
    bool is_block = isl_ast_node_get_type(node) == isl_ast_node_block;
    if (is_block) {
        print_node(p, node);
        return;
    }
    begin_part(p, node);
    print_inside(p, node, NULL);
    end_parts(p);
}

static void print_if(struct printer *p, isl_ast_node *node)
{
    isl_ast_node *then = isl_ast_node_if_get_then_node(node);
    hone_buf_printf(&p->text, "if (%s) {\n", expr_text(p, isl_ast_node_if_get_cond(node)));
    print_part(p, then);
    isl_ast_node_free(then);
    if (isl_ast_node_if_has_else_node(node) == isl_bool_true) {
        isl_ast_node *otherwise = isl_ast_node_if_get_else_node(node);
        hone_buf_str(&p->text, "} else {\n");
        print_part(p, otherwise);
        isl_ast_node_free(otherwise);
    }
    hone_buf_str(&p->text, "}\n");
}

static void print_node(struct printer *p, isl_ast_node *node)
{
    switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for:
        print_for(p, node, NULL);
        return;
    case isl_ast_node_if:
        print_if(p, node);
        return;
    case isl_ast_node_user:
        print_statement(p, node);
        return;
    case isl_ast_node_block:
        print_block(p, node);
        return;
    case isl_ast_node_mark:
    case isl_ast_node_error:
    default:
        p->text.limit = 0; /* nothing of this kind is asked for; the text fails */
    }
}

/* Counters are named after those of the source where a depth has one name for all statements. */
static isl_ast_build *name_counters(const struct hone_order_model *m, isl_ast_build *build)
{
    isl_id_list *names = isl_id_list_alloc(m->ctx, 8);
    for (int i = 0; i < 2 * HONE_SCOP_MAX_DEPTH; i++) {
        const char *name = hone_fresh_name(m->in, hone_pool_printf(m->in->pool, "t%d", i));
        names = isl_id_list_add(names, isl_id_alloc(m->ctx, name, NULL));
    }
    return isl_ast_build_set_iterators(build, names);
}

static const struct {
    const char *call, *definition;
} helpers[] = {
    {"least_of(", "static inline int64_t least_of(int64_t a, int64_t b)\n{\n"
                  "    return a < b ? a : b;\n}\n\n"},
    {"greatest_of(", "static inline int64_t greatest_of(int64_t a, int64_t b)\n{\n"
                     "    return a > b ? a : b;\n}\n\n"},
    {"floor_div(", "static inline int64_t floor_div(int64_t a, int64_t b)\n{\n"
                   "    return (a < 0 ? a - b + 1 : a) / b;\n}\n\n"},
};

static const char *helpers_of(const struct hone_coder_input *in, const char *text)
{
    const char *ret = "";
    for (size_t i = 0; i < HONE_COUNTOF(helpers); i++)
        if (strstr(text, helpers[i].call) && !strstr(in->tree->source, helpers[i].call))
            ret = hone_pool_printf(in->pool, "%s%s", ret, helpers[i].definition);
    return ret;
}

/* schedule or order: whichever it is made of; given away. */
static bool print(const struct hone_order_model *m, isl_schedule *schedule, isl_union_map *order,
                  bool with_threads, struct hone_order_result *ret)
{
    struct printer p = {.model = m,
                        .result = ret,
                        .is_shared = !with_threads,
                        .text = {.limit = HONE_LIMIT_SOURCE_BYTES},
                        .counters = "",
                        .known = "",
                        .depends = m->depends};
    isl_ast_build *build = isl_ast_build_alloc(m->ctx);
    build = isl_ast_build_set_before_each_for(build, before_loop, &p);
    build = name_counters(m, build);
    isl_ast_node *tree = schedule ? isl_ast_build_node_from_schedule(build, schedule)
                                  : isl_ast_build_node_from_schedule_map(build, order);
    bool is_good = tree != NULL && isl_ctx_last_error(m->ctx) == isl_error_none;
    if (is_good)
        print_node(&p, tree);
    is_good = is_good && hone_buf_check(&p.text, NULL) == 0;
    if (is_good) {
        HONE_AUTOFREE char *text = hone_buf_steal(&p.text);
        ret->text = hone_pool_strdup(m->in->pool, text);
        ret->before = helpers_of(m->in, text);
    }
    hone_buf_done(&p.text);
    for (size_t i = 0; i < p.n_fors && i < MAX_FORS; i++)
        isl_union_map_free(p.fors[i].schedule);
    isl_ast_node_free(tree);
    isl_ast_build_free(build);
    return is_good;
}

bool hone_order_print_schedule(const struct hone_order_model *m, isl_schedule *schedule,
                               bool with_threads, struct hone_order_result *ret)
{
    return print(m, schedule, NULL, with_threads, ret);
}

bool hone_order_print_map(const struct hone_order_model *m, isl_union_map *order,
                          struct hone_order_result *ret)
{
    return print(m, NULL, order, true, ret);
}
