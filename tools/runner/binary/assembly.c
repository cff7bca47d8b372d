/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks over the lines: where functions begin and how heavy they are, then the chosen one's
 * lines. A branch to a label that was seen already closes a loop. */
#include "tools/runner/binary/assembly.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define MAX_LABELS   4096 /* of one function; loops beyond are not seen */
#define LINE_KEPT    240
#define NOTE_BYTES   800
#define MARK_BYTES   48 /* room for the line that counts the missing ones */
#define LOOP_WEIGHT  9  /* added for each loop around an instruction */
#define BASE_BYTES   512
#define NUMBER_BYTES 20
#define PROLOGUE     40 /* so many instructions in front of the heaviest loop are shown with it */

enum kind { KIND_DROPPED, KIND_SOURCE, KIND_LABEL, KIND_INSTRUCTION, KIND_TEXT };

struct span {
    const char *at, *end;
};
struct line {
    struct span whole, text; /* text: without blanks at either end */
    enum kind kind;
    int64_t number; /* KIND_SOURCE: of the source; 0: of another file */
};

struct function {
    struct span name, body; /* body: from the line that begins it */
    double weight;
    size_t n_instructions;
    size_t loop,
        loop_end; /* instructions: the largest loop with none inside; equal: there is none */
};

struct label {
    struct span name;
    size_t at; /* instructions before it */
};

struct reader;
struct syntax {
    const char *kind, *comment;
    const char *label; /* how labels of branches begin */
    bool (*begins)(const struct line *line, struct span *ret_name);
    bool (*ends)(const struct line *line);
    void (*classify)(const struct reader *reader, struct line *line);
};

struct reader {
    const struct hone_assembly_request *req;
    const struct syntax *syntax;
    struct hone_pool *pool;
    long file_index; /* PTX: number of the source in its table; -1: none */
    struct function *functions;
    size_t n_functions;
    struct span *source; /* lines */
    size_t n_source;
    struct label *labels;
    size_t n_labels;
    const char *wanted; /* the request's without ":LINE"; NULL: none */
    int64_t from;       /* that line; 0: none */
};

/* ---- pieces of text ---- */

static bool starts(struct span s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s.end - s.at) >= n && memcmp(s.at, text, n) == 0;
}

static bool is_same(struct span s, const char *text)
{
    return (size_t)(s.end - s.at) == strlen(text) && starts(s, text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static struct span trimmed(struct span s)
{
    while (s.at < s.end && is_blank(*s.at))
        s.at++;
    while (s.at < s.end && is_blank(s.end[-1]))
        s.end--;
    return s;
}

static const char *find(struct span s, const char *text)
{
    return s.at < s.end ? memmem(s.at, (size_t)(s.end - s.at), text, strlen(text)) : NULL;
}

/* The next line of [*at, end); false: there is none. */
static bool next_line(const char **at, const char *end, struct line *ret)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    struct span whole = {*at, stop != NULL ? stop : end};
    *ret = (struct line){.whole = whole, .text = trimmed(whole)};
    *at = whole.end + 1;
    return true;
}

/* Decimal digits; 0: none, or too many. The text need not end behind them. */
static int64_t number_at(struct span s)
{
    int64_t value = 0;
    for (int i = 0; i < 9 && s.at < s.end && isdigit((unsigned char)*s.at); i++)
        value = 10 * value + (*s.at++ - '0');
    return s.at < s.end && isdigit((unsigned char)*s.at) ? 0 : value;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

static struct span name_at(struct span s)
{
    const char *end = s.at;
    while (end < s.end && is_name_char(*end))
        end++;
    return (struct span){s.at, end};
}

/* Does a path in quotation marks at s end in the source's name? *ret_rest: behind it. */
static bool names_source(const struct reader *reader, struct span s, struct span *ret_rest)
{
    const char *open = s.at < s.end ? memchr(s.at, '"', (size_t)(s.end - s.at)) : NULL;
    const char *close = open != NULL ? memchr(open + 1, '"', (size_t)(s.end - open - 1)) : NULL;
    if (close == NULL)
        return false;
    struct span name = {open + 1, close};
    for (const char *c = name.at; c < close; c++)
        if (*c == '/')
            name.at = c + 1;
    *ret_rest = (struct span){close + 1, s.end};
    return is_same(name, reader->req->file);
}

static bool is_label(struct span text, struct span *ret)
{
    *ret = (struct span){text.at, text.end - 1};
    return text.end - text.at > 1 && text.end[-1] == ':' && name_at(*ret).end == ret->end;
}

/* ---- nvdisasm ---- */

static bool sass_begins(const struct line *line, struct span *ret_name)
{
    bool is_it = starts(line->whole, ".text.") && is_label(line->text, ret_name);
    if (is_it)
        ret_name->at += strlen(".text.");
    return is_it;
}

static bool sass_ends(const struct line *line)
{
    return starts(line->text, ".section") || starts(line->text, "//---");
}

static void sass_classify(const struct reader *reader, struct line *line)
{
    static const char word[] = ", line ";
    struct span name, rest;
    if (starts(line->text, "//##")) {
        line->kind = KIND_SOURCE;
        if (names_source(reader, line->text, &rest) && starts(rest, word))
            line->number = number_at((struct span){rest.at + strlen(word), rest.end});
    } else if (starts(line->text, "/*")) {
        const char *close = find(line->text, "*/");
        line->kind = KIND_INSTRUCTION;
        if (close != NULL)
            line->text = trimmed((struct span){close + 2, line->text.end});
    } else if (is_label(line->text, &name)) {
        line->kind = KIND_LABEL;
    }
}

/* ---- PTX ---- */

static bool ptx_begins(const struct line *line, struct span *ret_name)
{
    static const char word[] = ".entry ";
    const char *at = starts(line->text, "//") ? NULL : find(line->text, word);
    if (at == NULL)
        return false;
    *ret_name = name_at(trimmed((struct span){at + strlen(word), line->text.end}));
    return ret_name->at < ret_name->end;
}

static bool ptx_ends(const struct line *line)
{
    return is_same(line->whole, "}");
}

static void ptx_classify(const struct reader *reader, struct line *line)
{
    struct span name, text = line->text;
    if (starts(text, ".loc")) {
        struct span file = trimmed((struct span){text.at + strlen(".loc"), text.end});
        struct span number = file;
        while (number.at < number.end && !is_blank(*number.at))
            number.at++;
        line->kind = KIND_SOURCE;
        if (number_at(file) == reader->file_index)
            line->number = number_at(trimmed(number));
    } else if (is_label(text, &name)) {
        line->kind = KIND_LABEL;
    } else if (text.at < text.end && !starts(text, "//")) {
        bool is_code = isalpha((unsigned char)*text.at) || *text.at == '@';
        line->kind = is_code ? KIND_INSTRUCTION : KIND_TEXT;
    }
}

static void find_file_index(struct reader *reader)
{
    const char *at = reader->req->text, *end = at + reader->req->len;
    struct line line;
    struct span rest;
    reader->file_index = -1;
    while (reader->file_index < 0 && next_line(&at, end, &line)) {
        if (starts(line.text, ".file") && names_source(reader, line.text, &rest))
            reader->file_index =
                (long)number_at(trimmed((struct span){line.text.at + 5, line.text.end}));
    }
}

/* ---- gcc -S -fverbose-asm ---- */

static bool asm_begins(const struct line *line, struct span *ret_name)
{
    return line->whole.at == line->text.at && !starts(line->text, ".") &&
           is_label(line->text, ret_name);
}

static bool asm_ends(const struct line *line)
{
    return starts(line->text, ".size");
}

/* Names of temporaries stay; signs of a comment with nothing behind them go. */
static struct span without_empty_comment(struct span text)
{
    struct span cut = text;
    while (cut.at < cut.end && (is_blank(cut.end[-1]) || cut.end[-1] == ','))
        cut.end--;
    return cut.at < cut.end && cut.end[-1] == '#' ? trimmed((struct span){cut.at, cut.end - 1})
                                                  : text;
}

static void asm_classify(const struct reader *reader, struct line *line)
{
    struct span name, text = line->text;
    size_t n = strlen(reader->req->file);
    if (starts(text, "# ") || starts(text, "// ")) {
        struct span rest = {text.at + (text.at[0] == '#' ? 2 : 3), text.end};
        line->kind = KIND_DROPPED;
        if (starts(rest, reader->req->file) && rest.at[n] == ':') {
            line->kind = KIND_SOURCE;
            line->number = number_at((struct span){rest.at + n + 1, rest.end});
        }
    } else if (is_label(text, &name)) {
        bool is_of_tools = starts(text, ".LF") || starts(text, ".LV") || starts(text, ".LB");
        line->kind = is_of_tools ? KIND_DROPPED : KIND_LABEL;
    } else if (text.at < text.end && text.at[0] != '.' && text.at[0] != '#') {
        line->kind = KIND_INSTRUCTION;
        line->text = without_empty_comment(text);
    }
}

static const struct syntax syntaxes[] = {
    {"sass", "//", ".L", sass_begins, sass_ends, sass_classify},
    {"ptx", "//", "$L", ptx_begins, ptx_ends, ptx_classify},
    {"asm", "#", ".L", asm_begins, asm_ends, asm_classify},
};

/* ---- functions ---- */

/* The label that an instruction names last. */
static struct span label_in(const struct reader *reader, struct span text)
{
    struct span found = {text.end, text.end};
    for (const char *at = find(text, reader->syntax->label); at != NULL;
         at = find((struct span){at + 1, text.end}, reader->syntax->label))
        found = name_at((struct span){at, text.end});
    return found;
}

/* Inner loops end before those around them. */
static void note_loop(struct function *function, size_t first, size_t end)
{
    bool is_around = first <= function->loop && function->loop_end <= end;
    bool has_one = function->loop_end > function->loop;
    if (has_one && (is_around || end - first <= function->loop_end - function->loop))
        return;
    function->loop = first;
    function->loop_end = end;
}

static void weigh(struct reader *reader, const struct line *line, struct function *function)
{
    size_t now = function->n_instructions;
    struct span name;
    if (line->kind == KIND_LABEL && reader->n_labels < MAX_LABELS && is_label(line->text, &name))
        reader->labels[reader->n_labels++] = (struct label){.name = name, .at = now};
    if (line->kind != KIND_INSTRUCTION)
        return;
    function->n_instructions++;
    function->weight += 1;
    name = label_in(reader, line->text);
    for (size_t i = reader->n_labels; name.at < name.end && i-- > 0;) {
        const struct label *label = &reader->labels[i];
        size_t n = (size_t)(name.end - name.at);
        if ((size_t)(label->name.end - label->name.at) != n ||
            memcmp(label->name.at, name.at, n) != 0)
            continue;
        if (label->at < now) { /* a branch to itself is padding */
            function->weight += LOOP_WEIGHT * (double)(now - label->at + 1);
            note_loop(function, label->at, now + 1);
        }
        return;
    }
}

static void add_function(struct reader *reader, const struct function *function)
{
    if (function->n_instructions > 0 && reader->n_functions < HONE_LIMIT_CUDA_KERNELS)
        reader->functions[reader->n_functions++] = *function;
}

static void find_functions(struct reader *reader)
{
    const char *at = reader->req->text, *end = at + reader->req->len;
    struct function now = {.n_instructions = 0};
    bool is_inside = false;
    struct line line;
    struct span name;
    while (next_line(&at, end, &line)) {
        bool begins = reader->syntax->begins(&line, &name);
        bool ends = is_inside && reader->syntax->ends(&line);
        if (is_inside && (begins || ends)) {
            now.body.end =
                begins || reader->syntax->ends != ptx_ends ? line.whole.at : line.whole.end;
            add_function(reader, &now);
            is_inside = false;
        }
        if (begins) {
            now = (struct function){.name = name, .body = {line.whole.at, end}};
            reader->n_labels = 0;
            is_inside = true;
        } else if (is_inside) {
            reader->syntax->classify(reader, &line);
            weigh(reader, &line, &now);
        }
    }
    if (is_inside)
        add_function(reader, &now);
}

static const char *pretty_of(const struct reader *reader, const struct function *function)
{
    const struct hone_assembly_request *req = reader->req;
    for (size_t i = 0; i < req->n_names; i++)
        if (is_same(function->name, req->names[i].name))
            return req->names[i].pretty;
    return req->n_names > 0 ? NULL
                            : hone_pool_strndup(reader->pool, function->name.at,
                                                (size_t)(function->name.end - function->name.at));
}

/* "NAME:LINE", "NAME" or ":LINE". */
static void read_wanted(struct reader *reader)
{
    const char *wanted = reader->req->wanted, *colon = wanted ? strrchr(wanted, ':') : NULL;
    bool is_number = colon != NULL && colon[1] >= '0' && colon[1] <= '9';
    char *end = NULL;
    long long line = is_number ? strtoll(colon + 1, &end, 10) : 0;

    reader->wanted = wanted;
    if (line <= 0 || *end != '\0')
        return;
    reader->from = line;
    reader->wanted =
        colon > wanted ? hone_pool_strndup(reader->pool, wanted, (size_t)(colon - wanted)) : NULL;
}

/* 0: no, 1: its name without arguments, 2: exactly. */
static int fit_of(const struct function *function, const char *pretty, const char *wanted)
{
    size_t n = strcspn(pretty, "<(");
    if (is_same(function->name, wanted) || strcmp(pretty, wanted) == 0)
        return 2;
    return strlen(wanted) == n && memcmp(pretty, wanted, n) == 0;
}

static const struct function *choose(const struct reader *reader)
{
    const struct function *best = NULL;
    const char *wanted = reader->wanted;
    int best_fit = 0;
    for (size_t i = 0; i < reader->n_functions; i++) {
        const struct function *function = &reader->functions[i];
        const char *pretty = pretty_of(reader, function);
        int fit = pretty == NULL ? 0 : wanted == NULL ? 1 : fit_of(function, pretty, wanted);
        if (fit > best_fit || (fit > 0 && fit == best_fit && function->weight > best->weight)) {
            best = function;
            best_fit = fit;
        }
    }
    return best;
}

/* "saxpy<4>, reduce" without the one that is shown; NULL: none. */
static const char *others(const struct reader *reader, const struct function *shown)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < reader->n_functions && out.len < NOTE_BYTES; i++) {
        const char *pretty = pretty_of(reader, &reader->functions[i]);
        if (&reader->functions[i] != shown && pretty != NULL)
            hone_buf_printf(&out, "%s%.200s", out.len > 0 ? ", " : "", pretty);
    }
    return out.len > 0 ? hone_pool_strdup(reader->pool, out.data) : NULL;
}

/* ---- the text ---- */

struct writer {
    struct hone_buf out;
    size_t n_missing, n_seen, n_skipped; /* lines; instructions */
    size_t first;                        /* instruction that is shown; SIZE_MAX: of line `from` */
    int64_t from;
    int64_t shown, pending; /* source lines */
};

/* One line with its blanks squeezed; what is beyond the limit is only counted. */
static void put(struct writer *writer, const char *before, struct span text)
{
    char line[LINE_KEPT + 8];
    size_t n = 0;
    for (const char *c = text.at; c < text.end && n < LINE_KEPT; c++) {
        if (!is_blank(*c))
            line[n++] = *c;
        else if (n > 0 && line[n - 1] != ' ')
            line[n++] = ' ';
    }
    line[n] = '\0';
    hone_utf8_defuse(line, ' '); /* a character that the limit cut too */
    size_t room = HONE_LIMIT_ASSEMBLY_BYTES - MARK_BYTES;
    if (writer->n_missing > 0 || writer->out.len + strlen(before) + n + 1 > room)
        writer->n_missing++;
    else
        hone_buf_printf(&writer->out, "%s%s\n", before, line);
}

static void put_source(const struct reader *reader, struct writer *writer)
{
    char before[BASE_BYTES];
    struct span text = {"", ""};
    if (writer->pending == 0 || writer->pending == writer->shown)
        return;
    if ((size_t)writer->pending <= reader->n_source)
        text = reader->source[writer->pending - 1];
    (void)snprintf(before, sizeof before, "%s %.200s:%lld: ", reader->syntax->comment,
                   reader->req->file, (long long)writer->pending);
    put(writer, before, trimmed(text));
    writer->shown = writer->pending;
}

/* Of several frames of one place the first that is in the source counts: the innermost. */
static void take_source(struct writer *writer, const struct line *line, bool was_source)
{
    if (!was_source || writer->pending == 0)
        writer->pending = line->number;
}

/* From where on: the line that was asked for, else, where much stands before it, the heaviest loop. */
static struct writer writer_of(const struct reader *reader, const struct function *function)
{
    struct writer out = {.out = HONE_BUF_INIT, .from = reader->from};
    bool has_loop = function->loop_end > function->loop;
    out.first = out.from > 1 ? SIZE_MAX
                : out.from == 0 && has_loop && function->loop > 2 * PROLOGUE
                    ? function->loop - PROLOGUE
                    : 0;
    return out;
}

/* Is what stands here shown? Begins with the first that is. */
static bool is_shown(struct writer *writer)
{
    if (writer->first == SIZE_MAX && writer->pending >= writer->from)
        writer->first = writer->n_seen;
    return writer->n_seen >= writer->first;
}

static void put_instruction(const struct reader *reader, struct writer *writer, struct span text)
{
    if (is_shown(writer)) {
        put_source(reader, writer);
        put(writer, "  ", text);
    } else {
        writer->n_skipped++;
    }
    writer->n_seen++;
}

static const char *write_function(const struct reader *reader, const struct function *function,
                                  size_t *ret_skipped)
{
    struct writer writer = writer_of(reader, function);
    const char *at = function->body.at;
    bool was_source = false;
    struct line line;
    struct span name;
    for (bool is_first = true; next_line(&at, function->body.end, &line); is_first = false) {
        reader->syntax->classify(reader, &line);
        if (is_first && reader->syntax->begins(&line, &name))
            line.kind = KIND_TEXT;
        if (line.kind == KIND_SOURCE)
            take_source(&writer, &line, was_source);
        else if (line.kind == KIND_INSTRUCTION)
            put_instruction(reader, &writer, line.text);
        else if ((line.kind == KIND_LABEL || line.kind == KIND_TEXT) &&
                 (is_first || is_shown(&writer)))
            put(&writer, "", line.text);
        was_source = line.kind == KIND_SOURCE;
    }
    if (writer.n_missing > 0)
        hone_buf_printf(&writer.out, "... %zu lines more\n", writer.n_missing);
    const char *text = writer.out.len > 0 ? hone_pool_strdup(reader->pool, writer.out.data) : NULL;
    hone_buf_done(&writer.out);
    *ret_skipped = writer.n_skipped;
    return text;
}

/* How to see the rest of a text that is longer than one answer. */
static const char *rest_text(const struct reader *reader, const char *text, const char *name,
                             size_t n_skipped)
{
    enum { ONE_ANSWER = 4000 };
    if (n_skipped == 0 && (text == NULL || strlen(text) < ONE_ANSWER))
        return NULL;
    const char *left_out =
        n_skipped > 0
            ? hone_pool_printf(reader->pool, "%zu instructions before are left out; ", n_skipped)
            : "";
    return hone_pool_printf(reader->pool, "%skernel \"%.100s:LINE\" shows from that source line on",
                            left_out, name);
}

static void index_source(struct reader *reader)
{
    const char *start = reader->req->source, *at = start;
    size_t len = strlen(start), n = 1;
    struct line line;
    for (size_t i = 0; i < len; i++)
        n += start[i] == '\n';
    reader->source = hone_calloc(n, sizeof *reader->source);
    while (reader->n_source < n && next_line(&at, start + len, &line))
        reader->source[reader->n_source++] = line.text;
}

static void fill(const struct reader *reader, struct hone_build_report *ret)
{
    const struct function *function = choose(reader);
    const char *list = others(reader, function);
    if (function != NULL) {
        size_t n_skipped = 0;
        ret->assembly = write_function(reader, function, &n_skipped);
        ret->assembly_of = hone_pool_printf(reader->pool, "%.1000s", pretty_of(reader, function));
        const char *rest = rest_text(reader, ret->assembly, ret->assembly_of, n_skipped);
        ret->assembly_note = rest;
        if (list != NULL)
            ret->assembly_note =
                hone_pool_printf(reader->pool, "%s%salso there, by argument kernel: %s",
                                 rest != NULL ? rest : "", rest != NULL ? "; " : "", list);
    } else if (list != NULL) {
        ret->assembly_note = hone_pool_printf(
            reader->pool, "no kernel '%.100s' here; there are: %s", reader->req->wanted, list);
    } else {
        ret->assembly_note = "the compiler's text holds no kernel";
    }
}

void hone_assembly_read(const struct hone_assembly_request *req, struct hone_pool *pool,
                        struct hone_build_report *ret)
{
    struct reader reader = {.req = req, .pool = pool};
    for (size_t i = 0; i < HONE_COUNTOF(syntaxes); i++)
        if (strcmp(syntaxes[i].kind, req->kind) == 0)
            reader.syntax = &syntaxes[i];
    if (reader.syntax == NULL)
        return;
    reader.functions = hone_calloc(HONE_LIMIT_CUDA_KERNELS, sizeof *reader.functions);
    reader.labels = hone_calloc(MAX_LABELS, sizeof *reader.labels);
    read_wanted(&reader);
    index_source(&reader);
    find_file_index(&reader);
    find_functions(&reader);
    fill(&reader, ret);
    free(reader.functions);
    free(reader.labels);
    free(reader.source);
}
