/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the mutants of a kernel: mutate [-n COUNT] SOURCE FOLDER
 *
 * FOLDER gets ID.EXT for each, and one line each goes to stdout:
 *   ID OPERATOR LINE OLD => NEW
 * mutate -l SOURCE lists the lines of all mutants and writes nothing; mutate -o lists the
 * operators. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mutation/mutant.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"

#define MAX_SOURCE_BYTES (1 << 20)

char *mutant_text(const struct source *source, const struct mutant *mutant)
{
    const char *text = source->tokens.text;
    return hone_sprintf("%.*s%s%s", (int)mutant->from, text, mutant->with, text + mutant->to);
}

void propose(struct source *source, size_t from, size_t to, const char *fmt, ...)
{
    const struct tokens *tokens = &source->tokens;
    if (from >= tokens->n || to < from || to > tokens->n)
        return;
    char with[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(with, sizeof with, fmt, args);
    va_end(args);
    struct mutant mutant = {.operator= source->operator,
                            .from = tokens->v[from].from,
                            .to = to == from ? tokens->v[from].from : tokens->v[to - 1].to,
                            .line = tokens->v[from].line};
    mutant.with = hone_strdup(with);
    HONE_AUTOFREE char *text = mutant_text(source, &mutant);
    char hash[HONE_HASH_TEXT_BYTES];
    hone_hash(text, strlen(text), hash);
    snprintf(mutant.id, sizeof mutant.id, "%.12s", hash);
    bool is_known = strcmp(text, tokens->text) == 0;
    for (size_t i = 0; i < source->n && !is_known; i++)
        is_known = strcmp(source->v[i].id, mutant.id) == 0;
    if (is_known) {
        free(mutant.with);
        return;
    }
    if (source->n == source->room) {
        source->room = 2 * source->room + 64;
        source->v = hone_realloc(source->v, source->room * sizeof *source->v);
    }
    source->v[source->n++] = mutant;
}

static void find_parts(struct source *source)
{
    const struct tokens *tokens = &source->tokens;
    source->parts = hone_calloc(tokens->n + 1, sizeof *source->parts);
    for (size_t t = 0; t + 1 < tokens->n; t++) {
        if (!token_is(tokens, t, "for") || !token_is(tokens, t + 1, "("))
            continue;
        enum for_part part = FOR_START;
        for (size_t i = t + 2; i < tokens->v[t + 1].partner; i++) {
            source->parts[i] = part;
            if (token_is(tokens, i, ";"))
                part = part == FOR_START ? FOR_CONDITION : FOR_STEP;
        }
    }
}

static void find_sizes(struct source *source)
{
    const struct tokens *tokens = &source->tokens;
    for (size_t t = 0; t + 2 < tokens->n; t++) {
        bool is_parameter = token_is(tokens, t, "int64_t") &&
                            (token_is(tokens, t + 2, ",") || token_is(tokens, t + 2, ")"));
        bool is_known = false;
        for (size_t i = 0; i < source->n_sizes && is_parameter; i++)
            is_known = is_known || token_is(tokens, t + 1, source->sizes[i]);
        if (is_parameter && !is_known && source->n_sizes < HONE_COUNTOF(source->sizes))
            source->sizes[source->n_sizes++] = token_text(tokens, t + 1, t + 2);
    }
}

struct source source_read(const char *text)
{
    struct source source = {.tokens = tokens_read(text)};
    find_parts(&source);
    find_sizes(&source);
    for (source.operator= 0; source.operator<n_operators; source.operator++)
        for (size_t t = 0; t < source.tokens.n; t++)
            operators[source.operator].look(&source, t);
    return source;
}

void source_done(struct source *source)
{
    for (size_t i = 0; i < source->n; i++)
        free(source->v[i].with);
    for (size_t i = 0; i < source->n_sizes; i++)
        free((char *)(uintptr_t)source->sizes[i]);
    free(source->v);
    free(source->parts);
    tokens_done(&source->tokens);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct mutant *)a)->id, ((const struct mutant *)b)->id);
}

void source_sample(struct source *source, size_t n)
{
    qsort(source->v, source->n, sizeof *source->v, by_id);
    struct mutant *kept = hone_calloc(source->n + 1, sizeof *kept);
    HONE_AUTOFREE bool *is_taken = hone_calloc(source->n + 1, sizeof *is_taken);
    size_t n_kept = 0, n_before = 1;
    while (n_kept < n && n_before != n_kept) {
        n_before = n_kept;
        for (size_t op = 0; op < n_operators && n_kept < n; op++) {
            size_t i = 0;
            while (i < source->n && (is_taken[i] || source->v[i].operator!= op))
                i++;
            if (i == source->n)
                continue;
            is_taken[i] = true;
            kept[n_kept++] = source->v[i];
        }
        if (n_before == 0 && n_kept == 0)
            break;
    }
    for (size_t i = 0; i < source->n; i++)
        if (!is_taken[i])
            free(source->v[i].with);
    free(source->v);
    source->v = kept;
    source->n = n_kept;
}

/* One line: white space is one blank. */
static void print_squeezed(const char *text)
{
    bool was_blank = true;
    for (size_t i = 0; i < strlen(text); i++) {
        bool is_blank = text[i] == ' ' || text[i] == '\n' || text[i] == '\t';
        if (!is_blank)
            putchar(text[i]);
        else if (!was_blank)
            putchar(' ');
        was_blank = is_blank;
    }
}

static void print_mutant(const struct source *source, const struct mutant *mutant)
{
    const char *text = source->tokens.text;
    size_t from = mutant->from, to = mutant->to;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    while (text[to] != '\0' && text[to] != '\n')
        to++;
    HONE_AUTOFREE char *old = hone_strndup(text + from, to - from);
    HONE_AUTOFREE char *new = hone_sprintf("%.*s%s%.*s", (int)(mutant->from - from), text + from,
                                           mutant->with, (int)(to - mutant->to), text + mutant->to);
    printf("%s %s %zu ", mutant->id, operators[mutant->operator].name, mutant->line);
    print_squeezed(old);
    printf(" => ");
    print_squeezed(new);
    printf("\n");
}

static int write_mutant(const struct source *source, const struct mutant *mutant,
                        const char *folder, const char *extension, struct hone_err *err)
{
    HONE_AUTOFREE char *text = mutant_text(source, mutant);
    HONE_AUTOFREE char *path = hone_sprintf("%s/%s%s", folder, mutant->id, extension);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

static int usage(void)
{
    fputs("usage: mutate [-n COUNT] SOURCE FOLDER | mutate -l SOURCE | mutate -o\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    size_t count = SIZE_MAX;
    bool is_list = false;
    for (int option; (option = getopt(argc, argv, "n:lo")) != -1;) {
        if (option == 'n')
            count = strtoul(optarg, NULL, 10);
        else if (option == 'l')
            is_list = true;
        else if (option != 'o')
            return usage();
        for (size_t i = 0; i < n_operators && option == 'o'; i++)
            printf("%s %s\n", operators[i].name, operators[i].meaning);
        if (option == 'o')
            return 0;
    }
    if (argc - optind != (is_list ? 1 : 2))
        return usage();
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    struct hone_err err = HONE_ERR_INIT;
    int code = hone_file_read(argv[optind], MAX_SOURCE_BYTES, &text, &len, &err);
    if (code == 0) {
        const char *dot = strrchr(argv[optind], '.');
        struct source source = source_read(text);
        source_sample(&source, count);
        for (size_t i = 0; i < source.n && code == 0; i++) {
            print_mutant(&source, &source.v[i]);
            if (!is_list)
                code = write_mutant(&source, &source.v[i], argv[optind + 1], dot == NULL ? "" : dot,
                                    &err);
        }
        source_done(&source);
    }
    if (code < 0)
        fprintf(stderr, "mutate: %s\n", err.message);
    return code < 0 ? 1 : 0;
}
