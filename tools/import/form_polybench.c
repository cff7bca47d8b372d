/* SPDX-License-Identifier: Apache-2.0 */
/* PolyBench/C: the kernel function around `#pragma scop` as a C function of one's own, for which
 * tools/task/task_new.h makes the pack. No Python is needed.
 *
 * NAME.h tells which variable a loop bound _PB_N stands for and the sizes of its *_DATASET sections.
 * Arrays that the part between the marks writes are read and written; the others are const. Sizes
 * of no array (the number of time steps) are scalars. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/import/form.h"
#include "tools/task/task_new.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

#define MOST_BOUNDS 32
#define MOST_SIZES  3

struct bound { /* _PB_NI is ni, and NI in the sections */
    const char *macro, *variable, *constant;
    bool is_of_array;
};

struct kernel {
    struct hone_pool *pool;
    const char *source, *header, *params;
    char *body;
    struct bound bounds[MOST_BOUNDS];
    size_t n_bounds;
    const char *inouts[HONE_LIMIT_TENSORS];
    size_t n_inouts;
    struct hone_buf text;
};

/* From an opening bracket to behind the one that closes it; NULL: none does. */
static const char *skip(const char *at, char opens, char closes)
{
    int depth = 0;
    for (; *at != '\0'; at++) {
        depth += (*at == opens) - (*at == closes);
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static const char *trimmed(struct hone_pool *pool, const char *from, size_t len)
{
    while (len > 0 && isspace((unsigned char)from[0])) {
        from++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)from[len - 1]))
        len--;
    return hone_pool_strndup(pool, from, len);
}

/* Up to a comma or a closing bracket at this depth. */
static const char *next_part(struct hone_pool *pool, const char **at)
{
    const char *from = *at;
    size_t len = 0;
    int depth = 0;
    for (; from[len] != '\0' && (depth > 0 || (from[len] != ',' && from[len] != ')')); len++)
        depth += (from[len] == '(') - (from[len] == ')');
    *at = from + len + (from[len] == ',');
    return trimmed(pool, from, len);
}

/* "#define _PB_NI POLYBENCH_LOOP_BOUND(NI,ni)" */
static int read_bounds(struct kernel *k, struct hone_err *err)
{
    static const char word[] = "POLYBENCH_LOOP_BOUND(";
    for (const char *at = strstr(k->header, word); at != NULL; at = strstr(at, word)) {
        const char *line = at;
        while (line > k->header && line[-1] != '\n')
            line--;
        const char *macro = strstr(line, "_PB_");
        at += strlen(word);
        if (macro == NULL || macro > at)
            continue;
        if (k->n_bounds == MOST_BOUNDS)
            return hone_fail(err, HONE_E_LIMIT, "refused: more than %d loop bounds", MOST_BOUNDS);
        struct bound *b = &k->bounds[k->n_bounds++];
        b->macro = hone_pool_strndup(k->pool, macro, strcspn(macro, " \t"));
        b->constant = next_part(k->pool, &at);
        b->variable = next_part(k->pool, &at);
    }
    return 0;
}

/* Is NAME[...] assigned to? */
static bool is_written(const char *body, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = strstr(body, name); at != NULL; at = strstr(at + 1, name)) {
        const char *end = at + len;
        bool is_word = at == body || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        while (end != NULL && (*end == '[' || isspace((unsigned char)*end)))
            end = *end == '[' ? skip(end, '[', ']') : end + 1;
        if (!is_word || end == NULL)
            continue;
        end += strchr("+-*/", *end) != NULL && *end != '\0';
        if (end[0] == '=' && end[1] != '=')
            return true;
    }
    return false;
}

/* "DATA_TYPE POLYBENCH_2D(A,M,N,m,n)": A[m][n] */
static int add_array(struct kernel *k, const char *type, const char *word, struct hone_err *err)
{
    int rank = word[strlen("POLYBENCH_")] - '0';
    const char *at = strchr(word, '(');
    if (at == NULL || rank < 1 || rank > HONE_LIMIT_RANK || k->n_inouts == HONE_LIMIT_TENSORS)
        return hone_fail(err, HONE_E_ARG, "refused: the parameter '%.100s'", word);
    at++;
    const char *name = next_part(k->pool, &at);
    bool is_inout = is_written(k->body, name);
    for (int i = 0; i < rank; i++)
        (void)next_part(k->pool, &at);
    hone_buf_printf(&k->text, "%s%s %s", is_inout ? "" : "const ", type, name);
    for (int i = 0; i < rank; i++) {
        const char *size = next_part(k->pool, &at);
        hone_buf_printf(&k->text, "[%s]", size);
        for (size_t b = 0; b < k->n_bounds; b++)
            k->bounds[b].is_of_array =
                k->bounds[b].is_of_array || strcmp(k->bounds[b].variable, size) == 0;
    }
    if (is_inout)
        k->inouts[k->n_inouts++] = name;
    return 0;
}

static int add_params(struct kernel *k, const char *type, struct hone_err *err)
{
    static const char scalar[] = "DATA_TYPE ";
    const char *at = k->params, *between = "";
    while (*at != '\0' && *at != ')') {
        const char *part = next_part(k->pool, &at);
        const char *word = strstr(part, "POLYBENCH_");
        hone_buf_str(&k->text, between);
        between = ", ";
        if (word != NULL) {
            int rc = add_array(k, type, word, err);
            if (rc < 0)
                return rc;
        } else if (strncmp(part, scalar, strlen(scalar)) == 0) {
            hone_buf_printf(&k->text, "%s %s", type, part + strlen(scalar));
        } else {
            hone_buf_str(&k->text, part);
        }
    }
    return 0;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next place where text has this word as a whole, or NULL. */
static char *find_word(char *text, const char *word, size_t len)
{
    for (char *at = text; *at != '\0'; at++)
        if (strncmp(at, word, len) == 0 && !is_of_word(at[len]) &&
            (at == text || !is_of_word(at[-1])))
            return at;
    return NULL;
}

/* DATA_TYPE is the header's type inside of the kernel too. */
static void write_type(char *body, const char *type)
{
    static const char word[] = "DATA_TYPE";
    for (char *at = body; (at = find_word(at, word, strlen(word))) != NULL;) {
        memset(at, ' ', strlen(word));
        memcpy(at, type, strlen(type));
    }
}

/* The array _fict_ is named fict: names that begin with _ are not a task's. */
static void plain_name(char *params, char *body, const char *name, size_t len)
{
    HONE_AUTOFREE char *whole = hone_sprintf("%.*s", (int)len, name);
    size_t front = strspn(whole, "_"), end = len;
    while (end > front && whole[end - 1] == '_')
        end--;
    if (end == front || find_word(body, whole + front, end - front) != NULL ||
        find_word(params, whole + front, end - front) != NULL)
        return;
    char *const texts[] = {params, body};
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++)
        for (char *at = texts[i]; (at = find_word(at, whole, len)) != NULL;) {
            memset(at, ' ', front);
            memset(at + end, ' ', len - end);
        }
}

static void plain_names(char *params, char *body)
{
    for (char *at = params; *at != '\0'; at++) {
        size_t len = 0;
        while (is_of_word(at[len]))
            len++;
        if (*at == '_')
            plain_name(params, body, at, len);
        at += len > 0 ? len - 1 : 0;
    }
}

static int find_kernel(struct kernel *k, const char *source, const char **ret_head,
                       struct hone_err *err)
{
    static const char word[] = "void kernel_";
    const char *scop = strstr(source, "#pragma scop"), *from = NULL;
    for (const char *at = strstr(source, word); at != NULL && scop != NULL && at < scop;
         at = strstr(at + 1, word))
        from = at;
    const char *params = from ? strchr(from, '(') : NULL;
    const char *behind = params ? skip(params, '(', ')') : NULL;
    const char *open = behind ? strchr(behind, '{') : NULL;
    const char *end = open ? skip(open, '{', '}') : NULL;
    if (end == NULL || open > scop || end < scop)
        return hone_fail(err, HONE_E_ARG,
                         "refused: no function kernel_NAME around #pragma scop was found");
    char *list = hone_pool_strndup(k->pool, params + 1, (size_t)(behind - params - 2));
    char *body = hone_pool_strndup(k->pool, open, (size_t)(end - open));
    for (char *at = strstr(body, "#pragma"); at != NULL; at = strstr(at, "#pragma"))
        memset(at, ' ', strcspn(at, "\n"));
    plain_names(list, body);
    k->params = list;
    k->body = body;
    *ret_head = hone_pool_strndup(k->pool, from, (size_t)(params - from));
    return 0;
}

/* The lines "# define NAME value" of one section. */
static int64_t size_of(const struct kernel *k, const char *section, const char *name)
{
    HONE_AUTOFREE char *mark = hone_sprintf("ifdef %s", section);
    const char *at = strstr(k->header, mark), *end = at ? strstr(at, "endif") : NULL;
    while (at != NULL && (at = strstr(at, "define ")) != NULL && at < end) {
        at += strlen("define ");
        size_t len = strcspn(at, " \t\n");
        if (len == strlen(name) && strncmp(at, name, len) == 0)
            return strtoll(at + len, NULL, 10);
    }
    return 0;
}

/* "m=116,n=124" of the array sizes; NULL: the section lacks one. */
static const char *sizes_of(const struct kernel *k, const char *section)
{
    const char *text = "";
    for (size_t i = 0; i < k->n_bounds; i++) {
        int64_t size = size_of(k, section, k->bounds[i].constant);
        if (size <= 0)
            return NULL;
        if (k->bounds[i].is_of_array)
            text = hone_pool_printf(k->pool, "%s%s%s=%lld", text, text[0] ? "," : "",
                                    k->bounds[i].variable, (long long)size);
    }
    return text[0] != '\0' ? text : NULL;
}

/* The source's own macros that take arguments and that the kernel names: a line each. */
static void write_macros(struct kernel *k)
{
    static const char word[] = "#define ";
    for (const char *at = strstr(k->source, word); at != NULL; at = strstr(at + 1, word)) {
        const char *name = at + strlen(word);
        size_t len = 0, line = strcspn(at, "\n");
        while (is_of_word(name[len]))
            len++;
        if (name[len] == '(' && at[line - 1] != '\\' && find_word(k->body, name, len) != NULL)
            hone_buf_printf(&k->text, "%.*s\n", (int)line, at);
    }
}

static void write_text(struct kernel *k)
{
    static const char *const functions[][2] = {{"SCALAR_VAL", "(x) x"},
                                               {"SQRT_FUN", "(x) sqrt(x)"},
                                               {"EXP_FUN", "(x) exp(x)"},
                                               {"POW_FUN", "(x, y) pow(x, y)"}};
    hone_buf_str(&k->text, "#include <math.h>\n\n");
    for (size_t i = 0; i < HONE_COUNTOF(functions); i++)
        if (strstr(k->body, functions[i][0]) != NULL)
            hone_buf_printf(&k->text, "#define %s%s\n", functions[i][0], functions[i][1]);
    for (size_t i = 0; i < k->n_bounds; i++) {
        const struct bound *b = &k->bounds[i];
        hone_buf_printf(&k->text, "#define %s %s\n", b->macro, b->variable);
        if (find_word(k->body, b->constant, strlen(b->constant)) != NULL)
            hone_buf_printf(&k->text, "#define %s %s\n", b->constant, b->variable);
    }
    write_macros(k);
}

static int make_pack(struct kernel *k, const char *name, const char *dir, struct hone_err *err)
{
    static const char *const sections[] = {"SMALL_DATASET", "MINI_DATASET"};
    const char *sizes[MOST_SIZES], *scalars[MOST_BOUNDS];
    struct hone_task_new made;
    struct hone_task_new_options options = {.source = k->text.data,
                                            .name = name,
                                            .dir = dir,
                                            .description = "A kernel of PolyBench/C.",
                                            .inouts = {k->inouts, k->n_inouts},
                                            .sizes = {.v = sizes},
                                            .scalars = {.v = scalars}};
    for (size_t i = 0; i < HONE_COUNTOF(sections); i++)
        if ((sizes[options.sizes.n] = sizes_of(k, sections[i])) != NULL)
            options.sizes.n++;
    for (size_t i = 0; i < k->n_bounds; i++)
        if (!k->bounds[i].is_of_array)
            scalars[options.scalars.n++] =
                hone_pool_printf(k->pool, "%s=%lld", k->bounds[i].variable,
                                 (long long)size_of(k, sections[0], k->bounds[i].constant));
    int rc = hone_task_new(&options, k->pool, &made, err);
    return rc < 0 ? hone_wrap(err, "refused") : 0;
}

int hone_form_make_polybench(const char *file, const char *name, const char *dir,
                             struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *source = NULL;
    HONE_AUTOFREE char *header = NULL;
    HONE_AUTOFREE char *beside = hone_sprintf("%.*sh", (int)strlen(file) - 1, file);
    struct kernel k = {.pool = pool, .text = HONE_BUF_INIT};
    const char *head = NULL;
    size_t len = 0;
    int rc = hone_file_read(file, HONE_LIMIT_SOURCE_BYTES, &source, &len, err);
    if (rc == 0)
        rc = hone_file_read(beside, HONE_LIMIT_SOURCE_BYTES, &header, &len, err);
    if (rc == 0)
        rc = find_kernel(&k, source, &head, err);
    k.source = source;
    k.header = header;
    if (rc == 0)
        rc = read_bounds(&k, err);
    if (rc < 0)
        return rc;
    bool is_int = strstr(header, "define DATA_TYPE_IS_INT") != NULL;
    const char *type = is_int ? "int" : "double";
    write_type(k.body, type);
    write_text(&k);
    hone_buf_printf(&k.text, "\n%s(", head);
    rc = add_params(&k, type, err);
    hone_buf_printf(&k.text, ")\n%s\n", k.body);
    if (rc == 0)
        rc = hone_buf_check(&k.text, err);
    if (rc == 0)
        rc = make_pack(&k, name, dir, err);
    hone_buf_done(&k.text);
    return rc;
}
