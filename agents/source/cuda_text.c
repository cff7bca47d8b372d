/* SPDX-License-Identifier: Apache-2.0 */
/* Text for rewritten kernels and launches. See cuda_kernel.h. */
#include <ctype.h>
#include <string.h>

#include "agents/source/cuda_kernel.h"

static bool is_local(const struct hone_cuda_kernel *k, const struct hone_c_node *decl)
{
    return decl && decl->kind == HONE_C_VAR && hone_c_contains(k->function, decl);
}

static const char *launch_at(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                             const struct hone_c_node *expr, int depth)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, k->in->tree);
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        if (n->kind == HONE_C_CALL || n->kind == HONE_C_SUBSCRIPT || n->kind == HONE_C_MEMBER)
            return NULL;
        if (n->kind != HONE_C_REF || !n->decl)
            continue;
        size_t i = 0;
        while (i < k->n_params && k->params[i] != n->decl)
            i++;
        if (i < k->n_params) {
            const struct hone_c_node *arg = l->args[i];
            bool is_name = arg->kind == HONE_C_REF || arg->kind == HONE_C_CONST;
            hone_c_replace(&e, n->begin, n->end,
                           hone_pool_printf(k->in->pool, is_name ? "%s" : "(%s)",
                                            hone_c_text(k->in->tree, arg)));
        } else if (is_local(k, n->decl)) {
            bool is_once = n->decl->last && !strpbrk(n->decl->type, "*[&") && depth < 8 &&
                           !hone_c_writes(k->function, n->decl);
            const char *text = is_once ? launch_at(k, l, n->decl->last, depth + 1) : NULL;
            if (!text)
                return NULL;
            const char *type = n->decl->type + (strncmp(n->decl->type, "const ", 6) == 0 ? 6 : 0);
            hone_c_replace(&e, n->begin, n->end,
                           hone_pool_printf(k->in->pool, "(%s)(%s)", type, text));
        } else if (n->decl->parent != k->in->tree->root || n->decl->kind == HONE_C_FUNCTION) {
            return NULL;
        }
    }
    return hone_c_edit_text(&e, expr->begin, expr->end);
}

const char *hone_cuda_at_launch(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                                const struct hone_c_node *expr)
{
    return launch_at(k, l, expr, 0);
}

static const char *inline_at(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                             const struct hone_cuda_sub *subs, size_t n_subs, int depth)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, k->in->tree);
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        if (n->kind != HONE_C_REF)
            continue;
        size_t i = 0;
        while (i < n_subs && subs[i].decl != n->decl)
            i++;
        const char *text = i < n_subs ? subs[i].text : NULL;
        if (!text && is_local(k, n->decl)) {
            if (!n->decl->last || hone_c_writes(k->function, n->decl) || depth > 8 ||
                strchr(n->decl->type, '['))
                return NULL;
            text = inline_at(k, n->decl->last, subs, n_subs, depth + 1);
            if (!text)
                return NULL;
            text = hone_pool_printf(k->in->pool, "(%s)", text);
        }
        if (text)
            hone_c_replace(&e, n->begin, n->end, text);
    }
    return hone_c_edit_text(&e, expr->begin, expr->end);
}

const char *hone_cuda_inline(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                             const struct hone_cuda_sub *subs, size_t n_subs)
{
    return inline_at(k, expr, subs, n_subs, 0);
}

static bool depends_at(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                       const struct hone_c_node *var, int depth)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        if (n->kind != HONE_C_REF)
            continue;
        if (n->decl == var)
            return true;
        if (is_local(k, n->decl) && n->decl->last && depth < 8 &&
            depends_at(k, n->decl->last, var, depth + 1))
            return true;
    }
    return false;
}

bool hone_cuda_depends(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                       const struct hone_c_node *var)
{
    return depends_at(k, expr, var, 0);
}

static const char *fill(const struct hone_coder_input *in, const char *text,
                        const struct hone_cuda_word *words, bool is_partial)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "@");
        hone_buf_add(&out, at, plain);
        at += plain;
        if (!*at)
            break;
        size_t len = strcspn(++at, "@");
        const char *word = hone_pool_strndup(in->pool, at, len), *found = NULL;
        for (const struct hone_cuda_word *w = words; w->word && !found; w++)
            if (strcmp(w->word, word) == 0)
                found = w->text;
        if (!found)
            found =
                is_partial ? hone_pool_printf(in->pool, "@%s@", word) : hone_fresh_name(in, word);
        hone_buf_str(&out, found);
        at += len + (at[len] == '@');
    }
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

const char *hone_cuda_fill(const struct hone_coder_input *in, const char *text,
                           const struct hone_cuda_word *words)
{
    return fill(in, text, words, false);
}

const char *hone_cuda_fill_some(const struct hone_coder_input *in, const char *text,
                                const struct hone_cuda_word *words)
{
    return fill(in, text, words, true);
}

static bool is_word(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

const char *hone_cuda_blocks(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                             const struct hone_c_node *bound, const char *step)
{
    const char *text = bound ? hone_cuda_at_launch(k, l, bound) : NULL;
    if (!text)
        return NULL;
    const char *s = is_word(step) ? step : hone_pool_printf(k->in->pool, "(%s)", step);
    return hone_pool_printf(k->in->pool, "(unsigned)((%s + %s - 1) / %s)", text, step, s);
}

const char *hone_cuda_header(const struct hone_cuda_kernel *k, const char *bounds,
                             const char *extra)
{
    const char *source = k->in->tree->source;
    const struct hone_c_node *f = k->function;
    const char *params = "";
    if (k->n_params > 0)
        params = hone_pool_strndup(k->in->pool, source + k->params[0]->begin,
                                   k->params[k->n_params - 1]->end - k->params[0]->begin);
    bool is_static = strncmp(source + f->begin, "static", 6) == 0;
    return hone_pool_printf(k->in->pool, "%s__global__ void __launch_bounds__(%s) %s(%s%s%s)\n",
                            is_static ? "static " : "", bounds, f->name, params,
                            *extra && *params ? ", " : "", extra);
}

void hone_cuda_put_helpers(struct hone_c_edits *edits, const char *text)
{
    const char *source = edits->tree->source, *at = source;
    for (const char *line = source; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *word = line + strspn(line, " \t");
        if (*word == '#' && strncmp(word + 1 + strspn(word + 1, " \t"), "include", 7) == 0)
            at = line + strcspn(line, "\n") + 1;
    }
    uint32_t offset = (uint32_t)(at - source);
    if (*text && offset <= edits->tree->len)
        hone_c_replace(edits, offset, offset, hone_pool_printf(edits->tree->pool, "\n%s", text));
}

void hone_cuda_replace_kernel(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                              const char *prefix, const char *header, const char *body)
{
    struct hone_pool *pool = k->in->pool;
    const struct hone_c_node *f = k->function;
    const char *text =
        hone_cuda_trim(k->in, hone_c_layout(pool, hone_pool_printf(pool, "{\n%s}", body)));
    hone_c_replace(edits, f->begin, f->end,
                   hone_pool_printf(pool, "%s%s%s%s", prefix, *prefix ? "\n" : "", header, text));
}

void hone_cuda_set_launch(struct hone_c_edits *edits, const struct hone_cuda_launch *l,
                          const char *grid, const char *block, const char *shared)
{
    hone_c_replace(
        edits, l->begin, l->end,
        hone_pool_printf(edits->tree->pool, "%s, %s, %s, %s", grid, block, shared, l->stream));
}

static bool is_replaced(const struct hone_c_edits *edits, const struct hone_c_node *n)
{
    for (size_t i = 0; i < edits->n; i++)
        if (edits->v[i].begin <= n->begin && n->end <= edits->v[i].end &&
            edits->v[i].begin < edits->v[i].end)
            return true;
    return false;
}

static bool is_size_type(const char *type)
{
    static const char *const types[] = {"dim3", "int", "unsigned int", "long", "unsigned long"};
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* Used before and nowhere now: a variable that was unused all along is its author's business. */
static bool was_orphaned(const struct hone_c_edits *edits, const struct hone_c_node *launcher,
                         const struct hone_c_node *var)
{
    bool had_use = false;
    for (const struct hone_c_node *n = launcher; n; n = hone_c_walk(launcher, n)) {
        if (n->kind != HONE_C_REF || n->decl != var)
            continue;
        had_use = true;
        if (!is_replaced(edits, n))
            return false;
    }
    return had_use;
}

void hone_cuda_drop_unused(struct hone_c_edits *edits, const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_c_node *launcher = k->launches[i].launcher;
        for (const struct hone_c_node *s = launcher; s; s = hone_c_walk(launcher, s)) {
            if (s->kind != HONE_C_DECL_STMT || !s->first || is_replaced(edits, s))
                continue;
            bool is_orphan = true;
            for (const struct hone_c_node *v = s->first; v && is_orphan; v = v->next)
                is_orphan = v->kind == HONE_C_VAR && is_size_type(v->type) &&
                            was_orphaned(edits, launcher, v);
            uint32_t begin = s->begin, end = hone_c_stmt_end(t, s);
            while (begin > 0 && strchr(" \t", t->source[begin - 1]))
                begin--;
            if (is_orphan && t->source[end] == '\n')
                hone_c_replace(edits, begin, end + 1, "");
        }
    }
}

const char *hone_cuda_tunable(const struct hone_coder_input *in, const char *stem,
                              const char *values, const char **ret_name)
{
    *ret_name = hone_fresh_name(in, stem);
    return hone_pool_printf(in->pool, "#pragma hone tune(%s: %s)\n", *ret_name, values);
}

static const struct {
    const char *op, *name, *column, *cluster, *combine, *words;
} group_ops[] = {
    {"+", "group_sum", "column_sum", "cluster_sum", "value + other", "sum"},
    {"*", "group_product", "column_product", "cluster_product", "value * other", "product"},
    {"max", "group_max", "column_max", "cluster_max", "other > value ? other : value", "greatest"},
    {"min", "group_min", "column_min", "cluster_min", "other < value ? other : value", "least"},
};

static const char group_sync[] =
    "/* Waits for a group of LANES neighbouring threads. */\n"
    "template <int LANES> __device__ void group_sync()\n"
    "{\n"
    "    if constexpr (LANES > 32)\n"
    "        __syncthreads();\n"
    "    else if constexpr (LANES == 32)\n"
    "        __syncwarp();\n"
    "    else\n"
    "        __syncwarp(((1u << LANES % 32) - 1) << (threadIdx.x % 32 / LANES * LANES));\n"
    "}\n";

const char *hone_cuda_group_name(const char *op)
{
    for (size_t i = 0; i < HONE_COUNTOF(group_ops); i++)
        if (strcmp(group_ops[i].op, op) == 0)
            return group_ops[i].name;
    return "group_sync";
}

const char *hone_cuda_group_helper(const struct hone_coder_input *in, const char *op)
{
    const char *name = hone_cuda_group_name(op);
    if (strstr(in->tree->source, hone_pool_printf(in->pool, "%s(", name)))
        return "";
    size_t i = 0;
    while (i < HONE_COUNTOF(group_ops) && strcmp(group_ops[i].op, op) != 0)
        i++;
    if (i == HONE_COUNTOF(group_ops))
        return group_sync;
    return hone_pool_printf(
        in->pool,
        "/* Every thread of a group of LANES neighbours gets the %s of their values; above 32 the\n"
        " * group is the block. The order is fixed. */\n"
        "template <int LANES, typename T> __device__ T %s(T value)\n"
        "{\n"
        "    const unsigned mask =\n"
        "        LANES >= 32 ? 0xffffffffu\n"
        "                    : ((1u << LANES %% 32) - 1) << (threadIdx.x %% 32 / LANES * LANES);\n"
        "    for (int hop = (LANES < 32 ? LANES : 32) / 2; hop > 0; hop /= 2) {\n"
        "        const T other = __shfl_xor_sync(mask, value, hop);\n"
        "        value = %s;\n"
        "    }\n"
        "    if constexpr (LANES > 32) {\n"
        "        __shared__ T parts[LANES / 32];\n"
        "        __syncthreads();\n"
        "        if (threadIdx.x %% 32 == 0)\n"
        "            parts[threadIdx.x / 32] = value;\n"
        "        __syncthreads();\n"
        "        value = parts[threadIdx.x %% (LANES / 32)];\n"
        "        for (int hop = LANES / 64; hop > 0; hop /= 2) {\n"
        "            const T other = __shfl_xor_sync(mask, value, hop);\n"
        "            value = %s;\n"
        "        }\n"
        "    }\n"
        "    return value;\n"
        "}\n",
        group_ops[i].words, name, group_ops[i].combine, group_ops[i].combine);
}

const char *hone_cuda_column_name(const char *op)
{
    for (size_t i = 0; i < HONE_COUNTOF(group_ops); i++)
        if (strcmp(group_ops[i].op, op) == 0)
            return group_ops[i].column;
    return "";
}

const char *hone_cuda_column_helper(const struct hone_coder_input *in, const char *op)
{
    const char *name = hone_cuda_column_name(op);
    size_t i = 0;
    while (i < HONE_COUNTOF(group_ops) && strcmp(group_ops[i].op, op) != 0)
        i++;
    if (i == HONE_COUNTOF(group_ops) ||
        strstr(in->tree->source, hone_pool_printf(in->pool, "%s(", name)))
        return "";
    return hone_pool_printf(
        in->pool,
        "/* Every thread of a block of COLUMNS by LANES gets the %s of its column's values. The\n"
        " * order is fixed. */\n"
        "template <int COLUMNS, int LANES, typename T> __device__ T %s(T value)\n"
        "{\n"
        "    if constexpr (LANES > 1) {\n"
        "        __shared__ T parts[LANES][COLUMNS];\n"
        "        __syncthreads();\n"
        "        parts[threadIdx.y][threadIdx.x] = value;\n"
        "        __syncthreads();\n"
        "        value = parts[0][threadIdx.x];\n"
        "        for (int lane = 1; lane < LANES; lane++) {\n"
        "            const T other = parts[lane][threadIdx.x];\n"
        "            value = %s;\n"
        "        }\n"
        "    }\n"
        "    return value;\n"
        "}\n",
        group_ops[i].words, name, group_ops[i].combine);
}

/* PTX ISA, "mapa" and "barrier.cluster": the address of another block's shared memory, and a wait
 * for all blocks of the cluster that makes what they wrote visible. */
static const char cluster_wait[] =
    "/* Waits for the PARTS blocks of a cluster. */\n"
    "template <int PARTS> __device__ void cluster_sync()\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    if constexpr (PARTS > 1) {\n"
    "        asm volatile(\"barrier.cluster.arrive.release;\" ::: \"memory\");\n"
    "        asm volatile(\"barrier.cluster.wait.acquire;\" ::: \"memory\");\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    __syncthreads();\n"
    "}\n"
    "/* The same variable of another block of the cluster. */\n"
    "template <typename T> __device__ T *of_block(T *own, unsigned block)\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"mapa.u64 %0, %0, %1;\" : \"+l\"(own) : \"r\"(block));\n"
    "#endif\n"
    "    return own;\n"
    "}\n";

const char *hone_cuda_cluster_name(const char *op)
{
    for (size_t i = 0; i < HONE_COUNTOF(group_ops); i++)
        if (strcmp(group_ops[i].op, op) == 0)
            return group_ops[i].cluster;
    return "cluster_sync";
}

const char *hone_cuda_cluster_helper(const struct hone_coder_input *in, const char *op)
{
    size_t i = 0;
    while (i < HONE_COUNTOF(group_ops) && strcmp(group_ops[i].op, op) != 0)
        i++;
    const char *name = hone_cuda_cluster_name(op);
    if (strstr(in->tree->source, hone_pool_printf(in->pool, "%s(", name)))
        return "";
    if (i == HONE_COUNTOF(group_ops))
        return cluster_wait;
    return hone_pool_printf(
        in->pool,
        "/* Every thread of PARTS blocks of LANES threads gets the %s of their values. The order "
        "is\n"
        " * fixed. */\n"
        "template <int LANES, typename T> __device__ T %s(T value); /* of a block */\n"
        "template <int LANES, int PARTS, typename T> __device__ T %s(T value)\n"
        "{\n"
        "    value = %s<LANES>(value);\n"
        "    if constexpr (PARTS > 1) {\n"
        "        __shared__ T parts[PARTS];\n"
        "        cluster_sync<PARTS>();\n"
        "        if (threadIdx.x < PARTS)\n"
        "            *of_block(&parts[blockIdx.x %% PARTS], threadIdx.x) = value;\n"
        "        cluster_sync<PARTS>();\n"
        "        value = parts[0];\n"
        "        for (int part = 1; part < PARTS; part++) {\n"
        "            const T other = parts[part];\n"
        "            value = %s;\n"
        "        }\n"
        "    }\n"
        "    return value;\n"
        "}\n",
        group_ops[i].words, group_ops[i].name, name, group_ops[i].name, group_ops[i].combine);
}

const char *hone_cuda_vector_helper(const struct hone_coder_input *in)
{
    if (strstr(in->tree->source, "struct alignas(sizeof(T) * N) vector_of"))
        return "";
    return "/* Elements that are moved with one instruction. */\n"
           "template <typename T, int N> struct alignas(sizeof(T) * N) vector_of {\n"
           "    T v[N];\n"
           "};\n";
}

int hone_cuda_type_bytes(const char *type)
{
    static const struct {
        const char *type;
        int bytes;
    } types[] = {{"float", 4},       {"double", 8},        {"__half", 2}, {"__nv_bfloat16", 2},
                 {"int", 4},         {"unsigned int", 4},  {"long", 8},   {"unsigned long", 8},
                 {"signed char", 1}, {"unsigned char", 1}, {"char", 1},   {"short", 2}};
    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        if (strcmp(types[i].type, type) == 0)
            return types[i].bytes;
    return 0;
}

const char *hone_cuda_type(const struct hone_coder_input *in, const struct hone_c_node *var)
{
    const char *text = in->tree->source + var->begin;
    size_t len = var->name_at > var->begin ? var->name_at - var->begin : 0;
    if (len > 6 && strncmp(text, "const ", 6) == 0) {
        text += 6;
        len -= 6;
    }
    while (len > 0 && text[len - 1] == ' ')
        len--;
    const char *word = hone_pool_strndup(in->pool, text, len);
    if (*word && is_word(word))
        return word;
    return strncmp(var->type, "const ", 6) == 0 ? var->type + 6 : var->type;
}

const char *hone_cuda_body(const struct hone_c_edits *edits, const struct hone_c_node *body)
{
    const char *text = hone_body_text(edits, body);
    text += strspn(text, " \t\n");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\n", text[len - 1]))
        len--;
    return hone_pool_strndup(edits->tree->pool, text, len);
}

const char *hone_cuda_trim(const struct hone_coder_input *in, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        len--;
    return hone_pool_strndup(in->pool, text, len);
}

char *hone_cuda_finish(const struct hone_c_edits *edits)
{
    char *text = hone_c_edit_text(edits, 0, edits->tree->len);
    bool has_types =
        strstr(text, "stdint") || !(strstr(text, "int64_t") || strstr(text, "uintptr_t"));
    return has_types ? text : hone_pool_printf(edits->tree->pool, "#include <stdint.h>\n%s", text);
}

/* PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": 128-byte swizzle, descriptors. */
static const char warpgroup_text[] =
    "/* Where a byte of a tile with lines of 128 bytes lies. */\n"
    "__device__ inline int swizzled(int at)\n"
    "{\n"
    "    return at ^ (at / 128 % 8) * 16;\n"
    "}\n\n"
    "__device__ inline uint64_t tile_at(const unsigned char *at, int apart)\n"
    "{\n"
    "    const uint64_t shared = (uint64_t)__cvta_generic_to_shared(at) & 0x3ffff;\n"
    "    return shared / 16 | (uint64_t)(apart / 16) << 16 | (uint64_t)64 << 32 | (uint64_t)1 << "
    "62;\n"
    "}\n\n"
    "__device__ inline void warpgroup_begin()\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n\n"
    "__device__ inline void warpgroup_commit()\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n\n"
    "template <int N> __device__ inline void warpgroup_wait()\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(N) : \"memory\");\n"
    "#endif\n"
    "}\n\n"
    "/* What this thread wrote to shared memory is there for warpgroups' instructions. */\n"
    "__device__ inline void show_tiles()\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n\n";

const char *hone_cuda_warpgroup_helper(const struct hone_coder_input *in)
{
    return hone_has_word(hone_coder_source(in), "warpgroup_begin") ? "" : warpgroup_text;
}

const char *hone_cuda_registers(struct hone_pool *pool, int n)
{
    const char *out = "                 \"{";
    for (int i = 0; i < n; i++)
        out = hone_pool_printf(pool, "%s%%%d%s", out, i,
                               i + 1 == n     ? "}, \"\n"
                               : i % 16 == 15 ? ",\"\n                 \""
                                              : ",");
    return out;
}
