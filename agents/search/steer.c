/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, submissions and their fold. See steer.h. */
#include "agents/search/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agents/search/events.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/utf8.h"

#define RECORDS         "search."
#define LOCK_WAIT_MS    5000
#define POLL_MS         50
#define LOOK_EVERY_MS   1000 /* for whether the search still runs */
#define BY_BYTES        40
#define NAMES_SHOWN     12
#define WORDS_MAX_BYTES 200

const char *const hone_steer_actions[HONE_N_STEER_ACTIONS + 1] = {
    [HONE_STEER_PAUSE] = "pause",   [HONE_STEER_RESUME] = "resume", [HONE_STEER_BAN] = "ban",
    [HONE_STEER_FAVOUR] = "favour", [HONE_STEER_UNBAN] = "unban",   [HONE_STEER_HINT] = "hint",
    [HONE_STEER_STOP] = "stop",
};

bool hone_steer_parse(const char *word, enum hone_steer_action *ret)
{
    for (int i = 0; i < HONE_N_STEER_ACTIONS; i++) {
        if (strcmp(hone_steer_actions[i], word) == 0) {
            *ret = (enum hone_steer_action)i;
            return true;
        }
    }
    return false;
}

const char *hone_steer_by(const char *caller, struct hone_pool *pool)
{
    char *by = hone_pool_printf(pool, "%.*s", BY_BYTES, caller && *caller ? caller : "unknown");
    for (char *c = by; *c; c++)
        if (*c < 0x20 || *c > 0x7e || *c == '<' || *c == '>')
            *c = '?';
    return by;
}

/* ---- which search ---- */

struct start { /* an id and the newest options under it */
    struct hone_steer_search search;
    struct start *next; /* older */
};

struct finder {
    struct hone_pool *pool;
    const char *wanted;
    struct start *newest;
    const char *last_id; /* of those that match */
};

static struct start *start_of(const struct finder *f, const char *id)
{
    struct start *s = f->newest;
    while (s && strcmp(s->search.id, id) != 0)
        s = s->next;
    return s;
}

static void on_start(struct finder *f, const struct hone_event_start *e)
{
    struct hone_pool *pool = f->pool;
    struct start *s = start_of(f, e->search ? e->search : "");
    if (!s) {
        s = hone_pool_alloc(pool, sizeof(*s));
        s->next = f->newest;
        f->newest = s;
    }
    const struct hone_search_options o = hone_search_options_of(e, pool);
    s->search = (struct hone_steer_search){.id = hone_pool_strdup(pool, e->search ? e->search : ""),
                                           .name = o.name ? o.name : "",
                                           .task = o.task,
                                           .target = o.target,
                                           .options = o};
}

static int on_find(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                   const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct finder *f = arg;
    struct hone_event e;
    (void)n;
    (void)wall_ms;
    (void)err;
    if (!hone_event_read(type, data, pool, &e))
        return 0;
    if (e.type == HONE_EVENT_START)
        on_start(f, &e.start);
    struct start *s = start_of(f, hone_event_search(&e));
    if (!s)
        return 0;
    if (e.type == HONE_EVENT_END)
        s->search.has_ended = true;
    if (e.type != HONE_EVENT_START && e.type != HONE_EVENT_RUN)
        return 0;
    if (strcmp(s->search.name, f->wanted) == 0 || strcmp(s->search.id, f->wanted) == 0)
        f->last_id = s->search.id;
    return 0;
}

static bool is_shown_before(const struct finder *f, const struct start *s)
{
    for (const struct start *other = f->newest; other != s; other = other->next)
        if (strcmp(other->search.name, s->search.name) == 0)
            return true;
    return false;
}

static int not_found(const struct finder *f, struct hone_err *err)
{
    const char *names = "";
    int n = 0;
    for (const struct start *s = f->newest; s && n < NAMES_SHOWN; s = s->next) {
        if (is_shown_before(f, s))
            continue;
        names = hone_pool_printf(f->pool, "%s%s%s", names, n++ > 0 ? ", " : "", s->search.name);
    }
    if (n == 0)
        return hone_fail_at(err, HONE_E_NOT_FOUND, "search",
                            "this workspace has no search yet; search_start, or hone search TASK");
    return hone_fail_at(err, HONE_E_NOT_FOUND, "search", "no search '%.64s'; there are: %.250s",
                        f->wanted, names);
}

/* Whoever runs a search of that name holds an exclusive lock on its file. */
bool hone_steer_is_running(struct hone_workspace *ws, const char *name)
{
    HONE_AUTOFREE char *file = hone_sprintf("search-%s.lock", name);
    HONE_AUTOFREE char *path = hone_workspace_path(ws, file);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int hone_steer_find(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                    struct hone_steer_search *ret, struct hone_err *err)
{
    struct finder f = {.pool = pool, .wanted = name};
    struct hone_ledger_place place = {.segment = 0};
    int r = hone_ledger_follow(hone_workspace_ledger(ws), RECORDS, &place, on_find, &f, err);
    if (r < 0)
        return r;
    if (!f.last_id)
        return not_found(&f, err);
    *ret = start_of(&f, f.last_id)->search;
    /* the lock is the name's: another search of the same name may hold it */
    f.wanted = ret->name;
    f.last_id = NULL;
    place = (struct hone_ledger_place){.segment = 0};
    r = strcmp(name, ret->name) == 0
            ? 0
            : hone_ledger_follow(hone_workspace_ledger(ws), RECORDS, &place, on_find, &f, err);
    bool is_last = !f.last_id || strcmp(f.last_id, ret->id) == 0;
    ret->is_running = is_last && hone_steer_is_running(ws, ret->name);
    return r;
}

/* ---- requests ---- */

/* One line of text that terminals, prompts and commits can hold. */
static int check_line(const char *text, size_t max, const char *path, struct hone_err *err)
{
    size_t len = strlen(text);
    if (len > max)
        return hone_fail_at(err, HONE_E_LIMIT, path, "has %zu bytes, at most %zu are taken", len,
                            max);
    HONE_AUTOFREE char *safe = hone_strdup(text);
    hone_utf8_defuse(safe, '\x01');
    if (strpbrk(safe, "\x01\n\t"))
        return hone_fail_at(err, HONE_E_ARG, path,
                            "must be one line of text without control characters");
    return 0;
}

static int check_strategy(const struct hone_steer_search *search, const char *id,
                          const struct hone_strategy **ret, struct hone_err *err)
{
    if (!id || !*id)
        return hone_fail_at(err, HONE_E_ARG, "strategy", "name a strategy, for example C08");
    *ret = hone_strategy_find(search->target, id);
    return *ret ? 0
                : hone_fail_at(err, HONE_E_NOT_FOUND, "strategy",
                               "'%.40s' is no strategy for %s; strategy_propose with all: true "
                               "lists them",
                               id, search->target);
}

static bool takes_strategy(enum hone_steer_action action)
{
    return action == HONE_STEER_BAN || action == HONE_STEER_FAVOUR || action == HONE_STEER_UNBAN;
}

static int check_request(const struct hone_steer_search *search, const struct hone_steer_request *q,
                         struct hone_err *err)
{
    const struct hone_strategy *strategy;
    const char *word = hone_steer_actions[q->action];
    if (takes_strategy(q->action)) {
        int r = check_strategy(search, q->strategy, &strategy, err);
        if (r < 0)
            return r;
    } else if (q->strategy) {
        return hone_fail_at(err, HONE_E_ARG, "strategy", "%s takes none", word);
    }
    if (q->action != HONE_STEER_HINT)
        return q->text ? hone_fail_at(err, HONE_E_ARG, "text", "%s takes none", word) : 0;
    if (!q->text)
        return hone_fail_at(err, HONE_E_ARG, "text",
                            "say the hint in one line; an empty one takes all hints back");
    return check_line(q->text, HONE_LIMIT_HINT_BYTES, "text", err);
}

int hone_steer_send(struct hone_workspace *ws, const struct hone_steer_search *search,
                    const struct hone_steer_request *q, uint64_t *ret_n, struct hone_err *err)
{
    int r = check_request(search, q, err);
    if (r < 0)
        return r;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_event e = {.type = HONE_EVENT_STEER,
                                 .steer = {.search = search->id,
                                           .action = hone_steer_actions[q->action],
                                           .strategy = q->strategy,
                                           .text = q->text,
                                           .by = hone_steer_by(q->by, pool)}};
    r = hone_event_append(hone_workspace_ledger(ws), &e, ret_n, err);
    return r < 0 ? r : hone_ledger_sync(hone_workspace_ledger(ws), err);
}

/* ---- submissions ---- */

static int check_submission(const struct hone_steer_search *search,
                            const struct hone_submission *sub, const struct hone_steering *now,
                            struct hone_err *err)
{
    const struct hone_strategy *strategy = NULL;
    const struct hone_rewrite *rewrite = sub->rewrite ? hone_rewrite_find(sub->rewrite) : NULL;
    const char *id = sub->strategy ? sub->strategy
                     : rewrite     ? rewrite->strategy
                     : sub->source ? HONE_STRATEGY_FREE
                                   : NULL;
    if (sub->source && sub->rewrite)
        return hone_fail_at(err, HONE_E_ARG, "source",
                            "give a source of your own or a rewrite of the search's coder");
    if (!sub->source && !sub->rewrite && !sub->strategy)
        return hone_fail_at(err, HONE_E_ARG, "rewrite",
                            "choose a step: rewrite with anchor and variant, or strategy; or give "
                            "a source of your own");
    if (sub->source && strlen(sub->source) > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail_at(err, HONE_E_LIMIT, "source", "has more than %u bytes",
                            HONE_LIMIT_SOURCE_BYTES);
    if (isfinite(sub->expected) && !(sub->expected > 0.01 && sub->expected < 1000))
        return hone_fail_at(err, HONE_E_ARG, "expected", "is a speedup, from 0.01 to 1000");
    int r = sub->words ? check_line(sub->words, WORDS_MAX_BYTES, "words", err) : 0;
    if (r == 0 && id)
        r = check_strategy(search, id, &strategy, err);
    if (r == 0 && strategy && now->is_banned[hone_strategy_index(strategy)])
        r = hone_fail_at(err, HONE_E_ARG, "strategy", "%s is banned in this search", strategy->id);
    return r;
}

int hone_submit(struct hone_workspace *ws, const struct hone_steer_search *search,
                const struct hone_submission *sub, uint64_t *ret_n, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *path = hone_workspace_path(ws, "submit.lock");
    HONE_AUTOCLOSE int lock = -1; /* counting and adding are one */
    struct hone_ledger *ledger = hone_workspace_ledger(ws);
    struct hone_steering *now = hone_pool_alloc(pool, sizeof(*now));
    hone_steering_init(now, search->id, search->target, pool);
    int r = hone_lock_file(path, hone_deadline_in_ms(LOCK_WAIT_MS), &lock, err);
    if (r == 0)
        r = hone_steering_read(now, ledger, err);
    if (r == 0)
        r = check_submission(search, sub, now, err);
    if (r < 0)
        return r;
    if (!hone_steer_is_running(ws, search->name))
        return hone_fail_at(err, HONE_E_ARG, "search",
                            "no process runs search '%.64s' now; search_start with the same task, "
                            "name and seed goes on with it",
                            search->name);
    if (now->n_waiting >= HONE_LIMIT_SUBMISSIONS)
        return hone_fail_at(err, HONE_E_BUSY, "search",
                            "%zu steps wait in this search already; wait for one (search_outcome)",
                            now->n_waiting);
    const struct hone_event e = {
        .type = HONE_EVENT_SUBMIT,
        .submit = {.search = search->id,
                   .by = hone_steer_by(sub->by, pool),
                   .commit = sub->commit,
                   .rewrite = sub->rewrite,
                   .anchor = sub->anchor,
                   .variant = sub->variant,
                   .strategy = sub->strategy,
                   .source = sub->source,
                   .expected = isfinite(sub->expected) ? sub->expected : (double)NAN,
                   .words = sub->words}};
    r = hone_event_append(ledger, &e, ret_n, err);
    return r < 0 ? r : hone_ledger_sync(ledger, err);
}

struct outcome_reader {
    const char *id;
    uint64_t n;
    struct hone_pool *pool;
    struct hone_submitted *ret;
    bool is_known;
};

static void read_result(struct outcome_reader *r, const struct hone_event_result *result)
{
    struct hone_pool *pool = r->pool;
    *r->ret = (struct hone_submitted){
        .status = result->verdict ? "done" : "refused",
        .verdict = hone_pool_strdup(pool, result->verdict),
        .reason = hone_pool_strdup(pool, result->reason),
        .commit = hone_pool_strdup(pool, result->commit),
        .evaluation = hone_pool_strdup(pool, result->evaluation),
        .words = hone_pool_strdup(pool, result->words),
        .note = hone_pool_strdup(pool, result->note),
        .ratio = result->ratio,
        .node = result->node,
        .is_gain = result->is_gain,
        .is_running = r->ret->is_running,
    };
}

static int on_outcome(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                      const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct outcome_reader *r = arg;
    struct hone_event e;
    (void)wall_ms;
    (void)err;
    if (!hone_event_read(type, data, pool, &e) || strcmp(hone_event_search(&e), r->id) != 0)
        return 0;
    if (e.type == HONE_EVENT_SUBMIT && n == r->n)
        r->is_known = true;
    if (e.type == HONE_EVENT_RESULT && e.result.submission == (int64_t)r->n) {
        read_result(r, &e.result);
    } else if (e.type == HONE_EVENT_ANSWER && e.answer.submission == (int64_t)r->n) {
        const char *status = e.answer.status ? e.answer.status : "";
        r->ret->status = strcmp(status, "dropped") == 0 ? "dropped" : "refused";
        r->ret->note = hone_pool_strdup(r->pool, e.answer.note);
    }
    return 0;
}

static void wait_some(int64_t ms, const struct hone_cancel *cancel)
{
    struct pollfd fd = {.fd = cancel ? cancel->event_fd : -1, .events = POLLIN};
    poll(&fd, 1, (int)ms);
}

int hone_submission_wait(struct hone_workspace *ws, const struct hone_steer_search *search,
                         uint64_t n, int64_t deadline_ns, const struct hone_cancel *cancel,
                         struct hone_pool *pool, struct hone_submitted *ret, struct hone_err *err)
{
    struct hone_ledger_place place = {.segment = 0};
    struct outcome_reader reader = {.id = search->id, .n = n, .pool = pool, .ret = ret};
    *ret = (struct hone_submitted){
        .status = "waiting", .ratio = (double)NAN, .node = -1, .is_running = true};
    for (int64_t look_ns = 0;;) {
        bool is_last = hone_now_ns() >= deadline_ns;
        if (hone_now_ns() >= look_ns || is_last) {
            ret->is_running = hone_steer_is_running(ws, search->name);
            look_ns = hone_deadline_in_ms(LOOK_EVERY_MS);
        }
        int r = hone_ledger_follow(hone_workspace_ledger(ws), RECORDS, &place, on_outcome, &reader,
                                   err);
        if (r < 0)
            return r;
        if (!reader.is_known)
            return hone_fail_at(err, HONE_E_NOT_FOUND, "submission",
                                "search '%.64s' has no submission %llu", search->name,
                                (unsigned long long)n);
        if (strcmp(ret->status, "waiting") != 0 || is_last || !ret->is_running)
            return 0;
        wait_some(POLL_MS, cancel);
        if (hone_cancel_is_set(cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled; the submission stays in the search");
    }
}
