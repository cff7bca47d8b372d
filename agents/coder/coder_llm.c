/* SPDX-License-Identifier: Apache-2.0 */
/* The coder that asks a language model.
 *
 * A request: stable blocks (the prompt files; the task; the machine; knowledge), then one message: the
 * step's method card, what limits the version, the source in a fence with a tag on each line; for a
 * repair also what went wrong. The answer is read by coder_answer.c, which can change this one
 * source and nothing else. A source that the model wrote is not judged here: the judge does that.
 *
 * A refusal (an answer that cannot be read, no answer at all) is an outcome; its reason goes into
 * the next repair's prompt. Three asks in a row without an answer end the search (and as many more
 * as are under way beside each other, which fail together): somebody has to look. */
#include <math.h>
#include <string.h>

#include "agents/planner/strategy_guide.h"
#include "agents/coder/coder_answer.h"
#include "agents/coder/coder_internal.h"
#include "agents/model/journal.h"
#include "agents/coder/prompt.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

enum { MAX_SOURCE = 256 << 10, MAX_FAILURE = 6 << 10, MAX_FAULTS = 3, DEFAULT_TOKENS = 16384 };

/* The prompt file of all targets, and what holds for this one alone. */
static int read_system(struct hone_coder *c, struct hone_err *err)
{
    static const struct {
        const char *target, *file;
    } more[] = {{"cuda", "coder-cuda.md"}};
    const struct hone_coder_setup *s = &c->setup;
    int r = hone_prompt_file(s->prompts_dir, "coder.md", c->pool, &c->system_text, err);
    for (size_t i = 0; r == 0 && i < HONE_COUNTOF(more); i++) {
        const char *text = NULL;
        if (strcmp(more[i].target, s->target) != 0)
            continue;
        r = hone_prompt_file(s->prompts_dir, more[i].file, c->pool, &text, err);
        if (r == 0)
            c->system_text = hone_pool_printf(c->pool, "%s\n%s", c->system_text, text);
    }
    return r;
}

static int open_llm(struct hone_coder *c, struct hone_err *err)
{
    const struct hone_coder_setup *s = &c->setup;
    if (!s->model || !s->journal || !s->prompts_dir)
        return hone_fail_at(err, HONE_E_ARG, "coder", "coder %s needs a model (--model NAME; %s)",
                            c->name, "docs/guides/models.md");
    int r = read_system(c, err);
    if (r == 0)
        c->task_text = hone_prompt_task(s->task, s->target, s->seed, c->pool);
    return r;
}

static bool can(const struct hone_strategy *s)
{
    /* libraries, sweeps; free ideas and merges come from elsewhere */
    static const char *const not_edits[] = {"G47", "G52", HONE_STRATEGY_FREE, HONE_STRATEGY_MERGE};
    for (size_t i = 0; i < HONE_COUNTOF(not_edits); i++)
        if (strcmp(s->id, not_edits[i]) == 0)
            return false;
    return true;
}

/* ---- the request ---- */

static bool is_from_nothing(const struct hone_coder_work *w)
{
    return strcmp(w->strategy->id, HONE_STRATEGY_NEW) == 0;
}

static void add_findings(struct hone_buf *out, const struct hone_coder_work *w)
{
    /* of a source that is not shown they would be riddles */
    for (size_t i = 0; i < w->n_findings && i < 4 && !is_from_nothing(w); i++)
        hone_buf_printf(out, "%s- %s: %s%s%s%s\n",
                        i == 0 ? "What limits the version that the step starts from:\n" : "",
                        hone_class_name(w->findings[i].class_id), w->findings[i].rule,
                        w->findings[i].values && *w->findings[i].values ? " (" : "",
                        w->findings[i].values ? w->findings[i].values : "",
                        w->findings[i].values && *w->findings[i].values ? ")" : "");
}

static void add_source(struct hone_buf *out, const struct hone_coder *c, const char *what,
                       const char *source, struct hone_pool *pool)
{
    hone_prompt_data(out, c->setup.seed, what, hone_tagged_source(source, pool), MAX_SOURCE);
}

/* What edits refer to: the failed version of a repair, else the version itself. */
static const char *base_of(const struct hone_coder_work *w)
{
    if (w->n_repair > 0 && w->failed_source)
        return w->failed_source;
    return is_from_nothing(w) ? NULL : w->source;
}

static char *message_of(const struct hone_coder *c, const struct hone_coder_work *w,
                        struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    const char *base = base_of(w);
    /* of a planner's idea it is the idea, which is data */
    bool has_parts = w->site && w->site->evidence && *w->site->evidence && !w->plan;
    hone_buf_str(&out, hone_card_text(w->strategy, pool));
    if (w->plan)
        hone_prompt_data(&out, c->setup.seed,
                         "The planner's idea, to be carried out as far as it "
                         "is sound:",
                         w->plan, MAX_FAILURE);
    if (w->sibling) {
        hone_prompt_data(&out, c->setup.seed,
                         "Another version of the same parent as the source below, and what its "
                         "step brought there:",
                         w->site->evidence, MAX_FAILURE);
        hone_prompt_data(&out, c->setup.seed,
                         "Its diff against that parent; apply its idea, not its lines:", w->sibling,
                         HONE_LIMIT_MERGE_BYTES);
    } else if (w->site && !is_from_nothing(w)) {
        hone_buf_printf(&out, "Region: lines %u to %u (%.200s)%s%s\n", w->site->line,
                        w->site->last_line, w->site->words, has_parts ? "; " : "",
                        has_parts ? w->site->evidence : "");
    }
    add_findings(&out, w);
    hone_prompt_past(&out, c->setup.seed, &w->past);
    hone_prompt_hints(&out, w->hints, w->n_hints);
    if (w->n_repair > 0) {
        hone_buf_printf(&out,
                        "\nThis is repair %lld. The last answer failed. Find the mistake, "
                        "mend it, and keep the step's idea.\n",
                        (long long)w->n_repair);
        hone_prompt_data(&out, c->setup.seed,
                         "What went wrong, worst first:", w->failure ? w->failure : "unknown",
                         MAX_FAILURE);
        if (w->refused)
            hone_prompt_data(&out, c->setup.seed,
                             "The answer that was refused, none of which counts:", w->refused,
                             HONE_LIMIT_REFUSED_BYTES);
    }
    if (base)
        add_source(&out, c,
                   w->n_repair > 0 && w->failed_source ? "\nThe failed version; edits refer to it:"
                                                       : "\nThe source; edits refer to it:",
                   base, pool);
    else
        hone_buf_str(&out, "\nThere is no source yet: write the whole file (@@FILE).\n");
    return hone_buf_steal(&out);
}

/* What the answer is for: the same after a restart, whatever was measured meanwhile. */
static const char *key_of(const struct hone_coder_work *w, struct hone_pool *pool)
{
    char hex[HONE_HASH_TEXT_BYTES];
    struct hone_hasher h;
    hone_hasher_init(&h);
    hone_hasher_str(&h, w->source);
    hone_hasher_str(&h, w->plan);
    hone_hasher_str(&h, w->failed_source);
    hone_hasher_end(&h, hex);
    return hone_pool_printf(pool, "%s/%s/%d/%lld/%.24s", w->rewrite->name,
                            w->site ? w->site->anchor : "", w->site ? w->site->variant : 0,
                            (long long)w->n_repair, hex);
}

static void request_of(struct hone_coder *c, const struct hone_coder_work *w,
                       struct hone_pool *pool, struct hone_coder_request *ret)
{
    const struct hone_coder_setup *s = &c->setup;
    HONE_AUTOFREE char *text = message_of(c, w, pool);
    HONE_CLEANUP(hone_buf_done) struct hone_buf knowledge = HONE_BUF_INIT;
    hone_prompt_knowledge(&knowledge, s->seed, w->knowledge);
    *ret = (struct hone_coder_request){
        .key = key_of(w, pool),
        .stable = {c->system_text, c->task_text},
        .message = {"user", hone_pool_strdup(pool, text)},
        .request = {.n_stable = 2,
                    .n_messages = 1,
                    .max_tokens = s->max_tokens > 0 ? s->max_tokens : DEFAULT_TOKENS,
                    .temperature = w->n_repair > 0 ? 0.2 : 0.4,
                    .deadline_ns = w->deadline_ns > 0 ? w->deadline_ns : s->deadline_ns,
                    .cancel = s->cancel}};
    if (w->machine)
        ret->stable[ret->request.n_stable++] = w->machine;
    if (knowledge.len > 0)
        ret->stable[ret->request.n_stable++] = hone_pool_strdup(pool, knowledge.data);
    ret->request.stable = ret->stable;
    ret->request.messages = &ret->message;
}

/* What was asked ahead is stored, or failed then. */
static int ask(struct hone_coder *c, const struct hone_coder_work *w, struct hone_pool *pool,
               const char **ret_key, struct hone_model_answer *ret, struct hone_err *err)
{
    struct hone_coder_request r;
    bool is_stored = false;
    if (w->failed_ask && w->n_repair == 0) {
        *err = *w->failed_ask;
        return (int)err->code;
    }
    request_of(c, w, pool, &r);
    *ret_key = r.key;
    return hone_journal_ask(c->setup.journal, "coder", r.key, c->setup.model, &r.request, pool, ret,
                            &is_stored, err);
}

/* ---- the step ---- */

/* No answer: an outcome while it may be this request's fault, or passes; else the search's end.
 * That the time for it was over says nothing of the model. */
static int no_answer(struct hone_coder *c, const struct hone_coder_work *w,
                     const struct hone_err *cause, struct hone_pool *pool,
                     struct hone_coder_outcome *ret, struct hone_err *err)
{
    enum hone_model_fault fault = hone_model_fault_of(cause);
    bool is_past = w->deadline_ns > 0 && hone_now_ns() >= w->deadline_ns;
    bool is_late = fault == HONE_FAULT_DEADLINE || (fault == HONE_FAULT_TIMEOUT && is_past);
    c->n_faults += !is_late;
    bool is_final = fault == HONE_FAULT_NONE || fault == HONE_FAULT_CANCEL ||
                    fault == HONE_FAULT_LOCAL || fault == HONE_FAULT_MISSING ||
                    c->n_faults >= MAX_FAULTS + c->setup.n_beside;
    if (is_final) {
        if (err)
            *err = *cause;
        return (int)cause->code;
    }
    ret->is_unanswered = true;
    ret->refusal = hone_pool_printf(pool, "no answer of the model: %s", cause->message);
    return 0;
}

static bool defines(const char *source, const char *function)
{
    HONE_AUTOFREE char *text = hone_c_normalise(source);
    size_t len = strlen(function);
    for (const char *at = text; (at = strstr(at, function)); at += len) {
        bool is_word = (at == text || !(at[-1] == '_' || (at[-1] >= '0' && at[-1] <= '9') ||
                                        ((at[-1] | 32) >= 'a' && (at[-1] | 32) <= 'z')));
        if (is_word && at[len + strspn(at + len, " ")] == '(')
            return true;
    }
    return false;
}

static int step(struct hone_coder *c, const struct hone_coder_work *w, struct hone_pool *pool,
                struct hone_coder_outcome *ret, struct hone_err *err)
{
    struct hone_model_answer answer;
    struct hone_err cause = HONE_ERR_INIT;
    const char *key = NULL;
    if (ask(c, w, pool, &key, &answer, &cause) < 0)
        return no_answer(c, w, &cause, pool, ret, err);
    c->n_faults = 0;
    ret->n_asks = 1;
    ret->tokens_in = answer.tokens_in;
    ret->tokens_out = answer.tokens_out;
    ret->cost = answer.cost;
    int r = hone_coder_answer_apply(base_of(w), answer.text, pool, &ret->source, &ret->declined,
                                    &cause);
    if (r == 0 && ret->source && !defines(ret->source, c->setup.task->name))
        r = hone_fail(&cause, HONE_E_ARG, "the new source does not define %s", c->setup.task->name);
    if (r < 0) {
        ret->source = NULL;
        ret->refused = hone_pool_strdup(pool, answer.text);
        ret->refusal = hone_pool_printf(
            pool, "the answer was refused: %s%s", cause.message,
            strcmp(answer.stop_reason, "length") == 0
                ? " (it was cut at its limit of tokens: send edits, or a shorter file)"
                : "");
    }
    return hone_journal_note(c->setup.journal, "coder", key, ret->refusal, NULL, err);
}

const struct hone_coder_hands hone_coder_llm = {
    .open = open_llm, .can = can, .key = key_of, .request = request_of, .step = step};
