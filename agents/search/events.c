/* SPDX-License-Identifier: Apache-2.0 */
/* The field tables of the search's ledger records, and the two ways through them: hone_event_append
 * encodes an event by its table, hone_event_read decodes one. Which table is whose stands in one array
 * by type; a record of a type that no row names is no event of a search. */
#include "agents/search/events.h"
#include "tools/format/report.h"

#include <math.h>
#include <string.h>

#include "workspace/base/limits.h"

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
    ROW(prior, .skip_empty = true),
    ROW(knowledge),
    ROW(skip_below, .skip_empty = true),
    ROW(cost, .skip_empty = true),
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

#define ROW(member, ...) HONE_FIELD(struct hone_event_left_out, member, __VA_ARGS__)
static const struct hone_field left_out_fields[] = {
    ROW(search),
    ROW(step),
    ROW(parent, .fallback_i64 = -1),
    ROW(rewrite),
    ROW(strategy),
    ROW(anchor),
    ROW(variant),
    ROW(words),
    ROW(predicted_log2, NO_NUMBER),
    ROW(error_log2, NO_NUMBER),
    ROW(chance, NO_NUMBER),
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

#define ROW(member, ...) HONE_FIELD(struct hone_event_steer, member, __VA_ARGS__)
static const struct hone_field steer_fields[] = {
    ROW(search), ROW(action), ROW(strategy), ROW(text), ROW(by),
};
#undef ROW

#define ROW(member, ...) HONE_FIELD(struct hone_event_submit, member, __VA_ARGS__)
static const struct hone_field submit_fields[] = {
    ROW(search),
    ROW(by),
    ROW(commit),
    ROW(rewrite),
    ROW(anchor),
    ROW(variant),
    ROW(strategy),
    ROW(source, .max_len = HONE_LIMIT_SOURCE_BYTES),
    ROW(expected, NO_NUMBER),
    ROW(words),
};
#undef ROW

static const struct hone_field count_fields[] = {
    HONE_FIELD(struct hone_search_count, verdict, .required = true, .help = "Verdict word."),
    HONE_FIELD(struct hone_search_count, n, .required = true,
               .help = "How many evaluations ended so."),
};

#define ROW(member, ...) HONE_FIELD(struct hone_search_result, member, __VA_ARGS__)
const struct hone_field hone_search_result_fields[HONE_SEARCH_N_RESULT_FIELDS] = {
    ROW(task, .required = true, .help = "Task."),
    ROW(target, .required = true, .help = "Target."),
    ROW(name, .help = "Search name: the branch is search/NAME."),
    ROW(baseline_ns, .unit = "ns",
        .help = "One call of the baseline, geometric mean over the workloads of the confirmation."),
    ROW(best_ns, .unit = "ns", .help = "One call of the best version, in the same run."),
    ROW(speedup, .help = "Confirmed geometric-mean ratio, baseline over best."),
    ROW(ci, .help = "Its 95 % interval: low, high."),
    ROW(vs_fast_math, .skip_empty = true,
        .help = "The same over the baseline built with -ffast-math."),
    ROW(yardsticks, HONE_OF(struct hone_yardstick, hone_yardstick_fields),
        .help = "What else was timed in the same run: name, ratio, low, high."),
    ROW(evaluations, .help = "Evaluations that were run."),
    ROW(verdicts, HONE_OF(struct hone_search_count, count_fields), .help = "How they ended."),
    ROW(unruly, .help = "Versions that failed where the baseline worked."),
    ROW(best_commit, .help = "Commit of the best version."),
    ROW(percent_of_bound, .help = "100 * physics floor / time of the best version."),
    ROW(verdict, .help = "Verdict of the confirmation."),
    ROW(why_stopped, .help = HONE_STOP_WORDS),
    ROW(summary, .help = "One line."),
    ROW(doubt, .skip_empty = true, .help = "Why the figure may not be claimed; none: it may."),
    ROW(rests_on, .skip_empty = true,
        .help = "What the figure rests on: fast-math, precision, accuracy, threads, flags."),
    ROW(unread, .skip_empty = true,
        .help = "Loop nests of the baseline that no rule reads, and why."),
    ROW(is_resumed, .help = "It went on from an earlier run's records."),
    ROW(wall_ms, .unit = "ms", .help = "Wall time, all runs of this round."),
    ROW(waited_ms, .unit = "ms", .skip_empty = true,
        .help = "Beside it, for other timings on this machine."),
    ROW(waited_for, .skip_empty = true, .help = "Who held the timing lease last."),
    ROW(unconfirmed, .skip_empty = true,
        .help = "Why no confirmation began, or why one was stopped."),
    ROW(device_ms, .unit = "ms", .help = "Wall time of its evaluations, all rounds."),
    ROW(tokens, .help = "Of models, all rounds."),
    ROW(cost, .unit = "USD",
        .help = "Of models, all rounds; asks without an answer with what was set aside."),
};
const size_t hone_search_n_result_fields = HONE_COUNTOF(hone_search_result_fields);
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
    [HONE_EVENT_LEFT_OUT] = TYPE(left_out, "search.left_out"),
    [HONE_EVENT_RESULT] = TYPE(result, "search.result"),
    [HONE_EVENT_STEERED] = TYPE(steered, "search.steered"),
    [HONE_EVENT_ANSWER] = TYPE(answer, "search.answer"),
    [HONE_EVENT_WEIGHTS] = TYPE(weights, "planner.weights"),
    [HONE_EVENT_STEER] = TYPE(steer, "search.steer"),
    [HONE_EVENT_SUBMIT] = TYPE(submit, "search.submit"),
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

const char *hone_event_search(const struct hone_event *event)
{
    return event->start.search ? event->start.search : ""; /* the first member of each */
}

double hone_event_cap(const struct hone_event_caps *caps, enum hone_budget_kind kind)
{
    const double of[HONE_N_BUDGETS] = {
        [HONE_BUDGET_WALL] = (double)caps->budget_wall_ms,
        [HONE_BUDGET_EVALUATIONS] = (double)caps->budget_evaluations,
        [HONE_BUDGET_DEVICE] = (double)caps->budget_device_ms,
        [HONE_BUDGET_DISK] = (double)caps->budget_disk_bytes,
        [HONE_BUDGET_COST] = caps->budget_cost,
        [HONE_BUDGET_TOKENS] = (double)caps->budget_tokens,
    };
    return of[kind];
}

static void drop(struct hone_json *data, const char *member)
{
    hone_json_free(hone_json_detach(data, member));
}

static struct hone_json *encode(const struct hone_event *e)
{
    const struct row *row = &rows[e->type];
    if (e->type == HONE_EVENT_END && e->end.result) {
        struct hone_json *data = hone_fields_encode(e->end.result, hone_search_result_fields,
                                                    HONE_SEARCH_N_RESULT_FIELDS);
        hone_json_set_str(data, "search", e->end.search);
        return data;
    }
    struct hone_json *data = hone_fields_encode(&e->start, row->fields, row->n_fields);
    bool is_look = e->type == HONE_EVENT_RESULT && !e->result.rewrite;
    if (is_look) /* a longer look was no step: how one was carried out is not said */
        drop(data, "is_implemented");
    if (is_look || (e->type == HONE_EVENT_SUBMIT && !e->submit.rewrite))
        drop(data, "variant");
    return data;
}

int hone_event_append(struct hone_ledger *ledger, const struct hone_event *event, uint64_t *ret_n,
                      struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = encode(event);
    return hone_ledger_append(ledger, rows[event->type].type, data, ret_n, err);
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
