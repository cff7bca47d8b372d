/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/mix.h"

#include <math.h>
#include <string.h>

#define START_RULES 0.35
#define START_LLM   0.20
#define RATE        0.2
#define FLOOR       0.05
#define UNIFORM     0.10
#define FREE_PRIOR  0.10 /* of a step from outside of the catalogue */
#define LEFT_OUT    0.02 /* of a step that the order does not name; the first named has 0.5 */
#define LEAST       1e-3 /* no model is that sure */

void hone_mix_init(struct hone_mix *mix)
{
    mix->rules = START_RULES / (START_RULES + START_LLM);
    mix->llm = 1 - mix->rules;
}

void hone_mix_learn(struct hone_mix *mix, double p_rules, double p_llm)
{
    double rules = mix->rules * pow(fmax(p_rules, LEAST), RATE);
    double llm = mix->llm * pow(fmax(p_llm, LEAST), RATE);
    mix->rules = fmin(1 - FLOOR, fmax(FLOOR, rules / (rules + llm)));
    mix->llm = 1 - mix->rules;
}

/* ---- the answer ---- */

struct idea {
    const char *what;
    double expect_log2;
};
struct answer {
    struct hone_strs order;
    struct idea *idea;
    const char *why;
};

static const struct hone_field idea_fields[] = {
    HONE_FIELD(struct idea, what, .required = true, .max_len = 1000, .help = "In words."),
    HONE_FIELD(struct idea, expect_log2, .min = -10, .max = 10, .help = "Expected log2 gain."),
};
static const struct hone_field answer_fields[] = {
    HONE_FIELD(struct answer, order, .required = true, .max_len = HONE_TREE_MAX_ACTIONS,
               .help = "Ids, best first."),
    HONE_FIELD_OBJ(struct answer, idea, idea_fields, .help = "Outside of the list."),
    HONE_FIELD(struct answer, why, .max_len = 2000, .help = "In words."),
};

/* The step that an id names, by itself or as the only one of its strategy; n: none. */
static size_t find_step(const struct hone_steps_shown *steps, const char *id)
{
    size_t found = steps->n, n_found = 0;
    for (size_t i = 0; i < steps->n; i++)
        if (strcmp(steps->ids[i], id) == 0)
            return i;
    for (size_t i = 0; i < steps->n; i++)
        if (steps->strategies && strcmp(steps->strategies[i], id) == 0) {
            found = i;
            n_found++;
        }
    return n_found == 1 ? found : steps->n;
}

static void note_id(const char *id, const struct hone_steps_shown *steps, struct hone_buf *left_out,
                    struct hone_step_order *ret)
{
    size_t i = find_step(steps, id);
    if (i == steps->n) {
        hone_buf_printf(left_out, "%s'%.60s'", left_out->data ? ", " : "", id);
        return;
    }
    for (size_t k = 0; k < ret->n_order; k++)
        if (ret->order[k] == i)
            return; /* its first place counts */
    ret->order[ret->n_order++] = i;
}

int hone_step_order_parse(const char *text, const struct hone_steps_shown *steps,
                          struct hone_pool *pool, struct hone_step_order *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf left_out = HONE_BUF_INIT;
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct answer a;
    struct hone_step_order made = {.idea = NULL};
    text += strspn(text, " \t\r\n");
    size_t len = strlen(text);
    if (strncmp(text, "```json", 7) == 0 && len > 10) { /* models like to fence it */
        text += 7;
        const char *end = strstr(text, "```");
        len = end ? (size_t)(end - text) : strlen(text);
    }
    int r = hone_json_parse(text, len, &json, err);
    if (r == 0)
        r = hone_fields_decode(json, answer_fields, HONE_COUNTOF(answer_fields), &a, sizeof(a),
                               pool, err);
    if (r < 0)
        return hone_fail(err, HONE_E_ARG, "the answer is not the JSON object that was asked for");
    for (size_t i = 0; i < a.order.n; i++)
        note_id(a.order.v[i], steps, &left_out, &made);
    if (made.n_order == 0 && left_out.data)
        return hone_fail(err, HONE_E_ARG, "none of the order is in the list: %.300s",
                         left_out.data);
    if (made.n_order == 0)
        return hone_fail(err, HONE_E_ARG, "the order is empty");
    if (a.idea && a.idea->what[strspn(a.idea->what, " \t\n")]) {
        made.idea = a.idea->what;
        made.idea_log2 = a.idea->expect_log2;
    }
    if (left_out.data)
        made.left_out = hone_pool_printf(pool, "not in the list: %.300s", left_out.data);
    *ret = made;
    return 0;
}

void hone_step_order_apply(const struct hone_step_order *review, const struct hone_mix *mix,
                           struct hone_action *actions, size_t n)
{
    double left = 1, sum = 0;
    for (size_t i = 0; i < n; i++) {
        actions[i].p_llm = LEFT_OUT;
        actions[i].w_llm = mix->llm;
    }
    for (size_t i = 0; i < review->n_order; i++) {
        left /= 2;
        actions[review->order[i]].p_llm += left;
    }
    for (size_t i = 0; i < n; i++)
        sum += actions[i].p_llm;
    for (size_t i = 0; i < n; i++)
        actions[i].p_llm /= sum;
}

void hone_step_order_extend(struct hone_action *actions, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        sum += actions[i].p_llm;
        if (actions[i].p_llm > 0)
            actions[n - 1].w_llm = actions[i].w_llm;
    }
    if (sum <= 0)
        return;
    actions[n - 1].p_llm = LEFT_OUT * sum;
    for (size_t i = 0; i < n; i++)
        actions[i].p_llm /= 1 + LEFT_OUT;
}

void hone_mix_priors(struct hone_action *actions, size_t n)
{
    double share = 1;
    for (size_t i = 0; i < n; i++) {
        struct hone_action *a = &actions[i];
        a->p_rules = a->prior;
        if (a->p_llm > 0)
            a->prior = UNIFORM / (double)n +
                       (1 - UNIFORM) * ((1 - a->w_llm) * a->p_rules + a->w_llm * a->p_llm);
        if (a->plan)
            share -= FREE_PRIOR;
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += actions[i].plan ? 0 : actions[i].prior;
    if (share >= 1 || sum <= 0)
        return;
    for (size_t i = 0; i < n; i++)
        actions[i].prior = actions[i].plan ? FREE_PRIOR : actions[i].prior * share / sum;
}
