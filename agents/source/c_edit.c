/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/source/c_edit.h"

#include <stdlib.h>
#include <string.h>

void hone_c_edits_init(struct hone_c_edits *edits, const struct hone_c_tree *tree)
{
    *edits = (struct hone_c_edits){.tree = tree};
}

void hone_c_replace(struct hone_c_edits *e, uint32_t begin, uint32_t end, const char *text)
{
    e->v = hone_pool_grow(e->tree->pool, e->v, sizeof(*e->v), e->n, &e->cap);
    size_t at = e->n++;
    while (at > 0 && e->v[at - 1].begin > begin) {
        e->v[at] = e->v[at - 1];
        at--;
    }
    e->v[at] = (struct hone_c_edit){begin, end, text};
}

void hone_c_replace_refs(struct hone_c_edits *edits, const struct hone_c_node *top,
                         const struct hone_c_node *decl, const char *text)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl == decl)
            hone_c_replace(edits, n->begin, n->end, text);
}

char *hone_c_edit_text(const struct hone_c_edits *e, uint32_t begin, uint32_t end)
{
    const char *source = e->tree->source;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    uint32_t at = begin;
    for (size_t i = 0; i < e->n; i++) {
        if (e->v[i].begin < at || e->v[i].end > end)
            continue;
        hone_buf_add(&out, source + at, e->v[i].begin - at);
        hone_buf_str(&out, e->v[i].text);
        at = e->v[i].end;
    }
    hone_buf_add(&out, source + at, end - at);
    return hone_pool_strdup(e->tree->pool, out.data ? out.data : "");
}

static uint32_t as_written(const struct hone_c_tree *t, uint32_t line)
{
    return t->lines ? t->lines[line - 1] : line;
}

uint32_t *hone_c_edit_lines(const struct hone_c_edits *e)
{
    const struct hone_c_tree *t = e->tree;
    size_t room = t->len + 2, n = 0;
    for (size_t i = 0; i < e->n; i++)
        room += strlen(e->v[i].text);
    uint32_t *out = hone_pool_alloc(t->pool, room * sizeof(*out)), at = 0, line = 1;
    out[n++] = as_written(t, line);
    for (size_t i = 0; i <= e->n; i++) {
        const struct hone_c_edit last = {t->len, t->len, ""}, *edit = i < e->n ? &e->v[i] : &last;
        if (edit->begin < at)
            continue;
        for (; at < edit->begin; at++)
            if (t->source[at] == '\n')
                out[n++] = as_written(t, ++line);
        for (const char *c = edit->text; *c; c++)
            if (*c == '\n')
                out[n++] = as_written(t, line);
        bool is_line = edit->begin == 0 || t->source[edit->begin - 1] == '\n';
        for (; at < edit->end; at++)
            line += t->source[at] == '\n';
        if (is_line && !*edit->text) /* the line begins behind what was taken out */
            out[n - 1] = as_written(t, line);
    }
    return out;
}

char *hone_c_indent(const struct hone_c_tree *tree, uint32_t offset)
{
    uint32_t start = offset;
    while (start > 0 && tree->source[start - 1] != '\n')
        start--;
    size_t n = strspn(tree->source + start, " \t");
    return hone_pool_strndup(tree->pool, tree->source + start, n);
}
