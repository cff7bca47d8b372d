/* SPDX-License-Identifier: Apache-2.0 */
/* One source to cubin, kernels and plans: by NVRTC and the host's compiler, or, where they cannot
 * do it, by nvcc (module_nvcc.c).
 *
 *     split -> NVRTC asked (names guessed) -> g++ started -> g++ waited for -> NVRTC waited for
 *           -> cubin read -> launcher recorded -> missing instances? NVRTC again -> plans checked
 *
 * NVRTC's answer is needed before the recording only for facts that the launcher may ask for
 * (occupancy), so nothing waits that need not. Every step that the source is at fault for ends the
 * build with a reason in build->end; what had been found until then stays in the result. */
#include "tools/runner/cuda/module/module_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/format/options.h"
#include "tools/runner/binary/code_hash.h"
#include "tools/runner/cuda/compile/compile_diag.h"
#include "tools/runner/cuda/module/module_names.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/utf8.h"

#define PLAN_TEXT_BYTES 1500
#define PRINTED_LINE    400

static void build_done(struct build *build)
{
    hone_host_compile_drop(build->host_job);
    hone_cuda_compile_drop(build->ticket);
}

/* A complaint of ours about the source, with its line where the message names one:
 * "line 12: ..." */
static void complain(struct build *build, enum hone_reason reason, const char *message)
{
    HONE_AUTOFREE char *text = NULL;
    long long line = 0;
    int used = 0;
    if (sscanf(message, "line %lld: %n", &line, &used) == 1 && used > 0 && line > 0)
        text = hone_sprintf("%s:%lld: error: %s\n", build->file, line, message + used);
    else
        text = hone_sprintf("%s:0: error: %s\n", build->file, message);
    const struct hone_diag_in in = {
        .text = text, .file = build->file, .source = build->req->source, .arm = build->req->arm};
    struct hone_diag_out parsed;
    hone_diag_parse(&in, build->pool, &parsed);
    const struct hone_array before = build->out->report.diagnostics;
    hone_diag_merge(&parsed.diagnostics, &before, build->pool, &build->out->report.diagnostics);
    hone_outcome_set(build->end, reason, "%.380s", message);
    hone_utf8_defuse(build->end->detail, '?');
}

/* ---- texts ---- */

/* Sets build->why_nvcc where the first lane cannot do it, or is not wanted. */
static void split_source(struct build *build, const char *lane)
{
    const struct hone_cuda_request *req = build->req;
    struct hone_split *split = &build->split;
    struct hone_err why = HONE_ERR_INIT;
    bool wants_nvcc = lane != NULL && strcmp(lane, "nvcc") == 0;
    bool wants_nvrtc = lane != NULL && !wants_nvcc;
    build->has_nvrtc_alone = wants_nvrtc;
    int rc = hone_split(req->source, strlen(req->source), build->pool, split, &why);
    bool is_split = rc == 0;
    if (rc == 0)
        rc = hone_split_check_tunables(split, req->tunables, &why);
    if (rc < 0 && (is_split || rc != HONE_E_ARG || wants_nvrtc || !hone_build_has_nvcc())) {
        complain(build, HONE_REASON_COMPILE, why.message);
        return;
    }
    if (rc < 0)
        build->why_nvcc = hone_pool_strdup(build->pool, why.message);
    else if (split->needs_nvcc != NULL)
        build->why_nvcc = hone_pool_printf(build->pool, "line %lld: %.300s",
                                           (long long)split->needs_nvcc_line, split->needs_nvcc);
    else if (wants_nvcc)
        build->why_nvcc = "the source asks for it";
    if (split->needs_library)
        complain(build, HONE_REASON_COMPILE,
                 hone_pool_printf(build->pool,
                                  "%s: what a library does on the device cannot be "
                                  "recorded. fix: write the kernel",
                                  build->why_nvcc));
    else if (build->why_nvcc != NULL && (wants_nvrtc || !hone_build_has_nvcc()))
        complain(build, HONE_REASON_COMPILE,
                 hone_pool_printf(build->pool, "%s; this needs nvcc, which %s", build->why_nvcc,
                                  wants_nvrtc
                                      ? "#pragma hone lane(nvrtc) forbids"
                                      : "is not here. fix: write it without, or install the "
                                        "CUDA toolkit (HONE_CUDA_HOME names its folder)"));
}

static int make_texts(struct build *build, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    struct hone_err why = HONE_ERR_INIT;
    int64_t start = hone_now_ns();
    const char *lane = NULL;
    size_t len = strlen(req->source);
    (void)err;
    if (len > HONE_LIMIT_SOURCE_BYTES) {
        hone_outcome_set(build->end, HONE_REASON_TOO_LARGE, "%zu bytes of source", len);
        return 0;
    }
    if (hone_tune_prologue_cuda(req->source, req->tunables, build->pool, &build->tune, &why) < 0 ||
        hone_lane_parse(req->source, build->pool, &lane, &why) < 0) {
        complain(build, HONE_REASON_BAD_REQUEST, why.message);
        return 0;
    }
    split_source(build, lane);
    if (hone_build_is_over(build) || build->why_nvcc != NULL)
        return 0;
    build->device_text =
        hone_pool_printf(build->pool, "#line 1 \"hone_tune.h\"\n%s#line 1 \"%s\"\n%s\n",
                         build->tune, build->file, build->split.device);
    hone_guess_names(&build->split, req->tunables, build->pool, &build->names);
    build->out->split_ns = hone_now_ns() - start;
    return 0;
}

/* ---- the device half ---- */

static struct hone_cuda_unit unit_of(const struct build *build)
{
    return (struct hone_cuda_unit){.text = build->device_text,
                                   .arch = build->req->arch,
                                   .flags = build->req->flags,
                                   .names = build->names.v,
                                   .n_names = build->names.n,
                                   .cache_dir = build->req->cache_dir,
                                   .deadline_ns = build->req->deadline_ns};
}

static int start_device(struct build *build, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    const struct hone_cuda_compiler_spec spec = {.rung = req->rung, .allow_weak = req->allow_weak};
    const struct hone_cuda_unit unit = unit_of(build);
    if (*req->compiler == NULL)
        *req->compiler = hone_cuda_compiler_new(&spec);
    build->device_start_ns = hone_now_ns();
    build->out->report.command = hone_cuda_compile_command(&unit, build->pool);
    return hone_cuda_compile_start(*req->compiler, &unit, &build->ticket, err);
}

static int finish_device(struct build *build, struct hone_err *err)
{
    int rc = hone_cuda_compile_finish(HONE_STEAL(build->ticket), build->pool, &build->device, err);
    build->out->device_ns += hone_now_ns() - build->device_start_ns;
    build->out->is_device_cached = rc == 0 && build->device.is_cached;
    return rc;
}

static int compile_device_again(struct build *build, struct hone_err *err)
{
    int rc = start_device(build, err);
    return rc < 0 ? rc : finish_device(build, err);
}

/* The first answer. A guessed name that does not exist is an error too: then once more without
 * guesses, and that answer counts. A server that died of something else is started once more. */
static int settle_device(struct build *build, struct hone_err *err)
{
    struct hone_err first = HONE_ERR_INIT;
    int rc = finish_device(build, &first);
    if (rc == HONE_E_TARGET)
        rc = compile_device_again(build, err);
    else if (rc < 0 && err != NULL)
        *err = first;
    if (rc == 0 && build->device.reason == HONE_REASON_COMPILE && build->names.n > 0) {
        build->names.n = 0;
        rc = compile_device_again(build, err);
    }
    return rc;
}

static void read_device_log(struct build *build)
{
    const struct hone_diag_in in = {.text = build->device.log,
                                    .file = build->file,
                                    .source = build->req->source,
                                    .arm = build->req->arm,
                                    .has_passed = build->device.reason == HONE_REASON_BUILT};
    struct hone_diag_out parsed;
    hone_nvrtc_diag_parse(&in, build->pool, &parsed);
    build->device_diagnostics = parsed.diagnostics;
}

static int64_t line_of(const struct build *build, const char *pretty)
{
    const struct hone_split_kernel *kernels = build->split.kernels.v;
    size_t len = strcspn(pretty, "<(");
    for (size_t i = 0; i < build->split.kernels.n; i++)
        if (strlen(kernels[i].name) == len && memcmp(kernels[i].name, pretty, len) == 0)
            return kernels[i].line;
    return 0;
}

/* -default-device makes a device variable of every constexpr: nobody writes those. */
static void drop_constants(struct build *build)
{
    struct hone_cuda_variable *list = build->cubin.variables.v;
    size_t n = 0;
    for (size_t i = 0; i < build->cubin.variables.n; i++)
        if (!hone_names_constant(build->device_text, list[i].name))
            list[n++] = list[i];
    build->cubin.variables.n = n;
}

int hone_build_read_cubin(struct build *build, struct hone_err *err)
{
    struct hone_cuda_module *out = build->out;
    struct hone_err why = HONE_ERR_INIT;
    (void)err;
    if (hone_cubin_read(build->device.cubin, build->device.cubin_len, build->pool, &build->cubin,
                        &why) < 0) {
        complain(build, why.code == HONE_E_LIMIT ? HONE_REASON_TOO_LARGE : HONE_REASON_COMPILE,
                 why.message);
        return 0;
    }
    hone_cubin_read_log(build->device.log, &build->cubin);
    hone_cubin_drop_toolkit(build->req->source, &build->cubin);
    drop_constants(build);
    struct hone_cuda_kernel *kernels = build->cubin.kernels.v;
    for (size_t i = 0; i < build->cubin.kernels.n; i++)
        kernels[i].line = line_of(build, kernels[i].pretty);
    out->kernels = build->cubin.kernels;
    out->variables = build->cubin.variables;
    out->cubin = build->device.cubin;
    out->cubin_len = build->device.cubin_len;
    return 0;
}

/* ---- the host half ---- */

/* Blanks at the ends of lines are where bodies of kernels were: without them the text, and with it
 * the object and the plans, stay the same when such a line changes. */
static const char *without_end_blanks(const char *text, struct hone_pool *pool)
{
    char *out = hone_pool_strdup(pool, text);
    size_t n = 0, last = 0; /* behind the last byte of the line that is no blank */
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\n')
            n = last;
        out[n++] = *at;
        if (*at != ' ' && *at != '\t')
            last = n;
    }
    out[last] = '\0';
    return out;
}

static int start_host(struct build *build, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    const struct hone_host_unit unit = {.text = without_end_blanks(build->split.host, build->pool),
                                        .tune = build->tune,
                                        .file = build->file,
                                        .source = req->source,
                                        .arm = req->arm,
                                        .symbol = req->task->name,
                                        .toolkit = hone_cuda_compiler_toolkit(*req->compiler),
                                        .rung = req->rung,
                                        .allow_weak = req->allow_weak,
                                        .cache_dir = req->cache_dir,
                                        .scratch_dir = req->scratch_dir,
                                        .deadline_ns = req->deadline_ns};
    return hone_host_compile_start(&unit, build->pool, &build->host_job, err);
}

/* The splitter knows more about launches than the compiler that sees what became of them. */
static void explain(struct build *build)
{
    struct hone_diagnostic *list = build->host.diagnostics.v;
    for (size_t i = 0; i < build->host.diagnostics.n; i++) {
        const char *better =
            hone_split_explain(&build->split, list[i].line, list[i].message, build->pool);
        if (better != NULL)
            list[i].message = better;
    }
    build->host_diagnostics = build->host.diagnostics;
}

static int finish_host(struct build *build, struct hone_err *err)
{
    int rc = hone_host_compile_finish(HONE_STEAL(build->host_job), build->pool, &build->host, err);
    if (rc < 0)
        return rc;
    build->out->host_ns = build->host.wall_ns;
    build->out->is_host_cached = build->host.is_cached;
    build->out->rung = build->host.rung;
    explain(build);
    return 0;
}

/* ---- both ---- */

void hone_build_fail(struct build *build, enum hone_reason reason, const char *log)
{
    const struct hone_array *list = &build->out->report.diagnostics;
    const struct hone_diagnostic *first = list->n > 0 ? list->v : NULL;
    bool has_error = first != NULL && first->severity == HONE_SEVERITY_ERROR;
    if (hone_reason_row(reason)->verdict ==
        HONE_VERDICT_INFRA) /* no words of a source's for that */
        hone_outcome_set(build->end, reason, "%s: a compiler was ended from outside",
                         build->req->arm);
    else if (has_error && first->line == 0)
        hone_outcome_set(build->end, reason, "%s: %.300s", build->req->arm, first->message);
    else if (has_error)
        hone_outcome_set(build->end, reason, "%s, line %lld: %.250s", build->req->arm,
                         (long long)first->line, first->message);
    else
        hone_outcome_set(build->end, reason, "%s: %.250s", build->req->arm,
                         log[0] != '\0' ? log : hone_reason_row(reason)->meaning);
    hone_utf8_defuse(build->end->detail, '?');
}

static void judge_compilers(struct build *build)
{
    struct hone_build_report *report = &build->out->report;
    bool is_device_bad = build->device.reason != HONE_REASON_BUILT;
    bool is_host_bad = build->host.reason != HONE_REASON_BUILT;
    read_device_log(build);
    hone_diag_merge(&build->device_diagnostics, &build->host_diagnostics, build->pool,
                    &report->diagnostics);
    report->log = hone_pool_printf(build->pool, "%.*s%s%.*s", HONE_BUILD_LOG_KEPT,
                                   hone_nvrtc_log_cleaned(build->device.log, build->pool),
                                   is_host_bad && build->host.log[0] != '\0' ? "\n" : "",
                                   is_host_bad ? HONE_BUILD_LOG_KEPT : 0, build->host.log);
    if (!is_device_bad && !is_host_bad)
        return;
    hone_build_fail(build, is_device_bad ? build->device.reason : build->host.reason,
                    is_device_bad ? build->device.log : build->host.log);
}

static void fill_kernels(struct build *build)
{
    const struct hone_cuda_kernel *from = build->out->kernels.v;
    size_t n = build->out->kernels.n;
    struct hone_kernel_report *to = hone_pool_alloc(build->pool, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = (struct hone_kernel_report){.name = from[i].pretty,
                                            .registers = from[i].registers,
                                            .shared_bytes = from[i].shared_bytes,
                                            .spill_store_bytes = from[i].spill_store_bytes,
                                            .spill_load_bytes = from[i].spill_load_bytes,
                                            .frame_bytes = from[i].frame_bytes,
                                            .max_threads = from[i].max_threads,
                                            .line = from[i].line};
    build->out->report.kernels = (struct hone_array){.v = to, .n = n};
}

/* Spills are no warning of either compiler, and the first thing to know about a slow kernel. */
static void warn_of_spills(struct build *build)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const struct hone_cuda_kernel *list = build->out->kernels.v;
    struct hone_array before = build->out->report.diagnostics;
    struct hone_diag_out parsed;
    for (size_t i = 0; i < build->out->kernels.n; i++)
        if (list[i].spill_store_bytes + list[i].spill_load_bytes > 0)
            hone_buf_printf(&text,
                            "%s:%lld: warning: %s spills %lld bytes and reads %lld back in each "
                            "thread, at %lld registers\n",
                            build->file, (long long)list[i].line, list[i].pretty,
                            (long long)list[i].spill_store_bytes,
                            (long long)list[i].spill_load_bytes, (long long)list[i].registers);
    if (text.len == 0)
        return;
    const struct hone_diag_in in = {.text = text.data,
                                    .file = build->file,
                                    .source = build->req->source,
                                    .arm = build->req->arm};
    hone_diag_parse(&in, build->pool, &parsed);
    hone_diag_merge(&before, &parsed.diagnostics, build->pool, &build->out->report.diagnostics);
}

static struct hone_plan_kernel *plan_kernels(const struct build *build)
{
    const struct hone_cuda_kernel *from = build->out->kernels.v;
    size_t n = build->out->kernels.n;
    struct hone_plan_kernel *to = hone_pool_alloc(build->pool, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = (struct hone_plan_kernel){.name = from[i].name,
                                          .n_params = from[i].n_params,
                                          .param_bytes = from[i].param_bytes,
                                          .registers = from[i].registers,
                                          .static_shared_bytes = from[i].shared_bytes,
                                          .max_threads = from[i].max_threads};
    return to;
}

/* ---- the launcher ---- */

static struct hone_array *kernel_params(const struct build *build)
{
    const struct hone_cuda_kernel *from = build->out->kernels.v;
    size_t n = build->out->kernels.n;
    struct hone_array *to = hone_pool_alloc(build->pool, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = from[i].params;
    return to;
}

/* What a launcher that failed had printed: in the log, each line marked as the launcher's own, and
 * in no message of ours. */
static void keep_printed(struct build *build)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct hone_build_report *report = &build->out->report;
    const char *at = build->record.printed == NULL ? "" : build->record.printed;
    hone_buf_str(&out, report->log == NULL ? "" : report->log);
    while (*at != '\0' && out.len < 2 * HONE_BUILD_LOG_KEPT) {
        size_t len = strcspn(at, "\n");
        hone_buf_printf(&out, "%sprinted by the launcher: %.*s",
                        out.len == 0 || out.data[out.len - 1] == '\n' ? "" : "\n",
                        (int)hone_min_i64((int64_t)len, PRINTED_LINE), at);
        at += len + (at[len] == '\n');
    }
    report->log = hone_pool_strndup(build->pool, out.data != NULL ? out.data : "", out.len);
}

int hone_build_record(struct build *build, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    const struct hone_record_spec spec = {.object = build->host.path,
                                          .task = req->task,
                                          .workloads = req->workloads,
                                          .n_workloads = req->n_workloads,
                                          .scalars = req->scalars,
                                          .device = req->device,
                                          .kernels = plan_kernels(build),
                                          .n_kernels = build->out->kernels.n,
                                          .params = build->is_nvcc ? kernel_params(build) : NULL,
                                          .is_nvcc = build->is_nvcc,
                                          .rung = req->rung,
                                          .allow_weak = req->allow_weak,
                                          .deadline_ns = req->deadline_ns};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    bool is_cached = false;
    int64_t start = hone_now_ns();
    int rc = hone_record_cached(&spec, build->host.hash, req->cache_dir, build->pool,
                                &build->record, &end, &is_cached, err);
    build->out->record_ns = hone_now_ns() - start;
    if (rc < 0)
        return rc;
    if (build->record.rung != NULL)
        build->out->rung = build->record.rung;
    if (end.reason != HONE_REASON_BUILT) {
        keep_printed(build);
        complain(build, end.reason, end.detail);
    }
    return 0;
}

static const char *lowered_of(const struct build *build, const char *expression)
{
    for (size_t i = 0; i < build->names.n && build->device.lowered != NULL; i++)
        if (hone_names_equal(build->names.v[i], expression))
            return build->device.lowered[i];
    return NULL;
}

static bool has_variable(const struct build *build, const char *name)
{
    const struct hone_cuda_variable *list = build->out->variables.v;
    for (size_t i = 0; i < build->out->variables.n; i++)
        if (strcmp(list[i].name, name) == 0)
            return true;
    return false;
}

/* What NVRTC is asked for: with its type where the source has several kernels of that name. */
static const char *asked_for(const struct build *build, const struct hone_record_instance *one)
{
    const struct hone_split_kernel *kernels = build->split.kernels.v;
    const char *name = one->expression;
    size_t n = 0, len = name == NULL ? 0 : strcspn(name, "<(");
    for (size_t i = 0; i < build->split.kernels.n; i++) {
        size_t own = strlen(kernels[i].name);
        n += own > 0 && own <= len && memcmp(kernels[i].name, name + len - own, own) == 0 &&
             (own == len || name[len - own - 1] == ':');
    }
    bool has_type = one->typed != NULL && one->typed[0] == '(' && !one->is_variable;
    return n > 1 && has_type ? one->typed : name;
}

/* Gives each instance the name that it has in the cubin. False: one is not there. */
static bool resolve(struct build *build)
{
    struct hone_record_instance *list = build->record.instances.v;
    bool is_whole = true;
    for (size_t i = 0; i < build->record.instances.n; i++) {
        list[i].lowered =
            list[i].expression == NULL ? NULL : lowered_of(build, asked_for(build, &list[i]));
        const char *name = list[i].lowered != NULL ? list[i].lowered : list[i].symbol;
        bool is_there = list[i].is_variable ? has_variable(build, name)
                                            : hone_cubin_find(&build->out->kernels, name) != NULL;
        is_whole = is_whole && (is_there || list[i].expression == NULL);
    }
    return is_whole;
}

/* The exact list: what was asked before and exists, and what the launcher really used. */
static void ask_exactly(struct build *build)
{
    const struct hone_record_instance *list = build->record.instances.v;
    size_t n = 0;
    const char **names = hone_pool_alloc(
        build->pool, (build->names.n + build->record.instances.n + 1) * sizeof *names);
    for (size_t i = 0; i < build->names.n; i++)
        names[n++] = build->names.v[i];
    for (size_t i = 0; i < build->record.instances.n; i++)
        if (list[i].expression != NULL && list[i].lowered == NULL)
            names[n++] = asked_for(build, &list[i]);
    build->names = (struct hone_strs){.v = names, .n = n};
}

static int match_instances(struct build *build, struct hone_err *err)
{
    if (!resolve(build)) {
        ask_exactly(build);
        int rc = compile_device_again(build, err);
        if (rc < 0)
            return rc;
        judge_compilers(build);
        if (!hone_build_is_over(build))
            rc = hone_build_read_cubin(build, err);
        if (rc < 0 || hone_build_is_over(build))
            return rc;
        (void)resolve(build);
    }
    hone_record_rename(&build->record.plans, &build->record.instances);
    build->out->plans = build->record.plans;
    return 0;
}

/* "m512: tiled<16> <<<...>>>; memset 4 KiB" */
static const char *plan_text(const struct build *build, const struct hone_plan *plan)
{
    HONE_AUTOFREE char *text = hone_plan_describe(plan);
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    for (char *c = strchr(text, '\n'); c != NULL; c = strchr(c, '\n'))
        *c = ';';
    return hone_pool_printf(build->pool, "%.64s: %.*s%s", plan->workload, PLAN_TEXT_BYTES, text,
                            len > PLAN_TEXT_BYTES ? "..." : "");
}

int hone_build_check_plans(struct build *build, struct hone_err *err)
{
    const struct hone_cuda_request *req = build->req;
    const struct hone_plan *plans = build->out->plans.v;
    const struct hone_plan_kernel *kernels = plan_kernels(build);
    const struct hone_task *task = req->task;
    const char **texts = hone_pool_alloc(build->pool, (build->out->plans.n + 1) * sizeof *texts);
    (void)err;
    for (size_t i = 0; i < build->out->plans.n; i++) {
        int64_t bytes[2 * HONE_LIMIT_TENSORS];
        struct hone_err why = HONE_ERR_INIT;
        size_t n = 0;
        for (size_t t = 0; t < task->n_inputs; t++)
            bytes[n++] = hone_tensor_elements(task, &task->inputs[t], &req->workloads[i]) *
                         hone_dtype_bytes(task->inputs[t].dtype);
        for (size_t t = 0; t < task->n_outputs; t++)
            bytes[n++] = hone_tensor_elements(task, &task->outputs[t], &req->workloads[i]) *
                         hone_dtype_bytes(task->outputs[t].dtype);
        texts[i] = plan_text(build, &plans[i]);
        build->out->report.plans = (struct hone_strs){.v = texts, .n = i + 1};
        if (hone_plan_check(&plans[i], bytes, (int64_t)task->n_inputs, kernels,
                            build->out->kernels.n, req->device, &why) < 0) {
            complain(build, HONE_REASON_LAUNCH, why.message);
            return 0;
        }
    }
    return 0;
}

/* ---- the whole ---- */

static int keep_cubin(struct build *build, struct hone_err *err)
{
    struct hone_cuda_module *out = build->out;
    out->cubin_path = hone_pool_printf(build->pool, "%s/kernel.cubin", build->req->scratch_dir);
    out->report.object_bytes = (int64_t)out->cubin_len;
    out->report.code = hone_code_hash(out->cubin, out->cubin_len, out->report.plans.v,
                                      out->report.plans.n, build->pool);
    return hone_file_write(out->cubin_path, out->cubin, out->cubin_len, 0644, false, err);
}

static int first_lane(struct build *build, struct hone_err *err)
{
    int rc = start_device(build, err);
    if (rc == 0)
        rc = start_host(build, err);
    if (rc == 0)
        rc = finish_host(build, err);
    if (rc == 0)
        rc = settle_device(build, err);
    if (rc < 0)
        return rc;
    judge_compilers(build);
    if (build->device.reason == HONE_REASON_BUILT)
        rc = hone_build_read_cubin(build, err);
    if (rc < 0 || hone_build_is_over(build) || build->req->n_workloads == 0)
        return rc;
    rc = hone_build_record(build, err);
    if (rc == 0 && !hone_build_is_over(build))
        rc = match_instances(build, err);
    if (rc == 0 && !hone_build_is_over(build))
        rc = hone_build_check_plans(build, err);
    return rc;
}

/* The same text and names once more, for the virtual architecture. The cubin stands without it. */
static void compile_ptx(struct build *build)
{
    struct hone_cuda_unit unit = unit_of(build);
    struct hone_cuda_ticket *ticket = NULL;
    struct hone_cuda_object object = {.reason = HONE_REASON_INFRA, .log = ""};
    struct hone_err why = HONE_ERR_INIT;
    bool is_real = strncmp(unit.arch, "sm_", 3) == 0;
    unit.arch = hone_pool_printf(build->pool, "compute_%s", unit.arch + (is_real ? 3 : 0));
    int rc = hone_cuda_compile_start(*build->req->compiler, &unit, &ticket, &why);
    if (rc == 0)
        rc = hone_cuda_compile_finish(ticket, build->pool, &object, &why);
    if (rc == 0 && object.reason == HONE_REASON_BUILT) {
        build->out->ptx = (const char *)object.cubin;
        build->out->ptx_len = object.cubin_len;
    } else {
        build->out->ptx_note = hone_pool_printf(build->pool, "NVRTC gave no PTX: %.300s",
                                                rc < 0 ? why.message : object.log);
    }
}

static void forget_first_lane(struct build *build)
{
    struct hone_cuda_module *out = build->out;
    *out = (struct hone_cuda_module){.lane = out->lane,
                                     .arch = out->arch,
                                     .split_ns = out->split_ns,
                                     .host_ns = out->host_ns,
                                     .record_ns = out->record_ns};
    *build->end = (struct hone_outcome){.reason = HONE_REASON_BUILT};
}

static int run(struct build *build, struct hone_err *err)
{
    int rc = make_texts(build, err);
    if (rc < 0 || hone_build_is_over(build))
        return rc;
    if (build->why_nvcc == NULL) {
        rc = first_lane(build, err);
        const char *late =
            rc == 0 && hone_build_is_over(build) ? hone_build_late_reason(build) : NULL;
        if (late != NULL && hone_build_has_nvcc()) {
            forget_first_lane(build);
            build->why_nvcc = late;
        }
    }
    if (build->why_nvcc != NULL)
        rc = hone_build_nvcc(build, err);
    fill_kernels(build);
    warn_of_spills(build);
    if (rc == 0 && build->req->wants_ptx && !build->is_nvcc && !hone_build_is_over(build))
        compile_ptx(build);
    return rc == 0 && build->out->cubin != NULL ? keep_cubin(build, err) : rc;
}

int hone_cuda_build(const struct hone_cuda_request *req, struct hone_pool *pool,
                    struct hone_cuda_module *ret, struct hone_outcome *ret_end,
                    struct hone_err *err)
{
    int64_t start = hone_now_ns();
    const char *arm = req->arm != NULL && hone_is_safe_name(req->arm) ? req->arm : "source";
    struct hone_cuda_request named = *req;
    *ret = (struct hone_cuda_module){.lane = "nvrtc", .arch = req->arch};
    *ret_end = (struct hone_outcome){.reason = HONE_REASON_BUILT};
    named.arm = arm;
    HONE_CLEANUP(build_done)
    struct build build = {.req = &named,
                          .pool = pool,
                          .out = ret,
                          .end = ret_end,
                          .file = hone_pool_printf(pool, "%s.cu", arm)};
    struct hone_err why = HONE_ERR_INIT;
    int rc = run(&build, &why);
    ret->report.wall_ns = hone_now_ns() - start;
    ret->report.host_ns = ret->host_ns;
    ret->report.device_ns = ret->device_ns;
    ret->report.record_ns = ret->record_ns;
    ret->report.is_cached = ret->is_host_cached && ret->is_device_cached;
    ret->report.lane = ret->lane;
    if (*req->compiler != NULL && !build.is_nvcc)
        ret->report.compiler = hone_pool_strdup(pool, hone_cuda_compiler_name(*req->compiler));
    if (rc == HONE_E_UNSUPPORTED && strstr(why.message, "jail") != NULL) {
        hone_outcome_set(ret_end, HONE_REASON_NO_JAIL, "%.380s", why.message);
        return 0;
    }
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}
