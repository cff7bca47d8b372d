/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler output to diagnostics, line by line (build_diag.h).
 *
 * A line is a compiler's ("file:line:column: severity: message"), a linker's, or context of the
 * one before. The last lines say how the driver ended, which is the only part that a source
 * cannot print. Limits: HONE_LIMIT_... of diagnostics and of bytes a message. */
#include "tools/runner/build/build_diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define MAX_PARSED  200 /* lines that are looked at; the 20 worst of them are kept */
#define MAX_REMARKS 100
#define MAX_MESSAGE 1000

struct severity {
    const char *text;
    enum hone_severity severity;
};

/* The assembler writes them with a capital. */
static const struct severity severities[] = {{"fatal error: ", HONE_SEVERITY_ERROR},
                                             {"error: ", HONE_SEVERITY_ERROR},
                                             {"warning: ", HONE_SEVERITY_WARNING},
                                             {"note: ", HONE_SEVERITY_NOTE}};

struct symptom {
    const char *text;
    size_t offset; /* of the flag in struct hone_diag_out */
};

static const struct symptom symptoms[] = {
    {"ld returned", offsetof(struct hone_diag_out, has_link_error)},
    {"ld: cannot find", offsetof(struct hone_diag_out, has_link_error)},
    {"undefined reference to", offsetof(struct hone_diag_out, has_link_error)},
    {"linker command failed", offsetof(struct hone_diag_out, has_link_error)},
};

/* How a tool was ended says its caller, in its very last lines: "gcc: internal compiler error:
 * Killed signal terminated program cc1". What a source makes compilers print (#pragma message,
 * names of symbols) comes before; a source that has errors ends for these. */
enum tail { TAIL_TOOL, TAIL_LINKER, TAIL_LINKED, TAIL_MEMORY, TAIL_CLANG, N_TAILS };

static const struct {
    const char *last, *before; /* how the last line begins, and one before it; NULL: any */
    int n_before;              /* which: 1 the one before the last */
    const char *holds;         /* in the line before, behind the program's name */
} tails[N_TAILS] = {
    [TAIL_TOOL] = {"See <", NULL, 2, ": internal compiler error: "},
    [TAIL_LINKER] = {"compilation terminated.", "collect2: fatal error: ld terminated", 1, NULL},
    [TAIL_LINKED] = {"collect2: error: ld returned", NULL, 1, "ld: final link failed: "},
    [TAIL_MEMORY] = {"cc1", NULL, 0, ": out of memory allocating "},
    [TAIL_CLANG] = {"clang: ", "clang: error: unable to execute command: ", 1, NULL},
};

static const struct {
    const char *words;
    size_t offset;
    bool is_at_end; /* of the line; names of symbols are in quotes, which end behind them */
} endings[] = {
    {"Bad system call signal terminated program", offsetof(struct hone_diag_out, is_killed_call),
     false},
    {"File size limit exceeded signal terminated program",
     offsetof(struct hone_diag_out, is_too_big), false},
    {"Killed signal terminated program", offsetof(struct hone_diag_out, is_out_of_memory), false},
    {"[Bad system call]", offsetof(struct hone_diag_out, is_killed_call), false},
    {"[File size limit exceeded]", offsetof(struct hone_diag_out, is_too_big), false},
    {"[Killed]", offsetof(struct hone_diag_out, is_out_of_memory), false},
    {"final link failed: File truncated", offsetof(struct hone_diag_out, is_too_big), true},
    {"final link failed: file truncated", offsetof(struct hone_diag_out, is_too_big), true},
    {"final link failed: File too large", offsetof(struct hone_diag_out, is_too_big), true},
    {"final link failed: No space left on device", offsetof(struct hone_diag_out, is_too_big),
     true},
    {"final link failed: memory exhausted", offsetof(struct hone_diag_out, is_out_of_memory), true},
    {"out of memory allocating", offsetof(struct hone_diag_out, is_out_of_memory), false},
    {"unable to execute command: Bad system call", offsetof(struct hone_diag_out, is_killed_call),
     false},
    {"unable to execute command: File size limit exceeded",
     offsetof(struct hone_diag_out, is_too_big), false},
    {"unable to execute command: Killed", offsetof(struct hone_diag_out, is_out_of_memory), false},
};

struct line {
    const char *text;
    size_t len;
};

static bool next_line(const char **text, struct line *ret)
{
    if (**text == '\0')
        return false;
    ret->text = *text;
    ret->len = strcspn(*text, "\n");
    *text += ret->len + ((*text)[ret->len] == '\n');
    return true;
}

static bool read_number(const char **at, int64_t *ret)
{
    if (!isdigit((unsigned char)**at))
        return false;
    char *end = NULL;
    *ret = strtoll(*at, &end, 10);
    *at = end;
    return **at == ':';
}

/* "file:12:3: error: text" or the assembler's "file:12: Error: text". */
static bool parse_line(const struct hone_diag_in *in, const struct line *line,
                       struct hone_pool *pool, struct hone_diagnostic *ret)
{
    const char *text =
        hone_pool_strndup(pool, line->text, line->len > MAX_MESSAGE ? MAX_MESSAGE : line->len);
    const char *at = strchr(text, ':');
    int64_t number = 0;
    int64_t column = 0;
    if (at == NULL || at == text || text[0] == ' ')
        return false;
    const char *file = hone_pool_strndup(pool, text, (size_t)(at - text));
    at++;
    if (!read_number(&at, &number))
        return false;
    at++;
    if (read_number(&at, &column))
        at++;
    while (*at == ' ')
        at++;
    for (size_t i = 0; i < HONE_COUNTOF(severities); i++) {
        size_t len = strlen(severities[i].text);
        if (strncasecmp(at, severities[i].text, len) != 0)
            continue;
        bool is_ours = strcmp(file, in->file) == 0;
        const char *slash = strrchr(file, '/');
        ret->severity = severities[i].severity;
        ret->arm = in->arm;
        ret->line = is_ours ? number : 0;
        ret->column = is_ours ? column : 0;
        ret->message = is_ours
                           ? at + len
                           : hone_pool_printf(pool, "%s:%lld: %s", slash == NULL ? file : slash + 1,
                                              (long long)number, at + len);
        return true;
    }
    return false;
}

/* The linker's complaint has no line: "...: undefined reference to `foo'". */
static bool parse_link_line(const struct hone_diag_in *in, const struct line *line,
                            struct hone_pool *pool, struct hone_diagnostic *ret)
{
    const char *text =
        hone_pool_strndup(pool, line->text, line->len > MAX_MESSAGE ? MAX_MESSAGE : line->len);
    const char *what = strstr(text, "undefined reference to");
    what = what == NULL ? strstr(text, "multiple definition of") : what;
    what = what == NULL ? strstr(text, "ld: cannot find") : what;
    if (what == NULL)
        return false;
    *ret =
        (struct hone_diagnostic){.severity = HONE_SEVERITY_ERROR, .arm = in->arm, .message = what};
    return true;
}

static bool says_error(const char *text)
{
    return strncasecmp(text, "error", strlen("error")) == 0 ||
           strncasecmp(text, "fatal error", strlen("fatal error")) == 0;
}

/* No tool that passed has said an error, and none begins a warning's text with the word. */
static void quote_source(const struct hone_diag_in *in, struct hone_pool *pool,
                         struct hone_diagnostic *found)
{
    bool is_error = found->severity == HONE_SEVERITY_ERROR;
    if (is_error ? !in->has_passed : !says_error(found->message))
        return;
    found->severity = is_error ? HONE_SEVERITY_WARNING : found->severity;
    found->message = hone_pool_printf(pool, "the source says \"%s\"", found->message);
}

static void add_context(const struct hone_diag_in *in, struct hone_pool *pool,
                        struct hone_diagnostic *diagnostic)
{
    if (diagnostic->line < 1 || in->source == NULL)
        return;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const char *text = in->source;
    struct line line;
    for (int64_t number = 1; number <= diagnostic->line + 1 && next_line(&text, &line); number++)
        if (number >= diagnostic->line - 1)
            hone_buf_printf(&out, "%s%5lld%c %.*s", out.len == 0 ? "" : "\n", (long long)number,
                            number == diagnostic->line ? '>' : ' ',
                            (int)(line.len > 200 ? 200 : line.len), line.text);
    if (out.len > 0) {
        hone_utf8_defuse(out.data, '?');
        diagnostic->context = hone_pool_strdup(pool, out.data);
    }
}

/* Errors first, each followed by its notes; then warnings. */
static void pick(const struct hone_diagnostic *all, size_t n, enum hone_severity severity,
                 struct hone_array *into)
{
    struct hone_diagnostic *to = into->v;
    bool take = false;
    for (size_t i = 0; i < n && into->n < HONE_LIMIT_DIAGNOSTICS; i++) {
        if (all[i].severity != HONE_SEVERITY_NOTE)
            take = all[i].severity == severity;
        if (take)
            to[into->n++] = all[i];
    }
}

enum { LAST_LINES = 3 };

/* The last lines that are not empty, the very last first. */
static void last_lines(const char *text, struct hone_pool *pool, const char *ret[LAST_LINES])
{
    struct line line;
    for (int i = 0; i < LAST_LINES; i++)
        ret[i] = "";
    while (next_line(&text, &line)) {
        if (line.len == 0)
            continue;
        for (int i = LAST_LINES - 1; i > 0; i--)
            ret[i] = ret[i - 1];
        ret[0] =
            hone_pool_strndup(pool, line.text, line.len > MAX_MESSAGE ? MAX_MESSAGE : line.len);
    }
}

static bool begins(const char *text, const char *with)
{
    return with == NULL || strncmp(text, with, strlen(with)) == 0;
}

static void read_endings(const char *text, struct hone_pool *pool, struct hone_diag_out *ret)
{
    const char *last[LAST_LINES];
    last_lines(text, pool, last);
    for (int t = 0; t < N_TAILS; t++) {
        const char *line = last[tails[t].n_before];
        /* the program's name alone stands before what it says */
        const char *name_end = tails[t].holds != NULL ? strstr(line, tails[t].holds) : line;
        bool is_it = begins(last[0], tails[t].last) && begins(line, tails[t].before) &&
                     name_end != NULL && memchr(line, ' ', (size_t)(name_end - line)) == NULL;
        for (size_t i = 0; i < HONE_COUNTOF(endings) && is_it; i++) {
            const char *at = strstr(line, endings[i].words);
            if (at != NULL && (!endings[i].is_at_end || at[strlen(endings[i].words)] == '\0'))
                *(bool *)((char *)ret + endings[i].offset) = true;
        }
    }
}

void hone_diag_parse(const struct hone_diag_in *in, struct hone_pool *pool,
                     struct hone_diag_out *ret)
{
    struct hone_diagnostic *all = hone_pool_alloc(pool, MAX_PARSED * sizeof(*all));
    size_t n = 0;
    const char *text = in->text;
    struct line line;
    *ret = (struct hone_diag_out){.has_error = false};
    for (size_t i = 0; i < HONE_COUNTOF(symptoms) && !in->has_passed; i++)
        if (strstr(text, symptoms[i].text) != NULL)
            *(bool *)((char *)ret + symptoms[i].offset) = true;
    while (n < MAX_PARSED && next_line(&text, &line)) {
        struct hone_diagnostic found = {.severity = HONE_SEVERITY_NOTE};
        bool is_line = parse_line(in, &line, pool, &found);
        if (!is_line && !parse_link_line(in, &line, pool, &found))
            continue;
        quote_source(in, pool, &found);
        ret->has_error = ret->has_error || (is_line && found.severity == HONE_SEVERITY_ERROR);
        all[n++] = found;
    }
    if (!ret->has_error && !in->has_passed)
        read_endings(in->text, pool, ret);
    ret->diagnostics.v = hone_pool_alloc(pool, HONE_LIMIT_DIAGNOSTICS * sizeof(*all));
    pick(all, n, HONE_SEVERITY_ERROR, &ret->diagnostics);
    pick(all, n, HONE_SEVERITY_WARNING, &ret->diagnostics);
    struct hone_diagnostic *kept = ret->diagnostics.v;
    for (size_t i = 0; i < ret->diagnostics.n; i++)
        add_context(in, pool, &kept[i]);
}

/* Remarks: "k.c:9:91: optimized: loop vectorized using 64 byte vectors", "k.c:12:82: missed:
 * couldn't vectorize loop" and, on the next line, maybe of another line of the source, "k.c:14:3:
 * missed: not vectorized: control flow in loop." */
struct remark_line {
    int64_t number;
    bool is_missed;
    const char *message;
};

static bool parse_remark(const struct line *line, const char *file, struct hone_pool *pool,
                         struct remark_line *ret)
{
    size_t len = strlen(file);
    if (line->len <= len || strncmp(line->text, file, len) != 0 || line->text[len] != ':')
        return false;
    const char *at = hone_pool_strndup(pool, line->text + len + 1,
                                       line->len - len - 1 > 400 ? 400 : line->len - len - 1);
    int64_t column = 0;
    if (!read_number(&at, &ret->number))
        return false;
    at++;
    if (read_number(&at, &column))
        at++;
    while (*at == ' ')
        at++;
    ret->is_missed = strncmp(at, "missed:", 7) == 0;
    if (!ret->is_missed && strncmp(at, "optimized:", 10) != 0)
        return false;
    at += ret->is_missed ? 7 : 10;
    while (*at == ' ')
        at++;
    ret->message = at;
    return true;
}

/* One remark per line of the source: vectorized wins over missed (a loop has several versions), the
 * first of a kind wins. */
static void keep_remark(struct hone_array *into, int64_t number, enum hone_remark_kind kind,
                        const char *message)
{
    struct hone_remark *list = into->v;
    size_t i = 0;
    while (i < into->n && list[i].line < number)
        i++;
    if (i < into->n && list[i].line == number) {
        if (list[i].kind != HONE_REMARK_VECTORIZED && kind == HONE_REMARK_VECTORIZED)
            list[i] = (struct hone_remark){.line = number, .kind = kind, .message = message};
        return;
    }
    if (into->n == MAX_REMARKS)
        return;
    memmove(&list[i + 1], &list[i], (into->n - i) * sizeof(*list));
    list[i] = (struct hone_remark){.line = number, .kind = kind, .message = message};
    into->n++;
}

void hone_diag_remarks(const char *text, const char *file, struct hone_pool *pool,
                       struct hone_array *ret)
{
    struct line line;
    int64_t loop = 0; /* line of the loop that the last "couldn't vectorize loop" named */
    *ret = (struct hone_array){
        .v = hone_pool_alloc(pool, (MAX_REMARKS + 1) * sizeof(struct hone_remark))};
    while (next_line(&text, &line)) {
        struct remark_line found;
        if (!parse_remark(&line, file, pool, &found))
            continue;
        if (!found.is_missed && strstr(found.message, "loop vectorized") != NULL)
            keep_remark(ret, found.number, HONE_REMARK_VECTORIZED, found.message);
        else if (!found.is_missed && strstr(found.message, "basic block part vectorized") != NULL)
            keep_remark(ret, found.number, HONE_REMARK_NOTE, found.message);
        else if (found.is_missed && strncmp(found.message, "couldn't vectorize loop", 23) == 0)
            loop = found.number;
        else if (found.is_missed && strncmp(found.message, "not vectorized:", 15) == 0 &&
                 loop > 0) {
            const char *why = found.number == loop
                                  ? found.message
                                  : hone_pool_printf(pool, "%s (line %lld)", found.message,
                                                     (long long)found.number);
            keep_remark(ret, loop, HONE_REMARK_MISSED, why);
            loop = 0;
        }
    }
}
