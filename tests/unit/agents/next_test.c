/* SPDX-License-Identifier: Apache-2.0 */
/* What a search does next, by a table of what it knows and sees. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/search/next.h"

static const struct hone_rewrite *find_none(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

struct situation { /* of the best version, node 1, and of the process; zero: a plain search */
    int n_since_best;
    double value;
    bool is_decided, is_swept, is_tuned; /* is_tuned: it has tunables */
    double percent_of_bound;
    int64_t decide_ms;
    bool has_no_version, is_alone, is_capped; /* is_alone: the baseline is */
    struct hone_closing closing;
    struct hone_outlook o;
};

static struct hone_decision next_of(const struct situation *x, struct hone_pool *pool)
{
    struct hone_state *st = hone_pool_alloc(pool, sizeof(*st));
    struct hone_outlook o = x->o;
    hone_state_init(st, pool, find_none, NULL);
    o.state = st;
    o.target = o.target ? o.target : "cpu";
    o.closing = &x->closing;
    o.may_confirm = o.may_look = !x->is_capped;
    if (x->has_no_version)
        return hone_next(&o);
    hone_tree_add(&st->tree, HONE_NO_NODE, "int a;", NULL, 0, 0.01);
    if (x->is_alone)
        return hone_next(&o);
    struct hone_node *best = hone_tree_add(&st->tree, 0, "int b;", NULL, x->value, 0.01);
    best->is_decided = x->is_decided;
    best->is_swept = x->is_swept;
    best->n_tunables = x->is_tuned;
    if (x->percent_of_bound > 0)
        best->features.v[HONE_F_PERCENT_OF_BOUND] =
            (struct hone_feature){true, x->percent_of_bound};
    hone_tree_update_best(&st->tree);
    st->tree.n_since_best = x->n_since_best;
    st->decide_ms = x->decide_ms;
    o.look_ms = o.look_ms ? o.look_ms : 500;
    return hone_next(&o);
}

/* Each row differs from one that does otherwise by one thing. */
static const struct {
    struct situation x;
    enum hone_next next;
    enum hone_stop_reason why;
} cases[] = {
    {{.value = 0.1}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.1, .o.wants_stop = true}, HONE_NEXT_CLOSE, HONE_STOP_STOPPED},
    {{.value = 0.1, .o.over = HONE_STOP_BUDGET_DISK}, HONE_NEXT_CLOSE, HONE_STOP_BUDGET_DISK},
    {{.value = 0.1, .o.over = HONE_STOP_BUDGET_DISK, .o.has_submission = true},
     HONE_NEXT_CLOSE,
     HONE_STOP_BUDGET_DISK},
    {{.value = 0.1, .o.has_submission = true}, HONE_NEXT_SUBMISSION, HONE_STOP_NONE},
    {{.value = 0.1, .n_since_best = 24}, HONE_NEXT_CLOSE, HONE_STOP_PLATEAU},
    {{.value = 0.1, .n_since_best = 24, .o.plateau = -1}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.1, .n_since_best = 3, .o.plateau = 3}, HONE_NEXT_CLOSE, HONE_STOP_PLATEAU},
    /* a plateau takes what was begun */
    {{.value = 0.1, .n_since_best = 24, .o.has_submission = true},
     HONE_NEXT_SUBMISSION,
     HONE_STOP_PLATEAU},
    {{.value = 0.1, .n_since_best = 24, .o.has_ahead = true}, HONE_NEXT_ANSWER, HONE_STOP_PLATEAU},
    {{.value = 0.1, .n_since_best = 24, .is_tuned = true}, HONE_NEXT_SWEEP, HONE_STOP_PLATEAU},
    {{.value = 0.1, .n_since_best = 24, .o.is_external = true}, HONE_NEXT_WAIT, HONE_STOP_NONE},
    {{.value = 0.1, .o.is_external = true}, HONE_NEXT_WAIT, HONE_STOP_NONE},
    {{.value = 0.1, .o.has_ahead = true}, HONE_NEXT_ANSWER, HONE_STOP_NONE},
    /* a sweep: late, or when steps stop paying */
    {{.value = 0.1, .is_tuned = true}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.1, .is_tuned = true, .n_since_best = 4}, HONE_NEXT_SWEEP, HONE_STOP_NONE},
    {{.value = 0.1, .is_tuned = true, .n_since_best = 2, .o.target = "cuda"},
     HONE_NEXT_SWEEP,
     HONE_STOP_NONE},
    {{.value = 0.1, .is_tuned = true, .o.budget_wall_ms = 1000, .o.elapsed_ms = 451},
     HONE_NEXT_SWEEP,
     HONE_STOP_NONE},
    {{.value = 0.1, .is_tuned = true, .is_swept = true, .n_since_best = 4},
     HONE_NEXT_PICK,
     HONE_STOP_NONE},
    /* a longer look: clearly ahead, nothing new since, and a sixth of the wall time for that */
    {{.value = 0.2}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.2, .n_since_best = 1}, HONE_NEXT_DECIDE, HONE_STOP_NONE},
    {{.value = 0.1, .n_since_best = 1}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.2, .n_since_best = 1, .is_decided = true}, HONE_NEXT_PICK, HONE_STOP_NONE},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000}, HONE_NEXT_DECIDE, HONE_STOP_NONE},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000, .decide_ms = 20},
     HONE_NEXT_PICK,
     HONE_STOP_NONE},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000, .is_capped = true},
     HONE_NEXT_PICK,
     HONE_STOP_NONE},
    {{.value = 1, .o.stop_at_speedup = 2}, HONE_NEXT_DECIDE, HONE_STOP_NONE},
    {{.value = 1, .o.stop_at_speedup = 2, .o.budget_wall_ms = 3000, .is_capped = true},
     HONE_NEXT_PICK,
     HONE_STOP_NONE},
    {{.value = 1, .o.stop_at_speedup = 2, .is_decided = true}, HONE_NEXT_CLOSE, HONE_STOP_TARGET},
    {{.value = 0.1, .percent_of_bound = 96}, HONE_NEXT_CLOSE, HONE_STOP_NEAR_ROOF},
    {{.value = 0.1, .percent_of_bound = 96, .o.stop_at_percent_of_bound = 97},
     HONE_NEXT_PICK,
     HONE_STOP_NONE},
    {{.has_no_version = true, .o.over = HONE_STOP_BUDGET_DISK}, HONE_NEXT_BASELINE, HONE_STOP_NONE},
    /* what the policy picked: ordered by a model first, where one is asked */
    {{.value = 0.1, .o.picked = HONE_PICKED_UNRANKED}, HONE_NEXT_RERANK, HONE_STOP_NONE},
    {{.value = 0.1, .o.picked = HONE_PICKED_STEP}, HONE_NEXT_TRY, HONE_STOP_NONE},
    {{.value = 0.1, .o.picked = HONE_PICKED_STOP}, HONE_NEXT_CLOSE, HONE_STOP_EXHAUSTED},
    {{.value = 0.1, .o.picked = HONE_PICKED_STOP, .is_tuned = true},
     HONE_NEXT_SWEEP,
     HONE_STOP_NONE},
};

START_TEST(the_next_thing_follows_from_what_is_known)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const struct hone_decision d = next_of(&cases[i].x, pool);
        ck_assert_msg(d.what == cases[i].next, "case %zu: %d", i, (int)d.what);
        ck_assert_msg(d.why == cases[i].why, "case %zu: %d", i, (int)d.why);
        bool has_node = d.what == HONE_NEXT_SWEEP || d.what == HONE_NEXT_DECIDE;
        ck_assert_msg(d.node == (has_node ? 1 : HONE_NO_NODE), "case %zu: %d", i, d.node);
    }
}
END_TEST

/* The end of a round. Node 0 is the baseline, 1 the best. */
static const struct {
    struct situation x;
    enum hone_next next;
    int node;
} closings[] = {
#define CLOSING(why_, n_, node_, rank_, speedup_)                                                  \
    .value = 0.5, .closing = {.why = why_,                                                         \
                              .n_confirmed = n_,                                                   \
                              .node = node_,                                                       \
                              .tried = HONE_NO_NODE,                                               \
                              .rank = rank_,                                                       \
                              .speedup = speedup_}
    {{CLOSING(HONE_STOP_PLATEAU, 0, HONE_NO_NODE, 0, 0)}, HONE_NEXT_CONFIRM, 1},
    {{CLOSING(HONE_STOP_PLATEAU, 0, HONE_NO_NODE, 0, 0), .is_capped = true}, HONE_NEXT_END, -1},
    {{CLOSING(HONE_STOP_PLATEAU, 0, HONE_NO_NODE, 0, 0), .closing.is_cut = true},
     HONE_NEXT_END,
     -1},
    {{CLOSING(HONE_STOP_PLATEAU, 0, HONE_NO_NODE, 0, 0), .o.has_submission = true},
     HONE_NEXT_CONFIRM,
     1},
    /* the best was confirmed, or another one came before it */
    {{CLOSING(HONE_STOP_PLATEAU, 1, 1, 1.4, 1.4)}, HONE_NEXT_END, -1},
    {{CLOSING(HONE_STOP_PLATEAU, 1, 2, 1.4, 1.4)}, HONE_NEXT_CONFIRM, 1},
    /* three versions, and the baseline when all of them were slower or wrong */
    {{CLOSING(HONE_STOP_PLATEAU, 2, 2, 0.9, 0.9)}, HONE_NEXT_CONFIRM, 1},
    {{CLOSING(HONE_STOP_PLATEAU, 2, HONE_NO_NODE, 0, 0)}, HONE_NEXT_CONFIRM, 1},
    {{CLOSING(HONE_STOP_PLATEAU, 2, 2, 1.4, 1.4)}, HONE_NEXT_CONFIRM, 1},
    {{CLOSING(HONE_STOP_PLATEAU, 3, 2, 0.9, 0.9)}, HONE_NEXT_CONFIRM, 0},
    {{CLOSING(HONE_STOP_PLATEAU, 3, HONE_NO_NODE, 0, 0)}, HONE_NEXT_CONFIRM, 0},
    {{CLOSING(HONE_STOP_PLATEAU, 3, 2, 1.4, 1.4)}, HONE_NEXT_END, -1},
    {{CLOSING(HONE_STOP_PLATEAU, 4, 2, 0.9, 0.9)}, HONE_NEXT_END, -1},
    /* six wrong versions are no tries */
    {{CLOSING(HONE_STOP_PLATEAU, 3, HONE_NO_NODE, 0, 0), .closing.n_wrong = 3},
     HONE_NEXT_CONFIRM,
     1},
    {{CLOSING(HONE_STOP_PLATEAU, 8, HONE_NO_NODE, 0, 0), .closing.n_wrong = 6},
     HONE_NEXT_CONFIRM,
     1},
    {{CLOSING(HONE_STOP_PLATEAU, 9, HONE_NO_NODE, 0, 0), .closing.n_wrong = 7},
     HONE_NEXT_CONFIRM,
     0},
    /* the baseline alone is not worth it */
    {{CLOSING(HONE_STOP_PLATEAU, 0, HONE_NO_NODE, 0, 0), .is_alone = true}, HONE_NEXT_END, -1},
    /* what was asked for, and not borne out */
    {{CLOSING(HONE_STOP_TARGET, 1, 1, 1.4, 1.4), .o.stop_at_speedup = 2}, HONE_NEXT_REOPEN, -1},
    {{CLOSING(HONE_STOP_TARGET, 1, 1, 2.1, 2.1), .o.stop_at_speedup = 2}, HONE_NEXT_END, -1},
    {{CLOSING(HONE_STOP_PLATEAU, 1, 1, 1.4, 1.4), .o.stop_at_speedup = 2}, HONE_NEXT_END, -1},
};

START_TEST(a_round_closes_with_confirmations)
{
    for (size_t i = 0; i < HONE_COUNTOF(closings); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const struct hone_decision d = next_of(&closings[i].x, pool);
        ck_assert_msg(d.what == closings[i].next, "case %zu: %d", i, (int)d.what);
        ck_assert_msg(d.node == closings[i].node, "case %zu: node %d", i, d.node);
        if (d.what == HONE_NEXT_END)
            ck_assert_int_eq(d.why, closings[i].x.closing.why);
    }
}
END_TEST

static void refute(struct hone_state *st, int node, const char *verdict)
{
    struct hone_event e = hone_event_new_result(HONE_KIND_CONFIRM);
    e.result.node = node;
    e.result.verdict = verdict;
    e.result.is_gain = false;
    hone_state_apply(st, &e, NULL);
}

/* The baseline is node 0. What fast math made wrong leaves the front to versions without it, but
 * what gains and was not found wrong comes before the baseline. */
START_TEST(after_wrong_fast_math_come_versions_without_it)
{
    static const char fast[] = "#pragma GCC optimize(\"fast-math\")\n";
    static const struct {
        const char *refuted; /* of nodes 1 to 4: wrong, failed, or not at all */
        int next;
    } rows[] = {{"----", 1}, {"f---", 2}, {"w---", 3}, {"wf--", 3}, {"w-f-", 2},
                {"w-w-", 2}, {"wwf-", 0}, {"-ww-", 1}, {"wwww", 0}};
    static const double values[] = {0, 4, 3, 2, -1};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_state *st = hone_pool_alloc(pool, sizeof(*st));
        const struct hone_closing c = {
            .why = HONE_STOP_PLATEAU, .node = HONE_NO_NODE, .tried = HONE_NO_NODE};
        hone_state_init(st, pool, find_none, NULL);
        for (int k = 0; k < 5; k++) {
            const char *text =
                hone_pool_printf(pool, "%sint a%d;", k == 1 || k == 2 ? fast : "", k);
            hone_tree_add(&st->tree, k ? 0 : HONE_NO_NODE, text, NULL, values[k], 0.01);
            st->at[k] = k + 1;
            if (k > 0 && rows[i].refuted[k - 1] != '-')
                refute(st, k, rows[i].refuted[k - 1] == 'w' ? "incorrect" : "failed");
        }
        const struct hone_outlook o = {
            .state = st, .closing = &c, .target = "cpu", .may_confirm = true};
        ck_assert_int_eq(hone_next(&o).what, HONE_NEXT_CONFIRM);
        ck_assert_msg(hone_next(&o).node == rows[i].next, "row %zu: %d", i, hone_next(&o).node);
    }
}
END_TEST

START_TEST(what_may_be_claimed_comes_before_a_larger_figure)
{
    const struct hone_closing none = {.node = HONE_NO_NODE},
                              claimed = {.node = 1, .claim = HONE_CLAIM_FULL, .rank = 15.8},
                              doubted = {.node = 1, .claim = HONE_CLAIM_DOUBTED, .rank = 15.8};
    ck_assert(hone_closing_improves(&none, HONE_CLAIM_NONE, 0.5));
    ck_assert(!hone_closing_improves(&claimed, HONE_CLAIM_NONE, 25.4));
    ck_assert(!hone_closing_improves(&claimed, HONE_CLAIM_DOUBTED, 25.4));
    ck_assert(hone_closing_improves(&claimed, HONE_CLAIM_FULL, 25.4));
    ck_assert(!hone_closing_improves(&claimed, HONE_CLAIM_FULL, 15.8));
    ck_assert(hone_closing_improves(&doubted, HONE_CLAIM_FULL, 2));
    ck_assert(!hone_closing_improves(&doubted, HONE_CLAIM_NONE, 25.4));
}
END_TEST

UNIT_MAIN("next", what_may_be_claimed_comes_before_a_larger_figure,
          the_next_thing_follows_from_what_is_known, a_round_closes_with_confirmations,
          after_wrong_fast_math_come_versions_without_it)
