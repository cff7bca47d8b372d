/* SPDX-License-Identifier: Apache-2.0 */
/* The stage: one workload, an arena of its own, counters as far as they are to be had.
 *
 * Drivers show counters to administrators unless they were told otherwise, and a jailed arena
 * is none. So up to three ways are tried: as the job's jail says; for root on rung "root",
 * where the arena keeps CAP_PERFMON; for root without a jail. No host code of a candidate runs
 * in any of them. What is timed in the profiled arena is only held against the roofline, never
 * against an arm. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/runner/cuda/device/gpu_facts.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/judge/gpu_profile.h"
#include "tools/runner/cuda/compile/sass.h"
#include "tools/runner/judge/rounds.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define BUDGET_NS   (1 * HONE_NS_PER_S) /* of the passes */
#define PROFILE_MS  60000               /* set-up takes most of a second, a busy machine longer */
#define SASS_MS     10000
#define CLOCKED_NS  (20 * HONE_NS_PER_MS)
#define MOST_CALLS  512
#define POISON_WORD 0x7fc0dead

struct way {
    const char *rung; /* NULL: the job's */
    bool is_open, for_root;
};
static const struct way ways[] = {{NULL, false, false}, {"root", false, true}, {NULL, true, true}};

static int start(struct hone_judge *judge, const struct way *way, struct hone_gpu_arm **ret,
                 struct hone_err *err)
{
    const struct hone_gpu_session *session = judge->session->gpu;
    const struct hone_gpu_arm_spec spec = {
        .rung = way->rung != NULL ? way->rung : judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .stamp = session->stamp.v,
        .stamp_len = session->stamp.n,
        .is_profiling = true,
        .is_open = way->is_open,
    };

    return hone_gpu_arm_start(&spec, ret, err);
}

/* A call without the profiler, on the clock that timing uses and over as many sets. */
static int clock_calls(struct hone_judge *judge, double *ret_ns, struct hone_outcome *ret,
                       struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    int32_t sets[MOST_CALLS];
    struct hone_gpu_time time = {.wall_ns = 0};
    int64_t n = 1;
    int rc = 0;

    for (int32_t i = 0; i < MOST_CALLS; i++)
        sets[i] = i % (int32_t)judge->gpu->frame.layout.n_sets;
    *ret_ns = 0;
    for (int round = 0; round < 3 && rc == 0 && hone_outcome_is_good(ret); round++) {
        rc = hone_gpu_call(judge, slot, sets, n, POISON_WORD, *ret_ns, &time, ret, err);
        if (time.is_late)
            continue;
        *ret_ns = time.event_ns / (double)n;
        n = (int64_t)((double)CLOCKED_NS / (*ret_ns > 1 ? *ret_ns : 1));
        n = hone_max_i64(1, hone_min_i64(n, MOST_CALLS));
    }
    return rc;
}

/* In the arena that stands in the slot. */
static int count(struct hone_judge *judge, struct hone_gpu_profile_page *page, double *ret_call_ns,
                 struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    struct hone_gpu_arm *arm = hone_gpu_slot(judge, slot)->arm;
    int rc = hone_gpu_ready(judge, slot, ret, err);

    if (rc == 0 && hone_outcome_is_good(ret))
        rc = hone_gpu_fill(judge, 0, judge->gpu->frame.layout.n_sets, HONE_DIST_NORMAL,
                           judge->counter++, err);
    if (rc == 0 && hone_outcome_is_good(ret))
        rc = clock_calls(judge, ret_call_ns, ret, err);
    if (rc < 0 || !hone_outcome_is_good(ret))
        return rc;
    rc = hone_gpu_sync(judge->gpu->session, err);
    if (rc == 0)
        rc = hone_gpu_arm_profile(arm, 0, BUDGET_NS, POISON_WORD,
                                  hone_min_i64(PROFILE_MS * HONE_NS_PER_MS + judge->call_timeout_ns,
                                               judge->deadline_ns - hone_now_ns()),
                                  page, err);
    /* It has just run without the profiler: what ended it now is not the candidate's fault. */
    if (rc == 0 && !hone_gpu_arm_is_alive(arm))
        snprintf(page->note, sizeof page->note, "the profiler ended the arena: %.300s",
                 hone_gpu_arm_end(arm)->detail);
    return rc;
}

/* The slot's own arena is put aside and back: what was profiled is never timed. */
static int try_way(struct hone_judge *judge, const struct way *way,
                   struct hone_gpu_profile_page *page, double *ret_call_ns,
                   struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, &judge->slots[0]);
    struct hone_gpu_arm *kept = own->arm;
    bool was_loaded = own->is_loaded;
    uint64_t mapped = own->mapped;
    const char *rung = judge->report->jail;
    struct hone_gpu_arm *arm = NULL;
    int rc = start(judge, way, &arm, err);

    if (rc < 0)
        return rc;
    own->arm = arm;
    own->is_loaded = false;
    own->mapped = 0;
    *page = (struct hone_gpu_profile_page){.n_ranges = 0};
    rc = count(judge, page, ret_call_ns, ret, err);
    judge->report->jail = rung != NULL ? rung : judge->report->jail;
    if (own->arm == arm)
        hone_gpu_arm_free(arm);
    own->arm = kept;
    own->is_loaded = was_loaded;
    own->mapped = mapped;
    return rc;
}

static int try_all(struct hone_judge *judge, struct hone_gpu_profile_page *page,
                   double *ret_call_ns, struct hone_outcome *ret, struct hone_err *err)
{
    bool is_root = geteuid() == 0, is_closed = is_root && hone_gpu_restricts_counters();
    struct hone_err why = HONE_ERR_INIT;
    int rc = HONE_E_UNSUPPORTED;
    bool has_any = false;

    for (size_t i = is_closed ? 1 : 0; i < HONE_COUNTOF(ways); i++) {
        if (ways[i].for_root && !is_root)
            continue;
        struct hone_outcome end = HONE_OUTCOME_INIT;
        double call_ns = 0;
        rc = try_way(judge, &ways[i], page, &call_ns, &end, &why);
        if (rc == HONE_E_CANCEL)
            break;
        if (rc < 0)
            continue; /* this rung does not start here */
        has_any = true;
        *ret = end;
        *ret_call_ns = call_ns;
        if (!hone_outcome_is_good(&end) || page->has_counters || !page->is_refused)
            return 0;
    }
    if (rc < 0 && !has_any && err != NULL)
        *err = why;
    return has_any ? 0 : rc;
}

/* The bound that percent_of_bound is of (hone_rounds_bound). */
static int roof_of(struct hone_judge *judge, const struct hone_workload *workload, double call_ns,
                   struct hone_gpu_roof *ret, struct hone_err *err)
{
    const struct hone_machine *machine = &judge->machine;

    *ret = (struct hone_gpu_roof){
        .flops_rate = machine->flops,
        .bytes_rate = hone_rounds_is_in_cache(judge, workload, judge->gpu->frame.layout.n_sets)
                          ? fmax(machine->cache_rate, machine->memory_rate)
                          : machine->memory_rate,
        .call_ns = call_ns,
        .is_flops_guessed = judge->task->is_flops_guessed,
    };
    return hone_judge_least_work(judge, workload, &ret->flops, &ret->bytes, err);
}

/* Text of the disassembler; none is not a failure. */
static void disassemble(struct hone_judge *judge, struct hone_gpu_profile_in *in)
{
    HONE_AUTOFREE char *folder = hone_path_join(judge->dir, "open", NULL);
    const struct hone_sass_request req = {
        .cubin = in->module->cubin,
        .len = in->module->cubin_len,
        .scratch_dir = folder,
        .rung = judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .deadline_ns = hone_min_i64(hone_deadline_in_ms(SASS_MS), judge->deadline_ns),
    };

    if (hone_sass_disassemble(&req, judge->pool, &in->sass_text, &in->sass_len, NULL) < 0)
        in->sass_text = NULL;
}

int hone_gpu_judge_profile(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_workload *workload = hone_judge_heaviest(judge);
    struct hone_profile_report *report = hone_pool_alloc(judge->pool, sizeof *report);
    struct hone_gpu_profile_page *page = hone_pool_alloc(judge->pool, sizeof *page);
    const struct hone_gpu_slot *own = hone_gpu_slot(judge, &judge->slots[0]);
    size_t c = hone_gpu_case(judge, workload);
    struct hone_gpu_profile_in in = {.page = page};
    double call_ns = 0;
    int64_t started = hone_now_ns();

    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int rc = hone_judge_ensure_ceilings(judge, err);
    if (rc == 0)
        rc =
            hone_gpu_set_frame(judge, workload, hone_gpu_sets_allowed(judge, workload), false, err);
    if (rc == 0)
        rc = try_all(judge, page, &call_ns, ret, err);
    hone_judge_cost(judge, "profile.count", hone_now_ns() - started);
    if (rc < 0 || !hone_outcome_is_good(ret))
        return rc;
    if (c >= own->module.plans.n)
        return hone_fail(err, HONE_E_BUG, "no plan for workload '%s'", workload->id);
    in.module = &own->module;
    in.plan = (const struct hone_plan *)own->module.plans.v + c;
    in.sm_count = judge->gpu->session->device.sm_count;
    in.major = judge->gpu->session->device.major;
    in.minor = judge->gpu->session->device.minor;
    rc = roof_of(judge, workload, call_ns, &in.roof, err);
    if (rc < 0)
        return rc;
    started = hone_now_ns();
    disassemble(judge, &in);
    hone_judge_cost(judge, "profile.sass", hone_now_ns() - started);
    HONE_AUTOFREE char *source = NULL;
    struct hone_outcome unread = HONE_OUTCOME_INIT;
    (void)hone_judge_read_source(judge, &judge->slots[0], &source, &unread);
    in.source = source;
    hone_gpu_profile_report(&in, judge->pool, report);
    report->workload = workload->id;
    report->timed =
        hone_pool_printf(judge->pool, "%s alone, before the profiler was on", workload->id);
    judge->report->profile = report;
    return 0;
}
