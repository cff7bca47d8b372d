/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a C or CUDA source, for the mutator: no grammar, only what brackets and commas tell.
 *
 * Comments and white space are no tokens. A preprocessor line is one token (with its continuation
 * lines), and so are CUDA's <<< and >>>. Tokens hold places in the text, which must outlive them.
 */
#ifndef HONE_MUTATION_TOKENS_H
#define HONE_MUTATION_TOKENS_H

#include "workspace/base/base.h"

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT, TOKEN_DIRECTIVE };

struct token {
    enum token_kind kind;
    size_t from, to; /* bytes of the text */
    size_t line;
    size_t partner; /* brackets: the other one; else the token's own number */
};

struct tokens {
    const char *text;
    struct token *v; /* owned */
    size_t n;
};

struct tokens tokens_read(const char *text);
void tokens_done(struct tokens *tokens);

/* All take any t; beyond the end nothing is anything. */
bool token_is(const struct tokens *tokens, size_t t, const char *word);
bool token_is_one_of(const struct tokens *tokens, size_t t, const char *const *words);
bool token_is_kind(const struct tokens *tokens, size_t t, enum token_kind kind);
char *token_text(const struct tokens *tokens, size_t from, size_t to); /* owned; to: exclusive */

bool token_is_type(const struct tokens *tokens, size_t t);    /* float, int64_t, const... */
bool token_is_keyword(const struct tokens *tokens, size_t t); /* return, for, sizeof... */
/* May a binary operator come after t? */
bool token_ends_operand(const struct tokens *tokens, size_t t);
/* One past the operand that starts at t: a name or number with its [..], (..) and .name; or a
 * bracketed expression. t itself: none starts here. */
size_t token_operand_end(const struct tokens *tokens, size_t t);
/* One past the statement that starts at t, with everything under it. */
size_t token_statement_end(const struct tokens *tokens, size_t t);
/* Is t the first token of a statement? */
bool token_starts_statement(const struct tokens *tokens, size_t t);

#endif
