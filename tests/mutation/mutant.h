/* SPDX-License-Identifier: Apache-2.0 */
/* Mutants of one source: what an inattentive programmer might have written instead.
 *
 * An operator looks at one token and proposes edits there; the table in operators.c has one row
 * each. Proposals with the same resulting text are kept once. Everything depends on the text alone:
 * the same source gives the same mutants in the same order, every time. */
#ifndef HONE_MUTATION_MUTANT_H
#define HONE_MUTATION_MUTANT_H

#include "tests/mutation/tokens.h"

enum for_part { NOT_IN_FOR, FOR_START, FOR_CONDITION, FOR_STEP };

struct mutant {
    size_t operator;       /* row of operators */
    size_t from, to, line; /* bytes of the text that are replaced */
    char *with;            /* owned */
    char id[17];           /* hash of the mutated text */
};

struct source {
    struct tokens tokens;
    enum for_part *parts; /* owned: of each token */
    const char *sizes[8]; /* owned: integer parameters, in order */
    size_t n_sizes;
    size_t operator;  /* the one at work */
    struct mutant *v; /* owned */
    size_t n, room;
};

struct operator_row {
    const char *name, *meaning;
    void (*look)(struct source *source, size_t t);
};
extern const struct operator_row operators[];
extern const size_t n_operators;

/* A proposal: tokens from..to-1 become the text. */
void propose(struct source *source, size_t from, size_t to, const char *fmt, ...) HONE_PRINTF(4, 5);

struct source source_read(const char *text);
void source_done(struct source *source);
char *mutant_text(const struct source *source, const struct mutant *mutant); /* owned */
/* Keeps at most n: operators take turns, each with its mutants in an order that spreads them. */
void source_sample(struct source *source, size_t n);

#endif
