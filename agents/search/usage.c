/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/usage.h"

#include <stdio.h>
#include <string.h>

#include "workspace/records.h"

/* Before anything was measured. */
#define FIRST_MS        2000
#define CONFIRM_SCREENS 5 /* a confirmation takes so many of the longest others */

void hone_usage_init(struct hone_usage *usage, const char *search_id)
{
    *usage = (struct hone_usage){.evaluations = 0};
    snprintf(usage->search, sizeof(usage->search), "%s", search_id);
}

int64_t hone_usage_expected_ms(const struct hone_usage *t, bool is_confirm)
{
    int64_t other = t->longest_ms > 0 ? t->longest_ms : FIRST_MS;
    if (!is_confirm)
        return other;
    return t->longest_confirm_ms > 0 ? t->longest_confirm_ms : CONFIRM_SCREENS * other;
}

static void note_length(struct hone_usage *t, bool is_confirm, int64_t ms)
{
    int64_t *longest = is_confirm ? &t->longest_confirm_ms : &t->longest_ms;
    *longest = hone_max_i64(*longest, ms);
}

void hone_usage_add(struct hone_usage *t, bool is_confirm, int64_t ms)
{
    t->evaluations++;
    t->round_evaluations++;
    t->device_ms += ms;
    note_length(t, is_confirm, ms);
}

/* ---- records ---- */

/* The wall clock tells how long the search worked since its last own figure. */
static void move_on(struct hone_usage *t, int64_t now_ms)
{
    if (t->mark_ms > 0)
        t->wall_ms = hone_max_i64(t->wall_ms, t->mark_wall_ms + now_ms - t->mark_ms);
}

static void mark(struct hone_usage *t, int64_t now_ms, int64_t wall_ms)
{
    t->wall_ms = t->mark_wall_ms = wall_ms;
    t->mark_ms = now_ms;
}

static void on_start(struct hone_usage *t, uint64_t n, int64_t now_ms, const struct hone_json *data)
{
    const char *caller = hone_json_get_str(data, "caller", "");
    size_t len = strlen(HONE_USAGE_CALLER);
    if (strncmp(caller, HONE_USAGE_CALLER, len) != 0 || strcmp(caller + len, t->search) != 0)
        return;
    move_on(t, now_ms);
    t->is_open_confirm = strcmp(hone_json_get_str(data, "tier", ""), "confirm") == 0;
    t->open_reserved_ms = hone_usage_expected_ms(t, t->is_open_confirm);
    t->open_start = n;
    t->open_ms = now_ms;
    snprintf(t->open, sizeof(t->open), "%s", hone_json_get_str(data, "evaluation", ""));
    t->evaluations++;
    t->round_evaluations++;
    t->device_ms += t->open_reserved_ms;
}

static void keep_unused(struct hone_usage *t, struct hone_usage_pair pair)
{
    if (t->n_unused == HONE_USAGE_UNUSED) {
        memmove(&t->unused[0], &t->unused[1], (HONE_USAGE_UNUSED - 1) * sizeof(t->unused[0]));
        t->n_unused--;
    }
    t->unused[t->n_unused++] = pair;
}

static void on_end(struct hone_usage *t, uint64_t n, int64_t now_ms, const struct hone_json *data)
{
    if (t->open[0] == '\0' || strcmp(hone_json_get_str(data, "evaluation", ""), t->open) != 0)
        return;
    int64_t ms = hone_max_i64(0, now_ms - t->open_ms);
    move_on(t, now_ms);
    t->device_ms += ms - t->open_reserved_ms;
    note_length(t, t->is_open_confirm, ms);
    t->open[0] = '\0';
    keep_unused(t, (struct hone_usage_pair){t->open_start, n});
}

/* Of the search's own records: what they say of its work so far. */
static void on_event(struct hone_usage *t, int64_t now_ms, const struct hone_event *e)
{
    switch (e->type) {
    case HONE_EVENT_START:
        t->round_evaluations = 0;
        mark(t, now_ms, 0);
        break;
    case HONE_EVENT_RUN: /* nobody worked on it before */
        mark(t, now_ms, t->wall_ms);
        break;
    case HONE_EVENT_STEERED: /* it may have been paused */
        mark(t, now_ms, e->steered.elapsed_ms);
        break;
    case HONE_EVENT_RESULT:
        mark(t, now_ms, e->result.elapsed_ms);
        t->n_unused = 0;
        t->round_evaluations = /* records of before name no search as caller */
            hone_max_i64(t->round_evaluations, e->result.evaluations);
        break;
    case HONE_EVENT_STEP:
        move_on(t, now_ms);
        break;
    case HONE_EVENT_LEFT_OUT:
    case HONE_EVENT_ANSWER:
    case HONE_EVENT_WEIGHTS:
    case HONE_EVENT_STEER:
    case HONE_EVENT_SUBMIT:
    case HONE_EVENT_END:
    case HONE_N_EVENTS:
        break;
    }
}

void hone_usage_take(struct hone_usage *t, const struct hone_usage_record *r)
{
    if (strcmp(r->type, HONE_RECORD_START) == 0)
        on_start(t, r->n, r->wall_ms, r->data);
    else if (strcmp(r->type, HONE_RECORD_END) == 0)
        on_end(t, r->n, r->wall_ms, r->data);
    else if (strcmp(hone_json_get_str(r->data, "search", ""), t->search) != 0)
        return;
    else if (r->event)
        on_event(t, r->wall_ms, r->event);
    else if (strncmp(r->type, "model.", 6) == 0)
        move_on(t, r->wall_ms);
}
