/* SPDX-License-Identifier: Apache-2.0 */
/* G26 with G05: a row that several loops of a block walk along is read from memory once.
 *
 *     for i (lane) s += f(X[m, i]);  ...  for i (lane) Y[m, i] = g(X[m, i], s);
 *
 * variant 0 keeps the first CACHE elements in shared memory, as many as the row has; variant 1
 * keeps ITEMS elements of each lane in registers, all of them on their way at once. Elements beyond
 * are read again as before, so any length will do.
 *
 * variant 2, for long rows: PARTS blocks are a cluster and share a row. Each keeps its part, at
 * most CACHE elements, in shared memory: whole aligned vectors from the row's first one on (the head),
 * dealt out to the threads of all blocks in turn, so that a thread reads none but its own. They are
 * copied asynchronously. What stands in front of the head, behind the last vector (the tail), and
 * in rows that are longer than what fits, is read by single elements. Reductions go on from a
 * block's result to the cluster's through distributed shared memory. Where clusters are not known,
 * the first block does it all: right, and slow. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/cuda/cuda_vector.h"

enum {
    IN_SHARED,
    IN_REGISTERS,
    IN_CLUSTER,
    MAX_LOOPS = 8,
    MAX_USES = 32,
    MAX_ACCESSES = 32,
    MAX_REACHED = 16,
    SHORT_BYTES = 1 << 15, /* of a row */
    LONG_BYTES = 1 << 18
};

struct cache {
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *root;
    const char *type;
    struct hone_c_poly base; /* index without the loop's variable */
    struct hone_cuda_lane_loop loops[MAX_LOOPS];
    size_t n_loops;
    struct {
        const struct hone_c_node *node;
        size_t loop;
    } uses[MAX_USES];
    size_t n_uses;
};

static struct hone_c_poly without(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    struct hone_c_poly out = *p;
    out.n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool has_var = false;
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            has_var = has_var || p->terms[i].factors[f].decl == var;
        if (!has_var)
            out.terms[out.n++] = p->terms[i];
    }
    return out;
}

static bool is_written(const struct hone_cuda_kernel *k, const struct hone_c_node *root)
{
    struct hone_c_access a[64];
    size_t n = hone_c_accesses(k->function, k->function->body, a, HONE_COUNTOF(a));
    for (size_t i = 0; i < n && i < HONE_COUNTOF(a); i++)
        if (a[i].is_write && (!a[i].root || a[i].root == root))
            return true;
    return n > HONE_COUNTOF(a);
}

/* Reads of root in the loop, all at one place per iteration. */
static bool add_loop(struct cache *c, const struct hone_c_loop *l)
{
    struct hone_cuda_lane_loop lanes;
    struct hone_c_access a[MAX_ACCESSES];
    const struct hone_c_node *body = l->node->body;
    if (c->n_loops == MAX_LOOPS || !hone_cuda_read_lane_loop(c->k, l, &lanes) ||
        l->node->parent != c->k->function->body || l->is_inclusive)
        return false;
    size_t n = hone_c_accesses(c->k->function, body, a, MAX_ACCESSES), before = c->n_uses;
    for (size_t i = 0; i < n && n <= MAX_ACCESSES; i++) {
        if (a[i].root != c->root || hone_c_poly_stride(&a[i].index, l->var) != HONE_C_STRIDE_UNIT)
            continue;
        struct hone_c_poly base = without(&a[i].index, l->var);
        if (c->n_uses == MAX_USES || (c->n_uses > 0 && !hone_cuda_same_poly(&base, &c->base)))
            return false;
        c->base = base;
        c->uses[c->n_uses].node = a[i].node;
        c->uses[c->n_uses++].loop = c->n_loops;
    }
    if (c->n_uses == before)
        return false;
    c->loops[c->n_loops++] = lanes;
    return true;
}

static const char *upper_of(const struct cache *c, size_t i)
{
    return hone_c_text(c->k->in->tree, c->loops[i].loop->upper);
}

/* "", "1": a small number; false: anything else */
static bool has_small_lower(const struct hone_cuda_lane_loop *l)
{
    return !l->lower || (l->lower->kind == HONE_C_CONST && strtol(l->lower->name, NULL, 10) < 32);
}

static bool read_cache(const struct hone_cuda_kernel *k, const struct hone_c_node *root,
                       struct cache *c)
{
    *c = (struct cache){.k = k, .root = root, .type = hone_element_type(k->in, root)};
    if (!c->type || hone_cuda_type_bytes(c->type) == 0 || is_written(k, root))
        return false;
    for (size_t i = 0; i < k->nest.n; i++)
        add_loop(c, &k->nest.loops[i]);
    if (c->n_loops < 2)
        return false;
    for (size_t i = 0; i < c->n_loops; i++)
        if (!has_small_lower(&c->loops[i]) || strcmp(upper_of(c, i), upper_of(c, 0)) != 0 ||
            strcmp(c->loops[i].lane, c->loops[0].lane) != 0 ||
            strcmp(c->loops[i].step, c->loops[0].step) != 0)
            return false;
    for (size_t i = 0; i < k->n_launches; i++) /* the lanes are the block */
        if (strcmp(k->launches[i].block, c->loops[0].step) != 0)
            return false;
    return !strstr(hone_c_text(k->in->tree, k->function), "extern __shared__");
}

/* The row that most loops read. */
static bool find_cache(const struct hone_cuda_kernel *k, struct cache *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        struct cache c;
        if (!strchr(k->params[i]->type, '*') || !read_cache(k, k->params[i], &c) ||
            c.n_loops <= most)
            continue;
        most = c.n_loops;
        *ret = c;
    }
    return most > 0;
}

static bool is_launchable(const struct cache *c)
{
    for (size_t i = 0; i < c->k->n_launches; i++)
        if (!hone_cuda_at_launch(c->k, &c->k->launches[i], c->loops[0].loop->upper) ||
            strcmp(c->k->launches[i].shared, "0") != 0)
            return false;
    return true;
}

/* ---- what a cluster can share ---- */

static int64_t small_number(const struct hone_c_node *lower)
{
    return lower ? strtol(lower->name, NULL, 10) : 0;
}

/* The loop as one whose threads move vectors of the row's elements and others. */
static bool read_held(const struct cache *c, size_t i, struct hone_vector_loop *ret,
                      size_t *ret_row)
{
    if (!hone_vector_read(c->k, c->loops[i].loop, ret))
        return false;
    for (size_t s = 0; s < ret->n_streams; s++)
        if (ret->streams[s].a.root == c->root) {
            *ret_row = s;
            return true;
        }
    return false;
}

static bool is_held(const struct cache *c, const struct hone_c_loop *l)
{
    for (size_t i = 0; i < c->n_loops; i++)
        if (c->loops[i].loop == l)
            return true;
    return false;
}

static bool is_place(const struct hone_c_node *n)
{
    return n->kind == HONE_C_MEMBER &&
           (strcmp(n->name, "threadIdx.x") == 0 || strcmp(n->name, "blockIdx.x") == 0);
}

static size_t n_words(const char *text, const char *word)
{
    size_t n = 0, len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len)
        n += (at == text || !hone_is_word_char(at[-1])) && !hone_is_word_char(at[len]);
    return n;
}

static const char *const row_ops[] = {"+", "*", "max", "min", "sync"};

/* "group_sum<LANES>" */
static const char *group_call(const struct cache *c, size_t op)
{
    return hone_pool_printf(c->k->in->pool, "%s<%s>", hone_cuda_group_name(row_ops[op]),
                            c->loops[0].step);
}

/* Does the text name what the threads of one block or warp do together? */
static bool is_joint(const char *text)
{
    static const char *const words[] = {"__sync", "_sync(", "__shared__", "__shfl"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

static bool is_group_name(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(row_ops); i++)
        if (strcmp(name, hone_cuda_group_name(row_ops[i])) == 0)
            return true;
    return false;
}

/* A block's own sum would not be the row's any more, here and in the functions that are called. */
static bool has_joint_work(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *reached[MAX_REACHED];
    size_t n = hone_c_reached(k->in->tree, k->function, reached, MAX_REACHED);
    for (size_t i = 0; i < n; i++) {
        bool is_own = reached[i] == k->function;
        if (!is_own && is_group_name(reached[i]->name))
            continue;
        if (is_joint(hone_c_text(k->in->tree, reached[i])) ||
            (!is_own && hone_cuda_n_places(reached[i]) > 0))
            return true;
    }
    return n == MAX_REACHED;
}

/* Are the number of threads and the places in the grid named nowhere but where a cluster's can be
 * put: in steps of dealt loops, in reductions, in declarations outside of those loops? */
static bool is_dealt_alone(const struct cache *c)
{
    const struct hone_cuda_kernel *k = c->k;
    const char *text = hone_c_text(k->in->tree, k->function->body), *lanes = c->loops[0].step;
    size_t n_known = 0, n_places = 0;
    if (has_joint_work(k))
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(row_ops); i++)
        for (const char *at = text; (at = strstr(at, group_call(c, i))); at++)
            n_known++;
    for (size_t i = 0; i < k->nest.n; i++) {
        const struct hone_c_loop *l = &k->nest.loops[i];
        struct hone_cuda_lane_loop dealt;
        if (!hone_cuda_read_lane_loop(k, l, &dealt))
            continue;
        if (strcmp(dealt.lane, c->loops[0].lane) != 0 || strcmp(dealt.step, lanes) != 0 ||
            hone_cuda_n_places(l->node) > 0)
            return false;
        n_known++;
    }
    for (const struct hone_c_node *n = k->function->body; n; n = hone_c_walk(k->function->body, n))
        n_places += is_place(n);
    return n_words(text, lanes) == n_known && hone_cuda_n_places(k->function->body) == n_places;
}

static bool is_for_clusters(const struct cache *c)
{
    struct hone_vector_loop v;
    size_t row;
    for (size_t i = 0; i < c->n_loops; i++)
        if (!read_held(c, i, &v, &row))
            return false;
    for (size_t i = 0; i < c->k->n_launches; i++)
        if (strncmp(c->k->launches[i].grid, "dim3", 4) == 0)
            return false;
    return 16 % hone_cuda_type_bytes(c->type) == 0 && is_dealt_alone(c);
}

/* Bytes of the longest row in the task's public sizes; 0: not known. */
static int64_t row_bytes(const struct cache *c)
{
    const struct hone_c_sizes *sizes = c->k->in->tree->sizes;
    const struct hone_cuda_launch *launch = c->k->n_launches ? &c->k->launches[0] : NULL;
    const char *n = launch ? hone_cuda_at_launch(c->k, launch, c->loops[0].loop->upper) : NULL;
    int64_t most = 0;
    for (size_t i = 0; sizes && n && i < sizes->n; i++)
        for (size_t s = 0; s < sizes->n_sizes && strcmp(sizes->v[i].name, n) == 0; s++)
            most = sizes->v[i].values[s] > most ? sizes->v[i].values[s] : most;
    return most * hone_cuda_type_bytes(c->type);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all; i++) {
        struct cache c;
        if (!find_cache(all[i], &c))
            continue;
        const char *why = hone_pool_printf(in->pool, "%zu loops read the same row of %s", c.n_loops,
                                           c.root->name);
        int64_t bytes = row_bytes(&c);
        bool is_short = bytes > 0 && bytes <= SHORT_BYTES, can_share = is_launchable(&c);
        bool can_part = can_share && is_for_clusters(&c);
        if (n < max && can_part && !is_short)
            ret[n++] = hone_cuda_site(all[i], IN_CLUSTER, why);
        if (n < max)
            ret[n++] = hone_cuda_site(all[i], IN_REGISTERS, why);
        if (n < max && can_part && is_short)
            ret[n++] = hone_cuda_site(all[i], IN_CLUSTER, why);
        if (n < max && can_share)
            ret[n++] = hone_cuda_site(all[i], IN_SHARED, why);
    }
    return n;
}

/* ---- text ---- */

/* The element for an index written another way. */
static const char *element(const struct cache *c, const char *index)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, c->k->in->tree);
    hone_c_replace_refs(&e, c->uses[0].node, c->loops[c->uses[0].loop].loop->var, index);
    return hone_c_edit_text(&e, c->uses[0].node->begin, c->uses[0].node->end);
}

static void put_shared(const struct cache *c, struct hone_c_edits *body, const char *cache)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *l = &c->loops[0];
    const char *row = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_row", c->root->name));
    const char *n = hone_fresh_name(in, hone_pool_printf(in->pool, "n_%s_row", c->root->name));
    const char *type = hone_cuda_type(in, l->loop->var), *i = l->loop->var->name;
    const char *upper = upper_of(c, 0);
    uint32_t at = l->loop->begin;
    hone_c_replace(body, at, at,
                   hone_pool_printf(in->pool,
                                    "extern __shared__ %s %s[];\n"
                                    "const %s %s = %s < %s ? %s : %s;\n"
                                    "for (%s %s = %s; %s < %s; %s += %s)\n%s[%s] = %s;\n"
                                    "__syncthreads();\n",
                                    c->type, row, type, n, upper, cache, upper, cache, type, i,
                                    l->lane, i, n, i, l->step, row, i, element(c, i)));
    for (size_t u = 0; u < c->n_uses; u++) {
        const struct hone_c_node *node = c->uses[u].node;
        const char *name = c->loops[c->uses[u].loop].loop->var->name;
        hone_c_replace(body, node->begin, node->end,
                       hone_pool_printf(in->pool, "(%s < %s ? %s[%s] : %s)", name, n, row, name,
                                        hone_c_text(in->tree, node)));
    }
}

static const char *held_loop(const struct cache *c, size_t index, const char *items,
                             const char *held, const char *u)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *l = &c->loops[index];
    const char *type = hone_cuda_type(in, l->loop->var), *i = l->loop->var->name;
    const char *lower = "", *upper = upper_of(c, index);
    struct hone_c_edits plain, fast;
    hone_c_edits_init(&plain, in->tree);
    hone_c_edits_init(&fast, in->tree);
    for (size_t k = 0; k < c->n_uses; k++)
        if (c->uses[k].loop == index)
            hone_c_replace(&fast, c->uses[k].node->begin, c->uses[k].node->end,
                           hone_pool_printf(in->pool, "%s[%s]", held, u));
    if (l->lower && strcmp(l->lower->name, "0") != 0)
        lower = hone_pool_printf(in->pool, "%s >= %s && ", i, l->lower->name);
    const char *pragmas = hone_pool_strndup(in->pool, in->tree->source + l->loop->begin,
                                            l->loop->node->begin - l->loop->begin);
    return hone_pool_printf(
        in->pool,
        "#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\nconst %s %s = %s + %s * %s;\nif "
        "(%s%s < %s) {\n%s\n}\n}\n%sfor (%s %s = %s * %s + %s; %s < %s; %s += %s) {\n%s\n}",
        u, u, items, u, type, i, l->lane, u, l->step, lower, i, upper,
        hone_cuda_body(&fast, l->loop->node->body), pragmas, type, i, items, l->step, l->lane, i,
        upper, i, l->step, hone_cuda_body(&plain, l->loop->node->body));
}

static void put_registers(const struct cache *c, struct hone_c_edits *body, const char *items)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *first = &c->loops[0];
    const char *held = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_held", c->root->name));
    const char *u = hone_fresh_name(in, "u"), *i = first->loop->var->name;
    const char *load = hone_pool_printf(
        in->pool,
        "%s %s[%s];\n#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\nconst %s %s = %s + %s * "
        "%s;\nif (%s < %s)\n%s[%s] = %s;\n}\n",
        c->type, held, items, u, u, items, u, hone_cuda_type(in, first->loop->var), i, first->lane,
        u, first->step, i, upper_of(c, 0), held, u, element(c, i));
    for (size_t k = 0; k < c->n_loops; k++) {
        const struct hone_c_loop *l = c->loops[k].loop;
        hone_c_replace(body, l->begin, hone_c_stmt_end(in->tree, l->node),
                       hone_pool_printf(in->pool, "%s%s", k == 0 ? load : "",
                                        held_loop(c, k, items, held, u)));
    }
}

/* ---- text of a cluster ---- */

struct cluster {                            /* names */
    const char *cache, *parts;              /* tunables */
    const char *blocks, *lanes;             /* blocks of a row, their threads */
    const char *depth, *held, *head, *tail; /* vectors of a thread; the vectors; first and end */
    int64_t n;                              /* elements of a vector */
};

/* With an element's place in the row: vectors of a thread of a row that is upper long. */
static const char *depth_text(const struct cache *c, const struct cluster *t, const char *upper)
{
    const char *turn = hone_pool_printf(c->k->in->pool, "(%s * %s * %" PRId64 ")", t->parts,
                                        c->loops[0].step, t->n);
    const char *all =
        hone_pool_printf(c->k->in->pool, "((int64_t)(%s) + %s - 1) / %s", upper, turn, turn);
    return hone_pool_printf(c->k->in->pool, "(%s < %s ? %s : %s)", all, t->depth, all, t->depth);
}

static const char cluster_prefix[] =
    "#pragma hone tune(@CACHE@: @caches@)\n"
    "#pragma hone tune(@PARTS@: @values@)\n"
    "constexpr int @depth@ = @CACHE@ / (@LANES@ * @n@); /* vectors that a thread keeps at most */\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "constexpr int @blocks@ = @PARTS@;\n"
    "#else\n"
    "constexpr int @blocks@ = 1; /* the others have nothing to do */\n"
    "#endif\n"
    "constexpr int @lanes@ = @blocks@ * @LANES@;\n";

static const char fill_text[] =
    "extern __shared__ vector_of<@T@, @n@> @held@[];\n"
    "const @type@ @head@ = @start@(@type@)((@n@ - (uintptr_t)@first@ / sizeof(@T@) % @n@) % @n@);\n"
    "const int64_t @whole@ = @head@ < @upper@ ? (@upper@ - @head@) / @n@ : 0;\n"
    "const int64_t @room@ = @most@ * @lanes@;\n"
    "const @type@ @tail@ = @head@ + (@type@)(@whole@ < @room@ ? @whole@ : @room@) * @n@;\n"
    "for (int64_t @at@ = @head@ + @lane@ * @n@, @own@ = threadIdx.x; @at@ < @tail@;\n"
    "@at@ += @lanes@ * @n@, @own@ += @LANES@)\n"
    "__pipeline_memcpy_async(&@held@[@own@], @address@, 16);\n"
    "__pipeline_commit();\n"
    "__pipeline_wait_prior(0);\n";

static const char held_text[] =
    "@pragmas@for (int64_t @at@ = @head@ + @lane@ * @n@, @own@ = threadIdx.x; @at@ < @tail@;\n"
    "@at@ += @lanes@ * @n@, @own@ += @LANES@) {\n"
    "@loads@"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @n@; @u@++) {\n"
    "@index@@inner@\n"
    "}\n"
    "@stores@"
    "}\n"
    "for (int64_t @rest@ = @lane@; @rest@ < @front@ + @upper@ - @tail@; @rest@ += @lanes@) {\n"
    "const @type@ @i@ = @rest@ < @front@ ? @start@@rest@ : @tail@ + @rest@ - @front@;\n"
    "@body@\n"
    "}\n";

static const char vector_moves[] =
    "/* N neighbouring elements, with few instructions where they are aligned. */\n"
    "template <int N, typename T> __device__ vector_of<T, N> load_vector(const T *from)\n"
    "{\n"
    "    if ((uintptr_t)from % sizeof(vector_of<T, N>) == 0)\n"
    "        return *(const vector_of<T, N> *)from;\n"
    "    vector_of<T, N> out;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < N; i++)\n"
    "        out.v[i] = from[i];\n"
    "    return out;\n"
    "}\n"
    "template <int N, typename T> __device__ void store_vector(T *to, const vector_of<T, N> "
    "&from)\n"
    "{\n"
    "    if ((uintptr_t)to % sizeof(from) == 0) {\n"
    "        *(vector_of<T, N> *)to = from;\n"
    "        return;\n"
    "    }\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < N; i++)\n"
    "        to[i] = from.v[i];\n"
    "}\n";

static const char *in_parentheses(const struct cache *c, const char *text)
{
    return strpbrk(text, " +-*/?") ? hone_pool_printf(c->k->in->pool, "(%s)", text) : text;
}

static const char *cluster_fill(const struct cache *c, const struct cluster *t, const char *first)
{
    const struct hone_coder_input *in = c->k->in;
    const char *upper = in_parentheses(c, upper_of(c, 0)), *at = hone_fresh_name(in, "at");
    const struct hone_cuda_word words[] = {
        {"T", c->type},
        {"n", hone_pool_printf(in->pool, "%" PRId64, t->n)},
        {"held", t->held},
        {"type", hone_cuda_type(in, c->loops[0].loop->var)},
        {"head", t->head},
        {"tail", t->tail},
        {"lower", first},
        {"start", strcmp(first, "0") == 0 ? "" : hone_pool_printf(in->pool, "%s + ", first)},
        {"upper", upper},
        {"first", hone_pool_printf(in->pool, "&%s", element(c, first))},
        {"most", depth_text(c, t, upper)},
        {"lanes", t->lanes},
        {"LANES", c->loops[0].step},
        {"lane", c->loops[0].lane},
        {"at", at},
        {"address", hone_pool_printf(in->pool, "&%s", element(c, at))},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, fill_text, words);
}

static void put_cluster_moves(const struct cache *c, const struct cluster *t,
                              const struct hone_vector_loop *v, size_t row, const char *at,
                              const char *own, struct hone_buf *loads, struct hone_buf *stores)
{
    for (size_t i = 0; i < v->n_streams; i++) {
        const struct hone_vector_stream *s = &v->streams[i];
        const char *address = hone_vector_address(c->k, v, s, at);
        hone_buf_printf(loads, "%svector_of<%s, %" PRId64 "> %s", s->is_written ? "" : "const ",
                        s->type, t->n, s->name);
        if (i == row)
            hone_buf_printf(loads, " = %s[%s]", t->held, own);
        else if (s->is_read)
            hone_buf_printf(loads, " = load_vector<%" PRId64 ">(%s)", t->n, address);
        hone_buf_str(loads, ";\n");
        if (s->is_written)
            hone_buf_printf(stores, "store_vector(%s, %s);\n", address, s->name);
    }
}

static const char *cluster_loop(const struct cache *c, const struct cluster *t, size_t i)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_c_loop *l = c->loops[i].loop;
    const char *at = hone_fresh_name(in, "at"), *own = hone_fresh_name(in, "own");
    const char *u = hone_fresh_name(in, "u"), *type = hone_cuda_type(in, l->var);
    struct hone_vector_loop v;
    size_t row = 0;
    int64_t number = small_number(c->loops[i].lower);
    struct hone_c_edits none;
    hone_c_edits_init(&none, in->tree);
    read_held(c, i, &v, &row);
    hone_vector_name(c->k, &v);
    HONE_CLEANUP(hone_buf_done) struct hone_buf loads = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf stores = HONE_BUF_INIT;
    put_cluster_moves(c, t, &v, row, at, own, &loads, &stores);
    const char *pragmas =
        hone_pool_strndup(in->pool, in->tree->source + l->begin, l->node->begin - l->begin);
    const struct hone_cuda_word words[] = {
        {"pragmas", *pragmas ? pragmas : "#pragma unroll 4\n"},
        {"at", at},
        {"own", own},
        {"u", u},
        {"i", l->var->name},
        {"type", type},
        {"n", hone_pool_printf(in->pool, "%" PRId64, t->n)},
        {"head", t->head},
        {"tail", t->tail},
        {"lanes", t->lanes},
        {"LANES", c->loops[i].step},
        {"lane", c->loops[i].lane},
        {"front",
         number ? hone_pool_printf(in->pool, "(%s - %" PRId64 ")", t->head, number) : t->head},
        {"start", number ? hone_pool_printf(in->pool, "%" PRId64 " + ", number) : ""},
        {"upper", in_parentheses(c, upper_of(c, i))},
        {"loads", hone_pool_strdup(in->pool, loads.data ? loads.data : "")},
        {"stores", hone_pool_strdup(in->pool, stores.data ? stores.data : "")},
        {"index",
         hone_vector_needs_index(&v)
             ? hone_pool_printf(in->pool, "const %s %s = %s + %s;\n", type, l->var->name, at, u)
             : ""},
        {"inner", hone_vector_inner(c->k, &v, u)},
        {"body", hone_cuda_body(&none, l->node->body)},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, held_text, words);
}

/* Reductions of a block become the cluster's; returns what they need. */
static const char *put_cluster_calls(const struct cache *c, const struct cluster *t,
                                     struct hone_c_edits *body)
{
    const struct hone_coder_input *in = c->k->in;
    const char *helpers = hone_cuda_cluster_helper(in, "sync");
    const char *source = in->tree->source;
    for (size_t op = 0; op < HONE_COUNTOF(row_ops); op++) {
        const char *call = group_call(c, op), *name = hone_cuda_cluster_name(row_ops[op]);
        bool is_sync = strcmp(row_ops[op], "sync") == 0, has_one = false;
        const char *now =
            is_sync ? hone_pool_printf(in->pool, "%s<%s>", name, t->blocks)
                    : hone_pool_printf(in->pool, "%s<%s, %s>", name, c->loops[0].step, t->blocks);
        uint32_t from = c->k->function->body->begin, end = c->k->function->body->end;
        for (const char *at = source + from;
             (at = strstr(at, call)) && (uint32_t)(at - source) < end; at += strlen(call)) {
            hone_c_replace(body, (uint32_t)(at - source),
                           (uint32_t)(at - source) + (uint32_t)strlen(call), now);
            has_one = true;
        }
        if (has_one && !is_sync)
            helpers = hone_pool_printf(in->pool, "%s%s", helpers,
                                       hone_cuda_cluster_helper(in, row_ops[op]));
    }
    return helpers;
}

/* A thread's place among those of all blocks of a row; a row is PARTS blocks. */
static void put_cluster_places(const struct cache *c, const struct cluster *t,
                               struct hone_c_edits *body)
{
    const struct hone_c_node *top = c->k->function->body;
    struct hone_pool *pool = c->k->in->pool;
    hone_c_replace(
        body, top->begin + 1, top->begin + 1,
        hone_pool_printf(pool, "\nif (blockIdx.x %% %s >= %s)\nreturn;", t->parts, t->blocks));
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (!is_place(n))
            continue;
        bool is_row = n->name[0] == 'b', is_all = n->parent->kind == HONE_C_VAR;
        const char *text = is_row ? hone_pool_printf(pool, "blockIdx.x / %s", t->parts)
                                  : hone_pool_printf(pool, "blockIdx.x %% %s * %s + threadIdx.x",
                                                     t->parts, c->loops[0].step);
        hone_c_replace(body, n->begin, n->end,
                       is_all ? text : hone_pool_printf(pool, "(%s)", text));
    }
}

static void put_cluster_loops(const struct cache *c, const struct cluster *t,
                              struct hone_c_edits *body)
{
    const struct hone_coder_input *in = c->k->in;
    const char *first = "0";
    for (size_t i = 0; i < c->n_loops; i++)
        if (small_number(c->loops[i].lower) > strtol(first, NULL, 10))
            first = c->loops[i].lower->name;
    for (size_t i = 0; i < c->n_loops; i++) {
        const struct hone_c_loop *l = c->loops[i].loop;
        hone_c_replace(body, l->begin, hone_c_stmt_end(in->tree, l->node),
                       hone_pool_printf(in->pool, "%s%s", i == 0 ? cluster_fill(c, t, first) : "",
                                        cluster_loop(c, t, i)));
    }
    for (size_t i = 0; i < c->k->nest.n; i++) {
        const struct hone_c_loop *l = &c->k->nest.loops[i];
        struct hone_cuda_lane_loop dealt;
        if (!is_held(c, l) && hone_cuda_read_lane_loop(c->k, l, &dealt))
            hone_c_replace(body, l->node->inc->begin, l->node->inc->end,
                           hone_pool_printf(in->pool, "%s += %s", l->var->name, t->lanes));
    }
}

/* The first launcher asks for so many bytes of shared memory. */
static void allow_shared(const struct cache *c, struct hone_c_edits *edits, const char *bytes)
{
    const struct hone_cuda_kernel *k = c->k;
    uint32_t at = k->n_launches > 0 ? k->launches[0].launcher->body->begin + 1 : 0;
    if (k->n_launches > 0)
        hone_c_replace(edits, at, at,
                       hone_pool_printf(k->in->pool,
                                        "\n    cudaFuncSetAttribute(%s, "
                                        "cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
                                        "                         %s);",
                                        k->function->name, bytes));
}

static void set_cluster_launches(const struct cache *c, const struct cluster *t,
                                 struct hone_c_edits *edits)
{
    struct hone_pool *pool = c->k->in->pool;
    const char *lanes = c->loops[0].step;
    for (size_t i = 0; i < c->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &c->k->launches[i];
        const char *upper = hone_cuda_at_launch(c->k, l, c->loops[0].loop->upper);
        hone_cuda_set_launch(
            edits, l, hone_pool_printf(pool, "(%s) * %s", l->grid, t->parts), l->block,
            hone_pool_printf(pool, "(size_t)%s * %s * 16", depth_text(c, t, upper), lanes));
    }
    allow_shared(c, edits, hone_pool_printf(pool, "%s * %s * 16", t->depth, lanes));
}

/* As few as hold the row with two blocks on a multiprocessor at least, where it is known. */
static const char *parts_for(int64_t bytes)
{
    return bytes > LONG_BYTES                      ? "8, 4, 2, 1"
           : bytes > 2 * SHORT_BYTES || bytes == 0 ? "2, 4, 8, 1"
                                                   : "1, 2, 4";
}

/* Returns what stands in front of the kernel. */
static const char *put_cluster(const struct cache *c, struct hone_c_edits *body,
                               struct hone_c_edits *edits)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_c_node *f = c->k->function;
    int bytes = hone_cuda_type_bytes(c->type);
#define OF_KERNEL(word) hone_fresh_name(in, hone_pool_printf(in->pool, "%s_" word, f->name))
    struct cluster t = {
        .cache = hone_fresh_name(in, "CACHE"),
        .parts = hone_fresh_name(in, "PARTS"),
        .blocks = OF_KERNEL("blocks"),
        .lanes = OF_KERNEL("lanes"),
        .depth = OF_KERNEL("depth"),
        .held = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_row", c->root->name)),
        .head = hone_fresh_name(in, "head"),
        .tail = hone_fresh_name(in, "tail"),
        .n = 16 / bytes,
    };
#undef OF_KERNEL
    const struct hone_cuda_word words[] = {
        {"CACHE", t.cache},
        {"caches", hone_pool_printf(in->pool, "%d, %d, %d, %d", 139264 / bytes, 221184 / bytes,
                                    90112 / bytes, 40960 / bytes)},
        {"PARTS", t.parts},
        {"values", parts_for(row_bytes(c))},
        {"LANES", c->loops[0].step},
        {"depth", t.depth},
        {"blocks", t.blocks},
        {"lanes", t.lanes},
        {"n", hone_pool_printf(in->pool, "%" PRId64, t.n)},
        {NULL, NULL},
    };
    const char *helpers = put_cluster_calls(c, &t, body);
    put_cluster_places(c, &t, body);
    put_cluster_loops(c, &t, body);
    set_cluster_launches(c, &t, edits);
    hone_c_replace(edits, f->name_at, f->name_at,
                   hone_pool_printf(in->pool,
                                    "\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n__cluster_dims__(%s, 1, "
                                    "1)\n#endif\n",
                                    t.parts));
    hone_cuda_put_helpers(edits,
                          hone_pool_printf(in->pool, "#include <cuda_pipeline.h>\n\n%s%s%s",
                                           hone_cuda_vector_helper(in), vector_moves, helpers));
    return hone_cuda_fill(in, cluster_prefix, words);
}

static void set_shared(const struct cache *c, struct hone_c_edits *edits, const char *cache)
{
    struct hone_pool *pool = c->k->in->pool;
    for (size_t i = 0; i < c->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &c->k->launches[i];
        const char *upper = hone_cuda_at_launch(c->k, l, c->loops[0].loop->upper);
        hone_cuda_set_launch(edits, l, l->grid, l->block,
                             hone_pool_printf(pool, "(size_t)(%s < %s ? %s : %s) * sizeof(%s)",
                                              upper, cache, upper, cache, c->type));
    }
    allow_shared(c, edits, hone_pool_printf(pool, "%s * sizeof(%s)", cache, c->type));
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits body, edits;
    struct cache c;
    const char *name, *pragma;
    if (!k || !find_cache(k, &c) || (site->variant != IN_REGISTERS && !is_launchable(&c)) ||
        (site->variant == IN_CLUSTER && !is_for_clusters(&c))) {
        hone_fail(err, HONE_E_ARG, "no row is read by several loops of a block");
        return NULL;
    }
    hone_c_edits_init(&body, in->tree);
    hone_c_edits_init(&edits, in->tree);
    if (site->variant == IN_CLUSTER) {
        pragma = put_cluster(&c, &body, &edits);
    } else if (site->variant == IN_SHARED) {
        int bytes = hone_cuda_type_bytes(c.type);
        pragma = hone_cuda_tunable(
            in, "CACHE",
            hone_pool_printf(in->pool, "%d, %d, %d", 139264 / bytes, 90112 / bytes, 40960 / bytes),
            &name);
        put_shared(&c, &body, name);
        set_shared(&c, &edits, name);
    } else {
        pragma = hone_cuda_tunable(in, "ITEMS", "16, 8, 4, 32", &name);
        put_registers(&c, &body, name);
    }
    const struct hone_c_node *f = k->function;
    const char *text =
        hone_c_layout(in->pool, hone_c_edit_text(&body, f->body->begin, f->body->end));
    hone_c_replace(&edits, f->begin, f->begin, pragma);
    hone_c_replace(&edits, f->body->begin, f->body->end, hone_cuda_trim(in, text));
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_row_cache = {
    .name = "cuda_row_cache",
    .target = "cuda",
    .strategy = "G11",
    .words = "keep the row that several loops read",
    .sites = sites,
    .apply = apply,
};
