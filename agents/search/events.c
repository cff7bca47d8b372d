/* SPDX-License-Identifier: Apache-2.0 */
/* The field tables of the search's ledger records, and the two ways through them: hone_event_append
 * encodes an event by its table, hone_event_read decodes one. Which table is whose stands in one array
 * by type; a record of a type that no row names is no event of a search. */
#include "agents/search/events.h"

#include <math.h>
#include <string.h>

#define NO_NUMBER .fallback_f64 = (double)NAN

#define CAP_ROW(type_, member_)                                                                    \
    {                                                                                              \
        .name = #member_, .type = HONE_FIELD_TYPE_OF(((type_ *)0)->caps.member_),                  \
        .offset = offsetof(type_, caps.member_)                                                    \
    }
#define CAP_ROWS(type_)                                                                            \
    CAP_ROW(type_, budget_wall_ms), CAP_ROW(type_, budget_evaluations),                            \
        CAP_ROW(type_, budget_device_ms), CAP_ROW(type_, budget_disk_bytes),                       \
        CAP_ROW(type_, budget_cost), CAP_ROW(type_, budget_tokens)

#define ROW(member, ...) HONE_FIELD(struct hone_event_start, member, __VA_ARGS__)
static const struct hone_field start_fields[] = {
    ROW(search),
    ROW(key),
    ROW(task),
    ROW(task_hash),
    ROW(target),
    ROW(name),
    ROW(policy),
    ROW(coder),
    ROW(planner),
    ROW(model),
    ROW(machine),
    ROW(seed),
    CAP_ROWS(struct hone_event_start),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_run, member, __VA_ARGS__)
static const struct hone_field run_fields[] = {
    ROW(search),
    ROW(name),
    CAP_ROWS(struct hone_event_run),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_step, member, __VA_ARGS__)
static const struct hone_field step_fields[] = {
    ROW(search),
    ROW(step),
    ROW(parent, .fallback_i64 = -1),
    ROW(depth),
    ROW(rewrite),
    ROW(strategy),
    ROW(anchor),
    ROW(variant),
    ROW(rule),
    ROW(values),
    ROW(prior),
    ROW(p_impl),
    ROW(expected_log2, NO_NUMBER),
    ROW(low, NO_NUMBER),
    ROW(high, NO_NUMBER),
    ROW(propensity, NO_NUMBER),
    ROW(by),
    ROW(submission, .skip_empty = true),
    ROW(planner),
    ROW(features),
    ROW(legal),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_result, member, __VA_ARGS__)
static const struct hone_field result_fields[] = {
    ROW(search),
    ROW(step),
    ROW(kind),
    ROW(parent, .fallback_i64 = -1),
    ROW(node, .fallback_i64 = -1),
    ROW(elapsed_ms),
    ROW(evaluations),
    ROW(rewrite),
    ROW(anchor),
    ROW(variant),
    ROW(is_implemented),
    ROW(submission, .skip_empty = true),
    ROW(moved),
    ROW(class),
    ROW(gain, NO_NUMBER),
    ROW(g_eff, NO_NUMBER),
    ROW(reward, NO_NUMBER),
    ROW(prior, NO_NUMBER),
    ROW(words),
    ROW(note),
    ROW(plan),
    ROW(is_declined, .skip_empty = true),
    ROW(is_gain),
    ROW(value, NO_NUMBER),
    ROW(se, NO_NUMBER),
    ROW(ratio_low, .skip_empty = true),
    ROW(ratio_high, .skip_empty = true),
    ROW(look),
    ROW(sizes_timed, .skip_empty = true),
    ROW(sizes, .skip_empty = true),
    ROW(times),
    ROW(profile),
    ROW(verdict),
    ROW(reason),
    ROW(evaluation),
    ROW(commit),
    ROW(code),
    ROW(settings),
    ROW(ratio, NO_NUMBER),
    ROW(wall_ms, .skip_empty = true),
    ROW(measured),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_steered, member, __VA_ARGS__)
static const struct hone_field steered_fields[] = {
    ROW(search), ROW(steer), ROW(action), ROW(step), ROW(elapsed_ms),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_answer, member, __VA_ARGS__)
static const struct hone_field answer_fields[] = {
    ROW(search),
    ROW(submission),
    ROW(status),
    ROW(note),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_weights, member, __VA_ARGS__)
static const struct hone_field weights_fields[] = {
    ROW(search),
    ROW(rules),
    ROW(llm),
};
#undef ROW

static const struct hone_field end_fields[] = {
    HONE_FIELD(struct hone_event_end, search),
};

static const struct row {
    const char *type;
    const struct hone_field *fields;
    size_t n_fields, size;
} rows[HONE_N_EVENTS] = {
#define TYPE(name_, word_)                                                                         \
    {                                                                                              \
        word_, name_##_fields, HONE_COUNTOF(name_##_fields), sizeof(struct hone_event_##name_)     \
    }
    [HONE_EVENT_START] = TYPE(start, "search.start"),
    [HONE_EVENT_RUN] = TYPE(run, "search.run"),
    [HONE_EVENT_STEP] = TYPE(step, "search.step"),
    [HONE_EVENT_RESULT] = TYPE(result, "search.result"),
    [HONE_EVENT_STEERED] = TYPE(steered, "search.steered"),
    [HONE_EVENT_ANSWER] = TYPE(answer, "search.answer"),
    [HONE_EVENT_WEIGHTS] = TYPE(weights, "planner.weights"),
    [HONE_EVENT_END] = TYPE(end, "search.end"),
#undef TYPE
};

const char *const hone_result_kinds[HONE_N_KINDS + 1] = {
    [HONE_KIND_ROOT] = "root",   [HONE_KIND_EXPAND] = "expand", [HONE_KIND_DECIDE] = "decide",
    [HONE_KIND_SWEEP] = "sweep", [HONE_KIND_TUNE] = "tune",     [HONE_KIND_CONFIRM] = "confirm",
};

struct hone_event hone_event_new_result(enum hone_result_kind kind)
{
    const double none = (double)NAN;
    return (struct hone_event){.type = HONE_EVENT_RESULT,
                               .result = {.kind = hone_result_kinds[kind],
                                          .parent = -1,
                                          .node = -1,
                                          .gain = none,
                                          .g_eff = none,
                                          .reward = none,
                                          .prior = none,
                                          .value = none,
                                          .ratio = none}};
}

enum hone_result_kind hone_event_kind(const struct hone_event_result *result)
{
    int i = 0;
    while (i < HONE_N_KINDS && strcmp(hone_result_kinds[i], result->kind ? result->kind : "") != 0)
        i++;
    return (enum hone_result_kind)i;
}

/* A longer look was no step: how one was carried out is not said. */
static void drop_step(struct hone_json *data)
{
    hone_json_free(hone_json_detach(data, "variant"));
    hone_json_free(hone_json_detach(data, "is_implemented"));
}

int hone_event_append(struct hone_ledger *ledger, const struct hone_event *event, uint64_t *ret_n,
                      struct hone_err *err)
{
    const struct row *row = &rows[event->type];
    HONE_AUTOJSON struct hone_json *data =
        hone_fields_encode(&event->start, row->fields, row->n_fields);
    if (event->type == HONE_EVENT_RESULT && !event->result.rewrite)
        drop_step(data);
    return hone_ledger_append(ledger, row->type, data, ret_n, err);
}

bool hone_event_read(const char *type, const struct hone_json *data, struct hone_pool *pool,
                     struct hone_event *ret)
{
    for (int i = 0; i < HONE_N_EVENTS; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->type, type) != 0)
            continue;
        ret->type = (enum hone_event_type)i;
        return hone_fields_read(data, row->fields, row->n_fields, &ret->start, row->size, pool);
    }
    return false;
}
