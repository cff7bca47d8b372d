/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of hone_evaluate: shared by evaluate*.c only. */
#ifndef HONE_TOOLS_EVALUATE_INTERNAL_H
#define HONE_TOOLS_EVALUATE_INTERNAL_H

#include "tools/evaluate.h"
#include "tools/evaluate_text.h"
#include "workspace/base/hash.h"
#include "workspace/history.h"

struct hone_tier_row {
    enum hone_tier tier;
    const char *stages;
    int64_t n_hidden, budget_ms, workload_budget_ms, timeout_ms;
};

struct hone_evaluate_work {
    struct hone_tool_ctx *ctx;
    const struct hone_evaluation_request *req;
    const struct hone_tier_row *tier;
    const char *target, *extension;
    const char *parent;              /* commit id, NULL: none */
    struct hone_version parent_read; /* when the parent is an arm */
    const char *baseline_source;     /* NULL: nothing is timed */
    const char *parent_refutation;   /* where it would be an arm; NULL: it was not found wrong */
    bool is_parent_baseline;         /* its own text, as it is */
    char answer_key[HONE_HASH_TEXT_BYTES], version_key[HONE_HASH_TEXT_BYTES];
    char baseline_key[HONE_HASH_TEXT_BYTES];
    const char *id, *call_dir;
    uint64_t start;
    struct hone_report report;
    const char *refutation; /* as in struct hone_evaluation */
    const char *report_text, *compact, *blob;
};

/* evaluate_check.c: fills tier, target, parent and baseline; refuses what nobody could evaluate. */
int hone_evaluate_prepare(struct hone_evaluate_work *w, struct hone_err *err);
const struct hone_tier_row *hone_tier_screen(void);
const char *hone_evaluate_stages(const struct hone_evaluate_work *w); /* comma list */
bool hone_evaluate_is_timed(const struct hone_evaluate_work *w);

/* evaluate_parent.c: what is known of the parent that the request wants timed. */
void hone_evaluate_look_at_parent(struct hone_evaluate_work *w);
bool hone_evaluate_times_parent(const struct hone_evaluate_work *w); /* as an arm of its own */
/* Puts into the report why it was not timed, or the baseline's ratios in its place. */
void hone_evaluate_tell_of_parent(const struct hone_evaluate_work *w, struct hone_report *report);
/* Fills known and known_device of the parent's arm; nothing where it
 * has no record. */
int hone_evaluate_parent_record(const struct hone_evaluate_work *w, struct hone_arm *ret,
                                struct hone_err *err);

/* evaluate_cache.c: what is known already. */
void hone_evaluate_make_keys(struct hone_evaluate_work *w);
bool hone_evaluate_look_up(const struct hone_evaluate_work *w, struct hone_evaluation *ret);
/* Stores the answer; never fails: the answer stands without the cache. */
void hone_evaluate_keep(const struct hone_evaluate_work *w, const char *commit);
/* Stores that the source is a version now; never fails either. */
void hone_evaluate_keep_version(const struct hone_evaluate_work *w, const char *commit);
/* The commit that holds this source already; NULL: none. */
const char *hone_evaluate_known_version(const struct hone_evaluate_work *w);
bool hone_evaluate_is_baseline_good(const struct hone_evaluate_work *w);
/* A version that was found wrong once stays so: another answer gets a doubt that says where, which
 * is given back; NULL: it was not found wrong, or this answer says so itself. */
const char *hone_evaluate_doubt_refuted(const struct hone_evaluate_work *w, const char *commit,
                                        struct hone_report *report);
bool hone_evaluate_is_worth_a_commit(const struct hone_evaluate_work *w);

#endif
