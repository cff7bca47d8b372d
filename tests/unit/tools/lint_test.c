/* SPDX-License-Identifier: Apache-2.0 */
/* The lint: its static part on damaged copies of a shipped pack, and its reading of verdicts with
 * an executor made for the test. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "tools/task/lint.h"
#include "workspace/base/file.h"

static char *copy_pack(const char *name, char *root)
{
    const char *packs = getenv("HONE_PACKS");
    ck_assert_ptr_nonnull(mkdtemp(root));
    char *from = hone_path_join(packs ? packs : "workspace/packs", name, NULL),
         *to = hone_path_join(root, name, NULL);
    ck_assert_int_eq(hone_copy_tree(from, to, 100, NULL), 0);
    free(from);
    return to;
}

/* Replaces `from` in a file; from NULL: writes `to`; both NULL: removes the file. */
static void damage(const char *dir, const char *file, const char *from, const char *to)
{
    char *path = hone_path_join(dir, file, NULL), *text = NULL;
    size_t len = 0;
    if (!from && !to) {
        ck_assert_int_eq(unlink(path), 0);
    } else if (from) {
        ck_assert_int_eq(hone_file_read(path, 1 << 20, &text, &len, NULL), 0);
        char *at = strstr(text, from);
        ck_assert_msg(at != NULL, "%s", from);
        char *all = hone_sprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
        ck_assert_int_eq(hone_file_write(path, all, strlen(all), 0600, false, NULL), 0);
        free(all);
        free(text);
    } else {
        ck_assert_int_eq(hone_file_write(path, to, strlen(to), 0600, false, NULL), 0);
    }
    free(path);
}

static const struct hone_lint_finding *finding(const struct hone_lint *lint, const char *where,
                                               const char *message)
{
    const struct hone_lint_finding *all = lint->findings.v;
    for (size_t i = 0; i < lint->findings.n; i++)
        if (strstr(all[i].where, where) && strstr(all[i].message, message))
            return &all[i];
    return NULL;
}

/* An axis that bounds an index, or that a constraint or another formula names, has a use. */
START_TEST(used_axes)
{
    static const struct {
        const char *from, *to;
        bool is_unused;
    } table[] = {
        {"\"format\"", "\"format\"", true},
        {"\"format\"", "\"constraints\": [\"Q > 0\"], \"format\"", false},
        {"\"4*N\"", "\"4*N + Q\"", false},
        {"\"float32\", \"role\": \"positive\"", "\"int32\", \"role\": \"index\", \"bound\": \"Q\"",
         false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-lint-test-XXXXXX";
        char *dir = copy_pack("sum", root);
        struct hone_pool *pool = hone_pool_new();
        struct hone_lint lint;
        damage(dir, "task.json", "\"axes\": {",
               "\"axes\": {\"Q\": {\"type\": \"const\", \"value\": 5}, ");
        damage(dir, "task.json", table[i].from, table[i].to);
        ck_assert_int_eq(hone_lint_pack(dir, NULL, pool, &lint, NULL), 0);
        char *text = hone_lint_text(&lint);
        ck_assert_msg((finding(&lint, "axes.Q", "no shape, bound or formula") != NULL) ==
                          table[i].is_unused,
                      "row %zu: %s", i, text);
        free(text);
        hone_pool_free(pool);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
        free(dir);
    }
}
END_TEST

START_TEST(static_part)
{
    static const struct {
        const char *pack, *file, *from, *to, *where, *message, *severity;
    } table[] = {
        {"matmul", "task.json", "\"M*N\"", "\"M*Q\"", "task.json: oracle.items", "'Q'", "error"},
        {"matmul", "oracle.c", NULL, NULL, "oracle.c", "oracle.c", "error"},
        {"matmul", "kernels/naive.c", NULL, NULL, "kernels/naive.c", "naive.c", "error"},
        {"matmul", "kernels/naive.c", "matmul(", "other(", "kernels/naive.c", "does not define",
         "error"},
        {"matmul", "oracle.c", "ITEM(", "ITEMS(", "oracle.c", "ITEM(", "error"},
        {"matmul", "oracle.c", "PUT_SCALED_C", "PUT_SCALED_D", "oracle.c", "never writes", "error"},
        {"matmul", "oracle.c", "double sum", "HONE_FILL_IN double sum", "oracle.c:7", "not written",
         "error"},
        {"matmul", "oracle.c", "/*", "#include <math.h>\n/*", "oracle.c", "#include", "error"},
        {"jacobi2d", "oracle.c", "STEP(", "STEPS(", "oracle.c", "STEP(", "error"},
        {"matmul", "task.json", "2.9e-5", "0.1", "tolerance.C", "loose", "warning"},
        {"matmul", "task.json", "1e-30", "0.5", "tolerance.C", "zeros", "warning"},
        {"matmul", "task.json", "\"cpu\": [1, 520]", "\"cpu\": [7, 7]", "axes.M", "cannot differ",
         "warning"},
        {"matmul", "task.json", "\"cuda\": [1, 4200]", "\"tpu\": [1, 4200]", "axes.M.draw.tpu",
         "no target", "error"},
        {"matmul", "kernels/naive.cu", NULL, NULL, "kernels/naive.cu", "no kernels for cuda",
         "error"},
        {"matmul", "kernels/naive.cu", "extern \"C\"", "extern", "kernels/naive.cu",
         "does not define", "error"},
        {"sum", "task.json", "\"flops\": \"N\"", "\"flops\": \"M\"", "flops", "'M'", "error"},
        {"sum", "workloads.jsonl", NULL, "{\"id\":\"a\",\"axes\":{\"N\":9}}", "workloads.jsonl",
         "one public size", "note"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-lint-test-XXXXXX";
        char *dir = copy_pack(table[i].pack, root);
        struct hone_pool *pool = hone_pool_new();
        struct hone_lint lint;
        ck_assert_int_eq(hone_lint_pack(dir, NULL, pool, &lint, NULL), 0);
        ck_assert_msg(lint.is_admitted && lint.findings.n == 0, "%s is not clean", table[i].pack);
        damage(dir, table[i].file, table[i].from, table[i].to);
        ck_assert_int_eq(hone_lint_pack(dir, NULL, pool, &lint, NULL), 0);
        const struct hone_lint_finding *found = finding(&lint, table[i].where, table[i].message);
        char *text = hone_lint_text(&lint);
        ck_assert_msg(found != NULL, "row %zu: %s", i, text);
        ck_assert_str_eq(found->severity, table[i].severity);
        ck_assert_int_eq(lint.is_admitted, strcmp(table[i].severity, "error") != 0);
        ck_assert(!lint.was_run);
        free(text);
        hone_pool_free(pool);
        free(dir);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

/* Gives `reason` to the call whose folder has this name, correct to naive, wrong_value to the
 * others. */
struct script {
    const char *kernel, *output;
    enum hone_reason reason;
    int n_calls;
};

static int run_script(void *cookie, const char *call_dir, const struct hone_job *job,
                      hone_progress_fn *on_progress, void *progress_arg,
                      const struct hone_cancel *cancel, struct hone_pool *pool,
                      struct hone_report *ret, struct hone_err *err)
{
    (void)on_progress, (void)progress_arg, (void)cancel, (void)pool, (void)err;
    struct script *script = cookie;
    const char *name = strrchr(call_dir, '/') + 1;
    if (strcmp(name, "answers") == 0) {
        static struct hone_noise_report noise = {.arm = "candidate",
                                                 .distribution = "normal",
                                                 .n_calls = 1,
                                                 .n_elements = 100,
                                                 .worst = 1e-7,
                                                 .is_plain = true};
        static struct hone_answer_report zeros = {.answer = "zeros",
                                                  .workload = "w",
                                                  .distribution = "normal",
                                                  .is_public = true,
                                                  .is_random = true,
                                                  .n = 100};
        static struct hone_calibration_report report = {
            .n_seeds = 1, .noise = {&noise, 1}, .answers = {&zeros, 1}};
        noise.output = zeros.output = script->output;
        zeros.worst = script->kernel && strcmp(script->kernel, "answers") == 0 ? 1e-9 : 1;
        script->n_calls++;
        *ret = (struct hone_report){.reason = HONE_REASON_BUILT, .calibration = &report};
        return 0;
    }
    char *source = hone_path_join(call_dir, "open", "candidate.c", NULL);
    ck_assert(hone_file_exists(source));
    ck_assert_uint_eq(job->arms.n, 1);
    ck_assert_uint_eq(job->stages.n, 3);
    free(source);
    script->n_calls++;
    *ret = (struct hone_report){.reason = strcmp(name, "naive") == 0 ? HONE_REASON_CORRECT
                                                                     : HONE_REASON_WRONG_VALUE};
    if (script->kernel && strcmp(name, script->kernel) == 0)
        ret->reason = script->reason;
    return 0;
}

/* Else a looser tolerance stays for the target that nobody measured. */
#define CUDA_CALIBRATED                                                                            \
    "\"calibration\": {\"cuda\": {\"date\":\"2026-11-21\",\"device\":\"H200\",\"compiler\":"       \
    "\"nvrtc\",\"hone\":\"0.1.0\",\"margin\":2,\"seeds\":1,\"trivial\":80,\"trivial_answer\":"     \
    "\"mean\",\"lower\":16,\"lower_answer\":\"rounded "                                            \
    "outputs\",\"outputs\":{\"C\":{\"noise\":1e-07,"                                               \
    "\"p999\":1e-07,\"rel_l2\":1e-07,\"bias\":0}}},"

/* A refusal names what helps: a tolerance that was measured, a role that keeps NaN away. */
static void check_fix(const struct hone_lint *lint, const char *kernel, enum hone_reason reason,
                      const char *message)
{
    static const struct {
        const char *kernel;
        enum hone_reason reason;
        const char *fix;
    } rows[] = {{"zeros", HONE_REASON_CORRECT, "proposes C=7.2e-06,1e-30 (--tolerance)"},
                {"lower_precision", HONE_REASON_CORRECT, "Tighten the tolerance"},
                {"not_a_number", HONE_REASON_CORRECT, "the role positive"},
                {"naive", HONE_REASON_NONFINITE, "the role positive"},
                {"naive", HONE_REASON_CRASH, "--constraint"},
                {"naive", HONE_REASON_WRONG_VALUE, "too tight"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (kernel && strcmp(kernel, rows[i].kernel) == 0 && reason == rows[i].reason)
            ck_assert_msg(strstr(finding(lint, kernel, message)->fix, rows[i].fix) != NULL, "%s",
                          finding(lint, kernel, message)->fix);
}

START_TEST(verdicts_are_read)
{
    static const struct {
        const char *pack, *kernel;
        enum hone_reason reason;
        const char *message; /* NULL: admitted */
        int n_calls;
    } table[] = {
        {"matmul", NULL, HONE_REASON_NONE, NULL, 12},
        {"jacobi2d", NULL, HONE_REASON_NONE, NULL, 13},
        {"matmul", "naive", HONE_REASON_WRONG_VALUE, "is refused", 2}, /* and the answers say why */
        {"matmul", "naive", HONE_REASON_UNWRITTEN, "is refused", 1},   /* no answer says more */
        {"matmul", "naive", HONE_REASON_NONFINITE, "is refused", 2},
        {"matmul", "naive", HONE_REASON_CRASH, "is refused", 1},
        {"matmul", "naive", HONE_REASON_BAD_TASK, "could not be judged", 1},
        {"matmul", "zeros", HONE_REASON_CORRECT, "passes: it writes zeros", 12},
        {"matmul", "not_a_number", HONE_REASON_CORRECT, "passes: it writes what is not a number",
         12},
        {"matmul", "lower_precision", HONE_REASON_CORRECT, "passes: it rounds", 12},
        {"sum", "lower_precision", HONE_REASON_CORRECT, NULL, 11},
        {"matmul", "empty", HONE_REASON_UNWRITTEN, NULL, 12},
        {"matmul", "mean", HONE_REASON_BELOW_FLOOR, NULL, 12},
        {"matmul", "stale_output", HONE_REASON_INFRA, "could not be judged", 12},
        {"matmul", "stale_output", HONE_REASON_COMPILE, "could not be judged", 12},
        {"matmul", "answers", HONE_REASON_CORRECT,
         "'zeros' passes on workload 'w', distribution 'normal'", 12},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-lint-test-XXXXXX";
        char *dir = copy_pack(table[i].pack, root), *calls = hone_path_join(root, "calls", NULL);
        struct hone_pool *pool = hone_pool_new();
        if (table[i].kernel && strcmp(table[i].kernel, "zeros") == 0)
            damage(dir, "task.json", "\"calibration\": {", CUDA_CALIBRATED);
        struct script script = {.kernel = table[i].kernel,
                                .reason = table[i].reason,
                                .output = strcmp(table[i].pack, "matmul") == 0 ? "C"
                                          : strcmp(table[i].pack, "sum") == 0  ? "S"
                                                                               : "U"};
        const struct hone_executor executor = {
            .name = "script", .run = run_script, .cookie = &script};
        struct hone_lint_options options = {.executor = &executor, .scratch_dir = calls};
        struct hone_lint lint;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_lint_pack(dir, &options, pool, &lint, &err) == 0, "%s", err.message);
        char *text = hone_lint_text(&lint);
        ck_assert_msg(lint.is_admitted == !table[i].message, "row %zu: %s", i, text);
        ck_assert_msg(script.n_calls == table[i].n_calls, "row %zu: %d calls\n%s", i,
                      script.n_calls, text);
        ck_assert(lint.was_run);
        if (table[i].message)
            ck_assert_msg(finding(&lint, table[i].kernel, table[i].message) != NULL, "row %zu: %s",
                          i, text);
        if (table[i].message)
            check_fix(&lint, table[i].kernel, table[i].reason, table[i].message);
        free(text);
        hone_pool_free(pool);
        free(dir);
        free(calls);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

/* A kernel that is as right as any is tried where it is asked for, and its verdict admits or refuses
 * nothing. */
START_TEST(moved_inputs_are_tried)
{
    static const struct {
        const char *dtype;
        bool tries;
        enum hone_reason reason;
        bool is_moved;
        int n_calls;
    } rows[] = {
        {"float64", true, HONE_REASON_WRONG_VALUE, true, 13},
        {"float64", true, HONE_REASON_NONFINITE, true, 13},
        {"float64", true, HONE_REASON_CORRECT, false, 15}, /* three draws */
        {"float64", true, HONE_REASON_INFRA, false, 15},
        {"float64", false, HONE_REASON_WRONG_VALUE, false, 12},
        {"float32", true, HONE_REASON_WRONG_VALUE, false, 12},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char root[] = "/tmp/hone-lint-test-XXXXXX";
        char *dir = copy_pack("matmul", root), *calls = hone_path_join(root, "calls", NULL);
        struct hone_pool *pool = hone_pool_new();
        for (int input = 0; input < 2; input++)
            damage(dir, "task.json", "\"float32\", \"role\"",
                   hone_pool_printf(pool, "\"%s\",  \"role\"", rows[i].dtype));
        struct script script = {.kernel = "moved", .reason = rows[i].reason, .output = "C"};
        const struct hone_executor executor = {
            .name = "script", .run = run_script, .cookie = &script};
        const struct hone_lint_options options = {
            .executor = &executor, .scratch_dir = calls, .scope = {.tries_moved = rows[i].tries}};
        struct hone_lint lint;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_lint_pack(dir, &options, pool, &lint, &err) == 0, "%s", err.message);
        char *text = hone_lint_text(&lint);
        ck_assert_msg(lint.is_moved == rows[i].is_moved && lint.is_admitted, "row %zu: %s", i,
                      text);
        ck_assert_msg(script.n_calls == rows[i].n_calls, "row %zu: %d", i, script.n_calls);
        free(text);
        hone_pool_free(pool);
        free(dir);
        free(calls);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

/* A pack that is made again anyway is not tried to the end. */
START_TEST(a_draft_ends_where_it_is_made_again)
{
    static const struct {
        bool ends_near;
        int n_calls;
    } rows[] = {{false, 2}, {true, 1}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char root[] = "/tmp/hone-lint-test-XXXXXX";
        char *dir = copy_pack("matmul", root), *calls = hone_path_join(root, "calls", NULL);
        struct hone_pool *pool = hone_pool_new();
        struct script script = {
            .kernel = "naive", .reason = HONE_REASON_WRONG_VALUE, .output = "C"};
        const struct hone_executor executor = {
            .name = "script", .run = run_script, .cookie = &script};
        const struct hone_lint_options options = {
            .executor = &executor, .scratch_dir = calls, .scope = {.ends_near = rows[i].ends_near}};
        struct hone_lint lint;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_lint_pack(dir, &options, pool, &lint, &err) == 0, "%s", err.message);
        ck_assert(lint.is_near && !lint.is_admitted);
        ck_assert_int_eq(script.n_calls, rows[i].n_calls);
        hone_pool_free(pool);
        free(dir);
        free(calls);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

UNIT_MAIN("lint", moved_inputs_are_tried, a_draft_ends_where_it_is_made_again, used_axes,
          static_part, verdicts_are_read)
