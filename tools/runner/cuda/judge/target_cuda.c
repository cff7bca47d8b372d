/* SPDX-License-Identifier: Apache-2.0 */
/* Target cuda: the row of the target table. Sources become a cubin and plans (module.h); arenas
 * replay the plans on the device; the judge's own context makes content, compares and measures. */
#include <stdlib.h>
#include <string.h>

#include "tools/format/options.h"
#include "tools/runner/judge/arms.h"
#include "tools/runner/binary/assembly.h"
#include "tools/runner/cuda/judge/fault.h"
#include "tools/runner/cuda/judge/gpu_ahead.h"
#include "tools/runner/cuda/judge/gpu_fault.h"
#include "tools/runner/cuda/judge/gpu_held.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/judge/gpu_profile.h"
#include "tools/runner/cuda/compile/policy_cubin.h"
#include "tools/runner/cuda/compile/sass.h"
#include "workspace/base/buf.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/utf8.h"

#define BUILD_MS     60000
#define SASS_MS      10000
#define SUMMED_BYTES (256ll << 20)
#define PRINTED_MAX  8192
#define CORES_AHEAD  4 /* for each build that runs beside the checks */

/* ---- set-up ---- */

static void fill_scalars(struct hone_judge *judge)
{
    for (size_t c = 0; c < judge->n_cases; c++) {
        for (size_t s = 0; s < judge->task->n_scalars; s++)
            judge->gpu->scalars[c][s] =
                hone_gen_scalar(judge->gen, judge->task, &judge->cases[c], s);
    }
}

static bool needs_device(const struct hone_judge *judge)
{
    for (size_t i = 0; i < judge->job->stages.n; i++) {
        if (strcmp(judge->job->stages.v[i], "build") != 0 &&
            strcmp(judge->job->stages.v[i], "policy") != 0)
            return true;
    }
    return false;
}

/* The device is opened here already, so that its arenas come up while the compilers work; that
 * there is none is said by the first stage that needs it. */
static int set_up(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    (void)ret;
    struct hone_gpu_job *gpu = judge->gpu = hone_pool_alloc(judge->pool, sizeof *gpu);
    memset(gpu, 0, sizeof *gpu);
    gpu->no_device = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (judge->session->gpu == NULL)
        judge->session->gpu = hone_gpu_session_new();
    gpu->session = judge->session->gpu;
    gpu->pool = judge->pool;
    hone_gpu_held_begin_job(gpu->session, judge->task->name);
    fill_scalars(judge);
    if (!needs_device(judge))
        return 0;
    int64_t start = hone_now_ns();
    int code = hone_gpu_session_open(judge, &gpu->no_device, err);
    if (code == 0 && hone_outcome_is_good(&gpu->no_device))
        code = hone_gpu_arms_open(judge, err);
    hone_judge_cost(judge, "device.open", hone_now_ns() - start);
    return code;
}

/* Before anything runs: the largest size that was asked for, and whether it can be had. Drawn sizes
 * that are too large are left out later. */
static void check_memory(struct hone_judge *judge, struct hone_outcome *ret)
{
    const struct hone_workload *largest = &judge->cases[0];
    int64_t most = 0;
    for (size_t c = 0; c < judge->n_cases; c++) {
        bool is_asked = judge->kinds[c] == HONE_CASE_PUBLIC && hone_judge_is_wanted(judge, c);
        int64_t bytes = is_asked ? hone_gpu_least_bytes(judge, &judge->cases[c]) : 0;
        if (bytes > most) {
            most = bytes;
            largest = &judge->cases[c];
        }
    }
    if (most == 0)
        return;
    struct hone_gpu_session *session = judge->gpu->session;
    HONE_AUTOFREE char *text = hone_sprintf(
        "workload '%.60s' needs at least %lld MiB of the device's %lld (one set of buffers for %zu "
        "arms)",
        largest->id, (long long)(most >> 20), (long long)(session->device.memory_bytes >> 20),
        judge->n_slots);
    hone_judge_progress(judge, "memory", largest->id, most >> 20,
                        session->device.memory_bytes >> 20, text);
    int64_t to_have = hone_gpu_held_to_have(session);
    if (hone_gpu_max_sets(judge, largest) < 1)
        hone_outcome_set(ret, HONE_REASON_INFRA,
                         "%s, and one evaluation may have %lld of the %lld that are free or given "
                         "back for it; fix: a smaller size, or end what else uses the device",
                         text, (long long)(hone_gpu_room_bytes(judge) >> 20),
                         (long long)(to_have >> 20));
}

static int start(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    (void)err;
    *ret = judge->gpu->no_device;
    if (hone_outcome_is_good(ret) && judge->n_cases > 0)
        check_memory(judge, ret);
    return 0;
}

static void tear_down(struct hone_judge *judge)
{
    struct hone_gpu_job *gpu = judge->gpu;
    if (gpu == NULL)
        return;
    hone_gpu_torch_free(gpu->torch);
    if (gpu->has_host_oracle)
        hone_judge_give_oracle(judge);
    hone_gpu_ahead_free(gpu->ahead);
    hone_pool_free(gpu->ahead_pool);
    if (gpu->session->is_open) {
        hone_gpu_references_end_job(gpu->session);
        hone_gpu_arms_give(judge);
        hone_gpu_held_end_job(gpu->session);
    }
    if (gpu->session->is_broken) {
        hone_gpu_session_free(judge->session->gpu);
        judge->session->gpu = NULL;
    }
    judge->gpu = NULL;
}

static void end_session(struct hone_session *session)
{
    hone_gpu_session_free(session->gpu);
    session->gpu = NULL;
}

/* ---- building ---- */

struct built {    /* what a request borrows */
    char *source; /* owned */
    char *scratch;
    const char **flags;
    double *scalars;
    struct hone_plan_device device;
    struct hone_cuda_request req;
};

static void built_done(struct built *built)
{
    free(built->source);
    free(built->scratch);
    *built = (struct built){.source = NULL};
}

static bool shows(const struct hone_judge *judge, const char *kind)
{
    return judge->job->assembly != NULL && strcmp(judge->job->assembly, kind) == 0;
}

static int request(struct hone_judge *judge, struct hone_slot *slot, const struct hone_point *point,
                   const char *folder, struct built *ret, struct hone_outcome *ret_end,
                   struct hone_err *err)
{
    const struct hone_strs *given = point != NULL ? &point->flags : &slot->arm->flags;
    struct hone_gpu_session *session = judge->gpu->session;
    struct hone_err why = HONE_ERR_INIT;
    size_t n_scalars = judge->task->n_scalars;
    int code = hone_judge_read_source(judge, slot, &ret->source, ret_end);
    if (code < 0 || !hone_outcome_is_good(ret_end))
        return code;
    if (hone_options_check_for("cuda", given, &why) < 0) {
        hone_outcome_set(ret_end, HONE_REASON_BAD_FLAG, "%.300s", why.message);
        return 0;
    }
    ret->flags = hone_pool_alloc(judge->pool, (given->n + 1) * sizeof *ret->flags);
    memset(ret->flags, 0, (given->n + 1) * sizeof *ret->flags);
    for (size_t i = 0; i < given->n; i++)
        ret->flags[i] = given->v[i];
    ret->scalars =
        hone_pool_alloc(judge->pool, (judge->n_cases * n_scalars + 1) * sizeof *ret->scalars);
    for (size_t c = 0; c < judge->n_cases; c++) {
        for (size_t s = 0; s < n_scalars; s++)
            ret->scalars[c * n_scalars + s] = judge->gpu->scalars[c][s];
    }
    ret->scratch = hone_sprintf("%s/open/%s", judge->dir, folder);
    ret->device = hone_gpu_plan_device(session);
    ret->req = (struct hone_cuda_request){
        .task = judge->task,
        .arm = hone_arm_build_name(judge, slot),
        .source = ret->source,
        .tunables = point != NULL ? &point->tunables : &slot->arm->tunables,
        .flags = ret->flags,
        .workloads = judge->cases,
        .n_workloads = judge->n_cases,
        .scalars = ret->scalars,
        .arch = hone_gpu_arch(session, judge->pool),
        .rung = judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .cache_dir = judge->job->cache_dir,
        .scratch_dir = ret->scratch,
        .deadline_ns = hone_min_i64(hone_deadline_in_ms(BUILD_MS), judge->deadline_ns),
        .wants_ptx = point == NULL && slot == &judge->slots[0] && shows(judge, "ptx"),
        .compiler = &session->compiler,
    };
    return hone_mkdirs(ret->scratch, 0755, err);
}

static void note_costs(struct hone_judge *judge, const struct hone_cuda_module *module)
{
    hone_judge_cost(judge, "build.split", module->split_ns);
    hone_judge_cost(judge, "build.host", module->host_ns);
    hone_judge_cost(judge, "build.device", module->device_ns);
    hone_judge_cost(judge, "build.record", module->record_ns);
}

static int build_now(struct hone_judge *judge, struct hone_slot *slot,
                     const struct hone_point *point, struct hone_cuda_module *ret,
                     struct hone_outcome *ret_end, struct hone_err *err)
{
    HONE_AUTOFREE char *folder = hone_sprintf("build-%s", slot->folder);
    struct built built = {.source = NULL};
    int code = request(judge, slot, point, folder, &built, ret_end, err);
    built.req.device = &built.device;
    if (code == 0 && hone_outcome_is_good(ret_end))
        code = hone_cuda_build(&built.req, judge->pool, ret, ret_end, err);
    built_done(&built);
    return code;
}

/* ---- whose fault is a build that ended without a reason? ---- */

struct rebuild {
    struct hone_judge *judge;
    struct hone_slot *slot;
    const struct hone_point *point;
    struct hone_cuda_module *module;
};

/* Where a job has no baseline: a source that nothing is wrong with. */
static const char plain_source[] = "__global__ void hone_plain(int *a)\n{\n    a[0] = 1;\n}\n\n"
                                   "extern \"C\" void %s(int *a)\n{\n"
                                   "    hone_plain<<<1, 1>>>(a);\n}\n";

/* By a compile server of its own, without a cache, in a folder of its own. */
static int build_anew(void *arg, enum hone_fault_side side, struct hone_outcome *ret,
                      struct hone_err *err)
{
    const struct rebuild *rebuild = arg;
    struct hone_judge *judge = rebuild->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    bool is_mine = side == HONE_FAULT_CANDIDATE;
    struct hone_slot *slot = is_mine || baseline == NULL ? rebuild->slot : baseline;
    struct hone_cuda_compiler *compiler = NULL;
    struct hone_cuda_module other;
    const struct hone_array no_tunables = {.v = NULL};
    struct built built = {.source = NULL};
    int code = request(judge, slot, is_mine ? rebuild->point : NULL,
                       is_mine ? "build-again" : "build-other", &built, ret, err);
    if (code == 0 && hone_outcome_is_good(ret)) {
        if (!is_mine && baseline == NULL) {
            built.req.source = hone_pool_printf(judge->pool, plain_source, judge->task->name);
            built.req.tunables = &no_tunables;
            built.req.flags = NULL;
        }
        built.req.device = &built.device;
        built.req.cache_dir = NULL;
        built.req.compiler = &compiler;
        code =
            hone_cuda_build(&built.req, judge->pool, is_mine ? rebuild->module : &other, ret, err);
    }
    hone_cuda_compiler_stop(compiler);
    built_done(&built);
    return code;
}

/* The baseline's own build says what it says: nothing stands against it. */
static int settle_build(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_point *point, int code, struct hone_cuda_module *module,
                        struct hone_outcome *end, struct hone_err *err)
{
    struct rebuild rebuild = {judge, slot, point, module};
    if (slot == hone_judge_slot(judge, "baseline") || !hone_fault_is_open(code, end))
        return code;
    bool was_recording = module->record_ns > 0;
    const struct hone_fault_step step = {
        .name = was_recording ? "recording the launcher" : "the build",
        .reason = was_recording ? HONE_REASON_CRASH : HONE_REASON_COMPILE,
        .run = build_anew,
        .arg = &rebuild};
    int64_t start = hone_now_ns();
    code = hone_fault_settle(&step, code, end, err);
    hone_judge_cost(judge, "build.blame", hone_now_ns() - start);
    return code;
}

/* The text that the job asks for, of the module that was just built; needs no device. */
static void show_assembly(struct hone_judge *judge, const struct hone_cuda_module *module,
                          struct hone_build_report *report)
{
    const struct hone_cuda_kernel *kernels = module->kernels.v;
    HONE_AUTOFREE char *folder = hone_path_join(judge->dir, "open", NULL);
    HONE_AUTOFREE char *source = NULL;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_err why = HONE_ERR_INIT;
    struct hone_assembly_name *names =
        hone_pool_alloc(judge->pool, (module->kernels.n + 1) * sizeof *names);
    struct hone_assembly_request in = {.kind = judge->job->assembly,
                                       .text = module->ptx,
                                       .len = module->ptx_len,
                                       .file = "candidate.cu",
                                       .wanted = judge->job->assembly_kernel,
                                       .names = names,
                                       .n_names = module->kernels.n};
    for (size_t i = 0; i < module->kernels.n; i++)
        names[i] =
            (struct hone_assembly_name){.name = kernels[i].name, .pretty = kernels[i].pretty};
    if (shows(judge, "sass")) {
        const struct hone_sass_request req = {
            .cubin = module->cubin,
            .len = module->cubin_len,
            .scratch_dir = folder,
            .rung = judge->job->jail,
            .allow_weak = judge->job->allow_weak_jail,
            .deadline_ns = hone_min_i64(hone_deadline_in_ms(SASS_MS), judge->deadline_ns),
        };
        in.text = NULL;
        if (hone_sass_disassemble(&req, judge->pool, &in.text, &in.len, &why) < 0)
            report->assembly_note = hone_pool_printf(judge->pool, "no SASS: %.300s", why.message);
    } else if (in.text == NULL) {
        report->assembly_note = module->ptx_note;
    }
    if (in.text == NULL || hone_judge_read_source(judge, &judge->slots[0], &source, &end) < 0)
        return;
    in.source = source != NULL ? source : "";
    hone_assembly_read(&in, judge->pool, report);
}

static int build_arm(struct hone_judge *judge, struct hone_slot *slot,
                     const struct hone_point *point, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    struct hone_gpu_job *gpu = judge->gpu;
    struct hone_cuda_module module = {.lane = NULL};
    struct hone_pool *pool = NULL;
    int code = 0;
    own->is_loaded = false;
    own->mapped = 0;
    if (point == NULL || !hone_gpu_ahead_take(gpu->ahead, point, &pool, &module, ret, &code, err))
        code = build_now(judge, slot, point, &module, ret, err);
    code = settle_build(judge, slot, point, code, &module, ret, err);
    if (pool != NULL) { /* the one before is not looked at any more */
        hone_pool_free(gpu->ahead_pool);
        gpu->ahead_pool = pool;
    }
    if (code < 0)
        return hone_wrap(err, "building '%s'", slot->name);
    note_costs(judge, &module);
    if (module.rung != NULL)
        judge->report->jail = hone_pool_strdup(judge->pool, module.rung);
    slot->code = hone_pool_strdup(judge->pool, module.report.code);
    if (slot == &judge->slots[0]) {
        judge->report->build = hone_pool_alloc(judge->pool, sizeof module.report);
        *judge->report->build = module.report;
        if (point == NULL && code == 0 && ret->reason == HONE_REASON_BUILT &&
            (shows(judge, "sass") || shows(judge, "ptx")))
            show_assembly(judge, &module, judge->report->build);
    }
    if (ret->reason == HONE_REASON_BUILT)
        ret->reason = HONE_REASON_CORRECT;
    if (hone_outcome_is_good(ret)) {
        own->module = module;
        own->has_module = true;
    }
    return 0;
}

static int read_policy(struct hone_judge *judge, struct hone_slot *slot,
                       struct hone_policy_facts *facts, struct hone_err *err)
{
    const struct hone_cuda_module *module = &hone_gpu_slot(judge, slot)->module;
    (void)err;
    hone_policy_read_cubin(module->cubin, module->cubin_len, facts);
    return 0;
}

static void begin_ahead(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_point *point)
{
    struct hone_gpu_job *gpu = judge->gpu;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    int64_t place = hone_gpu_ahead_place(gpu->ahead, point);
    if (place < 0)
        return;
    HONE_AUTOFREE char *folder = hone_sprintf("build-ahead-%lld", (long long)place);
    struct built *built = hone_pool_alloc(judge->pool, sizeof *built);
    *built = (struct built){.source = NULL};
    if (request(judge, slot, point, folder, built, &end, NULL) < 0 || !hone_outcome_is_good(&end)) {
        built_done(built);
        return; /* the build itself will say what is wrong */
    }
    /* borrowed by the thread: strings that live as long as the job */
    built->req.source = hone_pool_strdup(judge->pool, built->source);
    built->req.scratch_dir = hone_pool_strdup(judge->pool, built->scratch);
    built->req.device = &built->device;
    free(built->source);
    free(built->scratch);
    hone_gpu_ahead_begin(gpu->ahead, place, point, &built->req);
}

static void build_ahead(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_point *points, size_t n)
{
    struct hone_gpu_job *gpu = judge->gpu;
    if (gpu->ahead == NULL && n > 0)
        gpu->ahead = hone_gpu_ahead_new(judge->machine.n_cores / CORES_AHEAD);
    for (size_t i = 0; i < n && i < HONE_GPU_AHEAD_MOST; i++)
        begin_ahead(judge, slot, &points[i]);
}

/* ---- run ---- */

static int summarise(struct hone_judge *judge, struct hone_slot *slot, size_t output,
                     struct hone_buf *buf, struct hone_err *err)
{
    const struct hone_tensor *tensor = &judge->task->outputs[output];
    int64_t bytes = hone_dtype_bytes(tensor->dtype), n = hone_gpu_output_elements(judge, output);
    n = hone_min_i64(n, SUMMED_BYTES / bytes);
    HONE_AUTOFREE char *content = hone_malloc((size_t)(n * bytes) + 1);
    int code = hone_gpu_fetch(judge->gpu->session, content, hone_gpu_output(judge, slot, 0, output),
                              n * bytes, err);
    if (code == 0)
        hone_judge_summarise(tensor, content, n, buf);
    return code;
}

/* Behind a bar, line by line: nothing of it can be taken for words of ours. */
static void add_printed(struct hone_buf *buf, const char *printed, size_t len)
{
    HONE_AUTOFREE char *text = hone_malloc(len + 1);
    memcpy(text, printed, len);
    text[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    hone_utf8_defuse(text, '?');
    hone_buf_str(buf, "printed by the kernel, each line behind a bar:\n");
    for (const char *at = text; *at != '\0';) {
        size_t n = strcspn(at, "\n");
        hone_buf_printf(buf, "| %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static int run(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    size_t c = 1;
    while (c + 1 < judge->n_cases && !hone_judge_is_wanted(judge, c))
        c++;
    const struct hone_workload *workload = &judge->cases[judge->n_cases > 1 ? c : 0];
    const int32_t set = 0;
    struct hone_gpu_time time = {0};
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    int code = hone_gpu_set_frame(judge, workload, 1, false, err);
    if (code == 0)
        code = hone_gpu_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    code = hone_gpu_fill(judge, 0, 1, HONE_DIST_NORMAL, judge->counter++, err);
    if (code == 0)
        code = hone_gpu_poison(judge, slot, 0, 1, 1, HONE_POISON_NAN, err);
    if (code == 0)
        code = hone_gpu_call(judge, slot, &set, 1, 0, 0, &time, ret, err);
    if (code == 0 && hone_outcome_is_good(ret)) {
        hone_buf_printf(&buf, "workload %s, distribution normal, one call: %.3f us on the device\n",
                        workload->id, time.event_ns / 1e3);
        for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++)
            code = summarise(judge, slot, o, &buf, err);
    }
    if (code < 0)
        return code;
    size_t len = 0;
    const char *printed = hone_gpu_arm_printed(hone_gpu_slot(judge, slot)->arm, &len);
    if (len > 0)
        add_printed(&buf, printed, len < PRINTED_MAX ? len : PRINTED_MAX);
    judge->report->output =
        hone_pool_strndup(judge->pool, buf.data != NULL ? buf.data : "", buf.len);
    return 0;
}

static int run_settled(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    return hone_gpu_stage_settled(judge, "a run on the device", run, ret, err);
}

static int profile_settled(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    return hone_gpu_stage_settled(judge, "a profile on the device", hone_gpu_judge_profile, ret,
                                  err);
}

/* "GPU-..." as the driver's tools write it; leases are named by the digits alone. */
static const char *device(const struct hone_judge *judge)
{
    const struct hone_gpu_session *session = judge->gpu != NULL ? judge->gpu->session : NULL;
    if (session == NULL || !session->is_open)
        return NULL;
    char *digits = hone_pool_strdup(judge->pool, session->device.uuid), *to = digits;
    for (const char *at = strchr(session->device.uuid, '-'); at != NULL && *at != '\0'; at++)
        if (*at != '-')
            *to++ = *at;
    *to = '\0';
    return digits;
}

const struct hone_target hone_target_cuda = {
    .name = "cuda",
    .effort = {.small_bytes = 256ll << 20,
               .screen_budget_ms = 300,
               .screen_block_ns = 300000,
               .block_ns = 2 * HONE_NS_PER_MS,
               .screen_oracle_ns = 10 * HONE_NS_PER_MS,
               .oracle_ns = 250 * HONE_NS_PER_MS,
               .screen_pairs = 12,
               .max_pairs = 200},
    .set_up = set_up,
    .tear_down = tear_down,
    .end_session = end_session,
    .build_arm = build_arm,
    .build_oracle = hone_gpu_build_oracle,
    .build_ahead = build_ahead,
    .read_policy = read_policy,
    .start = start,
    .drop_arena = hone_gpu_drop,
    .check = hone_gpu_check_settled,
    .time = hone_gpu_time_settled,
    .run = run_settled,
    .profile = profile_settled,
    .ceilings = hone_gpu_ceilings,
    .device = device,
};
