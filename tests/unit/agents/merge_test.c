/* SPDX-License-Identifier: Apache-2.0 */
/* What won on a sibling: which pairs are offered, what is expected, what the models are told. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/planner/step_mask.h"
#include "agents/planner/merge.h"
#include "agents/planner/mix.h"
#include "tests/unit/agents/model_search.h"
#include "workspace/ledger.h"

struct family { /* a parent and its children, each by a step of its own */
    struct hone_pool *pool;
    struct hone_tree *tree;
};

static void add_child(struct family *f, int parent, const char *strategy, double gain)
{
    struct hone_tree *t = f->tree;
    const char *source = hone_pool_printf(f->pool, "version %d", t->n_nodes);
    double value = (parent == HONE_NO_NODE ? 0 : t->nodes[parent]->value) + gain;
    struct hone_node *n = hone_tree_add(t, parent, source, NULL, value, 0.01);
    ck_assert_ptr_nonnull(n);
    if (parent == HONE_NO_NODE || strcmp(strategy, "tune") == 0) {
        n->rewrite = "tune";
        return;
    }
    const struct hone_edge_record e = {.parent = parent,
                                       .child = n->index,
                                       .rewrite = "r",
                                       .strategy = hone_strategy_find("cpu", strategy)};
    n->rewrite = "r";
    ck_assert_ptr_nonnull(e.strategy);
    hone_tree_note_edge(t, &e);
}

static void note_merge(struct family *f, int parent, int sibling)
{
    const struct hone_edge_record e = {.parent = parent,
                                       .child = HONE_NO_NODE,
                                       .rewrite = "llm_M",
                                       .variant = f->tree->nodes[sibling]->number,
                                       .strategy = hone_strategy_find("cpu", "M")};
    ck_assert_ptr_nonnull(e.strategy);
    hone_tree_note_edge(f->tree, &e);
}

static void begin(struct family *f)
{
    f->pool = hone_pool_new();
    f->tree = hone_pool_alloc(f->pool, sizeof(*f->tree));
    hone_tree_init(f->tree, f->pool);
    add_child(f, HONE_NO_NODE, "", 0);
}

START_TEST(certain_gains_of_siblings_are_offered)
{
    static const struct {
        const char *words, *first, *second;
        double gain[2];
        bool is_refuted, want;
    } rows[] = {
        {"both won", "C08", "G06", {1, 2}, false, true},
        {"the sibling's gain may be noise", "C08", "G06", {1, 0.03}, false, false},
        {"its own may be", "C08", "G06", {0.03, 1}, false, false},
        {"the sibling lost", "C08", "G06", {1, -1}, false, false},
        {"the same idea", "C08", "C08", {1, 1}, false, false},
        {"two free ideas", "X", "X", {1, 1}, false, true},
        {"a text written anew is no idea", "C08", "N", {1, 2}, false, false},
        {"a longer look refused the sibling", "C08", "G06", {1, 2}, true, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct family f;
        struct hone_merge m[HONE_MERGES];
        begin(&f);
        add_child(&f, 0, rows[i].first, rows[i].gain[0]);
        add_child(&f, 0, rows[i].second, rows[i].gain[1]);
        f.tree->nodes[2]->is_refuted = rows[i].is_refuted;
        size_t n = hone_merges_of(f.tree, 1, m);
        ck_assert_msg((n == 1) == rows[i].want && n <= 1, "%s: %zu", rows[i].words, n);
        if (n == 1) {
            ck_assert_int_eq(m[0].sibling, 2);
            ck_assert_double_eq_tol(m[0].gain, rows[i].gain[1], 1e-12);
        }
        ck_assert_uint_eq(hone_merges_of(f.tree, 0, m), 0);
        hone_pool_free(f.pool);
    }
}
END_TEST

START_TEST(a_pair_is_merged_once)
{
    struct family f;
    struct hone_merge m[HONE_MERGES];
    begin(&f);
    add_child(&f, 0, "C08", 1);
    add_child(&f, 0, "G06", 2);
    add_child(&f, 1, "tune", 0.5);
    ck_assert_uint_eq(hone_merges_of(f.tree, 1, m), 1);
    ck_assert_uint_eq(hone_merges_of(f.tree, 2, m), 1);
    ck_assert_uint_eq(hone_merges_of(f.tree, 3, m), 1); /* a swept version has its idea */
    ck_assert_int_eq(m[0].sibling, 2);
    note_merge(&f, 3, 2);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(hone_merges_of(f.tree, i, m), 0);
    /* another sibling is another pair; cousins are none */
    add_child(&f, 0, "C03", 3);
    add_child(&f, 4, "C15", 1);
    ck_assert_uint_eq(hone_merges_of(f.tree, 1, m), 1);
    ck_assert_int_eq(m[0].sibling, 4);
    ck_assert_uint_eq(hone_merges_of(f.tree, 5, m), 0);
    hone_pool_free(f.pool);
}
END_TEST

START_TEST(the_largest_gains_are_offered)
{
    static const char *const strategies[] = {"C03", "C04", "C05", "C06", "C07"};
    static const double gains[] = {0.5, 2, 1, 3, 0.25};
    struct family f;
    struct hone_merge m[HONE_MERGES];
    begin(&f);
    add_child(&f, 0, "C08", 1);
    for (size_t i = 0; i < HONE_COUNTOF(gains); i++) {
        add_child(&f, 0, strategies[i], gains[i]);
        size_t n = hone_merges_of(f.tree, 1, m);
        ck_assert_uint_eq(n, i + 1 < HONE_MERGES ? i + 1 : HONE_MERGES);
    }
    ck_assert_int_eq(m[0].sibling, 5);
    ck_assert_int_eq(m[1].sibling, 3);
    hone_pool_free(f.pool);
}
END_TEST

START_TEST(what_is_expected_of_a_merge_is_its_own)
{
    struct hone_credit credit;
    const struct hone_strategy *merge = hone_strategy_find("cpu", "M"),
                               *other = hone_strategy_find("cpu", "C08");
    const struct hone_rewrite r = {.name = "r", .strategy = "M"};
    hone_credit_init(&credit);
    struct hone_action actions[3] = {
        {.rewrite = &r, .strategy = merge, .boost = 1, .sibling_gain = 1.5, .sibling = 2},
        {.rewrite = &r, .strategy = merge, .boost = 1, .sibling_gain = 0.5, .sibling = 3},
        {.rewrite = &r, .strategy = other, .boost = 1}};
    hone_score_actions(&credit, HONE_N_CLASSES, actions, 3);
    double gain = 0, less = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += actions[i].prior;
        if (actions[i].sibling == 2) {
            gain = actions[i].prior;
            ck_assert_double_eq_tol(actions[i].low, -1.5, 1e-12);
            ck_assert_double_eq_tol(actions[i].gain, 0, 1e-12);
            ck_assert_double_eq_tol(actions[i].high, 1.35, 1e-12);
            ck_assert_double_eq_tol(actions[i].positive, 0.405, 1e-12);
            ck_assert_double_lt(actions[i].utility, 0.405); /* the chance that it is done */
        }
        less = actions[i].sibling == 3 ? actions[i].prior : less;
    }
    ck_assert_double_gt(gain, less);
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    /* a planning model was asked before the pair came about */
    struct hone_mix mix;
    hone_mix_init(&mix);
    const struct hone_step_order o = {.order = {1}, .n_order = 1};
    hone_step_order_apply(&o, &mix, actions, 2);
    actions[2].p_llm = actions[2].w_llm = 0;
    hone_step_order_extend(actions, 3);
    ck_assert_double_gt(actions[2].p_llm, 0);
    ck_assert_double_le(actions[2].p_llm, actions[0].p_llm);
    ck_assert_double_eq(actions[2].w_llm, mix.llm);
    ck_assert_double_eq_tol(actions[0].p_llm + actions[1].p_llm + actions[2].p_llm, 1, 1e-9);
    hone_score_actions(&credit, HONE_N_CLASSES, actions, 3);
    ck_assert_double_eq_tol(actions[0].prior + actions[1].prior + actions[2].prior, 1, 1e-9);
}
END_TEST

/* ---- searches ---- */

#define HEAD      "void softmax(const float *X, float *Y, int64_t M, int64_t N)\\n"
#define ADD(word) "printf '@@SEARCH\\n" HEAD "@@WITH\\nstatic int " word ";\\n" HEAD "@@END\\n'"
/* Two steps from the baseline win, and what takes one over to the other wins more; the planner
 * leaves the order to the rules. */
#define TWO_WIN(second)                                                                            \
    "if grep -q '^Legal steps' '@/prompt'$n; then echo no\n"                                       \
    "elif grep -q '^Step M' '@/prompt'$n; then echo $n >>'@/merges'; " ADD(                        \
        "both") "\n"                                                                               \
                "elif grep -q '| static int' '@/prompt'$n; then echo no\n"                         \
                "elif [ -e '@/first' ]; then " second                                              \
                "; else touch '@/first'; " ADD("first") "; fi"

static const char two_win_script[] = "{\"match\":\"static int both\",\"ns\":100000}\n"
                                     "{\"match\":\"static int first\",\"ns\":400000}\n"
                                     "{\"match\":\"static int second\",\"ns\":500000}\n"
                                     "{\"match\":\"void\",\"ns\":1000000}\n";

static void open_two(struct fixture *f, const char *model_script)
{
    open_fixture(f, model_script);
    put(f, "fake.jsonl", two_win_script, 0600);
    hone_executor_free(f->executor);
    ck_assert_int_eq(hone_exec_fake_new(in_dir(f, "fake.jsonl"), &f->executor, NULL), 0);
    f->app.executor = f->executor;
}

static int search_two(struct fixture *f, const char *coder, const char *planner, int64_t n)
{
    const struct hone_search_options o = {.task = "softmax",
                                          .coder = coder,
                                          .planner = planner,
                                          .repairs = -1,
                                          .budget_evaluations = n,
                                          .seed = 5};
    f->err = (struct hone_err)HONE_ERR_INIT;
    return hone_search_run(&f->ctx, &o, NULL, NULL, &f->result, &f->err);
}

static int n_merge_steps(struct fixture *f)
{
    int n = 0;
    for (int i = 1; i <= n_asked(f); i++)
        n += strstr(get(f, hone_pool_printf(f->pool, "prompt%d", i)), "\nStep M:") != NULL;
    return n;
}

START_TEST(a_merge_is_asked_for_once)
{
    struct fixture f;
    open_two(&f, TWO_WIN(ADD("second")));
    /* in pieces: the later ones know the pair from the records, and ask a model that plans */
    ck_assert_msg(search_two(&f, "llm", NULL, 4) == 0, "%s", f.err.message);
    ck_assert_msg(search_two(&f, "llm", NULL, 6) == 0, "%s", f.err.message);
    ck_assert_msg(search_two(&f, "llm", "llm", 16) == 0, "%s", f.err.message);
    ck_assert_int_eq(n_merge_steps(&f), 1);
    ck_assert_msg(f.result.speedup > 9, "%g", f.result.speedup);
    int n = (int)strtol(get(&f, "merges"), NULL, 10), n_offered = 0;
    const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", n));
    bool is_first = strstr(prompt, "| static int first;") != NULL;
    ck_assert(is_first || strstr(prompt, "| static int second;"));
    /* the sibling's figures and diff, each as data, the source untouched */
    const char *brought = strstr(prompt, "what its step brought there:\n<<DATA ");
    const char *diff = strstr(prompt, "apply its idea, not its lines:\n<<DATA ");
    ck_assert(brought && diff && brought < diff);
    ck_assert_ptr_nonnull(strstr(brought, is_first ? ": 2x (1.96 to 2.04) the version before it; "
                                                     "screened on all timed sizes\n"
                                                   : ": 2.5x (2.45 to 2.55) the version before it; "
                                                     "screened on all timed sizes\n"));
    ck_assert_ptr_nonnull(
        strstr(diff, is_first ? "\n+static int second;\n" : "\n+static int first;\n"));
    ck_assert_ptr_null(strstr(prompt, "\nRegion: "));
    for (int i = 1; i <= n_asked(&f); i++) {
        const char *list = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        n_offered += strstr(list, ": M merge what won on a sibling (") != NULL;
    }
    ck_assert_int_ge(n_offered, 1); /* to the planning model */
    close_fixture(&f);
}
END_TEST

/* Parents, steps and values of a search's expansions, in their order. */
struct shape {
    const char *name;
    struct hone_pool *pool;
    char search[64];
    const char *text;
};

static int add_shape(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct shape *s = arg;
    const char *id = hone_json_get_str(data, "search", "");
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.start") == 0 &&
        strcmp(hone_json_get_str(data, "name", ""), s->name) == 0)
        snprintf(s->search, sizeof(s->search), "%s", id);
    if (strcmp(type, "search.result") == 0 && strcmp(id, s->search) == 0)
        s->text = hone_pool_printf(
            s->pool, "%s%s %lld %lld %s %d %.17g\n", s->text, hone_json_get_str(data, "kind", ""),
            (long long)hone_json_get_i64(data, "parent", -1),
            (long long)hone_json_get_i64(data, "node", -1), hone_json_get_str(data, "rewrite", "-"),
            (int)hone_json_get_i64(data, "variant", 0), hone_json_get_f64(data, "value", 0));
    return 0;
}

static const char *shape_of(struct fixture *f, const char *name)
{
    struct shape s = {.name = name, .pool = f->pool, .text = ""};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f->ws), 0, add_shape, &s, NULL), 0);
    return s.text;
}

START_TEST(a_recorded_merge_is_replayed)
{
    struct fixture f;
    open_two(&f, TWO_WIN(ADD("second")));
    ck_assert_msg(search(&f, "llm", "sh", "one", 40) == 0, "%s", f.err.message);
    ck_assert_int_ge(n_merge_steps(&f), 1);
    int asked = n_asked(&f);
    ck_assert_msg(search(&f, "llm", "again", "two", 40) == 0, "%s", f.err.message);
    ck_assert_int_eq(n_asked(&f), asked);
    ck_assert_ptr_nonnull(strstr(shape_of(&f, "one"), " llm_M "));
    ck_assert_str_eq(shape_of(&f, "one"), shape_of(&f, "two"));
    close_fixture(&f);
}
END_TEST

START_TEST(a_diff_is_bounded)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        struct fixture f;
        open_two(&f, TWO_WIN("cat '@/second'"));
        HONE_CLEANUP(hone_buf_done) struct hone_buf answer = HONE_BUF_INIT;
        hone_buf_str(&answer, "@@FILE\n#include <stdint.h>\nstatic int second;\n");
        for (unsigned i = 0; i < (is_long ? HONE_LIMIT_MERGE_BYTES / 16 + 1 : 16); i++)
            hone_buf_printf(&answer, "int line%09u;\n", i);
        hone_buf_str(&answer, "void softmax(const float *X, float *Y, int64_t M, int64_t N) {}\n"
                              "@@END\n");
        put(&f, "second", answer.data, 0600);
        ck_assert_msg(search_two(&f, "llm", NULL, 16) == 0, "%s", f.err.message);
        ck_assert_int_eq(n_merge_steps(&f), 1);
        int n = (int)strtol(get(&f, "merges"), NULL, 10);
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", n));
        const char *diff = strstr(prompt, "not its lines:\n<<DATA ");
        ck_assert_ptr_nonnull(diff);
        const char *end =
            strstr(diff, hone_pool_printf(f.pool, "<DATA %.12s>>", strstr(diff, "<<DATA ") + 7));
        ck_assert_ptr_nonnull(end);
        ck_assert_int_le(end - diff, HONE_LIMIT_MERGE_BYTES + 128);
        if (!strstr(prompt, "| static int second;")) {
            const char *cut = strstr(diff, "bytes left out");
            ck_assert_int_eq(cut && cut < end, is_long);
        }
        close_fixture(&f);
    }
}
END_TEST

struct steps {
    int n_legal; /* merges that were offered to the policy */
    int n_won;   /* steps from the baseline that gained */
};

static int count_steps(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                       const struct hone_json *data, struct hone_err *err)
{
    struct steps *s = arg;
    (void)n;
    (void)wall_ms;
    (void)err;
    s->n_won += strcmp(type, "search.result") == 0 && hone_json_get_i64(data, "parent", -1) == 0 &&
                strcmp(hone_json_get_str(data, "kind", ""), "expand") == 0 &&
                hone_json_get_bool(data, "is_gain", false);
    if (strcmp(type, "search.step") != 0)
        return 0;
    const struct hone_json *row = hone_json_first(hone_json_get(data, "legal"));
    for (; row; row = hone_json_next(row))
        s->n_legal += strcmp(hone_json_get_str(row, "strategy", ""), "M") == 0;
    return 0;
}

START_TEST(only_coders_with_a_model_merge)
{
    static const char *const coders[] = {"rules", "auto"};
    for (size_t i = 0; i < HONE_COUNTOF(coders); i++) {
        struct fixture f;
        struct steps steps = {.n_legal = 0};
        open_fixture(&f, "echo no");
        /* whatever a rule does wins */
        put(&f, "fake.jsonl",
            "{\"match\":\"omp parallel\",\"ns\":200000}\n"
            "{\"match\":\"#pragma\",\"ns\":300000}\n{\"match\":\"void\",\"ns\":1000000}\n",
            0600);
        hone_executor_free(f.executor);
        ck_assert_int_eq(hone_exec_fake_new(in_dir(&f, "fake.jsonl"), &f.executor, NULL), 0);
        f.app.executor = f.executor;
        const struct hone_search_options o = {.task = "softmax",
                                              .coder = coders[i],
                                              .policy = "random",
                                              .plateau = -1,
                                              .repairs = -1,
                                              .budget_evaluations = 24,
                                              .seed = 5};
        ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                      f.err.message);
        ck_assert_int_eq(
            hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_steps, &steps, NULL), 0);
        ck_assert_int_ge(steps.n_won, 2);
        ck_assert_int_eq(steps.n_legal > 0, i == 1);
        close_fixture(&f);
    }
}
END_TEST

UNIT_MAIN("merge", certain_gains_of_siblings_are_offered, a_pair_is_merged_once,
          the_largest_gains_are_offered, what_is_expected_of_a_merge_is_its_own,
          a_merge_is_asked_for_once, a_recorded_merge_is_replayed, a_diff_is_bounded,
          only_coders_with_a_model_merge)
