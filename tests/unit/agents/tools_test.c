/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of agents/, through the registry: results validate against their tables, steps proposed
 * can be applied. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/search.h"
#include "workspace/base/file.h"

struct fixture {
    char dir[64];
    struct hone_app app;
    struct hone_pool *pool;
    struct hone_tool_ctx ctx;
};

static void open_fixture(struct fixture *f)
{
    static const struct hone_tool_set *const sets[] = {&hone_tool_set_agents};
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.dir = "/tmp/hone-agent-tools-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->app.ws, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_exec_fake_new(NULL, &f->app.executor, &err), 0);
    ck_assert_msg(hone_registry_new(sets, 1, &f->app.registry, &err) == 0, "%s", err.message);
    f->pool = hone_pool_new();
    f->ctx = (struct hone_tool_ctx){.app = &f->app, .pool = f->pool, .caller = "test"};
}

static void close_fixture(struct fixture *f)
{
    hone_registry_free(f->app.registry);
    hone_executor_free(f->app.executor);
    hone_workspace_close(f->app.ws);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
}

/* Owned by the caller. Checked against the tool's table unless it is an error. */
static struct hone_json *call(struct fixture *f, const char *tool, const char *args,
                              bool want_error)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *in = NULL;
    struct hone_json *out = NULL;
    bool is_error = false;
    ck_assert_msg(hone_json_parse(args, strlen(args), &in, &err) == 0, "%s: %s", args, err.message);
    ck_assert_msg(hone_registry_call(&f->ctx, tool, in, &out, &is_error, &err) == 0, "%s: %s", tool,
                  err.message);
    HONE_AUTOFREE char *text = hone_json_print(out);
    ck_assert_msg(is_error == want_error, "%s %s: %s", tool, args, text);
    const struct hone_tool *t = hone_registry_find(f->app.registry, tool);
    if (!is_error)
        ck_assert_msg(hone_fields_validate(out, t->out, t->n_out, &err) == 0, "%s: %s in %s",
                      err.path, err.message, text);
    return out;
}

START_TEST(proposed_steps_can_be_applied)
{
    static const char *const tasks[] = {"matmul", "softmax", "jacobi2d", "spmv_csr", "sum"};
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(tasks); i++) {
        HONE_AUTOJSON struct hone_json *p =
            call(&f, "strategy_propose",
                 hone_pool_printf(f.pool, "{\"task\":\"%s\",\"all\":true}", tasks[i]), false);
        double sum = 0;
        int n_applied = 0;
        ck_assert_uint_ge(hone_json_size(hone_json_get(p, "bottlenecks")), 1);
        for (const struct hone_json *s = hone_json_first(hone_json_get(p, "steps")); s;
             s = hone_json_next(s)) {
            const char *rewrite = hone_json_get_str(s, "rewrite", NULL);
            if (!rewrite)
                continue;
            sum += hone_json_get_f64(s, "prior", 0);
            const char *args = hone_pool_printf(
                f.pool, "{\"task\":\"%s\",\"rewrite\":\"%s\",\"anchor\":\"%s\",\"variant\":%d}",
                tasks[i], rewrite, hone_json_get_str(hone_json_get(s, "region"), "anchor", ""),
                (int)hone_json_get_i64(s, "variant", 0));
            HONE_AUTOJSON struct hone_json *a = call(&f, "strategy_apply", args, false);
            ck_assert(strstr(hone_json_get_str(a, "source", ""), tasks[i]) != NULL);
            n_applied++;
        }
        ck_assert_int_ge(n_applied, 3);
        ck_assert_msg(sum > 0.5 && sum < 1.0001, "%g", sum);
    }
    close_fixture(&f);
}
END_TEST

/* No rule reads intrinsics; what a hand can do is listed, the worst bottleneck's first. */
START_TEST(a_text_without_rules_gets_steps_by_hand)
{
    static const char source[] =
        "#include <immintrin.h>\\nvoid sum(const float *X, float *S, int64_t N)\\n"
        "{ const float *e = X + N; __m256 a = _mm256_setzero_ps(); while (X + 8 <= e) { a = "
        "_mm256_add_ps(a, _mm256_loadu_ps(X)); X += 8; } float t[8]; _mm256_storeu_ps(t, a); float "
        "s = t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7]; while (X < e) s += *X++; S[0] "
        "= s; }";
    struct fixture f;
    open_fixture(&f);
    HONE_AUTOJSON struct hone_json *p = call(
        &f, "strategy_propose",
        hone_pool_printf(f.pool, "{\"task\":\"sum\",\"source\":\"%s\",\"max\":3}", source), false);
    const struct hone_json *steps = hone_json_get(p, "steps");
    HONE_AUTOFREE char *text = hone_json_print(p);
    ck_assert_msg(strstr(hone_json_get_str(p, "summary", ""), "no rule has one against") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(hone_json_get_str(p, "next", ""), "kernel_profile") != NULL, "%s", text);
    int n_by_hand = 0;
    for (const struct hone_json *step = hone_json_first(steps); step; step = hone_json_next(step))
        n_by_hand += !hone_json_get(step, "rewrite");
    ck_assert_msg(n_by_hand == 3, "%s", text);
    ck_assert_msg(strstr(text, "0 innermost") == NULL, "%s", text);
    close_fixture(&f);
}
END_TEST

/* A step that finds no loop to work on comes last, and says what it does all the same. */
START_TEST(a_step_without_its_loops_comes_last)
{
    static const char source[] =
        "#include <stdint.h>\\nvoid sum(const float *X, float *S, int64_t N)\\n"
        "{ float s = 0; for (int64_t i = 0; i < N; i++) "
        "{ if (X[i] > 1e30f) break; s += X[i]; } S[0] = s; }";
    struct fixture f;
    open_fixture(&f);
    HONE_AUTOJSON struct hone_json *p =
        call(&f, "strategy_propose",
             hone_pool_printf(f.pool, "{\"task\":\"sum\",\"source\":\"%s\"}", source), false);
    HONE_AUTOFREE char *text = hone_json_print(p);
    const struct hone_json *last = NULL;
    ck_assert_msg(strstr(text, "0 innermost") == NULL, "%s", text);
    for (const struct hone_json *s = hone_json_first(hone_json_get(p, "steps")); s;
         s = hone_json_next(s))
        last = hone_json_get(s, "rewrite") ? s : last;
    ck_assert_msg(last && strcmp(hone_json_get_str(last, "rewrite", ""), "simd_inner") == 0, "%s",
                  text);
    ck_assert_msg(strncmp(hone_json_get_str(last, "evidence", ""), "restrict alone: ", 16) == 0,
                  "%s", text);
    close_fixture(&f);
}
END_TEST

START_TEST(apply_can_evaluate)
{
    struct fixture f;
    open_fixture(&f);
    HONE_AUTOJSON struct hone_json *a =
        call(&f, "strategy_apply",
             "{\"task\":\"matmul\",\"rewrite\":\"register_tile\",\"tier\":\"screen\"}", false);
    ck_assert_ptr_nonnull(hone_json_get_str(a, "commit", NULL));
    ck_assert_ptr_nonnull(hone_json_get_str(a, "verdict", NULL));
    ck_assert_uint_eq(hone_json_size(hone_json_get(a, "tunables")), 2);
    HONE_AUTOJSON struct hone_json *p =
        call(&f, "strategy_propose",
             hone_pool_printf(f.pool, "{\"task\":\"matmul\",\"commit\":\"%s\"}",
                              hone_json_get_str(a, "commit", "")),
             false);
    ck_assert_str_eq(hone_json_get_str(p, "commit", ""), hone_json_get_str(a, "commit", "?"));
    close_fixture(&f);
}
END_TEST

static const struct {
    const char *tool, *args, *part;
} bad[] = {
    {"strategy_propose", "{\"task\":\"nothing\"}", "nothing"},
    {"strategy_propose", "{\"task\":\"matmul\",\"source\":\"void matmul(\"}", "line 1"},
    {"strategy_propose", "{\"task\":\"matmul\",\"source\":\"x\",\"commit\":\"y\"}", "not both"},
    {"strategy_propose", "{\"task\":\"matmul\",\"commit\":\"feedfeed\"}", "feedfeed"},
    {"strategy_apply", "{\"task\":\"matmul\",\"rewrite\":\"magic\"}", "register_tile"},
    {"strategy_apply", "{\"task\":\"matmul\",\"rewrite\":\"ping_pong\"}", "0 regions"},
    {"strategy_apply",
     "{\"task\":\"matmul\",\"rewrite\":\"register_tile\",\"anchor\":\"0000000000000000\"}",
     "strategy_propose"},
    {"search_start", "{\"task\":\"matmul\"}", "cap"},
    {"search_stop", "{\"job\":\"j-1\"}", "background"},
};

START_TEST(mistakes_are_explained)
{
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        HONE_AUTOJSON struct hone_json *out = call(&f, bad[i].tool, bad[i].args, true);
        HONE_AUTOFREE char *text = hone_json_print(out);
        ck_assert_msg(strstr(text, bad[i].part), "%s: %s", bad[i].args, text);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(search_start_waits_or_returns_a_handle)
{
    struct fixture f;
    open_fixture(&f);
    HONE_AUTOJSON struct hone_json *out = call(
        &f, "search_start", "{\"task\":\"sum\",\"budget_evaluations\":5,\"wait\":true}", false);
    ck_assert_ptr_nonnull(hone_json_get(out, "result"));
    ck_assert_str_eq(hone_json_get_str(hone_json_get(out, "result"), "task", ""), "sum");
    close_fixture(&f);
}
END_TEST

/* tests/unit/tools/tools_test.c holds the other set's tools to the same. */
START_TEST(every_tool_describes_itself)
{
    for (size_t i = 0; i < hone_tool_set_agents.n; i++) {
        const struct hone_tool *tool = hone_tool_set_agents.tools[i];
        ck_assert_msg(tool->title != NULL && tool->summary != NULL, "%s", tool->name);
        size_t size = strlen(tool->description); /* every client pays for it at every start */
        ck_assert_msg(size >= 80 && size <= 450, "%s: %zu bytes", tool->name, size);
    }
}
END_TEST

UNIT_MAIN("agent tools", proposed_steps_can_be_applied, a_text_without_rules_gets_steps_by_hand,
          a_step_without_its_loops_comes_last, apply_can_evaluate, mistakes_are_explained,
          search_start_waits_or_returns_a_handle, every_tool_describes_itself)
