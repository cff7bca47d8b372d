/* SPDX-License-Identifier: Apache-2.0 */
/* What no rewrite reads, told from the obstacle of each nest's outermost loop (unread.h). */
#include "agents/rewrites/unread.h"

#include <string.h>

enum { NESTS_SHOWN = 3, PLACE_BYTES = 60 };

/* Where rewrites have places; is_normal: one of them is in the normal form. */
struct places {
    struct {
        uint32_t begin, end;
    } v[HONE_C_MAX_LOOPS];
    size_t n;
    bool is_normal;
};

static void find_places(const struct hone_coder_input *in, struct places *ret)
{
    for (size_t i = 0; i < hone_n_rewrites; i++) {
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        size_t n = hone_coder_sites(hone_rewrites[i], in, sites);
        for (size_t s = 0; s < n; s++) {
            if (sites[s].node->kind == HONE_C_FUNCTION)
                continue; /* the rewrite of a whole text says nothing of one nest */
            ret->is_normal = ret->is_normal || sites[s].is_normal;
            if (sites[s].is_normal || ret->n == HONE_C_MAX_LOOPS)
                continue;
            ret->v[ret->n].begin = sites[s].begin;
            ret->v[ret->n++].end = sites[s].end;
        }
    }
}

static bool is_read(const struct hone_coder_input *in, const struct places *places,
                    const struct hone_c_loop *nest)
{
    for (size_t i = 0; i < places->n; i++)
        if (places->v[i].begin < nest->node->end && nest->node->begin < places->v[i].end)
            return true;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        const char *why = NULL;
        if (hone_c_contains(nest->node, l->node) &&
            (l->begin != l->node->begin || hone_c_is_parallel(&in->nest, l, &why)))
            return true;
    }
    return false;
}

static void put_nest(struct hone_buf *b, const struct hone_coder_input *in,
                     const struct hone_c_loop *nest)
{
    struct hone_c_obstacle o = hone_c_obstacle_of(&in->nest, nest);
    hone_buf_printf(b, "%s: %s", hone_loop_words(in, nest), o.words);
    if (o.at) {
        HONE_AUTOFREE char *place = hone_c_normalise(hone_c_text(in->tree, o.at));
        hone_buf_printf(b, ", at %.*s", PLACE_BYTES, place);
    }
    hone_buf_printf(b, " (%s)", o.code);
}

const char *hone_unread_text(const struct hone_coder_input *in)
{
    if (in->is_blind || strcmp(in->target, "cpu") != 0)
        return NULL;
    struct places places = {.n = 0};
    struct hone_buf b = HONE_BUF_INIT;
    size_t n = 0;
    find_places(in, &places);
    for (size_t i = 0; i < in->nest.n && !places.is_normal; i++) {
        const struct hone_c_loop *nest = &in->nest.loops[i];
        if (nest->depth > 0 || is_read(in, &places, nest))
            continue;
        if (n++ < NESTS_SHOWN) {
            hone_buf_str(&b, n > 1 ? "; " : "");
            put_nest(&b, in, nest);
        }
    }
    if (n > NESTS_SHOWN)
        hone_buf_printf(&b, "; and %zu more", n - NESTS_SHOWN);
    if (in->nest.n == 0)
        hone_buf_printf(&b, "%s has no for loop of its own (no_loop)", in->nest.function->name);
    HONE_AUTOFREE char *text = hone_buf_steal(&b);
    return *text ? hone_pool_strdup(in->pool, text) : NULL;
}
