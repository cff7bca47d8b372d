/* SPDX-License-Identifier: Apache-2.0 */
/* Which arm runs in which arena.
 *
 * Device code can write to whatever is mapped in its context, so an arena that ran a candidate is
 * never given to a baseline: it could be made slow. Candidates and parents share the pool's warm
 * spares, baselines keep one of their own. A confirmation begins with fresh processes for all and
 * leaves none behind. So does a comparison with a parent: the device's heap would tell who was
 * called in checks before. */
#include "tools/runner/cuda/judge/gpu_judge.h"

#include "tools/runner/judge/arms.h"
#include "workspace/base/clock.h"

#define N_SPARES    2
#define MAX_MODULES 64
#define START_MS    30000
#define LOAD_MS     30000

static struct hone_gpu_arm_spec arm_spec(const struct hone_judge *judge)
{
    const struct hone_gpu_session *session = judge->session->gpu;
    return (struct hone_gpu_arm_spec){.rung = judge->job->jail,
                                      .allow_weak = judge->job->allow_weak_jail,
                                      .stamp = session->stamp.v,
                                      .stamp_len = session->stamp.n};
}

int hone_gpu_arms_open(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    if (session->arenas != NULL) {
        if (hone_judge_is_tier(judge, HONE_TIER_CONFIRM))
            hone_gpu_pool_retire(session->arenas);
        hone_gpu_pool_refill(session->arenas);
        return 0;
    }
    struct hone_gpu_pool_spec spec = {
        .arm = arm_spec(judge), .n_spares = N_SPARES, .max_modules = MAX_MODULES};
    return hone_gpu_pool_new(&spec, &session->arenas, err);
}

void hone_gpu_arms_free(struct hone_gpu_session *session)
{
    hone_gpu_arm_free(session->baseline);
    hone_gpu_pool_free(session->arenas);
    session->baseline = NULL;
    session->arenas = NULL;
}

/* Only spares that never loaded anything. */
int hone_gpu_arms_unused(struct hone_judge *judge, int64_t deadline_ns, struct hone_gpu_arm **ret,
                         struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    struct hone_gpu_arm *arm = NULL;
    int code = hone_gpu_pool_take(session->arenas, deadline_ns, &arm, err);
    if (code == 0 && hone_gpu_arm_n_modules(arm) > 0) {
        hone_gpu_pool_give(session->arenas, arm);
        const struct hone_gpu_arm_spec spec = arm_spec(judge);
        code = hone_gpu_arm_start(&spec, &arm, err);
        if (code == 0)
            code = hone_gpu_arm_wait(arm, deadline_ns, err);
        if (code < 0) {
            hone_gpu_arm_free(arm);
            arm = NULL;
        }
    }
    if (code == 0)
        *ret = arm;
    return code;
}

/* Is the arena this arm's alone, from the first module to the last? */
static bool is_for_once(const struct hone_judge *judge, const struct hone_slot *slot)
{
    return hone_judge_is_tier(judge, HONE_TIER_CONFIRM) || slot->is_lost ||
           (hone_arm_has_guest(judge) && !hone_arm_is_trusted(slot));
}

static int take(struct hone_judge *judge, struct hone_slot *slot, struct hone_gpu_arm **ret,
                struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t deadline = hone_min_i64(hone_deadline_in_ms(START_MS), judge->deadline_ns);
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    bool is_fresh = is_for_once(judge, slot) || own->wants_unused;
    own->wants_unused = false;
    if (hone_arm_is_trusted(slot) && session->baseline != NULL && !is_fresh) {
        *ret = session->baseline;
        session->baseline = NULL;
        if (hone_gpu_arm_is_alive(*ret) && hone_gpu_arm_n_modules(*ret) < MAX_MODULES)
            return 0;
        hone_gpu_arm_free(*ret);
        *ret = NULL;
    }
    if (hone_arm_is_trusted(slot) || is_fresh)
        return hone_gpu_arms_unused(judge, deadline, ret, err);
    return hone_gpu_pool_take(session->arenas, deadline, ret, err);
}

static void forget(struct hone_gpu_slot *own)
{
    own->is_loaded = false;
    own->mapped = 0;
}

void hone_gpu_arms_renew(struct hone_judge *judge, struct hone_slot *slot)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    forget(own);
    hone_gpu_arm_free(own->arm);
    own->arm = NULL;
    own->wants_unused = true;
}

int hone_gpu_arms_unmap(struct hone_judge *judge, struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; i < judge->n_slots && code == 0; i++) {
        struct hone_gpu_slot *own = &judge->gpu->slots[i];
        if (own->arm != NULL && own->mapped != 0)
            code = hone_gpu_arm_drop(own->arm, true, err);
        own->mapped = 0;
    }
    return code;
}

void hone_gpu_drop(struct hone_judge *judge, struct hone_slot *slot)
{
    if (judge->gpu == NULL)
        return;
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    forget(own);
    if (own->arm == NULL)
        return;
    if (is_for_once(judge, slot) || !hone_gpu_arm_is_alive(own->arm)) {
        hone_gpu_arm_free(own->arm);
        own->arm = NULL;
    }
}

void hone_gpu_arms_give(struct hone_judge *judge)
{
    struct hone_gpu_session *session = judge->gpu->session;
    for (size_t i = 0; i < judge->n_slots; i++) {
        struct hone_gpu_slot *own = &judge->gpu->slots[i];
        hone_gpu_drop(judge, &judge->slots[i]);
        if (own->arm == NULL)
            continue;
        /* A spare keeps its context and nothing else. */
        if (session->is_broken || session->arenas == NULL ||
            hone_gpu_arm_drop(own->arm, false, NULL) < 0 || !hone_gpu_arm_is_alive(own->arm)) {
            hone_gpu_arm_free(own->arm);
        } else if (hone_arm_is_trusted(&judge->slots[i])) {
            hone_gpu_arm_free(session->baseline);
            session->baseline = own->arm;
        } else {
            hone_gpu_pool_give(session->arenas, own->arm);
        }
        own->arm = NULL;
    }
}

int hone_gpu_arms_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                        struct hone_err *err)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (own->arm != NULL && !hone_gpu_arm_is_alive(own->arm)) {
        hone_gpu_arm_free(own->arm);
        own->arm = NULL;
    }
    int64_t start = hone_now_ns();
    int code = 0;
    if (own->arm == NULL) {
        forget(own);
        code = take(judge, slot, &own->arm, err);
        own->has_no_arena = code < 0;
        hone_judge_cost(judge, "device.arena", hone_now_ns() - start);
    }
    if (code < 0)
        return hone_wrap(err, "arm '%s'", slot->name);
    judge->report->jail = hone_pool_strdup(judge->pool, hone_gpu_arm_rung(own->arm));
    if (!own->is_loaded) {
        start = hone_now_ns();
        own->mapped = 0;
        code =
            hone_gpu_arm_load(own->arm, &own->module,
                              hone_min_i64(hone_deadline_in_ms(LOAD_MS), judge->deadline_ns), err);
        hone_judge_cost(judge, "device.load", hone_now_ns() - start);
        own->is_loaded = code == 0 && hone_gpu_arm_is_alive(own->arm);
        if (own->is_loaded && hone_gpu_arm_n_hidden_variables(own->arm) > 0)
            hone_judge_warn(judge,
                            "arm '%s' has %lld device variables that the driver does not name: "
                            "they are not put back between calls",
                            slot->name, (long long)hone_gpu_arm_n_hidden_variables(own->arm));
    }
    *ret = *hone_gpu_arm_end(own->arm);
    return code;
}
