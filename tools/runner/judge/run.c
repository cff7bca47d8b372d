/* SPDX-License-Identifier: Apache-2.0 */
/* The run stage: one call, what it gave, what it printed; then what a call takes once its memory is
 * warm. */
#include "tools/runner/judge/judge.h"

#include <math.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/order_stats.h"
#include "workspace/base/utf8.h"

#define PRINTED_MAX 8192
#define WARM_CALLS  9
#define WARM_NS     (100 * HONE_NS_PER_MS) /* of all of them */

void hone_judge_summarise(const struct hone_tensor *tensor, const void *base, int64_t n,
                          struct hone_buf *buf)
{
    int64_t n_finite = 0;
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = hone_element_get(tensor->dtype, base, i);
        if (!isfinite(v))
            continue;
        n_finite++;
        low = fmin(low, v);
        high = fmax(high, v);
        sum += v;
    }
    hone_buf_printf(buf,
                    "%s: %lld elements, min %.6g, max %.6g, mean %.6g, %lld not finite; first:",
                    tensor->name, (long long)n, low, high, sum / (double)hone_max_i64(n_finite, 1),
                    (long long)(n - n_finite));
    for (int64_t i = 0; i < n && i < 8; i++)
        hone_buf_printf(buf, " %.6g", hone_element_get(tensor->dtype, base, i));
    hone_buf_str(buf, "\n");
}

static void add_printed(const struct hone_arena *arena, struct hone_buf *buf)
{
    off_t end = arena->printed.base != NULL ? lseek(arena->printed.fd, 0, SEEK_CUR) : 0;
    if (end <= 0)
        return;
    int64_t len = hone_min_i64(hone_min_i64(end, arena->printed.size), PRINTED_MAX);
    hone_buf_str(buf, "printed by the kernel:\n");
    hone_buf_add(buf, arena->printed.base, (size_t)len);
}

/* Calls once more, a few times. One that ends badly says nothing: the first has been told. */
static int time_warm(struct hone_judge *judge, struct hone_slot *slot,
                     const struct hone_workload *workload, struct hone_err *err)
{
    struct hone_calls calls = {.n_rotate = 1, .n_calls = 1, .timeout_ns = judge->call_timeout_ns};
    double all[WARM_CALLS];
    size_t n = 0;
    int64_t start = hone_now_ns();
    while (n < WARM_CALLS && (n == 0 || hone_now_ns() - start < WARM_NS)) {
        struct hone_call_time time = {0};
        int code = hone_arena_call(slot->arena, &calls, &time, err);
        if (code < 0 || !hone_outcome_is_good(&slot->arena->end))
            return code;
        all[n++] = (double)time.wall_ns;
    }
    struct hone_arm_time *time = hone_pool_alloc(judge->pool, sizeof *time);
    *time = (struct hone_arm_time){.arm = slot->name,
                                   .median_ns = hone_median(all, n),
                                   .min_ns = hone_quantile(all, n, 0),
                                   .q1_ns = hone_quantile(all, n, 0.25),
                                   .q3_ns = hone_quantile(all, n, 0.75),
                                   .cpu_ns = (double)NAN,
                                   .n_samples = (int64_t)n,
                                   .n_batch = 1};
    judge->workloads[judge->n_workloads++] =
        (struct hone_workload_report){.id = workload->id,
                                      .times = {.v = time, .n = 1},
                                      .bound_ns = (double)NAN,
                                      .bytes_ns = (double)NAN,
                                      .flops_ns = (double)NAN,
                                      .least_bytes = (double)NAN,
                                      .least_flops = (double)NAN,
                                      .percent_of_bound = (double)NAN,
                                      .steal_percent = (double)NAN};
    return 0;
}

static const struct hone_workload *workload_to_run(const struct hone_judge *judge)
{
    size_t c = 1;
    while (c + 1 < judge->n_cases && !hone_judge_is_wanted(judge, c))
        c++;
    return &judge->cases[judge->n_cases > 1 ? c : 0];
}

int hone_cpu_run(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_workload *workload = workload_to_run(judge);
    struct hone_slot *slot = &judge->slots[0];
    hone_judge_drop_arena(slot);
    int code = hone_judge_set_frame(judge, workload, 1, err);
    if (code == 0)
        code = hone_judge_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    hone_judge_fill(judge, 0, HONE_DIST_NORMAL, judge->counter++);
    hone_judge_poison(judge, slot, 0, HONE_POISON_NAN);
    struct hone_calls calls = {.n_rotate = 1, .n_calls = 1, .timeout_ns = judge->call_timeout_ns};
    struct hone_call_time time = {0};
    code = hone_arena_call(slot->arena, &calls, &time, err);
    if (code < 0)
        return code;
    *ret = slot->arena->end;
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    if (hone_outcome_is_good(ret)) {
        hone_buf_printf(&buf,
                        "workload %s, distribution normal, one call: %.3f ms wall, %.3f ms CPU\n",
                        workload->id, (double)time.wall_ns / 1e6, (double)time.cpu_ns / 1e6);
        for (size_t o = 0; o < judge->task->n_outputs; o++)
            hone_judge_summarise(&judge->task->outputs[o], hone_judge_output(judge, slot, 0, o),
                                 hone_judge_output_elements(judge, o), &buf);
    }
    add_printed(slot->arena, &buf);
    if (buf.data != NULL)
        hone_utf8_defuse(buf.data, '?');
    judge->report->output =
        hone_pool_strndup(judge->pool, buf.data != NULL ? buf.data : "", buf.len);
    bool is_timed = judge->n_workloads > 0; /* by a stage before this one, with more care */
    return hone_outcome_is_good(ret) && !is_timed ? time_warm(judge, slot, workload, err) : 0;
}
