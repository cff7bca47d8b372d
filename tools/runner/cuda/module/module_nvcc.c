/* SPDX-License-Identifier: Apache-2.0 */
/* The second lane: one nvcc makes the cubin and a host object from the whole source; the object is
 * recorded like the first lane's, with the cubin's names and facts from the start. */
#include "tools/runner/cuda/module/module_internal.h"

#include <ctype.h>
#include <string.h>

#include "tools/runner/cuda/compile/compile_diag.h"
#include "tools/runner/cuda/compile/nvcc_compile.h"

bool hone_build_has_nvcc(void)
{
    struct hone_nvcc nvcc;
    hone_nvcc_find(&nvcc);
    return nvcc.path[0] != '\0';
}

/* ---- why ---- */

static bool includes(const struct build *build, const char *name, size_t len)
{
    const struct hone_split_include *list = build->split.includes.v;
    for (size_t i = 0; i < build->split.includes.n; i++)
        if (list[i].is_system && strlen(list[i].name) == len &&
            memcmp(list[i].name, name, len) == 0)
            return true;
    return false;
}

/* "block_reduce.cuh:61: ..." in a line that is not the candidate's: the length of the name. */
static size_t foreign_file(const struct hone_diagnostic *d)
{
    size_t len =
        strspn(d->message, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-");
    bool is_place =
        len > 0 && d->message[len] == ':' && isdigit((unsigned char)d->message[len + 1]);
    bool is_ours = strncmp(d->message, "hone_", 5) == 0 || strncmp(d->message, "__nv_", 5) == 0;
    return d->line == 0 && is_place && !is_ours ? len : 0;
}

/* Does that line of the source name something of std::? NVRTC knows little of it. */
static bool names_std(const struct build *build, const struct hone_diagnostic *d)
{
    static const char *const messages[] = {"has no member", "qualified name is not allowed",
                                           "is not a template"};
    const char *at = build->req->source;
    bool is_it = false;
    for (size_t i = 0; i < HONE_COUNTOF(messages); i++)
        is_it = is_it || strstr(d->message, messages[i]) != NULL;
    for (int64_t line = 1; line < d->line && at != NULL; line++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return is_it && d->line > 0 && at != NULL && memmem(at, strcspn(at, "\n"), "std::", 5) != NULL;
}

const char *hone_build_late_reason(const struct build *build)
{
    static const char missing[] = "cannot open source file \"";
    const struct hone_diagnostic *first = build->device_diagnostics.v;
    if (build->has_nvrtc_alone || build->end->reason != HONE_REASON_COMPILE ||
        build->device_diagnostics.n == 0 || first->severity != HONE_SEVERITY_ERROR)
        return NULL;
    const char *name = strstr(first->message, missing);
    size_t len = name == NULL ? 0 : strcspn(name += sizeof missing - 1, "\"");
    if (len > 0)
        return *name != '/' && includes(build, name, len)
                   ? hone_pool_printf(build->pool, "line %lld: NVRTC has no <%.*s>",
                                      (long long)first->line, (int)len, name)
                   : NULL;
    len = foreign_file(first);
    if (len > 0)
        return hone_pool_printf(build->pool, "NVRTC cannot compile the header %.*s%s", (int)len,
                                first->message,
                                includes(build, "cub/cub.cuh", 11)
                                    ? "; <cub/block/block_reduce.cuh> and its like compile faster"
                                    : "");
    return names_std(build, first)
               ? hone_pool_printf(build->pool,
                                  "line %lld: NVRTC has not all of std::", (long long)first->line)
               : NULL;
}

/* ---- the lane ---- */

static bool is_launched(const struct hone_array *plans, const char *name)
{
    const struct hone_plan *plan = plans->v;
    for (size_t i = 0; i < plans->n; i++) {
        const struct hone_plan_op *ops = plan[i].ops.v;
        for (size_t k = 0; k < plan[i].ops.n; k++)
            if (ops[k].kernel != NULL && strcmp(ops[k].kernel, name) == 0)
                return true;
    }
    return false;
}

/* Libraries bring kernels that no workload uses. */
static void drop_idle_kernels(struct hone_cuda_module *out)
{
    struct hone_cuda_kernel *kernels = out->kernels.v;
    size_t n = 0;
    for (size_t i = 0; i < out->kernels.n; i++)
        if (is_launched(&out->plans, kernels[i].name))
            kernels[n++] = kernels[i];
    out->kernels.n = n;
}

static int compile(struct build *build, struct hone_nvcc_object *ret, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    struct hone_build_report *report = &build->out->report;
    struct hone_nvcc nvcc;
    hone_nvcc_find(&nvcc);
    const struct hone_nvcc_unit unit = {.text = req->source,
                                        .tune = build->tune,
                                        .file = build->file,
                                        .arm = req->arm,
                                        .symbol = req->task->name,
                                        .arch = req->arch,
                                        .flags = req->flags,
                                        .nvcc = &nvcc,
                                        .rung = req->rung,
                                        .allow_weak = req->allow_weak,
                                        .cache_dir = req->cache_dir,
                                        .scratch_dir = req->scratch_dir,
                                        .deadline_ns = req->deadline_ns};
    report->command = hone_nvcc_command(&unit, build->pool);
    report->compiler = hone_pool_printf(build->pool, "nvcc %s", nvcc.version);
    report->lane_note = build->why_nvcc;
    return hone_nvcc_compile(&unit, build->pool, ret, err);
}

static void take_object(struct build *build, const struct hone_nvcc_object *object)
{
    struct hone_cuda_module *out = build->out;
    out->device_ns += object->wall_ns;
    out->is_host_cached = out->is_device_cached = object->is_cached;
    out->rung = object->rung;
    out->ptx = object->ptx;
    out->ptx_len = object->ptx_len;
    out->ptx_note = object->ptx == NULL ? "nvcc left no PTX of this source" : NULL;
    out->report.diagnostics = object->diagnostics;
    out->report.log = hone_pool_printf(build->pool, "%.*s", HONE_BUILD_LOG_KEPT,
                                       hone_nvrtc_log_cleaned(object->log, build->pool));
    build->device = (struct hone_cuda_object){.reason = object->reason,
                                              .cubin = object->cubin,
                                              .cubin_len = object->cubin_len,
                                              .log = object->log};
    build->device_text = build->req->source;
    build->host = (struct hone_host_object){.reason = object->reason, .path = object->path};
    memcpy(build->host.hash, object->hash, sizeof build->host.hash);
}

int hone_build_nvcc(struct build *build, struct hone_err *err)
{
    struct hone_nvcc_object object;
    build->is_nvcc = true;
    build->out->lane = "nvcc";
    int rc = compile(build, &object, err);
    if (rc < 0)
        return rc;
    take_object(build, &object);
    if (object.reason != HONE_REASON_BUILT) {
        hone_build_fail(build, object.reason, object.log);
        return 0;
    }
    rc = hone_build_read_cubin(build, err);
    if (rc == 0 && !hone_build_is_over(build) && build->req->n_workloads > 0)
        rc = hone_build_record(build, err);
    if (rc < 0 || hone_build_is_over(build) || build->req->n_workloads == 0)
        return rc;
    build->out->plans = build->record.plans;
    drop_idle_kernels(build->out);
    return hone_build_check_plans(build, err);
}
