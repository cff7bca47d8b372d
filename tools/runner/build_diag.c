#include "tools/runner/build_diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workspace/base/limits.h"

#define MAX_PARSED  200 /* lines that are looked at; the 20 worst of them are kept */
#define MAX_REMARKS 100
#define MAX_MESSAGE 1000

struct severity {
    const char *text, *word;
};

/* The assembler writes them with a capital. */
static const struct severity severities[] = {
    {"fatal error: ", "error"}, {"error: ", "error"}, {"warning: ", "warning"}, {"note: ", "note"}};

struct symptom {
    const char *text;
    size_t offset; /* of the flag in struct hone_diag_out */
};

static const struct symptom symptoms[] = {
    {"ld returned", offsetof(struct hone_diag_out, has_link_error)},
    {"ld: cannot find", offsetof(struct hone_diag_out, has_link_error)},
    {"undefined reference to", offsetof(struct hone_diag_out, has_link_error)},
    {"linker command failed", offsetof(struct hone_diag_out, has_link_error)},
    {"out of memory", offsetof(struct hone_diag_out, is_out_of_memory)},
    {"virtual memory exhausted", offsetof(struct hone_diag_out, is_out_of_memory)},
    {"memory exhausted", offsetof(struct hone_diag_out, is_out_of_memory)},
    {"Cannot allocate memory", offsetof(struct hone_diag_out, is_out_of_memory)},
    {"Bad system call signal", offsetof(struct hone_diag_out, is_killed_call)},
    {"File size limit exceeded", offsetof(struct hone_diag_out, is_too_big)},
    {"File too large", offsetof(struct hone_diag_out, is_too_big)},
    {"file truncated", offsetof(struct hone_diag_out, is_too_big)},
    {"No space left on device", offsetof(struct hone_diag_out, is_too_big)},
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
        ret->severity = severities[i].word;
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
    *ret = (struct hone_diagnostic){.severity = "error", .arm = in->arm, .message = what};
    return true;
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
    if (out.len > 0)
        diagnostic->context = hone_pool_strdup(pool, out.data);
}

/* Errors first, each followed by its notes; then warnings. */
static void pick(const struct hone_diagnostic *all, size_t n, const char *severity,
                 struct hone_array *into)
{
    struct hone_diagnostic *to = into->v;
    bool take = false;
    for (size_t i = 0; i < n && into->n < HONE_LIMIT_DIAGNOSTICS; i++) {
        if (strcmp(all[i].severity, "note") != 0)
            take = strcmp(all[i].severity, severity) == 0;
        if (take)
            to[into->n++] = all[i];
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
    for (size_t i = 0; i < HONE_COUNTOF(symptoms); i++)
        if (strstr(text, symptoms[i].text) != NULL)
            *(bool *)((char *)ret + symptoms[i].offset) = true;
    while (n < MAX_PARSED && next_line(&text, &line)) {
        struct hone_diagnostic found = {.severity = "note"};
        if (parse_line(in, &line, pool, &found))
            ret->has_error = ret->has_error || strcmp(found.severity, "error") == 0;
        else if (!parse_link_line(in, &line, pool, &found))
            continue;
        all[n++] = found;
    }
    ret->diagnostics.v = hone_pool_alloc(pool, HONE_LIMIT_DIAGNOSTICS * sizeof(*all));
    pick(all, n, "error", &ret->diagnostics);
    pick(all, n, "warning", &ret->diagnostics);
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
static void keep_remark(struct hone_array *into, int64_t number, const char *kind,
                        const char *message)
{
    struct hone_remark *list = into->v;
    size_t i = 0;
    while (i < into->n && list[i].line < number)
        i++;
    if (i < into->n && list[i].line == number) {
        if (strcmp(list[i].kind, "vectorized") != 0 && strcmp(kind, "vectorized") == 0)
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
            keep_remark(ret, found.number, "vectorized", found.message);
        else if (!found.is_missed && strstr(found.message, "basic block part vectorized") != NULL)
            keep_remark(ret, found.number, "note", found.message);
        else if (found.is_missed && strncmp(found.message, "couldn't vectorize loop", 23) == 0)
            loop = found.number;
        else if (found.is_missed && strncmp(found.message, "not vectorized:", 15) == 0 &&
                 loop > 0) {
            const char *why = found.number == loop
                                  ? found.message
                                  : hone_pool_printf(pool, "%s (line %lld)", found.message,
                                                     (long long)found.number);
            keep_remark(ret, loop, "missed", why);
            loop = 0;
        }
    }
}
