/* SPDX-License-Identifier: Apache-2.0 */
/* hone doctor: its files share this; nobody else includes it.
 *
 *   verb_doctor.c      options, the list of lines, the verdict
 *   doctor_machine.c   what this machine gives
 *   doctor_search.c    with --task: whether a search will get through (agents/search/preflight.h) */
#ifndef HONE_SERVER_DOCTOR_H
#define HONE_SERVER_DOCTOR_H

#include "agents/search/preflight.h"
#include "server/verb.h"

struct hone_doctor_args {
    struct hone_common_args common;
    struct hone_search_options options; /* but for this */
    const char *lattices;
    int64_t disk_mib;
    bool json, ask, no_plateau, knowledge;
};

/* BAD: nothing can be evaluated, or the search would not get through: exit status 1. */
enum hone_doctor_level { HONE_DOCTOR_GOOD, HONE_DOCTOR_WEAK, HONE_DOCTOR_BAD };

struct hone_doctor {
    const struct hone_doctor_args *args;
    struct hone_json *lines, *reasons; /* owned; reasons: texts of what is bad */
    size_t n_bad, n_weak;
};

/* One finding: printed at once, unless all of it is to be JSON. */
void hone_doctor_tell(struct hone_doctor *doctor, enum hone_doctor_level level, const char *what,
                      const char *fmt, ...) HONE_PRINTF(4, 5);
void hone_doctor_machine(struct hone_doctor *doctor);
int hone_doctor_search(struct hone_doctor *doctor, struct hone_preflight *ret,
                       struct hone_err *err);
/* Takes the lines and reasons. Owned. */
struct hone_json *hone_doctor_search_json(struct hone_doctor *doctor,
                                          const struct hone_preflight *preflight);

#endif
