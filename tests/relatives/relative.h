/* SPDX-License-Identifier: Apache-2.0 */
/* Relatives of C kernels, made mechanically, and what the rules make of them.
 *
 * relative_make   the text of relative number i: a kernel of the table in kernels.c, changed by
 *                 some of the transformations in transform.c and spelled by print.c. The same seed
 *                 and number give the same text. It has the head of tests/relatives/cpu ("new:").
 * relative_is_held   a tenth, chosen by a hash of its name: not looked at while rules are written.
 * relative_try    every rule at every place, short chains of rules, and each result run against
 *                 the relative itself (harness.c, runtime.c). */
#ifndef HONE_TESTS_RELATIVE_H
#define HONE_TESTS_RELATIVE_H

#include "workspace/base/buf.h"

enum { RELATIVE_MAX_ARRAYS = 10, RELATIVE_MAX_DIMS = 3 };

enum { SQUARE = 1, FLOATS = 2 }; /* all sizes alike; no integers */

struct relative_kernel {
    const char *name;
    const char *arrays; /* "C[N,M] A[N,K]"; '#' in front: indices below every size */
    const char *sizes;  /* "N M K"; "K:3" keeps its value */
    unsigned flags;
    const char *body; /* "for i 0 N { C(i,0) = A(i,1); }"; T, EXP, HALF by element type */
};
extern const struct relative_kernel relative_kernels[];
extern const size_t relative_n_kernels;

struct relative_array {
    const char *name;
    bool is_index, is_transposed;
    const char *pitch; /* NULL: the last dimension */
    const char *dims[RELATIVE_MAX_DIMS];
    size_t n_dims;
};

struct relative_node { /* a loop (var != NULL), a statement, or a block of the root */
    const char *var, *lower, *upper, *text;
    const char *step; /* NULL: 1 */
    bool is_reversed;
    struct relative_node *first, *next;
};

struct relative {
    struct hone_pool *pool;
    uint64_t random;
    const struct relative_kernel *kernel;
    struct relative_array arrays[RELATIVE_MAX_ARRAYS];
    size_t n_arrays;
    unsigned flags;
    const char *sizes; /* of the head: "N=40,M=50" */
    const char *params;
    const char *steps; /* names of the transformations taken, " reverse flatten" */
    struct relative_node *root;
    const char *helper; /* a function in front of the kernel; "" */
    int n_names;
};

uint64_t relative_random(struct relative *r, uint64_t below);
const struct relative_array *relative_array(const struct relative *r, const char *name, size_t len);
/* The next "A(i, j)" of an array in the text from `at`: its array; begin, end and the text of each
 * index. NULL: none. */
struct relative_ref {
    const struct relative_array *array;
    const char *begin, *end, *index[RELATIVE_MAX_DIMS];
};
bool relative_ref(const struct relative *r, const char *at, struct relative_ref *ret);
/* Does the text hold the word? */
bool relative_has_word(const char *text, const char *word);
/* The text with each such word replaced. */
const char *relative_replace(struct hone_pool *pool, const char *text, const char *word,
                             const char *by);

struct relative_node *relative_parse(struct hone_pool *pool, const char *body);
void relative_transform(struct relative *r);
const char *relative_print(struct relative *r);

const char *relative_make(struct hone_pool *pool, uint64_t seed, uint64_t number,
                          const char **ret_name);
bool relative_is_held(const char *name);

struct relative_count {
    const char *rule;
    size_t n_applied, n_declined, n_compiled, n_refused, n_wrong;
};
enum { RELATIVE_MAX_COUNTS = 64 };
struct relative_counts {
    struct relative_count rows[RELATIVE_MAX_COUNTS];
    size_t n, n_relatives, n_read, n_runs_skipped;
};
struct relative_how {
    const char *folder, *runtime; /* scratch; the object of runtime.c */
    const char *flags;            /* of the compiler */
    uint64_t seed;                /* of the chains */
    unsigned long n_chains;
    bool is_quiet;   /* tell no text */
    bool is_spoiled; /* add versions that are wrong */
};
/* function: of the kernel in the text. Returns how many results are wrong, or -1: the relative
 * itself does not build or run. */
int relative_try(const char *name, const char *source, const char *function,
                 const struct relative_how *how, struct relative_counts *counts);

#endif
