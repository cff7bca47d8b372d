/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden sizes: legal, deterministic, not dearer than the public ones, and varied. */
#include <math.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/file.h"
#include "workspace/task/task.h"

static const char *const packs[] = {"matmul",   "softmax",   "sum",
                                    "jacobi2d", "spmv_csr",  "matmul_bf16",
                                    "rmsnorm",  "transpose", "attention_causal"};

static struct hone_task *load(const char *name, const char *target)
{
    const char *root = getenv("HONE_PACKS");
    char *dir = hone_path_join(root ? root : "workspace/packs", name, NULL);
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_task_load(dir, &task, &err) == 0, "%s %s", err.path, err.message);
    ck_assert_msg(hone_task_select(task, target, &err) == 0, "%s", err.message);
    free(dir);
    return task;
}

static double largest(const struct hone_task *task, const char *formula)
{
    double top = 0, value = 0;
    for (size_t i = 0; i < task->n_workloads; i++) {
        ck_assert_int_eq(hone_task_eval(task, formula, &task->workloads[i], &value, NULL), 0);
        top = value > top ? value : top;
    }
    return top;
}

static double figure(const struct hone_task *task, const char *formula,
                     const struct hone_workload *w)
{
    double value = 0;
    ck_assert_int_eq(hone_task_eval(task, formula, w, &value, NULL), 0);
    return value;
}

/* A quarter of some public size's work, whatever the machine: worth timing. */
static bool is_worth_timing(const struct hone_task *task, const struct hone_workload *w)
{
    for (size_t i = 0; i < task->n_workloads; i++)
        if (figure(task, task->flops, w) >= 0.25 * figure(task, task->flops, &task->workloads[i]) &&
            figure(task, task->bytes, w) >= 0.25 * figure(task, task->bytes, &task->workloads[i]))
            return true;
    return false;
}

START_TEST(draws_are_legal_and_cheap)
{
    uint8_t key[16] = {1, 2, 3};
    for (size_t p = 0; p < 2 * HONE_COUNTOF(packs); p++) {
        const char *name = packs[p / 2], *target = p % 2 ? "cuda" : "cpu";
        struct hone_task *task = load(name, target);
        int n_public = 0, n_odd = 0;
        for (uint32_t i = 0; i < 300; i++) {
            struct hone_workload w, again;
            key[5] = (uint8_t)(i / 10);
            ck_assert_int_eq(hone_task_draw(task, key, i % 10, &w, NULL), 0);
            ck_assert_int_eq(hone_task_draw(task, key, i % 10, &again, NULL), 0);
            ck_assert_mem_eq(w.axes, again.axes, sizeof(w.axes));
            ck_assert(w.is_hidden);
            struct hone_workload copy = w;
            ck_assert_int_eq(hone_task_resolve(task, &copy, NULL), 0);
            ck_assert_mem_eq(w.axes, copy.axes, sizeof(w.axes));
            double flops = 0, bytes = 0;
            ck_assert_int_eq(hone_task_eval(task, task->flops, &w, &flops, NULL), 0);
            ck_assert_int_eq(hone_task_eval(task, task->bytes, &w, &bytes, NULL), 0);
            ck_assert(flops <= 1.11 * largest(task, task->flops) &&
                      bytes <= 1.11 * largest(task, task->bytes));
            ck_assert_msg(is_worth_timing(task, &w), "%s %s: %lld %lld", name, target,
                          (long long)w.axes[0], (long long)w.axes[1]);
            for (size_t k = 0; k < task->n_workloads; k++)
                n_public += memcmp(w.axes, task->workloads[k].axes, sizeof(w.axes)) == 0;
            n_odd += w.axes[0] % 2 == 1;
        }
        ck_assert_msg(n_public <= 6, "%s %s: %d of 300 are public sizes", name, target, n_public);
        ck_assert_msg(n_odd > 60, "%s %s: %d of 300 are odd", name, target, n_odd);
        hone_task_free(task);
    }
}
END_TEST

/* Legal, cheap, the least size, long axes, tails and whole tiles. */
START_TEST(edges_are_legal_cheap_and_varied)
{
    uint8_t key[16] = {4, 5, 6};
    for (size_t p = 0; p < 2 * HONE_COUNTOF(packs); p++) {
        const char *name = packs[p / 2], *target = p % 2 ? "cuda" : "cpu";
        struct hone_task *task = load(name, target);
        int n_odd = 0, n_tiles = 0;
        int64_t longest[HONE_LIMIT_AXES] = {0};
        for (uint32_t i = 0; i < 400; i++) {
            struct hone_workload w, again;
            key[5] = (uint8_t)(i / 8);
            ck_assert_int_eq(hone_task_edge(task, key, i % 8, &w, NULL), 0);
            ck_assert_int_eq(hone_task_edge(task, key, i % 8, &again, NULL), 0);
            ck_assert_mem_eq(w.axes, again.axes, sizeof(w.axes));
            ck_assert(w.is_hidden && w.is_edge);
            ck_assert_int_eq(hone_task_resolve(task, &w, NULL), 0);
            ck_assert_mem_eq(w.axes, again.axes, sizeof(w.axes));
            double flops = 0, bytes = 0;
            ck_assert_int_eq(hone_task_eval(task, task->flops, &w, &flops, NULL), 0);
            ck_assert_int_eq(hone_task_eval(task, task->bytes, &w, &bytes, NULL), 0);
            ck_assert(flops <= fmax(0.126 * largest(task, task->flops), 1 << 20) &&
                      bytes <= fmax(0.126 * largest(task, task->bytes), 1 << 22));
            for (size_t a = 0; a < task->n_axes; a++) {
                longest[a] = hone_max_i64(longest[a], w.axes[a]);
                ck_assert(i % 8 != 0 || task->axes[a].kind != HONE_AXIS_VAR || w.axes[a] == 1);
            }
            n_odd += w.axes[0] % 2 == 1;
            n_tiles += w.axes[0] % 8 == 0;
        }
        ck_assert_msg(n_odd > 100 && n_tiles > 20, "%s: %d odd, %d tiles", name, n_odd, n_tiles);
        for (size_t a = 0; a < task->n_axes; a++)
            if (task->axes[a].kind == HONE_AXIS_VAR)
                ck_assert_msg(longest[a] >= hone_min_i64(task->axes[a].max, 512), "%s %s: %s <= %d",
                              name, target, task->axes[a].name, (int)longest[a]);
        hone_task_free(task);
    }
}
END_TEST

static bool is_affordable(const struct hone_task *task, const struct hone_workload *w, double share)
{
    return figure(task, task->flops, w) <= share * largest(task, task->flops) &&
           figure(task, task->bytes, w) <= share * largest(task, task->bytes);
}

/* The least legal value in a third of an axis; 0: none. */
static int64_t least_of(const struct hone_axis *axis, int third)
{
    int64_t low = axis->min, high = axis->max; /* hone_task_third never falls */
    if (hone_task_third(axis, high) < third)
        return 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (hone_task_third(axis, middle) < third)
            low = middle + 1;
        else
            high = middle;
    }
    low = (low + axis->multiple - 1) / axis->multiple * axis->multiple;
    return hone_task_third(axis, low) == third ? low : 0;
}

/* The cheapest size that has two axes in these thirds. */
static bool can_have(const struct hone_task *task, size_t a, int of_a, size_t b, int of_b)
{
    struct hone_workload w = task->workloads[0];
    for (size_t i = 0; i < task->n_axes; i++)
        if (task->axes[i].kind == HONE_AXIS_VAR)
            w.axes[i] = least_of(&task->axes[i], 0);
    w.axes[a] = least_of(&task->axes[a], of_a);
    w.axes[b] = least_of(&task->axes[b], of_b);
    return w.axes[a] > 0 && w.axes[b] > 0 && hone_task_resolve(task, &w, NULL) == 0 &&
           is_affordable(task, &w, 1);
}

static bool has_pair(const struct hone_task *task, const struct hone_workload *sizes, size_t n,
                     size_t a, int of_a, size_t b, int of_b)
{
    for (size_t i = 0; i < n; i++)
        if (hone_task_third(&task->axes[a], sizes[i].axes[a]) == of_a &&
            hone_task_third(&task->axes[b], sizes[i].axes[b]) == of_b)
            return true;
    return false;
}

static void check_pairs(const struct hone_task *task, const char *target,
                        const struct hone_workload *sizes, size_t n)
{
    for (size_t a = 0; a < task->n_axes; a++)
        for (size_t b = a + 1; b < task->n_axes; b++)
            for (int p = 0; p < 9; p++)
                if (task->axes[a].kind == HONE_AXIS_VAR && task->axes[b].kind == HONE_AXIS_VAR &&
                    can_have(task, a, p / 3, b, p % 3))
                    ck_assert_msg(has_pair(task, sizes, n, a, p / 3, b, p % 3),
                                  "%s %s: no size with %s in third %d and %s in third %d",
                                  task->name, target, task->axes[a].name, p / 3, task->axes[b].name,
                                  p % 3);
}

/* Sizes whose axes but one are a public size's, with that one between the least and the largest
 * public value of it, or up to twice as far. */
static int n_beside_public(const struct hone_task *task, size_t a,
                           const struct hone_workload *sizes, size_t n)
{
    int found = 0;
    int64_t low = INT64_MAX, high = 0;
    for (size_t k = 0; k < task->n_workloads; k++) {
        low = hone_min_i64(low, task->workloads[k].axes[a]);
        high = hone_max_i64(high, task->workloads[k].axes[a]);
    }
    for (size_t i = 0; i < n; i++) {
        bool is_beside = false;
        for (size_t k = 0; k < task->n_workloads; k++) {
            struct hone_workload w = sizes[i];
            w.axes[a] = task->workloads[k].axes[a];
            is_beside = is_beside || (hone_task_resolve(task, &w, NULL) == 0 &&
                                      memcmp(w.axes, task->workloads[k].axes, sizeof(w.axes)) == 0);
        }
        found += is_beside && sizes[i].axes[a] >= low / 2 && sizes[i].axes[a] <= 2 * high;
    }
    return found;
}

/* One confirmation's: every pair of thirds, and middle values beside public ones. */
START_TEST(ranges_cover_all_pairs)
{
    uint8_t key[16] = {7, 8, 9};
    for (size_t p = 0; p < 2 * HONE_COUNTOF(packs); p++) {
        const char *name = packs[p / 2], *target = p % 2 ? "cuda" : "cpu";
        struct hone_task *task = load(name, target);
        for (uint8_t i = 0; i < 12; i++) {
            struct hone_workload sizes[HONE_TASK_RANGES], again[HONE_TASK_RANGES];
            key[3] = i;
            size_t n = hone_task_ranges(task, key, sizes);
            ck_assert_uint_eq(hone_task_ranges(task, key, again), n);
            ck_assert_uint_ge(n, 6);
            for (size_t k = 0; k < n; k++) {
                ck_assert_mem_eq(sizes[k].axes, again[k].axes, sizeof(sizes[k].axes));
                ck_assert(sizes[k].is_hidden && sizes[k].is_edge);
                ck_assert_int_eq(hone_task_resolve(task, &again[k], NULL), 0);
                ck_assert_mem_eq(sizes[k].axes, again[k].axes, sizeof(sizes[k].axes));
                ck_assert(is_affordable(task, &sizes[k], 1.11) ||
                          is_affordable(task, &sizes[k], 0.125) ||
                          figure(task, task->bytes, &sizes[k]) <= 1 << 22);
            }
            check_pairs(task, target, sizes, n);
            for (size_t a = 0; a < task->n_axes; a++)
                if (task->axes[a].kind == HONE_AXIS_VAR)
                    ck_assert_msg(n_beside_public(task, a, sizes, n) > 0, "%s %s: %s", name, target,
                                  task->axes[a].name);
        }
        hone_task_free(task);
    }
}
END_TEST

/* Attention over more keys than any public size has costs too much beside many heads: there are
 * fewer then. Each confirmation meets it. */
START_TEST(a_dear_axis_is_long_beside_short_ones)
{
    struct hone_task *task = load("attention_causal", "cuda");
    size_t t = 0;
    while (strcmp(task->axes[t].name, "T") != 0)
        t++;
    for (uint8_t i = 0; i < 40; i++) {
        struct hone_workload sizes[HONE_TASK_RANGES];
        size_t n = hone_task_ranges(task, (const uint8_t[16]){5, i}, sizes);
        int64_t most = 0;
        for (size_t k = 0; k < n; k++)
            most = hone_max_i64(most, sizes[k].axes[t]);
        ck_assert_msg(most > 4096, "key %d: at most %d keys", i, (int)most);
    }
    hone_task_free(task);
}
END_TEST

/* Over several confirmations each octave of K is met beside long M and N. */
START_TEST(middle_values_meet_long_axes)
{
    struct hone_task *task = load("matmul", "cpu");
    int n_octave[14] = {0};
    for (uint8_t i = 0; i < 100; i++) {
        struct hone_workload sizes[HONE_TASK_RANGES];
        size_t n = hone_task_ranges(task, (const uint8_t[16]){3, i}, sizes);
        for (size_t k = 0; k < n; k++)
            if (sizes[k].axes[0] >= 128 && sizes[k].axes[1] >= 128)
                n_octave[(int)log2((double)sizes[k].axes[2])]++;
    }
    for (int o = 6; o < 11; o++) /* 64 to 2047: nearly once in a confirmation, or more */
        ck_assert_msg(n_octave[o] >= 60, "octave %d: %d", o, n_octave[o]);
    hone_task_free(task);
}
END_TEST

/* Blocks of 1024 or less with one element too many, or too few: each in half of them. */
START_TEST(long_axes_end_beside_blocks)
{
    struct hone_task *task = load("softmax", "cpu");
    int n_over = 0, n_under = 0;
    for (uint8_t i = 0; i < 100; i++) {
        struct hone_workload sizes[HONE_TASK_RANGES];
        size_t n = hone_task_ranges(task, (const uint8_t[16]){4, i}, sizes);
        bool is_over = false, is_under = false;
        for (size_t k = 0; k < n; k++) {
            int64_t length = sizes[k].axes[1];
            is_over |= length > 1024 && length % 1024 == 1;
            is_under |= length > 1024 && length % 1024 == 1023;
        }
        n_over += is_over;
        n_under += is_under;
    }
    ck_assert_msg(n_over >= 40 && n_under >= 40, "%d over, %d under", n_over, n_under);
    hone_task_free(task);
}
END_TEST

/* Does any size with two axes beyond the public ones fit, the others at their least? */
static bool fits_beyond(const struct hone_task *task, double most_bytes)
{
    for (size_t a = 0; a < task->n_axes; a++)
        for (size_t b = a + 1; b < task->n_axes; b++) {
            struct hone_workload w = task->workloads[0];
            for (size_t i = 0; i < task->n_axes; i++) {
                int64_t most = 0;
                for (size_t k = 0; k < task->n_workloads; k++)
                    most = hone_max_i64(most, task->workloads[k].axes[i]);
                if (task->axes[i].kind == HONE_AXIS_VAR)
                    w.axes[i] = i == a || i == b ? most + task->axes[i].multiple : 1;
            }
            if (hone_task_resolve(task, &w, NULL) == 0 &&
                figure(task, task->bytes, &w) <= most_bytes)
                return true;
        }
    return false;
}

START_TEST(beyond_is_beyond_in_two_axes)
{
    const int64_t most = HONE_LIMIT_BEYOND_BYTES;
    for (size_t p = 0; p < 2 * HONE_COUNTOF(packs); p++) {
        const char *name = packs[p / 2], *target = p % 2 ? "cuda" : "cpu";
        struct hone_task *task = load(name, target);
        size_t n_var = 0;
        int n_found = 0, n_two = 0;
        for (size_t a = 0; a < task->n_axes; a++)
            n_var += task->axes[a].kind == HONE_AXIS_VAR;
        for (uint32_t i = 0; i < 60; i++) {
            struct hone_workload w, again;
            uint8_t key[16] = {(uint8_t)(i / HONE_TASK_BEYONDS)};
            uint32_t index = i % HONE_TASK_BEYONDS;
            bool is_found = hone_task_beyond(task, key, index, most, &w);
            ck_assert_msg(is_found || index + 1 < HONE_TASK_BEYONDS, "%s %s", name, target);
            n_found += is_found;
            if (!is_found)
                continue;
            ck_assert(hone_task_beyond(task, key, index, most, &again));
            ck_assert_mem_eq(w.axes, again.axes, sizeof(w.axes));
            ck_assert(w.is_hidden && w.is_edge);
            ck_assert_int_eq(hone_task_resolve(task, &w, NULL), 0);
            ck_assert_uint_ge(hone_task_n_beyond(task, &w), 1);
            n_two += hone_task_n_beyond(task, &w) >= 2;
            ck_assert(figure(task, task->bytes, &w) <=
                      fmax((double)most, 1.51 * largest(task, task->bytes)));
            ck_assert(figure(task, task->flops, &w) <= 16.1 * largest(task, task->flops));
        }
        ck_assert_msg(n_found >= 30, "%s %s: %d", name, target, n_found);
        bool fits = fits_beyond(task, 1.5 * fmax((double)most / 1.5, largest(task, task->bytes)));
        ck_assert_msg(n_two == (n_var > 1 && fits ? n_found : 0), "%s %s: %d of %d in two axes",
                      name, target, n_two, n_found);
        hone_task_free(task);
    }
}
END_TEST

START_TEST(another_key_gives_other_sizes)
{
    struct hone_task *task = load("matmul", "cpu");
    int n_same = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct hone_workload a, b;
        hone_task_draw(task, (const uint8_t[16]){1}, i, &a, NULL);
        hone_task_draw(task, (const uint8_t[16]){2}, i, &b, NULL);
        n_same += memcmp(a.axes, b.axes, sizeof(a.axes)) == 0;
    }
    ck_assert_int_le(n_same, 2);
    hone_task_free(task);
}
END_TEST

static const char tight[] =
    "{\"name\":\"t\",\"axes\":{\"N\":{\"type\":\"var\",\"min\":32,\"max\":4096,\"multiple\":32},"
    "\"M\":{\"type\":\"var\",\"max\":64}},"
    "\"inputs\":{\"x\":{\"shape\":[\"N\"],\"dtype\":\"float32\"}},\"outputs\":{\"y\":{\"shape\":["
    "\"M\"],\"dtype\":\"int32\"}},"
    "\"constraints\":[\"N % M == "
    "0\"],\"oracle\":{\"items\":\"M\"},\"flops\":\"N\",\"bytes\":\"4*N\"}";

START_TEST(constraints_and_multiples_are_met)
{
    static const char loads[] = "{\"id\":\"a\",\"axes\":{\"N\":512,\"M\":16}}";
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_task_parse(tight, strlen(tight), loads, strlen(loads), "/", &task, &err) ==
                      0,
                  "%s", err.message);
    for (uint32_t i = 0; i < 200; i++) {
        struct hone_workload w;
        ck_assert_int_eq(hone_task_draw(task, (const uint8_t[16]){9}, i, &w, NULL), 0);
        ck_assert(w.axes[0] % 32 == 0 && w.axes[0] % w.axes[1] == 0);
    }
    struct hone_workload w;
    ck_assert_int_eq(hone_task_smoke(task, &w, NULL), 0);
    ck_assert_int_eq(hone_task_resolve(task, &w, NULL), 0);
    hone_task_free(task);
}
END_TEST

/* Public sizes at the end of what is legal: nothing lies beyond. */
START_TEST(beyond_ends_where_sizes_end)
{
    static const char loads[] = "{\"id\":\"a\",\"axes\":{\"N\":4096,\"M\":64}}";
    struct hone_task *task = NULL;
    struct hone_workload w = {.id = NULL};
    ck_assert_int_eq(hone_task_parse(tight, strlen(tight), loads, strlen(loads), "/", &task, NULL),
                     0);
    ck_assert(!hone_task_beyond(task, (const uint8_t[16]){1}, 0, 1 << 30, &w));
    hone_task_free(task);
}
END_TEST

START_TEST(smoke_is_small_and_has_a_tail)
{
    for (size_t p = 0; p < 2 * HONE_COUNTOF(packs); p++) {
        struct hone_task *task = load(packs[p / 2], p % 2 ? "cuda" : "cpu");
        struct hone_workload w;
        ck_assert_int_eq(hone_task_smoke(task, &w, NULL), 0);
        ck_assert_int_eq(hone_task_resolve(task, &w, NULL), 0);
        for (size_t a = 0; a < task->n_axes; a++)
            if (task->axes[a].kind == HONE_AXIS_VAR)
                ck_assert(w.axes[a] % 4 != 0 && w.axes[a] <= 40);
        hone_task_free(task);
    }
}
END_TEST

UNIT_MAIN("draw", draws_are_legal_and_cheap, edges_are_legal_cheap_and_varied,
          ranges_cover_all_pairs, a_dear_axis_is_long_beside_short_ones,
          middle_values_meet_long_axes, long_axes_end_beside_blocks, beyond_is_beyond_in_two_axes,
          beyond_ends_where_sizes_end, another_key_gives_other_sizes,
          constraints_and_multiples_are_met, smoke_is_small_and_has_a_tail)
