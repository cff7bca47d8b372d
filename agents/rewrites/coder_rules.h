/* SPDX-License-Identifier: Apache-2.0 */
/* The rule coder: source-to-source rewrites, one file each in this folder, and the table of them.
 *
 * A rewrite says where it could act (sites) and makes the new source (apply). It may be optimistic
 * about what is faster, and leans on the judge for what is right; it refuses only what it cannot
 * express. hone_coder_apply parses the result again and refuses a text that is no C. */
#ifndef HONE_AGENTS_CODER_RULES_H
#define HONE_AGENTS_CODER_RULES_H

#include "agents/source/site.h"

enum hone_rewrite_form {                          /* of the text that it is asked about */
                         HONE_REWRITE_EITHER,     /* as written, else in the normal form */
                         HONE_REWRITE_AS_WRITTEN, /* the normal form would undo what was won */
                         HONE_REWRITE_NORMAL      /* the normal form, else as written */
};

struct hone_rewrite {
    const char *name;     /* "thread_outer" */
    const char *target;   /* NULL: cpu */
    const char *strategy; /* catalogue id, "C08" */
    const char *words;    /* commit subject: "thread the outer loops" */
    enum hone_rewrite_form form;
    /* May it be applied to text that all threads of a parallel region run, sharing some of its loops
     * (omp for)? It leaves the order of statements as it is. */
    bool suits_region;
    /* A rewrite that is part of the step: it is applied to the new text at its first place, if it
     * finds one there. NULL: none. */
    const char *then;
    /* Fills in at most max sites, best first; returns how many. */
    size_t (*sites)(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max);
    /* New source in the pool; NULL with err set when it cannot be expressed. */
    char *(*apply)(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err);
};

extern const struct hone_rewrite *const hone_rewrites[];
extern const size_t hone_n_rewrites;
const struct hone_rewrite *hone_rewrite_find(const char *name); /* NULL: none */
bool hone_rewrite_is_for(const struct hone_rewrite *rewrite, const char *target);

/* Sites of one rewrite, with lines and anchors filled in; none when it is for another target. */
size_t hone_coder_sites(const struct hone_rewrite *rewrite, const struct hone_coder_input *in,
                        struct hone_coder_site ret[HONE_CODER_MAX_SITES]);
/* The new source, checked by parsing it; in the pool. HONE_E_ARG when the rewrite refuses or its
 * text is no C. */
int hone_coder_apply(struct hone_c_parser *parser, const struct hone_rewrite *rewrite,
                     const struct hone_coder_input *in, const struct hone_coder_site *site,
                     const char **ret_source, struct hone_err *err);

/* For rewrites: "__attribute__((const)) float sqrtf(float);" for each function of <math.h> that the
 * text calls and that sets errno, which keeps gcc from vectorising; "" where the text has them. In
 * the pool. */
const char *hone_const_math(const struct hone_coder_input *in);

#endif
