/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes for the checks alone that reach over the whole legal range, and beyond the public sizes.
 *
 * A kernel may be wrong for a window of one axis, for two axes that are long at once, for anything
 * above what was published. Two groups of sizes look for that:
 *
 *   pairs     the legal range of each axis, in octaves, has a short, a middle and a long third.
 *             Greedily, sizes are drawn until every pair of axes has met in every pair of thirds
 *             that is legal and affordable. Inside of its third a value moves from part to part
 *             each time that the third is used.
 *   typical   one axis walks from a quarter of its least public value to four times its largest
 *             one, in parts of equal octaves, while the others are those of a public size, or
 *             shorter where that is too dear (attention over many keys).
 *
 * Half of the values of either group stand one beside a multiple of a large power of two.
 *
 * Cheap sizes come first: what an eighth of the dearest public size can show is not shown with
 * more. Everything follows from the key. */
#include "workspace/task/draw.h"

#include <math.h>
#include <string.h>

enum {
    N_TRIES = 48,
    N_THIRDS = 3,
    N_PARTS = 3,       /* of a third */
    MAX_PAIRS = 24,    /* sizes of the first group */
    MAX_HOPELESS = 64, /* pairs that nothing affordable has: five axes' */
    MAX_WALK = 4,      /* sizes of one axis in the second group */
    WALK_TRIES = 4,    /* with each public size... */
    MAX_QUARTERS = 3,  /* ...and with a quarter of its other axes, a quarter of that... */
    FAR = 4,           /* times the largest public value */
    LEAST_BLOCK = 16,
    MOST_BLOCK = 4096
};

static const char *const range_ids[HONE_TASK_RANGES] = {
    "range-00", "range-01", "range-02", "range-03", "range-04", "range-05", "range-06", "range-07",
    "range-08", "range-09", "range-10", "range-11", "range-12", "range-13", "range-14", "range-15",
    "range-16", "range-17", "range-18", "range-19", "range-20", "range-21", "range-22", "range-23",
    "range-24", "range-25", "range-26", "range-27", "range-28", "range-29", "range-30", "range-31",
    "range-32", "range-33", "range-34", "range-35"};
static const char *const beyond_ids[HONE_TASK_BEYONDS] = {"beyond-0", "beyond-1", "beyond-2"};

struct axes { /* the var ones */
    size_t at[HONE_LIMIT_AXES], n;
};

struct cover {
    const struct hone_task *task;
    struct hone_draw_rng rng;
    struct axes axes;
    bool is_met[HONE_LIMIT_AXES][HONE_LIMIT_AXES][N_THIRDS][N_THIRDS]; /* of axes.at, i < k */
    bool is_hopeless[HONE_LIMIT_AXES][HONE_LIMIT_AXES][N_THIRDS][N_THIRDS];
    int64_t n_used[HONE_LIMIT_AXES][N_THIRDS];
};

static struct axes var_axes(const struct hone_task *task)
{
    struct axes axes = {.n = 0};
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            axes.at[axes.n++] = a;
    return axes;
}

/* Where a third of an axis begins: 0 to 3, the last is the end of the range. */
static double third_at(const struct hone_axis *axis, double third)
{
    double low = (double)hone_draw_legal(axis, 1), high = (double)hone_draw_legal(axis, axis->max);
    return low * pow(fmax(high, low) / low, third / N_THIRDS);
}

int hone_task_third(const struct hone_axis *axis, int64_t value)
{
    int third = 0;
    while (third + 1 < N_THIRDS && (double)value >= third_at(axis, third + 1))
        third++;
    return third;
}

/* Half of the values stand one beside a multiple of a large power of two: blocks of that many, and
 * of every smaller power, then have one element too many or too few. */
static int64_t draw_between(struct hone_draw_rng *rng, double low, double high)
{
    int64_t value = hone_draw_between(rng, low, high), block = LEAST_BLOCK;
    if (value < LEAST_BLOCK || hone_draw_roll(rng, 2) == 0)
        return value;
    while (4 * block <= value && block < MOST_BLOCK)
        block *= 2;
    int64_t beside = (value + block / 2) / block * block + (hone_draw_roll(rng, 2) == 0 ? 1 : -1);
    return (double)beside >= low && (double)beside <= high ? beside : value;
}

/* Another part of the third each time. */
static int64_t value_in(struct cover *c, size_t i, int third)
{
    const struct hone_axis *axis = &c->task->axes[c->axes.at[i]];
    int64_t part = (c->n_used[i][third] + (int64_t)i) % N_PARTS;
    double from = third + (double)part / N_PARTS;
    return hone_draw_legal(
        axis, draw_between(&c->rng, third_at(axis, from), third_at(axis, from + 1.0 / N_PARTS)));
}

static size_t n_new_pairs(const struct cover *c, const struct hone_workload *w)
{
    size_t n = 0;
    for (size_t i = 0; i < c->axes.n; i++)
        for (size_t k = i + 1; k < c->axes.n; k++) {
            const struct hone_axis *axes = c->task->axes;
            size_t a = c->axes.at[i], b = c->axes.at[k];
            n += !c->is_met[i][k][hone_task_third(&axes[a], w->axes[a])]
                           [hone_task_third(&axes[b], w->axes[b])];
        }
    return n;
}

static void take(struct cover *c, const struct hone_workload *w)
{
    int third[HONE_LIMIT_AXES];
    for (size_t i = 0; i < c->axes.n; i++) {
        third[i] = hone_task_third(&c->task->axes[c->axes.at[i]], w->axes[c->axes.at[i]]);
        c->n_used[i][third[i]]++;
    }
    for (size_t i = 0; i < c->axes.n; i++)
        for (size_t k = i + 1; k < c->axes.n; k++)
            c->is_met[i][k][third[i]][third[k]] = true;
}

struct pair {
    size_t i, k;
    int third_i, third_k;
};

/* One of those that have not met, by chance; false: all have, or cannot. */
static bool next_pair(struct cover *c, struct pair *ret)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->axes.n; i++)
        for (size_t k = i + 1; k < c->axes.n; k++)
            for (int p = 0; p < N_THIRDS * N_THIRDS; p++) {
                struct pair pair = {i, k, p / N_THIRDS, p % N_THIRDS};
                if (c->is_met[i][k][pair.third_i][pair.third_k] ||
                    c->is_hopeless[i][k][pair.third_i][pair.third_k])
                    continue;
                if (hone_draw_roll(&c->rng, ++n) == 0)
                    *ret = pair;
            }
    return n > 0;
}

/* The pair in its thirds, the others anywhere; later tries make the others short and the pair's
 * values the least of their thirds. */
static void draw_pair(struct cover *c, const struct pair *pair, int64_t try,
                      struct hone_workload *w)
{
    for (size_t i = 0; i < c->axes.n; i++) {
        const struct hone_axis *axis = &c->task->axes[c->axes.at[i]];
        bool is_of_pair = i == pair->i || i == pair->k;
        int third = i == pair->i ? pair->third_i : pair->third_k;
        if (!is_of_pair)
            third = (int)hone_draw_roll(&c->rng, try < N_TRIES / 2 ? N_THIRDS : 2);
        int64_t value = value_in(c, i, third);
        if (is_of_pair && try >= N_TRIES / 2)
            value = draw_between(&c->rng, ceil(third_at(axis, third)), (double)value);
        if (try >= N_TRIES - 2) /* the cheapest; where a constraint forbids it, all of one kind */
            value = is_of_pair     ? (int64_t)ceil(third_at(axis, third))
                    : try % 2 == 0 ? 1
                                   : (int64_t)ceil(third_at(axis, pair->third_i));
        if (axis->multiple > 1 && value % axis->multiple != 0 && is_of_pair)
            value += axis->multiple - value % axis->multiple;
        w->axes[c->axes.at[i]] = hone_draw_legal(axis, value);
    }
}

static bool is_in_pair(const struct cover *c, const struct pair *pair,
                       const struct hone_workload *w)
{
    size_t a = c->axes.at[pair->i], b = c->axes.at[pair->k];
    return hone_task_third(&c->task->axes[a], w->axes[a]) == pair->third_i &&
           hone_task_third(&c->task->axes[b], w->axes[b]) == pair->third_k;
}

/* Of the affordable tries the one that lets most pairs meet. The cheap half of the tries may not
 * cost more than an eighth of the dearest public size; dearer ones are for what needs them. */
static bool find_pair(struct cover *c, const struct pair *pair, struct hone_workload *ret)
{
    size_t most = 0;
    for (int pass = 0; pass < 2 && most == 0; pass++)
        for (int64_t try = 0; try < N_TRIES; try++) {
            struct hone_workload w = c->task->workloads[0];
            draw_pair(c, pair, try, &w);
            size_t n = is_in_pair(c, pair, &w) ? n_new_pairs(c, &w) : 0;
            if (n <= most || hone_task_resolve(c->task, &w, NULL) < 0 ||
                !hone_draw_is_affordable(c->task, &w,
                                         pass == 0 ? HONE_DRAW_CHEAP : HONE_DRAW_MARGIN))
                continue;
            most = n;
            *ret = w;
        }
    return most > 0;
}

static size_t cover_pairs(struct cover *c, struct hone_workload *ret)
{
    struct pair pair = {0};
    size_t n = 0, n_hopeless = 0;
    while (n < MAX_PAIRS && n_hopeless < MAX_HOPELESS && next_pair(c, &pair)) {
        if (find_pair(c, &pair, &ret[n])) {
            take(c, &ret[n++]);
        } else {
            c->is_hopeless[pair.i][pair.k][pair.third_i][pair.third_k] = true;
            n_hopeless++;
        }
    }
    return n;
}

/* One axis alone has no pairs: each third of it, more than once. */
static size_t cover_one(struct cover *c, struct hone_workload *ret)
{
    size_t n = 0;
    for (int i = 0; i < N_THIRDS * N_PARTS; i++) {
        ret[n] = c->task->workloads[0];
        ret[n].axes[c->axes.at[0]] = value_in(c, 0, i % N_THIRDS);
        c->n_used[0][i % N_THIRDS]++;
        n += hone_task_resolve(c->task, &ret[n], NULL) == 0 &&
             hone_draw_is_affordable(c->task, &ret[n], HONE_DRAW_MARGIN);
    }
    return n;
}

/* From a quarter of the least public value to four times the largest, as far as it is legal. */
static void walk_of(const struct hone_task *task, size_t a, double *ret_low, double *ret_high)
{
    int64_t least = INT64_MAX, largest = 0;
    for (size_t i = 0; i < task->n_workloads; i++) {
        least = hone_min_i64(least, task->workloads[i].axes[a]);
        largest = hone_max_i64(largest, task->workloads[i].axes[a]);
    }
    *ret_low = (double)hone_draw_legal(&task->axes[a], least / FAR);
    *ret_high = (double)hone_draw_legal(&task->axes[a], largest * FAR);
}

/* Where a long axis is too dear beside public sizes of the others, these get shorter. */
static void shorten_others(const struct hone_task *task, size_t a, size_t quarters,
                           struct hone_workload *w)
{
    for (size_t i = 0; i < task->n_axes; i++)
        if (i != a && task->axes[i].kind == HONE_AXIS_VAR)
            w->axes[i] =
                hone_draw_legal(&task->axes[i], hone_max_i64(w->axes[i] >> (2 * quarters), 1));
}

/* One axis in one part of its walk, the others as in a public size: the first one that can be
 * afforded with it, tried from a random one on. */
static bool draw_typical(struct cover *c, size_t a, size_t part, size_t n_parts,
                         struct hone_workload *ret)
{
    const struct hone_task *task = c->task;
    double low = 1, high = 1;
    walk_of(task, a, &low, &high);
    double from = low * pow(high / low, (double)part / (double)n_parts),
           to = low * pow(high / low, (double)(part + 1) / (double)n_parts);
    size_t first = (size_t)hone_draw_roll(&c->rng, (int64_t)task->n_workloads);
    for (size_t i = 0; i < (WALK_TRIES + MAX_QUARTERS) * task->n_workloads; i++) {
        struct hone_workload w = task->workloads[(first + i) % task->n_workloads];
        if (i >= WALK_TRIES * task->n_workloads)
            shorten_others(task, a, i / task->n_workloads - WALK_TRIES + 1, &w);
        w.axes[a] = hone_draw_legal(&task->axes[a], draw_between(&c->rng, ceil(from), fmax(to, 1)));
        if (hone_task_resolve(task, &w, NULL) < 0 || hone_draw_is_public(task, &w) ||
            !hone_draw_is_affordable(task, &w, HONE_DRAW_MARGIN))
            continue;
        *ret = w;
        return true;
    }
    return false;
}

static size_t draw_typicals(struct cover *c, struct hone_workload *ret, size_t most)
{
    size_t n = 0, each = c->axes.n <= 4 ? MAX_WALK : 2;
    for (size_t part = 0; part < each; part++)
        for (size_t i = 0; i < c->axes.n && n < most; i++)
            n += draw_typical(c, c->axes.at[i], part, each, &ret[n]);
    return n;
}

size_t hone_task_ranges(const struct hone_task *task, const uint8_t key[16],
                        struct hone_workload ret[HONE_TASK_RANGES])
{
    struct cover c = {.task = task,
                      .rng = {.key = key, .stream = 0x72616e6765ull}, /* "range" */
                      .axes = var_axes(task)};
    size_t n = c.axes.n == 1 ? cover_one(&c, ret) : cover_pairs(&c, ret);
    n += draw_typicals(&c, ret + n, HONE_TASK_RANGES - n);
    for (size_t i = n; i > 1; i--) { /* a caller who wants a few of them gets any */
        size_t k = (size_t)hone_draw_roll(&c.rng, (int64_t)i);
        struct hone_workload kept = ret[i - 1];
        ret[i - 1] = ret[k];
        ret[k] = kept;
    }
    for (size_t i = 0; i < n; i++) {
        ret[i].id = range_ids[i];
        ret[i].is_hidden = ret[i].is_edge = true;
    }
    return n;
}

/* ---- beyond the public sizes ---- */

/* How far: each has less than the one before it, in case that is too dear. The last is the cheapest
 * of its tries. */
static const struct {
    double times; /* the largest public value, at most */
    double cost;  /* times the dearest public size, at most */
    bool is_cheapest;
} beyonds[HONE_TASK_BEYONDS] = {{FAR, 16, false}, {2, 8, false}, {1.25, 256, true}};

static int64_t public_most(const struct hone_task *task, size_t a)
{
    int64_t most = 0;
    for (size_t i = 0; i < task->n_workloads; i++)
        most = hone_max_i64(most, task->workloads[i].axes[a]);
    return most;
}

/* The var axes that may be longer than any public size has them. */
static struct axes open_axes(const struct hone_task *task)
{
    struct axes all = var_axes(task), open = {.n = 0};
    for (size_t i = 0; i < all.n; i++) {
        const struct hone_axis *axis = &task->axes[all.at[i]];
        if (hone_draw_legal(axis, axis->max) > public_most(task, all.at[i]))
            open.at[open.n++] = all.at[i];
    }
    return open;
}

size_t hone_task_n_beyond(const struct hone_task *task, const struct hone_workload *w)
{
    size_t n = 0;
    struct axes axes = var_axes(task);
    for (size_t i = 0; i < axes.n; i++)
        n += w->axes[axes.at[i]] > public_most(task, axes.at[i]);
    return n;
}

/* least: of the axes are longer than any public size has them. */
static void draw_beyond(const struct hone_task *task, struct hone_draw_rng *rng,
                        const struct axes *open, size_t least, uint32_t index, int64_t try,
                        struct hone_workload *w)
{
    struct axes axes = var_axes(task);
    size_t n_far = 0;
    size_t first = open->n > 0 ? (size_t)hone_draw_roll(rng, (int64_t)open->n) : 0;
    double times = 1 + (beyonds[index].times - 1) / (double)(1 + 3 * try / N_TRIES);
    bool is_far[HONE_LIMIT_AXES] = {false};
    for (size_t i = 0; i < open->n; i++, n_far++)
        is_far[open->at[(first + i) % open->n]] =
            n_far < least || (index == 0 && least > 1 && hone_draw_roll(rng, 2) == 0);
    for (size_t i = 0; i < axes.n; i++) {
        size_t a = axes.at[i];
        const struct hone_axis *axis = &task->axes[a];
        int64_t most = public_most(task, a), legal = hone_draw_legal(axis, axis->max);
        int64_t above = most + hone_max_i64(axis->multiple, 1);
        double shrink = beyonds[index].is_cheapest ? 1.0 / 16 : 1;
        int64_t value =
            is_far[a]
                ? hone_draw_between(rng, (double)above,
                                    fmax((double)above, fmin((double)most * times, (double)legal)))
                : hone_draw_between(rng, 1, fmax(1, (double)w->axes[a] * shrink));
        w->axes[a] = hone_draw_legal(axis, value);
    }
}

/* What counts of a try: legal, something to do, not too dear; then how dear it is beside the
 * dearest public size. Negative: it does not count. */
static double beyond_cost(const struct hone_task *task, struct hone_workload *w, uint32_t index,
                          double most_bytes)
{
    struct hone_draw_cost top = hone_draw_top(task), cost;
    if (hone_task_resolve(task, w, NULL) < 0 || hone_draw_cost(task, w, &cost) < 0 ||
        !hone_draw_is_affordable(task, w, INFINITY) || cost.bytes > most_bytes)
        return -1;
    double times = fmax(cost.flops / fmax(top.flops, 1), cost.bytes / fmax(top.bytes, 1));
    return times <= beyonds[index].cost ? times : -1;
}

bool hone_task_beyond(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                      int64_t most_bytes, struct hone_workload *ret)
{
    HONE_BUG_ON(index >= HONE_TASK_BEYONDS);
    struct hone_draw_rng rng = {.key = key, .stream = 0x6265796full << 32 | index}; /* "beyo" */
    struct axes open = open_axes(task);
    size_t least = open.n < 2 ? open.n : 2, found = 0;
    double bytes = fmax((double)most_bytes, hone_draw_top(task).bytes * 1.5), best = INFINITY;
    for (int64_t try = 0; try < 4 * N_TRIES && open.n > 0; try++) {
        struct hone_workload w =
            task->workloads[(size_t)hone_draw_roll(&rng, (int64_t)task->n_workloads)];
        if (try == 2 * N_TRIES && found == 0) /* two at once do not fit into memory */
            least = 1;
        draw_beyond(task, &rng, &open, least, index, try % N_TRIES, &w);
        double cost = beyond_cost(task, &w, index, bytes);
        size_t n = hone_task_n_beyond(task, &w);
        bool is_better = n > found || (beyonds[index].is_cheapest && n >= least && cost < best);
        if (cost < 0 || n < least || !is_better)
            continue;
        found = n;
        best = cost;
        *ret = w;
        if (index == 1 || (index == 0 && try >= N_TRIES / 4))
            break;
    }
    if (found == 0)
        return false;
    ret->is_hidden = ret->is_edge = true;
    ret->id = beyond_ids[index];
    return true;
}
