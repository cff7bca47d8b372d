/* SPDX-License-Identifier: Apache-2.0 */
/* A version that was read, places in it, and text that rewrites make from it.
 *
 *     struct hone_coder_input in;
 *     hone_coder_read(parser, "cpu", source, "softmax", pool, &in, err);        any text
 *     hone_coder_read_kernel(parser, task, "cpu", source, pool, &in, err);      a task's
 *     struct hone_coder_site site = hone_site(node, node->begin, node->end, "loop i at line 7");
 *     hone_coder_locate(&in, &site);
 *
 * Everything lives in the input's pool. One parser, one thread. */
#ifndef HONE_AGENTS_SITE_H
#define HONE_AGENTS_SITE_H

#include "agents/source/c_edit.h"
#include "agents/source/c_nest.h"
#include "agents/source/c_parser.h"
#include "tools/format/options.h"

enum { HONE_CODER_MAX_SITES = 16, HONE_CODER_MAX_PARAMS = 4, HONE_ANCHOR_BYTES = 17 };

struct hone_task; /* workspace/task/task.h */

struct hone_coder_input { /* one parsed version */
    const struct hone_c_tree *tree;
    const struct hone_task *task; /* whose public sizes the tree knows; NULL: it knows none */
    struct hone_c_nest nest;      /* of the task's function: on cuda the launcher */
    struct hone_pool *pool;
    const char *target;     /* "cpu", "cuda" */
    bool is_blind;          /* the text could not be read: source and length are all there is */
    const char *hot_kernel; /* cuda: where a profile saw most time; NULL: not known */
    /* What was read, when the rest is its plain form (c_plain.h); NULL: the rest is as written. */
    const struct hone_coder_input *written;
    const struct hone_coder_input *normal; /* the same in the normal form of its target, for rules
                                              that find no place in the text; NULL: it is that */
    const void **orders; /* agents/polyhedral keeps what it found here, once it was asked */
};

struct hone_coder_site {
    const struct hone_c_node *node; /* the region; the function for a rewrite of the whole */
    uint32_t begin, end;            /* its text */
    uint32_t line, last_line;
    char anchor[HONE_ANCHOR_BYTES]; /* 16 hex digits of the region's text: survives renumbering */
    const char *words;              /* "loop i at line 7" */
    const char *evidence;           /* why it fits here */
    int variant;                    /* which form, when a rewrite has several */
    bool is_weak;                   /* what the strategy is about is not there: ranked last */
    bool is_normal;                 /* of the input's normal form; lines are the input's */
    struct hone_tunable params[HONE_CODER_MAX_PARAMS];
    size_t n_params;
};

/* Parses a version with its tunables and finds the function named. C is read in its plain form;
 * lines are those of the source. target NULL: cpu. HONE_E_ARG,
 * HONE_E_NOT_FOUND, HONE_E_UNSUPPORTED. */
int hone_coder_read(struct hone_c_parser *parser, const char *target, const char *source,
                    const char *function, struct hone_pool *pool, struct hone_coder_input *ret,
                    struct hone_err *err);
/* The same of a task's kernel, borrowed with the task: subscripts are held to its public sizes. */
int hone_coder_read_kernel(struct hone_c_parser *parser, const struct hone_task *task,
                           const char *target, const char *source, struct hone_pool *pool,
                           struct hone_coder_input *ret, struct hone_err *err);
/* The whole text as it was written. */
const char *hone_coder_source(const struct hone_coder_input *in);
/* Does the text ask that every operation rounds as it stands there, as packs do whose integers a
 * rounding decides? Rules then regroup no floats. */
bool hone_rounds_as_written(const struct hone_coder_input *in);
/* May the loop's sums and products be regrouped? Not those of floats in such a text. */
bool hone_may_regroup(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* Fills in lines and anchor of a site from its text range. */
void hone_coder_locate(const struct hone_coder_input *in, struct hone_coder_site *site);
/* Makes it all of a source; hash: what its anchor is taken from. */
void hone_site_whole(struct hone_coder_site *site, const char *source, const char *hash);

/* A site for a region; words from the format. */
struct hone_coder_site hone_site(const struct hone_c_node *node, uint32_t begin, uint32_t end,
                                 const char *words);
/* "loop i at line 7" */
const char *hone_loop_words(const struct hone_coder_input *in, const struct hone_c_loop *loop);
bool hone_is_word_char(char c); /* of a name in C */
/* Does the text hold the word by itself? Comments and literals count. */
bool hone_has_word(const char *text, const char *word);
/* A name that the source does not use yet: stem, stem_2, ...; in the pool. */
const char *hone_fresh_name(const struct hone_coder_input *in, const char *stem);
/* Adds "#pragma hone tune(NAME: values)" in front of the function; returns the name. */
const char *hone_add_tunable(struct hone_c_edits *edits, const struct hone_coder_input *in,
                             const char *stem, const char *values);
/* The whole source with the edits. */
char *hone_finish_edits(const struct hone_c_edits *edits);
/* Exclusive upper bound as text, in parentheses when it is no plain name. */
const char *hone_upper_text(const struct hone_coder_input *in, const struct hone_c_loop *loop);
const char *hone_lower_text(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* Where whole blocks of `step` iterations end: "M / MR * MR". */
const char *hone_full_text(const struct hone_coder_input *in, const struct hone_c_loop *loop,
                           const char *step);
const char *hone_count_text(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* The type as it was written, "int64_t"; the canonical one when that is no plain word. */
const char *hone_type_text(const struct hone_coder_input *in, const struct hone_c_node *var);
/* "float" of "const float *__restrict"; in the pool. NULL: no pointer. */
const char *hone_element_type(const struct hone_coder_input *in, const struct hone_c_node *pointer);
/* " if((double)M * N > 16384)": threads only where the work pays for waking them. */
const char *hone_if_clause(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* Of a loop with unit steps the iterations of part `chunk` of `chunks`, which are as many as can be
 * alike: the bounds and the loop around the body. */
const char *hone_chunk_text(const struct hone_coder_input *in, const struct hone_c_loop *loop,
                            const char *chunk, const char *chunks, const char *body);
/* "s = s + v;" or "s = v > s ? v : s;": the value taken into the target as the reduction does. */
const char *hone_combine_text(const struct hone_coder_input *in, const struct hone_c_reduction *r,
                              const char *target, const char *value);
/* Text of the statements of a body without the outer braces. */
char *hone_body_text(const struct hone_c_edits *edits, const struct hone_c_node *body);
/* The outermost loops that may run in parallel, none inside another; returns how many. */
size_t hone_parallel_loops(const struct hone_coder_input *in, const struct hone_c_loop **ret,
                           size_t max);
/* Levels of loops with counts of their own from the function down to the deepest loop in `top`; what
 * rewrites left for odd sizes does not count. */
int hone_loop_levels(const struct hone_coder_input *in, const struct hone_c_node *top);
/* Is another loop of the function deeper? Its time is what counts then. */
bool hone_is_cold(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* Does some loop of the function have an omp parallel pragma? */
bool hone_is_threaded(const struct hone_coder_input *in);
/* May a rule give the loop threads? Where others have them, only to a statement of the function
 * itself with none inside: no region lies in another one, and no fallback gets threads. */
bool hone_may_thread(const struct hone_coder_input *in, const struct hone_c_loop *loop);

#endif
