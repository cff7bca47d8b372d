/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/policy_stage.h"

#include <ctype.h>
#include <string.h>

#include "tools/runner/judge/target.h"

/* For people and models to read: names in an object are its author's bytes. */
static const char *printable(struct hone_pool *pool, const char *text)
{
    if (text == NULL)
        return NULL;
    char *out = hone_pool_strndup(pool, text, strnlen(text, HONE_POLICY_TEXT));
    for (char *at = out; *at != '\0'; at++) /* a name has no letters that need more than ASCII */
        if (!isprint((unsigned char)*at))
            *at = '?';
    return out;
}

/* ---- the line ---- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind a comment that begins here, else the same place. */
static const char *behind_comment(const char *at)
{
    if (at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return at;
    if (at[1] == '/')
        return at + strcspn(at, "\n");
    const char *end = strstr(at + 2, "*/");
    return end != NULL ? end + 2 : at + strlen(at);
}

static bool stands_at(const char *source, const char *at, const char *word)
{
    size_t len = strlen(word);
    if (len == 0 || strncmp(at, word, len) != 0)
        return false;
    bool is_whole = !is_word_char(word[len - 1]) || word[len - 1] == '_' || !is_word_char(at[len]);
    return is_whole && (at == source || !is_word_char(at[-1]) || !is_word_char(word[0]));
}

int64_t hone_policy_line_of(const char *source, const char *const *words, size_t n_words)
{
    int64_t line = 1;
    for (const char *at = source; at != NULL && *at != '\0';) {
        for (const char *end = behind_comment(at); at < end; at++)
            line += *at == '\n';
        for (size_t i = 0; i < n_words && *at != '\0'; i++)
            if (words[i] != NULL && stands_at(source, at, words[i]))
                return line;
        line += *at == '\n';
        at += *at != '\0';
    }
    return 0;
}

/* ---- what follows ---- */

static int64_t line_of(const struct hone_policy_finding *f, const struct hone_policy_row *row,
                       const char *source)
{
    int64_t line = hone_policy_line_of(source, &f->word, 1);
    return line > 0 ? line : hone_policy_line_of(source, row->words, HONE_COUNTOF(row->words));
}

/* "rdtsc in f (line 12) and 3 more", all of a rule on one line */
static const char *evidence(struct hone_pool *pool, const struct hone_policy_findings *of,
                            const struct hone_policy_row *row, const char *source,
                            int64_t *ret_line)
{
    const char *text = "";
    *ret_line = 0;
    for (size_t i = 0; i < of->n && strlen(text) < 2 * HONE_POLICY_TEXT; i++) {
        const struct hone_policy_finding *f = &of->list[i];
        int64_t line = line_of(f, row, source);
        if (*ret_line == 0)
            *ret_line = line;
        text =
            hone_pool_printf(pool, "%s%s%.120s", text, i > 0 ? ", " : "", printable(pool, f->what));
        if (f->where != NULL)
            text = hone_pool_printf(pool, "%s in %.80s", text, printable(pool, f->where));
        if (line > 0)
            text = hone_pool_printf(pool, "%s (line %lld)", text, (long long)line);
    }
    if (of->n_more > 0)
        text = hone_pool_printf(pool, "%s and more", text);
    return text;
}

static void reject(struct hone_judge *judge, const struct hone_policy_row *row, bool is_by_name,
                   const char *text, struct hone_outcome *ret)
{
    hone_outcome_set(ret, HONE_REASON_POLICY, "rule %s: %.250s. %s Task '%s' %s. %s", row->name,
                     text, row->meaning, judge->task->name,
                     is_by_name ? "refuses that name" : "does not accept that", row->next);
}

void hone_policy_decide(struct hone_judge *judge, const struct hone_policy_facts *facts,
                        const char *source, struct hone_outcome *ret)
{
    for (int n = 0; n <= HONE_N_POLICY_RULES; n++) {
        bool is_by_name = n == 0; /* names that are refused come first */
        int i = is_by_name ? HONE_POLICY_REFUSED : n - 1;
        enum hone_policy_rule rule = is_by_name ? HONE_POLICY_IMPORTS : (enum hone_policy_rule)i;
        const struct hone_policy_row *row = hone_policy_row(rule);
        enum hone_policy_action action =
            is_by_name ? HONE_POLICY_REJECT : hone_policy_action(judge->task, rule);
        int64_t line = 0;
        if (facts->of[i].n == 0 || action == HONE_POLICY_ALLOW)
            continue;
        const char *text = evidence(judge->pool, &facts->of[i], row, source, &line);
        if (action == HONE_POLICY_REVIEW)
            hone_judge_review(judge, row->name, line, "%.390s", text);
        else if (hone_outcome_is_good(ret))
            reject(judge, row, is_by_name, text, ret);
    }
}

int hone_stage_policy(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    HONE_AUTOFREE char *source = NULL;
    struct hone_outcome why = HONE_OUTCOME_INIT;
    struct hone_policy_facts *facts = hone_pool_alloc(judge->pool, sizeof *facts);
    *facts = (struct hone_policy_facts){.pool = judge->pool, .policy = &judge->task->policy};
    int code = judge->target->read_policy(judge, slot, facts, err);
    if (code < 0)
        return hone_wrap(err, "policy");
    judge->rests.has_units = facts->has_units;
    judge->rests.units = facts->units;
    (void)hone_judge_read_source(judge, slot, &source, &why);
    hone_policy_decide(judge, facts, source, ret);
    return 0;
}
