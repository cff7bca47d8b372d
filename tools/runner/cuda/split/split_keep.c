/* SPDX-License-Identifier: Apache-2.0 */
/* Which declarations stay in which text.
 *
 * Device text: kernels, device functions, constexpr functions, types, constants and aliases stay;
 * what mentions the runtime or std:: (`is_tainted`) stays only when device code names it; other
 * host functions and variables stay only when device code names them and they are not tainted. Host
 * text: everything stays but functions for the device alone, and types and aliases that mention
 * what only the device's compiler knows (`is_device_tainted`), unless host code names them.
 * Both are fixed points over names: cheap, and wrong only towards keeping too much. */
#include <ctype.h>
#include <string.h>

#include "tools/runner/cuda/split/split_internal.h"

#define MAX_ROUNDS 32

struct keeper {
    struct split_state *s;
    bool *taints, *device_taints; /* by name id */
    bool *host_refs, *device_refs;
    bool *host_macros, *device_macros; /* already looked into */
    size_t n_names;
    bool has_changed;
};

static const struct split_tokens *stream(const struct split_state *s, const struct split_item *item)
{
    return item->is_in_macro ? &s->macros : &s->tokens;
}

static bool has_prefix(const char *name, const char *prefix, bool is_upper_next)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && (!is_upper_next || isupper((unsigned char)name[n]));
}

static bool is_host_only_name(const char *name)
{
    static const char *const words[] = {"fprintf", "exit",   "abort",       "getenv",
                                        "stderr",  "stdout", "fopen",       "fflush",
                                        "perror",  "throw",  "gettimeofday"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    bool is_map =
        strcmp(name, "cudaTextureObject_t") == 0 || strcmp(name, "cudaSurfaceObject_t") == 0;
    return !is_map && (has_prefix(name, "cuda", true) || has_prefix(name, "cu", true) ||
                       has_prefix(name, "cublas", false) || has_prefix(name, "cudnn", false) ||
                       has_prefix(name, "nvtx", false));
}

static bool is_device_only_name(const char *name)
{
    static const char *const words[] = {
        "threadIdx",     "blockIdx",      "blockDim",    "gridDim",
        "warpSize",      "nvcuda",        "wmma",        "cooperative_groups",
        "__ldg",         "__syncthreads", "__syncwarp",  "__activemask",
        "__threadfence", "__ballot_sync", "__nanosleep", "asm",
        "__asm__",       "__trap",        "clock64",     "__popc",
        "__clz",         "__ffs"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return has_prefix(name, "__shfl", false) || has_prefix(name, "atomic", true) ||
           has_prefix(name, "__cvta", false) || has_prefix(name, "__pipeline", false);
}

/* std::x, launches, and names by their spelling. */
static bool taints_host(const struct keeper *k, const struct split_tokens *t, size_t i)
{
    if (split_punct(&t->v[i], SPLIT_OPEN3))
        return true;
    if (t->v[i].kind != SPLIT_NAME)
        return false;
    bool is_std = split_is(k->s, &t->v[i], "std") &&
                  (split_punct(&t->v[i + 1], SPLIT_SCOPE) || split_punct(&t->v[i + 1], ';')) &&
                  (i == 0 || !split_punct(&t->v[i - 1], SPLIT_SCOPE));
    return is_std || k->taints[t->v[i].id];
}

static bool taints_device(const struct keeper *k, const struct split_tokens *t, size_t i)
{
    static const char *const inner[] = {"barrier",      "pipeline",   "ptx",
                                        "atomic",       "atomic_ref", "thread_scope",
                                        "memcpy_async", "device",     "experimental"};
    if (t->v[i].kind != SPLIT_NAME)
        return false;
    if (split_is(k->s, &t->v[i], "cuda") && split_punct(&t->v[i + 1], SPLIT_SCOPE))
        for (size_t n = 0; n < HONE_COUNTOF(inner); n++)
            if (split_is(k->s, &t->v[i + 2], inner[n]))
                return true;
    return k->device_taints[t->v[i].id];
}

static void set(struct keeper *k, bool *flag)
{
    k->has_changed |= !*flag;
    *flag = true;
}

static void taint_macros(struct keeper *k)
{
    const struct split_directive *d = k->s->directives.v;
    const struct split_tokens *t = &k->s->macros;
    for (size_t i = 0; i < k->s->directives.n; i++)
        for (size_t b = d[i].body; d[i].name != 0 && b < d[i].body + d[i].n_body; b++) {
            if (taints_host(k, t, b))
                set(k, &k->taints[d[i].name]);
            if (taints_device(k, t, b))
                set(k, &k->device_taints[d[i].name]);
        }
}

static bool is_host_function(const struct split_item *item)
{
    return item->kind == SPLIT_FUNCTION && !item->is_global && !item->is_device;
}

/* A member function of a type that stays can go alone: its words do not taint the type. */
static size_t skip_member(const struct split_state *s, size_t number, size_t token)
{
    const struct split_item *items = s->items.v;
    for (size_t i = number + 1; i < s->items.n && items[i].first <= items[number].last; i++)
        if (items[i].parent == number && items[i].is_in_macro == items[number].is_in_macro &&
            items[i].first == token && items[i].kind == SPLIT_FUNCTION)
            return items[i].last;
    return token;
}

static void taint_item(struct keeper *k, size_t number)
{
    struct split_item *item = &((struct split_item *)k->s->items.v)[number];
    const struct split_tokens *t = stream(k->s, item);
    for (size_t i = item->first; i <= item->last; i++) {
        if (taints_host(k, t, i))
            set(k, &item->is_tainted);
        size_t after = item->kind == SPLIT_TYPE ? skip_member(k->s, number, i) : i;
        if (after == i && taints_device(k, t, i))
            set(k, &item->is_device_tainted);
        i = after;
    }
    if (item->name == 0 || item->parent != SIZE_MAX)
        return;
    bool is_alias = split_is(k->s, &t->v[item->first], "namespace");
    bool is_name =
        item->kind == SPLIT_TYPE || item->is_typedef || is_alias || is_host_function(item);
    if (item->is_tainted && is_host_function(item))
        set(k, &k->taints[item->name]);
    bool is_device_alone =
        item->kind == SPLIT_FUNCTION && item->is_device && !item->is_host && !item->is_constexpr;
    if ((item->is_device_tainted && is_name && !is_host_function(item)) || is_device_alone)
        set(k, &k->device_taints[item->name]);
}

static void refer(struct keeper *k, bool *refs, bool *macros, uint32_t id)
{
    const struct split_tokens *t = &k->s->macros;
    set(k, &refs[id]);
    const struct split_directive *macro = split_macro(k->s, id);
    if (macro == NULL || macros[id])
        return;
    macros[id] = true;
    for (size_t i = macro->body; i < macro->body + macro->n_body; i++)
        if (t->v[i].kind == SPLIT_NAME)
            set(k, &refs[t->v[i].id]); /* macros in it: the next round */
}

static void refer_all(struct keeper *k, const struct split_item *item, size_t last, bool is_host)
{
    const struct split_tokens *t = stream(k->s, item);
    for (size_t i = item->first; i <= last; i++)
        if (t->v[i].kind == SPLIT_NAME && i != item->name_token)
            refer(k, is_host ? k->host_refs : k->device_refs,
                  is_host ? k->host_macros : k->device_macros, t->v[i].id);
}

static bool is_walked(const struct split_state *s, uint32_t macro)
{
    const struct split_directive *d = split_macro(s, macro);
    const struct split_item *items = s->items.v;
    for (size_t i = 0; d != NULL && i < s->items.n; i++)
        if (items[i].is_in_macro && items[i].first >= d->body &&
            items[i].first < d->body + d->n_body)
            return true;
    return false;
}

static bool is_forward_type(const struct split_state *s, const struct split_item *item)
{
    const struct split_tokens *t = stream(s, item);
    for (size_t i = item->first; i < item->last; i++)
        if (split_is(s, &t->v[i], "struct") || split_is(s, &t->v[i], "class") ||
            split_is(s, &t->v[i], "enum") || split_is(s, &t->v[i], "namespace"))
            return item->params_first == 0;
    return false;
}

/* A functor may be named in a launch alone. */
static bool has_device_members(const struct split_state *s, const struct split_item *type)
{
    const struct split_item *items = s->items.v;
    for (const struct split_item *i = type + 1;
         i < items + s->items.n && i->first <= type->last && i->is_in_macro == type->is_in_macro;
         i++)
        if (i->is_device)
            return true;
    return false;
}

static bool stays_on_device(const struct keeper *k, const struct split_item *item)
{
    bool is_named = item->name != 0 && k->device_refs[item->name];
    if (item->kind == SPLIT_USE)
        return is_walked(k->s, item->name) || !k->taints[item->name];
    if (item->kind == SPLIT_TYPE)
        return !item->is_tainted || is_named || has_device_members(k->s, item);
    if (item->is_global || item->is_device || item->is_variable_space || item->is_shared)
        return true;
    if (item->parent != SIZE_MAX) /* members: data keeps the type's size */
        return !item->is_tainted || (item->kind == SPLIT_DECLARATION && item->params_first == 0);
    if (item->is_constexpr || item->is_const || item->is_typedef || is_forward_type(k->s, item))
        return !item->is_tainted || (is_named && item->kind == SPLIT_DECLARATION);
    return is_named && !item->is_tainted;
}

static bool stays_on_host(const struct keeper *k, const struct split_item *item)
{
    bool is_named = item->name != 0 && k->host_refs[item->name];
    bool is_function = item->kind == SPLIT_FUNCTION || item->params_first != 0;
    if (item->is_global || item->kind == SPLIT_USE)
        return true;
    if (item->is_shared)
        return false;
    if (is_function && item->is_device && !item->is_host)
        return item->is_constexpr && !item->is_device_tainted;
    if (is_function && item->is_device && item->kind == SPLIT_FUNCTION && item->is_device_tainted) {
        /* What is said twice, for host and device, is the host compiler's business. */
        const struct split_directive *d = k->s->directives.v;
        const struct split_tokens *t = stream(k->s, item);
        for (size_t i = 0; i < k->s->directives.n && !item->is_in_macro; i++)
            if (d[i].start > t->v[item->first].start && d[i].end < t->v[item->last].end)
                return true;
        return false;
    }
    if (item->kind == SPLIT_TYPE || item->is_typedef)
        return !item->is_device_tainted || is_named;
    return true;
}

/* Template arguments of launches are the device's business: what they name stays. */
static void refer_launches(struct keeper *k, const struct split_tokens *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (!split_punct(&t->v[i], SPLIT_OPEN3))
            continue;
        size_t at = i;
        while (at > 0 && !split_punct(&t->v[at - 1], ';') && !split_punct(&t->v[at - 1], '{') &&
               !split_punct(&t->v[at - 1], '}'))
            at--;
        for (; at < i; at++)
            if (t->v[at].kind == SPLIT_NAME)
                refer(k, k->device_refs, k->device_macros, t->v[at].id);
    }
}

static void keep_round(struct keeper *k)
{
    struct split_item *items = k->s->items.v;
    for (size_t i = 0; i < k->s->items.n; i++) {
        struct split_item *item = &items[i];
        if (!item->keeps_device && stays_on_device(k, item)) {
            item->keeps_device = k->has_changed = true;
            if (item->kind != SPLIT_TYPE)
                refer_all(k, item, item->last, false);
        }
        /* A type that is not needed brings no references along: its members do, once it stays. */
        bool is_parent_kept = item->parent == SIZE_MAX || items[item->parent].keeps_device;
        if (item->keeps_device && is_parent_kept && item->kind != SPLIT_TYPE)
            refer_all(k, item, item->last, false);
        if (!item->keeps_host && stays_on_host(k, item)) {
            item->keeps_host = k->has_changed = true;
            bool is_user =
                item->kind == SPLIT_FUNCTION || item->kind == SPLIT_USE || item->is_variable_space;
            size_t last = item->is_global ? item->body_first : item->last;
            if (item->kind == SPLIT_DECLARATION || is_user)
                refer_all(k, item, item->kind == SPLIT_FUNCTION ? last : item->last, true);
        }
    }
}

static void drop(const struct split_state *s, const struct split_item *item, char *text)
{
    const struct split_tokens *t = stream(s, item);
    split_blank(s, text, t->v[item->first].start, t->v[item->last].end);
}

/* Libraries whose host code makes device code, and lambdas for the device. */
static void look_for_nvcc(struct split_state *s, const struct split_item *item)
{
    static const char *const libraries[] = {"cub", "thrust", "cutlass"};
    static const char *const prefixes[] = {"cublas", "cudnn", "cufft", "cusparse", "cusolver"};
    const struct split_tokens *t = stream(s, item);
    for (size_t i = item->first; i < item->last && s->ret->needs_nvcc == NULL; i++) {
        if (t->v[i].kind != SPLIT_NAME)
            continue;
        const char *name = s->names[t->v[i].id];
        const char *why = NULL;
        for (size_t n = 0; n < HONE_COUNTOF(libraries); n++)
            if (strcmp(name, libraries[n]) == 0 && split_punct(&t->v[i + 1], SPLIT_SCOPE))
                why = hone_pool_printf(s->pool, "%s::%s in the launcher", name,
                                       t->v[i + 2].kind == SPLIT_NAME ? s->names[t->v[i + 2].id]
                                                                      : "...");
        for (size_t n = 0; n < HONE_COUNTOF(prefixes); n++)
            if (has_prefix(name, prefixes[n], true)) {
                why = hone_pool_printf(s->pool, "%s in the launcher", name);
                s->ret->needs_library = true;
            }
        if (strcmp(name, "__device__") == 0 && i > item->body_first)
            why = "a lambda for the device in the launcher";
        if (why != NULL) {
            s->ret->needs_nvcc = why;
            s->ret->needs_nvcc_line = t->v[i].line;
        }
    }
}

int split_keep(struct split_state *s)
{
    struct keeper k = {.s = s, .n_names = s->n_names + 1};
    bool **const maps[] = {&k.taints,      &k.device_taints, &k.host_refs,
                           &k.device_refs, &k.host_macros,   &k.device_macros};
    for (size_t i = 0; i < HONE_COUNTOF(maps); i++)
        *maps[i] = hone_pool_alloc(s->pool, k.n_names * sizeof **maps[i]);
    for (size_t id = 1; id < s->n_names; id++) {
        k.taints[id] = is_host_only_name(s->names[id]);
        k.device_taints[id] = is_device_only_name(s->names[id]);
    }
    k.has_changed = true;
    for (int round = 0; round < MAX_ROUNDS && k.has_changed; round++) {
        k.has_changed = false;
        taint_macros(&k);
        for (size_t i = 0; i < s->items.n; i++)
            taint_item(&k, i);
    }
    refer_launches(&k, &s->tokens);
    refer_launches(&k, &s->macros);
    k.has_changed = true;
    for (int round = 0; round < MAX_ROUNDS && k.has_changed; round++) {
        k.has_changed = false;
        keep_round(&k);
    }
    const struct split_item *items = s->items.v;
    for (size_t i = 0; i < s->items.n; i++) {
        if (!items[i].keeps_host)
            drop(s, &items[i], s->host);
        if (!items[i].keeps_device)
            drop(s, &items[i], s->device);
        if (is_host_function(&items[i]))
            look_for_nvcc(s, &items[i]);
    }
    return 0;
}
