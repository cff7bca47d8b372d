/* SPDX-License-Identifier: Apache-2.0 */
/* The search tree: nodes are versions that were right; what failed stays a record of its action.
 *
 * Values are log2 of the speed-up over the root: of the screen, until a longer look has measured
 * the version (its figure then replaces the screen's). Everything lives in the pool of the search.
 * One thread. */
#ifndef HONE_AGENTS_TREE_H
#define HONE_AGENTS_TREE_H

#include "agents/planner/catalogue.h"
#include "workspace/base/hash.h"

enum {
    HONE_TREE_MAX_NODES = 4096,
    HONE_TREE_MAX_ACTIONS = 64,
    HONE_NO_NODE = -1,
    HONE_CODE_WORD_BYTES = 24 /* of hone_build_report.code */
};

struct hone_action { /* a legal step at a node */
    const struct hone_rewrite *rewrite;
    const struct hone_strategy *strategy;
    struct hone_coder_site site; /* node pointer valid while the node's text is parsed only */
    double low, gain, high;      /* expected log2 gain if it is done: posterior, 80 % interval */
    double positive;             /* expected max(0, gain) */
    double p_impl;               /* chance that it is really done */
    double boost;                /* class match */
    double discount;             /* of a site further down its rewrite's list */
    double utility, prior;
    const char *rule, *values; /* what fired */
    const char *plan;          /* of a step that somebody else thought of; NULL: the strategy's */
    int sibling;         /* index of the version whose idea is taken over (merge.h); 0: none */
    double sibling_gain; /* log2 that it brought there; 0: none */
    const char *given;   /* the new source, from outside; NULL: the coder writes it */
    double p_rules, p_llm,
        w_llm; /* parts of the prior when a model was asked (mix.h); p_llm 0: none */
    double cost_log2, cost_chance; /* by the cost model (cost_model.h); 0, 0: it was not asked */
    bool is_tried;
    bool is_left_out; /* by the cost model: taken when nothing else is left */
};

struct hone_basis {       /* what a version's value and times rest on */
    const char *look;     /* "screened", "decided", "confirmed"; NULL: not known */
    int n_timed, n_sizes; /* public sizes that were timed in it, and that there are */
};

struct hone_node {
    int index, parent, depth;
    int number; /* in the records; the index, unless a record was lost */
    const char *source;
    const char *commit;
    const char *words;               /* of the step that made it */
    const char *rewrite;             /* its name; "" for the root, "tune" for a sweep */
    char hash[HONE_HASH_TEXT_BYTES]; /* of the normalised source */
    char code[HONE_CODE_WORD_BYTES]; /* word for its machine code; "": unknown */
    double step_prior;               /* of the step that made it; 0: unknown */
    double value, se;                /* log2 ratio to the root, standard error in log2 */
    double low, high;                /* 95 % interval of that ratio; 0: not known */
    struct hone_basis basis;
    double screened;  /* what a look at some of the sizes said, before one at all of them */
    bool is_screened; /* there was one */
    bool is_decided, is_refuted; /* a longer look agreed, or not */
    bool is_wrong;               /* ... since its results were wrong */
    bool is_fast_math;           /* its text asks the compiler for fast math */
    const char *refuted_by;      /* its verdict and why; NULL: none, or not known */
    bool is_swept, is_dead, is_expanded, is_reviewed;
    bool has_left_out; /* steps of it that are not in the records yet */
    int n_tunables;
    int n_visits, n_no_gain;
    int n_under_way;             /* steps beneath whose answers are waited for */
    double sum, best;            /* of values beneath, itself included */
    struct hone_action *actions; /* n_actions, once is_expanded */
    size_t n_actions;
    struct hone_features features;
    struct hone_finding findings[HONE_N_CLASSES];
    size_t n_findings;
    const char
        *times; /* by size, in words (history_context.h), of the same look; NULL: not known */
    const char *settings;   /* what a sweep of its tunables said, in words; NULL: none was made */
    bool is_profiled;       /* findings and counters come from a profile */
    const char *hot_kernel; /* cuda: where it saw most time; NULL: not known */
    const char *profile;    /* in words (profile_text.h); NULL: not known */
};

struct hone_edge_record { /* every try, also failed ones */
    int parent;
    const char *rewrite;
    char anchor[HONE_ANCHOR_BYTES];
    int variant;
    bool is_implemented; /* right, and really carried out */
    bool is_gain;
    bool is_declined; /* by the coder: as if it had not been legal */
    double gain;      /* g_eff, log2; 0 where there is none */
    /* for who asks what was tried (history_context.h) */
    const struct hone_strategy *strategy;
    int child;               /* index of what it made or found; HONE_NO_NODE: nothing right */
    const char *verdict;     /* of a failure: "incorrect (wrong_value)"; NULL: not judged */
    const char *note, *plan; /* why; the idea of a free step; NULL: none; in the tree's pool */
    bool is_under_way;       /* its answer is waited for: tried already, without an end yet */
};

struct hone_tree {
    struct hone_pool *pool;
    struct hone_node *nodes[HONE_TREE_MAX_NODES];
    int n_nodes, next_number;
    int best;      /* index, or HONE_NO_NODE */
    double paired; /* log2: mean of first looks less longer ones; 0 without both of a version */
    struct hone_edge_record *edges;
    size_t n_edges, cap_edges;
    int n_since_best; /* expansions without a new best */
};

void hone_tree_init(struct hone_tree *tree, struct hone_pool *pool);
/* A version that is not in the tree yet: nothing finds it and nothing compares it before it is
 * attached, but its index and number are those that it will have. One at a time; a draft that is
 * not wanted is left alone. source and commit are copied. NULL when the tree is full. */
struct hone_node *hone_tree_draft(struct hone_tree *tree, int parent, const char *source,
                                  const char *commit, double value, double se);
void hone_tree_attach(struct hone_tree *tree, struct hone_node *draft);
/* Both at once. */
struct hone_node *hone_tree_add(struct hone_tree *tree, int parent, const char *source,
                                const char *commit, double value, double se);
struct hone_node *hone_tree_find(const struct hone_tree *tree,
                                 const char hash[HONE_HASH_TEXT_BYTES]); /* NULL: new */
/* The version that compiled to the same machine code; NULL: none, or the word is not known. */
struct hone_node *hone_tree_find_code(const struct hone_tree *tree, const char *code);
/* Counts an expansion beneath parent and backs its value up (NaN: it failed). */
void hone_tree_back_up(struct hone_tree *tree, int parent, double value, bool is_gain);
void hone_tree_note_edge(struct hone_tree *tree, const struct hone_edge_record *edge);
/* A step whose end is waited for while others are chosen: an edge without an end, and a visit
 * without a value for who compares visits (the "unobserved samples" of Liu et al., Watch the
 * Unobserved, ICLR 2020: they widen the search without a made-up loss). Ended by the same step,
 * right before what came of it is noted. */
void hone_tree_begin_step(struct hone_tree *tree, const struct hone_edge_record *edge);
void hone_tree_end_step(struct hone_tree *tree, const struct hone_edge_record *edge);
bool hone_tree_was_tried(const struct hone_tree *tree, int parent, const char *rewrite,
                         const char *anchor, int variant);
/* Is it the best version, or one that it came from? */
bool hone_tree_is_on_the_way(const struct hone_tree *tree, int index);
/* Best among those not refuted, two at a time by what both were timed on. */
void hone_tree_update_best(struct hone_tree *tree);
/* To be called when a version's value and basis were set: keeps what a look at some of the sizes
 * said. */
void hone_node_keep_look(struct hone_node *node);
/* The version's value for a comparison with another one. A look at some of the sizes and one at all
 * of them are not comparable (the baseline may be worst at a size that was left out): where the
 * other was timed on some alone, so counts this one's own look at some. */
double hone_node_value_paired(const struct hone_node *node, const struct hone_node *other);
/* The version's value among all others, of which few had a longer look than the first: on the
 * level of first looks. Longer ones keep what they say of each other, and are moved by what they
 * are off their own first looks in the mean. */
double hone_node_corrected_value(const struct hone_tree *tree, const struct hone_node *node);
/* What `to` is faster than `from`, log2, comparable. */
double hone_node_gain(const struct hone_node *from, const struct hone_node *to);
void hone_source_hash(const char *source,
                      char ret_hex[HONE_HASH_TEXT_BYTES]); /* blind to layout and comments */

#endif
