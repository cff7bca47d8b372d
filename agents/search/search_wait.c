/* SPDX-License-Identifier: Apache-2.0 */
/* The wall cap of a search and what it waits for. What cannot fit is not begun, by the one estimate
 * of pace.h; a forecast is told after the baseline. What takes longer than its estimate is
 * stopped at the cap, all but the baseline; a confirmation is timed shorter before that. Waits for
 * the timing lease take nothing of the cap: their length and who holds the lease are said while they last and in the result. */
#include "agents/search/search_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/clock.h"

#define LEAST_WAIT_MS 1000
#define TOLD_ROUND_MS 5000
#define FINISH_SHARE  19 / 20             /* of what is left: an end has its work, too */
#define WAIT_SLICE_NS HONE_NS_PER_S       /* until the next word */
#define WAIT_GAP_NS   (3 * HONE_NS_PER_S) /* between two words: these were two waits */
#define TELL_EVERY_NS (10 * HONE_NS_PER_S)
#define WAITING       "waiting for "
#define HELD_BY       "held by "

int64_t hone_search_now_ns(const struct hone_search *s)
{
    const struct hone_search_options *o = s->options;
    return o->now_ns ? o->now_ns(o->now_arg) : hone_now_ns();
}

int64_t hone_search_elapsed_ms(const struct hone_search *s)
{
    return s->elapsed_before_ms + (hone_search_now_ns(s) - s->start_ns) / HONE_NS_PER_MS;
}

int64_t hone_search_left_ms(const struct hone_search *s)
{
    if (s->options->budget_wall_ms <= 0)
        return INT64_MAX;
    return hone_max_i64(0, s->options->budget_wall_ms - hone_search_elapsed_ms(s));
}

int64_t hone_search_room_ms(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    if (left == INT64_MAX)
        return left;
    int64_t kept = hone_pace_reserve_ms(&s->pace, s->options->budget_wall_ms, left);
    if (s->state.tree.best <= 0) /* there is nothing to confirm yet */
        kept = hone_min_i64(kept, left / 2);
    return hone_max_i64(0, left - kept);
}

/* ---- forecasts ---- */

static double seconds(int64_t ms)
{
    return (double)ms / 1e3;
}

/* A cap that has room: more than this one was, by what was short of it. */
static double enough_s(const struct hone_search *s, int64_t short_ms)
{
    int64_t more = s->options->budget_wall_ms + short_ms + TOLD_ROUND_MS - 1;
    return seconds(hone_max_i64(more / TOLD_ROUND_MS * TOLD_ROUND_MS, hone_pace_cap_ms(&s->pace)));
}

/* The version that a confirmation would have been of. */
static const char *best_by_short_looks(const struct hone_search *s)
{
    const struct hone_tree *tree = &s->state.tree;
    const struct hone_node *best = tree->best > 0 ? tree->nodes[tree->best] : NULL;

    if (!best || !best->commit)
        return "; nothing beat the baseline";
    return hone_pool_printf(s->pool, "; the best by short looks is %.10s, about %.3gx",
                            best->commit, exp2(best->value));
}

void hone_search_tell_cut(struct hone_search *s, int64_t ms)
{
    s->unconfirmed = hone_pool_printf(s->pool,
                                      "the confirmation was stopped at the wall after %.2g s, it "
                                      "takes longer here; --budget-wall %.0fs may have room%s",
                                      seconds(ms), enough_s(s, ms), best_by_short_looks(s));
    hone_search_tell(s, "%s", s->unconfirmed);
}

void hone_search_tell_unconfirmed(struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s), needs = hone_pace_confirm_ms(&s->pace);
    if (s->unconfirmed)
        return;
    if (hone_pace_last_confirm_ms(&s->pace) <= left) {
        if (s->state.tree.n_nodes == 1)
            s->unconfirmed = "there is nothing to confirm but the baseline itself";
        return;
    }
    s->unconfirmed = hone_pool_printf(
        s->pool,
        "a confirmation takes about %.2g s here, %.2g s were left; --budget-wall %.0fs has room%s",
        seconds(needs), seconds(left), enough_s(s, needs - left), best_by_short_looks(s));
    hone_search_tell(s, "no confirmation begins: %s", s->unconfirmed);
}

void hone_search_tell_forecast(struct hone_search *s)
{
    int64_t room = hone_search_room_ms(s), cap = s->options->budget_wall_ms;
    const struct hone_pace *p = &s->pace;
    if (room == INT64_MAX)
        return;
    long long n = (long long)(room / hone_max_i64(p->usual_ms, 1));
    double each = seconds(p->usual_ms), confirm = seconds(hone_pace_confirm_ms(p));
    if (hone_pace_reserve_ms(p, cap, hone_search_left_ms(s)) > 0)
        hone_search_tell(s,
                         "one evaluation takes about %.2g s here, a confirmation about %.2g s: "
                         "%.3g s give about %lld and a confirmation",
                         each, confirm, seconds(cap), n);
    else
        hone_search_tell(s,
                         "one evaluation takes about %.2g s here, a confirmation about %.2g s: "
                         "%.3g s are too few for a confirmation, --budget-wall %.0fs is enough",
                         each, confirm, seconds(cap), seconds(hone_pace_cap_ms(p)));
}

const char *hone_search_cost_words(struct hone_search *s, int64_t ms)
{
    return ms > 0 ? hone_pool_printf(s->pool, ", about %.2g s", seconds(ms)) : "";
}

/* ---- waits ---- */

static void note_holder(struct hone_search *s, const char *message)
{
    const char *holder = strstr(message, HELD_BY);
    if (holder)
        snprintf(s->waited_for, sizeof(s->waited_for), "%s", holder + strlen(HELD_BY));
}

/* The cap stands still meanwhile. */
static void put_off(struct hone_search_wait *wait, int64_t now)
{
    if (!wait->has_stop)
        return;
    if (wait->heard_ns == 0 || now - wait->heard_ns > WAIT_GAP_NS)
        wait->left_ns = atomic_load(&wait->stop.cancel.until_ns) - now;
    wait->heard_ns = now;
    hone_cancel_timer_move(&wait->stop, now + wait->left_ns + WAIT_SLICE_NS);
}

int hone_search_open_wait(struct hone_search *s, const struct hone_attempt *a,
                          struct hone_search_wait *wait, struct hone_err *err)
{
    bool is_look = hone_tier_of(a->tier) == HONE_TIER_DECIDE;
    int64_t left = is_look ? hone_search_room_ms(s) : hone_search_left_ms(s);
    *wait = (struct hone_search_wait){.search = s};
    if (left == INT64_MAX || s->state.tree.n_nodes == 0)
        return 0;
    int r = hone_cancel_timer_init(&wait->stop, s->ctx->cancel, hone_deadline_in_ms(left), err);
    wait->has_stop = r == 0;
    return r;
}

void hone_search_close_wait(struct hone_search_wait *wait)
{
    if (wait->has_stop)
        hone_cancel_timer_done(&wait->stop);
}

int hone_search_stopped(struct hone_search_wait *wait, int code, struct hone_err *err)
{
    struct hone_search *s = wait->search;
    if (code != HONE_E_CANCEL || !wait->has_stop || hone_cancel_is_set(s->ctx->cancel))
        return code;
    s->refused = HONE_STOP_BUDGET_WALL;
    return hone_fail_at(err, HONE_E_LIMIT, hone_stop_reason_name(s->refused),
                        "stopped at the wall");
}

int64_t hone_search_finish_ms(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    return left == INT64_MAX ? 0 : hone_max_i64(1, left * FINISH_SHARE);
}

void hone_search_on_wait(void *arg, const struct hone_progress *progress)
{
    struct hone_search_wait *wait = arg;
    const char *message = progress->message != NULL ? progress->message : "";
    int64_t now = hone_now_ns();
    if (strncmp(message, WAITING, strlen(WAITING)) != 0)
        return;
    put_off(wait, now);
    note_holder(wait->search, message);
    if (wait->told_ns > 0 && now - wait->told_ns < TELL_EVERY_NS)
        return;
    wait->told_ns = now;
    hone_search_tell(wait->search, "%s", message);
}

int64_t hone_search_count_wait(struct hone_search *s, const struct hone_report *report)
{
    const struct hone_stage_report *stages = report->stages.v;
    int64_t ms = 0;
    for (size_t i = 0; i < report->stages.n; i++)
        if (strcmp(stages[i].name, "lease") == 0)
            ms += stages[i].wall_ns / HONE_NS_PER_MS;
    s->waited_ms += ms;
    s->start_ns += ms * HONE_NS_PER_MS; /* budgets are for work */
    return ms;
}

void hone_search_tell_wait(struct hone_search *s)
{
    if (s->waited_ms >= LEAST_WAIT_MS)
        hone_search_tell(s, "waited %.3g s in all for other timings on this machine%s%s",
                         seconds(s->waited_ms), s->waited_for[0] ? ", last for " : "",
                         s->waited_for);
}
