/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does beside its own declarations, and what ties it to its launch (cuda_normal.h). */
#include "agents/source/cuda_normal.h"

#include <string.h>

enum { MAX_REACHED = 16 };

static bool is_change(const struct hone_c_node *n)
{
    const struct hone_c_node *of = n->kind == HONE_C_UNARY ? hone_c_strip(n->first) : NULL;
    return n->kind == HONE_C_ASSIGN_OP || (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0) ||
           (of && (strcmp(n->op, "++") == 0 || strcmp(n->op, "--") == 0 ||
                   (strcmp(n->op, "&") == 0 && of->kind == HONE_C_REF)));
}

bool hone_cuda_has_effect(const struct hone_cuda_kernel *k, const struct hone_c_node *top)
{
    if (hone_cuda_has_store(top))
        return true;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (is_change(n))
            return true;
        if (n->kind != HONE_C_REF || !n->decl || n->decl->kind != HONE_C_FUNCTION)
            continue;
        const struct hone_c_node *all[MAX_REACHED];
        size_t n_all = hone_c_reached(k->in->tree, n->decl, all, MAX_REACHED);
        for (size_t i = 0; i < n_all; i++)
            if (n_all == MAX_REACHED || hone_cuda_has_store(all[i]->body))
                return true;
    }
    return false;
}

static bool has_word(const struct hone_cuda_kernel *k, const char *word)
{
    const struct hone_c_node *f = k->function;
    return memmem(k->in->tree->source + f->begin, f->end - f->begin, word, strlen(word)) != NULL;
}

bool hone_cuda_may_relaunch(const struct hone_cuda_kernel *k, const struct hone_c_node *until)
{
    return !has_word(k, "__launch_bounds__") && hone_cuda_may_regrid(k, until);
}

bool hone_cuda_may_regrid(const struct hone_cuda_kernel *k, const struct hone_c_node *until)
{
    static const char *const words[] = {"__shared__", "__sync", "__shfl"};
    const struct hone_c_node *all[MAX_REACHED];
    size_t n = hone_c_reached(k->in->tree, k->function, all, MAX_REACHED);
    for (size_t i = 1; i < n; i++)
        if (n == MAX_REACHED || hone_cuda_n_places(all[i]->body) > 0)
            return false;
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (has_word(k, words[i]))
            return false;
    for (size_t i = 0; i < k->n_params; i++)
        if (hone_c_writes(k->function, k->params[i]))
            return false;
    for (const struct hone_c_node *s = until->parent->first; s && s != until; s = s->next)
        if (hone_cuda_has_effect(k, s))
            return false;
    return true;
}
