/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations: where each begins and ends, what it is and what it is called. Namespaces and
 * classes are walked into, function bodies are not. The replacement of a macro that holds a kernel
 * is walked like a file. */
#include <string.h>

#include "tools/runner/cuda/split/split_internal.h"

#define MAX_DEPTH  64
#define MAX_GROUPS 32

struct parser {
    struct split_state *s;
    const struct split_tokens *t;
    bool is_in_macro;
    size_t parent;
};

/* What stands in front of a body or semicolon. */
struct head {
    size_t groups[MAX_GROUPS]; /* parentheses at depth 0 */
    size_t closes[MAX_GROUPS];
    size_t n_groups;
    size_t first; /* behind template <...> */
    bool is_template;
    bool has_equals, has_operator;
};

static const struct split_token *tok(const struct parser *p, size_t i)
{
    return &p->t->v[i];
}

size_t split_close(const struct split_tokens *t, size_t open, size_t end)
{
    size_t depth = 0;
    for (size_t i = open; i <= end && i < t->n; i++) {
        if (t->v[i].kind != SPLIT_PUNCT)
            continue;
        int c = t->v[i].punct;
        if (c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t split_close_angle(const struct split_tokens *t, size_t open, size_t end)
{
    size_t depth = 0;
    for (size_t i = open; i <= end && i < t->n; i++) {
        if (t->v[i].kind != SPLIT_PUNCT)
            continue;
        int c = t->v[i].punct;
        if (c == '(' || c == '[' || c == '{') {
            i = split_close(t, i, end);
            if (i == SIZE_MAX)
                return SIZE_MAX;
        } else if (c == '<') {
            depth++;
        } else if (c == '>' || c == SPLIT_CLOSE3) {
            size_t n = c == '>' ? 1 : 3;
            if (n >= depth)
                return i;
            depth -= n;
        } else if (c == ';' || c == '}' || c == ')') {
            return SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

static int fail_at(const struct parser *p, size_t i, const char *what)
{
    return split_fail(p->s, tok(p, i)->line, "%s", what);
}

static int unbalanced(const struct parser *p, size_t i)
{
    return fail_at(p, i,
                   "the bracket here has no end. fix: brackets must match in the text as it is "
                   "written, also across #if and #else");
}

static struct split_item *add_item(const struct parser *p, enum split_item_kind kind, size_t first,
                                   size_t last)
{
    struct split_state *s = p->s;
    struct split_item *v =
        split_grow(s, s->items.v, s->items.n, &s->cap_items, sizeof(struct split_item));
    s->items.v = v;
    struct split_item *item = &v[s->items.n++];
    *item = (struct split_item){.kind = kind,
                                .is_in_macro = p->is_in_macro,
                                .first = first,
                                .last = last,
                                .parent = p->parent};
    return item;
}

/* ---- qualifiers ---- */

static const struct {
    const char *word;
    size_t offset;
} qualifiers[] = {
    {"__global__", offsetof(struct split_item, is_global)},
    {"__device__", offsetof(struct split_item, is_device)},
    {"__host__", offsetof(struct split_item, is_host)},
    {"__constant__", offsetof(struct split_item, is_variable_space)},
    {"__managed__", offsetof(struct split_item, is_variable_space)},
    {"__shared__", offsetof(struct split_item, is_shared)},
    {"constexpr", offsetof(struct split_item, is_constexpr)},
    {"consteval", offsetof(struct split_item, is_constexpr)},
    {"const", offsetof(struct split_item, is_const)},
    {"static", offsetof(struct split_item, is_static)},
    {"typedef", offsetof(struct split_item, is_typedef)},
    {"using", offsetof(struct split_item, is_typedef)},
    {"static_assert", offsetof(struct split_item, is_typedef)},
    {"friend", offsetof(struct split_item, is_typedef)},
};

#define MACRO_DEPTH 8
#define IS_KNOWN    (1u << HONE_COUNTOF(qualifiers))

/* Which of them a name stands for, by bits: itself, or what is in its macro. Kept by macro, because
 * ten macros of ten names each make ten thousand million. */
static unsigned qualities(const struct split_state *s, uint32_t id, int depth)
{
    unsigned bits = 0;
    for (size_t i = 0; i < HONE_COUNTOF(qualifiers); i++)
        if (strcmp(s->names[id], qualifiers[i].word) == 0)
            bits |= 1u << i;
    const struct split_directive *macro = split_macro(s, id);
    if (macro == NULL || depth >= MACRO_DEPTH)
        return bits;
    if (s->qualities[id] != 0)
        return s->qualities[id];
    s->qualities[id] = IS_KNOWN | bits; /* to itself */
    for (size_t i = 0; i < macro->n_body; i++) {
        const struct split_token *t = &s->macros.v[macro->body + i];
        if (split_punct(t, '{'))
            break;
        if (t->kind == SPLIT_NAME)
            bits |= qualities(s, t->id, depth + 1);
    }
    s->qualities[id] = IS_KNOWN | bits;
    return s->qualities[id];
}

static void qualify_name(const struct split_state *s, uint32_t id, struct split_item *item)
{
    unsigned bits = qualities(s, id, 0);
    for (size_t i = 0; i < HONE_COUNTOF(qualifiers); i++)
        if ((bits >> i & 1) != 0)
            *(bool *)((char *)item + qualifiers[i].offset) = true;
}

/* Words outside of parentheses, from first up to end. */
static void qualify(const struct parser *p, size_t first, size_t end, struct split_item *item)
{
    for (size_t i = first; i < end; i++) {
        const struct split_token *t = tok(p, i);
        if (split_punct(t, '(') || split_punct(t, '[') || split_punct(t, '{')) {
            size_t close = split_close(p->t, i, end);
            i = close == SIZE_MAX ? end : close;
        } else if (split_punct(t, '=')) {
            return;
        } else if (t->kind == SPLIT_NAME) {
            qualify_name(p->s, t->id, item);
        }
    }
}

/* ---- one declaration ---- */

static bool is_attribute(const struct parser *p, const struct split_token *t)
{
    static const char *const words[] = {
        "__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__attribute__",
        "__attribute",       "__align__",        "alignas",        "decltype",    "noexcept",
        "__declspec",        "explicit",         "throw",          "requires",    "__tile__"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (split_is(p->s, t, words[i]))
            return true;
    return false;
}

/* Is name(...) here a macro of this file that only adds words in front of what follows? */
static bool is_prefix_macro(const struct parser *p, size_t name, size_t close)
{
    const struct split_directive *macro = split_macro(p->s, tok(p, name)->id);
    return macro != NULL && macro->is_function && tok(p, close + 1)->kind == SPLIT_NAME;
}

/* Which parentheses are the parameters. SIZE_MAX: none. */
static size_t find_params(const struct parser *p, const struct head *head)
{
    for (size_t i = 0; i < head->n_groups; i++) {
        if (head->groups[i] == head->first)
            continue;
        const struct split_token *before = tok(p, head->groups[i] - 1);
        if (before->kind == SPLIT_NAME && !head->has_operator &&
            (is_attribute(p, before) || is_prefix_macro(p, head->groups[i] - 1, head->closes[i])))
            continue;
        /* NAME(x)(params), operator()(params) */
        if (i + 1 < head->n_groups && head->groups[i + 1] == head->closes[i] + 1)
            continue;
        return i;
    }
    return SIZE_MAX;
}

static bool has_macro_word(const struct split_state *s, const struct split_directive *macro,
                           int punct)
{
    for (size_t i = 0; i < macro->n_body; i++)
        if (split_punct(&s->macros.v[macro->body + i], punct))
            return true;
    return false;
}

static uint32_t name_before(const struct parser *p, size_t group, size_t first, size_t *ret_token)
{
    size_t i = group;
    if (i > first && split_punct(tok(p, i - 1), '>')) { /* k<3>(...) */
        size_t depth = 0;
        while (i > first) {
            i--;
            depth += split_punct(tok(p, i), '>');
            if (split_punct(tok(p, i), '<') && --depth == 0)
                break;
        }
    } else if (i > first && split_punct(tok(p, i - 1), ')')) { /* NAME(x)(...) */
        while (i > first && !split_punct(tok(p, i), '('))
            i--;
    }
    while (i > first && tok(p, i - 1)->kind != SPLIT_NAME)
        i--;
    if (i == first)
        return 0;
    *ret_token = i - 1;
    return tok(p, i - 1)->id;
}

/* The variable or alias of a declaration that ends at `end`. */
static uint32_t declared_name(const struct parser *p, const struct head *head, size_t end,
                              size_t *ret_token)
{
    size_t stop = end, group = find_params(p, head);
    if (head->first + 1 < end && split_is(p->s, tok(p, head->first + 1), "namespace"))
        return 0; /* using namespace x */
    if (split_is(p->s, tok(p, head->first), "using") && head->first + 2 < end) {
        *ret_token = head->first + 1;
        return tok(p, head->first + 1)->kind == SPLIT_NAME ? tok(p, head->first + 1)->id : 0;
    }
    for (size_t i = head->first; i < end; i++) {
        const struct split_token *t = tok(p, i);
        if (split_punct(t, '=') || split_punct(t, '[') || split_punct(t, '{') ||
            (split_punct(t, ',') && i > head->first) || split_punct(t, ':')) {
            if (split_punct(t, '[') && i == head->first)
                continue;
            stop = i;
            break;
        }
        if (split_punct(t, '(') || split_punct(t, '<')) {
            bool is_params = group != SIZE_MAX && head->groups[group] == i;
            size_t close =
                split_punct(t, '(') ? split_close(p->t, i, end) : split_close_angle(p->t, i, end);
            if (is_params) {
                stop = i;
                break;
            }
            i = close == SIZE_MAX ? i : close;
        }
    }
    while (stop > head->first && tok(p, stop - 1)->kind != SPLIT_NAME)
        stop--;
    if (stop == head->first)
        return 0;
    *ret_token = stop - 1;
    return tok(p, stop - 1)->id;
}

/* template <...> in front, any number of times. */
static int skip_templates(const struct parser *p, size_t *at, size_t end, struct head *head)
{
    while (split_is(p->s, tok(p, *at), "template") && *at < end &&
           split_punct(tok(p, *at + 1), '<')) {
        size_t close = split_close_angle(p->t, *at + 1, end);
        if (close == SIZE_MAX)
            return fail_at(p, *at, "the template's parameters have no end");
        head->is_template = true;
        *at = close + 1;
    }
    head->first = *at;
    return 0;
}

static void add_group(struct head *head, size_t open, size_t close)
{
    if (head->n_groups < MAX_GROUPS) {
        head->groups[head->n_groups] = open;
        head->closes[head->n_groups++] = close;
    }
}

/* Behind `:` of a constructor: name(...) or name{...}, commas between, up to the body. */
static size_t skip_initialisers(const struct parser *p, size_t at, size_t end)
{
    while (at < end) {
        while (at < end && !split_punct(tok(p, at), '(') && !split_punct(tok(p, at), '{')) {
            if (split_punct(tok(p, at), '<')) {
                size_t close = split_close_angle(p->t, at, end);
                if (close == SIZE_MAX)
                    return SIZE_MAX;
                at = close;
            }
            at++;
        }
        at = at < end ? split_close(p->t, at, end) : SIZE_MAX;
        if (at == SIZE_MAX)
            return SIZE_MAX;
        at++;
        at += at < end && split_punct(tok(p, at), SPLIT_DOTS);
        if (at >= end || !split_punct(tok(p, at), ','))
            return at;
        at++;
    }
    return SIZE_MAX;
}

static int add_function(const struct parser *p, const struct head *head, size_t first, size_t body,
                        size_t end, size_t *ret_next)
{
    size_t close = split_close(p->t, body, end), group = find_params(p, head);
    if (close == SIZE_MAX)
        return unbalanced(p, body);
    struct split_item *item = add_item(p, SPLIT_FUNCTION, first, close);
    item->is_template = head->is_template;
    item->body_first = body;
    item->body_last = close;
    qualify(p, head->first, body, item);
    if (group != SIZE_MAX) {
        item->params_first = head->groups[group];
        item->params_last = head->closes[group];
        item->name = name_before(p, item->params_first, head->first, &item->name_token);
        const struct split_directive *macro = split_macro(p->s, item->name);
        /* KERNEL(scale) { ... }: the macro brings the parameters along */
        if (macro != NULL && macro->is_function && item->params_last + 1 == body &&
            has_macro_word(p->s, macro, '('))
            item->params_last = item->params_first;
    }
    if (item->is_global && item->name == 0)
        return fail_at(p, first, "this kernel's name and parameters were not found");
    *ret_next = close + 1;
    return 0;
}

static int add_declaration(const struct parser *p, const struct head *head, size_t first,
                           size_t last, size_t *ret_next)
{
    struct split_item *item = add_item(p, SPLIT_DECLARATION, first, last);
    item->is_template = head->is_template;
    qualify(p, head->first, last, item);
    item->name = declared_name(p, head, last, &item->name_token);
    size_t group = item->is_typedef ? SIZE_MAX : find_params(p, head);
    if (group != SIZE_MAX) {
        item->params_first = head->groups[group];
        item->params_last = head->closes[group];
    }
    *ret_next = last + 1;
    return 0;
}

static int walk(const struct parser *p, size_t at, size_t end);

/* class X { ... } y; from first; body is its brace. */
static int add_type(const struct parser *p, const struct head *head, size_t first, size_t body,
                    size_t end, bool is_enum, size_t *ret_next)
{
    struct split_state *s = p->s;
    size_t close = split_close(p->t, body, end), number = s->items.n;
    if (close == SIZE_MAX)
        return unbalanced(p, body);
    size_t last = close + 1;
    while (last < end && !split_punct(tok(p, last), ';')) {
        if (split_punct(tok(p, last), '{') || split_punct(tok(p, last), '(')) {
            last = split_close(p->t, last, end);
            if (last == SIZE_MAX)
                return unbalanced(p, close + 1);
        }
        last++;
    }
    struct split_item *item = add_item(p, SPLIT_TYPE, first, last < end ? last : end - 1);
    item->is_template = head->is_template;
    item->body_first = body;
    item->body_last = close;
    for (size_t i = head->first + 1; i < body; i++) {
        if (split_punct(tok(p, i), '(')) {
            size_t end_group = split_close(p->t, i, body);
            i = end_group == SIZE_MAX ? body : end_group;
        } else if (split_punct(tok(p, i), ':') || split_punct(tok(p, i), '<')) {
            break;
        } else if (tok(p, i)->kind == SPLIT_NAME && !is_attribute(p, tok(p, i)) &&
                   !split_is(s, tok(p, i), "class") && !split_is(s, tok(p, i), "struct") &&
                   !split_is(s, tok(p, i), "final")) {
            item->name = tok(p, i)->id;
            item->name_token = i;
        }
    }
    *ret_next = item->last + 1;
    if (is_enum)
        return 0;
    struct parser inner = *p;
    inner.parent = number;
    return walk(&inner, body + 1, close);
}

/* class-key up to `{`: SIZE_MAX when this is no definition of a type. */
static size_t type_body(const struct parser *p, size_t at, size_t end, bool *ret_enum)
{
    static const char *const keys[] = {"class", "struct", "union", "enum"};
    size_t key = SIZE_MAX;
    for (size_t i = at; i < end; i++) {
        const struct split_token *t = tok(p, i);
        for (size_t k = 0; k < HONE_COUNTOF(keys) && key == SIZE_MAX; k++)
            if (split_is(p->s, t, keys[k])) {
                key = i;
                *ret_enum = k == 3;
            }
        if (split_punct(t, '{'))
            return key == SIZE_MAX ? SIZE_MAX : i;
        if (split_punct(t, '(') || split_punct(t, '[')) {
            bool is_skipped = split_punct(t, '[') || (i > at && (is_attribute(p, tok(p, i - 1))));
            size_t close = split_close(p->t, i, end);
            if (!is_skipped || close == SIZE_MAX)
                return SIZE_MAX;
            i = close;
        } else if (split_punct(t, '<') && i > at) {
            size_t close = split_close_angle(p->t, i, end);
            if (close == SIZE_MAX)
                return SIZE_MAX;
            i = close;
        } else if (split_punct(t, ';') || split_punct(t, '=')) {
            return SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

/* name(...) of a macro of this file that is a whole declaration, or unknown words that end with a
 * semicolon. */
static bool is_alone(const struct parser *p, size_t at, size_t close)
{
    const struct split_directive *macro = split_macro(p->s, tok(p, at)->id);
    if (macro == NULL || !macro->is_function)
        return false;
    int64_t depth = 0;
    bool has_brace = false;
    for (size_t i = 0; i < macro->n_body; i++) {
        const struct split_token *t = &p->s->macros.v[macro->body + i];
        depth += split_punct(t, '{');
        depth -= split_punct(t, '}');
        has_brace |= split_punct(t, '{');
    }
    const struct split_token *last =
        &p->s->macros.v[macro->body + macro->n_body - (macro->n_body > 0)];
    bool is_ended = macro->n_body > 0 && (split_punct(last, ';') || split_punct(last, '}'));
    return (has_brace && depth == 0) || is_ended || macro->n_body == 0 ||
           split_punct(tok(p, close + 1), ';');
}

static int add_general(const struct parser *p, struct head *head, size_t first, size_t end,
                       size_t *ret_next)
{
    for (size_t i = head->first; i < end; i++) {
        const struct split_token *t = tok(p, i);
        if (split_is(p->s, t, "operator")) {
            head->has_operator = true;
            while (i + 1 < end && !split_punct(tok(p, i + 1), '('))
                i++;
        } else if (split_punct(t, '=')) {
            head->has_equals = true;
        } else if (split_punct(t, ';')) {
            return add_declaration(p, head, first, i, ret_next);
        } else if (split_punct(t, '{')) {
            if (!head->has_equals && head->n_groups > 0)
                return add_function(p, head, first, i, end, ret_next);
            i = split_close(p->t, i, end);
        } else if (split_punct(t, '(') || split_punct(t, '[')) {
            size_t close = split_close(p->t, i, end);
            if (close != SIZE_MAX && split_punct(t, '(') && !head->has_equals)
                add_group(head, i, close);
            if (close == SIZE_MAX)
                return unbalanced(p, i);
            i = close;
        } else if (split_punct(t, ':') && head->n_groups > 0 && !head->has_equals) {
            i = skip_initialisers(p, i + 1, end);
            if (i != SIZE_MAX)
                i--;
        } else if (split_punct(t, '}')) {
            return fail_at(p, i, "a closing bracket without its opening one");
        }
        if (i == SIZE_MAX)
            return unbalanced(p, head->first);
    }
    /* What a macro's replacement ends with may lack its semicolon: NAME(x); gives it. */
    if (p->is_in_macro)
        return add_declaration(p, head, first, end - 1, ret_next);
    return fail_at(p, first, "this declaration has no end");
}

static int walk_block(const struct parser *p, size_t open, size_t end, size_t *ret_next)
{
    size_t close = split_close(p->t, open, end);
    if (close == SIZE_MAX)
        return unbalanced(p, open);
    *ret_next = close + 1;
    return walk(p, open + 1, close);
}

/* namespace a::b { ... }; SIZE_MAX in *ret_open for an alias. */
static size_t namespace_open(const struct parser *p, size_t at, size_t end)
{
    for (size_t i = at; i < end; i++) {
        if (split_punct(tok(p, i), '{'))
            return i;
        if (split_punct(tok(p, i), ';') || split_punct(tok(p, i), '='))
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

static int walk_one(const struct parser *p, size_t at, size_t end, size_t *ret_next)
{
    const struct split_state *s = p->s;
    struct head head = {.first = at};
    bool is_enum = false;
    if (split_punct(tok(p, at), ';') || split_punct(tok(p, at), ':')) {
        *ret_next = at + 1;
        return 0;
    }
    bool is_access = split_is(s, tok(p, at), "public") || split_is(s, tok(p, at), "private") ||
                     split_is(s, tok(p, at), "protected");
    if (is_access && split_punct(tok(p, at + 1), ':')) {
        *ret_next = at + 2;
        return 0;
    }
    bool is_inline = split_is(s, tok(p, at), "inline") && split_is(s, tok(p, at + 1), "namespace");
    if (is_inline || split_is(s, tok(p, at), "namespace")) {
        size_t open = namespace_open(p, at, end);
        if (open != SIZE_MAX)
            return walk_block(p, open, end, ret_next);
    }
    if (split_is(s, tok(p, at), "extern") && tok(p, at + 1)->kind == SPLIT_STRING &&
        split_punct(tok(p, at + 2), '{'))
        return walk_block(p, at + 2, end, ret_next);
    if (tok(p, at)->kind == SPLIT_NAME && at + 1 < end && split_punct(tok(p, at + 1), '(')) {
        size_t close = split_close(p->t, at + 1, end);
        if (close == SIZE_MAX)
            return unbalanced(p, at + 1);
        if (is_alone(p, at, close)) {
            close += close + 1 < end && split_punct(tok(p, close + 1), ';');
            struct split_item *item = add_item(p, SPLIT_USE, at, close);
            item->name = tok(p, at)->id;
            item->name_token = at;
            *ret_next = close + 1;
            return 0;
        }
    }
    size_t start = at;
    int rc = skip_templates(p, &start, end, &head);
    if (rc < 0)
        return rc;
    bool is_alias = split_is(s, tok(p, start), "typedef") || split_is(s, tok(p, start), "using") ||
                    split_is(s, tok(p, start), "namespace");
    size_t body = is_alias ? SIZE_MAX : type_body(p, start, end, &is_enum);
    if (body != SIZE_MAX)
        return add_type(p, &head, at, body, end, is_enum, ret_next);
    head.has_equals = is_alias; /* braces inside are no body */
    return add_general(p, &head, at, end, ret_next);
}

static int walk(const struct parser *p, size_t at, size_t end)
{
    int rc = ++p->s->depth > MAX_DEPTH
                 ? fail_at(p, at, "too many namespaces or types in each other")
                 : 0;
    while (at < end && rc == 0) {
        size_t next = at + 1;
        rc = walk_one(p, at, end, &next);
        at = next;
    }
    p->s->depth--;
    return rc;
}

/* A macro is walked when it defines functions for the device. */
static bool holds_kernels(const struct split_state *s, const struct split_directive *macro)
{
    struct split_item found = {.kind = SPLIT_USE};
    bool has_brace = false;
    for (size_t i = 0; i < macro->n_body; i++) {
        const struct split_token *t = &s->macros.v[macro->body + i];
        has_brace |= split_punct(t, '{');
        if (t->kind == SPLIT_NAME)
            qualify_name(s, t->id, &found);
    }
    return has_brace && (found.is_global || found.is_device);
}

int split_parse(struct split_state *s)
{
    struct parser p = {.s = s, .t = &s->tokens, .parent = SIZE_MAX};
    size_t n_bytes = (s->n_macro_of + 1) * sizeof *s->qualities;
    s->qualities = memset(hone_pool_alloc(s->pool, n_bytes), 0, n_bytes);
    int rc = walk(&p, 0, s->tokens.n);
    p.t = &s->macros;
    p.is_in_macro = true;
    const struct split_directive *d = s->directives.v;
    for (size_t i = 0; i < s->directives.n && rc == 0; i++) {
        if (d[i].name == 0 || !holds_kernels(s, &d[i]))
            continue;
        /* A [=] __device__ lambda or a body with __device__ words is no list of declarations. */
        rc = walk(&p, d[i].body, d[i].body + d[i].n_body);
    }
    return rc;
}
