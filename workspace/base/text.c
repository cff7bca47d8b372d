/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people and models: foreign bytes made printable, cut and quoted, times in words, the
 * nearest known name. Results live in the pool that is handed in. */
#include "workspace/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "workspace/base/utf8.h"

#define MARK_BYTES 48 /* room for the note that says how much was cut */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Largest length <= len that ends at a character, at a line end when one is near. */
static size_t head_length(const char *text, size_t len)
{
    size_t at = len;

    while (at > 0 && is_continuation(text[at]))
        at--;
    for (size_t k = at; k > 0 && at - k < len / 4; k--)
        if (text[k - 1] == '\n')
            return k;
    return at;
}

static size_t tail_start(const char *text, size_t len, size_t start)
{
    size_t at = start;

    while (at < len && is_continuation(text[at]))
        at++;
    for (size_t k = at; k < len && k - at < (len - start) / 4; k++)
        if (text[k] == '\n')
            return k + 1;
    return at;
}

const char *hone_plain_cut(struct hone_pool *pool, const char *text, size_t max)
{
    size_t len, room, head, tail;

    if (text == NULL)
        return NULL;
    len = strlen(text);
    if (len <= max)
        return text;
    if (max <= 2 * MARK_BYTES)
        return hone_pool_printf(pool, "[... %zu bytes cut ...]", len);
    room = max - MARK_BYTES;
    head = head_length(text, room / 2);
    tail = tail_start(text, len, len - room / 2);
    return hone_pool_printf(pool, "%.*s\n[... %zu bytes cut ...]\n%s", (int)head, text, tail - head,
                            text + tail);
}

/* Lines that a text says, in its last one, that it lacks. */
static size_t lines_lacking(const char *text, size_t len)
{
    size_t at = len, n = 0;
    int used = 0;

    while (at > 0 && (at == len || text[at - 1] != '\n'))
        at--;
    bool is_note = sscanf(text + at, "... %9zu lines more%n", &n, &used) == 1 && used > 0;
    return is_note ? n : 0;
}

const char *hone_plain_lines(struct hone_pool *pool, const char *text, size_t max)
{
    char *safe, *at;
    size_t len, n;

    if (text == NULL)
        return NULL;
    safe = hone_pool_strdup(pool, text);
    hone_utf8_defuse(safe, ' ');
    len = strlen(safe);
    if (len <= max)
        return safe;
    n = lines_lacking(safe, len);
    n -= n > 0; /* the line that says so is counted below */
    len = max > MARK_BYTES ? max - MARK_BYTES : 0;
    while (len > 0 && safe[len - 1] != '\n')
        len--;
    for (at = safe + len; *at != '\0'; at++)
        n += *at == '\n' || at[1] == '\0';
    return hone_pool_printf(pool, "%.*s... %zu lines more\n", (int)len, safe, n);
}

const char *hone_plain_line(struct hone_pool *pool, const char *text, size_t max)
{
    size_t len = 0;
    char *out;

    if (text == NULL)
        return "";
    out = hone_pool_alloc(pool, max + 4);
    for (; *text != '\0' && len <= max; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c == 0x7F) {
            if (len > 0 && out[len - 1] != ' ')
                out[len++] = ' ';
        } else {
            out[len++] = *text;
        }
    }
    if (len > max) {
        if (max < 3)
            return "";
        len = max - 3;
        while (len > 0 && is_continuation(out[len]))
            len--;
        memcpy(out + len, "...", 4);
        hone_utf8_defuse(out, ' ');
        return out;
    }
    out[len] = '\0';
    hone_utf8_defuse(out, ' ');
    for (len = strlen(out); len > 0 && out[len - 1] == ' '; len--)
        out[len - 1] = '\0';
    return out;
}

static bool is_word_line(const char *line, const char *const *words, size_t n_words)
{
    while (*line != '\n' && *line != '\0' &&
           ((unsigned char)*line <= ' ' || (unsigned char)*line >= 0x7F))
        line++;
    for (size_t i = 0; i < n_words; i++) {
        size_t len = strlen(words[i]);
        if (strncasecmp(line, words[i], len) != 0)
            continue;
        len += strspn(line + len, " \t");
        if (line[len] == ':')
            return true;
    }
    return false;
}

const char *hone_plain_quote(struct hone_pool *pool, const char *text, const char *const *words,
                             size_t n_words)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;

    if (text == NULL)
        return NULL;
    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        hone_buf_str(&out, is_word_line(line, words, n_words) ? "> " : "");
        hone_buf_add(&out, line, len);
        line += len;
    }
    return hone_pool_strndup(pool, out.len > 0 ? out.data : "", out.len);
}

#define NAME_MAX_BYTES 64

static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1];
    size_t n = strlen(b);

    if (strlen(a) > NAME_MAX_BYTES || n > NAME_MAX_BYTES)
        return SIZE_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 1; k <= n; k++) {
            size_t change =
                diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[k - 1]));
            size_t shift = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            diagonal = row[k];
            row[k] = change < shift ? change : shift;
        }
    }
    return row[n];
}

const char *hone_plain_nearest(const char *name, const char *const *names, size_t n_names)
{
    const char *best = NULL;
    size_t least = strlen(name) / 2 + 2;

    for (size_t i = 0; i < n_names; i++) {
        size_t d = distance(name, names[i]);
        if (d < least && d < strlen(names[i])) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

const char *hone_plain_ns(struct hone_pool *pool, double ns)
{
    static const struct {
        double from;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

    for (size_t i = 0; i < HONE_COUNTOF(units); i++)
        if (ns >= units[i].from)
            return hone_pool_printf(pool, "%.3g %s", ns / units[i].from, units[i].unit);
    return hone_pool_printf(pool, "%.3g ns", ns);
}
