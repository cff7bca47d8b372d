/* SPDX-License-Identifier: Apache-2.0 */
/* A C text as words, and the functions that it defines. No compiler, no preprocessor: comments and
 * preprocessor lines are skipped, a token is a word, a number, a string, or one character. */
#ifndef HONE_TOOLS_C_TOKENS_H
#define HONE_TOOLS_C_TOKENS_H

#include "workspace/base/buf.h"
#include "workspace/base/err.h"

struct hone_c_token {
    const char *at;
    size_t len;
};

struct hone_c_tokens {
    const char *source; /* borrowed */
    struct hone_c_token *v;
    size_t n;
};

struct hone_c_definition {
    size_t first, name, open, close; /* tokens: of the statement, the name, ( and ) */
    size_t end;                      /* the } of the body; n where none closes it */
    bool is_static;
};

/* HONE_E_LIMIT: too many. In the pool. */
int hone_c_tokens_read(const char *source, struct hone_pool *pool, struct hone_c_tokens *ret,
                       struct hone_err *err);
bool hone_c_is(const struct hone_c_token *t, const char *text);
bool hone_c_is_any(const struct hone_c_token *t, const char *const *words); /* NULL ends them */
bool hone_c_is_word(const struct hone_c_token *t);
/* Does the text have such a token? One that is too long to read may. */
bool hone_c_has_word(const char *source, const char *word, struct hone_pool *pool);
int hone_c_line_at(const char *source, const char *at);
/* Index of the token that closes the bracket at `i`; n when none does. */
size_t hone_c_closing(const struct hone_c_tokens *t, size_t i);
/* Does the operator at token i, which has two uses, stand behind an operand? */
bool hone_c_is_binary(const struct hone_c_tokens *t, size_t i);
/* The next definition of a function at or after token *at; false at the end. */
bool hone_c_next_definition(const struct hone_c_tokens *t, size_t *at,
                            struct hone_c_definition *ret);
/* Past blanks, comments and preprocessor lines; the end of the token at `at`; of the line. */
const char *hone_c_skip_blank(const char *at, const char *source);
const char *hone_c_token_end(const char *at);
const char *hone_c_skip_line(const char *at);

#endif
