/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a version: its commit says what the first measurement found, evidence commits
 * say what later ones found.
 *
 * The best founded measurement is the one of the highest tier that timed something. Of one tier it is
 * the latest, unless that one alone has doubts, or an interval 1.5 times as wide, and the two do not
 * exclude each other. One that found the version wrong outranks them all, whenever it was made:
 * nothing that passed before or after washes it off (hone_is_refutation). Strings live in the pool
 * or are borrowed from the version. Any thread. */
#ifndef HONE_TOOLS_BEST_MEASUREMENT_H
#define HONE_TOOLS_BEST_MEASUREMENT_H

#include "tools/format/report.h"
#include "tools/format/verdict.h"
#include "workspace/history.h"

struct hone_measurement {
    const char *commit;        /* of the evidence; NULL: the version's own */
    enum hone_verdict verdict; /* as this version of the program knows them */
    enum hone_reason reason;
    enum hone_tier tier;
    double ratio, low, high; /* against the baseline; 0: not measured, or only screened */
    const char *speedup;     /* "3.21 [3.15, 3.28]"; NULL for a screen */
    const char *summary;     /* one line */
    const char *review;      /* rules of the review list; NULL: none */
    const char *flag;        /* "fast-math, tf32 tensor cores"; NULL: neither (rests_text.h) */
    const char *threads;     /* "0.9 of 1 threads"; NULL: not known */
    const char *vs_parent;   /* of the same run; NULL: none */
    const char *rests_on;    /* what it rests on, one line; NULL: its report was not read */
    int64_t time_s;
    int64_t waited_ns; /* for other timings on the machine, as its report says */
};

struct hone_best_measurement {
    struct hone_measurement best;
    const char *refutation;     /* it was found wrong: how, and where, one line; NULL: never */
    bool has_passed;            /* refuted, and another measurement called it right */
    const char *review;         /* rules of any measurement, the latest that has some, after that
                                   one refutes others; NULL: none */
    const char *contradiction;  /* of its confirmations, as a sentence; NULL: none */
    int64_t waited_ns;          /* of all measurements whose reports were read */
    struct hone_array evidence; /* of struct hone_measurement, oldest first */
};

/* version needs its trailers; report_json may be NULL. Reads the evidence from history. */
int hone_best_measurement_read(struct hone_history *history, const struct hone_version *version,
                               struct hone_pool *pool, struct hone_best_measurement *ret,
                               struct hone_err *err);

/* It says that the output is wrong: incorrect, or failed by what the version does and not for a
 * compiler, a device or a limit. */
bool hone_is_refutation(enum hone_verdict verdict, enum hone_reason reason);

/* One line that says where and how the version was found wrong; NULL: nowhere. */
const char *hone_refutation_of(struct hone_history *history, const char *commit,
                               struct hone_pool *pool);

/* What one evidence commit says (history.h). */
void hone_measurement_of(const struct hone_version *evidence, struct hone_pool *pool,
                         struct hone_measurement *ret);

/* The best founded report of a version: the latest that refutes it, else the best founded one
 * (above). false: it has none. */
bool hone_best_report_read(struct hone_history *history, const struct hone_version *version,
                           struct hone_pool *pool, struct hone_report *ret);

/* The same rule (top) between two reports of one version: next, the later one, counts instead of
 * until. True too where until timed nothing. */
bool hone_report_is_better_founded(const struct hone_report *next, const struct hone_report *until);

/* It has rules to look at, or its best founded measurement is suspicious. */
bool hone_best_measurement_is_for_review(const struct hone_best_measurement *measured);

/* The trailers as one object; owned by the caller. */
struct hone_json *hone_version_trailers_json(const struct hone_version *version);

#endif
