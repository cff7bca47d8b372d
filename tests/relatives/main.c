/* SPDX-License-Identifier: Apache-2.0 */
/* relatives -n COUNT [-s SEED] [-b FIRST] [-o NUMBER] [-H] [-p] [-x] [FILE.c ...]
 *
 * Rules against the files, then against COUNT relatives from the generator. -o: that number alone;
 * -p: print texts; -x: with versions that are wrong; -H: those held back as well, their texts not
 * told. The last lines are a table of rules and TAP. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/relatives/relative.h"
#include "workspace/base/file.h"

struct totals {
    struct relative_counts counts;
    size_t n_failed, n_wrong, n_told;
};

static void note(struct totals *totals, const char *name, int result, bool is_told)
{
    if (result < 0)
        totals->n_failed++;
    else
        totals->n_wrong += (size_t)result;
    if (result != 0 && is_told) {
        totals->n_told++;
        printf("not ok - %s\n", name);
    }
}

static void try_file(const char *path, const struct relative_how *how, struct totals *totals)
{
    char *text = NULL;
    size_t len = 0;
    if (hone_file_read(path, 1 << 16, &text, &len, NULL) < 0) {
        note(totals, path, -1, true);
        return;
    }
    char *copy = strdup(path), *name = basename(copy);
    name[strlen(name) - 2] = 0;
    note(totals, name, relative_try(name, text, name, how, &totals->counts), true);
    free(copy);
    free(text);
}

static void print_table(const char *title, const struct totals *totals)
{
    const struct relative_counts *c = &totals->counts;
    printf("# %s: %zu relatives, %zu read by a rule, %zu did not run, %zu wrong texts\n", title,
           c->n_relatives, c->n_read, totals->n_failed, totals->n_wrong);
    printf("# %-20s %8s %8s %8s %8s %8s\n", "rule", "applied", "declined", "compiled", "refused",
           "wrong");
    for (size_t i = 0; i < c->n; i++)
        printf("# %-20s %8zu %8zu %8zu %8zu %8zu\n", c->rows[i].rule, c->rows[i].n_applied,
               c->rows[i].n_declined, c->rows[i].n_compiled, c->rows[i].n_refused,
               c->rows[i].n_wrong);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct relative_how how = {.flags = "-O1 -march=native"};
    static const char usage[] = "relatives -r RUNTIME.o -d FOLDER -n COUNT [-s SEED] [-b FIRST] "
                                "[-o NUMBER] [-H] [-p] [-x] [FILE.c ...]\n";
    unsigned long n = 0, seed = 1, only = 0, first = 0;
    bool has_only = false, is_printed = false, has_held = false;
    for (int c; (c = getopt(argc, argv, "r:d:n:s:b:o:f:Hpx")) != -1;) {
        switch (c) {
        case 'r':
            how.runtime = optarg;
            break;
        case 'd':
            how.folder = optarg;
            break;
        case 'f':
            how.flags = optarg;
            break;
        case 'n':
            n = strtoul(optarg, NULL, 10);
            break;
        case 's':
            seed = strtoul(optarg, NULL, 10);
            break;
        case 'b':
            first = strtoul(optarg, NULL, 10);
            break;
        case 'o':
            only = strtoul(optarg, NULL, 10), has_only = true;
            break;
        case 'H':
            has_held = true;
            break;
        case 'x':
            how.is_spoiled = true;
            break;
        case 'p':
            is_printed = true;
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    struct totals known = {.n_failed = 0}, held = {.n_failed = 0};
    for (int i = optind; i < argc; i++)
        try_file(argv[i], &how, &known);
    for (unsigned long i = has_only ? only : first; i < (has_only ? only + 1 : first + n); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *name, *text = relative_make(pool, seed, i, &name);
        bool is_held = relative_is_held(name);
        if (is_printed) {
            printf("%s", text);
            continue;
        }
        if (is_held && !has_held)
            continue;
        struct relative_how mine = how;
        mine.seed = seed * 31 + i;
        mine.is_quiet = is_held;
        struct totals *totals = is_held ? &held : &known;
        note(totals, name, relative_try(name, text, "relative", &mine, &totals->counts), !is_held);
    }
    if (is_printed)
        return 0;
    print_table("known", &known);
    if (has_held)
        print_table("held back", &held);
    size_t n_bad = known.n_failed + known.n_wrong + held.n_failed + held.n_wrong;
    printf("%s - every rule keeps the answer of every relative\n1..%zu\n", n_bad ? "not ok" : "ok",
           known.n_told + 1);
    return n_bad ? 1 : 0;
}
