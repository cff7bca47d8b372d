/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped where: one frame at a time (a workload and a number of buffer sets) for the judge,
 * the arms and the oracle. */
#include "tools/runner/judge/judge.h"

#include <string.h>

#include "workspace/base/clock.h"

#define ARENA_EXTRA_BYTES (256ll << 20) /* code, stacks, heap, besides the buffers */

static void tensor_bytes(const struct hone_task *task, const struct hone_workload *workload,
                         int64_t *ret)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        ret[i] = hone_tensor_elements(task, &task->inputs[i], workload) *
                 hone_dtype_bytes(task->inputs[i].dtype);
    for (size_t o = 0; o < task->n_outputs; o++)
        ret[task->n_inputs + o] = hone_tensor_elements(task, &task->outputs[o], workload) *
                                  hone_dtype_bytes(task->outputs[o].dtype);
}

int64_t hone_judge_set_bytes(const struct hone_judge *judge, const struct hone_workload *workload)
{
    int64_t bytes[HONE_LIMIT_TENSORS], sum = 0;
    tensor_bytes(judge->task, workload, bytes);
    for (size_t t = 0; t < judge->task->n_inputs + judge->task->n_outputs; t++)
        sum += bytes[t];
    return sum;
}

int64_t hone_judge_max_sets(const struct hone_judge *judge, const struct hone_workload *workload)
{
    int64_t bytes[HONE_LIMIT_TENSORS];
    struct hone_layout layout;
    tensor_bytes(judge->task, workload, bytes);
    if (hone_layout_init((int64_t)judge->task->n_inputs, (int64_t)judge->task->n_outputs, bytes, 1,
                         &layout, NULL) < 0)
        return 0;
    int64_t by_inputs = judge->inputs.size / hone_max_i64(layout.input_stride, 1);
    int64_t by_outputs = judge->output_bytes / hone_max_i64(layout.output_stride, 1);
    return hone_min_i64(hone_min_i64(by_inputs, by_outputs), HONE_BUFFERS_MAX_SETS);
}

int hone_judge_set_frame(struct hone_judge *judge, const struct hone_workload *workload,
                         int64_t n_sets, struct hone_err *err)
{
    struct hone_frame *frame = &judge->frame;
    if (frame->workload == workload && frame->layout.n_sets == n_sets)
        return 0;
    int64_t bytes[HONE_LIMIT_TENSORS];
    tensor_bytes(judge->task, workload, bytes);
    int code = hone_layout_init((int64_t)judge->task->n_inputs, (int64_t)judge->task->n_outputs,
                                bytes, n_sets, &frame->layout, err);
    if (code < 0)
        return code;
    if (n_sets > hone_judge_max_sets(judge, workload))
        return hone_fail(err, HONE_E_LIMIT, "%lld buffer sets of workload '%s' do not fit",
                         (long long)n_sets, workload->id);
    frame->workload = workload;
    frame->n_filled = 0;
    for (size_t i = 0; i < judge->task->n_scalars; i++)
        frame->scalars[i] = hone_gen_scalar(judge->gen, judge->task, workload, i);
    for (size_t i = 0; i < judge->n_slots; i++)
        judge->slots[i].is_mapped = false;
    judge->oracle.is_mapped = false;
    for (int64_t set = 0; set < n_sets; set++) {
        for (int64_t t = 0; t < frame->layout.n_inputs; t++)
            hone_canary_fill(&judge->inputs, &frame->layout, set, t);
    }
    return 0;
}

void hone_judge_drop_arena(struct hone_slot *slot)
{
    hone_arena_free(slot->arena);
    slot->arena = NULL;
    slot->is_mapped = false;
}

/* Of the oracle, whose module may be asked for more beside a GPU. */
static const char *torch_device(const struct hone_judge *judge)
{
    const struct hone_python *python = judge->session->python;
    return judge->gpu == NULL || python == NULL ? NULL : hone_python_device(python);
}

static int start(struct hone_judge *judge, struct hone_slot *slot, const char *role,
                 int64_t own_bytes, struct hone_err *err)
{
    struct hone_helper_spec spec = {
        .role = role,
        .object = slot->object,
        .symbol = judge->task->name,
        .rung = judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .memory_bytes = judge->job->memory_bytes > 0 ? judge->job->memory_bytes : 4ll << 30,
        .n_threads = slot->team > 0 ? slot->team : judge->n_threads,
        .thread_limit = slot->team,
        .inputs = &judge->inputs,
        .own_bytes = own_bytes,
        .want_stdout = slot != &judge->oracle && hone_judge_has_stage(judge, "run"),
        .python = slot->python,
        .torch_device = slot->python != NULL ? torch_device(judge) : NULL,
    };
    spec.memory_bytes += judge->inputs.size + own_bytes + ARENA_EXTRA_BYTES;
    int64_t start_ns = hone_now_ns();
    int code = hone_arena_start(&spec, judge->task, judge->deadline_ns, &slot->arena, err);
    hone_judge_cost_verify(judge, "verify.start", start_ns);
    slot->has_failed = code < 0;
    if (code == 0 && slot->arena->jail != NULL)
        judge->report->jail = hone_pool_strdup(judge->pool, hone_jail_rung(slot->arena->jail));
    return code;
}

static int map(struct hone_judge *judge, struct hone_slot *slot, struct hone_err *err)
{
    const struct hone_frame *frame = &judge->frame;
    int code = hone_arena_map(slot->arena, &frame->layout, frame->workload, frame->scalars, err);
    slot->is_mapped = code == 0;
    return code;
}

int hone_judge_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                     struct hone_err *err)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (slot->arena != NULL && !slot->arena->is_alive)
        hone_judge_drop_arena(slot);
    if (slot->arena == NULL) {
        int code = start(judge, slot, "arena", judge->output_bytes, err);
        if (code < 0)
            return code;
    }
    if (slot->arena->is_alive && !slot->is_mapped) {
        int code = map(judge, slot, err);
        if (code < 0)
            return hone_wrap(err, "arm '%s'", slot->name);
    }
    *ret = slot->arena->end;
    if (ret->reason == HONE_REASON_INFRA && strcmp(slot->name, "baseline") == 0)
        return hone_fail(err, HONE_E_TARGET, "the baseline: %.300s", ret->detail);
    return 0;
}

/* Room for everything that the oracle may say of one of the job's sizes. */
static int64_t answer_bytes(const struct hone_judge *judge)
{
    int64_t n = 0;
    for (size_t c = 0; c < judge->n_cases; c++) {
        int64_t sum = 0;
        for (size_t o = 0; o < judge->task->n_outputs; o++)
            sum += hone_tensor_elements(judge->task, &judge->task->outputs[o], &judge->cases[c]);
        n = hone_max_i64(n, sum);
    }
    return hone_oracle_answer_bytes(judge->task, n);
}

static struct hone_kept_want oracle_want(const struct hone_judge *judge)
{
    return (struct hone_kept_want){.task = judge->task,
                                   .rung = judge->job->jail,
                                   .allow_weak = judge->job->allow_weak_jail,
                                   .torch_device = torch_device(judge),
                                   .n_threads = judge->n_threads,
                                   .job_deadline_ns = judge->deadline_ns,
                                   .own_bytes = answer_bytes(judge)};
}

bool hone_judge_take_oracle(struct hone_judge *judge, int64_t input_bytes)
{
    struct hone_kept_want want = oracle_want(judge);
    want.input_bytes = input_bytes;
    return judge->task->is_oracle_torch &&
           hone_kept_take(&judge->session->oracle, &want, &judge->oracle.arena, &judge->inputs);
}

void hone_judge_give_oracle(struct hone_judge *judge)
{
    if (judge->task == NULL || !judge->task->is_oracle_torch || judge->wants_again)
        return;
    const struct hone_kept_want want = oracle_want(judge);
    hone_kept_give(&judge->session->oracle, &want, &judge->oracle.arena, &judge->inputs);
}

int hone_judge_ready_oracle(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_slot *slot = &judge->oracle;
    if (slot->arena == NULL) {
        int code = start(judge, slot, "oracle", answer_bytes(judge), err);
        if (code < 0)
            return code;
    }
    slot->arena->job_deadline_ns = judge->deadline_ns; /* a wait for the lease moves it */
    if (!slot->arena->is_alive)
        return hone_fail(err, HONE_E_TARGET, "the task's oracle does not run: %s",
                         slot->arena->end.detail);
    int code = slot->is_mapped ? 0 : map(judge, slot, err);
    if (code == 0 && !slot->arena->is_alive)
        return hone_fail(err, HONE_E_TARGET, "the task's oracle does not run: %s",
                         slot->arena->end.detail);
    return code;
}

void hone_judge_fill(struct hone_judge *judge, int64_t set, enum hone_distribution dist,
                     uint64_t counter)
{
    const struct hone_frame *frame = &judge->frame;
    int64_t start_ns = hone_now_ns();
    judge->frame.n_filled = 0;
    judge->frame.dists[set] = dist;
    for (size_t i = 0; i < judge->task->n_inputs; i++)
        hone_gen_input(judge->gen, judge->task, frame->workload, i, dist, counter,
                       hone_shared_tensor(&judge->inputs, &frame->layout, set, (int64_t)i));
    hone_judge_cost_verify(judge, "verify.content", start_ns);
}

void hone_judge_copy_set(struct hone_judge *judge, int64_t from, int64_t to)
{
    const struct hone_layout *layout = &judge->frame.layout;
    judge->frame.n_filled = 0;
    judge->frame.dists[to] = judge->frame.dists[from];
    for (int64_t i = 0; i < layout->n_inputs; i++)
        memcpy(hone_shared_tensor(&judge->inputs, layout, to, i),
               hone_shared_tensor(&judge->inputs, layout, from, i), (size_t)layout->bytes[i]);
}

void hone_judge_put_set(struct hone_judge *judge, int64_t set, const char *content,
                        enum hone_distribution dist)
{
    const struct hone_layout *layout = &judge->frame.layout;
    judge->frame.n_filled = 0;
    judge->frame.dists[set] = dist;
    for (int64_t i = 0; i < layout->n_inputs; i++)
        memcpy(hone_shared_tensor(&judge->inputs, layout, set, i),
               content + set * layout->input_stride + layout->at[i], (size_t)layout->bytes[i]);
}

void hone_judge_fill_many(struct hone_judge *judge, uint64_t base, int64_t n_sets)
{
    if (judge->frame.filled_base == base && judge->frame.n_filled >= n_sets)
        return;
    for (int64_t set = 0; set < n_sets; set++)
        hone_judge_fill(judge, set, HONE_DIST_NORMAL, base + (uint64_t)set);
    judge->frame.filled_base = base;
    judge->frame.n_filled = n_sets;
}

const void *hone_judge_output(const struct hone_judge *judge, const struct hone_slot *slot,
                              int64_t set, size_t output)
{
    return hone_shared_tensor(&slot->arena->own, &judge->frame.layout, set,
                              (int64_t)(judge->task->n_inputs + output));
}

int64_t hone_judge_output_elements(const struct hone_judge *judge, size_t output)
{
    return hone_tensor_elements(judge->task, &judge->task->outputs[output], judge->frame.workload);
}

/* Rows of an output with a pitch, in bytes; false: it has none. */
static bool pitch_bytes(const struct hone_judge *judge, size_t output, struct hone_pitch *ret)
{
    const struct hone_tensor *tensor = &judge->task->outputs[output];
    int64_t bytes = hone_dtype_bytes(tensor->dtype);
    if (!hone_tensor_pitch(tensor, judge->frame.workload, ret))
        return false;
    *ret = (struct hone_pitch){ret->row * bytes, ret->used * bytes};
    return true;
}

void hone_judge_pad(struct hone_judge *judge, struct hone_slot *slot, int64_t set)
{
    struct hone_pitch pitch;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        size_t t = judge->task->n_inputs + o;
        if (pitch_bytes(judge, o, &pitch))
            hone_padding_fill(
                hone_shared_tensor(&slot->arena->own, &judge->frame.layout, set, (int64_t)t),
                judge->frame.layout.bytes[t], pitch.row, pitch.used);
    }
}

bool hone_judge_is_padded(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                          size_t output)
{
    struct hone_pitch pitch;
    size_t t = judge->task->n_inputs + output;
    return !pitch_bytes(judge, output, &pitch) ||
           hone_padding_is_whole(hone_judge_output(judge, slot, set, output),
                                 judge->frame.layout.bytes[t], pitch.row, pitch.used);
}

void hone_judge_poison(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       enum hone_poison poison)
{
    const struct hone_layout *layout = &judge->frame.layout;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        int64_t t = (int64_t)(judge->task->n_inputs + o);
        hone_canary_fill(&slot->arena->own, layout, set, t);
        hone_poison_fill(judge->task->outputs[o].dtype, poison,
                         hone_shared_tensor(&slot->arena->own, layout, set, t),
                         hone_judge_output_elements(judge, o));
    }
    hone_judge_pad(judge, slot, set);
}
