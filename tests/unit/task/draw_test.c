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
          another_key_gives_other_sizes, constraints_and_multiples_are_met,
          smoke_is_small_and_has_a_tail)
