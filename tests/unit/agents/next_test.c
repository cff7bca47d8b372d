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
    struct hone_outlook o;
};

static enum hone_next next_of(const struct situation *x, struct hone_pool *pool, const char **why)
{
    struct hone_state *st = hone_pool_alloc(pool, sizeof(*st));
    struct hone_outlook o = x->o;
    hone_state_init(st, pool, find_none, NULL);
    hone_tree_add(&st->tree, HONE_NO_NODE, "int a;", NULL, 0, 0.01);
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
    o.state = st;
    o.look_ms = o.look_ms ? o.look_ms : 500;
    o.room_ms = o.room_ms ? o.room_ms : INT64_MAX;
    o.target = o.target ? o.target : "cpu";
    return hone_next(&o, why);
}

/* Each row differs from one that does otherwise by one thing. */
static const struct {
    struct situation x;
    enum hone_next next;
    const char *why;
} cases[] = {
    {{.value = 0.1}, HONE_NEXT_TRY, NULL},
    {{.value = 0.1, .o.wants_stop = true}, HONE_NEXT_STOP, "stopped"},
    {{.value = 0.1, .o.over = "budget_disk"}, HONE_NEXT_STOP, "budget_disk"},
    {{.value = 0.1, .o.over = "budget_disk", .o.has_submission = true},
     HONE_NEXT_STOP,
     "budget_disk"},
    {{.value = 0.1, .o.has_submission = true}, HONE_NEXT_SUBMISSION, NULL},
    {{.value = 0.1, .n_since_best = 24}, HONE_NEXT_STOP, "plateau"},
    {{.value = 0.1, .n_since_best = 24, .o.plateau = -1}, HONE_NEXT_TRY, NULL},
    {{.value = 0.1, .n_since_best = 3, .o.plateau = 3}, HONE_NEXT_STOP, "plateau"},
    /* a plateau takes what was begun */
    {{.value = 0.1, .n_since_best = 24, .o.has_submission = true}, HONE_NEXT_SUBMISSION, "plateau"},
    {{.value = 0.1, .n_since_best = 24, .o.has_ahead = true}, HONE_NEXT_ANSWER, "plateau"},
    {{.value = 0.1, .n_since_best = 24, .is_tuned = true}, HONE_NEXT_SWEEP, "plateau"},
    {{.value = 0.1, .n_since_best = 24, .o.is_external = true}, HONE_NEXT_WAIT, NULL},
    {{.value = 0.1, .o.is_external = true}, HONE_NEXT_WAIT, NULL},
    {{.value = 0.1, .o.has_ahead = true}, HONE_NEXT_ANSWER, NULL},
    /* a sweep: late, or when steps stop paying */
    {{.value = 0.1, .is_tuned = true}, HONE_NEXT_TRY, NULL},
    {{.value = 0.1, .is_tuned = true, .n_since_best = 4}, HONE_NEXT_SWEEP, NULL},
    {{.value = 0.1, .is_tuned = true, .n_since_best = 2, .o.target = "cuda"},
     HONE_NEXT_SWEEP,
     NULL},
    {{.value = 0.1, .is_tuned = true, .o.budget_wall_ms = 1000, .o.elapsed_ms = 451},
     HONE_NEXT_SWEEP,
     NULL},
    {{.value = 0.1, .is_tuned = true, .is_swept = true, .n_since_best = 4}, HONE_NEXT_TRY, NULL},
    /* a longer look: clearly ahead, nothing new since, and a sixth of the wall time for that */
    {{.value = 0.2}, HONE_NEXT_TRY, NULL},
    {{.value = 0.2, .n_since_best = 1}, HONE_NEXT_DECIDE, NULL},
    {{.value = 0.1, .n_since_best = 1}, HONE_NEXT_TRY, NULL},
    {{.value = 0.2, .n_since_best = 1, .is_decided = true}, HONE_NEXT_TRY, NULL},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000}, HONE_NEXT_DECIDE, NULL},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000, .decide_ms = 20},
     HONE_NEXT_TRY,
     NULL},
    {{.value = 0.2, .n_since_best = 1, .o.budget_wall_ms = 3000, .o.room_ms = 499},
     HONE_NEXT_TRY,
     NULL},
    {{.value = 1, .o.stop_at_speedup = 2}, HONE_NEXT_DECIDE, NULL},
    {{.value = 1, .o.stop_at_speedup = 2, .o.budget_wall_ms = 3000, .o.room_ms = 499},
     HONE_NEXT_TRY,
     NULL},
    {{.value = 1, .o.stop_at_speedup = 2, .is_decided = true}, HONE_NEXT_STOP, "target"},
    {{.value = 0.1, .percent_of_bound = 96}, HONE_NEXT_STOP, "near_roof"},
    {{.value = 0.1, .percent_of_bound = 96, .o.stop_at_percent_of_bound = 97}, HONE_NEXT_TRY, NULL},
    {{.value = 0.1, .o.is_exhausted = true}, HONE_NEXT_STOP, "exhausted"},
    {{.value = 0.1, .o.is_exhausted = true, .is_tuned = true}, HONE_NEXT_SWEEP, NULL},
};

START_TEST(the_next_thing_follows_from_what_is_known)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *why = "unset";
        enum hone_next next = next_of(&cases[i].x, pool, &why);
        ck_assert_msg(next == cases[i].next, "case %zu: %d", i, (int)next);
        ck_assert_msg((why == NULL) == (cases[i].why == NULL) &&
                          (!why || strcmp(why, cases[i].why) == 0),
                      "case %zu: %s", i, why ? why : "nothing");
    }
}
END_TEST

UNIT_MAIN("next", the_next_thing_follows_from_what_is_known)
