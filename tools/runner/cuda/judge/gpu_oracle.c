/* SPDX-License-Identifier: Apache-2.0 */
/* The task's reference on a device, in the judge's own context.
 *
 * oracle.c became one kernel (workspace/task/oracle_device.c). For a content it is asked either for
 * everything (arrays of values and scales, compared element by element) or, where that would cost
 * more than the budget, for random items (records). What an item costs is measured with the first
 * ones. Iterated tasks are driven step by step over two states.
 *
 * Answers are kept in device memory by content (task, sizes, key, counter, distribution), so that
 * several arms, and several jobs with the same secret, pay for them once; the oldest go when there
 * are too many. Tasks whose oracle does not run on a device (naive_double) ask the jailed oracle of
 * the host (oracle.h) for the sizes that it can manage. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_held.h"
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/judge/gpu_reference.h"
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/order_stats.h"
#include "workspace/task/oracle_abi.h"

#define THREADS          128
#define SHARED_THREADS   1024 /* oracle.c shares its loops among a block's threads */
#define BLOCKS_PER_SM    16
#define PROBE_PER_SM     256 /* items that tell what one costs */
#define PROBE_SHARED     2
#define MAX_RECORDS      (2ll << 20)
#define MEMORY_SHARE     0.125 /* of the device's, for answers */
#define LEAST_MEMORY     (256ll << 20)
#define HOST_SCREEN_NS   (500 * HONE_NS_PER_MS)
#define HOST_NS          HONE_NS_PER_S
#define HEAVY_ITEM       5e7 /* operations: seconds for one thread of a device */
#define MAX_RECORD_BYTES ((int64_t)sizeof(struct hone_k_record) * MAX_RECORDS)

struct hone_gpu_oracle {          /* a kernel, kept by the hash of its text */
    struct hone_gpu_oracle *next; /* newest first */
    char hash[HONE_HASH_TEXT_BYTES];
    bool is_shared;
    unsigned char *cubin; /* owned */
    size_t len;
    hone_cu_module module; /* NULL: not loaded yet */
    hone_cu_function kernel;
};

/* ---- the kernel ---- */

static void free_oracle(struct hone_gpu_session *session, struct hone_gpu_oracle *oracle)
{
    if (oracle->module != NULL)
        (void)session->cu->ModuleUnload(oracle->module);
    free(oracle->cubin);
    free(oracle);
}

/* The one that is found becomes the first. */
static struct hone_gpu_oracle *find_oracle(struct hone_gpu_session *session, const char *hash)
{
    for (struct hone_gpu_oracle **at = &session->oracles; *at != NULL; at = &(*at)->next) {
        struct hone_gpu_oracle *o = *at;
        if (strcmp(o->hash, hash) != 0)
            continue;
        *at = o->next;
        o->next = session->oracles;
        session->oracles = o;
        return o;
    }
    return NULL;
}

/* Those that were used longest ago go, when there are too many. */
static void trim_oracles(struct hone_gpu_session *session)
{
    struct hone_gpu_oracle **at = &session->oracles;
    for (size_t n = 0; *at != NULL && n < HONE_LIMIT_GPU_ORACLES; n++)
        at = &(*at)->next;
    while (*at != NULL) {
        struct hone_gpu_oracle *gone = *at;
        *at = gone->next;
        free_oracle(session, gone);
    }
}

static int compile_oracle(struct hone_judge *judge, const char *text, const char *hash,
                          struct hone_gpu_oracle **ret, struct hone_outcome *ret_end,
                          struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    struct hone_cuda_object object;
    const struct hone_cuda_text unit = {.name = "oracle.cu",
                                        .text = text,
                                        .arch = hone_gpu_arch(session, judge->pool),
                                        .cache_dir = judge->job->cache_dir,
                                        .rung = judge->job->jail,
                                        .allow_weak = judge->job->allow_weak_jail,
                                        .deadline_ns = judge->deadline_ns};
    int code = hone_cuda_compile_device(&session->compiler, &unit, judge->pool, &object, err);
    if (code < 0)
        return code;
    if (object.cubin == NULL) {
        hone_outcome_set(ret_end, HONE_REASON_BAD_TASK,
                         "oracle.c does not compile for a device: %.250s",
                         object.log != NULL ? object.log : "");
        return 0;
    }
    struct hone_gpu_oracle *oracle = hone_calloc(1, sizeof *oracle);
    memcpy(oracle->hash, hash, sizeof oracle->hash);
    oracle->is_shared = strstr(text, "#define HONE_SHARED_ 1") != NULL;
    oracle->cubin = hone_malloc(object.cubin_len);
    memcpy(oracle->cubin, object.cubin, object.cubin_len);
    oracle->len = object.cubin_len;
    oracle->next = session->oracles;
    session->oracles = *ret = oracle;
    trim_oracles(session);
    return 0;
}

int hone_gpu_build_oracle(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_job *gpu = judge->gpu;
    HONE_AUTOFREE char *text = NULL;
    struct hone_err why = HONE_ERR_INIT;
    int64_t start = hone_now_ns();
    int code = hone_task_oracle_device_source(judge->task, &text, &why);
    gpu->is_host_oracle = code == HONE_E_UNSUPPORTED;
    if (gpu->is_host_oracle)
        return 0; /* the host's is built when it is asked */
    if (code < 0) {
        hone_outcome_set(ret, HONE_REASON_BAD_TASK, "%.300s", why.message);
        return 0;
    }
    char hash[HONE_HASH_TEXT_BYTES];
    hone_hash(text, strlen(text), hash);
    gpu->oracle = find_oracle(gpu->session, hash);
    if (gpu->oracle == NULL)
        code = compile_oracle(judge, text, hash, &gpu->oracle, ret, err);
    hone_judge_cost(judge, "build.oracle", hone_now_ns() - start);
    return code;
}

static int load_oracle(struct hone_gpu_session *session, struct hone_gpu_oracle *oracle,
                       struct hone_err *err)
{
    if (oracle->module != NULL)
        return 0;
    int code = hone_gpu_check(session, session->cu->ModuleLoadData(&oracle->module, oracle->cubin),
                              "loading the task's oracle", err);
    if (code == 0)
        code = hone_gpu_check(
            session, session->cu->ModuleGetFunction(&oracle->kernel, oracle->module, "hone_oracle"),
            "the task's oracle", err);
    return code;
}

static void free_reference(struct hone_gpu_session *session, struct hone_gpu_reference *reference)
{
    session->reference_bytes -= reference->bytes;
    if (reference->memory != 0)
        (void)session->cu->MemFree(reference->memory);
    free(reference);
}

void hone_gpu_reference_drop(struct hone_gpu_session *session, struct hone_gpu_reference *reference)
{
    struct hone_gpu_reference **at = &session->references;
    while (*at != reference)
        at = &(*at)->next;
    *at = reference->next;
    free_reference(session, reference);
}

void hone_gpu_references_end_job(struct hone_gpu_session *session)
{
    for (struct hone_gpu_reference *r = session->references, *next = NULL; r != NULL; r = next) {
        next = r->next;
        if (r->is_of_job)
            hone_gpu_reference_drop(session, r);
    }
}

void hone_gpu_oracles_free(struct hone_gpu_session *session)
{
    while (session->references != NULL)
        hone_gpu_reference_drop(session, session->references);
    while (session->oracles != NULL) {
        struct hone_gpu_oracle *first = session->oracles;
        session->oracles = first->next;
        free_oracle(session, first);
    }
}

/* ---- asking ---- */

struct question { /* one set of the frame */
    struct hone_judge *judge;
    const struct hone_workload *workload;
    size_t c;
    int64_t set, n_items, n_steps, n_elements;
    double work; /* operations in all, as far as the task says */
};

static int formula(const struct hone_judge *judge, const char *text,
                   const struct hone_workload *workload, int64_t *ret, struct hone_err *err)
{
    double value = 0;
    int code = text != NULL ? hone_task_eval(judge->task, text, workload, &value, err) : 0;
    if (code == 0)
        *ret = (int64_t)value;
    return code;
}

static int ask(struct hone_judge *judge, int64_t set, struct question *ret, struct hone_err *err)
{
    const struct hone_workload *workload = judge->gpu->frame.workload;
    *ret = (struct question){.judge = judge,
                             .workload = workload,
                             .c = hone_gpu_case(judge, workload),
                             .set = set,
                             .n_steps = 1};
    double flops = 0, bytes = 0;
    int code = formula(judge, judge->task->items, workload, &ret->n_items, err);
    if (code == 0 && judge->task->steps != NULL)
        code = formula(judge, judge->task->steps, workload, &ret->n_steps, err);
    if (code == 0)
        code = hone_judge_least_work(judge, workload, &flops, &bytes, err);
    ret->work = fmax(flops, bytes / 4);
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        ret->n_elements += hone_gpu_output_elements(judge, o);
    return code;
}

static void base_args(const struct question *q, struct hone_oracle_device_args *ret)
{
    *ret = (struct hone_oracle_device_args){.count = q->n_items};
    for (size_t a = 0; a < q->judge->task->n_axes; a++)
        ret->axes[a] = q->workload->axes[a];
    for (size_t s = 0; s < q->judge->task->n_scalars; s++)
        ret->scalars[s] = q->judge->gpu->scalars[q->c][s];
    for (size_t i = 0; i < q->judge->task->n_inputs; i++)
        ret->in[i] = hone_gpu_input(q->judge, q->set, i);
}

static int run(const struct question *q, struct hone_oracle_device_args *args, struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    struct hone_gpu_oracle *oracle = q->judge->gpu->oracle;
    int64_t sms = session->device.sm_count;
    int64_t threads = oracle->is_shared ? SHARED_THREADS : args->count < sms * 64 ? 32 : THREADS;
    int64_t wanted = oracle->is_shared ? args->count : (args->count + threads - 1) / threads;
    int64_t blocks = hone_min_i64(hone_max_i64(wanted, 1), sms * BLOCKS_PER_SM);
    void *params[] = {args};
    int code = load_oracle(session, oracle, err);
    if (code < 0)
        return code;
    return hone_gpu_check(session,
                          session->cu->LaunchKernel(oracle->kernel, (unsigned)blocks, 1, 1,
                                                    (unsigned)threads, 1, 1, 0, session->stream,
                                                    params, NULL),
                          "the task's oracle", err);
}

/* Addresses of each output's part in arrays that lie one after the other. */
static void spread(const struct question *q, hone_cu_ptr at, unsigned long long ret[])
{
    for (size_t o = 0; o < q->judge->task->n_outputs; o++) {
        ret[o] = at;
        at += (hone_cu_ptr)hone_gpu_output_elements(q->judge, o) * sizeof(double);
    }
}

/* Answers have a share of their own, so that they do not drive out each other's buffers. */
static int make_room(struct hone_gpu_session *session, int64_t bytes, struct hone_err *err)
{
    int64_t most =
        hone_max_i64((int64_t)(MEMORY_SHARE * (double)session->device.memory_bytes), LEAST_MEMORY);
    if (bytes > most)
        return hone_fail(err, HONE_E_NOMEM, "a reference of %lld MiB", (long long)(bytes >> 20));
    while (session->references != NULL && session->reference_bytes + bytes > most) {
        struct hone_gpu_reference *oldest = session->references;
        for (struct hone_gpu_reference *r = oldest; r != NULL; r = r->next) {
            if (r->used < oldest->used)
                oldest = r;
        }
        hone_gpu_reference_drop(session, oldest);
    }
    return 0;
}

static int new_reference(struct hone_gpu_session *session, const char *id, int64_t bytes,
                         struct hone_gpu_reference **ret, struct hone_err *err)
{
    int code = make_room(session, bytes, err);
    if (code < 0)
        return code;
    struct hone_gpu_reference *reference = hone_calloc(1, sizeof *reference);
    memcpy(reference->id, id, sizeof reference->id);
    memcpy(reference->task, session->task, sizeof reference->task);
    code =
        hone_gpu_held_alloc(session, hone_max_i64(bytes, 16), "answers", &reference->memory, err);
    if (code < 0) {
        free(reference);
        return code;
    }
    reference->bytes = bytes;
    session->reference_bytes += bytes;
    *ret = reference;
    return 0;
}

static int all_items(const struct question *q, struct hone_gpu_reference *reference,
                     struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    struct hone_oracle_device_args args;
    base_args(q, &args);
    hone_cu_ptr scales = reference->memory + (hone_cu_ptr)q->n_elements * sizeof(double);
    spread(q, reference->memory, args.value);
    spread(q, scales, args.scale);
    /* bits that no item writes as a scale: what keeps them was not given */
    int code =
        hone_gpu_check(session,
                       session->cu->MemsetD8Async(
                           scales, 0xff, (size_t)q->n_elements * sizeof(double), session->stream),
                       "preparing a reference", err);
    reference->has_scales = reference->is_full = true;
    return code < 0 ? code : run(q, &args, err);
}

/* Adds the sums of squares of every output's state to those in the results. */
static int add_squares(const struct question *q, hone_cu_ptr state, size_t first,
                       struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    unsigned long long at[HONE_LIMIT_TENSORS];
    int code = 0;
    spread(q, state, at);
    for (size_t o = 0; o < q->judge->task->n_outputs && code == 0; o++) {
        struct hone_k_squares squares = {.base = at[o],
                                         .n = hone_gpu_output_elements(q->judge, o),
                                         .dtype = HONE_DTYPE_F64,
                                         .sum = session->results + (first + o) * sizeof(double)};
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_SQUARES, squares.n, 1, &squares, err);
    }
    return code;
}

/* An error that a step made is as large as the field was then, and may stay. Errors that go either
 * way add up in squares over the steps: the scale is the field's root mean square over all steps,
 * at least that at the end. In the results: sums over all steps, then of the last one. */
static int read_scales(const struct question *q, struct hone_gpu_reference *reference,
                       struct hone_err *err)
{
    const void *results = NULL;
    size_t n_outputs = q->judge->task->n_outputs;
    double sums[2 * HONE_LIMIT_TENSORS];
    int64_t bytes = (int64_t)(2 * n_outputs * sizeof *sums);
    int code = hone_gpu_results_read(q->judge->gpu->session, bytes, &results, err);
    if (code < 0)
        return code;
    memcpy(sums, results, (size_t)bytes);
    for (size_t o = 0; o < n_outputs; o++) {
        double n = (double)hone_max_i64(hone_gpu_output_elements(q->judge, o), 1);
        double over_all = sums[o] / n / (double)(q->n_steps + 1), last = sums[n_outputs + o] / n;
        reference->scale[o] = sqrt(fmax(over_all, last));
    }
    return 0;
}

/* The last step must land in the reference: step k writes to side (k + n_steps) % 2. */
static int all_steps(const struct question *q, struct hone_gpu_reference *reference,
                     struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    struct hone_oracle_device_args args;
    size_t n_outputs = q->judge->task->n_outputs;
    int64_t bytes = q->n_elements * (int64_t)sizeof(double);
    int code = hone_gpu_buffer_need(session, &session->copy, bytes, err);
    if (code == 0)
        code = hone_gpu_results_zero(session, (int64_t)(2 * n_outputs * sizeof(double)), err);
    if (code < 0)
        return code;
    base_args(q, &args);
    hone_cu_ptr sides[2] = {reference->memory, session->copy.base};
    for (int64_t step = 0; step <= q->n_steps && code == 0; step++) {
        size_t side = (size_t)((step + q->n_steps) % 2);
        spread(q, sides[side], args.value);
        spread(q, sides[1 - side], args.prev);
        args.step = step;
        code = run(q, &args, err);
        if (code == 0)
            code = add_squares(q, sides[side], 0, err);
    }
    reference->is_full = true;
    if (code == 0)
        code = add_squares(q, reference->memory, n_outputs, err);
    return code < 0 ? code : read_scales(q, reference, err);
}

/* Items of a list into session->records; *ret_n counts past the room. */
static int list_items(const struct question *q, const int64_t *items, int64_t n, int64_t *ret_n,
                      struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    struct hone_oracle_device_args args;
    int64_t list_bytes = n * (int64_t)sizeof(int64_t);
    int code = hone_gpu_buffer_need(session, &session->list, list_bytes, err);
    if (code == 0)
        code = hone_gpu_buffer_need(session, &session->records, MAX_RECORD_BYTES, err);
    if (code == 0)
        code = hone_gpu_store(session, session->list.base, items, list_bytes, err);
    if (code == 0)
        code = hone_gpu_results_zero(session, sizeof(uint64_t), err);
    if (code < 0)
        return code;
    base_args(q, &args);
    args.count = n;
    args.items = session->list.base;
    args.records = session->records.base;
    args.n_records = session->results;
    args.n_records_max = MAX_RECORDS;
    const void *count = NULL;
    code = run(q, &args, err);
    if (code == 0)
        code = hone_gpu_results_read(session, sizeof(uint64_t), &count, err);
    if (code == 0) {
        uint64_t total = 0;
        memcpy(&total, count, sizeof total);
        *ret_n = (int64_t)total;
    }
    return code;
}

static int random_items(const struct question *q, int64_t n, int64_t *ret_n, struct hone_err *err)
{
    HONE_AUTOFREE int64_t *items = hone_malloc((size_t)n * sizeof *items);
    for (int64_t i = 0; i < n; i++)
        items[i] = n == q->n_items ? i : hone_rng_below(&q->judge->rng, q->n_items);
    items[0] = n == q->n_items ? 0 : q->n_items - 1; /* the tail is where shortcuts end */
    qsort(items, (size_t)n, sizeof *items, hone_by_i64);
    return list_items(q, items, n, ret_n, err);
}

static int keep_records(const struct question *q, const char *id, int64_t n,
                        struct hone_gpu_reference **ret, struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    int64_t bytes = n * (int64_t)sizeof(struct hone_k_record);
    int code = new_reference(session, id, bytes, ret, err);
    if (code < 0)
        return code;
    (*ret)->n_records = n;
    return hone_gpu_check(session,
                          session->cu->MemcpyDtoDAsync((*ret)->memory, session->records.base,
                                                       (size_t)bytes, session->stream),
                          "keeping a reference", err);
}

/* Everything, or as many random items as the budget and the room allow. */
static int by_items(const struct question *q, const char *id, int64_t budget_ns,
                    struct hone_gpu_reference **ret, struct hone_err *err)
{
    struct hone_gpu_session *session = q->judge->gpu->session;
    int64_t full_bytes = 2 * q->n_elements * (int64_t)sizeof(double), n_records = 0;
    int64_t per_sm = q->judge->gpu->oracle->is_shared ? PROBE_SHARED : PROBE_PER_SM;
    int64_t n_probe = hone_min_i64(q->n_items, session->device.sm_count * per_sm);
    bool is_small = n_probe == q->n_items;
    int code = 0;
    double full_ns = 0;
    if (!is_small) {
        code = hone_gpu_sync(session, err);
        int64_t start = hone_now_ns();
        if (code == 0)
            code = random_items(q, n_probe, &n_records, err);
        full_ns = (double)(hone_now_ns() - start) * (double)q->n_items / (double)n_probe;
    }
    if (code < 0)
        return code;
    bool fits = full_bytes <= (int64_t)(MEMORY_SHARE * (double)session->device.memory_bytes);
    if (fits && (is_small || full_ns <= (double)budget_ns)) {
        code = new_reference(session, id, full_bytes, ret, err);
        return code < 0 ? code : all_items(q, *ret, err);
    }
    if (n_records > MAX_RECORDS || is_small) {
        int64_t per_item = is_small ? hone_max_i64(q->n_elements / hone_max_i64(q->n_items, 1), 1)
                                    : n_records / n_probe + 1;
        int64_t n = hone_max_i64(hone_min_i64(MAX_RECORDS / per_item, n_probe), 1);
        code = random_items(q, n, &n_records, err);
    }
    if (code == 0)
        code = keep_records(q, id, hone_min_i64(n_records, MAX_RECORDS), ret, err);
    return code;
}

/* ---- the host's oracle ---- */

struct upload { /* records of the host on their way into the arrays of a reference */
    const struct question *q;
    struct hone_gpu_reference *reference;
    int code;
    struct hone_err *err;
};

static void upload_records(void *arg, const struct hone_oracle_record *records, int64_t n)
{
    _Static_assert(sizeof(struct hone_oracle_record) == sizeof(struct hone_k_record), "records");
    struct upload *up = arg;
    struct hone_gpu_session *session = up->q->judge->gpu->session;
    for (int64_t done = 0; done < n && up->code == 0;) {
        int64_t m = hone_min_i64(n - done, MAX_RECORDS);
        struct hone_k_records args = {
            .records = session->records.base, .n_records = m, .values = up->reference->memory};
        args.outputs.n_outputs = (int64_t)up->q->judge->task->n_outputs;
        for (size_t o = 0; o < up->q->judge->task->n_outputs; o++)
            args.outputs.n[o] = hone_gpu_output_elements(up->q->judge, o);
        up->code = hone_gpu_store(session, session->records.base, records + done,
                                  m * (int64_t)sizeof *records, up->err);
        if (up->code == 0)
            up->code =
                hone_gpu_launch(session, HONE_GPU_KERNEL_SPREAD_RECORDS, m, 1, &args, up->err);
        if (up->code == 0)
            up->code = hone_gpu_sync(session, up->err);
        done += m;
    }
}

/* A module that a device should have computed gave no answer there. Its process is ended: small sizes
 * get another. */
static int give_up_large(struct hone_judge *judge, struct hone_err *err)
{
    hone_judge_warn(judge,
                    "torch gave no answer for a large size (%.200s): such sizes are compared with "
                    "the baseline only",
                    err->message);
    judge->gpu->has_no_large = true;
    hone_judge_drop_arena(&judge->oracle);
    *err = (struct hone_err)HONE_ERR_INIT;
    return 0;
}

/* Whether the module of a torch task is asked for so much: beyond the host's limit only where that
 * was asked for in so many words. */
static bool is_asked(const struct question *q, int64_t budget_ns)
{
    return !q->judge->task->is_oracle_torch || q->work <= HONE_LIMIT_TORCH_ON_HOST ||
           (budget_ns == HONE_GPU_ANY_NS && hone_gpu_host_has_large(q->judge));
}

/* NULL with 0: too dear. */
static int by_host(const struct question *q, const char *id, int64_t budget_ns,
                   struct hone_gpu_reference **ret, struct hone_err *err)
{
    struct hone_judge *judge = q->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    /* Threads in C take ten times a guess by operations: a CUDA file's cores only make up for it. */
    int64_t n_cores = judge->task->is_oracle_naive_double
                          ? 1
                          : hone_min_i64(judge->machine.n_cores, hone_max_i64(q->n_items, 1));
    double cost = hone_host_pace_ns(&session->host_pace, judge->task->hash, q->work, n_cores);
    int64_t allowed = hone_judge_is_tier(judge, HONE_TIER_SCREEN) ? HOST_SCREEN_NS : HOST_NS;
    int64_t full_bytes = 2 * q->n_elements * (int64_t)sizeof(double);
    bool is_large = judge->task->is_oracle_torch && q->work > HONE_LIMIT_TORCH_ON_HOST;
    if (!hone_host_pace_allows(&session->host_pace, cost, hone_max_i64(allowed, budget_ns)) ||
        !is_asked(q, budget_ns) ||
        (is_large && full_bytes > (int64_t)(MEMORY_SHARE * (double)session->device.memory_bytes)))
        return 0;
    int code = hone_gpu_buffer_need(session, &session->records, MAX_RECORD_BYTES, err);
    if (code == 0)
        code = new_reference(session, id, full_bytes, ret, err);
    if (code == 0)
        code = hone_gpu_check(
            session,
            session->cu->MemsetD8Async((*ret)->memory, 0xff, (size_t)full_bytes, session->stream),
            "preparing a reference", err);
    if (code == 0)
        code = hone_gpu_host_ready(judge, q->workload, q->set, err);
    if (code < 0)
        return code;
    int64_t start = hone_now_ns();
    struct upload up = {.q = q, .reference = *ret, .err = err};
    const struct hone_oracle_ask what = {.n = q->n_items,
                                         .n_steps = q->n_steps,
                                         .n_threads = judge->machine.n_cores,
                                         .on_records = upload_records,
                                         .arg = &up};
    if (judge->task->steps != NULL && !judge->task->is_oracle_naive_double)
        code = hone_oracle_steps(judge->oracle.arena, &what, err);
    else
        code = hone_oracle_items(judge->oracle.arena, &what, err);
    (*ret)->is_full = (*ret)->has_scales = true;
    if (!judge->task->is_oracle_torch) /* its first answer starts Python, its others are fast */
        hone_host_pace_note(&session->host_pace, judge->task->hash, q->work, hone_now_ns() - start);
    if (judge->task->is_oracle_torch &&
        (code == HONE_E_LIMIT || (is_large && code == HONE_E_TARGET))) {
        free_reference(session, *ret);
        *ret = NULL;
        return give_up_large(judge, err);
    }
    return code < 0 ? code : up.code;
}

/* ---- references ---- */

static void identify(const struct question *q, enum hone_distribution dist, uint64_t counter,
                     char ret[HONE_HASH_TEXT_BYTES])
{
    const struct hone_judge *judge = q->judge;
    struct hone_hasher hasher;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, judge->task->hash);
    hone_hasher_part(&hasher, judge->key, sizeof judge->key);
    hone_hasher_part(&hasher, q->workload->axes, judge->task->n_axes * sizeof(int64_t));
    hone_hasher_part(&hasher, judge->gpu->scalars[q->c], judge->task->n_scalars * sizeof(double));
    hone_hasher_part(&hasher, &dist, sizeof dist);
    hone_hasher_part(&hasher, &counter, sizeof counter);
    hone_hasher_end(&hasher, ret);
}

static struct hone_gpu_reference *take_known(struct hone_gpu_session *session, const char *id,
                                             int64_t budget_ns)
{
    for (struct hone_gpu_reference *r = session->references; r != NULL; r = r->next) {
        if (strcmp(r->id, id) != 0)
            continue;
        r->used = ++session->clock;
        if (r->is_full || 2 * r->budget_ns >= budget_ns)
            return r;
        hone_gpu_reference_drop(session, r); /* a better one is wanted and paid for */
        return NULL;
    }
    return NULL;
}

int hone_gpu_reference_get(struct hone_judge *judge, int64_t set, enum hone_distribution dist,
                           uint64_t counter, int64_t budget_ns,
                           const struct hone_gpu_reference **ret, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    struct question q;
    char id[HONE_HASH_TEXT_BYTES];
    *ret = NULL;
    int code = ask(judge, set, &q, err);
    if (code < 0)
        return code;
    identify(&q, dist, counter, id);
    *ret = take_known(session, id, budget_ns);
    if (*ret != NULL)
        return 0;
    struct hone_gpu_reference *made = NULL;
    int64_t start = hone_now_ns();
    bool is_heavy = judge->gpu->oracle != NULL && !judge->gpu->oracle->is_shared &&
                    q.work / (double)hone_max_i64(q.n_items * q.n_steps, 1) > HEAVY_ITEM;
    if (judge->gpu->is_host_oracle || is_heavy) {
        code = by_host(&q, id, budget_ns, &made, err);
    } else if (judge->task->steps != NULL) {
        code = new_reference(session, id, q.n_elements * (int64_t)sizeof(double), &made, err);
        if (code == 0)
            code = all_steps(&q, made, err);
    } else {
        code = by_items(&q, id, budget_ns, &made, err);
    }
    if (code == 0)
        code = hone_gpu_sync(session, err);
    hone_judge_cost(judge, "device.oracle", hone_now_ns() - start);
    if (code < 0 && made != NULL)
        free_reference(session, made);
    if (code < 0 || made == NULL)
        return code;
    made->n_elements = q.n_elements;
    made->dist = dist;
    made->is_of_job = judge->job->seed_hex == NULL;
    made->budget_ns = budget_ns;
    made->used = ++session->clock;
    made->next = session->references;
    session->references = made;
    *ret = made;
    return 0;
}

int hone_gpu_ask_random(struct hone_judge *judge, int64_t set, int64_t n_items, int64_t *ret_n,
                        struct hone_err *err)
{
    struct question q;
    *ret_n = 0;
    int code = ask(judge, set, &q, err);
    if (code == 0 && q.n_items > 0)
        code = random_items(&q, hone_min_i64(n_items, q.n_items), ret_n, err);
    *ret_n = hone_min_i64(*ret_n, MAX_RECORDS);
    return code;
}

int hone_gpu_ask_item(struct hone_judge *judge, int64_t set, int64_t item, int64_t *ret_n,
                      struct hone_err *err)
{
    struct question q;
    *ret_n = 0;
    int code = ask(judge, set, &q, err);
    if (code == 0 && item < q.n_items)
        code = list_items(&q, &item, 1, ret_n, err);
    *ret_n = hone_min_i64(*ret_n, MAX_RECORDS);
    return code;
}

bool hone_gpu_can_spot(const struct hone_judge *judge, const struct hone_workload *workload)
{
    double flops = 0, bytes = 0;
    int64_t n_items = 0;
    if (judge->gpu->oracle == NULL || judge->task->steps != NULL ||
        formula(judge, judge->task->items, workload, &n_items, NULL) < 0 || n_items <= 0 ||
        hone_judge_least_work(judge, workload, &flops, &bytes, NULL) < 0)
        return false;
    double per_item = fmax(flops, bytes / 4) / (double)n_items;
    double most = HEAVY_ITEM / (hone_judge_is_tier(judge, HONE_TIER_SCREEN) ? 100 : 10);
    return per_item <= (judge->gpu->oracle->is_shared ? 100 : 1) * most;
}
