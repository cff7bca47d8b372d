/* SPDX-License-Identifier: Apache-2.0 */
/* Text edits on a source: replacements by byte range, applied together.
 *
 * Edits may nest only by rendering the inner range first (hone_c_edit_text) and replacing the outer
 * one with the result. */
#ifndef HONE_AGENTS_C_EDIT_H
#define HONE_AGENTS_C_EDIT_H

#include "agents/source/c_tree.h"

struct hone_c_edit {
    uint32_t begin, end;
    const char *text;
};
struct hone_c_edits {
    const struct hone_c_tree *tree;
    struct hone_c_edit *v; /* in the pool */
    size_t n, cap;
};

void hone_c_edits_init(struct hone_c_edits *edits, const struct hone_c_tree *tree);
/* text in the pool, or constant. begin == end inserts; insertions at one place keep their order. */
void hone_c_replace(struct hone_c_edits *edits, uint32_t begin, uint32_t end, const char *text);
/* Each reference to decl under top becomes text. */
void hone_c_replace_refs(struct hone_c_edits *edits, const struct hone_c_node *top,
                         const struct hone_c_node *decl, const char *text);
/* The range with the edits inside it applied; edits that cross its border are left out.
 * In the pool. */
char *hone_c_edit_text(const struct hone_c_edits *edits, uint32_t begin, uint32_t end);
/* For each line of the whole text with the edits the line of the source that it came from, as
 * struct hone_c_tree has it; in the pool. */
uint32_t *hone_c_edit_lines(const struct hone_c_edits *edits);
/* White space in front of the line that holds the offset; in the pool. */
char *hone_c_indent(const struct hone_c_tree *tree, uint32_t offset);
/* The text laid out anew by braces and headers, line breaks kept; in the pool. */
char *hone_c_layout(struct hone_pool *pool, const char *text);

#endif
