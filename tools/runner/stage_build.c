/* Sources to objects: the candidate first, then the arms it is compared with, then the task's
 * oracle. Each in a folder of its own, since that folder is what its jail sees. */
#include "tools/runner/runner.h"

#include <string.h>
#include <sys/stat.h>

#include "tools/format/options.h"
#include "tools/runner/target.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define BUILD_MS     60000
#define OBJECT_BYTES (256u << 20)

static int build_cpu(struct hone_judge *judge, struct hone_build_request *req,
                     struct hone_build *ret, struct hone_err *err)
{
    return hone_build_run(req, judge->pool, ret, err);
}

static const char *const cpu_oracle_flags[] = {"-O3", NULL};

static const struct hone_target targets[] = {
    {.name = "cpu", .build = build_cpu, .oracle_flags = cpu_oracle_flags},
};

const struct hone_target *hone_target_find(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(targets); i++) {
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    }
    return NULL;
}

/* Builds and copies the object into open/run-<name>/, which is all that the arena's jail sees of
 * the host. */
static int build_into(struct hone_judge *judge, const char *name, struct hone_build_request *req,
                      char **ret_object, struct hone_build *ret, struct hone_err *err)
{
    const struct hone_target *target = hone_target_find(judge->job->target);
    HONE_AUTOFREE char *scratch = hone_sprintf("%s/open/build-%s", judge->dir, name);
    HONE_AUTOFREE char *folder = hone_sprintf("%s/open/run-%s", judge->dir, name);
    HONE_AUTOFREE char *object = hone_sprintf("%s/kernel.so", folder);
    req->arm = name;
    req->rung = judge->job->jail;
    req->allow_weak = judge->job->allow_weak_jail;
    req->cache_dir = judge->job->cache_dir;
    req->scratch_dir = scratch;
    req->deadline_ns = hone_min_i64(hone_deadline_in_ms(BUILD_MS), judge->deadline_ns);
    int code = hone_mkdirs(scratch, 0755, err);
    if (code == 0)
        code = hone_mkdirs(folder, 0755, err);
    if (code == 0)
        code = target->build(judge, req, ret, err);
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
    *ret_object = HONE_STEAL(object);
    return 0;
}

static void describe_failure(const struct hone_build *build, const char *arm, struct hone_end *ret)
{
    const struct hone_diagnostic *first =
        build->report.diagnostics.n > 0 ? build->report.diagnostics.v : NULL;
    if (first != NULL)
        hone_end_set(ret, build->reason, "%s, line %lld: %.250s", arm, (long long)first->line,
                     first->message);
    else
        hone_end_set(ret, build->reason, "%s: %.250s", arm,
                     build->report.log != NULL && build->report.log[0] != '\0'
                         ? build->report.log
                         : hone_reason_row(build->reason)->meaning);
}

int hone_judge_build_arm(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_point *point, struct hone_end *ret, struct hone_err *err)
{
    const struct hone_arm *arm = slot->arm;
    const struct hone_strs *given = point != NULL ? &point->flags : &arm->flags;
    const struct hone_array *tunables = point != NULL ? &point->tunables : &arm->tunables;
    HONE_AUTOFREE char *path = hone_sprintf("%s/open/%s", judge->dir, arm->source);
    HONE_AUTOFREE char *source = NULL;
    size_t len = 0;
    const char *prologue = NULL;
    struct hone_err why = HONE_ERR_INIT;
    *ret = (struct hone_end)HONE_END_INIT;
    if (hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, &source, &len, &why) < 0)
        hone_end_set(ret,
                     why.code == HONE_E_LIMIT ? HONE_REASON_TOO_LARGE : HONE_REASON_BAD_REQUEST,
                     "%.300s", why.message);
    else if (hone_options_check(given, &why) < 0)
        hone_end_set(ret, HONE_REASON_BAD_FLAG, "%.300s", why.message);
    else if (hone_tune_prologue(source, tunables, judge->pool, &prologue, &why) < 0)
        hone_end_set(ret, HONE_REASON_BAD_REQUEST, "%.300s", why.message);
    if (!hone_end_is_good(ret))
        return 0;
    const char **flags = hone_pool_alloc(judge->pool, (given->n + 1) * sizeof *flags);
    for (size_t i = 0; i < given->n; i++)
        flags[i] = given->v[i];
    bool is_candidate = slot == &judge->slots[0];
    struct hone_build_request req = {
        .prologue = prologue, .source = source, .flags = flags, .symbol = judge->task->name};
    bool is_final =
        point == NULL || judge->report->best_point >= 0; /* a sweep's winner, built again */
    req.want_remarks = is_candidate && is_final && hone_judge_has_stage(judge, "profile");
    struct hone_build build = {0};
    hone_free_ptr(&slot->object);
    int code = build_into(judge, slot->name, &req, &slot->object, &build, err);
    if (code < 0)
        return code;
    if (build.rung != NULL)
        judge->report->jail = hone_pool_strdup(judge->pool, build.rung);
    if (is_candidate) {
        judge->report->build = hone_pool_alloc(judge->pool, sizeof build.report);
        *judge->report->build = build.report;
        judge->remarks = build.remarks;
    }
    if (build.reason != HONE_REASON_BUILT)
        describe_failure(&build, slot->name, ret);
    return 0;
}

int hone_judge_build_oracle(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *preamble = hone_task_oracle_preamble(judge->task);
    HONE_AUTOFREE char *source = NULL;
    int code = hone_task_oracle_source(judge->task, &source, err);
    if (code < 0)
        return code;
    struct hone_build_request req = {
        .prologue = preamble,
        .source = source,
        .flags = hone_target_find(judge->job->target)->oracle_flags,
        .symbol = "hone_oracle_items",
    };
    struct hone_build build = {0};
    code = build_into(judge, "oracle", &req, &judge->oracle.object, &build, err);
    if (code == 0 && build.reason != HONE_REASON_BUILT) {
        describe_failure(&build, "oracle", ret);
        ret->reason = HONE_REASON_BAD_TASK;
    }
    return code;
}

static bool needs_other_arms(const struct hone_judge *judge)
{
    return hone_judge_has_stage(judge, "screen") || hone_judge_has_stage(judge, "time") ||
           hone_judge_has_stage(judge, "profile") || hone_judge_has_stage(judge, "verify");
}

static bool needs_oracle(const struct hone_judge *judge)
{
    return needs_other_arms(judge) || hone_judge_has_stage(judge, "smoke");
}

int hone_stage_build(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    int code = judge->job->points.n > 0
                   ? 0
                   : hone_judge_build_arm(judge, &judge->slots[0], NULL, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    for (size_t i = 1; i < judge->n_slots && needs_other_arms(judge); i++) {
        struct hone_slot *slot = &judge->slots[i];
        code = hone_judge_build_arm(judge, slot, NULL, ret, err);
        if (code < 0)
            return code;
        if (!hone_end_is_good(ret)) { /* the candidate is not to blame */
            ret->reason = strcmp(slot->name, "baseline") == 0 ? HONE_REASON_BAD_TASK
                                                              : HONE_REASON_BAD_REQUEST;
            return 0;
        }
    }
    return needs_oracle(judge) ? hone_judge_build_oracle(judge, ret, err) : 0;
}
