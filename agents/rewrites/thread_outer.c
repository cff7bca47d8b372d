/* SPDX-License-Identifier: Apache-2.0 */
/* C08: the outermost loops whose iterations are independent get `omp parallel for`. All of them in
 * one step.
 *
 * variant 0 static, 1 dynamic schedule with a tunable chunk (rows of uneven length), 2 static
 * over two collapsed loops. A loop with reductions is threaded only when nothing better is
 * inside or outside of it; partial sums are kept per chunk so that the answer does not depend on
 * which thread ends first: OpenMP's own combining order may change from call to call with more
 * than two threads.
 *
 * Nothing is done when the deepest nest is not among them: its time is what counts. */
#include "agents/rewrites/coder_rules.h"

enum { STATIC, DYNAMIC, COLLAPSE, MAX_LOOPS = 8 };

static const struct hone_c_loop *collapsible(const struct hone_coder_input *in,
                                             const struct hone_c_loop *loop)
{
    const struct hone_c_node *inner = hone_c_only_stmt(loop->node->body);
    const char *why;
    for (size_t i = 0; inner && i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->node == inner && !l->is_innermost && l->begin == inner->begin &&
            !hone_c_writes_scalar(l) && !hone_c_uses(l->lower, loop->var) &&
            !hone_c_uses(l->upper, loop->var) && hone_c_is_parallel(&in->nest, l, &why))
            return l;
    }
    return NULL;
}

static bool is_uneven(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l != loop && l->upper && hone_c_contains(loop->node, l->node) &&
            (hone_c_uses(l->upper, loop->var) || !hone_c_is_invariant(l->upper, loop->node)))
            return true;
    }
    return false;
}

/* Is one of them the way to the deepest loop? Threads on a loop that copies or clears what a deeper
 * nest works on gain nothing and would pass for the step that was needed. Where other loops have
 * threads, the deepest of those that are left may be a level less: chunks are one. */
static bool is_hot(const struct hone_coder_input *in, const struct hone_c_loop *const *loops,
                   size_t n)
{
    int all = hone_loop_levels(in, in->nest.function), most = 0;
    for (size_t i = 0; i < n; i++) {
        int here = hone_c_writes_scalar(loops[i]) ? 0 : hone_loop_levels(in, loops[i]->node);
        most = here > most ? here : most;
    }
    return most == all || (hone_is_threaded(in) && most > 1 && most + 1 == all);
}

static size_t threadable(const struct hone_coder_input *in, const struct hone_c_loop **ret)
{
    size_t n_all = hone_parallel_loops(in, ret, MAX_LOOPS), n = 0;
    for (size_t i = 0; i < n_all; i++)
        if (hone_may_thread(in, ret[i]))
            ret[n++] = ret[i];
    return n;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_c_loop *loops[MAX_LOOPS];
    size_t n_loops = threadable(in, loops), n = 0;
    if (!is_hot(in, loops, n_loops))
        return 0;
    bool any = false, uneven = false, collapse = false;
    for (size_t i = 0; i < n_loops; i++) {
        any = any || !hone_c_writes_scalar(loops[i]);
        uneven = uneven || is_uneven(in, loops[i]);
        collapse = collapse || collapsible(in, loops[i]);
    }
    const struct hone_c_node *f = in->nest.function;
    static const char *const words[] = {"every independent outer loop, static schedule",
                                        "every independent outer loop, dynamic schedule",
                                        "two outer loops collapsed, static schedule"};
    bool wanted[] = {any, any && uneven, any && collapse};
    for (int v = STATIC; v <= COLLAPSE && n < max; v++) {
        if (!wanted[v])
            continue;
        ret[n] = hone_site(f, f->begin, f->end, words[v]);
        ret[n].evidence = "iterations write apart and carry no scalar";
        ret[n++].variant = v;
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *loops[MAX_LOOPS];
    size_t n = threadable(in, loops), n_done = 0;
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const char *chunk =
        site->variant == DYNAMIC ? hone_add_tunable(&e, in, "CHUNK", "64, 16, 256") : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct hone_c_loop *l = loops[i];
        if (hone_c_writes_scalar(l) || (l->is_innermost && l->depth > 0 && n_done > 0))
            continue;
        const char *clause = "schedule(static)";
        if (site->variant == DYNAMIC)
            clause = hone_pool_printf(in->pool, "schedule(dynamic, %s)", chunk);
        if (site->variant == COLLAPSE && collapsible(in, l))
            clause = "schedule(static) collapse(2)";
        const char *text =
            hone_pool_printf(in->pool, "#pragma omp parallel for %s%s\n%s", clause,
                             hone_if_clause(in, l), hone_c_indent(in->tree, l->node->begin));
        hone_c_replace(&e, l->node->begin, l->node->begin, text);
        n_done++;
    }
    if (n_done == 0) {
        hone_fail(err, HONE_E_ARG, "no loop has independent iterations");
        return NULL;
    }
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_thread_outer = {
    .name = "thread_outer",
    .strategy = "C08",
    .words = "thread the outer loops",
    .sites = sites,
    .apply = apply,
};
