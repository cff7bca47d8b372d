/* SPDX-License-Identifier: Apache-2.0 */
/* G51: a loop that ends with memcpy(A, B, n) copies its whole state back; swapping the two pointers
 * instead saves that traffic.
 *
 *     for t { B[...] = f(A[...]); memcpy(A, B, n); }
 *
 * B then holds the state of two steps ago wherever the step does not write, so both must agree
 * there at the start. The judge finds out. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

struct parts {
    const struct hone_c_node *copy, *to, *from,
        *size; /* call statement; declarations; expression */
};

static const struct hone_c_node *pointer_decl(const struct hone_c_node *expr)
{
    expr = hone_c_strip(expr);
    if (!expr || expr->kind != HONE_C_REF || !expr->decl || !strchr(expr->decl->type, '*') ||
        strstr(expr->decl->type, "const"))
        return NULL;
    return expr->decl;
}

static bool match(const struct hone_c_loop *l, struct parts *ret)
{
    const struct hone_c_node *b = l->node->body,
                             *last = b && b->kind == HONE_C_COMPOUND ? b->last : NULL;
    if (!last || last->kind != HONE_C_CALL || hone_c_n_children(last) != 4 ||
        (strcmp(last->name, "memcpy") != 0 && strcmp(last->name, "memmove") != 0))
        return false;
    const struct hone_c_node *to = pointer_decl(hone_c_child(last, 1)),
                             *from = pointer_decl(hone_c_child(last, 2));
    if (!to || !from || to == from || hone_c_writes(b, to) || hone_c_writes(b, from))
        return false;
    *ret = (struct parts){last, to, from, hone_c_child(last, 3)};
    return hone_c_is_invariant(ret->size, b) && hone_c_uses(b->first, from);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    struct parts p;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (!match(l, &p))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence =
            hone_pool_printf(in->pool, "each step copies %s to %s", p.from->name, p.to->name);
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct parts p;
    if (!l || !match(l, &p)) {
        hone_fail(err, HONE_E_ARG, "the region does not end with a copy back");
        return NULL;
    }
    const char *now = hone_fresh_name(in, "now"), *next = hone_fresh_name(in, "next"),
               *src = hone_fresh_name(in, "src"), *dst = hone_fresh_name(in, "dst"),
               *swap = hone_fresh_name(in, "swapped");
    const char *star = strchr(p.to->type, '*');
    const char *type = hone_pool_strndup(in->pool, p.to->type, (size_t)(star - p.to->type));
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const struct hone_c_node *b = l->node->body;
    for (const struct hone_c_node *s = b->first; s && s != p.copy; s = s->next) {
        hone_c_replace_refs(&e, s, p.to, src);
        hone_c_replace_refs(&e, s, p.from, dst);
    }
    hone_c_replace(&e, b->begin + 1, b->begin + 1,
                   hone_pool_printf(in->pool, "\n%s*restrict %s = %s;\n%s*restrict %s = %s;", type,
                                    src, now, type, dst, next));
    hone_c_replace(&e, p.copy->begin, hone_c_stmt_end(in->tree, p.copy),
                   hone_pool_printf(in->pool, "%s*%s = %s;\n%s = %s;\n%s = %s;", type, swap, now,
                                    now, next, next, swap));
    hone_c_replace(&e, l->begin, l->begin,
                   hone_pool_printf(in->pool, "%s*%s = %s;\n%s*%s = %s;\n", type, now, p.to->name,
                                    type, next, p.from->name));
    uint32_t end = hone_c_stmt_end(in->tree, l->node);
    hone_c_replace(&e, end, end,
                   hone_pool_printf(in->pool, "\nif (%s != %s)\nmemcpy(%s, %s, %s);", now,
                                    p.to->name, p.to->name, now, hone_c_text(in->tree, p.size)));
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_ping_pong = {
    .name = "ping_pong",
    .strategy = "G51",
    .words = "swap buffers instead of copying back",
    .sites = sites,
    .apply = apply,
};
