/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices: every combination of a kernel's strategies, built, checked and timed once, so that
 * searches can be replayed in memory with exact regret.
 *
 * A template is one kernel as C (or CUDA) with eight on/off strategies, each a tunable that only
 * `#if` lines name; comment lines say which task it is for and which catalogue strategy each one
 * stands for:
 *
 *     lattice task matmul
 *     lattice strategy S_TILE C01
 *
 * A state is a set of strategies, written as a number: bit i is the i-th strategy line. The file
 * (docs/decisions/0023-lattices.md) is JSON; names of machines and dates are part of it, because
 * times without them mean nothing. */
#ifndef HONE_AGENTS_LATTICE_H
#define HONE_AGENTS_LATTICE_H

#include "agents/planner/catalogue.h"
#include "workspace/base/json.h"

enum {
    HONE_LATTICE_STRATEGIES = 8,
    HONE_LATTICE_STATES = 1 << HONE_LATTICE_STRATEGIES,
    HONE_LATTICE_CODE_BYTES = 17
};

struct hone_lattice_strategy {
    const char *name; /* "S_TILE" */
    const char *id;   /* "C01": a catalogue id of the target */
};

struct hone_lattice_state {
    bool is_legal;      /* the template's where() allows it */
    const char *reason; /* "screened", or why it failed ("compile", "wrong_value"...); "": not tried
                         */
    char code[HONE_LATTICE_CODE_BYTES]; /* word for the machine code; "": unknown */
    double *ns;                         /* repeats of one call, geometric mean over workloads */
    double *ratio;                      /* of the baseline's time in the same rounds to it */
    size_t n;
    struct hone_features features; /* of its text and its times */
};

struct hone_lattice {
    struct hone_pool *pool;
    const char *kernel;        /* name of the template */
    const char *task, *target; /* "cpu" */
    const char *family;        /* kind of operation, as the task names it */
    const char *template_hash;
    const char *machine, *date, *note, *harness;
    double bound_ns; /* physics floor; 0: unknown */
    int64_t n_cores;
    struct hone_lattice_strategy strategies[HONE_LATTICE_STRATEGIES];
    size_t n_strategies;
    struct hone_lattice_state states[HONE_LATTICE_STATES];
};

/* Reads the comment lines, the where() and the task's words of a template. HONE_E_ARG names what is
 * wrong. The lattice and all in it live in the pool. */
int hone_lattice_of_template(const char *text, const char *kernel, struct hone_pool *pool,
                             struct hone_lattice **ret, struct hone_err *err);
/* The version that a state stands for: its own branches of the `#if` lines, no tunables. In the
 * pool. HONE_E_ARG for `#if` lines that name something else than strategies. */
int hone_lattice_source(const struct hone_lattice *lattice, const char *text, unsigned state,
                        struct hone_pool *pool, const char **ret, struct hone_err *err);

/* HONE_E_ARG, with the path in the file, for anything odd. */
int hone_lattice_parse(const char *text, size_t len, struct hone_pool *pool,
                       struct hone_lattice **ret, struct hone_err *err);
char *hone_lattice_print(const struct hone_lattice *lattice); /* owned */
int hone_lattice_load(const char *path, struct hone_pool *pool, struct hone_lattice **ret,
                      struct hone_err *err);
int hone_lattice_save(const struct hone_lattice *lattice, const char *path, struct hone_err *err);
/* All files NAME.TARGET.json of a folder in order of their names; HONE_E_NOT_FOUND: none. */
int hone_lattice_load_all(const char *dir, struct hone_pool *pool, struct hone_lattice ***ret,
                          size_t *ret_n, struct hone_err *err);

/* Built and right. */
bool hone_lattice_is_right(const struct hone_lattice *lattice, unsigned state);
/* log2 of the time of the state without strategies over that of this one, medians of all repeats;
 * NaN where it was not right. */
double hone_lattice_gain(const struct hone_lattice *lattice, unsigned state);
/* log2 of the baseline's ratio to itself, mean of its repeats (0: it has none): what the gain of one
 * repeat of another state is measured from. */
double hone_lattice_root_log_ratio(const struct hone_lattice *lattice);
/* The state of highest gain that single steps over right states lead to. */
unsigned hone_lattice_best(const struct hone_lattice *lattice);

#endif
