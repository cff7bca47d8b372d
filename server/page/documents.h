/* SPDX-License-Identifier: Apache-2.0 */
/* The manual's pages for users, as they stand in docs/, inside of the program: who reaches hone through
 * its protocol alone can read them (hone://docs/NAME).
 *
 * Constant data; any thread. */
#ifndef HONE_SERVER_DOCUMENTS_H
#define HONE_SERVER_DOCUMENTS_H

#include <stddef.h>

struct hone_document {
    const char *name; /* of the file, without ".md": "verdict" */
    const char *text; /* Markdown, NUL-terminated; begins with "# TITLE" */
};

extern const struct hone_document hone_documents[];
extern const size_t hone_n_documents;

/* NULL: no such page. */
const struct hone_document *hone_document_find(const char *name);
/* Of its first line; owned. */
char *hone_document_title(const struct hone_document *document);

#endif
