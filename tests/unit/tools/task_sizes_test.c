/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that nobody gave follow what a call takes. The judge is a table here: a call takes so much a
 * round of the loops, a check that many calls and a part that is the same at any size. */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/tools/tool_util.h"
#include "tools/task/task_new.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct world {
    double round_ns, calls_a_check, fixed_ns, power; /* of the product of all axes: the rounds */
    bool is_wrong;                                   /* the baseline is not timed */
    double most_elements;                            /* that the lint admits; 0: any number */
    double most_rtol;    /* that it admits, and then proposes 3e-6; 0: any */
    double rtol;         /* of the first output at the last lint */
    bool is_off, is_far; /* the function's own values are refused, as near or as far ones */
    double off_elements; /* where they are more than these; 0: at any size */
    bool is_helped;      /* but not with a scale of what the output moves by */
    const char *reason;  /* the naive trial's; NULL: there is none */
    bool is_perturbed;   /* at the last lint */
    bool is_moved, is_moved_refused;  /* by other last places; with such a scale, too */
    double moved_rtol;                /* at the first lint with such a scale; 0: there was none */
    double call_ns, rounds, elements; /* at the last size that was looked at */
    int n_looks, n_lints;
};

static double rounds_of(const struct hone_task *task, size_t load, double power)
{
    double product = 1;
    for (size_t a = 0; a < task->n_axes; a++)
        product *= (double)task->workloads[load].axes[a];
    return pow(product, power);
}

/* The lint of a function whose own values are refused. */
static void see_moves(struct world *world, const struct hone_task *task, struct hone_lint *ret)
{
    static struct hone_lint_finding finding = {
        .severity = "error", .where = "kernel naive", .message = "", .fix = ""};
    static struct hone_lint_trial trial = {.kernel = "naive", .summary = ""};
    world->is_perturbed = task->is_scale_perturbed;
    if (world->is_perturbed && world->moved_rtol == 0)
        world->moved_rtol = task->tolerance[0].rtol;
    if (!world->is_off || world->elements <= world->off_elements ||
        (world->is_helped && world->is_perturbed))
        return;
    trial.reason = world->reason;
    *ret = (struct hone_lint){.was_run = true,
                              .is_near = !world->is_far,
                              .findings = {&finding, 1},
                              .trials = {&trial, world->reason != NULL}};
}

static int check(void *arg, const char *dir, const struct hone_lint_scope *scope,
                 struct hone_pool *pool, struct hone_lint *ret, struct hone_err *err)
{
    struct world *world = arg;
    bool is_baseline_alone = scope->is_baseline_alone;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    (void)pool;
    ck_assert_int_eq(hone_task_load(dir, &task, err), 0);
    double large = rounds_of(task, task->n_workloads - 1, world->power);
    world->rounds = large;
    world->elements = rounds_of(task, task->n_workloads - 1, 1);
    world->call_ns = large * world->round_ns;
    world->n_looks += is_baseline_alone;
    world->n_lints += !is_baseline_alone;
    ck_assert(task->n_workloads == 1 || rounds_of(task, 0, 1) < world->elements);
    *ret = (struct hone_lint){.is_admitted = true};
    if (!is_baseline_alone && world->most_elements > 0 && world->elements > world->most_elements) {
        static struct hone_lint_finding finding = {
            .severity = "error", .where = "kernel answers", .message = "", .fix = ""};
        *ret = (struct hone_lint){.was_run = true, .findings = {&finding, 1}};
    }
    world->rtol = task->tolerance[0].rtol;
    if (!is_baseline_alone && world->most_rtol > 0 && world->rtol > world->most_rtol) {
        static struct hone_lint_finding finding = {
            .severity = "error", .where = "kernel answers", .message = "", .fix = ""};
        *ret = (struct hone_lint){
            .was_run = true, .proposed = "y=3e-6,1e-30", .findings = {&finding, 1}};
    }
    if (!is_baseline_alone)
        see_moves(world, task, ret);
    ret->is_moved = scope->tries_moved && world->is_moved;
    if (world->is_perturbed && world->is_moved_refused)
        ret->is_admitted = false;
    if (is_baseline_alone && !world->is_wrong) {
        ret->call_ns = world->call_ns;
        ret->check_ns = world->call_ns * world->calls_a_check + world->fixed_ns;
    }
    return 0;
}

#define MATRIX                                                                                     \
    "void mv(const float *a, const float *x, float *y, int n, int m) { for (int i = 0; i < n; "    \
    "i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i * m + j] * x[j]; y[i] = s; } }"
#define PICTURE                                                                                    \
    "void grey(const unsigned char *rgb, unsigned char *out, int h, int w) { for (int i = 0; i "   \
    "< h * w; i++) out[i] = (rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3; }"
#define VECTOR                                                                                     \
    "void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
#define PRODUCT                                                                                    \
    "void mm(const float *a, const float *b, float *c, int n) { for (int i = 0; i < n; i++) for "  \
    "(int j = 0; j < n; j++) { float s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * b[k "  \
    "* n + j]; c[i * n + j] = s; } }"

/* options: without a folder. Is the pack admitted? */
static bool make_of(const struct hone_task_new_options *options, struct world *world,
                    struct hone_pool *pool, struct hone_task_new *ret)
{
    char root[] = "/tmp/hone-sizes-test-XXXXXX";
    struct hone_task_new_options placed = *options;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_lint lint;
    ck_assert_ptr_nonnull(mkdtemp(root));
    placed.dir = hone_pool_printf(pool, "%s/pack", root);
    ck_assert_msg(hone_task_new_checked(&placed, check, world, pool, ret, &lint, &err) == 0, "%s",
                  err.message);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    return lint.is_admitted;
}

static void make(const char *source, const char *size, struct world *world, struct hone_pool *pool,
                 struct hone_task_new *ret)
{
    make_of(&(struct hone_task_new_options){.source = source, .sizes = {&size, size != NULL}},
            world, pool, ret);
    ck_assert_int_eq(world->n_lints, 1 + (world->most_elements > 0));
}

static const char *note_with(const struct hone_task_new *made, const char *text)
{
    for (size_t i = 0; i < made->notes.n; i++)
        if (strstr(made->notes.v[i], text))
            return made->notes.v[i];
    return NULL;
}

START_TEST(sizes_follow_the_time_of_a_call)
{
    static const struct {
        const char *source;
        double power, round_ns, calls_a_check, fixed_ns, least_ms, most_ms;
    } rows[] = {
        {MATRIX, 1, 0.3, 5, 1e6, 3, 20},
        {MATRIX, 1, 0.3, 5, 5e8, 3, 20}, /* a busy machine: nothing of that follows the size */
        {PICTURE, 1, 2, 5, 1e6, 3, 20},
        {PICTURE, 1, 400, 5, 1e6, 3, 20}, /* smaller than the first guess */
        {PRODUCT, 3, 3, 2, 1e6, 3, 20},
        {VECTOR, 2.5, 1e-9, 5, 1e6, 3, 20},  /* caches: far more time for a little more */
        {VECTOR, 1, 1, 90, 1e6, 1.5, 6},     /* a slow reference: as short as may be */
        {VECTOR, 1, 0.001, 5, 1e6, 0, 0.02}, /* memory ends it */
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct world world = {.round_ns = rows[i].round_ns,
                              .calls_a_check = rows[i].calls_a_check,
                              .fixed_ns = rows[i].fixed_ns,
                              .power = rows[i].power};
        struct hone_task_new made;
        make(rows[i].source, NULL, &world, pool, &made);
        double ms = world.call_ns / HONE_NS_PER_MS;
        ck_assert_msg(ms >= rows[i].least_ms && ms <= rows[i].most_ms, "row %zu: %g ms", i, ms);
        ck_assert_int_le(world.n_looks, 4);
        ck_assert_ptr_nonnull(note_with(&made, "one call of your function takes"));
        ck_assert_ptr_nonnull(note_with(&made, "sizes are guessed: "));
    }
}
END_TEST

/* What ends early is not given more and more to read. */
START_TEST(time_may_not_follow_the_size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct world world = {.round_ns = 1e4, .calls_a_check = 5, .power = 0};
    struct hone_task_new made;
    make(VECTOR, NULL, &world, pool, &made);
    ck_assert_int_eq(world.n_looks, 2);
    ck_assert_double_le(world.elements, 2e6);
    ck_assert_ptr_nonnull(note_with(&made, "takes 0.01 ms whatever the size"));
}
END_TEST

START_TEST(sizes_that_were_given_stay)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct world world = {.round_ns = 1, .calls_a_check = 5, .power = 1};
    struct hone_task_new made;
    make(VECTOR, "n=777", &world, pool, &made);
    ck_assert_double_eq(world.rounds, 777);
    ck_assert_int_eq(world.n_looks, 0);
    ck_assert_ptr_null(note_with(&made, "one call of your function takes"));
}
END_TEST

/* What is wrong at any size is for the lint to say. */
START_TEST(a_wrong_baseline_is_not_timed)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct world world = {.round_ns = 1, .calls_a_check = 5, .power = 1, .is_wrong = true};
    struct hone_task_new made;
    make(VECTOR, NULL, &world, pool, &made);
    ck_assert_int_eq(world.n_looks, 1);
    ck_assert_double_eq(world.rounds, 1e6);
    ck_assert_ptr_null(note_with(&made, "one call of your function takes"));
}
END_TEST

/* Errors grow with the size: smaller sizes are tried once, and stay only where they help. */
START_TEST(what_is_refused_is_tried_at_smaller_sizes)
{
    static const struct {
        double most_elements;
        bool is_smaller;
    } rows[] = {{1e5, true}, {1e3, false}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct world world = {
            .round_ns = 5, .calls_a_check = 5, .power = 1, .most_elements = rows[i].most_elements};
        struct hone_task_new made;
        make(VECTOR, NULL, &world, pool, &made);
        ck_assert_int_eq(world.n_looks, 1);
        ck_assert_ptr_nonnull(note_with(&made, rows[i].is_smaller
                                                   ? "smaller than a timing should have"
                                                   : "one call of your function takes"));
        ck_assert((note_with(&made, "n=1000000") == NULL) == rows[i].is_smaller);
        ck_assert_double_le(world.elements, 1e6 / 16);
    }
}
END_TEST

/* A guessed tolerance that is refused gives way to a measured one, once; a given one stays. */
START_TEST(a_refused_tolerance_gives_way)
{
    static const char *given[] = {"y=1e-4"};
    static const struct {
        size_t n_given;
        double most_rtol, rtol;
        int n_lints;
    } rows[] = {
        {0, 1e-5, 3e-6, 2}, {1, 1e-5, 1e-4, 1}, {0, 1e-6, 3e-6, 2}, /* refused again: that is all */
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct world world = {.is_wrong = true, .power = 1, .most_rtol = rows[i].most_rtol};
        struct hone_task_new made;
        const char *size = "n=777";
        make_of(&(struct hone_task_new_options){.source = VECTOR,
                                                .sizes = {&size, 1},
                                                .tolerances = {given, rows[i].n_given}},
                &world, pool, &made);
        ck_assert_msg(world.rtol == rows[i].rtol, "row %zu: %g", i, world.rtol);
        ck_assert_int_eq(world.n_lints, rows[i].n_lints);
        ck_assert((note_with(&made, "y=3e-6,1e-30") != NULL) == (rows[i].n_given == 0));
    }
}
END_TEST

#define INTEGERS                                                                                   \
    "void twice(const int *x, int *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
#define HALF                                                                                       \
    "void half(const int *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 0.5f * x[i]; }"
#define SUM                                                                                        \
    "float total(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; "    \
    "return s; }"

/* Values that are refused are held against how far they move, before any wider tolerance: once, and
 * where that can say something. */
START_TEST(a_refused_function_is_held_against_its_moves)
{
    static const char *given[] = {"1e-4"};
    static const struct {
        const char *source;
        size_t n_given;
        struct world world;
        double moved_rtol, rtol;
        int n_lints;
    } rows[] = {
        {VECTOR, 0, {.is_off = true, .is_helped = true}, 1e-4, 1e-4, 2},
        {VECTOR, 0, {.is_off = true, .is_helped = true, .is_far = true}, 1e-4, 1e-4, 2},
        {VECTOR, 0, {.is_off = true, .reason = "wrong_value", .is_helped = true}, 1e-4, 1e-4, 2},
        {VECTOR, 0, {.is_off = true, .is_far = true}, 1e-4, 1e-4, 3}, /* once, and without it */
        {VECTOR, 0, {.is_off = true}, 1e-4, 1.6e-3, 7}, /* before it is widened, and then */
        {VECTOR, 1, {.is_off = true, .is_helped = true}, 0, 1e-4, 1},
        {VECTOR, 0, {.is_off = true, .is_far = true, .reason = "crash"}, 0, 1e-4, 1},
        {VECTOR, 0, {.is_off = true, .is_far = true, .reason = "nonfinite"}, 0, 1e-4, 1},
        {INTEGERS, 0, {.is_off = true, .is_far = true}, 0, 0, 1}, /* nothing there moves */
        {HALF, 0, {.is_off = true, .is_far = true}, 0, 1e-4, 1},
        {SUM, 0, {.is_off = true, .is_far = true}, 0, 1.6e-5, 1}, /* has a scale */
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct world world = rows[i].world;
        struct hone_task_new made;
        const char *size = "n=777";
        make_of(&(struct hone_task_new_options){.source = rows[i].source,
                                                .sizes = {&size, 1},
                                                .tolerances = {given, rows[i].n_given}},
                &world, pool, &made);
        ck_assert_msg(world.n_lints == rows[i].n_lints, "row %zu: %d", i, world.n_lints);
        ck_assert_msg(world.moved_rtol == rows[i].moved_rtol, "row %zu: %g", i, world.moved_rtol);
        ck_assert_msg(world.rtol == rows[i].rtol, "row %zu: %g", i, world.rtol);
        /* what was tried without it is not kept */
        ck_assert((note_with(&made, "\"perturbed\" in task.json") != NULL) ==
                  (world.moved_rtol > 0));
    }
}
END_TEST

#define DIVIDES(divisor)                                                                           \
    "void part(const double *x, double *y, int n) { double s = 1; for (int i = 0; i < n; i++) "    \
    "y[i] = x[i] / " divisor "; }"

/* A function of float64 that compares no values is tried on inputs of another last place. */
START_TEST(a_function_that_moves_far_is_held_against_its_moves)
{
    static const char *given[] = {"1e-9"};
    static const struct {
        const char *source;
        size_t n_given;
        struct world world;
        bool is_perturbed;
        double rtol; /* at the last lint */
        int n_lints;
    } rows[] = {
        {DIVIDES("s"), 0, {.is_moved = true}, true, 1e-11, 2},
        {DIVIDES("(2 * y[i])"), 0, {.is_moved = true}, true, 1e-11, 2},
        {DIVIDES("s"), 0, {.is_moved = true, .is_moved_refused = true}, false, 1e-11, 2},
        {DIVIDES("s"), 0, {.is_moved = false}, false, 1e-9, 1},
        {DIVIDES("s"), 1, {.is_moved = true}, false, 1e-9, 1}, /* a tolerance was given */
        {DIVIDES("(double)n"), 0, {.is_moved = true}, true, 1e-11, 2},
        {DIVIDES("x[i / 2]"), 0, {.is_moved = true}, true, 1e-11, 2},
        /* a border between values, or a rounding */
        {DIVIDES("s; if (x[0] > 1) y[0] = 2"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("s; y[0] = x[0] >= x[1] ? 1 : 2"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("s; y[0] = x[0] == s"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("s; y[0] = x[0] < 3"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("s; while (s > 2.5) s *= 0.5"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("(double)(int)(s * 8)"), 0, {.is_moved = true}, false, 1e-9, 1},
        {DIVIDES("s; if (n > 4 && i != 3) y[0] = s"), 0, {.is_moved = true}, true, 1e-11, 2},
        {VECTOR, 0, {.is_moved = true}, false, 1e-4, 1},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct world world = rows[i].world;
        struct hone_task_new made;
        const char *size = "n=777";
        ck_assert(make_of(&(struct hone_task_new_options){.source = rows[i].source,
                                                          .sizes = {&size, 1},
                                                          .tolerances = {given, rows[i].n_given}},
                          &world, pool, &made));
        ck_assert_msg(world.n_lints == rows[i].n_lints, "row %zu: %d", i, world.n_lints);
        ck_assert_msg(world.rtol == rows[i].rtol, "row %zu: %g", i, world.rtol);
        ck_assert_msg((note_with(&made, "to 1e-11") != NULL) == rows[i].is_perturbed, "row %zu", i);
    }
}
END_TEST

/* What did not help at larger sizes is no part of the pack with smaller ones. */
START_TEST(smaller_sizes_start_anew)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct world world = {
        .is_wrong = true, .power = 1, .is_off = true, .is_far = true, .off_elements = 1e5};
    struct hone_task_new made;
    ck_assert(make_of(&(struct hone_task_new_options){.source = VECTOR}, &world, pool, &made));
    ck_assert(world.moved_rtol > 0 && !world.is_perturbed);
    ck_assert_ptr_null(note_with(&made, "perturbed"));
    ck_assert_ptr_nonnull(note_with(&made, "smaller than a timing should have"));
    ck_assert_int_eq(world.n_lints, 4);
}
END_TEST

/* What is guessed has to be legal. */
START_TEST(guesses_obey_what_was_said)
{
    static const char *constraints[] = {"r <= 5", "n % 32 == 0", "n >= m"};
    static const char source[] =
        "void win(const float *x, float *y, int m, int n, int r) { for (int i = 0; i < m; i++) for "
        "(int j = 0; j < n; j++) { float s = 0; for (int k = 0; k < r; k++) s += x[i * n + j] * k; "
        "y[i * n + j] = s; } }";
    for (size_t i = 0; i < HONE_COUNTOF(constraints); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        char root[] = "/tmp/hone-sizes-test-XXXXXX";
        struct hone_err err = HONE_ERR_INIT;
        struct hone_task_new made;
        ck_assert_ptr_nonnull(mkdtemp(root));
        const struct hone_task_new_options options = {.source = source,
                                                      .constraints = {&constraints[i], 1},
                                                      .dir =
                                                          hone_pool_printf(pool, "%s/pack", root)};
        ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s: %s", constraints[i],
                      err.message);
        HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
        ck_assert_msg(hone_task_load(options.dir, &task, &err) == 0, "%s: %s", constraints[i],
                      err.message);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

UNIT_MAIN("task_sizes", a_refused_function_is_held_against_its_moves,
          a_function_that_moves_far_is_held_against_its_moves, a_refused_tolerance_gives_way,
          smaller_sizes_start_anew, guesses_obey_what_was_said,
          what_is_refused_is_tried_at_smaller_sizes, sizes_follow_the_time_of_a_call,
          time_may_not_follow_the_size, sizes_that_were_given_stay, a_wrong_baseline_is_not_timed)
