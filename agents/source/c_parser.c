/* SPDX-License-Identifier: Apache-2.0 */
/* libclang behind dlopen.
 *
 * Only the few functions below are used; their C ABI (cursor 32 bytes, type 24, location 24, range
 * 24, all by value) has been stable since clang 3.0, so no header is needed at build time. The
 * cursor tree is copied into hone_c_node at once and the translation unit is dropped: nothing of
 * libclang survives hone_c_parse.
 *
 * libclang 14 does not tell a binary operator's spelling; it is the text between the two operands.
 * Implicit casts ("unexposed" nodes with one child) are left out. OpenMP is parsed without
 * -fopenmp, so that a pragma is plain text in front of a loop. */
#include "agents/source/c_parser.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/limits.h"

typedef struct {
    const void *data;
    unsigned flags;
} cx_string;
typedef struct {
    int kind;
    int xdata;
    const void *data[3];
} cx_cursor;
typedef struct {
    int kind;
    void *data[2];
} cx_type;
typedef struct {
    const void *ptr[2];
    unsigned data;
} cx_location;
typedef struct {
    const void *ptr[2];
    unsigned begin, end;
} cx_range;
struct cx_unsaved {
    const char *name, *contents;
    unsigned long length;
};
enum { CX_CONTINUE = 1 };
typedef int cx_visitor(cx_cursor cursor, cx_cursor parent, void *data);

struct hone_c_parser {
    void *lib, *index;
    void *(*create_index)(int, int);
    void (*dispose_index)(void *);
    int (*parse)(void *, const char *, const char *const *, int, struct cx_unsaved *, unsigned,
                 unsigned, void **);
    void (*dispose_unit)(void *);
    cx_cursor (*unit_cursor)(void *);
    unsigned (*visit)(cx_cursor, cx_visitor *, void *);
    cx_range (*extent)(cx_cursor);
    cx_location (*range_start)(cx_range);
    cx_location (*range_end)(cx_range);
    cx_location (*location)(cx_cursor);
    int (*is_main)(cx_location);
    void (*expansion)(cx_location, void **, unsigned *, unsigned *, unsigned *);
    cx_string (*spelling)(cx_cursor);
    cx_cursor (*referenced)(cx_cursor);
    cx_type (*type)(cx_cursor);
    cx_type (*canonical)(cx_type);
    cx_string (*type_spelling)(cx_type);
    const char *(*c_string)(cx_string);
    void (*dispose_string)(cx_string);
    unsigned (*n_diagnostics)(void *);
    void *(*diagnostic)(void *, unsigned);
    int (*severity)(void *);
    cx_location (*diagnostic_at)(void *);
    cx_string (*diagnostic_text)(void *);
    void (*dispose_diagnostic)(void *);
};

#define SYMBOL(member, name_)                                                                      \
    {                                                                                              \
        offsetof(struct hone_c_parser, member), name_                                              \
    }
static const struct {
    size_t offset;
    const char *name;
} symbols[] = {
    SYMBOL(create_index, "clang_createIndex"),
    SYMBOL(dispose_index, "clang_disposeIndex"),
    SYMBOL(parse, "clang_parseTranslationUnit2"),
    SYMBOL(dispose_unit, "clang_disposeTranslationUnit"),
    SYMBOL(unit_cursor, "clang_getTranslationUnitCursor"),
    SYMBOL(visit, "clang_visitChildren"),
    SYMBOL(extent, "clang_getCursorExtent"),
    SYMBOL(range_start, "clang_getRangeStart"),
    SYMBOL(range_end, "clang_getRangeEnd"),
    SYMBOL(location, "clang_getCursorLocation"),
    SYMBOL(is_main, "clang_Location_isFromMainFile"),
    SYMBOL(expansion, "clang_getExpansionLocation"),
    SYMBOL(spelling, "clang_getCursorSpelling"),
    SYMBOL(referenced, "clang_getCursorReferenced"),
    SYMBOL(type, "clang_getCursorType"),
    SYMBOL(canonical, "clang_getCanonicalType"),
    SYMBOL(type_spelling, "clang_getTypeSpelling"),
    SYMBOL(c_string, "clang_getCString"),
    SYMBOL(dispose_string, "clang_disposeString"),
    SYMBOL(n_diagnostics, "clang_getNumDiagnostics"),
    SYMBOL(diagnostic, "clang_getDiagnostic"),
    SYMBOL(severity, "clang_getDiagnosticSeverity"),
    SYMBOL(diagnostic_at, "clang_getDiagnosticLocation"),
    SYMBOL(diagnostic_text, "clang_getDiagnosticSpelling"),
    SYMBOL(dispose_diagnostic, "clang_disposeDiagnostic"),
};

static const char *const plain_names[] = {"libclang.so.1", "libclang.so"};
/* Where Debian keeps a version's own headers, without which it reads no standard header. */
#define CLANG_HEADERS "/usr/lib/llvm-%d/lib/clang"
enum { OLDEST_CLANG = 13, NEWEST_CLANG = 60 };

/* Cursor kinds of libclang's stable numbering. */
static const struct {
    int cx;
    enum hone_c_kind kind;
} kinds[] = {
    {8, HONE_C_FUNCTION},    {9, HONE_C_VAR},           {10, HONE_C_PARAM},
    {30, HONE_C_FUNCTION},   {102, HONE_C_MEMBER},      {130, HONE_C_CONST},
    {124, HONE_C_CAST},      {128, HONE_C_CAST},        {126, HONE_C_CAST},
    {101, HONE_C_REF},       {103, HONE_C_CALL},        {106, HONE_C_CONST},
    {107, HONE_C_CONST},     {110, HONE_C_CONST},       {111, HONE_C_PAREN},
    {112, HONE_C_UNARY},     {113, HONE_C_SUBSCRIPT},   {114, HONE_C_BINARY},
    {115, HONE_C_ASSIGN_OP}, {116, HONE_C_CONDITIONAL}, {117, HONE_C_CAST},
    {202, HONE_C_COMPOUND},  {205, HONE_C_IF},          {207, HONE_C_WHILE},
    {208, HONE_C_WHILE},     {209, HONE_C_FOR},         {210, HONE_C_JUMP},
    {212, HONE_C_JUMP},      {213, HONE_C_JUMP},        {214, HONE_C_JUMP},
    {231, HONE_C_DECL_STMT},
};
enum {
    CX_UNEXPOSED_DECL = 1,
    CX_LINKAGE = 23,
    CX_TEMPLATE = 30,
    CX_FIRST_REF = 40,
    CX_LAST_REF = 50,
    CX_UNEXPOSED = 100,
    CX_UNEXPOSED_STMT = 200,
    CX_FIRST_ATTR = 400,
    CX_LAST_ATTR = 499,
    MAX_DEPTH = 400
};

static const struct {
    int cx;
    enum hone_c_cuda_flag flag;
} attributes[] = {{413, HONE_C_IS_DEVICE}, {414, HONE_C_IS_GLOBAL}, {416, HONE_C_IS_SHARED}};

/* LLVM's own folder, then what the loader looks for. */
static void *open_version(int v)
{
    char names[5][64];
    (void)snprintf(names[0], sizeof(names[0]), "/usr/lib/llvm-%d/lib/libclang-%d.so.1", v, v);
    (void)snprintf(names[1], sizeof(names[1]), "/usr/lib/llvm-%d/lib/libclang-%d.so.%d", v, v, v);
    (void)snprintf(names[2], sizeof(names[2]), "libclang-%d.so.1", v);
    (void)snprintf(names[3], sizeof(names[3]), "libclang-%d.so.%d", v, v);
    (void)snprintf(names[4], sizeof(names[4]), "libclang.so.%d", v);
    void *lib = NULL;
    for (size_t i = 0; !lib && i < HONE_COUNTOF(names); i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return lib;
}

static bool has_headers(int version)
{
    char path[64];
    (void)snprintf(path, sizeof(path), CLANG_HEADERS, version);
    return access(path, F_OK) == 0;
}

/* The newest version that has its headers; else what the loader calls libclang; else the newest. */
static void *open_library(void)
{
    const char *named = getenv("HONE_LIBCLANG");
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    void *lib = NULL;
    for (int v = NEWEST_CLANG; !lib && v >= OLDEST_CLANG; v--)
        if (has_headers(v))
            lib = open_version(v);
    for (size_t i = 0; !lib && i < HONE_COUNTOF(plain_names); i++)
        lib = dlopen(plain_names[i], RTLD_NOW | RTLD_LOCAL);
    for (int v = NEWEST_CLANG; !lib && v >= OLDEST_CLANG; v--)
        lib = open_version(v);
    return lib;
}

int hone_c_parser_new(struct hone_c_parser **ret, struct hone_err *err)
{
    void *lib = open_library();
    if (!lib)
        return hone_fail(
            err, HONE_E_UNSUPPORTED,
            "libclang was not found, so the rule coder is off: install it (`make deps` "
            "does), or name the library in HONE_LIBCLANG");
    struct hone_c_parser *p = hone_calloc(1, sizeof(*p));
    p->lib = lib;
    for (size_t i = 0; i < HONE_COUNTOF(symbols); i++) {
        void *address = dlsym(lib, symbols[i].name);
        if (!address) {
            hone_c_parser_free(p);
            return hone_fail(err, HONE_E_UNSUPPORTED, "libclang lacks %s: use version 14 or later",
                             symbols[i].name);
        }
        memcpy((char *)p + symbols[i].offset, &address, sizeof(address));
    }
    p->index = p->create_index(0, 0);
    *ret = p;
    return 0;
}

void hone_c_parser_free(struct hone_c_parser *parser)
{
    if (!parser)
        return;
    if (parser->index)
        parser->dispose_index(parser->index);
    /* The library stays loaded: LLVM registers exit handlers that would outlive it. */
    free(parser);
}

void hone_c_parser_free_ptr(struct hone_c_parser **parser)
{
    hone_c_parser_free(*parser);
    *parser = NULL;
}

struct builder {
    const struct hone_c_parser *p;
    struct hone_c_tree *tree;
    struct hone_c_node *parent;
    int depth;
    bool is_too_deep;
};

static const char *pool_string(struct builder *b, cx_string s)
{
    const char *text = b->p->c_string(s);
    char *copy = hone_pool_strdup(b->tree->pool, text ? text : "");
    b->p->dispose_string(s);
    return copy;
}

static uint32_t offset_of(struct builder *b, cx_location at)
{
    unsigned offset = 0;
    b->p->expansion(at, NULL, NULL, NULL, &offset);
    return offset <= b->tree->len ? offset : b->tree->len;
}

static enum hone_c_kind kind_of(int cx)
{
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++)
        if (kinds[i].cx == cx)
            return kinds[i].kind;
    return HONE_C_OTHER;
}

static struct hone_c_node *add_node(struct builder *b, cx_cursor c)
{
    const struct hone_c_parser *p = b->p;
    struct hone_c_node *n = hone_pool_alloc(b->tree->pool, sizeof(*n));
    cx_range extent = p->extent(c);
    n->kind = kind_of(c.kind);
    n->begin = offset_of(b, p->range_start(extent));
    n->end = offset_of(b, p->range_end(extent));
    if (n->end < n->begin)
        n->end = n->begin;
    n->name_at = offset_of(b, p->location(c));
    n->op = "";
    n->name = pool_string(b, p->spelling(c));
    n->type = c.kind < 200 ? pool_string(b, p->type_spelling(p->canonical(p->type(c)))) : "";
    n->parent = b->parent;
    if (b->parent->last)
        b->parent->last->next = n;
    else
        b->parent->first = n;
    b->parent->last = n;
    return n;
}

/* A reference keeps the place of its declaration until every declaration is known (resolve). */
static void note_reference(struct builder *b, cx_cursor c, struct hone_c_node *n)
{
    cx_location at = b->p->location(b->p->referenced(c));
    n->name_at = b->p->is_main(at) ? offset_of(b, at) : UINT32_MAX;
}

/* Nodes without a text of their own: their children take their place. */
static bool is_wrapper(int cx)
{
    return cx == CX_UNEXPOSED || cx == CX_UNEXPOSED_STMT || cx == CX_LINKAGE ||
           cx == CX_UNEXPOSED_DECL;
}

static void note_attribute(struct builder *b, int cx)
{
    for (size_t i = 0; i < HONE_COUNTOF(attributes); i++)
        if (attributes[i].cx == cx)
            b->parent->cuda |= attributes[i].flag;
}

static int visit(cx_cursor c, cx_cursor parent, void *data)
{
    (void)parent;
    struct builder *b = data;
    if (c.kind >= CX_FIRST_ATTR && c.kind <= CX_LAST_ATTR)
        note_attribute(b, c.kind);
    if ((c.kind >= CX_FIRST_REF && c.kind <= CX_LAST_REF) ||
        (c.kind >= CX_FIRST_ATTR && c.kind <= CX_LAST_ATTR))
        return CX_CONTINUE;
    if (b->depth == 0 && !b->p->is_main(b->p->location(c)))
        return CX_CONTINUE;
    if (b->depth >= MAX_DEPTH) {
        b->is_too_deep = true;
        return CX_CONTINUE;
    }
    struct hone_c_node *outer = b->parent;
    b->depth++;
    if (is_wrapper(c.kind)) {
        b->p->visit(c, visit, b);
    } else {
        struct hone_c_node *n = add_node(b, c);
        if (n->kind == HONE_C_REF)
            note_reference(b, c, n);
        if (c.kind == CX_TEMPLATE)
            n->cuda |= HONE_C_IS_TEMPLATE;
        b->parent = n;
        b->p->visit(c, visit, b);
    }
    b->depth--;
    b->parent = outer;
    return CX_CONTINUE;
}

static const char *operator_text(struct hone_c_tree *t, uint32_t begin, uint32_t end)
{
    begin = hone_c_skip_space(t->source, end, begin);
    uint32_t stop = begin;
    while (stop < end && strchr("+-*/%<>=!&|^~?,", t->source[stop]) &&
           !(t->source[stop] == '/' && stop + 1 < end && strchr("/*", t->source[stop + 1])))
        stop++;
    if (stop == begin || hone_c_skip_space(t->source, end, stop) != end || stop - begin > 3)
        return "";
    return hone_pool_strndup(t->pool, t->source + begin, stop - begin);
}

/* The two ';' of a for header. */
static bool for_header(const struct hone_c_tree *t, const struct hone_c_node *n, uint32_t ret[2],
                       uint32_t *ret_close)
{
    int depth = 0, found = 0;
    for (uint32_t i = n->begin + 3; i < n->end; i++) {
        uint32_t skipped = hone_c_skip_space(t->source, n->end, i);
        if (skipped != i) {
            i = skipped - 1;
            continue;
        }
        char c = t->source[i];
        if (c == '"' || c == '\'')
            return false;
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (c == ';' && depth == 1 && found < 2)
            ret[found++] = i;
        if (depth == 0) {
            *ret_close = i;
            return found == 2;
        }
    }
    return false;
}

static void fill_for(const struct hone_c_tree *t, struct hone_c_node *n)
{
    uint32_t semicolon[2], close;
    if (!for_header(t, n, semicolon, &close))
        return;
    for (struct hone_c_node *c = n->first; c; c = c->next) {
        if (c->begin > close)
            n->body = c;
        else if (c->begin > semicolon[1])
            n->inc = c;
        else if (c->begin > semicolon[0])
            n->cond = c;
        else
            n->init = c;
    }
}

static void fill_unary(struct hone_c_tree *t, struct hone_c_node *n)
{
    if (!n->first)
        return;
    n->is_postfix = n->first->begin == n->begin;
    n->op = n->is_postfix ? operator_text(t, n->first->end, n->end)
                          : operator_text(t, n->begin, n->first->begin);
}

/* a = b of a class (__half and the like) is a call of operator= for libclang: it is read as what is
 * written. */
static void fill_operator_call(struct hone_c_node *n)
{
    const char *op = strncmp(n->name, "operator", 8) == 0 ? n->name + 8 : "";
    size_t len = strlen(op);
    if (len == 0 || strspn(op, "+-*/%<>=!&|^") != len || !n->first || !n->first->next ||
        n->first->begin != n->begin || n->last->end != n->end)
        return;
    bool is_compared = strcmp(op, "==") == 0 || strcmp(op, "!=") == 0 || strcmp(op, "<=") == 0 ||
                       strcmp(op, ">=") == 0;
    n->kind = op[len - 1] == '=' && len > 1 && !is_compared ? HONE_C_ASSIGN_OP : HONE_C_BINARY;
    n->op = op;
    n->name = "";
    n->first->next = n->last;
}

/* A macro of the source that is one number, defined once, reads as the number. */
static const char *literal_text(struct hone_c_tree *t, const struct hone_c_node *n)
{
    char *word = hone_c_text(t, n);
    size_t len = strlen(word), n_defined = 0;
    const char *value = word;
    bool is_one = false;
    for (const char *at = isalpha((unsigned char)*word) || *word == '_' ? t->source : ""; *at;
         at += strcspn(at, "\n"), at += *at == '\n') {
        const char *s = at + strspn(at, " \t");
        s += *s == '#' ? 1 + strspn(s + 1, " \t") : 0;
        if (s == at || strncmp(s, "define", 6) != 0)
            continue;
        s += 6 + strspn(s + 6, " \t");
        if (strncmp(s, word, len) != 0 || (s[len] != ' ' && s[len] != '\t'))
            continue;
        s += len + strspn(s + len, " \t(");
        value = hone_pool_strndup(t->pool, s, strcspn(s, " \t)\n"));
        s += strlen(value);
        s += strspn(s, " \t)");
        is_one = isdigit((unsigned char)*value) && (*s == '\n' || *s == '\0' || *s == '/');
        n_defined++;
    }
    return n_defined == 1 && is_one ? value : word;
}

static void finish_node(struct hone_c_tree *t, struct hone_c_node *n)
{
    switch ((int)n->kind) {
    case HONE_C_CALL:
        fill_operator_call(n);
        break;
    case HONE_C_FUNCTION:
        if (n->last && n->last->kind == HONE_C_COMPOUND)
            n->body = n->last;
        break;
    case HONE_C_FOR:
        fill_for(t, n);
        break;
    case HONE_C_WHILE:
        n->body = n->last;
        break;
    case HONE_C_BINARY:
    case HONE_C_ASSIGN_OP:
        if (hone_c_n_children(n) == 2)
            n->op = operator_text(t, n->first->end, n->last->begin);
        break;
    case HONE_C_UNARY:
        fill_unary(t, n);
        break;
    case HONE_C_MEMBER: /* threadIdx.x */
        if (n->first && n->first->kind == HONE_C_REF && !n->first->decl &&
            n->first->name_at == UINT32_MAX)
            n->name = hone_c_text(t, n);
        break;
    case HONE_C_CONST: /* libclang 14 tells no literal's value */
        n->name = literal_text(t, n);
        break;
    default:
        break;
    }
}

static bool is_decl(const struct hone_c_node *n)
{
    return n->kind == HONE_C_VAR || n->kind == HONE_C_PARAM || n->kind == HONE_C_FUNCTION;
}

static int by_place(const void *a, const void *b)
{
    const struct hone_c_node *const *x = a, *const *y = b;
    return (*x)->name_at < (*y)->name_at ? -1 : (*x)->name_at > (*y)->name_at;
}

static void resolve(struct hone_c_node *ref, struct hone_c_node **decls, size_t n)
{
    struct hone_c_node **hit = bsearch(&ref, decls, n, sizeof(*decls), by_place);
    if (hit && strcmp((*hit)->name, ref->name) == 0)
        ref->decl = *hit;
}

static void finish(struct hone_c_tree *t)
{
    size_t n_decls = 0, at = 0;
    for (struct hone_c_node *n = t->root; n; n = hone_c_walk(t->root, n)) {
        finish_node(t, n);
        n_decls += is_decl(n);
    }
    HONE_AUTOFREE struct hone_c_node **decls =
        hone_calloc(n_decls + 1, sizeof(struct hone_c_node *));
    for (struct hone_c_node *n = t->root; n; n = hone_c_walk(t->root, n))
        if (is_decl(n))
            decls[at++] = n;
    qsort(decls, n_decls, sizeof(*decls), by_place);
    for (struct hone_c_node *n = t->root; n; n = hone_c_walk(t->root, n))
        if (n->kind == HONE_C_REF && n->name_at != UINT32_MAX)
            resolve(n, decls, n_decls);
}

static const char *const c_headers[] = {
    "alloca.h", "arm_neon.h",  "assert.h",   "complex.h",   "emmintrin.h", "errno.h",
    "float.h",  "immintrin.h", "inttypes.h", "limits.h",    "malloc.h",    "math.h",
    "omp.h",    "stdalign.h",  "stdbool.h",  "stddef.h",    "stdint.h",    "stdio.h",
    "stdlib.h", "string.h",    "tgmath.h",   "x86intrin.h", "xmmintrin.h",
};
static const char *const cuda_headers[] = {
    "assert.h",
    "cfloat",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda.h",
    "float.h",
    "limits.h",
    "math.h",
    "math_constants.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "cuda_bf16.h",
    "mma.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_fp16.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "vector_types.h",
};

static bool is_allowed_header(enum hone_c_language language, const char *name)
{
    bool is_cuda = language == HONE_C_CUDA;
    const char *const *allowed = is_cuda ? cuda_headers : c_headers;
    size_t n = is_cuda ? HONE_COUNTOF(cuda_headers) : HONE_COUNTOF(c_headers);
    char open = name[0];
    if (open != '<' && !(is_cuda && open == '"'))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(allowed[i]);
        if (strncmp(name + 1, allowed[i], len) == 0 && name[1 + len] == (open == '<' ? '>' : '"'))
            return true;
    }
    return false;
}

/* The text as the preprocessor sees it: lines that end with a backslash are joined. */
static char *join_lines(const char *source)
{
    char *out = hone_malloc(strlen(source) + 1), *to = out;
    while (*source) {
        size_t blank = *source == '\\' ? strspn(source + 1, " \t\r\f\v") : 0;
        if (*source == '\\' && source[1 + blank] == '\n')
            source += blank + 2;
        else
            *to++ = *source++;
    }
    *to = '\0';
    return out;
}

/* In-process parsing must not become a way to read files of this machine. */
static int check_includes(enum hone_c_language language, const char *source, struct hone_err *err)
{
    HONE_AUTOFREE char *text = join_lines(source);
    uint32_t len = (uint32_t)strlen(text);
    for (const char *at = text; (at = strchr(at, '#')); at++) {
        const char *word = text + hone_c_skip_space(text, len, (uint32_t)(at + 1 - text));
        bool is_include = strncmp(word, "include", 7) == 0;
        if (!is_include && strncmp(word, "import", 6) != 0 && strncmp(word, "embed", 5) != 0)
            continue;
        const char *name = text + hone_c_skip_space(text, len, (uint32_t)(word + 7 - text));
        if (!is_include || !is_allowed_header(language, name))
            return hone_fail(
                err, HONE_E_UNSUPPORTED,
                "the rule coder reads sources that include standard headers only, not %.40s", word);
    }
    if (strstr(text, "%:"))
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "the rule coder does not read digraph directives");
    return 0;
}

/* CUDA sources are parsed without headers: the lines that name them become blanks, so that no
 * offset moves. */
static char *without_includes(const char *source)
{
    char *text = hone_strdup(source);
    for (char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char *word = line + strspn(line, " \t");
        if (*word != '#')
            continue;
        word += 1 + strspn(word + 1, " \t");
        if (strncmp(word, "include", 7) == 0)
            memset(line, ' ', strcspn(line, "\n"));
    }
    return text;
}

static int check_diagnostics(const struct hone_c_parser *p, void *unit, struct hone_err *err)
{
    unsigned n = p->n_diagnostics(unit);
    for (unsigned i = 0; i < n; i++) {
        void *d = p->diagnostic(unit, i);
        if (p->severity(d) < 3) {
            p->dispose_diagnostic(d);
            continue;
        }
        unsigned line = 0;
        p->expansion(p->diagnostic_at(d), NULL, &line, NULL, NULL);
        cx_string text = p->diagnostic_text(d);
        hone_fail(err, HONE_E_ARG, "line %u: %s", line, p->c_string(text));
        p->dispose_string(text);
        p->dispose_diagnostic(d);
        return HONE_E_ARG;
    }
    return 0;
}

static int build_tree(struct hone_c_parser *p, void *unit, const char *source,
                      struct hone_pool *pool, struct hone_c_tree **ret, struct hone_err *err)
{
    struct hone_c_tree *t = hone_pool_alloc(pool, sizeof(*t));
    t->source = source;
    t->len = (uint32_t)strlen(source);
    t->pool = pool;
    t->root = hone_pool_alloc(pool, sizeof(*t->root));
    *t->root =
        (struct hone_c_node){.kind = HONE_C_FILE, .end = t->len, .op = "", .name = "", .type = ""};
    struct builder b = {.p = p, .tree = t, .parent = t->root};
    p->visit(p->unit_cursor(unit), visit, &b);
    if (b.is_too_deep)
        return hone_fail(err, HONE_E_LIMIT, "the source nests deeper than %d levels", MAX_DEPTH);
    finish(t);
    *ret = t;
    return 0;
}

int hone_c_parse(struct hone_c_parser *p, enum hone_c_language language, const char *source,
                 const char *prologue, struct hone_pool *pool, struct hone_c_tree **ret,
                 struct hone_err *err)
{
    static const char *const c_args[] = {
        "-xc",      "-std=gnu17",      "-w", "-march=native", "-D_GNU_SOURCE",
        "-include", "/hone/prologue.h"};
    static const char *const cuda_args[] = {"-xcuda",
                                            "--cuda-gpu-arch=sm_80",
                                            "--cuda-device-only",
                                            "-nocudainc",
                                            "-nocudalib",
                                            "-std=c++17",
                                            "-w",
                                            "-nostdinc",
                                            "-nostdinc++",
                                            "-D__CUDACC__",
                                            "-include",
                                            "/hone/prelude.h",
                                            "-include",
                                            "/hone/prologue.h"};
    bool is_cuda = language == HONE_C_CUDA;
    size_t len = strlen(source);
    if (len > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "source is %zu bytes, at most %u are accepted", len,
                         HONE_LIMIT_SOURCE_BYTES);
    int r = check_includes(language, source, err);
    if (r < 0)
        return r;
    if (!prologue)
        prologue = "";
    HONE_AUTOFREE char *text = is_cuda ? without_includes(source) : hone_strdup(source);
    HONE_CLEANUP(hone_buf_done) struct hone_buf prelude = HONE_BUF_INIT;
    for (size_t i = 0; is_cuda && i < hone_n_cuda_prelude; i++)
        hone_buf_str(&prelude, hone_cuda_prelude[i]);
    struct cx_unsaved files[] = {
        {is_cuda ? "/hone/candidate.cu" : "/hone/candidate.c", text, len},
        {"/hone/prologue.h", prologue, strlen(prologue)},
        {"/hone/prelude.h", prelude.data ? prelude.data : "", prelude.len},
    };
    void *unit = NULL;
    int code = p->parse(p->index, files[0].name, is_cuda ? cuda_args : c_args,
                        is_cuda ? (int)HONE_COUNTOF(cuda_args) : (int)HONE_COUNTOF(c_args), files,
                        (unsigned)HONE_COUNTOF(files), 0, &unit);
    if (code != 0 || !unit)
        return hone_fail(err, HONE_E_ARG, "libclang could not read the source (code %d)", code);
    r = check_diagnostics(p, unit, err);
    if (r == 0)
        r = build_tree(p, unit, source, pool, ret, err);
    if (r == 0)
        (*ret)->language = language;
    p->dispose_unit(unit);
    return r;
}
