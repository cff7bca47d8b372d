/* SPDX-License-Identifier: Apache-2.0 */
/* What holds after all requests: the fold of their records. See steer.h. */
#include <math.h>
#include <string.h>

#include "agents/search/events.h"
#include "agents/search/steer.h"

void hone_steering_init(struct hone_steering *s, const char *id, const char *target,
                        struct hone_pool *pool)
{
    *s = (struct hone_steering){.pool = pool, .id = id, .target = target};
}

static void add_note(struct hone_steering *s, const struct hone_steer_note *note)
{
    s->notes = hone_pool_grow(s->pool, s->notes, sizeof(*s->notes), s->n_notes, &s->room);
    s->notes[s->n_notes++] = *note;
}

static void take_note_away(struct hone_steering *s, uint64_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < s->n_notes; i++)
        if (s->notes[i].n != n)
            s->notes[left++] = s->notes[i];
    s->n_notes = left;
}

static void add_hint(struct hone_steering *s, const char *text)
{
    if (!*text) {
        s->n_hints = 0;
        return;
    }
    if (s->n_hints == HONE_LIMIT_HINTS)
        memmove(s->hints, s->hints + 1, --s->n_hints * sizeof(s->hints[0]));
    s->hints[s->n_hints++] = text;
}

static void on_request(struct hone_steering *s, uint64_t n, const struct hone_event_steer *e)
{
    struct hone_steer_note note = {.n = n,
                                   .strategy = hone_pool_strdup(s->pool, e->strategy),
                                   .text = hone_pool_strdup(s->pool, e->text),
                                   .by = hone_pool_strdup(s->pool, e->by)};
    if (!hone_steer_parse(e->action ? e->action : "", &note.action))
        return;
    const struct hone_strategy *strategy =
        note.strategy ? hone_strategy_find(s->target, note.strategy) : NULL;
    size_t index = strategy ? hone_strategy_index(strategy) : 0;
    switch (note.action) {
    case HONE_STEER_PAUSE:
    case HONE_STEER_RESUME:
        s->is_paused = note.action == HONE_STEER_PAUSE;
        break;
    case HONE_STEER_BAN:
    case HONE_STEER_FAVOUR:
    case HONE_STEER_UNBAN:
        if (!strategy)
            return;
        s->is_banned[index] = note.action == HONE_STEER_BAN;
        s->is_favoured[index] = note.action == HONE_STEER_FAVOUR;
        break;
    case HONE_STEER_HINT:
        add_hint(s, note.text ? note.text : "");
        break;
    case HONE_STEER_STOP:
        s->wants_stop = true;
        break;
    case HONE_N_STEER_ACTIONS:
        return;
    }
    add_note(s, &note);
    s->n_requests++;
}

static void on_submit(struct hone_steering *s, uint64_t n, const struct hone_event_submit *e)
{
    struct hone_submission *sub = hone_pool_alloc(s->pool, sizeof(*sub));
    *sub = (struct hone_submission){
        .n = n,
        .by = hone_pool_strdup(s->pool, e->by),
        .commit = hone_pool_strdup(s->pool, e->commit),
        .rewrite = hone_pool_strdup(s->pool, e->rewrite),
        .anchor = hone_pool_strdup(s->pool, e->anchor),
        .variant = e->variant,
        .strategy = hone_pool_strdup(s->pool, e->strategy),
        .source = hone_pool_strdup(s->pool, e->source),
        .expected = e->expected,
        .words = hone_pool_strdup(s->pool, e->words),
    };
    struct hone_submission **link = &s->first;
    while (*link)
        link = &(*link)->next;
    *link = sub;
    s->n_waiting++;
}

static void on_answer(struct hone_steering *s, int64_t n)
{
    for (struct hone_submission **link = &s->first; *link; link = &(*link)->next) {
        if ((*link)->n != (uint64_t)n)
            continue;
        *link = (*link)->next;
        s->n_waiting--;
        return;
    }
}

static void take_in(struct hone_steering *s, uint64_t n, const struct hone_event *e)
{
    switch (e->type) {
    case HONE_EVENT_STEER:
        on_request(s, n, &e->steer);
        break;
    case HONE_EVENT_STEERED:
        take_note_away(s, (uint64_t)e->steered.steer);
        break;
    case HONE_EVENT_SUBMIT:
        on_submit(s, n, &e->submit);
        break;
    case HONE_EVENT_RESULT:
        on_answer(s, e->result.submission);
        break;
    case HONE_EVENT_ANSWER:
        on_answer(s, e->answer.submission);
        break;
    case HONE_EVENT_END:
        s->wants_stop = false;
        break;
    case HONE_EVENT_START:
    case HONE_EVENT_RUN:
    case HONE_EVENT_STEP:
    case HONE_EVENT_LEFT_OUT:
    case HONE_EVENT_WEIGHTS:
    case HONE_N_EVENTS:
        break;
    }
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_steering *s = arg;
    struct hone_event e;
    (void)wall_ms;
    (void)err;
    if (hone_event_read(type, data, pool, &e) && strcmp(hone_event_search(&e), s->id) == 0)
        take_in(s, n, &e);
    return 0;
}

int hone_steering_read(struct hone_steering *s, struct hone_ledger *ledger, struct hone_err *err)
{
    return hone_ledger_follow_about(ledger, "search.", s->id, &s->place, on_record, s, err);
}

const char *hone_steering_words(const struct hone_steering *s, const char *strategy,
                                bool with_hints, struct hone_pool *pool)
{
    const char *out = "";
    for (size_t i = 0; i < hone_n_strategies && i < HONE_CREDIT_MAX; i++) {
        const char *id = hone_strategies[i].id;
        bool is_favoured = s->is_favoured[i] && strategy && strcmp(strategy, id) == 0 &&
                           strcmp(hone_strategies[i].target, s->target) == 0;
        if (s->is_banned[i] || is_favoured)
            out = hone_pool_printf(pool, "%s%s%s %s", out, *out ? ", " : "",
                                   s->is_banned[i] ? "ban" : "favour", id);
    }
    if (with_hints && s->n_hints > 0)
        out = hone_pool_printf(pool, "%s%shint", out, *out ? ", " : "");
    return *out ? out : NULL;
}
