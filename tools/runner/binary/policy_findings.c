/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of a binary find, noted by rule. */
#include "tools/runner/binary/policy.h"

#include <string.h>

static const struct hone_policy_finding *find(const struct hone_policy_findings *of,
                                              const char *what)
{
    for (size_t i = 0; i < of->n; i++)
        if (strncmp(of->list[i].what, what, HONE_POLICY_TEXT) == 0)
            return &of->list[i];
    return NULL;
}

bool hone_policy_is_new(const struct hone_policy_facts *facts, int rule, const char *what)
{
    const struct hone_policy_findings *of = &facts->of[rule];
    return of->n < HONE_POLICY_MAX_OF_RULE && find(of, what) == NULL;
}

static const char *copy(struct hone_pool *pool, const char *text)
{
    return text == NULL ? NULL : hone_pool_strndup(pool, text, strnlen(text, HONE_POLICY_TEXT));
}

void hone_policy_found(struct hone_policy_facts *facts, int rule, const char *what,
                       const char *where, const char *word)
{
    struct hone_policy_findings *of = &facts->of[rule];
    for (size_t i = 0; i < of->n; i++) {
        if (strncmp(of->list[i].what, what, HONE_POLICY_TEXT) == 0) {
            of->list[i].n++;
            return;
        }
    }
    if (of->n == HONE_POLICY_MAX_OF_RULE) {
        of->n_more++;
        return;
    }
    of->list[of->n++] = (struct hone_policy_finding){.what = copy(facts->pool, what),
                                                     .where = copy(facts->pool, where),
                                                     .word = copy(facts->pool, word),
                                                     .n = 1};
}
