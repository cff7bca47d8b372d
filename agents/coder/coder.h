/* SPDX-License-Identifier: Apache-2.0 */
/* Coders: who edits the source. A table, one row each.
 *
 * The planner asks a coder what it can do at a version (hone_coder_steps, hone_coder_regions) and
 * proposes only that; the search then asks for one step (hone_coder_step). A rewrite is a name
 * for "this coder carries out that strategy": the rule coder's have functions of their own
 * (coder_rules.h); the model's are made from the catalogue, one for each strategy, named "llm_C08".
 *
 *   rules     source-to-source rewrites; no model, no network
 *   llm       a language model edits the source
 *   auto      rules where one of them applies, the model elsewhere
 *   external  outside agents alone (steer.h): it does nothing by itself
 *
 * Calling sequence:
 *
 *     struct hone_coder *coder;
 *     hone_coder_open(&setup, &coder, err);
 *     steps = hone_coder_steps(coder);                               what it may ever do
 *     n = hone_coder_regions(coder, steps.rewrites[i], &in, sites);  where, in this version
 *     struct hone_coder_work work = {
 *         .source = text, .rewrite = steps.rewrites[i], .site = &sites[0]};
 *     hone_coder_step(coder, &work, pool, &outcome, err);            outcome.source, or a refusal
 *     hone_coder_close(coder);
 *
 * A coder belongs to one search and one thread. Answers can be asked for ahead
 * (hone_coder_ask_begin): those requests wait on threads of their own, the coder itself stays where
 * it is. */
#ifndef HONE_AGENTS_CODER_H
#define HONE_AGENTS_CODER_H

#include "agents/planner/catalogue.h"
#include "agents/planner/step_mask.h"
#include "agents/coder/prompt.h"
#include "tools/format/report.h"

struct hone_journal; /* agents/model/journal.h: models are asked through it */
struct hone_model;   /* agents/model/model.h */
struct hone_coder;   /* opaque */

struct hone_coder_setup { /* borrowed for the coder's life */
    const char *name;     /* NULL: rules */
    const char *target;
    const struct hone_task *task;
    struct hone_c_parser *parser;
    /* For coders that ask a model; others leave them alone. */
    struct hone_model *model;
    struct hone_journal *journal;
    const char *prompts_dir; /* folder of the prompt files */
    int64_t seed;
    int64_t max_tokens;  /* of one answer; 0: 16384 */
    int64_t deadline_ns; /* HONE_NO_DEADLINE */
    int64_t repairs;     /* after a failure; 0: none */
    int n_beside;        /* asks under way beside the one that is waited for */
    bool only_lists;     /* no step will be asked for: models are not needed */
    const struct hone_cancel *cancel;
};

bool hone_coder_is_known(const char *name);
bool hone_coder_asks_model(const char *name);
/* HONE_E_ARG lists the names; HONE_E_NOT_FOUND: a prompt file is missing. */
int hone_coder_open(const struct hone_coder_setup *setup, struct hone_coder **ret,
                    struct hone_err *err);
void hone_coder_close(struct hone_coder *coder); /* NULL is fine */
const char *hone_coder_name(const struct hone_coder *coder);
/* Who of it carries out the rewrite: "rules", "llm NAME". */
const char *hone_coder_of(const struct hone_coder *coder, const struct hone_rewrite *rewrite);

/* For a version that libclang cannot read (another header, syntax that it does not know): an input
 * that shows the whole file as one region. HONE_E_UNSUPPORTED: this coder needs more than that. */
int hone_coder_blind(const struct hone_coder *coder, const char *source, struct hone_pool *pool,
                     struct hone_coder_input *ret, struct hone_err *err);

/* One of them by name, also after a restart; NULL: none. */
const struct hone_rewrite *hone_coder_rewrite(const struct hone_coder *coder, const char *name);
/* The one for what won on a sibling (merge.h); NULL: no model is asked (any more). */
const struct hone_rewrite *hone_coder_merging(const struct hone_coder *coder);
/* Stands for "somebody outside carried that strategy out"; named "ext_C08", known to every coder.
 * NULL: no such strategy. */
const struct hone_rewrite *hone_coder_outside(const struct hone_coder *coder, const char *strategy);
/* Where it could do it in this version, best first, anchors filled in; 0: nowhere. */
size_t hone_coder_regions(const struct hone_coder *coder, const struct hone_rewrite *rewrite,
                          const struct hone_coder_input *in,
                          struct hone_coder_site ret[HONE_CODER_MAX_SITES]);

/* Both of them for the planner's mask (step_mask.h); borrows the coder. */
struct hone_step_list hone_coder_steps(const struct hone_coder *coder);

/* From now on no model is asked: what only one could do has no region any more. */
void hone_coder_mute(struct hone_coder *coder);

struct hone_coder_work { /* one step, or the repair of one */
    const char *source;  /* the version to edit */
    const struct hone_rewrite *rewrite;
    const struct hone_strategy *strategy;
    const struct hone_coder_site *site;   /* anchor and variant count; the node need not */
    const struct hone_features *features; /* of the version; may be NULL */
    const struct hone_finding *findings;  /* what limits it, worst first */
    size_t n_findings;
    const char *plan;    /* what the planner wants done, in words; NULL: the strategy says it */
    const char *sibling; /* the diff whose idea is to be taken over (merge.h); NULL: none */
    const char *const *hints; /* the user's, for models */
    size_t n_hints;
    /* A repair: what was tried before and why it failed (hone_diagnose). */
    int64_t n_repair; /* 0: the first try */
    const char *failed_source, *failure;
    const char *refused; /* the last answer, when it was refused and made no source; else NULL */
    int64_t deadline_ns; /* of this step; 0: the setup's */
    const struct hone_err
        *failed_ask;                  /* of the first try, made ahead: it brought no answer; NULL */
    struct hone_history_context past; /* of the version, for models */
    const char
        *knowledge;      /* for models: lines for hone_prompt_knowledge, the same each time; NULL */
    const char *machine; /* for models (prompt_machine.h), the same each time; NULL: not known */
};

struct hone_coder_outcome {                /* strings in the pool */
    const char *source;                    /* NULL: the coder refused or could not */
    const char *refusal;                   /* why, in words; NULL when there is a source */
    const char *refused;                   /* a model's answer that was refused; else NULL */
    const char *declined;                  /* or: it says that the step cannot help here, and why */
    bool is_unanswered;                    /* a model gave no answer: nobody's fault here */
    int64_t n_asks, tokens_in, tokens_out; /* of models, this step */
    double cost;                           /* USD; NaN: not known */
};

/* Applies one step. 0 also when the coder refused or declined (see the outcome): that is data.
 * Negative: the search cannot go on so: HONE_E_CANCEL, HONE_E_LIMIT (a cap), HONE_E_IO (the disk), or
 * the code of the model's fault, when requests in a row brought no answer. Blocks while a model
 * is asked. */
int hone_coder_step(struct hone_coder *coder, const struct hone_coder_work *work,
                    struct hone_pool *pool, struct hone_coder_outcome *ret, struct hone_err *err);
/* Asks for the first answer of a step while something else is done. The answer is stored as it
 * comes; hone_coder_step of the same work finds it there. The coder, work's site and rewrite
 * and the model (its own, for as long as the ask lasts) are borrowed until the end. *ret NULL:
 * nothing has to be asked (a rule, or the answer is stored), or it failed: HONE_E_LIMIT (a cap, by
 * the journal's gate), HONE_E_IO (the disk). Otherwise hone_coder_ask_end frees it. */
struct hone_coder_ask; /* opaque */
int hone_coder_ask_begin(struct hone_coder *coder, const struct hone_coder_work *work,
                         struct hone_model *model, const struct hone_cancel *cancel,
                         struct hone_coder_ask **ret, struct hone_err *err);
bool hone_coder_ask_has_ended(const struct hone_coder_ask *ask);
/* Waits for it and frees it; the ask's own error, for work.failed_ask. NULL: 0. */
int hone_coder_ask_end(struct hone_coder_ask *ask, struct hone_err *err);
/* Did the last ask bring no answer? */
bool hone_coder_is_failing(const struct hone_coder *coder);
/* Is the first answer of that step stored? */
bool hone_coder_is_answered(struct hone_coder *coder, const struct hone_coder_work *work);
/* Rewrite, anchor and variant of steps whose first answer is stored, as they were asked. */
struct hone_coder_begun {
    const char *rewrite, *anchor;
    int variant;
};
size_t hone_coder_list_begun(struct hone_coder *coder, struct hone_pool *pool,
                             struct hone_coder_begun **ret);
/* How often a failed step may be tried again; 0 for rules. */
int64_t hone_coder_repairs(const struct hone_coder *coder);

/* What went wrong with a version, worst first, a few lines: the first compiler error with its
 * source lines, the first wrong element, the time limit. For repairs. In the pool. */
const char *hone_diagnose(const struct hone_report *report, struct hone_pool *pool);

#endif
