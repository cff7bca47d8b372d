/* SPDX-License-Identifier: Apache-2.0 */
/* C02, C08, C20: nests whose iterations depend on one another get another order that computes the
 * same (agents/polyhedral): factorisations, triangular products, sweeps over a grid.
 *
 * reorder_nests runs the loop inside that goes along memory, with threads outside (variant 0) or for
 * one thread, what is written staying near (variant 1); share_nests finds a loop for threads
 * where none is free as written; block_nests cuts a band of loops into blocks, in a wavefront where
 * they depend. Each leaves a nest alone that gains nothing of its kind, and a source that has
 * threads already. */
#include <string.h>

#include "agents/polyhedral/order.h"
#include "agents/rewrites/coder_rules.h"

enum { ROWS = 1 }; /* a site's variant */

static bool is_of_run(const struct hone_c_loop *loop, const struct hone_scop *run)
{
    return loop->node->begin >= run->begin && loop->node->end <= run->end;
}

static struct hone_coder_site site_of(const struct hone_coder_input *in,
                                      const struct hone_scop *run, const char *how)
{
    return hone_site(run->first, run->begin, run->end,
                     hone_pool_printf(in->pool, "%zu statements from line %u on%s", run->n,
                                      hone_c_line(in->tree, run->begin), how));
}

/* Does a stride inside become shorter, or a loop free for threads where the text shows none? */
static bool is_threaded_as_written(const struct hone_coder_input *in, const struct hone_scop *scop)
{
    const struct hone_c_loop *loops[HONE_CODER_MAX_SITES];
    size_t n = hone_parallel_loops(in, loops, HONE_CODER_MAX_SITES);
    for (size_t i = 0; i < n; i++)
        if (is_of_run(loops[i], scop) && !loops[i]->is_innermost)
            return true;
    return false;
}

static size_t places(const struct hone_coder_input *in, enum hone_order order, bool for_threads,
                     struct hone_coder_site *ret, size_t max)
{
    const struct hone_orders *all = hone_is_threaded(in) ? NULL : hone_orders_of(in);
    size_t n = 0;
    for (size_t i = 0; all && i < all->n && n < max; i++) {
        const struct hone_scop *run = &all->runs[i];
        const struct hone_order_result *result = &all->results[i][order];
        if (!result->text)
            continue;
        bool is_new = order == HONE_ORDER_TILES
                          ? result->is_skewed || !is_threaded_as_written(in, run)
                          : !result->is_strided && !is_threaded_as_written(in, run);
        bool is_wanted = for_threads ? result->n_threaded > 0 && is_new : result->is_strided;
        if (!is_wanted)
            continue;
        ret[n] = site_of(in, run, "");
        ret[n++].evidence = hone_pool_printf(
            in->pool, "every dependence is kept; %zu loops for threads, %zu for vectors",
            result->n_threaded, result->n_vector);
    }
    return n;
}

/* Is no innermost loop of the run free for vectors as written? */
static bool is_scalar_as_written(const struct hone_coder_input *in, const struct hone_scop *scop)
{
    const char *why;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->is_innermost && is_of_run(l, scop) && hone_c_is_parallel(&in->nest, l, &why))
            return false;
    }
    return true;
}

/* For one thread: what threads in the way of vectors and caches do not find. */
static size_t rows_places(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    const struct hone_orders *all = hone_is_threaded(in) ? NULL : hone_orders_of(in);
    size_t n = 0;
    for (size_t i = 0; all && i < all->n && n < max; i++) {
        const struct hone_scop *run = &all->runs[i];
        const struct hone_order_result *rows = &all->results[i][HONE_ORDER_ROWS],
                                       *threads = &all->results[i][HONE_ORDER_VECTOR];
        if (!rows->text || rows->n_vector == 0 ||
            (threads->text && strcmp(rows->text, threads->text) == 0) ||
            !(rows->is_strided || is_scalar_as_written(in, run)))
            continue;
        ret[n] = site_of(in, run, ", by rows");
        ret[n].variant = ROWS;
        ret[n++].evidence = hone_pool_printf(
            in->pool, "every dependence is kept; %zu loops for vectors, no threads",
            rows->n_vector);
    }
    return n;
}

/* Are integers among what the function writes? A statement that is made special (i = k) may overflow
 * where the compiler sees it, and then means something else than the plain one does. */
static bool writes_integers(const struct hone_coder_input *in)
{
    for (const struct hone_c_node *n = in->nest.function->first; n; n = n->next)
        if (n->kind == HONE_C_PARAM && strchr(n->type, '*') && strncmp(n->type, "const ", 6) != 0 &&
            !hone_c_is_floating(n->type))
            return true;
    return false;
}

static char *put(const struct hone_coder_input *in, const struct hone_coder_site *site,
                 enum hone_order order, struct hone_err *err)
{
    const struct hone_orders *all = hone_orders_of(in);
    size_t i = 0;
    while (i < all->n && all->runs[i].first != site->node)
        i++;
    if (i == all->n || !all->results[i][order].text) {
        hone_fail(err, HONE_E_ARG, "the region has no other order that computes the same");
        return NULL;
    }
    const struct hone_order_result *result = &all->results[i][order];
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, in->nest.function->begin, in->nest.function->begin, result->before);
    /* for helpers too: gcc inlines none that is built otherwise */
    const char *wrap = writes_integers(in) ? "#pragma GCC optimize(\"wrapv\")\n" : "";
    bool has_types = strstr(in->tree->source, "stdint.h") || strstr(in->tree->source, "inttypes.h");
    if (*wrap || !has_types)
        hone_c_replace(
            &e, 0, 0,
            hone_pool_printf(in->pool, "%s%s", wrap, has_types ? "" : "#include <stdint.h>\n"));
    hone_c_replace(&e, all->runs[i].begin, all->runs[i].end, result->text);
    return hone_finish_edits(&e);
}

static size_t reorder_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                            size_t max)
{
    size_t n = places(in, HONE_ORDER_VECTOR, false, ret, max);
    return n + rows_places(in, ret + n, max - n);
}

static size_t share_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    return places(in, HONE_ORDER_VECTOR, true, ret, max);
}

static size_t block_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    return places(in, HONE_ORDER_TILES, true, ret, max);
}

static char *apply_order(const struct hone_coder_input *in, const struct hone_coder_site *site,
                         struct hone_err *err)
{
    return put(in, site, site->variant == ROWS ? HONE_ORDER_ROWS : HONE_ORDER_VECTOR, err);
}

static char *apply_blocks(const struct hone_coder_input *in, const struct hone_coder_site *site,
                          struct hone_err *err)
{
    return put(in, site, HONE_ORDER_TILES, err);
}

const struct hone_rewrite hone_rewrite_reorder_nests = {
    .name = "reorder_nests",
    .strategy = "C02",
    .words = "run the nests in an order with unit stride inside",
    .form = HONE_REWRITE_AS_WRITTEN,
    .sites = reorder_sites,
    .apply = apply_order,
};

const struct hone_rewrite hone_rewrite_share_nests = {
    .name = "share_nests",
    .strategy = "C08",
    .words = "run the nests in an order that threads can share",
    .form = HONE_REWRITE_AS_WRITTEN,
    .sites = share_sites,
    .apply = apply_order,
};

const struct hone_rewrite hone_rewrite_block_nests = {
    .name = "block_nests",
    .strategy = "C20",
    .words = "run the nests in blocks, in a wavefront where they depend",
    .form = HONE_REWRITE_AS_WRITTEN,
    .sites = block_sites,
    .apply = apply_blocks,
};
