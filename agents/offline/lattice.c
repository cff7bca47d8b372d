/* SPDX-License-Identifier: Apache-2.0 */
/* Templates, and questions to a lattice. */
#include "agents/offline/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/format/options.h"
#include "workspace/base/hash.h"
#include "workspace/base/order_stats.h"

/* ---- templates ---- */

/* "lattice WORD rest" in a comment line; the next one after *at. */
static bool next_line(const char **at, const char *word, char *ret, size_t size)
{
    HONE_AUTOFREE char *mark = hone_sprintf(" * lattice %s ", word);
    const char *found = strstr(*at, mark);
    if (!found)
        return false;
    found += strlen(mark);
    size_t len = strcspn(found, "\r\n");
    *at = found + len;
    if (len >= size)
        len = size - 1;
    memcpy(ret, found, len);
    ret[len] = '\0';
    return true;
}

static int read_strategies(const char *text, struct hone_lattice *l, struct hone_err *err)
{
    char line[64];
    for (const char *at = text; next_line(&at, "strategy", line, sizeof(line));) {
        char *id = strchr(line, ' ');
        if (!id || l->n_strategies == HONE_LATTICE_STRATEGIES)
            return hone_fail(err, HONE_E_ARG,
                             "'lattice strategy NAME ID', at most %d of them; not '%s'",
                             HONE_LATTICE_STRATEGIES, line);
        *id++ = '\0';
        if (!hone_strategy_find(l->target, id))
            return hone_fail(err, HONE_E_ARG, "'%.20s' is not in the catalogue of target %s", id,
                             l->target);
        l->strategies[l->n_strategies++] = (struct hone_lattice_strategy){
            hone_pool_strdup(l->pool, line), hone_pool_strdup(l->pool, id)};
    }
    return l->n_strategies > 0 ? 0 : hone_fail(err, HONE_E_ARG, "no 'lattice strategy' lines");
}

static void values_of(const struct hone_lattice *l, unsigned state, struct hone_tunable *ret)
{
    for (size_t i = 0; i < l->n_strategies; i++)
        ret[i] = (struct hone_tunable){l->strategies[i].name, state >> i & 1};
}

static int read_where(const char *text, struct hone_lattice *l, struct hone_err *err)
{
    struct hone_array axes;
    const char *where = NULL;
    int r = hone_tune_parse(text, l->pool, &axes, &where, err);
    if (r < 0)
        return r;
    if (axes.n != l->n_strategies)
        return hone_fail(err, HONE_E_ARG, "%zu tunables and %zu strategies: one each", axes.n,
                         l->n_strategies);
    for (unsigned s = 0; s < 1u << l->n_strategies; s++) {
        struct hone_tunable values[HONE_LATTICE_STRATEGIES];
        int64_t is_legal = 1;
        values_of(l, s, values);
        if (where && *where)
            r = hone_where_eval(where, values, l->n_strategies, &is_legal, err);
        if (r < 0)
            return r;
        l->states[s] = (struct hone_lattice_state){.is_legal = is_legal != 0, .reason = ""};
    }
    return 0;
}

int hone_lattice_of_template(const char *text, const char *kernel, struct hone_pool *pool,
                             struct hone_lattice **ret, struct hone_err *err)
{
    struct hone_lattice *l = hone_pool_alloc(pool, sizeof(*l));
    char task[64], target[16] = "cpu", hash[HONE_HASH_TEXT_BYTES];
    const char *at = text;
    if (!next_line(&at, "task", task, sizeof(task)))
        return hone_fail(err, HONE_E_ARG, "no 'lattice task NAME' line");
    at = text;
    next_line(&at, "target", target, sizeof(target));
    hone_hash(text, strlen(text), hash);
    *l = (struct hone_lattice){.pool = pool,
                               .kernel = hone_pool_strdup(pool, kernel),
                               .task = hone_pool_strdup(pool, task),
                               .target = hone_pool_strdup(pool, target),
                               .family = "",
                               .template_hash = hone_pool_strdup(pool, hash),
                               .machine = "",
                               .date = "",
                               .harness = ""};
    int r = read_strategies(text, l, err);
    if (r == 0)
        r = read_where(text, l, err);
    if (r < 0)
        return hone_wrap(err, "template '%s'", kernel);
    *ret = l;
    return 0;
}

/* ---- one version of a template ---- */

enum { MAX_NESTING = 32 };

struct level {
    bool is_on;   /* this branch is taken, and all around it */
    bool was_on;  /* an earlier branch of it was */
    bool is_live; /* what is around it is taken */
};

static bool is_line(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static int condition(const struct hone_lattice *l, unsigned state, const char *expr,
                     struct hone_pool *pool, bool *ret, struct hone_err *err)
{
    struct hone_tunable values[HONE_LATTICE_STRATEGIES];
    int64_t value = 0;
    values_of(l, state, values);
    const char *line = hone_pool_strndup(pool, expr, strcspn(expr, "\r\n"));
    int r = hone_where_eval(line, values, l->n_strategies, &value, err);
    *ret = value != 0;
    return r;
}

/* One `#` line of the conditions; *ret_is_one says whether it is one. */
static int take(const struct hone_lattice *l, unsigned state, const char *line,
                struct hone_pool *pool, struct level *levels, int *depth, bool *ret_is_one,
                struct hone_err *err)
{
    struct level *top = &levels[*depth];
    bool value = true;
    int r = 0;
    *ret_is_one = true;
    if (is_line(line, "#if ")) {
        if (*depth + 1 == MAX_NESTING)
            return hone_fail(err, HONE_E_LIMIT, "#if is nested more than %d deep", MAX_NESTING);
        r = condition(l, state, line + 4, pool, &value, err);
        levels[++*depth] = (struct level){top->is_on && value, value, top->is_on};
    } else if (*depth > 0 && is_line(line, "#elif ")) {
        r = condition(l, state, line + 6, pool, &value, err);
        top->is_on = top->is_live && !top->was_on && value;
        top->was_on = top->was_on || value;
    } else if (*depth > 0 && is_line(line, "#else")) {
        top->is_on = top->is_live && !top->was_on;
    } else if (*depth > 0 && is_line(line, "#endif")) {
        --*depth;
    } else {
        *ret_is_one = false;
    }
    return r;
}

int hone_lattice_source(const struct hone_lattice *l, const char *text, unsigned state,
                        struct hone_pool *pool, const char **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct level levels[MAX_NESTING] = {{true, true, true}};
    int depth = 0;
    const char *head = strstr(text, "*/"); /* the template's own words */
    for (const char *line = head ? head + 2 : text; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        bool is_condition = false;
        int r = take(l, state, line, pool, levels, &depth, &is_condition, err);
        if (r < 0)
            return r;
        if (!is_condition && levels[depth].is_on && !is_line(line, "#pragma hone tune"))
            hone_buf_add(&out, line, len);
        line += len;
    }
    *ret = hone_pool_strndup(pool, out.data ? out.data : "", out.len);
    return 0;
}

/* ---- questions ---- */

bool hone_lattice_is_right(const struct hone_lattice *l, unsigned state)
{
    return l->states[state].is_legal && l->states[state].n > 0 &&
           strcmp(l->states[state].reason, "screened") == 0;
}

static double median_log_ratio(const struct hone_lattice_state *s)
{
    HONE_AUTOFREE double *v = hone_calloc(s->n, sizeof(*v));
    for (size_t i = 0; i < s->n; i++)
        v[i] = log2(s->ratio[i]);
    return hone_median(v, s->n);
}

double hone_lattice_gain(const struct hone_lattice *l, unsigned state)
{
    if (!hone_lattice_is_right(l, state) || !hone_lattice_is_right(l, 0))
        return (double)NAN;
    return median_log_ratio(&l->states[state]) - median_log_ratio(&l->states[0]);
}

double hone_lattice_root_log_ratio(const struct hone_lattice *l)
{
    const struct hone_lattice_state *root = &l->states[0];
    double sum = 0;
    for (size_t i = 0; i < root->n; i++)
        sum += log2(root->ratio[i]);
    return root->n > 0 ? sum / (double)root->n : 0;
}

unsigned hone_lattice_best(const struct hone_lattice *l)
{
    bool is_reached[HONE_LATTICE_STATES] = {true};
    unsigned best = 0;
    double most = 0;
    for (unsigned s = 1; s < 1u << l->n_strategies; s++) { /* subsets come before the set */
        for (size_t i = 0; i < l->n_strategies; i++)
            is_reached[s] = is_reached[s] || ((s >> i & 1) && is_reached[s & ~(1u << i)]);
        is_reached[s] = is_reached[s] && hone_lattice_is_right(l, s);
        double gain = is_reached[s] ? hone_lattice_gain(l, s) : -INFINITY;
        if (gain > most) {
            most = gain;
            best = s;
        }
    }
    return best;
}
