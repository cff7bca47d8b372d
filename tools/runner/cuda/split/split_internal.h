/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the splitter: tokens and directives (split_lex.c), declarations (split_parse.c),
 * launches (split_launch.c), what stays where (split_keep.c) and the texts (split.c). Nobody else
 * includes this. */
#ifndef HONE_RUNNER_CUDA_SPLIT_INTERNAL_H
#define HONE_RUNNER_CUDA_SPLIT_INTERNAL_H

#include "tools/runner/cuda/split/split.h"

enum split_kind { SPLIT_END, SPLIT_NAME, SPLIT_NUMBER, SPLIT_STRING, SPLIT_PUNCT };

/* Punctuation is one character, except :: -> ## ... <<< >>> which are their own. */
enum { SPLIT_SCOPE = 256, SPLIT_ARROW, SPLIT_PASTE, SPLIT_DOTS, SPLIT_OPEN3, SPLIT_CLOSE3 };

struct split_token {
    enum split_kind kind;
    int punct;         /* of SPLIT_PUNCT */
    uint32_t id;       /* of SPLIT_NAME: the same for the same name */
    size_t start, end; /* offsets in the source */
    int64_t line;
};

struct split_tokens { /* ends with one SPLIT_END that n does not count */
    struct split_token *v;
    size_t n, cap;
};

struct split_directive {
    size_t start, end; /* from '#' to the end of its last line */
    int64_t line;
    uint32_t word;           /* "define", "include"... as an id; 0: none */
    uint32_t name;           /* of a macro; 0: none */
    bool is_function;        /* a macro with parameters */
    size_t body, n_body;     /* tokens of the macro's replacement, in macros */
    size_t params, n_params; /* tokens between its parentheses */
    const char *include;
    bool is_system, is_guarded;
};

struct split_set { /* of name ids */
    bool *v;
    size_t n;
};

enum split_item_kind {
    SPLIT_FUNCTION,    /* with a body */
    SPLIT_DECLARATION, /* up to a semicolon: variables, prototypes, aliases */
    SPLIT_TYPE,        /* class, struct, union, enum with a body */
    SPLIT_USE          /* of a macro that stands alone */
};

struct split_item {
    enum split_item_kind kind;
    bool is_in_macro;
    bool is_global, is_device, is_host, is_constexpr, is_const, is_static, is_variable_space,
        is_shared, is_template, is_typedef;
    uint32_t name; /* 0: none found */
    size_t name_token;
    size_t first, last;               /* tokens, both included; in macro: of the macro tokens */
    size_t body_first, body_last;     /* FUNCTION, TYPE: the braces */
    size_t params_first, params_last; /* the parentheses; both 0: none; equal: in a macro's text */
    size_t parent;                    /* item number of the enclosing type; SIZE_MAX: none */
    bool is_tainted;                  /* mentions what the device's compiler does not know */
    bool is_device_tainted;           /* mentions what the host's compiler does not know */
    bool keeps_host, keeps_device;
};

struct split_edit { /* text put in front of an offset */
    size_t at;
    const char *text;
    size_t move_start, move_end; /* text from there is put behind `text`, then `more` */
    const char *more;
    size_t order;
    bool is_stub; /* stands although what follows was blanked */
};

struct split_state {
    const char *source;
    char *spelling; /* the same bytes, where split_lex writes plain brackets for digraphs */
    size_t len;
    struct hone_pool *pool;
    struct hone_err *err;
    struct split_tokens tokens, macros;
    struct hone_array directives; /* of split_directive */
    size_t cap_directives;
    /* names */
    const char **names; /* by id */
    size_t n_names, cap_names;
    uint32_t *hash;
    size_t hash_size;
    size_t *macro_of; /* by id: directive + 1; 0: no macro */
    size_t n_macro_of;
    uint32_t *qualities;     /* by macro's id: split_parse's memory; 0: not known */
    struct hone_array items; /* of split_item */
    size_t cap_items;
    struct split_edit *edits; /* of the host text */
    size_t n_edits, cap_edits;
    char *host, *device; /* the source with blanks */
    bool *dropped;       /* host text: bytes that move elsewhere or go */
    struct hone_split *ret;
    size_t cap_kernels, cap_launches;
    int depth;
};

/* Grows an array in the pool (old copies are left there). */
void *split_grow(struct split_state *s, void *v, size_t n, size_t *cap, size_t size);
int split_fail(struct split_state *s, int64_t line, const char *fmt, ...) HONE_PRINTF(3, 4);
bool split_is(const struct split_state *s, const struct split_token *t, const char *word);
static inline bool split_punct(const struct split_token *t, int punct)
{
    return t->kind == SPLIT_PUNCT && t->punct == punct;
}
const struct split_directive *split_macro(const struct split_state *s, uint32_t id);

int split_lex(struct split_state *s);

/* The token that closes the bracket at `open`, at most `end`; SIZE_MAX: none. */
size_t split_close(const struct split_tokens *t, size_t open, size_t end);
size_t split_close_angle(const struct split_tokens *t, size_t open, size_t end);
int split_parse(struct split_state *s);

int split_kernels(struct split_state *s);  /* stubs */
int split_launches(struct split_state *s); /* <<<>>> */
int split_keep(struct split_state *s);     /* which items stay in which text */
void split_blank(const struct split_state *s, char *text, size_t start, size_t end);
struct split_edit *split_edit(struct split_state *s, size_t at, const char *text);

#endif
