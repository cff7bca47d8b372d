/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cuda_emulator/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void emu_append(struct emu_text *text, const char *bytes, size_t len)
{
    if (text->len + len + 1 > text->room) {
        text->room = 2 * (text->len + len + 1);
        text->at = realloc(text->at, text->room);
        if (text->at == NULL)
            abort();
    }
    memcpy(text->at + text->len, bytes, len);
    text->len += len;
    text->at[text->len] = '\0';
}
void emu_printf(struct emu_text *text, const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&line, format, args);
    va_end(args);
    if (len < 0)
        abort();
    emu_append(text, line, (size_t)len);
    free(line);
}

struct scanner {
    const char *at;
    struct emu_scan *ret;
    bool is_system, has_launches;
    char file[256], user_file[256]; /* the latter: the last that is no system header */
    int line;
    /* the statement */
    bool is_template, has_extern, is_shared, is_kernel;
    int parens;
    size_t name, name_len;     /* last identifier, in out */
    size_t params, params_len; /* of a kernel; 0: not seen */
    size_t kernel, kernel_len; /* its name, in out */
    int depth, kernel_depth;   /* of braces; kernel_depth: of an open kernel body, or -1 */
    int function_depth;        /* the same for any function */
    bool has_parens, is_type;
    size_t extern_at; /* in out */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void statement_ends(struct scanner *s)
{
    s->is_template = s->has_extern = s->is_shared = s->is_kernel = false;
    s->has_parens = s->is_type = false;
    s->parens = 0;
    s->name_len = 0;
}

/* # 12 "file" 3 */
static void line_marker(struct scanner *s)
{
    const char *end = strchrnul(s->at, '\n');
    char file[256] = "";
    int line, flags[4] = {0};
    if (sscanf(s->at, "# %d \"%255[^\"]\" %d %d %d %d", &line, file, &flags[0], &flags[1],
               &flags[2], &flags[3]) >= 2) {
        s->is_system = false;
        for (int i = 0; i < 4; i++)
            s->is_system |= flags[i] == 3;
        /* Tokens of a system header's macro are marked too, inside of the user's file. */
        s->is_system &= strcmp(file, s->user_file) != 0;
        if (!s->is_system)
            memcpy(s->user_file, file, sizeof(file));
        s->line = line - 1;
        memcpy(s->file, file, sizeof(file));
    }
    emu_append(&s->ret->out, s->at, (size_t)(end - s->at));
    s->at = end;
}

/* The end of a string or character literal that begins here. */
static const char *literal_end(const char *at)
{
    char quote = *at++;
    while (*at != '\0' && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == quote ? at + 1 : at;
}
static const char *raw_end(const char *at) /* at the quote of R"x( */
{
    const char *open = strchr(at, '(');
    char close[32];
    if (open == NULL || open - at > 20)
        return literal_end(at);
    snprintf(close, sizeof(close), ")%.*s\"", (int)(open - at - 1), at + 1);
    const char *end = strstr(open, close);
    return end != NULL ? end + strlen(close) : at + strlen(at);
}
/* After the bracket that closes the one here; NULL when none does. */
static const char *matching(const char *at)
{
    int depth = 0;
    while (*at != '\0') {
        if (*at == '"' || *at == '\'') {
            at = literal_end(at);
            continue;
        }
        depth += strchr("([{", *at) != NULL ? 1 : strchr(")]}", *at) != NULL ? -1 : 0;
        at++;
        if (depth == 0)
            return at;
    }
    return NULL;
}

static void row_name(struct emu_scan *ret)
{
    emu_printf(&ret->out,
               " __attribute__((used, section(\"hone_emu_entries\"))) static constexpr auto "
               "hone_emu_e%u = hone_emu_make<",
               ret->n_rows++);
}
void emu_scan_row(struct emu_scan *scan, const char *expression)
{
    while (*expression == ' ' || *expression == '&')
        expression++;
    row_name(scan);
    emu_printf(&scan->out, "&%s>(%u);\n", expression, scan->n_rows - 1);
}

/* (int a, int b = 3) becomes (int a, int b): a type has no defaults. */
static void drop_defaults(char *params)
{
    int depth = 0;
    bool is_default = false;
    for (char *at = params; *at != '\0'; at++) {
        depth += strchr("([{<", *at) != NULL ? 1 : strchr(")]}>", *at) != NULL ? -1 : 0;
        if ((*at == ',' && depth == 1) || (*at == ')' && depth == 0))
            is_default = false;
        else if (*at == '=' && depth == 1)
            is_default = true;
        if (is_default)
            *at = ' ';
    }
}

static void kernel_row(struct scanner *s)
{
    struct emu_text *out = &s->ret->out;
    char *params = strndup(out->at + s->params, s->params_len);
    char *name = strndup(out->at + s->kernel, s->kernel_len);
    if (params == NULL || name == NULL)
        abort();
    for (char *at = params; *at != '\0'; at++) /* on one line, without line markers */
        if (*at == '\n') {
            *at = ' ';
            while (at[1] == '#') {
                char *end = strchrnul(at + 1, '\n');
                memset(at + 1, ' ', (size_t)(end - at - 1));
                at = *end == '\n' ? end : end - 1;
                *at = ' ';
            }
        }
    drop_defaults(params);
    row_name(s->ret);
    emu_printf(out, "static_cast<void (*)%s>(&%s)>(%u);", params, name, s->ret->n_rows - 1);
    free(params);
    free(name);
}

/* ---- assembler ---- */

/* What a template holds, what stands for it: %0 and %1 are the operands in order. */
static const struct {
    const char *holds, *becomes;
} known_asm[] = {
    {"globaltimer", "(%0) = hone_emu_globaltimer()"},
    {"%clock64", "(%0) = clock64()"},
    {"%clock", "(%0) = (unsigned)clock64()"},
    {"%nsmid", "(%0) = 4"},
    {"%smid", "(%0) = hone_emu_smid()"},
    {"%laneid", "(%0) = hone_emu_now.lane"},
    {"%warpid", "(%0) = hone_emu_warpid()"},
    {"nanosleep", "hone_emu_yield()"},
    {"prefetch", "((void)0)"},
    {"discard", "((void)0)"},
    {"membar", "__threadfence()"},
    {"fence", "__threadfence()"},
    {"bar.warp.sync", "__syncwarp()"},
    {"bar.sync 0;", "__syncthreads()"},
    {"barrier.sync 0;", "__syncthreads()"},
    {"trap;", "__trap()"},
    {"brkpt;", "__trap()"},
};

/* The n-th operand's expression in asm("..." : "=r"(a) : "l"(b)), by its bracket. */
static bool operand(const char *at, const char *end, int n, struct emu_text *ret)
{
    while (at < end && *at != ':')
        at = *at == '"' ? literal_end(at) : at + 1;
    while (at < end) {
        if (*at == '"') {
            at = literal_end(at);
        } else if (*at == '(') {
            const char *close = matching(at);
            if (close == NULL)
                return false;
            if (n-- == 0) {
                emu_append(ret, at + 1, (size_t)(close - at) - 2);
                return true;
            }
            at = close;
        } else {
            at++;
        }
    }
    return false;
}

static void emit_known(struct emu_text *out, const char *becomes, const char *open,
                       const char *close)
{
    for (; *becomes != '\0'; becomes++) {
        if (becomes[0] == '%' && isdigit((unsigned char)becomes[1])) {
            operand(open + 1, close - 1, becomes[1] - '0', out);
            becomes++;
        } else {
            emu_append(out, becomes, 1);
        }
    }
}

/* asm volatile("..." ...), the word already read */
static void assembler(struct scanner *s, const char *word, size_t word_len)
{
    struct emu_text *out = &s->ret->out, text = {0};
    const char *open = s->at;
    while (*open != '(' && *open != ';' && *open != '\0')
        open++;
    const char *close = *open == '(' ? matching(open) : NULL;
    if (close == NULL) {
        emu_append(out, word, word_len);
        return;
    }
    emu_append(&text, "", 0);
    for (const char *at = open + 1; at < close && *at != ':' && *at != ')';) {
        if (*at == '"') {
            const char *end = literal_end(at);
            emu_append(&text, at + 1, (size_t)(end - at) - 2);
            at = end;
        } else {
            at++;
        }
    }
    size_t at_known = 0, n_known = sizeof(known_asm) / sizeof(known_asm[0]);
    while (at_known < n_known && strstr(text.at, known_asm[at_known].holds) == NULL)
        at_known++;
    if (text.at[strspn(text.at, " \t")] == '\0') {
        emu_append(out, word, word_len);
        emu_append(out, s->at, (size_t)(close - s->at)); /* a barrier for the compiler */
    } else if (at_known < n_known) {
        emit_known(out, known_asm[at_known].becomes, open, close);
    } else {
        emu_printf(&s->ret->errors,
                   "%s(%d): error: inline assembler is not emulated (the macro HONE_EMULATED "
                   "tells this device): \"%.60s\"\n",
                   s->file, s->line, text.at);
    }
    for (; s->at < close; s->at++)
        if (*s->at == '\n') {
            s->line++;
            emu_append(out, "\n", 1);
        }
    free(text.at);
}

/* ---- launches: at <<< ---- */

static bool launch(struct scanner *s)
{
    struct emu_text *out = &s->ret->out;
    size_t begin = out->len;
    while (begin > 0 && isspace((unsigned char)out->at[begin - 1]))
        begin--;
    size_t end = begin;
    if (begin > 0 && out->at[begin - 1] == '>') {
        int depth = 0;
        do {
            begin--;
            depth += out->at[begin] == '>' ? 1 : out->at[begin] == '<' ? -1 : 0;
        } while (begin > 0 && depth > 0);
    }
    while (begin > 0 && (is_word(out->at[begin - 1]) || out->at[begin - 1] == ':'))
        begin--;
    const char *close = s->at + 3;
    while (*close != '\0' && strncmp(close, ">>>", 3) != 0) {
        const char *next = strchr("([{", *close) != NULL ? matching(close) : close + 1;
        close = *close == '"' || *close == '\'' ? literal_end(close) : next;
        if (close == NULL)
            return false;
    }
    if (*close == '\0' || begin == end)
        return false;
    char *kernel = strndup(out->at + begin, end - begin);
    if (kernel == NULL)
        abort();
    out->len = begin;
    emu_printf(out, "hone_emu_go(%s, hone_emu_shape(%.*s))", kernel, (int)(close - s->at) - 3,
               s->at + 3);
    for (; s->at < close; s->at++)
        s->line += *s->at == '\n';
    s->at = close + 3;
    free(kernel);
    return true;
}

/* ---- tokens ---- */

static void word(struct scanner *s)
{
    struct emu_text *out = &s->ret->out;
    const char *begin = s->at;
    while (is_word(*s->at))
        s->at++;
    size_t len = (size_t)(s->at - begin);
    if (*s->at == '"' && begin[len - 1] == 'R') {
        s->at = raw_end(s->at);
        emu_append(out, begin, (size_t)(s->at - begin));
        return;
    }
#define IS(text) (len == sizeof(text) - 1 && memcmp(begin, text, len) == 0)
    if (IS("__global__")) {
        s->is_kernel = true;
        return;
    }
    if (IS("__shared__")) {
        s->is_shared = true;
        if (s->has_extern && s->function_depth >= 0)
            memset(out->at + s->extern_at, ' ', 6); /* becomes a reference: see punctuation */
        else
            emu_append(out, "thread_local", 12);
        return;
    }
    if (IS("asm") || IS("__asm__") || IS("__asm")) {
        assembler(s, begin, len);
        return;
    }
    if (IS("alignas") && s->is_shared && *s->at == '(' && matching(s->at) != NULL) {
        const char *close = matching(s->at); /* after a declaration's first word, only so */
        emu_printf(out, "__attribute__((aligned%.*s))", (int)(close - s->at), s->at);
        s->at = close;
        return;
    }
    bool is_in_attribute = out->len > 0 && out->at[out->len - 1] == '(';
    if (IS("__noinline__") && !is_in_attribute) {
        emu_printf(out, "__attribute__((noinline))");
        return;
    }
    if (IS("template")) {
        const char *at = s->at + strspn(s->at, " \t\n");
        s->is_template |= !(at[0] == '<' && at[1 + strspn(at + 1, " \t")] == '>');
    }
    size_t before = out->len;
    while (before > 0 && isspace((unsigned char)out->at[before - 1]))
        before--;
    bool is_parameter = before > 0 && strchr("<,(", out->at[before - 1]) != NULL;
    if (!is_parameter)
        s->is_type |= IS("namespace") || IS("struct") || IS("class") || IS("union") || IS("enum");
    if (IS("extern")) {
        s->has_extern = true;
        s->extern_at = out->len;
    }
    s->name = out->len;
    s->name_len = len;
    emu_append(out, begin, len);
#undef IS
}

static void open_paren(struct scanner *s)
{
    struct emu_text *out = &s->ret->out;
    bool is_attribute = s->name_len == 13 && memcmp(out->at + s->name, "__attribute__", 13) == 0;
    size_t before = out->len;
    while (before > 0 && isspace((unsigned char)out->at[before - 1]))
        before--;
    /* The name of the kernel ends where the bracket begins. */
    if (s->is_kernel && !s->is_template && s->parens == 0 && s->params_len == 0 &&
        s->name_len > 0 && !is_attribute && s->name + s->name_len == before) {
        s->kernel = s->name;
        s->kernel_len = s->name_len;
        s->params = out->len;
    }
    s->parens++;
    s->has_parens = true;
    emu_append(out, s->at++, 1);
}
static void close_paren(struct scanner *s)
{
    s->parens -= s->parens > 0;
    emu_append(&s->ret->out, s->at++, 1);
    if (s->parens == 0 && s->params != 0 && s->params_len == 0)
        s->params_len = s->ret->out.len - s->params;
}

static void punctuation(struct scanner *s)
{
    char c = *s->at;
    struct emu_text *out = &s->ret->out;
    if (c == '(') {
        open_paren(s);
        return;
    }
    if (c == ')') {
        close_paren(s);
        return;
    }
    if (c == '<' && s->has_launches && strncmp(s->at, "<<<", 3) == 0 && launch(s))
        return;
    bool is_dynamic = s->is_shared && s->has_extern && s->parens == 0;
    bool is_inside = s->function_depth >= 0; /* where templates would lose a symbol's name */
    if (c == '[' && is_dynamic && is_inside && s->name_len > 0 &&
        s->name + s->name_len == out->len) {
        char *name = strndup(out->at + s->name, s->name_len);
        out->len = s->name;
        emu_printf(out, "(&%s)", name);
        free(name);
        s->name_len = 0;
    }
    if (c == ';' && is_dynamic)
        emu_printf(out, is_inside ? " = hone_emu_array{}" : " __asm__(\"hone_emu_dynamic\")");
    emu_append(out, s->at++, 1);
    if (c == '{') {
        if (s->function_depth < 0 && s->has_parens && !s->is_type)
            s->function_depth = s->depth;
        if (s->is_kernel && s->params_len > 0 && s->kernel_depth < 0)
            s->kernel_depth = s->depth;
        s->depth++;
    } else if (c == '}') {
        s->depth--;
        if (s->depth == s->function_depth)
            s->function_depth = -1;
        if (s->depth == s->kernel_depth) {
            kernel_row(s);
            s->kernel_depth = -1;
        }
    }
    if (c == '{' || c == '}' || (c == ';' && s->parens == 0)) {
        statement_ends(s);
        if (s->kernel_depth < 0)
            s->params = s->params_len = 0;
    }
}

void emu_scan(const char *text, bool has_launches, struct emu_scan *ret)
{
    struct scanner s = {.at = text,
                        .ret = ret,
                        .has_launches = has_launches,
                        .kernel_depth = -1,
                        .function_depth = -1};
    bool is_line_start = true;
    while (*s.at != '\0') {
        char c = *s.at;
        if (is_line_start && c == '#') {
            line_marker(&s);
            continue;
        }
        if (s.is_system) {
            const char *end = strchr(s.at, '\n');
            end = end != NULL ? end + 1 : s.at + strlen(s.at);
            emu_append(&ret->out, s.at, (size_t)(end - s.at));
            s.at = end;
            continue;
        }
        is_line_start = c == '\n';
        if (isdigit((unsigned char)c)) {
            const char *begin = s.at;
            while (is_word(*s.at) || *s.at == '.' || (*s.at == '\'' && is_word(s.at[1])))
                s.at++;
            emu_append(&ret->out, begin, (size_t)(s.at - begin));
        } else if (is_word(c)) {
            word(&s);
        } else if (c == '"' || c == '\'') {
            const char *end = literal_end(s.at);
            emu_append(&ret->out, s.at, (size_t)(end - s.at));
            s.at = end;
        } else if (isspace((unsigned char)c)) {
            s.line += c == '\n';
            emu_append(&ret->out, s.at++, 1);
        } else {
            punctuation(&s);
        }
    }
}
