/* SPDX-License-Identifier: Apache-2.0 */
/* Indentation of rewritten functions: four columns a level, one level per brace and per statement
 * that hangs on a header without braces.
 *
 * Rewrites move text between depths and put new text at the margin; the history is for people, so
 * the function is laid out again. Line breaks stay where they are. Strings and comments are skipped
 * when braces are counted. */
#include "agents/source/c_edit.h"

#include <ctype.h>
#include <string.h>

enum { MAX_DEPTH = 64, WIDTH = 4 };

struct layout {
    struct hone_buf out;
    int levels[MAX_DEPTH]; /* of the lines that opened the braces around */
    int depth;
    int parens;
    int hanging; /* headers without braces that wait for their statement */
    bool is_continued, in_comment, in_header;
};

static bool starts_with_word(const char *s, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && memcmp(s, word, n) == 0 &&
           (len == n || !(isalnum((unsigned char)s[n]) || s[n] == '_'));
}

static size_t skip_literal(const char *s, size_t len, size_t at)
{
    char quote = s[at++];
    while (at < len && s[at] != quote)
        at += s[at] == '\\' ? 2 : 1;
    return at;
}

/* Braces and parentheses of a line; returns the last character that is code, 0 when there is none.
 */
static char scan(struct layout *l, const char *s, size_t len, int level)
{
    char last = 0;
    for (size_t i = 0; i < len; i++) {
        if (l->in_comment) {
            l->in_comment = !(s[i] == '*' && i + 1 < len && s[i + 1] == '/');
            i += !l->in_comment;
            continue;
        }
        if (s[i] == '/' && i + 1 < len && s[i + 1] == '/')
            break;
        if (s[i] == '/' && i + 1 < len && s[i + 1] == '*') {
            l->in_comment = true;
            i++;
            continue;
        }
        if (!isspace((unsigned char)s[i]))
            last = s[i];
        if (s[i] == '"' || s[i] == '\'')
            i = skip_literal(s, len, i);
        l->parens += (s[i] == '(' || s[i] == '[') - (s[i] == ')' || s[i] == ']');
        if (s[i] == '{' && l->depth < MAX_DEPTH)
            l->levels[l->depth++] = level;
        if (s[i] == '}' && l->depth > 0)
            l->depth--;
    }
    return last;
}

static bool is_header(const char *s, size_t len)
{
    static const char *const words[] = {"for", "if", "while", "else", "do", "switch"};
    while (len > 0 && (s[0] == '}' || s[0] == ' ')) {
        s++;
        len--;
    }
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (starts_with_word(s, len, words[i]))
            return true;
    return false;
}

static int level_of(const struct layout *l, const char *s)
{
    int base = l->depth > 0 ? l->levels[l->depth - 1] + 1 : 0;
    if (s[0] == '}')
        return l->depth > 0 ? l->levels[l->depth - 1] : 0;
    if (s[0] == '{' && l->hanging > 0)
        return base + l->hanging - 1;
    return base + l->hanging;
}

static void put_line(struct layout *l, const char *s, size_t len)
{
    int level = level_of(l, s);
    bool is_first = l->parens == 0 && !l->is_continued;
    if (is_first)
        l->in_header = is_header(s, len);
    hone_buf_printf(&l->out, "%*s", WIDTH * (level + !is_first), "");
    hone_buf_add(&l->out, s, len);
    hone_buf_str(&l->out, "\n");
    char last = scan(l, s, len, level);
    if (last == 0)
        return;
    if (l->parens > 0) /* inside a header or a call that goes on */
        return;
    l->is_continued = false;
    if (last == ';' || last == '{' || last == '}')
        l->hanging = 0;
    else if (l->in_header)
        l->hanging++;
    else
        l->is_continued = true;
}

char *hone_c_layout(struct hone_pool *pool, const char *text)
{
    struct layout l = {.parens = 0};
    bool wants_blank = false, may_blank = false;
    for (const char *line = text; *line;) {
        size_t end = strcspn(line, "\n"), blank = strspn(line, " \t"), len = end;
        while (len > blank && isspace((unsigned char)line[len - 1]))
            len--;
        if (blank >= len) {
            wants_blank = may_blank;
        } else {
            if (wants_blank && line[blank] != '}')
                hone_buf_str(&l.out, "\n");
            if (line[blank] == '#')
                hone_buf_printf(&l.out, "%.*s\n", (int)(len - blank), line + blank);
            else
                put_line(&l, line + blank, len - blank);
            wants_blank = false;
            may_blank = line[len - 1] != '{';
        }
        line += end + (line[end] == '\n');
    }
    char *out = hone_pool_strdup(pool, l.out.data ? l.out.data : "");
    hone_buf_done(&l.out);
    return out;
}
