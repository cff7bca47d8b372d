/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that nobody published: hidden workloads for the confirmation, edge sizes for the checks,
 * and the tiny one for the smoke stage. range.c draws those that reach over the whole legal range
 * and beyond the public sizes.
 *
 * A hidden size is there to be timed: its work is like that of the public sizes. It starts from a
 * public one and each var axis is then bent by a rule that finds the usual faults: one off, half a
 * tile off, a prime, an odd size, a size from the draw range. A size that is illegal, costs more
 * than the largest public one or is not worth timing is drawn again; after half of N_TRIES axes
 * only shrink. Everything follows from (key, index). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "workspace/task/draw.h"

enum { N_TRIES = 64, EDGE_LONG = 1, EDGE_MANY = 3 };

/* Ids must outlive the call without an owner: a constant table. They repeat after a hundred. */
#define TEN(d)                                                                                     \
    "hidden-" #d "0", "hidden-" #d "1", "hidden-" #d "2", "hidden-" #d "3", "hidden-" #d "4",      \
        "hidden-" #d "5", "hidden-" #d "6", "hidden-" #d "7", "hidden-" #d "8", "hidden-" #d "9"
static const char *const hidden_ids[] = {TEN(0), TEN(1), TEN(2), TEN(3), TEN(4),
                                         TEN(5), TEN(6), TEN(7), TEN(8), TEN(9)};
static const char *const edge_ids[] = {"edge-0", "edge-1", "edge-2", "edge-3",
                                       "edge-4", "edge-5", "edge-6", "edge-7"};
#define EDGE_FLOPS (1 << 20) /* tiny public sizes have edges too */
#define EDGE_BYTES (1 << 22)
#define LIKE       0.3 /* of some public size's work: worth timing (HIDDEN_WORK_SHARE, stages.c) */

int64_t hone_draw_between(struct hone_draw_rng *rng, double low, double high)
{
    double part = (double)hone_draw_roll(rng, 1 << 30) / (double)(1 << 30);
    double value = exp(log(low) + part * (log(fmax(high, low)) - log(low)));
    return (int64_t)fmin(fmax(rint(value), low), high);
}

static bool is_prime(int64_t n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return false;
    for (int64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return true;
}

static int64_t prime_at_or_below(int64_t n)
{
    while (n > 2 && !is_prime(n))
        n--;
    return hone_max_i64(n, 2);
}

static int64_t rule_one_off(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    return value + (hone_draw_roll(d, 2) ? 1 : -1) * axis->multiple;
}

static int64_t rule_half_tile(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    int64_t half = 4ll << hone_draw_roll(d, 4); /* tiles of 8, 16, 32, 64 */
    half = (half + axis->multiple - 1) / axis->multiple * axis->multiple;
    return value + (hone_draw_roll(d, 2) ? half : -half);
}

static int64_t rule_prime(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    (void)axis;
    return prime_at_or_below(value - hone_draw_roll(d, hone_max_i64(1, value / 8)));
}

static int64_t rule_range(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    (void)value;
    return axis->draw_min + hone_draw_roll(d, axis->draw_max - axis->draw_min + 1);
}

static int64_t rule_octave(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    (void)value;
    return hone_draw_between(d, (double)hone_max_i64(axis->draw_min, 1), (double)axis->draw_max);
}

static int64_t rule_keep(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value)
{
    (void)d;
    (void)axis;
    return value;
}

typedef int64_t rule_fn(struct hone_draw_rng *d, const struct hone_axis *axis, int64_t value);
/* keep is here so that one axis can be odd while the others are as in public. */
static rule_fn *const rules[] = {rule_one_off, rule_half_tile, rule_prime, rule_range,
                                 rule_octave,  rule_one_off,   rule_keep};

int64_t hone_draw_legal(const struct hone_axis *axis, int64_t value)
{
    int64_t low =
        (hone_max_i64(axis->min, 1) + axis->multiple - 1) / axis->multiple * axis->multiple;
    int64_t high = axis->max / axis->multiple * axis->multiple;
    value = value / axis->multiple * axis->multiple;
    return hone_max_i64(low, hone_min_i64(high, value));
}

int hone_draw_cost(const struct hone_task *task, const struct hone_workload *w,
                   struct hone_draw_cost *ret)
{
    int code = hone_task_eval(task, task->flops, w, &ret->flops, NULL);
    return code < 0 ? code : hone_task_eval(task, task->bytes, w, &ret->bytes, NULL);
}

struct hone_draw_cost hone_draw_top(const struct hone_task *task)
{
    struct hone_draw_cost top = {0}, c;
    for (size_t i = 0; i < task->n_workloads; i++) {
        if (hone_draw_cost(task, &task->workloads[i], &c) < 0)
            continue;
        top.flops = fmax(top.flops, c.flops);
        top.bytes = fmax(top.bytes, c.bytes);
    }
    return top;
}

/* Formulas that must be 1 or more. */
static bool has_work(const struct hone_task *task, const struct hone_workload *w)
{
    const char *const formulas[] = {task->items, task->bytes, task->steps};
    for (size_t i = 0; i < HONE_COUNTOF(formulas); i++) {
        double value = 0;
        if (formulas[i] != NULL &&
            (hone_task_eval(task, formulas[i], w, &value, NULL) < 0 || !(value >= 1)))
            return false;
    }
    return true;
}

bool hone_draw_is_affordable(const struct hone_task *task, const struct hone_workload *w,
                             double share)
{
    struct hone_draw_cost top = hone_draw_top(task), mine;
    bool is_edge = share < 1;
    return has_work(task, w) && hone_draw_cost(task, w, &mine) == 0 &&
           mine.flops <= fmax(top.flops * share, is_edge ? EDGE_FLOPS : 0) &&
           mine.bytes <= fmax(top.bytes * share, is_edge ? EDGE_BYTES : 0);
}

/* Enough work to be timed, whatever the machine's rates are: both figures of one public size. */
static bool is_like_public(const struct hone_task *task, const struct hone_workload *w)
{
    struct hone_draw_cost mine, c;
    if (hone_draw_cost(task, w, &mine) < 0)
        return false;
    for (size_t i = 0; i < task->n_workloads; i++)
        if (hone_draw_cost(task, &task->workloads[i], &c) == 0 && mine.flops >= LIKE * c.flops &&
            mine.bytes >= LIKE * c.bytes)
            return true;
    return false;
}

bool hone_draw_is_public(const struct hone_task *task, const struct hone_workload *w)
{
    for (size_t i = 0; i < task->n_workloads; i++)
        if (memcmp(task->workloads[i].axes, w->axes, task->n_axes * sizeof(w->axes[0])) == 0)
            return true;
    return false;
}

static void bend(const struct hone_task *task, struct hone_draw_rng *rng, int64_t try,
                 struct hone_workload *w)
{
    for (size_t a = 0; a < task->n_axes; a++) {
        const struct hone_axis *axis = &task->axes[a];
        if (axis->kind != HONE_AXIS_VAR)
            continue;
        int64_t value =
            rules[hone_draw_roll(rng, (int64_t)HONE_COUNTOF(rules))](rng, axis, w->axes[a]);
        if (try >= N_TRIES / 2) /* nothing fitted so far: smaller is safer */
            value = w->axes[a] - hone_draw_roll(rng, hone_max_i64(1, w->axes[a] / 2));
        w->axes[a] = hone_draw_legal(axis, value);
    }
}

int hone_task_draw(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                   struct hone_workload *ret, struct hone_err *err)
{
    struct hone_draw_rng rng = {.key = key, .stream = 0x64726177ull << 32 | index}; /* "draw" */
    struct hone_workload w, fallback = {.id = NULL};
    bool has_fallback = false;
    for (int64_t try = 0; try < N_TRIES; try++) {
        w = task->workloads[(index + (uint64_t)hone_draw_roll(&rng, 2)) % task->n_workloads];
        bend(task, &rng, try, &w);
        if (hone_task_resolve(task, &w, NULL) < 0 ||
            !hone_draw_is_affordable(task, &w, HONE_DRAW_MARGIN) || !is_like_public(task, &w))
            continue;
        fallback = w;
        has_fallback = true;
        if (!hone_draw_is_public(task, &w))
            break;
    }
    if (!has_fallback) /* one legal size, or constraints that chance does not meet: a public size is
                          still legal */
        fallback = task->workloads[index % task->n_workloads];
    (void)err; /* a loaded task always has a legal size; the parameter is for drawing that may fail
                  one day */
    fallback.is_hidden = true;
    fallback.id = hidden_ids[index % HONE_COUNTOF(hidden_ids)];
    *ret = fallback;
    return 0;
}

static int64_t edge_tile(struct hone_draw_rng *d)
{
    int64_t tile = 8ll << hone_draw_roll(d, 5), whole = tile * hone_draw_roll(d, 4);
    switch (hone_draw_roll(d, 4)) {
    case 0:
        return whole - 1;
    case 1:
        return whole + 1;
    case 2:
        return whole;
    default:
        return whole + 1 + hone_draw_roll(d, tile - 1);
    }
}

static int64_t edge_prime(struct hone_draw_rng *d)
{
    return prime_at_or_below(3 + hone_draw_roll(d, 300));
}

static int64_t edge_small(struct hone_draw_rng *d)
{
    return 1 + hone_draw_roll(d, 4);
}

typedef int64_t edge_fn(struct hone_draw_rng *d);
static edge_fn *const edge_rules[] = {edge_tile, edge_tile, edge_tile, edge_prime, edge_small};

/* The largest value that is legal, where it is not too far: buffers of a fixed size end there. */
static int64_t edge_value(struct hone_draw_rng *d, const struct hone_axis *axis)
{
    int64_t rule = hone_draw_roll(d, HONE_COUNTOF(edge_rules) + 1);
    return rule == HONE_COUNTOF(edge_rules) ? axis->max : edge_rules[rule](d);
}

/* Of the var axes, one of chance: another for each kind of edge. */
static size_t long_axis(const struct hone_task *task, struct hone_draw_rng rng, uint32_t index)
{
    size_t var[HONE_LIMIT_AXES], n = 0;
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            var[n++] = a;
    rng.stream = 0x6c6f6e67; /* "long" */
    rng.counter = 0;
    return n == 0 ? 0 : var[(uint64_t)(hone_draw_roll(&rng, (int64_t)n) + index) % n];
}

/* One axis longer than 15 bits count; neighbours grow until no constraint forbids it (few rows for
 * many elements), then it shrinks. */
static void draw_long(const struct hone_task *task, struct hone_draw_rng *rng, uint32_t index,
                      int64_t try, struct hone_workload *w)
{
    size_t far = long_axis(task, *rng, index);
    for (size_t a = 0; a < task->n_axes; a++) {
        int64_t value = 1 + hone_draw_roll(rng, 2ll << (try % 8 * 3 / 2));
        if (a == far)
            value =
                ((1 << 15) + 1 + hone_draw_roll(rng, try % 2 == 0 ? 10000 : 40000)) >> (try / 8);
        if (task->axes[a].kind == HONE_AXIS_VAR)
            w->axes[a] = hone_draw_legal(&task->axes[a], value);
    }
}

/* Many in all, each axis short: what is counted over several axes at once gets long. An axis in
 * four stays as short as it may be. */
static void draw_many(const struct hone_task *task, struct hone_draw_rng *rng, int64_t try,
                      struct hone_workload *w)
{
    double all = 1, want = (1 << 18) >> (try / 8);
    bool may_grow[HONE_LIMIT_AXES];
    for (size_t a = 0; a < task->n_axes; a++) {
        may_grow[a] = task->axes[a].kind == HONE_AXIS_VAR && hone_draw_roll(rng, 4) > 0;
        if (task->axes[a].kind == HONE_AXIS_VAR)
            w->axes[a] = hone_draw_legal(&task->axes[a], 1);
    }
    for (int64_t i = 0; i < 1000 && all < want; i++) {
        size_t a = (size_t)hone_draw_roll(rng, (int64_t)task->n_axes);
        if (!may_grow[a])
            continue;
        int64_t more = hone_draw_legal(&task->axes[a], 2 * w->axes[a] + hone_draw_roll(rng, 2));
        all *= (double)more / (double)w->axes[a];
        w->axes[a] = more;
    }
}

/* Every var axis of one try; what did not fit so far becomes smaller. */
static void draw_edge(const struct hone_task *task, struct hone_draw_rng *rng, uint32_t index,
                      int64_t try, struct hone_workload *w)
{
    for (size_t a = 0; a < task->n_axes; a++) {
        const struct hone_axis *axis = &task->axes[a];
        if (axis->kind != HONE_AXIS_VAR)
            continue;
        int64_t value = edge_value(rng, axis);
        if (index == 0)
            value = try == 0 ? 1 : 1 + hone_draw_roll(rng, try);
        else if (try >= N_TRIES / 2)
            value = 1 + hone_draw_roll(rng, hone_max_i64(2, w->axes[a] / 2));
        w->axes[a] = hone_draw_legal(axis, value);
    }
}

int hone_task_edge(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                   struct hone_workload *ret, struct hone_err *err)
{
    struct hone_draw_rng rng = {.key = key, .stream = 0x65646765ull << 32 | index}; /* "edge" */
    struct hone_workload w = task->workloads[0];
    bool is_found = false;
    for (int64_t try = 0; try < N_TRIES && !is_found; try++) {
        if (index == EDGE_LONG || index == EDGE_LONG + 1)
            draw_long(task, &rng, index, try, &w);
        else if (index == EDGE_MANY)
            draw_many(task, &rng, try, &w);
        else
            draw_edge(task, &rng, index, try, &w);
        is_found =
            hone_task_resolve(task, &w, NULL) == 0 &&
            hone_draw_is_affordable(task, &w, index == 0 ? HONE_DRAW_MARGIN : HONE_DRAW_CHEAP);
    }
    int code = is_found ? 0 : hone_task_smoke(task, &w, err);
    w.is_hidden = w.is_edge = true;
    w.id = edge_ids[index % HONE_COUNTOF(edge_ids)];
    *ret = w;
    return code;
}

/* Axes get different sizes, odd where they may be: a swapped index or a forgotten tail then shows.
 */
static bool try_smoke(const struct hone_task *task, int64_t base, struct hone_workload *w)
{
    int64_t spread = 0;
    for (size_t a = 0; a < task->n_axes; a++) {
        const struct hone_axis *axis = &task->axes[a];
        if (axis->kind != HONE_AXIS_VAR)
            continue;
        int64_t value = hone_max_i64(base + spread, axis->min);
        if (axis->multiple > 1)
            value = (value + axis->multiple - 1) / axis->multiple * axis->multiple;
        w->axes[a] = hone_draw_legal(axis, value);
        spread += 2;
    }
    double items = 0, bytes = 0, steps = 1;
    return hone_task_resolve(task, w, NULL) == 0 &&
           hone_task_eval(task, task->items, w, &items, NULL) == 0 && items >= 1 &&
           hone_task_eval(task, task->bytes, w, &bytes, NULL) == 0 && bytes >= 1 &&
           (!task->steps ||
            (hone_task_eval(task, task->steps, w, &steps, NULL) == 0 && steps >= 1));
}

int hone_task_smoke(const struct hone_task *task, struct hone_workload *ret, struct hone_err *err)
{
    static const int64_t bases[] = {5, 7, 11, 3, 17, 33, 1, 2, 4, 65, 129, 257};
    struct hone_workload w = task->workloads[0];
    for (size_t i = 0; i < HONE_COUNTOF(bases); i++) {
        if (try_smoke(task, bases[i], &w)) {
            w.id = "smoke";
            w.is_hidden = false;
            *ret = w;
            return 0;
        }
    }
    (void)err; /* constraints that no small size meets: the first public size serves */
    w = task->workloads[0];
    w.id = "smoke";
    *ret = w;
    return 0;
}
