/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the lines: a function's instructions and labels are kept until it ends, then its
 * innermost loops are. A branch to a label that was seen closes a loop, unless a return lies
 * between the two: that is code which the compiler laid behind the function's end. A function
 * that another one names inside of loops (a call, a parallel region) is as deep as these. */
#include "tools/runner/binary/hot_loop.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSTRUCTIONS 65536 /* of one function; what is beyond is not seen */
#define MAX_LABELS       4096
#define MAX_LOOPS        4096
#define MAX_FUNCTIONS    1024
#define MAX_NAMED        8192 /* places where a function is named */
#define MAX_INNER        512  /* innermost loops of all functions */
#define MAX_DEPTH        64
#define MAX_CALLS        8 /* functions around one another */
#define WORD_BYTES       24

struct span {
    const char *at, *end;
};
struct instruction {
    int64_t line; /* 0: of another file */
    int32_t depth;
    bool is_packed, is_return;
};
struct label {
    struct span name;
    size_t at;
};
struct loop {
    size_t first, last; /* instructions */
    bool is_inner;
};
struct function {
    struct span name;
    int64_t depth; /* of loops in other functions around it */
};
struct named { /* by an instruction of function by */
    struct span name;
    size_t by, at; /* at: the instruction, until the function ends */
    int64_t depth;
};
struct inner { /* a loop that holds no other */
    struct hone_hot_loop what;
    size_t function, size;
};
struct reader {
    const char *file;
    struct function *functions;
    struct named *named;
    struct inner *inner;
    size_t n_functions, n_named, n_inner, first_named; /* of the present function */
    struct instruction *code;
    struct label *labels;
    struct loop *loops;
    size_t n_code, n_labels, n_loops;
    int64_t line;
};

/* ---- one instruction ---- */

static bool begins(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(word, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static bool ends(const char *word, const char *tail)
{
    size_t n = strlen(word), k = strlen(tail);
    return n >= k && strcmp(word + n - k, tail) == 0;
}

/* Moves of whole vectors count where they touch memory: compilers copy scalars between registers
 * with them as well. */
static bool is_packed(const char *mnemonic, struct span operands)
{
    static const char *const moves[] = {"movup", "movap", "movdq", "lddqu"};
    static const char *const not_sums[] = {"mov", "xor", "and", "or", "unpck", "shuf", "cvt"};
    static const char *const sums[] = {"padd", "psub", "pmul", "pmadd", "pmax", "pmin",   "psad",
                                       "pdp",  "pcmp", "psll", "psra",  "pavg", "pgather"};
    const char *word = mnemonic[0] == 'v' ? mnemonic + 1 : mnemonic;
    size_t len = (size_t)(operands.end - operands.at);
    if (begins(word, moves, HONE_COUNTOF(moves)))
        return memchr(operands.at, '(', len) != NULL;
    if (begins(word, sums, HONE_COUNTOF(sums)))
        return memmem(operands.at, len, "mm", 2) != NULL;
    bool is_float = ends(word, "ps") || ends(word, "pd") || ends(word, "ph");
    return is_float && !begins(word, not_sums, HONE_COUNTOF(not_sums));
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* ---- loops of a function ---- */

static bool is_same(struct span a, struct span b)
{
    size_t n = (size_t)(a.end - a.at);
    return (size_t)(b.end - b.at) == n && memcmp(a.at, b.at, n) == 0;
}

/* The first name among operands: the target of a jump or call, the address that is taken. */
static struct span name_in(struct span operands)
{
    const char *at = operands.at;
    while (at < operands.end && (isspace((unsigned char)*at) || *at == '$' || *at == '*'))
        at++;
    const char *end = at;
    while (end < operands.end && is_name_char(*end))
        end++;
    return (struct span){at, end};
}

static const struct label *find_label(const struct reader *reader, struct span name)
{
    for (size_t i = reader->n_labels; name.at < name.end && i-- > 0;)
        if (is_same(reader->labels[i].name, name))
            return &reader->labels[i];
    return NULL;
}

/* Several branches to one label are one loop. */
static void close_loop(struct reader *reader, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        if (reader->code[i].is_return)
            return;
    for (size_t i = 0; i < reader->n_loops; i++) {
        if (reader->loops[i].first == first) {
            reader->loops[i].last = last;
            return;
        }
    }
    if (reader->n_loops < MAX_LOOPS)
        reader->loops[reader->n_loops++] = (struct loop){.first = first, .last = last};
}

/* A jump back out of code behind a loop into its middle closes none of its own. */
static void drop_crossing(struct reader *reader)
{
    size_t n = 0;
    bool *crosses = hone_calloc(reader->n_loops + 1, sizeof *crosses);
    for (size_t i = 0; i < reader->n_loops; i++)
        for (size_t k = 0; k < reader->n_loops && !crosses[i]; k++) {
            const struct loop *a = &reader->loops[k], *b = &reader->loops[i];
            crosses[i] = a->first < b->first && b->first <= a->last && a->last < b->last;
        }
    for (size_t i = 0; i < reader->n_loops; i++)
        if (!crosses[i])
            reader->loops[n++] = reader->loops[i];
    reader->n_loops = n;
    free(crosses);
}

/* Depths of instructions, and which loops hold no other. */
static void nest_loops(struct reader *reader)
{
    drop_crossing(reader);
    for (size_t i = 0; i < reader->n_loops; i++) {
        struct loop *loop = &reader->loops[i];
        loop->is_inner = true;
        for (size_t k = loop->first; k <= loop->last; k++)
            reader->code[k].depth++;
        for (size_t k = 0; k < reader->n_loops && loop->is_inner; k++)
            loop->is_inner = k == i || reader->loops[k].first < loop->first ||
                             reader->loops[k].last > loop->last;
    }
}

static void add_line(struct hone_hot_loop *loop, int64_t line)
{
    if (line > 0 && !hone_hot_loop_has(loop, line) && loop->n_lines < HONE_HOT_LOOP_LINES)
        loop->lines[loop->n_lines++] = line;
}

static void read_loop(const struct reader *reader, const struct loop *loop,
                      struct hone_hot_loop *ret)
{
    *ret = (struct hone_hot_loop){.depth = reader->code[loop->first].depth};
    for (size_t i = loop->first; i <= loop->last; i++) {
        ret->is_vector = ret->is_vector || reader->code[i].is_packed;
        add_line(ret, reader->code[i].line);
    }
    ret->is_known = true;
}

static bool shares_line(const struct hone_hot_loop *a, const struct hone_hot_loop *b)
{
    for (size_t i = 0; i < a->n_lines; i++)
        if (hone_hot_loop_has(b, a->lines[i]))
            return true;
    return false;
}

static void end_function(struct reader *reader)
{
    nest_loops(reader);
    for (size_t i = 0; i < reader->n_loops && reader->n_functions > 0; i++) {
        const struct loop *loop = &reader->loops[i];
        if (!loop->is_inner || reader->n_inner == MAX_INNER)
            continue;
        struct inner *inner = &reader->inner[reader->n_inner++];
        inner->function = reader->n_functions - 1;
        inner->size = loop->last - loop->first + 1;
        read_loop(reader, loop, &inner->what);
    }
    for (size_t i = reader->first_named; i < reader->n_named; i++)
        reader->named[i].depth = reader->code[reader->named[i].at].depth;
    reader->first_named = reader->n_named;
    reader->n_code = reader->n_labels = reader->n_loops = 0;
    reader->line = 0;
}

static void begin_function(struct reader *reader, struct span name)
{
    end_function(reader);
    if (reader->n_functions < MAX_FUNCTIONS)
        reader->functions[reader->n_functions++] = (struct function){.name = name};
}

/* ---- the whole ---- */

static void deepen_functions(struct reader *reader)
{
    for (int round = 0; round < MAX_CALLS; round++)
        for (size_t i = 0; i < reader->n_named; i++) {
            const struct named *named = &reader->named[i];
            int64_t depth = reader->functions[named->by].depth + named->depth;
            for (size_t f = 0; f < reader->n_functions; f++)
                if (f != named->by && reader->functions[f].depth < depth && depth < MAX_DEPTH &&
                    is_same(reader->functions[f].name, named->name))
                    reader->functions[f].depth = depth;
        }
}

static void merge(struct hone_hot_loop *into, const struct hone_hot_loop *from)
{
    into->is_vector = into->is_vector || from->is_vector;
    for (size_t i = 0; i < from->n_lines; i++)
        add_line(into, from->lines[i]);
}

static void choose(struct reader *reader, struct hone_hot_loop *ret)
{
    const struct inner *best = NULL;
    *ret = (struct hone_hot_loop){.is_known = false};
    for (size_t i = 0; i < reader->n_inner; i++) {
        struct inner *inner = &reader->inner[i];
        inner->what.depth += reader->functions[inner->function].depth;
        if (best == NULL || inner->what.depth > best->what.depth ||
            (inner->what.depth == best->what.depth && inner->size > best->size))
            best = inner;
    }
    if (best == NULL)
        return;
    *ret = best->what;
    for (size_t i = 0; i < reader->n_inner; i++)
        if (reader->inner[i].what.depth == ret->depth &&
            shares_line(&reader->inner[i].what, &best->what))
            merge(ret, &reader->inner[i].what);
}

/* ---- lines ---- */

static bool may_name(const char *mnemonic)
{
    static const char *const words[] = {"call", "jmp", "lea", "mov"};
    return begins(mnemonic, words, HONE_COUNTOF(words));
}

static void take_instruction(struct reader *reader, struct span text)
{
    char mnemonic[WORD_BYTES];
    size_t n = 0, now = reader->n_code;
    if (now == MAX_INSTRUCTIONS)
        return;
    const char *comment = memchr(text.at, '#', (size_t)(text.end - text.at));
    if (comment != NULL)
        text.end = comment;
    while (text.at < text.end && !isspace((unsigned char)*text.at)) {
        if (n + 1 < sizeof mnemonic)
            mnemonic[n++] = *text.at;
        text.at++;
    }
    mnemonic[n] = '\0';
    reader->code[reader->n_code++] =
        (struct instruction){.line = reader->line,
                             .is_packed = is_packed(mnemonic, text),
                             .is_return = strncmp(mnemonic, "ret", 3) == 0};
    struct span name = name_in(text);
    const struct label *label = mnemonic[0] == 'j' ? find_label(reader, name) : NULL;
    if (label != NULL && label->at < now)
        close_loop(reader, label->at, now);
    if (may_name(mnemonic) && name.at < name.end && *name.at != '.' && reader->n_functions > 0 &&
        reader->n_named < MAX_NAMED)
        reader->named[reader->n_named++] =
            (struct named){.name = name, .by = reader->n_functions - 1, .at = now};
}

/* "# candidate.c:12: text" */
static void take_comment(struct reader *reader, struct span text)
{
    size_t n = strlen(reader->file);
    if (text.end - text.at < 3 || text.at[1] != ' ')
        return;
    text.at += 2;
    reader->line = 0;
    if ((size_t)(text.end - text.at) > n + 1 && memcmp(text.at, reader->file, n) == 0 &&
        text.at[n] == ':')
        for (const char *c = text.at + n + 1; c < text.end && isdigit((unsigned char)*c); c++)
            reader->line = reader->line < 1000000 ? 10 * reader->line + (*c - '0') : 0;
}

static void take_line(struct reader *reader, struct span text)
{
    bool is_first_column = text.at < text.end && !isspace((unsigned char)*text.at);
    while (text.at < text.end && isspace((unsigned char)*text.at))
        text.at++;
    while (text.at < text.end && isspace((unsigned char)text.end[-1]))
        text.end--;
    if (text.at == text.end)
        return;
    bool is_label = text.end[-1] == ':' && is_name_char(*text.at);
    if (is_label && is_first_column && *text.at != '.')
        begin_function(reader, (struct span){text.at, text.end - 1});
    else if (is_label && reader->n_labels < MAX_LABELS)
        reader->labels[reader->n_labels++] =
            (struct label){.name = {text.at, text.end - 1}, .at = reader->n_code};
    else if (*text.at == '#')
        take_comment(reader, text);
    else if (!is_label && *text.at != '.')
        take_instruction(reader, text);
}

void hone_hot_loop_find(const char *text, size_t len, const char *file, struct hone_hot_loop *ret)
{
    struct reader reader = {.file = file};
    reader.code = hone_calloc(MAX_INSTRUCTIONS, sizeof *reader.code);
    reader.labels = hone_calloc(MAX_LABELS, sizeof *reader.labels);
    reader.loops = hone_calloc(MAX_LOOPS, sizeof *reader.loops);
    reader.functions = hone_calloc(MAX_FUNCTIONS, sizeof *reader.functions);
    reader.named = hone_calloc(MAX_NAMED, sizeof *reader.named);
    reader.inner = hone_calloc(MAX_INNER, sizeof *reader.inner);
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        take_line(&reader, (struct span){at, stop});
        at = stop + 1;
    }
    end_function(&reader);
    deepen_functions(&reader);
    choose(&reader, ret);
    free(reader.code);
    free(reader.labels);
    free(reader.loops);
    free(reader.functions);
    free(reader.named);
    free(reader.inner);
}

bool hone_hot_loop_has(const struct hone_hot_loop *loop, int64_t line)
{
    for (size_t i = 0; i < loop->n_lines; i++)
        if (loop->lines[i] == line)
            return true;
    return false;
}
