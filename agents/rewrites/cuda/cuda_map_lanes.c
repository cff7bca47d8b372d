/* SPDX-License-Identifier: Apache-2.0 */
/* G20 for maps: rows are dealt out to blocks, a row's elements to neighbouring threads in turn.
 *
 *     x = ...; y = ...; if (y >= R || x >= D) return; body(x, y)
 *
 * becomes
 *
 *     for (y = blockIdx.y; y < R; y += gridDim.y)
 *         for (x = lane; x < D; x += lanes) body(x, y)
 *
 * with EACH elements of a row for a thread. Rows may have any pitch; a map over one axis is one
 * row. Element by element that gains little; the step takes whole vectors at once where cuda_vector
 * finds them (decision 0123: 1.2x and 1.6x over the naive kernel in tanh GELU). */
#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++)
        if (hone_cuda_deal_axis(all[i]))
            ret[n++] = hone_cuda_site(all[i], 0, "each thread computes one element of a map");
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    const struct hone_cuda_axis *row = k ? hone_cuda_deal_axis(k) : NULL;
    struct hone_c_edits edits;
    const char *lanes, *each, *body = NULL;
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "LANES", "256, 128, 512, 64, 32", &lanes);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "EACH", "8, 4, 16, 32", &each));
    if (row)
        body = hone_cuda_deal_body(k, row, lanes, NULL);
    for (size_t i = 0; body && i < k->n_launches; i++) {
        const char *grid = hone_cuda_deal_grid(k, row, &k->launches[i], lanes, each);
        if (grid)
            hone_cuda_set_launch(&edits, &k->launches[i], grid, lanes, k->launches[i].shared);
        else
            body = NULL;
    }
    if (!body) {
        hone_fail(err, HONE_E_ARG, "the region is no map, or a bound is unknown");
        return NULL;
    }
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, lanes, ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_map_lanes = {
    .name = "cuda_map_lanes",
    .target = "cuda",
    .strategy = "G20",
    .words = "deal a map's rows out to blocks, their elements to threads by vectors",
    .form = HONE_REWRITE_NORMAL, /* digits of a flat index become rows */
    .then = "cuda_vector",
    .sites = sites,
    .apply = apply,
};
