/* SPDX-License-Identifier: Apache-2.0 */
/* G02 with G03: loads and stores of VEC neighbouring elements at once in loops that are dealt out
 * to threads.
 *
 *     for (T i = lower + lane; i < upper; i += LANES) Y[i] = f(X[i]);
 *
 * becomes a loop over whole vectors from the first aligned element on, and one over what is left in
 * front of it and behind. Whether all accesses are aligned alike is looked at when it runs: if not,
 * the second loop does everything. Accesses that a condition guards, and those in shared memory,
 * stay as they are. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/cuda/cuda_vector.h"

static bool is_plain_body(const struct hone_c_node *body)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP ||
            (n->kind == HONE_C_CALL && strncmp(n->name, "__sync", 6) == 0))
            return false;
    return true;
}

static bool add_use(struct hone_vector_loop *v, const struct hone_cuda_kernel *k,
                    const struct hone_c_access *a)
{
    size_t i = 0;
    while (i < v->n_streams && !(v->streams[i].a.root == a->root &&
                                 hone_cuda_same_poly(&v->streams[i].a.index, &a->index)))
        i++;
    if (i == HONE_VECTOR_MAX_STREAMS || v->n_uses == HONE_VECTOR_MAX_USES)
        return false;
    if (i == v->n_streams) {
        const char *type = hone_element_type(k->in, a->root);
        int bytes = type ? hone_cuda_type_bytes(type) : 0;
        if (bytes == 0)
            return false;
        v->bytes = bytes > v->bytes ? bytes : v->bytes;
        v->streams[v->n_streams++] = (struct hone_vector_stream){.a = *a, .type = type};
    }
    v->streams[i].is_read |= a->is_read;
    v->streams[i].is_written |= a->is_write;
    v->uses[v->n_uses].node = a->node;
    v->uses[v->n_uses++].stream = i;
    return true;
}

static bool is_plain_store(const struct hone_c_access *a)
{
    const struct hone_c_node *p = a->node->parent;
    return !a->is_write ||
           (p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0 && hone_c_is_stmt(p));
}

bool hone_vector_read(const struct hone_cuda_kernel *k, const struct hone_c_loop *l,
                      struct hone_vector_loop *v)
{
    struct hone_c_access a[HONE_VECTOR_MAX_USES];
    const struct hone_c_node *body = l->node->body;
    *v = (struct hone_vector_loop){.n_streams = 0};
    if (!hone_cuda_read_lane_loop(k, l, &v->lanes) || !is_plain_body(body))
        return false;
    size_t n = hone_c_accesses(k->function, body, a, HONE_VECTOR_MAX_USES);
    for (size_t i = 0; i < n && n <= HONE_VECTOR_MAX_USES; i++) {
        bool is_global = a[i].root && a[i].root->kind == HONE_C_PARAM;
        if (!is_global || a[i].node->kind != HONE_C_SUBSCRIPT ||
            hone_c_poly_stride(&a[i].index, l->var) != HONE_C_STRIDE_UNIT ||
            hone_cuda_is_conditional(body, a[i].node))
            continue;
        if (!is_plain_store(&a[i]) || !add_use(v, k, &a[i]))
            return false;
    }
    /* what is written in the loop may be touched at that one place alone */
    for (size_t i = 0; i < v->n_streams; i++)
        for (size_t j = 0; j < n && v->streams[i].is_written; j++)
            if (a[j].root == v->streams[i].a.root &&
                !hone_cuda_same_poly(&a[j].index, &v->streams[i].a.index))
                return false;
    return n <= HONE_VECTOR_MAX_USES && v->n_streams > 0;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct hone_vector_loop v;
        bool has_one = false;
        for (size_t j = 0; j < all[i]->nest.n && !has_one; j++)
            has_one = hone_vector_read(all[i], &all[i]->nest.loops[j], &v);
        if (has_one)
            ret[n++] = hone_cuda_site(all[i], 0, "neighbouring threads move neighbouring elements");
    }
    return n;
}

/* ---- text ---- */

const char *hone_vector_address(const struct hone_cuda_kernel *k, const struct hone_vector_loop *v,
                                const struct hone_vector_stream *s, const char *at)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, k->in->tree);
    hone_c_replace_refs(&e, s->a.node, v->lanes.loop->var, at);
    return hone_pool_printf(k->in->pool, "&%s",
                            hone_c_edit_text(&e, s->a.node->begin, s->a.node->end));
}

const char *hone_vector_inner(const struct hone_cuda_kernel *k, const struct hone_vector_loop *v,
                              const char *u)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, k->in->tree);
    for (size_t i = 0; i < v->n_uses; i++)
        hone_c_replace(
            &e, v->uses[i].node->begin, v->uses[i].node->end,
            hone_pool_printf(k->in->pool, "%s.v[%s]", v->streams[v->uses[i].stream].name, u));
    return hone_cuda_body(&e, v->lanes.loop->node->body);
}

bool hone_vector_needs_index(const struct hone_vector_loop *v)
{
    const struct hone_c_node *body = v->lanes.loop->node->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        bool is_inside = false;
        for (size_t i = 0; i < v->n_uses; i++)
            is_inside = is_inside || hone_c_contains(v->uses[i].node, n);
        if (n->kind == HONE_C_REF && n->decl == v->lanes.loop->var && !is_inside)
            return true;
    }
    return false;
}

void hone_vector_name(const struct hone_cuda_kernel *k, struct hone_vector_loop *v)
{
    for (size_t s = 0; s < v->n_streams; s++)
        v->streams[s].name =
            hone_fresh_name(k->in, hone_pool_printf(k->in->pool, s ? "%s_%s%zu" : "%s_%s",
                                                    v->streams[s].a.root->name, "vector", s));
}

static void put_moves(const struct hone_cuda_kernel *k, const struct hone_vector_loop *v,
                      bool is_store, const char *vec, const char *at, struct hone_buf *out)
{
    for (size_t i = 0; i < v->n_streams; i++) {
        const struct hone_vector_stream *s = &v->streams[i];
        const char *type = hone_pool_printf(k->in->pool, "vector_of<%s, %s>", s->type, vec);
        const char *where = hone_vector_address(k, v, s, at);
        if (is_store && s->is_written)
            hone_buf_printf(out, "*(%s *)%s = %s;\n", type, where, s->name);
        else if (!is_store && s->is_read)
            hone_buf_printf(out, "%s%s %s = *(const %s *)%s;\n", s->is_written ? "" : "const ",
                            type, s->name, type, where);
        else if (!is_store)
            hone_buf_printf(out, "%s %s;\n", type, s->name);
    }
}

static const char frame_text[] =
    "{\n"
    "const @type@ @i_lower@ = @lower@, @i_upper@ = @upper@;\n"
    "@type@ @i_head@ = @i_lower@ + (@type@)((@vec@ - (uintptr_t)@first@ / sizeof(@element@) % "
    "@vec@) "
    "% @vec@);\n"
    "const bool @is_aligned@ = @i_head@ < @i_upper@@tests@;\n"
    "@i_head@ = @is_aligned@ ? @i_head@ : @i_lower@;\n"
    "const @type@ @i_tail@ = @is_aligned@ ? @i_head@ + (@i_upper@ - @i_head@) / @vec@ * @vec@ : "
    "@i_lower@;\n"
    "@pragmas@for (@wide@ @i_at@ = @i_head@ + @lane@ * @vec@; @i_at@ < @i_tail@; @i_at@ += @step@ "
    "* "
    "@vec@) {\n"
    "@loads@"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @vec@; @u@++) {\n"
    "@index@"
    "@inner@\n"
    "}\n"
    "@stores@"
    "}\n"
    "const @type@ @i_front@ = @i_head@ - @i_lower@;\n"
    "for (@wide@ @i_rest@ = @lane@; @i_rest@ < @i_front@ + @i_upper@ - @i_tail@; @i_rest@ += "
    "@step@) "
    "{\n"
    "const @type@ @i@ = @i_rest@ < @i_front@ ? @i_lower@ + @i_rest@ : @i_tail@ + @i_rest@ - "
    "@i_front@;\n"
    "@body@\n"
    "}\n"
    "}\n";

static const char *loop_text(const struct hone_cuda_kernel *k, struct hone_vector_loop *v,
                             const char *vec)
{
    const struct hone_coder_input *in = k->in;
    const struct hone_c_loop *l = v->lanes.loop;
    const char *i = l->var->name, *type = hone_cuda_type(in, l->var);
    struct hone_c_edits none;
    hone_c_edits_init(&none, in->tree);
#define NAME(suffix) hone_pool_printf(in->pool, "%s" suffix, i)
    const char *at = NAME("_at"), *head = NAME("_head"), *u = hone_fresh_name(in, "u");
    const char *tests = "";
    hone_vector_name(k, v);
    for (size_t s = 1; s < v->n_streams; s++)
        tests = hone_pool_printf(in->pool, "%s && (uintptr_t)%s %% (sizeof(%s) * %s) == 0", tests,
                                 hone_vector_address(k, v, &v->streams[s], head),
                                 v->streams[s].type, vec);
    HONE_CLEANUP(hone_buf_done) struct hone_buf loads = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf stores = HONE_BUF_INIT;
    put_moves(k, v, false, vec, at, &loads);
    put_moves(k, v, true, vec, at, &stores);
    const struct hone_cuda_word words[] = {
        {"type", type},
        {"wide",
         strcmp(type, "int") == 0 ? "int64_t" : type}, /* a step beyond the end may not fit */
        {"i", i},
        {"i_lower", NAME("_lower")},
        {"i_upper", NAME("_upper")},
        {"i_head", head},
        {"i_tail", NAME("_tail")},
        {"i_front", NAME("_front")},
        {"i_rest", NAME("_rest")},
        {"i_at", at},
        {"u", u},
        {"lower", v->lanes.lower ? hone_c_text(in->tree, v->lanes.lower) : "0"},
        {"upper", hone_upper_text(in, l)},
        {"lane", v->lanes.lane},
        {"step", v->lanes.step},
        {"vec", vec},
        {"first", hone_vector_address(k, v, &v->streams[0], NAME("_lower"))},
        {"element", v->streams[0].type},
        {"tests", tests},
        {"pragmas",
         hone_pool_strndup(in->pool, in->tree->source + l->begin, l->node->begin - l->begin)},
        {"loads", hone_pool_strdup(in->pool, loads.data ? loads.data : "")},
        {"stores", hone_pool_strdup(in->pool, stores.data ? stores.data : "")},
        {"index", hone_vector_needs_index(v)
                      ? hone_pool_printf(in->pool, "const %s %s = %s + %s;\n",
                                         hone_cuda_type(in, l->var), i, at, u)
                      : ""},
        {"inner", hone_vector_inner(k, v, u)},
        {"body", hone_cuda_body(&none, l->node->body)},
        {NULL, NULL},
    };
#undef NAME
    return hone_cuda_fill(in, frame_text, words);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits body, edits;
    struct hone_vector_loop v;
    int bytes = 0;
    size_t n_done = 0;
    hone_c_edits_init(&body, in->tree);
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; k && i < k->nest.n; i++)
        if (hone_vector_read(k, &k->nest.loops[i], &v) && v.bytes > bytes)
            bytes = v.bytes;
    const char *vec;
    const char *pragma = hone_cuda_tunable(in, "VEC",
                                           bytes <= 1   ? "16, 8, 4"
                                           : bytes == 2 ? "8, 4, 2"
                                           : bytes == 4 ? "4, 2"
                                                        : "2, 1",
                                           &vec);
    for (size_t i = 0; k && bytes && i < k->nest.n; i++) {
        if (!hone_vector_read(k, &k->nest.loops[i], &v))
            continue;
        const struct hone_c_loop *l = v.lanes.loop;
        hone_c_replace(&body, l->begin, hone_c_stmt_end(in->tree, l->node), loop_text(k, &v, vec));
        n_done++;
    }
    if (n_done == 0) {
        hone_fail(err, HONE_E_ARG,
                  "the kernel has no loop whose threads move neighbouring elements");
        return NULL;
    }
    const struct hone_c_node *f = k->function;
    const char *text =
        hone_c_layout(in->pool, hone_c_edit_text(&body, f->body->begin, f->body->end));
    hone_cuda_put_helpers(&edits, hone_cuda_vector_helper(in));
    hone_c_replace(&edits, f->begin, f->begin, pragma);
    hone_c_replace(&edits, f->body->begin, f->body->end, hone_cuda_trim(in, text));
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_vector = {
    .name = "cuda_vector",
    .target = "cuda",
    .strategy = "G02",
    .words = "move several elements at once",
    .sites = sites,
    .apply = apply,
};
