/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped where on a device: one frame at a time (a workload, a number of buffer sets),
 * rooms that are kept from frame to frame and from job to job, content and poison by the judge's
 * own kernels.
 *
 * A room that is larger than a frame needs is used from its end, so that contents still end flush
 * with the unmapped granule behind it (start-flush frames: from its start). All arms' rooms of one
 * output have the same size, because arenas share the layout. */
#include <math.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_held.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "workspace/base/clock.h"

#define MEMORY_SHARE  0.6 /* of the device's, for one frame of all arms */
#define TO_HAVE_SHARE 0.9 /* of what is free or would be given back */
#define MAP_MS        30000
#define GROWTH        50 /* calls may take this many times what was expected */

struct hone_gpu_slot *hone_gpu_slot(struct hone_judge *judge, const struct hone_slot *slot)
{
    return &judge->gpu->slots[slot - judge->slots];
}

size_t hone_gpu_case(const struct hone_judge *judge, const struct hone_workload *workload)
{
    size_t c = (size_t)(workload - judge->cases);
    HONE_BUG_ON(c >= judge->n_cases);
    return c;
}

static void tensor_bytes(const struct hone_task *task, const struct hone_workload *workload,
                         int64_t *ret)
{
    for (size_t t = 0; t < task->n_inputs + task->n_outputs; t++) {
        const struct hone_tensor *tensor =
            t < task->n_inputs ? &task->inputs[t] : &task->outputs[t - task->n_inputs];
        ret[t] = hone_tensor_elements(task, tensor, workload) * hone_dtype_bytes(tensor->dtype);
    }
}

static int layout_of(const struct hone_judge *judge, const struct hone_workload *workload,
                     int64_t n_sets, struct hone_gpu_layout *ret, struct hone_err *err)
{
    int64_t bytes[HONE_LIMIT_TENSORS];
    tensor_bytes(judge->task, workload, bytes);
    return hone_gpu_layout_init((int64_t)judge->task->n_inputs, (int64_t)judge->task->n_outputs,
                                bytes, n_sets, judge->gpu->session->device.granule, ret, err);
}

static int64_t sets_in(const struct hone_judge *judge, const struct hone_workload *workload,
                       double room)
{
    struct hone_gpu_layout two, one;
    if (layout_of(judge, workload, 1, &one, NULL) < 0 ||
        layout_of(judge, workload, 2, &two, NULL) < 0)
        return 0;
    double bytes = 0;
    for (int64_t t = 0; t < one.n_inputs + one.n_outputs; t++)
        bytes += (double)one.stride[t] * (t < one.n_inputs ? 1 : (double)judge->n_slots);
    return hone_min_i64((int64_t)(room / fmax(bytes, 1)), HONE_GPU_MAX_SETS);
}

static double most_room(const struct hone_judge *judge)
{
    return MEMORY_SHARE * (double)judge->gpu->session->device.memory_bytes;
}

/* Other processes may have their part of the device. */
int64_t hone_gpu_room_bytes(const struct hone_judge *judge)
{
    double to_have = TO_HAVE_SHARE * (double)hone_gpu_held_to_have(judge->gpu->session);
    return (int64_t)fmin(most_room(judge), to_have);
}

int64_t hone_gpu_max_sets(const struct hone_judge *judge, const struct hone_workload *workload)
{
    return sets_in(judge, workload, (double)hone_gpu_room_bytes(judge));
}

int64_t hone_gpu_least_bytes(const struct hone_judge *judge, const struct hone_workload *workload)
{
    struct hone_gpu_layout one;
    if (layout_of(judge, workload, 1, &one, NULL) < 0)
        return 0;
    int64_t bytes = 0;
    for (int64_t t = 0; t < one.n_inputs + one.n_outputs; t++)
        bytes += one.range[t] * (t < one.n_inputs ? 1 : (int64_t)judge->n_slots);
    return bytes;
}

static int make_room(struct hone_judge *judge, struct hone_gpu_room *room, int64_t bytes,
                     struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int code = hone_gpu_held_room(session, room, bytes, err);
    if (code < 0)
        return code;
    return hone_gpu_check(session,
                          session->cu->MemsetD8Async(room->range.base, HONE_CANARY_BYTE,
                                                     room->range.size, session->stream),
                          "filling a new buffer", err);
}

static size_t class_of(const struct hone_gpu_session *session, int64_t bytes)
{
    int64_t most = session->device.granule;
    size_t k = 0;
    for (; most < bytes && k + 1 < HONE_GPU_ROOM_CLASSES; k++)
        most *= 4;
    return k;
}

/* The room of tensor t in the present frame. arm NULL: of an input. */
static struct hone_gpu_room *room_of(const struct hone_judge *judge, const struct hone_slot *arm,
                                     size_t t)
{
    const struct hone_gpu_frame *frame = &judge->gpu->frame;
    size_t owner = arm != NULL ? 1 + (size_t)(arm - judge->slots) : 0;
    return &judge->gpu->session->rooms[frame->room_class[t]][owner][t];
}

/* Rooms for tensor t of one size for all arms: what all of them have already, where that is enough
 * and need not be exact, else what is asked for. */
static int need_rooms(struct hone_judge *judge, size_t t, int64_t bytes, bool is_exact,
                      int64_t *ret_size, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    bool is_output = t >= judge->task->n_inputs;
    size_t n = is_output ? judge->n_slots : 1;
    judge->gpu->frame.room_class[t] = class_of(session, bytes);
    int64_t size = (int64_t)room_of(judge, is_output ? &judge->slots[0] : NULL, t)->range.size;
    for (size_t a = 1; a < n; a++)
        if ((int64_t)room_of(judge, &judge->slots[a], t)->range.size != size)
            size = bytes;
    if (size < bytes || is_exact)
        size = bytes;
    for (size_t a = 0; a < n; a++) {
        struct hone_gpu_room *room = room_of(judge, is_output ? &judge->slots[a] : NULL, t);
        int code = (int64_t)room->range.size == size ? 0 : make_room(judge, room, size, err);
        if (code < 0)
            return code;
        room->used = ++session->clock;
        memcpy(room->task, session->task, sizeof room->task);
    }
    *ret_size = size;
    return 0;
}

static int make_rooms(struct hone_judge *judge, struct hone_gpu_layout *layout, bool is_start_flush,
                      bool is_exact, struct hone_err *err)
{
    hone_gpu_held_begin_frame(judge->gpu->session);
    for (int64_t t = 0; t < layout->n_inputs + layout->n_outputs; t++) {
        int64_t size = 0;
        int code = need_rooms(judge, (size_t)t, layout->range[t], is_exact, &size, err);
        if (code < 0)
            return code;
        layout->first[t] = is_start_flush ? 0 : layout->first[t] + size - layout->range[t];
        layout->range[t] = size;
    }
    return 0;
}

/* Everything becomes canary; content and poison come on top. */
static int fill_canaries(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int code = 0;
    for (size_t t = 0; t < judge->task->n_inputs + judge->task->n_outputs && code == 0; t++) {
        bool is_output = t >= judge->task->n_inputs;
        for (size_t a = 0; a < (is_output ? judge->n_slots : 1) && code == 0; a++) {
            const struct hone_gpu_range *room =
                &room_of(judge, is_output ? &judge->slots[a] : NULL, t)->range;
            code = hone_gpu_check(session,
                                  session->cu->MemsetD8Async(room->base, HONE_CANARY_BYTE,
                                                             room->size, session->stream),
                                  "filling canaries", err);
        }
    }
    return code;
}

int hone_gpu_set_frame(struct hone_judge *judge, const struct hone_workload *workload,
                       int64_t n_sets, bool is_start_flush, struct hone_err *err)
{
    struct hone_gpu_frame *frame = &judge->gpu->frame;
    if (frame->workload == workload && frame->layout.n_sets == n_sets &&
        frame->is_start_flush == is_start_flush)
        return 0;
    struct hone_gpu_layout layout;
    int code = layout_of(judge, workload, n_sets, &layout, err);
    if (code == 0 && n_sets > sets_in(judge, workload, most_room(judge)))
        code = hone_fail(err, HONE_E_LIMIT, "%lld buffer sets of workload '%s' do not fit",
                         (long long)n_sets, workload->id);
    frame->workload = NULL;
    if (code == 0)
        code = hone_gpu_arms_unmap(judge, err);
    const struct hone_gpu_layout wanted = layout;
    if (code == 0)
        code = make_rooms(judge, &layout, is_start_flush, false, err);
    if (code == HONE_E_NOMEM) { /* rooms that are larger than they must be may be what is missing */
        layout = wanted;
        code = make_rooms(judge, &layout, is_start_flush, true, err);
    }
    if (code < 0)
        return code;
    frame->workload = workload;
    frame->layout = layout;
    frame->is_start_flush = is_start_flush;
    frame->serial = ++judge->gpu->session->clock;
    return fill_canaries(judge, err);
}

/* ---- arenas ---- */

static int64_t scratch_bytes(const struct hone_plan *plan)
{
    const struct hone_plan_number *sizes = plan->scratch.v;
    int64_t sum = 0;
    for (size_t i = 0; i < plan->scratch.n; i++)
        sum += sizes[i].value;
    return sum;
}

static int map_frame(struct hone_judge *judge, struct hone_slot *slot, struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    const struct hone_gpu_frame *frame = &judge->gpu->frame;
    struct hone_gpu_range ranges[HONE_LIMIT_TENSORS];
    size_t n_inputs = judge->task->n_inputs, c = hone_gpu_case(judge, frame->workload);
    for (size_t t = 0; t < n_inputs + judge->task->n_outputs; t++)
        ranges[t] = room_of(judge, t < n_inputs ? NULL : slot, t)->range;
    if (c >= own->module.plans.n)
        return hone_fail(err, HONE_E_BUG, "no plan for workload '%s'", frame->workload->id);
    int64_t start = hone_now_ns();
    const struct hone_plan *plan = (const struct hone_plan *)own->module.plans.v + c;
    int code = hone_gpu_held_make_free(judge->gpu->session, scratch_bytes(plan), err);
    if (code == 0)
        code = hone_gpu_arm_map(own->arm, &frame->layout, ranges, plan,
                                hone_min_i64(hone_deadline_in_ms(MAP_MS), judge->deadline_ns), err);
    own->mapped = code == 0 ? frame->serial : 0;
    hone_judge_cost(judge, "device.map", hone_now_ns() - start);
    return code;
}

int hone_gpu_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                   struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    int code = hone_gpu_arms_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    /* What the judge has queued must be there before another process looks. */
    code = hone_gpu_sync(judge->gpu->session, err);
    if (code == 0 && hone_gpu_arm_is_alive(own->arm) && own->mapped != judge->gpu->frame.serial)
        code = map_frame(judge, slot, err);
    *ret = *hone_gpu_arm_end(own->arm);
    return code;
}

static int call(struct hone_judge *judge, struct hone_slot *slot, struct hone_gpu_calls *calls,
                struct hone_gpu_time *ret_time, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    struct hone_gpu_time time = {0};
    int code = hone_gpu_sync(judge->gpu->session, err);
    int64_t start = hone_now_ns();
    if (slot->limit_ns > 0)
        calls->timeout_ns =
            hone_min_i64(calls->timeout_ns, hone_max_i64(slot->limit_ns - slot->used_ns, 0));
    if (code == 0)
        code = hone_gpu_arm_call(own->arm, calls, &time, err);
    slot->used_ns += hone_now_ns() - start;
    hone_judge_cost(judge, "device.call", hone_now_ns() - start);
    *ret = *hone_gpu_arm_end(own->arm);
    if (code == 0 && ret_time != NULL)
        *ret_time = time;
    return code;
}

static int64_t timeout_of(const struct hone_judge *judge, double expected_ns, int64_t n)
{
    return judge->call_timeout_ns + (int64_t)(GROWTH * expected_ns * (double)n);
}

int hone_gpu_call(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets, int64_t n,
                  uint32_t scratch_poison, double expected_ns, struct hone_gpu_time *ret_time,
                  struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_calls calls = {.sets = sets,
                                   .n_calls = n,
                                   .scratch_poison = scratch_poison,
                                   .wipes_shared = judge->gpu->is_checking,
                                   .timeout_ns = timeout_of(judge, expected_ns, n)};
    return call(judge, slot, &calls, ret_time, ret, err);
}

int hone_gpu_call_on(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets,
                     int64_t n, double expected_ns, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_calls calls = {.sets = sets,
                                   .n_calls = n,
                                   .keeps_scratch = true,
                                   .timeout_ns = timeout_of(judge, expected_ns, n)};
    return call(judge, slot, &calls, NULL, ret, err);
}

/* ---- places ---- */

static int64_t place(const struct hone_judge *judge, int64_t set, size_t t)
{
    return hone_gpu_at(&judge->gpu->frame.layout, set, (int64_t)t);
}

hone_cu_ptr hone_gpu_input(const struct hone_judge *judge, int64_t set, size_t input)
{
    return room_of(judge, NULL, input)->range.base + (hone_cu_ptr)place(judge, set, input);
}

hone_cu_ptr hone_gpu_output(const struct hone_judge *judge, const struct hone_slot *slot,
                            int64_t set, size_t output)
{
    size_t t = judge->task->n_inputs + output;
    return room_of(judge, slot, t)->range.base + (hone_cu_ptr)place(judge, set, t);
}

int hone_gpu_copy_output(struct hone_judge *judge, const struct hone_slot *slot, int64_t set,
                         size_t output, hone_cu_ptr to, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t bytes = judge->gpu->frame.layout.bytes[judge->task->n_inputs + output];
    return hone_gpu_check(session,
                          session->cu->MemcpyDtoDAsync(to,
                                                       hone_gpu_output(judge, slot, set, output),
                                                       (size_t)bytes, session->stream),
                          "keeping an output", err);
}

int64_t hone_gpu_stride(const struct hone_judge *judge, bool is_output, size_t tensor)
{
    return judge->gpu->frame.layout.stride[tensor + (is_output ? judge->task->n_inputs : 0)];
}

int64_t hone_gpu_output_elements(const struct hone_judge *judge, size_t output)
{
    return hone_tensor_elements(judge->task, &judge->task->outputs[output],
                                judge->gpu->frame.workload);
}

/* ---- content and poison ---- */

/* What the pack stores, a set at a time: drawn on the host, it begins elsewhere in each. */
static int fill_stored(struct hone_judge *judge, const struct hone_k_fill *fill,
                       const struct hone_tensor *tensor, uint64_t counter, struct hone_err *err)
{
    bool is_offsets = tensor->role == HONE_ROLE_OFFSETS;
    uint64_t word = is_offsets ? hone_gen_stored_word(judge->gen, counter) : fill->shape.stream;
    int64_t bytes = fill->shape.n * hone_dtype_bytes(tensor->dtype);
    HONE_AUTOFREE void *content = hone_malloc((size_t)bytes + 1);
    int code = 0;
    for (int64_t set = 0; set < fill->n_sets && code == 0; set++) {
        hone_gen_stored(tensor, &fill->shape, hone_shape_mix(word + (uint64_t)set), content);
        code = hone_gpu_store(judge->gpu->session, fill->base + (hone_cu_ptr)(fill->stride * set),
                              content, bytes, err);
    }
    return code;
}

static int fill_input(struct hone_judge *judge, size_t input, int64_t first, int64_t n,
                      enum hone_distribution dist, uint64_t counter, struct hone_err *err)
{
    const struct hone_tensor *tensor = &judge->task->inputs[input];
    struct hone_k_fill fill = {
        .base = hone_gpu_input(judge, first, input),
        .stride = hone_gpu_stride(judge, false, input),
        .n_sets = n,
        .dtype = (int64_t)tensor->dtype,
        .role = (int64_t)tensor->role,
    };
    struct hone_shape *shape = &fill.shape;
    uint64_t words[2];
    bool is_alike = dist == HONE_DIST_ALIKE; /* one stream for all */
    hone_gen_shape(judge->gen, judge->task, judge->gpu->frame.workload, input, dist, counter,
                   shape);
    hone_gen_stream(judge->gen, counter, is_alike ? UINT64_MAX : input, words);
    shape->key = words[0];
    shape->stream = words[1];
    shape->quantile = NULL;
    struct hone_gpu_session *session = judge->gpu->session;
    bool is_values = tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
                     tensor->role == HONE_ROLE_POSITIVE;
    if (hone_gen_is_stored(tensor, shape))
        return fill_stored(judge, &fill, tensor, counter, err);
    if (is_values && tensor->dtype == HONE_DTYPE_F32 && shape->kind == HONE_DIST_NORMAL)
        return hone_gpu_launch(session, HONE_GPU_KERNEL_FILL_NORMAL, (shape->n + 3) / 4, n, &fill,
                               err);
    if (tensor->role == HONE_ROLE_PROBABILITY)
        return hone_gpu_launch(session, HONE_GPU_KERNEL_FILL_ROWS, shape->n, n, &fill, err);
    if (tensor->role == HONE_ROLE_OFFSETS) /* one block a set */
        return hone_gpu_launch(session, HONE_GPU_KERNEL_FILL_OFFSETS, 1, n, &fill, err);
    return hone_gpu_launch(session, HONE_GPU_KERNEL_FILL, shape->n, n, &fill, err);
}

int hone_gpu_fill(struct hone_judge *judge, int64_t first, int64_t n, enum hone_distribution dist,
                  uint64_t counter, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    int code = 0;
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++)
        code = fill_input(judge, i, first, n, dist, counter, err);
    hone_judge_cost(judge, "device.generate", hone_now_ns() - start);
    return code;
}

int hone_gpu_pad(struct hone_judge *judge, struct hone_slot *slot, int64_t first, int64_t n,
                 int64_t step, struct hone_err *err)
{
    int code = 0;
    struct hone_pitch pitch;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        const struct hone_tensor *tensor = &judge->task->outputs[o];
        if (!hone_tensor_pitch(tensor, judge->gpu->frame.workload, &pitch))
            continue;
        struct hone_k_poison args = {.base = hone_gpu_output(judge, slot, first, o),
                                     .n = hone_gpu_output_elements(judge, o),
                                     .stride = step * hone_gpu_stride(judge, true, o),
                                     .n_sets = n,
                                     .element_bytes = hone_dtype_bytes(tensor->dtype),
                                     .bits = 0x0101010101010101u * HONE_CANARY_BYTE,
                                     .row = pitch.row,
                                     .used = pitch.used};
        code = hone_gpu_launch(judge->gpu->session, HONE_GPU_KERNEL_POISON, args.n, n, &args, err);
    }
    return code;
}

int hone_gpu_poison(struct hone_judge *judge, struct hone_slot *slot, int64_t first, int64_t n,
                    int64_t step, enum hone_poison poison, struct hone_err *err)
{
    int code = 0;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        struct hone_k_poison args = {.base = hone_gpu_output(judge, slot, first, o),
                                     .n = hone_gpu_output_elements(judge, o),
                                     .stride = step * hone_gpu_stride(judge, true, o),
                                     .n_sets = n,
                                     .element_bytes = hone_dtype_bytes(dtype),
                                     .bits = hone_poison_bits(dtype, poison)};
        code = hone_gpu_launch(judge->gpu->session, HONE_GPU_KERNEL_POISON, args.n, n, &args, err);
    }
    return code < 0 ? code : hone_gpu_pad(judge, slot, first, n, step, err);
}

/* ---- looking ---- */

int hone_gpu_hash_inputs(struct hone_judge *judge, int64_t n_sets, uint64_t *ret,
                         struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t bytes = n_sets * (int64_t)sizeof *ret;
    int code = hone_gpu_results_zero(session, bytes, err);
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++) {
        struct hone_k_hash hash = {.base = hone_gpu_input(judge, 0, i),
                                   .bytes = judge->gpu->frame.layout.bytes[i],
                                   .stride = hone_gpu_stride(judge, false, i),
                                   .n_sets = n_sets,
                                   .salt = 0x9e3779b97f4a7c15u * (i + 1),
                                   .sums = session->results};
        /* at least one block: the odd bytes are its business */
        int64_t n = hone_max_i64(hash.bytes / 4, 1);
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_HASH, n, n_sets, &hash, err);
    }
    const void *sums = NULL;
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &sums, err);
    if (code == 0)
        memcpy(ret, sums, (size_t)bytes);
    return code;
}

int hone_gpu_check_canaries(struct hone_judge *judge, struct hone_slot *slot,
                            struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    const struct hone_gpu_layout *layout = &judge->gpu->frame.layout;
    size_t n_outputs = judge->task->n_outputs;
    int64_t bytes = (int64_t)(n_outputs * sizeof(uint64_t));
    int code = hone_gpu_results_zero(session, bytes, err);
    for (size_t o = 0; o < n_outputs && code == 0; o++) {
        size_t t = judge->task->n_inputs + o;
        struct hone_k_range range = {.base = room_of(judge, slot, t)->range.base,
                                     .size = layout->range[t],
                                     .first = layout->first[t],
                                     .stride = layout->stride[t],
                                     .bytes = layout->bytes[t],
                                     .n_sets = layout->n_sets,
                                     .canary = HONE_CANARY_BYTE,
                                     .n_wrong = session->results + o * sizeof(uint64_t)};
        struct hone_pitch pitch;
        int64_t n = range.size - range.bytes * range.n_sets;
        if (hone_tensor_pitch(&judge->task->outputs[o], judge->gpu->frame.workload, &pitch)) {
            range.row = pitch.row * hone_dtype_bytes(judge->task->outputs[o].dtype);
            range.used = pitch.used * hone_dtype_bytes(judge->task->outputs[o].dtype);
            n = range.size;
        }
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_CANARY, n, 1, &range, err);
    }
    const void *counts = NULL;
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &counts, err);
    for (size_t o = 0; o < n_outputs && code == 0; o++) {
        uint64_t n = 0;
        memcpy(&n, (const char *)counts + o * sizeof n, sizeof n);
        if (n == 0)
            continue;
        hone_outcome_set(ret, HONE_REASON_OUT_OF_BOUNDS,
                         "the kernel wrote %llu bytes beside output '%s'", (unsigned long long)n,
                         judge->task->outputs[o].name);
        judge->gpu->frame.workload = NULL; /* the next frame has whole canaries again */
        break;
    }
    return code;
}

static void read_found(const void *results, int64_t n, struct hone_gpu_found *ret)
{
    for (int64_t s = 0; s < n; s++) {
        struct hone_k_found found;
        memcpy(&found, (const char *)results + (size_t)s * sizeof found, sizeof found);
        ret[s] = (struct hone_gpu_found){.count = (int64_t)found.count,
                                         .first = found.count > 0 ? (int64_t)~found.first : -1};
    }
}

int hone_gpu_find_poison(struct hone_judge *judge, struct hone_slot *slot, size_t output,
                         int64_t first, int64_t n, int64_t step, bool with_next,
                         struct hone_gpu_found *ret, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    enum hone_dtype dtype = judge->task->outputs[output].dtype;
    int64_t bytes = n * (int64_t)sizeof(struct hone_k_found);
    struct hone_k_look look = {.a = hone_gpu_output(judge, slot, first, output),
                               .b = with_next ? hone_gpu_output(judge, slot, first + 1, output) : 0,
                               .n = hone_gpu_output_elements(judge, output),
                               .stride = step * hone_gpu_stride(judge, true, output),
                               .n_sets = n,
                               .element_bytes = hone_dtype_bytes(dtype),
                               .bits_a = hone_poison_bits(dtype, HONE_POISON_NAN),
                               .bits_b = hone_poison_bits(dtype, HONE_POISON_LARGE),
                               .found = session->results};
    const void *results = NULL;
    int code = hone_gpu_results_zero(session, bytes, err);
    if (code == 0)
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_LOOK, look.n, n, &look, err);
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &results, err);
    if (code == 0)
        read_found(results, n, ret);
    return code;
}

int hone_gpu_find_difference(struct hone_judge *judge, struct hone_slot *slot, size_t output,
                             int64_t set, hone_cu_ptr other, struct hone_gpu_found *ret,
                             struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    struct hone_k_differ differ = {.a = hone_gpu_output(judge, slot, set, output),
                                   .b = other,
                                   .n = hone_gpu_output_elements(judge, output),
                                   .n_sets = 1,
                                   .element_bytes =
                                       hone_dtype_bytes(judge->task->outputs[output].dtype),
                                   .found = session->results};
    const void *results = NULL;
    int code = hone_gpu_results_zero(session, sizeof(struct hone_k_found), err);
    if (code == 0)
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_DIFFER, differ.n, 1, &differ, err);
    if (code == 0)
        code = hone_gpu_results_read(session, sizeof(struct hone_k_found), &results, err);
    if (code == 0)
        read_found(results, 1, ret);
    return code;
}
