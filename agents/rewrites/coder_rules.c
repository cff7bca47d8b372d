/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rewrites. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

#define REWRITE(name) extern const struct hone_rewrite hone_rewrite_##name
REWRITE(ping_pong);
REWRITE(reuse_pass);
REWRITE(thread_outer);
REWRITE(thread_bins);
REWRITE(bin_tile);
REWRITE(thread_reduction);
REWRITE(thread_scratch);
REWRITE(simd_inner);
REWRITE(interchange);
REWRITE(register_tile);
REWRITE(sum_tile);
REWRITE(pack_panels);
REWRITE(outer_strip);
REWRITE(outer_lanes);
REWRITE(skewed_lanes);
REWRITE(accumulators);
REWRITE(split_borders);
REWRITE(step_remainders);
REWRITE(window_sums);
REWRITE(tile_loops);
REWRITE(vector_math);
REWRITE(reorder_nests);
REWRITE(share_nests);
REWRITE(block_nests);
REWRITE(fast_math);
REWRITE(unroll_loops);
REWRITE(cuda_shared_tile);
REWRITE(cuda_flash);
REWRITE(cuda_tensor_tile);
REWRITE(cuda_online_softmax);
REWRITE(cuda_row_cache);
REWRITE(cuda_grid_reduce);
REWRITE(cuda_transpose_tile);
REWRITE(cuda_block_shape);
REWRITE(cuda_coalesce);
REWRITE(cuda_coarsen);
REWRITE(cuda_map_lanes);
REWRITE(cuda_private_bins);
REWRITE(cuda_fast_math);
REWRITE(cuda_unroll);
REWRITE(cuda_restrict);
REWRITE(cuda_vector);
REWRITE(cuda_row_lanes);
REWRITE(cuda_row_stage);
REWRITE(cuda_window_tile);
REWRITE(cuda_gather_tile);
REWRITE(cuda_time_tile);

const struct hone_rewrite *const hone_rewrites[] = {
    &hone_rewrite_cuda_gather_tile,
    &hone_rewrite_cuda_shared_tile,
    &hone_rewrite_cuda_flash,
    &hone_rewrite_cuda_tensor_tile,
    &hone_rewrite_cuda_online_softmax,
    &hone_rewrite_cuda_row_cache,
    &hone_rewrite_cuda_grid_reduce,
    &hone_rewrite_cuda_private_bins,
    &hone_rewrite_cuda_transpose_tile,
    &hone_rewrite_cuda_block_shape,
    &hone_rewrite_cuda_coalesce,
    &hone_rewrite_cuda_coarsen,
    &hone_rewrite_cuda_map_lanes,
    &hone_rewrite_cuda_fast_math,
    &hone_rewrite_cuda_unroll,
    &hone_rewrite_cuda_restrict,
    &hone_rewrite_cuda_vector,
    &hone_rewrite_cuda_row_lanes,
    &hone_rewrite_cuda_row_stage,
    &hone_rewrite_cuda_window_tile,
    &hone_rewrite_accumulators,
    &hone_rewrite_fast_math,
    &hone_rewrite_interchange,
    &hone_rewrite_ping_pong,
    &hone_rewrite_register_tile,
    &hone_rewrite_bin_tile,
    &hone_rewrite_sum_tile,
    &hone_rewrite_pack_panels,
    &hone_rewrite_reuse_pass,
    &hone_rewrite_simd_inner,
    &hone_rewrite_thread_outer,
    &hone_rewrite_thread_bins,
    &hone_rewrite_thread_reduction,
    &hone_rewrite_thread_scratch,
    &hone_rewrite_split_borders,
    &hone_rewrite_tile_loops,
    &hone_rewrite_unroll_loops,
    &hone_rewrite_vector_math,
    &hone_rewrite_reorder_nests,
    &hone_rewrite_share_nests,
    &hone_rewrite_block_nests,
    &hone_rewrite_outer_strip,
    &hone_rewrite_outer_lanes,
    &hone_rewrite_skewed_lanes,
    &hone_rewrite_cuda_time_tile,
    &hone_rewrite_step_remainders,
    &hone_rewrite_window_sums,
};
const size_t hone_n_rewrites = HONE_COUNTOF(hone_rewrites);

const struct hone_rewrite *hone_rewrite_find(const char *name)
{
    for (size_t i = 0; i < hone_n_rewrites; i++)
        if (strcmp(hone_rewrites[i]->name, name) == 0)
            return hone_rewrites[i];
    return NULL;
}

bool hone_rewrite_is_for(const struct hone_rewrite *rewrite, const char *target)
{
    return strcmp(rewrite->target ? rewrite->target : "cpu", target) == 0;
}

/* Places in the normal form, under the lines of the function that they came from. */
static size_t normal_sites(const struct hone_rewrite *rewrite, const struct hone_coder_input *in,
                           struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    size_t n = rewrite->sites(in->normal, ret, HONE_CODER_MAX_SITES);
    for (size_t i = 0; i < n; i++) {
        const struct hone_c_node *f = ret[i].node, *own;
        while (f->kind != HONE_C_FUNCTION && f->parent)
            f = f->parent;
        hone_coder_locate(in->normal, &ret[i]);
        own = hone_c_function(in->tree, f->name);
        ret[i].is_normal = true;
        ret[i].line = own ? hone_c_line(in->tree, own->begin) : 1;
        ret[i].last_line = own ? hone_c_line(in->tree, own->end) : 1;
    }
    return n;
}

/* What stands in a parallel region outside of its shared loops, every thread runs: rules take it for
 * the work of one. */
static bool has_region(const struct hone_coder_input *in)
{
    return strstr(in->tree->source, "#pragma omp for") || strstr(in->tree->source, "omp single");
}

static size_t sites_as_written(const struct hone_rewrite *rewrite,
                               const struct hone_coder_input *in,
                               struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    size_t n = rewrite->sites(in, ret, HONE_CODER_MAX_SITES);
    for (size_t i = 0; i < n; i++)
        hone_coder_locate(in, &ret[i]);
    return n;
}

size_t hone_coder_sites(const struct hone_rewrite *rewrite, const struct hone_coder_input *in,
                        struct hone_coder_site ret[HONE_CODER_MAX_SITES])
{
    if (in->is_blind || !hone_rewrite_is_for(rewrite, in->target))
        return 0;
    if (has_region(in))
        return rewrite->suits_region ? sites_as_written(rewrite, in, ret) : 0;
    size_t n =
        in->normal && rewrite->form == HONE_REWRITE_NORMAL ? normal_sites(rewrite, in, ret) : 0;
    if (n == 0)
        n = sites_as_written(rewrite, in, ret);
    return n == 0 && in->normal && rewrite->form == HONE_REWRITE_EITHER
               ? normal_sites(rewrite, in, ret)
               : n;
}

int hone_coder_apply(struct hone_c_parser *parser, const struct hone_rewrite *rewrite,
                     const struct hone_coder_input *in, const struct hone_coder_site *site,
                     const char **ret_source, struct hone_err *err)
{
    char *text = rewrite->apply(site->is_normal ? in->normal : in, site, err);
    if (!text)
        return hone_wrap(err, "%s", rewrite->name);
    struct hone_coder_input again;
    int r =
        hone_coder_read(parser, in->target, text, in->nest.function->name, in->pool, &again, err);
    if (r < 0)
        return hone_wrap(err, "%s made a text that is not valid", rewrite->name);
    *ret_source = text;
    const struct hone_rewrite *next = rewrite->then ? hone_rewrite_find(rewrite->then) : NULL;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    if (!next || hone_coder_sites(next, &again, sites) == 0)
        return 0;
    return hone_coder_apply(parser, next, &again, &sites[0], ret_source, err);
}
