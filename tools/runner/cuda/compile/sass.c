/* SPDX-License-Identifier: Apache-2.0 */
/* nvdisasm's text to counts and lines. See sass.h. What its lines look like (the offset stands in
 * comment signs in the real text):
 *
 *     .text._Z4copyPf:                                   a function
 *     .L_x_1:                                            a label
 *         //## File "kernel.cu", line 12 inlined at ...  frames of what follows, innermost first
 *         [offset]   @P0 LDG.E.128 R4, [R2.64] ;         an instruction */
#include "tools/runner/cuda/compile/sass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSTRUCTIONS (1 << 20)
#define MAX_LABELS       65536
#define MAX_DEPTH        4
#define LABEL_BYTES      32

struct instruction {
    int32_t line;
    uint8_t kind;
    int32_t target; /* label number of a branch; -1: none */
};
struct label {
    char name[LABEL_BYTES];
    size_t at; /* instruction that follows; SIZE_MAX: not seen yet */
};
struct reader {
    struct instruction *list;
    size_t n, cap;
    struct label *labels;
    size_t n_labels, cap_labels;
    int32_t line;
    bool is_in_frames; /* the line before was a frame too */
    bool has_own;      /* and one of them was of the source itself */
};

struct opcode {
    const char *start;
    enum hone_sass_kind kind;
};

/* Longest first where one begins another. Memory accesses of global kind get their width below. */
static const struct opcode opcodes[] = {
    {"LDGSTS", HONE_SASS_LDGSTS}, {"LDGDEPBAR", HONE_SASS_OTHER}, {"LDG", HONE_SASS_LDG_32},
    {"STG", HONE_SASS_STG_32},    {"LDSM", HONE_SASS_LDSM},       {"LDS", HONE_SASS_LDS},
    {"STSM", HONE_SASS_STS},      {"STS", HONE_SASS_STS},         {"LDL", HONE_SASS_LDL},
    {"STL", HONE_SASS_STL},       {"LDC", HONE_SASS_OTHER},       {"LD", HONE_SASS_LDG_32},
    {"ST", HONE_SASS_STG_32},     {"UBLKCP", HONE_SASS_BULK},     {"UTMA", HONE_SASS_BULK},
    {"ATOM", HONE_SASS_ATOM},     {"RED", HONE_SASS_ATOM},        {"FFMA", HONE_SASS_FFMA},
    {"FADD", HONE_SASS_FFMA},     {"FMUL", HONE_SASS_FFMA},       {"DFMA", HONE_SASS_DFMA},
    {"DADD", HONE_SASS_DFMA},     {"DMUL", HONE_SASS_DFMA},       {"HFMA2", HONE_SASS_HFMA2},
    {"HADD2", HONE_SASS_HFMA2},   {"HMUL2", HONE_SASS_HFMA2},     {"HMMA", HONE_SASS_MMA},
    {"IMMA", HONE_SASS_MMA},      {"DMMA", HONE_SASS_MMA},        {"QMMA", HONE_SASS_MMA},
    {"BMMA", HONE_SASS_MMA},      {"HGMMA", HONE_SASS_WGMMA},     {"IGMMA", HONE_SASS_WGMMA},
    {"QGMMA", HONE_SASS_WGMMA},   {"UTCHMMA", HONE_SASS_WGMMA},   {"UTCQMMA", HONE_SASS_WGMMA},
    {"MUFU", HONE_SASS_MUFU},     {"BAR", HONE_SASS_BAR},         {"SHFL", HONE_SASS_SHFL},
    {"BRA", HONE_SASS_BRA},       {"BRX", HONE_SASS_BRA},         {"BSSY", HONE_SASS_BRA},
    {"BSYNC", HONE_SASS_BRA},     {"IMAD", HONE_SASS_INTEGER},    {"IADD", HONE_SASS_INTEGER},
    {"LEA", HONE_SASS_INTEGER},   {"LOP3", HONE_SASS_INTEGER},    {"SHF", HONE_SASS_INTEGER},
    {"ISETP", HONE_SASS_INTEGER}, {"IMNMX", HONE_SASS_INTEGER},   {"VIMNMX", HONE_SASS_INTEGER},
    {"VIADD", HONE_SASS_INTEGER}, {"IABS", HONE_SASS_INTEGER},    {"PRMT", HONE_SASS_INTEGER},
    {"POPC", HONE_SASS_INTEGER},  {"FLO", HONE_SASS_INTEGER},     {"BREV", HONE_SASS_INTEGER},
    {"BMSK", HONE_SASS_INTEGER},  {"SGXT", HONE_SASS_INTEGER},    {"I2F", HONE_SASS_MUFU},
    {"F2I", HONE_SASS_MUFU},
};

const char *hone_sass_kind_name(enum hone_sass_kind kind)
{
    static const char *const names[HONE_SASS_N_KINDS] = {
        "ldg_8_16", "ldg_32", "ldg_64", "ldg_128", "stg_8_16", "stg_32", "stg_64",
        "stg_128",  "ldgsts", "bulk",   "lds",     "sts",      "ldsm",   "ldl",
        "stl",      "atom",   "ffma",   "dfma",    "hfma2",    "mma",    "wgmma",
        "mufu",     "bar",    "shfl",   "bra",     "integer",  "other",
    };

    return (size_t)kind < HONE_COUNTOF(names) ? names[kind] : "other";
}

static bool has_part(const char *opcode, size_t len, const char *part)
{
    size_t n = strlen(part);

    for (const char *at = opcode; at + n <= opcode + len; at++) {
        if (memcmp(at, part, n) == 0 && (at + n == opcode + len || at[n] == '.'))
            return true;
    }
    return false;
}

static enum hone_sass_kind kind_of(const char *opcode, size_t len)
{
    for (size_t i = 0; i < HONE_COUNTOF(opcodes); i++) {
        size_t n = strlen(opcodes[i].start);
        if (len < n || memcmp(opcode, opcodes[i].start, n) != 0)
            continue;
        enum hone_sass_kind kind = opcodes[i].kind;
        if (kind != HONE_SASS_LDG_32 && kind != HONE_SASS_STG_32)
            return kind;
        int width = has_part(opcode, len, ".128") || has_part(opcode, len, ".256") ? 2
                    : has_part(opcode, len, ".64")                                 ? 1
                    : has_part(opcode, len, ".U8") || has_part(opcode, len, ".S8") ||
                            has_part(opcode, len, ".U16") || has_part(opcode, len, ".S16")
                        ? -1
                        : 0;
        return (enum hone_sass_kind)((int)kind + width);
    }
    return HONE_SASS_OTHER;
}

/* Number of a label, made when new; -1: too many. */
static int32_t label_of(struct reader *r, const char *name, size_t len)
{
    if (len >= LABEL_BYTES)
        return -1;
    /* Branches name labels that are near: the latest ones first. */
    for (size_t i = r->n_labels; i-- > 0 && r->n_labels - i < 4096;) {
        if (strncmp(r->labels[i].name, name, len) == 0 && r->labels[i].name[len] == '\0')
            return (int32_t)i;
    }
    if (r->n_labels == MAX_LABELS)
        return -1;
    if (r->n_labels == r->cap_labels) {
        r->cap_labels = r->cap_labels == 0 ? 64 : 2 * r->cap_labels;
        r->labels = hone_realloc(r->labels, r->cap_labels * sizeof *r->labels);
    }
    struct label *label = &r->labels[r->n_labels];
    memcpy(label->name, name, len);
    label->name[len] = '\0';
    label->at = SIZE_MAX;
    return (int32_t)r->n_labels++;
}

static bool is_header(const char *path, size_t len)
{
    const char *name = path;

    for (const char *at = path; at < path + len; at++) {
        if (*at == '/') {
            if (at - name == 7 && memcmp(name, "include", 7) == 0)
                return true;
            name = at + 1;
        }
    }
    return memchr(name, '.', (size_t)(path + len - name)) == NULL ||
           (len > 2 && memcmp(path + len - 2, ".h", 2) == 0) ||
           (len > 4 && memcmp(path + len - 4, ".hpp", 4) == 0);
}

/* Of the frames of one place the innermost that is in the source itself counts, else the last. */
static void read_frame(struct reader *r, const char *text, const char *end)
{
    const char *path = memchr(text, '"', (size_t)(end - text));
    const char *stop = path != NULL ? memchr(path + 1, '"', (size_t)(end - path - 1)) : NULL;
    const char *word = "\", line ";

    if (!r->is_in_frames)
        r->has_own = false;
    r->is_in_frames = true;
    if (stop == NULL || (size_t)(end - stop) <= strlen(word) ||
        memcmp(stop, word, strlen(word)) != 0)
        return;
    long line = strtol(stop + strlen(word), NULL, 10);
    if (r->has_own || line < 1 || line > INT32_MAX)
        return;
    r->line = (int32_t)line;
    r->has_own = !is_header(path + 1, (size_t)(stop - path - 1));
}

static void read_instruction(struct reader *r, const char *text, const char *end)
{
    struct instruction *now;

    while (text < end && (*text == ' ' || *text == '\t' || *text == '{'))
        text++;
    if (text < end && *text == '@') { /* predicate */
        while (text < end && *text != ' ')
            text++;
        while (text < end && *text == ' ')
            text++;
    }
    const char *stop = text;
    while (stop < end && *stop != ' ' && *stop != ';')
        stop++;
    if (stop == text || r->n == MAX_INSTRUCTIONS)
        return;
    if (r->n == r->cap) {
        r->cap = r->cap == 0 ? 1024 : 2 * r->cap;
        r->list = hone_realloc(r->list, r->cap * sizeof *r->list);
    }
    now = &r->list[r->n++];
    *now = (struct instruction){
        .line = r->line, .kind = (uint8_t)kind_of(text, (size_t)(stop - text)), .target = -1};
    const char *target = memchr(stop, '`', (size_t)(end - stop));
    if (now->kind != HONE_SASS_BRA || memcmp(text, "BR", 2) != 0 || target == NULL ||
        target + 2 >= end)
        return;
    const char *close = memchr(target, ')', (size_t)(end - target));
    if (close != NULL && target[1] == '(')
        now->target = label_of(r, target + 2, (size_t)(close - target - 2));
}

static void read_line(struct reader *r, const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    if (end - text > 4 && memcmp(text, "//##", 4) == 0) {
        read_frame(r, text, end);
        return;
    }
    r->is_in_frames = false;
    if (end - text > 4 && memcmp(text, "/*", 2) == 0) {
        const char *close = memchr(text + 2, '*', (size_t)(end - text - 2));
        if (close != NULL && close + 1 < end && close[1] == '/')
            read_instruction(r, close + 2, end);
    } else if (end - text > 2 && text[0] == '.' && end[-1] == ':') {
        int32_t label = label_of(r, text, (size_t)(end - 1 - text));
        if (label >= 0)
            r->labels[label].at = r->n;
    }
}

/* ---- lines ---- */

static double weight_of(int64_t depth)
{
    double weight = 1;

    for (int64_t i = 0; i < depth && i < MAX_DEPTH; i++)
        weight *= 10;
    return weight;
}

/* How many loops are around each instruction: a branch backwards closes one. */
static int32_t *find_depths(const struct reader *r)
{
    int32_t *depth = hone_calloc(r->n + 1, sizeof *depth);
    size_t *first_of = hone_calloc(r->n_labels + 1, sizeof *first_of); /* last branch back */

    for (size_t i = 0; i < r->n; i++) {
        int32_t t = r->list[i].target;
        /* Several branches to one head are one loop; a branch to itself is padding. */
        if (t >= 0 && r->labels[t].at < i && i > first_of[t])
            first_of[t] = i;
    }
    for (size_t t = 0; t < r->n_labels; t++) {
        if (first_of[t] > 0) {
            depth[r->labels[t].at]++;
            depth[first_of[t] + 1]--;
        }
    }
    for (size_t i = 1; i < r->n; i++)
        depth[i] += depth[i - 1];
    free(first_of);
    return depth;
}

static int by_weight(const void *a, const void *b)
{
    const struct hone_sass_line *x = a, *y = b;

    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b)
{
    const struct instruction *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

static void add_up(struct reader *r, struct hone_pool *pool, struct hone_sass *ret)
{
    HONE_AUTOFREE int32_t *depth = find_depths(r);
    struct hone_sass_line *line = NULL;
    size_t n_lines = 0;

    if (r->n == 0)
        return;

    for (size_t i = 0; i < r->n; i++) {
        ret->n_by_kind[r->list[i].kind]++;
        r->list[i].target = depth[i]; /* done with: keeps the depth while sorted */
    }
    ret->n_instructions = (int64_t)r->n;
    qsort(r->list, r->n, sizeof *r->list, by_line);
    for (size_t i = 0; i < r->n; i++)
        n_lines += r->list[i].line > 0 && (i == 0 || r->list[i].line != r->list[i - 1].line);
    ret->lines = hone_pool_alloc(pool, (n_lines + 1) * sizeof *ret->lines);
    for (size_t i = 0; i < r->n; i++) {
        const struct instruction *now = &r->list[i];
        double weight = weight_of(now->target);
        if (now->line <= 0)
            continue;
        if (line == NULL || line->line != now->line) {
            line = &ret->lines[ret->n_lines++];
            *line = (struct hone_sass_line){.line = now->line};
        }
        line->n_instructions++;
        line->n_by_kind[now->kind]++;
        line->by_kind[now->kind] += weight;
        line->weight += weight;
        ret->weight += weight;
        line->depth = hone_max_i64(line->depth, now->target);
    }
    qsort(ret->lines, ret->n_lines, sizeof *ret->lines, by_weight);
}

/* Is this the line that begins a function? Its name then lies at [*ret, end - 1). */
static bool begins_function(const char *text, const char *end, const char **ret)
{
    static const char start[] = ".text.";

    *ret = text + sizeof start - 1;
    return end - text > (ptrdiff_t)sizeof start && end[-1] == ':' &&
           memcmp(text, start, sizeof start - 1) == 0;
}

bool hone_sass_read(const char *text, size_t len, const char *kernel, struct hone_pool *pool,
                    struct hone_sass *ret)
{
    struct reader r = {.n = 0};
    bool is_wanted = false, is_found = false;

    *ret = (struct hone_sass){.n_lines = 0};
    for (const char *at = text; at < text + len;) {
        const char *end = memchr(at, '\n', (size_t)(text + len - at));
        const char *name = NULL;
        if (end == NULL)
            end = text + len;
        if (begins_function(at, end, &name)) {
            size_t n = (size_t)(end - 1 - name);
            is_wanted = kernel == NULL || (strlen(kernel) == n && memcmp(kernel, name, n) == 0);
            is_found = is_found || is_wanted;
            r.line = 0;
            r.is_in_frames = false;
        } else if (is_wanted) {
            read_line(&r, at, end);
        }
        at = end + 1;
    }
    if (is_found)
        add_up(&r, pool, ret);
    free(r.list);
    free(r.labels);
    return is_found;
}

int64_t hone_sass_line_of(const struct hone_sass *sass, const enum hone_sass_kind *kinds, size_t n)
{
    double most = 0;
    int64_t line = 0;

    for (size_t i = 0; i < sass->n_lines; i++) {
        double weight = 0;
        for (size_t k = 0; k < n; k++)
            weight += sass->lines[i].by_kind[kinds[k]];
        if (weight > most) {
            most = weight;
            line = sass->lines[i].line;
        }
    }
    return line;
}

const char *hone_sass_describe(const struct hone_sass_line *line, struct hone_pool *pool)
{
    char text[400];
    size_t len =
        (size_t)snprintf(text, sizeof text, "%lld instruction%s", (long long)line->n_instructions,
                         line->n_instructions == 1 ? "" : "s");
    const char *before = ": ";

    if (line->depth > 0)
        len += (size_t)snprintf(text + len, sizeof text - len, " in a loop of depth %lld",
                                (long long)line->depth);
    for (int k = 0; k < HONE_SASS_OTHER && len + 40 < sizeof text; k++) {
        if (line->n_by_kind[k] == 0)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld %s", before,
                                (long long)line->n_by_kind[k],
                                hone_sass_kind_name((enum hone_sass_kind)k));
        before = ", ";
    }
    return hone_pool_strdup(pool, text);
}
