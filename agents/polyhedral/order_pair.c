/* SPDX-License-Identifier: Apache-2.0 */
/* Each answer is a relation between two runs of a statement that a dependence must not reach. */
#include "agents/polyhedral/order_pair.h"

#include "agents/polyhedral/order_model.h"
#include "workspace/base/limits.h"

struct question {
    const struct hone_order_model *model;
    size_t statement; /* the body of the innermost loop */
    size_t outer;     /* which of its counters the outer loop's is */
};

static void put_runs(struct hone_buf *text, size_t statement, size_t depth, char letter)
{
    hone_buf_printf(text, "S%zu[", statement);
    for (size_t d = 0; d < depth; d++)
        hone_buf_printf(text, "%s%c%zu", d ? "," : "", letter, d);
    hone_buf_str(text, "]");
}

/* Does a dependence lead from a run of `from` to one of `to`, all loops around the pair being where
 * they are, for which the condition holds of their counters aN and bN? True also when isl gave up. */
static bool is_reached(const struct question *q, size_t from, size_t to, const char *condition)
{
    const struct hone_scop *scop = q->model->scop;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    hone_buf_str(&text, "{ ");
    put_runs(&text, from, scop->statements[from].depth, 'a');
    hone_buf_str(&text, " -> ");
    put_runs(&text, to, scop->statements[to].depth, 'b');
    hone_buf_printf(&text, " : %s", condition);
    for (size_t d = 0; d < q->outer; d++)
        hone_buf_printf(&text, " and a%zu = b%zu", d, d);
    hone_buf_str(&text, " }");
    isl_union_map *bad = isl_union_map_intersect(isl_union_map_copy(q->model->depends),
                                                 hone_order_map(q->model, text.data));
    bool ret = isl_union_map_is_empty(bad) != isl_bool_true;
    isl_union_map_free(bad);
    return ret;
}

static const char *compare(const struct question *q, size_t counter, const char *sign)
{
    return hone_pool_printf(q->model->in->pool, "b%zu %s a%zu", counter, sign, counter);
}

/* Statements under the outer loop beside the inner one must come before it, and lean on no run of
 * it. */
static bool is_split(const struct question *q, const struct hone_c_loop *outer)
{
    const struct hone_scop *scop = q->model->scop;
    for (size_t s = 0; s < scop->n; s++) {
        if (s == q->statement || scop->statements[s].depth <= q->outer ||
            scop->statements[s].loops[q->outer] != outer)
            continue;
        if (s > q->statement || is_reached(q, q->statement, s, "true"))
            return false;
    }
    return true;
}

static void answer(const struct question *q, bool is_pair, const struct hone_c_loop *outer,
                   struct hone_order_pair *ret)
{
    size_t s = q->statement, o = q->outer;
    ret->is_known = true;
    ret->outer_is_free = !is_reached(q, s, s, compare(q, o, "!="));
    ret->inner_is_free = is_pair && !is_reached(q, s, s, compare(q, o + 1, "!="));
    ret->is_tileable = !is_reached(q, s, s, compare(q, o, "<")) &&
                       (!is_pair || !is_reached(q, s, s, compare(q, o + 1, "<")));
    ret->is_split = is_split(q, outer);
}

/* The statement that the pair's body is; false: it is none of the run. */
static bool find(const struct hone_scop *scop, const struct hone_c_loop *outer,
                 const struct hone_c_loop *inner, struct question *q)
{
    const struct hone_c_node *body = (inner ? inner : outer)->node->body;
    for (q->statement = 0; q->statement < scop->n; q->statement++) {
        const struct hone_scop_statement *s = &scop->statements[q->statement];
        size_t depth = inner ? 2 : 1;
        if (s->node != body || s->depth < depth)
            continue;
        q->outer = s->depth - depth;
        return s->loops[q->outer] == outer && (!inner || s->loops[q->outer + 1] == inner);
    }
    return false;
}

struct hone_order_pair hone_order_pair_of(const struct hone_coder_input *in,
                                          const struct hone_c_loop *outer,
                                          const struct hone_c_loop *inner)
{
    struct hone_order_pair ret = {.is_known = false};
    struct hone_scop *runs;
    size_t n = hone_scops_from(in, 1, &runs);
    for (size_t i = 0; i < n && !ret.is_known; i++) {
        struct hone_order_model model;
        struct question q = {.model = &model};
        if (!find(&runs[i], outer, inner, &q))
            continue;
        if (hone_order_open(&model, in, &runs[i]))
            answer(&q, inner != NULL, outer, &ret);
        hone_order_close(&model);
    }
    return ret;
}
