/* The rule coder: source-to-source rewrites, one file each in coder_rules/, and the table of them.
 *
 * A rewrite says where it could act (sites) and makes the new source (apply). It may be optimistic
 * about what is faster, and leans on the judge for what is right; it refuses only what it cannot
 * express. hone_coder_apply parses the result again and refuses a text that is no C. */
#ifndef HONE_AGENTS_CODER_RULES_H
#define HONE_AGENTS_CODER_RULES_H

#include "agents/c_edit.h"
#include "agents/c_nest.h"
#include "agents/c_parser.h"
#include "tools/format/options.h"

enum { HONE_CODER_MAX_SITES = 16, HONE_CODER_MAX_PARAMS = 4, HONE_ANCHOR_BYTES = 17 };

struct hone_coder_input { /* one parsed version */
    const struct hone_c_tree *tree;
    struct hone_c_nest nest; /* of the task's function: on cuda the launcher */
    struct hone_pool *pool;
    const char *target;     /* "cpu", "cuda" */
    bool is_blind;          /* the text could not be read: source and length are all there is */
    const char *hot_kernel; /* cuda: where a profile saw most time; NULL: not known */
};

struct hone_coder_site {
    const struct hone_c_node *node; /* the region; the function for a rewrite of the whole */
    uint32_t begin, end;            /* its text */
    uint32_t line, last_line;
    char anchor[HONE_ANCHOR_BYTES]; /* 16 hex digits of the region's text: survives renumbering */
    const char *words;              /* "loop i at line 7" */
    const char *evidence;           /* why it fits here */
    int variant;                    /* which form, when a rewrite has several */
    struct hone_tunable params[HONE_CODER_MAX_PARAMS];
    size_t n_params;
};

struct hone_rewrite {
    const char *name;     /* "thread_outer" */
    const char *target;   /* NULL: cpu */
    const char *strategy; /* catalogue id, "C08" */
    const char *words;    /* commit subject: "thread the outer loops" */
    /* Fills in at most max sites, best first; returns how many. */
    size_t (*sites)(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max);
    /* New source in the pool; NULL with err set when it cannot be expressed. */
    char *(*apply)(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err);
};

extern const struct hone_rewrite *const hone_rewrites[];
extern const size_t hone_n_rewrites;
const struct hone_rewrite *hone_rewrite_find(const char *name); /* NULL: none */
bool hone_rewrite_is_for(const struct hone_rewrite *rewrite, const char *target);

/* Parses a version with its tunables and finds the function named. target NULL: cpu. HONE_E_ARG,
 * HONE_E_NOT_FOUND, HONE_E_UNSUPPORTED. */
int hone_coder_read(struct hone_c_parser *parser, const char *target, const char *source,
                    const char *function, struct hone_pool *pool, struct hone_coder_input *ret,
                    struct hone_err *err);
/* Sites of one rewrite, with lines and anchors filled in; none when it is for another target. */
size_t hone_coder_sites(const struct hone_rewrite *rewrite, const struct hone_coder_input *in,
                        struct hone_coder_site ret[HONE_CODER_MAX_SITES]);
/* Fills in lines and anchor of a site from its text range. */
void hone_coder_locate(const struct hone_coder_input *in, struct hone_coder_site *site);
/* Makes it all of a source; hash: what its anchor is taken from. */
void hone_site_whole(struct hone_coder_site *site, const char *source, const char *hash);
/* The new source, checked by parsing it; in the pool. HONE_E_ARG when the rewrite refuses or its
 * text is no C. */
int hone_coder_apply(struct hone_c_parser *parser, const struct hone_rewrite *rewrite,
                     const struct hone_coder_input *in, const struct hone_coder_site *site,
                     const char **ret_source, struct hone_err *err);

/* For rewrites:
 * ------------------------------------------------------------------------------------------------
 */

/* A site for a region; words from the format. */
struct hone_coder_site hone_site(const struct hone_c_node *node, uint32_t begin, uint32_t end,
                                 const char *words);
/* "loop i at line 7" */
const char *hone_loop_words(const struct hone_coder_input *in, const struct hone_c_loop *loop);
bool hone_is_word_char(char c); /* of a name in C */
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
/* " if((double)M * N > 16384)": threads only where the work pays for waking them. */
const char *hone_if_clause(const struct hone_coder_input *in, const struct hone_c_loop *loop);
/* Text of the statements of a body without the outer braces. */
char *hone_body_text(const struct hone_c_edits *edits, const struct hone_c_node *body);
/* The outermost loops that may run in parallel, none inside another; returns how many. */
size_t hone_parallel_loops(const struct hone_coder_input *in, const struct hone_c_loop **ret,
                           size_t max);
/* Does some loop of the function have an omp parallel pragma? */
bool hone_is_threaded(const struct hone_coder_input *in);

#endif
