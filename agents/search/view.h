/* SPDX-License-Identifier: Apache-2.0 */
/* A search as an outside planner sees it: from its records, whether it runs or not, in
 * whichever process. What it would expand next follows from the records, because
 * choices are deterministic.
 *
 *     struct hone_steer_search which;
 *     struct hone_view view;
 *     hone_steer_find(ctx->app->ws, "softmax", ctx->pool, &which, err);
 *     hone_view_read(ctx, &which, NULL, &view, err);
 *     the best step of view.commit is view.actions[0], if view.n_actions > 0
 *
 * Any thread. Blocks: it reads every record of the search, and parses the sources that the policy
 * asks for. Runs nothing and writes nothing. */
#ifndef HONE_AGENTS_VIEW_H
#define HONE_AGENTS_VIEW_H

#include "agents/planner/step_mask.h"
#include "agents/search/steer.h"
#include "tools/tool.h"

enum { HONE_VIEW_VERSIONS = 32 };

struct hone_view_version {
    int64_t node, parent;
    const char *commit, *words;
    double speedup;        /* screened or decided, over the baseline */
    int64_t tries;         /* steps that were taken from it */
    bool is_best, is_next; /* is_next: the built-in planner would expand it */
};

struct hone_view_tries { /* of one strategy in this search */
    int64_t tries, gains;
};

struct hone_view {      /* everything lives in ctx->pool */
    const char *commit; /* the version that was asked for */
    double speedup;
    struct hone_features features;
    struct hone_finding findings[HONE_N_CLASSES];
    size_t n_findings;
    struct hone_action *actions; /* legal and untried, best first; what is left out comes last */
    size_t n_actions;
    double cost_error;           /* of the search's cost model, log2; 0: it has none */
    struct hone_action *by_hand; /* strategies for somebody who writes code, best first */
    size_t n_by_hand;
    bool would_stop;                    /* the built-in planner sees nothing that is worth trying */
    bool is_by_hand;                    /* the search's coder does nothing by itself */
    struct hone_view_tries *tries;      /* by index in the catalogue */
    struct hone_view_version *versions; /* best first */
    size_t n_versions;
    struct hone_steering *steering;
};
/* commit: a full id of a version of the search; NULL: what it would expand next. HONE_E_ARG: it is no
 * version of the search. HONE_E_NOT_FOUND: the search has none that fits the task pack as it is now.
 * HONE_E_UNSUPPORTED: libclang is missing. */
int hone_view_read(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                   const char *commit, struct hone_view *ret, struct hone_err *err);
/* Its archive (agents/planner/archive.h) as JSON: axes, and for each cell its bins in words, the
 * version that stands for it (node, commit, words, speedup, look) and how many fell into it. The same
 * for the same records. Owned. Errors as above. */
int hone_view_archive(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                      struct hone_json **ret, struct hone_err *err);

#endif
