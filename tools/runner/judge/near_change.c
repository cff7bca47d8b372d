/* SPDX-License-Identifier: Apache-2.0 */
/* What is changed, by role. An element's new value is one that its role could have drawn, and
 * differs from the old one after rounding. */
#include "tools/runner/judge/near.h"

#include <math.h>
#include <string.h>

#include "workspace/base/clock.h"

#define SMOKE_NS       (250 * HONE_NS_PER_MS) /* all kinds of content are there */
#define STEPS_NS       (60 * HONE_NS_PER_MS)
#define SELDOM         4 /* one size in so many */
#define MOST_CHANGED   3
#define TRIES          4
#define LARGE          300.0  /* what stands out in content of one size... */
#define SUMMED_SHARE   64     /* ...and in a sum of n positive elements: n over this */
#define SMALL_SPAN     17     /* new integers are -8..8 */
#define COUNTED        0x1p53 /* by a double, and so by the oracle */
#define LEAST          0.0625
#define MOST_OCTAVES   16 /* of a part of an output: down to so many halves */
#define MOST_STRETCHES 32

enum how { DRAW, SIGN, NUDGE, STAND_OUT, N_HOWS };

/* A nudge is 2^-from to 2^-to of the value: what the next lower type does not hold, mostly; and
 * down to 2^-last where the tolerance lets it be seen. */
static const struct {
    int from, to, last;
} nudges[] = {[HONE_DTYPE_F16] = {4, 8, 10},
              [HONE_DTYPE_BF16] = {4, 6, 7},
              [HONE_DTYPE_F32] = {8, 15, 23},
              [HONE_DTYPE_F64] = {8, 28, 52}};

struct change {
    struct hone_judge *judge;
    const struct hone_near_io *io;
    const struct hone_tensor *tensor;
    const struct hone_workload *workload;
    enum hone_distribution dist;
    size_t input;
    enum how how;
    int64_t n, n_changed; /* elements of the input; changed in all */
};

static double unit(struct hone_judge *judge)
{
    return ((double)hone_rng_below(&judge->rng, INT32_MAX) + 0.5) / (double)INT32_MAX;
}

static double large_value(const struct change *c, double scale)
{
    double size = LARGE * (1 + unit(c->judge));
    if (c->tensor->role == HONE_ROLE_POSITIVE && c->tensor->dtype != HONE_DTYPE_F16)
        size = fmax(size, (double)c->n / SUMMED_SHARE);
    return scale * size;
}

/* The exponent of the least nudge that the strictest output shows well. */
static int last_seen(const struct hone_task *task, int last)
{
    int seen = 0;
    for (size_t o = 0; o < task->n_outputs; o++) {
        double rtol = task->tolerance[o].rtol;
        int mine = rtol > 0 ? (int)fmin(-log2(rtol) - 3, last) : last;
        seen = mine > seen ? mine : seen;
    }
    return seen;
}

static double nudged(const struct change *c, double old)
{
    struct hone_rng *rng = &c->judge->rng;
    int from = nudges[c->tensor->dtype].from, to = nudges[c->tensor->dtype].to,
        seen = last_seen(c->judge->task, nudges[c->tensor->dtype].last);
    int least = from + (int)hone_rng_below(rng, to - from + 1);
    if (seen > to && hone_rng_below(rng, 2) == 0)
        least = seen;
    double part = ldexp(1, -least);
    return old * (hone_rng_below(&c->judge->rng, 2) == 0 ? 1 + part : 1 - part);
}

static double new_float(const struct change *c, double old)
{
    struct hone_judge *judge = c->judge;
    bool is_weight = c->tensor->role == HONE_ROLE_WEIGHT;
    double scale = is_weight ? hone_gen_weight_scale(c->tensor, c->workload) : 1;
    double sign = hone_rng_below(&judge->rng, 2) == 0 ? 1 : -1;
    bool may_stand_out = hone_compare_is_plain(c->dist) && !judge->is_dist_left_out[HONE_DIST_RARE];
    if (c->how == SIGN && old != 0 && c->tensor->role != HONE_ROLE_POSITIVE)
        return -old;
    if (c->how == NUDGE && old != 0)
        return nudged(c, old);
    if (c->how == STAND_OUT && may_stand_out)
        return sign * large_value(c, scale);
    return sign * scale * (1 + 3 * unit(judge));
}

/* Of the type's whole range, as far as a double counts. */
static double any_integer(enum hone_dtype dtype, struct hone_rng *rng)
{
    double low = fmax(hone_element_round(dtype, -1e30), -COUNTED);
    double high = fmin(hone_element_round(dtype, 1e30), COUNTED);
    return low + (double)hone_rng_below(rng, (int64_t)(high - low) + 1);
}

static double drawn_value(const struct change *c, double old)
{
    struct hone_rng *rng = &c->judge->rng;
    const struct hone_tensor *tensor = c->tensor;
    double value = 0;
    if (tensor->role == HONE_ROLE_MASK || tensor->role == HONE_ROLE_ADDITIVE_MASK ||
        tensor->dtype == HONE_DTYPE_BOOL)
        return old == 0;
    if (tensor->role == HONE_ROLE_INDEX)
        return (double)hone_rng_below(rng, hone_max_i64(c->workload->axes[tensor->bound_axis], 1));
    if (hone_dtype_is_float(tensor->dtype))
        value = new_float(c, old);
    else if (c->how == NUDGE)
        value = hone_rng_below(rng, 2) == 0 ? old + 1 : old - 1;
    else if (tensor->dtype == HONE_DTYPE_U8 || tensor->role == HONE_ROLE_BITS)
        value = any_integer(tensor->dtype, rng);
    else if (hone_dtype_is_unsigned(tensor->dtype))
        value = (double)hone_rng_below(rng, SMALL_SPAN);
    else
        value = (double)(hone_rng_below(rng, SMALL_SPAN) - SMALL_SPAN / 2);
    if (tensor->role == HONE_ROLE_POSITIVE)
        value = fmax(fabs(value), hone_dtype_is_float(tensor->dtype) ? LEAST : 1);
    return value;
}

/* The same for content that the pack scales and shifts. */
static double new_value(const struct change *c, double old)
{
    const struct hone_tensor *t = c->tensor;
    if (t->unit == 0)
        return drawn_value(c, old);
    double value = drawn_value(c, (old - t->shift) / t->unit) * t->unit + t->shift;
    return hone_dtype_is_float(t->dtype) ? value : floor(value);
}

static int get(const struct change *c, int64_t i, double *ret, struct hone_err *err)
{
    return c->io->get(c->io->arg, c->input, i, ret, err);
}

/* Counts what differs after the trip through the type. */
static int put(struct change *c, int64_t i, double old, double value, struct hone_err *err)
{
    value = hone_element_round(c->tensor->dtype, hone_gen_fit(c->tensor, c->workload, i, value));
    c->n_changed += value != old;
    return value == old ? 0 : c->io->set(c->io->arg, c->input, i, value, err);
}

static int change_one(struct change *c, struct hone_err *err)
{
    int64_t i = hone_rng_below(&c->judge->rng, c->n);
    double old = 0, value = 0;
    int code = get(c, i, &old, err);
    for (int try = 0; try < TRIES && code == 0; try++) {
        value = new_value(c, old);
        if (hone_element_round(c->tensor->dtype, value) != old)
            break;
    }
    return code == 0 ? put(c, i, old, value, err) : code;
}

/* A partner for element i: anywhere, in its row, or at a distance that most strides divide. */
static int64_t partner_of(const struct change *c, int64_t i)
{
    static const int64_t distances[] = {12, 60, 64, 120, 240, 480, 960, 5040, 55440};
    const struct hone_tensor *tensor = c->tensor;
    struct hone_rng *rng = &c->judge->rng;
    int64_t kind = hone_rng_below(rng, 4), n_fit = 0;
    int64_t row = tensor->rank > 0 ? c->workload->axes[tensor->shape[tensor->rank - 1]] : 1;
    while (n_fit < (int64_t)HONE_COUNTOF(distances) && distances[n_fit] < c->n)
        n_fit++;
    if (kind <= 1)
        return i - i % row + hone_rng_below(rng, row);
    if (kind == 2 && n_fit > 0) {
        int64_t distance = distances[hone_rng_below(rng, n_fit)];
        return i >= distance ? i - distance : i + distance < c->n ? i + distance : i;
    }
    return hone_rng_below(rng, c->n);
}

/* What adds up, or sorts, the elements does not see it. */
static int swap_two(struct change *c, struct hone_err *err)
{
    int64_t i = hone_rng_below(&c->judge->rng, c->n), j = partner_of(c, i);
    double a = 0, b = 0;
    int code = get(c, i, &a, err);
    if (code == 0)
        code = get(c, j, &b, err);
    if (code == 0)
        code = put(c, i, a, b, err);
    return code == 0 ? put(c, j, b, a, err) : code;
}

static int change_offset(struct change *c, struct hone_err *err)
{
    if (c->n < 3)
        return 0;
    int64_t i = 1 + hone_rng_below(&c->judge->rng, c->n - 2);
    double low = 0, old = 0, high = 0;
    int code = get(c, i - 1, &low, err);
    if (code == 0)
        code = get(c, i, &old, err);
    if (code == 0)
        code = get(c, i + 1, &high, err);
    int64_t room = (int64_t)(high - low);
    return code == 0 && room > 0
               ? put(c, i, old, low + (double)hone_rng_below(&c->judge->rng, room + 1), err)
               : code;
}

/* A part of one probability goes to another of its row. */
static int change_row(struct change *c, struct hone_err *err)
{
    const struct hone_tensor *tensor = c->tensor;
    int64_t row = tensor->rank > 0 ? c->workload->axes[tensor->shape[tensor->rank - 1]] : 1;
    struct hone_rng *rng = &c->judge->rng;
    if (row < 2)
        return 0;
    int64_t first = row * hone_rng_below(rng, hone_max_i64(c->n / row, 1));
    int64_t i = first + hone_rng_below(rng, row), j = first + hone_rng_below(rng, row);
    double a = 0, b = 0, part = unit(c->judge);
    int code = get(c, i, &a, err);
    if (code == 0)
        code = get(c, j, &b, err);
    if (code < 0 || i == j)
        return code;
    code = put(c, i, a, a + part * b, err);
    return code == 0 ? put(c, j, b, b - part * b, err) : code;
}

static int change_input(struct change *c, struct hone_err *err)
{
    int64_t n = hone_rng_below(&c->judge->rng, 2) == 0
                    ? 1
                    : 1 + hone_rng_below(&c->judge->rng, MOST_CHANGED);
    bool is_swap = hone_rng_below(&c->judge->rng, 3) == 0;
    int code = 0;
    for (int64_t k = 0; k < n && code == 0; k++) {
        if (c->tensor->role == HONE_ROLE_OFFSETS)
            code = change_offset(c, err);
        else if (c->tensor->role == HONE_ROLE_PROBABILITY)
            code = change_row(c, err);
        else
            code = is_swap ? swap_two(c, err) : change_one(c, err);
    }
    return code;
}

int hone_near_change(struct hone_judge *judge, const struct hone_workload *workload,
                     enum hone_distribution dist, const struct hone_near_io *io, int64_t *ret_n,
                     struct hone_err *err)
{
    const struct hone_task *task = judge->task;
    struct change c = {.judge = judge, .io = io, .workload = workload, .dist = dist};
    c.how = (enum how)hone_rng_below(&judge->rng, N_HOWS);
    int code = 0;
    /* one input alone, or all: whoever looks at some for the rest shows either way */
    bool is_one = hone_rng_below(&judge->rng, 2) == 0;
    int64_t first = hone_rng_below(&judge->rng, (int64_t)task->n_inputs);
    for (int64_t k = 0; k < (int64_t)task->n_inputs && code == 0; k++) {
        c.input = (size_t)((first + k) % (int64_t)task->n_inputs);
        c.tensor = &task->inputs[c.input];
        c.n = hone_tensor_elements(task, c.tensor, workload);
        if (c.n > 0 && !(is_one && c.n_changed > 0))
            code = change_input(&c, err);
    }
    *ret_n = c.n_changed;
    return code;
}

static bool is_like(const struct hone_judge *judge, const struct hone_workload *workload, size_t a,
                    size_t b)
{
    const struct hone_tensor *x = &judge->task->inputs[a], *y = &judge->task->inputs[b];
    return x->dtype == y->dtype && x->role == y->role && x->bound_axis == y->bound_axis &&
           x->unit == y->unit && x->shift == y->shift && x->role != HONE_ROLE_OFFSETS &&
           x->role != HONE_ROLE_PROBABILITY && !hone_role_is_placed(x->role) &&
           hone_tensor_elements(judge->task, x, workload) ==
               hone_tensor_elements(judge->task, y, workload);
}

bool hone_near_pair(struct hone_judge *judge, const struct hone_workload *workload, size_t *ret_a,
                    size_t *ret_b)
{
    int64_t n = (int64_t)judge->task->n_inputs, first = hone_rng_below(&judge->rng, n);
    for (int64_t k = 0; k < n; k++) {
        size_t a = (size_t)((first + k) % n);
        for (size_t b = 0; b < (size_t)n; b++) {
            if (a == b || !is_like(judge, workload, a, b))
                continue;
            *ret_a = a;
            *ret_b = b;
            return true;
        }
    }
    return false;
}

enum hone_near_fill hone_near_fill(struct hone_judge *judge)
{
    static const enum hone_near_fill fills[] = {HONE_NEAR_POISON, HONE_NEAR_AS_LEFT, HONE_NEAR_PART,
                                                HONE_NEAR_PART};
    return fills[hone_rng_below(&judge->rng, HONE_COUNTOF(fills))];
}

struct hone_near_part hone_near_part(struct hone_judge *judge, int64_t n)
{
    struct hone_rng *rng = &judge->rng;
    int64_t most = hone_max_i64(n >> hone_rng_below(rng, MOST_OCTAVES), 1); /* any size */
    struct hone_near_part part = {.length = 1 + hone_rng_below(rng, most), .count = 1};
    part.step = part.length + hone_rng_below(rng, 4 * part.length);
    int64_t room = (n - part.length) / part.step;
    if (room > 0 && hone_rng_below(rng, 2) == 0)
        part.count = 1 + hone_rng_below(rng, hone_min_i64(room, MOST_STRETCHES));
    part.first = hone_rng_below(rng, n - part.length - (part.count - 1) * part.step + 1);
    return part;
}

size_t hone_near_kind(const struct hone_judge *judge, size_t k, size_t n)
{
    size_t n_checks = 0;
    if (k == 0 || n < 2)
        return 0;
    for (size_t i = 0; i < judge->n_checks; i++)
        n_checks += strcmp(judge->checks[i].name, HONE_NEAR_ROW) == 0;
    return 1 + (n_checks + k - 1) % (n - 1);
}

int64_t hone_near_limit_ns(struct hone_judge *judge, const struct hone_check_plan *plan)
{
    static const struct {
        const char *check;
        int64_t limit_ns, one_in;
    } rows[] = {{"smoke", SMOKE_NS, 1},
                {"verify", STEPS_NS, 1},
                {"edge", STEPS_NS, 1},
                {"range", STEPS_NS, SELDOM}};
    bool is_screen = hone_judge_is_tier(judge, HONE_TIER_SCREEN);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        if (strcmp(rows[i].check, plan->name) != 0)
            continue;
        if (is_screen)
            return i == 0 ? 1 : 0;
        return hone_rng_below(&judge->rng, rows[i].one_in) == 0 ? rows[i].limit_ns : 0;
    }
    return 0;
}
