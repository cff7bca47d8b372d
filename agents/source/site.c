/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a version and making text for rewrites (site.h).
 *
 * Flow: hone_coder_read parses and finds the task's function; hone_site and hone_coder_locate name
 * places by a hash of their text, so that line numbers may change; the hone_..._text functions give
 * bounds, counts and types as C text. Names that a rewrite adds come from hone_fresh_name. */
#include "agents/source/site.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "agents/source/c_normal.h"
#include "agents/source/c_plain.h"
#include "agents/source/c_sizes.h"
#include "agents/source/cuda_normal.h"
#include "workspace/base/hash.h"
#include "workspace/task/target.h"
#include "workspace/task/task.h"

/* About ten microseconds of plain iterations; a guess for a count that is not known. */
enum { WORK_FOR_THREADS = 16384, UNKNOWN_COUNT = 32, MAX_NORMAL_STEPS = 16, MAX_PLAIN_STEPS = 32 };

struct text {
    const struct hone_task *task; /* NULL: of none that is known */
    const char *target, *source, *function;
    const uint32_t *lines; /* where those of the source come from (c_tree.h); NULL: as written */
};

static int read_text(struct hone_c_parser *parser, const struct text *text, struct hone_pool *pool,
                     struct hone_coder_input *ret, struct hone_err *err)
{
    const char *source = text->source;
    const char *prologue = NULL;
    struct hone_array none = {.n = 0};
    int r = hone_tune_prologue(source, &none, pool, &prologue, err);
    if (r < 0)
        return r;
    struct hone_c_tree *tree = NULL;
    const struct hone_target_traits *traits = hone_target_traits(text->target);
    bool is_cuda = traits->language == HONE_LANGUAGE_CUDA;
    r = hone_c_parse(parser, is_cuda ? HONE_C_CUDA : HONE_C_PLAIN, source, prologue, pool, &tree,
                     err);
    if (r < 0)
        return r;
    tree->lines = text->lines;
    struct hone_c_node *f = hone_c_function(tree, text->function);
    if (!f)
        return hone_fail(err, HONE_E_NOT_FOUND, "the source does not define a function '%s'",
                         text->function);
    tree->sizes = hone_c_sizes_of(tree, f, text->task);
    *ret = (struct hone_coder_input){
        .tree = tree, .task = text->task, .pool = pool, .target = traits->name};
    ret->orders = hone_pool_alloc(pool, sizeof *ret->orders);
    *ret->orders = NULL;
    hone_c_nest_of(tree, f, &ret->nest);
    return 0;
}

/* What a step made of a version. */
static int read_next(struct hone_c_parser *parser, const struct hone_coder_input *in,
                     const char *source, const uint32_t *lines, struct hone_coder_input *ret)
{
    struct text text = {in->task, in->target, source, in->nest.function->name, lines};
    return read_text(parser, &text, in->pool, ret, NULL);
}

/* A step that makes a text which is not valid ends it: the form before stands. */
static const struct hone_coder_input *normal_of(struct hone_c_parser *parser,
                                                const struct hone_coder_input *in)
{
    const struct hone_coder_input *now = in;
    bool is_cuda = in->tree->language == HONE_C_CUDA;
    for (int i = 0; i < MAX_NORMAL_STEPS; i++) {
        const char *text = is_cuda ? hone_cuda_normal_step(now) : hone_c_normal_step(now);
        struct hone_coder_input *next = text ? hone_pool_alloc(in->pool, sizeof(*next)) : NULL;
        if (!next || read_next(parser, in, text, NULL, next) < 0)
            break;
        now = next;
    }
    return now == in ? NULL : now;
}

/* The first step that has something to do and makes a valid text; NULL: none. */
static struct hone_coder_input *plain_step(struct hone_c_parser *parser,
                                           const struct hone_coder_input *in)
{
    struct hone_coder_input *next = hone_pool_alloc(in->pool, sizeof(*next));
    for (size_t i = 0; i < HONE_C_PLAIN_STEPS; i++) {
        struct hone_c_edits e;
        hone_c_edits_init(&e, in->tree);
        if (hone_c_plain_steps[i](in, &e) &&
            read_next(parser, in, hone_c_edit_text(&e, 0, in->tree->len), hone_c_edit_lines(&e),
                      next) == 0)
            return next;
    }
    return NULL;
}

/* Loops point at those around them, in the nest that they stand in: each copy reads its own. */
static void copy_input(struct hone_coder_input *to, const struct hone_coder_input *from)
{
    *to = *from;
    hone_c_nest_of(to->tree, from->nest.function, &to->nest);
}

static void make_plain(struct hone_c_parser *parser, struct hone_coder_input *in)
{
    struct hone_coder_input *written = hone_pool_alloc(in->pool, sizeof(*written)), *next;
    copy_input(written, in);
    for (int i = 0; i < MAX_PLAIN_STEPS && (next = plain_step(parser, in)); i++) {
        copy_input(in, next);
        in->written = written;
    }
}

static int read_forms(struct hone_c_parser *parser, const struct text *text, struct hone_pool *pool,
                      struct hone_coder_input *ret, struct hone_err *err)
{
    int r = read_text(parser, text, pool, ret, err);
    if (r == 0 && ret->tree->language == HONE_C_PLAIN)
        make_plain(parser, ret);
    if (r == 0)
        ret->normal = normal_of(parser, ret);
    return r;
}

int hone_coder_read(struct hone_c_parser *parser, const char *target, const char *source,
                    const char *function, struct hone_pool *pool, struct hone_coder_input *ret,
                    struct hone_err *err)
{
    struct text text = {.target = target, .source = source, .function = function};
    return read_forms(parser, &text, pool, ret, err);
}

int hone_coder_read_kernel(struct hone_c_parser *parser, const struct hone_task *task,
                           const char *target, const char *source, struct hone_pool *pool,
                           struct hone_coder_input *ret, struct hone_err *err)
{
    struct text text = {.task = task, .target = target, .source = source, .function = task->name};
    return read_forms(parser, &text, pool, ret, err);
}

const char *hone_coder_source(const struct hone_coder_input *in)
{
    return in->written ? in->written->tree->source : in->tree->source;
}

bool hone_rounds_as_written(const struct hone_coder_input *in)
{
    const char *text = hone_coder_source(in);
    return strstr(text, "fp-contract=off") || strstr(text, "FP_CONTRACT OFF");
}

bool hone_may_regroup(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    if (!hone_rounds_as_written(in))
        return true;
    hone_c_reductions(loop, r, &n);
    for (size_t i = 0; i < n; i++)
        if (r[i].op[0] != 'm' && hone_c_is_floating(r[i].var->type))
            return false;
    return true;
}

void hone_coder_locate(const struct hone_coder_input *in, struct hone_coder_site *s)
{
    char hex[HONE_HASH_TEXT_BYTES];
    hone_hash(in->tree->source + s->begin, s->end - s->begin, hex);
    memcpy(s->anchor, hex, HONE_ANCHOR_BYTES - 1);
    s->anchor[HONE_ANCHOR_BYTES - 1] = '\0';
    s->line = hone_c_line(in->tree, s->begin);
    s->last_line = hone_c_line(in->tree, s->end);
}

void hone_site_whole(struct hone_coder_site *site, const char *source, const char *hash)
{
    site->line = site->last_line = 1;
    for (const char *c = source; *c; c++)
        site->last_line += *c == '\n' && c[1];
    snprintf(site->anchor, sizeof(site->anchor), "%.16s", hash);
}

struct hone_coder_site hone_site(const struct hone_c_node *node, uint32_t begin, uint32_t end,
                                 const char *words)
{
    return (struct hone_coder_site){
        .node = node, .begin = begin, .end = end, .words = words, .evidence = ""};
}

const char *hone_loop_words(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    return hone_pool_printf(in->pool, "loop %s at line %u", loop->var ? loop->var->name : "?",
                            hone_c_line(in->tree, loop->node->begin));
}

bool hone_is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool hone_has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len)
        if ((at == text || !hone_is_word_char(at[-1])) && !hone_is_word_char(at[len]))
            return true;
    return false;
}

const char *hone_fresh_name(const struct hone_coder_input *in, const char *stem)
{
    const char *name = stem;
    for (int i = 2; hone_has_word(in->tree->source, name); i++)
        name = hone_pool_printf(in->pool, "%s_%d", stem, i);
    return name;
}

static uint32_t function_line(const struct hone_coder_input *in)
{
    uint32_t at = in->nest.function->begin;
    while (at > 0 && in->tree->source[at - 1] != '\n')
        at--;
    return at;
}

const char *hone_add_tunable(struct hone_c_edits *edits, const struct hone_coder_input *in,
                             const char *stem, const char *values)
{
    const char *name = hone_fresh_name(in, stem);
    uint32_t at = function_line(in);
    hone_c_replace(edits, at, at,
                   hone_pool_printf(in->pool, "#pragma hone tune(%s: %s)\n", name, values));
    return name;
}

/* The function that was edited is laid out again; the rest of the file stays as its author wrote
 * it. */
char *hone_finish_edits(const struct hone_c_edits *e)
{
    const struct hone_c_tree *t = e->tree;
    const struct hone_c_node *f = t->root->first;
    while (f && !(f->kind == HONE_C_FUNCTION && f->body && e->n > 0 &&
                  f->begin <= e->v[e->n - 1].begin && e->v[e->n - 1].begin < f->end))
        f = f->next;
    if (!f)
        return hone_c_edit_text(e, 0, t->len);
    /* cut at the body, so that edits in front of the function stay in front */
    uint32_t at = f->body->begin, end = f->body->end;
    return hone_pool_printf(t->pool, "%s%s%s", hone_c_edit_text(e, 0, at),
                            hone_c_layout(t->pool, hone_c_edit_text(e, at, end)),
                            t->source[end] == '\n' ? hone_c_edit_text(e, end + 1, t->len)
                                                   : hone_c_edit_text(e, end, t->len));
}

static const char *bracketed(const struct hone_coder_input *in, const struct hone_c_node *expr)
{
    bool is_plain =
        expr->kind == HONE_C_REF || expr->kind == HONE_C_CONST || expr->kind == HONE_C_PAREN;
    return hone_pool_printf(in->pool, is_plain ? "%s" : "(%s)", hone_c_text(in->tree, expr));
}

const char *hone_upper_text(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    const char *text = bracketed(in, loop->upper);
    return loop->is_inclusive ? hone_pool_printf(in->pool, "(%s + 1)", text) : text;
}

const char *hone_lower_text(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    return bracketed(in, loop->lower);
}

const char *hone_full_text(const struct hone_coder_input *in, const struct hone_c_loop *loop,
                           const char *step)
{
    const char *lower = hone_lower_text(in, loop), *upper = hone_upper_text(in, loop);
    if (strcmp(lower, "0") == 0)
        return hone_pool_printf(in->pool, "%s / %s * %s", upper, step, step);
    if (strstr(loop->var->type, "unsigned")) /* which a count below zero would wrap */
        return hone_pool_printf(in->pool, "%s + (%s > %s ? (%s - %s) / %s * %s : 0)", lower, upper,
                                lower, upper, lower, step, step);
    return hone_pool_printf(in->pool, "%s + (%s - %s) / %s * %s", lower, upper, lower, step, step);
}

const char *hone_count_text(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    const char *lower = hone_lower_text(in, loop), *upper = hone_upper_text(in, loop);
    return strcmp(lower, "0") == 0 ? upper : hone_pool_printf(in->pool, "(%s - %s)", upper, lower);
}

const char *hone_chunk_text(const struct hone_coder_input *in, const struct hone_c_loop *loop,
                            const char *chunk, const char *chunks, const char *body)
{
    const char *t = hone_type_text(in, loop->var), *v = loop->var->name,
               *n = hone_count_text(in, loop), *lower = hone_lower_text(in, loop);
    const char *plus = strcmp(lower, "0") == 0 ? "" : hone_pool_printf(in->pool, "%s + ", lower);
    const char *from = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_from", v)),
               *to = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_to", v));
    return hone_pool_printf(in->pool,
                            "const %s %s = %s(%s)((long long)%s * %s / %s), "
                            "%s = %s(%s)((long long)%s * (%s + 1) / %s);\n"
                            "for (%s %s = %s; %s < %s; %s++) {\n%s\n}\n",
                            t, from, plus, t, n, chunk, chunks, to, plus, t, n, chunk, chunks, t, v,
                            from, v, to, v, body);
}

const char *hone_combine_text(const struct hone_coder_input *in, const struct hone_c_reduction *r,
                              const char *target, const char *value)
{
    if (r->op[0] == 'm')
        return hone_pool_printf(in->pool, "%s = %s %s %s ? %s : %s;", target, value,
                                r->op[1] == 'a' ? ">" : "<", target, value, target);
    return hone_pool_printf(in->pool, "%s = %s %s %s;", target, target, r->op, value);
}

/* May the bound be asked for where the loop is perhaps not come to? */
static bool is_harmless(const struct hone_c_node *bound)
{
    for (const struct hone_c_node *n = bound; n; n = hone_c_walk(bound, n))
        if (n->kind == HONE_C_SUBSCRIPT || n->kind == HONE_C_CALL || n->kind == HONE_C_MEMBER ||
            (n->kind == HONE_C_BINARY && strpbrk(n->op, "/%") && n->last->kind != HONE_C_CONST) ||
            (n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0))
            return false;
    return true;
}

/* Iterations of the nest. An inner loop whose count is not known in front of it stands for some
 * dozens. */
const char *hone_if_clause(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    const char *work = hone_pool_printf(in->pool, "(double)%s", hone_count_text(in, loop));
    const struct hone_c_loop *outer = loop;
    int least = WORK_FOR_THREADS;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->parent != outer || l->is_small)
            continue;
        outer = l;
        if (l->is_canonical && hone_c_is_invariant(l->upper, loop->node) &&
            hone_c_is_invariant(l->lower, loop->node) && is_harmless(l->upper) &&
            is_harmless(l->lower))
            work = hone_pool_printf(in->pool, "%s * %s", work, hone_count_text(in, l));
        else
            least /= UNKNOWN_COUNT;
    }
    return hone_pool_printf(in->pool, " if(%s > %d)", work, least);
}

const char *hone_type_text(const struct hone_coder_input *in, const struct hone_c_node *var)
{
    const char *text = in->tree->source + var->begin;
    size_t len = var->name_at > var->begin ? var->name_at - var->begin : 0;
    while (len > 0 && text[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < len; i++)
        if (!hone_is_word_char(text[i]) && text[i] != ' ')
            len = 0;
    if (len == 0 || strncmp(text, "const ", 6) == 0 || strncmp(text, "register ", 9) == 0)
        return var->type;
    return hone_pool_strndup(in->pool, text, len);
}

const char *hone_element_type(const struct hone_coder_input *in, const struct hone_c_node *pointer)
{
    const char *type = pointer->type;
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    const char *star = strchr(type, '*');
    if (!star || star == type || strchr(star + 1, '*'))
        return NULL;
    size_t len = (size_t)(star - type);
    while (len > 0 && type[len - 1] == ' ')
        len--;
    return hone_pool_strndup(in->pool, type, len);
}

char *hone_body_text(const struct hone_c_edits *edits, const struct hone_c_node *body)
{
    if (body->kind == HONE_C_COMPOUND)
        return hone_c_edit_text(edits, body->begin + 1, body->end - 1);
    return hone_c_edit_text(edits, body->begin, hone_c_stmt_end(edits->tree, body));
}

size_t hone_parallel_loops(const struct hone_coder_input *in, const struct hone_c_loop **ret,
                           size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        const char *why = NULL;
        bool is_inside = false;
        for (size_t k = 0; k < n; k++)
            is_inside = is_inside || hone_c_contains(ret[k]->node, l->node);
        if (!is_inside && !(l->is_small && l->depth > 0) && l->begin == l->node->begin &&
            hone_c_is_parallel(&in->nest, l, &why))
            ret[n++] = l;
    }
    return n;
}

bool hone_is_threaded(const struct hone_coder_input *in)
{
    for (size_t i = 0; i < in->nest.n; i++)
        if (in->nest.loops[i].has_parallel)
            return true;
    return strstr(in->tree->source, "omp parallel") != NULL;
}

bool hone_may_thread(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    if (!hone_is_threaded(in))
        return true;
    if (loop->has_parallel || loop->node->parent != in->nest.function->body)
        return false;
    const char *threads = strstr(in->tree->source + loop->begin, "omp parallel");
    return threads == NULL || threads >= in->tree->source + loop->node->end;
}

int hone_loop_levels(const struct hone_coder_input *in, const struct hone_c_node *top)
{
    int most = 0;
    for (size_t i = 0; i < in->nest.n; i++) {
        int n = 0;
        for (const struct hone_c_loop *l = &in->nest.loops[i]; l; l = l->parent)
            n += !l->is_small && !l->is_fallback;
        if (n > most && hone_c_contains(top, in->nest.loops[i].node))
            most = n;
    }
    return most;
}

bool hone_is_cold(const struct hone_coder_input *in, const struct hone_c_loop *loop)
{
    return hone_loop_levels(in, loop->node) < hone_loop_levels(in, in->nest.function);
}
