/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/oracle.h"

#include <math.h>
#include <string.h>

#include "workspace/base/clock.h"

#define ORACLE_NS (300 * HONE_NS_PER_S)

#define RECORDS_MAX (512 * 1024)

int64_t hone_oracle_answer_bytes(const struct hone_task *task, int64_t n_elements)
{
    int64_t n_records =
        task->is_oracle_naive_double ? hone_max_i64(n_elements, RECORDS_MAX) : RECORDS_MAX;
    int64_t records = n_records * (int64_t)sizeof(struct hone_oracle_record);
    int64_t state = n_elements * (int64_t)sizeof(double);
    return HONE_ORACLE_RECORDS_AT + hone_max_i64(records, state);
}

static int64_t records_room(const struct hone_arena *oracle)
{
    return (oracle->own.size - HONE_ORACLE_RECORDS_AT) / (int64_t)sizeof(struct hone_oracle_record);
}

static int command(struct hone_arena *oracle, enum hone_control_command what, struct hone_err *err)
{
    if (!oracle->is_alive)
        return hone_fail(err, HONE_E_TARGET, "the oracle is gone: %s", oracle->end.detail);
    int code = hone_arena_command(oracle, what, hone_now_ns() + ORACLE_NS, NULL, err);
    if (code == 0 && !oracle->is_alive)
        return hone_fail(err, HONE_E_TARGET, "the task's oracle failed: %s", oracle->end.detail);
    return code;
}

/* One portion; *ret_n is how many records came, -1 when the room was too small. */
static int ask(struct hone_arena *oracle, const struct hone_oracle_ask *what, int64_t *ret_n,
               struct hone_err *err)
{
    struct hone_control *control = hone_arena_control(oracle);
    control->set = what->set;
    control->item_first = what->first;
    control->n_items = what->n;
    control->n_items_listed = what->items != NULL ? what->n : 0;
    if (what->items != NULL)
        memcpy(oracle->own.base, what->items, (size_t)what->n * sizeof *what->items);
    int code = command(oracle, HONE_CONTROL_ITEMS, err);
    if (code < 0)
        return code;
    int64_t got = control->n_records;
    if (got > records_room(oracle))
        return hone_fail(err, HONE_E_TARGET, "the oracle answered %lld records", (long long)got);
    *ret_n = got;
    return 0;
}

int hone_oracle_items(struct hone_arena *oracle, const struct hone_oracle_ask *what,
                      struct hone_err *err)
{
    hone_arena_control(oracle)->n_threads = what->n_threads;
    int64_t portion = HONE_CONTROL_ITEMS_MAX;
    const void *records = oracle->own.base + HONE_ORACLE_RECORDS_AT;
    for (int64_t done = 0; done < what->n;) {
        int64_t m = hone_min_i64(portion, what->n - done), got = 0;
        struct hone_oracle_ask part = *what;
        part.items = what->items != NULL ? what->items + done : NULL;
        part.first = what->first + done;
        part.n = m;
        int code = ask(oracle, &part, &got, err);
        if (code < 0)
            return code;
        if (got == HONE_ORACLE_NO_ANSWER)
            return hone_fail(err, HONE_E_LIMIT, "the module has no answer at this size");
        if (got < 0 && m == 1)
            return hone_fail(err, HONE_E_LIMIT,
                             "one oracle item emits more than %lld values; use smaller items",
                             (long long)records_room(oracle));
        if (got < 0) {
            portion = hone_max_i64(m / 8, 1);
            continue;
        }
        what->on_records(what->arg, records, got);
        done += m;
    }
    return 0;
}

int hone_oracle_time(struct hone_arena *oracle, int64_t n_calls, int64_t n_sets, int64_t n_threads,
                     double *ret_ns, struct hone_err *err)
{
    struct hone_control *control = hone_arena_control(oracle);
    control->n_items = n_calls;
    control->n_items_listed = n_sets;
    control->n_threads = n_threads;
    *ret_ns = 0;
    int code = command(oracle, HONE_CONTROL_TIME, err);
    if (code < 0 || control->n_records != 1)
        return code;
    double ns;
    memcpy(&ns, oracle->own.base + HONE_ORACLE_RECORDS_AT, sizeof ns);
    *ret_ns = isfinite(ns) && ns > 0 ? ns : 0;
    return 0;
}

int hone_oracle_steps(struct hone_arena *oracle, const struct hone_oracle_ask *what,
                      struct hone_err *err)
{
    struct hone_control *control = hone_arena_control(oracle);
    control->set = what->set;
    control->n_steps = what->n_steps;
    control->n_items_step = what->n;
    control->n_threads = what->n_threads;
    int code = command(oracle, HONE_CONTROL_STEPS, err);
    if (code < 0)
        return code;
    const double *state = (const double *)(const void *)(oracle->own.base + HONE_ORACLE_RECORDS_AT);
    const struct hone_layout *layout = &oracle->layout;
    int64_t room = (oracle->own.size - HONE_ORACLE_RECORDS_AT) / (int64_t)sizeof *state;
    struct hone_oracle_record records[256];
    for (size_t o = 0; o < oracle->task->n_outputs; o++) {
        /* Not the count of the control page, which the oracle can write. */
        int64_t n = layout->bytes[layout->n_inputs + (int64_t)o] /
                    hone_dtype_bytes(oracle->task->outputs[o].dtype);
        int64_t m = 0;
        if (n > room)
            return hone_fail(err, HONE_E_BUG, "no room for the oracle's state");
        room -= n;
        double squares = 0;
        for (int64_t i = 0; i < n; i++)
            squares += isfinite(state[i]) ? state[i] * state[i] : 0;
        squares = fmax(squares / (double)hone_max_i64(n, 1), control->state_squares[o]);
        double scale = sqrt(squares);
        for (int64_t i = 0; i < n; i++) {
            records[m++] = (struct hone_oracle_record){
                .index = i, .value = state[i], .output = (int64_t)o, .scale = scale};
            if (m == HONE_COUNTOF(records) || i == n - 1) {
                what->on_records(what->arg, records, m);
                m = 0;
            }
        }
        state += n;
    }
    return 0;
}
