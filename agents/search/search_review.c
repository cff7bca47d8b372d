/* SPDX-License-Identifier: Apache-2.0 */
/* A model as planner: it sees the version and what the rules would try, and says in which order.
 *
 * Asked once for each version that the policy is about to expand, through the journal. Its order
 * becomes a distribution that is mixed with the rules' (mix.h); it may add one step outside of the
 * catalogue, which only a coder that asks a model can carry out. An answer that is not the JSON
 * object that was asked for changes nothing. After three asks in a row without an answer the rules
 * go on alone. */
#include "agents/search/search_models.h"

#include <math.h>
#include <string.h>

#include "agents/coder/coder_answer.h"
#include "agents/coder/prompt.h"
#include "agents/coder/history_context.h"
#include "workspace/base/log.h"

enum { SHOWN = 8, MAX_SOURCE = 64 << 10, MAX_BEST = 4 << 10, MAX_TOKENS = 2048, MAX_FAULTS = 3 };

struct shown { /* the first untried actions of a node */
    size_t index[SHOWN];
    const char *ids[SHOWN], *strategies[SHOWN];
    size_t n;
};

static void list_actions(const struct hone_search *s, const struct hone_node *node,
                         struct hone_pool *pool, struct shown *ret)
{
    size_t n_merges = 0; /* that are still to come: those are shown whatever their prior */
    ret->n = 0;
    for (size_t i = 0; i < node->n_actions; i++)
        n_merges += node->actions[i].sibling > 0 && !node->actions[i].is_tried;
    for (size_t i = 0; i < node->n_actions && ret->n < SHOWN; i++) {
        const struct hone_action *a = &node->actions[i];
        if (!hone_policy_may_take(&s->policy_ctx, a) ||
            (a->sibling == 0 && ret->n + n_merges >= SHOWN))
            continue;
        n_merges -= a->sibling > 0;
        ret->index[ret->n] = i;
        ret->strategies[ret->n] = a->strategy->id;
        ret->ids[ret->n++] =
            hone_pool_printf(pool, "%s.%d.%.6s", a->rewrite->name, a->site.variant, a->site.anchor);
    }
}

static char *message_of(const struct hone_search *s, const struct hone_node *node,
                        const struct shown *shown, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < node->n_findings && i < 4; i++)
        hone_buf_printf(&out, "%s- %s: %s\n", i == 0 ? "What limits this version:\n" : "",
                        hone_class_name(node->findings[i].class_id), node->findings[i].rule);
    if (node->parent != HONE_NO_NODE)
        hone_buf_printf(&out, "It is %s.\n", hone_version_text(node, pool));
    hone_buf_printf(&out, "Weights now: the rules' priors %.2f, your order %.2f.\nLegal steps:\n",
                    s->state.mix.rules, s->state.mix.llm);
    for (size_t i = 0; i < shown->n; i++) {
        const struct hone_action *a = &node->actions[shown->index[i]];
        hone_buf_printf(&out,
                        "- %s: %s %s%s%s%s at lines %u-%u; expected %.2fx (%.2f to %.2f) if it "
                        "is done, chance of that %.2f\n",
                        shown->ids[i], a->strategy->id, a->rewrite->words, a->sibling ? " (" : "",
                        a->sibling ? a->site.words : "", a->sibling ? ")" : "", a->site.line,
                        a->site.last_line, exp2(a->gain), exp2(a->low), exp2(a->high), a->p_impl);
    }
    const struct hone_history_context past =
        hone_history_context_of(&s->state.tree, node->index, pool);
    const char *best = hone_best_text(&s->state.tree, node->index, pool);
    hone_prompt_past(&out, s->options->seed, &past);
    if (best)
        hone_prompt_data(&out, s->options->seed,
                         "The best versions of the whole search, best first, each by its last step "
                         "(what did well elsewhere may do well here):",
                         best, MAX_BEST);
    hone_prompt_hints(&out, s->steering->hints, s->steering->n_hints);
    hone_prompt_data(&out, s->options->seed,
                     "\nThe source:", hone_tagged_source(node->source, pool), MAX_SOURCE);
    return hone_buf_steal(&out);
}

static int ask(struct hone_search *s, const struct hone_node *node, const struct shown *shown,
               struct hone_pool *pool, struct hone_model_answer *ret, struct hone_err *err)
{
    bool is_stored = false;
    struct hone_search_models *m = s->models;
    HONE_AUTOFREE char *text = message_of(s, node, shown, pool);
    const char *system = NULL;
    int r = hone_prompt_file(m->prompts_dir, "planner.md", pool, &system, err);
    if (r < 0)
        return r;
    HONE_CLEANUP(hone_buf_done) struct hone_buf knowledge = HONE_BUF_INIT;
    hone_prompt_knowledge(&knowledge, s->options->seed, s->state.knowledge);
    const char *const stable[] = {system,
                                  hone_prompt_task(s->task, s->target, s->options->seed, pool),
                                  hone_search_machine(s), knowledge.data};
    const struct hone_model_message message = {"user", text};
    const struct hone_model_request request = {.stable = stable,
                                               .n_stable =
                                                   HONE_COUNTOF(stable) - (knowledge.len == 0),
                                               .messages = &message,
                                               .n_messages = 1,
                                               .max_tokens = MAX_TOKENS,
                                               .temperature = 0.2,
                                               .deadline_ns = hone_search_ask_deadline_ns(s),
                                               .cancel = s->ctx->cancel};
    return hone_journal_ask(m->journal, "planner", node->hash, m->planner, &request, pool, ret,
                            &is_stored, err);
}

/* One more action, at the end; its text is the search's. */
static void add_idea(struct hone_search *s, struct hone_node *node, const struct hone_step_order *r)
{
    const struct hone_rewrite *rewrite = hone_coder_rewrite(s->coder, "llm_X");
    if (!r->idea || !rewrite ||
        hone_credit_is_banned(&s->state.credit, hone_strategy_of(rewrite)) ||
        node->n_actions == 0 || node->n_actions == HONE_TREE_MAX_ACTIONS)
        return;
    struct hone_action *all = hone_pool_alloc(s->pool, (node->n_actions + 1) * sizeof(*all));
    memcpy(all, node->actions, node->n_actions * sizeof(*all));
    struct hone_action *a = &all[node->n_actions];
    *a = (struct hone_action){.rewrite = rewrite,
                              .strategy = hone_strategy_of(rewrite),
                              .rule = "the planning model's idea",
                              .values = "",
                              .boost = 1,
                              .plan = hone_pool_strdup(s->pool, r->idea)};
    a->site.words = "whole file";
    a->site.evidence = hone_pool_printf(s->pool, "%.200s", r->idea);
    hone_site_whole(&a->site, node->source, node->hash);
    if (hone_tree_was_tried(&s->state.tree, node->index, rewrite->name, a->site.anchor, 0))
        return;
    a->low = r->idea_log2 - 1;
    a->gain = r->idea_log2;
    a->high = r->idea_log2 + 1;
    node->actions = all;
    node->n_actions++;
}

static int no_answer(struct hone_search_models *m, const struct hone_err *cause,
                     struct hone_err *err)
{
    enum hone_model_fault fault = hone_model_fault_of(cause);
    if (fault == HONE_FAULT_NONE || fault == HONE_FAULT_CANCEL || fault == HONE_FAULT_LOCAL) {
        if (err)
            *err = *cause;
        return (int)cause->code;
    }
    if (++m->n_faults == MAX_FAULTS)
        hone_log(HONE_LOG_WARN,
                 "planner: %d asks without an answer; going on with the rules "
                 "alone error=\"%s\"",
                 MAX_FAULTS, cause->message);
    return 0;
}

bool hone_search_wants_review(const struct hone_search *s, int node)
{
    const struct hone_search_models *m = s->models;
    return m && m->planner && !s->state.tree.nodes[node]->is_reviewed && m->n_faults < MAX_FAULTS;
}

int hone_search_review(struct hone_search *s, int index, bool *ret_did, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_models *m = s->models;
    struct hone_node *node = s->state.tree.nodes[index];
    struct hone_model_answer answer;
    struct hone_step_order review;
    struct hone_err cause = HONE_ERR_INIT;
    struct shown shown;
    *ret_did = false;
    if (!hone_search_wants_review(s, index))
        return 0;
    node->is_reviewed = true;
    list_actions(s, node, pool, &shown);
    if (shown.n == 0)
        return 0;
    if (ask(s, node, &shown, pool, &answer, &cause) < 0) {
        if (!hone_search_take_refusal(s, (int)cause.code))
            return no_answer(m, &cause, err);
        m->n_faults = MAX_FAULTS; /* a cap on models: the rules plan alone */
        return 0;
    }
    m->n_faults = 0;
    const struct hone_steps_shown steps = {shown.ids, shown.strategies, shown.n};
    bool is_good = hone_step_order_parse(answer.text, &steps, pool, &review, &cause) == 0;
    int r = hone_journal_note(m->journal, "planner", node->hash, is_good ? NULL : cause.message,
                              is_good ? review.left_out : NULL, err);
    if (r < 0 || !is_good)
        return r;
    for (size_t i = 0; i < review.n_order; i++)
        review.order[i] = shown.index[review.order[i]];
    hone_step_order_apply(&review, &s->state.mix, node->actions, node->n_actions);
    add_idea(s, node, &review);
    hone_search_tell(s, "planner %s: %s first%s%.80s%s%.80s", hone_model_name(m->planner),
                     review.n_order > 0 ? node->actions[review.order[0]].rewrite->words : "nothing",
                     review.idea ? "; idea: " : "", review.idea ? review.idea : "",
                     review.left_out ? "; " : "", review.left_out ? review.left_out : "");
    *ret_did = true;
    return 0;
}

int hone_search_learn_mix(struct hone_search *s, double p_rules, double p_llm, struct hone_err *err)
{
    struct hone_search_models *m = s->models;
    if (!m || !m->planner || p_llm <= 0)
        return 0;
    struct hone_mix mix = s->state.mix;
    hone_mix_learn(&mix, p_rules, p_llm);
    struct hone_event e = {.type = HONE_EVENT_WEIGHTS,
                           .weights = {.search = s->id, .rules = mix.rules, .llm = mix.llm}};
    return hone_search_record_event(s, &e, NULL, NULL, err);
}
