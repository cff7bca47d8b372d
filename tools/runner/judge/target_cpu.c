/* SPDX-License-Identifier: Apache-2.0 */
/* Target cpu: C sources become shared objects that jailed arenas load. Buffers are memory files. */
#include "tools/runner/judge/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/format/options.h"
#include "tools/runner/judge/arms.h"
#include "tools/runner/binary/assembly.h"
#include "tools/runner/binary/policy.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define POOL_BYTES   (192ll << 20) /* room for rotating sets, inputs and outputs each */
#define BUILD_MS     60000
#define OBJECT_BYTES (256u << 20)

static const char *const oracle_flags[] = {"-O3", NULL};

static char *scratch_of(const struct hone_judge *judge, const struct hone_slot *slot)
{
    return hone_sprintf("%s/open/build-%s", judge->dir, slot->folder);
}

/* Builds and copies the object into open/run-<drawn>/, which is all that the arena's jail sees of
 * the host. */
static int build_into(struct hone_judge *judge, struct hone_slot *slot,
                      struct hone_build_request *req, struct hone_build *ret, struct hone_err *err)
{
    const char *name = slot->name;
    HONE_AUTOFREE char *scratch = scratch_of(judge, slot);
    HONE_AUTOFREE char *folder = hone_sprintf("%s/open/run-%s", judge->dir, slot->folder);
    HONE_AUTOFREE char *object = hone_sprintf("%s/kernel.so", folder);
    req->arm = hone_arm_build_name(judge, slot);
    req->rung = judge->job->jail;
    req->allow_weak = judge->job->allow_weak_jail;
    req->scratch_dir = scratch;
    req->deadline_ns = hone_min_i64(hone_deadline_in_ms(BUILD_MS), judge->deadline_ns);
    int code = hone_mkdirs(scratch, 0755, err);
    if (code == 0)
        code = hone_mkdirs(folder, 0755, err);
    if (code == 0)
        code = hone_build_run(req, judge->pool, ret, err);
    if (code < 0)
        return hone_wrap(err, "building '%s'", name);
    if (ret->reason != HONE_REASON_BUILT)
        return 0;
    code = hone_file_copy(ret->object_path, object, OBJECT_BYTES, err);
    hone_free_ptr(&ret->object_path);
    if (code < 0)
        return code;
    if (chmod(object, 0755) != 0) /* the jail's user is another one */
        return hone_fail(err, HONE_E_IO, "making '%s' readable", object);
    slot->object = HONE_STEAL(object);
    return 0;
}

static void describe_failure(const struct hone_build *build, const char *arm,
                             struct hone_outcome *ret)
{
    const struct hone_diagnostic *first =
        build->report.diagnostics.n > 0 ? build->report.diagnostics.v : NULL;
    if (first != NULL)
        hone_outcome_set(ret, build->reason, "%s, line %lld: %.250s", arm, (long long)first->line,
                         first->message);
    else
        hone_outcome_set(ret, build->reason, "%s: %.250s", arm,
                         build->report.log != NULL && build->report.log[0] != '\0'
                             ? build->report.log
                             : hone_reason_row(build->reason)->meaning);
}

/* A compile of its own, as the compiler links what it assembles. */
static int read_assembly(struct hone_judge *judge, struct hone_build_request *req,
                         struct hone_assembly_request *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *scratch = scratch_of(judge, &judge->slots[0]);
    *ret = (struct hone_assembly_request){.kind = "asm",
                                          .file = hone_pool_printf(judge->pool, "%s.c", req->arm),
                                          .source = req->source,
                                          .wanted = judge->job->assembly_kernel};
    req->scratch_dir = scratch;
    req->want_remarks = false;
    return hone_build_assembly(req, judge->pool, &ret->text, &ret->len, err);
}

/* Without the text the build stands, and remarks of all loops count. */
static void use_assembly(struct hone_judge *judge, struct hone_build_request *req, bool is_shown,
                         bool finds_loop)
{
    struct hone_build_report *report = judge->report->build;
    struct hone_assembly_request text;
    struct hone_err why = HONE_ERR_INIT;
    int code = read_assembly(judge, req, &text, &why);
    if (code == 0 && finds_loop)
        hone_hot_loop_find(text.text, text.len, text.file, &judge->hot_loop);
    if (code == 0 && is_shown)
        hone_assembly_read(&text, judge->pool, report);
    else if (is_shown)
        report->assembly_note = hone_pool_printf(judge->pool, "no assembly: %.300s", why.message);
}

#ifdef __x86_64__
enum { CAN_FIND_LOOP = 1 };
#else
enum { CAN_FIND_LOOP = 0 }; /* hot_loop.h reads x86-64 */
#endif

static int cpu_build_arm(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_point *point, struct hone_outcome *ret,
                         struct hone_err *err)
{
    const struct hone_arm *arm = slot->arm;
    const struct hone_strs *given = point != NULL ? &point->flags : &arm->flags;
    const struct hone_array *tunables = point != NULL ? &point->tunables : &arm->tunables;
    HONE_AUTOFREE char *source = NULL;
    const char *prologue = NULL;
    struct hone_err why = HONE_ERR_INIT;
    int code = hone_judge_read_source(judge, slot, &source, ret);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    if (hone_options_check(given, &why) < 0)
        hone_outcome_set(ret, HONE_REASON_BAD_FLAG, "%.300s", why.message);
    else if (hone_tune_prologue(source, tunables, judge->pool, &prologue, &why) < 0)
        hone_outcome_set(ret, HONE_REASON_BAD_REQUEST, "%.300s", why.message);
    if (!hone_outcome_is_good(ret))
        return 0;
    const char **flags = hone_pool_alloc(judge->pool, (given->n + 1) * sizeof *flags);
    for (size_t i = 0; i < given->n; i++)
        flags[i] = given->v[i];
    bool is_candidate = slot == &judge->slots[0];
    struct hone_build_request req = {.prologue = prologue,
                                     .source = source,
                                     .flags = flags,
                                     .symbol = judge->task->name,
                                     .cache_dir = judge->job->cache_dir};
    bool is_final =
        point == NULL || judge->report->best_point >= 0; /* a sweep's winner, built again */
    req.want_remarks = is_candidate && is_final && hone_judge_has_stage(judge, "profile");
    struct hone_build build = {0};
    hone_free_ptr(&slot->object);
    bool shows = is_candidate && point == NULL && judge->job->assembly != NULL &&
                 strcmp(judge->job->assembly, "asm") == 0;
    code = build_into(judge, slot, &req, &build, err);
    if (code < 0)
        return code;
    if (build.rung != NULL)
        judge->report->jail = hone_pool_strdup(judge->pool, build.rung);
    slot->code = build.report.code;
    if (is_candidate) {
        judge->report->build = hone_pool_alloc(judge->pool, sizeof build.report);
        *judge->report->build = build.report;
        judge->remarks = build.remarks;
    }
    bool finds_loop = CAN_FIND_LOOP && req.want_remarks && build.remarks.n > 0;
    if (build.reason == HONE_REASON_BUILT && (shows || finds_loop))
        use_assembly(judge, &req, shows, finds_loop);
    if (build.reason != HONE_REASON_BUILT)
        describe_failure(&build, slot->name, ret);
    return 0;
}

int hone_cpu_build_naive(struct hone_judge *judge, bool is_fresh, char **ret_object,
                         struct hone_outcome *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *source = NULL;
    int code = hone_task_naive(judge->task, judge->job->target, &source, err);
    if (code < 0)
        return code;
    struct hone_build_request req = {
        .source = source,
        .symbol = judge->task->name,
        .cache_dir = is_fresh ? NULL : judge->job->cache_dir,
    };
    struct hone_build build = {0};
    struct hone_slot slot = {.name = "naive", .folder = "naive"};
    code = build_into(judge, &slot, &req, &build, err);
    *ret_object = slot.object;
    if (code == 0 && build.reason != HONE_REASON_BUILT)
        describe_failure(&build, "naive", ret);
    return code;
}

/* Starting interpreters takes a fifth of a second: once for all jobs of this process. */
static int find_python(struct hone_session *session, struct hone_err *err)
{
    if (session->python != NULL)
        return 0;
    if (session->pool == NULL)
        session->pool = hone_pool_new();
    struct hone_python *python = hone_pool_alloc(session->pool, sizeof *python);
    int code = hone_python_find(session->pool, python, err);
    session->python = code == 0 ? python : NULL;
    return code;
}

/* Nothing is compiled: the jail shows the module, the task and the worker. */
static int put_torch_oracle(struct hone_judge *judge, struct hone_outcome *ret,
                            struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    if (find_python(judge->session, &why) < 0) {
        hone_outcome_set(ret, HONE_REASON_BAD_TASK, "oracle: %.300s", why.message);
        return 0;
    }
    HONE_AUTOFREE char *folder = hone_sprintf("%s/open/run-%s", judge->dir, judge->oracle.folder);
    HONE_AUTOFREE char *module = hone_path_join(folder, "oracle.py", NULL);
    HONE_AUTOFREE char *json = hone_path_join(folder, "task.json", NULL);
    HONE_AUTOFREE char *from = hone_path_join(judge->task->dir, "task.json", NULL);
    HONE_AUTOFREE char *source = NULL;
    int code = hone_mkdirs(folder, 0755, err);
    if (code == 0)
        code = hone_task_oracle_source(judge->task, &source, err);
    if (code == 0)
        code = hone_file_write(module, source, strlen(source), 0644, false, err);
    if (code == 0)
        code = hone_file_copy(from, json, OBJECT_BYTES, err);
    if (code == 0 && chmod(json, 0644) != 0)
        code = hone_fail(err, HONE_E_IO, "making '%s' readable", json);
    if (code == 0)
        code = hone_python_put_worker(folder, err);
    if (code < 0)
        return code;
    judge->oracle.object = HONE_STEAL(module);
    judge->oracle.python = judge->session->python;
    return 0;
}

int hone_cpu_build_oracle(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    if (judge->task->is_oracle_torch)
        return put_torch_oracle(judge, ret, err);
    HONE_AUTOFREE char *preamble = hone_task_oracle_preamble(judge->task);
    HONE_AUTOFREE char *source = NULL;
    int code = hone_task_oracle_source(judge->task, &source, err);
    if (code < 0)
        return code;
    struct hone_build_request req = {
        .prologue = preamble,
        .source = source,
        .flags = oracle_flags,
        .symbol = "hone_oracle_items",
        .cache_dir = judge->job->cache_dir,
    };
    struct hone_build build = {0};
    code = build_into(judge, &judge->oracle, &req, &build, err);
    if (code == 0 && build.reason != HONE_REASON_BUILT) {
        describe_failure(&build, "oracle", ret);
        ret->reason = HONE_REASON_BAD_TASK;
    }
    return code;
}

/* Room for rotating sets of every case; files are sparse, so that only what is used costs memory.
 */
static int set_up(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    (void)ret;
    int64_t most = 0;
    for (size_t c = 0; c < judge->n_cases; c++)
        most = hone_max_i64(most, hone_judge_set_bytes(judge, &judge->cases[c]));
    int64_t pages = (int64_t)(judge->task->n_inputs + judge->task->n_outputs) * HONE_BUFFERS_PAGE;
    int64_t bytes = hone_max_i64(POOL_BYTES, 2 * (most + pages));
    judge->output_bytes = bytes;
    if (hone_judge_take_oracle(judge, bytes))
        return 0;
    return hone_shared_new("hone-inputs", bytes, true, &judge->inputs, err);
}

static int read_policy(struct hone_judge *judge, struct hone_slot *slot,
                       struct hone_policy_facts *facts, struct hone_err *err)
{
    HONE_AUTOFREE char *bytes = NULL;
    size_t len = 0;
    (void)judge;
    int code = hone_file_read(slot->object, OBJECT_BYTES, &bytes, &len, err);
    if (code == 0)
        hone_policy_read_object(bytes, len, facts);
    return code;
}

static void drop_arena(struct hone_judge *judge, struct hone_slot *slot)
{
    (void)judge;
    hone_judge_drop_arena(slot);
}

static void tear_down(struct hone_judge *judge)
{
    for (size_t i = 0; i < judge->n_slots; i++)
        hone_judge_drop_arena(&judge->slots[i]);
    hone_judge_give_oracle(judge);
}

static int ceilings(struct hone_judge *judge, bool is_fresh, struct hone_err *err)
{
    return hone_machine_ceilings(judge->job->machine_path, is_fresh, &judge->machine, err);
}

const struct hone_target hone_target_cpu = {
    .name = "cpu",
    .effort = {.small_bytes = 4ll << 20,
               .screen_budget_ms = 300,
               .screen_block_ns = 2 * HONE_NS_PER_MS,
               .block_ns = 5 * HONE_NS_PER_MS,
               .screen_oracle_ns = 5 * HONE_NS_PER_MS,
               .oracle_ns = 150 * HONE_NS_PER_MS,
               .screen_pairs = 15,
               .max_pairs = 200},
    .set_up = set_up,
    .tear_down = tear_down,
    .build_arm = cpu_build_arm,
    .build_oracle = hone_cpu_build_oracle,
    .drop_arena = drop_arena,
    .read_policy = read_policy,
    .check = hone_cpu_check,
    .time = hone_cpu_time,
    .run = hone_cpu_run,
    .profile = hone_cpu_profile,
    .content = hone_cpu_content,
    .answer = hone_cpu_answer,
    .ceilings = ceilings,
};
