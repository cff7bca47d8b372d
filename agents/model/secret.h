/* SPDX-License-Identifier: Apache-2.0 */
/* A secret (the key of a model's provider): a type of its own, so that nothing prints it.
 *
 * It comes from an environment variable or from a file that only its owner can read; its bytes are
 * wiped when it goes. hone_secret_reveal is for the one place that sends it (http.c). */
#ifndef HONE_AGENTS_SECRET_H
#define HONE_AGENTS_SECRET_H

#include "workspace/base/err.h"

struct hone_secret { /* do not look inside */
    char *bytes_;
    size_t len_;
};

#define HONE_SECRET_INIT                                                                           \
    {                                                                                              \
        .bytes_ = NULL                                                                             \
    }

/* env: name of a variable, file: path ("~/" is the home folder); the one that is not NULL. White
 * space around it is cut off. HONE_E_NOT_FOUND: not there or empty · HONE_E_AUTH: others may read
 * the file, or it belongs to somebody else · HONE_E_ARG: not printable ASCII · HONE_E_LIMIT. */
int hone_secret_load(const char *env, const char *file, struct hone_secret *ret,
                     struct hone_err *err);
void hone_secret_done(struct hone_secret *secret); /* wipes */
bool hone_secret_is_set(const struct hone_secret *secret);
/* Overwrites every copy of the secret in a text with '*': what a provider says may repeat it. */
void hone_secret_redact(const struct hone_secret *secret, char *text);
const char *hone_secret_reveal(const struct hone_secret *secret); /* borrowed */

#endif
