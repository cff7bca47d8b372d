/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/offline/episode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/rng.h"

#define NAME   "lattice-"
#define STREAM 301

void hone_episode_begin(const struct hone_lattice *lattice, int64_t seed, struct hone_episode *ret)
{
    *ret = (struct hone_episode){.lattice = lattice, .seed = seed};
}

static size_t repeat_of(const struct hone_episode *e, unsigned state)
{
    uint8_t key[16] = {0};
    memcpy(key, &e->seed, sizeof(e->seed));
    double at = hone_rng_unit(hone_rng_u64(key, STREAM, state));
    return (size_t)(at * (double)e->lattice->states[state].n);
}

static double gain_of(const struct hone_strategy *s)
{
    return s ? s->gain : 0;
}

static struct hone_json *legal_json(const struct hone_lattice *l, unsigned state)
{
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < l->n_strategies; i++) {
        unsigned next = state | 1u << i;
        if (next == state || !l->states[next].is_legal)
            continue;
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "strategy", l->strategies[i].id);
        hone_json_set_f64(one, "expected_log2",
                          gain_of(hone_strategy_find(l->target, l->strategies[i].id)));
        hone_json_push(out, one);
    }
    return out;
}

static double ratio_of(const struct hone_episode *e, unsigned state)
{
    const struct hone_lattice_state *s = &e->lattice->states[state];
    return exp2(log2(s->ratio[repeat_of(e, state)]) - hone_lattice_root_log_ratio(e->lattice));
}

static struct hone_json *result_of(const struct hone_episode *e, unsigned state)
{
    const struct hone_lattice *l = e->lattice;
    const struct hone_lattice_state *s = &l->states[state];
    struct hone_json *out = hone_json_new_object(), *speedup = hone_json_new_object();
    bool is_right = hone_lattice_is_right(l, state);
    HONE_AUTOFREE char *name = hone_sprintf(NAME "%u", state);
    hone_json_set_str(out, "verdict", is_right ? "screened" : "incorrect");
    hone_json_set_str(out, "reason", s->reason);
    if (is_right) {
        hone_json_set_f64(speedup, "ratio", ratio_of(e, state));
        hone_json_set_f64(out, "time_ns", s->ns[repeat_of(e, state)]);
        hone_json_set_str(out, "commit", name);
        hone_json_set(out, "strategies", legal_json(l, state));
        hone_json_set(out, "features", hone_features_json(&s->features, 0));
    }
    hone_json_set(out, "speedup", speedup);
    return out;
}

struct hone_json *hone_episode_look(const struct hone_episode *e)
{
    return result_of(e, e->state);
}

static int find_state(const struct hone_episode *e, const char *name, unsigned *ret,
                      struct hone_err *err)
{
    size_t len = strlen(NAME);
    char *end = NULL;
    *ret = e->state;
    if (!name)
        return 0;
    errno = 0;
    unsigned long n =
        strncmp(name, NAME, len) == 0 ? strtoul(name + len, &end, 10) : HONE_LATTICE_STATES;
    bool is_known = end && end != name + len && *end == '\0' && name[len] >= '0' &&
                    name[len] <= '9' && n < 1u << e->lattice->n_strategies;
    if (!is_known || !hone_lattice_is_right(e->lattice, (unsigned)n))
        return hone_fail_at(err, HONE_E_ARG, "commit", "is no version of this lattice");
    *ret = (unsigned)n;
    return 0;
}

int hone_episode_step(struct hone_episode *e, const char *from, const char *strategy,
                      struct hone_json **ret, struct hone_err *err)
{
    const struct hone_lattice *l = e->lattice;
    unsigned state = 0;
    size_t i = 0;
    int rc = find_state(e, from, &state, err);
    if (rc < 0)
        return rc;
    while (i < l->n_strategies && strcmp(l->strategies[i].id, strategy) != 0)
        i++;
    unsigned next = i < l->n_strategies ? state | 1u << i : state;
    if (next == state || !l->states[next].is_legal)
        return hone_fail_at(err, HONE_E_ARG, "strategy", "'%.16s' is not legal at this version",
                            strategy);
    *ret = result_of(e, next);
    if (hone_lattice_is_right(l, next))
        e->state = next;
    return 0;
}
