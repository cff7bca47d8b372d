/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a model's answer and makes the new source of it (coder_answer.h has the format).
 *
 * Flow: parse goes over the lines, collects each block into an edit (a range of the shown
 * source and its new text), then build sorts the edits, refuses overlaps and writes the result.
 * Nothing is applied when any block is wrong; the error's text is meant for the next prompt. */
#include "agents/coder/coder_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

struct span {
    const char *text;
    size_t len;
};

struct edit { /* of the source's bytes */
    size_t begin, end;
    struct span with;
};

struct work {
    const char *source;
    size_t len;
    struct edit edits[HONE_LIMIT_EDITS];
    size_t n;
    struct span file, why;
    bool has_file, is_declined;
};

/* ---- lines ---- */

void hone_line_tag(const char *line, size_t len, char ret[HONE_LINE_TAG_BYTES])
{
    char hex[HONE_HASH_TEXT_BYTES];
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    hone_hash(line, len, hex);
    snprintf(ret, HONE_LINE_TAG_BYTES, "%.4s", hex);
}

const char *hone_tagged_source(const char *source, struct hone_pool *pool)
{
    struct hone_buf out = {.limit = 8 * HONE_LIMIT_SOURCE_BYTES + 1024};
    char tag[HONE_LINE_TAG_BYTES];
    for (size_t n = 1; *source; n++) {
        size_t len = strcspn(source, "\n");
        hone_line_tag(source, len, tag);
        hone_buf_printf(&out, "%zu:%s| ", n, tag);
        hone_buf_add(&out, source, len);
        hone_buf_add(&out, "\n", 1);
        source += len + (source[len] == '\n');
    }
    const char *text = hone_pool_strdup(pool, out.data ? out.data : "");
    hone_buf_done(&out);
    return text;
}

/* Bytes of line n (from 1), its newline included; false: there is none. */
static bool find_line(const struct work *w, long n, size_t *ret_begin, size_t *ret_end)
{
    size_t at = 0;
    for (long i = 1; at < w->len; i++) {
        const char *newline = memchr(w->source + at, '\n', w->len - at);
        size_t end = newline ? (size_t)(newline - w->source) + 1 : w->len;
        if (i == n) {
            *ret_begin = at;
            *ret_end = end;
            return true;
        }
        at = end;
    }
    return false;
}

/* ---- blocks ---- */

static int add_edit(struct work *w, size_t begin, size_t end, struct span with,
                    struct hone_err *err)
{
    if (w->n == HONE_LIMIT_EDITS)
        return hone_fail(err, HONE_E_LIMIT, "more than %d edits; send the whole file instead",
                         HONE_LIMIT_EDITS);
    for (size_t i = 0; i < w->n; i++)
        if (begin < w->edits[i].end && w->edits[i].begin < end)
            return hone_fail(err, HONE_E_ARG, "two edits change the same lines");
    w->edits[w->n++] = (struct edit){begin, end, with};
    return 0;
}

/* "12:a3f1" */
static const char *read_anchor(const char *at, const char *stop, long *ret_line,
                               char ret_tag[HONE_LINE_TAG_BYTES])
{
    long line = 0;
    int n = 0;
    while (at < stop && *at == ' ')
        at++;
    while (at < stop && isdigit((unsigned char)*at) && n++ < 7)
        line = 10 * line + (*at++ - '0');
    if (n == 0 || at >= stop || *at++ != ':')
        return NULL;
    for (n = 0; n < 4 && at < stop && isxdigit((unsigned char)*at); n++)
        ret_tag[n] = (char)tolower((unsigned char)*at++);
    ret_tag[n] = '\0';
    *ret_line = line;
    return n == 4 ? at : NULL;
}

static int check_anchor(const struct work *w, long line, const char *tag, size_t *ret_begin,
                        size_t *ret_end, struct hone_err *err)
{
    char real[HONE_LINE_TAG_BYTES];
    if (!find_line(w, line, ret_begin, ret_end))
        return hone_fail(err, HONE_E_ARG, "an edit names line %ld, which the source does not have",
                         line);
    size_t len = *ret_end - *ret_begin;
    if (len > 0 && w->source[*ret_end - 1] == '\n')
        len--;
    hone_line_tag(w->source + *ret_begin, len, real);
    if (strcmp(real, tag) != 0)
        return hone_fail(err, HONE_E_ARG,
                         "an edit names line %ld with tag %s, but that line's tag is %s; copy "
                         "number and tag from the shown source",
                         line, tag, real);
    return 0;
}

static const char *skip_blanks(const char *at, const char *stop)
{
    while (at && at < stop && (*at == ' ' || *at == '\r'))
        at++;
    return at;
}

static int take_edit(struct work *w, struct span head, struct span body, struct hone_err *err)
{
    const char *stop = head.text + head.len;
    char tags[2][HONE_LINE_TAG_BYTES];
    long lines[2];
    const char *at = skip_blanks(read_anchor(head.text, stop, &lines[0], tags[0]), stop);
    if (at && at == stop) { /* one line */
        lines[1] = lines[0];
        memcpy(tags[1], tags[0], sizeof(tags[1]));
    } else if (at) {
        at = skip_blanks(read_anchor(at, stop, &lines[1], tags[1]), stop);
    }
    if (!at || at != stop)
        return hone_fail(err, HONE_E_ARG,
                         "an @@EDIT line must read '@@EDIT <first>:<tag> <last>:<tag>', or "
                         "'@@EDIT <line>:<tag>' for one line");
    if (!w->source)
        return hone_fail(err, HONE_E_ARG, "there is no source to edit yet; send @@FILE");
    size_t begin = 0, end = 0, unused = 0;
    int r = check_anchor(w, lines[0], tags[0], &begin, &unused, err);
    if (r == 0)
        r = check_anchor(w, lines[1], tags[1], &unused, &end, err);
    if (r == 0 && lines[1] < lines[0])
        r = hone_fail(err, HONE_E_ARG, "an edit ends in front of its beginning");
    return r < 0 ? r : add_edit(w, begin, end, body, err);
}

/* The line end in front of the marker belongs to the text, or to the marker where the text ends
 * within a line: then it is none of the new text's either. */
static const char *find_part(const struct work *w, struct span *old, struct span *with)
{
    if (old->len < 2 || old->text[old->len - 1] != '\n')
        return NULL;
    old->len--;
    if (with->len > 0 && with->text[with->len - 1] == '\n')
        with->len--;
    return memmem(w->source, w->len, old->text, old->len);
}

static int take_search(struct work *w, struct span old, struct span with, struct hone_err *err)
{
    if (!w->source)
        return hone_fail(err, HONE_E_ARG, "there is no source to edit yet; send @@FILE");
    if (old.len == 0)
        return hone_fail(err, HONE_E_ARG, "a @@SEARCH block is empty");
    const char *first = memmem(w->source, w->len, old.text, old.len);
    if (!first)
        first = find_part(w, &old, &with);
    if (!first)
        return hone_fail(err, HONE_E_ARG,
                         "the text of a @@SEARCH block (%zu bytes) does not occur in the source; "
                         "copy it exactly, without line numbers",
                         old.len);
    size_t begin = (size_t)(first - w->source);
    if (memmem(first + 1, w->len - begin - 1, old.text, old.len))
        return hone_fail(err, HONE_E_ARG,
                         "the text of a @@SEARCH block occurs more than once; take more lines");
    return add_edit(w, begin, begin + old.len, with, err);
}

static int take_file(struct work *w, struct span body, struct hone_err *err)
{
    if (w->has_file)
        return hone_fail(err, HONE_E_ARG, "there are two @@FILE blocks");
    w->has_file = true;
    w->file = body;
    return 0;
}

static int take_decline(struct work *w, struct span body, struct hone_err *err)
{
    while (body.len > 0 && isspace((unsigned char)body.text[body.len - 1]))
        body.len--;
    w->is_declined = true;
    w->why = body;
    return body.len > 0 ? 0
                        : hone_fail(err, HONE_E_ARG,
                                    "a @@DECLINE block is empty; say why the step cannot help "
                                    "here");
}

/* ---- the parser ---- */

static struct span next_line(const char **at)
{
    struct span line = {*at, strcspn(*at, "\n")};
    *at += line.len + ((*at)[line.len] == '\n');
    if (line.len > 0 && line.text[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Nothing may follow a marker but @@EDIT: there are no paths, only the one source. */
static bool is_marker(struct span line, const char *word)
{
    size_t n = strlen(word);
    while (line.len > n && (line.text[line.len - 1] == ' ' || line.text[line.len - 1] == '\t'))
        line.len--;
    return line.len == n && strncmp(line.text, word, n) == 0;
}

/* Models like to fence code again. */
static struct span without_fence(struct span body)
{
    if (body.len < 8 || strncmp(body.text, "```", 3) != 0)
        return body;
    const char *first = memchr(body.text, '\n', body.len);
    size_t end = body.len;
    while (end > 0 && (body.text[end - 1] == '\n' || body.text[end - 1] == '\r'))
        end--;
    if (!first || end < 4 || strncmp(body.text + end - 4, "\n```", 4) != 0)
        return body;
    size_t skip = (size_t)(first - body.text) + 1;
    return end - 3 < skip ? body : (struct span){body.text + skip, end - 3 - skip};
}

/* The lines up to the marker, without it; *at is behind it. false: it does not come. */
static bool read_body(const char **at, const char *marker, struct span *ret)
{
    const char *begin = *at;
    while (**at) {
        const char *line_begin = *at;
        struct span line = next_line(at);
        if (is_marker(line, marker)) {
            *ret = (struct span){begin, (size_t)(line_begin - begin)};
            return true;
        }
        if (line.len >= 2 && strncmp(line.text, "@@", 2) == 0)
            return false;
    }
    return false;
}

static int unfinished(struct hone_err *err, const char *marker)
{
    return hone_fail(err, HONE_E_ARG,
                     "a %s block has no end (or another marker inside); was the answer cut?",
                     marker);
}

static int take_block(struct work *w, struct span head, const char **at, struct hone_err *err)
{
    struct span body, with;
    if (head.len > 7 && strncmp(head.text, "@@EDIT ", 7) == 0) {
        if (!read_body(at, "@@END", &body))
            return unfinished(err, "@@EDIT");
        return take_edit(w, (struct span){head.text + 6, head.len - 6}, without_fence(body), err);
    }
    if (is_marker(head, "@@SEARCH")) {
        if (!read_body(at, "@@WITH", &body) || !read_body(at, "@@END", &with))
            return unfinished(err, "@@SEARCH");
        return take_search(w, without_fence(body), without_fence(with), err);
    }
    if (is_marker(head, "@@FILE")) {
        if (!read_body(at, "@@END", &body))
            return unfinished(err, "@@FILE");
        return take_file(w, without_fence(body), err);
    }
    if (is_marker(head, "@@DECLINE")) {
        if (!read_body(at, "@@END", &body))
            return unfinished(err, "@@DECLINE");
        return take_decline(w, body, err);
    }
    return hone_fail(
        err, HONE_E_ARG,
        "'%.*s' is no marker; '@@EDIT first:tag last:tag', '@@SEARCH', '@@FILE' and '@@DECLINE' "
        "are, and nothing else on their line",
        (int)(head.len < 24 ? head.len : 24), head.text);
}

static int parse(struct work *w, const char *answer, struct hone_err *err)
{
    while (*answer) {
        struct span line = next_line(&answer);
        if (line.len < 2 || strncmp(line.text, "@@", 2) != 0)
            continue;
        int r = take_block(w, line, &answer, err);
        if (r < 0)
            return r;
    }
    if (w->is_declined)
        return w->has_file || w->n > 0
                   ? hone_fail(err, HONE_E_ARG, "decline the step or carry it out, not both")
                   : 0;
    if (w->has_file && w->n > 0)
        return hone_fail(err, HONE_E_ARG, "send edits or the whole file, not both");
    if (!w->has_file && w->n == 0)
        return hone_fail(err, HONE_E_ARG,
                         "the answer holds no @@EDIT, @@SEARCH, @@FILE or @@DECLINE block");
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void add_with(struct hone_buf *out, const struct edit *e, const char *source)
{
    hone_buf_add(out, e->with.text, e->with.len);
    /* whole lines stay whole lines */
    bool had = e->end > e->begin && source[e->end - 1] == '\n';
    if (had && e->with.len > 0 && e->with.text[e->with.len - 1] != '\n')
        hone_buf_add(out, "\n", 1);
}

static int build(struct work *w, struct hone_buf *out, struct hone_err *err)
{
    size_t at = 0;
    if (w->has_file)
        hone_buf_add(out, w->file.text, w->file.len);
    qsort(w->edits, w->n, sizeof(w->edits[0]), by_begin);
    for (size_t i = 0; i < w->n; i++) {
        hone_buf_add(out, w->source + at, w->edits[i].begin - at);
        add_with(out, &w->edits[i], w->source);
        at = w->edits[i].end;
    }
    if (w->n > 0)
        hone_buf_add(out, w->source + at, w->len - at);
    if (hone_buf_check(out, NULL) < 0)
        return hone_fail(err, HONE_E_LIMIT, "the new source is larger than %u bytes",
                         HONE_LIMIT_SOURCE_BYTES);
    const char *text = out->data ? out->data : "";
    if (text[strspn(text, " \t\r\n")] == '\0')
        return hone_fail(err, HONE_E_ARG, "the new source is empty");
    if (strlen(text) != out->len || hone_utf8_valid_prefix(text, out->len) != out->len)
        return hone_fail(err, HONE_E_ARG, "the new source is no UTF-8 text");
    if (w->source && strcmp(text, w->source) == 0)
        return hone_fail(err, HONE_E_ARG, "the new source is the same as the old one");
    return 0;
}

int hone_coder_answer_apply(const char *source, const char *answer, struct hone_pool *pool,
                            const char **ret_source, const char **ret_declined,
                            struct hone_err *err)
{
    struct hone_buf out = {.limit = HONE_LIMIT_SOURCE_BYTES};
    HONE_AUTOFREE struct work *w = hone_calloc(1, sizeof(*w));
    w->source = source;
    w->len = source ? strlen(source) : 0;
    int r = parse(w, answer, err);
    if (r == 0 && !w->is_declined)
        r = build(w, &out, err);
    if (r == 0) {
        const char *why = hone_pool_strndup(pool, w->why.text ? w->why.text : "", w->why.len);
        *ret_source = w->is_declined ? NULL : hone_pool_strdup(pool, out.data);
        *ret_declined =
            w->is_declined ? hone_plain_line(pool, why, HONE_LIMIT_DECLINE_BYTES) : NULL;
    }
    hone_buf_done(&out);
    return r;
}
