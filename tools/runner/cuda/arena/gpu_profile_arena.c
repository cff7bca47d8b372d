/* SPDX-License-Identifier: Apache-2.0 */
/* Counting one call inside the arena (gpu_profile_arena.h).
 *
 * Flow: clock the call without the profiler; choose the tiers of counters whose passes fit
 * into the time; for each pass put memory back and run the plan with a range around each
 * launch; read the counters into the page. A tier that cannot be had leaves a note and the
 * ones before it stand. */
#include "tools/runner/cuda/arena/gpu_profile_arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "workspace/base/clock.h"

#define MOST_PASSES 64
/* What a pass and a range cost besides the work: 32 passes over one kernel took 0.5 s (H200). */
#define PASS_NS  (15 * HONE_NS_PER_MS)
#define RANGE_NS (HONE_NS_PER_MS / 2)
#define PATCHED  20 /* instrumented instructions slow a kernel about so many times */

static int sync(const struct hone_gpu_profile_work *work, struct hone_err *err)
{
    const struct hone_cuda *cu = work->device->cu;

    return hone_cu_check(cu, cu->StreamSynchronize(work->stream), "running the kernels", err);
}

/* Everything as it was before the call. */
static int reset(const struct hone_gpu_profile_work *work, struct hone_err *err)
{
    int rc = hone_gpu_program_restore(work->program, work->stream, err);

    if (rc == 0)
        rc = hone_gpu_program_poison(work->program, work->scratch_poison, work->stream, err);
    return rc == 0 ? sync(work, err) : rc;
}

static int clock_call(const struct hone_gpu_profile_work *work, double *ret_ns,
                      struct hone_err *err)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) { /* the first one warms up */
        rc = reset(work, err);
        int64_t start = hone_now_ns();
        if (rc == 0)
            rc = hone_gpu_program_issue(work->program, work->set, work->stream, err);
        if (rc == 0)
            rc = sync(work, err);
        *ret_ns = (double)(hone_now_ns() - start);
    }
    return rc;
}

static double cost_of(const struct hone_gpu_profile_page *page, enum hone_gpu_tier tier,
                      size_t n_passes)
{
    double pass = (double)PASS_NS + 2 * page->call_ns + (double)RANGE_NS * page->n_ranges;

    return pass * (double)n_passes + (tier == HONE_GPU_TIER_SASS ? PATCHED * page->call_ns : 0);
}

/* The last tier, at most this one, whose passes fit the budget. */
static int choose(const struct hone_gpu_profile_work *work, struct hone_cupti_session *session,
                  enum hone_gpu_tier most, struct hone_gpu_profile_page *page, struct hone_err *err)
{
    size_t n_passes = 0;
    int rc = 0;

    for (int tier = (int)most; tier >= 0 && rc == 0; tier--) {
        rc = hone_cupti_begin(session, (enum hone_gpu_tier)tier, (size_t)page->n_ranges, &n_passes,
                              err);
        page->last_tier = tier;
        page->n_passes = (int32_t)n_passes;
        if (cost_of(page, (enum hone_gpu_tier)tier, n_passes) <= (double)work->budget_ns)
            break;
    }
    if (rc == 0 && n_passes > MOST_PASSES)
        return hone_fail(err, HONE_E_UNSUPPORTED, "%zu passes are needed for the first counters",
                         n_passes);
    return rc;
}

/* *ret_kernel: what failed was the work, not the profiler. */
static int run_ops(const struct hone_gpu_profile_work *work, struct hone_cupti_session *session,
                   const struct hone_gpu_profile_page *page, bool *ret_kernel, struct hone_err *err)
{
    size_t n = hone_gpu_program_n_ops(work->program), range = 0;
    int rc = 0;

    for (size_t op = 0; op < n && rc == 0; op++) {
        bool is_range =
            hone_gpu_program_is_launch(work->program, op) && range < (size_t)page->n_ranges;
        *ret_kernel = false;
        if (is_range)
            rc = hone_cupti_push(session, range, err);
        if (rc < 0)
            return rc;
        *ret_kernel = true;
        rc = hone_gpu_program_issue_op(work->program, op, work->set, work->stream, err);
        if (rc == 0)
            rc = sync(work, err);
        if (rc < 0)
            return rc;
        *ret_kernel = false;
        if (is_range)
            rc = hone_cupti_pop(session, err);
        range += is_range ? 1 : 0;
    }
    return rc;
}

static int run_passes(const struct hone_gpu_profile_work *work, struct hone_cupti_session *session,
                      const struct hone_gpu_profile_page *page, bool *ret_kernel,
                      struct hone_err *err)
{
    bool is_last = false;
    int rc = 0;

    for (int pass = 0; pass < MOST_PASSES && !is_last; pass++) {
        *ret_kernel = true;
        rc = reset(work, err);
        if (rc < 0)
            return rc;
        *ret_kernel = false;
        rc = hone_cupti_pass_start(session, err);
        if (rc == 0)
            rc = run_ops(work, session, page, ret_kernel, err);
        if (rc < 0)
            return rc;
        rc = hone_cupti_pass_stop(session, &is_last, err);
        if (rc < 0)
            return rc;
    }
    return is_last ? 0 : hone_fail(err, HONE_E_TARGET, "the profiler asks for ever more passes");
}

static int count(const struct hone_gpu_profile_work *work, struct hone_cupti_session *session,
                 enum hone_gpu_tier most, struct hone_gpu_profile_page *page, bool *ret_kernel,
                 struct hone_err *err)
{
    HONE_AUTOFREE struct hone_gpu_values *values =
        hone_calloc((size_t)page->n_ranges, sizeof *values);
    int64_t start = hone_now_ns();
    int rc = choose(work, session, most, page, err);

    if (rc == 0)
        rc = run_passes(work, session, page, ret_kernel, err);
    if (rc == 0)
        rc = hone_cupti_values(session, values, (size_t)page->n_ranges, err);
    page->count_ns = (double)(hone_now_ns() - start);
    for (int32_t i = 0; i < page->n_ranges && rc == 0; i++)
        page->ranges[i].values = values[i];
    page->has_counters = rc == 0;
    return rc;
}

static void find_ranges(const struct hone_gpu_profile_work *work,
                        struct hone_gpu_profile_page *page)
{
    for (size_t op = 0; op < hone_gpu_program_n_ops(work->program); op++) {
        if (!hone_gpu_program_is_launch(work->program, op))
            continue;
        page->n_launches++;
        if (page->n_ranges < HONE_CUPTI_MAX_RANGES)
            page->ranges[page->n_ranges++].op = (int32_t)op;
    }
}

/* One session. Outputs of a failed one are a note. */
static int try_tiers(const struct hone_gpu_profile_work *work, const struct hone_cupti *cupti,
                     enum hone_gpu_tier most, struct hone_gpu_profile_page *page, bool *ret_kernel,
                     struct hone_err *err)
{
    struct hone_cupti_session *session = NULL;
    int64_t start = hone_now_ns();
    int rc =
        hone_cupti_session_open(cupti, work->device->ctx, (int)work->device->dev, &session, err);

    page->open_ns = (double)(hone_now_ns() - start);
    if (rc == 0) {
        snprintf(page->chip, sizeof page->chip, "%s", hone_cupti_session_chip(session));
        rc = count(work, session, most, page, ret_kernel, err);
    }
    hone_cupti_session_close(session);
    return rc;
}

/* Instrumented instructions are the part that most often does not work: without them once more. */
static int count_all(const struct hone_gpu_profile_work *work, struct hone_gpu_profile_page *page,
                     bool *ret_kernel, struct hone_err *err)
{
    struct hone_cupti *cupti = NULL;
    int rc = hone_cupti_open(&cupti, err);

    if (rc < 0)
        return rc;
    page->is_refused = 1;
    rc = try_tiers(work, cupti, HONE_GPU_TIER_SASS, page, ret_kernel, err);
    if (rc < 0 && !*ret_kernel && page->last_tier == HONE_GPU_TIER_SASS && page->n_passes > 0) {
        HONE_AUTOFREE char *first = hone_strdup(err->message);
        rc = try_tiers(work, cupti, HONE_GPU_TIER_T2, page, ret_kernel, err);
        if (rc == 0)
            snprintf(page->note, sizeof page->note, "without instrumented instructions: %s", first);
    }
    hone_cupti_close(cupti);
    return rc;
}

static int fill_page(const struct hone_gpu_profile_work *work, struct hone_gpu_profile_page *page,
                     struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    bool is_kernel = false;
    int rc = clock_call(work, &page->call_ns, err);

    if (rc < 0)
        return rc;
    find_ranges(work, page);
    if (page->n_ranges == 0) {
        snprintf(page->note, sizeof page->note, "this call launches no kernel");
        return 0;
    }
    rc = count_all(work, page, &is_kernel, &why);
    page->is_refused = page->is_refused && rc < 0 && !is_kernel;
    if (rc < 0)
        snprintf(page->note, sizeof page->note, "%s", why.message);
    if (rc < 0 && is_kernel && err != NULL)
        *err = why;
    return rc < 0 && is_kernel ? rc : 0;
}

int hone_gpu_profile_serve(const struct hone_gpu_profile_work *work, int fd, struct hone_err *err)
{
    struct hone_gpu_profile_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int rc;

    if (page == MAP_FAILED)
        return hone_fail_errno(err, errno, "mapping the page of a profile");
    memset(page, 0, sizeof *page);
    rc = fill_page(work, page, err);
    munmap(page, sizeof *page);
    return rc;
}
